/* What the libraries of filters share. */
#include "peers/filters/filters.h"

#include <stdio.h>
#include <string.h>

#include "core/part.h"

bool peer_filters_one(const rung_task *task, char why[RUNG_REASON]) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  if (p->kernels == 1 && p->channels == 1 && p->rows == p->height && p->columns == p->width &&
      p->types.in == p->types.out && p->height <= INT32_MAX && p->width <= INT32_MAX &&
      p->kernel_rows % 2 == 1 && p->kernel_columns % 2 == 1 &&
      p->first_row == -(p->kernel_rows / 2) && p->first_column == -(p->kernel_columns / 2))
    return true;
  snprintf(why, RUNG_REASON,
           "as a peer it takes one kernel of odd sides, its origin in the middle, and a whole "
           "image of one channel to one of the same type");
  return false;
}

enum { TAPS_MOST = CORRELATE_TAPS * 8 };

rung_status peer_filters_taps(const rung_task *task, bool from_last, void **taps) {
  static char known[TAPS_MOST];
  char wanted[TAPS_MOST];
  static size_t known_bytes;
  static int device = -1;
  static void *memory;
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const rung_backend *backend = rung_backend_of(task->device->kind, task->error);
  const size_t count = (size_t)p->kernel_rows * (size_t)p->kernel_columns,
               each = p->types.accumulate == RUNG_F64 ? 8 : 4, bytes = count * each;
  if (!backend) return RUNG_NO_DEVICE;
  if (device != task->device->index) {
    device = -1;
    known_bytes = 0;
    const rung_status status = backend->allocate(task->state, sizeof known, &memory, task->error);
    if (status != RUNG_OK) return status;
    device = task->device->index;
  }
  for (size_t i = 0; i < count; i++)
    memcpy(wanted + i * each, (const char *)p->taps + (from_last ? count - 1 - i : i) * each, each);
  if (known_bytes != bytes || memcmp(known, wanted, bytes) != 0) {
    memcpy(known, wanted, bytes);
    known_bytes = 0;
    const rung_status status =
        backend->copy(task->state, memory, known, bytes, RUNG_TO_DEVICE, task->error);
    if (status != RUNG_OK) return status;
    known_bytes = bytes;
  }
  *taps = memory;
  return RUNG_OK;
}
