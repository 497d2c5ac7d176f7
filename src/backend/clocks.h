/* What a kernel reads of its device's clocks: the cycles of a multiprocessor, and the nanoseconds
 * of the clock that all of them share (clocks.cu, compiled for GPUs and for the simulated one). */
#ifndef RUNG_BACKEND_CLOCKS_H
#define RUNG_BACKEND_CLOCKS_H

#include "core/ladder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Queues a kernel of one thread that writes begin and end, in the device's memory, so many cycles
 * apart; 0: the rest of it too, in between. */
rung_status rung_clocks_cuda(const rung_task *task, rung_ticks *to, int64_t cycles);
rung_status rung_clocks_sim(const rung_task *task, rung_ticks *to, int64_t cycles);

#ifdef __cplusplus
}
#endif
#endif
