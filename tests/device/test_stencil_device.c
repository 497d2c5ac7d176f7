/* The stencil and the radiator through rung.h on a GPU: arrays of either side, every rung by name,
 * against the CPU's bits. Skipped, by name, where there is no GPU. */
#include "device/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "ops/stencil/stencil.h"
#include "rung/rung.h"

static rung_context *on_gpu, *on_cpu;

#define DONE(context, call)                                                             \
  do {                                                                                  \
    if ((call) != RUNG_OK) fail_msg("line %d: %s", __LINE__, rung_last_error(context)); \
  } while (0)

/* ---- arrays -----------------------------------------------------------------------------------
 */

static uint64_t seed = 5;

static double number(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 40) * 0x1p-23 - 1;
}

static double get(const void *data, bool wide, int64_t at) {
  return wide ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void set(void *data, bool wide, int64_t at, double value) {
  if (wide)
    ((double *)data)[at] = value;
  else
    ((float *)data)[at] = (float)value;
}

static DLTensor tensor(void *data, bool wide, bool here, int ndim, int64_t *shape,
                       int64_t *strides) {
  return (DLTensor){.data = data,
                    .device = {here ? kDLCPU : kDLCUDA, 0},
                    .ndim = ndim,
                    .dtype = {kDLFloat, wide ? 64 : 32, 1},
                    .shape = shape,
                    .strides = strides};
}

/* A room on the device with a copy of the host's. */
static void *to_device(const void *host, size_t bytes) {
  void *memory;
  DONE(on_gpu, on_gpu->backend->allocate(on_gpu->state, bytes, &memory, &on_gpu->error));
  DONE(on_gpu,
       on_gpu->backend->copy(on_gpu->state, memory, host, bytes, RUNG_TO_DEVICE, &on_gpu->error));
  DONE(on_gpu, rung_synchronize(on_gpu));
  return memory;
}

static void to_host(void *host, void *memory, size_t bytes) {
  DONE(on_gpu,
       on_gpu->backend->copy(on_gpu->state, host, memory, bytes, RUNG_TO_HOST, &on_gpu->error));
  DONE(on_gpu, rung_synchronize(on_gpu));
  on_gpu->backend->release(on_gpu->state, memory);
}

static bool same(const void *a, const void *b, bool wide, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    const double x = get(a, wide, k), y = get(b, wide, k);
    if (!(isnan(x) && isnan(y)) && (x != y || signbit(x) != signbit(y))) return false;
  }
  return true;
}

static const rung_row *gpu_row(int k) {
  for (int i = 0; i < stencil_operation.count; i++) {
    const rung_row *row = &stencil_operation.rows[i];
    if (row->family == RUNG_ON_GPU && row->order != RUNG_LOOSE && k-- == 0) return row;
  }
  return NULL;
}

/* Canonical rungs: the CPU's bits. The textbook: as near as its roundings allow, for weights whose
 * magnitudes sum to 1. */
static void agrees(const rung_row *row, const rung_stencil_model *model, const void *got,
                   const void *wanted, bool wide, int64_t count) {
  if (row == NULL || row->order == RUNG_CANONICAL) {
    if (!same(got, wanted, wide, count))
      fail_msg("%s has other bits than the CPU", row == NULL ? "auto" : row->name);
    return;
  }
  const double eps = wide ? 0x1p-53 : 0x1p-24;
  const double bound = (double)model->steps * (4 * model->radius + 12) * 2 * eps;
  for (int64_t k = 0; k < count; k++)
    if (!(fabs(get(got, wide, k) - get(wanted, wide, k)) <= bound))
      fail_msg("%s: element %ld is %g, not %g", row->name, (long)k, get(got, wide, k),
               get(wanted, wide, k));
}

/* ---- the stencil ------------------------------------------------------------------------------
 */

typedef struct job {
  rung_stencil_model model;
  double weights[17];
  int64_t n, m;
  bool wide;
} job;

static void draw(job *job) {
  double sum = 0;
  for (int k = 0; k <= 2 * job->model.radius; k++) sum += fabs(job->weights[k] = number() + .01);
  job->model.weights = job->weights;
  job->model.divide = sum;
}

/* One job on the host, staged, and on the device, asynchronous; `row` NULL: auto. */
static void run_both_sides(const job *job, const rung_row *row, int block, const void *in,
                           const void *wanted, const void *wanted_means) {
  const size_t bytes = (size_t)(job->n * job->m) * (job->wide ? 8 : 4);
  const size_t mean_bytes = (size_t)job->n * (job->wide ? 8 : 4);
  int64_t shape[2] = {job->n, job->m};
  void *out = malloc(bytes), *means = malloc(mean_bytes);
  for (int here = 0; here < 2; here++) {
    memset(out, 0x7d, bytes);
    memset(means, 0x7d, mean_bytes);
    void *a = here ? (void *)in : to_device(in, bytes);
    void *b = here ? out : to_device(out, bytes), *c = here ? means : to_device(means, mean_bytes);
    const DLTensor from = tensor(a, job->wide, here, 2, shape, NULL);
    DLTensor to = tensor(b, job->wide, here, 2, shape, NULL);
    DLTensor mean = tensor(c, job->wide, here, 1, shape, NULL);
    rung_call call = {.rung = row == NULL ? NULL : row->name, .block = block};
    const rung_status status = rung_stencil(on_gpu, &job->model, &from, &to, &mean, &call);
    if (status != RUNG_UNSUPPORTED || row == NULL) DONE(on_gpu, status);
    if (!here) {
      to_host(out, b, bytes);
      to_host(means, c, mean_bytes);
      on_gpu->backend->release(on_gpu->state, a);
    }
    if (status != RUNG_OK) continue;
    agrees(row, &job->model, out, wanted, job->wide, job->n * job->m);
    agrees(row, &job->model, means, wanted_means, job->wide, job->n);
  }
  free(out);
  free(means);
}

static void run_all(const job *job, int block) {
  const size_t bytes = (size_t)(job->n * job->m) * (job->wide ? 8 : 4);
  int64_t shape[2] = {job->n, job->m};
  void *in = malloc(bytes), *out = malloc(bytes), *means = malloc((size_t)job->n * 8);
  for (int64_t k = 0; k < job->n * job->m; k++) set(in, job->wide, k, number());
  const DLTensor from = tensor(in, job->wide, true, 2, shape, NULL);
  DLTensor to = tensor(out, job->wide, true, 2, shape, NULL);
  DLTensor mean = tensor(means, job->wide, true, 1, shape, NULL);
  DONE(on_cpu, rung_stencil(on_cpu, &job->model, &from, &to, &mean, NULL));
  const rung_row *row;
  for (int k = 0; (row = gpu_row(k)) != NULL; k++) run_both_sides(job, row, block, in, out, means);
  run_both_sides(job, NULL, 0, in, out, means);
  free(in);
  free(out);
  free(means);
}

static void every_rung_has_the_bits_of_the_cpu(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const int64_t sizes[] = {1, 2, 4, 5, 9, 33, 64, 100, 257, 960, 2048, 2049, 5000, 15360};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int radius = 1; radius <= 8; radius++) {
      const int turn = radius + (int)s;
      job job = {.n = 1 + turn % 9, .m = sizes[s], .wide = turn % 2};
      job.model = (rung_stencil_model){.radius = radius,
                                       .steps = turn % 12,
                                       .fixed = turn % 3 > sizes[s] ? 0 : turn % 3,
                                       .edge = (rung_edge)(turn % 5),
                                       .edge_value = .3};
      draw(&job);
      run_all(&job, 0);
    }
}

static void any_block_size(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const int blocks[] = {1, 31, 33, 64, 1000, 1024};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
    for (int wide = 0; wide < 2; wide++) {
      job job = {.n = 7, .m = 301, .wide = wide};
      job.model = (rung_stencil_model){.radius = 2, .steps = 9, .fixed = 2};
      draw(&job);
      run_all(&job, blocks[b]);
    }
}

/* ---- views ------------------------------------------------------------------------------------
 */

enum { N = 12, M = 70, ROOM = 8192 };

typedef struct layout {
  int64_t row, column, origin;
} layout;

static const layout layouts[] = {{M, 1, 3},           {M + 5, 1, 0}, {-M, 1, ROOM / 2},
                                 {M, -1, ROOM / 2},   {2 * M, 2, 1}, {1, N, 0},
                                 {-1, -N, ROOM - 100}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static const rung_stencil_model model = {
    .radius = 2, .weights = (double[]){1.9, 1.5, 1, .5, .1}, .divide = 5, .steps = 7, .fixed = 2};

/* The CPU on the same rooms is what must come out, guards and all. `in` may be `out`. */
static void same_rooms(const layout *a, const layout *b, bool wide, bool here, const char *rung) {
  static double in[ROOM], out[ROOM], wanted[ROOM];
  const size_t element = wide ? 8 : 4, bytes = ROOM * element;
  int64_t shape[2] = {N, M}, from[2] = {a->row, a->column}, to[2] = {b->row, b->column};
  for (int64_t k = 0; k < ROOM; k++) set(in, wide, k, number()), set(out, wide, k, number());
  memcpy(wanted, out, bytes);
  const bool in_place = a == b;
  void *source = in_place ? wanted : in;
  DLTensor x = tensor((char *)source + (size_t)a->origin * element, wide, true, 2, shape, from);
  DLTensor y = tensor((char *)wanted + (size_t)b->origin * element, wide, true, 2, shape, to);
  DONE(on_cpu, rung_stencil(on_cpu, &model, &x, &y, NULL, NULL));
  void *room_out = here ? out : to_device(out, bytes);
  void *room_in = in_place ? room_out : here ? in : to_device(in, bytes);
  x = tensor(room_in, wide, here, 2, shape, from);
  y = tensor(room_out, wide, here, 2, shape, to);
  x.byte_offset = (uint64_t)a->origin * element;
  y.byte_offset = (uint64_t)b->origin * element;
  rung_call call = {.rung = rung};
  DONE(on_gpu, rung_stencil(on_gpu, &model, &x, &y, NULL, &call));
  if (!here) {
    to_host(out, room_out, bytes);
    if (!in_place) on_gpu->backend->release(on_gpu->state, room_in);
  }
  if (!same(out, wanted, wide, ROOM))
    fail_msg("%s: strides %ld %ld to %ld %ld, %s", rung, (long)a->row, (long)a->column,
             (long)b->row, (long)b->column, here ? "host" : "device");
}

static void any_view_of_either_side(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const char *const canonical[] = {"reciprocal", "onchip"};
  for (int a = 0; a < LAYOUTS; a++)
    for (int b = 0; b < LAYOUTS; b++)
      for (int k = 0; k < 8; k++)
        same_rooms(&layouts[a], &layouts[b], k & 1, k & 2, canonical[k / 4]);
}

/* ---- the radiator ------------------------------------------------------------------------------
 */

static void the_radiator_by_every_rung(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { ROWS = 9, COLUMNS = 310 };
  static double wanted[ROWS * COLUMNS], grid[ROWS * COLUMNS];
  for (const char *const *name = rung_radiator_presets(); *name != NULL; name++)
    for (int k = 0; gpu_row(k) != NULL; k++)
      for (int turn = 0; turn < 4; turn++) {
        const bool wide = turn & 1, here = turn & 2;
        const size_t bytes = ROWS * COLUMNS * (wide ? 8 : 4);
        int64_t shape[2] = {ROWS, COLUMNS};
        rung_radiator_model radiator;
        rung_radiator_preset(*name, &radiator);
        DLTensor to = tensor(wanted, wide, true, 2, shape, NULL);
        DONE(on_cpu, rung_radiator(on_cpu, &radiator, 11, &to, NULL, NULL));
        memset(grid, 0x7d, bytes);
        void *room = here ? grid : to_device(grid, bytes);
        to = tensor(room, wide, here, 2, shape, NULL);
        rung_call call = {.rung = gpu_row(k)->name};
        DONE(on_gpu, rung_radiator(on_gpu, &radiator, 11, &to, NULL, &call));
        assert_string_equal(call.used, gpu_row(k)->name);
        if (!here) to_host(grid, room, bytes);
        const rung_stencil_model stencil = {.radius = 2, .steps = 11};
        agrees(gpu_row(k), &stencil, grid, wanted, wide, ROWS * COLUMNS);
      }
}

/* ---- streams and sides --------------------------------------------------------------------------
 */

/* On the stream of another state: what is queued there before comes before. */
static void runs_on_the_callers_stream(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { COUNT = 400 * 500 };
  rung_context *own;
  const rung_options options = {.device = "cuda:0", .stream = cuda->stream(gpu)};
  DONE(own, rung_open(&own, &options));
  assert_ptr_equal(own->backend->stream(own->state), options.stream);
  int64_t shape[2] = {400, 500};
  float *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *in);
  float *wanted = malloc(COUNT * sizeof *in);
  for (int k = 0; k < COUNT; k++) in[k] = (float)number();
  DLTensor x = tensor(in, false, true, 2, shape, NULL),
           y = tensor(wanted, false, true, 2, shape, NULL);
  DONE(on_cpu, rung_stencil(on_cpu, &model, &x, &y, NULL, NULL));
  void *a, *b;
  OK(cuda->allocate(gpu, COUNT * sizeof *in, &a, &failure));
  OK(cuda->allocate(gpu, COUNT * sizeof *in, &b, &failure));
  OK(cuda->copy(gpu, a, in, COUNT * sizeof *in, RUNG_TO_DEVICE, &failure));
  x = tensor(a, false, false, 2, shape, NULL), y = tensor(b, false, false, 2, shape, NULL);
  DONE(own, rung_stencil(own, &model, &x, &y, NULL, NULL));
  OK(cuda->copy(gpu, out, b, COUNT * sizeof *in, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));
  assert_memory_equal(out, wanted, COUNT * sizeof *in);
  rung_close(own);
  cuda->release(gpu, a);
  cuda->release(gpu, b);
  free(in), free(out), free(wanted);
}

static void refuses_mixed_sides(void **unused) {
  (void)unused;
  NEED_DEVICE();
  float in[12] = {0}, poison[12];
  int64_t shape[2] = {3, 4};
  memset(poison, 0x6b, sizeof poison);
  void *room = to_device(in, sizeof in);
  const DLTensor from = tensor(room, false, false, 2, shape, NULL);
  DLTensor to = tensor(poison, false, true, 2, shape, NULL);
  assert_int_equal(rung_stencil(on_gpu, &model, &from, &to, NULL, NULL), RUNG_BAD_PLACE);
  assert_non_null(strstr(rung_last_error(on_gpu), "out"));
  for (size_t k = 0; k < sizeof poison; k++) assert_int_equal(((char *)poison)[k], 0x6b);
  to_host(in, room, sizeof in);
}

/* A rung that cannot says why, and writes nothing. */
static void says_what_onchip_cannot(void **unused) {
  (void)unused;
  NEED_DEVICE();
  const int64_t m = 70000;
  float *x = calloc((size_t)m, sizeof *x), *out = calloc((size_t)m, sizeof *x);
  int64_t shape[2] = {1, m};
  const DLTensor from = tensor(x, false, true, 2, shape, NULL);
  DLTensor to = tensor(out, false, true, 2, shape, NULL);
  rung_call call = {.rung = "onchip"};
  x[9] = 1;
  assert_int_equal(rung_stencil(on_gpu, &model, &from, &to, NULL, &call), RUNG_UNSUPPORTED);
  assert_non_null(strstr(rung_last_error(on_gpu), "70000"));
  for (int64_t j = 0; j < m; j++) assert_true(out[j] == 0);
  call.rung = NULL;
  DONE(on_gpu, rung_stencil(on_gpu, &model, &from, &to, NULL, &call));
  assert_string_equal(call.used, "overlapped");
  free(x), free(out);
}

static int open_all(void **unused) {
  const int opened = open_gpu(unused);
  if (opened != 0 || gpu == NULL) return opened;
  return rung_open(&on_gpu, &(rung_options){.device = "cuda:0"}) == RUNG_OK &&
                 rung_open(&on_cpu, &(rung_options){.device = "cpu"}) == RUNG_OK
             ? 0
             : -1;
}

static int close_all(void **unused) {
  rung_close(on_gpu);
  rung_close(on_cpu);
  return close_gpu(unused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rung_has_the_bits_of_the_cpu),
      cmocka_unit_test(any_block_size),
      cmocka_unit_test(any_view_of_either_side),
      cmocka_unit_test(the_radiator_by_every_rung),
      cmocka_unit_test(runs_on_the_callers_stream),
      cmocka_unit_test(refuses_mixed_sides),
      cmocka_unit_test(says_what_onchip_cannot),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
