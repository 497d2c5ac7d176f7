/* What the tests of rung_histogram() from outside share. */
#ifndef TESTS_HISTOGRAM_OUTSIDE_H
#define TESTS_HISTOGRAM_OUTSIDE_H

#include "ops/outside.h"

/* The histogram of n numbers without gaps: bins->count counts, and after them below, above, NaN. */
static inline void count_all(rung_context *context, const rung_bins *bins, DLDataType type,
                             const void *data, int64_t n, int64_t *found, const char *rung) {
  int64_t shape[1] = {n}, count[1] = {bins->kind == RUNG_BINS_BYTES ? 256 : bins->count},
          three[1] = {3};
  DLTensor in = tensor((void *)data, type, 1, shape, NULL);
  DLTensor counts = tensor(found, i64, 1, count, NULL);
  DLTensor outside = tensor(found + count[0], i64, 1, three, NULL);
  rung_call call = {.rung = rung};
  if (rung_histogram(context, bins, &in, &counts, &outside, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

/* Every rung is tried on the device it is for; the simulated GPU where the build has it. */
static const struct {
  const char *device, *rung;
} places[] = {{"cpu", "serial"},
              {"cpu", "private"},
              {"cpu", "threads"},
              {"sim", "replicated"},
              {"sim", "vector"}};
enum { PLACES = sizeof places / sizeof *places };

static inline rung_context *open_place(int p) {
  return open_on(places[p].device);
}

#endif
