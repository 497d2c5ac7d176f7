#include "lab/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/numbers.h"

static bool is_float(rung_dtype dtype) {
  return (RUNG_FLOATS & RUNG_TYPE(dtype)) != 0;
}

bool rung_same_bits(rung_dtype dtype, const void *a, const void *b, int64_t at) {
  const size_t size = rung_dtype_bytes(dtype), offset = (size_t)at * size;
  if (memcmp((const char *)a + offset, (const char *)b + offset, size) == 0) return true;
  return is_float(dtype) && isnan(rung_number_at(dtype, a, at)) &&
         isnan(rung_number_at(dtype, b, at));
}

bool rung_is_poison(rung_dtype dtype, const void *data, int64_t at) {
  const size_t size = rung_dtype_bytes(dtype);
  const unsigned char *bytes = (const unsigned char *)data + (size_t)at * size;
  if (!is_float(dtype)) return false;
  for (size_t b = 0; b < size; ++b)
    if (bytes[b] != RUNG_POISON_BYTE) return false;
  return true;
}

double rung_least_of(rung_dtype dtype) {
  return dtype == RUNG_F32 ? 0x1p-149 : 0x1p-1074;
}

double rung_most_of(rung_dtype dtype) {
  return dtype == RUNG_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
}

bool rung_sum_may_be(rung_dtype dtype, const rung_wide_sum *sum, double most, double value) {
  const double wide = sum->wide;
  if (!isfinite(wide)) return isnan(wide) ? isnan(value) : value == wide;
  if (!(sum->magnitude <= most)) return true;
  return fabs(value - wide) <= sum->bound * sum->magnitude + rung_least_of(dtype);
}

/* ---- what was found ----------------------------------------------------------------------- */

void rung_compare_wrong(rung_comparison *comparison, int output, int64_t at, double found,
                        double wanted, bool unwritten) {
  comparison->unwritten += unwritten;
  comparison->nans += !unwritten && isnan(found) && !isnan(wanted);
  if (comparison->wrong++ > 0) return;
  comparison->output = output;
  comparison->first = at;
  comparison->found = found;
  comparison->wanted = wanted;
}

void rung_compare_error(rung_comparison *comparison, double error) {
  if (error > comparison->worst || isnan(error)) comparison->worst = error;
}

void rung_compare_merge(rung_comparison *comparison, const rung_comparison *later) {
  if (comparison->wrong == 0) {
    comparison->output = later->output;
    comparison->first = later->first;
    comparison->found = later->found;
    comparison->wanted = later->wanted;
  }
  comparison->wrong += later->wrong;
  comparison->unwritten += later->unwritten;
  comparison->nans += later->nans;
  rung_compare_error(comparison, later->worst);
  comparison->bound = fmax(comparison->bound, later->bound);
}

void rung_compare_say(rung_comparison *comparison, int64_t all, const char *what, const char *where,
                      const char *found, const char *wanted, bool strict) {
  if (comparison->unwritten > 0)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64 " %s were not written; the first wrong one is %s",
             comparison->unwritten, all, what, where);
  else
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64 " %s are wrong; %s is %s where %s is the %s",
             comparison->wrong, all, what, where, found, wanted,
             strict ? "contract's" : "wide reference's");
}
