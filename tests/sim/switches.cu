/* A kernel that does nothing but meet: what a thread's turn costs the simulator. */
#include "backend/gpu.h"

static __global__ void switches_kernel(int barriers, float *out) {
  RUNG_DYNAMIC_SHARED(float, shared);
  for (int i = 0; i < barriers; ++i) {
    shared[threadIdx.x] = (float)i;
    __syncthreads();
  }
  out[threadIdx.x] = shared[threadIdx.x];
}

extern "C" rung_status RUNG_ENTRY(switches)(const rung_task *task) {
  const int *shape = (const int *)task->problem; /* blocks, threads, barriers */
  RUNG_LAUNCH(task, switches_kernel, (unsigned)shape[0], (unsigned)shape[1],
              (size_t)shape[1] * sizeof(float), shape[2], (float *)task->scratch);
  return RUNG_OK;
}
