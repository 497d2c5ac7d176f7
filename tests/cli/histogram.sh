#!/bin/bash
# rung histogram on arrays whose counts are known by hand.
. "$(dirname "$0")/common.bash"

# 0 1 2 4 / 8 16 -1 NaN, f4
row1='\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x80\x40'
npy '<f4' '(2, 4)' "$row1"'\0\0\0\x41\0\0\x80\x41\0\0\x80\xbf\0\0\xc0\x7f' >in.npy
npy '|u1' '(6,)' '\x01\x02\x03\xff\xff\xfa' >bytes.npy
npy '<u2' '(3,)' '\x01\0\x02\0\xff\xff' >short.npy
npy '<i4' '(4,)' '\xff\xff\xff\xff\x05\0\0\0\xfe\xff\xff\xff\x07\0\0\0' >small.npy
npy '<u8' '(1,)' '\x01\0\0\0\0\0\0\0' >large.npy
npy '<f4' '(0,)' '' >empty.npy
# 0 1 4 16, f8; and one that falls
edge0='\0\0\0\0\0\0\0\0' edge1='\0\0\0\0\0\0\xf0\x3f' edge4='\0\0\0\0\0\0\x10\x40'
npy '<f8' '(4,)' "$edge0$edge1$edge4"'\0\0\0\0\0\0\x30\x40' >edges.npy
npy '<f8' '(3,)' "$edge0$edge4$edge1" >falling.npy
npy '<f4' '(3,)' '\0\0\0\0\0\0\x80\x3f\0\0\0\x40' >narrow.npy

histogram=("$RUNG" histogram --device cpu --quiet)
# counts EXPECTED: the last column of standard output, on one line.
counts() {
  local found
  found=$(awk '{ printf "%s ", $NF }' stdout)
  [ "$found" = "$1 " ] || fail "printed $found, not $1"
}
expect 0 - "${histogram[@]}" in.npy --bins 4 --range 0 16
counts "3 1 1 1 1 0 1"
[ -s stderr ] && fail "--quiet was not quiet"
for line in "[0, 4)" "[12, 16]" "below" "above" "NaN"; do prints "$line"; done
expect 0 - "${histogram[@]}" in.npy --range -1 8 --bins 3
counts "3 2 1 0 1 1"
expect 0 - "${histogram[@]}" in.npy --bins 3 --range=-1:8
counts "3 2 1 0 1 1"
expect 0 - "${histogram[@]}" --bins 3 --range "-1 8" -- in.npy
counts "3 2 1 0 1 1"
expect 0 - "${histogram[@]}" in.npy --edges edges.npy
counts "1 2 3 1 0 1"
expect 0 - "${histogram[@]}" in.npy --edges narrow.npy
counts "1 2 1 3 1"
expect 0 - "${histogram[@]}" in.npy --bins 2 --range 0 16 --rows
counts "0 4 0 0 0 0 1 0 2 1 0 1"
prints "row 1"
for rung in serial private threads auto; do
  expect 0 - "${histogram[@]}" small.npy --modulo 4 --rung $rung --threads 2 --math strict --block 64
  counts "0 1 1 2"
done
expect 0 - "${histogram[@]}" bytes.npy --bytes
[ "$(awk '$2 > 0 { printf "%s:%s ", $1, $2 }' stdout)" = "1:1 2:1 3:1 250:1 255:2 " ] ||
  fail "bytes are $(cat stdout)"
expect 0 - "${histogram[@]}" short.npy --modulo 3
counts "1 1 1"
expect 0 - "${histogram[@]}" short.npy --bins 1 --range 0 1e3 --type f64
counts "2 0 1 0"
expect 0 - "${histogram[@]}" empty.npy --bins 2 --range 0 1
counts "0 0 0 0 0"
expect 0 "rung serial on" "$RUNG" histogram in.npy --bins 2 --range 0 1 --device cpu --rung serial

# Into files, as a filter, and as JSON.
expect 0 "2 above" "$RUNG" histogram in.npy --device cpu --bins 2 --range 0 4 -o out.npy
[ -s stdout ] && fail "printed what went into a file"
grep -qaF "'descr': '<i8'" out.npy || fail "counts are no i64"
[ "$(od -An -v -t d8 -j 128 -w65536 out.npy | tr -s ' ')" = " 2 2" ] || fail "out.npy is wrong"
expect 0 - "${histogram[@]}" in.npy --rows --bins 3 --range 0 4 -o out.npy
grep -qaF "'shape': (2, 3)" out.npy || fail "rows have no row each"
"${histogram[@]}" - --bins 2 --range 0 4 -o - <in.npy >piped.npy || fail "a pipe was refused"
grep -qaF "'shape': (2,)" piped.npy || fail "piped.npy is wrong"
expect 0 - "${histogram[@]}" in.npy --bins 2 --range 0 4 --json
for word in '"kind": "even"' '"below": 1' '"above": 2' '"nan": 1' '"rung": "threads"' '4.0'; do
  prints "$word"
done
expect 0 - "${histogram[@]}" small.npy --modulo 2 --json -o out.json
grep -qF '"edges": null' out.json || fail "remainders have edges: $(cat out.json)"
rm out.npy out.json piped.npy

# What is refused, and leaves no file.
expect 2 "-o 'h.csv': expected: a name that ends in .npy" "${histogram[@]}" in.npy --bins 3 --range 0 4 -o h.csv
[ ! -e h.csv ] || fail "h.csv was written"
expect 2 "none of --modulo" "${histogram[@]}" in.npy -o out.npy
expect 2 "more than one of --modulo" "${histogram[@]}" in.npy --bytes --modulo 3 -o out.npy
expect 2 "--range LO HI" "${histogram[@]}" in.npy --bins 3 -o out.npy
expect 2 "without --bins" "${histogram[@]}" in.npy --modulo 3 --range 0 1 -o out.npy
expect 2 "--bins '0'" "${histogram[@]}" in.npy --bins 0 --range 0 1 -o out.npy
expect 2 "--modulo '1048577'" "${histogram[@]}" in.npy --modulo 1048577 -o out.npy
expect 2 "low below high" "${histogram[@]}" in.npy --bins 2 --range 1 0 -o out.npy
expect 2 "--range" "${histogram[@]}" in.npy --bins 2 --range 1 -o out.npy
expect 2 "--range 'x'" "${histogram[@]}" in.npy --bins 2 --range x 1 -o out.npy
expect 2 "bins->edges[2] is 1" "${histogram[@]}" in.npy --edges falling.npy -o out.npy
expect 2 "magic" "${histogram[@]}" in.npy --bins 2 --range 0 1 --rung magic -o out.npy
expect 2 "GPUs only" "${histogram[@]}" in.npy --bins 2 --range 0 1 --rung vector -o out.npy
expect 2 "argument is missing" "${histogram[@]}" --bytes
expect 3 "in holds f32" "${histogram[@]}" in.npy --modulo 3 -o out.npy
expect 3 "expected: u8" "${histogram[@]}" short.npy --bytes -o out.npy
expect 3 "--type f64" "${histogram[@]}" large.npy --modulo 3 -o out.npy
expect 3 "--rows of an array of 1" "${histogram[@]}" short.npy --modulo 3 --rows -o out.npy
expect 3 "holds no edges" "${histogram[@]}" in.npy --edges in.npy -o out.npy
expect 3 "No such file" "${histogram[@]}" absent.npy --bytes -o out.npy
expect 3 "/nowhere" "${histogram[@]}" absent.npy --bytes -o /nowhere/out.npy
expect 4 cuda "${histogram[@]}" in.npy --bins 2 --range 0 1 --device cuda:99 -o out.npy
only in.npy bytes.npy short.npy small.npy large.npy empty.npy edges.npy falling.npy narrow.npy
finish
