/* What the tests of the simulated GPU share: a device, "sim" or a GPU where there is one, and a way
 * to run an entry on it. On the simulator every run is made four times: plain, examined in two
 * orders, counted; all must come out the same, and the examination must find nothing. */
#ifndef TESTS_SIM_BOARD_H
#define TESTS_SIM_BOARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/sim/sim.h"
#include "core/part.h"
#include "gpu_entries.h"

enum { BOARD_SCRATCH = 1 << 20 };

typedef struct board {
  const rung_backend *backend;
  rung_device device;
  rung_state *state; /* NULL: no such device */
  rung_error error;
} board;

static board here;

static inline int open_board(rung_kind kind) {
  int devices = 0;
  here = (board){0};
  here.backend = rung_backend_of(kind, &here.error);
  if (!here.backend || here.backend->count(&devices, &here.error) != RUNG_OK) {
    print_message("no such device: %s\n", here.error.sentence);
    return 0;
  }
  if (here.backend->describe(0, &here.device, &here.error) != RUNG_OK) return -1;
  return here.backend->open(&here.device, NULL, &here.state, &here.error) == RUNG_OK ? 0 : -1;
}
static inline int on_sim(void **unused) {
  (void)unused;
  return open_board(RUNG_SIM);
}
static inline int on_cuda(void **unused) {
  (void)unused;
  return open_board(RUNG_CUDA);
}
static inline int close_board(void **unused) {
  (void)unused;
  if (here.state) here.backend->close(here.state);
  here.state = NULL;
  return 0;
}

static inline void must(rung_status status) {
  if (status != RUNG_OK) fail_msg("status %d: %s", (int)status, here.error.sentence);
}

static inline rung_status launch_once(rung_launch *const *entries, const void *problem,
                                      const void *in, size_t in_bytes, void *out,
                                      size_t out_bytes) {
  const rung_backend *backend = here.backend;
  rung_launch *entry = entries[here.device.kind == RUNG_SIM];
  rung_task task = {.problem = problem,
                    .stream = backend->stream(here.state),
                    .state = here.state,
                    .device = &here.device,
                    .error = &here.error};
  void *from, *to;
  must(backend->allocate(here.state, in_bytes, &from, &here.error));
  must(backend->allocate(here.state, out_bytes, &to, &here.error));
  must(backend->allocate(here.state, BOARD_SCRATCH, &task.scratch, &here.error));
  must(backend->copy(here.state, from, in, in_bytes, RUNG_TO_DEVICE, &here.error));
  must(backend->copy(here.state, to, out, out_bytes, RUNG_TO_DEVICE, &here.error));
  must(backend->fill(here.state, task.scratch, 0, BOARD_SCRATCH, &here.error));
  task.arrays[0] = (rung_view){.data = from, .count = (int64_t)in_bytes};
  task.arrays[1] = (rung_view){.data = to, .count = (int64_t)out_bytes};
  rung_status status = entry(&task);
  if (status == RUNG_OK) status = backend->synchronize(here.state, &here.error);
  if (status == RUNG_OK)
    must(backend->copy(here.state, out, to, out_bytes, RUNG_TO_HOST, &here.error));
  must(backend->synchronize(here.state, NULL));
  backend->release(here.state, from);
  backend->release(here.state, to);
  backend->release(here.state, task.scratch);
  return status;
}

/* out: what it holds before, then what came out of the plain run. */
static inline void run_on_board(rung_launch *const *entries, const void *problem, const void *in,
                                size_t in_bytes, void *out, size_t out_bytes) {
  if (!here.state) skip();
  void *again = malloc(out_bytes), *before = malloc(out_bytes);
  memcpy(before, out, out_bytes);
  must(launch_once(entries, problem, in, in_bytes, out, out_bytes));
  for (uint64_t seed = 1; seed <= 2 && here.backend->examine; seed++) {
    memcpy(again, before, out_bytes);
    here.backend->examine(here.state, true, seed);
    must(launch_once(entries, problem, in, in_bytes, again, out_bytes));
    here.backend->examine(here.state, false, 0);
    assert_memory_equal(again, out, out_bytes);
  }
  if (here.device.kind == RUNG_SIM && sim_sees_accesses()) {
    rung_profile profile;
    memcpy(again, before, out_bytes);
    must(here.backend->profile_begin(here.state, false, &here.error));
    must(launch_once(entries, problem, in, in_bytes, again, out_bytes));
    must(here.backend->profile_end(here.state, &profile, &here.error));
    assert_true(profile.count > 0 && profile.kernels[0].launches > 0);
    rung_profile_free(&profile);
    assert_memory_equal(again, out, out_bytes);
  }
  free(again);
  free(before);
}

#define EACH(test)                                   \
  {"sim " #test, test, on_sim, close_board, NULL}, { \
    "cuda " #test, test, on_cuda, close_board, NULL  \
  }

#define ENTRIES_OF(name) ((rung_launch *const[])RUNG_GPU_ENTRIES(name))

#endif
