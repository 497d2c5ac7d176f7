#!/usr/bin/env bash
# Names, numbers, limits and signals that nobody would give on purpose.
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/common.bash"
npy '<f4' '(2, 2)' '\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40' >in.npy

# Control bytes, of ASCII and of Latin-1 in UTF-8, do not reach the terminal.
plain() {
  expect "$1" "$2" "${@:3}"
  "${@:3}" >stdout 2>stderr
  ! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]\|\xc2[\x80-\x9f]' stderr ||
    fail "'$(cat -v stderr)' holds control bytes"
}
plain 3 '\x1b[31m' "$RUNG" reduce $'no\e[31m.npy' --op sum
plain 2 '\x1b' "$RUNG" reduce in.npy --op sum --rung $'a\eb'
plain 2 '\x1b' "$RUNG" $'red\euce'
plain 2 '\x07' "$RUNG" reduce in.npy --op $'s\aum'
plain 3 '\xc2\x9b' "$RUNG" pairs $'a\xc2\x9b31m.xyz' --width 1
plain 3 $'caf\xc3\xa9' "$RUNG" reduce $'caf\xc3\xa9.npy' --op sum

# A link whose target is not there yet: the target is made, and the link stays.
mkdir folder
ln -s folder/made.npy link.npy
ln -s link.npy second.npy
expect 0 - "$RUNG" scan in.npy -o second.npy --device cpu --quiet
[ -L second.npy ] && [ -L link.npy ] && [ -f folder/made.npy ] || fail "the target was not made"
ln -s nowhere/x.npy lost.npy
expect 3 'cannot be' "$RUNG" scan in.npy -o lost.npy --device cpu --quiet
ln -s round.npy round.npy
expect 3 'cannot be' "$RUNG" scan in.npy -o round.npy --device cpu --quiet
[ -L lost.npy ] && [ -L round.npy ] || fail "a link was replaced"
rm -r folder ./*link.npy second.npy lost.npy round.npy

# What JSON has no number for.
npy '<f4' '(4, 1)' '\0\0\xc0\x7f\0\0\x80\x7f\0\0\x80\xff\0\0\x80\x3f' >odd.npy
expect 0 - "$RUNG" reduce odd.npy --op sum --axis 1 --json --device cpu
[ "$(tr -d ' \n' <stdout | sed 's/.*values":\[\([^]]*\).*/\1/')" = '"nan","inf","-inf",1.0' ] ||
  fail "NaN and infinities in JSON: $(cat stdout)"

# Sentences that say what is wrong.
printf '2\n\nA 0 0 0\nA 1 0 0\n' >in.xyz
expect 0 - "$RUNG" stencil in.npy --type f64 --weights "1e308 1e308 1e308" --divide 1.5e308 \
  --steps 1 -o out.npy --device cpu
expect 2 'from 1e-70 to 1e70' "$RUNG" pairs in.xyz --width 1 --box "1e80 10 10"
expect 2 'HI / LO is beyond' "$RUNG" pairs in.xyz --log 1e-320 1e308 3
expect 2 'names no job' "$RUNG" bench reduce --sizes "" --device cpu
expect 2 'names no job' "$RUNG" bench reduce --sizes " ; " --device cpu
printf '0.%0200d,0,0\n1,1,1\n' 1 >long.csv
expect 0 - "$RUNG" pairs long.csv --width 1

# What is no file of numbers is refused at once, by its name.
mkdir bad.folder
ln -s bad.loop bad.loop
truncate -s 4G bad.sparse
printf '\x7fELF\x02\x01\n\x80\xff\xfe\xc3\n%0100d' 7 >bad.binary
: >bad.empty
cp in.npy bad.locked
chmod 000 bad.locked
for format in xyz gro pdb lammps csv npy; do
  for kind in folder loop sparse binary empty; do
    expect 3 "bad.$kind: " timeout 20 "$RUNG" pairs bad.$kind --format $format --width 1
  done
  [ "$(id -u)" -eq 0 ] || expect 3 denied "$RUNG" pairs bad.locked --format $format --width 1
done
expect 3 'bad.sparse: is no .npy file' timeout 20 "$RUNG" histogram in.npy --edges bad.sparse
mkfifo pipe.npy
cat in.npy >pipe.npy &
expect 0 - "$RUNG" reduce pipe.npy --op sum --device cpu # one that is written to is as good
prints 10
rm -r bad.* pipe.npy

# A program that is started without standard streams writes nothing of theirs into its files.
"$RUNG" scan in.npy -o wanted.npy --device cpu --quiet || fail "scan ended with $?"
for closed in '<&-' '2>&-' '<&- 2>&-' '<&- >&- 2>&-'; do
  eval "$RUNG scan in.npy -o out.npy --device cpu $closed" 2>stderr || fail "$closed: $? $(cat stderr)"
  cmp out.npy wanted.npy || fail "$closed: another result"
done
"$RUNG" devices --json -o out.json 2>&- || fail "devices ended with $?"
[ "$(head -c 1 out.json)" = '{' ] || fail "a remark is in the file: $(head -n 1 out.json)"
expect 3 'cannot be written: Bad file' bash -c '"$RUNG" reduce in.npy --op sum >&-'
expect 3 'standard input' bash -c '"$RUNG" scan - -o out.npy <&-'

# A stack that is too small is said, where a system lets the command begin at all.
(ulimit -s 64 && exec "$RUNG" pairs in.xyz --width 1) >stdout 2>stderr
found=$?
[ "$found" -eq 5 ] && grep -q 'stack is limited to 64 KiB' stderr ||
  fail "a stack of 64 KiB: $found, $(cat stderr)"
(ulimit -s 300 && exec "$RUNG" pairs in.xyz --width 1) >stdout 2>stderr ||
  fail "a stack of 300 KiB: $(cat stderr)"

# Whatever ends the command takes the half-written file along.
for signal in TERM HUP USR1 USR2 ALRM VTALRM PROF IO; do
  "$RUNG" verify scan --device cpu -o new.txt --quiet >/dev/null 2>&1 &
  command=$!
  for _ in {1..500}; do
    [ -n "$(find . -name '.rung-*.tmp')" ] && break
    sleep 0.01
  done
  kill -s "$signal" "$command" || fail "it was over before SIG$signal"
  wait "$command" 2>/dev/null
  [ $? -eq $((128 + $(kill -l "$signal"))) ] || fail "SIG$signal did not end it"
  [ -z "$(find . -name '.rung-*.tmp')" ] || fail "SIG$signal leaves $(find . -name '.rung-*.tmp')"
done
finish
