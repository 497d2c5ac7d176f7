/* A stream per call: behind what the context did before, before what it does after. */
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "device/gpu.h"

enum { COUNT = 1 << 20 };
static float *numbers;
static double sum_of_all;

static int make_numbers(void **unused) {
  numbers = malloc(COUNT * sizeof *numbers);
  if (!numbers) return -1;
  for (int i = 0; i < COUNT; i++) numbers[i] = (float)(i % 8);
  sum_of_all = 3.5 * COUNT; /* exact in float at every step */
  return open_gpu(unused);
}

static int drop_numbers(void **unused) {
  free(numbers);
  return close_gpu(unused);
}

static rung_context *opened(void) {
  rung_context *context = NULL;
  if (rung_open(&context, &(rung_options){.device = "cuda:0"}) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  return context;
}

static void sum(rung_context *context, const void *in, float *out, void *stream) {
  const int64_t count = COUNT;
  const DLTensor from = rung_on_cuda(rung_array_f32(in, &count), 0);
  DLTensor to = rung_on_cuda(rung_number_f32(out), 0);
  rung_call call = {.size = sizeof call, .stream = stream};
  if (rung_reduce(context, RUNG_SUM, &from, RUNG_ALL, &to, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

static void calls_follow_one_another(void **unused) {
  (void)unused;
  NEED_DEVICE();
  rung_context *context = opened();
  void *stream = cuda->stream(gpu), *in, *out, *ready;
  float found[3] = {0};
  OK(cuda->allocate(gpu, COUNT * sizeof *numbers, &in, &failure));
  OK(cuda->allocate(gpu, sizeof found, &out, &failure));
  float *results = out;
  OK(cuda->fill(gpu, in, 0, COUNT * sizeof *numbers, &failure));
  /* A copy from host memory that is not pinned would wait for the hold. */
  OK(cuda->allocate(gpu, COUNT * sizeof *numbers, &ready, &failure));
  OK(cuda->copy(gpu, ready, numbers, COUNT * sizeof *numbers, RUNG_TO_DEVICE, &failure));
  OK(cuda->synchronize(gpu, &failure));
  sum(context, in, results, stream); /* code is loaded, scratch is there */
  sum(context, in, results, NULL);
  if (rung_synchronize(context) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  OK(cuda->synchronize(gpu, &failure));
  /* Behind the caller's own work on its stream, which is held. */
  OK(cuda->hold(gpu, &failure));
  OK(cuda->copy(gpu, in, ready, COUNT * sizeof *numbers, RUNG_ON_DEVICE, &failure));
  sum(context, in, results, stream);
  sum(context, in, results + 1, NULL); /* the same scratch, on the context's stream */
  sum(context, in, results + 2, stream);
  OK(cuda->release_hold(gpu, &failure));
  /* The context's stream is behind all of them. */
  if (rung_synchronize(context) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  OK(context->backend->copy(context->state, found, out, sizeof found, RUNG_TO_HOST, &failure));
  OK(context->backend->synchronize(context->state, &failure));
  for (int i = 0; i < 3; i++) assert_true(found[i] == (float)sum_of_all);
  OK(cuda->synchronize(gpu, &failure));
  rung_close(context);
  cuda->release(gpu, in);
  cuda->release(gpu, ready);
  cuda->release(gpu, out);
}

/* The legacy default stream, by the runtime's handle for it. */
static void the_default_stream_may_be_given(void **unused) {
  (void)unused;
  NEED_DEVICE();
  rung_context *context = opened();
  void *in, *out;
  float found = 0;
  OK(cuda->allocate(gpu, COUNT * sizeof *numbers, &in, &failure));
  OK(cuda->allocate(gpu, sizeof found, &out, &failure));
  OK(cuda->copy(gpu, in, numbers, COUNT * sizeof *numbers, RUNG_TO_DEVICE, &failure));
  OK(cuda->synchronize(gpu, &failure));
  for (uintptr_t handle = 1; handle <= 2; handle++) { /* cudaStreamLegacy, cudaStreamPerThread */
    sum(context, in, out, (void *)handle);
    if (rung_synchronize(context) != RUNG_OK) fail_msg("%s", rung_last_error(context));
    OK(cuda->copy(gpu, &found, out, sizeof found, RUNG_TO_HOST, &failure));
    OK(cuda->synchronize(gpu, &failure));
    assert_true(found == (float)sum_of_all);
  }
  rung_close(context);
  cuda->release(gpu, in);
  cuda->release(gpu, out);
}

/* Streams that come and go, some at the address of one before: every call is behind the last. */
static void streams_take_turns(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { ROUNDS = 12, EACH = 5 };
  rung_context *context = opened();
  void *in, *out, *ready;
  static float found[ROUNDS][EACH];
  OK(cuda->allocate(gpu, COUNT * sizeof *numbers, &in, &failure));
  OK(cuda->allocate(gpu, sizeof found, &out, &failure));
  float(*results)[EACH] = out;
  OK(cuda->allocate(gpu, COUNT * sizeof *numbers, &ready, &failure));
  OK(cuda->copy(gpu, ready, numbers, COUNT * sizeof *numbers, RUNG_TO_DEVICE, &failure));
  OK(cuda->fill(gpu, in, 0, COUNT * sizeof *numbers, &failure));
  OK(cuda->synchronize(gpu, &failure));
  for (int round = 0; round < ROUNDS; round++) {
    rung_state *guest = NULL;
    OK(cuda->open(&device, NULL, &guest, &failure));
    void *stream = cuda->stream(guest);
    sum(context, in, &results[round][0], stream); /* of what the round before has left */
    OK(cuda->hold(guest, &failure));
    OK(cuda->copy(guest, in, ready, COUNT * sizeof *numbers, RUNG_ON_DEVICE, &failure));
    sum(context, in, &results[round][1], stream);
    sum(context, in, &results[round][2], stream);
    sum(context, in, &results[round][3], round % 2 ? NULL : cuda->stream(gpu));
    if (round % 3 == 0) sum(context, in, &results[round][4], NULL);
    OK(cuda->release_hold(guest, &failure));
    if (round % 3 != 0) sum(context, in, &results[round][4], stream);
    cuda->close(guest); /* and what the context did elsewhere may still run */
  }
  if (rung_synchronize(context) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  OK(cuda->copy(gpu, found, out, sizeof found, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < EACH; i++)
      assert_true(found[round][i] == (round + i > 0 ? (float)sum_of_all : 0));
  rung_close(context);
  cuda->release(gpu, in);
  cuda->release(gpu, ready);
  cuda->release(gpu, out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_follow_one_another),
      cmocka_unit_test(the_default_stream_may_be_given),
      cmocka_unit_test(streams_take_turns),
  };
  return cmocka_run_group_tests(tests, make_numbers, drop_numbers);
}
