/* What the lanes of a warp do together. */
#include <string.h>

#include "backend/sim/sim.h"

/* The lanes the exchange of `one` is for, if all of them have come; else 0. A lane that has ended
 * takes no part, as on a GPU. Looked for from the lane after `one` on, which mostly has not come
 * yet. */
static unsigned gathered(const sim_block *block, const sim_thread *one) {
  const int first = one->number / SIM_WARP * SIM_WARP, threads = block->worker->run->threads;
  unsigned lanes = 0;
  for (int step = 1; step <= SIM_WARP; step++) {
    const int lane = (one->number + step) % SIM_WARP;
    const sim_thread *other = &block->threads[first + lane];
    if ((one->mask >> lane & 1) == 0 || first + lane >= threads || other->wait == SIM_ENDED)
      continue;
    if (other->wait != SIM_IN_EXCHANGE || other->mask != one->mask ||
        other->exchange != one->exchange)
      return 0;
    lanes |= 1u << lane;
  }
  return lanes;
}

static uint32_t combine(rung_sim_exchange kind, uint32_t a, uint32_t b) {
  switch (kind) {
    case RUNG_SIM_ADD:
      return a + b;
    case RUNG_SIM_MIN_UNSIGNED:
      return a < b ? a : b;
    case RUNG_SIM_MAX_UNSIGNED:
      return a > b ? a : b;
    case RUNG_SIM_MIN_SIGNED:
      return (int32_t)a < (int32_t)b ? a : b;
    case RUNG_SIM_MAX_SIGNED:
      return (int32_t)a > (int32_t)b ? a : b;
    case RUNG_SIM_AND:
      return a & b;
    case RUNG_SIM_OR:
      return a | b;
    default:
      return a ^ b;
  }
}

/* What lane `lane` gets. */
static uint64_t got(const sim_thread *warp, unsigned lanes, int lane) {
  const sim_thread *mine = &warp[lane];
  const rung_sim_exchange kind = mine->exchange;
  unsigned votes = 0, equal = 0;
  uint32_t all = 0;
  bool first = true;
  if (kind == RUNG_SIM_SYNC) return 0;
  if (kind == RUNG_SIM_TRADE) return mine->value;
  if (kind == RUNG_SIM_SHUFFLE) {
    if (mine->from < 0 || mine->from == lane) return mine->value;
    /* From a lane that takes no part: what comes is not defined. */
    return (lanes >> mine->from & 1) != 0 ? warp[mine->from].value : UINT64_MAX;
  }
  for (int i = 0; i < SIM_WARP; i++) {
    if ((lanes >> i & 1) == 0) continue;
    votes |= (unsigned)(warp[i].value != 0) << i;
    equal |= (unsigned)(warp[i].value == mine->value) << i;
    all = first ? (uint32_t)warp[i].value : combine(kind, all, (uint32_t)warp[i].value);
    first = false;
  }
  if (kind == RUNG_SIM_BALLOT) return votes;
  if (kind == RUNG_SIM_MATCH_ANY) return equal;
  if (kind == RUNG_SIM_MATCH_ALL) return equal == lanes ? lanes : 0;
  return all;
}

/* Lets the lanes go, each with what it gets. */
static void settle(sim_block *block, int warp, unsigned lanes) {
  sim_thread *threads = &block->threads[warp * SIM_WARP];
  uint64_t values[SIM_WARP];
  for (int lane = 0; lane < SIM_WARP; lane++)
    if ((lanes >> lane & 1) != 0) values[lane] = got(threads, lanes, lane);
  sim_race_exchange(block, warp, lanes);
  for (int lane = SIM_WARP - 1; lane >= 0; lane--) {
    if ((lanes >> lane & 1) == 0) continue;
    threads[lane].value = values[lane];
    sim_wake(&threads[lane]);
  }
}

void sim_settle_warp(sim_block *block, int warp) {
  const int threads = block->worker->run->threads;
  for (int lane = 0; lane < SIM_WARP && warp * SIM_WARP + lane < threads; lane++) {
    const sim_thread *thread = &block->threads[warp * SIM_WARP + lane];
    if (thread->wait != SIM_IN_EXCHANGE) continue;
    const unsigned lanes = gathered(block, thread);
    if (lanes != 0) settle(block, warp, lanes);
  }
}

static uint64_t exchange(sim_thread *self, sim_pc pc, rung_sim_exchange kind, unsigned mask,
                         uint64_t value, int from) {
  sim_block *block = self->block;
  self->pc = pc;
  self->wait = SIM_IN_EXCHANGE;
  self->exchange = kind;
  self->mask = mask;
  self->value = value;
  self->from = from;
  if ((mask >> (self->number % SIM_WARP) & 1) == 0) {
    char thread[96], line[160];
    sim_thread_text(self, thread, sizeof thread);
    sim_line_text(pc, line, sizeof line);
    sim_fail(block->worker->run, "%s is lane %d, which the mask 0x%08x at %s leaves out", thread,
             self->number % SIM_WARP, mask, line);
  } else {
    const unsigned lanes = gathered(block, self);
    if (lanes != 0) settle(block, self->number / SIM_WARP, lanes);
  }
  sim_yield(self);
  return self->value;
}

uint64_t rung_sim_exchange_values(rung_sim_exchange kind, unsigned mask, uint64_t value, int from) {
  sim_thread *self = sim_self;
  const sim_pc pc = (sim_pc)__builtin_return_address(0);
  if (self->counted) sim_note(self, SIM_EXCHANGE, pc);
  return exchange(self, pc, kind, mask, value, from);
}

void rung_sim_trade(const void *mine, size_t bytes, const uint8_t *lanes, int count, void *taken) {
  sim_thread *self = sim_self;
  const sim_pc pc = (sim_pc)__builtin_return_address(0);
  const int first = self->number / SIM_WARP * SIM_WARP, threads = self->block->worker->run->threads;
  const uint64_t given = (uint64_t)(uintptr_t)mine;
  if (self->counted) sim_note(self, SIM_EXCHANGE, pc);
  exchange(self, pc, RUNG_SIM_TRADE, 0xffffffffu, given, 0);
  for (int i = 0; i < count; i++) {
    char *to = (char *)taken + (size_t)i * bytes;
    const sim_thread *other = &self->block->threads[first + lanes[i]];
    if (first + lanes[i] < threads && other->wait != SIM_ENDED)
      memcpy(to, (const void *)(uintptr_t)other->value, bytes);
    else
      memset(to, 0xff, bytes); /* a lane that takes no part: what comes is not defined */
  }
  /* Nobody goes on, and changes what it gave, before all have taken it. */
  exchange(self, pc, RUNG_SIM_TRADE, 0xffffffffu, given, 0);
}

void rung_sim_products(const rung_sim_bytes row[4], const rung_sim_bytes columns[8], bool b_signed,
                       int *t) {
  for (int e = 0; e < 4; e++) {
    uint32_t sum = (uint32_t)t[e];
    for (int l = 0; l < 4; l++)
      for (int h = 0; h < 2; h++) {
        const uint32_t a = row[l].a[h * 2 + e / 2], b = columns[e % 2 * 4 + l].b[h];
        for (int i = 0; i < 32; i += 8) {
          const int of_b = b_signed ? (int8_t)(b >> i) : (int)(b >> i & 255);
          sum += (uint32_t)((int8_t)(a >> i) * of_b);
        }
      }
    t[e] = (int)sum;
  }
}
