#include "core/work.h"

#include <stdatomic.h>

#include "core/context.h"

bool rung_work_of(const rung_context *context, int64_t *number, double *part) {
  *number = 0;
  *part = 0;
  if (context->device.kind == RUNG_CPU) {
    rung_parallel_work(number, part);
    return true;
  }
  if (context->device.kind != RUNG_SIM) return false;
  const rung_work *work = (const rung_work *)context->state;
  const int64_t blocks = atomic_load(&work->blocks);
  *number = atomic_load(&work->launches);
  if (blocks > 0) *part = (double)atomic_load(&work->done) / (double)blocks;
  return true;
}
