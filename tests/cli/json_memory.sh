#!/usr/bin/env bash
# Memory runs out, while JSON is made above all: exit 5 and nothing written, or all of it.
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/common.bash"
[ -n "${FAILING:-}" ] && ldd "$RUNG" | grep -q libjansson || exit 77

npy '<f4' '(2, 2)' '\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40' >in.npy
printf '4\n\nA 0 0 0\nA 1 0 0\nA 0 1 0\nA 0 0 1\n' >in.xyz

# untimed FILE: what it says, but for its numbers: times and free memory change.
untimed() {
  sed -E 's/[0-9][-+.e0-9]*/N/g' "$1"
}

# whole MOST COMMAND...: of what Jansson, and then what the command and our libraries, ask for, each
# request fails in turn, or MOST of them: exit 5 and nothing written, or all of it.
whole() {
  local most=$1 of requests at found
  shift
  for of in libjansson rung; do
    export RUNG_FAIL_OF=$of
    rm -f count
    RUNG_COUNT=$PWD/count LD_PRELOAD=$FAILING "$RUNG" "$@" >expected 2>/dev/null </dev/null ||
      fail "'$*' ended with $?"
    requests=$(cat count)
    [ "$requests" -gt 3 ] || [ "${!#}" != --json ] || fail "'$*': $of asked $requests times"
    for ((at = 1; at <= requests; at += requests / most + 1)); do
      RUNG_FAIL=$at LD_PRELOAD=$FAILING "$RUNG" "$@" >stdout 2>stderr </dev/null
      found=$?
      [ "$found" -eq 0 ] && cmp -s <(untimed stdout) <(untimed expected) && continue
      [ "$found" -eq 5 ] || fail "'$*' ended with $found, not 5, at request $at of $requests of $of"
      [ ! -s stdout ] || fail "'$*' wrote something at request $at of $requests of $of"
      grep -q "memory" stderr || fail "'$*' says '$(cat stderr)' at request $at of $requests of $of"
    done
  done
}

whole 25 reduce in.npy --op sum --axis 1 --json --device cpu
whole 25 histogram in.npy --bins 3 --range 0 4 --json --device cpu
whole 25 pairs in.xyz --width 1 --json --device cpu
whole 25 pairs 100 5000 --json --device cpu
whole 25 radiator -n 4 -m 4 -p 1 -g -v --json
whole 25 devices --device cpu --json
whole 25 ladder --device cpu --json
whole 25 verify histogram --device cpu --rung serial --part 1/40 --json
whole 25 reduce in.npy --op sum --axis 1 --json --device sim
whole 10 verify reduce --device sim --rung modulo --part 1/300
whole 25 explain reduce --rung modulo --size n=100
whole 25 explain reduce --rung modulo --size n=100 --json
finish
