/* How far orders of arithmetic stray from the true stencil: the contract's, and those it was
 * chosen from. Without arguments a test: the contract's order keeps its promise, and the meter
 * sees the drift of one that does not. With --table it measures more rows and prints the tables of
 * docs/NUMERICS.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "ops/stencil/stencil.h"

#define INLINE static inline __attribute__((always_inline))

enum { COLUMNS = 4096, RADIUS = 2, TAPS = 5, PRESETS = 5, SEEDS = 4 };

typedef enum order {
  OURS,
  GRID_FROM_LEFT,
  ROUNDED_FROM_RIGHT,
  ROUNDED_FROM_LEFT,
  TEXTBOOK,
  INTEGER_EACH,
  INTEGER_FIVE,
  ORDERS
} order;

static const char *const order_names[] = {
    "**on the grid, from the right: the contract**",
    "on the grid, from the left",
    "divided weights, each rounded by itself, from the right",
    "divided weights, each rounded by itself, from the left",
    "textbook: weights as given, a division by 5 at the end",
    "weights as integers, a division by 100 at every step",
    "weights as integers, one rescaling every 5 steps",
};

typedef struct test_case {
  rung_radiator_model model;
  int steps;
  int64_t fixed;
} test_case;

/* Errors of an order: of the largest magnitude in the true row, and of each element's own. */
typedef struct errors {
  double start;   /* over the largest value of the row as it started: the norm of the bound */
  double row;     /* over the largest value of the true row */
  double element; /* over the element's own true value */
} errors;

#define REAL float
#define FUSED fmaf
#define NAME(x) x##_f32
#include "orders.h"
#undef REAL
#undef FUSED
#undef NAME

#define REAL double
#define FUSED fma
#define NAME(x) x##_f64
#include "orders.h"

/* The truth: every preset's weights are whole twentieths, so 20 times them over 100 is exact but
 * for the one division; in long double, 2048 times finer than double where that is x87's. */
static void truth(const test_case *test_case, const double *in, long double *a, long double *b) {
  long double w[TAPS], *old = a, *fresh = b;
  for (int k = 0; k < TAPS; k++) w[k] = nearbyint(20 * test_case->model.weights[k]);
  for (int64_t j = 0; j < COLUMNS; j++) a[j] = b[j] = in[j];
  for (int s = 0; s < test_case->steps; s++) {
    for (int64_t j = test_case->fixed; j < COLUMNS; j++) {
      long double sum = 0;
      for (int k = 0; k < TAPS; k++) {
        int64_t from = j + k - RADIUS;
        if (from < 0) from += COLUMNS;
        if (from >= COLUMNS) from -= COLUMNS;
        sum += w[k] * old[from];
      }
      fresh[j] = sum / 100;
    }
    long double *swap = old;
    old = fresh;
    fresh = swap;
  }
  if (old != a) memcpy(a, old, COLUMNS * sizeof *a);
}

static void weights_of(const test_case *test_case, order order, rung_dtype dtype, double *w) {
  const rung_radiator_model *model = &test_case->model;
  const bool integers = order == INTEGER_EACH || order == INTEGER_FIVE;
  const bool grid = order == OURS || order == GRID_FROM_LEFT;
  if (grid)
    stencil_grid_weights(model->weights, TAPS, model->divide, dtype == RUNG_F32 ? 24 : 53, w);
  for (int k = 0; k < TAPS && !grid; k++)
    w[k] = integers            ? nearbyint(20 * model->weights[k])
           : order == TEXTBOOK ? model->weights[k]
                               : model->weights[k] / model->divide;
}

static void measure_row(const test_case *test_case, rung_dtype dtype, const double *in,
                        const long double *want, bool all, errors *worst) {
  static double got[COLUMNS];
  long double largest = 0, start = 0;
  for (int64_t j = 0; j < COLUMNS; j++) {
    largest = fmaxl(largest, fabsl(want[j]));
    start = fmaxl(start, fabsl((long double)in[j]));
  }
  for (order order = OURS; order < ORDERS; order++) {
    double w[TAPS];
    if (!all && order != OURS && order != ROUNDED_FROM_RIGHT) continue;
    weights_of(test_case, order, dtype, w);
    if (order == OURS)
      (dtype == RUNG_F32 ? ours_f32 : ours_f64)(test_case, in, got);
    else
      (dtype == RUNG_F32 ? other_f32 : other_f64)(test_case, order, w, in, got);
    for (int64_t j = 0; j < COLUMNS; j++) {
      const long double error = fabsl(got[j] - want[j]);
      /* Written so that a NaN counts. */
      if (!(error / start <= worst[order].start)) worst[order].start = (double)(error / start);
      if (!(error / largest <= worst[order].row)) worst[order].row = (double)(error / largest);
      if (!(error / fabsl(want[j]) <= worst[order].element))
        worst[order].element = (double)(error / fabsl(want[j]));
    }
  }
}

/* The worst of SEEDS * `rows` random rows under every preset: worst[preset][order]. */
static void measure(rung_dtype dtype, int steps, int rows, bool all,
                    errors worst[PRESETS][ORDERS]) {
  static double in[COLUMNS];
  static long double a[COLUMNS], b[COLUMNS];
  memset(worst, 0, PRESETS * sizeof *worst);
  for (int preset = 0; preset < PRESETS; preset++) {
    test_case test_case = {.steps = steps};
    if (rung_radiator_preset(rung_radiator_presets()[preset], &test_case.model) != RUNG_OK) abort();
    test_case.fixed = test_case.model.fixed;
    for (int row = 0; row < SEEDS * rows; row++) {
      rung_random random = {(uint64_t)(row % SEEDS + 1) + ((uint64_t)(row / SEEDS) << 32)};
      for (int64_t j = 0; j < COLUMNS; j++)
        in[j] = dtype == RUNG_F32 ? rung_random_float(&random) : rung_random_double(&random);
      truth(&test_case, in, a, b);
      measure_row(&test_case, dtype, in, a, all, worst[preset]);
    }
  }
}

/* ---- the tables --------------------------------------------------------------------------- */

static int print_tables(void) {
  enum { ROWS = 8 };
  static const int steps[] = {100, 1000};
  errors worst[PRESETS][ORDERS];
  for (int t = 0; t < 4; t++) {
    const rung_dtype dtype = t < 2 ? RUNG_F32 : RUNG_F64;
    measure(dtype, steps[t % 2], ROWS, true, worst);
    printf("%s, %d steps:\n\n| order |", t < 2 ? "Float" : "Double", steps[t % 2]);
    for (int preset = 0; preset < PRESETS; preset++)
      printf(" %s |", rung_radiator_presets()[preset]);
    printf(" worst | of the true row | of an element |\n|---|---|---|---|---|---|---|---|---|\n");
    for (order order = OURS; order < ORDERS; order++) {
      double start = 0, row = 0, element = 0;
      printf("| %s |", order_names[order]);
      for (int preset = 0; preset < PRESETS; preset++) {
        const errors *e = &worst[preset][order];
        printf(" %.1e |", e->start);
        start = fmax(start, e->start);
        row = fmax(row, e->row);
        element = fmax(element, e->element);
      }
      printf(order == OURS ? " **%.1e** | %.1e | %.1e |\n" : " %.1e | %.1e | %.1e |\n", start, row,
             element);
    }
    if (t < 3) printf("\n");
  }
  return 0;
}

/* ---- the test ----------------------------------------------------------------------------- */

/* What docs/NUMERICS.md promises of 1000 steps: of the start's largest value, of the true row's. */
static const errors promised[] = {{.start = 2e-6, .row = 2.5e-6}, {.start = 4e-15, .row = 6e-15}};

static int check(void) {
  errors worst[PRESETS][ORDERS];
  double drift = 0;
  int failed = 0;
  for (int t = 0; t < 2; t++) {
    const rung_dtype dtype = t == 0 ? RUNG_F32 : RUNG_F64;
    measure(dtype, 1000, 2, false, worst);
    for (int preset = 0; preset < PRESETS; preset++) {
      const errors *e = &worst[preset][OURS];
      const bool kept = e->start <= promised[t].start && e->row <= promised[t].row;
      printf("%s, preset %s, 1000 steps: %.2e and %.2e, promised %.1e and %.1e%s\n",
             rung_dtype_name(dtype), rung_radiator_presets()[preset], e->start, e->row,
             promised[t].start, promised[t].row, kept ? "" : ": FAILED");
      failed += !kept;
      if (t == 0) drift = fmax(drift, worst[preset][ROUNDED_FROM_RIGHT].start);
    }
  }
  if (!(drift > 2 * promised[0].start)) {
    printf("weights rounded one by one: %.2e; their drift was not seen: FAILED\n", drift);
    failed++;
  }
  return failed != 0;
}

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "--table") == 0) return print_tables();
  if (count == 1) return check();
  fprintf(stderr, "errors: the argument is \"%s\"; expected: --table or nothing\n", words[1]);
  return 2;
}
