#!/bin/bash
# verify.sh OPERATION PART [DEVICE]: every CUDA rung of an operation runs, right and without a slip,
# on the simulated GPU, or on one that is like another. PART is of `rung verify --part`.
. "$(dirname "$0")/../cli/common.bash"

if ! "$RUNG" devices --device sim >/dev/null 2>&1; then
  echo "skipped: the simulator is not in this build"
  exit 77
fi

device=${3:-sim}
expect 0 - "$RUNG" verify "$1" --device "$device" --seed 11 --part "$2"
prints " 0 failed"
grep -qE '^[1-9][0-9]* checks' stdout || fail "nothing was verified: $(cat stdout)"
rungs=$("$RUNG" ladder "$1" --device "$device" --json | grep -c '"family": "gpu"')
passed=$(grep -cE '^  [a-z0-9-]+ +ok +[1-9][0-9]* passed' stdout)
idle=$(grep -cE '^  [a-z0-9-]+ +- +0 passed, [1-9][0-9]* not supported' stdout) # no job of this part suits it
lacking=$(grep -c 'which the simulator lacks' stdout)
[ "$rungs" -eq $((passed + idle)) ] && [ "$passed" -gt $((idle - lacking)) ] ||
  fail "$passed of $rungs rungs passed: $(cat stdout)"
finish
