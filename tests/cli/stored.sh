#!/bin/bash
# Files larger than memory: reduced, counted and scanned piece by piece, with the bits of the whole.
. "$(dirname "$0")/../numbers.bash"
. "$(dirname "$0")/common.bash"
: "${SANITIZED:=}"

noise 3000001
numbers '<f4' 4 16777216 >big.npy # 64 MiB
numbers '<f4' 4 1200001 >in.npy
numbers '>f8' 8 700001 >wide.npy
numbers '|u1' 1 3000000 '1000, 3000' >matrix.npy
numbers '<f4' 4 1000000 '1000, 1000' >grid.npy
numbers '<f4' 4 1000000 '1000, 1000' True >turned.npy

cases=("reduce in.npy --op sum" "reduce wide.npy --op mean" "reduce matrix.npy --op sum --axis 0"
  "reduce matrix.npy --op max --axis 1" "reduce turned.npy --op sum" "reduce wide.npy --op sum --type f32"
  "histogram in.npy --bins 7 --range 0 1" "histogram matrix.npy --bytes"
  "histogram matrix.npy --modulo 5 --rows" "scan in.npy" "scan wide.npy --exclusive"
  "scan matrix.npy" "scan matrix.npy --axis 0 --op max" "scan wide.npy --type f32"
  "stencil grid.npy --weights 1,2,1 --divide 4 --steps 5 --means means.npy")
for words in "${cases[@]}"; do
  # shellcheck disable=SC2086
  expect 0 - "$RUNG" $words --device cpu --quiet -o whole.npy
  [[ $words != stencil* ]] || mv means.npy whole_means.npy
  for how in "--device cpu" "--devices cpu,cpu"; do
    [[ $how == *devices* && $words == *@(--axis|--rows|scan matrix)* ]] && continue
    rm -f parts.npy
    # shellcheck disable=SC2086
    RUNG_MEMORY_LIMIT=1M expect 0 - "$RUNG" $words $how --quiet -o parts.npy
    cmp whole.npy parts.npy || fail "$words $how in 1 MiB has other bytes"
    [[ $words != stencil* ]] || cmp means.npy whole_means.npy || fail "$words $how has other means"
  done
done

# Where addresses are fewer than the file has bytes, whether a limit is said or not.
if [ -z "$SANITIZED" ]; then
  "$RUNG" scan big.npy --device cpu --quiet -o whole.npy
  "$RUNG" reduce big.npy --op sum --device cpu --quiet >whole
  for limit in "" 8M; do
    export RUNG_MEMORY_LIMIT=$limit
    rm -f parts.npy
    (ulimit -v 60000 && exec "$RUNG" scan big.npy --device cpu --threads 2 --quiet -o parts.npy) ||
      fail "scan in 60 MB, limit '$limit'"
    cmp whole.npy parts.npy || fail "scan in 60 MB has other bytes, limit '$limit'"
    (ulimit -v 60000 && exec "$RUNG" reduce big.npy --op sum --device cpu --threads 2 --quiet) >parts ||
      fail "reduce in 60 MB, limit '$limit'"
    cmp whole parts || fail "reduce in 60 MB has other bits, limit '$limit'"
  done
fi
rm -f parts parts.npy whole whole.npy

# What fails leaves the old file whole and nothing beside it.
export RUNG_MEMORY_LIMIT=1M
untouched() {
  [ "$(cat out.npy)" = old ] || fail "$1: the old file was touched"
  [ -z "$(ls .rung-* 2>/dev/null)" ] || fail "$1 leaves $(ls .rung-*)"
}
echo old >out.npy
(
  trap '' XFSZ
  ulimit -f 20000
  expect 3 "output 'out.npy' cannot be written: File too large" "$RUNG" scan big.npy --device cpu -o out.npy
  exit $failures
) || failures=1
untouched "a full disk"
head -c 60000000 big.npy >short.npy
expect 3 "short.npy: truncated" "$RUNG" scan short.npy --device cpu -o out.npy
untouched "a short file"
expect 3 "sub/out.npy" "$RUNG" scan big.npy --device cpu -o sub/out.npy
expect 5 "environment variable RUNG_MEMORY_LIMIT is 1000 bytes" \
  env RUNG_MEMORY_LIMIT=1000 "$RUNG" scan big.npy --device cpu -o out.npy
untouched "too low a limit"
RUNG_MEMORY_LIMIT=4M expect 0 - "$RUNG" scan big.npy --device cpu --quiet -o /dev/null # as a whole
expect 2 "RUNG_MEMORY_LIMIT is \"much\"" env RUNG_MEMORY_LIMIT=much "$RUNG" reduce big.npy --op sum
# A file that somebody writes to while it is read.
{
  numbers '<f4' 4 16777216 | head -c 128
} >sparse.npy
truncate -s $((128 + 4 * 16777216)) sparse.npy
while touch sparse.npy; do sleep 0.01; done 2>/dev/null &
toucher=$!
expect 3 "sparse.npy: has changed while it was read" "$RUNG" scan sparse.npy --device cpu -o out.npy
kill $toucher 2>/dev/null
wait $toucher 2>/dev/null
untouched "a file that changes"
# A signal in the midst of it: 8 GiB of zeros.
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
  "{'descr': '<f4', 'fortran_order': False, 'shape': (2147483648,), }" >sparse.npy
truncate -s $((128 + 4 * 2147483648)) sparse.npy
for after in 0.5 0.2 0.25 0.3 0.35 0.4 0.45 0.5; do # two signals: to the process, and to its group
  timeout --preserve-status -k 20 -s INT $after "$RUNG" scan sparse.npy --device cpu --quiet -o out.npy
  [ $? -eq 130 ] || fail "SIGINT"
  untouched "SIGINT"
done
finish
