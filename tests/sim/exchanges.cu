/* What the lanes of a warp, and the threads of a block, tell one another. */
#include "backend/gpu.h"
#include "sim/trials.h"

#define OUT(type) ((type *)task->arrays[1].data)
#define IN(type) ((const type *)task->arrays[0].data)
#define ALL 0xffffffffu

/* out: (4 kinds, 6 widths, arguments, threads). */
template <typename T>
static __global__ void shuffle(const T *in, const int *arguments, T *out) {
  const T mine = in[threadIdx.x];
  int row = 0;
  for (int kind = 0; kind < 4; kind++)
    for (int width = 1; width <= 32; width *= 2)
      for (int a = 0; a < TRIAL_ARGUMENTS; a++, row++) {
        const int by = arguments[a];
        T got;
        if (kind == 0)
          got = __shfl_sync(ALL, mine, by, width);
        else if (kind == 1)
          got = __shfl_up_sync(ALL, mine, (unsigned)by, width);
        else if (kind == 2)
          got = __shfl_down_sync(ALL, mine, (unsigned)by, width);
        else
          got = __shfl_xor_sync(ALL, mine, by, width);
        out[row * (int)blockDim.x + (int)threadIdx.x] = got;
      }
}

/* out: (threads, votes). The last warp has fewer lanes than its mask might name. */
static __global__ void vote(const unsigned *in, unsigned *out) {
  const unsigned at = threadIdx.x, value = in[at], left = blockDim.x - at / 32 * 32;
  const unsigned mask = left >= 32 ? ALL : (1u << left) - 1;
  unsigned *to = out + at * TRIAL_VOTES;
  int all;
  to[0] = __ballot_sync(mask, value % 3 == 0);
  to[1] = (unsigned)__any_sync(mask, value == 5);
  to[2] = (unsigned)__all_sync(mask, value > 0);
  to[3] = __match_any_sync(mask, value % 4);
  to[4] = __match_all_sync(mask, (unsigned long long)at / 32, &all);
  to[5] = (unsigned)all;
  to[6] = __match_all_sync(mask, (double)value, &all);
  to[7] = (unsigned)all;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* before, the hardware has none */
  to[8] = __reduce_add_sync(mask, value);
  to[9] = (unsigned)__reduce_min_sync(mask, (int)value - 100);
  to[10] = __reduce_min_sync(mask, value - 100);
  to[11] = (unsigned)__reduce_max_sync(mask, (int)value - 100);
  to[12] = __reduce_max_sync(mask, value - 100);
  to[13] = __reduce_and_sync(mask, value | 8u);
  to[14] = __reduce_or_sync(mask, value);
  to[15] = __reduce_xor_sync(mask, value);
#endif
}

/* Two halves of a warp at different things; then lanes that ended early, named by a mask or not. */
static __global__ void parts(const int *in, int *out) {
  const int lane = (int)threadIdx.x;
  int value = in[lane];
  if (lane < 16)
    value = __shfl_xor_sync(0x0000ffffu, value, 3);
  else
    value = __shfl_down_sync(0xffff0000u, __shfl_up_sync(0xffff0000u, value, 1), 2, 8);
  __syncwarp();
  out[lane] = value;
  if (lane >= 20) return;
  value = __shfl_sync(0x000fffffu, value, 19);
  out[32 + lane] = __shfl_sync(ALL, value, 3);
}

static __global__ void block_votes(const int *in, int *out) {
  const int value = in[threadIdx.x];
  int *to = out + 5 * threadIdx.x;
  to[0] = __syncthreads_count(value % 3 == 0);
  to[1] = __syncthreads_and(value > 0) != 0;
  to[2] = __syncthreads_and(value > 1) != 0;
  to[3] = __syncthreads_or(value == 77) != 0;
  to[4] = __syncthreads_or(value == 1000) != 0;
}

#define SHUFFLE(name, type)                                                                        \
  extern "C" rung_status RUNG_ENTRY(name)(const rung_task *task) {                                 \
    const int threads = TRIAL_WARPS * 32;                                                          \
    RUNG_LAUNCH(task, (shuffle<type>), 1, threads, 0, IN(type), (const int *)(IN(type) + threads), \
                OUT(type));                                                                        \
    return RUNG_OK;                                                                                \
  }
SHUFFLE(trial_shuffle_int, int)
SHUFFLE(trial_shuffle_unsigned, unsigned)
SHUFFLE(trial_shuffle_long, long long)
SHUFFLE(trial_shuffle_float, float)
SHUFFLE(trial_shuffle_double, double)

extern "C" {

rung_status RUNG_ENTRY(trial_votes)(const rung_task *task) {
  RUNG_LAUNCH(task, vote, 1, TRIAL_VOTERS, 0, IN(unsigned), OUT(unsigned));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_parts)(const rung_task *task) {
  RUNG_LAUNCH(task, parts, 1, 32, 0, IN(int), OUT(int));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_block_votes)(const rung_task *task) {
  RUNG_LAUNCH(task, block_votes, 1, 100, 0, IN(int), OUT(int));
  return RUNG_OK;
}
}
