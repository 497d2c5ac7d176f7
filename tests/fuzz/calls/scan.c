#include "fuzz/calls/calls.h"

typedef struct scan {
  rung_reduction what;
  int exclusive;
} scan;

static void make(fuzz_input *input, job *job) {
  scan *of = job->of = malloc(sizeof *of);
  int64_t shape[DIMS];
  const DLDataType type = fuzz_type(input);
  const int ndim = fuzz_shape(input, 1 + fuzz_pick(input, DIMS), shape);
  of->what = (rung_reduction)fuzz_pick(input, 3);
  of->exclusive = fuzz_pick(input, 2);
  fuzz_array(input, job, 0, false, type, ndim, shape);
  fuzz_array(input, job, OUTPUT, false, type, ndim, shape);
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  const scan *of = job->of;
  return rung_scan(context, of->what, &job->arrays[0].tensor, of->exclusive, &job->arrays[1].tensor,
                   how);
}

static void spoil(fuzz_input *input, job *job) {
  scan *of = job->of;
  if (fuzz_pick(input, 2))
    of->what = (rung_reduction)(int32_t)fuzz_bits(input);
  else
    of->exclusive = (int32_t)fuzz_bits(input);
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
  const int64_t n = in->shape[in->ndim - 1], count = fuzz_count(in);
  if (fuzz_floats(in->type)) return;
  void *elements = fuzz_gather(in), *results = fuzz_gather(out);
  uint64_t so_far = 0;
  for (int64_t k = 0; k < count; k++) {
    if (k % n == 0) so_far = identity(of->what, in->type);
    const uint64_t next = combine(of->what, in->type, so_far, fuzz_integer(in->type, elements, k));
    if (fuzz_integer(out->type, results, k) != (of->exclusive ? so_far : next))
      fuzz_wrong("scan %d, result %lld is wrong", (int)of->what, (long long)k);
    so_far = next;
  }
  free(elements);
  free(results);
}

const operation fuzz_scan = {make, call, spoil, check};
