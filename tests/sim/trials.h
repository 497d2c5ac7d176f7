/* The kernels of these tests: each entry reads arrays[0] and writes arrays[1]; scratch is zeros. */
#ifndef TESTS_SIM_TRIALS_H
#define TESTS_SIM_TRIALS_H

#include "gpu_entries.h"

/* A launch to be refused, or not. */
typedef struct shape_trial {
  unsigned grid[3], block[3];
  size_t shared, allowed; /* bytes; allowed 0: not asked for */
} shape_trial;

enum {
  TRIAL_WARPS = 3,
  TRIAL_ARGUMENTS = 10, /* of shuffles */
  TRIAL_VOTERS = 71,    /* the last warp is not whole */
  TRIAL_VOTES = 16,
  TRIAL_BLOCKS = 40, /* more than are resident */
  TRIAL_COUNTERS = 12,
  TRIAL_TEXTURES = 150
};
static const int trial_arguments[TRIAL_ARGUMENTS] = {-33, -1, 0, 1, 5, 16, 31, 32, 33, 1000};

#ifdef __cplusplus
extern "C" {
#endif

/* where.cu */
RUNG_GPU_DECLARE(trial_places);
RUNG_GPU_DECLARE(trial_static_shared);
RUNG_GPU_DECLARE(trial_dynamic_shared);
RUNG_GPU_DECLARE(trial_constant);
RUNG_GPU_DECLARE(trial_barriers);
RUNG_GPU_DECLARE(trial_local);
RUNG_GPU_DECLARE(trial_clock);
RUNG_GPU_DECLARE(trial_own_place);
RUNG_GPU_DECLARE(trial_joined);
RUNG_GPU_DECLARE(trial_shape);
/* exchanges.cu */
RUNG_GPU_DECLARE(trial_shuffle_int);
RUNG_GPU_DECLARE(trial_shuffle_unsigned);
RUNG_GPU_DECLARE(trial_shuffle_long);
RUNG_GPU_DECLARE(trial_shuffle_float);
RUNG_GPU_DECLARE(trial_shuffle_double);
RUNG_GPU_DECLARE(trial_votes);
RUNG_GPU_DECLARE(trial_parts);
RUNG_GPU_DECLARE(trial_block_votes);
/* atomics.cu */
RUNG_GPU_DECLARE(trial_atomics_int);
RUNG_GPU_DECLARE(trial_atomics_unsigned);
RUNG_GPU_DECLARE(trial_atomics_long);
RUNG_GPU_DECLARE(trial_atomic_float);
RUNG_GPU_DECLARE(trial_atomic_double);
RUNG_GPU_DECLARE(trial_atomic_wraps);
/* waiting.cu */
RUNG_GPU_DECLARE(trial_lock_by_compare);
RUNG_GPU_DECLARE(trial_lock_by_exchange);
RUNG_GPU_DECLARE(trial_look_back);
RUNG_GPU_DECLARE(trial_whole_device);
/* numbers.cu */
RUNG_GPU_DECLARE(trial_bits);
RUNG_GPU_DECLARE(trial_conversions);
RUNG_GPU_DECLARE(trial_loads);
RUNG_GPU_DECLARE(trial_texture);
RUNG_GPU_DECLARE(trial_many_textures);
RUNG_GPU_DECLARE(trial_no_texture); /* problem: a rung_texture, its data in bytes of scratch */

#ifdef __cplusplus
}
#endif
#endif
