#!/usr/bin/env bash
# Every GPU rung stands in a table of steps: what changed in its counts against the rung below, or why
# that is not known; the first is what others are held against. Notes and counts are of rungs that there are.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -x "${RUNG:-}" ] || exit 77
failures=0
fail() {
  echo "steps: $1"
  failures=1
}
for room in src/ops/*/; do
  operation=$(basename "$room")
  [ -e "$room/ladder.c" ] || continue
  rungs=$("$RUNG" ladder "$operation" | sed -n 's/^  [ *] \([a-z0-9-]*\) *gpu .*/\1/p')
  [ "$(wc -w <<<"$rungs")" -gt 5 ] || fail "no GPU rungs of $operation were found"
  tables=$(sed -n '/<!-- table:\(own_\)\?steps /,/<!-- end -->/p' "$room/README.md" | sed -n 's/^| `\([a-z0-9-]*\)` | \(`\([a-z0-9-]*\)`\)\?.*/\1\n\3/p')
  for rung in $rungs; do
    grep -qx "$rung" <<<"$tables" || fail "$operation, $rung is in no table of steps"
  done
  for rung in $(sed -n "s/^$operation,\([a-z0-9-]*\),.*/\1/p" docs/results/steps.csv); do
    grep -qx "$rung" <<<"$rungs" || fail "docs/results/steps.csv has $rung of $operation, which is none"
  done
  for file in docs/results/simulator/steps/"$operation"-*.json; do
    [ ! -e "$file" ] || grep -q "^$(basename "$file" .json | sed 's/-/,/')," docs/results/steps.csv ||
      fail "$file is of no row of docs/results/steps.csv"
  done
done
exit $failures
