/* A GPU's hardware counters, read by Nsight Compute's command (ncu), into the same profile that the
 * simulator makes. */
#ifndef RUNG_LAB_COUNTERS_H
#define RUNG_LAB_COUNTERS_H

#include "backend/backend.h"
#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs `program` (an argument list ended by NULL, the program's path first) under ncu and gathers
 * the counts of every kernel it launches. Its standard output is thrown away. RUNG_UNSUPPORTED
 * where ncu is not on the PATH or may not read the counters, RUNG_CHECK_FAILED where the program
 * fails; *profile is empty then. To be freed by rung_profile_free(). */
rung_status lab_counters(const char *const *program, rung_profile *profile, rung_error *error);

/* ncu's table, in comma-separated values with one column a metric: what lab_counters() reads. */
rung_status lab_counters_parse(const char *text, rung_profile *profile, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
