/* The simulator's table: one simulated GPU, in the host's memory, run by the host's threads. It
 * counts and checks; it does not time. */
#include "backend/sim/sim.h"

#include "backend/clocks.h"
#include "backend/cpu/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static rung_status sim_count(int *devices, rung_error *error) {
  (void)error;
  *devices = 1;
  return RUNG_OK;
}

/* What the simulated GPU can be like: the numbers that kernels' launches follow. By itself it is a
 * GPU of capability 9.0 with few multiprocessors, so that grids which fill the device stay small.
 */
typedef struct sim_model {
  const char *name;
  int capability, processors, threads;
  int64_t cache_bytes, shared_bytes, shared_processor_bytes;
} sim_model;

static const sim_model models[] = {
    {"", 90, 4, 2048, 0, 227 << 10, 228 << 10},
    {" like an H200", 90, 132, 2048, 60 << 20, 227 << 10, 228 << 10},
    {" like an H100", 90, 132, 2048, 50 << 20, 227 << 10, 228 << 10},
    {" like an A100", 80, 108, 2048, 40 << 20, 163 << 10, 164 << 10},
    {" like a T4", 75, 40, 1024, 4 << 20, 64 << 10, 64 << 10},
};
_Static_assert(sizeof models / sizeof *models ==
                   1 + sizeof(const char *[]){RUNG_SIM_MODELS} / sizeof(char *),
               "a name for each but the first");

static rung_status sim_describe(int index, rung_device *device, rung_error *error) {
  rung_device host;
  rung_status status = rung_cpu_describe(0, &host, error);
  if (status != RUNG_OK) return status;
  const sim_model *model = &models[index];
  *device = (rung_device){.kind = RUNG_SIM,
                          .index = index,
                          .capability = model->capability,
                          .processors = model->processors,
                          .threads = model->threads,
                          .memory_bytes = host.memory_bytes,
                          .cache_bytes = index > 0 ? model->cache_bytes : host.cache_bytes,
                          .shared_bytes = model->shared_bytes,
                          .shared_processor_bytes = model->shared_processor_bytes,
                          .registers = 65536};
  snprintf(device->name, sizeof device->name, "simulated GPU%s", model->name);
  snprintf(device->identity, sizeof device->identity, "%s", device->name);
  return RUNG_OK;
}

static rung_status sim_facts(int index, void (*emit)(void *to, const char *key, const char *value),
                             void *to, rung_error *error) {
  rung_device device;
  char text[64];
  rung_status status = sim_describe(index, &device, error);
  if (status != RUNG_OK) return status;
  emit(to, "name", device.name);
  snprintf(text, sizeof text, "%d.%d, without tensor cores, TMA and inline PTX",
           device.capability / 10, device.capability % 10);
  emit(to, "compute capability", text);
  snprintf(text, sizeof text, "%d", device.processors);
  emit(to, "multiprocessors", text);
  snprintf(text, sizeof text, "%d", device.threads);
  emit(to, "threads per multiprocessor", text);
  snprintf(text, sizeof text, "%lld KiB", (long long)device.shared_bytes >> 10);
  emit(to, "shared memory per block", text);
  emit(to, "lines of source", sim_has_lines() ? "known" : "not known: built without libdw");
  emit(to, "accesses", sim_sees_accesses() ? "watched" : "not watched in this build");
  return RUNG_OK;
}

static rung_status sim_open(const rung_device *device, void *stream, rung_state **state,
                            rung_error *error) {
  (void)stream;
  rung_device host;
  rung_status status = rung_cpu_describe(0, &host, error);
  if (status != RUNG_OK) return status;
  rung_state *made = calloc(1, sizeof *made);
  if (made == NULL)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "out of memory opening the simulated GPU");
  made->device = *device;
  made->host_threads = host.threads;
  made->patience = 20;
  for (int i = 0; i < SIM_MOST_WORKERS; i++) {
    made->workers[i].state = made;
    made->workers[i].number = i;
  }
  *state = made;
  return RUNG_OK;
}

static void sim_close(rung_state *state) {
  for (int i = 0; i < SIM_MOST_WORKERS; i++) sim_drop_worker(&state->workers[i]);
  while (state->allocations != NULL) sim_release(state, state->allocations->first);
  sim_profile_drop(state);
  free(state->permits);
  free(state->textures);
  free(state->constants);
  free(state);
}

/* A task's stream is the opened device: that is how a launch finds it. */
static void *sim_stream(rung_state *state) {
  return state;
}

static rung_status sim_synchronize(rung_state *state, rung_error *error) {
  (void)state;
  (void)error;
  return RUNG_OK; /* launches return when they are done, with what went wrong */
}

static rung_status sim_available(rung_state *state, int64_t *bytes, rung_error *error) {
  (void)state;
  (void)error;
  *bytes = rung_cpu_memory_available("");
  return RUNG_OK;
}

static rung_status sim_copy(rung_state *state, void *to, const void *from, size_t bytes,
                            rung_copy way, rung_error *error) {
  (void)state;
  (void)way;
  (void)error;
  if (bytes > 0) memmove(to, from, bytes);
  return RUNG_OK;
}

static rung_status sim_carry(rung_state *state, const rung_load *loads, int count,
                             rung_error *error) {
  for (int i = 0; i < count; i++)
    (void)sim_copy(state, loads[i].to, loads[i].from, loads[i].bytes, RUNG_ON_DEVICE, error);
  return RUNG_OK;
}

/* Whatever is queued is done at once. */
static rung_status sim_record_event(rung_state *state, rung_queue queue, int event,
                                    rung_error *error) {
  (void)state;
  (void)queue;
  (void)event;
  (void)error;
  return RUNG_OK;
}

static rung_status sim_await_event(rung_state *state, rung_queue queue, int event,
                                   rung_error *error) {
  return sim_record_event(state, queue, event, error);
}

static rung_status sim_wait_event(rung_state *state, int event, rung_error *error) {
  return sim_record_event(state, RUNG_COPIES, event, error);
}

static bool sim_is_pinned(rung_state *state, const void *memory) {
  (void)state;
  (void)memory;
  return false;
}

static rung_status sim_fill(rung_state *state, void *memory, unsigned char byte, size_t bytes,
                            rung_error *error) {
  (void)state;
  (void)error;
  if (bytes > 0) memset(memory, byte, bytes);
  return RUNG_OK;
}

static rung_status sim_pack(rung_state *state, const rung_view *to, const rung_view *from,
                            rung_error *error) {
  (void)state;
  (void)error;
  if (to->count > 0) rung_view_copy(to, from);
  return RUNG_OK;
}

/* To a simulated GPU, which runs in the host's memory, all kinds of it are one. */
static rung_status sim_allocate_kind(rung_state *state, rung_memory kind, size_t bytes,
                                     void **memory, void **device, rung_error *error) {
  (void)state;
  *memory = *device = NULL;
  if (posix_memalign(memory, 256, bytes > 0 ? bytes : 1) != 0) {
    *memory = NULL;
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%zu bytes of host memory cannot be had", bytes);
  }
  if (kind == RUNG_MAPPED || kind == RUNG_MANAGED) *device = *memory;
  return RUNG_OK;
}

static void sim_release_kind(rung_state *state, rung_memory kind, void *memory) {
  (void)state;
  (void)kind;
  free(memory);
}

/* ---- measuring: the host's clock, for what shows progress; nothing of it is a GPU's time -------
 */

static rung_status sim_flush(rung_state *state, rung_error *error) {
  (void)state;
  (void)error;
  return RUNG_OK;
}

static rung_status sim_mark(rung_state *state, int slot, rung_error *error) {
  if (slot != 0 && slot != 1)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "slot is %d; expected: 0 or 1", slot);
  state->marked[slot] = true;
  clock_gettime(CLOCK_MONOTONIC, &state->marks[slot]);
  return RUNG_OK;
}

static rung_status sim_elapsed(rung_state *state, double *milliseconds, rung_error *error) {
  if (!state->marked[0] || !state->marked[1])
    return rung_fail(error, RUNG_BAD_ARGUMENT, "elapsed() needs both marks, and slot %d has none",
                     state->marked[0]);
  *milliseconds = (double)(state->marks[1].tv_sec - state->marks[0].tv_sec) * 1e3 +
                  (double)(state->marks[1].tv_nsec - state->marks[0].tv_nsec) * 1e-6;
  return RUNG_OK;
}

static rung_status sim_clock_mark(rung_state *state, rung_error *error) {
  (void)state;
  (void)error;
  return RUNG_OK;
}

static rung_status no_times(rung_error *error) {
  return rung_fail(error, RUNG_UNSUPPORTED,
                   "device is \"sim\": the simulated GPU counts what kernels do and has no speed "
                   "to measure; expected: \"cpu\" or \"cuda\"");
}

static rung_status sim_clock_mhz(rung_state *state, double *mhz, rung_error *error) {
  (void)state;
  *mhz = 0;
  return no_times(error);
}

/* They count steps. */
static rung_status sim_read_clocks(rung_state *state, rung_ticks *to, int64_t cycles,
                                   rung_error *error) {
  const rung_task task = {.stream = state, .error = error};
  if (!sim_sees_accesses())
    return rung_fail(
        error, RUNG_UNSUPPORTED,
        "device is \"sim\": in this build the simulated GPU counts no steps; expected: "
        "one without AddressSanitizer");
  return rung_clocks_sim(&task, to, cycles);
}

static rung_status sim_probe(rung_state *state, rung_probe probe, int64_t bytes, double *amount,
                             double *milliseconds, rung_error *error) {
  (void)state;
  (void)probe;
  (void)bytes;
  *amount = *milliseconds = 0;
  return no_times(error);
}

/* ---- seeing inside kernels ------------------------------------------------------------------ */

static void sim_examine(rung_state *state, bool on, uint64_t seed) {
  state->examined = on;
  state->seed = seed;
}

const rung_backend rung_sim_backend = {
    .kind = RUNG_SIM,
    .name = "sim",
    .count = sim_count,
    .describe = sim_describe,
    .facts = sim_facts,
    .arrive = NULL,
    .depart = NULL,
    .settle = NULL,
    .default_stream = NULL,
    .open = sim_open,
    .close = sim_close,
    .stream = sim_stream,
    .synchronize = sim_synchronize,
    .allocate = sim_allocate,
    .release = sim_release,
    .available = sim_available,
    .copy = sim_copy,
    .fill = sim_fill,
    .pack = sim_pack,
    .packs = 2,
    .carry = sim_carry,
    .flush = sim_flush,
    .mark = sim_mark,
    .elapsed = sim_elapsed,
    .hold = NULL,
    .release_hold = NULL,
    .clock_begin = sim_clock_mark,
    .clock_end = sim_clock_mark,
    .clock_mhz = sim_clock_mhz,
    .probe = sim_probe,
    .allocate_pinned = NULL,
    .release_pinned = NULL,
    .copy_beside = sim_copy,
    .record = sim_record_event,
    .await = sim_await_event,
    .wait = sim_wait_event,
    .is_pinned = sim_is_pinned,
    .examine = sim_examine,
    .guard = sim_guard,
    .profile_begin = sim_profile_begin,
    .profile_end = sim_profile_end,
    .allocate_kind = sim_allocate_kind,
    .release_kind = sim_release_kind,
    .read_clocks = sim_read_clocks,
};
