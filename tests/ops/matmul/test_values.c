/* rung_matmul() from outside: every result is the chain that rung.h states, by every rung, of views
 * of every kind; and what a product must be whatever the order of arithmetic. */
#include <stdlib.h>
#include <sys/mman.h>

#include "core/random.h"
#include "ops/context.h"

enum { ROOM = 20000, MOST = 40 };
static const char *const rungs[] = {NULL, "naive", "loop-order", "blocked", "packed", "threads"};
enum { RUNGS = sizeof rungs / sizeof *rungs };

static double a_room[ROOM], b_room[ROOM], c_room[ROOM], kept[ROOM];
static rung_random dice = {7};

static int64_t throw(int64_t sides) {
  return (int64_t)(rung_random_double(&dice) * (double)sides);
}

/* A matrix of a batch somewhere in its room, of either type. */
typedef struct array {
  DLTensor tensor;
  int64_t shape[3], stride[3], batch, first;
} array;

static void *at(const array *m, int64_t batch, int64_t i, int64_t j) {
  const int ndim = m->tensor.ndim;
  const int64_t of = ndim == 3 && m->shape[0] > 1 ? batch * m->stride[0] : 0;
  const int64_t element = of + i * m->stride[ndim - 2] + j * m->stride[ndim - 1];
  return (char *)m->tensor.data + element * (m->tensor.dtype.bits / 8);
}

static double number(const array *m, int64_t batch, int64_t i, int64_t j) {
  const void *from = at(m, batch, i, j);
  return m->tensor.dtype.bits == 32 ? (double)*(const float *)from : *(const double *)from;
}

/* Rows or columns first, gaps, backwards, and, where it is only read, no step at all. */
static void lay_out(array *m, DLDataType type, double *room, int ndim, const int64_t *shape,
                    bool written) {
  int order[3] = {0, 1, 2};
  int64_t step = 1, first = 0;
  for (int d = ndim - 1; d > 0; d--) {
    const int64_t other = throw(2) ? d : throw(d + 1);
    const int swap = order[d];
    order[d] = order[other];
    order[other] = swap;
  }
  for (int d = ndim - 1; d >= 0; d--) {
    const int of = order[d];
    const int64_t way = throw(6);
    m->shape[of] = shape[of];
    m->stride[of] = way == 0 && !written ? 0 : way == 1 ? -step : step;
    if (way == 1 && shape[of] > 0) first += (shape[of] - 1) * step;
    step *= (shape[of] > 0 ? shape[of] : 1);
    if (throw(4) == 0) step += 1 + throw(3);
  }
  m->tensor = tensor((char *)room + first * (type.bits / 8), type, ndim, m->shape, m->stride);
  assert_true(step * type.bits / 8 <= (int64_t)sizeof a_room);
}

static void fill_some(double *room, DLDataType type, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const double value = rung_random_double(&dice) * 4 - 2;
    if (type.bits == 32)
      ((float *)room)[i] = (float)value;
    else
      room[i] = value;
  }
}

static void fill(double *room, DLDataType type) {
  fill_some(room, type, ROOM);
}

static double chain(const array *a, const array *b, int64_t batch, int64_t i, int64_t j,
                    const double factors[2], double before) {
  const int64_t k = a->shape[a->tensor.ndim - 1];
  if (a->tensor.dtype.bits == 64) {
    double t = 0;
    for (int64_t l = 0; l < k; l++) t = fma(number(a, batch, i, l), number(b, batch, l, j), t);
    const double r = factors[0] * t;
    return factors[1] == 0 ? r : fma(factors[1], before, r);
  }
  float t = 0;
  for (int64_t l = 0; l < k; l++)
    t = fmaf((float)number(a, batch, i, l), (float)number(b, batch, l, j), t);
  const float r = (float)factors[0] * t;
  return factors[1] == 0 ? r : fmaf((float)factors[1], (float)before, r);
}

/* What C should hold, in `kept`, as C's memory is before the call. */
static void expect(const array *a, const array *b, const array *c, const double factors[2]) {
  const int ndim = c->tensor.ndim;
  const int64_t batch = ndim == 3 ? c->shape[0] : 1;
  for (int64_t s = 0; s < batch; s++)
    for (int64_t i = 0; i < c->shape[ndim - 2]; i++)
      for (int64_t j = 0; j < c->shape[ndim - 1]; j++) {
        const double value = chain(a, b, s, i, j, factors, number(c, s, i, j));
        char *to = (char *)kept + ((char *)at(c, s, i, j) - (char *)c_room);
        if (c->tensor.dtype.bits == 32)
          *(float *)to = (float)value;
        else
          *(double *)to = value;
      }
}

/* Batches without gaps of small matrices, rows and columns among them; B as it is or turned. */
static void small_batches_are_chains(void **state) {
  (void)state;
  static const double plain[2] = {1, 0};
  static const int64_t extents[] = {1, 2, 3, 4, 5, 8, 9, 15, 16, 17}, BATCH = 3;
  enum { EXTENTS = sizeof extents / sizeof *extents };
  for (int at = 0; at < EXTENTS * EXTENTS * EXTENTS * 4; at++) {
    const DLDataType type = at % 2 ? f32 : f64;
    const bool turned = at / 2 % 2;
    const int64_t m = extents[at / 4 % EXTENTS], n = extents[at / 4 / EXTENTS % EXTENTS],
                  k = extents[at / 4 / EXTENTS / EXTENTS];
    array a = {.shape = {BATCH, m, k}, .stride = {m * k, k, 1}};
    array b = {.shape = {BATCH, k, n}, .stride = {k * n, turned ? 1 : n, turned ? k : 1}};
    array c = {.shape = {BATCH, m, n}, .stride = {m * n, n, 1}};
    a.tensor = tensor(a_room, type, 3, a.shape, a.stride);
    b.tensor = tensor(b_room, type, 3, b.shape, b.stride);
    c.tensor = tensor(c_room, type, 3, c.shape, c.stride);
    fill_some(a_room, type, BATCH * m * k);
    fill_some(b_room, type, BATCH * k * n);
    fill_some(c_room, type, BATCH * m * n);
    memcpy(kept, c_room, sizeof kept);
    expect(&a, &b, &c, plain);
    if (rung_matmul(context, 1, &a.tensor, &b.tensor, 0, &c.tensor, NULL) != RUNG_OK)
      fail_msg("%s", rung_last_error(context));
    if (memcmp(c_room, kept, sizeof kept) != 0)
      fail_msg("f%d, %ld by %ld by %ld%s: other bits", type.bits, (long)m, (long)n, (long)k,
               turned ? ", turned" : "");
  }
}

/* A product of these extents, whatever the steps and factors. */
static void try_any(int job, int64_t batch, int64_t m, int64_t n, int64_t k) {
  static const double alphas[] = {1, 1, -0.3, 2}, betas[] = {0, 0, 1, -0.7};
  const DLDataType type = throw(2) ? f32 : f64;
  const double factors[2] = {alphas[throw(4)], betas[throw(4)]};
  array a, b, c;
  const int shared = (int) throw(4); /* 0, 1: a or b has no batch; 2: b has one of 1 */
  const int64_t in_a[3] = {batch, m, k}, in_b[3] = {shared == 2 ? 1 : batch, k, n},
                in_c[3] = {batch, m, n};
  lay_out(&a, type, a_room, 2 + (batch > 0 && shared != 0), in_a + (batch == 0 || shared == 0),
          false);
  lay_out(&b, type, b_room, 2 + (batch > 0 && shared != 1), in_b + (batch == 0 || shared == 1),
          false);
  lay_out(&c, type, c_room, 2 + (batch > 0), in_c + (batch == 0), true);
  fill(a_room, type);
  fill(b_room, type);
  fill(c_room, type);
  memcpy(kept, c_room, sizeof kept);
  expect(&a, &b, &c, factors);
  rung_call call = {.rung = rungs[job % RUNGS]};
  if (rung_matmul(context, factors[0], &a.tensor, &b.tensor, factors[1], &c.tensor, &call) !=
      RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  if (memcmp(c_room, kept, sizeof kept) != 0)
    fail_msg("job %d: %s, f%d, %ld by %ld by %ld, batch %ld: other bits", job, call.used, type.bits,
             (long)m, (long)n, (long)k, (long)batch);
}

static void any_shape_and_strides(void **state) {
  (void)state;
  for (int job = 0; job < (INSTRUMENTED ? 300 : 1500); job++) {
    const int64_t batch = throw(3) ? 0 : 1 + throw(3), most = batch > 0 ? 17 : MOST + 1;
    try_any(job, batch, throw(most), throw(most), throw(most));
  }
}

/* Lines of the caches, vectors of columns, and what is left of either. */
static void a_matrix_and_few_vectors(void **state) {
  (void)state;
  for (int job = 0; job < (INSTRUMENTED ? 200 : 1500); job++) {
    const int64_t few = throw(3) ? 1 : 1 + throw(9), many = 1 + throw(90), k = throw(90);
    const bool row = throw(2);
    try_any(job, 0, row ? few : many, row ? many : few, k);
  }
}

/* ---- what a product must be -------------------------------------------------------------------
 */

enum { SIDE = 23 };
static double x[SIDE][SIDE], y[SIDE][SIDE], z[SIDE][SIDE], wanted[SIDE][SIDE];

static void multiply(double alpha, double beta, const char *rung) {
  int64_t shape[2] = {SIDE, SIDE};
  DLTensor a = tensor(x, f64, 2, shape, NULL), b = tensor(y, f64, 2, shape, NULL),
           c = tensor(z, f64, 2, shape, NULL);
  rung_call call = {.rung = rung};
  if (rung_matmul(context, alpha, &a, &b, beta, &c, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

static void integers_identity_and_permutations(void **state) {
  (void)state;
  for (int r = 0; r < RUNGS; r++) {
    memset(wanted, 0, sizeof wanted);
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) {
        x[i][j] = (double)(throw(2001) - 1000);
        y[i][j] = (double)(throw(2001) - 1000);
        z[i][j] = NAN; /* not to be read */
      }
    for (int i = 0; i < SIDE; i++)
      for (int l = 0; l < SIDE; l++)
        for (int j = 0; j < SIDE; j++) wanted[i][j] += x[i][l] * y[l][j];
    multiply(1, 0, rungs[r]);
    assert_memory_equal(z, wanted, sizeof z);
    multiply(-2, 3, rungs[r]); /* 3 z - 2 x y = x y */
    assert_memory_equal(z, wanted, sizeof z);
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) y[i][j] = j == (i * 5 + 3) % SIDE;
    multiply(1, 0, rungs[r]);
    for (int i = 0; i < SIDE; i++)
      for (int l = 0; l < SIDE; l++) assert_true(z[i][(l * 5 + 3) % SIDE] == x[i][l]);
  }
}

/* One row and one column of values that IEEE 754 has rules for. */
static void special_values(void **state) {
  (void)state;
  static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, 1e-308, 1e308, 1};
  enum { COUNT = sizeof specials / sizeof *specials };
  for (int r = 0; r < RUNGS; r++) {
    memset(x, 0, sizeof x);
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) {
        x[i][j] = j == 4 ? specials[i % COUNT] : -0.0;
        y[i][j] = i == 4 ? specials[j % COUNT] : 1;
      }
    multiply(1, 0, rungs[r]);
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) {
        const double product = specials[i % COUNT] * specials[j % COUNT];
        if (isnan(product) ? !isnan(z[i][j])
                           : z[i][j] != product || (product == 0 && signbit(z[i][j])))
          fail_msg("%g * %g is %g", specials[i % COUNT], specials[j % COUNT], z[i][j]);
      }
  }
}

static void bytes_wrap_around(void **state) {
  (void)state;
  enum { K = 70000 };
  static int8_t a[K], b[K];
  memset(a, 0x80, sizeof a);
  memset(b, 0x80, sizeof b);
  int64_t row[2] = {1, K}, column[2] = {K, 1}, one[2] = {1, 1};
  int32_t c = 5;
  DLTensor left = tensor(a, i8, 2, row, NULL), right = tensor(b, i8, 2, column, NULL),
           to = tensor(&c, i32, 2, one, NULL);
  assert_int_equal(rung_matmul(context, 4, &left, &right, -1, &to, NULL), RUNG_OK);
  assert_int_equal(c, (int32_t)(uint32_t)(4 * INT64_C(16384) * K - 5));
}

/* Of float and its subnormal numbers: nothing is flushed to zero, and chains are fused. */
static void subnormal_floats(void **state) {
  (void)state;
  enum { K = 40 };
  for (int r = 0; r < RUNGS; r++) {
    float a[K], b[K][2], c[2] = {NAN, NAN}, t = 0;
    int64_t row[2] = {1, K}, two[2] = {K, 2}, out[2] = {1, 2};
    for (int l = 0; l < K; l++) {
      a[l] = ldexpf((float)(throw(2001) - 1000), -80);
      b[l][0] = ldexpf((float)(throw(2001) - 1000), -74);
      b[l][1] = l == 0 ? -ldexpf(1, -75) : 0;
    }
    a[0] = a[1] = ldexpf(1, -80); /* -2^-155 is below half of the least number: -0, and then +0 */
    for (int l = 0; l < K; l++) t = fmaf(a[l], b[l][0], t);
    assert_true(t != 0 && fabsf(t) < 1e-38f);
    DLTensor left = tensor(a, f32, 2, row, NULL), right = tensor(b, f32, 2, two, NULL),
             to = tensor(c, f32, 2, out, NULL);
    rung_call call = {.rung = rungs[r]};
    assert_int_equal(rung_matmul(context, 1, &left, &right, 0, &to, &call), RUNG_OK);
    assert_true(c[0] == t);
    assert_true(c[1] == 0 && !signbit(c[1]));
  }
}

/* ---- small plain products, which take a short cut ---------------------------------------------
 */

/* Memory that ends where its array does, so that AddressSanitizer sees what is beyond. */
static array exact(DLDataType type, int64_t rows, int64_t columns, int64_t gap, bool turned) {
  array m = {.shape = {rows, columns}};
  const int64_t line = (turned ? rows : columns) + gap, lines = turned ? columns : rows;
  m.stride[0] = turned ? 1 : line;
  m.stride[1] = turned ? line : 1;
  const int64_t count = (lines - 1) * line + line - gap;
  void *data = malloc((size_t)(count * type.bits / 8));
  assert_non_null(data);
  for (int64_t i = 0; i < count; i++)
    if (type.bits == 32)
      ((float *)data)[i] = (float)(rung_random_double(&dice) * 4 - 2);
    else
      ((double *)data)[i] = rung_random_double(&dice) * 4 - 2;
  m.tensor = tensor(data, type, 2, m.shape, m.stride);
  return m;
}

static void short_cuts_have_the_same_bits(void **state) {
  (void)state;
  static const double factors[2] = {1, 0};
  for (int job = 0; job < (INSTRUMENTED ? 150 : 1000); job++) {
    const DLDataType type = throw(2) ? f32 : f64;
    const int64_t most = throw(4) ? 24 : 110, m = 1 + throw(most), n = 1 + throw(most),
                  k = 1 + throw(most == 24 && throw(3) == 0 ? 1500 : most);
    array a = exact(type, m, k, throw(3), throw(3) == 0),
          b = exact(type, k, n, throw(3), throw(3) == 0), c = exact(type, m, n, throw(3), false);
    a.tensor.shape = a.shape, a.tensor.strides = a.stride;
    b.tensor.shape = b.shape, b.tensor.strides = b.stride;
    c.tensor.shape = c.shape, c.tensor.strides = c.stride;
    const int64_t row = c.stride[0], last = (m - 1) * row + n;
    const size_t bytes = (size_t)(last * type.bits / 8);
    char *before = malloc(bytes);
    assert_non_null(before);
    memcpy(before, c.tensor.data, bytes);
    rung_call call = {.size = sizeof call};
    if (rung_matmul(context, 1, &a.tensor, &b.tensor, 0, &c.tensor, throw(2) ? &call : NULL) !=
        RUNG_OK)
      fail_msg("%s", rung_last_error(context));
    assert_true(call.used == NULL || strcmp(call.used, "threads") == 0);
    for (int64_t at_ = 0; at_ < last; at_++) {
      const int64_t i = at_ / row, j = at_ % row, size = type.bits / 8;
      const double value = j < n ? chain(&a, &b, 0, i, j, factors, 0) : 0;
      if (j < n && type.bits == 32)
        ((float *)before)[at_] = (float)value;
      else if (j < n)
        ((double *)before)[at_] = value;
      if (memcmp(before + at_ * size, (char *)c.tensor.data + at_ * size, (size_t)size) != 0)
        fail_msg("f%d, %ld by %ld by %ld: element %ld, %ld", type.bits, (long)m, (long)n, (long)k,
                 (long)i, (long)j);
    }
    free(before);
    free(a.tensor.data);
    free(b.tensor.data);
    free(c.tensor.data);
  }
}

/* A row or a column of values that IEEE 754 has rules for, and a matrix of the like, from anywhere
 * in a line of the caches; nothing is read before or beyond them. */
static void vectors_read_no_further(void **state) {
  (void)state;
  static const double factors[2] = {1, 0};
  static const double specials[] = {-0.0, INFINITY, -INFINITY, NAN, 1e-45, -1e-45, 5e-324, 1e38};
  for (int job = 0; job < (INSTRUMENTED ? 100 : 600); job++) {
    const DLDataType type = throw(2) ? f32 : f64;
    const int64_t lines = 1 + throw(70), k = 1 + throw(throw(4) ? 70 : 1500), size = type.bits / 8;
    const int64_t to_line = 64 / size, rest = (k + to_line - 1) / to_line * to_line - k;
    const bool column = throw(2), turned = throw(2);
    array a = exact(type, column ? lines : 1, k, column && throw(2) ? rest : throw(3),
                    column && turned),
          b = exact(type, k, column ? 1 : lines, !column && throw(2) ? rest : throw(3),
                    !column && turned),
          c = exact(type, column ? lines : 1, column ? 1 : lines, 0, false);
    array *const all[] = {&a, &b, &c};
    for (int i = 0; i < 3; i++)
      all[i]->tensor.shape = all[i]->shape, all[i]->tensor.strides = all[i]->stride;
    for (int64_t i = throw(6); i > 0; i--) {
      array *of = throw(2) ? &a : &b;
      void *to = at(of, 0, throw(of->shape[0]), throw(of->shape[1]));
      const double special = specials[throw(sizeof specials / sizeof *specials)];
      if (size == 4)
        *(float *)to = (float)special;
      else
        *(double *)to = special;
    }
    rung_call call = {.rung = rungs[job % RUNGS]};
    if (rung_matmul(context, 1, &a.tensor, &b.tensor, 0, &c.tensor, &call) != RUNG_OK)
      fail_msg("%s", rung_last_error(context));
    for (int64_t i = 0; i < lines; i++) {
      const int64_t row = column ? i : 0, of = column ? 0 : i;
      const double wanted_ = chain(&a, &b, 0, row, of, factors, 0), got = number(&c, 0, row, of);
      if (isnan(wanted_) ? !isnan(got) : got != wanted_ || signbit(got) != signbit(wanted_))
        fail_msg("%s, f%d, %ld %s of %ld: element %ld is %g; expected: %g", call.used, type.bits,
                 (long)lines, column ? "rows" : "columns", (long)k, (long)i, got, wanted_);
    }
    free(a.tensor.data);
    free(b.tensor.data);
    free(c.tensor.data);
  }
}

/* ---- what holds of any product ----------------------------------------------------------------
 */

/* A column times a row is each product, rounded once; and the Hilbert matrix times the inverse that
 * is known of it is the identity, in numbers that are all whole. */
static void rank_one_and_hilbert(void **state) {
  (void)state;
  enum { N = 6, SCALE = 27720 }; /* of which 1 ... 11 are divisors */
  static const double inverse[N][N] = {{36, -630, 3360, -7560, 7560, -2772},
                                       {-630, 14700, -88200, 211680, -220500, 83160},
                                       {3360, -88200, 564480, -1411200, 1512000, -582120},
                                       {-7560, 211680, -1411200, 3628800, -3969000, 1552320},
                                       {7560, -220500, 1512000, -3969000, 4410000, -1746360},
                                       {-2772, 83160, -582120, 1552320, -1746360, 698544}};
  for (int r = 0; r < RUNGS; r++) {
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        x[i][j] = (double)(SCALE / (i + j + 1));
        y[i][j] = inverse[i][j];
      }
    multiply(1, 0, rungs[r]);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) assert_true(z[i][j] == (i == j ? SCALE : 0));
    double column[SIDE], row[SIDE];
    int64_t high[2] = {SIDE, 1}, wide[2] = {1, SIDE}, all[2] = {SIDE, SIDE};
    for (int i = 0; i < SIDE; i++) {
      column[i] = rung_random_double(&dice) - 0.5;
      row[i] = rung_random_double(&dice) - 0.5;
    }
    DLTensor a = tensor(column, f64, 2, high, NULL), b = tensor(row, f64, 2, wide, NULL),
             c = tensor(z, f64, 2, all, NULL);
    rung_call call = {.rung = rungs[r]};
    assert_int_equal(rung_matmul(context, 1, &a, &b, 0, &c, &call), RUNG_OK);
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) assert_true(z[i][j] == column[i] * row[j]);
  }
}

/* (A B) C against A (B C): each is within (2 k + 2) roundings of the exact product's terms, which
 * are at most 4^3 k^2. */
static void brackets_may_be_moved(void **state) {
  (void)state;
  static double first[SIDE][SIDE], third[SIDE][SIDE], left[SIDE][SIDE];
  const double bound = 2 * (2 * SIDE + 2) * 0x1p-53 * 64 * SIDE * SIDE;
  for (int r = 0; r < RUNGS; r++) {
    bool differs = false;
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) {
        first[i][j] = x[i][j] = rung_random_double(&dice) * 8 - 4;
        y[i][j] = rung_random_double(&dice) * 8 - 4;
        third[i][j] = rung_random_double(&dice) * 8 - 4;
      }
    memcpy(left, y, sizeof left);
    multiply(1, 0, rungs[r]);
    memcpy(x, z, sizeof x);
    memcpy(y, third, sizeof y);
    multiply(1, 0, rungs[r]);
    memcpy(wanted, z, sizeof wanted);
    memcpy(x, left, sizeof x);
    multiply(1, 0, rungs[r]);
    memcpy(x, first, sizeof x);
    memcpy(y, z, sizeof y);
    multiply(1, 0, rungs[r]);
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) {
        differs = differs || z[i][j] != wanted[i][j];
        assert_true(fabs(z[i][j] - wanted[i][j]) <= bound);
      }
    assert_true(differs);
  }
}

/* Rows so far apart that the last one's first element is beyond 2^31, in memory of which only what
 * is touched exists. */
static void steps_beyond_32_bits(void **state) {
  (void)state;
  enum { ROWS = 9, K = 5 };
  const int64_t apart = (INT64_C(1) << 29) + 3, bytes = (ROWS * apart + 64) * 4;
  float *far = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (far == MAP_FAILED) {
    print_message("no room for addresses of %lld bytes\n", (long long)bytes);
    skip();
  }
  float a[ROWS][K], b[K][ROWS], c[ROWS][ROWS];
  int64_t shape[2] = {ROWS, K}, steps[2] = {apart, 1}, turned[2] = {K, ROWS}, back[2] = {1, apart},
          square[2] = {ROWS, ROWS}, across[2] = {1, ROWS};
  for (int i = 0; i < ROWS; i++)
    for (int l = 0; l < K; l++) {
      far[i * apart + l] = a[i][l] = (float)(throw(201) - 100);
      b[l][i] = (float)(throw(201) - 100);
    }
  for (int r = 0; r < RUNGS; r++)
    for (int way = 0; way < 3; way++) { /* as A, as B transposed, and as C */
      DLTensor rows = tensor(far, f32, 2, shape, steps),
               columns = tensor(far, f32, 2, turned, back), near = tensor(b, f32, 2, turned, NULL),
               to = tensor(c, f32, 2, square, NULL), away = tensor(far + 16, f32, 2, square, steps),
               again = tensor(b, f32, 2, shape, across), here = tensor(a, f32, 2, shape, NULL);
      rung_call call = {.rung = rungs[r]};
      const DLTensor *left = way == 0   ? &rows
                             : way == 1 ? &again
                                        : &here,
                     *right = way == 1 ? &columns : &near;
      if (rung_matmul(context, 1, left, right, 0, way == 2 ? &away : &to, &call) != RUNG_OK)
        fail_msg("%s", rung_last_error(context));
      for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
          float sum = 0;
          for (int l = 0; l < K; l++) sum += way == 1 ? b[l][i] * a[j][l] : a[i][l] * b[l][j];
          assert_true((way == 2 ? far[i * apart + 16 + j] : c[i][j]) == sum);
        }
    }
  munmap(far, (size_t)bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_batches_are_chains),
      cmocka_unit_test(any_shape_and_strides),
      cmocka_unit_test(a_matrix_and_few_vectors),
      cmocka_unit_test(vectors_read_no_further),
      cmocka_unit_test(integers_identity_and_permutations),
      cmocka_unit_test(special_values),
      cmocka_unit_test(bytes_wrap_around),
      cmocka_unit_test(subnormal_floats),
      cmocka_unit_test(short_cuts_have_the_same_bits),
      cmocka_unit_test(rank_one_and_hilbert),
      cmocka_unit_test(brackets_may_be_moved),
      cmocka_unit_test(steps_beyond_32_bits),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
