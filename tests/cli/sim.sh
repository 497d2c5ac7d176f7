#!/bin/bash
# The simulated GPU as a device of the command. That every rung is right there is tests/sim/verify.sh.
. "$(dirname "$0")/common.bash"

if ! "$RUNG" devices --device sim >/dev/null 2>&1; then
  echo "skipped: the simulator is not in this build"
  exit 77
fi

expect 0 - "$RUNG" radiator -n 33 -m 100 -p 7 -a --device sim
prints "GPU fast and CPU: the same bits in all 3300"
prints "no GPU's"
grep -qF "Speed-ups" stdout && fail "speed-ups of a simulated GPU were printed"

expect 2 "has no speed to measure" "$RUNG" bench reduce --device sim --sizes "n=40 outer=4"
expect 0 - "$RUNG" ladder reduce --device sim
prints "yes"
rm -f stdout
only
finish
