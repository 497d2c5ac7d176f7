/* Blocks that wait for one another. */
#include "backend/gpu.h"
#include "sim/trials.h"

#define OUT(type) ((type *)task->arrays[1].data)
#define IN(type) ((const type *)task->arrays[0].data)

/* Long enough for other blocks to begin and to wait. */
static __device__ void linger() {
  for (int k = 0; k < 8; k++) __nanosleep(20);
}

/* scratch: a lock. out[0]: one more for every block. */
template <bool ByExchange>
static __global__ void locked(unsigned *lock, int *out) {
  if (threadIdx.x != 0) return;
  if (ByExchange)
    while (atomicExch(lock, 1u) != 0) continue;
  else
    while (atomicCAS(lock, 0u, 1u) != 0) continue;
  __threadfence();
  const int before = out[0];
  linger(); /* the others shall come and find it locked */
  out[0] = before + 1;
  __threadfence();
  atomicExch(lock, 0u);
}

/* Prefix sums over blocks, each the next one's to wait for: scratch holds a ticket, then a flag and
 * a sum a block. Static shared memory is in use while a block waits. */
static __global__ void look_back(unsigned *scratch, const int *in, int *out) {
  __shared__ int values[64];
  __shared__ unsigned ticket;
  __shared__ int before;
  unsigned *flags = scratch + 1;
  int *sums = (int *)(scratch + 1 + TRIAL_BLOCKS);
  const int at = (int)threadIdx.x;
  if (at == 0) ticket = atomicAdd(scratch, 1u);
  __syncthreads();
  const int block = (int)ticket;
  values[at] = in[block * 64 + at];
  __syncthreads();
  if (at == 0) {
    int sum = 0;
    for (int k = 0; k < 64; k++) sum += values[k];
    linger();
    if (block > 0)
      while (rung_load_acquire(&flags[block - 1]) == 0) continue;
    before = block > 0 ? sums[block - 1] : 0;
    sums[block] = before + sum;
    rung_store_release(&flags[block], 1u);
  }
  __syncthreads();
  int sum = before;
  for (int k = 0; k <= at; k++) sum += values[k];
  out[block * 64 + at] = sum;
}

/* As many blocks as the device holds, all of which must have come before any goes on. */
static __global__ void meet(unsigned *count, int *out) {
  if (threadIdx.x == 0) {
    atomicAdd(count, 1u);
    while (rung_load_acquire(count) < gridDim.x) continue;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

extern "C" {

rung_status RUNG_ENTRY(trial_lock_by_compare)(const rung_task *task) {
  RUNG_LAUNCH(task, (locked<false>), TRIAL_BLOCKS, 32, 0, (unsigned *)task->scratch, OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_lock_by_exchange)(const rung_task *task) {
  RUNG_LAUNCH(task, (locked<true>), TRIAL_BLOCKS, 32, 0, (unsigned *)task->scratch, OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_look_back)(const rung_task *task) {
  RUNG_LAUNCH(task, look_back, TRIAL_BLOCKS, 64, 0, (unsigned *)task->scratch, IN(int), OUT(int));
  return RUNG_OK;
}

/* One block a multiprocessor: its shared memory fills it. out has room for 1024. */
rung_status RUNG_ENTRY(trial_whole_device)(const rung_task *task) {
  const size_t most = (size_t)task->device->shared_bytes;
  int each = 0;
  RUNG_ALLOW_SHARED(task, meet, most);
  RUNG_RESIDENT_BLOCKS(task, meet, 64, most, &each);
  RUNG_LAUNCH(task, meet, (unsigned)(each * task->device->processors), 64, most,
              (unsigned *)task->scratch, OUT(int));
  return RUNG_OK;
}
}
