#!/usr/bin/env bash
# A machine that gives less than is asked for: threads, address space, processes.
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/common.bash"
[ -z "${SANITIZED:-}" ] || exit 77 # a sanitizer's shadow needs all address space there is

# 4 MB of ones.
{
  npy '<f4' '(1048576,)' ''
  head -c 4194304 < <(yes $'\x01\x02\x03\x3f' | tr -d '\n')
} >in.npy
"$RUNG" scan in.npy -o expected.npy --device cpu --threads 1 || fail "scan ended with $?"

# within LIMIT COMMAND...: under `ulimit LIMIT`: the result, or exit 5 and a word of memory.
within() {
  local limit=$1
  shift
  rm -f out.npy
  # shellcheck disable=SC2086
  (ulimit $limit && exec "$RUNG" "$@") >stdout 2>stderr
  local found=$?
  if [ "$found" -eq 0 ]; then
    cmp -s out.npy expected.npy || fail "'$*' within $limit: another result"
  else
    [ "$found" -eq 5 ] || fail "'$*' within $limit ended with $found: $(cat stderr)"
    grep -q memory stderr || fail "'$*' within $limit says '$(cat stderr)'"
    [ ! -e out.npy ] || fail "'$*' within $limit wrote a file"
  fi
}

for kilobytes in 40000 60000 80000 100000 200000 400000; do
  for threads in 2 64 1000; do
    within "-v $kilobytes" scan in.npy -o out.npy --device cpu --threads $threads
  done
done
within "-v 200000" scan in.npy -o out.npy --device cpu --threads 64
cmp -s out.npy expected.npy || fail "64 threads within 200 MB: no result"
finish
