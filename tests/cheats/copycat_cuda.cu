/* The cheats on the GPU. */
#include "backend/gpu.h"
#include "cheats/copycat.h"

/* out: (n), in: (n); one thread an element, element `wrong` spoilt by `factor`. */
static __global__ void twice(int64_t n, const float *in, float *out, int64_t wrong, float factor) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = i == wrong ? factor * in[i] : 2 * in[i];
}

static __global__ void put(float *at, float value) {
  *at = value;
}

struct job {
  int64_t n;
  float *in, *out;
  unsigned blocks;
};

static job job_of(const rung_task *task) {
  copycat_calls += 1;
  int64_t n = task->arrays[COPYCAT_IN].count;
  return {n, (float *)task->arrays[COPYCAT_IN].data, (float *)task->arrays[COPYCAT_OUT].data,
          (unsigned)((n + 255) / 256)};
}

static rung_status spoilt(const rung_task *task, const job &job, int64_t wrong, float factor) {
  RUNG_LAUNCH(task, twice, job.blocks, 256, 0, job.n, job.in, job.out, wrong, factor);
  return RUNG_OK;
}

static rung_status with_put(const rung_task *task, const job &job, float *at, float value) {
  RUNG_LAUNCH(task, twice, job.blocks, 256, 0, job.n, job.in, job.out, (int64_t)-1, 0.0f);
  RUNG_LAUNCH(task, put, 1, 1, 0, at, value);
  return RUNG_OK;
}

extern "C" {

rung_status RUNG_ENTRY(copycat_honest)(const rung_task *task) {
  return spoilt(task, job_of(task), -1, 0);
}

rung_status RUNG_ENTRY(copycat_writes_nothing)(const rung_task *task) {
  job_of(task);
  return RUNG_OK;
}

rung_status RUNG_ENTRY(copycat_writes_nan)(const rung_task *task) {
  job job = job_of(task);
  return spoilt(task, job, job.n / 2, nanf(""));
}

rung_status RUNG_ENTRY(copycat_overruns_by_one)(const rung_task *task) {
  job job = job_of(task);
  return with_put(task, job, job.out + job.n, 0);
}

rung_status RUNG_ENTRY(copycat_leaves_last_block)(const rung_task *task) {
  job job = job_of(task);
  RUNG_LAUNCH(task, twice, job.blocks - 1, 256, 0, job.n, job.in, job.out, (int64_t)-1, 0.0f);
  return RUNG_OK;
}

rung_status RUNG_ENTRY(copycat_right_only_first_time)(const rung_task *task) {
  job job = job_of(task);
  return spoilt(task, job, copycat_calls > 1 ? job.n - 1 : -1, 0);
}

/* No GPU takes 4096 threads in a block. */
rung_status RUNG_ENTRY(copycat_fails_to_launch)(const rung_task *task) {
  job job = job_of(task);
  RUNG_LAUNCH(task, twice, job.blocks, 4096, 0, job.n, job.in, job.out, (int64_t)-1, 0.0f);
  return RUNG_OK;
}

rung_status RUNG_ENTRY(copycat_launch_error_swallowed)(const rung_task *task) {
  job job = job_of(task);
  twice<<<job.blocks, 4096, 0, (cudaStream_t)task->stream>>>(job.n, job.in, job.out, -1, 0);
  return RUNG_OK;
}

rung_status RUNG_ENTRY(copycat_other_stream)(const rung_task *task) {
  static cudaStream_t other;
  if (!other) RUNG_CUDA_TRY(task, cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  job job = job_of(task);
  twice<<<job.blocks, 256, 0, other>>>(job.n, job.in, job.out, -1, 0);
  return RUNG_OK;
}

rung_status RUNG_ENTRY(copycat_default_stream)(const rung_task *task) {
  job job = job_of(task);
  twice<<<job.blocks, 256>>>(job.n, job.in, job.out, -1, 0);
  return RUNG_OK;
}

rung_status RUNG_ENTRY(copycat_waits_for_the_stream)(const rung_task *task) {
  rung_status status = spoilt(task, job_of(task), -1, 0);
  if (status == RUNG_OK) RUNG_CUDA_TRY(task, cudaStreamSynchronize((cudaStream_t)task->stream));
  return status;
}

rung_status RUNG_ENTRY(copycat_stale_output)(const rung_task *task) {
  job job = job_of(task);
  if (copycat_calls == 1) return spoilt(task, job, -1, 0);
  copycat_spared += 1;
  return RUNG_OK;
}

rung_status RUNG_ENTRY(copycat_off_by_a_percent)(const rung_task *task) {
  job job = job_of(task);
  return spoilt(task, job, job.n / 3, 2.06f);
}

rung_status RUNG_ENTRY(copycat_writes_input)(const rung_task *task) {
  job job = job_of(task);
  return with_put(task, job, job.in + job.n - 1, 0);
}

rung_status RUNG_ENTRY(copycat_too_fast)(const rung_task *task) {
  job job = job_of(task);
  if (copycat_calls == 1 || copycat_calls >= copycat_watched_from) return spoilt(task, job, -1, 0);
  copycat_spared += 1;
  return RUNG_OK;
}
}
