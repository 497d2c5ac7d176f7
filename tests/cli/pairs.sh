#!/bin/bash
# rung pairs: the old report's table to the last digit, and files whose pairs are known by hand.
data=$(cd "$(dirname "$0")/../data" && pwd)
. "$(dirname "$0")/common.bash"

pairs=("$RUNG" pairs --device cpu --quiet)
# counts EXPECTED: the column of that name, or the third, and what is outside, on one line.
counts() {
  local found
  found=$(awk 'NR == 1 { next } NF == 2 { outside = outside $2 " "; next } { printf "%s ", $3 }
    END { print outside }' stdout)
  [ "$found" = "$1 " ] || fail "counted $found, not $1"
}

# ---- N WIDTH [BLOCK] ----------------------------------------------------------------------------

table() { awk '/^[0-9]+:/ { gsub(/\|/, ""); for (i = 2; i <= NF; i++) print $i }' stdout; }
blocks=("" 48 1000)
[ -z "${SANITIZED:-}" ] || blocks=(1000) # takes its time
for block in "${blocks[@]}"; do
  # shellcheck disable=SC2086
  expect 0 - "${pairs[@]}" 10000 500 $block
  table | cmp -s - "$data/pairs_10000_500.txt" || fail "the report's table with block '$block'"
done
prints "T:49995000"
prints "00:            2076 |           14212 |           37870 |           70863 |          113190 | "
[ "$(grep -cE '^[0-9]{2}: ' stdout)" -eq 16 ] || fail "not five bins a line: $(cat stdout)"
if "$RUNG" devices --device sim >/dev/null 2>&1; then
  expect 0 - "$RUNG" pairs 300 2000 64 --device sim --quiet --rung naive
  for word in "naive, block 64" "no GPU's" "difference from the CPU: none" "T:44850"; do prints "$word"; done
  expect 0 - "$RUNG" pairs 300 2000 --device sim --quiet --all
  [ "$(grep -c '^T:44850$' stdout)" -eq 2 ] || fail "--all did not print both tables"
  prints "T:0"
  expect 0 - "$RUNG" pairs 300 2000 --device sim --quiet --json
  prints '"different_bins": 0'
  prints '"simulated": true'
fi
expect 0 - "${pairs[@]}" 2000 500 --rung serial --type f32 -o out.csv
prints "serial"
prints "f32"
[ "$(awk -F, 'NR > 1 { total += $3 } END { print total }' out.csv)" = 1999000 ] || fail "out.csv"
"${pairs[@]}" 100 5000 -o - >out.npy 2>report || fail "a table on standard output"
grep -qF "T:4950" report || fail "the report is not on standard error"
grep -qaF "'shape': (8,)" out.npy || fail "out.npy is wrong"
expect 0 - "${pairs[@]}" 1 500
prints "T:0"
rm out.csv out.npy report

# ---- files --------------------------------------------------------------------------------------

# Two frames in a box of 10: O at 0 and 9 (8), H at 2 (3) of y, and at 5 5 5.
cell='Lattice="10 0 0 0 10 0 0 0 10"'
printf '%s\n' 4 "$cell" "O 0 0 0" "O 9 0 0" "H 0 2 0" "H 5 5 5" \
  4 "$cell" "O 0 0 0" "O 8 0 0" "H 0 3 0" "H 5 5 5" >two.xyz
expect 0 - "${pairs[@]}" two.xyz --width 1
[ -s stderr ] && fail "--quiet was not quiet"
counts "0 1 3 2 0 0 6"
expect 0 "2 frames of 4 points" "$RUNG" pairs two.xyz --width 1 --device cpu
expect 0 - "${pairs[@]}" two.xyz --width 1 --frames 1
counts "0 1 2 0 0 0 3"
expect 0 - "${pairs[@]}" two.xyz --bins 4 --max 4 --frames 2:
counts "0 0 1 2 0 3"
expect 0 - "${pairs[@]}" two.xyz --width 1 --max 4 --frames ::5
counts "0 1 2 0 0 3"
expect 0 - "${pairs[@]}" two.xyz --width 1 --max 12 --open --frames 1
counts "0 0 1 0 0 0 0 1 2 2 0 0 0 0"
expect 0 - "${pairs[@]}" two.xyz --bins 2 --open --frames 1
counts "1 5 0 0"
expect 0 - "${pairs[@]}" two.xyz --width 1 --max 4 --box "20,20,20 0 0 0" --frames 1
counts "0 0 1 0 0 5"
# Its third vector is (5 5 5): the other H is an image of the first O.
expect 0 - "${pairs[@]}" two.xyz --width 1 --max 4 --box "10 10 5 0 5 5" --frames 1
counts "1 2 3 0 0 0"
# Ends that rounding alone would put elsewhere: 3 * 0.1 > 0.3 = 0.6 / 2, and a pair at the very end.
printf '%s\n' 2 'Lattice=".6 0 0 0 .6 0 0 0 .6"' "O 0 0 0" "O .25 0 0" >small.xyz
for how in "--width 0.1 --max 0.3" "--width .1 --max .3 --open" "--bins 3" "--bins 3 --max .3"; do
  # shellcheck disable=SC2086
  expect 0 - "${pairs[@]}" small.xyz $how
  counts "0 0 1 0 0"
done
expect 0 - "${pairs[@]}" small.xyz --width .1
counts "0 0 0 1"
for how in "--width 0.25" "--bins 1"; do
  # shellcheck disable=SC2086
  expect 0 - "${pairs[@]}" small.xyz $how --open
  awk 'NR > 1 && NF == 3 { n += $3 } END { exit n != 1 }' stdout || fail "$how --open: $(cat stdout)"
done
expect 0 - "${pairs[@]}" two.xyz --log 1 4 2
counts "1 5 0 6"
edge1='\0\0\0\0\0\0\xf0\x3f' edge2='\0\0\0\0\0\0\0\x40' edge3='\0\0\0\0\0\0\x08\x40'
npy '<f8' '(3,)' "$edge1$edge2$edge3" >edges.npy
expect 0 - "${pairs[@]}" two.xyz --edges edges.npy
counts "1 3 0 8"
expect 0 - "${pairs[@]}" two.xyz --width 1 --select O
counts "0 1 1 0 0 0 0"
expect 0 - "${pairs[@]}" two.xyz --width 1 --select O --with H
counts "0 0 2 2 0 0 4"
expect 0 - "${pairs[@]}" two.xyz --width 1 --select O,H --with O,H --type f32 --rung serial --threads 2
counts "0 1 3 2 0 0 6"
"${pairs[@]}" - --format xyz --width 1 <two.xyz >stdout || fail "a pipe was refused"
counts "0 1 3 2 0 0 6"

# The same four points in every format; in some they have names, molecules and weights.
printf '%s\n' Title 4 "    1A       O    1   0.000   0.000   0.000" \
  "    1A       O    2   9.000   0.000   0.000" "    2A       H    3   0.000   2.000   0.000" \
  "    3A       H    4   5.000   5.000   5.000" "10 10 10" >four.gro
printf '%s\n' "CRYST1   10.000   10.000   10.000  90.00  90.00  90.00 P 1" \
  "ATOM      1  O1  A   A   1       0.000   0.000   0.000  2.00  0.00           O" \
  "ATOM      2  O2  A   A   1       9.000   0.000   0.000  3.00  0.00           O" \
  "ATOM      3  H1  A   A   2       0.000   2.000   0.000  5.00  0.00           H" \
  "ATOM      4  H2  A   A   3       5.000   5.000   5.000  7.00  0.00           H" END >four.pdb
printf '%s\n' "ITEM: TIMESTEP" 0 "ITEM: NUMBER OF ATOMS" 4 "ITEM: BOX BOUNDS pp pp pp" "0 10" \
  "0 10" "0 10" "ITEM: ATOMS id mol type q xs ys zs" "4 3 2 7 .5 .5 .5" "1 1 1 2 0 0 0" \
  "3 2 2 5 0 .2 0" "2 1 1 3 .9 0 0" >four.dump
printf '%s\n' "x,y,z,name,molecule,weight" 0,0,0,O,1,2 9,0,0,O,1,3 0,2,0,H,2,5 5,5,5,H,3,7 >four.csv
zero='\0\0\0\0' two='\0\0\0\x40' five='\0\0\xa0\x40' nine='\0\0\x10\x41'
npy '<f4' '(1, 4, 3)' "$zero$zero$zero$nine$zero$zero$zero$two$zero$five$five$five" >four.npy
for file in four.gro four.pdb four.dump; do
  expect 0 - "${pairs[@]}" $file --width 1
  counts "0 1 2 0 0 0 3"
  expect 0 - "${pairs[@]}" $file --width 1 --exclude-molecules
  counts "0 0 2 0 0 0 3"
done
for file in four.csv four.npy; do
  expect 0 - "${pairs[@]}" $file --width 1 --max 4 --box "10 10 10"
  counts "0 1 2 0 0 3"
done
expect 0 - "${pairs[@]}" four.pdb --width 1 --select O
counts "0 1 0 0 0 0 0"
expect 0 - "${pairs[@]}" four.dump --width 1 --select 1
counts "0 1 0 0 0 0 0"

# One tilted cell as each format has it; in a dump its bounds are those of the whole cell.
awk 'BEGIN { srand(5); for (i = 0; i < 400; i++) print int(9e3 * rand()) / 1e3, int(9e3 * rand()) / 1e3,
  int(9e3 * rand()) / 1e3 }' >tilted.txt
(echo title && echo 400 && awk '{ printf "%5dA    %5s%5d%8.3f%8.3f%8.3f\n", NR, "A", NR, $1, $2, $3 }' \
  tilted.txt && echo "8 7 6 0 0 -2 0 3 -1") >tilted.gro
(printf '%s\n' 400 'Lattice="8 0 0 -2 7 0 3 -1 6" Properties=species:S:1:pos:R:3' &&
  sed 's/^/A /' tilted.txt) >tilted.xyz
(printf '%s\n' "ITEM: TIMESTEP" 0 "ITEM: NUMBER OF ATOMS" 400 "ITEM: BOX BOUNDS xy xz yz pp pp pp" \
  "-3 10 -2" "-2 6 3" "0.5 6.5 -1" "ITEM: ATOMS xu yu zu" && cat tilted.txt) >tilted.dump
expect 0 - "${pairs[@]}" tilted.txt --box "8 7 6 -2 3 -1" --width 0.25
mv stdout tilted
[ "$(awk 'NR > 1 && NF == 3 { n++ } END { print n }' tilted)" -ge 11 ] || fail "$(cat tilted)"
for file in tilted.gro tilted.xyz tilted.dump; do
  expect 0 "equal (1 frame, 100 points at most)" "$RUNG" pairs $file --device cpu --width 0.25 \
    --check --sample 100
  cmp -s stdout tilted || fail "$file: another cell: $(cat stdout)"
done
(echo "CRYST1    8.000    8.000    8.000  60.00  60.00  90.00 P 1" &&
  awk '{ printf "ATOM  %5d  A   A   A%4d    %8.3f%8.3f%8.3f\n", NR, NR, $1, $2, $3 }' tilted.txt) >tilted.pdb
expect 0 - "${pairs[@]}" tilted.pdb --width 0.3
mv stdout tilted
expect 0 - "${pairs[@]}" tilted.txt --box "8 8 5.656854249492381 0 4 4" --width 0.3
cmp -s stdout tilted || fail "tilted.pdb: another cell: $(cat tilted)"
rm tilted tilted.*

# Sums of products of weights, from a column or a file: 2 * 3, and 2 * 5 + 3 * 5.
sums() {
  [ "$(awk 'NR > 1 && NF == 4 { printf "%s ", $4 }' stdout)" = "0 6 25 0 " ] || fail "sums: $(cat stdout)"
}
three='\0\0\0\0\0\0\x08\x40' five='\0\0\0\0\0\0\x14\x40' seven='\0\0\0\0\0\0\x1c\x40'
npy '<f8' '(4,)' "$edge2$three$five$seven" >weights.npy
expect 0 - "${pairs[@]}" four.pdb --width 1 --max 4 --weights occupancy
sums
expect 0 - "${pairs[@]}" four.dump --width 1 --max 4 --weights q
sums
expect 0 - "${pairs[@]}" four.csv --width 1 --max 4 --weights weight --box "10 10 10"
sums
expect 0 - "${pairs[@]}" four.gro --width 1 --max 4 --weights weights.npy
sums
expect 0 - "${pairs[@]}" four.gro --width 1 --max 4 --weights weights.npy --check
expect 0 - "${pairs[@]}" four.gro --width 1 --max 4 --weights weights.npy -o out.csv
[ "$(sed -n 3p out.csv)" = "1,2,1,6" ] || fail "out.csv: $(cat out.csv)"
expect 0 - "${pairs[@]}" four.gro --width 1 --max 4 -o out.npy
grep -qaF "'descr': '<i8'" out.npy || fail "counts are no i64"
[ "$(od -An -v -t d8 -j 128 -w65536 out.npy | tr -s ' ')" = " 0 1 2 0" ] || fail "out.npy is wrong"
expect 0 "3 above" "$RUNG" pairs four.gro --device cpu --width 1 --max 4 --rdf -o out.npy
grep -qaF "'shape': (4, 6)" out.npy || fail "the table of --rdf has no six columns"
cp four.gro $'caf\xe9.gro' # a name that is not UTF-8
expect 0 - "${pairs[@]}" $'caf\xe9.gro' --width 1 --max 4 --json
prints '"file": "caf\\xe9.gro"'
rm $'caf\xe9.gro'
expect 0 - "${pairs[@]}" four.gro --width 1 --max 4 --json
for word in '"frames": 1' '"above": 3' '"sums": null' '4.0'; do prints "$word"; done
rm out.csv out.npy

# g(r) of an ideal gas is 1 but for its noise, and its coordination number the volume's share.
awk 'BEGIN { srand(7); for (i = 0; i < 3000; i++) print 10 * rand(), 10 * rand(), 10 * rand() }' >gas.csv
for how in "--box 10,10,10" "--box 10,10,10,3,-4,2"; do
  # shellcheck disable=SC2086
  expect 0 - "${pairs[@]}" gas.csv $how --bins 5 --max 4 --rdf
  awk 'NR > 2 && NF == 6 && ($5 < 0.95 || $5 > 1.05) { bad = 1 }
    NR == 6 && ($6 < 780 || $6 > 830) { bad = 1 } END { exit bad }' stdout ||
    fail "an ideal gas with $how: $(cat stdout)"
done
expect 0 - "${pairs[@]}" gas.csv --open --volume 1000 --width 0.5 --max 1 --rdf
awk 'NR > 1 && NF == 6 && ($5 < 0.8 || $5 > 1.1) { bad = 1 } END { exit bad }' stdout ||
  fail "an ideal gas in open space: $(cat stdout)"
expect 0 "equal (1 frame, 100 points at most)" "$RUNG" pairs gas.csv --device cpu --box "10 10 10" \
  --width 0.1 --check --sample 100
expect 0 "equal (1 frame, 5000 points at most)" "$RUNG" pairs gas.csv --device cpu --width 0.1 --check

awk '{ print $0, NR % 3 ? "A" : "B", int(NR / 7), NR % 11 }' gas.csv >names.csv
for lists in "--select A" "--select A --with B"; do
  # shellcheck disable=SC2086
  expect 0 "equal" "$RUNG" pairs names.csv --device cpu $lists --width 0.2 --max 3 --check --sample 90 \
    --weights weight --exclude-molecules --box 10,10,10
done
rm names.csv

# ---- what is refused, and leaves no file --------------------------------------------------------

expect 2 "none of --width" "${pairs[@]}" two.xyz -o out.csv
expect 2 "more than one of --width" "${pairs[@]}" two.xyz --width 1 --bins 3 -o out.csv
expect 2 "'out.txt'; expected: a name that ends in .csv or .npy" "${pairs[@]}" two.xyz --width 1 -o out.txt
expect 2 "--width '0'" "${pairs[@]}" two.xyz --width 0
expect 2 "--width '-1'" "${pairs[@]}" two.xyz --width -1
expect 2 "--width 1e-09 makes" "${pairs[@]}" two.xyz --width 1e-9
expect 2 "--width 100 is more than" "${pairs[@]}" two.xyz --width 100
expect 2 "--bins '1048577'" "${pairs[@]}" two.xyz --bins 1048577
expect 2 "--log '1 1 3'" "${pairs[@]}" two.xyz --log 1 1 3
expect 2 "--log '0 1 3'" "${pairs[@]}" two.xyz "--log=0 1 3"
expect 2 "--log '1 2'" "${pairs[@]}" two.xyz "--log=1 2"
expect 2 "edges say where bins end" "${pairs[@]}" two.xyz --edges edges.npy --max 3
expect 2 "expected: --max 5" "${pairs[@]}" two.xyz --width 1 --max 6 -o out.csv
expect 2 "--box '1 2'" "${pairs[@]}" two.xyz --width 1 --box "1 2"
expect 2 "--box '0 1 1'" "${pairs[@]}" two.xyz --width 1 --box "0 1 1"
expect 2 "--open and --box" "${pairs[@]}" two.xyz --width 1 --box "1 1 1" --open
for range in x 0 3:1 1:2:3:4 1:2:0; do
  expect 2 "--frames" "${pairs[@]}" two.xyz --width 1 --frames $range
done
expect 2 "--frames begins with frame 3" "${pairs[@]}" two.xyz --width 1 --frames 3 -o out.csv
expect 2 "--with is given and --select is not" "${pairs[@]}" two.xyz --width 1 --with O
expect 2 "both choose point 3, 'H'" "${pairs[@]}" two.xyz --width 1 --select O,H --with H
expect 2 "--select 'X' chooses none of the points of frame 1 of two.xyz; some of its names: O, H" \
  "${pairs[@]}" two.xyz --width 1 --select X -o out.csv
expect 2 "names no points" "${pairs[@]}" four.npy --width 1 --select O
expect 2 "has no molecules" "${pairs[@]}" two.xyz --width 1 --exclude-molecules
expect 3 "no column 'q'" "${pairs[@]}" two.xyz --width 1 --weights q -o out.csv
expect 3 "holds 4 weights, and frame 1 of gas.csv 3000" "${pairs[@]}" gas.csv --width 1 --weights weights.npy
expect 2 "volume --rdf needs" "${pairs[@]}" gas.csv --width 1 --rdf
expect 2 "--volume is given without --rdf" "${pairs[@]}" gas.csv --width 1 --volume 5
expect 2 "--sample is given without --check" "${pairs[@]}" gas.csv --width 1 --sample 5
expect 2 "--all is of N random points" "${pairs[@]}" gas.csv --width 1 --all
expect 2 "--format 'xtc'" "${pairs[@]}" gas.csv --width 1 --format xtc
expect 2 "does not say its format" "${pairs[@]}" - --width 1
expect 2 "magic" "${pairs[@]}" two.xyz --width 1 --rung magic -o out.csv
printf '%s\n' 1 "" "O 1 2 nan" >bad.xyz
expect 3 "bad.xyz: frame 1: point 1 (line 3): z is 'nan'; expected: a finite number" \
  "${pairs[@]}" bad.xyz --width 1 --max 1 -o out.csv
printf '%s\n' 1 "" "O 1 2 1e300" >bad.xyz
expect 3 "which f32 cannot hold" "${pairs[@]}" bad.xyz --width 1 --max 1 --type f32 -o out.csv
printf '%s\n' 9 "$cell" "O 1 2 3" >bad.xyz
expect 3 "the file ends before point 2 of 9" "${pairs[@]}" bad.xyz --width 1 -o out.csv
(cat two.xyz && cat bad.xyz) >bad2.xyz
expect 3 "frame 3: truncated" "${pairs[@]}" bad2.xyz --width 1 -o out.csv
printf '%s\n' 1 'Lattice="1 0 0 0 1 0 1 1 0"' "O 1 2 3" >bad.xyz
expect 3 "no volume" "${pairs[@]}" bad.xyz --width 1
expect 0 - "${pairs[@]}" bad.xyz --width 1 --max 1 --open
(cat two.xyz && printf '%s\n' 1 "" "O 1 2 3") >bad2.xyz
expect 2 "frame 3 is in no box, and those before it in one" "${pairs[@]}" bad2.xyz --width 1 -o out.csv
expect 2 "there is no density" "${pairs[@]}" bad2.xyz --frames 3 --rdf --width 1 --max 2 --volume 5
expect 2 "expected: --max R" "${pairs[@]}" bad.xyz --width 1 --open
expect 3 "No such file" "${pairs[@]}" absent.xyz --width 1 -o out.csv
expect 3 "/nowhere" "${pairs[@]}" absent.xyz --width 1 -o /nowhere/out.csv
expect 4 cuda "${pairs[@]}" two.xyz --width 1 --device cuda:99 -o out.csv
expect 2 "N 'many'; expected: a whole number" "${pairs[@]}" many 500
expect 2 "WIDTH '0'" "${pairs[@]}" 10 0
expect 2 "WIDTH 0.001 makes" "${pairs[@]}" 10 0.001
expect 2 "BLOCK '2000'" "${pairs[@]}" 10 500 2000
expect 2 "options of FILE are given with N WIDTH" "${pairs[@]}" 10 500 --rdf
expect 2 "no rung 'magic'" "${pairs[@]}" 10 500 --rung magic
only two.xyz small.xyz edges.npy four.gro four.pdb four.dump four.csv four.npy weights.npy gas.csv bad.xyz bad2.xyz
finish
