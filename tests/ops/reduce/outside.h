/* What the tests of rung_reduce() from outside share. */
#ifndef TESTS_REDUCE_OUTSIDE_H
#define TESTS_REDUCE_OUTSIDE_H

#include "ops/outside.h"

static inline DLDataType result_type(rung_reduction what, DLDataType in) {
  if (what == RUNG_MIN || what == RUNG_MAX || in.code == kDLFloat || in.code == kDLBfloat)
    return in;
  return what == RUNG_MEAN ? f64 : in.code == kDLInt ? i64 : u64;
}

/* One line of compact numbers to one number, which is written to *out. */
static inline void reduce_line(rung_context *context, rung_reduction what, DLDataType type,
                               void *data, int64_t n, void *out, const char *rung) {
  int64_t shape[1] = {n};
  DLTensor in = tensor(data, type, 1, shape, NULL);
  DLTensor to = tensor(out, result_type(what, type), 0, NULL, NULL);
  rung_call call = {.rung = rung};
  if (rung_reduce(context, what, &in, RUNG_ALL, &to, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

#endif
