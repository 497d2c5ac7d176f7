#include "backend/cpu/parallel.h"

#include "core/float_mode.h"

#if defined(__SANITIZE_THREAD__) && defined(_OPENMP)
/* libgomp is not built for ThreadSanitizer, which therefore does not see that its team starts
 * after the call and ends before the return. These two say so. */
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define RUNG_TSAN_ACQUIRE(address) __tsan_acquire(address)
#define RUNG_TSAN_RELEASE(address) __tsan_release(address)
/* The compiler's own argument block is read before the first annotation can run. */
#define RUNG_TSAN_UNSEEN __attribute__((no_sanitize("thread")))
#else
#define RUNG_TSAN_ACQUIRE(address) (void)(address)
#define RUNG_TSAN_RELEASE(address) (void)(address)
#define RUNG_TSAN_UNSEEN
#endif

#ifdef _OPENMP
#include <omp.h>

RUNG_TSAN_UNSEEN
static void run_team(int threads, int64_t chunks,
                     void (*body)(void *arg, int64_t chunk, int thread), void *arg) {
  char started, ended;
  RUNG_TSAN_RELEASE(&started);
  /* The whole team even for fewer chunks: libgomp ends the threads that a smaller team leaves
   * out, and making them anew costs more than waking them. */
#pragma omp parallel num_threads(threads)
  {
    RUNG_TSAN_ACQUIRE(&started);
    rung_float_mode others; /* the team may be the host program's too */
    rung_float_mode_enter(&others);
    int thread = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1) nowait
    for (int64_t chunk = 0; chunk < chunks; chunk++) body(arg, chunk, thread);
    rung_float_mode_leave(&others);
    RUNG_TSAN_RELEASE(&ended);
  }
  RUNG_TSAN_ACQUIRE(&ended);
}
#endif

void rung_parallel(int threads, int64_t chunks, void (*body)(void *arg, int64_t chunk, int thread),
                   void *arg) {
#ifdef _OPENMP
  if (threads > 1 && chunks > 1) {
    run_team(threads, chunks, body, arg);
    return;
  }
#else
  (void)threads;
#endif
  for (int64_t chunk = 0; chunk < chunks; chunk++) body(arg, chunk, 0);
}

typedef struct range {
  int64_t n;
  int parts;
  void (*body)(void *arg, int part, int64_t from, int64_t until);
  void *arg;
} range;

static int64_t begin_of(const range *all, int64_t part) {
  const int64_t longer = all->n % all->parts; /* by one: the first of them */
  return all->n / all->parts * part + (part < longer ? part : longer);
}

static void run_part(void *arg, int64_t part, int thread) {
  const range *all = arg;
  (void)thread;
  all->body(all->arg, (int)part, begin_of(all, part), begin_of(all, part + 1));
}

void rung_parallel_range(int threads, int64_t n, int parts,
                         void (*body)(void *arg, int part, int64_t from, int64_t until),
                         void *arg) {
  range all = {n, parts, body, arg};
  rung_parallel(threads, parts, run_part, &all);
}
