/* What a histogram is, in numbers: its bins checked, and how they are to be found. */
#include <inttypes.h>
#include <math.h>

#include "ops/histogram/histogram.h"

/* Elements that a counter of 32 bits surely holds. */
#define FLUSH ((int64_t)1 << 31)

/* ---- checking the bins --------------------------------------------------------------------------
 */

static rung_status check_kind(rung_error *error, const rung_bins *bins, rung_dtype dtype) {
  char integers[64];
  if (bins == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "bins is NULL; expected: a rung_bins");
  if ((int)bins->kind < RUNG_BINS_MODULO || bins->kind > RUNG_BINS_BYTES)
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "bins->kind is %d; expected: RUNG_BINS_MODULO (0), RUNG_BINS_EVEN (1), RUNG_BINS_EDGES "
        "(2) or RUNG_BINS_BYTES (3)",
        (int)bins->kind);
  if (bins->kind == RUNG_BINS_BYTES && dtype != RUNG_U8)
    return rung_fail(error, RUNG_BAD_DTYPE,
                     "in holds %s, and bins->kind is RUNG_BINS_BYTES; expected: u8",
                     rung_dtype_name(dtype));
  if (bins->kind != RUNG_BINS_MODULO || HISTOGRAM_INTEGERS & RUNG_TYPE(dtype)) return RUNG_OK;
  rung_dtypes_text(HISTOGRAM_INTEGERS, integers, sizeof integers);
  return rung_fail(error, RUNG_BAD_DTYPE,
                   "in holds %s, and bins->kind is RUNG_BINS_MODULO; expected: %s",
                   rung_dtype_name(dtype), integers);
}

static rung_status check_count(rung_error *error, const rung_bins *bins) {
  if (bins->kind == RUNG_BINS_BYTES) {
    if (bins->count == 0 || bins->count == 256) return RUNG_OK;
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "bins->count is %" PRId64 " of RUNG_BINS_BYTES; expected: 256 or 0",
                     bins->count);
  }
  if (bins->count < 1 || bins->count > RUNG_MAX_BINS)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "bins->count is %" PRId64 "; expected: 1 ... %d",
                     bins->count, RUNG_MAX_BINS);
  return RUNG_OK;
}

static rung_status check_range(rung_error *error, const rung_bins *bins, rung_dtype dtype) {
  if (!isfinite(bins->low) || !isfinite(bins->high) || !(bins->low < bins->high))
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "bins->low is %.17g and bins->high %.17g; expected: finite numbers, low below high",
        bins->low, bins->high);
  if (!isfinite(bins->high - bins->low))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "bins->low is %.17g and bins->high %.17g; expected: a distance below 2^1024",
                     bins->low, bins->high);
  const rung_traits *traits = rung_traits_of(dtype);
  if (traits->kind == RUNG_FLOAT && (!isfinite(rung_number_rounded(dtype, bins->low)) ||
                                     !isfinite(rung_number_rounded(dtype, bins->high))))
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "bins->low is %.17g and bins->high %.17g, and in holds %s; expected: numbers within "
        "its range, %.2g ... %.2g",
        bins->low, bins->high, traits->name, traits->least, traits->largest);
  return RUNG_OK;
}

static rung_status check_edges(rung_error *error, const rung_bins *bins) {
  if (bins->edges == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "bins->edges is NULL; expected: %" PRId64 " rising numbers", bins->count + 1);
  for (int64_t k = 0; k <= bins->count; ++k) {
    if (!isfinite(bins->edges[k]))
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "bins->edges[%" PRId64 "] is %g; expected: a finite number", k,
                       bins->edges[k]);
    if (k > 0 && !(bins->edges[k - 1] < bins->edges[k]))
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "bins->edges[%" PRId64
                       "] is %.17g, and the edge before it %.17g; expected: one above "
                       "it",
                       k, bins->edges[k], bins->edges[k - 1]);
  }
  return RUNG_OK;
}

/* ---- how bins are found -------------------------------------------------------------------------
 */

static void plan_modulo(histogram_rule *rule) {
  const uint64_t bins = (uint64_t)rule->bins;
  const uint64_t wrap = (UINT64_MAX % bins + 1) % bins; /* 2^64 mod bins */
  rule->way = HISTOGRAM_MODULO;
  rule->inverse_32 = (uint32_t)(UINT32_MAX / bins);
  rule->inverse_64 = UINT64_MAX / bins;
  rule->lack_32 = (uint32_t)((bins - ((uint64_t)1 << 32) % bins) % bins);
  rule->lack_64 = (bins - wrap) % bins;
}

/* The exponent of a number's last bit that is set. */
static int last_exponent(double x) {
  int exponent = 0;
  double digits = frexp(x, &exponent);
  while (digits != floor(digits)) {
    digits *= 2;
    exponent -= 1;
  }
  return exponent;
}

/* Edges that float arithmetic finds: `low` and `step` are floats, and multiples of a power of two
 * that is no less than the last place of any edge, in double; of integers and halves in the type
 * that elements are compared in. So nothing is rounded but an edge of f32, once, by the fma as in
 * the contract. An integer of 2^24 or more is no float perhaps, but none that rounds to 2^23. */
static bool plain_edges(const histogram_rule *rule, rung_dtype dtype, double most) {
  if (rule->step != (double)(float)rule->step || rule->low != (double)(float)rule->low ||
      rule->high != (double)(float)rule->high || !(rule->step > 0x1p-100))
    return false;
  int unit = last_exponent(rule->step);
  if (rule->low != 0) unit = unit < last_exponent(rule->low) ? unit : last_exponent(rule->low);
  const int digits = dtype == RUNG_F32 ? 51 : dtype == RUNG_F16 ? 11 : dtype == RUNG_BF16 ? 8 : 23;
  if (most > ldexp(1, unit + digits) || (dtype == RUNG_F16 && unit < -24)) return false;
  if (!rung_dtype_is_float(dtype) && most > 0x1p23) return false;
  return rule->low + (double)rule->bins * rule->step == rule->high;
}

/* How far guesses and edges may stray together, in bins, and whether a guess can be proven with
 * that: docs/NUMERICS.md, "Histograms", derives the two bounds. */
static void plan_even(histogram_rule *rule, const rung_bins *bins, rung_dtype dtype) {
  const double most = fmax(fabs(bins->low), fabs(bins->high)), count = (double)bins->count;
  rule->even = true;
  rule->rounded = rung_dtype_is_float(dtype) ? dtype : RUNG_F64;
  rule->low = bins->low;
  rule->high = bins->high;
  rule->distance = bins->high - bins->low;
  rule->step = rule->distance / count;
  rule->scale = count / rule->distance;
  rule->first = histogram_even_edge(rule, 0);
  rule->last = histogram_even_edge(rule, rule->bins);
  const double wide = most / rule->distance, scale = rule->scale;
  const rung_traits *edges = rung_traits_of(rule->rounded);
  const double in_edges = 0x1.2p-1 * edges->eps * count * wide + edges->tiny * scale;
  const bool halves = (RUNG_HALVES & RUNG_TYPE(dtype)) != 0;
  const double in_double =
      0x1p-53 * count * (5 + 14 * wide) + (rule->rounded != RUNG_F64 ? in_edges : 0) + 0x1p-40;
  const double in_float = 0x1p-24 * count * (5 + 5 * wide) + 0x1p-22;
  const double strays = in_float + (halves ? in_edges : 0); /* of f32, in_float has it */
  const bool small = rung_dtype_bytes(dtype) <= 4;
  rule->way = HISTOGRAM_SEARCH;
  if (in_double <= 0.25 && most < 0x1p1000 && scale > 0x1p-900 && scale < 0x1p900) {
    rule->way = HISTOGRAM_DOUBLE;
    rule->within = 0.5 - in_double;
  }
  if (rule->way == HISTOGRAM_DOUBLE && small && in_float <= 0x1p-6 && strays <= 0.25 &&
      most < 0x1p100 && scale > 0x1p-100 && scale < 0x1p100) {
    rule->way = HISTOGRAM_SINGLE;
    rule->low_f = (float)rule->low;
    rule->scale_f = (float)rule->scale;
    rule->within_f = (float)(0.5 - strays);
  }
  if (small && in_float <= 0.25 && most < 0x1p100 && scale > 0x1p-100 && scale < 0x1p100 &&
      plain_edges(rule, dtype, most)) {
    rule->plain = true;
    rule->low_f = (float)rule->low;
    rule->scale_f = (float)rule->scale;
    rule->step_f = (float)rule->step;
    rule->first_f = (float)rule->first;
    rule->last_f = (float)rule->last;
  }
}

/* Four cells to a bin leave an edge or none in most cells, where edges are not too uneven. More
 * than are soon in the cache, or than elements pay for, are not worth it. */
static void plan_search(histogram_rule *rule, const rung_bins *bins, double elements) {
  enum { MOST_CELLS = 1 << 16 };
  if (bins->kind == RUNG_BINS_EDGES) {
    rule->low = rule->first = bins->edges[0];
    rule->high = rule->last = bins->edges[bins->count];
  }
  rule->cells = 1;
  while (rule->cells < 4 * rule->bins && rule->cells < MOST_CELLS && 8.0 * rule->cells <= elements)
    rule->cells *= 2;
  rule->cell_scale = rule->cells / (rule->high - rule->low);
  if (!isfinite(rule->cell_scale)) rule->cell_scale = 0;
}

rung_status histogram_problem_of(rung_error *error, const rung_bins *bins, rung_dtype dtype,
                                 int64_t rows, int64_t columns, histogram_problem *problem) {
  rung_status status = check_kind(error, bins, dtype);
  if (status == RUNG_OK) status = check_count(error, bins);
  if (status == RUNG_OK && bins->kind == RUNG_BINS_EVEN) status = check_range(error, bins, dtype);
  if (status == RUNG_OK && bins->kind == RUNG_BINS_EDGES) status = check_edges(error, bins);
  if (status != RUNG_OK) return status;
  if (columns > HISTOGRAM_MOST)
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " elements to a histogram; expected: at most 2^40", columns);
  *problem = (histogram_problem){
      .kind = bins->kind, .dtype = dtype, .rows = rows, .columns = columns, .flush = FLUSH};
  histogram_rule *rule = &problem->rule;
  rule->bfloat = dtype == RUNG_BF16;
  const bool modulo = bins->kind == RUNG_BINS_MODULO || bins->kind == RUNG_BINS_BYTES;
  rule->bins = bins->kind == RUNG_BINS_BYTES ? 256 : (int)bins->count;
  rule->slots = modulo ? rule->bins : rule->bins + HISTOGRAM_OUTER;
  if (modulo)
    plan_modulo(rule);
  else if (bins->kind == RUNG_BINS_EVEN)
    plan_even(rule, bins, dtype);
  else
    rule->way = HISTOGRAM_SEARCH;
  problem->flops = (double)rows * (double)columns;
  if (rule->way == HISTOGRAM_SEARCH) plan_search(rule, bins, problem->flops);
  problem->bytes = problem->flops * (double)rung_dtype_bytes(dtype) +
                   (double)rows * rule->slots * sizeof(uint64_t);
  return RUNG_OK;
}
