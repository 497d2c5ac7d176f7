#!/bin/bash
# rung tune: what was the fastest is kept, and taken where no rung is asked for, with the same bits;
# files that are damaged, hostile or another machine's change nothing.
. "$(dirname "$0")/common.bash"
unset RUNG_ISA # it is part of what is kept

kept=.cache/rung/tuned.json
# zeros DESCR SHAPE BYTES
zeros() { npy "$1" "$2" '' && head -c "$3" /dev/zero; }
zeros '<f4' '(3, 100)' 1200 >lines.npy
zeros '<u4' '(100,)' 400 >whole.npy
zeros '<f4' '(128, 128)' 65536 >square.npy

# operation | job | the command that makes such a call | what auto takes | another canonical rung
table() {
  cat <<'TABLE'
reduce|n=100 op=mean type=f32 outer=3|reduce lines.npy --op mean --axis 1|threads|lanes
scan|n=100 op=sum type=u32|scan whole.npy|tiles|threads
histogram|n=100 bins=8 kind=modulo type=u32|histogram whole.npy --modulo 8|threads|serial
matmul|n=128 m=128 k=128 type=f32|matmul square.npy square.npy|threads|packed
stencil|n=128 m=128 p=10 type=f32|stencil square.npy --weights 1.9,1.5,1,.5,.1 --divide 5 --steps 10 --fixed 2 --edge wrap|panel|scaled
correlate|height=128 width=128 kernel=3 type=f32|correlate square.npy --kernel box3 --border constant:0|threads|direct
pairs|n=100 bins=80 width=500 data=report|pairs 100 500|threads|serial
TABLE
}
# ran RUNG COMMAND...: that rung makes the call; its result is result.npy.
ran() {
  "$RUNG" "${@:2}" --device cpu -o result.npy >said 2>&1 || fail "${*:2}: $(cat said)"
  grep -qE "rung +$1\\b|^ +$1 " said || fail "'${*:2}' did not run $1: $(cat said)"
}
# is RUNG: it is that of all that is kept.
is() { sed -i -E 's/"rung": ?"[^"]*"/"rung":"'"$1"'"/' "$kept"; }

while IFS='|' read -r operation job command usual other; do
  read -r -a words <<<"$command"
  words+=(--threads 2)
  ran "$usual" "${words[@]}"
  mv result.npy usual.npy
  expect 0 - "$RUNG" tune "$operation" --sizes "$job" --budget 0.05 --device cpu --threads 2
  prints "  $operation: "
  [ "$(grep -c '"operation"' "$kept")" -eq 1 ] || fail "$operation: not one entry is kept"
  # Whatever was the fastest, from here on it is the other one.
  is "$other"
  ran "$other" "${words[@]}"
  cmp -s result.npy usual.npy || fail "$operation: $other made another result"
  ran "$usual" "${words[@]}" --rung "$usual"
  [ "$operation" = pairs ] || ran "$usual" "${words[@]::${#words[@]}-1}" 1 # tuned for two threads
  expect 0 - "$RUNG" tune --show --device cpu --threads 2
  prints "    $other "
  expect 0 - "$RUNG" tune --show --device cpu --threads 1
  prints "nothing is kept"
  expect 0 - "$RUNG" tune --forget --device cpu --threads 2
  ran "$usual" "${words[@]}"
done < <(table)
rm -f said usual.npy

# Several classes, and one of them once more.
tune=("$RUNG" tune --device cpu --threads 2 --budget 0.05)
# With time for both, of which each takes two fifths at most: what is left when the budget is spent is
# a matter of the machine's load.
expect 0 - "$RUNG" tune --device cpu --threads 2 --budget 20 reduce \
  --sizes "n=100 op=mean type=f32,f64 outer=3"
expect 0 - "${tune[@]}" scan --sizes "n=100 op=sum type=u32" --json -o tuned.json
for word in '"verb": "tune"' '"left": 0' '"operation": "scan"' '"job": "sum u32 lines=1 n=2^6 inner=1"' '"usual_ms": '; do
  grep -qF -- "$word" tuned.json || fail "the JSON has no $word"
done
expect 0 - "${tune[@]}" reduce --sizes "n=100 op=mean type=f32 outer=3"
expect 0 - "${tune[@]}" --show
[ "$(grep -cE '^  (reduce|scan): ' stdout)" -eq 3 ] || fail "not three classes: $(cat stdout)"

# What no measurement can have written is passed over, wherever it stands; the result stays.
call=(reduce lines.npy --op mean --axis 1 --threads 2)
"${tune[@]}" --forget
"${tune[@]}" reduce --sizes "n=100 op=mean type=f32 outer=3" >stdout
is lanes
ran lanes "${call[@]}"
cp "$kept" good.json
while IFS= read -r change; do
  sed -E "$change" good.json >"$kept"
  cmp -s good.json "$kept" && fail "nothing is changed by $change"
  ran threads "${call[@]}"
done <<'CHANGES'
s/lanes/serial/
s/lanes/nonsense/
s/lanes/block-per-row/
s/"lanes"/7/
s/"block": 0/"block": 64/
s/"block": 0/"block": 4294967296/
s/"block": 0/"block": 0.5/
s/"block": 0/"block": "0"/
s/"ms": [0-9.e-]*/"ms": -1/
s/"usual_ms": [0-9.e-]*/"usual_ms": 1e300/
s/"job": "mean/"job": "\\u0001mean/
s/"job": "mean/"job": "mean mean mean mean mean mean mean mean mean mean mean mean mean mean mean mean mean mean/
s/"operation": "reduce"/"operation": "scan"/
s/"operation": "reduce"/"operation": "..\/..\/reduce"/
s/"rung-tuned": 1/"rung-tuned": 2/
s/rung=[0-9.]*"/rung=9.9.9"/
s/threads=2 /threads=3 /
s/"devices": \{/"devices": [/
s/\]/,/
s/n=2\^6/n=2^7/
CHANGES
for bytes in 0 1 100 300; do
  head -c $bytes good.json >"$kept"
  ran threads "${call[@]}"
done
# An entry that is wrong beside one that is right.
sed -E 's/^   \{$/   7, {"operation":"reduce"}, [], null,\n   {/' good.json >"$kept"
ran lanes "${call[@]}"
rm "$kept"
mkdir "$kept"
ran threads "${call[@]}"
expect 3 "tuned.json" "${tune[@]}" --forget
rmdir "$kept"
mkfifo "$kept"
ran threads "${call[@]}"
rm "$kept"
yes '{"rung-tuned": 1,' | head -c 3000000 >"$kept"
ran threads "${call[@]}"
expect 0 - "${tune[@]}" --show
prints "nothing is kept"
expect 0 - "${tune[@]}" reduce --sizes "n=100 op=mean type=f32 outer=3" # makes a new one of it
[ "$(stat -c %s "$kept")" -lt 2000 ] || fail "the damaged file was kept"

# Without a place to keep it in.
expect 0 - env XDG_CACHE_HOME=/dev/null HOME=/dev/null "$RUNG" reduce lines.npy --op mean --axis 1 --device cpu
expect 3 "no place to keep" env XDG_CACHE_HOME=/dev/null "${tune[@]}" reduce --sizes "n=10 op=sum"

expect 2 "out of range; expected: more than 0 seconds" "$RUNG" tune --budget 0
expect 2 "expected" "$RUNG" tune --budget nan
expect 2 "there is no operation 'nonsense'" "$RUNG" tune nonsense
expect 2 "is no key here" "${tune[@]}" reduce --sizes "rows=3"
if "$RUNG" devices --device sim >/dev/null 2>&1; then
  expect 2 "expected: cpu or cuda" "$RUNG" tune --device sim
fi
only good.json lines.npy result.npy square.npy tuned.json whole.npy said
finish
