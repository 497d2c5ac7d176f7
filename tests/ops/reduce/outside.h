/* What the tests of rung_reduce() from outside share. */
#ifndef TESTS_REDUCE_OUTSIDE_H
#define TESTS_REDUCE_OUTSIDE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rung/rung.h>

static const DLDataType u8 = {kDLUInt, 8, 1}, i32 = {kDLInt, 32, 1}, u32 = {kDLUInt, 32, 1},
                        i64 = {kDLInt, 64, 1}, u64 = {kDLUInt, 64, 1}, f32 = {kDLFloat, 32, 1},
                        f64 = {kDLFloat, 64, 1};

static inline DLTensor tensor(void *data, DLDataType type, int ndim, int64_t *shape,
                              int64_t *strides) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = type,
                    .shape = shape,
                    .strides = strides};
}

static inline DLDataType result_type(rung_reduction what, DLDataType in) {
  if (what == RUNG_MIN || what == RUNG_MAX || in.code == kDLFloat) return in;
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
