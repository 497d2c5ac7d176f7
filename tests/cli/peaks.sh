#!/bin/bash
# The peaks of the CPU are measured before a result is held against them, and kept. They are written
# to the file $PEAKS, with which the other tests of the command begin: each would take seconds.
rm -f "${PEAKS:-}"
. "$(dirname "$0")/common.bash"

bench=("$RUNG" bench reduce --device cpu --samples 1 --rung serial,threads --sizes n=64)
expect 0 - "${bench[@]}"
kept=.cache/rung/peaks.json
for word in '"rung-peaks": 1' '"fma32": ' '"memory": {' '"read": '; do
  grep -qF "$word" $kept || fail "no $word is kept: $(cat $kept)"
done
# Those of a busy machine are measured again on a quieter one: these are as if of a quiet one.
sed -i 's/"load": [0-9.e+-]*/"load": 0.0/' $kept
cp $kept before.json
expect 0 - "${bench[@]}"
cmp $kept before.json || fail "they were measured again"
[ -z "${PEAKS:-}" ] || mv before.json "$PEAKS"
rm -f before.json
only
finish
