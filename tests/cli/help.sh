#!/bin/bash
# Every verb explains itself; wrong verbs and options are refused; starting costs next to nothing.
. "$(dirname "$0")/common.bash"

verbs="radiator stencil reduce scan histogram pairs tour ladder verify bench explain timeline devices"
expect 0 - "$RUNG" --help
for verb in $verbs; do prints "  $verb "; done
prints "Exit status"
expect 0 - "$RUNG" --version
grep -qE '^rung [0-9]+\.[0-9]+\.[0-9]+$' stdout || fail "--version printed $(cat stdout)"
for verb in $verbs; do
  expect 0 - "$RUNG" "$verb" --help
  prints "Usage: rung $verb"
  prints "Example:"
  prints "  rung $verb"
  expect 0 - "$RUNG" "$verb" -h
  expect 2 "rung $verb: '--no-such' is not an option" "$RUNG" "$verb" --no-such
  expect 2 "rung $verb: '-Z' is not an option" "$RUNG" "$verb" -Z
  expect 2 "takes no value" "$RUNG" "$verb" --quiet=1
  expect 2 "one argument too many" "$RUNG" "$verb" a b c d
done
expect 2 "Usage: rung VERB" "$RUNG"
expect 2 "no verb 'nonsense'" "$RUNG" nonsense
expect 2 "'--output' needs a value" "$RUNG" radiator --output
expect 2 "'-n' needs a value" "$RUNG" radiator -n

# The best of many starts, in milliseconds.
best=1000000
for _ in $(seq 20); do
  begin=$(date +%s%N)
  "$RUNG" ladder >/dev/null 2>&1
  spent=$((($(date +%s%N) - begin) / 1000000))
  [ "$spent" -lt "$best" ] && best=$spent
done
command -v nvidia-smi >/dev/null || [ "$best" -le 50 ] || fail "rung ladder takes $best ms"
only
finish
