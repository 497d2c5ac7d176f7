/* A CPU, a GPU with arrays in its own memory and a GPU with arrays in the host's as ranks: the bits
 * of one call on the CPU, wherever what they send each other lies. Skipped, by name, where there is
 * no GPU. */
#include "device/both.h"
#include "ops/matmul/grid.h"
#include "ops/ranks/cuts.h"

enum { TOTAL = 300000, SPACED = 2, ROOM = SPACED * TOTAL * BYTES };

static char data[ROOM], wanted[ROOM], found[ROOM];
static rung_context *contexts[RANKS_MOST];
static over_run run;

static int open_all(void **state) {
  if (open_gpu(state) != 0) return -1;
  if (gpu == NULL) return 0;
  if (open_both(data, ROOM, ROOM) != 0) return -1;
  contexts[0] = on_cpu;
  contexts[1] = on_gpu;
  return rung_open(&contexts[2], &(rung_options){.device = "cuda:0"}) == RUNG_OK ? 0 : -1;
}

static int close_all(void **state) {
  rung_close(contexts[2]);
  return close_both(state);
}

/* Rank 1's part of `data` and of a scan's results are the GPU's. */
static rung_status with_device(rung_context *context, const rung_ranks *ranks, void *user) {
  over_run *all = (over_run *)user;
  const over_job *job = &all->job;
  const int64_t first = all->cuts[1], bytes = job->type.bits / 8, step = job->step;
  if (ranks->rank != 1) return over_rank(context, ranks, user);
  int64_t count = all->cuts[2] - first, stride = step, bins = BINS, outer = OUTER;
  const size_t length = (size_t)(count * step * bytes);
  char *in_there = read_there + first * step * bytes;
  char *out_there = found_there + first * step * bytes;
  DLTensor in = rung_on_cuda(tensor(in_there, job->type, 1, &count, &stride), 0);
  DLTensor line = rung_on_cuda(tensor(out_there, job->type, 1, &count, &stride), 0);
  DLTensor number = rung_on_cuda(tensor(found_there, result_of(job), 0, NULL, NULL), 0);
  DLTensor bars = rung_on_cuda(rung_array_i64((int64_t *)found_there, &bins), 0);
  DLTensor outside = rung_on_cuda(rung_array_i64((int64_t *)found_there + BINS, &outer), 0);
  rung_status status = RUNG_OK;
  const rung_backend *backend = context->backend;
  if (backend->copy(context->state, in_there, data + first * step * bytes, length, RUNG_TO_DEVICE,
                    NULL) != RUNG_OK ||
      backend->fill(context->state, found_there, 0, sizeof all->one[1], NULL) != RUNG_OK)
    return RUNG_DEVICE_FAILED;
  if (job->over == SCAN)
    status = rung_scan_ranks(context, ranks, job->what, &in, job->how, job->in_place ? &in : &line,
                             NULL);
  else if (job->over == REDUCE)
    status = rung_reduce_ranks(context, ranks, job->what, &in, &number, NULL);
  else
    status = rung_histogram_ranks(context, ranks, &over_bins, &in, &bars, &outside, NULL);
  strcpy(all->sentences[1], rung_last_error(context));
  if (status != RUNG_OK) return status;
  const bool scan = job->over == SCAN;
  char *to = scan ? found + first * step * bytes : (char *)all->one[1];
  const char *from = !scan ? found_there : job->in_place ? in_there : out_there;
  status = backend->copy(context->state, to, from, scan ? length : sizeof all->one[1], RUNG_TO_HOST,
                         NULL);
  return status == RUNG_OK ? rung_synchronize(context) : status;
}

static const over_job jobs[] = {
    {REDUCE, RUNG_SUM, 0, {kDLFloat, 32, 1}, TOTAL, 1, false},
    {REDUCE, RUNG_MEAN, 0, {kDLFloat, 64, 1}, TOTAL, SPACED, false},
    {REDUCE, RUNG_MAX, 0, {kDLFloat, 16, 1}, TOTAL, 1, false},
    {SCAN, RUNG_SUM, 0, {kDLFloat, 32, 1}, TOTAL, 1, false},
    {SCAN, RUNG_SUM, 1, {kDLFloat, 64, 1}, TOTAL, 1, true},
    {HISTOGRAM, RUNG_SUM, 0, {kDLFloat, 32, 1}, TOTAL, SPACED, false},
};
static const int64_t cuts[][4] = {{0, 100000, 200000, TOTAL},
                                  {0, 32768, 32768 * 5, TOTAL},
                                  {0, 10, 33000, TOTAL},
                                  {0, 40000, 40100, TOTAL},
                                  {0, 0, TOTAL, TOTAL}};

static void cpu_and_gpu_ranks_give_the_same_bits(void **state) {
  (void)state;
  NEED_DEVICE();
  for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
    const over_job *job = &jobs[j];
    const size_t bytes = (size_t)(job->total * job->step * (job->type.bits / 8));
    int64_t one[ONE];
    run = (over_run){.job = *job, .in = data, .out = wanted};
    fill(data, job->type, job->total * job->step);
    memset(wanted, 0, sizeof wanted);
    assert_int_equal(over_call(on_cpu, NULL, &run, 0, 0, job->total), RUNG_OK);
    memcpy(one, run.one[0], sizeof one);
    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
      rung_status statuses[RANKS_MOST];
      memset(run.one, 0, sizeof run.one);
      memcpy(run.cuts, cuts[c], sizeof cuts[c]);
      memset(found, 0, sizeof found);
      if (job->in_place) memcpy(found, data, bytes);
      run.out = found;
      ranks_run(3, contexts, with_device, &run, 0, 0, RANKS_FAULTS, statuses);
      for (int r = 0; r < 3; r++) {
        if (statuses[r] != RUNG_OK)
          fail_msg("job %zu, cut %zu, rank %d: %s", j, c, r, run.sentences[r]);
        if (job->over != SCAN) assert_memory_equal(run.one[r], one, sizeof one);
      }
      if (job->over == SCAN) assert_memory_equal(found, wanted, bytes);
    }
  }
}

/* ---- what goes from device to device -----------------------------------------------------------
 */

enum { ROWS = 9, K = 4400, N = 1000, SHELLS = 60 };

/* B is of two blocks; C is written where A lies. */
static float factors[ROWS * K + K * N], products[2][ROWS * N];
static double points[3 * POINTS];
static int64_t counts[4][SHELLS]; /* of one call, and of each rank */
static bool in_box;

/* Rank 1's arrays are in the GPU's memory: copies, or room. */
static DLTensor place(rung_context *context, const rung_ranks *ranks, DLTensor array, size_t bytes,
                      bool copied, void **there) {
  *there = NULL;
  if (ranks->rank != 1) return array;
  const rung_backend *backend = context->backend;
  if (backend->allocate(context->state, bytes, there, NULL) != RUNG_OK ||
      (copied &&
       backend->copy(context->state, *there, array.data, bytes, RUNG_TO_DEVICE, NULL) != RUNG_OK) ||
      rung_synchronize(context) != RUNG_OK)
    abort();
  array.data = *there;
  return rung_on_cuda(array, 0);
}

static rung_status bring_back(rung_context *context, void *to, const void *there, size_t bytes) {
  if (there == NULL) return RUNG_OK;
  const rung_status status =
      context->backend->copy(context->state, to, there, bytes, RUNG_TO_HOST, NULL);
  return status == RUNG_OK ? rung_synchronize(context) : status;
}

static rung_status multiply(rung_context *context, const rung_ranks *ranks, void *user) {
  const int64_t at[4] = {0, 2, 5, ROWS}, b_at[4] = {0, 1500, 3000, K};
  const int r = ranks->rank;
  int64_t a_shape[2] = {at[r + 1] - at[r], K}, b_shape[2] = {b_at[r + 1] - b_at[r], N};
  int64_t c_shape[2] = {a_shape[0], N};
  const size_t a_bytes = (size_t)(a_shape[0] * K) * sizeof(float),
               b_bytes = (size_t)(b_shape[0] * N) * sizeof(float),
               c_bytes = (size_t)(c_shape[0] * N) * sizeof(float);
  float *own = products[1] + at[r] * N;
  void *there[3];
  DLTensor a = place(context, ranks, tensor(factors + at[r] * K, f32, 2, a_shape, NULL), a_bytes,
                     true, &there[0]);
  DLTensor b =
      place(context, ranks, tensor(factors + ROWS * K + b_at[r] * N, f32, 2, b_shape, NULL),
            b_bytes, true, &there[1]);
  DLTensor c = place(context, ranks, tensor(own, f32, 2, c_shape, NULL), c_bytes, false, &there[2]);
  rung_status status = matmul_ranks(context, ranks, 1, &a, &b, 0, &c, NULL, user);
  if (status == RUNG_OK) status = bring_back(context, own, there[2], c_bytes);
  for (int k = 0; k < 3; k++)
    if (there[k] != NULL) context->backend->release(context->state, there[k]);
  return status;
}

static void products_go_from_device_to_device(void **state) {
  (void)state;
  NEED_DEVICE();
  int64_t a_shape[2] = {ROWS, K}, b_shape[2] = {K, N}, c_shape[2] = {ROWS, N};
  rung_status statuses[RANKS_MOST];
  fill((char *)factors, f32, ROWS * K + K * N);
  DLTensor a = tensor(factors, f32, 2, a_shape, NULL);
  DLTensor b = tensor(factors + ROWS * K, f32, 2, b_shape, NULL);
  DLTensor c = tensor(products[0], f32, 2, c_shape, NULL);
  assert_int_equal(rung_matmul(on_cpu, 1, &a, &b, 0, &c, NULL), RUNG_OK);
  matmul_grid grids[] = {{0, 0}, {1, 3}, {3, 1}, {1, 2}}; /* as they lie, and blocks */
  for (int way = 0; way < 8; way++) {
    memset(products[1], 0x5a, sizeof products[1]);
    ranks_by_host = way % 2 == 1;
    ranks_run(3, contexts, multiply, &grids[way / 2], 0, 0, RANKS_FAULTS, statuses);
    ranks_by_host = false;
    for (int r = 0; r < 3; r++) assert_int_equal(statuses[r], RUNG_OK);
    assert_memory_equal(products[1], products[0], sizeof products[0]);
  }
}

static rung_status count(rung_context *context, const rung_ranks *ranks, void *user) {
  const int64_t at[4] = {0, 700, 2500, POINTS};
  const int r = ranks == NULL ? 0 : ranks->rank;
  const int64_t first = ranks == NULL ? 0 : at[r], end = ranks == NULL ? POINTS : at[r + 1];
  const rung_box box = {.a = {1, 0, 0}, .b = {0.2, 1, 0}, .c = {0, -0.1, 1}};
  const rung_distances bins = {.count = SHELLS, .width = 0.005};
  int64_t shape[2] = {end - first, 3}, shells = SHELLS;
  const size_t bytes = (size_t)(end - first) * 3 * sizeof(double), result = sizeof counts[0];
  void *there[2] = {NULL, NULL};
  int64_t *own = counts[ranks == NULL ? 0 : 1 + r];
  DLTensor of = tensor(points + 3 * first, f64, 2, shape, NULL), to = rung_array_i64(own, &shells);
  const rung_points set = {.at = &of};
  (void)user;
  if (ranks == NULL)
    return rung_pairs(context, &set, NULL, in_box ? &box : NULL, &bins, &to, NULL, NULL, NULL);
  of = place(context, ranks, of, bytes, true, &there[0]);
  to = place(context, ranks, to, result, false, &there[1]);
  rung_status status = rung_pairs_ranks(context, ranks, &set, NULL, in_box ? &box : NULL, &bins,
                                        &to, NULL, NULL, NULL);
  if (status == RUNG_OK) status = bring_back(context, own, there[1], result);
  for (int k = 0; k < 2; k++)
    if (there[k] != NULL) context->backend->release(context->state, there[k]);
  return status;
}

static void points_go_from_device_to_device(void **state) {
  (void)state;
  NEED_DEVICE();
  rung_status statuses[RANKS_MOST];
  fill((char *)points, f64, 3 * POINTS);
  for (int way = 0; way < 4; way++) {
    memset(counts, 0, sizeof counts);
    in_box = way % 2 == 1;
    assert_int_equal(count(on_cpu, NULL, NULL), RUNG_OK);
    ranks_by_host = way / 2 == 1;
    ranks_run(3, contexts, count, NULL, 0, 0, RANKS_FAULTS, statuses);
    ranks_by_host = false;
    for (int r = 0; r < 3; r++) {
      assert_int_equal(statuses[r], RUNG_OK);
      assert_memory_equal(counts[1 + r], counts[0], sizeof counts[0]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cpu_and_gpu_ranks_give_the_same_bits),
      cmocka_unit_test(products_go_from_device_to_device),
      cmocka_unit_test(points_go_from_device_to_device),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
