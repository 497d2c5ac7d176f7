/* Products of f16 and bf16 as products of f32, on the simulated GPU: views of every kind have the
 * bits that the CPU's textbook has, nothing else is written, and `auto` knows when to take them. */
#include "core/half.h"
#include "core/random.h"
#include "ops/outside.h"

enum { ROOM = 60000, JOBS = INSTRUMENTED ? 50 : 200 };

static float a_room[ROOM], b_room[ROOM], c_room[ROOM], before[ROOM], wanted[ROOM];
static rung_random dice = {11};

static int64_t throw(int64_t sides) {
  return (int64_t)(rung_random_double(&dice) * (double)sides);
}

static void fill(float *room, DLDataType type) {
  for (int64_t i = 0; i < ROOM; i++) {
    float value = (float)(rung_random_double(&dice) * 4 - 2);
    if (throw(50) == 0) value *= 0x1p-15f; /* subnormal in f16 */
    if (type.bits == 32)
      room[i] = value;
    else
      ((uint16_t *)room)[i] = rung_f32_to_half(value, type.code == kDLBfloat);
  }
}

typedef struct array {
  DLTensor tensor;
  int64_t shape[3], stride[3];
} array;

/* Rows or columns first, gaps, and of a batch no step at all where it is only read. */
static void lay_out(array *m, DLDataType type, float *room, int ndim, const int64_t *shape,
                    bool written) {
  const bool turned = !written && throw(2);
  const int row = turned ? ndim - 1 : ndim - 2, column = turned ? ndim - 2 : ndim - 1;
  const int64_t gap = throw(2) ? 0 : 1 + throw(9), first = throw(5);
  for (int d = 0; d < ndim; d++) m->shape[d] = shape[d];
  m->stride[column] = 1;
  m->stride[row] = shape[column] + gap;
  if (ndim == 3) m->stride[0] = shape[row] * m->stride[row] + (throw(2) ? 0 : throw(9));
  if (ndim == 3 && !written && throw(4) == 0) m->stride[0] = 0;
  m->tensor = tensor((char *)room + first * (type.bits / 8), type, ndim, m->shape, m->stride);
}

static void multiply(rung_context *context, const char *rung, const array *a, const array *b,
                     const double factors[2], array *c, const char *used) {
  rung_call call = {.rung = rung};
  if (rung_matmul(context, factors[0], &a->tensor, &b->tensor, factors[1], &c->tensor, &call) !=
      RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  if (used != NULL) assert_string_equal(call.used, used);
}

static void any_view_has_the_bits(void **state) {
  (void)state;
  static const double alphas[] = {1, 1, -0.3, 2}, betas[] = {0, 0, 1, -0.7};
  rung_context *cpu = open_on("cpu"), *sim = open_on("sim");
  for (int job = 0; job < JOBS && sim != NULL; job++) {
    const DLDataType type = throw(2) ? f16 : bf16, result = throw(3) ? type : f32;
    const int64_t batch = throw(2) ? 0 : 1 + throw(4), most = batch > 0 ? 41 : 120;
    const int64_t m = 1 + throw(most), n = 1 + throw(most), k = throw(most);
    const double factors[2] = {alphas[throw(4)], betas[throw(4)]};
    const int shared = batch > 0 ? (int) throw(4) : -1; /* 0, 1: a or b has no batch */
    const int64_t in_a[3] = {batch, m, k}, in_b[3] = {shared == 2 ? 1 : batch, k, n},
                  in_c[3] = {batch, m, n};
    const int plain_a = batch == 0 || shared == 0, plain_b = batch == 0 || shared == 1;
    array a, b, c;
    lay_out(&a, type, a_room, 3 - plain_a, in_a + plain_a, false);
    lay_out(&b, type, b_room, 3 - plain_b, in_b + plain_b, false);
    lay_out(&c, result, c_room, 2 + (batch > 0), in_c + (batch == 0), true);
    fill(a_room, type);
    fill(b_room, type);
    fill(c_room, result);
    memcpy(before, c_room, sizeof before);
    multiply(cpu, "naive", &a, &b, factors, &c, NULL);
    memcpy(wanted, c_room, sizeof wanted);
    memcpy(c_room, before, sizeof before);
    multiply(sim, "widened", &a, &b, factors, &c, "widened");
    if (memcmp(c_room, wanted, sizeof wanted) != 0)
      fail_msg("job %d: %s to %d bits, %d by %d by %d, batch %d: other bits", job,
               type.code == kDLBfloat ? "bf16" : "f16", (int)result.bits, (int)m, (int)n, (int)k,
               (int)batch);
  }
  rung_close(cpu);
  rung_close(sim);
}

/* m by k by n, without gaps. */
static void plain(array *a, array *b, array *c, DLDataType type, int64_t m, int64_t n, int64_t k) {
  *a = (array){.shape = {m, k}};
  *b = (array){.shape = {k, n}};
  *c = (array){.shape = {m, n}};
  a->tensor = tensor(a_room, type, 2, a->shape, NULL);
  b->tensor = tensor(b_room, type, 2, b->shape, NULL);
  c->tensor = tensor(c_room, type, 2, c->shape, NULL);
  fill(a_room, type);
  fill(b_room, type);
}

static void auto_takes_it_where_it_pays(void **state) {
  (void)state;
  static const double factors[2] = {1, 0};
  rung_context *sim = open_on("sim");
  array a, b, c;
  if (sim == NULL) return;
  plain(&a, &b, &c, f16, 64, 64, 64);
  multiply(sim, NULL, &a, &b, factors, &c, "widened");
  plain(&a, &b, &c, bf16, 20, 20, 20);
  multiply(sim, NULL, &a, &b, factors, &c, "naive");
  plain(&a, &b, &c, f16, 200, 16, 16);
  multiply(sim, NULL, &a, &b, factors, &c, "naive");
  rung_close(sim);
}

/* Where memory is short the job is cut; of its smallest pieces there are no copies. */
static void fits_into_little_memory(void **state) {
  (void)state;
  static const double factors[2] = {1, 0};
  static const char *const limits[] = {"2M", "500K", "150K", "100K"};
  rung_context *cpu = open_on("cpu");
  array a, b, c;
  plain(&a, &b, &c, bf16, 200, 130, 250);
  multiply(cpu, "naive", &a, &b, factors, &c, NULL);
  memcpy(wanted, c_room, sizeof wanted);
  for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
    assert_int_equal(setenv("RUNG_MEMORY_LIMIT", limits[l], 1), 0);
    rung_context *sim = open_on("sim");
    assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
    if (sim == NULL) break;
    memset(c_room, 0xff, 200 * 130 * 2);
    multiply(sim, NULL, &a, &b, factors, &c, l < 2 ? "widened" : "naive");
    assert_memory_equal(c_room, wanted, 200 * 130 * 2);
    rung_close(sim);
  }
  rung_close(cpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_view_has_the_bits),
      cmocka_unit_test(auto_takes_it_where_it_pays),
      cmocka_unit_test(fits_into_little_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
