/* The one place where threads are made that compute: a loop over independent chunks. How many there
 * are to be says facts.c. */
#ifndef RUNG_BACKEND_CPU_PARALLEL_H
#define RUNG_BACKEND_CPU_PARALLEL_H

#include <signal.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Processors that this process may use, at least 1: threads for work whose result does not depend
 * on how many there are. */
int rung_processors(void);

/* Calls body(arg, chunk, thread) for every chunk in [0, chunks), on at most `threads` threads;
 * 0 <= thread < threads tells a body which private memory is its own. Which thread gets which
 * chunk is not fixed (chunks are dealt out as threads become free), so a result must not depend
 * on it. Returns when all are done; everything written before it is visible in the bodies, and
 * what the bodies wrote after it. Threads are kept for the next loop, of whichever caller; where
 * the system gives no more of them, fewer do the work. Loops may be begun within bodies, by several
 * threads at once, and in a child after fork(). */
void rung_parallel(int threads, int64_t chunks, void (*body)(void *arg, int64_t chunk, int thread),
                   void *arg);

/* Cuts [0, n) into `parts` ranges, as even as can be, and calls body(arg, part, from, until) for
 * each; part tells a body which private result is its own. Else as rung_parallel(). */
void rung_parallel_range(int threads, int64_t n, int parts,
                         void (*body)(void *arg, int part, int64_t from, int64_t until), void *arg);

/* Calls own(arg) in the calling thread and, meanwhile, other(arg) in another one; where the system
 * gives none, or late, after it. Returns when both are done. */
void rung_parallel_beside(void (*own)(void *arg), void (*other)(void *arg), void *arg);

/* For a thread that is made now: signals are for the program's own threads; all but those that a
 * thread itself gives rise to. *callers: what pthread_sigmask() is to set again. 0, or an errno. */
int rung_signals_block(sigset_t *callers);

#ifdef __cplusplus
}
#endif
#endif
