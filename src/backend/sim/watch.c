/* The compiler's call-backs. Kernels are compiled with -fsanitize=thread and
 * -fsanitize-coverage=trace-pc, which call out before every access to memory and in every basic
 * block; surface.h gives those calls the names below, so that a program which has a sanitizer of
 * its own keeps it. Here is decided what an address is, and who wants to know. */
#include <math.h>

#include "backend/sim/sim.h"

bool sim_sees_accesses(void) {
#ifdef RUNG_SIM_WATCHED
  return true;
#else
  return false;
#endif
}

bool sim_is_watched(const rung_state *state) {
  return state->examined || state->profile != NULL;
}

/* "read 4 bytes at file:line, 8 bytes past the end of memory it may use" */
static void report_stray(sim_thread *self, const char *what, const char *address, size_t bytes,
                         const char *from, const char *to, sim_access access, sim_pc pc) {
  char thread[96], line[160];
  sim_thread_text(self, thread, sizeof thread);
  sim_line_text(pc, line, sizeof line);
  const bool before = address < from;
  const long long far = before ? (long long)(from - address) : (long long)(address + bytes - to);
  sim_fail(self->block->worker->run, "%s %s %zu bytes at %s, %lld byte%s %s %s it may use", thread,
           access == SIM_READS ? "reads" : "writes", bytes, line, far, far == 1 ? "" : "s",
           before ? "before the start of" : "past the end of", what);
  sim_yield(self); /* the launch has failed: it is not resumed */
}

static void touch_shared(sim_thread *self, const char *address, size_t bytes, sim_access access,
                         bool atomic, sim_pc pc) {
  sim_block *block = self->block;
  const size_t has = block->worker->run->launch->shared_bytes;
  if (address < block->shared || address + bytes > block->shared + has) {
    report_stray(self, "the dynamic shared memory", address, bytes, block->shared,
                 block->shared + has, access, pc);
    return;
  }
  if (block->race != NULL)
    sim_race_shared(self, (size_t)(address - block->shared), false, bytes, access, atomic, pc);
}

static void touch_global(sim_thread *self, sim_allocation *in, const char *address, size_t bytes,
                         sim_access access, bool atomic, sim_pc pc) {
  if (address < in->open || address + bytes > in->closed) {
    report_stray(self, "the memory", address, bytes, in->open, in->closed, access, pc);
    return;
  }
  if (self->block->race != NULL) sim_race_global(self, in, address, bytes, access, atomic, pc);
  if (atomic) self->block->synchronised = true;
}

/* Of constant memory only what was copied there is read, and nothing is written. */
static void touch_constant(sim_thread *self, const char *address, size_t bytes, sim_access access,
                           sim_pc pc) {
  const sim_constant *in = sim_find_constant(self->block->worker->state, address);
  char thread[96], line[160];
  if (access == SIM_READS && in != NULL) {
    if (address < in->first || address + bytes > in->end)
      report_stray(self, "the constant memory", address, bytes, in->first, in->end, access, pc);
    return;
  }
  sim_thread_text(self, thread, sizeof thread);
  sim_line_text(pc, line, sizeof line);
  sim_fail(self->block->worker->run, "%s %s %zu bytes at %s %s", thread,
           access == SIM_READS ? "reads" : "writes", bytes, line,
           access == SIM_READS ? "of constant memory to which nothing was copied"
                               : "of constant memory, which no kernel may write");
  sim_yield(self);
}

void sim_touch_texel(sim_thread *self, const void *texture, const void *address, size_t bytes,
                     sim_pc pc) {
  sim_allocation *in = sim_find_allocation(self->block->worker->state, texture);
  if (in == NULL) return; /* the host's own array */
  if (self->block->race != NULL && (const char *)address >= in->open &&
      (const char *)address + bytes <= in->closed && !sim_race_texel(self, in, address, bytes, pc))
    return;
  touch_global(self, in, address, bytes, SIM_READS, false, pc);
  if (self->counted) sim_count_log(self, SIM_LOAD, address, bytes, false, pc);
}

void sim_touch(sim_thread *self, const void *where, size_t bytes, sim_access access, bool atomic,
               sim_pc pc) {
  const char *address = where;
  sim_block *block = self->block;
  rung_state *state = block->worker->state;
  bool shared = true;
  if (sim_fibre_holds(self->fibre, address)) return; /* its own */
  if ((size_t)(address - (block->shared - SIM_MARGIN)) <
      block->shared_room + 2 * (size_t)SIM_MARGIN) {
    touch_shared(self, address, bytes, access, atomic, pc);
  } else if (address >= __start_rung_shared && address < __stop_rung_shared) {
    if (block->race != NULL)
      sim_race_shared(self, (size_t)(address - __start_rung_shared), true, bytes, access, atomic,
                      pc);
  } else if (sim_is_constant(address)) {
    touch_constant(self, address, bytes, access, pc);
    return; /* not counted, as parameters are not */
  } else {
    sim_allocation *in = sim_find_allocation(state, address);
    if (in == NULL) return; /* parameters, tables of the compiler's */
    touch_global(self, in, address, bytes, access, atomic, pc);
    shared = false;
  }
  if (self->counted)
    sim_count_log(self,
                  atomic                ? SIM_ATOMIC
                  : access == SIM_READS ? SIM_LOAD
                                        : SIM_STORE,
                  address, bytes, shared, pc);
}

void sim_note(sim_thread *self, sim_event_kind kind, sim_pc pc) {
  sim_count_log(self, kind, NULL, 0, false, pc);
}

void rung_sim_copy_in(void *shared, const void *global, size_t bytes, bool cached) {
  sim_thread *self = sim_self;
  const sim_pc pc = (sim_pc)__builtin_return_address(0);
  if (self->watched) {
    const int64_t before = self->log.count;
    sim_touch(self, global, bytes, SIM_READS, false, pc);
    sim_touch(self, shared, bytes, SIM_WRITES, false, pc);
    if (self->log.count == before + 2)
      sim_count_copy(self, cached ? SIM_COPY_CACHED : SIM_COPY_SECTORS);
  }
  char *to = shared;
  const char *from = global;
  for (size_t i = 0; i < bytes; i++) to[i] = from[i];
}

float rung_sim_fma32(float a, float b, float c) {
  sim_thread *self = sim_self;
  if (self != NULL && self->counted) sim_note(self, SIM_FMA, (sim_pc)__builtin_return_address(0));
  return __builtin_fmaf(a, b, c);
}

float rung_sim_root(float x) {
  return sqrtf(x);
}
float rung_sim_inverse_root(float x) {
  return 1.0f / sqrtf(x);
}

double rung_sim_fma64(double a, double b, double c) {
  sim_thread *self = sim_self;
  if (self != NULL && self->counted) sim_note(self, SIM_FMA, (sim_pc)__builtin_return_address(0));
  return __builtin_fma(a, b, c);
}

/* ---- what the compiler calls ---------------------------------------------------------------- */

#define CALLED_BACK(name, bytes, access)                                                   \
  void name(const void *address);                                                          \
  void name(const void *address) {                                                         \
    sim_thread *self = sim_self;                                                           \
    if (self != NULL && self->watched)                                                     \
      sim_touch(self, address, bytes, access, false, (sim_pc)__builtin_return_address(0)); \
  }

CALLED_BACK(rung_sim_read1, 1, SIM_READS)
CALLED_BACK(rung_sim_read2, 2, SIM_READS)
CALLED_BACK(rung_sim_read4, 4, SIM_READS)
CALLED_BACK(rung_sim_read8, 8, SIM_READS)
CALLED_BACK(rung_sim_read16, 16, SIM_READS)
CALLED_BACK(rung_sim_write1, 1, SIM_WRITES)
CALLED_BACK(rung_sim_write2, 2, SIM_WRITES)
CALLED_BACK(rung_sim_write4, 4, SIM_WRITES)
CALLED_BACK(rung_sim_write8, 8, SIM_WRITES)
CALLED_BACK(rung_sim_write16, 16, SIM_WRITES)

void rung_sim_read_range(const void *address, size_t bytes);
void rung_sim_read_range(const void *address, size_t bytes) {
  sim_thread *self = sim_self;
  if (self != NULL && self->watched)
    sim_touch(self, address, bytes, SIM_READS, false, (sim_pc)__builtin_return_address(0));
}

void rung_sim_write_range(const void *address, size_t bytes);
void rung_sim_write_range(const void *address, size_t bytes) {
  sim_thread *self = sim_self;
  if (self != NULL && self->watched)
    sim_touch(self, address, bytes, SIM_WRITES, false, (sim_pc)__builtin_return_address(0));
}

/* Blocks may tell one another by volatile accesses, as by atomics; a read of that kind is how a
 * thread waits for another, which gets its turn. */
static void touch_volatile(sim_thread *self, const void *address, size_t bytes, sim_access access,
                           sim_pc pc) {
  self->block->synchronised = true;
  sim_touch(self, address, bytes, access, false, pc);
}

#define CALLED_BACK_VOLATILE(bytes)                                                          \
  void rung_sim_volatile_read##bytes(const void *address);                                   \
  void rung_sim_volatile_read##bytes(const void *address) {                                  \
    sim_thread *self = sim_self;                                                             \
    if (self == NULL) return;                                                                \
    const sim_pc pc = (sim_pc)__builtin_return_address(0);                                   \
    if (self->watched) touch_volatile(self, address, bytes, SIM_READS, pc);                  \
    self->pc = pc;                                                                           \
    self->wait = SIM_POLLING;                                                                \
    sim_yield(self);                                                                         \
  }                                                                                          \
  void rung_sim_volatile_write##bytes(const void *address);                                  \
  void rung_sim_volatile_write##bytes(const void *address) {                                 \
    sim_thread *self = sim_self;                                                             \
    if (self == NULL) return;                                                                \
    self->block->moved = true;                                                               \
    self->block->worker->run->moves++;                                                       \
    if (self->watched)                                                                       \
      touch_volatile(self, address, bytes, SIM_WRITES, (sim_pc)__builtin_return_address(0)); \
  }

CALLED_BACK_VOLATILE(1)
CALLED_BACK_VOLATILE(2)
CALLED_BACK_VOLATILE(4)
CALLED_BACK_VOLATILE(8)
CALLED_BACK_VOLATILE(16)

void rung_sim_step(void);
void rung_sim_step(void) { /* on a host thread that runs no kernel it counts for nobody */
  sim_steps.clock++;
  if (sim_steps.counted) sim_note(sim_self, SIM_STEP, (sim_pc)__builtin_return_address(0));
}

void rung_sim_nothing(void);
void rung_sim_nothing(void) {}
