#include "fuzz/calls/calls.h"

typedef struct scan {
  rung_reduction what;
  int axis, exclusive;
} scan;

static void make(fuzz_input *input, job *job) {
  scan *of = job->of = malloc(sizeof *of);
  int64_t shape[DIMS];
  const DLDataType type = fuzz_type(input);
  const int ndim = fuzz_shape(input, 1 + fuzz_pick(input, DIMS), shape);
  of->what = (rung_reduction)fuzz_pick(input, 3);
  of->exclusive = fuzz_pick(input, 2);
  of->axis = fuzz_pick(input, 2 * ndim) - ndim;
  fuzz_array(input, job, 0, false, type, ndim, shape);
  fuzz_array(input, job, OUTPUT, false, type, ndim, shape);
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  const scan *of = job->of;
  return rung_scan(context, of->what, &job->arrays[0].tensor, of->axis, of->exclusive,
                   &job->arrays[1].tensor, how);
}

static void spoil(fuzz_input *input, job *job) {
  scan *of = job->of;
  const int at = fuzz_pick(input, 3);
  if (at == 0) of->axis = (int32_t)fuzz_bits(input);
  if (at == 1) of->what = (rung_reduction)(int32_t)fuzz_bits(input);
  if (at == 2) of->exclusive = (int32_t)fuzz_bits(input);
}

/* ---- integers, by a loop ----------------------------------------------------------------------
 */

/* The result of nothing. */
static uint64_t identity(rung_reduction what, DLDataType type) {
  const uint64_t all = ~UINT64_C(0) >> (64 - type.bits);
  if (what == RUNG_SUM) return 0;
  if (type.code == kDLUInt) return what == RUNG_MIN ? all : 0;
  return what == RUNG_MIN ? all >> 1 : ~(all >> 1);
}

static uint64_t combine(rung_reduction what, DLDataType type, uint64_t a, uint64_t b) {
  const bool less = type.code == kDLInt ? (int64_t)a < (int64_t)b : a < b;
  if (what == RUNG_MIN) return less ? a : b;
  if (what == RUNG_MAX) return less ? b : a;
  const uint64_t sum = a + b;
  return fuzz_integer(type, &sum, 0);
}

static void check(const job *job) {
  const scan *of = job->of;
  const array *in = &job->arrays[0], *out = &job->arrays[1];
  const int axis = of->axis < 0 ? of->axis + in->ndim : of->axis;
  const int64_t n = in->shape[axis], count = fuzz_count(in);
  int64_t inner = 1;
  for (int d = axis + 1; d < in->ndim; d++) inner *= in->shape[d];
  if (fuzz_floats(in->type)) return;
  void *elements = fuzz_gather(in), *results = fuzz_gather(out);
  uint64_t so_far = 0;
  for (int64_t i = 0; i < count; i++) { /* line by line; k is the element's place in memory */
    const int64_t line = i / n, k = (line / inner * n + i % n) * inner + line % inner;
    if (i % n == 0) so_far = identity(of->what, in->type);
    const uint64_t next = combine(of->what, in->type, so_far, fuzz_integer(in->type, elements, k));
    if (fuzz_integer(out->type, results, k) != (of->exclusive ? so_far : next))
      fuzz_wrong("scan %d, result %lld is wrong", (int)of->what, (long long)k);
    so_far = next;
  }
  free(elements);
  free(results);
}

const operation fuzz_scan = {make, call, spoil, check};
