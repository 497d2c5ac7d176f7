#!/usr/bin/env bash
# command.sh openmpi|mpich RUNG COMPILER: the command over the ranks of that MPI: the bits of one
# process, one voice, and what is there when a rank fails. Exit status 77: there is no such MPI, or
# no part for it.
set -euo pipefail
mpi=$1 rung=$2 compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
command -v "mpirun.$mpi" >/dev/null && [ -e "$(dirname "$rung")/librung-mpi-$mpi.so" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "FAILED: line $LINENO"' ERR
cd "$work"
# Ranks are more than cores here, perhaps of root, and within a container.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 \
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=/bin/false UCX_LOG_LEVEL=error \
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl=self,vader TMPDIR=$work/tmp \
  XDG_CACHE_HOME=$work/.cache
mkdir tmp
"$compiler" -shared -fPIC -O1 -Wall -Wextra -D_GNU_SOURCE "$here/faults.c" -o faults.so -ldl
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
# launched WORD...: mpirun of these words; again where that itself is killed by SIGPIPE, as MPICH's
# 4.0 is when it writes to its proxy though all ranks ended without MPI (`mpirun -n 2 echo hi` on a
# busy machine, one time in ten).
launched() {
  local status=141 turn
  for ((turn = 0; turn < 50 && status == 141; turn++)); do
    status=0
    timeout 120 "mpirun.$mpi" "$@" >heard 2>heard.errors || status=$?
  done
  cat heard
  cat heard.errors >&2
  return $status
}
over() { launched -n "$@"; }

. "$here/../numbers.bash"
noise 1000000
numbers '<f4' 4 100003 >in.npy
numbers '>f8' 8 70001 >wide.npy
numbers '|u1' 1 3 >few.npy
numbers '<i4' 4 0 >empty.npy

# Two ranks of one job and five of the next: of either MPI others, for what is told apart by their
# number is the same code over both.
turn=$([ "$mpi" = openmpi ] && echo 0 || echo 1)
take_turns() {
  turn=$((1 - turn))
  ranks=$((2 + 3 * turn))
}

# The same bits, one voice, however many ranks.
cases=("reduce in.npy --op sum" "reduce wide.npy --op mean" "reduce few.npy --op max"
  "reduce empty.npy --op sum" "reduce in.npy --op sum --type f64"
  "histogram in.npy --bins 5 --range 0 1" "histogram few.npy --bytes" "histogram empty.npy --modulo 3")
for words in "${cases[@]}"; do
  # shellcheck disable=SC2086
  "$rung" $words --device cpu --quiet >alone 2>&1
  take_turns
  # shellcheck disable=SC2086
  over $ranks "$rung" $words --device cpu --quiet >together 2>&1 || fail "$words over $ranks ranks: $(cat together)"
  cmp -s alone together || fail "$words over $ranks ranks is $(head -c 300 together), alone $(head -c 300 alone)"
done
for words in in.npy "wide.npy --exclusive" "few.npy --op max" empty.npy; do
  # shellcheck disable=SC2086
  "$rung" scan $words --device cpu --quiet -o alone.npy
  rm -f together.npy
  take_turns
  # shellcheck disable=SC2086
  over $ranks "$rung" scan $words --device cpu --quiet -o together.npy >said 2>&1 ||
    fail "scan $words over $ranks ranks: $(cat said)"
  cmp alone.npy together.npy || fail "scan $words over $ranks ranks has other bytes"
done
# Every rank writes its rows, or elements, of one result; of pairs rank 0 writes all.
numbers '<f4' 4 1150 '23, 50' >grid.npy
numbers '<f4' 4 70001 >row.npy
numbers '|u1' 1 1860 '31, 20, 3' >image.npy
numbers '<f8' 8 520 '13, 40' >a.npy
numbers '>f8' 8 680 '40, 17' >b.npy
numbers '<f8' 8 221 '13, 17' >c.npy
numbers '<f8' 8 1500 '500, 3' >points.npy
numbers '<f8' 8 1497 '499, 3' >fewer.npy
cases=("stencil grid.npy --weights 1,2,1 --divide 4 --steps 10 --means means.npy"
  "stencil row.npy --weights 1,2,3,2,1 --divide 9 --steps 200 --fixed 1 --means means.npy"
  "correlate image.npy --kernel gauss5 --clip --border wrap" "convolve grid.npy --kernel sobel-x"
  "matmul a.npy b.npy" "matmul a.npy b.npy --c c.npy --beta 2" "pairs points.npy --width 0.1"
  "radiator -n 20 -m 30 -p 10" "radiator -n 2 -m 3000 -p 10 --type f64")
for words in "${cases[@]}"; do
  rm -f means.npy
  # shellcheck disable=SC2086
  "$rung" $words --device cpu --quiet -o alone.npy >said 2>&1 || fail "$words: $(cat said)"
  [ ! -e means.npy ] || mv means.npy means_alone.npy
  rm -f together.npy means.npy
  take_turns
  # shellcheck disable=SC2086
  over $ranks "$rung" $words --device cpu --quiet -o together.npy >said 2>&1 ||
    fail "$words over $ranks ranks: $(cat said)"
  cmp alone.npy together.npy || fail "$words over $ranks ranks has other bytes"
  [[ $words != *means.npy ]] || cmp means.npy means_alone.npy ||
    fail "$words over $ranks ranks has other means"
done
over 3 "$rung" reduce in.npy --op sum --device cpu -o sum.npy 2>said || fail "-o of a sum: $(cat said)"
"$rung" reduce in.npy --op sum --device cpu --quiet -o alone.npy
cmp sum.npy alone.npy || fail "-o of a sum has other bytes"
[ "$(grep -c '^rung reduce: rung' said)" = 1 ] || fail "the ranks say: $(cat said)"
over 3 "$rung" devices --quiet >said 2>&1 || fail "devices: $(cat said)"
[ "$(grep -cE '^rank [0-2]: host [^,]+, processors [0-9?][-0-9,?]*, GPU ' said)" = 3 ] || fail "devices: $(cat said)"
RUNG_RANKS=0 over 2 "$rung" reduce few.npy --op max --quiet --device cpu >said 2>&1 || fail "RUNG_RANKS=0: $(cat said)"
[ "$(wc -l <said)" = 2 ] || fail "RUNG_RANKS=0: $(cat said)"

# refused SENTENCE WORD...: mpirun of these words fails, and rank 0 says this once.
refused() {
  local sentence=$1
  shift
  if launched "$@" >said 2>&1; then fail "'$*' was not refused"; fi
  [ "$(grep -acFe "$sentence" said)" = 1 ] || fail "'$*' does not say '$sentence' once: $(cat said)"
}
refused "rung reduce: absent.npy: cannot be read: No such file" -n 3 "$rung" reduce absent.npy --op sum
refused "rung reduce: rank 1: absent.npy: cannot be read: No such file" \
  -n 1 "$rung" reduce in.npy --op sum : -n 1 "$rung" reduce absent.npy --op sum
refused "finds 560136 bytes, and rank 0 400140; expected: the same file" \
  -n 1 "$rung" reduce in.npy --op sum : -n 1 "$rung" reduce wide.npy --op sum
refused "rank 1 calls" -n 1 "$rung" reduce in.npy --op sum : -n 1 "$rung" reduce in.npy --op max
refused "rank 1: --op 'mad' is not known" -n 1 "$rung" reduce in.npy --op sum : -n 1 "$rung" reduce in.npy --op mad
refused "--axis is not taken over ranks" -n 2 "$rung" reduce in.npy --op sum --axis 0
refused "--rows is not taken over ranks" -n 2 "$rung" histogram in.npy --bytes --rows
refused "standard input comes to one rank" -n 2 "$rung" reduce - --op sum
refused "expected: -o OUT.npy" -n 2 "$rung" scan in.npy
refused "expected: a name that ends in .npy" -n 2 "$rung" scan in.npy -o out.png
refused "ranks, which this verb cannot share out" -n 2 "$rung" ladder
refused "--transpose-b is not taken over ranks" -n 2 "$rung" matmul a.npy b.npy --transpose-b -o c2.npy
refused "--region is not taken over ranks" -n 2 "$rung" correlate image.npy --kernel box3 --region 0,0,2,2 -o c2.npy
refused "-v is not taken over ranks" -n 2 "$rung" radiator -v
refused "--devices is not taken over ranks" -n 2 "$rung" reduce in.npy --op sum --devices cpu,cpu
refused "--check is not taken over ranks" -n 2 "$rung" pairs points.npy --width 1 --check
refused "N WIDTH is not taken over ranks" -n 2 "$rung" pairs 100 1
refused "a has 50 columns and the ranks' parts of b have 40 rows together" -n 2 "$rung" matmul grid.npy b.npy -o c2.npy --type f64
refused "rank 1 finds 12104 bytes, and rank 0 12128; expected: the same file" \
  -n 1 "$rung" pairs points.npy --width 1 : -n 1 "$rung" pairs fewer.npy --width 1
mkdir bare
cp "$rung" "$(dirname "$rung")"/librung.so.0 bare
refused "librung-mpi-$mpi.so is not here; expected: " -n 2 bare/rung reduce in.npy --op sum

# What fails in one rank is said, and leaves the old output whole and nothing beside it.
verb=(scan in.npy)
faulty() {
  FAULT=$1 FAULT_RANK=$2 LD_PRELOAD=$work/faults.so \
    over 3 "$rung" "${verb[@]}" --device cpu --quiet -o out.npy >said 2>&1 &&
    fail "$1 in rank $2 goes unseen"
  [ "$(cat out.npy)" = old ] || fail "$1 in rank $2 changes the output"
  # What is killed outright removes nothing, and an mpirun may kill all when one rank is gone.
  [[ $1 = die* ]] || [ -z "$(ls .rung-* 2>/dev/null)" ] || fail "$1 in rank $2 leaves $(ls .rung-*)"
  rm -f .rung-*
}
echo old >out.npy
for rank in 0 2; do
  faulty full $rank
  grep -qaF "rank $rank: output 'out.npy' cannot be written: No space left on device" said || fail "full: $(cat said)"
  faulty change $rank
  grep -qaF "in.npy: has changed while it was read" said || fail "change: $(cat said)"
  touch in.npy
  faulty die $rank
  faulty die-writing $rank
done
verb=(stencil grid.npy --weights 1,2,1 --means out_means.npy)
echo old >out_means.npy
faulty full 1
grep -qaE "rank 1: output 'out(_means)?\.npy' cannot be written: No space left on device" said || fail "full: $(cat said)"
[ "$(cat out_means.npy)" = old ] || fail "a full disk changes the means"
verb=(scan in.npy)
# Two ranks may say so at once, each in a line of its own.
export RUNG_RANKS_DEADLINE=5
faulty stop 1
grep -qaE "rank 1.* (is not heard of|sent 0 of [0-9]+ bytes).*: nothing has moved for 5 s" said || fail "stop: $(cat said)"
[ $failures = 0 ] && echo "the command over ranks of $mpi: all as it should be"
exit $((failures > 0))
