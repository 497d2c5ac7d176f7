#!/bin/bash
# Every verb explains itself; wrong verbs and options are refused; explaining touches no GPU.
. "$(dirname "$0")/common.bash"

verbs="radiator stencil reduce scan matmul histogram pairs tour ladder verify bench explain timeline devices"
expect 0 - "$RUNG" --help
for verb in $verbs; do prints "  $verb "; done
prints "Exit status"
expect 0 - "$RUNG" --version
grep -qE '^rung [0-9]+\.[0-9]+\.[0-9]+$' stdout || fail "--version printed $(cat stdout)"
for verb in $verbs; do
  expect 0 - "$RUNG" "$verb" --help
  prints "Usage: rung $verb"
  prints "Example:"
  prints "  rung $verb"
  expect 0 - "$RUNG" "$verb" -h
  expect 2 "rung $verb: '--no-such' is not an option" "$RUNG" "$verb" --no-such
  expect 2 "rung $verb: '-Z' is not an option" "$RUNG" "$verb" -Z
  expect 2 "takes no value" "$RUNG" "$verb" --quiet=1
  expect 2 "one argument too many" "$RUNG" "$verb" a b c d
done
expect 2 "Usage: rung VERB" "$RUNG"
expect 2 "no verb 'nonsense'" "$RUNG" nonsense
expect 2 "'--output' needs a value" "$RUNG" radiator --output
expect 2 "'-n' needs a value" "$RUNG" radiator -n

# What only explains or lists touches no GPU: the loader tells what it was asked for.
loads() {
  LD_DEBUG=libs LD_DEBUG_OUTPUT="$folder/loaded" "$@" >/dev/null 2>&1 </dev/null
  cat "$folder"/loaded.* 2>/dev/null
  rm -f "$folder"/loaded.*
}
if loads "$RUNG" --version | grep -q 'find library=libc\.so'; then
  for words in --version --help "bench --help" "ladder --help" "verify reduce --device cpu --rung serial"; do
    # shellcheck disable=SC2086
    ! loads "$RUNG" $words | grep -E 'find library=(libcuda|libnvidia)' ||
      fail "rung $words loads the driver of a GPU"
  done
fi
only
finish
