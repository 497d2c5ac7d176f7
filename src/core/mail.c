#include "core/mail.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* SLOTS: of a rank; more of them, and it looks less often at what others have taken. */
enum { LINE = 64, SLOTS = 8 };

/* From one rank to another; written by the sender. Message n is in slots[n % SLOTS]: each that is
 * under way has another slot, so there are never more of them than there is room for. */
typedef struct pair {
  _Alignas(LINE) atomic_uint posted; /* messages so far, modulo 2^32 */
  uint16_t slots[SLOTS], bytes[SLOTS];
} pair;
_Static_assert(sizeof(pair) == LINE, "who writes to one rank disturbs no other");
_Static_assert(RUNG_MAIL_MOST <= UINT16_MAX, "a pair has room for how long a message is");

typedef struct slot {
  _Alignas(LINE) char data[RUNG_MAIL_MOST];
  /* The sender's own: */
  size_t bytes;
  int pending; /* messages that are not known to be taken */
} slot;

/* Who sends to whom is [from * count + to]; `taken` is of the receivers' lines, [to][from]. */
struct rung_mail {
  int count;
  size_t row;         /* numbers of a rank in `taken` and `known`, whole lines */
  slot *slots;        /* SLOTS a rank */
  pair *pairs;        /* count a rank */
  atomic_uint *taken; /* messages, by the receiver */
  unsigned *known;    /* as many of them as the sender has heard of, [from][to] */
  void *memory;
};

static size_t lines(size_t bytes) {
  return (bytes + LINE - 1) / LINE * LINE;
}

rung_mail *rung_mail_make(int ranks) {
  const size_t count = (size_t)ranks, row = lines(count * sizeof(unsigned));
  const size_t slots = count * SLOTS * sizeof(slot), pairs = count * count * sizeof(pair);
  rung_mail *mail = malloc(sizeof *mail);
  /* Zeros, which are pages that nobody has touched where there are many. */
  void *memory = calloc(slots + pairs + 2 * count * row + LINE, 1);
  if (mail == NULL || memory == NULL) {
    free(mail);
    free(memory);
    return NULL;
  }
  char *at = (char *)memory + (LINE - (uintptr_t)memory % LINE) % LINE;
  *mail = (rung_mail){.count = ranks, .row = row / sizeof(unsigned), .memory = memory};
  mail->slots = (slot *)(void *)at;
  mail->pairs = (pair *)(void *)(at += slots);
  mail->taken = (atomic_uint *)(void *)(at += pairs);
  mail->known = (unsigned *)(void *)(at + count * row);
  return mail;
}

void rung_mail_free(rung_mail *mail) {
  if (mail == NULL) return;
  free(mail->memory);
  free(mail);
}

static pair *pair_of(const rung_mail *mail, int from, int to) {
  return &mail->pairs[(size_t)from * (size_t)mail->count + (size_t)to];
}

static slot *slot_of(const rung_mail *mail, int from, int number) {
  return &mail->slots[(size_t)from * SLOTS + (size_t)number];
}

static atomic_uint *taken_of(const rung_mail *mail, int from, int to) {
  return &mail->taken[(size_t)to * mail->row + (size_t)from];
}

/* Looks at what others have taken. */
static void ask_all(rung_mail *mail, int from) {
  for (int to = 0; to < mail->count; to++) {
    const pair *pair = pair_of(mail, from, to);
    unsigned *known = &mail->known[(size_t)from * mail->row + (size_t)to];
    if (*known == atomic_load_explicit(&pair->posted, memory_order_relaxed)) continue;
    /* Acquire, of the release in rung_mail_take(): the receiver has read the slot, and which one
     * it was, before either is written again. It takes messages in their order, so that holds of
     * all before this one, too. */
    const unsigned taken = atomic_load_explicit(taken_of(mail, from, to), memory_order_acquire);
    for (; *known != taken; ++*known) slot_of(mail, from, pair->slots[*known % SLOTS])->pending--;
  }
}

static int free_slot(const rung_mail *mail, int from) {
  for (int s = 0; s < SLOTS; s++)
    if (slot_of(mail, from, s)->pending == 0) return s;
  return -1;
}

int rung_mail_write(rung_mail *mail, int from, const void *data, size_t bytes) {
  int s = free_slot(mail, from);
  if (s < 0) { /* not sooner: what others write to has to come from their caches */
    ask_all(mail, from);
    s = free_slot(mail, from);
  }
  if (s < 0) return -1;
  slot *slot = slot_of(mail, from, s);
  assert(bytes <= sizeof slot->data);
  memcpy(slot->data, data, bytes);
  slot->bytes = bytes;
  return s;
}

void rung_mail_post(rung_mail *mail, int from, int to, int number) {
  pair *pair = pair_of(mail, from, to);
  const unsigned n = atomic_load_explicit(&pair->posted, memory_order_relaxed);
  slot *slot = slot_of(mail, from, number);
  slot->pending++;
  pair->slots[n % SLOTS] = (uint16_t)number;
  pair->bytes[n % SLOTS] = (uint16_t)slot->bytes;
  /* Release, for the acquire in rung_mail_find(): which slot it is, and all that is in it. */
  atomic_store_explicit(&pair->posted, n + 1, memory_order_release);
}

const void *rung_mail_find(const rung_mail *mail, int me, int from, size_t *bytes) {
  const pair *pair = pair_of(mail, from, me);
  const unsigned n = atomic_load_explicit(taken_of(mail, from, me), memory_order_relaxed);
  /* Acquire, of the release in rung_mail_post(). */
  if (atomic_load_explicit(&pair->posted, memory_order_acquire) == n) return NULL;
  *bytes = pair->bytes[n % SLOTS];
  return slot_of(mail, from, pair->slots[n % SLOTS])->data;
}

void rung_mail_take(rung_mail *mail, int me, int from) {
  atomic_uint *taken = taken_of(mail, from, me);
  /* Release, for the acquire in ask_all(): the message has been read. */
  atomic_store_explicit(taken, atomic_load_explicit(taken, memory_order_relaxed) + 1,
                        memory_order_release);
}
