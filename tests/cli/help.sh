#!/bin/bash
# Every verb explains itself; wrong verbs and options are refused; explaining touches no GPU.
. "$(dirname "$0")/common.bash"

verbs="radiator stencil correlate convolve reduce scan matmul histogram pairs tour ladder verify bench compare report explain timeline tune clocks devices"
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
  [[ $verb =~ ^(report|tour)$ ]] || expect 2 "one argument too many" "$RUNG" "$verb" a b c d
done
expect 2 "Usage: rung VERB" "$RUNG"
expect 2 "no verb 'nonsense'" "$RUNG" nonsense
expect 2 "'--output' needs a value" "$RUNG" radiator --output
expect 2 "'-n' needs a value" "$RUNG" radiator -n

# Near misses are named, help is a verb, and no line of it is wider than a page.
expect 2 "no verb 'redcue'; did you mean 'reduce'?" "$RUNG" redcue
expect 2 "did you mean 'help'?" "$RUNG" hlep
expect 2 "no verb 'zzzzzz'; \`rung --help\`" "$RUNG" zzzzzz
expect 2 "did you mean '--exhaustive'?" "$RUNG" verify --exhustive
expect 2 "no rung 'lane'; did you mean 'lanes'?" "$RUNG" verify reduce --rung serial,lane
expect 2 "no operation 'stensil'; did you mean 'stencil'?" "$RUNG" ladder stensil
expect 2 "--time-out '0'" "$RUNG" bench --timeout 0
expect 0 - "$RUNG" -V
prints "rung "
expect 0 - "$RUNG" help
prints "Verbs:"
for verb in $verbs; do
  expect 0 - "$RUNG" help "$verb"
  prints "Usage: rung $verb"
  long=$(awk 'length($0) > 80' stdout)
  [ -z "$long" ] || fail "help $verb is wider than 80 columns: $long"
done
expect 0 - "$RUNG" help bench reduce
prints "Keys of a job of reduce"
expect 2 "no verb 'nonsense'" "$RUNG" help nonsense

# A terminal's width is kept to, but for --wide; what is not a terminal gets whole lines.
if has_terminals; then
  for columns in 80 40; do
    for words in ladder "help pairs" "help bench stencil" devices; do
      found=$(on_terminal $columns $words | widest)
      [ "$found" -le $columns ] && [ "$found" -gt $((columns / 2)) ] ||
        fail "rung $words is $found columns wide on a terminal of $columns"
    done
  done
  same=$(on_terminal 40 ladder scan | tr -s ' \n' '  ')
  [ "$same" = "$("$RUNG" ladder scan | tr -s ' \n' '  ')" ] || fail "wrapping loses words"
  [ "$(on_terminal 40 ladder --wide | widest)" -gt 80 ] || fail "--wide wraps lines"
fi
[ "$("$RUNG" ladder | widest)" -gt 80 ] || fail "lines are wrapped where there is no terminal"

# A rung that is slower than one below says why.
while read -r operation rung below; do
  expect 0 - "$RUNG" ladder "$operation"
  grep -A2 "^    $rung " stdout | grep -q "on an H200 slower than $below " || fail "$rung's time is not explained"
done <<'RUNGS'
stencil window global
reduce finish-host shuffle
reduce finish-last-block finish-recursion
histogram aggregated replicated
matmul block column
scan warp blelloch-padded
RUNGS

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
