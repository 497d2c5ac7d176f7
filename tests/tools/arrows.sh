#!/usr/bin/env bash
# tools/arrows on a toy tree: passes it clean, and finds every violation planted in it.
set -euo pipefail
arrows=$(cd "$(dirname "$0")/../.." && pwd)/tools/arrows
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"

mkdir -p include/rung src/{core,backend/cpu,backend/cuda,lab,files,cli} src/ops/{a,b}/{cpu,cuda,lab}
touch include/rung/rung.h src/core/core.h src/lab/lab.h src/files/npy.h
touch src/backend/{backend,gpu}.h src/backend/cpu/lanes.h
touch src/ops/a/{a,inner}.h src/ops/b/b.h src/ops/b/cpu/body.h
echo '#include <cuda_runtime.h>' >src/backend/cuda/surface.h
echo 'return pthread_create(&thread, NULL, live, made) == 0;' >src/backend/cpu/parallel.c
printf '#include "%s"\n' lab/lab.h rung/rung.h files/npy.h rung_defaults.h >src/cli/main.c
printf '#include "%s"\n' core/core.h backend/backend.h rung_build.h >src/lab/lab.c
printf '#include "%s"\n' core/core.h a.h ../b/b.h inner.h backend/cpu/lanes.h >src/ops/a/a.c
printf '#include "%s"\n' core/core.h ops/b/b.h cpu/body.h >src/ops/b/b.c
printf '#include "%s"\n' core/core.h ops/a/a.h ops/b/b.h >src/ops/operations.c
printf '#include <stdint.h>\n#include "%s"\n' backend/gpu.h >src/ops/a/cuda/k.cu
touch src/lab/case.h src/ops/{a,b}/lab/cases.h
printf '#include "%s"\n' lab/case.h ops/a/a.h ops/a/lab/cases.h ops/b/lab/cases.h >src/ops/a/lab/checker.c
printf '#include "%s"\n' ops/a/lab/cases.h ops/b/lab/cases.h >src/ops/cases.c
mkdir -p python/src
echo '#include "binding.h"' >python/src/sum.c
"$arrows" . || { echo "arrows: a clean tree was refused"; exit 1; }

# planted FILE LINE TEXT: the file that holds TEXT at LINE must be named, and nothing else.
count=0
planted() {
  local kept=
  count=$((count + 1))
  [ ! -e "$1" ] || { kept=$(mktemp -p .); cp "$1" "$kept"; }
  printf '%s\n' "$3" >>"$1"
  if said=$("$arrows" .) || [ "$(wc -l <<<"$said")" != 1 ] || [[ $said != "$1:$2: "* ]]; then
    echo "arrows: planted '$3' at $1:$2, was told: '$said'"
    exit 1
  fi
  if [ -n "$kept" ]; then mv "$kept" "$1"; else rm "$1"; fi
}
planted src/cli/main.c 5 '#include "core/core.h"'
planted src/cli/main.c 5 '#include "backend/backend.h"'
planted src/cli/main.c 5 '#include "ops/a/a.h"'
planted src/lab/lab.c 4 '#include "ops/a/a.h"'
planted src/ops/a/a.c 6 '#include "lab/cases.h"'
planted src/ops/a/a.c 6 '#include "lab/case.h"'
planted src/ops/operations.c 4 '#include "ops/a/lab/cases.h"'
planted src/ops/a/lab/checker.c 5 '#include "lab/lab.h"'
planted src/ops/a/lab/checker.c 5 '#include "cli/cli.h"'
planted src/lab/lab.c 4 '# include "files/npy.h"'
planted src/lab/lab.c 4 '#include "backend/gpu.h"'
planted src/files/npy.c 1 '#include "lab/lab.h"'
planted src/files/npy.c 1 '#include <jansson.h>'
planted src/core/core.c 1 '#include "ops/a/a.h"'
planted src/core/core.c 1 '#include "backend/cpu/lanes.h"'
planted src/core/core.c 1 '#include "rung_build.h"'
planted python/src/sum.c 2 '#include "core/core.h"'
planted src/backend/cpu/cpu.c 1 '#include "../../ops/a/a.h"'
planted src/backend/cpu/cpu.c 1 '#include <cuda.h>'
planted src/ops/a/a.c 6 '#include "ops/b/cpu/body.h"'
planted src/ops/a/a.c 6 '#include "lab/lab.h"'
planted src/ops/a/a.c 6 '#include "backend/cuda/surface.h"'
planted src/ops/a/a.c 6 '#include "nowhere.h"'
planted src/ops/operations.c 4 '#include "ops/a/inner.h"'
planted src/ops/operations.c 4 '#include "backend/cpu/lanes.h"'
planted src/ops/a/cuda/k.cu 3 '#include "backend/cuda/surface.h"'
planted src/ops/a/cuda/k.cu 3 '#include "backend/backend.h"'
planted src/ops/a/cuda/k.cu 3 '#include <cooperative_groups.h>'
planted src/ops/a/cuda/k.cu 3 '#include <cuda_fp16.h>'
planted src/ops/a/cuda/k.cu 3 '#include <vector>'
planted src/ops/a/cpu/r.c 1 '#pragma omp simd'
planted src/lab/lab.c 4 'int n = omp_get_max_threads();'
planted src/cli/main.c 5 'json_t *all = json_pack("{s:i}", "a", 1);'
planted src/lab/lab.c 4 '  pthread_create(&thread, NULL, live, made);'
seq -f '/* line %g */' 800 >src/core/long.h
"$arrows" . || { echo "arrows: 800 lines were refused"; exit 1; }
planted src/core/long.h 801 '/* one more */'
echo "arrows: $count planted violations found"
