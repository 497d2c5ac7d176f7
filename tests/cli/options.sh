#!/usr/bin/env bash
# Random lines of options for every verb, the same ones each time. Whatever is asked, the command
# ends in time with a documented exit status; from 2 on it has printed nothing, says why in one line
# and leaves no file.
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/common.bash"
lines=300
[ -z "${SANITIZED:-}" ] || lines=60 # each takes several times as long
npy '<f4' '(2, 2)' '\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40' >in.npy
npy '|u1' '(4,)' 'abca' >bytes.npy
printf '3\n\nA 0 0 0\nA 1 0 0\nB 0 1 0\n' >in.xyz
mkdir folder
shopt -s dotglob nullglob
mkdir -p .cache
before=(*)

# draw COUNT: sets `drawn` to 0 ... COUNT - 1.
state=20260101
draw() {
  state=$(((state * 1103515245 + 12345) % 2147483648))
  drawn=$((state / 65536 % $1))
}
# pick WORD...: sets `picked`.
pick() {
  draw $#
  shift "$drawn"
  picked=$1
}

hostile=('' -1 0 99999999999999999999 nan inf 1e999 -1e-320 x $'\e[31m' $'\xff' 'a b' '1,,2' 1:0 %s%n
  /nowhere/at.all folder in.xyz "$(printf '%0600d' 7)")
# What an option takes, for those whose lines would else all be refused.
usual() {
  case $1 in
    --op) pick sum min max mean ;;
    --type) pick f32 f64 u8 i32 f16 ;;
    --device) pick cpu cpu cpu auto ;;
    --math) pick strict fast fixed ;;
    --weights) pick '1 2 1' '1,1,1,1,1' ;;
    --edge) pick wrap mirror constant:2 ;;
    --kernel) pick box3 gauss5:2 sobel-x '1 2;3 4' in.npy in.xyz ;;
    --border) pick wrap edge scipy:reflect constant:2 ;;
    --origin) pick 0,0 '1 -1' ;;
    --region) pick 0,0,1,1 '0 1 2 1' ;;
    --scale) pick 0,4 auto ;;
    --range) pick 0:4 '-1 1' ;;
    --preset) pick 2016 2025 ;;
    --box) pick '9 9 9' '9 8 7 1 0 2' ;;
    --format) pick xyz csv npy ;;
    --frames) pick 1 1: ;;
    --select | --with) pick A B ;;
    --log) pick '.1 9 5' ;;
    --edges) pick bytes.npy absent.npy ;;
    -o | --output) pick out.npy out.csv out.json ;;
    --axis) pick 0 1 -1 ;;
    *) pick 1 2 3 7 ;;
  esac
}

# The verbs, and of each its options, "--op=" where one takes a value.
mapfile -t verbs < <("$RUNG" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ ${#verbs[@]} -gt 10 ] || fail "only ${#verbs[@]} verbs"
declare -A options
for verb in "${verbs[@]}"; do
  options[$verb]=$("$RUNG" "$verb" --help | sed -nE '/^Options:/,/^$/{
    s/^  (-[a-z]), (--[a-z-]+) [A-Z].*/\2=/p; s/^  (-[a-z]) [A-Z].*/\1=/p
    s/^ +(--[a-z-]+) [A-Z"].*/\1=/p; s/^ +(--[a-z-]+)( |\[=).*/\1/p; s/^  (-[a-z]) .*/\1/p }' |
    grep -v -e --help -e --quiet)
  [ -n "${options[$verb]}" ] || fail "$verb has no options"
done

# make_line VERB: a line of it in `line`.
make_line() {
  local verb=$1 option of k
  mapfile -t of <<<"${options[$verb]}"
  line=("$verb" --quiet)
  case $verb in
    radiator) line+=(-g -n 3) ;;
    stencil)
      pick in.npy in.npy bytes.npy absent.npy
      line+=("$picked" --weights '1 2 1' -o out.npy) ;;
    correlate | convolve)
      pick in.npy in.npy bytes.npy absent.png
      line+=("$picked" --kernel '1 2' -o out.npy) ;;
    reduce | scan)
      pick in.npy bytes.npy absent.npy in.xyz
      line+=("$picked" --op sum -o out.npy) ;;
    histogram)
      pick in.npy bytes.npy absent.npy
      line+=("$picked" --bins 3 --range 0:9) ;;
    pairs)
      pick in.xyz in.xyz absent.gro in.npy
      line+=("$picked" --width 0.5) ;;
  esac
  draw 5
  for ((k = drawn; k >= 0; k--)); do
    pick "${of[@]}"
    option=$picked
    if [[ $option == *= ]]; then
      draw 3
      if [ "$drawn" -gt 0 ]; then usual "${option%=}"; else pick "${hostile[@]}"; fi
      line+=("${option%=}" "$picked")
    else
      line+=("$option")
    fi
  done
  case $verb in
    tour | verify | bench | explain | timeline | tune | clocks | devices) # takes seconds where nothing is wrong
      pick --device=tpu --threads=0 --no-such=1 -o/nowhere/at.all
      line+=("$picked") ;;
  esac
}

# Runs `line` and looks at what it did.
run_line() {
  local found after said file
  timeout -k 1 20 "$RUNG" "${line[@]}" >.out 2>.err </dev/null
  found=$?
  [ "$found" -le 5 ] || fail "'${line[*]}' ended with $found: $(cat .err)"
  mapfile -t said <.err
  if [ "$found" -ge 2 ]; then
    [ ! -s .out ] || fail "'${line[*]}' ended with $found and printed: $(head -c 200 .out)"
    [ ${#said[@]} -eq 1 ] || fail "'${line[*]}' ended with $found and says: $(cat .err)"
  fi
  rm .out .err
  after=(*)
  if [ "${after[*]}" != "${before[*]}" ]; then
    [ "$found" -lt 2 ] || fail "'${line[*]}' ended with $found and leaves ${after[*]}"
    for file in "${after[@]}"; do
      [[ " ${before[*]} " == *" $file "* ]] || rm -rf -- "./$file"
    done
  fi
  codes[found]=$((${codes[found]:-0} + 1))
}

codes=()
for ((i = 0; i < lines; i++)); do
  make_line "${verbs[i % ${#verbs[@]}]}"
  run_line
done
echo "lines by exit status: $(for k in "${!codes[@]}"; do printf '%s: %s  ' "$k" "${codes[$k]}"; done)"
for k in 0 2 3; do [ "${codes[$k]:-0}" -gt 0 ] || fail "no line ended with $k"; done
finish
