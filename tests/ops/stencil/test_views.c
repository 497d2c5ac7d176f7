/* Every kind of view through the public door, with guards around every element. */
#include "ops/stencil/outside.h"

static rung_context *cpu;

static const double weights[5] = {1.9, 1.5, 1, .5, .1};
static const rung_stencil_model model = {
    .radius = 2, .weights = weights, .divide = 5, .steps = 7, .fixed = 2};

/* ---- views ----------------------------------------------------------------------------------- */

enum { N = 19, M = 45, ROOM = 8192, MIDDLE = ROOM / 2 };

typedef struct layout {
  const char *name;
  int64_t row, column; /* strides in elements */
  int64_t origin;      /* of element (0, 0) in the room */
} layout;

static const layout layouts[] = {
    {"compact", M, 1, 3},
    {"padded rows", M + 7, 1, 0},
    {"rows upwards", -M, 1, MIDDLE},
    {"columns leftwards", M, -1, MIDDLE},
    {"both ways back", -M - 3, -1, MIDDLE},
    {"every other column", 2 * M + 1, 2, 5},
    {"every third, leftwards", 3 * M, -3, MIDDLE},
    {"transposed", 1, N, 0},
    {"transposed, upwards", -1, N, N},
    {"transposed, padded", 2, 2 * N + 1, 1},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static const layout readable[] = {
    {"one row for all", 0, 1, 9},
    {"one column for all", 1, 0, 9},
    {"one element for all", 0, 0, 9},
    {"rows that overlap", 1, 1, 9},
};
enum { READABLE = sizeof readable / sizeof *readable };

static int64_t place(const layout *l, int64_t i, int64_t j) {
  return l->origin + i * l->row + j * l->column;
}

/* Part of the origin goes by way of byte_offset. */
static DLTensor view(void *room, bool wide, const layout *l, int64_t shape[2], int64_t strides[2]) {
  const int64_t offset = l->origin / 2, element = wide ? 8 : 4;
  shape[0] = N, shape[1] = M;
  strides[0] = l->row, strides[1] = l->column;
  DLTensor t = out_tensor((char *)room + (l->origin - offset) * element, wide, 2, shape, strides);
  t.byte_offset = (uint64_t)(offset * element);
  return t;
}

static void fill(void *room, bool wide) {
  for (int64_t k = 0; k < ROOM; k++) out_set(room, wide, k, out_number());
}

/* All of `room` but the view's elements is as it was in `before`. */
static void guards_stand(const void *room, const void *before, bool wide, const layout *l) {
  static bool touched[ROOM];
  memset(touched, 0, sizeof touched);
  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j < M; j++) touched[place(l, i, j)] = true;
  for (int64_t k = 0; k < ROOM; k++)
    if (!touched[k] && out_get(room, wide, k) != out_get(before, wide, k))
      fail_msg("%s: element %ld was none of its business", l->name, (long)k);
}

static double in_room[ROOM], out_room[ROOM], before[ROOM], means_room[ROOM];

/* The same job on compact copies is what must come out. */
static void expect(bool wide, const layout *from, const layout *to, const double *means,
                   int64_t step) {
  double in[N * M], out[N * M], mean[N];
  for (int64_t k = 0; k < N * M; k++)
    out_set(in, wide, k, out_get(before, wide, place(from, k / M, k % M)));
  OUT_OK(cpu, out_run(cpu, &model, "scaled", wide, N, M, in, out, mean));
  for (int64_t k = 0; k < N * M; k++) {
    const double got = out_get(out_room, wide, place(to, k / M, k % M));
    if (got != out_get(out, wide, k))
      fail_msg("%s to %s: (%ld, %ld) is %g", from->name, to->name, (long)(k / M), (long)(k % M),
               got);
  }
  for (int64_t i = 0; means != NULL && i < N; i++)
    assert_true(out_get(means, wide, i * step) == out_get(mean, wide, i));
}

static void from_to(bool wide, const layout *from, const layout *to, const char *rung) {
  int64_t shape[2], strides[2], to_shape[2], to_strides[2], count[1] = {N}, step[1] = {2};
  fill(in_room, wide);
  fill(out_room, wide);
  memcpy(before, out_room, sizeof before);
  fill(means_room, wide);
  const DLTensor in = view(in_room, wide, from, shape, strides);
  DLTensor out = view(out_room, wide, to, to_shape, to_strides);
  DLTensor means = out_tensor(means_room, wide, 1, count, step);
  rung_call call = {.rung = rung};
  OUT_OK(cpu, rung_stencil(cpu, &model, &in, &out, &means, &call));
  guards_stand(out_room, before, wide, to);
  memcpy(before, in_room, sizeof before);
  expect(wide, from, to, means_room, 2);
}

static void any_view_to_any(void **unused) {
  (void)unused;
  const rung_row *row;
  for (int r = 0; (row = out_rung(r)) != NULL; r++) {
    if (row->order != RUNG_CANONICAL) continue;
    for (int wide = 0; wide < 2; wide++) {
      for (int a = 0; a < LAYOUTS; a++)
        for (int b = 0; b < LAYOUTS; b++) from_to(wide, &layouts[a], &layouts[b], row->name);
      for (int a = 0; a < READABLE; a++)
        for (int b = 0; b < LAYOUTS; b += 5) from_to(wide, &readable[a], &layouts[b], row->name);
    }
  }
}

static void in_place(void **unused) {
  (void)unused;
  const rung_row *row;
  for (int r = 0; (row = out_rung(r)) != NULL; r++) {
    if (row->order != RUNG_CANONICAL) continue;
    for (int wide = 0; wide < 2; wide++)
      for (int a = 0; a < LAYOUTS; a++) {
        int64_t shape[2], strides[2], count[1] = {N}, step[1] = {-3};
        fill(out_room, wide);
        memcpy(before, out_room, sizeof before);
        DLTensor both = view(out_room, wide, &layouts[a], shape, strides);
        const DLTensor in = both;
        char *last = (char *)means_room + 3 * (N - 1) * (wide ? 8 : 4);
        DLTensor means = out_tensor(last, wide, 1, count, step);
        rung_call call = {.rung = row->name};
        OUT_OK(cpu, rung_stencil(cpu, &model, &in, &both, &means, &call));
        guards_stand(out_room, before, wide, &layouts[a]);
        expect(wide, &layouts[a], &layouts[a], (double *)last, -3);
      }
  }
}

static void strides_may_be_null(void **unused) {
  (void)unused;
  float in[12], a[12], b[12], means[3];
  int64_t shape[2] = {3, 4}, strides[2] = {4, 1}, one[1] = {1};
  for (int k = 0; k < 12; k++) in[k] = (float)out_number();
  DLTensor from = out_tensor(in, false, 2, shape, NULL), to = out_tensor(a, false, 2, shape, NULL);
  OUT_OK(cpu, rung_stencil(cpu, &model, &from, &to, NULL, NULL));
  from.strides = strides;
  to = out_tensor(b, false, 2, shape, strides);
  DLTensor mean = out_tensor(means, false, 1, shape, one);
  OUT_OK(cpu, rung_stencil(cpu, &model, &from, &to, &mean, NULL));
  assert_memory_equal(a, b, sizeof a);
}

/* Strides of extents of one are never used, whatever they say. */
static void one_row_and_one_column(void **unused) {
  (void)unused;
  double x[9], out[9];
  int64_t row[2] = {1, 9}, column[2] = {9, 1}, huge[2] = {0, 1}, zero[2] = {1, 0};
  for (int k = 0; k < 9; k++) x[k] = out_number();
  rung_stencil_model own = model;
  own.fixed = 0;
  DLTensor in = out_tensor(x, true, 2, row, huge), to = out_tensor(out, true, 2, row, huge);
  OUT_OK(cpu, rung_stencil(cpu, &own, &in, &to, NULL, NULL));
  in = out_tensor(x, true, 2, column, zero), to = out_tensor(out, true, 2, column, zero);
  OUT_OK(cpu, rung_stencil(cpu, &own, &in, &to, NULL, NULL));
  for (int k = 0; k < 9; k++) assert_true(fabs(out[k] - x[k]) <= 7 * 0x1p-52);
}

static int open_one(void **unused) {
  const int opened = out_open(unused);
  if (opened == 0) cpu = out_widest[1];
  return opened;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_view_to_any),
      cmocka_unit_test(in_place),
      cmocka_unit_test(strides_may_be_null),
      cmocka_unit_test(one_row_and_one_column),
  };
  return cmocka_run_group_tests(tests, open_one, out_close);
}
