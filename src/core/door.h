/* What every operation's door does once the arguments are validated: choose a rung, bring the
 * arrays into the form rungs take, run it, bring the results back.
 *
 * Rungs take arrays in the device's own memory whose last dimension, where there are two, is
 * contiguous. Arrays with other strides are packed into scratch and unpacked; host arrays given to
 * a GPU context are staged through its memory. Either goes a slice of rows at a time, so that no
 * call takes more memory than keeps the device busy, or than there is. An operation may ask for
 * arrays without gaps; those may have any number of dimensions. */
#ifndef RUNG_CORE_DOOR_H
#define RUNG_CORE_DOOR_H

#include "core/context.h"
#include "core/ladder.h"

typedef struct rung_job {
  const rung_operation *operation;
  rung_task task; /* problem, arrays as the caller gave them (count 0: not given); the rest is set
                     by rung_run() */
  rung_dtype dtype;
  int inputs, arrays;       /* arrays[0 ... inputs) are read, arrays[inputs ... arrays) written */
  const char *const *names; /* of the arrays, for sentences */
  unsigned compact; /* a bit for every array that rungs take without gaps and in row-major order
                       only, whatever its number of dimensions */
  unsigned shared;  /* a bit for every input that all rows have in common: it is never cut */
  bool whole;       /* no slices: the job is of one row, and dimension 0 is like any other */
  /* Dimension 0 of every array counts the same independent rows. Makes in *part the problem of
   * rows [first, first + rows); at most RUNG_PROBLEM_BYTES long. */
  int64_t rows;
  void (*slice)(const void *problem, int64_t first, int64_t rows, void *part);
} rung_job;

#ifdef __cplusplus
extern "C" {
#endif

/* Refuses arrays the context cannot reach, and a rung that cannot do the job, before anything is
 * written; then runs it. Host arrays on a GPU context: returns when the results are there. */
rung_status rung_run(rung_context *context, rung_job *job, rung_call *call);

/* Refuses an output that shares memory with another array, unless it is the very same view and that
 * is allowed. Arrays that were not given (count 0) share nothing. */
rung_status rung_refuse_overlap(rung_error *error, const char *name, const rung_view *output,
                                const char *other_name, const rung_view *other, bool same_allowed);

/* Refuses two arrays of one call of which one lies in host memory and one in a GPU's. */
rung_status rung_refuse_sides(rung_error *error, const char *name, const rung_view *view,
                              const char *other_name, const rung_view *other);

#ifdef __cplusplus
}
#endif
#endif
