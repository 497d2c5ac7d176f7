/* copycat: out[i] = 2 * in[i], f32. An operation so plain that every fault of its rungs is on
 * purpose: each row but `honest` cheats in the way its name says, and the lab must catch it. */
#ifndef RUNG_CHEATS_COPYCAT_H
#define RUNG_CHEATS_COPYCAT_H

#include "gpu_entries.h"
#include "lab/case.h"

enum { COPYCAT_IN, COPYCAT_OUT };

typedef struct copycat_problem {
  int64_t n;
} copycat_problem;

#ifdef __cplusplus
extern "C" {
#endif

/* A line is "n=1000". */
extern const rung_operation copycat_operation;
extern const rung_cases copycat_cases;

/* The row of that name and family; NULL: none. */
const rung_row *copycat_row(rung_family family, const char *name);

/* Cheats remember: this is how often each has been called since copycat_forget(), and how often
 * one spared itself the work. */
extern int copycat_calls, copycat_spared;
void copycat_forget(void);

/* too-fast knows when it is watched: at its first call, and from this call on. */
extern int copycat_watched_from;

RUNG_CPU_DECLARE(copycat_honest);
RUNG_CPU_DECLARE(copycat_writes_nothing);
RUNG_CPU_DECLARE(copycat_writes_nan);
RUNG_CPU_DECLARE(copycat_overruns_by_one);
RUNG_CPU_DECLARE(copycat_underruns_by_one);
RUNG_CPU_DECLARE(copycat_overruns_scratch);
RUNG_CPU_DECLARE(copycat_litters_zeros);
RUNG_CPU_DECLARE(copycat_overruns_with_nan);
RUNG_CPU_DECLARE(copycat_leaves_last_block);
RUNG_CPU_DECLARE(copycat_right_only_first_time);
RUNG_CPU_DECLARE(copycat_fails_to_launch);
RUNG_CPU_DECLARE(copycat_stale_output);
RUNG_CPU_DECLARE(copycat_peeks_at_output);
RUNG_CPU_DECLARE(copycat_off_by_a_percent);
RUNG_CPU_DECLARE(copycat_writes_input);
RUNG_CPU_DECLARE(copycat_too_fast);

RUNG_GPU_DECLARE(copycat_honest);
RUNG_GPU_DECLARE(copycat_writes_nothing);
RUNG_GPU_DECLARE(copycat_writes_nan);
RUNG_GPU_DECLARE(copycat_overruns_by_one);
RUNG_GPU_DECLARE(copycat_leaves_last_block);
RUNG_GPU_DECLARE(copycat_right_only_first_time);
RUNG_GPU_DECLARE(copycat_fails_to_launch);
RUNG_GPU_DECLARE(copycat_launch_error_swallowed);
RUNG_GPU_DECLARE(copycat_other_stream);
RUNG_GPU_DECLARE(copycat_default_stream);
RUNG_GPU_DECLARE(copycat_waits_for_the_stream);
RUNG_GPU_DECLARE(copycat_stale_output);
RUNG_GPU_DECLARE(copycat_off_by_a_percent);
RUNG_GPU_DECLARE(copycat_writes_input);
RUNG_GPU_DECLARE(copycat_too_fast);

#ifdef __cplusplus
}
#endif
#endif
