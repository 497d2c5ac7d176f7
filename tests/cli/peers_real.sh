#!/bin/bash
# GROMACS and MDAnalysis themselves beside rungs, where they are found: what they count is ours but
# for single precision.
. "$(dirname "$0")/common.bash"
expect 0 - "$RUNG" bench pairs --device cpu --rung cells --samples 1 --peers --quiet \
  --sizes "n=3000 bins=100 kind=centred width=0.01 box=cube data=liquid"
grep -qE '^rung-pairs .* good$' stdout || fail "rung-pairs is not good: $(cat stdout)"
found=0
for name in gmx mdanalysis; do
  if grep -qE "^$name .*unsupported: .*(is not in PATH|no python3 in PATH)" stdout; then
    echo "skipped: there is no $name"
    continue
  fi
  found=$((found + 1))
  grep -qE "^$name .* good(: [0-9]+ of 103 counts are not the exact ones.*)?$" stdout ||
    fail "$name is not good: $(cat stdout)"
done
[ $found -gt 0 ] || [ $failures -gt 0 ] || exit 77
only
finish
