#!/usr/bin/env bash
# run.sh openmpi|mpich LIBRARY TREE COMPILER: builds ranks.c, times.c and the example by that MPI, and
# runs them. Exit status 77: it is not installed.
set -euo pipefail
mpi=$1 library=$2 tree=$3 compiler=$4
here=$(cd "$(dirname "$0")" && pwd)
command -v "mpicc.$mpi" >/dev/null && command -v "mpirun.$mpi" >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Ranks are more than cores here, perhaps of root, and within a container.
export OMPI_CC=$compiler MPICH_CC=$compiler OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=/bin/false \
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl=self,vader UCX_LOG_LEVEL=error TMPDIR=$work
flags=(-std=c11 -O1 -Wall -Wextra -Werror -I"$tree/include")
link=("$library" -Wl,-rpath,"$(dirname "$library")")
"mpicc.$mpi" "${flags[@]}" "$here/ranks.c" -o "$work/ranks" "${link[@]}"
"mpicc.$mpi" "${flags[@]}" "$tree/examples/ranks.c" -o "$work/example" "${link[@]}"
"mpicc.$mpi" "${flags[@]}" "$here/times.c" -o "$work/times" "${link[@]}"
# The header is C++ too.
"mpicc.$mpi" -x c++ -std=c++17 -Wall -Wextra -Werror -I"$tree/include" -fsyntax-only \
  -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX - <<<'#include <rung/mpi.h>'
for ranks in 1 4; do
  timeout 120 "mpirun.$mpi" -n $ranks "$work/ranks" | tee "$work/said"
  grep -qx 'the same bits over ranks' "$work/said"
done
timeout 120 "mpirun.$mpi" -n 3 "$work/example" | tee "$work/said"
grep -qx 'the sum is 187500, over 3 ranks' "$work/said"
timeout 120 "mpirun.$mpi" -n 2 "$work/times" cpu 1000 3 | tee "$work/said"
[ "$(grep -cE '^(reduce|scan|histogram) of 1000 over 2 ranks: ' "$work/said")" = 3 ]
