#include "core/recall.h"

#include <string.h>

enum { ALIGNED = 256 }; /* bytes: how an address lies to them may matter */

static void put(rung_recall_key *key, const void *from, size_t bytes) {
  if (key->length + bytes <= sizeof key->bytes) memcpy(key->bytes + key->length, from, bytes);
  key->length += bytes;
}

void rung_recall_key_of(const rung_job *job, const rung_call *call, rung_recall_key *key) {
  key->length = 0;
  if (job->elsewhere || job->stretch != NULL || !rung_takes_any(call->rung)) return;
  const int asked[] = {
      (int)call->math,    call->bits, call->block, (int)job->types.in, (int)job->types.accumulate,
      (int)job->types.out};
  put(key, &job->operation, sizeof job->operation);
  put(key, asked, sizeof asked);
  put(key, job->task.problem, job->problem_bytes);
  for (int a = 0; a < job->arrays; a++) {
    const rung_view *view = &job->task.arrays[a];
    const int kind[] = {view->count > 0, (int)view->dtype, (int)view->place,
                        view->device,    view->ndim,       (int)((uintptr_t)view->data % ALIGNED)};
    put(key, kind, sizeof kind);
    put(key, view->shape, (size_t)view->ndim * sizeof *view->shape);
    put(key, view->stride, (size_t)view->ndim * sizeof *view->stride);
  }
  if (key->length > sizeof key->bytes) key->length = 0;
}

const rung_recalled *rung_recall(const rung_context *context, const rung_recall_key *key) {
  if (key->length == 0) return NULL;
  for (int k = 0; k < RUNG_RECALLED; k++) {
    const rung_recalled *at = &context->recalled[k];
    if (at->length == key->length && memcmp(at->key, key->bytes, key->length) == 0) return at;
  }
  return NULL;
}

void rung_remember(rung_context *context, const rung_recall_key *key, const rung_row *row,
                   const rung_needs *needs) {
  if (key->length == 0) return;
  rung_recalled *at = &context->recalled[context->next_recalled];
  context->next_recalled = (context->next_recalled + 1) % RUNG_RECALLED;
  at->length = key->length;
  at->row = row;
  at->needs = *needs;
  memcpy(at->key, key->bytes, key->length);
}
