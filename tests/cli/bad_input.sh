#!/bin/bash
# What cannot be done is refused with a sentence and the right exit code, and leaves no file.
. "$(dirname "$0")/common.bash"

radiator=("$RUNG" radiator -o out.npy)
expect 2 "-n '0'" "${radiator[@]}" -n 0
expect 2 "-n '-3'" "${radiator[@]}" -n -3
expect 2 "-n 'many'; expected: a whole number" "${radiator[@]}" -n many
expect 2 "-n '12x'" "${radiator[@]}" -n 12x
expect 2 "-n ''" "${radiator[@]}" -n ''
expect 2 "-n '99999999999999999999'; expected: a whole number" "${radiator[@]}" -n 99999999999999999999
expect 2 "-m '3'" "${radiator[@]}" -m 3
expect 2 "-m '0'" "${radiator[@]}" -m 0
expect 2 "-m '1e3x'" "${radiator[@]}" -m 1e3x
expect 2 "-m '2^64'" "${radiator[@]}" -m 2^64
expect 2 "-p '-1'" "${radiator[@]}" -p -1
expect 2 "-b '0'" "${radiator[@]}" -b 0
expect 2 "-b '1025'" "${radiator[@]}" -b 1025
expect 2 "64 bits" "${radiator[@]}" -n 4000000000 -m 4000000000
expect 5 "GiB" "${radiator[@]}" -n 1000000 -m 1000000
expect 5 "PiB" "${radiator[@]}" -n 10000000 -m 10000000
expect 2 "--preset '1999'" "${radiator[@]}" --preset 1999
expect 2 "2016, 2019, 2021, 2023, 2025" "${radiator[@]}" --preset 1999
expect 2 "no rung 'magic'" "${radiator[@]}" --rung magic
expect 2 "does not run here" "${radiator[@]}" --rung onchip -g
expect 2 "leave nothing to run" "${radiator[@]}" --rung panel -g -c
expect 2 "nothing to run" "${radiator[@]}" -c -g
expect 2 "--type 'f16'" "${radiator[@]}" --type f16
expect 2 "--type 'i32'" "${radiator[@]}" --type i32
expect 2 "--math 'quick'" "${radiator[@]}" --math quick
expect 2 "--threads '0'" "${radiator[@]}" --threads 0
expect 2 'device is "tpu"' "${radiator[@]}" --device tpu
expect 4 "cuda" "${radiator[@]}" --device cuda:99
expect 3 "No such file" "$RUNG" radiator -o /nowhere/at/all/out.npy
expect 3 "directory" "$RUNG" radiator -o .
RUNG_ISA=mmx expect 2 "RUNG_ISA" "${radiator[@]}" -g
only

for verb in verify bench ladder; do
  expect 2 "no operation 'levitate'" "$RUNG" "$verb" levitate
done
expect 2 "no rung 'magic'" "$RUNG" verify --rung magic
expect 2 "nothing was verified" "$RUNG" verify stencil --device cpu --rung onchip
expect 2 "no rung of onchip" "$RUNG" bench stencil --device cpu --rung onchip
expect 2 "--block '1025'" "$RUNG" verify --block 1025
expect 2 "--blocks '0'" "$RUNG" bench --blocks 32,0
expect 2 "--samples '0'" "$RUNG" bench --samples 0
expect 2 "--time-out '-1'" "$RUNG" bench --time-out -1
expect 2 "has no range" "$RUNG" bench reduce --device cpu --sizes "n=9..3"
expect 2 "has no range" "$RUNG" bench reduce --device cpu --sizes "n=2^63..2^64"

expect 2 "has no range" "$RUNG" bench reduce --device cpu --sizes "n=..2 outer=1"
expect 2 "nonsense" "$RUNG" bench stencil --device cpu --sizes "nonsense=1"
expect 3 "No such file" "$RUNG" tour -o /nowhere/at/all
expect 3 "No such file" "$RUNG" bench -o /nowhere/at/all.json
expect 3 "No such file" "$RUNG" ladder -o /nowhere/at/all
only

# Files that are not what they say they are.
stencil=("$RUNG" stencil --weights "1 1 1" -o out.npy)
expect 3 "No such file" "${stencil[@]}" absent.npy
expect 3 "/nowhere" "${stencil[@]}" absent.npy -o /nowhere/out.npy # before anything is read
npy '<f4' '(4,)' '\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f' >good.npy
head -c 140 good.npy >bad.npy
expect 3 "bad.npy: truncated" "${stencil[@]}" bad.npy
head -c 50 good.npy >bad.npy
expect 3 "bad.npy: truncated" "${stencil[@]}" bad.npy
: >bad.npy
expect 3 "bad.npy: truncated" "${stencil[@]}" bad.npy
(cat good.npy && echo more) >bad.npy
expect 3 "more data" "${stencil[@]}" bad.npy
(printf 'PK\x03\x04\0\0' && cat good.npy) >bad.npy
expect 3 "no .npy file but a zip archive; expected: one as numpy.save()" "${stencil[@]}" bad.npy
printf '\x93NUMPY\x02\x00\xff\xff\xff\xff{' >bad.npy
expect 3 "4294967295" "${stencil[@]}" bad.npy
npy '<f4' '(4611686018427387904, 4)' '' >bad.npy
expect 3 "64 bits" "${stencil[@]}" bad.npy
npy '<f4' '(-4,)' '' >bad.npy
expect 3 "negative" "${stencil[@]}" bad.npy
npy '|O' '(4,)' '0123456789abcdef' >bad.npy
expect 3 "pickled" "${stencil[@]}" bad.npy
npy '<c8' '(2,)' '0123456789abcdef' >bad.npy
expect 3 "complex" "${stencil[@]}" bad.npy
npy '<i4' '(4,)' '0123456789abcdef' >bad.npy
expect 3 "--type f32" "${stencil[@]}" bad.npy
npy '<f4' '(1, 2, 2)' '0123456789abcdef' >bad.npy
expect 3 "3 dimensions" "${stencil[@]}" bad.npy
npy '<f4' '(0,)' '' >bad.npy
expect 3 "" "${stencil[@]}" bad.npy
only bad.npy good.npy

# Arguments of the stencil.
expect 2 "--weights is not given" "$RUNG" stencil good.npy -o out.npy
expect 2 "2 values" "$RUNG" stencil good.npy --weights "1 2" -o out.npy
expect 2 "1 values" "$RUNG" stencil good.npy --weights "1" -o out.npy
expect 2 "19 values" "$RUNG" stencil good.npy --weights "$(seq -s ' ' 19)" -o out.npy
expect 2 "--weights 'two' is no number" "$RUNG" stencil good.npy --weights "1 two 3" -o out.npy
expect 2 "--weights 'nan'" "$RUNG" stencil good.npy --weights "1 nan 3" -o out.npy
expect 2 "--weights '1e999'" "$RUNG" stencil good.npy --weights "1 1e999 3" -o out.npy
expect 2 "--divide '0'" "${stencil[@]}" good.npy --divide 0
expect 2 "--steps '-1'" "${stencil[@]}" good.npy --steps -1
expect 2 "fixed" "${stencil[@]}" good.npy --fixed 5
expect 2 "--edge 'round'" "${stencil[@]}" good.npy --edge round
expect 2 "--edge constant: 'x'" "${stencil[@]}" good.npy --edge constant:x
expect 2 "rung" "${stencil[@]}" good.npy --rung magic
expect 2 "where the result goes" "${stencil[@]}" good.npy --means out.npy
expect 2 "argument is missing" "$RUNG" stencil --weights "1 1 1"
only bad.npy good.npy
finish
