/* The CUDA backend: its table, opened devices, memory and copies. */
#include <stdlib.h>

#include "backend/clocks.h"
#include "backend/cuda/state.h"

static __global__ void present() {}

/* Whether the build holds code this device runs: asked of the smallest kernel. */
static rung_status check_code(const rung_device *device, rung_error *error) {
  cudaFuncAttributes attributes;
  cudaError_t code = cudaFuncGetAttributes(&attributes, present);
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction ||
      code == cudaErrorUnsupportedPtxVersion) {
    (void)cudaGetLastError();
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "this build holds no kernels that %s (compute capability %d.%d) can run (%s)",
                     device->name, device->capability / 10, device->capability % 10,
                     cudaGetErrorName(code));
  }
  RUNG_CUDA_CHECK(error, code, "loading a kernel on %s", device->name);
  return RUNG_OK;
}

static void close_state(rung_state *state) {
  if (!state) return;
  (void)rung_cuda_enter(state, NULL);
  (void)rung_cuda_release_hold(state, NULL);
  if (state->stream) (void)cudaStreamSynchronize(state->stream);
  if (state->beside) {
    (void)cudaStreamSynchronize(state->beside);
    (void)cudaStreamDestroy(state->beside);
  }
  for (int e = 0; e < RUNG_EVENTS; e++)
    if (state->events[e]) (void)cudaEventDestroy(state->events[e]);
  rung_cuda_textures_end(state);
  rung_cuda_measuring_end(state);
  rung_cuda_streams_end(state);
  (void)cudaGetLastError();
  free(state);
}

static rung_status open_state(const rung_device *device, void *stream, rung_state **state,
                              rung_error *error) {
  *state = NULL;
  rung_state *made = (rung_state *)calloc(1, sizeof *made);
  if (!made) return rung_fail(error, RUNG_OUT_OF_MEMORY, "host memory ran out opening a device");
  made->device = device->index;
  made->processors = device->processors;
  made->memory_bytes = device->memory_bytes;
  made->cache_bytes = device->cache_bytes;
  rung_status status = rung_cuda_find_context(made, error);
  if (status == RUNG_OK) status = rung_cuda_enter(made, error);
  if (status == RUNG_OK) status = check_code(device, error);
  if (status == RUNG_OK) status = rung_cuda_take_stream(made, stream, error);
  if (status != RUNG_OK) {
    close_state(made);
    return status;
  }
  *state = made;
  return RUNG_OK;
}

/* Whoever asks for the stream is about to launch on it, which needs its device to be current. */
static void *stream_of(rung_state *state) {
  (void)rung_cuda_enter(state, NULL);
  return state->stream;
}

static rung_status synchronize(rung_state *state, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter(state, error));
  RUNG_CUDA_CHECK(error, cudaStreamSynchronize(state->stream),
                  "work queued earlier on CUDA device %d", state->device);
  if (state->beside)
    RUNG_CUDA_CHECK(error, cudaStreamSynchronize(state->beside),
                    "copies queued earlier on CUDA device %d", state->device);
  /* A launch that was refused queued no work: only the thread's own record knows of it. */
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "a launch earlier on CUDA device %d was refused",
                  state->device);
  return rung_cuda_held_too_long(state, error);
}

/* Out of memory, with how much was asked for and how much is free. */
static rung_status no_memory(rung_state *state, size_t bytes, rung_error *error) {
  (void)cudaGetLastError();
  size_t free_bytes = 0, total = 0;
  if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) {
    (void)cudaGetLastError();
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s of GPU memory cannot be had",
                     rung_cuda_size_of((double)bytes).text);
  }
  return rung_fail(error, RUNG_OUT_OF_MEMORY,
                   "%s of GPU memory cannot be had: %s of %s are free on CUDA device %d",
                   rung_cuda_size_of((double)bytes).text,
                   rung_cuda_size_of((double)free_bytes).text,
                   rung_cuda_size_of((double)total).text, state->device);
}

rung_status rung_cuda_allocate(rung_state *state, size_t bytes, void **memory, rung_error *error) {
  *memory = NULL;
  RUNG_CHECK(rung_cuda_enter(state, error));
  /* More than there is at all: not left to the runtime, which rounds sizes up. */
  if (bytes > (size_t)state->memory_bytes) return no_memory(state, bytes, error);
  void *made = NULL;
  const rung_cuda_beside_capture passes;
  cudaError_t code = cudaMalloc(&made, bytes ? bytes : 1);
  if (code == cudaErrorMemoryAllocation) return no_memory(state, bytes, error);
  RUNG_CUDA_CHECK(error, code, "allocating %zu bytes of GPU memory", bytes);
  *memory = made;
  return RUNG_OK;
}

void rung_cuda_release(rung_state *state, void *memory) {
  if (!memory) return;
  (void)rung_cuda_enter(state, NULL);
  if (cudaFree(memory) != cudaSuccess) (void)cudaGetLastError();
}

static rung_status graph_allocate(rung_state *state, size_t bytes, void **memory,
                                  rung_error *error) {
  *memory = NULL;
  RUNG_CHECK(rung_cuda_enter(state, error));
  if (bytes > (size_t)state->memory_bytes) return no_memory(state, bytes, error);
  const cudaError_t code = cudaMallocAsync(memory, bytes, state->stream);
  if (code == cudaErrorMemoryAllocation) return no_memory(state, bytes, error);
  RUNG_CUDA_CHECK(error, code, "allocating %zu bytes of GPU memory for a graph", bytes);
  return RUNG_OK;
}

static rung_status graph_release(rung_state *state, void *memory, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter(state, error));
  RUNG_CUDA_CHECK(error, cudaFreeAsync(memory, state->stream), "freeing GPU memory of a graph");
  return RUNG_OK;
}

rung_status rung_cuda_available(rung_state *state, int64_t *bytes, rung_error *error) {
  *bytes = 0;
  RUNG_CHECK(rung_cuda_enter(state, error));
  size_t free_bytes = 0, total = 0;
  RUNG_CUDA_CHECK(error, cudaMemGetInfo(&free_bytes, &total), "asking how much memory is free");
  *bytes = (int64_t)free_bytes;
  return RUNG_OK;
}

static rung_status copy_on(cudaStream_t stream, void *to, const void *from, size_t bytes,
                           rung_copy way, rung_error *error) {
  static const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                         cudaMemcpyDeviceToDevice};
  static const char *const ways[] = {"to the device", "to the host", "on the device"};
  if (bytes == 0) return RUNG_OK;
  RUNG_CUDA_CHECK(error, cudaMemcpyAsync(to, from, bytes, kinds[way], stream),
                  "copying %zu bytes %s", bytes, ways[way]);
  return RUNG_OK;
}

rung_status rung_cuda_copy(rung_state *state, void *to, const void *from, size_t bytes,
                           rung_copy way, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter(state, error));
  return copy_on(state->stream, to, from, bytes, way, error);
}

rung_status rung_cuda_fill(rung_state *state, void *memory, unsigned char byte, size_t bytes,
                           rung_error *error) {
  RUNG_CHECK(rung_cuda_enter(state, error));
  if (bytes == 0) return RUNG_OK;
  RUNG_CUDA_CHECK(error, cudaMemsetAsync(memory, byte, bytes, state->stream),
                  "filling %zu bytes of GPU memory", bytes);
  return RUNG_OK;
}

static rung_status allocate_pinned(rung_state *state, size_t bytes, void **memory,
                                   rung_error *error) {
  *memory = NULL;
  RUNG_CHECK(rung_cuda_enter(state, error));
  void *made = NULL;
  const rung_cuda_beside_capture passes;
  cudaError_t code = cudaMallocHost(&made, bytes ? bytes : 1);
  if (code == cudaErrorMemoryAllocation || code == cudaErrorInvalidValue) {
    (void)cudaGetLastError();
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s of pinned host memory cannot be had",
                     rung_cuda_size_of((double)bytes).text);
  }
  RUNG_CUDA_CHECK(error, code, "allocating %zu bytes of pinned host memory", bytes);
  *memory = made;
  return RUNG_OK;
}

static void release_pinned(rung_state *state, void *memory) {
  if (!memory) return;
  (void)rung_cuda_enter(state, NULL);
  if (cudaFreeHost(memory) != cudaSuccess) (void)cudaGetLastError();
}

/* ---- copies beside the work -------------------------------------------------------------------
 */

rung_status rung_cuda_enter_beside(rung_state *state, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter(state, error));
  if (state->beside) return RUNG_OK;
  for (int e = 0; e < RUNG_EVENTS; e++)
    if (!state->events[e])
      RUNG_CUDA_CHECK(error, cudaEventCreateWithFlags(&state->events[e], cudaEventDisableTiming),
                      "making an event");
  RUNG_CUDA_CHECK(error, cudaStreamCreateWithFlags(&state->beside, cudaStreamNonBlocking),
                  "making a stream for copies");
  return RUNG_OK;
}

static cudaStream_t stream_for(const rung_state *state, rung_queue queue) {
  return queue == RUNG_WORK ? state->stream : state->beside;
}

static rung_status copy_beside(rung_state *state, void *to, const void *from, size_t bytes,
                               rung_copy way, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter_beside(state, error));
  return copy_on(state->beside, to, from, bytes, way, error);
}

static rung_status record(rung_state *state, rung_queue queue, int event, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter_beside(state, error));
  RUNG_CUDA_CHECK(error, cudaEventRecord(state->events[event], stream_for(state, queue)),
                  "recording an event");
  return RUNG_OK;
}

static rung_status await(rung_state *state, rung_queue queue, int event, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter_beside(state, error));
  RUNG_CUDA_CHECK(error, cudaStreamWaitEvent(stream_for(state, queue), state->events[event], 0),
                  "making a stream wait for an event");
  return RUNG_OK;
}

static rung_status wait(rung_state *state, int event, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter_beside(state, error));
  RUNG_CUDA_CHECK(error, cudaEventSynchronize(state->events[event]),
                  "copies or work queued earlier on CUDA device %d", state->device);
  return RUNG_OK;
}

/* The runtime before CUDA 11 called memory that it does not know an error. */
static bool is_pinned(rung_state *state, const void *memory) {
  cudaPointerAttributes attributes;
  (void)state;
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

/* Where it fails, calls try it again, and say so. */
static void settle(rung_state *state) {
  (void)rung_cuda_make_current(state, NULL);
}

static rung_status read_clocks(rung_state *state, rung_ticks *to, int64_t cycles,
                               rung_error *error) {
  RUNG_CHECK(rung_cuda_enter(state, error));
  rung_task task = {};
  task.stream = state->stream;
  task.error = error;
  return rung_clocks_cuda(&task, to, cycles);
}

/* In the order of backend.h: C++17 has no named initializers. */
const rung_backend rung_cuda_backend = {
    RUNG_CUDA,
    "cuda",
    rung_cuda_count,
    rung_cuda_describe,
    rung_cuda_facts,
    rung_cuda_arrive,
    rung_cuda_depart,
    settle,
    cudaStreamLegacy,
    open_state,
    close_state,
    stream_of,
    synchronize,
    rung_cuda_enter_stream,
    rung_cuda_leave_stream,
    rung_cuda_is_capturing,
    graph_allocate,
    graph_release,
    rung_cuda_allocate,
    rung_cuda_release,
    rung_cuda_available,
    rung_cuda_copy,
    rung_cuda_fill,
    rung_cuda_pack,
    RUNG_MAX_DIMS,
    rung_cuda_ramp,
    rung_cuda_carry,
    rung_cuda_flush,
    rung_cuda_mark,
    rung_cuda_elapsed,
    rung_cuda_hold,
    rung_cuda_release_hold,
    rung_cuda_clock_begin,
    rung_cuda_clock_end,
    rung_cuda_clock_mhz,
    rung_cuda_probe,
    allocate_pinned,
    release_pinned,
    copy_beside,
    record,
    await,
    wait,
    is_pinned,
    NULL, /* examine, guard, profile_begin, profile_end: hardware does not look into kernels */
    NULL,
    NULL,
    NULL,
    rung_cuda_allocate_kind,
    rung_cuda_release_kind,
    read_clocks,
};
