#!/usr/bin/env bash
# run.sh openmpi|mpich LIBRARY INCLUDE COMPILER: builds ranks.c by that MPI, as C and as C++, and runs
# it. Exit status 77: it is not installed.
set -euo pipefail
mpi=$1 library=$2 include=$3 compiler=$4
here=$(cd "$(dirname "$0")" && pwd)
command -v "mpicc.$mpi" >/dev/null && command -v "mpirun.$mpi" >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Ranks are more than cores here, perhaps of root, and within a container.
export OMPI_CC=$compiler MPICH_CC=$compiler OMPI_MCA_rmaps_base_oversubscribe=1 \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=/bin/false \
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl=self,vader TMPDIR=$work
flags=(-std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror -I"$include")
"mpicc.$mpi" "${flags[@]}" "$here/ranks.c" -o "$work/ranks" "$library" \
  -Wl,-rpath,"$(dirname "$library")"
for ranks in 1 4; do
  timeout 120 "mpirun.$mpi" -n $ranks "$work/ranks" | tee "$work/said"
  grep -qx 'the same bits over ranks' "$work/said"
done
