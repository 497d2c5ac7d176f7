#!/bin/bash
# rung bench: lists and ranges, CSV and Markdown, a record that is gone on with.
. "$(dirname "$0")/common.bash"

bench=("$RUNG" bench reduce --device cpu --rung serial,threads --samples 1 --quiet)
hot=("${bench[@]}" --hot) # caches take longer to be emptied than all else in a process

# jobs WANT...: the last bench's record has these lines of jobs, in this order.
jobs() {
  local found
  found=$(sed -n 's/^{"operation".*"line":"\([^"]*\)".*/\1/p' "$file")
  [ "$found" = "$(printf '%s\n' "$@")" ] || fail "the jobs are: $found"
}
file=stdout
expect 0 - "${hot[@]}" --json --sizes "n=3,4..16,1e1..30+10,1..100*10 type=f32"
jobs n={3,4,8,16,10,20,30,1,10,100}" type=f32"
expect 0 - "${hot[@]}" --json --sizes "n=5,6  op=max;outer=2 n=7" --type f64,f32
jobs "n=5 op=max type=f64" "n=5 op=max type=f32" "n=6 op=max type=f64" "n=6 op=max type=f32" \
  "outer=2 n=7 type=f64" "outer=2 n=7 type=f32"
expect 0 - "${bench[@]}" --json --caches hot,cold --sizes "n=5,6"
jobs n=5 n=6 n=5 n=6
[ "$(grep -o '"hot":[a-z]*' stdout | tr '\n' ' ')" = '"hot":true "hot":false ' ] || fail "caches: $(cat stdout)"

# Fixed point is said by a job's line.
expect 2 'bits=, 8 ... 31, in its line, as in --sizes "n=1024 bits=31"' "${bench[@]}" --math fixed
expect 0 - "$RUNG" bench matmul --device cpu --rung packed-digits --samples 1 --quiet --sizes "n=9 bits=31"
prints packed-digits

# Columns, which a reader finds by name.
expect 0 - "${bench[@]}" --sizes "n=5,6 op=max" --csv out.csv
prints "GB/s"
prints "GFLOP/s"
# column NAME: its values.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i
    if (!at) print "no column"; next } { print $at }' out.csv | tr '\n' ' '
}
[ "$(column n)" = "5 5 6 6 " ] && [ "$(column op)" = "max max max max " ] &&
  [ "$(column rung)" = "serial threads serial threads " ] && [ "$(column verdict)" = "good good good good " ] &&
  [ "$(column samples)" = "1 1 1 1 " ] && [ "$(column memory)" = "    " ] || fail "the CSV: $(cat out.csv)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; columns = NF; next }
  { bytes = 4 * $at["n"] + 4; rate = bytes / $at["median_ms"] * 1e-6; ratio = rate / $at["gb_per_s"] }
  NF != columns || ratio < 0.999 || ratio > 1.001 { bad = 1 } END { exit bad }' out.csv || fail "GB/s: $(cat out.csv)"
expect 0 - "${hot[@]}" --sizes "n=5" --csv -
[ "$(wc -l <stdout)" -eq 3 ] && [ "$(head -c 17 stdout)" = operation,device, ] || fail "--csv -: $(cat stdout)"
expect 0 - "${bench[@]}" --sizes "n=5" --markdown
grep -qE '^\| threads \| - \|.*\| good \|$' stdout || fail "--markdown: $(cat stdout)"
[ "$(grep '^|' stdout | tr -cd '|\n' | sort -u | wc -l)" -eq 1 ] || fail "columns: $(cat stdout)"
expect 2 "would all be printed" "${bench[@]}" --markdown --csv -
expect 2 "would all be printed" "${bench[@]}" --json --csv -
rm out.csv

# What is no list.
for line in n=1,,2 n=1, n=,1 "n=4..2" "n=1..x" "n=1..8*1" "n=1..8+0" "n=0..4" "n=1..2..3" "n=2^63..2^64" "n=1..1e9+1"; do
  expect 2 "; expected: " "${bench[@]}" --sizes "$line"
done
expect 2 "more than 4096 jobs" "${bench[@]}" --sizes "n=1..100+1 outer=1..100+1"
expect 2 "--caches 'warm'" "${bench[@]}" --caches cold,warm
expect 2 "--type 'f33'" "${bench[@]}" --type f32,f33
expect 2 "there is no 'nobody'" "${bench[@]}" --peers=nobody
expect 2 "given; expected: one" "${bench[@]}" --hot --caches cold
expect 2 "--memory 'pined' is not known; expected: pageable, pinned, " "${bench[@]}" --memory pinned,pined
expect 2 "a comma with nothing" "${bench[@]}" --memory pinned,
for option in --hot "--caches cold" --peers --markdown; do
  # shellcheck disable=SC2086
  expect 2 "given; expected: one" "${bench[@]}" --memory managed $option
done
expect 2 "--memory 'mapped,pageable' on device \"cpu\": a CPU works in" "${bench[@]}" --memory mapped,pageable
expect 2 "expected: --device cuda" "$RUNG" bench correlate --device cpu --memory pageable
expect 2 "all kinds of host memory are one to it; expected: --device cuda" "$RUNG" bench correlate --device sim --memory pinned
expect 2 "expected: -o FILE" "${bench[@]}" --resume
expect 2 "--blocks '0'" "${bench[@]}" --blocks 64,0
only

# A record cut off at any place: what is whole is kept as it is, the rest measured; each job once.
expect 0 - "${hot[@]}" --sizes "n=5,6,7" -o whole.json
size=$(stat -c %s whole.json)
last=$(grep -bo '{"operation"' whole.json | tail -n 1 | cut -d: -f1)
file=cut.json
for at in $((last - 1)) "$last" $((last + 30)) $((size - 700)) $((size - 1)); do
  head -c "$at" whole.json >cut.json.part
  # shellcheck disable=SC2154 # of common.bash
  expect 0 - "${hot[@]}" --sizes "n=5,6,7" -o cut.json --resume
  jobs n=5 n=6 n=7
  kept=$last
  [ "$at" -ge "$last" ] || kept=$(grep -bo '{"operation"' whole.json | tail -n 2 | head -n 1 | cut -d: -f1)
  cmp -n "$kept" whole.json cut.json >cmp.txt 2>&1 ||
    fail "cut at $at: what was there is another: $(cat cmp.txt)"
  [ ! -e cut.json.part ] || fail "cut at $at: the part is still there"
done
rm -f cmp.txt
# A whole one has nothing to be done.
cp whole.json done.json
expect 0 - "${hot[@]}" --sizes "n=5,6,7" -o done.json --resume
cmp -s whole.json done.json || fail "a whole record was changed"
[ ! -s stdout ] || fail "measured again: $(cat stdout)"
# What has been asked for since is added.
expect 0 - "${hot[@]}" --sizes "n=5,6,7,8" -o done.json --resume
file=done.json
jobs n=5 n=6 n=7 n=8

# Another's record.
part=done.json.part
sed 's/"commit":"/&x/' whole.json >$part
expect 3 '"commit" was "x' "${hot[@]}" --sizes n=5 -o done.json --resume
sed 's/"identity":"/&x/' whole.json >$part
expect 3 '"identity" was' "${hot[@]}" --sizes n=5 -o done.json --resume
sed 's/"seconds":10/"seconds":11/' whole.json >$part
expect 3 '"seconds" was' "${hot[@]}" --sizes n=5 -o done.json --resume
cp whole.json $part
expect 3 "other rungs" "$RUNG" bench reduce --device cpu --rung serial --samples 1 --quiet --hot --sizes n=5 -o done.json --resume
echo nonsense >$part
expect 3 "done.json.part" "${hot[@]}" --sizes n=5 -o done.json --resume
expect 2 "expected: --resume" "${hot[@]}" --sizes n=5 -o done.json
rm $part

# A signal: the old file stays, the part is there and is gone on with.
echo old >done.json
"${bench[@]}" --sizes "n=5,6..100000+1" -o done.json >/dev/null 2>said & # more than end by themselves
wait $! 2>/dev/null
grep -qF "more than 4096" said || fail "too many values: $(cat said)"
env --default-signal=INT "${bench[@]}" --sizes "n=5..4000+1" -o done.json >/dev/null 2>said &
child=$!
for ((i = 0; i < 2400; i++)); do
  [ -s $part ] && [ "$(grep -c '"operation"' $part)" -ge 2 ] && break
  kill -0 $child 2>/dev/null || break
  sleep 0.05
done
kill -INT $child
wait $child
code=$?
[ $code -eq 130 ] || fail "SIGINT ended the bench with $code: $(cat said)"
grep -qF -- "--resume goes on" said || fail "SIGINT: said: $(cat said)"
[ "$(cat done.json)" = old ] || fail "SIGINT: the old file was touched"
expect 0 - "${bench[@]}" --sizes "n=5,6" -o done.json --resume
file=done.json
[ "$(grep -c '"line":"n=5"' done.json)" -eq 1 ] || fail "n=5 was measured again"
rm -f said
only cut.json done.json whole.json
finish
