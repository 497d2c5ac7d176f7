#!/bin/bash
# rung timeline: every block once, none ends before it starts; fewer blocks than multiprocessors and
# more; CSV, JSON, and what is refused.
. "$(dirname "$0")/common.bash"

if ! "$RUNG" devices --device sim >/dev/null 2>&1; then
  echo "skipped: the simulator is not in this build"
  exit 77
fi

# check FILE BLOCKS: the CSV has each block once, its times in order, from 0 on.
check() {
  awk -F, -v blocks="$2" '
    NR == 1 { if ($0 != "block,multiprocessor,start_steps,end_steps") bad = "its first line"; next }
    { seen[$1]++; if ($4 < $3) bad = "block " $1 " ends before it starts"
      if (NR == 2 || $3 < least) least = $3 }
    END { for (b = 0; b < blocks; b++) if (seen[b] != 1) bad = "block " b " is there " seen[b] + 0
          if (NR != blocks + 1) bad = NR " lines"
          if (least != 0) bad = "the first start is " least
          if (bad != "") { print bad; exit 1 } }' "$1" || fail "$1 is wrong"
}

# The simulated GPU has 4 multiprocessors.
for blocks in 1 2 4 5 64 300; do
  expect 0 - "$RUNG" timeline reduce --device sim --sizes "n=128 op=min outer=$blocks" -o "$blocks.csv"
  check "$blocks.csv" "$blocks"
  prints "$blocks blocks on "
  prints "of 4 multiprocessors"
  prints "times are steps of the simulator"
  lines=$(grep -cE '^ +[0-9]+  [.0-9+]{60}$' stdout)
  used=$(sed -nE 's/.* blocks on ([0-9]+) of .*/\1/p' stdout)
  [ "$lines" -eq "$used" ] || fail "$lines lines of the chart for $used multiprocessors"
done
rm -f ./*.csv

expect 0 - "$RUNG" timeline reduce --device sim --rung timed --block 32 --seed 4
prints "rung timed, n=128 op=min type=f32 outer=64"
expect 0 - "$RUNG" timeline reduce --device sim --block 256 --sizes "n=1000 op=max type=i64 outer=9" \
  --json -o blocks.json
[ "$(grep -c '"multiprocessor":' blocks.json)" -eq 9 ] || fail "the JSON has not 9 blocks"
for word in '"verb":"timeline"' '"unit":"steps"' '"block_size":256' '"rung":"timed"'; do
  grep -qF -- "$word" blocks.json || fail "the JSON has no $word"
done

# The simulator's schedule is decided: multiprocessors in turn, and the same every time.
for k in 1 2 3; do
  expect 0 - "$RUNG" timeline reduce --device sim --block 1024 --sizes "n=999 op=sum outer=40" -o $k.csv
done
cmp -s 1.csv 2.csv && cmp -s 2.csv 3.csv || fail "the schedule is another each time"
[ "$(sed -n '2,9p' 1.csv | cut -d, -f2,3 | tr '\n' ' ')" = "0,0 1,0 2,0 3,0 0,0 1,0 2,0 3,0 " ] ||
  fail "the first blocks: $(sed -n '2,9p' 1.csv)"
awk -F, 'NR > 9 && $3 == 0 { bad = 1 } END { exit bad }' 1.csv || fail "more than two blocks of 1024 threads at once"
rm -f ?.csv

# Trace events: every block once; of two in one place one ends before the other begins; what is at
# the same time on a multiprocessor is in places of its own, no more than there are blocks at once.
expect 0 - "$RUNG" timeline reduce --device sim --sizes "n=128 op=min outer=70" --trace trace.json -o trace.csv
sed -nE 's/^ +"(name|pid|tid|ts|dur)": (.*[^,]),?$/\1 \2/p' trace.json | awk '
  $1 == "name" { block = $2 == "\"block" } !block { next }
  $1 == "pid" { pid = $2 } $1 == "tid" { tid = $2 } $1 == "ts" { ts = $2 }
  $1 == "dur" { printf "%s %s %.9f %.9f\n", pid, tid, ts, ts + $2 }' | sort -n -k1,1 -k2,2 -k3,3 -k4,4 |
  awk '{ if ($1 == pid && $2 == tid && $3 < until - 1e-7) { print "overlap: " $0; exit }
         pid = $1; tid = $2; until = $4; count++ } END { if (count != 70) print count + 0 " blocks" }' >found
[ ! -s found ] || fail "the trace: $(cat found)"
rm -f found trace.json trace.csv
expect 3 "No such file" "$RUNG" timeline reduce --device sim --trace /nowhere/at/all
expect 2 "do not write down when they ran; expected: 'timed'" "$RUNG" timeline reduce --rung shuffle
expect 2 "no rung of stencil writes down when its blocks ran; expected: one of reduce" "$RUNG" timeline stencil
expect 2 "there is no rung 'nonsense'" "$RUNG" timeline reduce --rung nonsense
expect 2 "there is no operation 'nonsense'" "$RUNG" timeline nonsense
expect 2 "expected: cuda or sim" "$RUNG" timeline reduce --device cpu
expect 2 "expected: at most 32768" "$RUNG" timeline reduce --device sim --sizes n=40000 -o none.csv
expect 2 "is no key here" "$RUNG" timeline reduce --device sim --sizes m=4
expect 2 "folds a block by halves" "$RUNG" timeline reduce --device sim --block 100
expect 2 "argument is missing" "$RUNG" timeline
only blocks.json
finish
