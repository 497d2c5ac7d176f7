/* A call of matmul, its arguments looked at: of whole matrices, and of a rank's rows of them. */
#ifndef RUNG_MATMUL_CALL_H
#define RUNG_MATMUL_CALL_H

#include "core/call.h"
#include "core/plan.h"
#include "ops/matmul/matmul.h"

/* Looks at all arrays. `known`: the call, as rung_call_read() leaves it; `parts`: b has some of the
 * rows that a has columns for. */
rung_status matmul_look(rung_error *error, const rung_call *known, const DLTensor *a,
                        const DLTensor *b, const DLTensor *c, bool parts, rung_view *left,
                        rung_view *right, rung_view *to);

/* The job of a product, and its problem, which it borrows; of views that fit. */
rung_status matmul_job_of(rung_error *error, const rung_call *known, double alpha,
                          const rung_view *a, const rung_view *b, double beta, const rung_view *c,
                          matmul_problem *problem, rung_job *job);

#endif
