#include <math.h>

#include "fuzz/calls/calls.h"

typedef struct filter {
  rung_filter_model model;
  bool reversed;
} filter;

static const DLDataType types[] = {
    {kDLFloat, 32, 1}, {kDLUInt, 8, 1}, {kDLUInt, 16, 1}, {kDLFloat, 64, 1}, {kDLFloat, 16, 1}};
static const DLDataType of_taps[] = {
    {kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLInt, 8, 1}, {kDLUInt, 16, 1}, {kDLInt, 32, 1}};

static void make(fuzz_input *input, job *job) {
  filter *of = job->of = malloc(sizeof *of);
  int64_t s[3], k[2];
  (void)fuzz_shape(input, 3, s); /* kernels, height, width */
  (void)fuzz_shape(input, 2, k);
  const int64_t channels = 1 + fuzz_pick(input, 4);
  const bool several = fuzz_pick(input, 2), pixels = fuzz_pick(input, 2);
  const DLDataType from = types[fuzz_pick(input, 5)], to = types[fuzz_pick(input, 5)];
  const int64_t in[] = {s[1], s[2], channels}, kernel[] = {s[0], k[0] % 64, k[1] % 64},
                out[] = {s[0], s[1], s[2], channels};
  of->reversed = fuzz_pick(input, 2);
  of->model = (rung_filter_model){.edge = (rung_edge)fuzz_pick(input, RUNG_EDGE_MIRROR + 1),
                                  .edge_value = fuzz_pick(input, 9) - 4};
  for (int d = 0; d < 2; d++)
    if (kernel[1 + d] > 0)
      of->model.origin[d] = fuzz_pick(input, (int)kernel[1 + d]) - kernel[1 + d] / 2;
  fuzz_array(input, job, 0, true, from, 2 + pixels, in);
  fuzz_array(input, job, 0, true, of_taps[fuzz_pick(input, 5)], 2 + several, kernel + !several);
  fuzz_array(input, job, OUTPUT, false, to, 2 + several + pixels, out + !several);
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  const filter *of = job->of;
  return (of->reversed ? rung_convolve : rung_correlate)(
      context, &of->model, &job->arrays[0].tensor, &job->arrays[1].tensor, &job->arrays[2].tensor,
      how);
}

static void spoil(fuzz_input *input, job *job) {
  filter *of = job->of;
  const int d = fuzz_pick(input, 2);
  switch (fuzz_pick(input, 4)) {
    case 0:
      of->model.edge = (rung_edge)fuzz_pick(input, 256);
      break;
    case 1:
      of->model.edge_value = fuzz_pick(input, 2) ? NAN : -INFINITY;
      break;
    case 2:
      of->model.origin[d] = fuzz_pick(input, 2) ? INT64_MIN : INT64_MAX;
      break;
    default:
      of->model.region[d] = fuzz_pick(input, 2) ? INT64_MIN : INT64_MAX;
  }
}

const operation fuzz_correlate = {make, call, spoil, NULL};
