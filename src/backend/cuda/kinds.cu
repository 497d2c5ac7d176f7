/* Kinds of host memory: ordinary, pinned in three ways, managed. */
#include <stdlib.h>

#include "backend/cuda/state.h"

static rung_status no_memory(const char *kind, size_t bytes, rung_error *error) {
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s of %s host memory cannot be had",
                   rung_cuda_size_of((double)bytes).text, kind);
}

static rung_status refused(cudaError_t code, const char *kind, size_t bytes, rung_error *error) {
  if (code != cudaErrorMemoryAllocation && code != cudaErrorInvalidValue)
    return rung_cuda_failed(error, code, "allocating %zu bytes of %s host memory", bytes, kind);
  (void)cudaGetLastError();
  return no_memory(kind, bytes, error);
}

static rung_status allocate_pinned_as(unsigned flags, const char *kind, size_t bytes, void **memory,
                                      void **device, rung_error *error) {
  void *made = NULL, *seen = NULL;
  cudaError_t code = cudaHostAlloc(&made, bytes, flags);
  if (code != cudaSuccess) return refused(code, kind, bytes, error);
  if (flags & cudaHostAllocMapped) code = cudaHostGetDevicePointer(&seen, made, 0);
  if (code != cudaSuccess) {
    (void)cudaFreeHost(made);
    return rung_cuda_failed(error, code, "finding %s host memory on the device", kind);
  }
  *memory = made;
  *device = seen;
  return RUNG_OK;
}

/* No more than the device has free: pages that cannot stay there would go to and fro. */
static rung_status allocate_managed(rung_state *state, size_t bytes, void **memory, void **device,
                                    rung_error *error) {
  int64_t available = 0;
  void *made = NULL;
  RUNG_CHECK(rung_cuda_available(state, &available, error));
  if ((int64_t)bytes > available || available < 0) return no_memory("managed", bytes, error);
  const cudaError_t code = cudaMallocManaged(&made, bytes, cudaMemAttachGlobal);
  if (code != cudaSuccess) return refused(code, "managed", bytes, error);
  *memory = *device = made;
  return RUNG_OK;
}

rung_status rung_cuda_allocate_kind(rung_state *state, rung_memory kind, size_t bytes,
                                    void **memory, void **device, rung_error *error) {
  *memory = *device = NULL;
  const size_t least = bytes ? bytes : 1;
  if (kind == RUNG_PAGEABLE) {
    if (posix_memalign(memory, 256, least) == 0) return RUNG_OK;
    *memory = NULL;
    return no_memory("pageable", bytes, error);
  }
  RUNG_CHECK(rung_cuda_enter(state, error));
  const rung_cuda_beside_capture passes;
  switch (kind) {
    case RUNG_PINNED:
      return allocate_pinned_as(cudaHostAllocDefault, "pinned", least, memory, device, error);
    case RUNG_WRITE_COMBINED:
      return allocate_pinned_as(cudaHostAllocWriteCombined, "write-combined", least, memory, device,
                                error);
    case RUNG_MAPPED:
      return allocate_pinned_as(cudaHostAllocMapped, "mapped", least, memory, device, error);
    default:
      return allocate_managed(state, least, memory, device, error);
  }
}

void rung_cuda_release_kind(rung_state *state, rung_memory kind, void *memory) {
  if (!memory) return;
  if (kind == RUNG_PAGEABLE) {
    free(memory);
    return;
  }
  (void)rung_cuda_enter(state, NULL);
  const cudaError_t code = kind == RUNG_MANAGED ? cudaFree(memory) : cudaFreeHost(memory);
  if (code != cudaSuccess) (void)cudaGetLastError();
}
