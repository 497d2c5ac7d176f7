/* rung_scan() of views of every kind, into views of every kind, and in place: each line has the
 * bits that it has gathered and scanned alone. */
#include "ops/context.h"
#include "ops/scan/outside.h"
#include "ops/view.h"

enum { ROOM = 400000 };
static double numbers[ROOM], kept[ROOM], results[ROOM], gathered[ROOM], wanted[ROOM];

/* Where the element of row-major number `i` lies, from the middle of `numbers` on. */
static int64_t place(const view *v, int64_t i) {
  return ROOM / 2 + offset_of(v, i);
}

static DLTensor on(double *data, view *v) {
  return tensor(data + ROOM / 2, f64, v->ndim, v->shape, v->stride);
}

/* Nothing but the elements of `to` was written. */
static void compare(const view *from, const view *to, const double *source, double *found,
                    rung_reduction what, int exclusive) {
  const int64_t columns = from->shape[from->ndim - 1], count = count_of(from);
  for (int64_t line = 0; line < count; line += columns) {
    for (int64_t k = 0; k < columns; ++k) gathered[k] = source[place(from, line + k)];
    scan_line(context, what, f64, gathered, columns, exclusive, wanted, "tiles");
    for (int64_t k = 0; k < columns; ++k) {
      double *at = &found[place(to, line + k)];
      if (memcmp(at, &wanted[k], sizeof *at) != 0)
        fail_msg("ndim %d, what %d, line %ld, element %ld: %a, not %a", from->ndim, (int)what,
                 (long)(line / columns), (long)k, *at, wanted[k]);
      *at = 12345;
    }
  }
}

static void scan(const view *from, double *in, const view *to, double *out, rung_reduction what,
                 int exclusive) {
  view a = *from, b = *to;
  DLTensor source = on(in, &a), target = on(out, &b);
  if (rung_scan(context, what, &source, -1, exclusive, &target, NULL) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

static void check(const view *from, const view *to) {
  for (int what = RUNG_SUM; what <= RUNG_MAX; ++what)
    for (int exclusive = 0; exclusive < 2; ++exclusive) {
      for (int64_t i = 0; i < ROOM; ++i) results[i] = 12345;
      scan(from, numbers, to, results, (rung_reduction)what, exclusive);
      compare(from, to, numbers, results, (rung_reduction)what, exclusive);
      for (int64_t i = 0; i < ROOM; ++i) assert_true(results[i] == 12345);
    }
}

/* The output is the very view of the input. */
static void check_in_place(const view *v, const char *rung) {
  view copy = *v;
  memcpy(kept, numbers, sizeof kept);
  for (int exclusive = 0; exclusive < 2; ++exclusive) {
    memcpy(results, numbers, sizeof results);
    DLTensor both = on(results, &copy), again = both;
    rung_call call = {.rung = rung};
    if (rung_scan(context, RUNG_SUM, &both, -1, exclusive, &again, &call) != RUNG_OK)
      fail_msg("%s", rung_last_error(context));
    compare(v, v, numbers, results, RUNG_SUM, exclusive);
    for (int64_t i = 0; i < count_of(v); ++i) results[place(v, i)] = numbers[place(v, i)];
    assert_memory_equal(results, numbers, sizeof results);
  }
}

/* A compact view of that shape, and one with gaps, its dimensions in another order, backwards. */
static view compact_of(const view *v) {
  view c = *v;
  int64_t step = 1;
  for (int d = v->ndim - 1; d >= 0; --d) {
    c.stride[d] = step;
    step *= v->shape[d];
  }
  return c;
}

static view askew_of(const view *v) {
  view c = *v;
  int64_t step = 2;
  for (int d = 0; d < v->ndim; ++d) {
    c.stride[d] = d % 2 ? -step : step;
    step = step * v->shape[d] + 1;
  }
  return c;
}

static const view views[] = {
    {1, {1}, {5}},
    {1, {5000}, {1}},
    {1, {5000}, {-3}},
    {1, {30000}, {-1}},
    {1, {700}, {0}},
    {2, {7, 900}, {900, 1}},
    {2, {7, 900}, {907, 1}},
    {2, {7, 900}, {-901, 1}},
    {2, {7, 900}, {900, -1}},
    {2, {70, 90}, {1, 70}},
    {2, {70, 90}, {0, 1}},
    {2, {70, 90}, {1, 0}},
    {2, {3, 9001}, {9002, 1}},
    {2, {3, 9001}, {1, 3}},
    {3, {5, 7, 11}, {77, 11, 1}},
    {3, {5, 7, 11}, {11, 55, 1}}, /* lines in another order, but in even steps */
    {3, {5, 7, 11}, {90, 12, 1}},
    {3, {5, 7, 11}, {1, 5, 35}},
    {3, {5, 7, 11}, {100, -13, -1}},
    {3, {1, 7, 1}, {100, -13, -1}},
    {3, {3, 50, 4}, {1, 1, 1}}, /* a sliding window */
    {5, {2, 3, 2, 3, 20}, {1, 300, 7, 50, 20}},
    {8, {2, 2, 3, 2, 2, 2, 3, 2}, {-2000, 500, -200, 70, 31, -15, 4, 1}},
    {8, {2, 1, 3, 1, 2, 1, 3, 1}, {18, 5, 6, 77, 3, -9, 1, 0}},
};
enum { VIEWS = sizeof views / sizeof *views };

static void takes_any_strides(void **state) {
  (void)state;
  for (int k = 0; k < VIEWS; ++k) {
    const view compact = compact_of(&views[k]), askew = askew_of(&views[k]);
    check(&views[k], &compact);
    check(&views[k], &askew);
    check(&compact, &askew);
  }
}

static void works_in_place(void **state) {
  (void)state;
  static const char *const rungs[] = {"tiles", "threads"};
  for (int k = 0; k < VIEWS; ++k)
    for (int r = 0; r < 2; ++r) {
      const view compact = compact_of(&views[k]), askew = askew_of(&views[k]);
      check_in_place(&compact, rungs[r]);
      check_in_place(&askew, rungs[r]);
    }
}

/* More packed lines than one piece of a plan holds: 64 MiB. */
static void packs_slice_by_slice(void **state) {
  (void)state;
  enum { ROWS = 5, COLUMNS = 3 << 20 };
  int32_t *x = (int32_t *)malloc(sizeof *x * 2 * ROWS * COLUMNS);
  int32_t *out = (int32_t *)malloc(sizeof *out * ROWS * COLUMNS);
  for (int64_t i = 0; i < (int64_t)2 * ROWS * COLUMNS; ++i) x[i] = (int32_t)(i % 1001 - 500);
  int64_t shape[2] = {ROWS, COLUMNS}, strides[2] = {2, 2 * ROWS};
  DLTensor in = tensor(x, i32, 2, shape, strides), to = tensor(out, i32, 2, shape, NULL);
  assert_int_equal(rung_scan(context, RUNG_SUM, &in, -1, 0, &to, NULL), RUNG_OK);
  for (int64_t i = 0; i < ROWS; ++i) {
    uint32_t sum = 0;
    for (int64_t j = 0; j < COLUMNS; ++j) {
      sum += (uint32_t)x[2 * i + j * 2 * ROWS];
      if (out[i * COLUMNS + j] != (int32_t)sum) fail_msg("row %ld, %ld", (long)i, (long)j);
    }
  }
  free(x);
  free(out);
}

/* Lines so short that several are taken at a time, with gaps between them and not the same ones in
 * the output: as many as fill vectors, and a few more. */
static void takes_short_lines(void **state) {
  (void)state;
  static const int64_t columns[] = {1, 3, 4, 5, 16, 31, 32, 33};
  for (size_t k = 0; k < sizeof columns / sizeof *columns; ++k) {
    const view from = {2, {70, columns[k]}, {columns[k] + 5, 1}},
               to = {2, {70, columns[k]}, {columns[k] + 2, 1}};
    check(&from, &to);
    check_in_place(&from, "threads");
    check_in_place(&from, "tiles");
  }
}

static int set_up(void **state) {
  uint32_t x = 1;
  for (int64_t i = 0; i < ROOM; ++i) {
    x = x * 1664525u + 1013904223u;
    numbers[i] = (int32_t)x / 4096.0 / 3;
  }
  return open_context(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_any_strides),
      cmocka_unit_test(works_in_place),
      cmocka_unit_test(takes_short_lines),
      cmocka_unit_test(packs_slice_by_slice),
  };
  return cmocka_run_group_tests(tests, set_up, close_context);
}
