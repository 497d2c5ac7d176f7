/* What the tests of rung_scan() from outside share. */
#ifndef TESTS_SCAN_OUTSIDE_H
#define TESTS_SCAN_OUTSIDE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rung/rung.h>

static const DLDataType i32 = {kDLInt, 32, 1}, u32 = {kDLUInt, 32, 1}, i64 = {kDLInt, 64, 1},
                        u64 = {kDLUInt, 64, 1}, f32 = {kDLFloat, 32, 1}, f64 = {kDLFloat, 64, 1};

static inline DLTensor tensor(void *data, DLDataType type, int ndim, int64_t *shape,
                              int64_t *strides) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = type,
                    .shape = shape,
                    .strides = strides};
}

/* One line of compact numbers to another. */
static inline void scan_line(rung_context *context, rung_reduction what, DLDataType type, void *in,
                             int64_t n, int exclusive, void *out, const char *rung) {
  int64_t shape[1] = {n};
  DLTensor from = tensor(in, type, 1, shape, NULL), to = tensor(out, type, 1, shape, NULL);
  rung_call call = {.rung = rung};
  if (rung_scan(context, what, &from, exclusive, &to, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

#endif
