/* Every request of the library for memory fails once: each call says so, or gives the right bits;
 * nothing leaks; and the context, where there is one, goes on to give the right bits. */
#include "failing.h"

#include "ops/guest/jobs.h"

typedef struct place {
  const char *device;
  int threads;
  const char *limit; /* of its memory: jobs are cut into pieces */
  long each;         /* so many requests fail one by one, then ever fewer */
  int first, step;   /* which of the jobs */
} place;

static rung_context *opened(const place *place, rung_status *status) {
  rung_context *context = NULL;
  *status =
      rung_open(&context, &(rung_options){.device = place->device, .threads = place->threads});
  return context;
}

static void is_right(const place *place, int job, long request, rung_status status,
                     const char *made, const char *expected) {
  const char *fault = fault_of(job, status, made, expected);
  if (fault) fail_msg("%s, request %ld failed: %s", place->device, request, fault);
}

/* One request of opening a context and of a job; returns how many there were. */
static long lose(const place *place, const numbers *n, int job, long request,
                 const char *expected) {
  static _Alignas(8) char made[ROOM];
  rung_status status;
  failing_begin(request);
  rung_context *context = opened(place, &status);
  const bool open = status == RUNG_OK;
  if (open) status = run_job(context, n, job, made);
  const long requests = failing_end();
  if (status != RUNG_OUT_OF_MEMORY)
    is_right(place, job, request, status, made, expected);
  else if (strstr(rung_last_error(context), "memory") == NULL)
    fail_msg("%s, %s, request %ld failed: \"%s\"", place->device, jobs[job].name, request,
             rung_last_error(context));
  if (open && request > 0) { /* and again, in what is left of the context */
    status = run_job(context, n, job, made);
    is_right(place, job, request, status, made, expected);
  }
  rung_close(context);
  return requests;
}

static void lose_all(const place *place) {
  static results expected;
  rung_status status;
  const numbers *n = make_numbers(FEW);
  if (place->limit) setenv("RUNG_MEMORY_LIMIT", place->limit, 1);
  rung_context *context = opened(place, &status);
  if (status == RUNG_OK) run_jobs(context, n, &expected);
  rung_close(context);
  if (status == RUNG_NO_DEVICE) skip();
  long all = 0;
  for (int j = place->first; j < JOBS; j += place->step) {
    const long held = failing_held, requests = lose(place, n, j, 0, expected.made[j]);
    if (failing_held != held) fail_msg("%s, %s leaks", place->device, jobs[j].name);
    for (long k = 1; k <= requests; k = failing_next(k, place->each)) {
      lose(place, n, j, k, expected.made[j]);
      if (failing_held != held)
        fail_msg("%s, %s, request %ld of %ld failed: %ld blocks more are held", place->device,
                 jobs[j].name, k, requests, failing_held - held);
      all++;
    }
  }
  unsetenv("RUNG_MEMORY_LIMIT");
  assert_true(all > 2 * JOBS / place->step);
}

static void on_one_thread(void **state) {
  (void)state;
  lose_all(&(place){"cpu", 1, NULL, 300, 0, 1});
}

static void on_several_threads(void **state) {
  (void)state;
  lose_all(&(place){"cpu", 3, NULL, 300, 0, 1});
}

static void in_pieces(void **state) {
  (void)state;
  lose_all(&(place){"cpu", 1, "40K", 300, 0, 1});
}

/* There most requests are stacks of simulated threads, and opening a context takes thousands. */
static void on_the_simulator(void **state) {
  (void)state;
  lose_all(&(place){"sim", 0, NULL, 4, 0, 3});
}

static void in_pieces_on_the_simulator(void **state) {
  (void)state;
  lose_all(&(place){"sim", 0, "70K", 4, 1, 3});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(on_one_thread),
      cmocka_unit_test(on_several_threads),
      cmocka_unit_test(in_pieces),
      cmocka_unit_test(on_the_simulator),
      cmocka_unit_test(in_pieces_on_the_simulator),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
