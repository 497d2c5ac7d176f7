#!/bin/bash
# --devices: several devices of one process have the bits of one; and what is no list of them.
. "$(dirname "$0")/../numbers.bash"
. "$(dirname "$0")/common.bash"

noise 1000000
numbers '<f4' 4 100003 >in.npy
numbers '>f8' 8 70001 >wide.npy
numbers '|u1' 1 3 >few.npy
numbers '<i4' 4 0 >empty.npy
numbers '<f4' 4 1150 '23, 50' >grid.npy
numbers '<f4' 4 1150 '23, 50' True >turned.npy
numbers '<f4' 4 70001 >row.npy
numbers '|u1' 1 1860 '31, 20, 3' >image.npy
numbers '<f8' 8 520 '13, 40' >a.npy
numbers '>f8' 8 680 '40, 17' >b.npy
numbers '<f8' 8 221 '13, 17' >c.npy
numbers '<f8' 8 1500 '500, 3' >points.npy

lists=(cpu cpu,cpu,cpu all)
"$RUNG" reduce few.npy --op sum --device sim --quiet >/dev/null 2>&1 && lists+=(cpu,sim)

cases=("reduce in.npy --op sum" "reduce wide.npy --op mean" "reduce few.npy --op max"
  "reduce empty.npy --op sum" "reduce turned.npy --op sum --type f64"
  "histogram in.npy --bins 5 --range 0 1" "histogram few.npy --bytes" "histogram empty.npy --modulo 3"
  "scan in.npy" "scan wide.npy --exclusive" "scan few.npy --op max" "scan empty.npy"
  "stencil grid.npy --weights 1,2,1 --divide 4 --steps 10 --means means.npy"
  "stencil turned.npy --weights 1,2,1 --divide 4 --steps 10 --means means.npy"
  "stencil row.npy --weights 1,2,3,2,1 --divide 9 --steps 200 --fixed 1 --means means.npy"
  "correlate image.npy --kernel gauss5 --clip --border wrap" "convolve grid.npy --kernel sobel-x"
  "correlate turned.npy --kernel gauss3 --scale auto"
  "matmul a.npy b.npy" "matmul b.npy a.npy --transpose-a --transpose-b"
  "matmul a.npy b.npy --c c.npy --beta 2" "pairs points.npy --width 0.1"
  "radiator -n 20 -m 30 -p 10" "radiator -n 2 -m 3000 -p 10 --type f64")
for words in "${cases[@]}"; do
  rm -f means.npy
  # shellcheck disable=SC2086
  expect 0 - "$RUNG" $words --device cpu --quiet -o alone.npy
  [ ! -e means.npy ] || mv means.npy means_alone.npy
  for list in "${lists[@]}"; do
    rm -f together.npy means.npy
    # shellcheck disable=SC2086
    expect 0 - "$RUNG" $words --devices "$list" --threads 1 --quiet -o together.npy
    cmp alone.npy together.npy || fail "$words on $list has other bytes"
    [[ $words != *means.npy ]] || cmp means.npy means_alone.npy || fail "$words on $list has other means"
  done
done
expect 0 "3 devices, the first" "$RUNG" reduce in.npy --op sum --devices cpu,cpu,cpu
expect 0 "1 device, the first" "$RUNG" histogram in.npy --bins 3 --range 0 1 --devices cpu
"$RUNG" reduce - --op sum --devices cpu,cpu --quiet <in.npy >said || fail "standard input"
"$RUNG" reduce in.npy --op sum --device cpu --quiet | cmp - said || fail "standard input has other bits"

# refused CODE WORD OPTION...: nothing is written.
refused() {
  local code=$1 word=$2
  shift 2
  echo old >out.npy
  expect "$code" "$word" "$RUNG" "$@" -o out.npy
  [ "$(cat out.npy)" = old ] || fail "'$*' changes the output"
  [ -z "$(ls .rung-* 2>/dev/null)" ] || fail "'$*' leaves $(ls .rung-*)"
}
refused 2 'device is "gpu"; expected: "auto", "cpu"' scan in.npy --devices cpu,gpu
refused 2 'device is ""; expected: "auto", "cpu"' scan in.npy --devices cpu,,cpu
refused 2 'device is ""; expected: "auto", "cpu"' scan in.npy --devices cpu,
refused 2 'device is ""; expected: "auto", "cpu"' scan in.npy --devices ''
refused 2 'device is " cpu"; expected:' scan in.npy --devices 'cpu, cpu'
refused 2 'device is "all"; expected:' scan in.npy --devices cpu,all
refused 2 'expected: at most 64 names' scan in.npy --devices "cpu$(printf ',cpu%.0s' {1..64})"
refused 2 '--device and --devices are both given; expected: one of them' \
  scan in.npy --device cpu --devices cpu
refused 4 - scan in.npy --devices cpu,cuda:77
RUNG_RANKS_DEADLINE=soon refused 2 "RUNG_RANKS_DEADLINE is 'soon'; expected: more than 0 seconds" \
  scan in.npy --devices cpu,cpu
refused 2 '--axis is not taken over ranks' reduce grid.npy --op sum --axis 0 --devices cpu,cpu
refused 2 '--rows is not taken over ranks' histogram image.npy --bytes --rows --devices cpu,cpu
refused 2 '--region is not taken over ranks' \
  correlate image.npy --kernel box3 --region 0,0,2,2 --devices cpu,cpu
refused 2 '--strip is not taken over ranks' \
  correlate image.npy --kernel box3 --strip 3 --devices cpu,cpu
refused 2 '-a is not taken over ranks' radiator -a --devices cpu,cpu
refused 2 '--check is not taken over ranks' pairs points.npy --width 1 --check --devices cpu
refused 2 'N WIDTH is not taken over ranks' pairs 100 1 --devices cpu,cpu
refused 3 'has 2 dimensions; expected: 1, along which ranks share it out' \
  scan grid.npy --devices cpu,cpu
refused 3 "a has 40 columns and the ranks' parts of b have 13 rows together" \
  matmul a.npy a.npy --devices cpu,cpu
refused 2 'is not an option of this verb' verify reduce --devices cpu
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 RUNG_RANKS=0 \
  "$RUNG" reduce few.npy --op sum --devices cpu,cpu --quiet >/dev/null || fail "RUNG_RANKS=0"

# A signal ends it at once.
echo old >out.npy
timeout --preserve-status -k 20 -s INT 1 "$RUNG" radiator -n 2000 -m 2000 -p 1000000 \
  --devices cpu,cpu --quiet -o out.npy >/dev/null 2>&1
[ $? -eq 130 ] || fail "SIGINT"
[ "$(cat out.npy)" = old ] || fail "SIGINT: the old file was touched"
[ -z "$(ls .rung-* 2>/dev/null)" ] || fail "SIGINT leaves $(ls .rung-*)"
finish
