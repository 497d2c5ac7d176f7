/* Grids, matrices and images over ranks that are refused, and parts in other shapes. */
#include <stdio.h>

#include "ops/ranks/grids.h"

enum { RANKS = 3, COLUMNS = 20, ROWS = 9, CELLS = ROWS * COLUMNS, PITCH = 31 };

static rung_context *contexts[RANKS_MOST];
static float grid[ROWS * PITCH], found[ROWS * PITCH], wanted[ROWS * PITCH];
static char sentences[RANKS][RUNG_TEXT];
static rung_status statuses[RANKS_MOST];

static int open_all(void **state) {
  (void)state;
  rung_random random = {5};
  for (int i = 0; i < ROWS * PITCH; i++) grid[i] = rung_random_float(&random);
  for (int r = 0; r < RANKS; r++)
    if (rung_open(&contexts[r], &(rung_options){.device = "cpu", .threads = 1}) != RUNG_OK)
      return -1;
  return 0;
}

static int close_all(void **state) {
  (void)state;
  for (int r = 0; r < RANKS; r++) rung_close(contexts[r]);
  return 0;
}

/* What ranks pass that they should not. Zeros: all is well. */
typedef struct trial {
  int64_t columns, rank_columns;           /* more than they should, in all ranks or in rank 1 */
  int64_t steps, means, rows, region, cut; /* more than they should, in rank 1; cut: in a row */
  double weight, alpha;
  bool gaps, fast, constant;
} trial;

static rung_status smooth(rung_context *context, const rung_ranks *ranks, void *user) {
  const trial *t = (const trial *)user;
  const int r = ranks->rank, odd = r == 1;
  const int64_t first = 3 * COLUMNS + (t->cut ? 7 : 0);
  const int64_t cuts[RANKS + 1] = {0, first, t->gaps ? first + 3 * COLUMNS : 6 * COLUMNS, CELLS};
  const double weights[] = {1, 2 + odd * t->weight, 1};
  const rung_stencil_model model = {
      .radius = 1, .weights = weights, .divide = 4, .steps = 3 + odd * t->steps};
  int64_t count = cuts[r + 1] - cuts[r] + odd * t->rows;
  int64_t rows = cuts[r + 1] / COLUMNS - cuts[r] / COLUMNS + odd * t->means;
  int64_t shape[2] = {(count + COLUMNS - 1) / COLUMNS, COLUMNS}, stride[2] = {PITCH, 1};
  float sums[ROWS + 2];
  DLTensor in = tensor(grid + cuts[r], f32, 1, &count, NULL);
  DLTensor out = tensor(found + cuts[r], f32, 1, &count, NULL);
  DLTensor means = tensor(sums, f32, 1, &rows, NULL);
  if (t->gaps && (odd || !t->cut)) {
    in = tensor(grid + cuts[r] / COLUMNS * PITCH, f32, 2, shape, stride);
    out = tensor(found + cuts[r] / COLUMNS * PITCH, f32, 2, shape, stride);
  }
  const rung_status status = rung_stencil_ranks(
      context, ranks, &model, COLUMNS + t->columns + odd * t->rank_columns, &in, &out,
      t->means ? &means : NULL, &(rung_call){.math = t->fast ? RUNG_MATH_FAST : RUNG_MATH_STRICT});
  strcpy(sentences[r], rung_last_error(context));
  return status;
}

/* Columns of C are those of the grid's rows; A is of two columns, one of them rank 1's. */
static rung_status multiply(rung_context *context, const rung_ranks *ranks, void *user) {
  const trial *t = (const trial *)user;
  const int r = ranks->rank, odd = r == 1;
  int64_t a_shape[2] = {3, 2 + t->columns}, b_shape[2] = {r < 2 ? 1 : 0, COLUMNS};
  int64_t c_shape[2] = {3 + odd * t->rows, COLUMNS}, batch[3] = {1, 3, 2};
  DLTensor a = tensor(grid, f32, 2, a_shape, NULL), b = tensor(grid, f32, 2, b_shape, NULL);
  DLTensor c = tensor(found + 3 * COLUMNS * r, f32, 2, c_shape, NULL);
  if (odd && t->cut) a = tensor(grid, f32, 3, batch, NULL);
  const rung_status status =
      rung_matmul_ranks(context, ranks, 1 + odd * t->alpha, &a, &b, 0, &c, NULL);
  strcpy(sentences[r], rung_last_error(context));
  return status;
}

static rung_status filter(rung_context *context, const rung_ranks *ranks, void *user) {
  const trial *t = (const trial *)user;
  const int r = ranks->rank, odd = r == 1;
  const float kernel[3] = {1, 2 + (float)(odd * t->weight), 1};
  int64_t shape[2] = {3, COLUMNS}, smaller[2] = {3 - odd * t->rows, COLUMNS}, extents[2] = {3, 1};
  const rung_filter_model model = {.edge = odd && t->constant ? RUNG_EDGE_CONSTANT : RUNG_EDGE_WRAP,
                                   .region = {odd * t->region, 0}};
  DLTensor in = tensor(grid + 3 * COLUMNS * r, f32, 2, shape, NULL);
  DLTensor of = tensor(kernel, f32, 2, extents, NULL);
  DLTensor out = tensor(found + 3 * COLUMNS * r, f32, 2, smaller, NULL);
  const rung_status status = rung_correlate_ranks(context, ranks, &model, &in, &of, &out, NULL);
  strcpy(sentences[r], rung_last_error(context));
  return status;
}

static void expect(ranks_work *work, trial trial, rung_status status, const char *part) {
  memset(found, 0x5a, sizeof found);
  memset(wanted, 0x5a, sizeof wanted);
  ranks_run(RANKS, contexts, work, &trial, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < RANKS; r++) {
    if (statuses[r] != status || strstr(sentences[r], part) == NULL)
      fail_msg("rank %d: %d \"%s\"; expected: %s", r, (int)statuses[r], sentences[r], part);
    if (status != RUNG_OK) assert_string_equal(sentences[r], sentences[0]);
  }
  if (status != RUNG_OK) assert_memory_equal(found, wanted, sizeof found);
}

static void grids_that_do_not_fit_are_refused(void **state) {
  (void)state;
  expect(smooth, (trial){0}, RUNG_OK, "");
  expect(smooth, (trial){.columns = 3}, RUNG_BAD_SHAPE,
         "the ranks' parts together have 180 elements; expected: whole rows of 23 columns");
  expect(smooth, (trial){.columns = -COLUMNS}, RUNG_BAD_SHAPE, "rank 0: columns is 0; expected:");
  expect(smooth, (trial){.rank_columns = 3}, RUNG_BAD_ARGUMENT,
         "rank 1 calls rung_stencil_ranks(radius 1, 3 steps, 23 columns of f32, a model with the "
         "hash ");
  expect(smooth, (trial){.weight = 0.5}, RUNG_BAD_ARGUMENT, "rank 1 calls rung_stencil_ranks(rad");
  expect(smooth, (trial){.steps = 1}, RUNG_BAD_ARGUMENT,
         "rank 1 calls rung_stencil_ranks(radius 1, 4 steps");
  expect(smooth, (trial){.rows = 1}, RUNG_BAD_SHAPE, "together have 181 elements; expected:");
  expect(smooth, (trial){.means = 1}, RUNG_BAD_SHAPE,
         "rank 1: means has 4 elements; expected: 3, one for every row whose last element is this");
}

static void products_that_do_not_fit_are_refused(void **state) {
  (void)state;
  expect(multiply, (trial){0}, RUNG_OK, "");
  expect(multiply, (trial){.columns = 1}, RUNG_BAD_SHAPE,
         "a has 3 columns and the ranks' parts of b have 2 rows together; expected:");
  expect(multiply, (trial){.alpha = 1}, RUNG_BAD_ARGUMENT,
         "rank 1 calls rung_matmul_ranks(2 columns of f32 by 20 of f32, alpha 2, beta 0)");
  expect(multiply, (trial){.rows = 1}, RUNG_BAD_SHAPE, "rank 1: c is 4 by 20; expected: 3");
  expect(multiply, (trial){.cut = 1}, RUNG_BAD_SHAPE, "rank 1: ");
}

static void images_that_do_not_fit_are_refused(void **state) {
  (void)state;
  expect(filter, (trial){0}, RUNG_OK, "");
  expect(filter, (trial){.region = 1, .rows = 1}, RUNG_BAD_ARGUMENT,
         "rank 1: model.region is 1, 0; expected over ranks: 0, 0");
  expect(filter, (trial){.rows = 1}, RUNG_BAD_SHAPE,
         "rank 1: out has 2 rows of 20 columns; expected over ranks: 3 of 20, as in");
  expect(filter, (trial){.constant = true}, RUNG_BAD_ARGUMENT,
         "rank 1 calls rung_correlate_ranks(");
  expect(filter, (trial){.weight = 1}, RUNG_BAD_ARGUMENT, "rank 1 calls rung_correlate_ranks(");
}

/* Rows may have gaps between them, where none is cut. */
static void rows_may_be_apart(void **state) {
  (void)state;
  const double weights[] = {1, 2, 1};
  const rung_stencil_model model = {.radius = 1, .weights = weights, .divide = 4, .steps = 3};
  int64_t shape[2] = {ROWS, COLUMNS}, stride[2] = {PITCH, 1};
  DLTensor in = tensor(grid, f32, 2, shape, stride), out = tensor(wanted, f32, 2, shape, stride);
  expect(smooth, (trial){.gaps = true}, RUNG_OK, "");
  memset(wanted, 0x5a, sizeof wanted);
  assert_int_equal(rung_stencil(contexts[0], &model, &in, &out, NULL, NULL), RUNG_OK);
  assert_memory_equal(found, wanted, sizeof found);
  expect(smooth, (trial){.gaps = true, .cut = 1}, RUNG_BAD_SHAPE,
         "rank 1: in has rows, and its first element is in column 7 of the grid; expected:");
}

/* Rows that are cut have the contract's bits, whatever is allowed. */
static void fast_math_changes_no_cut_row(void **state) {
  (void)state;
  float first[COLUMNS];
  expect(smooth, (trial){.cut = 1}, RUNG_OK, "");
  memcpy(first, found + 3 * COLUMNS, sizeof first);
  expect(smooth, (trial){.cut = 1, .fast = true}, RUNG_OK, "");
  assert_memory_equal(first, found + 3 * COLUMNS, sizeof first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grids_that_do_not_fit_are_refused),
      cmocka_unit_test(products_that_do_not_fit_are_refused),
      cmocka_unit_test(images_that_do_not_fit_are_refused),
      cmocka_unit_test(rows_may_be_apart),
      cmocka_unit_test(fast_math_changes_no_cut_row),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
