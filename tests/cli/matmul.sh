#!/bin/bash
# rung matmul on matrices whose product is known by hand.
. "$(dirname "$0")/common.bash"

# 1 2 / 4 8 and 2 4 / 8 1, f4
one='\0\0\x80\x3f' two='\0\0\0\x40' four='\0\0\x80\x40' eight='\0\0\0\x41'
npy '<f4' '(2, 2)' "$one$two$four$eight" >a.npy
npy '<f4' '(2, 2)' "$two$four$eight$one" >b.npy
npy '<f4' '(1, 2)' "$one$two" >row.npy
npy '<f4' '(2, 1, 2)' "$one$two$four$eight" >batch.npy
npy '<f4' '(2,)' "$one$two" >line.npy
npy '<f8' '(2, 2)' '\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x3f' >wide.npy
npy '|i1' '(1, 2)' '\x80\x80' >bytes.npy

matmul=("$RUNG" matmul --device cpu --quiet)
same() {
  [ "$(floats out.npy)" = "$1" ] || fail "out.npy holds $(floats out.npy), not $1"
}
expect 0 - "${matmul[@]}" a.npy b.npy -o out.npy
same "18 6 72 24"
grep -qaF "'shape': (2, 2)" out.npy || fail "the shape is another"
[ -s stderr ] && fail "--quiet was not quiet"
expect 0 - "${matmul[@]}" a.npy b.npy --transpose-b -o out.npy
same "10 10 40 40"
expect 0 - "${matmul[@]}" a.npy b.npy --transpose-a --alpha 0.5 -o out.npy
same "17 4 34 8"
expect 0 - "${matmul[@]}" a.npy b.npy --c b.npy -o out.npy
same "20 10 80 25"
expect 0 - "${matmul[@]}" a.npy b.npy --c b.npy --beta -2 --alpha 2 -o out.npy
same "32 4 128 46"
expect 0 - "${matmul[@]}" row.npy b.npy -o out.npy
same "18 6"
expect 0 - "${matmul[@]}" batch.npy b.npy -o out.npy
same "18 6 72 24"
grep -qaF "'shape': (2, 1, 2)" out.npy || fail "the batch is another"
for rung in naive loop-order blocked packed threads auto; do
  expect 0 - "${matmul[@]}" a.npy b.npy --rung $rung --threads 2 --math strict -o out.npy
  same "18 6 72 24"
done
for rung in digits packed-digits auto; do
  expect 0 - "${matmul[@]}" a.npy b.npy --rung $rung --math fixed --bits 15 -o out.npy
  same "18 6 72 24"
done
expect 0 "rung packed-digits on" "$RUNG" matmul a.npy b.npy --device cpu --math fixed -o out.npy
same "18 6 72 24"
# 2^-9 beside a 1, in a row and in a column: it becomes 0 in 8 bits, and stays in 15.
npy '<f4' '(2, 2)' "$one\0\0\0\x3b$one$one" >small.npy
for bits in "8 1" "15 0"; do
  for of in "A rows" "B columns"; do
    expect 0 "of ${of% *} ${bits#* } of 4 elements that are not 0 become 0, ${bits#* } change, those that do not become 0 by at most 0 of themselves; 0 ${of#* } have no scale" \
      "$RUNG" matmul small.npy small.npy --device cpu --math fixed --bits ${bits% *} --loss -o out.npy
  done
done
rm small.npy
expect 0 - "${matmul[@]}" a.npy wide.npy --type f32 -o out.npy
expect 0 "rung " "$RUNG" matmul a.npy b.npy --device cpu --math fast -o out.npy # strict: the CPU has no other
same "18 6 72 24"
expect 3 "b has elements of type float (DLPack code 2), 64 bits, 1 lanes; expected: f32" "${matmul[@]}" a.npy wide.npy -o lost.npy
expect 0 - "${matmul[@]}" bytes.npy bytes.npy --transpose-b -o out.npy
[ "$(od -An -t d4 -j 128 out.npy | tr -d ' ')" = 32768 ] || fail "bytes: $(od -An -t d4 -j 128 out.npy)"
expect 0 "rung naive on" "$RUNG" matmul a.npy b.npy --device cpu --rung naive -o out.npy
"${matmul[@]}" - b.npy <a.npy >piped.npy || fail "a pipe was refused"
cmp piped.npy out.npy || fail "a pipe has another result"
cp a.npy self.npy
expect 0 - "${matmul[@]}" self.npy b.npy -o self.npy
cmp self.npy out.npy || fail "a file over itself differs"
rm out.npy piped.npy self.npy

# What is refused, and leaves no file.
expect 3 "a has 2 columns and b has 1 rows" "${matmul[@]}" a.npy row.npy -o out.npy
expect 3 "line.npy: has 1 dimensions; expected: 2 or more" "${matmul[@]}" line.npy a.npy -o out.npy
expect 3 "--c row.npy has not the result's shape" "${matmul[@]}" a.npy b.npy --c row.npy -o out.npy
expect 2 "--beta is given without --c" "${matmul[@]}" a.npy b.npy --beta 2 -o out.npy
expect 2 "--alpha" "${matmul[@]}" a.npy b.npy --alpha x -o out.npy
expect 2 "whole number" "${matmul[@]}" bytes.npy bytes.npy --transpose-b --alpha 0.5 -o out.npy
for rung in tf32 tf32x3 bf16 f16; do
  expect 2 "rung \"$rung\" cannot do this: it runs on GPUs only" "${matmul[@]}" a.npy b.npy --rung $rung --math fast -o out.npy
  expect 2 "rung \"$rung\" does not keep the strict order" "${matmul[@]}" a.npy b.npy --rung $rung -o out.npy
done
expect 2 "rung is \"tf64\"" "${matmul[@]}" a.npy b.npy --rung tf64 --math fast -o out.npy
expect 2 "GPUs only" "${matmul[@]}" a.npy b.npy --rung tiled -o out.npy
expect 2 "--loss is given without --math fixed" "${matmul[@]}" a.npy b.npy --loss -o out.npy
expect 2 "--bits is given without --math fixed" "${matmul[@]}" a.npy b.npy --bits 23 -o out.npy
expect 2 "--bits '32'" "${matmul[@]}" a.npy b.npy --math fixed --bits 32 -o out.npy
expect 2 "rung \"digits\" cannot do this: it adds up in fixed point" "${matmul[@]}" a.npy b.npy --rung digits -o out.npy
expect 3 "expected: f16, bf16 or f32" "${matmul[@]}" bytes.npy bytes.npy --transpose-b --math fixed -o out.npy
expect 2 "argument is missing" "${matmul[@]}" a.npy -o out.npy
expect 2 "-o 'out.csv'" "${matmul[@]}" a.npy b.npy -o out.csv
expect 3 "No such file" "${matmul[@]}" a.npy absent.npy -o out.npy
# shellcheck disable=SC2016
expect 2 "'-' is standard input, which has been read to its end already; expected: once" \
  bash -c '"$@" - - -o out.npy <a.npy' sh "${matmul[@]}"
expect 4 cuda "${matmul[@]}" a.npy b.npy --device cuda:99 -o out.npy
only a.npy b.npy row.npy batch.npy line.npy wide.npy bytes.npy
finish
