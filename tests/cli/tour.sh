#!/bin/bash
# The tour of one operation: its ladder, a page and a record.
. "$(dirname "$0")/common.bash"

mkdir out
expect 0 - "$RUNG" tour matmul matmul --device cpu --quiet -o out
prints "matmul on "
prints "results verified, 0 failed, "
prints "Report: out/rung-tour.html"
! grep -E "^(reduce|scan|pairs) on " stdout || fail "the tour of matmul has other operations"
[ "$(grep -c '^matmul on ' stdout)" = "$(grep -c '^{"operation"' out/rung-tour.json)" ] ||
  fail "the page and the record have not as many jobs"
grep -q '"command":"rung tour matmul matmul --device cpu --quiet -o out"' out/rung-tour.json ||
  fail "the record does not hold the command"
grep -q '</html>' out/rung-tour.html || fail "there is no page"

# Far from a peak a fraction of it is no number of noughts.
sed -i -E 's/"(load)": [^,]*/"\1": 0/; s/"(fma32|fma64|mma64|read|write|copy)": [^,]*/"\1": 1e6/' .cache/rung/peaks.json
expect 0 - "$RUNG" tour matmul --device cpu --quiet -o out
prints ", below 1 % of the peak"
prints " < 0.1"
! grep -E ' 0 %| 0\.0 ' stdout || fail "there are fractions of nought"

expect 2 "no operation 'scam'; did you mean 'scan'?" "$RUNG" tour scan scam
expect 2 "one argument too many" "$RUNG" tour $(printf 'scan %.0s' {1..17})
expect 3 "No such file" "$RUNG" tour scan -o nowhere
only out
finish
