/* Comparing results with references: what every checker does alike. */
#ifndef RUNG_LAB_COMPARE_H
#define RUNG_LAB_COMPARE_H

#include "lab/case.h"

/* Every bit of elements `at` of a and b, but that a NaN is a NaN. */
bool rung_same_bits(rung_dtype dtype, const void *a, const void *b, int64_t at);
/* Whether the element still holds the poison. Integers have none: all their values are numbers. */
bool rung_is_poison(rung_dtype dtype, const void *data, int64_t at);

/* The least positive number of a float type, and the largest. */
double rung_least_of(rung_dtype dtype);
double rung_most_of(rung_dtype dtype);

/* A sum of floats in another order than the contract's: as the wide reference has it, the sum of
 * the terms' magnitudes, and how much of these it may be off. */
typedef struct rung_wide_sum {
  double wide, magnitude, bound;
} rung_wide_sum;
/* Whether a value may stand for the sum: within the bound, or the same infinity or NaN where the
 * wide sum is none; where the magnitudes' sum overflows, at `most`, anything may. */
bool rung_sum_may_be(rung_dtype dtype, const rung_wide_sum *sum, double most, double value);

/* Adds an element that is not as it should be; the first stays the first. */
void rung_compare_wrong(rung_comparison *comparison, int output, int64_t at, double found,
                        double wanted, bool unwritten);
/* The largest error so far; a NaN stays. */
void rung_compare_error(rung_comparison *comparison, double error);
/* Adds what was found in elements that follow. */
void rung_compare_merge(rung_comparison *comparison, const rung_comparison *later);

/* The sentence of a comparison that failed. `where`: the place of the first wrong element; found
 * and wanted as text; whether the contract's bits were wanted. */
void rung_compare_say(rung_comparison *comparison, int64_t all, const char *what, const char *where,
                      const char *found, const char *wanted, bool strict);

#endif
