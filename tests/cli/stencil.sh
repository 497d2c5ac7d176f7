#!/bin/bash
# rung stencil on arrays whose result is known by hand.
. "$(dirname "$0")/common.bash"

# 1 2 4 8 and 16 32 64 128, f4
one='\0\0\x80\x3f' two='\0\0\0\x40' four='\0\0\x80\x40' eight='\0\0\0\x41'
high='\0\0\x80\x41\0\0\0\x42\0\0\x80\x42\0\0\0\x43'
npy '<f4' '(2, 4)' "$one$two$four$eight$high" >in.npy

same() {
  [ "$(floats "$1" "${3:-4}")" = "$2" ] || fail "$1 holds $(floats "$1" "${3:-4}"), not $2"
}

# New = left + 2 * right; both ends wrap.
shift=("$RUNG" stencil --weights "1 0 2" --device cpu --quiet)
expect 0 - "${shift[@]}" in.npy -o out.npy
same out.npy "12 9 18 6 192 144 288 96"
[ -s stderr ] && fail "--quiet was not quiet"
expect 2 "--means 'm.txt'" "${shift[@]}" in.npy -o out.npy --means m.txt
expect 0 - "${shift[@]}" in.npy --steps 0 -o out.npy
same out.npy "1 2 4 8 16 32 64 128"
expect 0 - "${shift[@]}" in.npy --steps 2 -o out.npy
same out.npy "24 48 21 42 384 768 336 672"
expect 0 - "${shift[@]}" in.npy --fixed 2 --edge constant:1 --divide 2 -o out.npy --means means.npy
same out.npy "1 2 9 3 16 32 144 33"
same means.npy "3.75 56.25"
expect 0 - "${shift[@]}" in.npy --edge nearest -o out.npy
same out.npy "5 9 18 20 80 144 288 320"
expect 0 - "${shift[@]}" in.npy --edge mirror -o out.npy
same out.npy "6 9 18 12 96 144 288 192"
expect 0 - "${shift[@]}" in.npy --edge reflect -o out.npy
same out.npy "5 9 18 20 80 144 288 320"
for rung in sweep scaled threads rowwise panel; do
  expect 0 - "${shift[@]}" in.npy --rung $rung -o out.npy
  same out.npy "12 9 18 6 192 144 288 96"
done

# As a filter, and over the input itself.
"${shift[@]}" - <in.npy >piped.npy || fail "a pipe was refused"
cat in.npy | "${shift[@]}" - | cat >piped2.npy
same piped.npy "12 9 18 6 192 144 288 96"
cmp piped.npy piped2.npy || fail "a pipe differs from a file"
cp in.npy self.npy
expect 0 - "${shift[@]}" self.npy -o self.npy
cmp piped.npy self.npy || fail "a file over itself differs"

# One dimension is one row and stays one dimension; Fortran order; big endian; other types.
npy '<f4' '(4,)' "$one$two$four$eight" >row.npy
expect 0 - "${shift[@]}" row.npy -o out.npy
same out.npy "12 9 18 6"
grep -qaF "'shape': (4,)" out.npy || fail "one dimension became two"
npy '<f4' '(4, 2)' "$one$two$four$eight$high" | sed "s/False,/True, /" >fortran.npy
expect 0 - "${shift[@]}" fortran.npy --weights "0 1 0" -o out.npy
same out.npy "1 16 2 32 4 64 8 128"
npy '>f4' '(4,)' '\x3f\x80\0\0\x40\0\0\0\x40\x80\0\0\x41\0\0\0' >big.npy
expect 0 - "${shift[@]}" big.npy -o out.npy
same out.npy "12 9 18 6"
npy '|u1' '(4,)' '\x01\x02\x04\x08' >bytes.npy
expect 0 - "${shift[@]}" bytes.npy --type f64 -o out.npy
same out.npy "12 9 18 6" 8
expect 0 - "${shift[@]}" in.npy --type f64 -o out.npy
same out.npy "12 9 18 6 192 144 288 96" 8
only in.npy out.npy means.npy piped.npy piped2.npy self.npy row.npy fortran.npy big.npy bytes.npy
finish
