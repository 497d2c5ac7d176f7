/* In a program that has a device and a default stream of its own: the device stays current, and
 * calls of a default context come after what the default stream does. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "device/gpu.h"

enum { COUNT = 1 << 20 };

static rung_context *opened(const char *name, void *stream) {
  rung_context *context = NULL;
  if (rung_open(&context, &(rung_options){.device = name, .stream = stream}) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  return context;
}

/* A sum of ones in host memory, and a refused call. */
static void use(rung_context *context) {
  static float ones[COUNT];
  float sum = 0;
  const int64_t count = COUNT;
  for (int i = 0; i < COUNT; i++) ones[i] = 1;
  const DLTensor in = rung_array_f32(ones, &count);
  DLTensor out = rung_number_f32(&sum);
  if (rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, NULL) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  assert_true(sum == COUNT);
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, 5, &out, NULL), RUNG_BAD_ARGUMENT);
}

/* ---- the current device -----------------------------------------------------------------------
 */

static void every_entry(const char *name, void *callers) {
  rung_device_info info = {0};
  rung_context *context = opened(name, NULL);
  assert_ptr_equal(cuda->arrive(), callers);
  use(context);
  assert_ptr_equal(cuda->arrive(), callers);
  assert_int_equal(rung_synchronize(context), RUNG_OK);
  assert_int_equal(rung_opened(context, &info), RUNG_OK);
  assert_ptr_equal(cuda->arrive(), callers);
  rung_close(context);
  assert_ptr_equal(cuda->arrive(), callers);
  for (int i = 0; rung_device_at(i, &info) == RUNG_OK; i++)
    assert_ptr_equal(cuda->arrive(), callers);
  (void)rung_open(&context, &(rung_options){.device = "cuda:9999"});
  rung_close(context);
  assert_ptr_equal(cuda->arrive(), callers);
}

static void *on_a_fresh_thread(void *unused) {
  (void)unused;
  every_entry("cuda:0", NULL);
  return NULL;
}

static void a_thread_without_a_device(void **unused) {
  (void)unused;
  NEED_DEVICE();
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, on_a_fresh_thread, NULL), 0);
  pthread_join(thread, NULL);
}

static void two_devices(void **unused) {
  (void)unused;
  int devices = 0;
  if (!gpu || cuda->count(&devices, &failure) != RUNG_OK || devices < 2) skip();
  OK(cuda->synchronize(gpu, &failure)); /* from now on device 0 is this thread's */
  void *callers = cuda->arrive();
  assert_non_null(callers);
  every_entry("cuda:1", callers);
  every_entry("cuda:0", callers);
}

/* ---- the default stream -----------------------------------------------------------------------
 */

static void sum_on(rung_context *context, const void *in, float *out) {
  const int64_t count = COUNT;
  const DLTensor from = rung_on_cuda(rung_array_f32(in, &count), 0);
  DLTensor to = rung_on_cuda(rung_number_f32(out), 0);
  if (rung_reduce(context, RUNG_SUM, &from, RUNG_ALL, &to, NULL) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

/* The caller's stream is held; behind that it fills the array. What a context opened with `stream`
 * makes of it, and what the caller then copies from the result on its own stream. */
static void fill_then_sum(void *callers, void *stream) {
  rung_state *theirs;
  rung_context *context = opened("cuda:0", stream);
  void *in, *out, *ones, *copy;
  float found = 0, *numbers = malloc(COUNT * sizeof *numbers);
  for (int i = 0; i < COUNT; i++) numbers[i] = 1;
  OK(cuda->open(&device, callers, &theirs, &failure));
  OK(cuda->allocate(theirs, COUNT * sizeof *numbers, &in, &failure));
  OK(cuda->allocate(theirs, COUNT * sizeof *numbers, &ones, &failure));
  OK(cuda->allocate(theirs, sizeof found, &out, &failure));
  OK(cuda->allocate(theirs, sizeof found, &copy, &failure));
  OK(cuda->fill(theirs, in, 0, COUNT * sizeof *numbers, &failure));
  OK(cuda->copy(theirs, ones, numbers, COUNT * sizeof *numbers, RUNG_TO_DEVICE, &failure));
  OK(cuda->copy(theirs, copy, out, sizeof found, RUNG_ON_DEVICE, &failure));
  OK(cuda->synchronize(theirs, &failure));
  sum_on(context, in, out); /* code is loaded, scratch is there */
  if (rung_synchronize(context) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  OK(cuda->hold(theirs, &failure));
  OK(cuda->copy(theirs, in, ones, COUNT * sizeof *numbers, RUNG_ON_DEVICE, &failure));
  sum_on(context, in, out);
  OK(cuda->copy(theirs, copy, out, sizeof found, RUNG_ON_DEVICE, &failure));
  OK(cuda->release_hold(theirs, &failure));
  OK(cuda->copy(theirs, &found, copy, sizeof found, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(theirs, &failure));
  assert_true(found == COUNT);
  rung_close(context);
  cuda->release(theirs, in);
  cuda->release(theirs, ones);
  cuda->release(theirs, out);
  cuda->release(theirs, copy);
  cuda->close(theirs);
  free(numbers);
}

static void *const legacy = (void *)1, *const per_thread = (void *)2;

static void a_default_context_follows_the_default_stream(void **unused) {
  (void)unused;
  NEED_DEVICE();
  assert_ptr_equal(cuda->default_stream, legacy);
  fill_then_sum(legacy, NULL);
  fill_then_sum(per_thread, NULL);
}

static void default_streams_may_be_named(void **unused) {
  (void)unused;
  NEED_DEVICE();
  fill_then_sum(legacy, legacy);
  fill_then_sum(legacy, per_thread);
  fill_then_sum(per_thread, legacy);
  fill_then_sum(per_thread, per_thread);
}

/* A stream of its own waits for nothing: the held default stream does not keep it. */
static void an_own_stream_waits_for_nothing(void **unused) {
  (void)unused;
  NEED_DEVICE();
  rung_state *theirs;
  rung_context *context = opened("cuda:0", RUNG_OWN_STREAM);
  use(context);
  OK(cuda->open(&device, legacy, &theirs, &failure));
  OK(cuda->hold(theirs, &failure)); /* loads what it needs */
  OK(cuda->release_hold(theirs, &failure));
  OK(cuda->synchronize(theirs, &failure));
  OK(cuda->hold(theirs, &failure));
  use(context);
  OK(cuda->release_hold(theirs, &failure));
  OK(cuda->synchronize(theirs, &failure)); /* it was not held too long */
  rung_close(context);
  cuda->close(theirs);
}

static void an_own_stream_is_no_calls(void **unused) {
  (void)unused;
  NEED_DEVICE();
  float number = 1, sum = 7;
  const int64_t count = 1;
  const DLTensor in = rung_array_f32(&number, &count);
  DLTensor out = rung_number_f32(&sum);
  rung_call call = {.stream = RUNG_OWN_STREAM};
  rung_context *context = opened("cuda:0", NULL);
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, &call), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(rung_last_error(context), "RUNG_OWN_STREAM"));
  assert_true(sum == 7);
  rung_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thread_without_a_device),
      cmocka_unit_test(two_devices),
      cmocka_unit_test(a_default_context_follows_the_default_stream),
      cmocka_unit_test(default_streams_may_be_named),
      cmocka_unit_test(an_own_stream_waits_for_nothing),
      cmocka_unit_test(an_own_stream_is_no_calls),
  };
  return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
