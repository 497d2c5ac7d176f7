/* The slips and their twins. LINES stands before a kernel and counts from its own line. */
#include "backend/gpu.h"
#include "cheats/slips.h"

#define LINES(name, first, second) \
  const int RUNG_ENTRY(name##_lines)[2] = {__LINE__ + (first), __LINE__ + (second)}

#define WHERE                                                              \
  const int at = (int)threadIdx.x;                                         \
  const int64_t first = (int64_t)blockIdx.x * SLIPS_BLOCK, i = first + at; \
  RUNG_DYNAMIC_SHARED(float, tile);                                        \
  (void)at, (void)i, (void)tile, (void)scratch

#define KERNEL(name)     \
  template <bool Mended> \
  static __global__ void name(int64_t n, const float *in, float *out, float *scratch)

struct job {
  int64_t n;
  const float *in;
  float *out, *scratch;
  unsigned blocks;
};

static job job_of(const rung_task *task) {
  const int64_t n = task->arrays[0].count;
  return {n, (const float *)task->arrays[0].data, (float *)task->arrays[1].data,
          (float *)task->scratch, (unsigned)((n + SLIPS_BLOCK - 1) / SLIPS_BLOCK)};
}

#define ENTRY(entry, kernel)                                                                       \
  extern "C" rung_status RUNG_ENTRY(entry)(const rung_task *task) {                                \
    const job job = job_of(task);                                                                  \
    RUNG_FILL_ON_DEVICE(task, job.scratch, 0, SLIPS_SCRATCH);                                      \
    RUNG_LAUNCH(task, kernel, job.blocks, SLIPS_BLOCK, SLIPS_BLOCK * sizeof(float), job.n, job.in, \
                job.out, job.scratch);                                                             \
    return RUNG_OK;                                                                                \
  }
#define ENTRIES(name)               \
  ENTRY(slip_##name, (name<false>)) \
  ENTRY(mend_##name, (name<true>))
/* Two launches, one after the other. */
#define ENTRY_THEN(entry, kernel, then)                                                            \
  extern "C" rung_status RUNG_ENTRY(entry)(const rung_task *task) {                                \
    const job job = job_of(task);                                                                  \
    RUNG_FILL_ON_DEVICE(task, job.scratch, 0, SLIPS_SCRATCH);                                      \
    RUNG_LAUNCH(task, kernel, job.blocks, SLIPS_BLOCK, SLIPS_BLOCK * sizeof(float), job.n, job.in, \
                job.out, job.scratch);                                                             \
    RUNG_LAUNCH(task, then, job.blocks, SLIPS_BLOCK, 0, job.n, job.in, job.out, job.scratch);      \
    return RUNG_OK;                                                                                \
  }

/* ---- races ---------------------------------------------------------------------------------- */

LINES(missing_barrier, 4, 6);
KERNEL(missing_barrier) {
  WHERE;
  const int other = SLIPS_BLOCK - 1 - at;
  if (i < n) tile[at] = in[i];
  if (Mended) __syncthreads();
  if (first + other < n) out[first + other] = 2 * tile[other];
}
ENTRIES(missing_barrier)

LINES(missing_syncwarp, 3, 5);
KERNEL(missing_syncwarp) {
  WHERE;
  if (i < n) tile[at] = in[i];
  if (Mended) __syncwarp();
  if (first + (at ^ 1) < n) out[first + (at ^ 1)] = 2 * tile[at ^ 1];
}
ENTRIES(missing_syncwarp)

/* Between blocks: what one puts, another takes. */
LINES(device_race, 4, 5);
KERNEL(device_race) {
  WHERE;
  const int64_t theirs = (i + SLIPS_BLOCK) % n;
  if (i < n) scratch[i] = in[i];
  if (!Mended && i < n) out[theirs] = 2 * scratch[theirs];
}
KERNEL(take) {
  WHERE;
  const int64_t theirs = (i + SLIPS_BLOCK) % n;
  if (i < n) out[theirs] = 2 * scratch[theirs];
}
ENTRY(slip_device_race, device_race<false>)
ENTRY_THEN(mend_device_race, device_race<true>, take<true>)

LINES(device_race_in_block, 4, 6);
KERNEL(device_race_in_block) {
  WHERE;
  const int64_t other = first + SLIPS_BLOCK - 1 - at;
  if (i < n) scratch[i] = in[i];
  if (Mended) __syncthreads();
  if (other < n) out[other] = 2 * scratch[other];
}
ENTRIES(device_race_in_block)

/* The inclusive sum of ones: at + 1. Nobody may write before all have read. */
LINES(scan_in_place, 8, 10);
KERNEL(scan_in_place) {
  WHERE;
  __shared__ int ones[SLIPS_BLOCK];
  ones[at] = 1;
  __syncthreads();
  for (int by = 1; by < SLIPS_BLOCK; by *= 2) {
    int more = 0;
    if (at >= by) more = ones[at - by];
    if (Mended) __syncthreads();
    ones[at] += more;
    __syncthreads();
  }
  if (i < n) out[i] = in[i] * (float)(ones[at] - at + 1);
}
ENTRIES(scan_in_place)

/* Counting without an atomic; the counts are of the block's own elements. */
LINES(plain_counter, 7, 7);
KERNEL(plain_counter) {
  WHERE;
  __shared__ unsigned count;
  if (at == 0) count = 0;
  __syncthreads();
  if (Mended) atomicAdd(&count, 1u);
  if (!Mended) count += 1;
  __syncthreads();
  if (i < n) out[i] = count == SLIPS_BLOCK ? 2 * in[i] : 0;
}
ENTRIES(plain_counter)

/* Four threads fill one word, a byte each: that is no race. */
LINES(bytes_of_a_word, 4, 6);
KERNEL(bytes_of_a_word) {
  WHERE;
  __shared__ unsigned char bytes[SLIPS_BLOCK];
  bytes[at] = 2;
  if (Mended) __syncthreads();
  if (i < n) out[i] = in[i] * (float)bytes[SLIPS_BLOCK - 1 - at];
}
ENTRIES(bytes_of_a_word)

/* ---- memory it was not given ---------------------------------------------------------------- */

LINES(reads_past_end, 4, 4);
KERNEL(reads_past_end) {
  WHERE;
  if (i < n) out[i] = 2 * in[i];
  if (i < n && in[i + (Mended ? 0 : 1)] == -1) out[i] = 0;
}
ENTRIES(reads_past_end)

LINES(writes_past_end, 4, 4);
KERNEL(writes_past_end) {
  WHERE;
  if (i < n) out[i] = 2 * in[i];
  if (!Mended && i == n) out[i] = 0;
}
ENTRIES(writes_past_end)

LINES(reads_before_start, 4, 4);
KERNEL(reads_before_start) {
  WHERE;
  if (i < n) out[i] = 2 * in[i];
  if (i < n && in[i - (Mended ? 0 : 1)] == -1) out[i] = 0;
}
ENTRIES(reads_before_start)

LINES(writes_before_start, 4, 4);
KERNEL(writes_before_start) {
  WHERE;
  if (i < n) out[i] = 2 * in[i];
  if (!Mended && i == 0) out[i - 1] = 0;
}
ENTRIES(writes_before_start)

LINES(overruns_shared, 3, 3);
KERNEL(overruns_shared) {
  WHERE;
  if (i < n) tile[at + (Mended ? 0 : 1)] = in[i];
  __syncthreads();
  if (i < n) out[i] = 2 * tile[at + (Mended ? 0 : 1)];
}
ENTRIES(overruns_shared)

LINES(unwritten_shared, 0, 0);
KERNEL(unwritten_shared) {
  WHERE;
  if (Mended || at != 100) tile[at] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = 2 * tile[at];
}
ENTRIES(unwritten_shared)

LINES(unwritten_static_shared, 0, 0);
KERNEL(unwritten_static_shared) {
  WHERE;
  __shared__ int factor[2];
  if (at == 0) factor[0] = 2;
  if (Mended && at == 0) factor[1] = 0;
  __syncthreads();
  if (i < n) out[i] = in[i] * (float)(factor[0] + factor[1]);
}
ENTRIES(unwritten_static_shared)

/* ---- what threads do together --------------------------------------------------------------- */

LINES(barrier_in_branch, 4, 4);
KERNEL(barrier_in_branch) {
  WHERE;
  if (i < n) out[i] = 2 * in[i];
  if (Mended || at < SLIPS_BLOCK / 2) __syncthreads();
}
ENTRIES(barrier_in_branch)

/* One half waits at one barrier, the other at another: as many as the block has threads. */
LINES(two_barriers, 5, 7);
KERNEL(two_barriers) {
  WHERE;
  if (i < n) out[i] = 2 * in[i];
  if (Mended || at < SLIPS_BLOCK / 2)
    __syncthreads();
  else
    __syncthreads();
}
ENTRIES(two_barriers)

/* Where two sides meet is another barrier than __syncthreads(). */
LINES(mixed_barriers, 5, 9);
KERNEL(mixed_barriers) {
  WHERE;
  if (i < n) out[i] = 2 * in[i];
  if (at < SLIPS_BLOCK / 2)
    rung_sides_meet<SLIPS_BLOCK, 0>();
  else if (Mended)
    rung_sides_meet<SLIPS_BLOCK, 1>();
  else
    __syncthreads();
}
ENTRIES(mixed_barriers)

LINES(barrier_after_return, 5, 5);
KERNEL(barrier_after_return) {
  WHERE;
  if (!Mended && i >= n) return;
  if (i < n) tile[at] = in[i];
  __syncthreads();
  if (i < n) out[i] = 2 * tile[at];
}
ENTRIES(barrier_after_return)

LINES(lane_never_comes, 5, 6);
KERNEL(lane_never_comes) {
  WHERE;
  float value = i < n ? in[i] : 0;
  const unsigned mask = Mended ? 0x0000ffffu : 0xffffffffu;
  if (at % 32 < 16) value = __shfl_xor_sync(mask, __shfl_xor_sync(mask, value, 1), 1);
  __syncthreads();
  if (i < n) out[i] = 2 * value;
}
ENTRIES(lane_never_comes)

LINES(lane_outside_mask, 4, 4);
KERNEL(lane_outside_mask) {
  WHERE;
  const unsigned mask = Mended ? 0xffffffffu : 0x0000ffffu;
  const float value = __shfl_sync(mask, 2.0f, 0);
  if (i < n) out[i] = value * in[i];
}
ENTRIES(lane_outside_mask)

/* ---- what blocks do together ---------------------------------------------------------------- */

LINES(polls_for_ever, 5, 5);
KERNEL(polls_for_ever) {
  WHERE;
  unsigned *flag = (unsigned *)scratch;
  if (Mended && at == 1) rung_store_release(flag, 1u);
  while (at == 0 && rung_load_acquire(flag) == 0) continue;
  if (i < n) out[i] = 2 * in[i];
}
ENTRIES(polls_for_ever)

/* The last block to come decides: no race, and another result every time. */
LINES(order_of_blocks, 0, 0);
KERNEL(order_of_blocks) {
  WHERE;
  if (at == 0 && Mended) atomicMax((unsigned *)scratch, blockIdx.x + 1);
  if (at == 0 && !Mended) atomicExch((unsigned *)scratch, blockIdx.x + 1);
}
KERNEL(by_last_block) {
  WHERE;
  if (i < n) out[i] = *(const unsigned *)scratch == gridDim.x ? 2 * in[i] : in[i];
}
ENTRY_THEN(slip_order_of_blocks, order_of_blocks<false>, by_last_block<false>)
ENTRY_THEN(mend_order_of_blocks, order_of_blocks<true>, by_last_block<false>)

/* Every block leaves its part, and the last one takes them all; without the count, block 0 does. */
LINES(last_block, 5, 12);
KERNEL(last_block) {
  WHERE;
  __shared__ bool last;
  unsigned *count = (unsigned *)(scratch + 2048);
  if (i < n) scratch[i] = in[i];
  __threadfence();
  __syncthreads();
  if (at == 0) last = Mended ? atomicAdd(count, 1u) == gridDim.x - 1 : blockIdx.x == 0;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int64_t k = at; k < n; k += SLIPS_BLOCK) out[k] = 2 * scratch[k];
}
ENTRIES(last_block)

/* A block hands its element to the next by a flag of the old kind. */
LINES(volatile_flag, 6, 12);
KERNEL(volatile_flag) {
  WHERE;
  unsigned *flags = (unsigned *)(scratch + 2048);
  const unsigned block = blockIdx.x, next = (block + 1) % gridDim.x;
  const int64_t theirs = (int64_t)next * SLIPS_BLOCK + at;
  if (i < n) scratch[i] = in[i];
  __threadfence();
  __syncthreads();
  if (Mended && at == 0) *(volatile unsigned *)&flags[block] = 1;
  while (Mended && *(volatile unsigned *)&flags[next] == 0) continue;
  __threadfence();
  if (theirs < n) out[theirs] = 2 * scratch[theirs];
}
ENTRIES(volatile_flag)

/* A shuffle puts what its lanes did before it before what they do after it. */
LINES(shuffle_orders, 4, 6);
KERNEL(shuffle_orders) {
  WHERE;
  float factor = 2;
  if (i < n) tile[at] = in[i];
  if (Mended) factor = __shfl_down_sync(0xffffffffu, factor, 1);
  if (first + (at ^ 3) < n) out[first + (at ^ 3)] = factor * tile[at ^ 3];
}
ENTRIES(shuffle_orders)

/* ---- textures and constant memory ----------------------------------------------------------- */

static rung_status show(const rung_task *task, const void *data, int64_t elements,
                        cudaTextureObject_t *texture) {
  const rung_texture shown = {data, RUNG_TEXEL_F32, elements, 0, 0, false};
  RUNG_TEXTURE(task, &shown, texture);
  return RUNG_OK;
}

#define TEXTURE_KERNEL(name)                                                          \
  template <bool Mended>                                                              \
  static __global__ void name(int64_t n, const float *in, float *out, float *scratch, \
                              cudaTextureObject_t texture)
/* What the texture shows: `extra` elements more than there are. */
#define TEXTURE_ENTRY(entry, kernel, data, extra)                                                  \
  extern "C" rung_status RUNG_ENTRY(entry)(const rung_task *task) {                                \
    const job job = job_of(task);                                                                  \
    cudaTextureObject_t texture;                                                                   \
    const rung_status status = show(task, job.data, job.n + (extra), &texture);                    \
    if (status != RUNG_OK) return status;                                                          \
    RUNG_LAUNCH(task, kernel, job.blocks, SLIPS_BLOCK, SLIPS_BLOCK * sizeof(float), job.n, job.in, \
                job.out, job.scratch, texture);                                                    \
    return RUNG_OK;                                                                                \
  }
#define TEXTURE_ENTRIES(name, data, extra)               \
  TEXTURE_ENTRY(slip_##name, (name<false>), data, extra) \
  TEXTURE_ENTRY(mend_##name, (name<true>), data, 0)

LINES(texture_past_end, 4, 4);
TEXTURE_KERNEL(texture_past_end) {
  WHERE;
  if (i < n) out[i] = 2 * in[i];
  if (i < n && tex1Dfetch<float>(texture, (int)i + (Mended ? 0 : 1)) == -1) out[i] = 0;
}
TEXTURE_ENTRIES(texture_past_end, in, 1)

/* A store and a fetch go by different ways, be it in one thread. */
LINES(texture_of_own_writes, 4, 3);
TEXTURE_KERNEL(texture_of_own_writes) {
  WHERE;
  if (i < n) scratch[i] = in[i];
  if (i < n) out[i] = 2 * (Mended ? scratch[i] : tex1Dfetch<float>(texture, (int)i));
}
TEXTURE_ENTRIES(texture_of_own_writes, scratch, 0)

LINES(texture_nobody_made, 4, 4);
TEXTURE_KERNEL(texture_nobody_made) {
  WHERE;
  const cudaTextureObject_t other = Mended ? texture : texture + 1000;
  if (i < n) out[i] = 2 * tex1Dfetch<float>(other, (int)i);
}
TEXTURE_ENTRIES(texture_nobody_made, in, 0)

LINES(texture_of_others, 4, 4);
TEXTURE_KERNEL(texture_of_others) {
  WHERE;
  if (i < n) out[i] = 2 * tex1Dfetch<float>(texture, (int)i);
  if (!Mended && i < n) out[i] = 2 * (float)tex1Dfetch<unsigned short>(texture, (int)i);
}
TEXTURE_ENTRIES(texture_of_others, in, 0)

/* What a launch leaves the next one fetches; not all is left. */
LINES(texture_unwritten, 0, 0);
KERNEL(all_but_one) {
  WHERE;
  if (i < n && (Mended || i != 100)) scratch[i] = in[i];
}
TEXTURE_KERNEL(texture_unwritten) {
  WHERE;
  if (i < n) out[i] = 2 * tex1Dfetch<float>(texture, (int)i);
}
#define UNWRITTEN_ENTRY(entry, mended)                                                           \
  extern "C" rung_status RUNG_ENTRY(entry)(const rung_task *task) {                              \
    const job job = job_of(task);                                                                \
    cudaTextureObject_t texture;                                                                 \
    const rung_status status = show(task, job.scratch, job.n, &texture);                         \
    if (status != RUNG_OK) return status;                                                        \
    RUNG_LAUNCH(task, (all_but_one<mended>), job.blocks, SLIPS_BLOCK, 0, job.n, job.in, job.out, \
                job.scratch);                                                                    \
    RUNG_LAUNCH(task, (texture_unwritten<mended>), job.blocks, SLIPS_BLOCK, 0, job.n, job.in,    \
                job.out, job.scratch, texture);                                                  \
    return RUNG_OK;                                                                              \
  }
UNWRITTEN_ENTRY(slip_texture_unwritten, false)
UNWRITTEN_ENTRY(mend_texture_unwritten, true)

static __constant__ float factors[4];

#define CONSTANT_ENTRY(entry, kernel, copied)                                                      \
  extern "C" rung_status RUNG_ENTRY(entry)(const rung_task *task) {                                \
    static const float twos[4] = {2, 2, 2, 2};                                                     \
    const job job = job_of(task);                                                                  \
    if (copied) RUNG_COPY_TO_CONSTANT(task, factors, twos, sizeof twos);                           \
    RUNG_LAUNCH(task, kernel, job.blocks, SLIPS_BLOCK, SLIPS_BLOCK * sizeof(float), job.n, job.in, \
                job.out, job.scratch);                                                             \
    return RUNG_OK;                                                                                \
  }
#define CONSTANT_ENTRIES(name, copied)               \
  CONSTANT_ENTRY(slip_##name, (name<false>), copied) \
  CONSTANT_ENTRY(mend_##name, (name<true>), true)

LINES(constant_written, 5, 5);
KERNEL(constant_written) {
  WHERE;
  volatile uintptr_t mine = (uintptr_t)&factors[n % 4]; /* nvcc would refuse a plain pointer */
  if (i < n) out[i] = 2 * in[i];
  if (!Mended && i < n) *(float *)mine = 3;
}
CONSTANT_ENTRIES(constant_written, true)

LINES(constant_past_end, 3, 3);
KERNEL(constant_past_end) {
  WHERE;
  if (i < n) out[i] = factors[n / 250 - (Mended ? 1 : 0)] * in[i];
}
CONSTANT_ENTRIES(constant_past_end, true)

LINES(constant_not_copied, 3, 3);
KERNEL(constant_not_copied) {
  WHERE;
  if (i < n) out[i] = factors[n % 4] * in[i];
}
CONSTANT_ENTRIES(constant_not_copied, false)

/* ---- a launch that begins before the one before it has ended --------------------------------- */

#define ENTRY_NEXT(entry, kernel)                                                      \
  extern "C" rung_status RUNG_ENTRY(entry)(const rung_task *task) {                    \
    const job job = job_of(task);                                                      \
    RUNG_FILL_ON_DEVICE(task, job.scratch, 0, SLIPS_SCRATCH);                          \
    RUNG_LAUNCH(task, puts<true>, job.blocks, SLIPS_BLOCK, 0, job.n, job.in, job.out,  \
                job.scratch);                                                          \
    RUNG_LAUNCH_NEXT(task, kernel, job.blocks, SLIPS_BLOCK, 0, job.n, job.in, job.out, \
                     job.scratch);                                                     \
    return RUNG_OK;                                                                    \
  }
#define ENTRIES_NEXT(name)               \
  ENTRY_NEXT(slip_##name, (name<false>)) \
  ENTRY_NEXT(mend_##name, (name<true>))

LINES(one_thread_waits, 4, 10);
LINES(reads_before_waiting, 3, 15);
KERNEL(puts) {
  WHERE;
  if (i < n) scratch[i] = in[i];
}
KERNEL(one_thread_waits) {
  WHERE;
  if (at == 0) rung_await_before();
  if (Mended) __syncthreads();
  if (i < n) out[i] = 2 * scratch[i];
}
ENTRIES_NEXT(one_thread_waits)
KERNEL(reads_before_waiting) {
  WHERE;
  if (Mended) rung_await_before();
  if (i < n) out[i] = 2 * scratch[i];
}
ENTRIES_NEXT(reads_before_waiting)

LINES(writes_before_waiting, 4, 4);
KERNEL(writes_before_waiting) {
  WHERE;
  if (Mended) rung_await_before();
  if (i < n) out[i] = 2 * in[i];
}
ENTRIES_NEXT(writes_before_waiting)
