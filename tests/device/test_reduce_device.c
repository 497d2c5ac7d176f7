/* Reductions through rung.h on a GPU: arrays of either side, views of every form, canonical rungs
 * by name, against the CPU's bits. Skipped, by name, where there is no GPU. */
#include "device/both.h"

#include <stdlib.h>
#include <string.h>

#include "ops/reduce/reduce.h"

enum { ROOM = 1 << 20, BYTES = 8 * ROOM };
static uint64_t numbers[ROOM], wanted[ROOM], found[ROOM];

static const DLDataType types[] = {{kDLUInt, 8, 1},   {kDLInt, 32, 1},   {kDLUInt, 32, 1},
                                   {kDLInt, 64, 1},   {kDLUInt, 64, 1},  {kDLFloat, 32, 1},
                                   {kDLFloat, 64, 1}, {kDLInt, 8, 1},    {kDLUInt, 16, 1},
                                   {kDLInt, 16, 1},   {kDLFloat, 16, 1}, {kDLBfloat, 16, 1}};
enum { TYPES = sizeof types / sizeof *types, WIDE = 7 };

/* From the middle of `numbers`. */
typedef struct form {
  int ndim;
  int64_t shape[5], stride[5];
} form;

static const form forms[] = {
    {1, {200003}, {1}},
    {1, {30001}, {-3}},
    {2, {7, 40001}, {40001, 1}}, /* lines of two tiles */
    {2, {7, 40001}, {40003, 1}}, /* no two of them aligned alike */
    {2, {40001, 7}, {7, 1}},     /* and across */
    {2, {300, 500}, {500, 1}},
    {2, {300, 500}, {1, 300}},
    {2, {300, 500}, {-501, -1}},
    {3, {9, 70, 80}, {5600, 80, 1}}, /* the middle axis goes across */
    {3, {9, 70, 80}, {1, 9, 630}},
    {3, {9, 70, 80}, {6000, 85, 1}},
    {3, {9, 0, 80}, {80, 80, 1}},
    {5, {3, 4, 5, 6, 7}, {1, 700, 30, 150, 4}},
    {3, {8, 30, 9}, {0, 9, 1}},
};
enum { FORMS = sizeof forms / sizeof *forms };

static DLDataType result_type(int what, DLDataType in) {
  if (what == RUNG_MIN || what == RUNG_MAX || in.code == kDLFloat || in.code == kDLBfloat)
    return in;
  if (what == RUNG_MEAN) return (DLDataType){kDLFloat, 64, 1};
  return (DLDataType){in.code, 64, 1};
}

/* Every second place of the results; how many bytes that spans. */
static size_t results_of(const form *f, int axis, DLTensor *out, int64_t shape[5],
                         int64_t stride[5]) {
  int64_t step = 2;
  out->ndim = 0;
  for (int d = 0; d < f->ndim && axis != RUNG_ALL; d++)
    if (d != axis) shape[out->ndim++] = f->shape[d];
  for (int d = out->ndim - 1; d >= 0; d--) {
    stride[d] = step;
    step *= shape[d];
  }
  out->shape = shape;
  out->strides = stride;
  return (size_t)step * 8;
}

static rung_status reduce(rung_context *context, const form *f, int what, int axis, DLDataType type,
                          void *in, void *to, bool there, const char *rung, size_t *bytes) {
  form copy = *f;
  int64_t shape[5], stride[5];
  const DLDevice place = {there ? kDLCUDA : kDLCPU, 0};
  DLTensor from = {.data = (char *)in + BYTES / 2,
                   .device = place,
                   .ndim = f->ndim,
                   .dtype = type,
                   .shape = copy.shape,
                   .strides = copy.stride};
  DLTensor out = {.data = to, .device = place, .dtype = result_type(what, type)};
  rung_call call = {.rung = rung};
  *bytes = results_of(f, axis, &out, shape, stride);
  return rung_reduce(context, (rung_reduction)what, &from, axis, &out, &call);
}

static void bring_back(size_t bytes) {
  if (rung_synchronize(on_gpu) != RUNG_OK ||
      on_gpu->backend->copy(on_gpu->state, found, found_there, bytes, RUNG_TO_HOST,
                            &on_gpu->error) != RUNG_OK ||
      rung_synchronize(on_gpu) != RUNG_OK)
    fail_msg("%s", rung_last_error(on_gpu));
}

static void clear_there(size_t bytes) {
  if (on_gpu->backend->fill(on_gpu->state, found_there, 0x5a, bytes, &on_gpu->error) != RUNG_OK)
    fail_msg("%s", on_gpu->error.sentence);
}

/* One job on the CPU, and on the GPU from both sides. */
static void check(const form *f, int what, int axis, DLDataType type, const char *rung) {
  size_t bytes;
  memset(wanted, 0x5a, sizeof wanted);
  const rung_status status =
      reduce(on_cpu, f, what, axis, type, numbers, wanted, false, "lanes", &bytes);
  for (int there = 0; there < 2; there++) {
    memset(found, 0x5a, bytes);
    if (there) clear_there(bytes);
    const rung_status on = reduce(on_gpu, f, what, axis, type, there ? read_there : (char *)numbers,
                                  there ? found_there : (char *)found, there, rung, &bytes);
    if (on != status) fail_msg("%s: status %d: %s", rung, (int)on, rung_last_error(on_gpu));
    if (there) bring_back(bytes);
    if (memcmp(found, wanted, bytes) != 0)
      fail_msg("%s, form %d, what %d, axis %d, type %d of %d bits, %s memory: other bits", rung,
               (int)(f - forms), what, axis, type.code, type.bits, there ? "device" : "host");
  }
}

static void has_the_bits_of_the_cpu(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const char *const rungs[] = {"vector", "single-pass"};
  for (int k = 0; k < FORMS; k++)
    for (int what = RUNG_SUM; what <= RUNG_MEAN; what++)
      for (int axis = -1; axis < forms[k].ndim; axis++) {
        /* The mean of nothing is a NaN, whose bits are not promised. */
        if (what == RUNG_MEAN && forms[k].ndim == 3 && forms[k].shape[1] == 0) continue;
        /* Every type meets every form and reduction over the run. */
        const int turn = k + 3 * what + 5 * (axis + 1);
        for (int r = 0; r < 2; r++) {
          const DLDataType narrow = types[WIDE + turn % (TYPES - WIDE)];
          check(&forms[k], what, axis < 0 ? RUNG_ALL : axis, types[turn % WIDE], rungs[r]);
          check(&forms[k], what, axis < 0 ? RUNG_ALL : axis, narrow, rungs[r]);
          check(&forms[k], what, axis < 0 ? RUNG_ALL : axis, types[5], rungs[r]);
        }
      }
}

static void auto_takes_the_last_rung(void **unused) {
  (void)unused;
  NEED_DEVICE();
  float x[2] = {1, 2}, sum = 0;
  int64_t shape[1] = {2};
  DLTensor in = {.data = x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = types[5], .shape = shape};
  DLTensor out = {.data = &sum, .device = {kDLCPU, 0}, .dtype = types[5]};
  rung_call call = {0};
  if (rung_reduce(on_gpu, RUNG_SUM, &in, 0, &out, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(on_gpu));
  assert_string_equal(call.used, "single-pass");
  assert_true(sum == 3);
}

static void the_textbook_says_what_it_cannot(void **unused) {
  (void)unused;
  NEED_DEVICE();
  size_t bytes;
  assert_int_equal(
      reduce(on_gpu, &forms[4], RUNG_SUM, 0, types[5], numbers, found, false, "shuffle", &bytes),
      RUNG_UNSUPPORTED);
  assert_non_null(strstr(rung_last_error(on_gpu), "rung \"vector\""));
}

/* Calls queue up while the device is still at the first: what a call leaves in memory of the
 * context's, on the device and on the host, is not the next one's to touch before its turn. */
static void calls_may_follow_each_other(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const char *const rungs[] = {"finish-host", "single-pass", "finish-last-block",
                                      "finish-relaunch", "finish-recursion"};
  enum { CALLS = 40, KINDS = sizeof rungs / sizeof *rungs };
  const DLDataType type = types[1]; /* integers: every order gives the same */
  for (int there = 0; there < 2; there++)
    for (int c = 0; c < CALLS; c++) {
      int64_t shape[1] = {200003 - 4999 * c};
      char *from = there ? read_there : (char *)numbers;
      char *to = there ? found_there : (char *)wanted;
      DLTensor in = {.data = from + 1024 * c,
                     .device = {there ? kDLCUDA : kDLCPU, 0},
                     .ndim = 1,
                     .dtype = type,
                     .shape = shape};
      DLTensor out = {.data = to + 8 * c, .device = in.device, .dtype = types[3]};
      rung_call call = {.rung = there ? rungs[c % KINDS] : "lanes"};
      rung_context *context = there ? on_gpu : on_cpu;
      if (rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, &call) != RUNG_OK)
        fail_msg("%s: %s", call.rung, rung_last_error(context));
    }
  bring_back(8 * CALLS);
  for (int c = 0; c < CALLS; c++)
    if (found[c] != wanted[c]) fail_msg("call %d, by %s: another sum", c, rungs[c % KINDS]);
}

/* Numbers of any type: small integers, and floats without a NaN among them. */
static int open_all(void **unused) {
  const int opened = open_gpu(unused);
  if (opened != 0 || gpu == NULL) return opened;
  for (int i = 0; i < ROOM; i++) {
    const uint64_t x = (uint64_t)(i + 1) * 6364136223846793005u >> 8;
    numbers[i] = (x & 0x807fbfff807fbfffu) | 0x3e0000003e000000u;
  }
  return open_both(numbers, BYTES, BYTES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_the_bits_of_the_cpu),
      cmocka_unit_test(auto_takes_the_last_rung),
      cmocka_unit_test(the_textbook_says_what_it_cannot),
      cmocka_unit_test(calls_may_follow_each_other),
  };
  return cmocka_run_group_tests(tests, open_all, close_both);
}
