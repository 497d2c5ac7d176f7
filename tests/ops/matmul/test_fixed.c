/* Products in fixed point, from outside: against integers of 128 bits, and what follows from sums
 * that are not rounded. Every rung of the CPU on every instruction set, and the simulated GPU. */
#include "ops/isas.h"

enum { MOST = 40, LONG = (1 << 19) + 2 };

static uint32_t state = 1;
static uint32_t draw(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/* An exponent such that all are below 2^e in magnitude; false: there is none. */
static bool exponent_of(const float *x, int64_t step, int64_t k, int *e) {
  double largest = 0;
  for (int64_t l = 0; l < k; l++) {
    if (!isfinite(x[l * step])) return false;
    largest = fmax(largest, fabs((double)x[l * step]));
  }
  *e = largest == 0 ? 0 : ilogb(largest) + 1;
  return true;
}

static int64_t floor_256(int64_t q) {
  return q >= 0 ? q / 256 : -((255 - q) / 256);
}

/* By the whole product of two numbers less the products of digits that are left out. */
static float wanted(const float *a, const float *b, int64_t step, int64_t k, int bits) {
  int e, f, digits = 2;
  if (!exponent_of(a, 1, k, &e) || !exponent_of(b, step, k, &f)) return NAN;
  while (8 * digits - 1 < bits) digits++;
  const int left = 8 * digits - 1 - bits;
  __int128 sum = 0;
  for (int64_t l = 0; l < k; l++) {
    int64_t q[2] = {llrint(ldexp(a[l], bits - 1 - e)) * (INT64_C(1) << left),
                    llrint(ldexp(b[l * step], bits - 1 - f)) * (INT64_C(1) << left)},
            d[2][4];
    sum += (__int128)q[0] * q[1];
    for (int of = 0; of < 2; of++)
      for (int p = 0; p < digits; p++) {
        const int64_t up = floor_256(q[of] + 128);
        d[of][p] = q[of] - 256 * up;
        q[of] = up;
      }
    for (int p = 0; p < digits; p++)
      for (int r = 0; p + r < digits - 1; r++)
        sum -= (__int128)(d[0][p] * d[1][r]) * ((__int128)1 << (8 * (p + r)));
  }
  for (int p = 1; p < digits; p++) sum /= 256;
  return (float)ldexpl((long double)(int64_t)sum, e + f - 8 * digits - 4);
}

static void expect_same(const float *found, float right, const char *what, int64_t number) {
  if (isnan(right) ? !isnan(*found) : memcmp(found, &right, sizeof right) != 0)
    fail_msg("%s, element %lld: %a, not %a", what, (long long)number, (double)*found,
             (double)right);
}

static void multiply(rung_context *context, const char *rung, int bits, const float *a,
                     const float *b, float *c, int64_t m, int64_t n, int64_t k) {
  int64_t of_a[2] = {m, k}, of_b[2] = {k, n}, of_c[2] = {m, n};
  DLTensor left = tensor(a, f32, 2, of_a, NULL), right = tensor(b, f32, 2, of_b, NULL),
           to = tensor(c, f32, 2, of_c, NULL);
  rung_call call = {.rung = rung, .math = RUNG_MATH_FIXED, .bits = bits};
  if (rung_matmul(context, 1, &left, &right, 0, &to, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

static float number(int kind) {
  const double x = draw() / 8388608.0 - 1;
  switch (kind) {
    case 0:
      return (float)x;
    case 1: /* spread */
      return (float)ldexp(x, (int)(draw() % 61) - 30);
    case 2: /* subnormal, and results that are */
      return (float)ldexp(x, -126 - (int)(draw() % 24));
    case 3:
      return draw() % 3 == 0 ? 0x1.fffffep127f : (float)ldexp(x, 100);
    case 4: /* with zero rows */
      return 0;
    case 5: /* ties, and all digits at their ends */
      return (float)((double)(draw() % 3) - 1) * (1 - 0x1p-24f * (float)(draw() % 5));
    case 6:
      return (float)ldexp(x, -70);
    default:
      return draw() % 97 == 0 ? (draw() % 2 ? NAN : -INFINITY) : (float)x;
  }
}

static void equals_big_integers(rung_context *context, const char *rung) {
  static float a[MOST * 330], b[MOST * 330], c[MOST * MOST];
  static const int some[] = {31, 23, 15, 8, 24, 16, 30};
  state = 1;
  for (int round = 0; round < 56; round++) {
    const int kind = round % 8, other = draw() % 8, bits = some[round % 7];
    const int64_t m = 1 + draw() % MOST, n = 1 + draw() % MOST, k = draw() % 330;
    for (int64_t i = 0; i < m * k; i++) a[i] = number(i < k ? other : kind);
    for (int64_t i = 0; i < k * n; i++) b[i] = number(i % n == 0 ? kind : other);
    multiply(context, rung, bits, a, b, c, m, n, k);
    for (int64_t i = 0; i < m * n; i++)
      expect_same(&c[i], wanted(a + i / n * k, b + i % n, n, k, bits), rung, i);
  }
}

static rung_context *opened(const char *device, const char *isa, int threads) {
  rung_context *context;
  const rung_options options = {.device = device, .isa = isa, .threads = threads};
  if (rung_open(&context, &options) == RUNG_OK) return context;
  rung_close(context);
  return NULL;
}

static void every_rung_equals_big_integers(void **unused) {
  (void)unused;
  static const char *const rungs[] = {"digits", "packed-digits"};
  for (int isa = first_isa(); isa <= widest_isa(); isa++)
    for (int threads = 1; threads <= 3; threads += 2) {
      rung_context *context = opened("cpu", isas[isa], threads);
      for (int r = 0; r < 2 && context != NULL; r++) equals_big_integers(context, rungs[r]);
      rung_close(context);
    }
  rung_context *sim = opened("sim", NULL, 0);
  if (sim != NULL && !INSTRUMENTED) equals_big_integers(sim, "digits");
  rung_close(sim);
}

/* ---- what follows -----------------------------------------------------------------------------
 */

/* 2^53 + 2^29 + 32, which a double has no place for, and whose last digits say that it is beyond
 * the middle of two floats; the same below zero, and random ones. */
static void long_sums_are_rounded_once(void **unused) {
  (void)unused;
  static float a[LONG], b[LONG];
  static const char *const rungs[] = {"digits", "packed-digits"};
  rung_context *context = open_on("cpu");
  for (int kind = 0; kind < 4; kind++) {
    for (int l = 0; l < LONG; l++) {
      a[l] = kind % 2 ? -0.5f : 0.5f;
      b[l] = l < LONG - 2 ? 0.5f : l == LONG - 2 ? 0x1p-6f : 0x1p-30f;
      if (kind >= 2) a[l] *= 1 + 0x1p-23f * (float)(draw() % 9);
    }
    for (int r = 0; r < 2; r++) {
      float c;
      multiply(context, rungs[r], 31, a, b, &c, 1, 1, LONG);
      expect_same(&c, wanted(a, b, 1, LONG, 31), rungs[r], kind);
      if (kind < 2) assert_true(fabsf(c) == 0x1.000002p17f);
    }
  }
  rung_close(context);
}

/* Powers of two on A's rows come out exactly; and parts of k, each with the whole's scales, add up
 * to the whole where floats hold the sums. */
static void scales_and_cuts(void **unused) {
  (void)unused;
  enum { N = 17, K = 97, CUT = 41 };
  float a[N * K], b[K * N], scaled[N * K], c[N * N], d[N * N];
  rung_context *context = open_on("cpu");
  for (int i = 0; i < N * K; i++) a[i] = number(0);
  for (int i = 0; i < K * N; i++) b[i] = number(0);
  for (int i = 0; i < N * K; i++) scaled[i] = ldexpf(a[i], i / K * 3 - 20);
  multiply(context, NULL, 31, a, b, c, N, N, K);
  multiply(context, NULL, 31, scaled, b, d, N, N, K);
  for (int i = 0; i < N * N; i++) expect_same(&d[i], ldexpf(c[i], i / N * 3 - 20), "scaled", i);
  /* Whole numbers below 2^7, and 64 in every part: S is a multiple of few digits. */
  float parts[2][N * K], sums[2][N * N];
  for (int i = 0; i < N * K; i++) a[i] = (float)((int)(draw() % 127) - 63);
  for (int i = 0; i < K * N; i++) b[i] = (float)((int)(draw() % 127) - 63);
  for (int i = 0; i < N; i++)
    for (int part = 0; part < 2; part++) a[i * K + part * CUT] = b[part * CUT * N + i] = 64;
  for (int i = 0; i < N * K; i++)
    for (int part = 0; part < 2; part++) parts[part][i] = (i % K < CUT) == (part == 0) ? a[i] : 0;
  multiply(context, NULL, 31, a, b, c, N, N, K);
  for (int part = 0; part < 2; part++)
    multiply(context, NULL, 31, parts[part], b, sums[part], N, N, K);
  for (int i = 0; i < N * N; i++) expect_same(&c[i], sums[0][i] + sums[1][i], "cut", i);
  rung_close(context);
}

/* ---- layouts ----------------------------------------------------------------------------------
 */

/* A batch whose matrices are transposed, lie backwards and have gaps, and one B for all of it or
 * three: as the same matrices one by one, which have none of that. */
static void lies_anywhere(rung_context *context, const char *rung, int bits, bool shared) {
  enum { BATCH = 3, M = 7, N = 69, K = 150, GAP = 5 };
  static float a[BATCH * K * M], b[BATCH * K * (N + GAP)], c[BATCH * M * (N + GAP)], one[M * K],
      two[K * N], right[M * N];
  int64_t of_a[] = {BATCH, M, K}, a_steps[] = {K * M, 1, M};
  int64_t of_b[] = {BATCH, K, N}, b_steps[] = {K * (N + GAP), N + GAP, -1};
  int64_t of_c[] = {BATCH, M, N}, c_steps[] = {M * (N + GAP), N + GAP, 1};
  state = 3;
  for (int i = 0; i < BATCH * K * M; i++) a[i] = number(i / 40 % 2);
  for (int i = 0; i < BATCH * K * (N + GAP); i++) b[i] = number(i / 30 % 2);
  for (int i = 0; i < BATCH * M * (N + GAP); i++) c[i] = 7;
  DLTensor left = tensor(a, f32, 3, of_a, a_steps), to = tensor(c, f32, 3, of_c, c_steps),
           other = tensor(&b[N - 1], f32, 3 - shared, of_b + shared, b_steps + shared);
  rung_call call = {.rung = rung, .math = RUNG_MATH_FIXED, .bits = bits};
  if (rung_matmul(context, 1, &left, &other, 0, &to, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  for (int batch = 0; batch < BATCH; batch++) {
    for (int i = 0; i < M * K; i++) one[i] = a[(batch * K + i % K) * M + i / K];
    for (int i = 0; i < K * N; i++)
      two[i] = b[((shared ? 0 : batch) * K + i / N) * (N + GAP) + N - 1 - i % N];
    for (int i = 0; i < M * N; i++) right[i] = wanted(one + i / N * K, two + i % N, N, K, bits);
    for (int i = 0; i < M * (N + GAP); i++)
      expect_same(&c[batch * M * (N + GAP) + i],
                  i % (N + GAP) < N ? right[i / (N + GAP) * N + i % (N + GAP)] : 7, rung, i);
  }
}

static void layouts_and_batches(void **unused) {
  (void)unused;
  static const char *const on_gpu[] = {"digits", "dp4a", "mma", "fused"};
  rung_context *cpu = open_on("cpu"), *sim = INSTRUMENTED ? NULL : open_on("sim");
  for (int shared = 0; shared < 2; shared++) {
    lies_anywhere(cpu, "digits", 31, shared);
    lies_anywhere(cpu, "packed-digits", 23, shared);
    for (size_t r = 0; r < sizeof on_gpu / sizeof *on_gpu && sim != NULL; r++)
      lies_anywhere(sim, on_gpu[r], 15 + 8 * shared, shared);
  }
  rung_close(cpu);
  rung_close(sim);
}

/* ---- what is lost -----------------------------------------------------------------------------
 */

static void expect_loss(const float *x, int64_t rows, int64_t columns, int64_t step, bool right,
                        int bits, rung_loss wanted) {
  rung_context *context = open_on("cpu");
  int64_t shape[] = {rows, columns}, steps[] = {step, 1};
  const DLTensor operand = tensor(x, f32, 2, shape, steps);
  rung_loss loss = {-1, -1, -1, -1, -1};
  assert_int_equal(rung_matmul_loss(context, &operand, right, bits, &loss), RUNG_OK);
  if (loss.elements != wanted.elements || loss.zeroed != wanted.zeroed ||
      loss.rounded != wanted.rounded || loss.worst != wanted.worst ||
      loss.unscaled != wanted.unscaled)
    fail_msg("%lld %lld %lld %a %lld", (long long)loss.elements, (long long)loss.zeroed,
             (long long)loss.rounded, loss.worst, (long long)loss.unscaled);
  rung_close(context);
}

/* In eight bits a line below 1 is of multiples of 2^-7. By hand: of 3/4, which stays, 3/512 becomes
 * 4/512, 1/256 is half a step and becomes 0 as 0 is even, 3/256 becomes 4/256, 5/1024 becomes
 * 8/1024, which is more by 3 of its 5. */
static void loss_by_hand(void **unused) {
  (void)unused;
  static const float x[4][5] = {{0.75f, -3 / 512.f, 1 / 256.f, 0, 1000},
                                {-0.75f, 3 / 256.f, 1 / 1024.f, -5 / 1024.f, 1000},
                                {0, -0.f, 0, 0, 1000},
                                {1, NAN, 0, 1, 1000}};
  expect_loss(x[0], 2, 4, 5, false, 8, (rung_loss){7, 2, 5, 3 / 5., 0});
  expect_loss(x[0], 4, 4, 5, false, 8, (rung_loss){7, 2, 5, 3 / 5., 1});
  expect_loss(x[0], 1, 4, 5, false, 8, (rung_loss){3, 1, 2, 1 / 3., 0});
  expect_loss(x[0], 2, 4, 5, false, 31, (rung_loss){7, 0, 0, 0, 0});
  expect_loss(x[0], 2, 4, 5, false, 0, (rung_loss){7, 0, 0, 0, 0});
  expect_loss(x[2], 1, 4, 5, false, 8, (rung_loss){0, 0, 0, 0, 0});
  /* Columns: 3/4 and -3/4; -3/512 and 3/256, of steps of 2^-13; 1/256 and 1/1024; 0 and -5/1024.
   * Below them a column's 1 makes -5/1024 less than half a step, and a NaN stands in another. */
  expect_loss(x[0], 2, 4, 5, true, 8, (rung_loss){7, 0, 0, 0, 0});
  expect_loss(x[0], 4, 5, 5, true, 8, (rung_loss){11, 1, 1, 0, 1});
  /* The least and the largest floats together. */
  static const float ends[] = {0x1p-149f, 0x1.fffffep127f, 0x1p-149f, 0};
  expect_loss(ends, 1, 2, 2, false, 31, (rung_loss){2, 1, 1, 0, 0});
  expect_loss(ends + 2, 1, 2, 2, false, 8, (rung_loss){1, 0, 0, 0, 0});
  expect_loss(NULL, 0, 3, 3, false, 8, (rung_loss){0, 0, 0, 0, 0});
}

static void loss_refuses(void **unused) {
  (void)unused;
  rung_context *context = open_on("cpu");
  int64_t shape[] = {1, 1};
  static const double number = 1;
  const DLTensor line = tensor(&number, f32, 1, shape, NULL),
                 wide = tensor(&number, f64, 2, shape, NULL),
                 good = tensor(&number, f32, 2, shape, NULL);
  rung_loss loss = {7, 7, 7, 7, 7};
  assert_int_equal(rung_matmul_loss(context, &line, 0, 31, &loss), RUNG_BAD_SHAPE);
  assert_non_null(strstr(rung_last_error(context), "a has 1 dimensions; expected: 2"));
  assert_int_equal(rung_matmul_loss(context, &wide, 1, 31, &loss), RUNG_BAD_DTYPE);
  assert_int_equal(rung_matmul_loss(context, NULL, 1, 31, &loss), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(rung_last_error(context), "b is NULL"));
  assert_int_equal(rung_matmul_loss(context, &good, 0, 7, &loss), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(rung_last_error(context), "bits is 7; expected: 8 ... 31, or 0 for 31"));
  assert_int_equal(rung_matmul_loss(context, &good, 0, 32, &loss), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_matmul_loss(context, &good, 0, 31, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_matmul_loss(NULL, &good, 0, 31, &loss), RUNG_BAD_ARGUMENT);
  assert_true(loss.elements == 7 && loss.worst == 7 && loss.unscaled == 7);
  rung_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rung_equals_big_integers),
      cmocka_unit_test(long_sums_are_rounded_once),
      cmocka_unit_test(scales_and_cuts),
      cmocka_unit_test(layouts_and_batches),
      cmocka_unit_test(loss_by_hand),
      cmocka_unit_test(loss_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
