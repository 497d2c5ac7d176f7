#!/bin/bash
# rung clocks: every clock with all its figures. Nothing is asked of the figures but what no clock
# can get wrong, however busy the machine is.
. "$(dirname "$0")/common.bash"

expect 0 - "$RUNG" clocks --device cpu
for word in "clock()" CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_REALTIME CLOCK_PROCESS_CPUTIME_ID \
  CLOCK_THREAD_CPUTIME_ID "a wait of 50 ms" "are not looked at: --device cpu was given"; do prints "$word"; done
case $(uname -m) in
  x86_64) prints rdtsc ;;
  aarch64) prints cntvct_el0 ;;
esac

expect 0 - "$RUNG" clocks --json --threads 2 -o clocks.json
# figure CLOCK KEY
figure() {
  sed -n "/\"clock\": \"$1\"/,/}/s/.*\"$2\": \([^,]*\).*/\1/p" clocks.json
}
# holds EXPRESSION: of awk.
holds() {
  awk "BEGIN { exit !($1) }" || fail "not so: $1"
}
# kernel CLOCK WHICH: what it says of the empty (1), the short and the long kernel (3).
kernel() {
  tr -d '\n' <clocks.json | sed "s/.*\"clock\": \"$1\"[^[]*\[\([^]]*\)\].*/\1/" | cut -d, -f"$2"
}
for clock in "clock()" CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_REALTIME CLOCK_PROCESS_CPUTIME_ID CLOCK_THREAD_CPUTIME_ID; do
  for key in unit_ns step_ns reading_ns; do holds "$(figure "$clock" $key) > 0"; done
  for key in one_thread_ms all_threads_ms waiting_ms; do holds "$(figure "$clock" $key) >= 0"; done
done
# Both of these count nanoseconds that pass, at least those that were waited for; a processor's time
# is never more than that of as many processors.
for clock in CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW; do holds "$(figure $clock waiting_ms) > 49"; done
holds "$(figure CLOCK_THREAD_CPUTIME_ID waiting_ms) <= $(figure CLOCK_MONOTONIC waiting_ms)"
holds "$(figure CLOCK_THREAD_CPUTIME_ID all_threads_ms) <= $(figure CLOCK_PROCESS_CPUTIME_ID all_threads_ms) + 0.1"
holds "$(figure CLOCK_MONOTONIC_RAW drift) == 0"
grep -qF '"threads": 2' clocks.json || fail "--threads was not taken"
if "$RUNG" devices --device cuda >/dev/null 2>&1; then
  for clock in "CUDA events" globaltimer clock64 "clock(), waited" "clock(), launched" \
    "CLOCK_MONOTONIC, waited" "CLOCK_MONOTONIC, launched"; do
    grep -qF "\"clock\": \"$clock\"" clocks.json || fail "no $clock of the GPU"
  done
  # A kernel of 10^6 ns by the device's clock is none of 10^4, by any that measures kernels, and
  # nobody waits less than it took.
  for clock in "CUDA events" globaltimer clock64 "CLOCK_MONOTONIC, waited"; do
    holds "$(kernel "$clock" 3) > $(kernel "$clock" 2)"
  done
  holds "$(kernel "CLOCK_MONOTONIC, waited" 3) >= 0.9 * $(kernel globaltimer 3)"
else
  grep -qE '"cuda_absent": ".+"' clocks.json || fail "it does not say why there is no GPU"
  expect 4 cuda "$RUNG" clocks --device cuda
fi
# A row a clock, a column a value, in both forms the same clocks.
expect 0 - "$RUNG" clocks --device cpu --csv clocks.csv
expect 0 - "$RUNG" clocks --device cpu --csv -
[ "$(head -1 stdout)" = "device,clock,unit,step,reading,in_a_row,drift,empty_kernel,short_kernel,long_kernel,one_thread,all_threads,waiting,meaning" ] ||
  fail "the CSV's columns: $(head -1 stdout)"
for file in stdout clocks.csv; do
  [ "$(grep -c '^cpu,' $file)" = "$(grep -c '"clock":' clocks.json)" ] || fail "$file has other clocks than the JSON"
  grep -qE '^cpu,CLOCK_MONOTONIC,ns,[0-9.]+,[0-9.]+,,[-+0-9.e]+,,,,[0-9.e+]+,[0-9.e+]+,[0-9.e+]+,"time that passes' $file ||
    fail "$file: $(grep ',CLOCK_MONOTONIC,' $file)"
done

# The simulated GPU counts steps with both of its clocks: what they say of kernels of so many steps
# is the same every time, and the rest is said not to be there.
if [ "${SANITIZED-}" = address ]; then
  expect 2 "counts no steps" "$RUNG" clocks --device sim
elif "$RUNG" devices --device sim >/dev/null 2>&1; then
  expect 0 - "$RUNG" clocks --device sim
  prints "A simulated GPU has no time: no events, no drift"
  grep -qE "CUDA events +[0-9]" stdout && fail "the simulator has events"
  expect 0 - "$RUNG" clocks --device sim --json -o sim.json
  grep -qF '"unit": "steps"' sim.json || fail "steps are called nanoseconds"
  [ "$(grep -cE '^ +"clock": "(globaltimer|clock64)"' sim.json)" = 2 ] || fail "not both clocks of the simulator: $(cat sim.json)"
  tr -d ' \n' <sim.json | grep -oE '"kernels":\[[^]]*' | sed 's/.*\[//' >steps
  awk -F, '{ if (!($2 >= 10000 && $2 < 10100 && $3 >= 1000000 && $3 < 1000100)) exit 1 } END { exit NR != 2 }' steps ||
    fail "steps of the kernels: $(cat steps)"
  expect 0 - "$RUNG" clocks --device sim --json
  tr -d ' \n' <stdout | grep -oE '"kernels":\[[^]]*' | sed 's/.*\[//' | cmp -s - steps || fail "other steps the second time"
  for clock in globaltimer clock64; do
    grep -A8 "\"clock\": \"$clock\"" sim.json | grep -qE '"step": [0-9.]+,' || fail "$clock has no step"
    grep -A8 "\"clock\": \"$clock\"" sim.json | grep -qE '"reading": [0-9.]+,' || fail "a reading of $clock costs nothing"
    grep -A8 "\"clock\": \"$clock\"" sim.json | grep -qF '"drift": null' || fail "$clock drifts"
  done
  expect 0 - "$RUNG" clocks --device sim --csv -
  [ "$(grep -cE '^simulated GPU,(clock64|globaltimer),steps,[0-9]+,[0-9.]+,[0-9.]*,,[0-9]+,100[0-9]{2},10000[0-9]{2},,,,' stdout)" = 2 ] ||
    fail "the simulator's rows: $(grep simulated stdout)"
  rm sim.json steps
fi
expect 2 'device is "tpu"' "$RUNG" clocks --device tpu
expect 2 "one argument too many" "$RUNG" clocks here
expect 3 "No such file" "$RUNG" clocks -o /nowhere/at/all
expect 3 "No such file" "$RUNG" clocks --csv /nowhere/at/all
only clocks.json clocks.csv
finish
