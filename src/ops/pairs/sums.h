/* Sums of products of weights as integers of 128 bits: exact, so that order means nothing.
 *
 * Let w be the largest magnitude of a's weights times that of b's (of one set, its square), and 2^e
 * the least power of two above w. A product, in double, is rounded to a multiple of 2^(e - 62),
 * ties to even: products within 2^-9 of w are such multiples anyway. That is at most 2^62 units,
 * and fewer than 2^62 pairs of them fit in 128 bits. The sum is rounded to double once, to nearest,
 * ties to even. */
#ifndef RUNG_PAIRS_SUMS_H
#define RUNG_PAIRS_SUMS_H

#include <limits.h>
#include <math.h>

#include "ops/pairs/pairs.h"

/* A sum in units; two's complement. */
typedef struct pairs_sum {
  uint64_t low;
  int64_t high;
} pairs_sum;

/* For the exponent where a weight is not finite or the largest product is not: every sum is NaN. */
#define PAIRS_NO_EXPONENT INT_MIN

/* Of the largest magnitudes, NaN or infinite where one weight is; of one set both the same. */
PAIRS_ANYWHERE int pairs_exponent(double largest_a, double largest_b) {
  const double largest = largest_a * largest_b;
  int e = 0;
  if (!(largest <= 1.7976931348623157e308)) return PAIRS_NO_EXPONENT;
  frexp(largest, &e);
  return e;
}

/* The magnitude to take the largest of: bits that rise with it, those of a NaN above all. */
PAIRS_ANYWHERE uint64_t pairs_magnitude(double weight) {
  union {
    double number;
    uint64_t bits;
  } is;
  is.number = weight;
  return is.bits & ~((uint64_t)1 << 63);
}

PAIRS_ANYWHERE double pairs_of_magnitude(uint64_t bits) {
  union {
    double number;
    uint64_t bits;
  } is;
  is.bits = bits;
  return is.number;
}

/* 2^e of -1022 ... 1023. */
PAIRS_ANYWHERE double pairs_power(int e) {
  return pairs_of_magnitude((uint64_t)(e + 1023) << 52);
}

/* A product in units. Two powers, for one might be out of range. 0 without an exponent. */
PAIRS_ANYWHERE int64_t pairs_units(double wa, double wb, int e) {
  if (e == PAIRS_NO_EXPONENT) return 0;
  const int half = (62 - e) / 2;
  return (int64_t)rint(wa * wb * pairs_power(half) * pairs_power(62 - e - half));
}

PAIRS_ANYWHERE void pairs_sum_units(pairs_sum *sum, int64_t units) {
  sum->low += (uint64_t)units;
  sum->high += (units < 0 ? -1 : 0) + (sum->low < (uint64_t)units ? 1 : 0);
}

PAIRS_ANYWHERE void pairs_sum_add(pairs_sum *sum, pairs_sum other) {
  sum->low += other.low;
  sum->high =
      (int64_t)((uint64_t)sum->high + (uint64_t)other.high + (sum->low < other.low ? 1u : 0u));
}

/* How many bits a number has: 0 of 0. */
PAIRS_ANYWHERE int pairs_length(uint64_t x) {
  int length = 0;
  for (int step = 32; step > 0; step /= 2)
    if (x >> step != 0) {
      x >>= step;
      length += step;
    }
  return length + (x != 0 ? 1 : 0);
}

/* units * 2^(e - 62), rounded once to the nearest double, ties to even. */
PAIRS_ANYWHERE double pairs_sum_value(uint64_t low, int64_t high, int e) {
  if (e == PAIRS_NO_EXPONENT) return (double)NAN;
  uint64_t top = (uint64_t)high, kept = low;
  if (high < 0) { /* the magnitude */
    kept = ~low + 1;
    top = ~top + (kept == 0 ? 1 : 0);
  }
  const int length = top != 0 ? 64 + pairs_length(top) : pairs_length(kept);
  /* The last place of the result: of 53 bits, or that of subnormals. */
  int last = length - 53 > 0 ? length - 53 : 0;
  if (e - 62 + last < -1074) last = -1074 - (e - 62);
  if (last > 0) {
    /* What is below the last place: its first bit, and whether anything follows. */
    const int below = last - 1;
    const uint64_t bit = below < 64 ? kept >> below & 1 : top >> (below - 64) & 1;
    const bool more = below < 64 ? (kept & (((uint64_t)1 << below) - 1)) != 0
                                 : kept != 0 || (top & (((uint64_t)1 << (below - 64)) - 1)) != 0;
    kept = last < 64 ? kept >> last | top << 1 << (63 - last) : top >> (last - 64);
    if (bit != 0 && (more || (kept & 1) != 0)) ++kept;
  }
  const double value = ldexp((double)kept, e - 62 + last);
  return high < 0 ? -value : value;
}

/* Writes the sum of bin k: of a part of a job as it is. */
PAIRS_ANYWHERE void pairs_put_sum(const pairs_problem *problem, pairs_sum sum, int exponent,
                                  void *sums, int64_t k) {
  if (problem->part)
    ((pairs_sum *)sums)[k] = sum;
  else
    ((double *)sums)[k] = pairs_sum_value(sum.low, sum.high, exponent);
}

#endif
