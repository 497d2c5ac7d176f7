/* Constant memory: what kernels declare as __constant__, gathered by the linker (shared.ld), with
 * room before and behind that belongs to nobody. Kernels read what was copied there, no more, and
 * write nothing. */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/sim.h"

extern char __start_rung_constant[] __attribute__((weak, visibility("hidden")));
extern char __stop_rung_constant[] __attribute__((weak, visibility("hidden")));

bool sim_is_constant(const char *address) {
  return address >= __start_rung_constant && address < __stop_rung_constant;
}

rung_status rung_sim_copy_to_constant(const rung_task *task, void *symbol, size_t room,
                                      const void *from, size_t bytes) {
  rung_state *state = task->stream;
  if (bytes > room)
    return rung_fail(task->error, RUNG_DEVICE_FAILED,
                     "%zu bytes into constant memory of %zu: invalid argument", bytes, room);
  int i = 0;
  while (i < state->constant_count && state->constants[i].first != symbol) i++;
  if (i == state->constant_count) {
    sim_constant *more = realloc(state->constants, ((size_t)i + 1) * sizeof *more);
    if (more == NULL) return rung_fail(task->error, RUNG_OUT_OF_MEMORY, "out of host memory");
    state->constants = more;
    state->constants[state->constant_count++] = (sim_constant){symbol, symbol};
  }
  memcpy(symbol, from, bytes);
  if (state->constants[i].first + bytes > state->constants[i].end)
    state->constants[i].end = state->constants[i].first + bytes;
  return RUNG_OK;
}

const sim_constant *sim_find_constant(const rung_state *state, const char *address) {
  const sim_constant *nearest = NULL;
  ptrdiff_t least = 0;
  for (int i = 0; i < state->constant_count; i++) {
    const sim_constant *at = &state->constants[i];
    const ptrdiff_t far = address < at->first ? at->first - address
                          : address < at->end ? 0
                                              : address - at->end + 1;
    if (nearest != NULL && far >= least) continue;
    nearest = at;
    least = far;
  }
  return nearest;
}
