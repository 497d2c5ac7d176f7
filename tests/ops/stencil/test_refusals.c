/* Every refusal of the contract: its status, a sentence that names the argument and its value, and
 * nothing written. */
#include "ops/stencil/outside.h"

static rung_context *cpu;

static const double weights[5] = {1.9, 1.5, 1, .5, .1};
static const rung_stencil_model model = {
    .radius = 2, .weights = weights, .divide = 5, .steps = 7, .fixed = 2};

/* A good call, of which each refusal spoils one thing. All outputs lie in one poisoned room. */
typedef struct spoilt {
  rung_stencil_model model;
  double weights[17];
  int64_t shapes[3][3], strides[3][3];
  DLTensor in, out, means;
  rung_call call;
  const rung_stencil_model *given;
  const DLTensor *given_in;
  DLTensor *given_out, *given_means;
} spoilt;

static double poison[64], source[64];

static void good(spoilt *s) {
  *s = (spoilt){.model = model};
  for (int k = 0; k < 17; k++) s->weights[k] = .3;
  s->model.weights = s->weights;
  for (int a = 0; a < 2; a++) s->shapes[a][0] = 3, s->shapes[a][1] = 5;
  for (int a = 0; a < 2; a++) s->strides[a][0] = 5, s->strides[a][1] = 1;
  s->shapes[2][0] = 3, s->strides[2][0] = 1;
  s->in = out_tensor(source, true, 2, s->shapes[0], s->strides[0]);
  s->out = out_tensor(poison, true, 2, s->shapes[1], s->strides[1]);
  s->means = out_tensor(poison + 40, true, 1, s->shapes[2], s->strides[2]);
  s->given = &s->model, s->given_in = &s->in, s->given_out = &s->out, s->given_means = &s->means;
}

static void refused(int line, spoilt *s, rung_status wanted, const char *what, const char *value) {
  memset(poison, 0x6b, sizeof poison);
  for (int k = 0; k < 64; k++) source[k] = k;
  const char *used = "untouched";
  s->call.used = used;
  const rung_status status =
      rung_stencil(cpu, s->given, s->given_in, s->given_out, s->given_means, &s->call);
  const char *sentence = rung_last_error(cpu);
  if (status != wanted || strstr(sentence, what) == NULL || strstr(sentence, value) == NULL)
    fail_msg("line %d: status %d, \"%s\": not %d with \"%s\" and \"%s\"", line, status, sentence,
             wanted, what, value);
  for (size_t k = 0; k < sizeof poison; k++)
    if (((unsigned char *)poison)[k] != 0x6b) fail_msg("line %d: byte %zu was written", line, k);
  for (int k = 0; k < 64; k++) assert_true(source[k] == k);
  assert_ptr_equal(s->call.used, used);
}

/* REFUSED(status, part of the sentence, another, what to spoil) */
#define REFUSED(status, what, value, ...)             \
  do {                                                \
    spoilt s;                                         \
    good(&s);                                         \
    __VA_ARGS__;                                      \
    refused(__LINE__, &s, (status), (what), (value)); \
  } while (0)

static void the_call_that_is_spoilt_is_good(void **unused) {
  (void)unused;
  spoilt s;
  good(&s);
  OUT_OK(cpu, rung_stencil(cpu, s.given, s.given_in, s.given_out, s.given_means, &s.call));
  assert_string_equal(rung_last_error(cpu), "");
  assert_string_equal(s.call.used, "panel");
}

static void refuses_models(void **unused) {
  (void)unused;
  const rung_status bad = RUNG_BAD_ARGUMENT;
  REFUSED(bad, "model", "NULL", s.given = NULL);
  REFUSED(bad, "weights", "NULL", s.model.weights = NULL);
  REFUSED(bad, "radius", "0", s.model.radius = 0);
  REFUSED(bad, "radius", "9", s.model.radius = 9);
  REFUSED(bad, "radius", "-2147483648", s.model.radius = INT32_MIN);
  REFUSED(bad, "weights[0]", "nan", s.weights[0] = NAN);
  REFUSED(bad, "weights[4]", "inf", s.weights[4] = INFINITY);
  REFUSED(bad, "weights[2]", "-inf", s.weights[2] = -INFINITY);
  REFUSED(bad, "divide", "0", s.model.divide = 0);
  REFUSED(bad, "divide", "0", s.model.divide = -0.0);
  REFUSED(bad, "divide", "nan", s.model.divide = NAN);
  REFUSED(bad, "divide", "inf", s.model.divide = INFINITY);
  REFUSED(bad, "weights[1]", "finite", s.weights[1] = 1e300; s.model.divide = 1e-10);
  REFUSED(bad, "steps", "-1", s.model.steps = -1);
  REFUSED(bad, "steps", "-9223372036854775808", s.model.steps = INT64_MIN);
  REFUSED(bad, "fixed", "-1", s.model.fixed = -1);
  REFUSED(bad, "fixed", "6", s.model.fixed = 6);
  REFUSED(bad, "edge", "99", s.model.edge = (rung_edge)99);
  REFUSED(bad, "edge", "-1", s.model.edge = (rung_edge)-1);
  REFUSED(bad, "edge", "5", s.model.edge = (rung_edge)5);
}

/* Finite in double and not in float. */
static void refuses_weights_beyond_float(void **unused) {
  (void)unused;
  for (int a = 0; a < 2; a++)
    REFUSED(RUNG_BAD_ARGUMENT, "weights[3]", "f32", s.weights[3] = a ? 1e40 : -0x1.ffffffp127;
            s.model.divide = 1; s.in.dtype.bits = s.out.dtype.bits = s.means.dtype.bits = 32);
}

static void refuses_arrays(void **unused) {
  (void)unused;
  REFUSED(RUNG_BAD_ARGUMENT, "in", "NULL", s.given_in = NULL);
  REFUSED(RUNG_BAD_ARGUMENT, "out", "NULL", s.given_out = NULL);
  REFUSED(RUNG_BAD_ARGUMENT, "in", "NULL data", s.in.data = NULL);
  REFUSED(RUNG_BAD_ARGUMENT, "out", "NULL data", s.out.data = NULL);
  REFUSED(RUNG_BAD_ARGUMENT, "means", "NULL data", s.means.data = NULL);
  REFUSED(RUNG_BAD_ARGUMENT, "in", "multiple", s.in.byte_offset = 3);
  REFUSED(RUNG_BAD_DTYPE, "in", "int", s.in.dtype.code = kDLInt);
  REFUSED(RUNG_BAD_DTYPE, "in", "16 bits", s.in.dtype.bits = 16);
  REFUSED(RUNG_BAD_DTYPE, "in", "2 lanes", s.in.dtype.lanes = 2);
  REFUSED(RUNG_BAD_DTYPE, "out", "32 bits", s.out.dtype.bits = 32);
  REFUSED(RUNG_BAD_DTYPE, "means", "32 bits", s.means.dtype.bits = 32);
  REFUSED(RUNG_BAD_SHAPE, "in", "1 dimension", s.in.ndim = 1);
  REFUSED(RUNG_BAD_SHAPE, "in", "3 dimensions", s.in.ndim = 3; s.shapes[0][2] = 1);
  REFUSED(RUNG_BAD_SHAPE, "out", "1 dimension", s.out.ndim = 1);
  REFUSED(RUNG_BAD_SHAPE, "out", "3 dimensions", s.out.ndim = 3; s.shapes[1][2] = 1);
  REFUSED(RUNG_BAD_SHAPE, "means", "2 dimensions", s.means.ndim = 2);
  REFUSED(RUNG_BAD_SHAPE, "in", "0 rows", s.shapes[0][0] = 0);
  REFUSED(RUNG_BAD_SHAPE, "in", "0 columns", s.shapes[0][1] = 0);
  REFUSED(RUNG_BAD_SHAPE, "in", "-3", s.shapes[0][0] = -3);
  REFUSED(RUNG_BAD_SHAPE, "out", "4", s.shapes[1][1] = 4);
  REFUSED(RUNG_BAD_SHAPE, "out", "2", s.shapes[1][0] = 2);
  REFUSED(RUNG_BAD_SHAPE, "means", "4", s.shapes[2][0] = 4);
  REFUSED(RUNG_BAD_SHAPE, "means", "2", s.shapes[2][0] = 2);
  REFUSED(RUNG_TOO_LARGE, "in", "64 bits", s.shapes[0][0] = s.shapes[0][1] = INT64_MAX / 2);
  REFUSED(RUNG_BAD_PLACE, "in", "device type 4", s.in.device.device_type = kDLOpenCL);
  REFUSED(RUNG_BAD_PLACE, "out", "device", s.out.device.device_type = kDLCUDA);
  REFUSED(RUNG_BAD_PLACE, "means", "device", s.means.device.device_type = kDLCUDA);
  REFUSED(RUNG_BAD_PLACE, "in", "cuda:0", s.in.device.device_type = kDLCUDA;
          s.out.device.device_type = kDLCUDA; s.means.device.device_type = kDLCUDA);
}

static void refuses_overlap(void **unused) {
  (void)unused;
  REFUSED(RUNG_BAD_SHAPE, "out", "stride 0", s.strides[1][0] = 0);
  REFUSED(RUNG_BAD_SHAPE, "out", "stride 0", s.strides[1][1] = 0);
  REFUSED(RUNG_BAD_SHAPE, "out", "stride 4", s.strides[1][0] = 4);
  REFUSED(RUNG_BAD_SHAPE, "means", "stride 0", s.strides[2][0] = 0);
  REFUSED(RUNG_OVERLAP, "out", "in", s.in.data = poison + 1);
  REFUSED(RUNG_OVERLAP, "out", "in", s.in.data = poison + 14);
  REFUSED(RUNG_OVERLAP, "out", "in", s.in.data = poison; s.strides[0][0] = 6);
  REFUSED(RUNG_OVERLAP, "out", "in", s.in.data = poison; s.strides[0][0] = 0);
  REFUSED(RUNG_OVERLAP, "means", "out", s.means.data = poison + 14);
  REFUSED(RUNG_OVERLAP, "means", "in", s.means.data = source + 2);
  REFUSED(RUNG_OVERLAP, "means", "out", s.in.data = poison; s.means.data = poison);
}

static void refuses_calls(void **unused) {
  (void)unused;
  REFUSED(RUNG_UNKNOWN_NAME, "fastest", "\"panel\"", s.call.rung = "fastest");
  REFUSED(RUNG_UNKNOWN_NAME, "rung", "\"sweep\"", s.call.rung = "");
  REFUSED(RUNG_UNKNOWN_NAME, "rung", "\"rowwise\"", s.call.rung = "Panel");
  REFUSED(RUNG_UNSUPPORTED, "onchip", "GPU", s.call.rung = "onchip");
  REFUSED(RUNG_UNSUPPORTED, "global", "GPU", s.call.rung = "global");
  REFUSED(RUNG_BAD_ARGUMENT, "block", "1025", s.call.block = 1025);
  REFUSED(RUNG_BAD_ARGUMENT, "block", "-1", s.call.block = -1);
  REFUSED(RUNG_BAD_ARGUMENT, "block", "1025", s.call.block = 1025; s.call.rung = "sweep");
  REFUSED(RUNG_BAD_ARGUMENT, "math", "7", s.call.math = (rung_math)7);
}

/* What needs RUNG_MATH_FAST is refused without, and never taken by itself. */
static void refuses_loose_rungs_in_strict(void **unused) {
  (void)unused;
  int loose = 0;
  for (int i = 0; i < stencil_operation.count; i++) {
    const rung_row *row = &stencil_operation.rows[i];
    if (row->order != RUNG_LOOSE || row->family != RUNG_ON_CPU) continue;
    loose++;
    REFUSED(RUNG_UNSUPPORTED, row->name, "fast", s.call.rung = row->name);
  }
  if (loose == 0) skip();
}

/* A row wider than a panel: the rung says so by name, and another takes it. */
static void refuses_rows_too_wide_for_a_panel(void **unused) {
  (void)unused;
  const int64_t m = (1 << 20) + 1;
  float *x = calloc((size_t)m, sizeof *x), *out = malloc((size_t)m * sizeof *x);
  x[5] = 1;
  memset(out, 0x6b, (size_t)m * sizeof *x);
  rung_stencil_model one = model;
  one.steps = 1;
  assert_int_equal(out_run(cpu, &one, "panel", false, 1, m, x, out, NULL), RUNG_UNSUPPORTED);
  assert_non_null(strstr(rung_last_error(cpu), "panel"));
  assert_non_null(strstr(rung_last_error(cpu), "1048577"));
  for (int64_t j = 0; j < m; j++) assert_int_equal(((unsigned char *)out)[4 * j], 0x6b);
  OUT_OK(cpu, out_run(cpu, &one, NULL, false, 1, m, x, out, NULL));
  assert_true(fabsf(out[5] - .2f) < 1e-7f && fabsf(out[7] - .38f) < 1e-7f && out[m - 1] == 0);
  free(x);
  free(out);
}

static void refuses_no_context(void **unused) {
  (void)unused;
  spoilt s;
  good(&s);
  assert_int_equal(rung_stencil(NULL, s.given, s.given_in, s.given_out, NULL, NULL),
                   RUNG_BAD_ARGUMENT);
  rung_context *closed;
  assert_int_equal(rung_open(&closed, &(rung_options){.device = "toaster"}), RUNG_UNKNOWN_NAME);
  assert_int_equal(rung_stencil(closed, s.given, s.given_in, s.given_out, NULL, NULL),
                   RUNG_UNKNOWN_NAME);
  assert_non_null(strstr(rung_last_error(closed), "toaster"));
  rung_close(closed);
}

static int open_one(void **unused) {
  const int opened = out_open(unused);
  if (opened == 0) cpu = out_widest[1];
  return opened;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_call_that_is_spoilt_is_good),
      cmocka_unit_test(refuses_models),
      cmocka_unit_test(refuses_weights_beyond_float),
      cmocka_unit_test(refuses_arrays),
      cmocka_unit_test(refuses_overlap),
      cmocka_unit_test(refuses_calls),
      cmocka_unit_test(refuses_loose_rungs_in_strict),
      cmocka_unit_test(refuses_rows_too_wide_for_a_panel),
      cmocka_unit_test(refuses_no_context),
  };
  return cmocka_run_group_tests(tests, open_one, out_close);
}
