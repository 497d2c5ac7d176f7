/* Histograms through rung.h on a GPU: arrays of either side, views of every form, every rung by
 * name, against the CPU's counts. Skipped, by name,
 * where there is no GPU. */
#include "device/both.h"

#include <stdlib.h>
#include <string.h>

#include "ops/histogram/histogram.h"

enum { ROOM = 1 << 20, BYTES = 8 * ROOM, OUTER_AT = ROOM - 100000 };
static uint64_t numbers[ROOM];
static int64_t wanted[ROOM], found[ROOM];

static const DLDataType types[] = {{kDLUInt, 8, 1},  {kDLUInt, 16, 1}, {kDLInt, 32, 1},
                                   {kDLUInt, 32, 1}, {kDLInt, 64, 1},  {kDLFloat, 32, 1},
                                   {kDLFloat, 64, 1}};
enum { TYPES = sizeof types / sizeof *types };

/* From the middle of `numbers`. */
typedef struct form {
  int ndim, by_row;
  int64_t shape[5], stride[5];
} form;

static const form forms[] = {
    {1, 0, {400003}, {1}},
    {1, 0, {30001}, {-3}},
    {1, 0, {0}, {1}},
    {2, 1, {7, 40001}, {40001, 1}}, /* no two rows aligned alike */
    {2, 1, {300, 500}, {501, 1}},
    {2, 1, {300, 500}, {1, 300}},
    {2, 1, {300, 500}, {-501, -1}},
    {2, 1, {700, 3}, {3, 1}},
    {2, 1, {5, 0}, {3, 1}},
    {2, 0, {300, 500}, {503, 1}},
    {3, 0, {9, 70, 80}, {6000, 85, 1}},
    {5, 0, {3, 4, 5, 6, 7}, {1, 700, 30, 150, 4}},
};
enum { FORMS = sizeof forms / sizeof *forms };

static double uneven[301];
static const rung_bins bins_of[] = {
    {0, RUNG_BINS_MODULO, 8, 0, 0, NULL},       {0, RUNG_BINS_MODULO, 1000, 0, 0, NULL},
    {0, RUNG_BINS_EVEN, 10, 0, 200, NULL},      {0, RUNG_BINS_EVEN, 300, -1, 1.5, NULL},
    {0, RUNG_BINS_EVEN, 5, 1e6, 1e6 + 1, NULL}, {0, RUNG_BINS_EDGES, 300, 0, 0, uneven},
};
enum { BINS = sizeof bins_of / sizeof *bins_of };
/* Many bins, of one row only. */
static const rung_bins many[] = {{0, RUNG_BINS_MODULO, 20000, 0, 0, NULL},
                                 {0, RUNG_BINS_MODULO, 65536, 0, 0, NULL},
                                 {0, RUNG_BINS_EVEN, 600000, -1, 1.5, NULL}};

static rung_status count(rung_context *context, const rung_bins *bins, const form *f,
                         DLDataType type, void *in, void *to, bool there, const char *rung) {
  form copy = *f;
  const int by_row = f->by_row;
  int64_t shape[2] = {f->shape[0], bins->count}, outer_shape[2] = {f->shape[0], 3};
  const DLDevice place = {there ? kDLCUDA : kDLCPU, 0};
  const DLDataType i64 = {kDLInt, 64, 1};
  DLTensor from = {.data = (char *)in + BYTES / 2,
                   .device = place,
                   .ndim = f->ndim,
                   .dtype = type,
                   .shape = copy.shape,
                   .strides = copy.stride};
  DLTensor counts = {
      .data = to, .device = place, .ndim = 1 + by_row, .dtype = i64, .shape = shape + !by_row};
  DLTensor outside = counts;
  outside.data = (int64_t *)to + OUTER_AT;
  outside.shape = outer_shape + !by_row;
  rung_call call = {.rung = rung};
  return rung_histogram(context, bins, &from, &counts, &outside, &call);
}

static void bring_back(void) {
  if (rung_synchronize(on_gpu) != RUNG_OK ||
      on_gpu->backend->copy(on_gpu->state, found, found_there, BYTES, RUNG_TO_HOST,
                            &on_gpu->error) != RUNG_OK ||
      rung_synchronize(on_gpu) != RUNG_OK)
    fail_msg("%s", rung_last_error(on_gpu));
}

static void clear_there(void) {
  if (on_gpu->backend->fill(on_gpu->state, found_there, 0x5a, BYTES, &on_gpu->error) != RUNG_OK)
    fail_msg("%s", on_gpu->error.sentence);
}

/* One job on the CPU, and on the GPU from both sides. */
static void check(const form *f, const rung_bins *bins, DLDataType type, const char *rung) {
  memset(wanted, 0x5a, sizeof wanted);
  if (count(on_cpu, bins, f, type, numbers, wanted, false, "serial") != RUNG_OK)
    fail_msg("%s", rung_last_error(on_cpu));
  for (int there = 0; there < 2; there++) {
    memset(found, 0x5a, sizeof found);
    if (there) clear_there();
    const rung_status status = count(on_gpu, bins, f, type, there ? read_there : (char *)numbers,
                                     there ? found_there : (char *)found, there, rung);
    if (status == RUNG_UNSUPPORTED) return;
    if (status != RUNG_OK) fail_msg("%s: %s", rung, rung_last_error(on_gpu));
    if (there) bring_back();
    if (memcmp(found, wanted, sizeof found) != 0)
      fail_msg(
          "%s, form %d, bins of kind %d, %ld of them, type %d of %d bits, %s memory: other "
          "counts",
          rung, (int)(f - forms), (int)bins->kind, (long)bins->count, type.code, type.bits,
          there ? "device" : "host");
  }
}

static const char *const rungs[] = {"global",     "shared",     "per-warp",
                                    "replicated", "aggregated", "vector"};

static void counts_as_the_cpu_does(void **unused) {
  (void)unused;
  NEED_DEVICE();
  for (int k = 0; k < FORMS; k++)
    for (int b = 0; b < BINS; b++)
      for (int t = 0; t < TYPES; t++) {
        if (bins_of[b].kind == RUNG_BINS_MODULO && types[t].code == kDLFloat) continue;
        check(&forms[k], &bins_of[b], types[t], "vector");
        check(&forms[k], &bins_of[b], types[t], rungs[(k + b + t) % 5]);
      }
}

static void counts_many_bins(void **unused) {
  (void)unused;
  NEED_DEVICE();
  for (int r = 0; r < 6; r++)
    for (int b = 0; b < 3; b++)
      check(&forms[0], &many[b], types[many[b].kind == RUNG_BINS_EVEN ? 5 : 3], rungs[r]);
}

/* Written by the GPU, or copied there: given ones, those of 16 bits, and of no width in double. */
static void edges_are_those_of_the_cpu(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const DLDataType of[] = {
      {kDLFloat, 64, 1}, {kDLFloat, 32, 1}, {kDLFloat, 16, 1}, {kDLBfloat, 16, 1}};
  static const rung_bins some[] = {
      {0, RUNG_BINS_EVEN, 1, -1, 3, NULL},        {0, RUNG_BINS_EVEN, 30000, -4, 4, NULL},
      {0, RUNG_BINS_EVEN, 77777, 0.1, 0.7, NULL}, {0, RUNG_BINS_EVEN, 9, 0, 5e-324, NULL},
      {0, RUNG_BINS_EDGES, 300, 0, 0, uneven},    {0, RUNG_BINS_MODULO, 1000, 0, 0, NULL},
      {0, RUNG_BINS_BYTES, 256, 0, 0, NULL}};
  for (size_t b = 0; b < sizeof some / sizeof *some; b++)
    for (int t = 0; t < 4; t++)
      for (int64_t step = 1; step <= 3; step += 2) {
        int64_t extent[1] = {some[b].count + 1}, steps[1] = {step};
        DLTensor edges = rung_array(wanted, of[t], 1, extent), there;
        edges.strides = steps;
        there = rung_on_cuda(edges, 0);
        there.data = found_there;
        memset(wanted, 0x5a, sizeof wanted);
        clear_there();
        if (rung_bin_edges(on_cpu, &some[b], &edges, NULL) != RUNG_OK)
          fail_msg("%s", rung_last_error(on_cpu));
        if (rung_bin_edges(on_gpu, &some[b], &there, NULL) != RUNG_OK)
          fail_msg("%s", rung_last_error(on_gpu));
        bring_back();
        assert_memory_equal(found, wanted, sizeof found);
      }
}

static void auto_takes_the_last_rung(void **unused) {
  (void)unused;
  NEED_DEVICE();
  float x[2] = {1, 2};
  int64_t counts[3], shape[1] = {2}, three[1] = {3};
  DLTensor in = {.data = x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = types[5], .shape = shape};
  DLTensor out = {
      .data = counts, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = three};
  const rung_bins bins = {0, RUNG_BINS_EVEN, 3, 0, 3, NULL};
  rung_call call = {0};
  if (rung_histogram(on_gpu, &bins, &in, &out, NULL, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(on_gpu));
  assert_string_equal(call.used, "vector");
  assert_true(counts[0] == 0 && counts[1] == 1 && counts[2] == 1);
}

/* Numbers of any type: integers of many magnitudes, and floats in [-1, 1] or of few digits. */
static int open_all(void **unused) {
  const int opened = open_gpu(unused);
  if (opened != 0 || gpu == NULL) return opened;
  for (int i = 0; i < ROOM; i++) {
    const uint64_t x = (uint64_t)(i + 1) * 6364136223846793005u >> 8;
    numbers[i] = (x & 0x807fffff807fffffu) | 0x3f0000003f000000u;
  }
  for (int k = 0; k <= 300; k++) uneven[k] = -1 + 2.2 * (k / 300.) * (k / 300.);
  return open_both(numbers, BYTES, BYTES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_as_the_cpu_does),
      cmocka_unit_test(counts_many_bins),
      cmocka_unit_test(edges_are_those_of_the_cpu),
      cmocka_unit_test(auto_takes_the_last_rung),
  };
  return cmocka_run_group_tests(tests, open_all, close_both);
}
