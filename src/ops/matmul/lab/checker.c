/* What must come out of a case of matmul, and whether it did. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "lab/compare.h"
#include "lab/numbers.h"
#include "ops/matmul/lab/cases.h"

/* Rows of which the contract's results are held to its bound, as many of their columns as so many
 * products allow. */
enum { WIDE_ROWS = 5, WIDE_PRODUCTS = 1 << 24, PARTS = 64 };

/* case->expected: of the base rows of the base matrices the contract's results. */
typedef struct expected {
  char *results;
  double worst; /* of what is held to the bound: the largest error, as a part of the magnitudes */
  int64_t wrong, first; /* of those, elements beyond the contract's bound */
  double
      *magnitudes; /* of the base rows; NULL until an order that is not the contract's needs it */
  const matmul_mode *mode; /* what they are magnitudes for */
} expected;

static double bound_of(const matmul_problem *p) {
  const rung_types types = p->types;
  if (p->bits > 0) return rung_traits_of(types.out)->eps + 0x3p-24; /* its roundings alone */
  if (!rung_dtype_is_float(types.accumulate)) return 0;
  const double stored = types.out != types.accumulate ? rung_traits_of(types.out)->eps : 0;
  return ((double)p->k + 2) * rung_traits_of(types.accumulate)->eps + stored;
}

/* What a loose rung rounds f32 factors to: what it is named for, else TF32; NULL: nothing. */
static const matmul_mode *mode_of(const matmul_problem *p, const rung_row *rung) {
  static const matmul_mode *const modes[] = {&matmul_tf32x3, &matmul_bf16, &matmul_f16};
  if (rung->order != RUNG_LOOSE || p->types.in != RUNG_F32) return NULL;
  const size_t length = strlen(rung->name);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    const size_t end = strlen(modes[i]->rung);
    if (length >= end && strcmp(rung->name + length - end, modes[i]->rung) == 0) return modes[i];
  }
  return &matmul_tf32;
}

/* What results of another order may differ by from the contract's: these are within its bound of
 * the exact ones; so are the textbook's. Tensor cores lose up to twice as much, and what rounding
 * the factors costs. */
static double other_bound(const matmul_problem *p, rung_order order, const matmul_mode *mode) {
  if (order != RUNG_LOOSE) return 2 * bound_of(p);
  return 3 * bound_of(p) + (mode != NULL ? 2 * mode->unit + mode->unit * mode->unit : 0);
}

static int64_t row_bytes(const matmul_problem *p) {
  return p->n * (int64_t)rung_dtype_bytes(p->types.out);
}

/* ---- what must come out -----------------------------------------------------------------------
 */

static matmul_place place_of(const rung_case *test_case, int64_t base_row) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  const int64_t rows = matmul_base_rows(p);
  return (matmul_place){test_case->arrays, base_row / rows, base_row % rows};
}

typedef struct making {
  const rung_case *test_case;
  expected *into;
  atomic_bool failed; /* for want of memory */
} making;

static void make_rows(void *arg, int part, int64_t from, int64_t until) {
  making *job = (making *)arg;
  const matmul_problem *p = (const matmul_problem *)job->test_case->problem;
  void *chain = malloc((size_t)p->n * MATMUL_CHAIN);
  (void)part;
  if (chain == NULL) job->failed = true;
  for (int64_t r = from; r < until && chain != NULL; r++) {
    const matmul_place at = place_of(job->test_case, r);
    matmul_reference_strict(p, &at, chain, job->into->results + r * row_bytes(p));
  }
  free(chain);
}

/* What the contract's result may be off by, where its terms have these magnitudes. */
static double most_off(const matmul_problem *p, const matmul_place *at, int64_t column,
                       double magnitude, double tiny) {
  if (p->bits == 0) return bound_of(p) * magnitude + tiny;
  const double error = (double)matmul_reference_fixed_error(p, at, column);
  return error + bound_of(p) * (magnitude + error) + tiny;
}

/* Whether the contract's own results are within the contract's bound. */
static void hold_to_bound(const rung_case *test_case, expected *e) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  const int64_t rows = matmul_base_batch(p) * matmul_base_rows(p);
  const rung_traits *sum = rung_traits_of(p->bits > 0 ? RUNG_F32 : p->types.accumulate),
                    *out = rung_traits_of(p->types.out);
  const double terms = p->bits > 0 ? 1 : (double)p->k + 2,
               tiny = terms * (fabs(p->alpha) + 1) * sum->tiny + out->tiny;
  const int64_t each =
      1 + (int64_t)((double)WIDE_ROWS * (double)p->n * (double)p->k / WIDE_PRODUCTS);
  if (sum->kind != RUNG_FLOAT) return;
  for (int64_t r = 0; r < rows && r < WIDE_ROWS; r++)
    for (int64_t j = r % each; j < p->n; j += each) {
      const matmul_place at = place_of(test_case, r);
      const matmul_wide wide = matmul_reference_wide(p, &at, j);
      const double found = rung_number_at(p->types.out, e->results + r * row_bytes(p), j);
      const double magnitude = (double)wide.magnitude, error = fabs(found - (double)wide.sum);
      if (!(magnitude <= out->largest / 4) || isnan(wide.sum)) continue; /* it may overflow */
      if (error > tiny && error / magnitude > e->worst) e->worst = error / magnitude;
      if (error <= most_off(p, &at, j, magnitude, tiny)) continue;
      if (e->wrong++ == 0) e->first = r * p->n + j;
    }
}

rung_status matmul_expect(rung_case *test_case, rung_error *error) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  const int64_t rows = matmul_base_batch(p) * matmul_base_rows(p);
  if (test_case->expected != NULL) return RUNG_OK;
  expected *e = (expected *)calloc(1, sizeof *e);
  making job = {.test_case = test_case, .into = e};
  bool good = (test_case->expected = e) != NULL;
  good = good && (e->results = (char *)malloc((size_t)(rows * row_bytes(p)))) != NULL;
  if (good) rung_parallel_range(rung_processors(), rows, PARTS, make_rows, &job);
  if (good && !job.failed) {
    hold_to_bound(test_case, e);
    return RUNG_OK;
  }
  matmul_forget(test_case);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no host memory for the references",
                   test_case->label);
}

void matmul_forget(rung_case *test_case) {
  expected *e = (expected *)test_case->expected;
  if (e != NULL) free(e->results);
  if (e != NULL) free(e->magnitudes);
  free(e);
  test_case->expected = NULL;
}

/* ---- the verdict ------------------------------------------------------------------------------
 */

static void check_row(const matmul_problem *p, const char *found, const char *strict, int64_t first,
                      rung_comparison *comparison) {
  const rung_dtype dtype = p->types.out;
  for (int64_t j = 0; j < p->n; j++)
    if (!rung_same_bits(dtype, found, strict, j))
      rung_compare_wrong(comparison, 0, first + j, rung_number_at(dtype, found, j),
                         rung_number_at(dtype, strict, j), rung_is_poison(dtype, found, j));
}

/* The base row that row r of all stands for. */
static int64_t base_of(const matmul_problem *p, int64_t r) {
  const int64_t rows = matmul_base_rows(p);
  return r / p->m % MATMUL_BASE * rows + r % p->m % rows;
}

static void explain(const rung_case *test_case, const char *data, rung_comparison *comparison) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  const expected *e = (const expected *)test_case->expected;
  const int64_t first = comparison->first, row = first / p->n, column = first % p->n;
  char found[RUNG_NUMBER_TEXT], wanted[RUNG_NUMBER_TEXT], where[96];
  rung_number_text(p->types.out, data, first, found);
  rung_number_text(p->types.out, e->results, base_of(p, row) * p->n + column, wanted);
  snprintf(where, sizeof where, "row %" PRId64 ", column %" PRId64 " of matrix %" PRId64,
           row % p->m, column, row / p->m);
  rung_compare_say(comparison, p->batch * p->m * p->n, "elements", where, found, wanted, true);
}

static void make_magnitudes(void *arg, int part, int64_t from, int64_t until) {
  const making *job = (const making *)arg;
  const matmul_problem *p = (const matmul_problem *)job->test_case->problem;
  (void)part;
  for (int64_t r = from; r < until; r++) {
    const matmul_place at = place_of(job->test_case, r);
    matmul_reference_magnitudes(p, job->into->mode, &at, job->into->magnitudes + r * p->n);
  }
}

static bool find_magnitudes(const rung_case *test_case, const matmul_mode *mode, expected *e) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  const int64_t rows = matmul_base_batch(p) * matmul_base_rows(p);
  making job = {.test_case = test_case, .into = e};
  if (e->magnitudes != NULL && e->mode == mode) return true;
  if (e->magnitudes == NULL)
    e->magnitudes = (double *)malloc((size_t)(rows * p->n) * sizeof *e->magnitudes);
  if (e->magnitudes == NULL) return false;
  e->mode = mode;
  rung_parallel_range(rung_processors(), rows, PARTS, make_magnitudes, &job);
  return true;
}

/* Whether tensor cores may make that value of a sum: a NaN is kept, an infinity may become one, and
 * nothing is said where the magnitudes overflow. */
static bool cores_may_make(const matmul_problem *p, const rung_wide_sum *sum, double most,
                           double value) {
  const rung_traits *in = rung_traits_of(p->types.accumulate), *out = rung_traits_of(p->types.out);
  const double tiny = 2 * ((double)p->k + 2) * (fabs(p->alpha) + 1) * in->tiny + out->tiny;
  if (isnan(sum->magnitude)) return isnan(value);
  if (isinf(sum->magnitude)) return !isfinite(value);
  if (sum->magnitude > most) return true;
  return fabs(value - sum->wide) <= sum->bound * sum->magnitude + tiny;
}

/* A row of an order that is not the contract's: other bits are let pass within a bound. */
static void check_loosely(const matmul_problem *p, bool loose, const char *found,
                          const char *strict, const double *magnitude, int64_t first,
                          rung_comparison *comparison) {
  const rung_dtype dtype = p->types.out;
  const double most = rung_traits_of(dtype)->largest / 4;
  for (int64_t j = 0; j < p->n; j++) {
    if (rung_same_bits(dtype, found, strict, j)) continue;
    const double value = rung_number_at(dtype, found, j), wanted = rung_number_at(dtype, strict, j);
    const rung_wide_sum sum = {wanted, magnitude[j], comparison->bound};
    if (isfinite(wanted) && magnitude[j] <= most && magnitude[j] > 0)
      rung_compare_error(comparison, fabs(value - wanted) / magnitude[j]);
    const bool may_be =
        loose ? cores_may_make(p, &sum, most, value) : rung_sum_may_be(dtype, &sum, most, value);
    if (!rung_is_poison(dtype, found, j) && may_be)
      comparison->different++;
    else
      rung_compare_wrong(comparison, 0, first + j, value, wanted, rung_is_poison(dtype, found, j));
  }
}

/* Where it passed. */
static void say_what_passed(const matmul_problem *p, const expected *e,
                            rung_comparison *comparison) {
  if (e->wrong > 0)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64
             " of the contract's results are beyond its bound; the first is number "
             "%" PRId64,
             e->wrong, e->first);
  else if (comparison->different > 0)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64 " elements have other bits than the contract's",
             comparison->different, p->batch * p->m * p->n);
}

/* Integers have the contract's bits in every order. */
void matmul_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                  rung_comparison *comparison) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  expected *e = (expected *)test_case->expected;
  const int64_t bytes = row_bytes(p);
  const bool loose = rung->order == RUNG_LOOSE,
             strict_only =
                 rung->order == RUNG_CANONICAL || !rung_dtype_is_float(p->types.accumulate);
  *comparison = (rung_comparison){.first = -1, .bound = bound_of(p), .worst = e->worst};
  if (!strict_only) {
    const matmul_mode *mode = mode_of(p, rung);
    comparison->bound = other_bound(p, rung->order, mode);
    comparison->worst = 0;
    if (!find_magnitudes(test_case, mode, e)) {
      snprintf(comparison->sentence, sizeof comparison->sentence,
               "no host memory for what results may differ by");
      return;
    }
  }
  for (int64_t r = 0; r < p->batch * p->m; r++) {
    const int64_t base = base_of(p, r);
    const char *found = outputs[0].data + r * bytes, *strict = e->results + base * bytes;
    if (memcmp(found, strict, (size_t)bytes) == 0) continue;
    if (strict_only)
      check_row(p, found, strict, r * p->n, comparison);
    else
      check_loosely(p, loose, found, strict, e->magnitudes + base * p->n, r * p->n, comparison);
  }
  comparison->pass = comparison->wrong == 0 && e->wrong == 0;
  if (comparison->wrong > 0)
    explain(test_case, outputs[0].data, comparison);
  else
    say_what_passed(p, e, comparison);
}
