/* Static shared memory: one block's at a time. */
#include <pthread.h>
#include <stdlib.h>

#include "backend/sim/sim.h"

/* In the order in which they came, so that nobody starves beside a launch of another context. It is
 * poison whenever nobody has it. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t turn;
  uint64_t next, serving;
  bool poisoned; /* not before the first block takes it */
} static_memory = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false};

/* All kernels' arrays are two megabytes, of which a kernel uses a few kilobytes: what a block wrote
 * is found by pieces, and only those are kept and poisoned again. */
enum { PIECE = 512 };
struct sim_piece {
  size_t at, bytes;
  char held[PIECE];
};

typedef uint64_t __attribute__((may_alias)) word;
static const word poison = UINT64_C(0x0101010101010101) * (uint8_t)SIM_POISON;

/* Loops, for AddressSanitizer keeps zones between the arrays that memcpy may not touch. All begin
 * at multiples of 8. */
#define MOVER \
  __attribute__((no_sanitize("address"), optimize("no-tree-loop-distribute-patterns"))) static

MOVER void move_bytes(char *to, const char *from, size_t bytes) {
  size_t i = 0;
  for (; i + sizeof(word) <= bytes; i += sizeof(word))
    *(word *)(to + i) = *(const word *)(from + i);
  for (; i < bytes; i++) to[i] = from[i];
}

MOVER void poison_bytes(char *to, size_t bytes) {
  size_t i = 0;
  for (; i + sizeof(word) <= bytes; i += sizeof(word)) *(word *)(to + i) = poison;
  for (; i < bytes; i++) to[i] = (char)SIM_POISON;
}

MOVER bool is_poison(const char *from, size_t bytes) {
  typedef uint64_t __attribute__((may_alias, vector_size(16), aligned(8))) two_words;
  two_words differ[2] = {{0, 0}, {0, 0}};
  const two_words wanted = {poison, poison};
  size_t i = 0;
  for (; i + 2 * sizeof wanted <= bytes; i += 2 * sizeof wanted) {
    differ[0] |= *(const two_words *)(from + i) ^ wanted;
    differ[1] |= *(const two_words *)(from + i + sizeof wanted) ^ wanted;
  }
  bool same = true;
  for (; i < bytes; i++) same = same && from[i] == (char)SIM_POISON;
  differ[0] |= differ[1];
  return same && (differ[0][0] | differ[0][1]) == 0;
}

void sim_take_static(sim_block *block) {
  pthread_mutex_lock(&static_memory.lock);
  const uint64_t turn = static_memory.next++;
  while (static_memory.serving != turn) pthread_cond_wait(&static_memory.turn, &static_memory.lock);
  pthread_mutex_unlock(&static_memory.lock);
  if (!static_memory.poisoned) poison_bytes(__start_rung_shared, sim_static_bytes());
  static_memory.poisoned = true;
  for (size_t i = 0; i < block->static_count; i++) {
    const struct sim_piece *piece = &block->static_saved[i];
    move_bytes(__start_rung_shared + piece->at, piece->held, piece->bytes);
  }
  block->static_count = 0;
  block->has_static_shared = true;
  block->wants_static_shared = false;
}

static bool keep_piece(sim_block *block, size_t at, size_t bytes) {
  if (block->static_count == block->static_room) {
    const size_t room = block->static_room * 2 + 8;
    struct sim_piece *more = realloc(block->static_saved, room * sizeof *more);
    if (more == NULL) return false;
    block->static_saved = more;
    block->static_room = room;
  }
  struct sim_piece *piece = &block->static_saved[block->static_count++];
  piece->at = at;
  piece->bytes = bytes;
  move_bytes(piece->held, __start_rung_shared + at, bytes);
  return true;
}

void sim_give_static(sim_block *block, bool keep) {
  if (!block->has_static_shared) return;
  const size_t all = sim_static_bytes();
  for (size_t at = 0; at < all; at += PIECE) {
    const size_t bytes = all - at < PIECE ? all - at : PIECE;
    if (is_poison(__start_rung_shared + at, bytes)) continue;
    if (keep && !keep_piece(block, at, bytes)) {
      sim_fail_memory(block->worker->run, "a simulated block's shared memory");
      keep = false;
    }
    poison_bytes(__start_rung_shared + at, bytes);
  }
  block->has_static_shared = false;
  block->wants_static_shared = keep;
  pthread_mutex_lock(&static_memory.lock);
  static_memory.serving++;
  pthread_cond_broadcast(&static_memory.turn);
  pthread_mutex_unlock(&static_memory.lock);
}

void rung_sim_static_shared(void) {
  sim_block *block = sim_self->block;
  if (!block->has_static_shared) sim_take_static(block);
}
