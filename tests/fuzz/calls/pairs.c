#include <math.h>

#include "fuzz/calls/calls.h"

enum { MOST = 30, SETS = 2, OUTSIDE = 3 };

typedef struct pairs {
  rung_points sets[SETS];
  int at[SETS]; /* the job's array of their points */
  rung_box box;
  rung_distances bins;
  double edges[MOST + 1];
  bool two, weighted, molecules, boxed, outside;
  int counts; /* the job's array of them; outside and sums follow */
} pairs;

static void make_bins(fuzz_input *input, pairs *of) {
  of->bins = (rung_distances){.size = sizeof of->bins,
                              .count = 1 + fuzz_pick(input, MOST),
                              .width = (1 + fuzz_pick(input, 100)) * 0.11};
  double reach;
  for (int d = 0; d < 3; d++) {
    double *row = d == 0 ? of->box.a : d == 1 ? of->box.b : of->box.c;
    for (int k = 0; k < 3; k++) row[k] = k == d ? 1 + fuzz_byte(input) : 0;
    if (fuzz_rarely(input, 3)) row[fuzz_pick(input, 3)] += fuzz_pick(input, 20) - 9.5;
  }
  if (fuzz_pick(input, 2)) {
    fuzz_edges(input, of->edges, of->bins.count + 1);
    of->bins.edges = of->edges;
  } else if (rung_box_reach(NULL, &of->box, &reach) == RUNG_OK && of->boxed) {
    of->bins.width = reach / (double)of->bins.count * 0.9375;
  }
}

static void make_set(fuzz_input *input, job *job, pairs *of, int k, DLDataType type) {
  const int64_t n = fuzz_pick(input, fuzz_rarely(input, 6) ? 200 : 20);
  of->at[k] = job->count;
  fuzz_array(input, job, 0, fuzz_pick(input, 8) > 0, type, 2, (const int64_t[]){n, 3});
  of->sets[k] = (rung_points){.size = sizeof of->sets[k]};
  if (of->weighted) fuzz_array(input, job, 0, true, rung_type(kDLFloat, 64), 1, &n);
  if (of->molecules) fuzz_array(input, job, 0, false, rung_type(kDLInt, 64), 1, &n);
}

static void make(fuzz_input *input, job *job) {
  pairs *of = job->of = calloc(1, sizeof *of);
  const DLDataType type = rung_type(kDLFloat, fuzz_pick(input, 2) ? 32 : 64);
  const int chosen = fuzz_byte(input);
  of->two = chosen & 1;
  of->boxed = chosen & 2;
  of->outside = chosen & 4;
  of->weighted = (chosen & 24) == 24;
  of->molecules = (chosen & 96) == 96;
  make_bins(input, of);
  for (int k = 0; k <= of->two; k++) make_set(input, job, of, k, type);
  of->counts = job->count;
  const int64_t three = OUTSIDE;
  fuzz_array(input, job, OUTPUT, false, rung_type(kDLInt + fuzz_pick(input, 2), 64), 1,
             &of->bins.count);
  if (of->outside) fuzz_array(input, job, OUTPUT, false, rung_type(kDLInt, 64), 1, &three);
  if (of->weighted)
    fuzz_array(input, job, OUTPUT, false, rung_type(kDLFloat, 64), 1, &of->bins.count);
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  pairs *of = job->of;
  for (int k = 0; k <= of->two; k++) {
    const array *at = &job->arrays[of->at[k]];
    of->sets[k].at = &at->tensor;
    if (of->weighted) of->sets[k].weights = &at[1].tensor;
    if (of->molecules) of->sets[k].molecules = &at[1 + of->weighted].tensor;
  }
  array *counts = &job->arrays[of->counts];
  return rung_pairs(context, &of->sets[0], of->two ? &of->sets[1] : NULL,
                    of->boxed ? &of->box : NULL, &of->bins, &counts->tensor,
                    of->outside ? &counts[1].tensor : NULL,
                    of->weighted ? &counts[1 + of->outside].tensor : NULL, how);
}

static void spoil(fuzz_input *input, job *job) {
  pairs *of = job->of;
  switch (fuzz_pick(input, 7)) {
    case 0:
      of->bins.size = 1 + fuzz_byte(input) % 24;
      break;
    case 1:
      of->bins.count = -(int64_t)fuzz_byte(input);
      break;
    case 2:
      of->bins.width = fuzz_pick(input, 2) ? -1.0 : 1e308;
      break;
    case 3:
      of->edges[fuzz_pick(input, MOST)] = fuzz_pick(input, 2) ? -1.0 : (double)NAN;
      break;
    case 4:
      memcpy(of->box.b, of->box.a, sizeof of->box.b);
      break;
    case 5:
      of->box.c[fuzz_pick(input, 3)] = fuzz_pick(input, 2) ? 1e200 : (double)INFINITY;
      break;
    default:
      of->sets[fuzz_pick(input, 2)].size = SIZE_MAX - fuzz_byte(input);
  }
}

/* ---- open space, by a loop --------------------------------------------------------------------
 */

static int64_t bin_of(const rung_distances *bins, double d) {
  const double *edges = bins->edges;
  const double last = edges ? edges[bins->count] : (double)bins->count * bins->width;
  if (isnan(d)) return bins->count + 2;
  if (edges && d < edges[0]) return bins->count;
  if (edges ? d >= last : !(d / bins->width < (double)bins->count)) return bins->count + 1;
  if (!edges) return (int64_t)(d / bins->width);
  int64_t bin = 0;
  while (d >= edges[bin + 1]) bin++;
  return bin;
}

static void count(const pairs *of, const array *a, const array *b, int64_t *found) {
  void *p = fuzz_gather(a), *q = fuzz_gather(b);
  for (int64_t i = 0; i < a->shape[0]; i++)
    for (int64_t j = a == b ? i + 1 : 0; j < b->shape[0]; j++) {
      double d2[3];
      for (int k = 0; k < 3; k++) {
        const double d = fuzz_number(a->type, p, 3 * i + k) - fuzz_number(b->type, q, 3 * j + k);
        d2[k] = d * d;
      }
      found[bin_of(&of->bins, sqrt((d2[0] + d2[1]) + d2[2]))]++;
    }
  free(p);
  free(q);
}

static void check(const job *job) {
  const pairs *of = job->of;
  int64_t wanted[MOST + OUTSIDE] = {0};
  if (of->boxed || of->molecules) return;
  const array *a = &job->arrays[of->at[0]], *counts = &job->arrays[of->counts];
  count(of, a, of->two ? &job->arrays[of->at[1]] : a, wanted);
  void *found = fuzz_gather(counts), *outside = of->outside ? fuzz_gather(&counts[1]) : NULL;
  for (int64_t k = 0; k < of->bins.count + (of->outside ? OUTSIDE : 0); k++) {
    const bool apart = k >= of->bins.count;
    const int64_t is = (int64_t)fuzz_integer(rung_type(kDLInt, 64), apart ? outside : found,
                                             apart ? k - of->bins.count : k);
    if (is != wanted[k])
      fuzz_wrong("bin %lld of %lld has %lld pairs, expected: %lld", (long long)k,
                 (long long)of->bins.count, (long long)is, (long long)wanted[k]);
  }
  free(found);
  free(outside);
}

const operation fuzz_pairs = {make, call, spoil, check};
