#!/bin/bash
# rung pairs on a box of water that GROMACS comes with, against gmx rdf, pair by pair.
data=$(cd "$(dirname "$0")/../data" && pwd)
. "$(dirname "$0")/common.bash"
water=/usr/share/gromacs/top/spc216.gro
if [ ! -e $water ]; then
  echo "skipped: there is no $water: install gromacs-data"
  exit 77
fi

# gmx's bins have multiples of 0.01 in their middle: two of 0.005 are one.
expect 0 - "$RUNG" pairs $water --width 0.005 --max 0.925 --select OW --quiet
awk 'NR > 1 && NF == 3 { count[NR - 2] = $3 }
  END { for (k = 25; k < 90; k++) printf "%.2f %d\n", k / 100, count[2 * k - 1] + count[2 * k] }' stdout >ours
grep -v '^#' "$data/spc216_gmx_rdf.txt" | cmp -s - ours || fail "not the pairs of gmx rdf: $(cat ours)"

# The first peak of g(r) between oxygens, and how many neighbours are below its first minimum.
expect 0 - "$RUNG" pairs $water --width 0.012 --rdf --select OW --quiet
awk 'NR > 1 && NF == 6 && $5 > g { g = $5; r = $1 } NR > 1 && NF == 6 && $3 < 0.34 { n = $6 }
  END { exit !(r > 0.265 && r < 0.287 && g > 2.4 && g < 3.1 && n > 4 && n < 5) }' stdout ||
  fail "the first peak of water: $(cat stdout)"

# Each oxygen has two hydrogens of its own, at 0.1, which --exclude-molecules leaves out.
expect 0 - "$RUNG" pairs $water --width 0.01 --max 0.13 --select OW --with HW1,HW2 --quiet
[ "$(awk 'NR > 1 && NF == 3 { n += $3 } END { print n }' stdout)" = 432 ] || fail "bonds: $(cat stdout)"
expect 0 - "$RUNG" pairs $water --width 0.01 --max 0.13 --select OW --with HW1,HW2 --exclude-molecules --quiet
[ "$(awk 'NR > 1 && NF == 3 { n += $3 } END { print n }' stdout)" = 0 ] || fail "bonds: $(cat stdout)"
expect 0 "equal" "$RUNG" pairs $water --width 0.001 --exclude-molecules --check
rm -f stdout ours
only
finish
