/* The references: naive, wide, strict. They share no line with the rungs. Parts of a long line are
 * shared out to threads, for otherwise nobody would wait for 2^30 elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "ops/reduce/lab/cases.h"

/* A line, and what its parts came to: as many parts on every machine, so that sums in long double
 * are everywhere the same. */
enum { PARTS = 64, SHORT = 1 << 16 };
typedef struct part {
  long double sum, size;
  uint64_t integers;
  int64_t best;
} part;
typedef struct shares {
  const reduce_problem *problem;
  const void *line;
  int64_t stride;
  double *tiles; /* of floats the tiles' sums; NULL: each is found when it is asked for */
  part parts[PARTS];
} shares;

/* Calls body for every part of [0, n); returns how many there are, 1 at least. */
static int share(shares *all, int64_t n,
                 void (*body)(void *arg, int part, int64_t from, int64_t until)) {
  const int parts = n < SHORT ? 1 : PARTS;
  rung_parallel_range(parts == 1 ? 1 : rung_processors(), n, parts, body, all);
  return parts;
}

/* ---- the contract's sum of floats ---------------------------------------------------------------
 */

/* One addition in the type that sums are made in. (Rounding a sum of doubles would do, but GCC up
 * to 13 may drop the two conversions where it makes vectors of them.) */
static double add(rung_dtype dtype, double a, double b) {
  return rung_traits_of(dtype)->sum == RUNG_F32 ? (double)((float)a + (float)b) : a + b;
}

/* How many numbers there are at a level: the elements, their tiles' sums, the sums of those ... */
static int64_t length(int64_t columns, int level) {
  return level == 0 ? columns : (length(columns, level - 1) + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE;
}

/* Number `i` of a level, by the words of core/sum.h. */
static double number(const shares *all, int level, int64_t i) {
  const reduce_problem *problem = all->problem;
  if (level == 0) return rung_number_at(problem->dtype, all->line, i * all->stride);
  if (level == 1 && all->tiles != NULL) return all->tiles[i];
  const int64_t below = length(problem->columns, level - 1);
  double lane[RUNG_SUM_LANES];
  for (int l = 0; l < RUNG_SUM_LANES; ++l)
    for (int r = 0; r < RUNG_SUM_ROWS; ++r) {
      const int64_t j = i * RUNG_SUM_TILE + (int64_t)r * RUNG_SUM_LANES + l;
      const double x = j < below ? number(all, level - 1, j) : -0.0;
      lane[l] = r == 0 ? x : add(problem->dtype, lane[l], x);
    }
  for (int s = RUNG_SUM_LANES / 2; s >= 1; s /= 2)
    for (int l = 0; l < s; ++l) lane[l] = add(problem->dtype, lane[l], lane[l + s]);
  return lane[0];
}

static void sum_tiles(void *arg, int part, int64_t from, int64_t until) {
  const shares *tileless = arg, all = {.problem = tileless->problem,
                                       .line = tileless->line,
                                       .stride = tileless->stride};
  (void)part;
  for (int64_t i = from; i < until; ++i) tileless->tiles[i] = number(&all, 1, i);
}

double reduce_reference_sum(const reduce_problem *problem, const void *line, int64_t stride) {
  shares all = {.problem = problem, .line = line, .stride = stride};
  int level = 0;
  if (problem->columns == 0) return 0;
  while (length(problem->columns, level) > 1) ++level;
  const int64_t tiles = length(problem->columns, 1);
  if (tiles > 1) all.tiles = malloc((size_t)tiles * sizeof *all.tiles);
  if (all.tiles != NULL)
    rung_parallel_range(rung_processors(), tiles, tiles < PARTS ? (int)tiles : PARTS, sum_tiles,
                        &all);
  const double sum = number(&all, level, 0);
  free(all.tiles);
  return sum;
}

/* ---- every reduction ----------------------------------------------------------------------------
 */

static void sum_integers(void *arg, int part, int64_t from, int64_t until) {
  shares *all = arg;
  const rung_traits *in = rung_traits_of(all->problem->dtype);
  uint64_t sum = 0;
  for (int64_t k = from; k < until; ++k)
    sum +=
        (uint64_t)in->load_integer((const char *)all->line + k * all->stride * (int64_t)in->bytes);
  all->parts[part].integers = sum;
}

static void sum_strictly(shares *all, void *result) {
  const reduce_problem *problem = all->problem;
  const double n = (double)problem->columns;
  const rung_traits *in = rung_traits_of(problem->dtype), *out = rung_traits_of(problem->result);
  if (in->kind == RUNG_FLOAT) {
    const double sum = reduce_reference_sum(problem, all->line, all->stride);
    out->store(result, problem->what == RUNG_MEAN ? sum / n : sum);
    return;
  }
  uint64_t sum = 0;
  const int parts = share(all, problem->columns, sum_integers);
  for (int i = 0; i < parts; ++i) sum += all->parts[i].integers;
  if (problem->what == RUNG_MEAN)
    out->store(result, (in->kind == RUNG_SIGNED ? (double)(int64_t)sum : (double)sum) / n);
  else
    out->store_integer(result, (int64_t)sum);
}

/* IEEE 754-2019 in words. Integers are never NaN, and their zero has one sign. A long double holds
 * every value of every type. */
static bool wins(const shares *all, int64_t at, int64_t best) {
  const reduce_problem *problem = all->problem;
  const long double x = rung_number_exact(problem->dtype, all->line, at * all->stride);
  const long double held = rung_number_exact(problem->dtype, all->line, best * all->stride);
  if (isnan(held)) return false;
  if (isnan(x)) return true;
  const bool below = signbit(x) && !signbit(held), above = !signbit(x) && signbit(held);
  if (x == held) return problem->what == RUNG_MIN ? below : above;
  return problem->what == RUNG_MIN ? x < held : x > held;
}

static void find_best(void *arg, int part, int64_t from, int64_t until) {
  shares *all = arg;
  int64_t best = from;
  for (int64_t k = from + 1; k < until; ++k)
    if (wins(all, k, best)) best = k;
  all->parts[part].best = best;
}

void reduce_reference_strict(const reduce_problem *problem, const void *line, int64_t stride,
                             void *result) {
  shares all = {.problem = problem, .line = line, .stride = stride};
  if (problem->what == RUNG_SUM || problem->what == RUNG_MEAN) {
    sum_strictly(&all, result);
    return;
  }
  const size_t size = rung_dtype_bytes(problem->dtype);
  const int parts = share(&all, problem->columns, find_best);
  int64_t best = all.parts[0].best;
  for (int i = 1; i < parts; ++i)
    if (wins(&all, all.parts[i].best, best)) best = all.parts[i].best;
  memcpy(result, (const char *)line + best * stride * (int64_t)size, size);
}

static void sum_widely(void *arg, int index, int64_t from, int64_t until) {
  shares *all = arg;
  part sums = {0};
  for (int64_t k = from; k < until; ++k) {
    const long double x = rung_number_exact(all->problem->dtype, all->line, k * all->stride);
    sums.sum += x;
    sums.size += fabsl(x);
  }
  all->parts[index] = sums;
}

double reduce_reference_wide(const reduce_problem *problem, const void *line, int64_t stride,
                             double *magnitude) {
  shares all = {.problem = problem, .line = line, .stride = stride};
  long double sum = 0, size = 0;
  const int parts = share(&all, problem->columns, sum_widely);
  for (int i = 0; i < parts; ++i) {
    sum += all.parts[i].sum;
    size += all.parts[i].size;
  }
  const long double n = problem->what == RUNG_MEAN ? (long double)problem->columns : 1;
  *magnitude = (double)(size / n);
  return (double)(sum / n);
}
