#!/bin/bash
# rung reduce on arrays whose result is known by hand.
data=$(cd "$(dirname "$0")/../data/images" && pwd)
. "$(dirname "$0")/common.bash"

# 1 2 4 8 / 16 32 64 128, f4
one='\0\0\x80\x3f' two='\0\0\0\x40' four='\0\0\x80\x40' eight='\0\0\0\x41'
high='\0\0\x80\x41\0\0\0\x42\0\0\x80\x42\0\0\0\x43'
npy '<f4' '(2, 4)' "$one$two$four$eight$high" >in.npy
npy '|u1' '(2, 3)' '\x01\x02\x03\xff\xff\xfa' >bytes.npy
npy '<i4' '(3,)' '\xff\xff\xff\xff\x05\0\0\0\xfe\xff\xff\xff' >small.npy
npy '<u8' '(1,)' '\xff\xff\xff\xff\xff\xff\xff\xff' >large.npy
npy '<f4' '(0,)' '' >empty.npy
npy '<u2' '(2,)' '\x01\0\x02\0' >short.npy
npy '|i1' '(3,)' '\x80\x80\x7f' >signed.npy
npy '<f2' '(4,)' '\0\x68\0\x3c\0\x3c\0\x3c' >half.npy # 2048, 1, 1, 1

reduce=("$RUNG" reduce --device cpu --quiet)
# values EXPECTED: standard output of the last expect(), on one line.
values() {
  [ "$(tr '\n' ' ' <stdout)" = "$1 " ] || fail "printed $(tr '\n' ' ' <stdout), not $1"
}
expect 0 - "${reduce[@]}" in.npy --op sum
values 255
[ -s stderr ] && fail "--quiet was not quiet"
expect 0 - "${reduce[@]}" in.npy --op min
values 1
expect 0 - "${reduce[@]}" in.npy --op max
values 128
expect 0 - "${reduce[@]}" in.npy --op mean
values 31.875
expect 0 - "${reduce[@]}" in.npy --op sum --axis 0
values "17 34 68 136"
expect 0 - "${reduce[@]}" in.npy --op sum --axis 1
values "15 240"
expect 0 - "${reduce[@]}" in.npy --op max --axis -2
values "16 32 64 128"
for rung in serial lanes threads auto; do
  expect 0 - "${reduce[@]}" in.npy --op mean --axis=-1 --rung $rung --threads 2 --math strict --block 64
  values "3.75 60"
done
expect 0 - "${reduce[@]}" bytes.npy --op sum
values 766
expect 0 - "${reduce[@]}" bytes.npy --op mean --axis 1
values "2 253.33333333333334"
expect 0 - "${reduce[@]}" bytes.npy --op min --axis 0
values "1 2 3"
expect 0 - "${reduce[@]}" small.npy --op sum
values 2
expect 0 - "${reduce[@]}" small.npy --op min
values -2
expect 0 - "${reduce[@]}" small.npy --op mean --type f32
values 0.666666687
expect 0 - "${reduce[@]}" large.npy --op sum
values 18446744073709551615
expect 0 - "${reduce[@]}" short.npy --op sum
values 3
expect 0 - "${reduce[@]}" signed.npy --op sum
values -129
expect 0 - "${reduce[@]}" signed.npy --op min
values -128
expect 0 - "${reduce[@]}" half.npy --op sum # 2051 lies between two halves
values 2052
expect 0 - "${reduce[@]}" half.npy --op max --type f32
values 2048
expect 0 - "${reduce[@]}" empty.npy --op sum
values 0
expect 0 - "${reduce[@]}" empty.npy --op mean
grep -qi nan stdout || fail "the mean of nothing is $(cat stdout)"
expect 0 "rung serial on" "$RUNG" reduce in.npy --op sum --device cpu --rung serial

# Into files, as a filter, and as JSON.
expect 0 - "${reduce[@]}" in.npy --op sum --axis 0 -o out.npy
[ "$(floats out.npy)" = "17 34 68 136" ] || fail "out.npy holds $(floats out.npy)"
grep -qaF "'shape': (4,)" out.npy || fail "the axis was not left out"
[ -s stdout ] && fail "printed what went into a file"
expect 0 - "${reduce[@]}" in.npy --op mean -o out.npy
grep -qaF "'shape': ()" out.npy || fail "one number has dimensions"
[ "$(floats out.npy)" = 31.875 ] || fail "out.npy holds $(floats out.npy)"
expect 0 - "${reduce[@]}" bytes.npy --op sum -o out.npy
grep -qaF "'descr': '<u8'" out.npy || fail "the sum of bytes is no u64"
"${reduce[@]}" - --op sum --axis 1 -o - <in.npy >piped.npy || fail "a pipe was refused"
[ "$(floats piped.npy)" = "15 240" ] || fail "piped.npy holds $(floats piped.npy)"
expect 0 - "${reduce[@]}" in.npy --op max --axis 0 --json
for word in '"op": "max"' '"type": "f32"' '"rung": "threads"' '128.0'; do prints "$word"; done
expect 0 - "${reduce[@]}" large.npy --op sum --json -o out.json
grep -qF '"18446744073709551615"' out.json || fail "JSON lost digits: $(cat out.json)"
expect 0 - "${reduce[@]}" empty.npy --op mean --json
prints '"nan"'
rm out.npy out.json piped.npy

# What is refused, and leaves no file.
expect 2 "--op is not given" "${reduce[@]}" in.npy -o out.npy
expect 2 "--op 'median' is not known" "${reduce[@]}" in.npy --op median -o out.npy
expect 2 "--axis 2: in.npy has 2 dimensions; expected: -2 ... 1" "${reduce[@]}" in.npy --op sum --axis 2 -o out.npy
expect 2 "--axis -3: in.npy has 2" "${reduce[@]}" in.npy --op sum --axis -3 -o out.npy
expect 2 "--axis '8'" "${reduce[@]}" in.npy --op sum --axis 8 -o out.npy
expect 2 "--axis 'x'; expected: a whole number" "${reduce[@]}" in.npy --op sum --axis x -o out.npy
expect 2 "magic" "${reduce[@]}" in.npy --op sum --rung magic -o out.npy
expect 2 "GPUs only" "${reduce[@]}" in.npy --op sum --rung vector -o out.npy
expect 2 "argument is missing" "${reduce[@]}" --op sum
expect 3 "minimum" "${reduce[@]}" empty.npy --op min -o out.npy
expect 2 "u8, i8, u16, i16, i32, u32, i64, u64, f16, f32 or f64" "${reduce[@]}" in.npy --op sum --type bf16 -o out.npy
expect 3 "No such file" "${reduce[@]}" absent.npy --op sum -o out.npy
expect 3 "/nowhere" "${reduce[@]}" absent.npy --op sum -o /nowhere/out.npy # before anything is read
head -c 140 in.npy >bad.npy
expect 3 "bad.npy: truncated" "${reduce[@]}" bad.npy --op sum -o out.npy
expect 4 cuda "${reduce[@]}" in.npy --op sum --device cuda:99 -o out.npy
only in.npy bytes.npy small.npy large.npy empty.npy short.npy signed.npy half.npy bad.npy
# Images, by what they begin with, whatever their name; out as another format, or not at all.
rm -f ./*
"$RUNG" reduce "$data/palette.png" --op sum --device cpu >/dev/null 2>said
if ! grep -q 'was made without\|cannot be loaded' said; then
  cp "$data/interlaced.png" named.npy
  # lightest OUT [IN]: every pixel's lightest channel.
  lightest() { "$RUNG" reduce "${2:--}" --op max --axis 2 -o "$1" --device cpu --quiet <"$data/tiles.tiff"; }
  lightest wanted.npy "$data/palette.png"
  lightest a.pgm named.npy
  lightest - >b.npy
  lightest png:- >c
  lightest tiff:- >d.npy
  # shellcheck disable=SC2002
  for file in palette.png tiles.tiff; do # a pipe, which cannot seek
    cat "$data/$file" | "$RUNG" reduce - --op max --axis 2 -o piped.npy --device cpu --quiet
    cmp -s piped.npy wanted.npy || fail "$file through a pipe is another image"
  done
  lightest png:- a.pgm 2>/dev/null && fail "a grey image has no axis 2"
  for file in a.pgm b.npy c d.npy; do
    "$RUNG" scan $file -o sums.npy --type u16 --device cpu --quiet
    "$RUNG" scan wanted.npy -o wanted_sums.npy --type u16 --device cpu --quiet
    cmp -s sums.npy wanted_sums.npy || fail "$file: another image"
  done
  cp c picture.png
  rm -f a.pgm b.npy c d.npy piped.npy named.npy said ./*sums.npy wanted.npy
  expect 3 "cannot hold f32; expected: u8 or u16" "$RUNG" reduce "$data/palette.png" --op mean \
    --axis 2 --type f32 -o out.png --device cpu
  expect 3 "holds images" "$RUNG" reduce picture.png --op max --axis 1 -o out.png --device cpu
  head -c 60 picture.png >cut.png
  expect 3 "cut.png: truncated" "$RUNG" reduce cut.png --op sum
  only cut.png picture.png
fi

# A NaN's sign means nothing.
npy '<f4' '(0,)' '' >none.npy
expect 0 - "$RUNG" reduce none.npy --op mean --device cpu
[ "$(cat stdout)" = nan ] || fail "the mean of nothing is '$(cat stdout)'"
rm none.npy
finish
