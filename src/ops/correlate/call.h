/* A call of correlate, its arguments looked at: of a whole image, and of a rank's rows of one. */
#ifndef RUNG_CORRELATE_CALL_H
#define RUNG_CORRELATE_CALL_H

#include "core/plan.h"
#include "ops/correlate/correlate.h"

typedef struct correlate_call {
  rung_filter_model model;
  rung_view in, kernel, out;
  correlate_problem problem;
  void *taps; /* the problem's, for the caller to free */
} correlate_call;

/* Looks at all arguments and fills *call; whatever it returns, taps are NULL or to be freed. */
rung_status correlate_read(rung_error *error, const rung_filter_model *model, const DLTensor *in,
                           const DLTensor *kernel, const DLTensor *out, bool reversed,
                           correlate_call *call);

/* The job of a problem, which is borrowed: from `in` to `out`, views such as the call has them. */
rung_job correlate_job_of(correlate_problem *problem, const rung_view *in, const rung_view *out);

#endif
