/* rung_scan() along every axis of arrays of 1 to 8 dimensions: each line has the bits that it has
 * gathered and scanned alone, on the CPU and on the simulated GPU, of every type, exclusive or not,
 * in place, with gaps and beginning anywhere; and nothing but the elements is written. */
#include "ops/scan/outside.h"

enum { ROOM = 700000, OFFSET = 64 };
static unsigned char source[ROOM], found[ROOM], line_in[ROOM], line_out[ROOM], wanted[ROOM];
static rung_context *cpu, *sim;

typedef struct form {
  int ndim;
  int64_t shape[8];
  int axis;
  int gap;   /* elements between rows of the last dimension */
  int shift; /* elements that the arrays begin after an aligned place */
} form;

/* Lines side by side as many as a vector has lanes and the tiles of a GPU have columns, fewer and
 * more; shorter than a group, a row, a band, a tile, and longer. */
static const form forms[] = {
    {1, {1000}, 0, 0, 1},
    {2, {1, 1}, 0, 0, 0},
    {2, {1, 7}, 0, 0, 0},
    {2, {7, 1}, 0, 0, 0},
    {2, {2, 3}, 0, 0, 0},
    {2, {5, 33}, 0, 0, 0},
    {2, {5, 33}, -1, 3, 1},
    {2, {129, 64}, 0, 0, 0},
    {2, {129, 65}, -2, 1, 1},
    {2, {127, 17}, 0, 0, 2},
    {2, {3, 1031}, 0, 0, 0},
    {2, {1025, 9}, 0, 0, 0},
    {2, {8193, 5}, 0, 0, 0},
    {2, {8192, 4}, 0, 4, 0},
    {2, {20000, 2}, 0, 0, 1},
    {3, {3, 70, 40}, 1, 0, 0},
    {3, {40, 70, 3}, 1, 2, 0},
    {3, {4, 300, 16}, -2, 0, 3},
    {3, {9, 5, 33}, 0, 0, 0},
    {3, {9, 5, 33}, 0, 1, 0}, /* the other two are not one */
    {4, {3, 4, 5, 6}, 2, 0, 0},
    {8, {2, 3, 1, 2, 5, 1, 2, 3}, 4, 0, 1},
    {8, {2, 3, 1, 2, 5, 1, 2, 3}, 0, 0, 0},
    {8, {2, 3, 1, 2, 5, 1, 2, 3}, -1, 1, 0},
};

static int64_t count_of(const form *f) {
  int64_t count = 1;
  for (int d = 0; d < f->ndim; ++d) count *= f->shape[d];
  return count;
}

static int64_t strides_of(const form *f, int64_t stride[8]) {
  int64_t step = 1;
  for (int d = f->ndim - 1; d >= 0; --d) {
    stride[d] = step;
    step = step * f->shape[d] + (d == f->ndim - 1 ? f->gap : 0);
  }
  return step;
}

/* Every value, a NaN now and then among floats, and both zeros. */
static void fill(DLDataType type, int64_t count) {
  const int size = type.bits / 8;
  uint64_t random = 12345;
  for (int64_t i = 0; i < count; ++i) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    unsigned char *to = source + i * size;
    const double number = (double)(int64_t)(random >> 20 & 0xffff) / 977 - 30;
    const float single = (float)number;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    const uint16_t brain = (uint16_t)(bits >> 16);
    const uint16_t half = (uint16_t)((random >> 30 & 0x83ff) | 0x3c00); /* 1 ... 2, -1 ... -2 */
    memcpy(to, &random, (size_t)size);
    if (type.code == kDLFloat && size == 8) memcpy(to, &number, 8);
    if (type.code == kDLFloat && size == 4) memcpy(to, &single, 4);
    if (type.code == kDLFloat && size == 2) memcpy(to, &half, 2);
    if (type.code == kDLBfloat) memcpy(to, &brain, 2);
    if (i % 61 == 7 && type.code != kDLInt && type.code != kDLUInt) memset(to, 0, (size_t)size);
    if (i % 122 == 7) to[size - 1] |= 0x80;
    if (i % 5003 == 5002 && type.code == kDLFloat && size >= 4) {
      const double nan = (double)NAN;
      const float nan32 = NAN;
      memcpy(to, size == 8 ? (const void *)&nan : (const void *)&nan32, (size_t)size);
    }
  }
}

static bool is_nan(DLDataType type, const unsigned char *at) {
  double x = 0;
  float y = 0;
  if (type.code != kDLFloat || type.bits < 32) return false;
  if (type.bits == 64) memcpy(&x, at, 8);
  if (type.bits == 32) memcpy(&y, at, 4);
  return type.bits == 64 ? isnan(x) : isnan(y);
}

static void compare(const form *f, DLDataType type, rung_reduction what, int exclusive,
                    const char *on) {
  const int axis = f->axis < 0 ? f->axis + f->ndim : f->axis;
  const int64_t size = type.bits / 8, n = f->shape[axis], lines = count_of(f) / n;
  int64_t stride[8];
  strides_of(f, stride);
  for (int64_t line = 0; line < lines; ++line) {
    int64_t rest = line, first = OFFSET + f->shift;
    for (int d = f->ndim - 1; d >= 0; --d) {
      if (d == axis) continue;
      first += rest % f->shape[d] * stride[d];
      rest /= f->shape[d];
    }
    for (int64_t k = 0; k < n; ++k)
      memcpy(line_in + k * size, source + (first + k * stride[axis]) * size, (size_t)size);
    scan_line(cpu, what, type, line_in, n, exclusive, line_out, "tiles");
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = (first + k * stride[axis]) * size;
      memcpy(wanted + at, line_out + k * size, (size_t)size);
      if (memcmp(found + at, wanted + at, (size_t)size) == 0) continue;
      if (is_nan(type, found + at) && is_nan(type, wanted + at))
        memcpy(wanted + at, found + at, (size_t)size);
      else
        fail_msg("%s: type %d:%d, %d dimensions, axis %d, what %d, exclusive %d: line %ld, %ld", on,
                 type.code, type.bits, f->ndim, f->axis, (int)what, exclusive, (long)line, (long)k);
    }
  }
}

static void try(rung_context *context, const form *f, DLDataType type, rung_reduction what,
                int exclusive, bool in_place, const char *rung) {
  const int64_t size = type.bits / 8, at = (OFFSET + f->shift) * size;
  int64_t stride[8], shape[8];
  const int64_t bytes = (strides_of(f, stride) + f->shift + 2 * OFFSET) * size;
  assert_true(bytes <= ROOM);
  memcpy(shape, f->shape, sizeof shape);
  if (in_place)
    memcpy(found, source, (size_t)bytes);
  else
    memset(found, 0x5a, (size_t)bytes);
  memcpy(wanted, found, (size_t)bytes);
  const DLTensor in = tensor((in_place ? found : source) + at, type, f->ndim, shape, stride);
  DLTensor out = tensor(found + at, type, f->ndim, shape, stride);
  rung_call call = {.rung = rung};
  if (rung_scan(context, what, &in, f->axis, exclusive, &out, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  compare(f, type, what, exclusive, call.used);
  assert_memory_equal(found, wanted, (size_t)bytes);
}

static void try_all(rung_context *context, bool brief) {
  const DLDataType types[] = {f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64};
  const int many = (int)(sizeof forms / sizeof *forms);
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
    fill(types[t], ROOM / 8);
    for (int k = 0; k < many; ++k)
      for (int job = 0; job < 6; ++job) {
        if (brief && (k + job + (int)t) % 6 != 0) continue;
        try(context, &forms[k], types[t], (rung_reduction)(job / 2), job % 2, (k + job) % 3 == 0,
            NULL);
      }
  }
}

static void have_the_order_of_their_own_elements(void **state) {
  (void)state;
  try_all(cpu, INSTRUMENTED);
}

static void have_the_same_bits_on_a_gpu(void **state) {
  (void)state;
  if (sim == NULL) skip();
  try_all(sim, true);
}

/* Rungs that take lines without gaps get them packed, whatever the axis. */
static void are_packed_for_the_other_rungs(void **state) {
  (void)state;
  static const char *const rungs[] = {"tiles", "threads"};
  fill(f32, ROOM / 4);
  for (size_t r = 0; r < sizeof rungs / sizeof *rungs; ++r) {
    try(cpu, &forms[7], f32, RUNG_SUM, 0, false, rungs[r]);
    try(cpu, &forms[16], f32, RUNG_SUM, 1, true, rungs[r]);
  }
  if (sim != NULL) try(sim, &forms[7], f32, RUNG_SUM, 0, false, "single-pass");
}

/* So many tiles that there are families of families, few lines and many of them: a strip of lines
 * goes down alone, is parted, or its tiles are shared by threads; in place or not. */
static void keep_the_order_of_families(void **state) {
  (void)state;
  enum { N = 33 * 8192 + 1000, MOST = 19 };
  static const struct {
    int lines, exclusive;
    bool integers, in_place;
  } jobs[] = {{3, 0, false, false},
              {MOST, 0, false, false},
              {MOST, 1, false, true},
              {MOST, 0, true, true},
              {MOST - 2, 1, true, false}};
  const size_t all = (size_t)N * MOST * 4;
  float *x = malloc(all), *y = malloc(all);
  float *one = malloc((size_t)N * 4), *sums = malloc((size_t)N * 4);
  assert_true(x && y && one && sums);
  rung_context *const contexts[] = {cpu, INSTRUMENTED ? NULL : sim};
  for (size_t j = 0; j < sizeof jobs / sizeof *jobs; ++j)
    for (int c = 0; c < 2; ++c) {
      const int lines = jobs[j].lines;
      const DLDataType type = jobs[j].integers ? i32 : f32;
      int64_t shape[2] = {N, lines};
      if (contexts[c] == NULL || (c == 1 && lines > 3)) continue;
      for (int64_t i = 0; i < (int64_t)N * lines; ++i) x[i] = (float)(i % 1009) / 7 - 70;
      if (jobs[j].in_place) memcpy(y, x, all);
      const DLTensor in = tensor(jobs[j].in_place ? y : x, type, 2, shape, NULL);
      DLTensor out = tensor(y, type, 2, shape, NULL);
      rung_call call = {.rung = NULL};
      assert_int_equal(rung_scan(contexts[c], RUNG_SUM, &in, 0, jobs[j].exclusive, &out, &call),
                       RUNG_OK);
      assert_string_equal(call.used, "across");
      for (int l = 0; l < lines; ++l) {
        for (int64_t k = 0; k < N; ++k) one[k] = x[k * lines + l];
        scan_line(cpu, RUNG_SUM, type, one, N, jobs[j].exclusive, sums, "tiles");
        for (int64_t k = 0; k < N; ++k)
          if (memcmp(&sums[k], &y[k * lines + l], sizeof *sums) != 0)
            fail_msg("job %zu, context %d, line %d, element %ld: %a, not %a", j, c, l, (long)k,
                     (double)y[k * lines + l], (double)sums[k]);
      }
    }
  free(x), free(y), free(one), free(sums);
}

static int open_both(void **state) {
  (void)state;
  cpu = open_on("cpu");
  sim = open_on("sim");
  return 0;
}

static int close_both(void **state) {
  (void)state;
  rung_close(cpu);
  rung_close(sim);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(have_the_order_of_their_own_elements),
      cmocka_unit_test(have_the_same_bits_on_a_gpu),
      cmocka_unit_test(are_packed_for_the_other_rungs),
      cmocka_unit_test(keep_the_order_of_families),
  };
  return cmocka_run_group_tests(tests, open_both, close_both);
}
