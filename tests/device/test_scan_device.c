/* Scans through rung.h on a GPU: arrays of either side, views of every form, in place, canonical
 * rungs by name, against the CPU's bits; long lines again and again, for blocks wait for one
 * another. Skipped, by name, where there is no GPU. */
#include "device/both.h"

#include <stdlib.h>
#include <string.h>

#include "ops/scan/scan.h"

enum { LONG = (32 * 32 + 50) * SCAN_TILE + 6, BYTES = 8 * LONG };
static char *numbers, *wanted, *found;

static const char *const rungs[] = {"tiles", "single-pass"};
enum { RUNGS = sizeof rungs / sizeof *rungs };
static const DLDataType types[] = {{kDLInt, 32, 1},  {kDLUInt, 32, 1},  {kDLInt, 64, 1},
                                   {kDLUInt, 64, 1}, {kDLFloat, 32, 1}, {kDLFloat, 64, 1}};
enum { TYPES = sizeof types / sizeof *types };

/* From the middle of `numbers` into the middle of `found`. */
typedef struct form {
  int ndim;
  int64_t shape[3], in[3], out[3];
} form;

static const form forms[] = {
    {1, {200003}, {1}, {1}},
    {1, {30001}, {-3}, {2}},
    {2, {7, 40001}, {40001, 1}, {40001, 1}}, /* no two lines aligned alike */
    {2, {7, 40000}, {40004, 1}, {40008, 1}},
    {2, {300, 500}, {500, 1}, {501, 1}},
    {2, {300, 1000}, {1000, 1}, {1000, 1}},
    {2, {300, 5000}, {5001, 1}, {5000, 1}},
    {2, {500, 300}, {1, 500}, {300, 1}},
    {2, {5000, 3}, {0, 1}, {3, 1}},
    {3, {9, 70, 800}, {1, 9, 630}, {56000, 800, 1}},
    {3, {9, 70, 80}, {6000, 85, 1}, {80, 720, 1}},
    {3, {9, 0, 80}, {80, 80, 1}, {80, 80, 1}},
};
enum { FORMS = sizeof forms / sizeof *forms };

static rung_status scan(rung_context *context, const form *f, int what, int exclusive,
                        DLDataType type, char *in, char *out, bool there, const char *rung) {
  form copy = *f;
  const DLDevice place = {there ? kDLCUDA : kDLCPU, 0};
  DLTensor from = {.data = in + BYTES / 2,
                   .device = place,
                   .ndim = f->ndim,
                   .dtype = type,
                   .shape = copy.shape,
                   .strides = copy.in};
  DLTensor to = from;
  to.data = out + BYTES / 2;
  to.strides = copy.out;
  rung_call call = {.rung = rung};
  return rung_scan(context, (rung_reduction)what, &from, -1, exclusive, &to, &call);
}

static void copy(void *to, const void *from, size_t bytes, rung_copy way) {
  if (on_gpu->backend->copy(on_gpu->state, to, from, bytes, way, &on_gpu->error) != RUNG_OK ||
      rung_synchronize(on_gpu) != RUNG_OK)
    fail_msg("%s", rung_last_error(on_gpu));
}

enum { AROUND = 1 << 24 }; /* bytes on either side of the middle that forms may touch */

static void check(int k, int what, int exclusive, DLDataType type, const char *rung) {
  memset(wanted + BYTES / 2 - AROUND, 0x5a, 2 * AROUND);
  if (scan(on_cpu, &forms[k], what, exclusive, type, numbers, wanted, false, "threads") != RUNG_OK)
    fail_msg("%s", rung_last_error(on_cpu));
  for (int there = 0; there < 2; there++) {
    memset(found + BYTES / 2 - AROUND, 0x5a, 2 * AROUND);
    if (there) copy(found_there, found, BYTES, RUNG_TO_DEVICE);
    if (scan(on_gpu, &forms[k], what, exclusive, type, there ? read_there : numbers,
             there ? found_there : found, there, rung) != RUNG_OK)
      fail_msg("%s: %s", rung, rung_last_error(on_gpu));
    if (there) copy(found, found_there, BYTES, RUNG_TO_HOST);
    if (memcmp(found + BYTES / 2 - AROUND, wanted + BYTES / 2 - AROUND, 2 * AROUND) != 0)
      fail_msg("%s, form %d, what %d, type %d of %d bits, %s memory: other bits", rung, k, what,
               type.code, type.bits, there ? "device" : "host");
  }
}

static void has_the_bits_of_the_cpu(void **unused) {
  (void)unused;
  NEED_DEVICE();
  for (int k = 0; k < FORMS; k++)
    for (int what = RUNG_SUM; what <= RUNG_MAX; what++)
      for (int r = 0; r < RUNGS; r++) {
        /* Every type meets every form over the run. */
        check(k, what, (k + what) % 2, types[(k + 2 * what) % TYPES], rungs[r]);
        check(k, what, (k + what + 1) % 2, types[4 + k % 2], rungs[r]);
      }
}

static void long_lines_are_the_same_every_time(void **unused) {
  (void)unused;
  NEED_DEVICE();
  int64_t shape[1] = {LONG};
  for (int type = 4; type < TYPES; type++) {
    const size_t bytes = (size_t)LONG * types[type].bits / 8;
    DLTensor in = {
        .data = numbers, .device = {kDLCPU, 0}, .ndim = 1, .dtype = types[type], .shape = shape};
    DLTensor out = in;
    out.data = wanted;
    assert_int_equal(rung_scan(on_cpu, RUNG_SUM, &in, -1, 0, &out, NULL), RUNG_OK);
    in.device = out.device = (DLDevice){kDLCUDA, 0};
    in.data = read_there;
    out.data = found_there;
    for (int time = 0; time < 20; time++)
      for (int r = 0; r < RUNGS; r++) {
        rung_call call = {.rung = rungs[r]};
        if (rung_scan(on_gpu, RUNG_SUM, &in, -1, 0, &out, &call) != RUNG_OK)
          fail_msg("%s", rung_last_error(on_gpu));
        copy(found, found_there, bytes, RUNG_TO_HOST);
        if (memcmp(found, wanted, bytes) != 0) fail_msg("%s, time %d: other bits", rungs[r], time);
      }
  }
}

static void works_in_place(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const char *const all[] = {"double-buffered", "blelloch",   "blelloch-padded", "warp",
                                    "tiles",           "single-pass"};
  enum { N = 1000003 };
  int64_t shape[1] = {N};
  for (size_t r = 0; r < sizeof all / sizeof *all; r++)
    for (int exclusive = 0; exclusive < 2; exclusive++) {
      DLTensor both = {.data = found_there,
                       .device = {kDLCUDA, 0},
                       .ndim = 1,
                       .dtype = types[1],
                       .shape = shape};
      DLTensor again = both;
      rung_call call = {.rung = all[r]};
      uint32_t *ones = (uint32_t *)found;
      for (int i = 0; i < N; i++) ones[i] = 1;
      copy(found_there, ones, N * sizeof *ones, RUNG_TO_DEVICE);
      if (rung_scan(on_gpu, RUNG_SUM, &both, -1, exclusive, &again, &call) != RUNG_OK)
        fail_msg("%s", rung_last_error(on_gpu));
      copy(ones, found_there, N * sizeof *ones, RUNG_TO_HOST);
      for (int i = 0; i < N; i++)
        if (ones[i] != (uint32_t)(i + !exclusive)) fail_msg("%s: element %d", all[r], i);
    }
}

/* Numbers of any type: integers of any bits, and floats without a NaN among them. */
static int open_all(void **unused) {
  const int opened = open_gpu(unused);
  if (opened != 0 || gpu == NULL) return opened;
  numbers = (char *)malloc(BYTES);
  wanted = (char *)malloc(BYTES);
  found = (char *)malloc(BYTES);
  if (!numbers || !wanted || !found) return -1;
  for (int64_t i = 0; i < LONG; i++) {
    const uint64_t x = (uint64_t)(i + 1) * 6364136223846793005u >> 8;
    ((uint64_t *)numbers)[i] = (x & 0x807fffff807fffffu) | 0x3e0000003e000000u;
  }
  memset(found, 0x5a, BYTES);
  return open_both(numbers, BYTES, BYTES);
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
      cmocka_unit_test(long_lines_are_the_same_every_time),
      cmocka_unit_test(works_in_place),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
