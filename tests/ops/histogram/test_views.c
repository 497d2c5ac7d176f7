/* rung_histogram() of views of every kind, into views of every kind: what the elements, gathered
 * one by one, come to. */
#include "ops/histogram/outside.h"
#include "ops/view.h"

enum { ROOM = 200000, BINS = 9, RESULTS = 8192 };
static int32_t numbers[ROOM];
static float reals[ROOM];
static int64_t results[RESULTS], outer[RESULTS];

/* Where the element of row-major number `i` lies, from the middle of `numbers` on. */
static int64_t place(const view *v, int64_t i) {
  return ROOM / 2 + offset_of(v, i);
}

/* Of the whole (rows 1) or of every row; counts and outside with steps of `step` numbers, row by
 * row `gap` further on. */
static void check(rung_context *context, const char *rung, const view *v, bool by_row, bool modulo,
                  int64_t step, int64_t gap) {
  const rung_bins bins = {0, modulo ? RUNG_BINS_MODULO : RUNG_BINS_EVEN, BINS, -2, 2, NULL};
  const int64_t rows = by_row ? v->shape[0] : 1, columns = rows > 0 ? count_of(v) / rows : 0;
  int64_t wanted[BINS + 3];
  view copy = *v;
  const int64_t row = BINS * step + gap, origin = step < 0 ? -(BINS - 1) * step : 0;
  const int64_t apart = row < 0 ? -row : row, base = origin + (step < 0 ? 64 : 0);
  int64_t shape[2] = {rows, BINS}, stride[2] = {apart, step};
  int64_t outer_shape[2] = {rows, 3}, outer_stride[2] = {7, 2};
  for (int i = 0; i < RESULTS; ++i) results[i] = outer[i] = 12345;
  DLTensor in = tensor(modulo ? (void *)(numbers + ROOM / 2) : reals + ROOM / 2, modulo ? i32 : f32,
                       v->ndim, copy.shape, copy.stride);
  DLTensor counts =
      tensor(results + base, by_row ? u64 : i64, by_row ? 2 : 1, shape + !by_row, stride + !by_row);
  DLTensor outside =
      tensor(outer, i64, by_row ? 2 : 1, outer_shape + !by_row, outer_stride + !by_row);
  rung_call call = {.rung = rung};
  if (rung_histogram(context, &bins, &in, &counts, &outside, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  int64_t touched = 0;
  for (int64_t r = 0; r < rows; ++r) {
    memset(wanted, 0, sizeof wanted);
    for (int64_t k = 0; k < columns; ++k) {
      const int64_t at = place(v, r * columns + k);
      if (modulo)
        wanted[(numbers[at] % BINS + BINS) % BINS] += 1;
      else if (!(reals[at] >= -2 && reals[at] <= 2))
        wanted[BINS + (reals[at] < -2 ? 0 : reals[at] > 2 ? 1 : 2)] += 1;
      else
        for (int b = BINS - 1; b >= 0; --b)
          if ((float)(b * (4.0 / BINS) - 2) <= reals[at]) {
            wanted[b] += 1;
            break;
          }
    }
    for (int b = 0; b < BINS; ++b) {
      const int64_t at = base + r * apart + b * step;
      if (results[at] != wanted[b])
        fail_msg("%s: %d dimensions, row %ld, bin %d: %ld, not %ld", rung, v->ndim, (long)r, b,
                 (long)results[at], (long)wanted[b]);
      results[at] = 12345;
      touched += wanted[b];
    }
    for (int o = 0; o < 3; ++o) {
      assert_int_equal(outer[r * 7 + o * 2], wanted[BINS + o]);
      outer[r * 7 + o * 2] = 12345;
      touched += wanted[BINS + o];
    }
  }
  assert_int_equal(touched, count_of(v));
  for (int i = 0; i < RESULTS; ++i) assert_true(results[i] == 12345 && outer[i] == 12345);
}

static const view views[] = {
    {0, {1}, {1}},
    {1, {0}, {1}},
    {1, {20011}, {1}},
    {1, {20011}, {-1}},
    {1, {20011}, {3}},
    {1, {20011}, {0}},
    {2, {40, 501}, {501, 1}},
    {2, {40, 501}, {503, 1}},
    {2, {40, 501}, {-503, -1}},
    {2, {40, 501}, {1, 40}},
    {2, {40, 501}, {0, 1}},
    {2, {40, 501}, {501, 0}},
    {2, {40, 501}, {1100, -2}},
    {2, {0, 5}, {5, 1}},
    {2, {6, 0}, {5, 1}},
    {2, {300, 3}, {3, 1}},
    {2, {3, 33000}, {33001, 1}},
    {3, {5, 7, 11}, {77, 11, 1}},
    {3, {5, 7, 11}, {-1, 5, 35}},
    {3, {5, 7, 11}, {200, 20, -1}},
    {3, {5, 1, 11}, {0, 99, 7}},
    {8, {2, 3, 1, 2, 5, 2, 3, 4}, {720, 240, 240, 120, 24, 12, 4, 1}},
    {8, {2, 3, 1, 2, 5, 2, 3, 4}, {1, 2, 7, 6, 12, 60, 120, 360}},
    {8, {2, 3, 1, 2, 5, 2, 3, 4}, {-900, 250, 3, 125, 25, -12, 4, 0}},
};

static void counts_views(void **state) {
  (void)state;
  for (int i = 0; i < ROOM; ++i) {
    const uint32_t bits = (uint32_t)i * 2654435761u;
    numbers[i] = (int32_t)bits;
    reals[i] = (float)((int32_t)bits / 1e9);
  }
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (size_t i = 0; i < sizeof views / sizeof *views && context != NULL; ++i)
      for (int modulo = 0; modulo < 2; ++modulo)
        for (int by_row = 0; by_row <= (views[i].ndim == 2); ++by_row) {
          if (INSTRUMENTED && (i + (size_t)(p + modulo + by_row)) % 3 > 0) continue;
          check(context, places[p].rung, &views[i], by_row, modulo, 1, 0);
          check(context, places[p].rung, &views[i], by_row, modulo, 1, 5);
          check(context, places[p].rung, &views[i], by_row, modulo, 2, 1);
          if (!by_row) check(context, places[p].rung, &views[i], by_row, modulo, -3, 0);
        }
    rung_close(context);
  }
}

/* Rows that have to be packed, more than are packed at once: they are cut, given edges are not. */
static void cuts_rows_but_no_edges(void **state) {
  (void)state;
  enum { ROWS = 20011, COLUMNS = 1009 };
  static const double edges[] = {-2, -1, 0.25, 2};
  static int64_t found[ROWS][3];
  int64_t shape[2] = {ROWS, COLUMNS}, stride[2] = {1, 2}, counts_shape[2] = {ROWS, 3};
  const rung_bins bins = {0, RUNG_BINS_EDGES, 3, 0, 0, edges};
  rung_context *context = NULL;
  assert_int_equal(rung_open(&context, &(rung_options){.device = "cpu"}), RUNG_OK);
  DLTensor in = tensor(reals, f32, 2, shape, stride), counts;
  counts = tensor(found, i64, 2, counts_shape, NULL);
  assert_int_equal(rung_histogram(context, &bins, &in, &counts, NULL, NULL), RUNG_OK);
  for (int i = 0; i < ROWS; i += 7) {
    int64_t wanted[3] = {0};
    for (int k = 0; k < COLUMNS; ++k) {
      const double x = (double)reals[i + 2 * k];
      if (x >= -2 && x <= 2) wanted[x < -1 ? 0 : x < 0.25 ? 1 : 2] += 1;
    }
    assert_memory_equal(found[i], wanted, sizeof wanted);
  }
  rung_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_views),
                                     cmocka_unit_test(cuts_rows_but_no_edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
