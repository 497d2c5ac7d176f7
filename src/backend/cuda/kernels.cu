/* What the runtime says of a kernel: kept with the opened device, as to ask it in every call takes
 * longer than all else that a call does before it launches. */
#include "backend/cuda/state.h"
#include "backend/cuda/surface.h"

/* The place of what was said; what was said of another kernel there is forgotten. */
static rung_cuda_said *place_of(rung_state *state, const void *kernel, int threads, size_t bytes) {
  const uintptr_t number = (uintptr_t)kernel / 16 + (uintptr_t)threads * 5 + bytes / 64;
  return &state->said[number % RUNG_CUDA_SAID];
}

/* All that a block can have: how much other launches of the kernel, of other threads maybe, were
 * allowed is then the same. */
rung_status rung_cuda_allow_shared(const rung_task *task, const void *kernel, size_t bytes) {
  rung_cuda_said *said = place_of(task->state, kernel, 0, 0);
  if (said->kernel == kernel && said->threads == 0) return RUNG_OK;
  cudaFuncAttributes attributes;
  RUNG_CUDA_TRY(task, cudaFuncGetAttributes(&attributes, kernel));
  int64_t most = task->device->shared_bytes - (int64_t)attributes.sharedSizeBytes;
  if (most < (int64_t)bytes) most = (int64_t)bytes; /* refused below, by name */
  RUNG_CUDA_TRY(
      task, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most));
  *said = {kernel, 0, 0, 0};
  return RUNG_OK;
}

/* -1 threads: of no launch. */
rung_status rung_cuda_may_begin_early(const rung_task *task, const void *kernel, bool *may) {
  rung_cuda_said *said = place_of(task->state, kernel, -1, 0);
  if (said->kernel != kernel || said->threads != -1) {
    cudaFuncAttributes attributes;
    RUNG_CUDA_TRY(task, cudaFuncGetAttributes(&attributes, kernel));
    *said = {kernel, -1, 0, attributes.ptxVersion >= 90};
  }
  *may = said->blocks != 0;
  return RUNG_OK;
}

rung_status rung_cuda_resident_blocks(const rung_task *task, const void *kernel, int threads,
                                      size_t bytes, int *blocks) {
  rung_cuda_said *said = place_of(task->state, kernel, threads, bytes);
  if (said->kernel != kernel || said->threads != threads || said->shared_bytes != bytes) {
    int found = 0;
    RUNG_CUDA_TRY(task,
                  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, kernel, threads, bytes));
    *said = {kernel, threads, bytes, found};
  }
  *blocks = said->blocks;
  return RUNG_OK;
}
