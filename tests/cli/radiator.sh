#!/bin/bash
# rung radiator: values worked by hand, what it prints and what it saves.
. "$(dirname "$0")/common.bash"

# near FILE VALUES...: the f8 data of FILE within 1e-12 of these.
near() {
  local file=$1
  shift
  echo "$(floats "$file" 8) $*" | awk '{ n = NF / 2; bad = NF % 2
    for (i = 1; i <= n; i++) { d = $i - $(i + n); if (d < 0) d = -d; if (!(d < 1e-12)) bad = 1 }
    exit bad }' || fail "$file holds $(floats "$file" 8), not $*"
}

radiator=("$RUNG" radiator --type f64 -g -o grid.npy)
expect 0 - "${radiator[@]}" -n 2 -m 4 -p 0
near grid.npy .5 .4 0 0 1 .8 0 0
# One step: (1.9 + 1.5 * .8 + .1) / 5, (1.9 * .8 + .5 + .1 * .8) / 5; the right edge wraps
expect 0 - "${radiator[@]}" -n 1 -m 4 -p 1
near grid.npy 1 .8 .64 .42
expect 0 - "${radiator[@]}" -n 1 -m 4 -p 1 --preset 2016
near grid.npy 1 .75 .61 .42
expect 0 - "${radiator[@]}" -n 1 -m 4 -p 1 --preset 2021
near grid.npy 1 .8 .624 .44
# Only column 0 is fixed in 2025, it wraps to the left and falls off to the right.
expect 0 - "${radiator[@]}" -n 2 -m 4 -p 0 --preset 2025
near grid.npy .245 .1378125 .06125 .0153125 .98 .55125 .245 .06125
for preset in 2016 2019 2021 2023 2025; do
  expect 0 - "${radiator[@]}" -n 7 -m 9 -p 20 --preset $preset
  expect 0 - "${radiator[@]}" -n 7 -m 9 -p 20 --preset $preset -o one.npy --threads 1 --rung scaled
  cmp grid.npy one.npy || fail "preset $preset: rungs differ"
done

# The report's options, and what they print.
expect 0 - "$RUNG" radiator
prints "32 rows, 32 columns, 10 steps"
expect 0 - "$RUNG" radiator -n 3 -m 5 -p 2 -b 33 -a -t -v --type f32 -g
for word in "preset 2019" "f32" "CPU: " "allocate" "kernel" "row means" "distance from double" \
  "CPU grid" "CPU row means"; do prints "$word"; done
[ "$(grep -A3 '^CPU grid' stdout | tail -1 | wc -w)" = 5 ] || fail "a row of the grid is not 5 numbers"
expect 0 - "$RUNG" radiator -g --json -a -v
for word in '"n": 32' '"cpu_skipped": null' '"gpu_skipped": "-g was given"' '"kernel"' '"means"' \
  '"distance_from_double"'; do prints "$word"; done
"$RUNG" radiator -n 2 -m 4 -p 1 -g --type f32 -o - 2>/dev/null >piped.npy
"$RUNG" radiator -n 2 -m 4 -p 1 -g --type f32 -o grid.npy >/dev/null
cmp piped.npy grid.npy || fail "standard output is not the grid alone"

# Where there is no GPU it says so and goes on, unless one was asked for.
if ! "$RUNG" ladder --device cuda >/dev/null 2>&1; then
  expect 0 "no GPU run" "$RUNG" radiator
  expect 4 "cuda" "$RUNG" radiator --device cuda
  expect 4 "cuda" "$RUNG" radiator -c
  "$RUNG" radiator --quiet 2>&1 >/dev/null | grep -q . && fail "--quiet was not quiet"
else
  expect 0 - "$RUNG" radiator -n 100 -m 333 -p 50 -a
  prints "GPU fast and CPU: the same bits"
fi
only grid.npy one.npy piped.npy
finish
