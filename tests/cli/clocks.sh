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
for clock in "clock()" CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_REALTIME CLOCK_PROCESS_CPUTIME_ID CLOCK_THREAD_CPUTIME_ID; do
  for key in unit_ns step_ns reading_ns; do holds "$(figure "$clock" $key) > 0"; done
  for key in one_thread_ms all_threads_ms waiting_ms; do holds "$(figure "$clock" $key) >= 0"; done
done
# Both of these count nanoseconds that pass, at least those that were waited for; a processor's time
# is never more than that of as many processors.
for clock in CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW; do holds "$(figure $clock waiting_ms) > 49"; done
holds "$(figure CLOCK_THREAD_CPUTIME_ID waiting_ms) <= $(figure CLOCK_MONOTONIC waiting_ms)"
holds "$(figure CLOCK_THREAD_CPUTIME_ID all_threads_ms) <= $(figure CLOCK_PROCESS_CPUTIME_ID all_threads_ms) + 0.001"
holds "$(figure CLOCK_MONOTONIC_RAW drift) == 0"
grep -qF '"threads": 2' clocks.json || fail "--threads was not taken"
if "$RUNG" devices --device cuda >/dev/null 2>&1; then
  grep -qF '"events_ms"' clocks.json || fail "no GPU"
else
  grep -qE '"cuda_absent": ".+"' clocks.json || fail "it does not say why there is no GPU"
  expect 4 cuda "$RUNG" clocks --device cuda
fi
if "$RUNG" devices --device sim >/dev/null 2>&1; then
  expect 2 "expected: cpu or cuda" "$RUNG" clocks --device sim
fi
expect 2 'device is "tpu"' "$RUNG" clocks --device tpu
expect 2 "one argument too many" "$RUNG" clocks here
expect 3 "No such file" "$RUNG" clocks -o /nowhere/at/all
only clocks.json
finish
