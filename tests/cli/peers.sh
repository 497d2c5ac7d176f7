#!/bin/bash
# rung bench pairs --peers: programs beside rungs. A stand-in for gmx, which has our own command
# count, says what becomes of a good table, of a wrong one and of a program that fails.
. "$(dirname "$0")/common.bash"
export RUNG TMPDIR=$folder/tmp
mkdir bin tmp
cat >bin/gmx <<'FAKE'
#!/bin/bash
PATH=/usr/local/bin:/usr/bin:/bin
if [ "$1" = --version ]; then
  printf 'GROMACS version:    0.0-fake\nPrecision:          mixed\nSIMD instructions:  none\n'
  exit
fi
while [ $# -gt 0 ]; do
  case $1 in -f) points=$2 ;; -bin) width=$2 ;; -rmax) most=$2 ;; -o) table=$2 ;; esac
  shift
done
case $FAKE in
  status) echo "Fatal error: no such thing" >&2; exit 3 ;;
  killed) kill -SEGV $$ ;;
  once) [ ! -e "$MARK" ] || exit 0; echo >"$MARK" ;;
  slow) echo $$ >"$MARK"; sleep 100 ;;
esac
half=$(awk -v w=$width 'BEGIN { printf "%.17g", w / 2 }')
"$RUNG" pairs $points --width $half --max $most --device cpu --quiet |
  awk -v fake=$FAKE -v w=$width -v n=$(sed -n 2p $points) '
    NR > 1 && NF == 3 { count[int((NR - 1) / 2)] += $3; last = int((NR - 1) / 2) }
    END {
      if (fake == "wrong") count[40] += 60
      if (fake == "short") last -= 1
      for (k = 0; k <= last; k++) printf "%10.3f %8.3f\n", k * w, 2 * count[k] / (n * w)
    }' >$table
FAKE
chmod +x bin/gmx
centred="n=500 bins=50 kind=centred width=0.01 box=cube data=liquid"

# bench CODE WORD FAKE [LINE]: our command and the stand-in, and neither leaves anything.
bench() {
  expect "$1" "$2" env FAKE=$3 MARK=$folder/mark PATH=$folder/bin "$RUNG" bench pairs --device cpu --rung cells --samples 1 \
    --peers --sizes "${4-$centred}" -o record.json --quiet
  [ -z "$(ls -A tmp)" ] || fail "$3: left in TMPDIR: $(ls -A tmp/*)"
}

# rows COUNT NAME WORD: so many of a rung's rows have it.
rows() {
  [ "$(grep -cE "^$2 .*$3" stdout)" = "$1" ] || fail "not $1 of $2 '$3': $(cat stdout)"
}

# Four jobs: one for all; one of bins in 5 parts, so that the three decimals of gmx's table tell the
# counts exactly; one of other bins than gmx has; one of points that no file holds.
bench 0 - good "$centred; n=8000 bins=2 kind=centred width=0.5 box=cube data=liquid;
  n=500 bins=50 width=0.01 box=cube data=liquid; n=500 bins=50 kind=centred width=0.01 box=cube"
rows 4 cells ' good$'
rows 3 rung-pairs ' good$'
rows 2 gmx ' good'
rows 1 gmx 'unsupported: .*: kind=centred$'
rows 1 gmx 'unsupported: .*data=liquid'
rows 3 mdanalysis 'unsupported: .*no python3 in PATH has MDAnalysis'
prints 'rung-pairs against gmx (GROMACS 0.0-fake, mixed precision, none)'
grep -q 'cells against' stdout && fail "a rung is held against a program"
grep -A9 'n=8000' stdout | grep -qE '^gmx .* good$' || fail "parts of bins do not tell the counts"
[ "$(grep -c '"program":true' record.json)" = 12 ] || fail "three programs are not in the record"
grep -q '"peer":"MDAnalysis, not found"' record.json || fail "the record does not say what is not there"

bench 1 'failed their check' wrong
rows 1 gmx 'wrong: 10 of 51 edges have more .* below edge 41, at 0.405,'
rows 1 rung-pairs ' good$'
bench 1 - status
rows 1 gmx 'launch-failed: gmx rdf ended with status 3: Fatal error: no such thing'
bench 1 - killed
rows 1 gmx 'launch-failed: gmx rdf was killed by signal 11'
# What it wrote before is not taken for what it writes now.
bench 1 - once
rm mark
rows 1 gmx 'launch-failed: gmx rdf ended well and left no table'
bench 1 - short
rows 1 gmx 'launch-failed: gmx rdf left a table .* before its 50 bins'
mv bin/gmx bin/other
bench 0 - good
rows 1 gmx 'unsupported: .*gmx is not in PATH'
mv bin/other bin/gmx
expect 3 'TMPDIR may name another' env TMPDIR=$folder/none PATH=$folder/bin "$RUNG" bench pairs --device cpu \
  --rung cells --samples 1 --peers --sizes "$centred" --quiet

# A signal ends the program under way and all it started, and nothing is left.
for name in INT TERM; do
  env --default-signal=$name FAKE=slow MARK=$folder/mark PATH=$folder/bin "$RUNG" bench pairs \
    --device cpu --rung cells --samples 1 --peers --sizes "$centred" --quiet -o record.json >/dev/null 2>&1 &
  for _ in $(seq 600); do
    [ ! -s mark ] || break
    sleep 0.1
  done
  kill -s $name $!
  wait $!
  code=$?
  [ $code -eq $((128 + $(kill -l $name))) ] || fail "SIG$name ended the command with $code"
  [ -z "$(ls -A tmp)" ] || fail "SIG$name: left in TMPDIR: $(ls -A tmp/*)"
  kill -0 "$(cat mark)" 2>/dev/null && fail "SIG$name: the program runs on"
  rm mark
done
rm -r bin tmp record.json
only
finish
