/* The parallel loop: every chunk once, on the threads allowed, its writes seen afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/parallel.h"

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

extern int omp_get_thread_num(void) __attribute__((weak));

/* Two bodies that wait for each other end only if two threads run them. */
static void meet(void *arg, int64_t chunk, int thread) {
  (void)chunk;
  (void)thread;
  pthread_barrier_wait(arg);
}

static void threads_run_at_once(void **state) {
  (void)state;
  if (omp_get_thread_num == NULL) skip(); /* built without OpenMP: a plain loop */
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  rung_parallel(2, 2, meet, &barrier);
  pthread_barrier_destroy(&barrier);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_chunk_once),
      cmocka_unit_test(threads_run_at_once),
      cmocka_unit_test(loops_inside_loops),
      cmocka_unit_test(callers_do_not_meet),
      cmocka_unit_test(a_range_is_cut_evenly_and_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
