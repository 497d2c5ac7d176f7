/* Launches what pack.cu does, on the simulated GPU too. */
#include "backend/cuda/boxes.cuh"
#include "sim/boxes.h"

template <typename Element, int N>
static rung_status launch(const rung_task *task, char *to, const char *from,
                          const pack_plan *plan) {
  const unsigned grid = pack_grid<Element>(plan, 1); /* few, so that each has several boxes */
  RUNG_LAUNCH(task, (pack_by_boxes<Element, N>), grid, PACK_THREADS, plan->shared, (Element *)to,
              (const Element *)from, plan->boxes);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(boxes_copy)(const rung_task *task) {
  const boxes_job *job = (const boxes_job *)task->problem;
  const rung_dimensions *d = &job->dimensions;
  const char *from = task->arrays[0].data + job->in_first * job->bytes;
  char *to = task->arrays[1].data + job->out_first * job->bytes;
  int64_t count = 1;
  for (int k = 0; k < d->count; k++) count *= d->at[k].extent;
  const pack_plan plan = pack_plan_of(d, to, from, count, job->bytes, 1);
  switch (job->bytes * plan.n) {
    case 1:
      return launch<uint8_t, 1>(task, to, from, &plan);
    case 4:
      return plan.n == 2 ? launch<uint16_t, 2>(task, to, from, &plan)
                         : launch<uint32_t, 1>(task, to, from, &plan);
    case 8:
      return launch<uint64_t, 1>(task, to, from, &plan);
    default:
      return plan.n == 2 ? launch<uint8_t, 2>(task, to, from, &plan)
                         : launch<uint16_t, 1>(task, to, from, &plan);
  }
}

/* ---- the plan alone ---- */

/* How many elements of an order are there, and how far from the first, in elements of memory. */
static int64_t reach_of(const pack_order *order, int64_t n, int64_t *farthest) {
  int64_t found = 0;
  for (uint32_t number = 0; number < order->across * order->down; number++) {
    uint32_t rest = number, index = 0;
    int64_t offset = 0;
    for (int k = 0; k < order->digits; k++) {
      const pack_digit *digit = &order->digit[k];
      index += rest % digit->extent * digit->index;
      offset += rest % digit->extent * (int64_t)digit->step;
      rest /= digit->extent;
    }
    if (index >= order->chunk) continue;
    found += n;
    if (offset > *farthest) *farthest = offset;
    if (-offset > *farthest) *farthest = -offset;
  }
  return found;
}

extern "C" rung_status RUNG_ENTRY(boxes_plan)(const rung_task *task) {
  const boxes_job *job = (const boxes_job *)task->problem;
  const rung_dimensions *d = &job->dimensions;
  int64_t count = 1, farthest = 0;
  for (int k = 0; k < d->count; k++) count *= d->at[k].extent;
  const pack_plan plan = pack_plan_of(d, NULL, NULL, count, job->bytes, job->processors);
  const int64_t loaded = reach_of(&plan.boxes.load, plan.n, &farthest),
                stored = reach_of(&plan.boxes.store, plan.n, &farthest);
  if (loaded == stored && loaded * plan.boxes.boxes >= count && farthest <= INT32_MAX &&
      plan.shared <= PACK_SHARED)
    return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED,
                   "boxes of %lld elements loaded, %lld stored, that reach %lld elements",
                   (long long)loaded, (long long)stored, (long long)farthest);
}
