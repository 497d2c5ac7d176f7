#!/bin/bash
# A signal ends a long run by itself, at once, and leaves the old file and no other.
. "$(dirname "$0")/common.bash"

echo old >grid.npy
for name in INT TERM HUP; do
  timeout --preserve-status -k 20 -s $name 1 "$RUNG" radiator -n 2000 -m 2000 -p 1000000 -g --quiet \
    -o grid.npy >/dev/null 2>&1
  code=$?
  [ $code -eq $((128 + $(kill -l $name))) ] || fail "SIG$name ended the command with $code"
  [ "$(cat grid.npy)" = old ] || fail "SIG$name: the old file was touched"
  only grid.npy
done

# And while it writes: into a pipe nobody reads, beside a temporary of its own.
timeout --preserve-status -s INT 1 "$RUNG" stencil - --weights "1 1 1" -o grid.npy < <(sleep 5) \
  >/dev/null 2>&1
[ $? -eq 130 ] || fail "SIGINT while reading"
timeout --preserve-status -s INT 1 "$RUNG" pairs - --format csv --bins 3 -o grid.npy < <(sleep 5) \
  >/dev/null 2>&1
[ $? -eq 130 ] || fail "SIGINT while points are read"
[ "$(cat grid.npy)" = old ] || fail "SIGINT while reading: the old file was touched"
only grid.npy
finish
