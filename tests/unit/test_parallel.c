/* The parallel loop: every chunk once, on the threads allowed, its writes seen afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu/parallel.h"
#include "core/work.h"

enum { MOST = 5000, THREADS = 6 };

typedef struct work {
  int threads;
  int64_t before;        /* written before the loop, read in it */
  int64_t cells[MOST];   /* one a chunk: plain memory, read after the loop */
  int64_t mine[THREADS]; /* one a thread: private while the loop runs */
  atomic_int strays;
} work;

static void body(void *arg, int64_t chunk, int thread) {
  work *at = arg;
  if (thread < 0 || thread >= at->threads || at->before != 42) {
    at->strays++;
    return;
  }
  at->cells[chunk] += chunk + 1;
  at->mine[thread]++;
}

static void every_chunk_once(void **state) {
  (void)state;
  static work work;
  static const int64_t chunks[] = {0, 1, 2, 5, 6, 7, 1000, MOST};
  for (int threads = 0; threads <= THREADS; threads++) {
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
      memset(&work, 0, sizeof work);
      work.threads = threads > 0 ? threads : 1;
      work.before = 42;
      rung_parallel(threads, chunks[c], body, &work);
      assert_int_equal(work.strays, 0);
      int64_t sum = 0;
      for (int t = 0; t < THREADS; t++) sum += work.mine[t];
      assert_int_equal(sum, chunks[c]);
      for (int64_t i = 0; i < MOST; i++) assert_int_equal(work.cells[i], i < chunks[c] ? i + 1 : 0);
    }
  }
}

/* Two bodies that wait for each other end only if two threads run them. */
static void meet(void *arg, int64_t chunk, int thread) {
  (void)chunk;
  (void)thread;
  pthread_barrier_wait(arg);
}

static bool two_meet(void) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  rung_parallel(2, 2, meet, &barrier);
  return pthread_barrier_destroy(&barrier) == 0;
}

static void threads_run_at_once(void **state) {
  (void)state;
  assert_true(two_meet());
}

typedef struct two {
  pthread_barrier_t barrier;
  bool meets; /* the other one is waited for */
  pthread_t own, other;
  bool own_done;
  int others;
} two;

static void do_own(void *arg) {
  two *at = arg;
  if (at->meets) pthread_barrier_wait(&at->barrier);
  at->own = pthread_self();
  at->own_done = true;
}

static void do_other(void *arg) {
  two *at = arg;
  if (at->meets) pthread_barrier_wait(&at->barrier);
  at->other = pthread_self();
  at->others++;
}

static void one_beside_another(void **state) {
  (void)state;
  for (int time = 0; time < 2000; time++) { /* with a thread that comes in time, and late */
    two work = {.meets = time % 2 == 0};
    assert_int_equal(pthread_barrier_init(&work.barrier, NULL, 2), 0);
    rung_parallel_beside(do_own, do_other, &work);
    assert_true(work.own_done && work.others == 1);
    assert_true(pthread_equal(work.own, pthread_self()));
    if (work.meets) assert_false(pthread_equal(work.other, work.own));
    pthread_barrier_destroy(&work.barrier);
  }
}

static void nested(void *arg, int64_t chunk, int thread) {
  (void)thread;
  static work inner[4];
  work *at = &inner[chunk];
  *at = (work){.threads = THREADS, .before = 42};
  rung_parallel(THREADS, 100, body, at);
  int64_t sum = 0;
  for (int t = 0; t < THREADS; t++) sum += at->mine[t];
  *(atomic_int *)arg += (int)sum;
}

static void loops_inside_loops(void **state) {
  (void)state;
  atomic_int done = 0;
  rung_parallel(3, 4, nested, &done);
  assert_int_equal(done, 400);
}

static void *one_caller(void *arg) {
  work *at = arg;
  for (int i = 0; i < 50; i++) {
    at->before = 42;
    rung_parallel(2, 100, body, at);
  }
  return NULL;
}

static void callers_do_not_meet(void **state) {
  (void)state;
  static work works[3];
  pthread_t callers[3];
  for (int i = 0; i < 3; i++) {
    works[i].threads = 2;
    assert_int_equal(pthread_create(&callers[i], NULL, one_caller, &works[i]), 0);
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(callers[i], NULL);
    for (int64_t c = 0; c < 100; c++) assert_int_equal(works[i].cells[c], 50 * (c + 1));
  }
}

/* ---- in a process of its own ------------------------------------------------------------------
 */

/* Whether child() came to its end with true, within a minute. */
static bool in_child(bool (*child)(void)) {
  int status = 0;
  const pid_t made = fork();
  if (made == 0) {
    alarm(60);
    _exit(child() ? 0 : 1);
  }
  assert_true(made > 0);
  assert_int_equal(waitpid(made, &status, 0), made);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool loop_is_done(int threads) {
  static work work;
  memset(&work, 0, sizeof work);
  work.threads = THREADS;
  work.before = 42;
  rung_parallel(threads, 1000, body, &work);
  for (int i = 0; i < 1000; i++)
    if (work.cells[i] != i + 1) return false;
  return work.strays == 0;
}

static void ignore_chunk(void *arg, int64_t chunk, int thread) {
  atomic_int *most = arg;
  (void)chunk;
  if (thread > *most) *most = thread;
  nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* So much address space that some threads' stacks fit, not all. */
static bool goes_on_with_fewer(void) {
  const struct rlimit limit = {100 << 20, 100 << 20};
  atomic_int most = 0;
  if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
  rung_parallel(4000, 8000, ignore_chunk, &most);
  return most > 0 && most < 2000;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum {
  WHOLE_PROCESS = 0
}; /* sanitizers take all address space, and make no threads after fork() */
#else
enum { WHOLE_PROCESS = 1 };
#endif

/* In a child, which has none of its parent's, and where no stack fits. */
static bool goes_on_with_none(void) {
  const struct rlimit limit = {1, 1};
  two work = {.meets = false};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
  rung_parallel_beside(do_own, do_other, &work);
  return work.own_done && work.others == 1 && pthread_equal(work.other, pthread_self());
}

static void fewer_threads_where_there_are_no_more(void **state) {
  (void)state;
  if (!WHOLE_PROCESS) skip();
  assert_true(in_child(goes_on_with_fewer));
  assert_true(in_child(goes_on_with_none));
}

static bool three_threads(void) {
  return loop_is_done(3);
}

static void a_child_makes_threads_of_its_own(void **state) {
  (void)state;
  if (!WHOLE_PROCESS) skip();
  assert_true(loop_is_done(THREADS));
  for (int i = 0; i < 20; i++) assert_true(in_child(three_threads));
  assert_true(in_child(two_meet));
  assert_true(loop_is_done(THREADS));
}

static void *loop_for_ever(void *arg) {
  static work work;
  work.threads = 2;
  work.before = 42;
  while (!*(atomic_bool *)arg) rung_parallel(2, 10, body, &work);
  return NULL;
}

/* The list of waiting threads may be in another thread's hands. */
static void a_fork_during_a_loop(void **state) {
  (void)state;
  pthread_t other;
  atomic_bool enough = false;
  if (!WHOLE_PROCESS) skip();
  assert_int_equal(pthread_create(&other, NULL, loop_for_ever, &enough), 0);
  for (int i = 0; i < 100; i++) assert_true(in_child(three_threads));
  enough = true;
  pthread_join(other, NULL);
}

/* ---- what the process is left as ----------------------------------------------------------------
 */

static atomic_int caught_by;

static void catch_signal(int signal) {
  (void)signal;
  caught_by++;
}

static void raise_chunk(void *arg, int64_t chunk, int thread) {
  sigset_t blocked;
  (void)chunk;
  if (thread == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return;
  }
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  if (!sigismember(&blocked, SIGUSR1) || sigismember(&blocked, SIGSEGV)) (*(atomic_int *)arg)++;
}

/* The program's signals are for its own threads. */
static void signals_go_elsewhere(void **state) {
  (void)state;
  atomic_int wrong = 0;
  sigset_t before, after;
  signal(SIGUSR1, catch_signal);
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  rung_parallel(3, 30, raise_chunk, &wrong);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  assert_int_equal(wrong, 0);
  for (int s = 1; s < 32; s++) assert_int_equal(sigismember(&after, s), sigismember(&before, s));
  kill(getpid(), SIGUSR1);
  for (int i = 0; i < 1000 && caught_by == 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(caught_by, 1);
}

enum { PARTS = 7 };

static void take_range(void *arg, int part, int64_t from, int64_t until) {
  int64_t *ranges = arg;
  ranges[2 * part] = from;
  ranges[2 * part + 1] = until;
}

static void a_range_is_cut_evenly_and_whole(void **state) {
  (void)state;
  static const int64_t lengths[] = {0, 1, 6, 7, 8, 100, INT64_C(1) << 50};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const int64_t n = lengths[i];
    int64_t ranges[2 * PARTS], at = 0;
    rung_parallel_range(3, n, PARTS, take_range, ranges);
    for (int part = 0; part < PARTS; part++) {
      const int64_t length = ranges[2 * part + 1] - ranges[2 * part];
      assert_true(ranges[2 * part] == at);
      assert_true(length == n / PARTS || length == n / PARTS + 1);
      at += length;
    }
    assert_true(at == n);
  }
}

/* What a body of a loop of one thread sees: as many chunks are done as came before its own. */
typedef struct seen {
  int64_t chunks, number;
  bool triangle, inner, right;
} seen;

static void look_inner(void *arg, int64_t chunk, int thread) {
  (void)arg;
  (void)chunk;
  (void)thread;
}

static void look(void *arg, int64_t chunk, int thread) {
  seen *of = arg;
  int64_t number;
  double part;
  (void)thread;
  if (of->inner) rung_parallel(1, 3, look_inner, NULL);
  rung_parallel_work(&number, &part);
  const double left = 1 - (double)chunk / (double)of->chunks;
  const double wanted = 1 - (of->triangle ? left * left : left);
  if (chunk == 0) of->number = number;
  if (number != of->number || !(part >= wanted - 1e-12 && part <= wanted + 1e-12))
    of->right = false;
}

static void a_loop_tells_how_far_it_is(void **state) {
  (void)state;
  int64_t before, after;
  double part;
  rung_parallel_work(&before, &part);
  assert_true(part == 0);
  for (int kind = 0; kind < 4; kind++) {
    seen of = {.chunks = 10, .triangle = kind & 1, .inner = kind & 2, .right = true};
    (of.triangle ? rung_parallel_triangle : rung_parallel)(1, of.chunks, look, &of);
    assert_true(of.right);
    rung_parallel_work(&after, &part);
    assert_true(part == 0);
    assert_int_equal(after, before + 1 + kind);
    assert_int_equal(after, of.number);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_chunk_once),
      cmocka_unit_test(threads_run_at_once),
      cmocka_unit_test(one_beside_another),
      cmocka_unit_test(loops_inside_loops),
      cmocka_unit_test(callers_do_not_meet),
      cmocka_unit_test(fewer_threads_where_there_are_no_more),
      cmocka_unit_test(a_child_makes_threads_of_its_own),
      cmocka_unit_test(a_fork_during_a_loop),
      cmocka_unit_test(signals_go_elsewhere),
      cmocka_unit_test(a_range_is_cut_evenly_and_whole),
      cmocka_unit_test(a_loop_tells_how_far_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
