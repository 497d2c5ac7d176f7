#!/bin/bash
# rung bench --launches: every job in fresh processes, of which one record is made; a launch that
# fails, is killed or has other bits; a run that is gone on with. Times decide nothing here.
. "$(dirname "$0")/common.bash"
tree=$(dirname "${BASH_SOURCE[0]}")/../..

# A sum that does something else in the process that is named in a file: the number of those that
# have loaded it, of which the first is the one that was asked.
cat >mine.c <<'C'
#define _DEFAULT_SOURCE
#include <rung/lab.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static int number, when;
static char deed[16];
__attribute__((constructor)) static void count(void) {
  FILE *file = fopen("count", "r");
  if (file) { if (fscanf(file, "%d", &number) != 1) number = 0; fclose(file); }
  number++;
  file = fopen("count", "w");
  if (file) { fprintf(file, "%d\n", number); fclose(file); }
  file = fopen("deed", "r");
  if (file) { if (fscanf(file, "%d %15s", &when, deed) != 2) when = 0; fclose(file); }
}
static int is(const char *name) { return number == when && strcmp(deed, name) == 0; }
static const char *mine(const rung_lab_job *job) {
  const float *in = (const float *)job->arrays[0].data;
  const int64_t n = job->arrays[0].shape[1];
  float sum = 0;
  if (is("kill")) raise(SIGKILL);
  if (is("leave")) { fprintf(stderr, "first words\nthe last words\n\n"); _exit(7); }
  if (is("nothing")) _exit(0);
  if (is("wait")) {
    FILE *file = fopen("waits", "w");
    if (file) { fprintf(file, "%d\n", (int)getpid()); fclose(file); }
    if (file && rename("waits", "waiting") == 0) sleep(300);
  }
  if (is("round")) for (int64_t i = n - 1; i >= 0; i--) sum += in[i];
  else for (int64_t i = 0; i < n; i++) sum += in[i];
  if (is("wrong")) sum += 1;
  ((float *)job->arrays[1].data)[0] = sum;
  return NULL;
}
RUNG_LAB_KERNELS = {{.size = sizeof(rung_lab_kernel), .operation = "reduce", .name = "mine", .order = RUNG_LAB_OTHER_ORDER, .launch = mine}, {0}};
C
cc -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC -I "$tree/include" mine.c -o mine.so || fail "mine.c cannot be compiled"
rm mine.c
cold=("$RUNG" bench reduce --device cpu --samples 3 --quiet --kernels ./mine.so --rung serial,mine,threads)
bench=("${cold[@]}" --hot) # caches take longer to be emptied than all else in a process
# does DEED PROCESS: from now on. The first launch is process 2.
does() {
  rm -f count
  echo "$2 $1" >deed
}
# lines KEY FILE: its values in the lines of jobs.
lines() { sed -n 's/^{"operation".*"line":"\([^"]*\)".*/\1/p' "$1" | tr '\n' ' '; }

for number in 0 1001 -1 many 1.5 ""; do
  expect 2 "--launches '$number'; expected: a whole number from 1 to 1000" "${bench[@]}" --launches "$number"
done

# One record: a job once, of each rung all samples and how many each launch took.
does nothing 0
expect 0 - "${bench[@]}" --sizes "n=50,60" --launches 4 -o four.json --csv four.csv
grep -qE '^rung +block .* launches +apart samples' stdout || fail "the table has no launches: $(cat stdout)"
[ "$(grep -cE ' 4 +[0-9.]+ % +12 most samples good$' stdout)" -eq 6 ] || fail "the table: $(cat stdout)"
[ "$(lines four.json)" = "n=50 n=60 " ] || fail "the jobs are $(lines four.json)"
[ "$(cat count)" = 9 ] || fail "$(cat count) processes loaded the kernel, not 9"
[ "$(grep -c '"launches":{"samples":\[3,3,3,3\],"median_ms":' four.json)" -eq 6 ] || fail "the record: $(cat four.json)"
[ "$(grep -o '"seed":"1","launches":[0-9]*' four.json)" = '"seed":"1","launches":4' ] || fail "the rules: $(head -n 1 four.json)"
[ "$(grep -c -- '--launches 4' four.json)" -eq 1 ] || fail "the command is not ours: $(head -n 1 four.json)"
# column NAME: its values.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i
    if (!at) print "no column"; next } { print $at }' four.csv | tr '\n' ' '
}
[ "$(column launches)" = "4 4 4 4 4 4 " ] && [ "$(column samples)" = "12 12 12 12 12 12 " ] || fail "the CSV: $(cat four.csv)"
# The median of the launches' medians, and how far these are apart, worked out anew.
sed -n 's/^{"rung".*"samples_ms":\[\([^]]*\)\].*/\1/p' four.json | awk -F, '
  function middle(a, b, c) { return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b) }
  { for (l = 0; l < 4; l++) m[l] = middle($(3 * l + 1), $(3 * l + 2), $(3 * l + 3))
    for (i = 0; i < 4; i++) for (k = i + 1; k < 4; k++) if (m[k] < m[i]) { t = m[i]; m[i] = m[k]; m[k] = t }
    median = (m[1] + m[2]) / 2
    printf "%.9g %.9g\n", median, (m[3] - m[0]) / median }' >wanted
paste -d' ' <(column median_ms | tr ' ' '\n' | sed '/^$/d') <(column launch_spread | tr ' ' '\n' | sed '/^$/d') |
  paste -d' ' wanted - >both
awk 'NF != 4 { bad = 1 } # the CSV is rounded to six digits
  { for (i = 1; i <= 2; i++) { d = $i - $(i + 2); if (d * d > 1e-10 * $i * $i) bad = 1 } }
  END { exit bad || NR != 6 }' both || fail "medians: $(cat both)"
rm -f wanted both four.csv
# Without the option both columns are there and empty, and no record has launches.
expect 0 - "${bench[@]}" --sizes n=50 --csv -
[ "$(awk -F, '{ print $(NF - 1) "," $NF }' stdout | sort -u | tr '\n' ' ')" = ", launches,launch_spread " ] || fail "one process: $(cat stdout)"
expect 0 - "${bench[@]}" --sizes n=50 --json
grep -q '"launches"' stdout && fail "one process has launches: $(cat stdout)"
expect 0 - "${cold[@]}" --sizes n=50 --launches 2 --markdown
[ "$(grep '^|' stdout | tr -cd '|\n' | sort -u | wc -l)" -eq 1 ] || fail "columns: $(cat stdout)"
grep -q '| launches | apart |' stdout || fail "--markdown: $(cat stdout)"
expect 0 - "${bench[@]}" --sizes n=50 --launches 1 --json # a single one, and a record like the others
grep -q '"launches":{"samples":\[3\]' stdout || fail "one launch: $(cat stdout)"
expect 0 - "${cold[@]}" --sizes "n=5;n=5" --launches 2 --json --caches hot,cold
[ "$(lines stdout)" = "n=5 n=5 n=5 n=5 " ] || fail "one job twice: $(lines stdout)"

# Compare, report: what is made of it.
expect 0 - "$RUNG" compare four.json four.json
prints "6 compared: 6 SAME"
grep -q "A run each" stdout && fail "launches are called a run each"
expect 0 - "$RUNG" report four.json -o page.html --quiet
[ "$(grep -cE '<td class="w">4, [0-9.]+ % apart</td>|<td[^>]*>4, [0-9.]+ % apart</td>' page.html)" -ge 1 ] || fail "the report has no launches"
rm -f page.html

# A launch that is refused, fails or dies: which one, and why; what was there stays.
echo old >out.json
expect 2 'launch 1 of 3, of reduce "m=5", ended with 2: "m" is no key here' "${bench[@]}" --sizes m=5 --launches 3 -o out.json
expect 2 "there is no 'nobody'" "${bench[@]}" --sizes n=5 --launches 3 --peers=nobody -o out.json
expect 2 "no rung of shuffle runs on" "$RUNG" bench reduce --device cpu --rung shuffle --launches 2
does kill 5
expect 3 'launch 2 of 3, of reduce "n=60", was ended by signal 9 (Killed)' "${bench[@]}" --sizes "n=50,60" --launches 3 -o out.json
[ "$(cat out.json)" = old ] || fail "the old file was touched"
[ ! -s stdout ] || fail "something was printed: $(cat stdout)"
[ "$(lines out.json.part)" = "n=50 n=60 n=50 " ] || fail "the part has $(lines out.json.part)"
expect 2 "expected: --resume" "${bench[@]}" --sizes "n=50,60" --launches 3 -o out.json
expect 3 '"launches" was 3, and here it is 4' "${bench[@]}" --sizes "n=50,60" --launches 4 -o out.json --resume
expect 3 '"launches" was 3, and here it is not known' "${bench[@]}" --sizes "n=50,60" -o out.json --resume
# Gone on with: its three launches are kept as they are, three are to come.
cp out.json.part part.json
does nothing 0
expect 0 - "${bench[@]}" --sizes "n=50,60" --launches 3 -o out.json --resume
[ "$(cat count)" = 4 ] || fail "$(cat count) processes, not 4, after --resume"
[ "$(lines out.json)" = "n=50 n=60 " ] || fail "the jobs are $(lines out.json)"
[ ! -e out.json.part ] || fail "the part is still there"
first=$(sed -n 's/^{"rung":"mine".*"samples_ms":\[\([^]]*\)\].*/\1/p' part.json | head -n 1)
grep -qF "\"samples_ms\":[$first," out.json || fail "a launch was measured again"
# A whole one has nothing to be done; what has been asked for since is added.
cp out.json whole.json
expect 0 - "${bench[@]}" --sizes "n=50,60" --launches 3 -o out.json --resume
cmp -s whole.json out.json || fail "a whole record was changed"
expect 0 - "${bench[@]}" --sizes "n=50,60,70" --launches 3 -o out.json --resume
[ "$(lines out.json)" = "n=50 n=60 n=70 " ] || fail "the jobs are $(lines out.json)"
[ "$(grep -c '"launches":{"samples":\[3,3,3\]' out.json)" -eq 9 ] || fail "one more job: $(cat out.json)"
rm -f out.json whole.json

does leave 3
expect 3 'launch 2 of 3, of reduce "n=50", ended with 7: the last words' "${bench[@]}" --sizes n=50 --launches 3
does nothing 3
expect 3 'launch 2 of 3, of reduce "n=50", ended with 0: it did not say why' "${bench[@]}" --sizes n=50 --launches 3
only deed count mine.so four.json part.json

# A wrong result is a finding of the launch that had it, and the others are measured all the same.
does wrong 3
expect 1 "1 of 3 candidates failed their check" "${bench[@]}" --sizes n=50 --launches 3 -o wrong.json
grep -q '^{"rung":"mine".*"finding":"wrong","sentence":"launch 2 of 3: ' wrong.json || fail "wrong: $(grep mine wrong.json)"
grep -qE '^mine .* wrong: launch 2 of 3: ' stdout || fail "wrong: $(cat stdout)"
# Other bits: of an order that is not the contract's they are left out.
does round 3
expect 0 - "${bench[@]}" --sizes n=5000 --launches 3 -o wrong.json
grep '^{"rung":"mine"' wrong.json | grep -q '"bits"' && fail "bits that are not the same are told"
grep '^{"rung":"serial"' wrong.json | grep -q '"bits"' || fail "bits that are the same are not told"
rm -f wrong.json
# Of a canonical rung they fail, whoever made them.
sed '0,/^{"rung":"threads"/ s/^\({"rung":"threads".*"bits":"\)[0-9a-f]*/\10123456789abcdef/' part.json >out.json.part
does nothing 0
expect 1 "candidates failed their check" "${bench[@]}" --sizes "n=50,60" --launches 3 -o out.json --resume
grep -qE '"after":\{"finding":"wrong",.*"sentence":"launch 2 of 3 has other bits than launch 1: [0-9a-f]{16}, not 0123456789abcdef"' out.json ||
  fail "other bits: $(grep threads out.json)"
grep -qE '^threads .* wrong: launch 2 of 3 has other bits' stdout || fail "other bits: $(cat stdout)"
rm -f out.json part.json

# A signal, to the command alone: it ends at once, its launch with it, and what is done is kept.
does wait 3
env --default-signal=INT "${bench[@]}" --sizes n=50 --launches 3 -o out.json >/dev/null 2>said &
child=$!
for ((i = 0; i < 1200; i++)); do
  [ -e waiting ] && break
  kill -0 $child 2>/dev/null || break
  sleep 0.05
done
[ -e waiting ] || fail "no launch waits: $(cat said)"
kill -INT $child
wait $child
code=$?
[ $code -eq 130 ] || fail "SIGINT ended the bench with $code: $(cat said)"
grep -qF "out.json.part has 1 of 3 launches of jobs; the same command with --resume goes on" said || fail "SIGINT: said: $(cat said)"
for ((i = 0; i < 100; i++)); do
  kill -0 "$(cat waiting)" 2>/dev/null || break
  sleep 0.05
done
kill -0 "$(cat waiting)" 2>/dev/null && fail "the launch goes on"
[ ! -e out.json ] || fail "SIGINT: there is a record"
[ "$(lines out.json.part)" = "n=50 " ] || fail "SIGINT: the part has $(lines out.json.part)"
does nothing 0
expect 0 - "${bench[@]}" --sizes n=50 --launches 3 -o out.json --resume
[ "$(grep -c '"launches":{"samples":\[3,3,3\]' out.json)" -eq 3 ] || fail "after SIGINT: $(cat out.json)"
rm -f said waiting
only count deed four.json mine.so out.json
finish
