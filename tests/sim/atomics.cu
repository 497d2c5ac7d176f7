/* Atomic operations on shared and on device memory. TRIAL_BLOCKS blocks of 64 threads. */
#include "backend/gpu.h"
#include "sim/trials.h"

#define OUT(type) ((type *)task->arrays[1].data)

/* What every thread does to TRIAL_COUNTERS counters; element i of a rising sequence is its own.
 * counters[6], [7]: what was swapped out, summed, and what stayed. [8]: by comparing. [9]: olds. */
template <typename T>
static __device__ void work_on(T *counters, int i) {
  const T own = (T)(i % 1000 - 300);
  const T old = atomicAdd(&counters[0], (T)1);
  atomicMin(&counters[1], own);
  atomicMax(&counters[2], own);
  atomicAnd(&counters[3], (T) ~((T)1 << i % 31));
  atomicOr(&counters[4], (T)1 << i % 29);
  atomicXor(&counters[5], (T)(i * 977));
  atomicAdd(&counters[6], atomicExch(&counters[7], (T)(i + 1)));
  T seen = atomicCAS(&counters[8], (T)0, (T)0), expected;
  do {
    expected = seen;
    seen = atomicCAS(&counters[8], expected, (T)(expected + 3));
  } while (seen != expected);
  atomicAdd(&counters[9], old);
}

/* out: (TRIAL_COUNTERS) of all blocks, then (blocks, TRIAL_COUNTERS) of each in shared memory. */
template <typename T>
static __global__ void atomics(T *out) {
  __shared__ T own[TRIAL_COUNTERS];
  const int at = (int)threadIdx.x, i = (int)(blockIdx.x * blockDim.x) + at;
  if (at < TRIAL_COUNTERS) own[at] = (T)(at == 3 ? ~(T)0 : 0);
  __syncthreads();
  work_on(own, i);
  work_on(out, i);
  __syncthreads();
  if (at < TRIAL_COUNTERS) out[(blockIdx.x + 1) * TRIAL_COUNTERS + (unsigned)at] = own[at];
}

template <typename T>
static __global__ void sums(T *out) {
  __shared__ T own;
  const int at = (int)threadIdx.x, i = (int)(blockIdx.x * blockDim.x) + at;
  if (at == 0) own = 0;
  __syncthreads();
  atomicAdd(&own, (T)i / 4);
  atomicAdd(&out[0], (T)i / 4);
  T old = (T)(i + 1);
  if constexpr (sizeof(T) == 4) old = atomicExch(&out[1], old); /* CUDA has no double's */
  atomicAdd(&out[2], old);
  __syncthreads();
  if (at == 0) out[3 + blockIdx.x] = own;
}

/* out: two counters that wrap, one up, one down, then how often each old value was seen. */
static __global__ void wraps(unsigned *out) {
  atomicAdd(&out[2 + atomicInc(&out[0], 99)], 1u);
  atomicAdd(&out[102 + atomicDec(&out[1], 99)], 1u);
  atomicSub(&out[202], 2u);
}

#define ATOMICS(name, kernel, type)                                \
  extern "C" rung_status RUNG_ENTRY(name)(const rung_task *task) { \
    RUNG_LAUNCH(task, (kernel), TRIAL_BLOCKS, 64, 0, OUT(type));   \
    return RUNG_OK;                                                \
  }
ATOMICS(trial_atomics_int, atomics<int>, int)
ATOMICS(trial_atomics_unsigned, atomics<unsigned>, unsigned)
ATOMICS(trial_atomics_long, atomics<unsigned long long>, unsigned long long)
ATOMICS(trial_atomic_float, sums<float>, float)
ATOMICS(trial_atomic_double, sums<double>, double)
ATOMICS(trial_atomic_wraps, wraps, unsigned)
