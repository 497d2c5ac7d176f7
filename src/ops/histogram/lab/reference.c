/* The reference: naive and strict. It shares no line with the rungs but the contract's edges. */
#include <math.h>

#include "lab/numbers.h"
#include "ops/histogram/lab/cases.h"

static int64_t integer_of(rung_dtype dtype, const void *row, int64_t at) {
  const rung_traits *traits = rung_traits_of(dtype);
  return traits->load_integer((const char *)row + at * (int64_t)traits->bytes);
}

int64_t histogram_reference(const histogram_problem *problem, const double *edges, const void *row,
                            int64_t at) {
  const int64_t bins = problem->rule.bins;
  if (problem->kind == RUNG_BINS_MODULO || problem->kind == RUNG_BINS_BYTES) {
    const int64_t rest = integer_of(problem->dtype, row, at) % bins;
    return rest < 0 ? rest + bins : rest;
  }
  const double x = rung_number_at(problem->dtype, row, at);
#define EDGE(k) (edges != NULL ? edges[k] : histogram_even_edge(&problem->rule, (int)(k)))
  if (isnan(x)) return bins + HISTOGRAM_NAN;
  if (x < EDGE(0)) return bins + HISTOGRAM_BELOW;
  if (x > EDGE(bins)) return bins + HISTOGRAM_ABOVE;
  int64_t under = 0, over = bins; /* e_under <= x; the bin is in [under, over) */
  while (over - under > 1) {
    const int64_t middle = (under + over) / 2;
    if (EDGE(middle) <= x)
      under = middle;
    else
      over = middle;
  }
#undef EDGE
  return under;
}
