/* Calls under capture: a context's first one, then larger ones, the graphs in turn and beside one
 * another, on the context's stream and on a call's. Every replay has the bits of the CPU. Graphs
 * are made by the driver itself, which librung-cuda loads too. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "device/gpu.h"

enum { SMALL = 100, LARGE = 1500, MOST = LARGE * LARGE, BINS = 100 };

static struct {
  int (*begin)(void *stream, int mode);
  int (*end)(void *stream, void **graph);
  int (*instantiate)(void **run, void *graph, unsigned long long flags);
  int (*launch)(void *run, void *stream);
  int (*destroy)(void *graph);
  int (*drop)(void *run);
  int (*make_stream)(void **stream, unsigned flags);
  int (*drop_stream)(void *stream);
  int (*synchronize)(void *stream);
} driver;

static float *numbers, *expected[2], *found;
static void *in, *out; /* on the device */

static void *entry(const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  return library ? dlsym(library, name) : NULL;
}

static int prepare(void **unused) {
  numbers = malloc(MOST * sizeof *numbers);
  found = malloc(MOST * sizeof *found);
  for (int size = 0; size < 2; size++) expected[size] = malloc(MOST * sizeof *numbers);
  if (!numbers || !found || !expected[0] || !expected[1] || open_gpu(unused) != 0) return -1;
  for (int i = 0; i < MOST; i++) numbers[i] = (float)(i * 2654435761U % 1000003U) / 1000003;
  if (!gpu) return 0;
  *(void **)&driver.begin = entry("cuStreamBeginCapture_v2");
  *(void **)&driver.end = entry("cuStreamEndCapture");
  *(void **)&driver.instantiate = entry("cuGraphInstantiateWithFlags");
  *(void **)&driver.launch = entry("cuGraphLaunch");
  *(void **)&driver.destroy = entry("cuGraphDestroy");
  *(void **)&driver.drop = entry("cuGraphExecDestroy");
  *(void **)&driver.make_stream = entry("cuStreamCreate");
  *(void **)&driver.drop_stream = entry("cuStreamDestroy_v2");
  *(void **)&driver.synchronize = entry("cuStreamSynchronize");
  if (!driver.make_stream || !driver.drop_stream || !driver.synchronize) return -1;
  if (!driver.begin || !driver.end || !driver.instantiate || !driver.launch) return -1;
  const size_t bytes = MOST * sizeof *numbers;
  if (cuda->allocate(gpu, bytes, &in, &failure) || cuda->allocate(gpu, bytes, &out, &failure) ||
      cuda->copy(gpu, in, numbers, bytes, RUNG_TO_DEVICE, &failure))
    return -1;
  return cuda->synchronize(gpu, &failure) == RUNG_OK ? 0 : -1;
}

static int clear(void **unused) {
  if (gpu) {
    cuda->release(gpu, in);
    cuda->release(gpu, out);
  }
  for (int size = 0; size < 2; size++) free(expected[size]);
  free(found);
  free(numbers);
  return close_gpu(unused);
}

/* ---- a job of every operation, on side x side numbers -----------------------------------------
 */

typedef struct place {
  rung_context *context;
  bool device;
  const float *from;
  float *to;
  void *stream; /* of the calls; NULL: the context's */
} place;

static DLTensor at(const place *p, const void *data, DLDataType type, int ndim, int64_t *shape) {
  const DLTensor array = rung_array(data, type, ndim, shape);
  return p->device ? rung_on_cuda(array, 0) : array;
}

static rung_call called(const place *p) {
  return (rung_call){.size = sizeof(rung_call), .stream = p->stream};
}

static const DLDataType f32 = {kDLFloat, 32, 1}, i64 = {kDLInt, 64, 1};

static rung_status sum(const place *p, int64_t side) {
  int64_t n = side * side;
  const DLTensor from = at(p, p->from, f32, 1, &n);
  DLTensor to = at(p, p->to, f32, 0, NULL);
  rung_call call = called(p);
  return rung_reduce(p->context, RUNG_SUM, &from, RUNG_ALL, &to, &call);
}

static rung_status sum_of_columns(const place *p, int64_t side) {
  int64_t shape[] = {side, side};
  const DLTensor from = at(p, p->from, f32, 2, shape);
  DLTensor to = at(p, p->to, f32, 1, shape);
  rung_call call = called(p);
  return rung_reduce(p->context, RUNG_SUM, &from, 0, &to, &call);
}

static rung_status scan(const place *p, int64_t side) {
  int64_t n = side * side;
  const DLTensor from = at(p, p->from, f32, 1, &n);
  DLTensor to = at(p, p->to, f32, 1, &n);
  rung_call call = called(p);
  return rung_scan(p->context, RUNG_SUM, &from, -1, 0, &to, &call);
}

static rung_status histogram(const place *p, int64_t side) {
  const rung_bins even = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = 0.1, .high = 0.7};
  int64_t n = side * side, bins = BINS;
  const DLTensor from = at(p, p->from, f32, 1, &n);
  DLTensor to = at(p, p->to, i64, 1, &bins);
  rung_call call = called(p);
  return rung_histogram(p->context, &even, &from, &to, NULL, &call);
}

static rung_status edges(const place *p, int64_t side) {
  const rung_bins even = {.kind = RUNG_BINS_EVEN, .count = side, .low = 0.1, .high = 0.7};
  int64_t extent = side + 1;
  DLTensor to = at(p, p->to, f32, 1, &extent);
  rung_call call = called(p);
  return rung_bin_edges(p->context, &even, &to, &call);
}

static rung_status matmul(const place *p, int64_t side) {
  int64_t shape[] = {side / 2, side / 2};
  const DLTensor from = at(p, p->from, f32, 2, shape);
  DLTensor to = at(p, p->to, f32, 2, shape);
  rung_call call = called(p);
  return rung_matmul(p->context, 1, &from, &from, 0, &to, &call);
}

static rung_status filter(const place *p, int64_t side, const char *rung) {
  int64_t shape[] = {side, side}, taps[] = {5, 5};
  const DLTensor from = at(p, p->from, f32, 2, shape), kernel = rung_array(numbers, f32, 2, taps);
  DLTensor to = at(p, p->to, f32, 2, shape);
  rung_call call = called(p);
  call.rung = rung;
  return rung_correlate(p->context, NULL, &from, &kernel, &to, &call);
}
static rung_status correlate(const place *p, int64_t side) {
  return filter(p, side, NULL);
}
/* Reads through a texture object, which the graph must find when it runs. */
static rung_status texture(const place *p, int64_t side) {
  return filter(p, side, p->device ? "texture" : NULL);
}

static rung_status stencil(const place *p, int64_t side) {
  const rung_stencil_model model = {.radius = 2,
                                    .weights = (double[]){1.9, 1.5, 1, .5, .1},
                                    .divide = 5,
                                    .steps = 7,
                                    .edge = RUNG_EDGE_WRAP};
  int64_t shape[] = {side, side};
  const DLTensor from = at(p, p->from, f32, 2, shape);
  DLTensor to = at(p, p->to, f32, 2, shape);
  rung_call call = called(p);
  return rung_stencil(p->context, &model, &from, &to, NULL, &call);
}

static rung_status pairs(const place *p, int64_t side) {
  const rung_distances bins = {.count = BINS, .width = 0.01};
  int64_t shape[] = {side, 3}, count = BINS;
  const DLTensor points = at(p, p->from, f32, 2, shape);
  DLTensor to = at(p, p->to, i64, 1, &count);
  return rung_pairs(p->context, &(rung_points){.at = &points}, NULL, NULL, &bins, &to, NULL, NULL,
                    NULL);
}

typedef rung_status job(const place *p, int64_t side);

/* ---- graphs -----------------------------------------------------------------------------------
 */

static rung_context *opened(const char *name, void *stream) {
  rung_context *context = NULL;
  if (rung_open(&context, &(rung_options){.device = name, .stream = stream}) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  return context;
}

static void fill_out(void) {
  OK(cuda->fill(gpu, out, 0x55, MOST * sizeof *found, &failure));
  OK(cuda->synchronize(gpu, &failure));
}

static void compare(int size, const char *when) {
  OK(cuda->copy(gpu, found, out, MOST * sizeof *found, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));
  if (memcmp(found, expected[size], MOST * sizeof *found) != 0)
    fail_msg("%s: other bits than the CPU's", when);
}

static void *captured(job *run, const place *p, int64_t side) {
  void *stream = cuda->stream(gpu), *graph = NULL, *made = NULL;
  assert_int_equal(driver.begin(stream, 0), 0);
  const rung_status status = run(p, side);
  assert_int_equal(driver.end(stream, &graph), 0);
  if (status != RUNG_OK) fail_msg("%s", rung_last_error(p->context));
  assert_int_equal(driver.instantiate(&made, graph, 0), 0);
  assert_int_equal(driver.destroy(graph), 0);
  return made;
}

static void replay(void *graph, int size, const char *when) {
  fill_out();
  assert_int_equal(driver.launch(graph, cuda->stream(gpu)), 0);
  compare(size, when);
}

static void expect(job *run) {
  static const int64_t sides[] = {SMALL, LARGE};
  rung_context *cpu = opened("cpu", NULL);
  for (int size = 0; size < 2; size++) {
    memset(expected[size], 0x55, MOST * sizeof *numbers);
    const place host = {cpu, false, numbers, expected[size], NULL};
    if (run(&host, sides[size]) != RUNG_OK) fail_msg("%s", rung_last_error(cpu));
  }
  rung_close(cpu);
}

/* on: the context's stream; NULL: its default one, where a graph is made by calls on another. */
static void goes_into_graphs(job *run, void *on) {
  rung_context *context = opened("cuda:0", on);
  const place p = {context, true, in, out, on ? NULL : cuda->stream(gpu)};
  void *small = captured(run, &p, SMALL);
  replay(small, 0, "a context's first call");
  fill_out();
  if (run(&p, LARGE) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  compare(1, "a call beside graphs");
  replay(small, 0, "after a larger call");
  void *large = captured(run, &p, LARGE);
  fill_out();
  if (run(&p, SMALL) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  compare(0, "a call before its graph was launched");
  for (int turn = 0; turn < 2; turn++) {
    replay(large, 1, "two graphs in turn, the larger one");
    replay(small, 0, "two graphs in turn, the smaller one");
  }
  assert_int_equal(driver.drop(small), 0);
  assert_int_equal(driver.drop(large), 0);
  rung_close(context);
}

/* Launched on two streams at once, again and again, when the context is no more. */
static void run_beside_one_another(job *run) {
  enum { ROUNDS = 20 };
  void *streams[2], *outs[2], *graphs[2];
  rung_context *context = opened("cuda:0", RUNG_OWN_STREAM);
  for (int i = 0; i < 2; i++) {
    const size_t bytes = MOST * sizeof *found;
    OK(cuda->allocate(gpu, bytes, &outs[i], &failure));
    OK(cuda->fill(gpu, outs[i], 0x55, bytes, &failure));
    const place p = {context, true, in, outs[i], cuda->stream(gpu)};
    graphs[i] = captured(run, &p, LARGE);
    assert_int_equal(driver.make_stream(&streams[i], 1), 0);
  }
  rung_close(context);
  OK(cuda->synchronize(gpu, &failure));
  for (int i = 0; i < 2 * ROUNDS; i++)
    assert_int_equal(driver.launch(graphs[i % 2], streams[i % 2]), 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(driver.synchronize(streams[i]), 0);
    OK(cuda->copy(gpu, out, outs[i], MOST * sizeof *found, RUNG_ON_DEVICE, &failure));
    compare(1, "two graphs at once");
    assert_int_equal(driver.drop(graphs[i]), 0);
    assert_int_equal(driver.drop_stream(streams[i]), 0);
    cuda->release(gpu, outs[i]);
  }
}

#define CAPTURED(operation)                                      \
  static void operation##_is_captured(void **unused) {           \
    (void)unused;                                                \
    NEED_DEVICE();                                               \
    expect(operation);                                           \
    goes_into_graphs(operation, cuda->stream(gpu));              \
    goes_into_graphs(operation, NULL);                           \
    if (operation != texture) run_beside_one_another(operation); \
  }
CAPTURED(sum)
CAPTURED(sum_of_columns)
CAPTURED(scan)
CAPTURED(histogram)
CAPTURED(edges)
CAPTURED(matmul)
CAPTURED(correlate)
CAPTURED(texture)
CAPTURED(stencil)

/* Copies from host memory would wait: of arrays there, and of the bins of pairs. The capture itself
 * goes on. */
static void is_refused(job *run, bool on_device) {
  rung_context *context = opened("cuda:0", cuda->stream(gpu));
  const place p = {context, on_device, on_device ? in : numbers, on_device ? out : found, NULL};
  void *stream = cuda->stream(gpu), *graph = NULL;
  assert_int_equal(driver.begin(stream, 0), 0);
  const rung_status status = run(&p, SMALL);
  assert_int_equal(driver.end(stream, &graph), 0);
  assert_int_equal(driver.destroy(graph), 0);
  assert_int_equal(status, RUNG_BAD_PLACE);
  assert_non_null(strstr(rung_last_error(context), "under capture"));
  if (run(&p, SMALL) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  rung_close(context);
}

static void copies_from_the_host_are_refused(void **unused) {
  (void)unused;
  NEED_DEVICE();
  is_refused(scan, false);
  is_refused(pairs, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sum_is_captured),       cmocka_unit_test(sum_of_columns_is_captured),
      cmocka_unit_test(scan_is_captured),      cmocka_unit_test(histogram_is_captured),
      cmocka_unit_test(edges_is_captured),     cmocka_unit_test(matmul_is_captured),
      cmocka_unit_test(correlate_is_captured), cmocka_unit_test(texture_is_captured),
      cmocka_unit_test(stencil_is_captured),   cmocka_unit_test(copies_from_the_host_are_refused),
  };
  return cmocka_run_group_tests(tests, prepare, clear);
}
