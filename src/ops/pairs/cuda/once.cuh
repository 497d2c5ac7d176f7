/* Pairs counted by one launch, where launches take longest: counters are zeros from call to call,
 * and the last block to end stores what all have counted. */
#ifndef RUNG_PAIRS_CUDA_ONCE_CUH
#define RUNG_PAIRS_CUDA_ONCE_CUH

#include "ops/pairs/cuda/count.cuh"

/* Where the job's results go; how many blocks count, and how many of these have ended. */
struct pairs_once {
  unsigned long long *counts, *outside;
  unsigned *done;
  int64_t blocks;
};

/* The job's own counters become zeros, of which the task has pairs_once_bytes(). */
static pairs_once pairs_count_once(const rung_task *task, int64_t blocks, pairs_job *job) {
  pairs_once once = {job->counts, job->outside, NULL, blocks};
  job->counts = (unsigned long long *)task->zeros;
  if (job->outside != NULL) job->outside = job->counts + job->problem.bins;
  once.done = (unsigned *)(job->counts + job->problem.bins + PAIRS_OUTER);
  return once;
}

/* By every block that counts, at its end. Above are all pairs but those that were counted
 * elsewhere. */
static __device__ RUNG_ASIDE void pairs_end_once(const pairs_job &job, const pairs_once &once) {
  __shared__ unsigned long long all;
  if (!rung_is_last(once.done, once.blocks)) return;
  const int bins = job.problem.bins;
  unsigned long long counted = 0;
  if (threadIdx.x == 0) all = 0;
  for (int k = (int)threadIdx.x; k < bins + PAIRS_OUTER; k += (int)blockDim.x) {
    const unsigned long long n = rung_load_relaxed(&job.counts[k]);
    job.counts[k] = 0;
    counted += n;
    if (k < bins)
      once.counts[k] = n;
    else if (once.outside != NULL && k != bins + PAIRS_ABOVE)
      once.outside[k - bins] = n;
  }
  if (once.outside == NULL) return;
  __syncthreads();
  for (int s = 16; s > 0; s /= 2) counted += __shfl_xor_sync(0xffffffffu, counted, s);
  if (threadIdx.x % 32 == 0) atomicAdd(&all, counted);
  __syncthreads();
  if (threadIdx.x == 0)
    once.outside[PAIRS_ABOVE] = (unsigned long long)pairs_all(&job.problem) - all;
}

#endif
