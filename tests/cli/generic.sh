#!/bin/bash
# The verbs that know operations by their ladders alone: ladder, verify, bench, devices.
. "$(dirname "$0")/common.bash"

expect 0 - "$RUNG" ladder
prints "stencil: "
prints "* panel"
expect 0 - "$RUNG" ladder stencil --device cpu --json -o ladder.json
grep -qF '"rung": "panel"' ladder.json || fail "the ladder's JSON has no panel"
grep -qF '"runs_here": true' ladder.json || fail "no rung runs here"
rm ladder.json

expect 0 - "$RUNG" devices
prints "cpu: "
for threads in 1 3; do
  expect 0 - "$RUNG" devices --threads $threads --quiet
  grep -qE "^  threads used +$threads$" stdout || fail "devices --threads $threads: $(grep 'threads used' stdout)"
done
expect 0 - "$RUNG" devices --device cpu --json
prints '"facts"'

part=1/1
[ -z "${SANITIZED:-}" ] || part=1/8 # takes its time
expect 0 - "$RUNG" verify reduce --device cpu --type f32 --part $part
prints " 0 failed"
grep -qE '^[1-9][0-9]* checks' stdout || fail "nothing was verified: $(cat stdout)"
expect 0 - "$RUNG" verify stencil --device cpu --rung rowwise --json
prints '"rung": "rowwise"'
prints '"failures": 0'
grep -qF '"rung": "panel"' stdout && fail "--rung did not choose"

expect 0 - "$RUNG" bench stencil --device cpu --rung sweep,panel --samples 3 --time-out 5 \
  --sizes "n=40 m=50 p=6;n=41 m=51 p=7 type=f64" -o record.json
for word in "sweep" "panel" "good" "n=40 m=50 p=6" "n=41 m=51 p=7 type=f64"; do prints "$word"; done
grep -qF rowwise stdout && fail "--rung did not choose"
grep -qF '"rung-records"' record.json || fail "no record was written"
grep -qF 'rung bench stencil' record.json || fail "the record does not hold the command"
expect 0 - "$RUNG" bench reduce --device cpu --rung serial --sizes "n=50 outer=40" --samples 3 --json --hot
prints '"rung-records"'
expect 0 - "$RUNG" bench reduce --device cpu --rung serial --sizes "n=2..8 outer=3;n=2^4..2^4 outer=2" --samples 3
[ "$(grep -c '^reduce on' stdout)" -eq 4 ] || fail "a sweep of four jobs: $(cat stdout)"
prints "n=8 op=sum type=f32 outer=3"
expect 0 - env PATH=/nowhere "$RUNG" report record.json
prints "stencil on "
only record.json
finish
