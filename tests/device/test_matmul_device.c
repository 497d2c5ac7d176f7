/* Products through rung.h on a GPU: arrays of either side, any strides, batches, every rung by
 * name, against the CPU's bits; and a matrix of more than 2^31 elements. Skipped, by name, where
 * there is no GPU. */
#include "device/both.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/half.h"
#include "core/random.h"
#include "ops/matmul/matmul.h"

enum { EACH = 1 << 20, BYTES = 8 * EACH }; /* numbers of A, and of B; C has as much room */
static char *numbers, *wanted, *found;

static const DLDataType types[] = {{kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLInt, 8, 1}};
static const rung_dtype dtypes[] = {RUNG_F32, RUNG_F64, RUNG_I8};
enum { TYPES = sizeof types / sizeof *types };

/* Strides by dimension, the batch's first; 0: without gaps. */
typedef struct form {
  int64_t batch, m, n, k;
  int64_t a[3], b[3], c[3];
  double alpha, beta;
} form;

static const form forms[] = {
    {1, 300, 270, 129, {0}, {0}, {0}, 1, 0},
    {1, 128, 256, 64, {0}, {0}, {0}, -2, 0.5},
    {1, 257, 131, 70, {0, 1, 260}, {0, 135, 1}, {0, 140, 1}, 1, 1},
    {1, 257, 131, 70, {0, 71, 1}, {0, 1, 71}, {0, 1, 257}, 1, 0},
    {1, 130, 200, 65, {0, 1, 131}, {0, 1, 67}, {0}, 3, -1},
    {1, 5, 1000, 700, {0}, {0, 1, 701}, {0}, 1, 0},
    {1, 1, 3000, 300, {0}, {0}, {0}, 1, 2},
    {1, 2000, 1, 301, {0}, {0}, {0}, 1, 0},
    {1, 64, 48, 0, {0}, {0}, {0}, 1, 3},
    {1, 40, 30, 50, {0, 100, 2}, {0, 3, 90}, {0, 0, 0}, 1, 0},
    {70, 16, 16, 16, {0}, {0}, {0}, 1, 0},
    {9, 33, 34, 35, {0, 1, 33}, {1200, 35, 1}, {1200, 35, 1}, 2, 1},
};
enum { FORMS = sizeof forms / sizeof *forms };

static DLTensor array(char *data, DLDataType type, bool there, int64_t *shape,
                      const int64_t strides[3], int64_t *steps) {
  const int64_t compact[3] = {shape[1] * shape[2], shape[2], 1};
  const bool given = strides[1] != 0 || strides[2] != 0;
  memcpy(steps, given ? strides : compact, 3 * sizeof *steps);
  if (given && steps[0] == 0) steps[0] = compact[0];
  return (DLTensor){.data = data,
                    .device = {there ? kDLCUDA : kDLCPU, 0},
                    .ndim = 3,
                    .dtype = type,
                    .shape = shape,
                    .strides = steps};
}

/* Of integers the factors without their fractions. */
static rung_status multiply(rung_context *context, const form *f, DLDataType type, char *in,
                            char *out, bool there, rung_call call) {
  const bool whole = type.code == kDLInt;
  const DLDataType sum = whole             ? (DLDataType){kDLInt, 32, 1}
                         : type.bits == 64 ? type
                                           : (DLDataType){kDLFloat, 32, 1};
  int64_t shapes[3][3] = {{f->batch, f->m, f->k}, {f->batch, f->k, f->n}, {f->batch, f->m, f->n}};
  int64_t steps[3][3];
  const DLTensor a = array(in, type, there, shapes[0], f->a, steps[0]);
  const DLTensor b = array(in + BYTES, type, there, shapes[1], f->b, steps[1]);
  DLTensor c = array(out, sum, there, shapes[2], f->c, steps[2]);
  return rung_matmul(context, whole ? trunc(f->alpha) : f->alpha, &a, &b,
                     whole ? trunc(f->beta) : f->beta, &c, &call);
}

static void copy(void *to, const void *from, size_t bytes, rung_copy way) {
  if (on_gpu->backend->copy(on_gpu->state, to, from, bytes, way, &on_gpu->error) != RUNG_OK ||
      rung_synchronize(on_gpu) != RUNG_OK)
    fail_msg("%s", rung_last_error(on_gpu));
}

/* What C holds before is what is added, and what stays between its rows. */
static void check(int k, DLDataType type, const char *rung, bool may_refuse) {
  memcpy(wanted, numbers + BYTES / 2, BYTES);
  if (multiply(on_cpu, &forms[k], type, numbers, wanted, false, (rung_call){.rung = "naive"}) !=
      RUNG_OK)
    fail_msg("%s", rung_last_error(on_cpu));
  for (int there = 0; there < 2; there++) {
    memcpy(found, numbers + BYTES / 2, BYTES);
    if (there) copy(found_there, found, BYTES, RUNG_TO_DEVICE);
    const rung_status status =
        multiply(on_gpu, &forms[k], type, there ? read_there : numbers, there ? found_there : found,
                 there, (rung_call){.rung = rung});
    if (status == RUNG_UNSUPPORTED && may_refuse) return;
    if (status != RUNG_OK) fail_msg("%s: %s", rung, rung_last_error(on_gpu));
    if (there) copy(found, found_there, BYTES, RUNG_TO_HOST);
    if (memcmp(found, wanted, BYTES) != 0)
      fail_msg("%s, form %d, %d bits, %s memory: other bits", rung, k, type.bits,
               there ? "device" : "host");
  }
}

static void has_the_bits_of_the_cpu(void **unused) {
  (void)unused;
  NEED_DEVICE();
  for (int k = 0; k < FORMS; k++)
    for (int type = 0; type < TYPES; type++) {
      check(k, types[type], "auto", false);
      for (int r = 0; r < matmul_operation.count; r++) {
        const rung_row *row = &matmul_operation.rows[r];
        if (row->family == RUNG_ON_GPU && row->order == RUNG_CANONICAL && !rung_row_fixed(row))
          check(k, types[type], row->name,
                row->supports != NULL || !(row->types.in & RUNG_TYPE(dtypes[type])));
      }
    }
}

/* What tensor cores round factors to: off by 2^-digits of themselves at most, and of numbers as
 * large as 2 all are in range. */
static const struct {
  const char *rung;
  DLDataType type;
  double rounding;
} fast[] = {
    {"tf32", {kDLFloat, 32, 1}, 0x1p-10}, {"tf32x3", {kDLFloat, 32, 1}, 0x3p-22},
    {"bf16", {kDLFloat, 32, 1}, 0x1p-7},  {"f16", {kDLFloat, 32, 1}, 0x1p-10},
    {"bf16", {kDLBfloat, 16, 1}, 0},      {"f16", {kDLFloat, 16, 1}, 0},
    {"auto", {kDLFloat, 32, 1}, 0x1p-10},
};
enum { FAST = sizeof fast / sizeof *fast };

/* A number's sign away, by its highest byte; halves are made of floats' upper bits. */
static void fill_fast(DLDataType type, bool signs) {
  rung_random dice = {5};
  for (size_t i = 0; i < 2 * (size_t)BYTES / (type.bits / 8u); i++) {
    const float x = (float)(rung_random_double(&dice) * 4 - 2), y = signs ? x : fabsf(x);
    const uint16_t half = type.code == kDLBfloat ? rung_f32_to_bf16(y) : rung_f32_to_f16(y);
    memcpy(numbers + i * (type.bits / 8u), type.bits == 32 ? (const void *)&y : &half,
           type.bits / 8u);
  }
}

/* The matrices begin `shift` elements into memory. */
static void check_fast(int k, int mode, int shift, const float *exact, const float *sizes) {
  const rung_call call = {.rung = fast[mode].rung, .math = RUNG_MATH_FAST};
  const DLDataType type = fast[mode].type;
  const int64_t n = BYTES / (int64_t)sizeof(float);
  const double bound =
      3 * ((double)forms[k].k + 2) * 0x1p-23 + fast[mode].rounding * (1 + fast[mode].rounding);
  memset(found, 0, BYTES);
  copy(found_there, found, BYTES, RUNG_TO_DEVICE);
  copy(read_there, numbers, 2 * BYTES, RUNG_TO_DEVICE);
  const rung_status status = multiply(on_gpu, &forms[k], type, read_there + shift * type.bits / 8,
                                      found_there, true, call);
  if (status == RUNG_UNSUPPORTED && on_gpu->device.capability != 90) return;
  if (status != RUNG_OK) fail_msg("%s: %s", call.rung, rung_last_error(on_gpu));
  copy(found, found_there, BYTES, RUNG_TO_HOST);
  for (int64_t i = 0; i < n; i++) {
    const float value = ((const float *)found)[i];
    if (!(fabs((double)value - (double)exact[i]) <= bound * (double)sizes[i]))
      fail_msg("%s of %d bits, form %d, shift %d: element %lld is %g, not %g", call.rung, type.bits,
               k, shift, (long long)i, (double)value, (double)exact[i]);
  }
}

/* Against the CPU's chains, as parts of the same product of magnitudes. */
static void fast_math_keeps_its_bound(void **unused) {
  (void)unused;
  NEED_DEVICE();
  char *sizes = malloc(BYTES);
  assert_non_null(sizes);
  for (int mode = 0; mode < FAST; mode++)
    for (int k = 0; k < FORMS; k++)
      for (int shift = 0; shift < 2; shift++) {
        const DLDataType type = fast[mode].type;
        form plain = forms[k];
        plain.alpha = fabs(plain.alpha);
        for (int signs = 0; signs < 2; signs++) {
          fill_fast(type, signs);
          char *to = signs ? wanted : sizes;
          memset(to, 0, BYTES);
          if (multiply(on_cpu, signs ? &forms[k] : &plain, type, numbers + shift * type.bits / 8,
                       to, false, (rung_call){0}) != RUNG_OK)
            fail_msg("%s", rung_last_error(on_cpu));
        }
        check_fast(k, mode, shift, (const float *)wanted, (const float *)sizes);
      }
  free(sizes);
}

/* A of ones but for its last element, B of two columns of ones: sums of a row's elements. */
static void counts_beyond_32_bits(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { M = 40003, K = 60013, WORTH = 7 };
  const size_t bytes = (size_t)M * K, need = bytes + 2 * (size_t)K;
  static int32_t sums[M][2];
  const int8_t last = WORTH;
  void *memory = NULL;
  rung_error error;
  if (on_gpu->backend->allocate(on_gpu->state, need, &memory, &error) != RUNG_OK) {
    print_message("no memory for a matrix of 2^31 elements: %s\n", error.sentence);
    skip();
  }
  int64_t in_a[2] = {M, K}, in_b[2] = {K, 2}, in_c[2] = {M, 2};
  DLTensor a = {.data = memory, .device = {kDLCUDA, 0}, .ndim = 2, .dtype = {kDLInt, 8, 1}};
  DLTensor b = a, c = a;
  a.shape = in_a;
  b.shape = in_b;
  b.data = (char *)memory + bytes;
  c.shape = in_c;
  c.dtype.bits = 32;
  c.data = found_there;
  assert_int_equal(on_gpu->backend->fill(on_gpu->state, memory, 1, need, &error), RUNG_OK);
  copy((char *)memory + bytes - 1, &last, 1, RUNG_TO_DEVICE);
  if (rung_matmul(on_gpu, 1, &a, &b, 0, &c, NULL) != RUNG_OK)
    fail_msg("%s", rung_last_error(on_gpu));
  copy(sums, found_there, sizeof sums, RUNG_TO_HOST);
  on_gpu->backend->release(on_gpu->state, memory);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < 2; j++)
      if (sums[i][j] != K + (i == M - 1 ? WORTH - 1 : 0))
        fail_msg("row %d, column %d: %d", i, j, sums[i][j]);
}

/* Twice as much as A needs: B follows. Bits of float that are numbers of double too. */
static int open_all(void **unused) {
  const int opened = open_gpu(unused);
  rung_random dice = {3};
  if (opened != 0 || !gpu) return opened;
  numbers = malloc(2 * BYTES);
  wanted = malloc(BYTES);
  found = malloc(BYTES);
  if (!numbers || !wanted || !found) return -1;
  for (int i = 0; i < 2 * BYTES / 4; i++)
    ((float *)numbers)[i] = (float)(rung_random_double(&dice) * 4 - 2);
  return open_both(numbers, 2 * BYTES, BYTES);
}

static int close_all(void **unused) {
  free(numbers);
  free(wanted);
  free(found);
  return close_both(unused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_the_bits_of_the_cpu),
      cmocka_unit_test(counts_beyond_32_bits),
      cmocka_unit_test(fast_math_keeps_its_bound),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
