/* What a caller works on stays what it works on: two GPUs made of host memory, in place of the CUDA
 * part, whose every function makes its own device the thread's current one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/context.h"
#include "core/part.h"

struct rung_state {
  int device;
  void *stream;
};

enum { GPUS = 2 };
static int devices[GPUS];
static char legacy, mine;
static void *current; /* NULL, or one of devices */
static int calls;     /* of functions that change it */
static rung_status failing;
static rung_state last;

static rung_status touch(const rung_state *state, rung_error *error) {
  current = &devices[state->device];
  calls++;
  return failing == RUNG_OK ? RUNG_OK : rung_fail(error, failing, "told to fail");
}

static rung_status count_gpus(int *count, rung_error *error) {
  (void)error;
  *count = GPUS;
  return RUNG_OK;
}

static rung_status describe(int index, rung_device *device, rung_error *error) {
  (void)error;
  *device = (rung_device){.kind = RUNG_CUDA, .index = index, .name = "GPU", .capability = 90};
  return RUNG_OK;
}

static void *arrive(void) {
  return current;
}

static void depart(void *callers) {
  current = callers;
}

static rung_status open_gpu(const rung_device *device, void *stream, rung_state **state,
                            rung_error *error) {
  last = (rung_state){device->index, stream};
  *state = malloc(sizeof **state);
  **state = last;
  const rung_status status = touch(*state, error);
  if (status != RUNG_OK) free(*state);
  return status;
}

static void close_gpu(rung_state *state) {
  touch(state, NULL);
  free(state);
}

static rung_status synchronize(rung_state *state, rung_error *error) {
  return touch(state, error);
}

static void *stream_of(rung_state *state) {
  touch(state, NULL);
  return state;
}

static rung_status allocate(rung_state *state, size_t bytes, void **memory, rung_error *error) {
  const rung_status status = touch(state, error);
  *memory = status == RUNG_OK ? malloc(bytes + 1) : NULL;
  return status;
}

static void release(rung_state *state, void *memory) {
  free(memory);
  touch(state, NULL);
}

static rung_status available(rung_state *state, int64_t *bytes, rung_error *error) {
  *bytes = 1 << 20;
  return touch(state, error);
}

static rung_status copy(rung_state *state, void *to, const void *from, size_t bytes, rung_copy way,
                        rung_error *error) {
  (void)way;
  memcpy(to, from, bytes);
  return touch(state, error);
}

static rung_status fill(rung_state *state, void *memory, unsigned char byte, size_t bytes,
                        rung_error *error) {
  memset(memory, byte, bytes);
  return touch(state, error);
}

static const rung_backend gpus = {
    .kind = RUNG_CUDA,
    .name = "cuda",
    .count = count_gpus,
    .describe = describe,
    .arrive = arrive,
    .depart = depart,
    .default_stream = &legacy,
    .open = open_gpu,
    .close = close_gpu,
    .stream = stream_of,
    .synchronize = synchronize,
    .allocate = allocate,
    .release = release,
    .available = available,
    .copy = copy,
    .fill = fill,
};

static rung_status launch(const rung_task *task) {
  assert_ptr_equal(current, &devices[task->device->index]);
  return touch(task->stream, task->error);
}

static const rung_entry entries[] = {{"reduce", "vector", launch}, {NULL, NULL, NULL}};

extern const rung_part rung_part_cuda;
const rung_part rung_part_cuda = {RUNG_VERSION, RUNG_PART_LAYOUT, &gpus, entries};

/* ---- the tests --------------------------------------------------------------------------------
 */

static rung_context *open_second(void *stream) {
  rung_context *context;
  const rung_options options = {.device = "cuda:1", .stream = stream};
  if (rung_open(&context, &options) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  assert_int_equal(last.device, 1);
  return context;
}

/* Every entry; how often the device was touched tells that there was something to give back. */
static void enter_all(rung_context *context, rung_status wanted) {
  enum { COUNT = 100000 };
  static float numbers[COUNT];
  float sum;
  int64_t count = COUNT;
  const DLTensor in = rung_on_cuda(rung_array_f32(numbers, &count), 1);
  DLTensor out = rung_on_cuda(rung_number_f32(&sum), 1);
  rung_device_info info = {0};
  rung_call call = {.rung = "vector"};
  int before = calls;
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, &call), wanted);
  assert_true(calls > before);
  before = calls;
  assert_int_equal(rung_synchronize(context), wanted);
  assert_int_equal(rung_opened(context, &info), RUNG_OK);
  assert_true(calls >= before + 2);
}

static void stays(void *callers) {
  current = callers;
  rung_context *context = open_second(NULL);
  assert_ptr_equal(current, callers);
  enter_all(context, RUNG_OK);
  assert_ptr_equal(current, callers);
  failing = RUNG_DEVICE_FAILED;
  enter_all(context, RUNG_DEVICE_FAILED);
  failing = RUNG_OK;
  assert_ptr_equal(current, callers);
  const int before = calls;
  rung_close(context);
  assert_true(calls > before);
  assert_ptr_equal(current, callers);
  failing = RUNG_DEVICE_FAILED;
  assert_int_equal(rung_open(&context, &(rung_options){.device = "cuda:1"}), RUNG_DEVICE_FAILED);
  failing = RUNG_OK;
  rung_close(context);
  assert_ptr_equal(current, callers);
}

static void the_first_device(void **state) {
  (void)state;
  stays(&devices[0]);
}

static void the_contexts_own_device(void **state) {
  (void)state;
  stays(&devices[1]);
}

static void no_device_yet(void **state) {
  (void)state;
  stays(NULL);
}

static void which_stream(void **state) {
  (void)state;
  void *const asked[] = {NULL, RUNG_OWN_STREAM, &mine}, *const opened[] = {&legacy, NULL, &mine};
  for (int k = 0; k < 3; k++) {
    rung_close(open_second(asked[k]));
    assert_ptr_equal(last.stream, opened[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_device),
      cmocka_unit_test(the_contexts_own_device),
      cmocka_unit_test(no_device_yet),
      cmocka_unit_test(which_stream),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
