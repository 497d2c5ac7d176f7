/* Atomic operations: on the host they are what GCC makes of its own, for blocks run on several
 * threads. Floats go through a compare-and-swap, as they would on a GPU without the instruction. */
#include <string.h>

#include "backend/sim/sim.h"

static size_t bytes_of(rung_sim_number number) {
  return number == RUNG_SIM_I32 || number == RUNG_SIM_U32 || number == RUNG_SIM_F32 ? 4 : 8;
}

static float as_f32(uint64_t bits) {
  const uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

static double as_f64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t sum(rung_sim_number number, uint64_t old, uint64_t value) {
  if (number == RUNG_SIM_F32) {
    const float made = as_f32(old) + as_f32(value);
    uint32_t bits;
    memcpy(&bits, &made, sizeof bits);
    return bits;
  }
  if (number == RUNG_SIM_F64) {
    const double made = as_f64(old) + as_f64(value);
    uint64_t bits;
    memcpy(&bits, &made, sizeof bits);
    return bits;
  }
  return old + value;
}

static bool less(rung_sim_number number, uint64_t a, uint64_t b) {
  switch (number) {
    case RUNG_SIM_I32:
      return (int32_t)a < (int32_t)b;
    case RUNG_SIM_I64:
      return (int64_t)a < (int64_t)b;
    case RUNG_SIM_F32:
      return as_f32(a) < as_f32(b);
    case RUNG_SIM_F64:
      return as_f64(a) < as_f64(b);
    default:
      return a < b;
  }
}

static uint64_t made(rung_sim_atomic op, rung_sim_number number, uint64_t old, uint64_t value,
                     uint64_t compare) {
  switch (op) {
    case RUNG_SIM_FETCH_ADD:
      return sum(number, old, value);
    case RUNG_SIM_FETCH_MIN:
      return less(number, value, old) ? value : old;
    case RUNG_SIM_FETCH_MAX:
      return less(number, old, value) ? value : old;
    case RUNG_SIM_FETCH_AND:
      return old & value;
    case RUNG_SIM_FETCH_OR:
      return old | value;
    case RUNG_SIM_FETCH_XOR:
      return old ^ value;
    case RUNG_SIM_COMPARE_SWAP:
      return old == compare ? value : old;
    case RUNG_SIM_INCREMENT:
      return old >= value ? 0 : old + 1;
    case RUNG_SIM_DECREMENT:
      return old == 0 || old > value ? value : old - 1;
    case RUNG_SIM_LOAD:
      return old;
    default: /* a swap, a store */
      return value;
  }
}

static uint64_t fresh_of(rung_sim_atomic op, rung_sim_number number, uint64_t old, uint64_t value,
                         uint64_t compare) {
  const uint64_t fresh = made(op, number, old, value, compare);
  return bytes_of(number) == 4 ? (uint32_t)fresh : fresh;
}

static uint64_t apply32(rung_sim_atomic op, rung_sim_number number, void *address, uint64_t value,
                        uint64_t compare) {
  uint32_t *at = address;
  uint32_t old = __atomic_load_n(at, __ATOMIC_ACQUIRE), fresh;
  do {
    fresh = (uint32_t)fresh_of(op, number, old, value, compare);
  } while (op != RUNG_SIM_LOAD && !__atomic_compare_exchange_n(at, &old, fresh, false,
                                                               __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE));
  return old;
}

static uint64_t apply64(rung_sim_atomic op, rung_sim_number number, void *address, uint64_t value,
                        uint64_t compare) {
  uint64_t *at = address;
  uint64_t old = __atomic_load_n(at, __ATOMIC_ACQUIRE), fresh;
  do {
    fresh = fresh_of(op, number, old, value, compare);
  } while (op != RUNG_SIM_LOAD && !__atomic_compare_exchange_n(at, &old, fresh, false,
                                                               __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE));
  return old;
}

uint64_t rung_sim_atomic_op(rung_sim_atomic op, rung_sim_number number, void *address,
                            uint64_t value, uint64_t compare) {
  sim_thread *self = sim_self;
  const size_t bytes = bytes_of(number);
  const sim_access access = op == RUNG_SIM_LOAD    ? SIM_READS
                            : op == RUNG_SIM_STORE ? SIM_WRITES
                                                   : SIM_BOTH;
  self->pc = (sim_pc)__builtin_return_address(0);
  if (self->watched) sim_touch(self, address, bytes, access, true, self->pc);
  if (bytes == 4) {
    value = (uint32_t)value;
    compare = (uint32_t)compare;
  }
  const uint64_t old = bytes == 4 ? apply32(op, number, address, value, compare)
                                  : apply64(op, number, address, value, compare);
  /* What changed nothing may be waiting for a change: a lock is asked for by a swap, too. */
  const bool idle = op != RUNG_SIM_STORE && fresh_of(op, number, old, value, compare) == old;
  if (idle) {
    self->wait = SIM_POLLING;
    sim_yield(self);
  } else {
    self->block->moved = true;
    if (op == RUNG_SIM_STORE || op == RUNG_SIM_SWAP) self->block->worker->run->moves++;
  }
  return old;
}
