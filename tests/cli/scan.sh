#!/bin/bash
# rung scan on arrays whose result is known by hand.
. "$(dirname "$0")/common.bash"

# 1 2 4 8 / 16 32 64 128, f4
one='\0\0\x80\x3f' two='\0\0\0\x40' four='\0\0\x80\x40' eight='\0\0\0\x41'
high='\0\0\x80\x41\0\0\0\x42\0\0\x80\x42\0\0\0\x43'
npy '<f4' '(2, 4)' "$one$two$four$eight$high" >in.npy
npy '<i4' '(3,)' '\xff\xff\xff\xff\x05\0\0\0\xfe\xff\xff\xff' >small.npy
npy '<f4' '(0,)' '' >empty.npy
npy '<f4' '()' "$one" >point.npy
npy '|u1' '(3,)' '\x01\x02\x03' >bytes.npy

scan=("$RUNG" scan --device cpu --quiet)
same() {
  [ "$(floats "$1" "${3:-4}")" = "$2" ] || fail "$1 holds $(floats "$1" "${3:-4}"), not $2"
}
whole() {
  local found
  found=$(od -An -v -t d4 -j 128 -w65536 out.npy | tr -s ' ' | sed 's/^ //')
  [ "$found" = "$1" ] || fail "out.npy holds $found, not $1"
}
expect 0 - "${scan[@]}" in.npy -o out.npy
same out.npy "1 3 7 15 16 48 112 240"
grep -qaF "'shape': (2, 4)" out.npy || fail "the shape changed"
[ -s stderr ] && fail "--quiet was not quiet"
expect 0 - "${scan[@]}" in.npy --exclusive -o out.npy
same out.npy "0 1 3 7 0 16 48 112"
for axis in 0 -2; do
  expect 0 - "${scan[@]}" in.npy --axis $axis -o out.npy
  same out.npy "1 2 4 8 17 34 68 136"
done
expect 0 - "${scan[@]}" in.npy --axis=1 --exclusive -o out.npy
same out.npy "0 1 3 7 0 16 48 112"
expect 0 - "${scan[@]}" in.npy --op min -o out.npy
same out.npy "1 1 1 1 16 16 16 16"
expect 0 - "${scan[@]}" in.npy --op max --exclusive -o out.npy
same out.npy "-inf 1 2 4 -inf 16 32 64"
for rung in serial tiles threads auto; do
  expect 0 - "${scan[@]}" in.npy --rung $rung --threads 2 --math strict --block 64 -o out.npy
  same out.npy "1 3 7 15 16 48 112 240"
done
expect 0 - "${scan[@]}" small.npy -o out.npy
whole "-1 4 2"
expect 0 - "${scan[@]}" small.npy --op min --exclusive -o out.npy
whole "2147483647 -1 -1"
expect 0 - "${scan[@]}" bytes.npy --type f64 -o out.npy
same out.npy "1 3 6" 8
expect 0 - "${scan[@]}" empty.npy -o out.npy
same out.npy ""
npy '<f4' '(4, 2)' "$one$two$four$eight$high" | sed "s/False,/True, /" >fortran.npy
expect 0 - "${scan[@]}" fortran.npy -o out.npy
same out.npy "1 17 2 34 4 68 8 136"
expect 0 "rung serial on" "$RUNG" scan in.npy --device cpu --rung serial -o out.npy

# As a filter, over the input itself, and the last is what `reduce` says.
"${scan[@]}" - <in.npy >piped.npy || fail "a pipe was refused"
same piped.npy "1 3 7 15 16 48 112 240"
cp in.npy self.npy
expect 0 - "${scan[@]}" self.npy -o self.npy
cmp piped.npy self.npy || fail "a file over itself differs"
expect 0 - "$RUNG" reduce in.npy --op sum --axis 1 --device cpu --quiet
[ "$(tr '\n' ' ' <stdout)" = "15 240 " ] || fail "reduce says $(cat stdout)"
rm out.npy piped.npy self.npy

# What is refused, and leaves no file.
expect 2 "-o 'out.csv'" "${scan[@]}" in.npy -o out.csv
expect 2 "--op 'mean' is not known" "${scan[@]}" in.npy --op mean -o out.npy
expect 2 "--axis '9'" "${scan[@]}" in.npy --axis 9 -o out.npy
expect 2 "--axis 2: in.npy has 2 dimensions; expected: -2 ... 1" "${scan[@]}" in.npy --axis 2 -o out.npy
expect 2 "'--exclusive=1' takes no value" "${scan[@]}" in.npy --exclusive=1 -o out.npy
expect 2 "magic" "${scan[@]}" in.npy --rung magic -o out.npy
expect 2 "GPUs only" "${scan[@]}" in.npy --rung single-pass -o out.npy
expect 2 "argument is missing" "${scan[@]}" -o out.npy
expect 3 "in has 0 dimensions" "${scan[@]}" point.npy -o out.npy
expect 2 "expected: u8, i8, u16, i16, i32, u32, i64, u64, f16, f32 or f64" "${scan[@]}" in.npy --type bf16 -o out.npy
expect 3 "No such file" "${scan[@]}" absent.npy -o out.npy
expect 3 "/nowhere" "${scan[@]}" absent.npy -o /nowhere/out.npy # before anything is read
head -c 140 in.npy >bad.npy
expect 3 "bad.npy: truncated" "${scan[@]}" bad.npy -o out.npy
expect 4 cuda "${scan[@]}" in.npy --device cuda:99 -o out.npy
only in.npy small.npy empty.npy point.npy bytes.npy fortran.npy bad.npy
finish
