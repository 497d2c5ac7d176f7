/* Pairs through rung.h on a GPU: arrays of either side, views of every form, every rung by name,
 * against the CPU's counts and sums. Skipped, by name, where there is no GPU. */
#include "device/both.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "ops/pairs/pairs.h"

/* One piece of memory for everything, the same on the device: what is read, then what is written.
 * Offsets in bytes. */
enum {
  POINTS = 6000,
  A_DOUBLES = 0,
  B_DOUBLES = A_DOUBLES + 5 * 8 * POINTS,
  A_WEIGHTS = B_DOUBLES + 5 * 8 * POINTS,
  B_WEIGHTS = A_WEIGHTS + 8 * POINTS,
  A_MOLECULES = B_WEIGHTS + 8 * POINTS,
  B_MOLECULES = A_MOLECULES + 8 * POINTS,
  A_FLOATS = B_MOLECULES + 8 * POINTS,
  B_FLOATS = A_FLOATS + 5 * 4 * POINTS,
  READ = B_FLOATS + 5 * 4 * POINTS,
  COUNTS = 0,
  OUTSIDE = 8 * 70000,
  SUMS = OUTSIDE + 8 * 3,
  WRITTEN = SUMS + 8 * 70000
};
static char memory[READ], wanted[WRITTEN], found[WRITTEN];

/* A job: sizes, strides of the points (in elements), and what is asked for. */
typedef struct form {
  int64_t n, m; /* m -1: within one set */
  int64_t stride[2];
  int bits;
  int box; /* 0: open */
  int bins;
  double width;
  bool weighted, excluding, outside;
} form;

/* Points lie in a cube of side 10. */
static const rung_box boxes[] = {
    {{0}, {0}, {0}}, {{10, 0, 0}, {0, 10, 0}, {0, 0, 12}}, {{9, 0, 0}, {20, 10, 1}, {-13, 4, 11}}};
static const form forms[] = {
    {5003, -1, {3, 1}, 64, 0, 80, 0.25, false, false, true},
    {5003, -1, {3, 1}, 32, 1, 80, 0.06, false, false, true},
    {3001, -1, {3, 1}, 64, 2, 40, 0.1, false, false, false},
    {5003, -1, {3, 1}, 64, 1, 20, 0.04, false, false, true},
    {5003, -1, {3, 1}, 64, 0, 20, 0.04, false, false, true},
    {2000, 1700, {3, 1}, 64, 0, 20, 0.04, true, true, true},
    {2000, 1700, {5, 1}, 64, 2, 30, 0.05, true, true, true},
    {2000, -1, {1, 2 * POINTS / 3}, 32, 1, 30, 0.1, true, false, true},
    {1999, 33, {-4, -1}, 64, 0, 300, 0.07, false, true, false},
    {700, -1, {3, 1}, 64, 0, 70000, 0.0003, true, false, true},
    {0, -1, {3, 1}, 64, 0, 10, 1, true, true, true},
    {1, 0, {3, 1}, 32, 1, 10, 0.1, false, true, true},
    {0, 40, {3, 1}, 64, 2, 10, 0.1, true, false, true},
};
enum { FORMS = sizeof forms / sizeof *forms };

static DLTensor tensor(char *data, bool there, uint8_t code, int bits, int ndim, int64_t *shape,
                       int64_t *strides) {
  return (DLTensor){.data = data,
                    .device = {there ? kDLCUDA : kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = {code, (uint8_t)bits, 1},
                    .shape = shape,
                    .strides = strides};
}

static rung_status count(rung_context *context, const form *f, char *from, char *to, bool there,
                         rung_call *call) {
  const bool cross = f->m >= 0;
  int64_t n[2] = {f->n, 3}, m[2] = {f->m, 3}, bins[1] = {f->bins}, three[1] = {3};
  int64_t stride[2] = {f->stride[0], f->stride[1]};
  /* Backwards from the middle. */
  const int64_t middle = f->stride[0] < 0 ? 5 * POINTS / 2 * (f->bits / 8) : 0;
  DLTensor a = tensor(from + (f->bits == 64 ? A_DOUBLES : A_FLOATS) + middle, there, kDLFloat,
                      f->bits, 2, n, stride),
           b = tensor(from + (f->bits == 64 ? B_DOUBLES : B_FLOATS) + middle, there, kDLFloat,
                      f->bits, 2, m, stride),
           aw = tensor(from + A_WEIGHTS, there, kDLFloat, 64, 1, n, NULL),
           bw = tensor(from + B_WEIGHTS, there, kDLFloat, 64, 1, m, NULL),
           am = tensor(from + A_MOLECULES, there, kDLInt, 64, 1, n, NULL),
           bm = tensor(from + B_MOLECULES, there, kDLInt, 64, 1, m, NULL),
           counts = tensor(to + COUNTS, there, kDLInt, 64, 1, bins, NULL),
           outside = tensor(to + OUTSIDE, there, kDLInt, 64, 1, three, NULL),
           sums = tensor(to + SUMS, there, kDLFloat, 64, 1, bins, NULL);
  const rung_points first = {0, &a, &aw, f->excluding ? &am : NULL},
                    second = {0, &b, &bw, f->excluding ? &bm : NULL};
  const rung_distances by = {0, f->bins, f->width, NULL};
  return rung_pairs(context, &first, cross ? &second : NULL, f->box ? &boxes[f->box] : NULL, &by,
                    &counts, f->outside ? &outside : NULL, f->weighted ? &sums : NULL, call);
}

static void bring_back(void) {
  if (rung_synchronize(on_gpu) != RUNG_OK ||
      on_gpu->backend->copy(on_gpu->state, found, found_there, WRITTEN, RUNG_TO_HOST,
                            &on_gpu->error) != RUNG_OK ||
      rung_synchronize(on_gpu) != RUNG_OK)
    fail_msg("%s", rung_last_error(on_gpu));
}

/* One job on the GPU from both sides, as the CPU has it. Returns how often the rung did it. */
static int check(int at, const char *rung, int block) {
  const form *f = &forms[at];
  int done = 0;
  for (int there = 0; there < 2; there++) {
    rung_call call = {.rung = rung, .block = block};
    memset(found, 0x5a, sizeof found);
    if (there &&
        on_gpu->backend->fill(on_gpu->state, found_there, 0x5a, WRITTEN, &on_gpu->error) != RUNG_OK)
      fail_msg("%s", on_gpu->error.sentence);
    const rung_status status =
        count(on_gpu, f, there ? read_there : memory, there ? found_there : found, there, &call);
    if (status == RUNG_UNSUPPORTED && rung != NULL) continue;
    if (status != RUNG_OK) fail_msg("form %d, %s: %s", at, rung, rung_last_error(on_gpu));
    if (there) bring_back();
    if (memcmp(found, wanted, sizeof found) != 0)
      fail_msg("form %d, rung %s, block %d, %s memory: other counts", at, call.used, block,
               there ? "device" : "host");
    done++;
  }
  return done;
}

static void want(int at) {
  rung_call call = {.rung = "serial"};
  memset(wanted, 0x5a, sizeof wanted);
  if (count(on_cpu, &forms[at], memory, wanted, false, &call) != RUNG_OK)
    fail_msg("form %d: %s", at, rung_last_error(on_cpu));
}

static void counts_as_the_cpu_does(void **unused) {
  static const int blocks[] = {0, 1, 33, 64, 100, 1024};
  (void)unused;
  NEED_DEVICE();
  int done[64] = {0};
  for (int k = 0; k < FORMS; k++) {
    want(k);
    check(k, NULL, 0);
    for (int r = 0; r < pairs_operation.count; r++) {
      const rung_row *row = &pairs_operation.rows[r];
      if (row->family != RUNG_ON_GPU) continue;
      done[r] += check(k, row->name, 0);
      done[r] += check(k, row->name, blocks[(k + r) % 6]);
    }
  }
  for (int r = 0; r < pairs_operation.count; r++)
    if (pairs_operation.rows[r].family == RUNG_ON_GPU && done[r] == 0)
      fail_msg("rung %s did no form", pairs_operation.rows[r].name);
}

static int open_all(void **unused) {
  const int opened = open_gpu(unused);
  if (opened != 0 || gpu == NULL) return opened;
  rung_random random = {5};
  for (int at = 0; at < READ; at += at < A_FLOATS ? 8 : 4) {
    const double x = 10 * rung_random_double(&random);
    const float narrow = (float)x;
    const int64_t molecule = at / 24 % 1000 - 5;
    if (at >= A_FLOATS)
      memcpy(memory + at, &narrow, sizeof narrow);
    else if (at >= A_MOLECULES)
      memcpy(memory + at, &molecule, sizeof molecule);
    else
      memcpy(memory + at, &x, sizeof x);
  }
  return open_both(memory, READ, WRITTEN);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_as_the_cpu_does)};
  return cmocka_run_group_tests(tests, open_all, close_both);
}
