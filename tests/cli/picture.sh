#!/bin/bash
# rung explain --picture and rung timeline --picture: what is drawn, and what is refused.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common.bash"

if ! "$RUNG" explain reduce --sizes "n=1" >found 2>&1; then
  cat found
  echo "skipped: no simulator that counts is in this build"
  exit 77
fi
rm -f found

# good FILE: a small, well-formed picture that says what it is.
good() {
  ! command -v xmllint >/dev/null || xmllint --noout --nonet "$1" 2>problem || fail "$1: $(head -3 problem)"
  rm -f problem
  [ "$(stat -c %s "$1")" -lt 500000 ] || fail "$1 has $(stat -c %s "$1") bytes"
  grep -q '<title id="[a-z]*-t">..*</title>' "$1" || fail "$1 has no title"
  grep -q '<desc id="[a-z]*-d">..*</desc>' "$1" || fail "$1 has no description"
  grep -qE '(nan|inf)[ "]' "$1" && fail "$1 holds numbers that are none"
}
# unfold FILE: with every warp that is drawn as one before it drawn in full. Each is there.
unfold() {
  awk '{
    out = ""
    while (match($0, /<(g id|use href)="#?[a-z]+(-[0-9][0-9])?-[0-9]+"/)) {
      name = substr($0, RSTART, RLENGTH)
      out = out substr($0, 1, RSTART - 1)
      begins = name ~ /^<g/
      $0 = substr($0, RSTART + RLENGTH)
      gsub(/.*="#?|"$/, "", name)
      if (begins) {
        end = index($0, "</g></g></g>")
        warp[name] = substr($0, 2, end - 2)
        $0 = substr($0, end)
      } else {
        sub(/^[^>]*>/, "")
        if (!(name in warp)) warp[name] = "<missing/>"
      }
      out = out warp[name]
    }
    print out $0
  }' "$1"
}
# steps FILE WHAT: how many of its steps have that on their line.
steps() { unfold "$1" | grep '^<g transform="translate(0 [0-9]*)"><title>step ' | grep -c -- "$2"; }
# has FILE WHAT COUNT
has() {
  local found
  found=$(steps "$1" "$2")
  [ "$found" -eq "$3" ] || fail "$1 has $found steps with '$2', not $3"
}
draw() { expect 0 - "$RUNG" explain "$1" --rung "$2" "${@:4}" --picture "$3"; }

# One rung of each operation, and twice the same.
while read -r operation rung; do
  draw "$operation" "$rung" one.svg
  good one.svg
  draw "$operation" "$rung" two.svg
  cmp one.svg two.svg || fail "$operation is drawn another way each time"
  grep -qF "<title id=\"picture-t\">$operation, rung $rung: " one.svg || fail "$operation: another title"
  [ "$(steps one.svg .)" -ge 4 ] || fail "$operation has only $(steps one.svg .) steps"
done <<'RUNGS'
reduce shuffle
scan blelloch
matmul tiled
histogram shared
pairs tiled
stencil pairs
correlate shared
RUNGS
rm -f one.svg two.svg

# A block of 64 threads folds 64 numbers. At distances 1 ... 16 part of each warp works, of the last
# only thread 0; a fold is two loads and a store. Nobody shares a bank with another's word.
draw reduce modulo modulo.svg
has modulo.svg 'class="idle"' $((6 * 3 + 2))
has modulo.svg '; conflict\|conflict [0-9]' 0
has modulo.svg 'class="barrier"' 8
has modulo.svg '>idle 16, 16<' 3
has modulo.svg '>idle 28, 28<' 3
has modulo.svg '>idle 31, 31<' 3
has modulo.svg '>idle 31, -\(; sectors 1, -\)\?<' 5
has modulo.svg '>sectors 4, 4<' 1
grep -q 'line not known' modulo.svg || has modulo.svg ': load shared 4 B, src/ops/reduce/cuda/modulo.cu:16<' 12

# The first threads do the work: at distance 1, 2, 4, 8, 16 they take words 2, 4 ... 32 apart, of
# which there are 32, 16, 8, 4, 2: two of each bank.
draw reduce strided strided.svg
has strided.svg 'conflict 2-way, -<' $((5 * 3))
has strided.svg 'class="conflict"' $((5 * 3))
has strided.svg 'conflict [013-9]' 0
# The documentation's. Other compilers may put steps in another order.
told() { grep -oE '<title>step [^<]*' "$1" | sed 's/.*: //' | sort; }
if ! grep -q 'line not known' strided.svg; then
  [ "$(told strided.svg)" = "$(told "$root/docs/strided.svg")" ] || fail "docs/strided.svg is out of date; run tools/picture"
fi
# The records that a report of docs/results draws.
if ! grep -q 'line not known' strided.svg; then
  did() { grep -oE '"deed":"[a-z]+"|"line":[0-9]+,"shared"' "$1" | sort; }
  for file in "$root"/docs/results/simulator/pictures/*.json; do
    drawn=$(basename "$file" .json)
    draw "${drawn%-*}" "${drawn#*-}" one.svg --json
    [ "$(did stdout)" = "$(did "$file")" ] || fail "$file is out of date; run tools/picture"
  done
fi
draw reduce sequential sequential.svg
has sequential.svg conflict 0

# Blelloch: 128 elements, 64 threads. Up the tree at distance d words 2 d apart: two of a bank, then
# four from d = 2 to 16, two at 32, and none are left; padding takes all of it away.
draw scan blelloch blelloch.svg
draw scan blelloch-padded padded.svg
grep -q 'conflict 2-way, 2-way<' blelloch.svg || fail "blelloch's first step has no conflict"
grep -q 'conflict 4-way, -<' blelloch.svg || fail "blelloch's tree has no conflict of four"
grep -qE 'conflict ([5-9]|[1-9][0-9])' blelloch.svg && fail "blelloch has more than four words of a bank"
grep -q 'conflict [4-9]' padded.svg && fail "the padded tree has conflicts of four"

# Words of 8 bytes go by half warps, 16 neighbours of which have all banks once.
draw reduce sequential sequential.svg --type f64
has sequential.svg ': load shared 8 B' 13
has sequential.svg conflict 0

# Tiles of 8 by 8 in rows of 9 words: of a warp's threads 8 want one word of A, 4 one of B, and no
# bank has two. Storing, its last three threads come round to the banks of the first three.
draw matmul tiled tiled.svg
has tiled.svg 'load shared.*class="shared"' 32
has tiled.svg 'store shared.*>conflict 2-way, 2-way<' 4
has tiled.svg conflict 4
has tiled.svg '<missing' 0
# Most warps look as one before them, and neighbours alike: 64 threads a step, each drawn, were 160 kB.
[ "$(stat -c %s tiled.svg)" -lt 50000 ] || fail "tiled.svg has $(stat -c %s tiled.svg) bytes"

# Eight bins, 32 threads of a warp.
draw histogram shared histogram.svg
grep '<title>step [0-9]*: atomic shared 4 B' histogram.svg | grep -q 'class="atomic"' || fail "no atomics on shared memory"
grep -qE '>at one address [0-9]+, [0-9]+<' histogram.svg || fail "no depth of the atomics"
draw reduce shuffle shuffle.svg
[ "$(steps shuffle.svg 'class="exchange"')" -ge 5 ] || fail "shuffle has no exchanges"
rm -f ./*.svg

# A block of many warps, and more steps than a picture has room for.
expect 0 - "$RUNG" explain reduce --rung modulo --block 256 --sizes "n=60000" --picture many.svg
good many.svg
grep -q '256 threads, of which the first 128 are shown' many.svg || fail "the picture does not say which threads it shows"
expect 0 - "$RUNG" explain reduce --rung row-per-thread --sizes "n=4096 op=mean outer=64" --picture many.svg
good many.svg
draw correlate serial many.svg
has many.svg . 160
grep -qE 'class="left-out">[0-9]+ further steps' many.svg || fail "the picture does not say that it ends"
expect 0 - "$RUNG" explain matmul --rung block --block 256 --picture many.svg
good many.svg
grep -qE 'class="left-out">[0-9]+ further steps' many.svg || fail "the picture does not say what it leaves out"

# Beside the counts, as JSON too; to standard output.
expect 0 - "$RUNG" explain reduce --rung modulo --json --picture many.svg -o counts.json
grep -qF '"operation":"reduce"' counts.json || fail "the counts are not there"
expect 0 - "$RUNG" explain reduce --rung modulo --picture - -o counts.txt
cp stdout printed.svg
good printed.svg
grep -qF "reduce on simulated GPU" counts.txt || fail "the counts are not in their file"
rm -f counts.json counts.txt printed.svg

# What is refused leaves the old file.
echo old >kept.svg
refuses() {
  expect "$1" "$2" "$RUNG" explain "${@:3}"
  [ "$(cat kept.svg)" = old ] || fail "'${*:3}' touched the file"
}
refuses 2 "expected: --rung NAME" reduce --picture kept.svg
refuses 2 "expected: --rung NAME" reduce --rung modulo --against strided --picture kept.svg
refuses 2 "expected: another file" reduce --rung modulo --picture -
refuses 2 "expected: another file" reduce --rung modulo --picture kept.svg -o kept.svg
refuses 2 "there is no rung 'nope'" reduce --rung nope --picture kept.svg
refuses 2 "looks at GPU rungs" reduce --rung serial --picture kept.svg
refuses 2 "nothing to draw" stencil --rung onchip --sizes "n=2 m=40000 p=1" --picture kept.svg
refuses 2 "expected: sim" reduce --rung modulo --device cpu --picture kept.svg
refuses 3 "No space left" reduce --rung modulo --picture /dev/full
refuses 3 "No such file" reduce --rung modulo --picture /nowhere/at/all.svg
rm -f kept.svg many.svg

# ---- timeline: 64 blocks of 4 multiprocessors, each block a bar with its number ------------------
line=("$RUNG" timeline reduce --device sim)
expect 0 - "${line[@]}" --picture one.svg
expect 0 - "${line[@]}" --picture two.svg
cmp one.svg two.svg || fail "the timeline is drawn another way each time"
good one.svg
[ "$(grep -o '<rect ' one.svg | wc -l)" -eq 64 ] || fail "not 64 bars"
for number in 0 1 2 3; do
  grep -qF ">multiprocessor $number<" one.svg || fail "multiprocessor $number is not there"
done
# 40 blocks of 1024 threads: two at a time on each multiprocessor, so eight lines of five bars.
expect 0 - "${line[@]}" --block 1024 --sizes "n=999 op=sum outer=40" --picture two.svg
[ "$(grep -c '<g class="block">' two.svg)" -eq 8 ] || fail "not eight places"
expect 0 - "${line[@]}" --block 32 --sizes "n=32 op=sum outer=9000" --picture two.svg
good two.svg
grep -qE 'class="left-out">[0-9]+ further blocks' two.svg || fail "the timeline does not say what it leaves out"
expect 3 "No such file" "${line[@]}" --picture /nowhere/at/all.svg
expect 3 "No space left" "${line[@]}" --picture /dev/full
expect 2 "expected: a file" "${line[@]}" --picture -
rm -f one.svg two.svg
only
finish
