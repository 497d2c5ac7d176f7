/* A GPU's clocks, and the host's: all time the same launches of one kernel, which takes so many
 * cycles of the multiprocessor that it runs on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/clocks.h"
#include "lab/fixture.h"

enum { LAUNCHES = 9, PAIRS = 101, TRIES = 40 };
enum { EVENTS, GLOBAL, CYCLES, HOST, HOST_ALONE, C_CLOCK, C_CLOCK_ALONE, WAYS };
_Static_assert((int)WAYS <= (int)CLOCKS_MOST, "CLOCKS_MOST is too small");

static const char *const names[WAYS][2] = {
    {"CUDA events",
     "the device's time between two marks in the stream, with what the launch of a "
     "kernel takes there; moves in steps, and a kernel of a few is told badly"},
    {"globaltimer",
     "the device's nanoseconds, read by the kernel, one clock for all "
     "multiprocessors: without the launch; some GPUs' moves once a microsecond"},
    {"clock64",
     "cycles of one multiprocessor, each has its own: no time where the clock changes "
     "or another multiprocessor's is subtracted; here by its rate in the long kernel"},
    {"CLOCK_MONOTONIC, waited",
     "launched and waited for: with the cost of the launch and of waking up, so that a short "
     "kernel seems long"},
    {"CLOCK_MONOTONIC, launched", "lies: the kernel has only been queued"},
    {"clock(), waited",
     "processor time of the host: as long as the wait where that looks out for "
     "the end, next to nothing where the thread sleeps meanwhile"},
    {"clock(), launched",
     "lies twice: the kernel has only been queued, and it would be the "
     "host's processor time"}};

/* A device under way. */
typedef struct looking {
  const rung_backend *backend;
  rung_state *state;
  rung_ticks *board; /* in the device's memory */
  clocks_gpu *found;
  rung_error *error;
} looking;

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double c_clock_ns(void) {
  return 1e9 / CLOCKS_PER_SEC * (double)clock();
}

static double median_of(const double *values, int count) {
  return lab_stats_of(values, count).median;
}

static int64_t divisor(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

static rung_status wait_for(const looking *at) {
  return at->backend->synchronize(at->state, at->error);
}

static rung_status launch(const looking *at, int64_t cycles) {
  return at->backend->read_clocks(at->state, at->board, cycles, at->error);
}

static rung_status fetch(const looking *at, rung_ticks *ticks) {
  rung_status status =
      at->backend->copy(at->state, ticks, at->board, sizeof *ticks, RUNG_TO_HOST, at->error);
  return status ? status : wait_for(at);
}

/* ---- one launch, by all clocks -------------------------------------------------------------- */

static rung_status time_once(const looking *at, int64_t cycles, double ns[WAYS]) {
  rung_ticks ticks;
  double events_ms = NAN;
  rung_status status = wait_for(at);
  if (!status) status = at->backend->mark(at->state, 0, at->error);
  const double c_before = c_clock_ns(), before = now_ns();
  if (!status) status = launch(at, cycles);
  const double queued = now_ns(), c_queued = c_clock_ns();
  if (!status) status = at->backend->mark(at->state, 1, at->error);
  if (!status) status = wait_for(at);
  const double after = now_ns(), c_after = c_clock_ns();
  if (!status) status = at->backend->elapsed(at->state, &events_ms, at->error);
  if (!status) status = fetch(at, &ticks);
  if (status) return status;
  const bool real = !at->found->simulated;
  ns[EVENTS] = real ? 1e6 * events_ms : NAN;
  ns[GLOBAL] = (double)(ticks.end.nanoseconds - ticks.begin.nanoseconds);
  ns[CYCLES] = (double)(ticks.end.cycles - ticks.begin.cycles);
  ns[HOST] = real ? after - before : NAN;
  ns[HOST_ALONE] = real ? queued - before : NAN;
  ns[C_CLOCK] = real ? c_after - c_before : NAN;
  ns[C_CLOCK_ALONE] = real ? c_queued - c_before : NAN;
  return RUNG_OK;
}

/* Medians over some launches. */
static rung_status time_kernel(const looking *at, int64_t cycles, double ns[WAYS]) {
  double each[WAYS][LAUNCHES], once[WAYS];
  for (int i = 0; i < LAUNCHES; i++) {
    const rung_status status = time_once(at, cycles, once);
    if (status) return status;
    for (int k = 0; k < WAYS; k++) each[k][i] = once[k];
  }
  for (int k = 0; k < WAYS; k++) ns[k] = median_of(each[k], LAUNCHES);
  return RUNG_OK;
}

/* Cycles that take about that long, by a kernel of a million, which raises the clock too. */
static rung_status time_kernels(const looking *at) {
  enum { MILLION = 1000000 };
  clocks_gpu *found = at->found;
  double ns[CLOCKS_KERNELS][WAYS];
  rung_status status = time_kernel(at, MILLION, ns[CLOCKS_LONG]);
  if (status) return status;
  if (!(ns[CLOCKS_LONG][GLOBAL] > 0))
    return rung_fail(at->error, RUNG_DEVICE_FAILED, "the device's clock stood still for %d cycles",
                     MILLION);
  const double rate = found->simulated ? 1 : ns[CLOCKS_LONG][CYCLES] / ns[CLOCKS_LONG][GLOBAL];
  found->cycles[CLOCKS_EMPTY] = 1;
  found->cycles[CLOCKS_SHORT] = (int64_t)(1e4 * rate);
  found->cycles[CLOCKS_LONG] = (int64_t)(1e6 * rate);
  for (int k = 0; k < CLOCKS_KERNELS && !status; k++)
    status = time_kernel(at, found->cycles[k], ns[k]);
  if (status) return status;
  const double cycle = ns[CLOCKS_LONG][GLOBAL] / ns[CLOCKS_LONG][CYCLES];
  found->clock_mhz = found->simulated ? NAN : 1e3 / cycle;
  for (int k = 0; k < CLOCKS_KERNELS; k++)
    for (int w = 0; w < WAYS; w++)
      found->ways[w].kernels[k] = ns[k][w] * (w == CYCLES && !found->simulated ? cycle : 1);
  return RUNG_OK;
}

/* ---- steps, and what a reading costs -------------------------------------------------------- */

/* By the moments at which the device's clock moved: all that its readings are apart is a multiple
 * of its step, and of the cycles' likewise. */
static rung_status look_at_device(const looking *at) {
  clocks_gpu *found = at->found;
  const double cycle = found->simulated ? 1 : 1e3 / found->clock_mhz;
  rung_ticks ticks;
  rung_status status = launch(at, 0);
  if (!status) status = fetch(at, &ticks);
  if (status) return status;
  int64_t steps[2] = {0, 0};
  for (int i = 1; i < RUNG_TICKS; i++) {
    steps[0] = divisor(steps[0], ticks.moved[i].nanoseconds - ticks.moved[0].nanoseconds);
    steps[1] = divisor(steps[1], ticks.moved[i].cycles - ticks.moved[0].cycles);
  }
  found->ways[GLOBAL].step = steps[0] > 0 ? (double)steps[0] : NAN;
  found->ways[CYCLES].step = steps[1] > 0 ? cycle * (double)steps[1] : NAN;
  found->ways[GLOBAL].reading = cycle * (double)ticks.cost[1] / RUNG_READINGS;
  found->ways[CYCLES].reading = cycle * (double)ticks.cost[0] / RUNG_READINGS;
  found->ways[CYCLES].in_row = found->ways[CYCLES].reading;
  return RUNG_OK;
}

static int in_order(const void *one, const void *other) {
  const double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

/* Two marks with nothing between them; and with more and more cycles, whose times tell the step. */
static rung_status look_at_events(const looking *at) {
  double none[PAIRS] = {0}, some[PAIRS] = {0}, cost[PAIRS], step = NAN;
  rung_status status = RUNG_OK;
  for (int i = 0; i < 2 * PAIRS && !status; i++) {
    double *to = i < PAIRS ? &none[i] : &some[i - PAIRS], ms = 0;
    status = wait_for(at);
    const double before = now_ns();
    if (!status) status = at->backend->mark(at->state, 0, at->error);
    if (i < PAIRS) cost[i] = now_ns() - before;
    if (!status && i >= PAIRS) status = launch(at, 1 + 97 * (i - PAIRS));
    if (!status) status = at->backend->mark(at->state, 1, at->error);
    if (!status) status = at->backend->elapsed(at->state, &ms, at->error);
    *to = round(1e6 * ms); /* floats of milliseconds: their own digits are no steps */
  }
  if (status) return status;
  qsort(some, PAIRS, sizeof *some, in_order);
  for (int i = 1; i < PAIRS; i++)
    if (some[i] > some[i - 1] && !(some[i] - some[i - 1] >= step)) step = some[i] - some[i - 1];
  at->found->ways[EVENTS].step = step;
  at->found->ways[EVENTS].reading = median_of(cost, PAIRS);
  at->found->ways[EVENTS].in_row = median_of(none, PAIRS);
  return RUNG_OK;
}

/* ---- drift ---------------------------------------------------------------------------------- */

/* A moment by all clocks: a mark and a kernel between two readings of the host's. */
typedef struct moment {
  double host_ns, within_ns;
  rung_stamp device;
} moment;

static rung_status meet_once(const looking *at, int slot, moment *to) {
  rung_ticks ticks;
  rung_status status = wait_for(at);
  const double before = now_ns();
  if (!status) status = at->backend->mark(at->state, slot, at->error);
  if (!status) status = launch(at, 1);
  if (!status) status = wait_for(at);
  const double after = now_ns();
  if (!status) status = fetch(at, &ticks);
  if (!status) *to = (moment){(before + after) / 2, (after - before) / 2, ticks.begin};
  return status;
}

/* Tried until it is about as short as it can be: the mark that stays is the last one. */
static rung_status meet(const looking *at, int slot, moment *to) {
  double least = INFINITY;
  rung_status status = RUNG_OK;
  for (int i = 0; i < 2 * TRIES && !status; i++) {
    status = meet_once(at, slot, to);
    if (!status && i >= TRIES && to->within_ns <= 1.1 * least) break;
    if (!status && to->within_ns < least) least = to->within_ns;
  }
  return status;
}

static rung_status look_at_drift(const looking *at) {
  const struct timespec second = {.tv_sec = 1};
  clocks_gpu *found = at->found;
  moment a, b;
  double ms = 0;
  rung_status status = meet(at, 0, &a);
  if (!status) nanosleep(&second, NULL);
  if (!status) status = meet(at, 1, &b);
  if (!status) status = at->backend->elapsed(at->state, &ms, at->error);
  if (status) return status;
  const double host = b.host_ns - a.host_ns;
  const double rate = 1e3 * (double)(b.device.cycles - a.device.cycles) / host;
  found->seconds = 1e-9 * host;
  found->within = (a.within_ns + b.within_ns) / host;
  found->ways[EVENTS].drift = 1e6 * ms / host - 1;
  found->ways[GLOBAL].drift = (double)(b.device.nanoseconds - a.device.nanoseconds) / host - 1;
  if (a.device.processor == b.device.processor)
    found->ways[CYCLES].drift = rate / found->clock_mhz - 1;
  return RUNG_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static rung_status look(const looking *at) {
  rung_status status = time_kernels(at);
  if (!status) status = look_at_device(at);
  if (!status && !at->found->simulated) status = look_at_events(at);
  if (!status && !at->found->simulated) status = look_at_drift(at);
  return status;
}

/* The two that a simulated GPU has are all that is left. */
static void keep_simulated(clocks_gpu *found) {
  const clocks_way global = found->ways[GLOBAL], cycles = found->ways[CYCLES];
  found->ways[0] = global;
  found->ways[1] = cycles;
  found->ways[0].meaning = "the simulated device's clock: steps, of each multiprocessor on its own";
  found->ways[1].meaning = "the same steps: basic blocks that the multiprocessor's threads ran";
  found->count = 2;
}

rung_status clocks_look_gpu(const cli_common *common, const char *device, clocks_gpu *found,
                            rung_error *error) {
  rung_context *context;
  void *board = NULL;
  rung_status status = cli_open(common, device, &context, error);
  if (status) return status;
  looking at = {context->backend, context->state, NULL, found, error};
  *found = (clocks_gpu){.count = WAYS,
                        .simulated = context->device.kind == RUNG_SIM,
                        .clock_mhz = NAN,
                        .seconds = NAN,
                        .within = NAN};
  for (int w = 0; w < WAYS; w++)
    found->ways[w] = (clocks_way){names[w][0], names[w][1], NAN, NAN, NAN, NAN, {NAN, NAN, NAN}};
  status = at.backend->allocate(at.state, sizeof *at.board, &board, error);
  if (!status) {
    at.board = board;
    status = look(&at);
    at.backend->release(at.state, board);
  }
  if (!status && found->simulated) keep_simulated(found);
  if (!status) snprintf(found->device, sizeof found->device, "%s", context->device.name);
  rung_close(context);
  return status;
}
