/* Device memory: the host's, with a margin on either side that no kernel may touch. */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/sim.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define FORBID(from, bytes) __asan_poison_memory_region(from, bytes)
#define ALLOW(from, bytes) __asan_unpoison_memory_region(from, bytes)
#else
#define FORBID(from, bytes) ((void)(from), (void)(bytes))
#define ALLOW(from, bytes) ((void)(from), (void)(bytes))
#endif

rung_status sim_allocate(rung_state *state, size_t bytes, void **memory, rung_error *error) {
  *memory = NULL;
  sim_allocation *made = calloc(1, sizeof *made);
  void *taken = NULL;
  if (made == NULL || bytes > SIZE_MAX - 2 * (size_t)SIM_MARGIN ||
      posix_memalign(&taken, SIM_MARGIN, bytes + 2 * (size_t)SIM_MARGIN) != 0) {
    free(made);
    return rung_fail(error, RUNG_OUT_OF_MEMORY,
                     "the simulated GPU cannot allocate %zu bytes of host memory", bytes);
  }
  made->memory = taken;
  made->first = made->open = made->memory + SIM_MARGIN;
  made->end = made->closed = made->first + bytes;
  made->next = state->allocations;
  state->allocations = made;
  FORBID(made->memory, SIM_MARGIN);
  FORBID(made->end, SIM_MARGIN);
  *memory = made->first;
  return RUNG_OK;
}

void sim_release(rung_state *state, void *memory) {
  for (sim_allocation **at = &state->allocations; *at != NULL; at = &(*at)->next) {
    sim_allocation *found = *at;
    if (found->first != memory) continue;
    *at = found->next;
    ALLOW(found->memory, (size_t)(found->end - found->memory) + SIM_MARGIN);
    free(found->cells);
    free(found->memory);
    free(found);
    return;
  }
}

sim_allocation *sim_find_allocation(rung_state *state, const void *address) {
  const char *at = address;
  for (sim_allocation *found = state->allocations; found != NULL; found = found->next)
    if (at >= found->memory && at < found->end + SIM_MARGIN) return found;
  return NULL;
}

/* Guards stand at the ends of an allocation: what lies between them is open. */
void sim_guard(rung_state *state, void *memory, size_t bytes, bool on) {
  sim_allocation *in = sim_find_allocation(state, memory);
  char *from = memory, *to = from + bytes;
  if (in == NULL) return;
  if (!on) {
    in->open = in->first;
    in->closed = in->end;
    ALLOW(in->first, (size_t)(in->end - in->first));
    return;
  }
  if (from == in->first)
    in->open = to;
  else
    in->closed = from;
  FORBID(from, bytes);
}
