#!/bin/bash
# rung explain: counts of the GPU rungs on the simulated GPU, and what it refuses.
. "$(dirname "$0")/common.bash"

expect 2 "an argument is missing" "$RUNG" explain
expect 2 "there is no operation 'nope'" "$RUNG" explain nope
expect 2 "there is no rung 'nope'" "$RUNG" explain reduce --rung nope
expect 2 "looks at GPU rungs" "$RUNG" explain reduce --rung serial
expect 2 "looks at those; expected: sim or cuda" "$RUNG" explain reduce --device cpu
expect 2 "expected: --rung NAME too" "$RUNG" explain reduce --against warp-per-row

"$RUNG" explain reduce --sizes "n=1" >found 2>why
case $? in
  0) ;;
  2) grep -qE "cannot count|cannot be asked" why && [ "$failures" -eq 0 ] && exit 77 ;;
  *) grep -qF '"sim"' why && [ "$failures" -eq 0 ] && exit 77 ;;
esac
rm -f found why

means=(--sizes "n=4096 op=mean outer=64")
# 2 warps, 1024 loads each, every thread of a load in a sector of its own.
expect 0 - "$RUNG" explain reduce "${means[@]}"
for word in "a request (ideal)" row-per-thread warp-per-row block-per-row "n=4096 op=mean type=f32 outer=64"; do
  prints "$word"
done
grep -qE '^row-per-thread +1 +2048 +2 +65544 +31\.97 \(15\.99\) +50\.0 %' stdout ||
  fail "row-per-thread's figures are others: $(cat stdout)"

expect 0 - "$RUNG" explain reduce "${means[@]}" --rung row-per-thread
prints "Each load request moves 32.0 sectors where 16.0 suffice"
if ! grep -qF "cannot tell lines" stdout; then
  prints "src/ops/reduce/cuda/row-per-thread.cu"
  grep -qE '^S +[0-9]+ +2048 +65536 .*reduce_chunk' stdout || fail "the worst line is not marked"
  grep -qF "for (int64_t i = (int64_t)blockIdx.x" stdout || fail "the loop around it is not shown"
  grep -qE ' $' stdout && fail "lines end in blanks"
fi

expect 0 - "$RUNG" explain reduce "${means[@]}" --rung row-per-thread --against warp-per-row
grep -qE '^sectors of 32 bytes +65544 +32832 +0\.501$' stdout || fail "the pair's sectors differ"

expect 0 - "$RUNG" explain reduce "${means[@]}" --type f64 --block 32 --json -o explained.json
for word in '"operation":"reduce"' type=f64 '"global_load_sectors":' '"barriers":192' \
  '"block":32' '"finding":"good"' '"meaning":['; do
  grep -qF -- "$word" explained.json || fail "the JSON has no $word"
done

# A rung a line, and so are the records that are kept.
expect 0 - "$RUNG" explain reduce --rung strided --json
[ "$(grep -c '^{"rung":"' stdout) $(wc -l <stdout)" = "1 2" ] || fail "the JSON has other lines: $(cut -c1-40 stdout)"
# Its files are named from the project's root on, wherever the project was built.
grep -o '"file":"[^"]*"' stdout >files
grep -q '"file":"src/ops/' files && ! grep '"/.*/src/\|"[.]' files || fail "files of a machine are named"
rm -f files
for file in "$(dirname "$0")"/../../docs/results/*/{explain,pictures}/*.json "$(dirname "$0")"/../../docs/results/*/timeline/*.json; do
  [ ! -e "$file" ] || ! sed '1s/^{"verb":"//; 2,$s/^{"\(rung\|block\)"://' "$file" | grep -q '^[ {]' || fail "$file is indented"
done

# A block clears its table and adds it up: the first warp parts in both loops, the second of which
# comes right after a barrier. On 32 blocks.
expect 0 - "$RUNG" explain histogram --rung shared --device sim
grep -qE '^histogram_table_kernel +64 +0 +2080 \(13\) +[0-9.]+ % +64 +768' stdout ||
  fail "shared's figures are others: $(grep histogram_table_kernel stdout)"

# Like another GPU: as many blocks as that one's multiprocessors ask for, an H200's by default.
expect 0 - "$RUNG" explain histogram --rung shared
prints "on simulated GPU like an H200"
prints "1 launch, 256 blocks of 256 threads"
expect 0 - "$RUNG" explain histogram --rung shared --like t4
prints "on simulated GPU like a T4"
prints "1 launch, 160 blocks of 256 threads"
expect 2 "--like 't4' is given with --device 'cpu'; expected: --device sim, or none" \
  "$RUNG" explain reduce --like t4 --device cpu
expect 2 '"sim:h100", "sim:a100" or "sim:t4"' "$RUNG" explain reduce --like v100
expect 0 - "$RUNG" devices --device sim:a100
prints "108"

# Every rung that the simulated GPU runs has a job, its own where it refuses the operation's first,
# and the table says whose is which; what the GPU lacks is all that is left out.
for operation in $("$RUNG" ladder --json | sed -n 's/.*"operation": "\([a-z]*\)".*/\1/p' | sort -u); do
  "$RUNG" explain "$operation" >table 2>why || fail "explain $operation: $(cat why)"
  gpu=$("$RUNG" ladder "$operation" | sed -n 's/^  [ *] \([a-z0-9-]*\) *gpu .*/\1/p')
  [ "$(wc -w <<<"$gpu")" -gt 5 ] || fail "no GPU rungs of $operation were found"
  for rung in $gpu; do
    grep -qE "^$rung +([0-9]|not supported: .* which the simulator lacks\$)" table ||
      fail "$operation, $rung has no job of its own: $(grep "^$rung " table | head -1)"
  done
  [ "$operation" != matmul ] || mv table stdout
done
rm -f table why
grep -qE '^batch: n=32 .*batch=16 ' stdout || fail "the table does not say which job batch has: $(tail -5 stdout)"
grep -qE '^digits, dp4a, mma, fused: n=64 .*bits=' stdout || fail "the table does not say which job fixed point has"
prints "matmul on simulated GPU like an H200: n=128"
expect 0 - "$RUNG" explain matmul --json -o matmul.json
[ "$(grep -cE '^[{]"rung":.*"job":"' matmul.json)" -ge 6 ] || fail "rungs of jobs of their own do not have them in the JSON"
grep -qE '^[{]"verb":.*"job":"n=128 m=128' matmul.json || fail "the JSON's job is another: $(head -1 matmul.json)"
rm matmul.json

# One rung, by its own job; two, by one that both take.
expect 0 - "$RUNG" explain matmul --rung dp4a
prints "bits=23"
prints "dp4a"
expect 0 - "$RUNG" explain reduce --rung tree-walk
prints "inner=64"
expect 0 - "$RUNG" explain reduce --rung modulo --against subwarp
prints "n=128 op=sum type=f32 outer=1024"
expect 0 - "$RUNG" explain matmul --rung dp4a --against naive
prints "not supported: rung \"dp4a\" cannot do this"

# --math: which rungs are looked at.
expect 0 - "$RUNG" explain matmul --math fixed
grep -qE '^(digits|dp4a|mma|fused) +[0-9]' stdout || fail "no fixed point by --math fixed"
grep -qE '^(naive|tiled) ' stdout && fail "--math fixed looks at what is none"
expect 0 - "$RUNG" explain matmul --rung dp4a --math fixed
expect 0 - "$RUNG" explain matmul --math strict
grep -qE '^tf32 ' stdout && fail "--math strict looks at what saves arithmetic"
expect 2 "is not one of that --math" "$RUNG" explain matmul --rung naive --math fixed
expect 2 "no GPU rungs of that --math" "$RUNG" explain scan --math fixed

# What a rung cannot do is said, and is no failure; what would take long is refused before it starts.
expect 0 - "$RUNG" explain stencil --sizes "n=2 m=40000 p=1"
prints "not supported: rung \"onchip\" cannot do this"
expect 2 "expected: " "$RUNG" explain stencil --rung window --sizes "n=1000 m=9000 p=1000" -o no
expect 2 "is no key here" "$RUNG" explain stencil --sizes "rows=3 k=4"
expect 2 "expected: one of them" "$RUNG" explain reduce --type f64 --sizes "n=3 type=f32"
only explained.json
finish
