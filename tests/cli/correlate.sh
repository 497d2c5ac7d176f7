#!/usr/bin/env bash
# rung correlate and rung convolve on images whose results are known by hand.
# shellcheck source=tests/cli/common.bash
data=$(cd "$(dirname "$0")/../data/images" && pwd)
source "$(dirname "$0")/common.bash"
correlate=("$RUNG" correlate --device cpu --quiet)
convolve=("$RUNG" convolve --device cpu --quiet)
printf 'P2\n3 3\n255\n1 2 3\n4 5 6\n7 8 9\n' >in.pgm

# same NUMBERS: out.npy, of f32.
same() {
  [ "$(floats out.npy)" = "$1" ] || fail "out.npy holds $(floats out.npy), not $1"
}
# pixels FILE NUMBERS: a grey image of 8 bits.
pixels() {
  local found
  found=$(tail -c 9 "$1" | od -An -v -tu1 | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')
  [ "$found" = "$2" ] || fail "$1 holds $found, not $2"
}

# ---- kernels ------------------------------------------------------------------------------------

zeros=(--border constant:0)
expect 0 - "${correlate[@]}" in.pgm --kernel identity -o out.npy
same "1 2 3 4 5 6 7 8 9"
expect 0 - "${correlate[@]}" in.pgm --kernel '1 2' "${zeros[@]}" -o out.npy
same "2 5 8 8 14 17 14 23 26"
expect 0 - "${convolve[@]}" in.pgm --kernel '1 2' "${zeros[@]}" -o out.npy
same "4 7 6 13 16 12 22 25 18"
expect 0 - "${correlate[@]}" in.pgm --kernel '2;1' --border edge -o out.npy
same "3 6 9 6 9 12 15 18 21"
printf '# by hand\n0, 1, 0\n\n1 -4 1\n0 1 0\n' >laplace.txt
expect 0 - "${correlate[@]}" in.pgm --kernel laplace.txt "${zeros[@]}" -o out.npy
same "2 1 -4 -3 0 -7 -16 -11 -22"
mv out.npy wanted.npy
npy '<i2' '(3, 3)' '\0\0\1\0\0\0\1\0\xfc\xff\1\0\0\0\1\0\0\0' >laplace.npy
for kernel in laplace laplace.npy; do
  expect 0 - "${correlate[@]}" in.pgm --kernel $kernel "${zeros[@]}" -o out.npy
  cmp -s out.npy wanted.npy || fail "$kernel is another kernel: $(floats out.npy)"
done
expect 0 - "${correlate[@]}" in.pgm --kernel in.pgm --region 1,1,1,1 -o out.npy # an image as one
same "285"
expect 0 - "${correlate[@]}" in.pgm --kernel '2 2' --normalize "${zeros[@]}" -o out.npy
same "0.5 1.5 2.5 2 4.5 5.5 3.5 7.5 8.5"
for kernel in box3 box63 gauss4 gauss7:2.5 gauss4:0.01 gauss5:1e-320; do # of a sum of 1: a constant image stays
  printf 'P2\n3 1\n255\n77 77 77\n' >constant.pgm
  expect 0 - "${correlate[@]}" constant.pgm --kernel $kernel --clip -o out.pgm
  cmp -s <(tail -c 3 out.pgm) <(printf MMM) || fail "$kernel does not keep a constant image"
done
rm -f constant.pgm out.pgm laplace.* wanted.npy

# ---- fast math: which kernels are taken in two passes, and the same numbers where they are whole

for kernel in box63 gauss9:1.3 gauss31 box3 gauss5 sobel-x prewitt-y scharr-x '1 2 1;2 4 2'; do
  case $kernel in box63 | gauss9* | gauss31) rung=() ;; *) rung=(--rung separable) ;; esac # small ones only by name
  "$RUNG" correlate --device cpu in.pgm --kernel "$kernel" --math fast "${rung[@]}" -o out.npy \
    2>said || fail "$kernel, fast: $(cat said)"
  grep -q 'rung separable on' said || fail "$kernel is not taken in two passes: $(cat said)"
done
for kernel in laplace sharpen identity '1 2 3' '1;2;3' '1 2 1;2 4 3'; do
  "$RUNG" convolve --device cpu in.pgm --kernel "$kernel" --math fast -o out.npy 2>said ||
    fail "$kernel, fast: $(cat said)"
  grep -q 'rung threads on' said || fail "$kernel is no product: $(cat said)"
  expect 2 "expected: " "${convolve[@]}" in.pgm --kernel "$kernel" --math fast --rung separable -o no.npy
done
expect 0 - "${correlate[@]}" in.pgm --kernel sobel-y "${zeros[@]}" -o wanted.npy
expect 0 - "${correlate[@]}" in.pgm --kernel sobel-y "${zeros[@]}" --math fast -o out.npy
cmp -s out.npy wanted.npy || fail "sobel-y in two passes: $(floats out.npy)"
rm -f said wanted.npy

# ---- borders, origins, regions, strips ----------------------------------------------------------

border() {
  expect 0 - "${correlate[@]}" in.pgm --kernel '1 0 0' --border "$1" -o out.npy
  same "$2"
}
border constant:50 "50 1 2 50 4 5 50 7 8"
border edge "1 1 2 4 4 5 7 7 8"
border mirror-edge "1 1 2 4 4 5 7 7 8"
border mirror "2 1 2 5 4 5 8 7 8"
border wrap "3 1 2 6 4 5 9 7 8"
border numpy:reflect "2 1 2 5 4 5 8 7 8"
border scipy:reflect "1 1 2 4 4 5 7 7 8"
border torch:circular "3 1 2 6 4 5 9 7 8"
border opencv:reflect101 "2 1 2 5 4 5 8 7 8"
expect 0 - "${correlate[@]}" in.pgm --kernel '1 0 0' --origin 0,-1 -o out.npy
same "1 2 3 4 5 6 7 8 9"
expect 0 - "${correlate[@]}" in.pgm --kernel '1 0 0; 0 0 0; 0 0 0' --region 1,1,2,1 -o out.npy
same "1 4"
# A kernel that is larger than the image, in strips: the bits of the whole.
for rule in mirror mirror-edge wrap constant:3; do
  expect 0 - "${correlate[@]}" "$data/notes.png" --kernel gauss9 --border $rule -o wanted.npy
  for rows in 1 4; do
    expect 0 - "${correlate[@]}" "$data/notes.png" --kernel gauss9 --border $rule --strip $rows -o out.npy
    cmp -s out.npy wanted.npy || fail "$rule in strips of $rows: other bits"
  done
done
rm wanted.npy

# ---- integers -----------------------------------------------------------------------------------

expect 0 - "${correlate[@]}" in.pgm --kernel '-40' --clip -o out.pgm
pixels out.pgm "0 0 0 0 0 0 0 0 0"
expect 0 - "${correlate[@]}" in.pgm --kernel '40.5' --clip -o out.pgm
pixels out.pgm "40 81 122 162 202 243 255 255 255"
expect 0 - "${correlate[@]}" in.pgm --kernel identity --scale 3,8 -o out.pgm
pixels out.pgm "0 0 0 51 102 153 204 255 255"
expect 0 - "${correlate[@]}" in.pgm --kernel '-1' --scale auto --strip 1 -o out.pgm
pixels out.pgm "255 223 191 159 128 96 64 32 0"
expect 0 - "${correlate[@]}" in.pgm --kernel identity --clip --type u16 -o out.pgm
[ "$(wc -c <out.pgm)" -eq $((13 + 18)) ] || fail "not of 16 bits: $(head -c 20 out.pgm)"
# shellcheck disable=SC2002
cat in.pgm | "${correlate[@]}" - --kernel identity --clip -o png:- 2>said >out.png ||
  grep -q 'made without' said || fail "through pipes: $(cat said)"
if [ -s out.png ]; then
  expect 0 - "${correlate[@]}" out.png --kernel identity -o out.npy
  same "1 2 3 4 5 6 7 8 9"
fi
rm -f out.* said

# ---- what is refused ----------------------------------------------------------------------------

box=(in.pgm --kernel box3)
expect 2 "--kernel is not given" "${correlate[@]}" in.pgm -o out.npy
expect 2 "did you mean 'sobel-x'" "${correlate[@]}" in.pgm --kernel sobl-x -o out.npy
expect 2 "a side of 1 ... 63" "${correlate[@]}" in.pgm --kernel box64 -o out.npy
expect 2 "a side of 1 ... 63" "${correlate[@]}" in.pgm --kernel gauss3:-1 -o out.npy
expect 3 "row 2 has 1 numbers; expected: 2" "${correlate[@]}" in.pgm --kernel '1 2; 3' -o out.npy
expect 3 "holds no numbers" "${correlate[@]}" in.pgm --kernel '' -o out.npy
expect 3 "holds no numbers" "${correlate[@]}" in.pgm --kernel ' ; ' -o out.npy
expect 3 "1 ... 63" "${correlate[@]}" in.pgm --kernel "$(seq -s ' ' 64)" -o out.npy
expect 2 "sum is 0; expected" "${correlate[@]}" in.pgm --kernel laplace --normalize -o out.npy
expect 2 "sum is" "${correlate[@]}" in.pgm --kernel '.1 .2 -.3' --normalize -o out.npy
expect 2 "did you mean 'scipy:reflect'" "${correlate[@]}" "${box[@]}" --border scipy:reflekt -o out.npy
expect 2 "--border 'reflect' is not known" "${correlate[@]}" "${box[@]}" --border reflect -o out.npy
expect 2 "--origin: 2 rows; expected: -1 ... 1" "${correlate[@]}" "${box[@]}" --origin 2,0 -o out.npy
expect 2 "has 1 numbers; expected: 2" "${correlate[@]}" "${box[@]}" --origin 2 -o out.npy
expect 3 "no further than the image" "${correlate[@]}" "${box[@]}" --region 1,1,3,1 -o out.npy
expect 2 "--region '1,1,0,1'" "${correlate[@]}" "${box[@]}" --region 1,1,0,1 -o out.npy
expect 3 "expected: --clip" "${correlate[@]}" "${box[@]}" -o out.pgm
expect 2 "expected: one of them" "${correlate[@]}" "${box[@]}" --type u8 -o out.npy
expect 2 "--type u8 or --type u16" "${correlate[@]}" "${box[@]}" --type f32 --clip -o out.npy
expect 2 "one of them" "${correlate[@]}" "${box[@]}" --scale 0,1 --clip -o out.npy
expect 2 "both are the same" "${correlate[@]}" "${box[@]}" --scale 1,1 -o out.npy
expect 2 "reads the image twice" "${correlate[@]}" - --kernel box3 --scale auto -o out.npy
expect 2 "is the image itself" "${correlate[@]}" "${box[@]}" --clip -o ./in.pgm
expect 3 "holds i32; expected: u8" "${correlate[@]}" <(npy '<i4' '(1, 1)' '\0\0\0\0') --kernel box3 -o out.npy
expect 3 "has 1 dimensions" "${correlate[@]}" <(npy '|u1' '(1,)' '\0') --kernel box3 -o out.npy
expect 3 "truncated" "${correlate[@]}" <(head -c 12 in.pgm) --kernel box3 -o out.npy
head -c 16 in.pgm >cut.pgm
expect 3 "truncated" "${correlate[@]}" cut.pgm --kernel box3 --region 0,0,1,1 -o out.npy
rm cut.pgm
only in.pgm
finish
