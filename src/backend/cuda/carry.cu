/* carry: bytes between any two places of the process's memory, the host's or whatever device's.
 *
 * A copy between two devices takes the driver 10 us or more to begin, and longer while other
 * threads begin theirs. So copies that a kernel may read by itself are one kernel: those from the
 * state's device, or from another one whose memory it reaches, to its own. It reaches all memory of
 * cudaMalloc(), once it has asked to; of memory from pools, or mapped, it need not. */
#include "backend/cuda/state.h"

enum { CARRY_LOADS = 64, CARRY_THREADS = 256, CARRY_BLOCKS = 512, CARRY_RUN = 16 };

struct carry_list {
  rung_load at[CARRY_LOADS];
};

/* A row of blocks a load. Where both sides are aligned alike it goes by 16 bytes. */
static __global__ void carry_all(carry_list list) {
  const rung_load load = list.at[blockIdx.y];
  char *to = (char *)load.to;
  const char *from = (const char *)load.from;
  const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t step = (size_t)gridDim.x * blockDim.x;
  size_t done = 0;
  if (((uintptr_t)to | (uintptr_t)from) % CARRY_RUN == 0) {
    const size_t runs = load.bytes / CARRY_RUN;
    for (size_t i = first; i < runs; i += step) ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    done = runs * CARRY_RUN;
  } else if (((uintptr_t)to | (uintptr_t)from) % 4 == 0) {
    const size_t words = load.bytes / 4;
    for (size_t i = first; i < words; i += step) ((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
    done = words * 4;
  }
  for (size_t i = done + first; i < load.bytes; i += step) to[i] = from[i];
}

typedef CUresult attributes_function(unsigned count, CUpointer_attribute *attributes, void **data,
                                     CUdeviceptr pointer);

/* The piece of memory that a pointer is in. */
struct carry_memory {
  CUdeviceptr begin;
  size_t bytes;
  int device;  /* -1: the host's, or of a driver that cannot be asked */
  bool pooled; /* cudaMalloc() has not made it: another device's kernels need not reach it */
};

static carry_memory memory_of(const void *at) {
  static attributes_function *const ask =
      (attributes_function *)rung_cuda_driver_function("cuPointerGetAttributes", 11030);
  CUpointer_attribute wanted[5] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
      CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
      CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  carry_memory found = {0, 0, -1, false};
  unsigned type = 0;
  int sharable = 0;
  void *data[5] = {&type, &found.device, &sharable, &found.begin, &found.bytes};
  if (ask == NULL || ask(5, wanted, data, (CUdeviceptr)(uintptr_t)at) != CUDA_SUCCESS ||
      type != CU_MEMORYTYPE_DEVICE)
    return carry_memory{0, 0, -1, false};
  found.pooled = !sharable;
  return found;
}

static bool has(const carry_memory &memory, const void *at) {
  return (CUdeviceptr)(uintptr_t)at - memory.begin < memory.bytes;
}

/* Where another device's memory can be reached, it is; where not, the driver copies by way of the
 * host. */
static void reach(rung_state *state, int device) {
  int can = 0;
  if (device < 0 || device == state->device || device >= 64 || (state->tried >> device & 1)) return;
  state->tried |= 1ull << device;
  if (cudaDeviceCanAccessPeer(&can, state->device, device) == cudaSuccess && can) {
    const cudaError_t code = cudaDeviceEnablePeerAccess(device, 0);
    if (code == cudaSuccess || code == cudaErrorPeerAccessAlreadyEnabled)
      state->reached |= 1ull << device;
  }
  (void)cudaGetLastError();
}

/* Whether a kernel of the state's may write the one and read the other. */
static bool is_in_reach(const rung_state *state, const carry_memory &to, const carry_memory &from) {
  if (to.device != state->device || from.device < 0) return false;
  if (from.device == state->device) return true;
  return !from.pooled && from.device < 64 && (state->reached >> from.device & 1);
}

static rung_status copy(rung_state *state, const rung_load *load, rung_error *error) {
  RUNG_CUDA_CHECK(
      error, cudaMemcpyAsync(load->to, load->from, load->bytes, cudaMemcpyDefault, state->beside),
      "copying %zu bytes between devices", load->bytes);
  return RUNG_OK;
}

static rung_status launch(rung_state *state, const carry_list *list, int count, size_t most,
                          rung_error *error) {
  const size_t row = CARRY_THREADS * CARRY_RUN, wanted = (most + row - 1) / row;
  const size_t blocks = wanted < (size_t)(CARRY_BLOCKS / count) ? wanted : CARRY_BLOCKS / count;
  carry_all<<<dim3((unsigned)blocks, (unsigned)count), CARRY_THREADS, 0, state->beside>>>(*list);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel carry");
  return RUNG_OK;
}

/* Long copies are the driver's, which has engines for them. */
enum { CARRY_MOST = 8 << 20 };
rung_status rung_cuda_carry(rung_state *state, const rung_load *loads, int count,
                            rung_error *error) {
  carry_list list;
  carry_memory to = {0, 0, -1, false};
  int taken = 0;
  size_t most = 0;
  RUNG_CHECK(rung_cuda_enter_beside(state, error));
  for (int i = 0; i < count; i++) {
    const rung_load *load = &loads[i];
    if (load->bytes == 0) continue;
    if (!has(to, load->to)) to = memory_of(load->to); /* mostly where the last one went to */
    const carry_memory from = memory_of(load->from);
    reach(state, from.device);
    reach(state, to.device);
    if (taken == CARRY_LOADS || load->bytes > CARRY_MOST || !is_in_reach(state, to, from)) {
      RUNG_CHECK(copy(state, load, error));
      continue;
    }
    list.at[taken++] = *load;
    if (load->bytes > most) most = load->bytes;
  }
  if (taken > 0) RUNG_CHECK(launch(state, &list, taken, most, error));
  RUNG_CUDA_CHECK(error, cudaStreamSynchronize(state->beside),
                  "copies queued earlier on CUDA device %d", state->device);
  return RUNG_OK;
}
