#!/bin/bash
# Progress on a terminal: inside one long call and one long read, rising, gone when done.
. "$(dirname "$0")/common.bash"

command -v script >/dev/null 2>&1 || { echo "skipped: there is no script(1)"; exit 77; }
export TERM=xterm

# shown FILE: the percentages of its lines, one a line.
shown() {
  tr '\r' '\n' <"$1" | grep -v reading | sed -nE 's/^[#.]{20} +([0-9]+) %.*/\1/p'
}

# until_shown FILE PATTERN PID: waits for it, as long as the command runs. No time is looked at but
# that of giving up.
until_shown() {
  local i
  for ((i = 0; i < 2400; i++)); do
    tr '\r' '\n' <"$1" | grep -qE "$2" && return 0
    kill -0 "$3" 2>/dev/null || break
    sleep 0.05
  done
  fail "no '$2' was shown: $(tr '\r' '\n' <"$1" | tail -n 3)"
  return 1
}

# Work without an end, as far as a test is concerned: it is ended when it has shown what it should.
inside() {
  local name=$1
  : >"$name"
  shift
  script -qfec "stty cols 80 rows 50 && echo \$\$ >pid && exec $*" /dev/null >"$name" 2>&1 </dev/null &
  local child=$!
  until_shown "$name" "^[#.]{20} +[0-9]+ %.* $name" $child
  local first
  first=$(shown "$name" | tail -n 1)
  # It gets on, or there is nothing in between: another percentage than the first.
  until_shown "$name" "^[#.]{20} +($((first + 1))|$((first + 2))|$((first + 3))|$((first + 4))|$((first + 5))) %" $child
  until_shown "$name" "(s|min) left" $child
  kill -TERM "$(cat pid)"
  wait $child 2>/dev/null
  [ "$(shown "$name" | sort -nc 2>&1)" = "" ] || fail "$name: it goes back: $(shown "$name" | tr '\n' ' ')"
  tr '\r' '\n' <"$name" | sed 's/\x1b\[K//g' | grep -E '^.{80,}$' >wide &&
    fail "$name: wider than the terminal: $(cat -v wide)"
  tail -c 40 "$name" | grep -q $'\033\\[K' || fail "$name: the line is still there: $(tail -c 80 "$name")"
}
steps=100000 points=700000 count=20000000
[ -z "$SANITIZED" ] || steps=10000 points=150000 count=2000000 # which takes as long
inside radiator "$RUNG" radiator -n 2000 -m 2000 -p $steps -g --threads 2
inside pairs "$RUNG" pairs $points 500 --device cpu --rung lanes --threads 2
if "$RUNG" devices --device sim >/dev/null 2>&1; then
  head -c $((4 * count)) /dev/zero >zeros
  npy '<f4' "($count,)" '' >big.npy
  cat zeros >>big.npy
  rm zeros
  inside reduce "$RUNG" reduce big.npy --op max --device sim --rung sequential
  rm big.npy
fi

# A read that waits for its writer: what has come so far is told.
mkfifo pipe
: >read
script -qfec "stty cols 80 rows 50 && exec $RUNG reduce - --op sum <$folder/pipe" /dev/null >read 2>&1 </dev/null &
child=$!
exec 3>pipe
npy '<f4' '(65536,)' '' >&3
head -c 131072 /dev/zero >&3
until_shown read '^reading 1(2|28)[0-9.]* KiB' $child
head -c 131072 /dev/zero >&3
exec 3>&-
wait $child || fail "the sum of what came through a pipe: $(cat read)"
tr '\r' '\n' <read | grep -qE '^(.\[K)?0$' || fail "no sum: $(cat -v read)"
# Nothing of it where nobody sees it.
"$RUNG" radiator -n 200 -m 200 -p 20000 -g >out 2>err </dev/null || fail "a radiator: $(cat err)"
! grep -q '%' err || fail "progress without a terminal: $(cat err)"
finish
