/* What the public interface answers, and structs of older and newer headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "core/context.h"
#include "core/layout.h"

/* ---- structs that grow ------------------------------------------------------------------------
 */

/* A struct as the first header had it, as this library knows it, and as a later one has it. */
typedef struct early {
  size_t size;
  int a;
} early;
typedef struct known {
  size_t size;
  int a, b;
} known;
typedef struct late {
  size_t size;
  int a, b, c;
  int64_t d;
} late;
static const rung_layout layout = {"known", offsetof(known, a) + sizeof(int), sizeof(known)};

static void structs_are_read_as_far_as_they_go(void **state) {
  (void)state;
  known to = {0};
  const known unsaid = {0, 7, 8}, same = {sizeof same, 7, 8};
  const early old = {offsetof(early, a) + sizeof(int), 7};
  static const late zeros = {sizeof zeros, 7, 8, 0, 0}; /* static: so are the bytes between */
  assert_int_equal(rung_read_struct(NULL, "x", &layout, &unsaid, &to), RUNG_OK);
  assert_int_equal(to.a, 7);
  assert_int_equal(to.b, 0); /* a size of 0 is the first layout */
  assert_int_equal(rung_read_struct(NULL, "x", &layout, &same, &to), RUNG_OK);
  assert_int_equal(to.b, 8);
  assert_int_equal(rung_read_struct(NULL, "x", &layout, &old, &to), RUNG_OK);
  assert_int_equal(to.a, 7);
  assert_int_equal(to.b, 0);
  assert_int_equal(rung_read_struct(NULL, "x", &layout, &zeros, &to), RUNG_OK);
  assert_int_equal(to.b, 8);
  assert_int_equal(to.size, sizeof to);
}

static void read_refused(const void *given, const char *part) {
  rung_error error = {0};
  known to = {1, 2, 3};
  assert_int_equal(rung_read_struct(&error, "x", &layout, given, &to), RUNG_BAD_ARGUMENT);
  if (strstr(error.sentence, part) == NULL) fail_msg("the sentence is: %s", error.sentence);
  assert_int_equal(to.b, 3);
}

static void sizes_that_cannot_be_are_refused(void **state) {
  (void)state;
  static late newer = {sizeof newer, 7, 8, 0, 9};
  read_refused(NULL, "x is NULL; expected: a known");
  read_refused(&(known){1, 7, 8}, "x has size 1; expected: sizeof(known), which is 16 here, or 0");
  read_refused(&(known){layout.first - 1, 7, 8}, "expected: sizeof(known)");
  read_refused(&(known){RUNG_LARGEST_STRUCT + 1, 7, 8}, "x has size 16385");
  read_refused(&newer, "x has size 32, of a newer known than the one of 16 bytes");
  newer.d = 0;
  newer.c = 1;
  read_refused(&newer, "its byte 16 is not zero");
}

static void structs_are_written_as_far_as_they_go(void **state) {
  (void)state;
  const known made = {99, 7, 8};
  known unsaid = {0, 1, 2};
  late newer = {sizeof newer, 1, 2, 3, 4};
  assert_int_equal(rung_write_struct(&layout, &made, &unsaid), RUNG_OK);
  assert_int_equal(unsaid.size, 0);
  assert_int_equal(unsaid.a, 7);
  assert_int_equal(unsaid.b, 2);
  assert_int_equal(rung_write_struct(&layout, &made, &newer), RUNG_OK);
  assert_int_equal(newer.size, sizeof newer);
  assert_int_equal(newer.b, 8);
  assert_int_equal(newer.c, 0);
  assert_int_equal(newer.d, 0);
  assert_int_equal(rung_write_struct(&layout, &made, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_write_struct(&layout, &made, &(known){3, 0, 0}), RUNG_BAD_ARGUMENT);
  assert_true(RUNG_HAS_MEMBER(&layout, &newer, late, d));
  assert_false(RUNG_HAS_MEMBER(&layout, &unsaid, known, b));
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static rung_context *cpu(void) {
  rung_context *context = NULL;
  if (rung_open(&context, &(rung_options){.device = "cpu", .threads = 1}) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  return context;
}

static void said(rung_context *context, const char *part) {
  if (strstr(rung_last_error(context), part) == NULL)
    fail_msg("the sentence is: %s", rung_last_error(context));
}

static void every_struct_of_a_call_is_looked_at(void **state) {
  (void)state;
  rung_context *context = NULL;
  const rung_options options = {.size = 5};
  assert_int_equal(rung_open(&context, &options), RUNG_BAD_ARGUMENT);
  said(context, "options has size 5; expected: sizeof(rung_options)");
  rung_close(context);
  context = cpu();
  const double data[] = {1, 2, 3}, one = 1, weights[] = {1, 1, 1};
  double sum = -1;
  int64_t count = 3, shape[] = {1, 3}, counts[3] = {-1, -1, -1};
  DLTensor in = rung_array_f64(data, &count), out = rung_number_f64(&sum),
           bars = rung_array_i64(counts, &count), rows = rung_array(data, in.dtype, 2, shape),
           point = rung_array(&one, in.dtype, 2, (int64_t[]){0, 3});
  rung_call call = {.size = 7, .used = "mine"};
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, &call), RUNG_BAD_ARGUMENT);
  said(context, "call has size 7; expected: sizeof(rung_call)");
  assert_true(sum == -1);
  assert_string_equal(call.used, "mine");
  const rung_bins bins = {.size = 3, .kind = RUNG_BINS_EVEN, .count = 3, .high = 4};
  assert_int_equal(rung_histogram(context, &bins, &in, &bars, NULL, NULL), RUNG_BAD_ARGUMENT);
  said(context, "bins has size 3; expected: sizeof(rung_bins)");
  const rung_stencil_model model = {.size = 3, .radius = 1, .weights = weights, .divide = 1};
  assert_int_equal(rung_stencil(context, &model, &rows, &rows, NULL, NULL), RUNG_BAD_ARGUMENT);
  said(context, "model has size 3; expected: sizeof(rung_stencil_model)");
  const rung_points set = {.at = &point}, bad = {.size = 3, .at = &point};
  const rung_distances even = {.count = 3, .width = 1}, odd = {.size = 3, .count = 3, .width = 1};
  assert_int_equal(rung_pairs(context, &bad, NULL, NULL, &even, &bars, NULL, NULL, NULL),
                   RUNG_BAD_ARGUMENT);
  said(context, "a has size 3; expected: sizeof(rung_points)");
  assert_int_equal(rung_pairs(context, &set, &bad, NULL, &even, &bars, NULL, NULL, NULL),
                   RUNG_BAD_ARGUMENT);
  said(context, "b has size 3");
  assert_int_equal(rung_pairs(context, &set, NULL, NULL, &odd, &bars, NULL, NULL, NULL),
                   RUNG_BAD_ARGUMENT);
  said(context, "bins has size 3; expected: sizeof(rung_distances)");
  assert_int_equal(rung_pairs_rdf(&odd, counts, 1, 1, &sum, NULL), RUNG_BAD_ARGUMENT);
  assert_true(counts[0] == -1 && sum == -1);
  rung_close(context);
}

static void a_stream_is_no_matter_to_a_cpu(void **state) {
  (void)state;
  rung_context *context = cpu();
  const float data[] = {1, 2, 3};
  float sum = 0;
  int64_t count = 3;
  DLTensor in = rung_array_f32(data, &count), out = rung_number_f32(&sum);
  rung_call call = {.size = sizeof call, .stream = &sum};
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, &call), RUNG_OK);
  assert_true(sum == 6);
  assert_non_null(call.used);
  rung_close(context);
}

/* ---- what is here -----------------------------------------------------------------------------
 */

static void devices(void **state) {
  (void)state;
  rung_device_info info = {.size = sizeof info};
  int kinds[3] = {0}, count = 0;
  static const char *const names[] = {"cpu", "cuda", "sim"};
  for (; rung_device_at(count, &info) == RUNG_OK; count++) {
    for (int k = 0; k < 3; k++) kinds[k] += strcmp(info.kind, names[k]) == 0;
    assert_int_equal(info.usable, info.why_not[0] == '\0');
    rung_context *context = NULL;
    const rung_status opened = rung_open(&context, &(rung_options){.device = info.device});
    rung_device_info same = {.size = sizeof same};
    if (info.usable) {
      assert_int_equal(opened, RUNG_OK);
      assert_int_equal(rung_opened(context, &same), RUNG_OK);
      assert_string_equal(same.name, info.name);
      assert_string_equal(same.device, info.device);
      assert_int_equal(same.threads, info.threads);
      assert_true(same.available_bytes > 0);
    } else {
      assert_int_not_equal(opened, RUNG_OK);
      assert_int_equal(rung_opened(context, &same), RUNG_BAD_ARGUMENT);
    }
    rung_close(context);
  }
  assert_int_equal(kinds[0], 1);
  assert_true(kinds[1] >= 1 && kinds[2] >= 1);
  assert_int_equal(rung_device_at(count, &info), RUNG_UNKNOWN_NAME);
  assert_int_equal(rung_device_at(-1, &info), RUNG_UNKNOWN_NAME);
  assert_int_equal(rung_device_at(0, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_opened(NULL, &info), RUNG_BAD_ARGUMENT);
  rung_context *context = cpu();
  assert_int_equal(rung_opened(context, NULL), RUNG_BAD_ARGUMENT);
  said(context, "info is NULL");
  rung_close(context);
}

static void count_fact(void *to, const char *key, const char *value) {
  assert_true(key[0] != '\0' && value != NULL);
  ++*(int *)to;
}

static void facts(void **state) {
  (void)state;
  int count = 0;
  char why[RUNG_TEXT] = "";
  assert_int_equal(rung_device_facts("cpu", count_fact, &count, why), RUNG_OK);
  assert_true(count > 3);
  assert_string_equal(why, "");
  assert_int_equal(rung_device_facts("gpu", count_fact, &count, why), RUNG_UNKNOWN_NAME);
  assert_non_null(strstr(why, "device is \"gpu\""));
  assert_int_equal(rung_device_facts("cpu", NULL, NULL, NULL), RUNG_BAD_ARGUMENT);
}

static void operations_and_rungs(void **state) {
  (void)state;
  rung_operation_info of = {0};
  rung_ladder_info rung = {.size = sizeof rung};
  rung_device_info device = {.size = sizeof device}, none = {.size = sizeof none};
  assert_int_equal(rung_device_at(0, &device), RUNG_OK); /* the CPU */
  int count = 0;
  for (; rung_operation_at(count, &of) == RUNG_OK; count++) {
    int first = 0, here = 0;
    assert_true(of.summary[0] != '\0' && of.rungs > 1);
    for (int i = 0; i < of.rungs; i++) {
      assert_int_equal(rung_ladder_at(of.name, i, &device, &rung), RUNG_OK);
      assert_int_equal(rung.available, rung.why_not[0] == '\0');
      assert_int_equal(rung.available, strcmp(rung.on, "cpu") == 0);
      assert_true(rung.idea[0] != '\0' && rung.types[0] != '\0');
      first += rung.first;
      here += rung.available;
      if (rung.first) assert_string_equal(rung.order, "canonical");
      assert_int_equal(rung_ladder_at(of.name, i, NULL, &rung), RUNG_OK);
      assert_false(rung.first);
    }
    assert_int_equal(first, 1);
    assert_true(here >= 1);
    assert_int_equal(rung_ladder_at(of.name, of.rungs, &device, &rung), RUNG_UNKNOWN_NAME);
  }
  assert_true(count >= 5);
  assert_int_equal(rung_operation_at(-1, &of), RUNG_UNKNOWN_NAME);
  assert_int_equal(rung_ladder_at("nothing", 0, NULL, &rung), RUNG_UNKNOWN_NAME);
  assert_int_equal(rung_ladder_at(NULL, 0, NULL, &rung), RUNG_UNKNOWN_NAME);
  assert_int_equal(rung_ladder_at("reduce", 0, &none, &rung), RUNG_BAD_ARGUMENT); /* not filled */
  assert_int_equal(rung_ladder_at("reduce", 0, &device, NULL), RUNG_BAD_ARGUMENT);
  device.usable = 0;
  strcpy(device.why_not, "it is asleep");
  assert_int_equal(rung_ladder_at("reduce", 0, &device, &rung), RUNG_OK);
  assert_int_equal(rung.available, strcmp(rung.on, "cpu") != 0 ? rung.available : 0);
}

/* ---- DLPack 1 ---------------------------------------------------------------------------------
 */

static void managed_tensors(void **state) {
  (void)state;
  rung_context *context = cpu();
  const float data[] = {1, 2};
  int64_t count = 2;
  DLTensor *tensor = NULL;
  rung_managed managed = {.flags = 0, .dl_tensor = rung_array_f32(data, &count)};
  managed.version.major = 1;
  managed.version.minor = 7;
  assert_int_equal(rung_managed_tensor(context, &managed, 1, &tensor), RUNG_OK);
  assert_ptr_equal(tensor, &managed.dl_tensor);
  tensor = NULL;
  managed.flags = 1;
  assert_int_equal(rung_managed_tensor(context, &managed, 1, &tensor), RUNG_BAD_ARGUMENT);
  said(context, "managed is read-only");
  assert_null(tensor);
  assert_int_equal(rung_managed_tensor(context, &managed, 0, &tensor), RUNG_OK);
  managed.version.major = 2;
  assert_int_equal(rung_managed_tensor(context, &managed, 0, &tensor), RUNG_BAD_ARGUMENT);
  said(context, "managed is of DLPack 2.7; expected: 1.x");
  assert_int_equal(rung_managed_tensor(NULL, &managed, 0, &tensor), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_managed_tensor(context, NULL, 0, &tensor), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_managed_tensor(context, &managed, 0, NULL), RUNG_BAD_ARGUMENT);
  rung_close(context);
}

static void makers(void **state) {
  (void)state;
  uint8_t bytes[6];
  int64_t shape[] = {2, 3};
  DLTensor made = rung_array(bytes, rung_type(kDLUInt, 8), 2, shape);
  assert_ptr_equal(made.data, bytes);
  assert_ptr_equal(made.shape, shape);
  assert_int_equal(made.ndim, 2);
  assert_int_equal(made.dtype.lanes, 1);
  assert_null(made.strides);
  made = rung_on_cuda(rung_array_u8(bytes, shape), 3);
  assert_int_equal(made.device.device_type, kDLCUDA);
  assert_int_equal(made.device.device_id, 3);
  assert_int_equal(made.ndim, 1);
  assert_int_equal(rung_number_u64((uint64_t[]){1}).ndim, 0);
  assert_int_equal(rung_array_i32((int32_t[]){1}, shape).dtype.bits, 32);
  const DLTensor small[] = {rung_number_f16((uint16_t[]){0}), rung_number_bf16((uint16_t[]){0}),
                            rung_number_i8((int8_t[]){0}), rung_number_i16((int16_t[]){0})};
  const rung_dtype types[] = {RUNG_F16, RUNG_BF16, RUNG_I8, RUNG_I16};
  for (int i = 0; i < 4; i++) {
    const DLDataType type = rung_dlpack_type(types[i]);
    assert_memory_equal(&small[i].dtype, &type, sizeof type);
  }
}

/* ---- the stack ---------------------------------------------------------------------------------
 */

static void *use_all(void *to) {
  static const char *const rungs[] = {NULL, "serial"};
  static float data[64 * 64], out[64 * 64];
  int64_t shape[] = {64, 64}, count = 64 * 64, bins = 16, counts[16];
  float sum;
  DLTensor in = rung_array_f32(data, &count), all = rung_array_f32(out, &count),
           one = rung_number_f32(&sum), bars = rung_array_i64(counts, &bins),
           rows = rung_array(data, in.dtype, 2, shape), grid = rung_array(out, in.dtype, 2, shape),
           points = rung_array(data, in.dtype, 2, (int64_t[]){1000, 3});
  const rung_bins even = {.kind = RUNG_BINS_EVEN, .count = 16, .high = 1};
  const rung_distances near = {.count = 16, .width = 1};
  const rung_points set = {.at = &points};
  const rung_stencil_model model = {
      .radius = 1, .weights = (double[]){1, 1, 1}, .divide = 3, .steps = 5};
  rung_context *context = cpu();
  rung_status status = RUNG_OK;
  for (int r = 0; r < 2; r++) {
    rung_call call = {.rung = rungs[r]};
    status = status ? status : rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &one, &call);
    status = status ? status : rung_scan(context, RUNG_SUM, &in, -1, 0, &all, &call);
    status = status ? status : rung_histogram(context, &even, &in, &bars, NULL, &call);
    status =
        status ? status : rung_pairs(context, &set, NULL, NULL, &near, &bars, NULL, NULL, &call);
  }
  status = status ? status : rung_stencil(context, &model, &rows, &grid, NULL, NULL);
  rung_close(context);
  *(rung_status *)to = status;
  return NULL;
}

static void a_small_stack_is_enough(void **state) {
  (void)state;
  pthread_t thread;
  pthread_attr_t attributes;
  rung_status status = RUNG_DEVICE_FAILED;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, RUNG_STACK), 0);
  assert_int_equal(pthread_create(&thread, &attributes, use_all, &status), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(status, RUNG_OK);
  pthread_attr_destroy(&attributes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structs_are_read_as_far_as_they_go),
      cmocka_unit_test(sizes_that_cannot_be_are_refused),
      cmocka_unit_test(structs_are_written_as_far_as_they_go),
      cmocka_unit_test(every_struct_of_a_call_is_looked_at),
      cmocka_unit_test(a_stream_is_no_matter_to_a_cpu),
      cmocka_unit_test(devices),
      cmocka_unit_test(facts),
      cmocka_unit_test(operations_and_rungs),
      cmocka_unit_test(managed_tensors),
      cmocka_unit_test(makers),
      cmocka_unit_test(a_small_stack_is_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
