/* The slot of an element, fast and exact: what the contract's comparisons with edges would find.
 *
 * Even bins are guessed: f = (X - low) * scale - 1/2, where scale = bins / (high - low). Let k be
 * the integer nearest to f. Where |f - k| <= within, X is in bin k: `within` is 1/2 less a bound of
 * everything that roundings can shift f and the edges by (problem.c; docs/NUMERICS.md). Where not,
 * X lies next to an edge, outside, or is a NaN, and histogram_settle() compares.
 *
 * k is found by adding 3/2 * 2^23 (or 3/2 * 2^52), whose unit in the last place is 1: what the
 * sum's bits exceed the constant's by is k, for every f that is in any bin, and no number of 0 ...
 * bins-1 for every other. */
#ifndef RUNG_HISTOGRAM_RULE_H
#define RUNG_HISTOGRAM_RULE_H

#include "ops/histogram/histogram.h"

#define HISTOGRAM_MAGIC_F 12582912.0f
#define HISTOGRAM_MAGIC_F_BITS UINT32_C(0x4b400000)
#define HISTOGRAM_MAGIC_D 6755399441055744.0
#define HISTOGRAM_MAGIC_D_BITS UINT64_C(0x4338000000000000)

HISTOGRAM_ANYWHERE double histogram_edge(const histogram_rule *rule, const double *edges, int k) {
  return rule->even ? histogram_even_edge(rule, k) : edges[k];
}

/* The largest k < bins with e_k <= x, for an x that no edge but the first need be below: with no
 * branch that depends on it. */
HISTOGRAM_ANYWHERE int histogram_search(const histogram_rule *rule, const double *edges, double x) {
  int k = 0;
  for (int left = rule->bins; left > 1;) {
    const int half = left / 2;
    k += histogram_edge(rule, edges, k + half) <= x ? half : 0;
    left -= half;
  }
  return k;
}

/* A guide leads to a search's place at once. Every number has a cell, and a greater one's cell is
 * no lesser: that much holds whatever roundings do, and it is all that is needed. guide[c] is the
 * largest k < bins whose e_k has a cell below c, or 0; so an x of cell c that is not below e_0 has
 * its bin in guide[c] ... guide[c + 1], as e_k of a lower cell is below x and of a higher above. */
HISTOGRAM_ANYWHERE int histogram_cell(const histogram_rule *rule, double x) {
  const double place = (x - rule->low) * rule->cell_scale, most = (double)(rule->cells - 1);
  const double inside = place > 0 ? place : 0; /* a NaN, too */
  return (int)(inside < most ? inside : most);
}

/* guide[cell], 0 <= cell <= cells. */
HISTOGRAM_ANYWHERE int histogram_guide_at(const histogram_rule *rule, const double *edges,
                                          int cell) {
  int k = 0;
  for (int left = rule->bins; left > 1;) {
    const int half = left / 2;
    k += histogram_cell(rule, histogram_edge(rule, edges, k + half)) < cell ? half : 0;
    left -= half;
  }
  return k;
}

/* The same as histogram_search() for an x that is not below e_0. */
HISTOGRAM_ANYWHERE int histogram_guided(const histogram_rule *rule, const double *edges,
                                        const uint32_t *guide, double x) {
  const int cell = histogram_cell(rule, x);
  int k = (int)guide[cell], last = (int)guide[cell + 1];
  while (k < last) {
    const int middle = (k + last + 1) / 2;
    if (histogram_edge(rule, edges, middle) <= x)
      k = middle;
    else
      last = middle - 1;
  }
  return k;
}

/* `x` against the outermost edges: the slot outside, or -1. */
HISTOGRAM_ANYWHERE int histogram_outside(const histogram_rule *rule, double x) {
  if (x < rule->first) return rule->bins + HISTOGRAM_BELOW;
  if (x > rule->last) return rule->bins + HISTOGRAM_ABOVE;
  return x == x ? -1 : rule->bins + HISTOGRAM_NAN;
}

HISTOGRAM_ANYWHERE int histogram_find(const histogram_rule *rule, const double *edges, double x) {
  const int out = histogram_outside(rule, x);
  return out >= 0 ? out : histogram_search(rule, edges, x);
}

/* The slot of an x whose guess proves nothing: it is outside, or one comparison with the edge
 * nearest to it tells. For rules that guess. */
HISTOGRAM_ANYWHERE int histogram_settle(const histogram_rule *rule, double x) {
  const int out = histogram_outside(rule, x);
  if (out >= 0) return out;
  const int near = (int)((x - rule->low) * rule->scale + 0.5);
  if (near <= 0) return 0;
  if (near >= rule->bins) return rule->bins - 1;
  return x >= histogram_even_edge(rule, near) ? near : near - 1;
}

/* x mod bins from the high half of x * inverse, which falls short of the quotient by 1 at most:
 * where it does, the rest is too large by `bins`, and where not, the difference wraps to far
 * above. */
HISTOGRAM_ANYWHERE uint32_t histogram_rest_32(const histogram_rule *rule, uint32_t x) {
#ifdef __CUDA_ARCH__
  const uint32_t high = __umulhi(x, rule->inverse_32);
#else
  const uint32_t high = (uint32_t)((uint64_t)x * rule->inverse_32 >> 32);
#endif
  const uint32_t rest = x - high * (uint32_t)rule->bins, less = rest - (uint32_t)rule->bins;
  return less < rest ? less : rest;
}

HISTOGRAM_ANYWHERE uint32_t histogram_rest_64(const histogram_rule *rule, uint64_t x) {
#ifdef __CUDA_ARCH__
  const uint64_t high = __umul64hi(x, rule->inverse_64);
#else
  const uint64_t high = (uint64_t)((unsigned __int128)x * rule->inverse_64 >> 64);
#endif
  const uint64_t rest = x - high * (uint64_t)rule->bins, less = rest - (uint64_t)rule->bins;
  return (uint32_t)(less < rest ? less : rest);
}

/* As an unsigned number a negative one has 2^32 (or 2^64) too much. */
HISTOGRAM_ANYWHERE uint32_t histogram_rest_signed_32(const histogram_rule *rule, int32_t x) {
  const uint32_t rest = histogram_rest_32(rule, (uint32_t)x) + (x < 0 ? rule->lack_32 : 0);
  const uint32_t less = rest - (uint32_t)rule->bins;
  return less < rest ? less : rest;
}

HISTOGRAM_ANYWHERE uint32_t histogram_rest_signed_64(const histogram_rule *rule, int64_t x) {
  const uint32_t rest =
      histogram_rest_64(rule, (uint64_t)x) + (x < 0 ? (uint32_t)rule->lack_64 : 0);
  const uint32_t less = rest - (uint32_t)rule->bins;
  return less < rest ? less : rest;
}

#endif
