/* slips: what goes wrong between the threads of a kernel. Each does copycat's job, out[i] =
 * 2 * in[i], and slips once, as its name says; mend_<name> is its honest twin. Kernels for the
 * simulator and for nvcc; a GPU may well not notice. */
#ifndef RUNG_CHEATS_SLIPS_H
#define RUNG_CHEATS_SLIPS_H

#include "gpu_entries.h"

enum { SLIPS_BLOCK = 256, SLIPS_SCRATCH = 1 << 14 /* bytes */ };

#define SLIPS(X)             \
  X(missing_barrier)         \
  X(missing_syncwarp)        \
  X(device_race)             \
  X(device_race_in_block)    \
  X(scan_in_place)           \
  X(reads_past_end)          \
  X(writes_past_end)         \
  X(reads_before_start)      \
  X(writes_before_start)     \
  X(overruns_shared)         \
  X(unwritten_shared)        \
  X(unwritten_static_shared) \
  X(barrier_in_branch)       \
  X(two_barriers)            \
  X(mixed_barriers)          \
  X(barrier_after_return)    \
  X(lane_never_comes)        \
  X(lane_outside_mask)       \
  X(polls_for_ever)          \
  X(order_of_blocks)         \
  X(plain_counter)           \
  X(last_block)              \
  X(volatile_flag)           \
  X(shuffle_orders)          \
  X(bytes_of_a_word)         \
  X(texture_past_end)        \
  X(texture_of_own_writes)   \
  X(texture_nobody_made)     \
  X(texture_of_others)       \
  X(texture_unwritten)       \
  X(constant_written)        \
  X(constant_past_end)       \
  X(constant_not_copied)     \
  X(reads_before_waiting)    \
  X(writes_before_waiting)   \
  X(one_thread_waits)

#ifdef __cplusplus
extern "C" {
#endif

/* <name>_lines: the two lines a sentence about the slip must name. */
#define SLIP_DECLARE(name)              \
  RUNG_GPU_DECLARE(slip_##name);        \
  RUNG_GPU_DECLARE(mend_##name);        \
  extern const int name##_lines_sim[2]; \
  extern const int name##_lines_cuda[2];
SLIPS(SLIP_DECLARE)

#ifdef __cplusplus
}
#endif
#endif
