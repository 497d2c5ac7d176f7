#!/bin/bash
# Every CUDA rung runs, right and without a slip, on the simulated GPU.
. "$(dirname "$0")/common.bash"

if ! "$RUNG" devices --device sim >/dev/null 2>&1; then
  echo "skipped: the simulator is not in this build"
  exit 77
fi

# Where the build has CUDA too, its kernels must not get in the way of the simulator's: one
# operation shows it.
operations=("")
"$RUNG" devices 2>&1 | grep -q "this build has no CUDA" || operations=(rowmeans)
for operation in "${operations[@]}"; do
  expect 0 - "$RUNG" verify $operation --device sim --seed 11
  prints " 0 failed"
  grep -qE '^[1-9][0-9]* checks' stdout || fail "nothing was verified: $(cat stdout)"
  rungs=$("$RUNG" ladder $operation --device sim --json | grep -c '"family": "gpu"')
  passed=$(grep -cE '^  [a-z0-9-]+ +ok +[1-9][0-9]* passed' stdout)
  [ "$rungs" -eq "$passed" ] || fail "$passed of $rungs rungs passed: $(cat stdout)"
done

expect 0 - "$RUNG" radiator -n 33 -m 100 -p 7 -a --device sim
prints "GPU fast and CPU: the same bits in all 3300"
prints "no GPU's"
grep -qF "Speed-ups" stdout && fail "speed-ups of a simulated GPU were printed"

expect 2 "has no speed to measure" "$RUNG" bench rowmeans --device sim --sizes "n=4 m=40"
expect 0 - "$RUNG" ladder rowmeans --device sim
prints "yes"
rm -f stdout
only
finish
