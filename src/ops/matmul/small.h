/* Small products by a short cut: a plan costs more than they do. */
#ifndef RUNG_MATMUL_SMALL_H
#define RUNG_MATMUL_SMALL_H

#include "core/context.h"

/* C = A B of two plain matrices that the CPU reads and writes as they lie, by the rung that `auto`
 * takes, with its bits. false: nothing was done, for the call is of another kind, or to be refused.
 */
bool matmul_small(const rung_context *context, double alpha, const DLTensor *a, const DLTensor *b,
                  double beta, const DLTensor *c, rung_call *call);

#endif
