#!/bin/bash
# rung compare: outcomes and their exit statuses, bits, records without anything in common; commands
# launched in turn, and such as fail or print something else. No time is measured here.
. "$(dirname "$0")/common.bash"

# record SAMPLES [CLOCK [BITS [FINDING [RUNG]]]]: of one rung, its clock the same for every sample.
record() {
  local count clocks
  count=$(tr -cd , <<<"$1" | wc -c)
  clocks=$(yes "${2:-1000}" | head -n $((count + 1)) | paste -sd,)
  cat <<EOF
{"rung-records":3,"provenance":{},"rules":{"hot":false}}
{"device":{"backend":"cpu","name":"it","identity":"it"}}
{"operation":"reduce","job":{"n":5},"type":"f32","seed":"1","bytes":20.0,"flops":5.0,"candidates":1}
{"rung":"${5:-one}","idea":"","order":"canonical","block":64,"before":{"finding":"${4:-good}"},"bits":"${3:-00}","samples_ms":[$1],"clocks_mhz":[$clocks],"stop":"steady"}
EOF
}
# around MS: eleven samples within a thousandth.
around() { awk -v ms="$1" 'BEGIN { for (i = -5; i <= 5; i++) printf "%s%.9g", (i == -5 ? "" : ","), ms * (1 + i * 1e-4) }'; }

record "$(around 2)" >a.json
record "$(around 2.002)" >same.json
record "$(around 2.06)" >slower.json
record "$(around 1.94)" >faster.json
record "$(around 2.2)" 909 >clock.json
record "1.9,1.95,2,2.05,2.1,2.15,2.2,2.25,2.3,2.35,2.4" >unsure.json
record "2" >few.json
record "$(around 2)" 1000 01 >bits.json
record "$(around 2)" 1000 00 wrong >wrong.json
record "$(around 2)" 1000 00 good another >another.json

outcome() {
  expect "$1" - "$RUNG" compare a.json "$3"
  prints "$2"
}
outcome 0 "SAME    reduce n=5, one, block 64" same.json
prints "1 compared: 1 SAME"
outcome 11 "SLOWER  reduce n=5" slower.json
prints "2.000 ms -> 2.060 ms, +3.0 % ["
outcome 10 "FASTER  reduce n=5" faster.json
outcome 13 "CLOCK   reduce n=5" clock.json
prints "clock -9.1 %"
outcome 12 "UNSURE  reduce n=5" unsure.json
outcome 12 "too few samples" few.json
outcome 1 "other bits" bits.json
outcome 1 "FAILED  reduce n=5" wrong.json
expect 3 "have nothing in common; expected: good rungs" "$RUNG" compare a.json another.json
expect 3 "have nothing in common" "$RUNG" compare wrong.json a.json
cat same.json slower.json >two.json
cat a.json a.json another.json >three.json
expect 11 - "$RUNG" compare three.json two.json
prints "2 compared: 1 SAME 1 SLOWER; in A alone 1, in B alone 0"
expect 11 - "$RUNG" compare a.json slower.json --json
for word in '"verdict": "SLOWER"' '"a_ms": 2.0' '"only_a": 0' '"why": null'; do prints "$word"; done
expect 3 "No such file" "$RUNG" compare a.json none.json
head -c -9 a.json >cut.json
expect 3 "is cut off" "$RUNG" compare a.json cut.json
sed 's/"operation":"reduce"/"operation":"scan"/' a.json >cut.json
expect 3 "have nothing in common" "$RUNG" compare a.json cut.json
sed '1s/"rung-records":3/"rung-records":4/' a.json >cut.json
expect 3 "version 4; expected: 3" "$RUNG" compare a.json cut.json
# On a narrow terminal lines are wrapped, and say the same; into a pipe they are whole.
if command -v script >/dev/null; then
  script -qec "stty cols 40 rows 50 && $RUNG compare a.json slower.json" /dev/null </dev/null |
    tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g' >narrow
  [ "$(awk 'length($0) > most { most = length($0) } END { print most }' narrow)" -le 40 ] || fail "wider than 40 columns: $(cat narrow)"
  [ "$(tr -s ' \n' '  ' <narrow)" = "$("$RUNG" compare a.json slower.json | tr -s ' \n' '  ')" ] || fail "wrapping loses words: $(cat narrow)"
  rm -f narrow
fi
sed 's/"one"/"\\u001b[31m"/' a.json >hostile.json
expect 0 - "$RUNG" compare hostile.json hostile.json
prints '\x1b[31m'
expect 2 "an argument is missing" "$RUNG" compare a.json
expect 3 - bash -c '"$RUNG" compare a.json slower.json >/dev/full'

# A record beside itself is SAME, however wide its samples or few; but for its bits.
for record in unsure few; do
  expect 0 - "$RUNG" compare $record.json $record.json
  prints "SAME    reduce n=5"
  prints ", +0.0 % [+0.0, +0.0], margin "
  prints "; the very same samples"
  prints "1 of 1 rows have the very same samples in A and B, one measurement twice: SAME."
done
expect 0 - "$RUNG" compare unsure.json unsure.json --json
prints '"identical": true'
sed 's/"bits":"00"/"bits":"01"/' unsure.json >cut.json
expect 1 - "$RUNG" compare unsure.json cut.json
prints "other bits"
! grep -q "very same" stdout || fail "other bits are called the same"
expect 11 - "$RUNG" compare a.json slower.json
! grep -q "very same\|Two devices" stdout || fail "two records of one device: $(cat stdout)"

# Records of two devices are compared, and it is said.
sed 's/"identity":"it"/"identity":"an \\u001b[31mother"/' slower.json >cut.json
expect 11 - "$RUNG" compare a.json cut.json
prints "SLOWER  reduce n=5"
prints 'Two devices in 1 of 1 rows: A on it, B on an \x1b[31mother. What differs may be theirs.'
expect 11 - "$RUNG" compare a.json cut.json --json
prints '"other_device": true'
expect 11 - "$RUNG" compare --run "cat a.json" "cat cut.json" --launches 12
prints "Two devices in 1 of 1 rows"

# Records of several launches: their medians are compared, and held to how far they are apart.
# launched "MS..." [FACTOR]: each launch three samples within a thousandth.
launched() {
  local samples
  samples=$(awk -v ms="$1" -v factor="${2:-1}" 'BEGIN { n = split(ms, all, " ")
    for (i = 1; i <= n; i++) for (k = -1; k <= 1; k++)
      printf "%s%.9g", (i + k > 0 ? "," : ""), all[i] * factor * (1 + k * 1e-3) }')
  record "$samples" | sed "s/\"clocks_mhz\"/\"launches\":{\"samples\":[$(sed 's/[^ ]\+/3/g; s/ /,/g' <<<"$1")]},&/"
}
launched "6.46 6.56 6.46 6.56 6.56" >five.json
launched "6.56 6.46 6.46 6.46 6.56" >other.json
launched "6.46 6.56 6.46 6.56 6.56 6.46 6.46 6.56 6.56 6.46" >ten.json
launched "6.46 6.56 6.46 6.56 6.56 6.46 6.46 6.56 6.56 6.46" 1.03 >ten_slower.json
launched "6.46 6.56 6.46 6.56 6.56" 1.03 >five_slower.json
launched "6.46 6.56" >two.json
launched "6.46" >one.json
launched "6.56 6.46" >swapped.json
launched "6.461" >another_one.json
expect 0 - "$RUNG" compare five.json other.json
prints "SAME    reduce n=5, one, block 64"
prints "6.520 ms -> 6.500 ms"
grep -q "A run each" stdout && fail "launches are called a run each"
expect 11 - "$RUNG" compare ten.json ten_slower.json
prints "SLOWER  reduce n=5"
prints ", +3.0 % [+2.2, +3.8], margin 1.5 %"
expect 10 - "$RUNG" compare ten_slower.json ten.json
expect 12 - "$RUNG" compare five.json five_slower.json # too few to be sure of it
prints " more launches would settle it"
expect 12 - "$RUNG" compare two.json swapped.json
prints "too few launches for an interval"
expect 12 - "$RUNG" compare one.json another_one.json # one launch is a run
prints "too few samples for an interval"
prints "A run each: how much launches differ"
# Beside a run of one process the launches are its margin.
record "$(around 6.56)" >run.json
expect 0 - "$RUNG" compare run.json five.json
prints "margin 1.5 %"
prints "A run each: how much launches differ"
expect 0 - "$RUNG" compare five.json other.json --json
for word in '"a_launches": 5' '"b_launches": 5' '"verdict": "SAME"'; do prints "$word"; done
# One process each, of the two kinds that launches are of, and nobody could know.
record "$(around 6.46)" >other_run.json
expect 11 - "$RUNG" compare other_run.json run.json
for words in '"samples":[3,3]' '"samples":[3,3,3,3,4]' '"samples":[3,3,3,3,"3"]' '"samples":[15,-3,3]' \
  '"samples":[]' '"samples":15' '"median_ms":1'; do
  sed "s/\"launches\":{[^}]*}/\"launches\":{$words}/" five.json >cut.json
  expect 3 "launches" "$RUNG" compare five.json cut.json
done
rm -f run.json other_run.json

# Rows whose every launch is of one kind or another, 1.5 % apart, by chance: two records of one
# thing are SAME in 95 of 100 rows, and 3 % are found. No time is measured: a seed draws them.
# rows SEED LAUNCHES FACTOR: 300 jobs.
rows() {
  awk -v seed="$1" -v launches="$2" -v factor="$3" 'function draw() {
      state = (state * 16807) % 2147483647
      return state / 2147483647
    }
    BEGIN { state = seed
      print "{\"rung-records\":3,\"provenance\":{},\"rules\":{\"hot\":false}}"
      print "{\"device\":{\"backend\":\"cpu\",\"name\":\"it\",\"identity\":\"it\"}}"
      for (job = 1; job <= 300; job++) {
        printf "{\"operation\":\"reduce\",\"job\":{\"n\":%d},\"type\":\"f32\",\"seed\":\"1\",\"bytes\":20.0,\"flops\":5.0,\"candidates\":1}\n", job
        samples = counts = clocks = ""
        for (i = 1; i <= launches; i++) {
          slot = draw() < 0.5 ? 6.46 : 6.56
          for (k = 0; k < 3; k++) {
            samples = samples sprintf(",%.9g", slot * factor * (1 + 0.002 * (draw() - 0.5)))
            clocks = clocks ",1000"
          }
          counts = counts ",3"
        }
        printf "{\"rung\":\"one\",\"idea\":\"\",\"order\":\"canonical\",\"block\":64,\"before\":{\"finding\":\"good\"},\"samples_ms\":[%s],\"clocks_mhz\":[%s],\"launches\":{\"samples\":[%s]},\"stop\":\"steady\"}\n", substr(samples, 2), substr(clocks, 2), substr(counts, 2)
      } }'
}
verdicts() { "$RUNG" compare "$1" "$2" | awk '{ count[$1]++ } END { print count[name] + 0 }' name="$3"; }
for launches in 5 12; do
  rows 1 $launches 1 >rows.json
  rows 2 $launches 1 >again.json
  rows 3 $launches 1.03 >slower_rows.json
  same=$(verdicts rows.json again.json SAME)
  alarms=$(($(verdicts rows.json again.json SLOWER) + $(verdicts rows.json again.json FASTER)))
  # 285, less three times the spread of so many tosses.
  [ "$same" -ge 274 ] || fail "of 300 rows of $launches launches $same are SAME"
  [ "$alarms" -le 5 ] || fail "of 300 rows of $launches launches $alarms are false alarms"
  [ "$(verdicts rows.json slower_rows.json SAME)" -le 3 ] || fail "$launches launches: 3 % are called SAME"
done
[ "$(verdicts rows.json slower_rows.json SLOWER)" -ge 290 ] || fail "12 launches do not find 3 %"
rm -f rows.json again.json slower_rows.json

# Launches: four a block, A B B A or B A A B, as many of one as of the other.
say() { echo "printf %s $1 >>order; cat $2"; }
expect 0 - "$RUNG" compare --run "$(say A a.json)" "$(say B same.json)" --quiet
[ "$(sed 's/..../&\n/g' order | grep -v '^$' | sort | uniq -c | tr -s ' \n' ' ')" = " 4 ABBA 4 BAAB " ] ||
  fail "the order is $(cat order)"
rm order
expect 11 - "$RUNG" compare --run "$(say A a.json)" "$(say B slower.json)" --launches 12 --quiet
[ "$(wc -c <order)" -eq 24 ] || fail "the launches were $(cat order)"
rm order
expect 13 - "$RUNG" compare --run "cat a.json" "cat clock.json" --launches 12
expect 1 - "$RUNG" compare --run "cat a.json" "cat bits.json" --launches 12
prints "other bits"
# Another time at every launch, the same for both: 2.00, 2.07, 2.14 ... 2.28 by turns.
cat >noisy <<'EOF'
n=$(cat count 2>/dev/null || echo 0)
echo $((n + 1)) >count
sed "s/\"samples_ms\":\[[^]]*\]/\"samples_ms\":[$((200 + n * 7 % 5 * 7))e-2]/; s/\"clocks_mhz\":\[[^]]*\]/\"clocks_mhz\":[0]/" a.json
EOF
"$RUNG" compare --run "sh noisy" "sh noisy; exit" --launches 12 >stdout
case $? in
  0 | 12) ;;
  *) fail "one command against itself: $(cat stdout)" ;;
esac
rm -f count noisy

expect 3 "ended with 7 at launch" "$RUNG" compare --run "cat a.json" "exit 7"
expect 3 "ended with 137" "$RUNG" compare --run 'kill -9 $$' "cat a.json"
expect 3 "what 'echo hello' printed: line 1 is not a JSON object" "$RUNG" compare --run "echo hello" "cat a.json"
expect 3 "holds no records" "$RUNG" compare --run "cat a.json" true
expect 3 "nothing in common" "$RUNG" compare --run "cat a.json" "cat another.json"
expect 2 "is odd; expected: an even number" "$RUNG" compare --run true true --launches 13
expect 2 "--launches '10'; expected: a whole number from 12 to 512" "$RUNG" compare --run true true --launches 10
only a.json same.json slower.json faster.json clock.json unsure.json few.json bits.json wrong.json \
  another.json two.json three.json cut.json hostile.json five.json other.json ten.json \
  ten_slower.json five_slower.json one.json swapped.json another_one.json
finish
