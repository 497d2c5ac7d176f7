/* How many pairs molecules exclude, however far apart their points are: a table of a's molecules by
 * their numbers, open addressing. A rung that does not look at every pair needs it to say how many
 * of the others lie beyond the last edge. */
#ifndef RUNG_PAIRS_CUDA_EXCLUDED_CUH
#define RUNG_PAIRS_CUDA_EXCLUDED_CUH

#include "ops/pairs/cuda/count.cuh"

struct pairs_tallied {
  unsigned long long *numbers; /* all bits set: no molecule here */
  unsigned *counts;
  int64_t entries; /* a power of two */
};

/* Spreads numbers that follow each other. */
static __device__ __forceinline__ int64_t pairs_entry(const pairs_tallied &tally,
                                                      unsigned long long number) {
  number = (number ^ number >> 32) * 0x9e3779b97f4a7c15ull;
  return (int64_t)((number ^ number >> 29) & (unsigned long long)(tally.entries - 1));
}

/* Enters a's molecules; of one set, every point excludes pairs with those entered before it. */
static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_enter_kernel(pairs_job job, pairs_tallied tally) {
  const unsigned long long nobody = ~0ull;
  unsigned long long excluded = 0;
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < job.a.n; i += step) {
    const int64_t molecule = job.molecules[0][i];
    if (molecule < 0) continue;
    const unsigned long long number = (unsigned long long)molecule;
    int64_t at = pairs_entry(tally, number);
    for (;; at = (at + 1) & (tally.entries - 1)) {
      const unsigned long long there = atomicCAS(&tally.numbers[at], nobody, number);
      if (there == nobody || there == number) break;
    }
    excluded += atomicAdd(&tally.counts[at], 1u);
  }
  if (!job.problem.cross && excluded > 0) atomicAdd(job.excluded, excluded);
}

/* Every point of b excludes pairs with all of its molecule in a. */
static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_look_up_kernel(pairs_job job, pairs_tallied tally) {
  unsigned long long excluded = 0;
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; j < job.b.n; j += step) {
    const int64_t molecule = job.molecules[1][j];
    if (molecule < 0) continue;
    const unsigned long long number = (unsigned long long)molecule;
    for (int64_t at = pairs_entry(tally, number);; at = (at + 1) & (tally.entries - 1)) {
      if (tally.numbers[at] == number) excluded += tally.counts[at];
      if (tally.numbers[at] == number || tally.numbers[at] == ~0ull) break;
    }
  }
  if (excluded > 0) atomicAdd(job.excluded, excluded);
}

/* Queues the counting of job.excluded, which is clear; `memory` has the tally's bytes. */
static inline rung_status pairs_count_excluded(const rung_task *task, const pairs_job &job,
                                               char *memory) {
  if (!job.problem.excluding) return RUNG_OK;
  const pairs_tally room = pairs_tally_of(&job.problem);
  const pairs_tallied tally = {(unsigned long long *)(memory + room.numbers),
                               (unsigned *)(memory + room.counts), room.entries};
  RUNG_FILL_ON_DEVICE(task, tally.numbers, 0xFF, (size_t)room.entries * sizeof *tally.numbers);
  RUNG_FILL_ON_DEVICE(task, tally.counts, 0, (size_t)room.entries * sizeof *tally.counts);
  RUNG_LAUNCH(task, pairs_enter_kernel, pairs_blocks(task, job.a.n), PAIRS_SET_BLOCK, 0, job,
              tally);
  if (job.problem.cross)
    RUNG_LAUNCH(task, pairs_look_up_kernel, pairs_blocks(task, job.b.n), PAIRS_SET_BLOCK, 0, job,
                tally);
  return RUNG_OK;
}

/* Above are all pairs but those that were counted elsewhere or are excluded. One block. */
static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_above_kernel(pairs_job job, int64_t all) {
  rung_await_before();
  unsigned long long counted = 0;
  for (int k = (int)threadIdx.x; k < job.problem.bins; k += (int)blockDim.x)
    counted += job.counts[k];
  if (threadIdx.x == 0)
    counted +=
        *job.excluded + job.outside[PAIRS_BELOW] + job.outside[PAIRS_NAN] - (unsigned long long)all;
  atomicAdd(&job.outside[PAIRS_ABOVE], ~counted + 1);
}

#endif
