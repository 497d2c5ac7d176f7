#!/bin/bash
# Where results cannot be written that is an error, and the old file stays.
. "$(dirname "$0")/common.bash"

for command in "--help" "--version" "radiator --help" "radiator -g --quiet" \
  "radiator -g --json --quiet" "ladder" "ladder --json" "devices --quiet" "stencil --help" "correlate --help" "reduce --help" "scan --help" "matmul --help" "histogram --help" \
  "pairs --help" "pairs 10 500 --quiet"; do
  # shellcheck disable=SC2086
  "$RUNG" $command >/dev/full 2>stderr
  code=$?
  [ $code -eq 3 ] || fail "'$command' on a full disk ended with $code"
  grep -qF "cannot be written: No space left" stderr || fail "'$command' on a full disk said: $(cat stderr)"
done
expect 3 "No space left" "$RUNG" radiator -g -o /dev/full
expect 3 "No space left" "$RUNG" ladder -o /dev/full
"$RUNG" radiator -g --quiet -o - >/dev/full 2>stderr
[ $? -eq 3 ] || fail "the grid on a full standard output"
rm -f stderr

# A limit on the size of files stands for a disk that fills up on the way: ignored, its signal
# leaves an error to be seen; not ignored, it ends the command. Nothing is left in either case.
echo old >grid.npy
(ulimit -f 8 && trap '' XFSZ && exec "$RUNG" radiator -n 1000 -m 1000 -g --quiet -o grid.npy) \
  >/dev/null 2>&1
[ $? -eq 3 ] || fail "a file that grew too large"
(ulimit -f 8 && ulimit -c 0 && exec "$RUNG" radiator -n 1000 -m 1000 -g --quiet -o grid.npy) \
  >/dev/null 2>&1
[ $? -gt 128 ] || fail "SIGXFSZ did not end the command"
[ "$(cat grid.npy)" = old ] || fail "the old file was touched"
only grid.npy

# No right to write there.
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked && chmod 500 locked
  expect 3 "denied" "$RUNG" radiator -g -o locked/grid.npy
  expect 3 "denied" "$RUNG" tour -o locked
  chmod 400 grid.npy
  expect 3 "denied" "$RUNG" radiator -g -o grid.npy
  [ "$(cat grid.npy)" = old ] || fail "a read-only file was replaced"
fi
finish
