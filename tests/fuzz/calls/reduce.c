#include "fuzz/calls/calls.h"

typedef struct reduction {
  rung_reduction what;
  int axis;
} reduction;

static DLDataType result_of(rung_reduction what, DLDataType type) {
  if (fuzz_floats(type) || what == RUNG_MIN || what == RUNG_MAX) return type;
  return what == RUNG_MEAN ? rung_type(kDLFloat, 64) : rung_type(type.code, 64);
}

static void make(fuzz_input *input, job *job) {
  reduction *of = job->of = malloc(sizeof *of);
  int64_t shape[DIMS], kept[DIMS];
  const DLDataType type = fuzz_type(input);
  const int ndim = fuzz_shape(input, fuzz_pick(input, DIMS + 1), shape);
  int left = 0;
  of->what = (rung_reduction)fuzz_pick(input, 4);
  of->axis = ndim > 0 && fuzz_pick(input, 4) > 0 ? fuzz_pick(input, ndim) : RUNG_ALL;
  for (int d = 0; d < ndim && of->axis != RUNG_ALL; d++)
    if (d != of->axis) kept[left++] = shape[d];
  fuzz_array(input, job, 0, false, type, ndim, shape);
  fuzz_array(input, job, OUTPUT, false, result_of(of->what, type), left, kept);
  if (of->axis != RUNG_ALL && fuzz_rarely(input, 2)) of->axis -= ndim;
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  const reduction *of = job->of;
  return rung_reduce(context, of->what, &job->arrays[0].tensor, of->axis, &job->arrays[1].tensor,
                     how);
}

static void spoil(fuzz_input *input, job *job) {
  reduction *of = job->of;
  if (fuzz_pick(input, 2))
    of->what = (rung_reduction)(int32_t)fuzz_bits(input);
  else
    of->axis = (int32_t)fuzz_bits(input);
}

/* ---- integers, by a loop ----------------------------------------------------------------------
 */

static uint64_t combine(rung_reduction what, bool is_signed, uint64_t a, uint64_t b) {
  const bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
  if (what == RUNG_MIN) return less ? a : b;
  if (what == RUNG_MAX) return less ? b : a;
  return a + b;
}

static void check(const job *job) {
  const reduction *of = job->of;
  const array *in = &job->arrays[0], *out = &job->arrays[1];
  const int axis = of->axis < 0 && of->axis != RUNG_ALL ? of->axis + in->ndim : of->axis;
  int64_t n = fuzz_count(in), inner = 1;
  if (fuzz_floats(in->type) || n == 0) return;
  if (axis != RUNG_ALL) n = in->shape[axis];
  for (int d = axis + 1; axis != RUNG_ALL && d < in->ndim; d++) inner *= in->shape[d];
  void *elements = fuzz_gather(in), *results = fuzz_gather(out);
  for (int64_t k = 0; k < fuzz_count(out); k++) {
    const int64_t begin = k / inner * n * inner + k % inner;
    uint64_t wanted = fuzz_integer(in->type, elements, begin);
    for (int64_t i = 1; i < n; i++)
      wanted = combine(of->what, in->type.code == kDLInt, wanted,
                       fuzz_integer(in->type, elements, begin + i * inner));
    const double mean =
        (in->type.code == kDLInt ? (double)(int64_t)wanted : (double)wanted) / (double)n;
    if (of->what == RUNG_MEAN ? fuzz_number(out->type, results, k) != mean
                              : fuzz_integer(out->type, results, k) != wanted)
      fuzz_wrong("reduction %d, result %lld is wrong", (int)of->what, (long long)k);
  }
  free(elements);
  free(results);
}

const operation fuzz_reduce = {make, call, spoil, check};
