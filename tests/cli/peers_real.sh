#!/bin/bash
# GROMACS, MDAnalysis and OpenBLAS themselves beside rungs, where they are found: what they count is
# ours but for single precision, and products are ours but for the order of arithmetic.
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
# Every layout, one row and one column, a batch; nothing is added.
jobs="n=70 m=50 k=60; n=70 m=50 k=60 type=f64 layout=tt; n=33 m=40 k=51 layout=tn alpha=-2"
jobs="$jobs; n=90 m=80 k=70 layout=nt; n=90 m=1 k=80 type=f64 layout=nt; n=90 m=1 k=80 alpha=3"
jobs="$jobs; n=1 m=90 k=80 type=f64 layout=tn; n=1 m=90 k=80; n=20 m=18 k=22 batch=7 layout=tn"
expect 0 - "$RUNG" bench matmul --device cpu --rung packed --samples 1 --peers --quiet \
  --sizes "$jobs; n=20 beta=1" -o record.json
if grep -qE "^openblas .*unsupported: .*libopenblas.so.0 cannot be loaded" stdout; then
  echo "skipped: there is no openblas"
else
  found=$((found + 1))
  [ "$(grep -cE '^openblas .* good(: [0-9]+ of [0-9]+ elements have other bits.*)?$' stdout)" = 9 ] ||
    fail "openblas is not good: $(cat stdout)"
  grep -qE "^openblas .*unsupported: .*expected: beta=0$" stdout || fail "openblas adds something"
  grep -q '"peer":"OpenBLAS [0-9.]*, ' record.json || fail "the record does not say which OpenBLAS"
fi
[ $found -gt 0 ] || [ $failures -gt 0 ] || exit 77
only record.json
finish
