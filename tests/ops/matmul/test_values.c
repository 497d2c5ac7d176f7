/* rung_matmul() from outside: every result is the chain that rung.h states, by every rung, of views
 * of every kind; and what a product must be whatever the order of arithmetic. */
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

static void fill(double *room, DLDataType type) {
  for (int64_t i = 0; i < ROOM; i++) {
    const double value = rung_random_double(&dice) * 4 - 2;
    if (type.bits == 32)
      ((float *)room)[i] = (float)value;
    else
      room[i] = value;
  }
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

static void any_shape_and_strides(void **state) {
  (void)state;
  static const double alphas[] = {1, 1, -0.3, 2}, betas[] = {0, 0, 1, -0.7};
  for (int job = 0; job < (INSTRUMENTED ? 300 : 1500); job++) {
    const DLDataType type = throw(2) ? f32 : f64;
    const int64_t batch = throw(3) ? 0 : 1 + throw(3), most = batch > 0 ? 17 : MOST + 1;
    const int64_t m = throw(most), n = throw(most), k = throw(most);
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
      fail_msg("job %d: %s, f%d, %ld by %ld by %ld, batch %ld: other bits", job, call.used,
               type.bits, (long)m, (long)n, (long)k, (long)batch);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_shape_and_strides),
      cmocka_unit_test(integers_identity_and_permutations),
      cmocka_unit_test(special_values),
      cmocka_unit_test(bytes_wrap_around),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
