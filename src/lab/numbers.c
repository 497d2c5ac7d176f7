#include "lab/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"

const char *const rung_numbers_kinds[] = {"random",      "special",     "equal",
                                          "alternating", "permutation", NULL};

static char *element(const rung_numbers *to, int64_t k) {
  return to->data + k * to->stride * (int64_t)rung_dtype_bytes(to->dtype);
}

static void put_integer(const rung_numbers *to, int64_t k, uint64_t value) {
  rung_traits_of(to->dtype)->store_integer(element(to, k), (int64_t)value);
}

static void put_float(const rung_numbers *to, int64_t k, double value) {
  rung_traits_of(to->dtype)->store(element(to, k), value);
}

/* Both signs, magnitudes in [1/128, 2): digits enough that sums in another order differ. */
static double draw(rung_random *random) {
  const uint64_t bits = rung_random_next(random);
  const double value = ldexp(1.0 + rung_random_double(random), -(int)(bits & 7));
  return bits & 8 ? -value : value;
}

static int64_t draw_index(rung_random *random, int64_t n) {
  return (int64_t)(rung_random_double(random) * (double)n);
}

/* One line after the other, each with another thing that goes wrong easily. */
static void fill_special_float(const rung_numbers *to, int kind, rung_random *random) {
  const double least = rung_traits_of(to->dtype)->tiny, most = rung_traits_of(to->dtype)->largest;
  for (int64_t k = 0; k < to->n; ++k) {
    double value = draw(random);
    if (kind == 3) value = -0.0;
    if (kind == 4) value = value < 0 ? -0.0 : 0.0;
    if (kind == 5) value = least * floor(value * 1000);
    if (kind == 6) value *= k % 2 ? ldexp(1.0, ilogb(most) / 2) : 1;
    if (kind == 7) value = most;
    if (kind == 8) value = k % 2 ? least : -least;
    if (kind == 10) value = fabs(value) * (k % 3 ? 1 : -0.0);
    put_float(to, k, value);
  }
  const int64_t a = draw_index(random, to->n), b = draw_index(random, to->n);
  if (kind == 0) put_float(to, a, a % 2 ? NAN : -NAN);
  if (kind == 1) put_float(to, a, a % 2 ? INFINITY : -INFINITY);
  if (kind == 2) {
    put_float(to, a, INFINITY);
    put_float(to, b, -INFINITY);
  }
  if (kind == 9) put_float(to, to->n - 1, NAN);
}

static void fill_special_integer(const rung_numbers *to, int kind, rung_random *random) {
  static const uint64_t values[] = {0,
                                    1,
                                    UINT64_MAX,
                                    (uint64_t)INT64_MAX,
                                    (uint64_t)INT64_MIN,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    127,
                                    128,
                                    255};
  enum { VALUES = sizeof values / sizeof values[0] };
  for (int64_t k = 0; k < to->n; ++k)
    put_integer(to, k, kind == VALUES ? values[draw_index(random, VALUES)] : values[kind]);
  if (kind < VALUES) put_integer(to, draw_index(random, to->n), values[(kind + 1) % VALUES]);
}

static void fill_permutation(const rung_numbers *to, rung_random *random) {
  uint64_t *order = (uint64_t *)malloc((size_t)to->n * sizeof *order);
  for (int64_t k = 0; k < to->n; ++k) {
    if (order == NULL) { /* as good a job */
      put_integer(to, k, (uint64_t)k);
      continue;
    }
    const int64_t other = draw_index(random, k + 1);
    order[k] = order[other];
    order[other] = (uint64_t)k;
  }
  for (int64_t k = 0; k < to->n && order != NULL; ++k) put_integer(to, k, order[k]);
  free(order);
}

/* A long line is filled by all processors, from where each element's draws begin. */
enum { PARTS = 64, SHORT = 1 << 16 };
typedef struct filling {
  const rung_numbers *to;
  bool random;
  int64_t index;
  double sign; /* of every other element */
  rung_random first;
} filling;

static uint64_t draws_of(const filling *all) {
  if (!all->random) return 0;
  return rung_dtype_is_float(all->to->dtype) ? 2 : 3;
}

static void fill_part(void *arg, int part, int64_t from, int64_t until) {
  const filling *all = arg;
  const rung_numbers *to = all->to;
  const bool floats = rung_dtype_is_float(to->dtype);
  rung_random random = all->first;
  (void)part;
  rung_random_skip(&random, draws_of(all) * (uint64_t)from);
  for (int64_t k = from; k < until; ++k) {
    const double sign = k % 2 ? all->sign : 1;
    const double size = all->random ? draw(&random) : 0.7 * (double)(1 + all->index);
    if (floats)
      put_float(to, k, sign * size);
    else
      put_integer(
          to, k,
          all->random ? rung_random_next(&random) : (uint64_t)((int64_t)sign * (77 + all->index)));
  }
}

void rung_numbers_fill(const rung_numbers *to, rung_numbers_kind kind, int64_t index,
                       rung_random *random) {
  if (to->n == 0) return;
  if (kind == RUNG_NUMBERS_PERMUTATION) {
    fill_permutation(to, random);
  } else if (kind == RUNG_NUMBERS_SPECIAL && rung_dtype_is_float(to->dtype)) {
    fill_special_float(to, (int)(index % 11), random);
  } else if (kind == RUNG_NUMBERS_SPECIAL) {
    fill_special_integer(to, (int)(index % 12), random);
  } else {
    filling all = {.to = to,
                   .random = kind == RUNG_NUMBERS_RANDOM,
                   .index = index,
                   .sign = kind == RUNG_NUMBERS_ALTERNATING ? -1 : 1,
                   .first = *random};
    const int parts = to->n < SHORT ? 1 : PARTS;
    rung_parallel_range(parts == 1 ? 1 : rung_processors(), to->n, parts, fill_part, &all);
    rung_random_skip(random, draws_of(&all) * (uint64_t)to->n);
  }
}

void rung_numbers_copy(const rung_numbers *to, const rung_numbers *from) {
  for (int64_t k = 0; k < to->n; ++k)
    memcpy(element(to, k), element(from, k), rung_dtype_bytes(to->dtype));
}
