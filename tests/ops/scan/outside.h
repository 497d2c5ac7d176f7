/* What the tests of rung_scan() from outside share. */
#ifndef TESTS_SCAN_OUTSIDE_H
#define TESTS_SCAN_OUTSIDE_H

#include "ops/outside.h"

/* One line of compact numbers to another. */
static inline void scan_line(rung_context *context, rung_reduction what, DLDataType type, void *in,
                             int64_t n, int exclusive, void *out, const char *rung) {
  int64_t shape[1] = {n};
  DLTensor from = tensor(in, type, 1, shape, NULL), to = tensor(out, type, 1, shape, NULL);
  rung_call call = {.rung = rung};
  if (rung_scan(context, what, &from, -1, exclusive, &to, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

#endif
