/* What the tests of views with gaps share: the types, numbers that views lie in, and their tasks.
 */
#ifndef TESTS_REDUCE_GAPS_H
#define TESTS_REDUCE_GAPS_H

#include "ops/reduce/reduce.h"

#include <stdlib.h>

#include "core/dtype.h"
#include "ops/reduce/outside.h"
#include "ops/view.h"

enum { ROOM = 3 << 20 };
static uint64_t *numbers;

static const DLDataType types[] = {{kDLFloat, 32, 1},  {kDLFloat, 64, 1}, {kDLFloat, 16, 1},
                                   {kDLBfloat, 16, 1}, {kDLUInt, 8, 1},   {kDLInt, 8, 1},
                                   {kDLUInt, 16, 1},   {kDLInt, 16, 1},   {kDLInt, 32, 1},
                                   {kDLUInt, 32, 1},   {kDLInt, 64, 1},   {kDLUInt, 64, 1}};
enum { TYPES = sizeof types / sizeof *types };

/* A reduction of such a view, as rungs are asked whether they take it. */
static inline rung_task task_of(const view *v, const reduce_problem *problem) {
  rung_task task = {.problem = problem, .arrays = {{.ndim = v->ndim, .count = count_of(v)}}};
  rung_view *in = &task.arrays[REDUCE_IN];
  for (int d = 0; d < v->ndim; ++d) {
    in->shape[d] = v->shape[d];
    in->stride[d] = v->stride[d];
  }
  return task;
}

/* Integers of every size; as floats of any type they are numbers about 1, of both signs. */
static inline int make_numbers(void **state) {
  (void)state;
  numbers = (uint64_t *)malloc(ROOM * sizeof *numbers);
  if (numbers == NULL) return -1;
  for (int64_t i = 0; i < ROOM; ++i) {
    const uint64_t x = (uint64_t)(i + 1) * 6364136223846793005u >> 8;
    numbers[i] = (x & 0x807fbfff807fbfffu) | 0x3e0000003e000000u;
  }
  return 0;
}

static inline int drop_numbers(void **state) {
  (void)state;
  free(numbers);
  return 0;
}

#endif
