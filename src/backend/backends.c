#include <string.h>

#include "backend/backend.h"

extern const rung_backend rung_cpu_backend;
#ifdef RUNG_WITH_CUDA
extern const rung_backend rung_cuda_backend;
#endif
#ifdef RUNG_WITH_SIM
extern const rung_backend rung_sim_backend;
#endif

const rung_backend *const rung_backends[RUNG_KINDS] = {
    [RUNG_CPU] = &rung_cpu_backend,
#ifdef RUNG_WITH_CUDA
    [RUNG_CUDA] = &rung_cuda_backend,
#endif
#ifdef RUNG_WITH_SIM
    [RUNG_SIM] = &rung_sim_backend,
#endif
};

static const char *const isa_names[RUNG_ISAS] = {"baseline", "avx2", "avx512"};

const char *rung_isa_name(rung_isa isa) {
  return isa_names[isa];
}

bool rung_isa_named(const char *name, rung_isa *isa) {
  for (int i = 0; i < RUNG_ISAS; i++) {
    if (strcmp(name, isa_names[i]) == 0) {
      *isa = (rung_isa)i;
      return true;
    }
  }
  return false;
}
