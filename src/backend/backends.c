#include <string.h>

#include "backend/backend.h"

static const char *const kind_names[RUNG_KINDS] = {"cpu", "cuda", "sim"};

const char *rung_kind_name(rung_kind kind) {
  return kind_names[kind];
}

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
