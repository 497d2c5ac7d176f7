/* The rungs of a context's last jobs. Which one `auto` takes and what it needs follows from shapes
 * alone, and to find it out asks rungs from the last on, those that refuse for a sentence: longer
 * than it takes to launch a kernel. Where their arrays are taken as they lie, such jobs need no
 * plan at all (core/run.c). */
#ifndef RUNG_CORE_RECALL_H
#define RUNG_CORE_RECALL_H

#include "core/context.h"
#include "core/plan.h"

/* What a choice follows from: the operation, its problem, types, the call's wishes, and of every
 * array all but its address, of which how it is aligned is all that matters. Length 0: the call
 * names a rung, its problem points elsewhere, or it is too much to keep. */
typedef struct rung_recall_key {
  size_t length;
  char bytes[RUNG_RECALL_BYTES];
} rung_recall_key;

#ifdef __cplusplus
extern "C" {
#endif

void rung_recall_key_of(const rung_job *job, const rung_call *call, rung_recall_key *key);

/* NULL: not known. Valid until the next rung_remember(). */
const rung_recalled *rung_recall(const rung_context *context, const rung_recall_key *key);

/* Forgets the oldest. */
void rung_remember(rung_context *context, const rung_recall_key *key, const rung_row *row,
                   const rung_needs *needs);

#ifdef __cplusplus
}
#endif
#endif
