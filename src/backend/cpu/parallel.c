/* Threads of the library's own. A loop's caller takes waiting ones off a list, offers each a place
 * in the loop, works itself, and takes back the offers that came too late to matter; so that short
 * loops wait for no thread to wake up. OpenMP's would end the process where no thread can be made,
 * hang in a forked child, and compute as the host program tells them to. */
#include "backend/cpu/parallel.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/float_mode.h"
#include "core/work.h"
#include "rung/rung.h"

/* How long a thread looks out for what is to come before it sleeps, which costs a wake: for so many
 * pauses with all its might, then giving way to others. */
enum { PAUSES = 1000, PATIENCE_NS = 1000000, STACK_BYTES = 4 * RUNG_STACK, LINE = 64 };

typedef struct loop {
  int64_t chunks;
  int64_t threads;
  int cpu; /* that the caller was on; below 0: not known */
  bool triangle;
  void (*body)(void *arg, int64_t chunk, int thread);
  void *arg;
  _Alignas(LINE) _Atomic int64_t next;
} loop;

enum { IDLE, ASLEEP, OFFERED, WORKING, AWAITED };

typedef struct worker {
  _Alignas(LINE) atomic_int state;
  int number; /* in the loop */
  loop *loop;
  struct worker *next;
} worker;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static worker *waiting; /* for an offer; those that worked last come first */
static atomic_bool watched;
static loop *outermost; /* of those that began since it is watched */
static int64_t loops;   /* that were outermost */

/* ---- waiting ----------------------------------------------------------------------------------
 */

static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Returns another state than `state`, or `state` where patience ends. */
static int look_out(atomic_int *at, int state) {
  int found;
  int64_t until = 0;
  for (int turn = 0; (found = atomic_load_explicit(at, memory_order_acquire)) == state; turn++) {
    if (turn < PAUSES) {
      pause_briefly();
      continue;
    }
    if (until == 0) until = now() + PATIENCE_NS;
    if (now() > until) break;
    sched_yield();
  }
  return found;
}

static bool change(atomic_int *at, int from, int to) {
  return atomic_compare_exchange_strong(at, &from, to);
}

static void sleep_while(atomic_int *at, int state) {
  while (*at == state) syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, state, NULL, NULL, 0);
}

static void wake(atomic_int *at) {
  syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- a worker ---------------------------------------------------------------------------------
 */

/* A thread that was woken on the CPU of the loop's caller, as happens where another program's
 * threads keep the others busy by waiting, would share that one with it, this time and the next:
 * it moves to another of those that it may use. */
static void leave(int cpu) {
  cpu_set_t allowed, others;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getcpu() != cpu) return;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  others = allowed;
  CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  (void)sched_setaffinity(0, sizeof allowed, &allowed);
}

static void take_part(loop *loop, int thread) {
  int64_t chunk;
  while ((chunk = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed)) < loop->chunks)
    loop->body(loop->arg, chunk, thread);
}

static void accept_offer(worker *self) {
  do {
    if (look_out(&self->state, IDLE) == IDLE && change(&self->state, IDLE, ASLEEP))
      sleep_while(&self->state, ASLEEP);
  } while (!change(&self->state, OFFERED, WORKING));
}

static void *live(void *arg) {
  worker *self = arg;
  rung_float_mode inherited;
  rung_float_mode_enter(&inherited);
  for (;;) {
    accept_offer(self);
    leave(self->loop->cpu);
    take_part(self->loop, self->number);
    /* From here on the loop may be gone. */
    if (atomic_exchange(&self->state, IDLE) == AWAITED) wake(&self->state);
  }
  return NULL;
}

int rung_signals_block(sigset_t *callers) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t blocked;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
  return pthread_sigmask(SIG_SETMASK, &blocked, callers);
}

static bool start(worker *made) {
  sigset_t callers;
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0) return false;
  bool started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                 pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                 rung_signals_block(&callers) == 0;
  if (started) {
    started = pthread_create(&thread, &attributes, live, made) == 0;
    pthread_sigmask(SIG_SETMASK, &callers, NULL);
  }
  pthread_attr_destroy(&attributes);
  return started;
}

/* ---- the list of those that wait ---------------------------------------------------------------
 */

static bool survives_forks;

static void before_fork(void) {
  pthread_mutex_lock(&lock);
}

static void in_parent(void) {
  pthread_mutex_unlock(&lock);
}

/* fork() takes none of the workers with it. */
static void in_child(void) {
  waiting = NULL;
  outermost = NULL;
  pthread_mutex_unlock(&lock);
}

static void look_at_forks(void) {
  survives_forks = pthread_atfork(before_fork, in_parent, in_child) == 0;
}

static worker *make_worker(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, look_at_forks);
  worker *made = survives_forks ? aligned_alloc(LINE, sizeof *made) : NULL;
  if (made == NULL) return NULL;
  *made = (worker){.state = IDLE};
  if (start(made)) return made;
  free(made);
  return NULL;
}

/* Up to `count` workers, as a list. */
static worker *hire(int64_t count) {
  worker *first = NULL, **end = &first;
  pthread_mutex_lock(&lock);
  for (; count > 0 && waiting != NULL; count--, end = &(*end)->next) {
    *end = waiting;
    waiting = waiting->next;
  }
  pthread_mutex_unlock(&lock);
  for (; count > 0 && (*end = make_worker()) != NULL; count--) end = &(*end)->next;
  *end = NULL;
  return first;
}

static void offer(worker *to, loop *loop, int number) {
  to->loop = loop;
  to->number = number;
  if (atomic_exchange(&to->state, OFFERED) == ASLEEP) wake(&to->state);
}

static void await_end(worker *of) {
  if (change(&of->state, OFFERED, IDLE)) return; /* it never began */
  if (look_out(&of->state, WORKING) == WORKING && change(&of->state, WORKING, AWAITED))
    sleep_while(&of->state, AWAITED);
}

static void dismiss(worker *first, worker *last) {
  pthread_mutex_lock(&lock);
  last->next = waiting;
  waiting = first;
  pthread_mutex_unlock(&lock);
}

/* ---- loops ------------------------------------------------------------------------------------
 */

/* Whether it can be seen from now on. */
static bool show(loop *begun) {
  if (!atomic_load_explicit(&watched, memory_order_relaxed)) return false;
  pthread_mutex_lock(&lock);
  const bool first = outermost == NULL;
  if (first) {
    outermost = begun;
    loops++;
  }
  pthread_mutex_unlock(&lock);
  return first;
}

static void hide(void) {
  pthread_mutex_lock(&lock);
  outermost = NULL;
  pthread_mutex_unlock(&lock);
}

void rung_parallel_work(int64_t *number, double *part) {
  *part = 0;
  pthread_mutex_lock(&lock);
  atomic_store(&watched, true);
  *number = loops;
  if (outermost != NULL) {
    /* Those that were taken and are under way are not done. */
    const loop *of = outermost;
    const int64_t done = atomic_load(&outermost->next) - of->threads;
    const double left = done > 0 ? 1 - (double)done / (double)of->chunks : 1;
    *part = 1 - (of->triangle ? left * left : left);
  }
  pthread_mutex_unlock(&lock);
}

static void run(int threads, loop *loop) {
  if (loop->chunks == 1) { /* nothing to share out or to show */
    loop->body(loop->arg, 0, 0);
    return;
  }
  const int64_t helpers = (threads < loop->chunks ? threads : loop->chunks) - 1;
  worker *first = helpers > 0 ? hire(helpers) : NULL, *last = NULL;
  int number = 0;
  loop->threads = helpers + 1;
  loop->cpu = first != NULL ? sched_getcpu() : -1;
  const bool shown = show(loop);
  for (worker *each = first; each != NULL; each = each->next) offer(each, loop, ++number);
  take_part(loop, 0);
  for (worker *each = first; each != NULL; last = each, each = each->next) await_end(each);
  if (shown) hide();
  if (last != NULL) dismiss(first, last);
}

void rung_parallel(int threads, int64_t chunks, void (*body)(void *arg, int64_t chunk, int thread),
                   void *arg) {
  loop loop = {.chunks = chunks, .body = body, .arg = arg};
  run(threads, &loop);
}

void rung_parallel_triangle(int threads, int64_t chunks,
                            void (*body)(void *arg, int64_t chunk, int thread), void *arg) {
  loop loop = {.chunks = chunks, .triangle = true, .body = body, .arg = arg};
  run(threads, &loop);
}

typedef struct errand {
  void (*body)(void *arg);
  void *arg;
} errand;

static void run_errand(void *arg, int64_t chunk, int thread) {
  const errand *one = arg;
  (void)chunk;
  (void)thread;
  one->body(one->arg);
}

void rung_parallel_beside(void (*own)(void *arg), void (*other)(void *arg), void *arg) {
  errand errand = {other, arg};
  loop loop = {.chunks = 1, .threads = 1, .body = run_errand, .arg = &errand};
  worker *helper = hire(1);
  loop.cpu = helper != NULL ? sched_getcpu() : -1;
  if (helper != NULL) offer(helper, &loop, 1);
  own(arg);
  take_part(&loop, 0);
  if (helper == NULL) return;
  await_end(helper);
  dismiss(helper, helper);
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
