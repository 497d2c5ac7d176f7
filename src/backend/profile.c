#include "backend/profile.h"

#include <stdlib.h>
#include <string.h>

const char *rung_counter_name(rung_counter counter) {
  static const char *const names[RUNG_COUNTERS] = {
      [RUNG_GLOBAL_LOADS] = "global_loads",
      [RUNG_GLOBAL_LOAD_BYTES] = "global_load_bytes",
      [RUNG_GLOBAL_LOAD_SECTORS] = "global_load_sectors",
      [RUNG_GLOBAL_STORES] = "global_stores",
      [RUNG_GLOBAL_STORE_BYTES] = "global_store_bytes",
      [RUNG_GLOBAL_STORE_SECTORS] = "global_store_sectors",
      [RUNG_GLOBAL_ACCESSES] = "global_accesses",
      [RUNG_SHARED_LOADS] = "shared_loads",
      [RUNG_SHARED_LOAD_CONFLICTS] = "shared_load_conflicts",
      [RUNG_SHARED_STORES] = "shared_stores",
      [RUNG_SHARED_STORE_CONFLICTS] = "shared_store_conflicts",
      [RUNG_GLOBAL_ATOMICS] = "global_atomics",
      [RUNG_SHARED_ATOMICS] = "shared_atomics",
      [RUNG_ATOMIC_DEPTH] = "atomic_depth",
      [RUNG_BARRIERS] = "barriers",
      [RUNG_EXCHANGES] = "exchanges",
      [RUNG_STEPS] = "steps",
      [RUNG_PARTIAL_STEPS] = "partial_steps",
      [RUNG_DIVERGENT_BRANCHES] = "divergent_branches",
      [RUNG_FLOPS] = "flops",
  };
  return names[counter];
}

void rung_counts_add(rung_counts *sum, const rung_counts *more) {
  for (int i = 0; i < RUNG_COUNTERS; i++) {
    if (sum->at[i] == RUNG_NOT_COUNTED || more->at[i] == RUNG_NOT_COUNTED)
      sum->at[i] = RUNG_NOT_COUNTED;
    else if (i != RUNG_ATOMIC_DEPTH)
      sum->at[i] += more->at[i];
    else if (sum->at[i] < more->at[i])
      sum->at[i] = more->at[i];
  }
}

void rung_profile_free(rung_profile *profile) {
  for (int i = 0; i < profile->count; i++) {
    free(profile->kernels[i].lines);
    free(profile->kernels[i].steps);
  }
  free(profile->kernels);
  free(profile->owned);
  memset(profile, 0, sizeof *profile);
}
