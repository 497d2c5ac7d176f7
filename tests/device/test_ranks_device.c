/* A CPU, a GPU with arrays in its own memory and a GPU with arrays in the host's as ranks: the bits
 * of one call on the CPU. Skipped, by name, where there is no GPU. */
#include "device/both.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cpu_and_gpu_ranks_give_the_same_bits)};
  return cmocka_run_group_tests(tests, open_all, close_all);
}
