#!/usr/bin/env bash
# Memory runs out while JSON is made: exit 5 and nothing written, or all of it.
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/common.bash"
[ -n "${FAILING:-}" ] && ldd "$RUNG" | grep -q libjansson || exit 77

npy '<f4' '(2, 2)' '\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40' >in.npy
printf '4\n\nA 0 0 0\nA 1 0 0\nA 0 1 0\nA 0 0 1\n' >in.xyz

# whole COMMAND...: of the command's memory the first, second ... request of Jansson fails.
whole() {
  rm -f count
  RUNG_COUNT=$PWD/count LD_PRELOAD=$FAILING "$RUNG" "$@" >expected 2>/dev/null </dev/null ||
    fail "'$*' ended with $?"
  local requests at step found
  requests=$(cat count)
  [ "$requests" -gt 3 ] || fail "'$*' asked for memory $requests times"
  step=$((requests / 25 + 1))
  for ((at = 1; at <= requests; at += step)); do
    RUNG_FAIL=$at LD_PRELOAD=$FAILING "$RUNG" "$@" >stdout 2>stderr </dev/null
    found=$?
    # A name that could not be had is asked for once more.
    [ "$found" -eq 0 ] && [ "$(wc -l <stdout)" = "$(wc -l <expected)" ] && continue
    [ "$found" -eq 5 ] || fail "'$*' ended with $found, not 5, at request $at of $requests"
    [ ! -s stdout ] || fail "'$*' wrote something at request $at of $requests"
    grep -q "memory" stderr || fail "'$*' says '$(cat stderr)' at request $at of $requests"
  done
}

whole reduce in.npy --op sum --axis 1 --json --device cpu
whole histogram in.npy --bins 3 --range 0 4 --json --device cpu
whole pairs in.xyz --width 1 --json --device cpu
whole pairs 100 5000 --json --device cpu
whole radiator -n 4 -m 4 -p 1 -g -v --json
whole devices --device cpu --json
whole ladder --device cpu --json
whole verify histogram --device cpu --rung serial --part 1/40 --json
finish
