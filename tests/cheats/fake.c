#include "cheats/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void fake_sleep(double milliseconds) {
  const long nanoseconds = (long)(milliseconds * 1e6);
  nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

static void note(rung_state *state, const char *word) {
  const size_t used = strlen(state->log);
  snprintf(state->log + used, sizeof state->log - used, "%s%s", used ? " " : "", word);
}

/* ---- a stream of one place ---------------------------------------------------------------- */

static void drain(rung_state *state) {
  if (!state->queued || state->held) return;
  state->queued = NULL;
  state->run(&state->waiting);
}

rung_status fake_queue(const rung_task *task, void (*run)(const rung_task *task)) {
  rung_state *state = task->stream;
  note(state, "launch");
  state->waiting = *task;
  state->queued = &state->waiting;
  state->run = run;
  drain(state);
  return RUNG_OK;
}

static void *stream(rung_state *state) {
  return state;
}

static rung_status synchronize(rung_state *state, rung_error *error) {
  note(state, "sync");
  drain(state);
  if (++state->syncs == state->fail_sync)
    return rung_fail(error, RUNG_DEVICE_FAILED, "the fake device was told to fail");
  return RUNG_OK;
}

static rung_status hold(rung_state *state, rung_error *error) {
  (void)error;
  note(state, "hold");
  state->held = true;
  return RUNG_OK;
}

static rung_status release_hold(rung_state *state, rung_error *error) {
  (void)error;
  note(state, "release");
  state->held = false;
  drain(state);
  return RUNG_OK;
}

/* ---- opening ------------------------------------------------------------------------------ */

/* A second state, for the lab's watcher. */
static rung_status open_state(const rung_device *device, void *unused, rung_state **state,
                              rung_error *error) {
  (void)device, (void)unused, (void)error;
  *state = calloc(1, sizeof **state);
  return *state ? RUNG_OK : RUNG_OUT_OF_MEMORY;
}

static void close_state(rung_state *state) {
  free(state);
}

static rung_status facts(int index, void (*emit)(void *to, const char *key, const char *value),
                         void *to, rung_error *error) {
  (void)index, (void)error;
  emit(to, "made of", "imagination");
  return RUNG_OK;
}

/* ---- memory ------------------------------------------------------------------------------- */

static rung_status allocate(rung_state *state, size_t bytes, void **memory, rung_error *error) {
  fake_sleep(state->allocate_ms);
  *memory = aligned_alloc(256, (bytes + 256) / 256 * 256);
  return *memory ? RUNG_OK : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory");
}

static void release(rung_state *state, void *memory) {
  fake_sleep(state->release_ms);
  free(memory);
}

static rung_status copy(rung_state *state, void *to, const void *from, size_t bytes, rung_copy way,
                        rung_error *error) {
  (void)error;
  note(state, "copy");
  drain(state);
  fake_sleep(way == RUNG_TO_DEVICE ? state->copy_in_ms : state->copy_out_ms);
  memcpy(to, from, bytes);
  return RUNG_OK;
}

static rung_status fill(rung_state *state, void *memory, unsigned char byte, size_t bytes,
                        rung_error *error) {
  (void)error;
  note(state, "fill");
  drain(state);
  memset(memory, byte, bytes);
  return RUNG_OK;
}

/* ---- measuring ---------------------------------------------------------------------------- */

static rung_status flush(rung_state *state, rung_error *error) {
  (void)error;
  note(state, "flush");
  return RUNG_OK;
}

static rung_status mark(rung_state *state, int slot, rung_error *error) {
  (void)error;
  note(state, slot ? "mark1" : "mark0");
  return RUNG_OK;
}

static rung_status elapsed(rung_state *state, double *milliseconds, rung_error *error) {
  note(state, "elapsed");
  drain(state);
  if (++state->elapsed == state->fail_elapsed)
    return rung_fail(error, RUNG_DEVICE_FAILED, "the hold gave up after 2 s");
  if (state->times[state->timed] == 0) state->timed = 0;
  *milliseconds = state->times[0] == 0 ? 1 : state->times[state->timed++];
  return RUNG_OK;
}

static rung_status clock_begin(rung_state *state, rung_error *error) {
  (void)error;
  note(state, "clock_begin");
  return RUNG_OK;
}

static rung_status clock_end(rung_state *state, rung_error *error) {
  (void)error;
  note(state, "clock_end");
  return RUNG_OK;
}

static rung_status clock_mhz(rung_state *state, double *mhz, rung_error *error) {
  note(state, "clock");
  *mhz = 1000;
  if (++state->clocks == state->fail_clock)
    return rung_fail(error, RUNG_DEVICE_FAILED, "the clock cannot be read");
  return RUNG_OK;
}

/* The work is told apart by probe: read 1, write 2, copy 3, fma32 4, fma64 5, mma64 6 times the
 * rate; by level: in a cache ten times that. */
static rung_status probe(rung_state *state, rung_probe probe, int64_t bytes, double *work,
                         double *milliseconds, rung_error *error) {
  (void)error;
  state->probes += 1;
  *work = 2 * (probe + 1) * (state->probe_rate > 0 ? state->probe_rate : 1e6);
  if (bytes > 0 && (state->cache_has == 0 || bytes <= state->cache_has)) *work *= 10;
  *milliseconds = 2;
  return RUNG_OK;
}

void fake_open(fake *device, bool streams) {
  *device = (fake){.backend = {.kind = RUNG_CPU,
                               .name = "fake",
                               .facts = facts,
                               .open = open_state,
                               .close = close_state,
                               .stream = stream,
                               .synchronize = synchronize,
                               .allocate = allocate,
                               .release = release,
                               .copy = copy,
                               .fill = fill,
                               .flush = flush,
                               .mark = mark,
                               .elapsed = elapsed,
                               .hold = streams ? hold : NULL,
                               .release_hold = streams ? release_hold : NULL,
                               .clock_begin = clock_begin,
                               .clock_end = clock_end,
                               .clock_mhz = clock_mhz,
                               .probe = probe},
                   .context = {.device = {.kind = RUNG_CPU,
                                          .name = "a fake",
                                          .identity = "fake-0",
                                          .processors = 1,
                                          .threads = 1,
                                          .cache_bytes = 6000000,
                                          .caches = {{2, 6000000}},
                                          .flush_bytes = 256 << 20}}};
  device->context.backend = &device->backend;
  device->context.state = &device->state;
}

void fake_close(fake *device) {
  free(device->context.scratch);
}
