/* How far a call is, for another thread than the one that makes it. */
#ifndef RUNG_CORE_WORK_H
#define RUNG_CORE_WORK_H

#include <stdbool.h>

#include "core/error.h"
#include "rung/rung.h"

/* What a simulator's state begins with: launches so far; of the last one blocks, and those done. */
typedef struct rung_work {
  _Atomic int64_t launches, blocks, done;
} rung_work;

/* The number of the loop or launch that the context's device is at, rising, and the part of its
 * work that is done, 0 ... 1; part 0: it has just begun, or there is none. A call may be of
 * several. False: nobody knows. The context must stay open meanwhile. */
RUNG_PRIVATE bool rung_work_of(const rung_context *context, int64_t *number, double *part);

/* The same of the loops of rung_parallel(), whose file has these two: of loops in one another the
 * outermost, of loops beside one another the first. From the first call on every loop takes a
 * lock's time; before, none. */
void rung_parallel_work(int64_t *number, double *part);

/* As rung_parallel(), where chunk i has work for as many as come after it: the first most, the last
 * none. Only rung_parallel_work() is told by it. */
void rung_parallel_triangle(int threads, int64_t chunks,
                            void (*body)(void *arg, int64_t chunk, int thread), void *arg);

#endif
