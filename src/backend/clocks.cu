/* A device's own clocks, read by a kernel of one thread: for `rung clocks`, which compares them. */
#include "backend/clocks.h"

#include "backend/gpu.h"

static __device__ void take(rung_stamp *to) {
  to->nanoseconds = (int64_t)rung_global_timer();
  to->cycles = clock64();
  to->processor = rung_processor();
}

/* A clock that does not move is not waited for longer. */
#define CLOCKS_PATIENCE 1000000

/* The moments at which the second clock had moved, and what readings one behind the other cost. */
static __device__ void look(rung_ticks *to) {
  for (int i = 0; i < RUNG_TICKS; i++) {
    const int64_t before = (int64_t)rung_global_timer();
    for (int k = 0; k < CLOCKS_PATIENCE; k++) {
      take(&to->moved[i]);
      if (to->moved[i].nanoseconds != before) break;
    }
  }
  const long long first = clock64();
#pragma unroll
  for (int i = 0; i < RUNG_READINGS; i++) (void)clock64();
  const long long second = clock64();
#pragma unroll
  for (int i = 0; i < RUNG_READINGS; i++) (void)rung_global_timer();
  const long long third = clock64();
  to->cost[0] = second - first;
  to->cost[1] = third - second;
}

static __global__ void clocks(rung_ticks *to, int64_t cycles) {
  take(&to->begin);
  if (cycles == 0) look(to);
  const long long begin = to->begin.cycles;
  while (clock64() - begin < cycles) continue;
  take(&to->end);
}

extern "C" rung_status RUNG_ENTRY(rung_clocks)(const rung_task *task, rung_ticks *to,
                                               int64_t cycles) {
  RUNG_LAUNCH(task, clocks, 1, 1, 0, to, cycles);
  return RUNG_OK;
}
