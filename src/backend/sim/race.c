/* Races: two threads of a block touch the same bytes, one of them writes, and nothing put one
 * before the other. A block barrier orders all its threads, an exchange the lanes it is for. Every
 * word of shared and device memory remembers its last write and two readers since.
 *
 * Blocks of a launch have no order at all, unless one has seen the other's atomic: a block that
 * has used none and meets another's write is a race, too. So have two launches of which the second
 * may begin before the first has ended, until it waits for it. */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/sim.h"

enum { WORD = 4 };

/* In 16 bytes, for what an access takes is waiting for the cell of its word: of an address 48 bits
 * are used. */
typedef struct access_mark {
  uint64_t pc : 48; /* 0: none */
  uint64_t thread : 10;
  uint64_t bytes : 4; /* of the word: a bit each */
  uint64_t atomic : 1;
  uint32_t barriers, clock;
} access_mark;
_Static_assert(SIM_MOST_THREADS <= 1 << 10 && WORD <= 4, "a mark has room for them");

typedef struct sim_cell {
  uint32_t stamp; /* of the block whose marks these are */
  access_mark write, read[2];
} sim_cell;

typedef struct sim_race {
  sim_cell *shared, *fixed; /* of dynamic and static shared memory */
  size_t shared_words, fixed_words;
  /* seen[w][j][i]: what lane j of warp w knows of lane i's clock */
  uint32_t seen[SIM_MOST_THREADS / SIM_WARP][SIM_WARP][SIM_WARP];
} sim_race;

void sim_race_drop(sim_block *block) {
  if (block->race == NULL) return;
  free(block->race->shared);
  free(block->race->fixed);
  free(block->race);
  block->race = NULL;
}

bool sim_race_begin(sim_block *block) {
  if (!block->worker->state->examined) {
    sim_race_drop(block); /* of a launch that was */
    return true;
  }
  const size_t words = (block->worker->run->launch->shared_bytes + WORD - 1) / WORD;
  if (block->race == NULL) block->race = calloc(1, sizeof *block->race);
  if (block->race == NULL) return false;
  if (block->race->shared_words < words) {
    free(block->race->shared);
    block->race->shared = calloc(words, sizeof(sim_cell));
    block->race->shared_words = block->race->shared != NULL ? words : 0;
    if (block->race->shared == NULL) return false;
  }
  const size_t warps = ((size_t)block->worker->run->threads + SIM_WARP - 1) / SIM_WARP;
  memset(block->race->seen, 0, warps * sizeof block->race->seen[0]);
  block->stamp = ++block->worker->state->stamps;
  return true;
}

void sim_race_exchange(sim_block *block, int warp, unsigned lanes) {
  if (block->race == NULL) return;
  uint32_t(*seen)[SIM_WARP] = block->race->seen[warp], joined[SIM_WARP] = {0};
  for (int j = 0; j < SIM_WARP; j++) {
    if ((lanes >> j & 1) == 0) continue;
    seen[j][j] = block->threads[warp * SIM_WARP + j].clock++;
    for (int i = 0; i < SIM_WARP; i++)
      if (joined[i] < seen[j][i]) joined[i] = seen[j][i];
  }
  for (int j = 0; j < SIM_WARP; j++)
    if ((lanes >> j & 1) != 0) memcpy(seen[j], joined, sizeof joined);
}

/* Whether what `mark` tells of comes before what `self` does now. */
static bool ordered(const sim_thread *self, const access_mark *mark) {
  const sim_block *block = self->block;
  const int other = mark->thread;
  if (other == self->number || mark->barriers != block->barriers) return true;
  const int warp = self->number / SIM_WARP;
  if (other / SIM_WARP != warp) return false;
  return block->race->seen[warp][self->number % SIM_WARP][other % SIM_WARP] >= mark->clock;
}

static void report(sim_thread *self, const access_mark *mark, bool mark_writes, sim_access access,
                   bool other_block, const char *memory, sim_pc pc) {
  char thread[96], here[160], there[160];
  sim_thread_text(self, thread, sizeof thread);
  sim_line_text(pc, here, sizeof here);
  sim_line_text(mark->pc, there, sizeof there);
  sim_fail(self->block->worker->run,
           "a race in %s memory: %s %s at %s what thread %d%s %s at %s, and nothing orders the two",
           memory, thread, access == SIM_READS ? "reads" : "writes", here, mark->thread,
           other_block ? " of another block" : "", mark_writes ? "wrote" : "read", there);
  sim_yield(self);
}

static bool conflicts(const access_mark *mark, uint8_t bytes, bool atomic) {
  return mark->pc != 0 && (mark->bytes & bytes) != 0 && !(mark->atomic && atomic);
}

/* One word's marks, before this access is added to them; false: a race was reported. */
static bool look(sim_thread *self, const sim_cell *cell, uint8_t bytes, sim_access access,
                 bool atomic, const char *memory, sim_pc pc) {
  const bool writes = (access & SIM_WRITES) != 0, other = cell->stamp != self->block->stamp;
  if (other && self->block->synchronised) return true;
  if (conflicts(&cell->write, bytes, atomic) && (other || !ordered(self, &cell->write))) {
    report(self, &cell->write, true, access, other, memory, pc);
    return false;
  }
  for (int k = 0; writes && k < 2; k++) {
    const access_mark *read = &cell->read[k];
    if (!conflicts(read, bytes, atomic) || (!other && ordered(self, read))) continue;
    report(self, read, false, access, other, memory, pc);
    return false;
  }
  return true;
}

static void add(sim_thread *self, sim_cell *cell, uint8_t bytes, sim_access access, bool atomic,
                sim_pc pc) {
  const access_mark mark = {.pc = pc,
                            .barriers = self->block->barriers,
                            .clock = self->clock,
                            .thread = (unsigned)self->number,
                            .bytes = bytes,
                            .atomic = atomic};
  if ((access & SIM_WRITES) != 0) {
    cell->write = mark;
    return;
  }
  /* The first reader whose read is not ordered before this one stays: one of the two is another
   * thread than any writer to come. */
  access_mark *first = &cell->read[0];
  if (first->pc == 0 || ordered(self, first))
    *first = mark;
  else
    cell->read[1] = mark;
}

/* `first`: the cell of the word that holds byte 0 of the memory. */
static bool touch(sim_thread *self, sim_cell *first, uint32_t launch, size_t offset, size_t bytes,
                  sim_access access, bool atomic, const char *memory, sim_pc pc) {
  for (size_t word = offset / WORD; word * WORD < offset + bytes; word++) {
    sim_cell *cell = &first[word];
    const size_t at = word * WORD, left = offset + bytes - at;
    const uint8_t mask =
        (uint8_t)((1u << (left < WORD ? left : WORD)) - (1u << (at < offset ? offset - at : 0)));
    /* Marks from before this launch, or of a block that had this shared memory before. */
    if (cell->stamp < launch) memset(cell, 0, sizeof *cell);
    if (!look(self, cell, mask, access, atomic, memory, pc)) return false;
    if (cell->stamp != self->block->stamp) {
      memset(cell, 0, sizeof *cell);
      cell->stamp = self->block->stamp;
    }
    add(self, cell, mask, access, atomic, pc);
  }
  return true;
}

void sim_race_shared(sim_thread *self, size_t offset, bool is_static, size_t bytes,
                     sim_access access, bool atomic, sim_pc pc) {
  sim_race *race = self->block->race;
  if (is_static && race->fixed == NULL) {
    race->fixed_words = sim_static_bytes() / WORD + 1;
    race->fixed = calloc(race->fixed_words, sizeof(sim_cell));
    if (race->fixed == NULL) {
      sim_fail_memory(self->block->worker->run, "the watch on shared memory");
      return;
    }
  }
  touch(self, is_static ? race->fixed : race->shared, self->block->stamp, offset, bytes, access,
        atomic, "shared", pc);
}

/* The first word of these bytes that blocks with stamps from `from` on and before `to` have
 * written; NULL: none. */
static const sim_cell *written(const sim_allocation *in, const char *address, size_t bytes,
                               uint32_t from, uint32_t to) {
  const size_t offset = (size_t)(address - in->first);
  for (size_t word = offset / WORD; word * WORD < offset + bytes; word++) {
    const sim_cell *cell = &in->cells[word];
    if (cell->stamp < from || cell->stamp >= to || cell->write.pc == 0) continue;
    for (size_t at = word * WORD; at < (word + 1) * WORD; at++)
      if (at >= offset && at < offset + bytes && (cell->write.bytes >> (at - word * WORD) & 1) != 0)
        return cell;
  }
  return NULL;
}

/* On a GPU the launch before may not have ended, and neither this thread nor one that it has met at
 * a barrier since has waited for it: it may write nothing, and read nothing that that one wrote.
 * False: it does, which is reported. */
static bool comes_late_enough(sim_thread *self, const sim_allocation *in, const char *address,
                              size_t bytes, sim_access access, sim_pc pc) {
  sim_run *run = self->block->worker->run;
  char thread[96], here[160], there[160];
  if (!run->launch->next || self->awaited || self->block->barriers > self->block->awaited)
    return true;
  const bool writes = (access & SIM_WRITES) != 0;
  const sim_cell *cell =
      writes ? NULL : written(in, address, bytes, run->stamp_before, run->first_stamp);
  if (!writes && cell == NULL) return true;
  sim_thread_text(self, thread, sizeof thread);
  sim_line_text(pc, here, sizeof here);
  if (writes) {
    sim_fail(run,
             "%s writes at %s before it has waited for the launch before; expected: "
             "rung_await_before(), in a kernel of RUNG_LAUNCH_NEXT",
             thread, here);
  } else {
    sim_line_text(cell->write.pc, there, sizeof there);
    sim_fail(
        run,
        "%s reads at %s what thread %d of the launch before wrote at %s, and has not waited for "
        "it; expected: rung_await_before(), in a kernel of RUNG_LAUNCH_NEXT",
        thread, here, cell->write.thread, there);
  }
  sim_yield(self);
  return false;
}

void sim_race_global(sim_thread *self, sim_allocation *in, const char *address, size_t bytes,
                     sim_access access, bool atomic, sim_pc pc) {
  if (in->cells == NULL)
    in->cells = calloc((size_t)(in->end - in->first) / WORD + 1, sizeof(sim_cell));
  if (in->cells == NULL) {
    sim_fail_memory(self->block->worker->run, "the watch on device memory");
    return;
  }
  if (!comes_late_enough(self, in, address, bytes, access, pc)) return;
  touch(self, in->cells, self->block->worker->run->first_stamp, (size_t)(address - in->first),
        bytes, access, atomic, "device", pc);
}

/* A texture's cache is not told of stores: what the same launch wrote, be it the thread itself, may
 * be seen or not. */
bool sim_race_texel(sim_thread *self, const sim_allocation *in, const char *address, size_t bytes,
                    sim_pc pc) {
  const uint32_t launch = self->block->worker->run->first_stamp;
  char thread[96], here[160], there[160];
  if (in->cells == NULL) return true;
  const sim_cell *cell = written(in, address, bytes, launch, UINT32_MAX);
  if (cell == NULL) return true;
  sim_thread_text(self, thread, sizeof thread);
  sim_line_text(pc, here, sizeof here);
  sim_line_text(cell->write.pc, there, sizeof there);
  sim_fail(self->block->worker->run,
           "%s reads at %s, through a texture, what thread %d wrote at %s in the same launch; "
           "expected: a launch in between",
           thread, here, cell->write.thread, there);
  sim_yield(self);
  return false;
}
