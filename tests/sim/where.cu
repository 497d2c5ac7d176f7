/* Where a thread is, what memory its block has, how far its barriers reach. */
#include "backend/gpu.h"
#include "sim/trials.h"

#define IN(type) ((const type *)task->arrays[0].data)
#define OUT(type) ((type *)task->arrays[1].data)

/* out: (blocks, threads, 12) in the order of the linear index. */
static __global__ void places(unsigned *out) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned *to = out + 12 * (block * blockDim.x * blockDim.y * blockDim.z + thread);
  to[0] = threadIdx.x, to[1] = threadIdx.y, to[2] = threadIdx.z;
  to[3] = blockIdx.x, to[4] = blockIdx.y, to[5] = blockIdx.z;
  to[6] = blockDim.x, to[7] = blockDim.y, to[8] = blockDim.z;
  to[9] = gridDim.x, to[10] = gridDim.y, to[11] = gridDim.z;
}

/* out, in: (blocks, threads); every block's row turned round. */
template <typename T>
static __global__ void turn_static(const int *in, int *out) {
  __shared__ T row[128];
  __shared__ T last;
  const int i = (int)(blockIdx.x * 128 + threadIdx.x);
  row[threadIdx.x] = (T)in[i];
  if (threadIdx.x == 127) last = (T)in[i];
  __syncthreads();
  out[i] = (int)(threadIdx.x == 0 ? last : row[127 - threadIdx.x]);
}

template <typename T>
static __global__ void turn_dynamic(const T *in, T *out) {
  RUNG_DYNAMIC_SHARED(T, row);
  const int threads = (int)blockDim.x, i = (int)blockIdx.x * threads + (int)threadIdx.x;
  for (int k = 0; k < 16; k++) row[k * threads + (int)threadIdx.x] = in[i];
  __syncthreads();
  out[i] = row[15 * threads + threads - 1 - (int)threadIdx.x];
}

static __constant__ int table[64];

static __global__ void from_constant(int *out) {
  out[threadIdx.x] = table[63 - threadIdx.x];
}

/* Values wander once around the block, a barrier a step. */
static __global__ void wander(const int *in, int *out) {
  __shared__ int ring[2][1024];
  const int at = (int)threadIdx.x, threads = (int)blockDim.x;
  ring[0][at] = in[at];
  __syncthreads();
  for (int step = 0; step < threads; step++) {
    ring[(step + 1) % 2][(at + 1) % threads] = ring[step % 2][at] + 1;
    __syncthreads();
  }
  out[at] = ring[threads % 2][at];
}

/* A large array of each thread's own, kept across barriers. */
static __global__ void local(int *out) {
  int own[8192];
  for (int k = 0; k < 8192; k++) own[k] = k * ((int)threadIdx.x + 1);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 8192; k += 1 + (own[k] & 1)) sum += own[k];
  __syncthreads();
  out[threadIdx.x] = sum;
}

static __global__ void clocks(int *out) {
  long long before = clock64();
  bool good = true;
  for (int k = 0; k < 100; k++) {
    if (k % 10 == 0) __syncthreads();
    const long long now = clock64();
    good = good && now >= before;
    before = now;
  }
  out[threadIdx.x] = good;
}

/* Every thread keeps to a place of its own, another one in another launch. */
static __global__ void own_place(int by, int *out) {
  RUNG_DYNAMIC_SHARED(int, row);
  const int at = (int)(threadIdx.x + (unsigned)by) % 64;
  row[at] = by;
  out[threadIdx.x] = row[at];
}

/* In shared memory each thread has 8 numbers of its own. */
static __global__ void fill_own(int *out) {
  __shared__ __align__(16) int row[64 * 8];
  int *own = row + 8 * threadIdx.x;
  for (int k = 0; k < 8; k++) own[k] = k;
  out[threadIdx.x] = own[7];
}

/* And reads four of them, from `from` on and `step` apart. */
static __global__ void add_own(int from, int step, int *out) {
  __shared__ __align__(16) int row[64 * 8];
  const int *own = row + 8 * threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 4; k++) sum += own[from + k * step];
  out[threadIdx.x] = sum;
}

/* Four numbers that begin now here, now there between multiples of 16 bytes. */
static __global__ void add_anywhere(int *out) {
  __shared__ __align__(16) int row[64 * 9];
  const int *own = row + 9 * threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 4; k++) sum += own[k];
  out[threadIdx.x] = sum;
}

/* 8 bytes each, in the same two banks: neighbours want the same, or everyone something else. */
static __global__ void meet(bool neighbours, int *out) {
  __shared__ __align__(16) double row[32 * 16];
  const unsigned lane = threadIdx.x % 32;
  row[lane * 16] = lane; /* of both warps the same */
  __syncthreads();
  out[threadIdx.x] = (int)row[(neighbours ? lane / 4 : lane) * 16];
}

/* 256 bytes, 16 a thread, to where sectors of shared memory begin or 16 bytes further. */
static __global__ void copy_beside(int beside, int *out) {
  __shared__ __align__(32) int4 row[32];
  if (threadIdx.x < 16) {
    rung_copy_async(&row[(int)threadIdx.x + beside], (const int4 *)out + threadIdx.x);
    rung_copy_async_commit();
    rung_copy_async_wait<0>();
  }
}

/* Structures of 32 bytes, one a thread. */
struct __align__(16) trial_quad {
  double x, y, z, w;
};
static __global__ void copy_quads(int *out) {
  __shared__ trial_quad quads[64];
  trial_quad quad = {};
  quad.x = (double)out[threadIdx.x];
  quads[threadIdx.x] = quad;
  out[threadIdx.x] = (int)quads[threadIdx.x].w;
}

static __global__ void nothing() {}

extern "C" {

rung_status RUNG_ENTRY(trial_places)(const rung_task *task) {
  RUNG_LAUNCH(task, places, dim3(3, 2, 2), dim3(4, 3, 5), 0, OUT(unsigned));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_static_shared)(const rung_task *task) {
  RUNG_LAUNCH(task, (turn_static<double>), 5, 128, 0, IN(int), OUT(int));
  RUNG_LAUNCH(task, (turn_static<short>), 5, 128, 0, IN(int) + 640, OUT(int) + 640);
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_dynamic_shared)(const rung_task *task) {
  const size_t bytes = 16 * 512 * sizeof(double);
  RUNG_ALLOW_SHARED(task, (turn_dynamic<double>), bytes);
  RUNG_LAUNCH(task, (turn_dynamic<double>), 3, 512, bytes, IN(double), OUT(double));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_constant)(const rung_task *task) {
  int values[64];
  for (int k = 0; k < 64; k++) values[k] = 3 * k;
  RUNG_COPY_TO_CONSTANT(task, table, values, sizeof values);
  RUNG_LAUNCH(task, from_constant, 1, 64, 0, OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_barriers)(const rung_task *task) {
  RUNG_LAUNCH(task, wander, 1, 1024, 0, IN(int), OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_local)(const rung_task *task) {
  RUNG_LAUNCH(task, local, 1, 64, 0, OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_clock)(const rung_task *task) {
  RUNG_LAUNCH(task, clocks, 1, 96, 0, OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_own_place)(const rung_task *task) {
  RUNG_LAUNCH(task, own_place, 1, 64, 64 * sizeof(int), *(const int *)task->problem, OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_joined)(const rung_task *task) {
  const int which = *(const int *)task->problem;
  if (which == 0) RUNG_LAUNCH(task, fill_own, 1, 64, 0, OUT(int));
  if (which == 1) RUNG_LAUNCH(task, add_own, 1, 64, 0, 0, 1, OUT(int));
  if (which == 2) RUNG_LAUNCH(task, add_own, 1, 64, 0, 1, 1, OUT(int));
  if (which == 3) RUNG_LAUNCH(task, add_own, 1, 64, 0, 0, 2, OUT(int));
  if (which == 4) RUNG_LAUNCH(task, copy_quads, 1, 64, 0, OUT(int));
  if (which == 5) RUNG_LAUNCH(task, add_anywhere, 1, 64, 0, OUT(int));
  if (which == 6) RUNG_LAUNCH(task, meet, 1, 64, 0, true, OUT(int));
  if (which == 7) RUNG_LAUNCH(task, meet, 1, 64, 0, false, OUT(int));
  if (which == 8) RUNG_LAUNCH(task, copy_beside, 1, 64, 0, 0, OUT(int));
  if (which == 9) RUNG_LAUNCH(task, copy_beside, 1, 64, 0, 1, OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_shape)(const rung_task *task) {
  const shape_trial *p = (const shape_trial *)task->problem;
  if (p->allowed > 0) RUNG_ALLOW_SHARED(task, nothing, p->allowed);
  RUNG_LAUNCH(task, nothing, dim3(p->grid[0], p->grid[1], p->grid[2]),
              dim3(p->block[0], p->block[1], p->block[2]), p->shared);
  return RUNG_OK;
}
}
