/* rung_reduce() of views of every kind: each result has the bits that its own line has, gathered
 * and reduced alone. */
#include "ops/context.h"
#include "ops/reduce/outside.h"
#include "ops/view.h"

enum { ROOM = 400000 };
static double numbers[ROOM], gathered[ROOM], results[ROOM + 100];

/* Where the element of row-major number `i` lies, from the middle of `numbers` on; dimension `axis`
 * held at `k` (axis < 0: none). */
static int64_t place(const view *v, int64_t i, int axis, int64_t k) {
  view others = *v;
  if (axis < 0) return ROOM / 2 + offset_of(v, i);
  others.shape[axis] = 1;
  return ROOM / 2 + offset_of(&others, i) + k * v->stride[axis];
}

static void check(const view *v, rung_reduction what, int axis) {
  view copy = *v;
  int64_t kept[DIMS], stride[DIMS], step = 2;
  int ndim = 0;
  for (int d = 0; d < v->ndim && axis >= 0; ++d)
    if (d != axis) kept[ndim++] = v->shape[d];
  for (int d = ndim - 1; d >= 0; --d) { /* every second place of `results` */
    stride[d] = step;
    step *= kept[d];
  }
  const int64_t columns = axis < 0 ? count_of(v) : v->shape[axis];
  const int64_t lines = columns > 0 ? count_of(v) / columns : 0;
  const int64_t looked_at = 2 * lines + 100;
  for (int64_t i = 0; i < looked_at; ++i) results[i] = 12345;
  DLTensor in = tensor(numbers + ROOM / 2, f64, v->ndim, copy.shape, copy.stride);
  DLTensor out = tensor(results, f64, ndim, kept, stride);
  if (rung_reduce(context, what, &in, axis < 0 ? RUNG_ALL : axis, &out, NULL) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  const int64_t each = INSTRUMENTED && lines > 1000 ? 37 : 1; /* is looked at */
  for (int64_t i = 0; i < lines; i += each) {
    double wanted;
    for (int64_t k = 0; k < columns; ++k)
      gathered[k] = axis < 0 ? numbers[place(v, k, -1, 0)] : numbers[place(v, i, axis, k)];
    reduce_line(context, what, f64, gathered, columns, &wanted, "lanes");
    if (memcmp(&results[2 * i], &wanted, sizeof wanted) != 0)
      fail_msg("ndim %d, axis %d, what %d, result %ld: %a, not %a", v->ndim, axis, (int)what,
               (long)i, results[2 * i], wanted);
    if (lines > 1 || axis >= 0) assert_true(results[2 * i + 1] == 12345);
  }
  for (int64_t i = 2 * lines; i < looked_at; ++i) assert_true(results[i] == 12345);
}

static void check_all(const view *v) {
  for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what)
    for (int axis = -1; axis < v->ndim; ++axis) check(v, (rung_reduction)what, axis);
}

/* All orders of three axes, each forwards and backwards, with gaps and without. */
static void takes_three_dimensions_in_any_order(void **state) {
  (void)state;
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int o = 0; o < 6; ++o)
    for (int backwards = 0; backwards < 8; ++backwards)
      for (int gap = 0; gap < 4; ++gap) {
        view v = {.ndim = 3, .shape = {5, 7, 11}};
        int64_t step = gap == 1 ? 2 : 1;
        for (int k = 2; k >= 0; --k) {
          const int d = orders[o][k];
          v.stride[d] = backwards >> d & 1 ? -step : step;
          step = step * v.shape[d] + (gap == 2 && k == 2) + (gap == 3 && k == 1);
        }
        check_all(&v);
      }
}

static void takes_views_that_repeat(void **state) {
  (void)state;
  static const view views[] = {
      {1, {5000}, {0}},          {2, {70, 90}, {0, 1}},      {2, {70, 90}, {1, 0}},
      {2, {70, 90}, {0, 0}},     {3, {3, 50, 4}, {1, 1, 1}}, /* a sliding window */
      {3, {6, 5, 4}, {0, 1, 0}},
  };
  for (size_t k = 0; k < sizeof views / sizeof *views; ++k) check_all(&views[k]);
}

static void takes_up_to_eight_dimensions(void **state) {
  (void)state;
  static const view views[] = {
      {4, {3, 1, 4, 5}, {20, 99, 5, 1}},
      {4, {4, 3, 5, 6}, {1, 200, 31, 5}},
      {5, {2, 3, 2, 3, 2}, {1, 300, 7, 50, 20}},
      {8, {2, 2, 3, 2, 2, 2, 3, 2}, {1, 3, 7, 30, 70, 200, 500, 2000}},
      {8, {2, 2, 3, 2, 2, 2, 3, 2}, {-2000, 500, -200, 70, 31, -15, 4, 1}},
      {8, {2, 1, 3, 1, 2, 1, 3, 1}, {18, 5, 6, 77, 3, -9, 1, 0}},
  };
  for (size_t k = 0; k < sizeof views / sizeof *views; ++k) check_all(&views[k]);
}

/* Lines of several tiles, lying along, across and askew. */
static void takes_long_lines(void **state) {
  (void)state;
  static const view views[] = {{2, {2, 70001}, {70001, 1}},   {2, {70001, 2}, {2, 1}},
                               {2, {70001, 2}, {-2, 1}},      {2, {2, 70001}, {1, 2}},
                               {3, {2, 33000, 2}, {1, 5, 2}}, {2, {33000, 5}, {5, -1}},
                               {1, {150000}, {-1}},           {3, {300, 2, 200}, {400, 1, 2}}};
  for (size_t k = 0; k < sizeof views / sizeof *views; ++k) {
    check(&views[k], RUNG_SUM, -1);
    for (int axis = 0; axis < views[k].ndim; ++axis) check(&views[k], RUNG_SUM, axis);
  }
}

/* Elements `step` apart, in rows of so many, are taken as they lie: of every type, against the same
 * ones copied, which begin and end anywhere in a row. */
static void takes_long_runs(void **state) {
  (void)state;
  static const struct {
    int64_t rows, columns, step, between;
  } shapes[] = {{1, 40000, 2, 0},  {1, 70003, 3, 0},  {1, 2047, 2, 0},   {1, 2049, -2, 0},
                {3, 257, 4, 1},    {200, 193, 1, 5},  {50, 1001, -1, 0}, {40, 1000, 2, 3},
                {7, 5000, 8, 0},   {2, 33000, -3, 2}, {100, 700, 5, 0},  {1, 300, 9, 0},
                {16, 2048, 2, -3}, {17, 2048, 1, 1}};
  const DLDataType types[] = {f32, f64, f16, u8, i16, i32, i64};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      const int64_t rows = shapes[k].rows, columns = shapes[k].columns, step = shapes[k].step;
      const int64_t size = types[t].bits / 8, all = columns * (step < 0 ? -step : step);
      const int64_t row = all + shapes[k].between, count = rows * columns;
      int64_t shape[2] = {rows, columns}, strides[2] = {row, step}, kept[1] = {rows};
      char *x = (char *)malloc((size_t)((rows * row + 16) * size));
      char *copy = (char *)malloc((size_t)(count * size));
      double found[200], wanted[200];
      assert_true(x != NULL && copy != NULL);
      for (int64_t i = 0; i < rows * row + 16; i++)
        if (types[t].code != kDLFloat)
          for (int64_t b = 0; b < size; b++) x[i * size + b] = (char)(i * 31 + i / 7 + 17 * b);
        else if (size == 4)
          ((float *)x)[i] = (float)((i * 7919 % 1009 - 500) / 7.0);
        else if (size == 8)
          ((double *)x)[i] = (double)(i * 7919 % 1009 - 500) / 7;
        else
          ((uint16_t *)x)[i] = (uint16_t)(i * 7919 % 20000);
      char *first = x + (step < 0 ? all - 1 : 0) * size;
      for (int64_t i = 0; i < count; i++)
        memcpy(copy + i * size, first + (i / columns * row + i % columns * step) * size,
               (size_t)size);
      DLTensor in = tensor(first, types[t], 2, shape, strides);
      for (int what = RUNG_SUM; what <= RUNG_MAX; what++)
        for (int axis = 0; axis < 2; axis++) {
          const rung_reduction as = (rung_reduction)what;
          DLTensor out = tensor(found, result_type(as, types[t]), axis, kept, NULL);
          memset(found, 0, sizeof found);
          memset(wanted, 0, sizeof wanted);
          assert_int_equal(rung_reduce(context, as, &in, axis == 0 ? RUNG_ALL : 1, &out, NULL),
                           RUNG_OK);
          const int64_t bytes = result_type(as, types[t]).bits / 8;
          for (int64_t r = 0; r < (axis == 0 ? 1 : rows); r++)
            reduce_line(context, as, types[t], copy + r * columns * size,
                        axis == 0 ? count : columns, (char *)wanted + r * bytes, "lanes");
          if (memcmp(found, wanted, sizeof found) != 0)
            fail_msg("%ld by %ld, %ld apart, type %d of %d bits, what %d, axis %d", (long)rows,
                     (long)columns, (long)step, types[t].code, types[t].bits, what, axis);
        }
      free(x);
      free(copy);
    }
}

/* More packed lines than one piece of a plan holds: 64 MiB. */
static void packs_slice_by_slice(void **state) {
  (void)state;
  enum { ROWS = 5, COLUMNS = 3 << 20 };
  double *x = (double *)malloc(sizeof(double) * 2 * ROWS * COLUMNS), sums[ROWS];
  double *line = (double *)malloc(sizeof(double) * COLUMNS);
  for (int64_t i = 0; i < 2 * ROWS * COLUMNS; ++i) x[i] = (double)(i % 1001) / 7;
  int64_t shape[2] = {ROWS, COLUMNS}, strides[2] = {1, 2 * ROWS}, kept[1] = {ROWS};
  strides[0] = 2;
  DLTensor in = tensor(x, f64, 2, shape, strides), out = tensor(sums, f64, 1, kept, NULL);
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, 1, &out, NULL), RUNG_OK);
  for (int i = 0; i < ROWS; ++i) {
    double wanted;
    for (int64_t j = 0; j < COLUMNS; ++j) line[j] = x[2 * i + j * 2 * ROWS];
    reduce_line(context, RUNG_SUM, f64, line, COLUMNS, &wanted, NULL);
    assert_true(sums[i] == wanted);
  }
  free(x);
  free(line);
}

/* Of a turned array several tiles are brought at a time, and any number of rows is left over. */
static void brings_tiles_together(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {
      {1199, 701, 1}, {130, 9001, 2}, {7, 200003, 1}, {40000, 33, 1}, {64, 65536, 1}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    const int64_t rows = shapes[k][0], columns = shapes[k][1], between = shapes[k][2];
    int64_t shape[2] = {rows, columns}, strides[2] = {1, rows + between}, count = rows * columns;
    double *turned = (double *)malloc(sizeof(double) * (size_t)((rows + between) * columns));
    double *line = (double *)malloc(sizeof(double) * (size_t)count), sum = 0, wanted = 1;
    assert_true(turned != NULL && line != NULL);
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++)
        line[i * columns + j] = turned[i + j * strides[1]] = (double)((i * 31 + j * 17) % 1009) / 7;
    DLTensor in = tensor(turned, f64, 2, shape, strides), out = tensor(&sum, f64, 0, NULL, NULL);
    assert_int_equal(rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, NULL), RUNG_OK);
    reduce_line(context, RUNG_SUM, f64, line, count, &wanted, NULL);
    if (!(sum == wanted)) fail_msg("%lld by %lld", (long long)rows, (long long)columns);
    free(turned);
    free(line);
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
      cmocka_unit_test(takes_three_dimensions_in_any_order),
      cmocka_unit_test(takes_views_that_repeat),
      cmocka_unit_test(takes_up_to_eight_dimensions),
      cmocka_unit_test(takes_long_lines),
      cmocka_unit_test(takes_long_runs),
      cmocka_unit_test(packs_slice_by_slice),
      cmocka_unit_test(brings_tiles_together),
  };
  return cmocka_run_group_tests(tests, set_up, close_context);
}
