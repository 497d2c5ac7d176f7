/* The CPU's clocks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/clocks.h"

enum { READINGS = 20000, BATCHES = 9, ELEMENTS = 1 << 22, ROUNDS = 12 };
/* Threads look out for work for a millisecond before they sleep. */
static const double wait_ms = 50, settle_ms = 5;

/* ---- readings: ticks of each clock's own ---------------------------------------------------- */

static int64_t of_timespec(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t read_clock(void) {
  return clock();
}
static int64_t read_monotonic(void) {
  return of_timespec(CLOCK_MONOTONIC);
}
static int64_t read_raw(void) {
  return of_timespec(CLOCK_MONOTONIC_RAW);
}
static int64_t read_coarse(void) {
  return of_timespec(CLOCK_MONOTONIC_COARSE);
}
static int64_t read_real(void) {
  return of_timespec(CLOCK_REALTIME);
}
static int64_t read_process(void) {
  return of_timespec(CLOCK_PROCESS_CPUTIME_ID);
}
static int64_t read_thread(void) {
  return of_timespec(CLOCK_THREAD_CPUTIME_ID);
}

#if defined(__x86_64__)
#define COUNTER "rdtsc"
static int64_t read_counter(void) {
  return (int64_t)__builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define COUNTER "cntvct_el0"
static int64_t read_counter(void) {
  int64_t ticks;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#endif

typedef struct source {
  const char *name;
  int64_t (*read)(void);
  double tick_ns;  /* 0: found against CLOCK_MONOTONIC_RAW */
  clockid_t clock; /* that clock_getres() knows, */
  bool resolves;   /* where it does */
  const char *meaning;
} source;

static const source sources[] = {
    {"clock()", read_clock, 1e9 / CLOCKS_PER_SEC, 0, false,
     "processor time of all threads together: more than the time that passes where several work, "
     "nothing while they wait, a GPU's work among it"},
    {"CLOCK_MONOTONIC", read_monotonic, 1, CLOCK_MONOTONIC, true,
     "time that passes, its rate adjusted by the network's; for times of work the one to take"},
    {"CLOCK_MONOTONIC_RAW", read_raw, 1, CLOCK_MONOTONIC_RAW, true,
     "time that passes, by this machine's own oscillator; what Rung times the CPU with"},
    {"CLOCK_MONOTONIC_COARSE", read_coarse, 1, CLOCK_MONOTONIC_COARSE, true,
     "the same as of the last tick of the system: cheap, and milliseconds old"},
    {"CLOCK_REALTIME", read_real, 1, CLOCK_REALTIME, true,
     "the date: jumps where somebody sets it"},
    {"CLOCK_PROCESS_CPUTIME_ID", read_process, 1, CLOCK_PROCESS_CPUTIME_ID, true,
     "as clock(), finer"},
    {"CLOCK_THREAD_CPUTIME_ID", read_thread, 1, CLOCK_THREAD_CPUTIME_ID, true,
     "processor time of the calling thread: what other threads do for it is not in it"},
#ifdef COUNTER
    {COUNTER, read_counter, 0, 0, false,
     "a counter of the processor at a rate of its own, which is not the core's clock: cycles of "
     "work it does not count"},
#endif
};
enum { SOURCES = sizeof sources / sizeof *sources };
_Static_assert((int)SOURCES <= (int)CLOCKS_MOST, "CLOCKS_MOST is too small");

/* ---- one clock ------------------------------------------------------------------------------ */

/* The least difference that is seen between two readings, in ticks; one that moves seldom is waited
 * for as long as `patience_ns`. NaN: it did not move. */
static double step_of(const source *of) {
  const int64_t patience_ns = 20000000, begin = read_raw();
  int64_t least = 0, last = of->read();
  for (int i = 0; i < READINGS || (least == 0 && read_raw() - begin < patience_ns); i++) {
    const int64_t now = of->read();
    if (now > last && (least == 0 || now - last < least)) least = now - last;
    last = now;
  }
  return least > 0 ? (double)least : NAN;
}

static double reading_of(const source *of) {
  double times[BATCHES];
  for (int b = 0; b < BATCHES; b++) {
    const int64_t begin = read_raw();
    for (int i = 0; i < READINGS / BATCHES; i++) (void)of->read();
    times[b] = (double)(read_raw() - begin) / (READINGS / BATCHES);
  }
  return lab_stats_of(times, BATCHES).median;
}

/* ---- all at the same work ------------------------------------------------------------------- */

static void read_all(int64_t at[SOURCES]) {
  for (int i = 0; i < SOURCES; i++) at[i] = sources[i].read();
}

/* A sum of numbers, again and again: the same work each time. */
static rung_status work(const cli_common *common, int threads, double *numbers, rung_error *error) {
  cli_common how = *common;
  rung_context *context;
  int64_t shape[] = {ELEMENTS}, one = 1;
  double sum = 0;
  DLTensor in = {.data = numbers,
                 .device = {kDLCPU, 0},
                 .ndim = 1,
                 .dtype = rung_dlpack_type(RUNG_F64),
                 .shape = shape},
           out = {.data = &sum,
                  .device = {kDLCPU, 0},
                  .ndim = 1,
                  .dtype = rung_dlpack_type(RUNG_F64),
                  .shape = &one};
  how.threads = threads;
  rung_status status = cli_open(&how, "cpu", &context, error);
  for (int i = 0; i < ROUNDS && !status; i++)
    status = cli_carry(context, rung_reduce(context, RUNG_SUM, &in, 0, &out, NULL), error);
  rung_close(context);
  return status;
}

static void wait(double ms) {
  struct timespec left = {.tv_nsec = (long)(ms * 1e6)};
  while (nanosleep(&left, &left) != 0) {
  }
}

/* Three things that are timed, the moments before and after each. */
typedef struct moments {
  int64_t before[SOURCES], after[SOURCES];
} moments;

static rung_status look(const cli_common *common, int threads, moments at[3], rung_error *error) {
  double *numbers = calloc(ELEMENTS, sizeof *numbers);
  if (!numbers) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the work");
  rung_status status = work(common, threads, numbers, error); /* threads are made, pages touched */
  for (int k = 0; k < 3 && !status; k++) {
    if (k == 2) wait(settle_ms);
    read_all(at[k].before);
    if (k < 2)
      status = work(common, k == 0 ? 1 : threads, numbers, error);
    else
      wait(wait_ms);
    read_all(at[k].after);
  }
  free(numbers);
  return status;
}

rung_status clocks_look_cpu(const cli_common *common, clocks_cpu *found, rung_error *error) {
  enum { RAW = 2 };
  rung_device_info device = {.size = sizeof device};
  moments all = {{0}, {0}}, at[3];
  rung_status status = cli_opened(common, "cpu", &device, error);
  if (status) return status;
  *found = (clocks_cpu){.count = SOURCES, .threads = (int)device.threads, .asked_ms = wait_ms};
  read_all(all.before);
  for (int i = 0; i < SOURCES; i++) {
    found->clocks[i] = (clocks_one){.name = sources[i].name,
                                    .meaning = sources[i].meaning,
                                    .step_ns = step_of(&sources[i]),
                                    .reading_ns = reading_of(&sources[i])};
  }
  status = look(common, found->threads, at, error);
  read_all(all.after);
  const double seconds = 1e-9 * (double)(all.after[RAW] - all.before[RAW]);
  found->seconds = seconds;
  for (int i = 0; i < SOURCES && !status; i++) {
    clocks_one *one = &found->clocks[i];
    const source *of = &sources[i];
    const double ticks = (double)(all.after[i] - all.before[i]);
    const double tick_ns = of->tick_ns > 0 ? of->tick_ns : 1e9 * seconds / ticks;
    struct timespec unit;
    const bool passes = of->read == read_monotonic || of->read == read_raw || of->read == read_real;
    one->unit_ns = of->resolves && clock_getres(of->clock, &unit) == 0
                       ? (double)unit.tv_sec * 1e9 + (double)unit.tv_nsec
                       : tick_ns;
    one->step_ns *= tick_ns;
    one->drift = passes ? 1e-9 * ticks * tick_ns / seconds - 1 : NAN;
    double *const ms[] = {&one->single_ms, &one->all_ms, &one->waiting_ms};
    for (int k = 0; k < 3; k++)
      *ms[k] = 1e-6 * tick_ns * (double)(at[k].after[i] - at[k].before[i]);
  }
  return status;
}
