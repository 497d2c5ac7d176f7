/* Ranks within one process, a thread each: a way between them that loses, cuts and stops on
 * purpose. It asks the system for no memory and looks at no clock: progress has stopped when every
 * rank that is left waits for bytes that nobody has sent. */
#ifndef TESTS_OPS_RANKS_H
#define TESTS_OPS_RANKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ops/outside.h"
#include "rung/ranks.h"

enum { RANKS_MOST = 9, RANKS_QUEUE = 64, RANKS_ARENA = 24 << 20 };

/* What is wrong with a rank from one of its exchanges on, the first being 1; 0: nothing. */
typedef enum ranks_fault {
  RANKS_DIES,      /* it is gone before it sends anything */
  RANKS_DIES_LATE, /* the first of those it sends to gets its bytes, and it is gone */
  RANKS_CUTS,      /* half of what it sends in this one gets lost */
  RANKS_ALTERS,    /* a byte of what it sends in this one is another one */
  RANKS_FAULTS
} ranks_fault;

typedef struct ranks_bytes {
  const char *at;
  size_t bytes;
} ranks_bytes;

typedef struct ranks_world {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int count, busy; /* ranks; those that do not wait */
  bool begun, stopped;
  bool waits[RANKS_MOST];
  int awaited[RANKS_MOST]; /* the rank that it waits for */
  int calls[RANKS_MOST];   /* exchanges so far */
  int faulty, fault_at;
  ranks_fault fault;
  bool struck; /* it has made a difference */
  struct {
    ranks_bytes queue[RANKS_QUEUE];
    int first, end;
  } way[RANKS_MOST][RANKS_MOST]; /* from, to */
  size_t used, sent;             /* of the arena; bytes that were sent in all */
  struct ranks_end {
    struct ranks_world *world;
    int rank;
  } ends[RANKS_MOST];
} ranks_world;

static ranks_world ranks_all;
static void (*ranks_ready)(void); /* NULL, or called when all threads are there */
static char ranks_arena[RANKS_ARENA];

/* With the lock: whether all who are left wait in vain. */
static inline void ranks_look(ranks_world *w) {
  bool hope = w->busy > 0;
  for (int r = 0; r < w->count; r++)
    hope |= w->waits[r] && w->way[w->awaited[r]][r].first < w->way[w->awaited[r]][r].end;
  if (hope) return;
  w->stopped = true;
  pthread_cond_broadcast(&w->moved);
}

static inline void ranks_leave(ranks_world *w) {
  pthread_mutex_lock(&w->lock);
  w->busy--;
  ranks_look(w);
  pthread_mutex_unlock(&w->lock);
}

static inline char *ranks_send(ranks_world *w, int from, const rung_parcel *parcel, size_t bytes) {
  const int end = w->way[from][parcel->rank].end++;
  if (end >= RANKS_QUEUE || w->used + bytes > RANKS_ARENA) abort(); /* the test's own room */
  char *at = ranks_arena + w->used;
  memcpy(at, parcel->data, bytes);
  w->used += (bytes + 15) / 16 * 16;
  w->sent += bytes;
  w->way[from][parcel->rank].queue[end] = (ranks_bytes){at, bytes};
  return at;
}

static inline bool ranks_receive(ranks_world *w, int to, rung_parcel *parcel) {
  int *first = &w->way[parcel->rank][to].first;
  while (*first == w->way[parcel->rank][to].end) {
    if (w->stopped) return false;
    w->waits[to] = true;
    w->awaited[to] = parcel->rank;
    w->busy--;
    ranks_look(w);
    if (!w->stopped) pthread_cond_wait(&w->moved, &w->lock);
    w->busy++;
    w->waits[to] = false;
  }
  const ranks_bytes *found = &w->way[parcel->rank][to].queue[(*first)++];
  parcel->moved = found->bytes;
  memcpy(parcel->data, found->at, found->bytes < parcel->bytes ? found->bytes : parcel->bytes);
  return true;
}

static inline int ranks_exchange(void *state, rung_parcel *sent, int sends, rung_parcel *received,
                                 int receives, char why[RUNG_TEXT]) {
  const struct ranks_end *end = (const struct ranks_end *)state;
  ranks_world *w = end->world;
  const int me = end->rank;
  int missing = 0;
  pthread_mutex_lock(&w->lock);
  const bool wrong = ++w->calls[me] == w->fault_at && me == w->faulty;
  const bool dies = wrong && w->fault <= RANKS_DIES_LATE;
  w->struck |= dies || (wrong && sends > 0);
  for (int i = 0; i < sends && (!dies || (i == 0 && w->fault == RANKS_DIES_LATE)); i++) {
    const bool cut_short = wrong && w->fault == RANKS_CUTS;
    char *at = ranks_send(w, me, &sent[i], cut_short ? sent[i].bytes / 2 : sent[i].bytes);
    if (wrong && w->fault == RANKS_ALTERS) at[7] ^= (char)0x81;
    sent[i].moved = sent[i].bytes;
  }
  pthread_cond_broadcast(&w->moved);
  for (int i = 0; i < receives && !dies; i++) missing += !ranks_receive(w, me, &received[i]);
  pthread_mutex_unlock(&w->lock);
  if (missing > 0) strcpy(why, "nothing moves any more");
  return dies || missing > 0;
}

/* What a rank does; returns what its call came to. */
typedef rung_status ranks_work(rung_context *context, const rung_ranks *ranks, void *user);

typedef struct ranks_rank {
  pthread_t thread;
  rung_context *context;
  ranks_work *work;
  void *user;
  rung_ranks ranks;
  rung_status status;
} ranks_rank;

static inline void *ranks_thread(void *of) {
  ranks_rank *rank = (ranks_rank *)of;
  const struct ranks_end *end = (const struct ranks_end *)rank->ranks.state;
  pthread_mutex_lock(&end->world->lock);
  while (!end->world->begun) pthread_cond_wait(&end->world->moved, &end->world->lock);
  pthread_mutex_unlock(&end->world->lock);
  rank->status = rank->work(rank->context, &rank->ranks, rank->user);
  ranks_leave(end->world);
  return NULL;
}

/* Runs work() by `count` ranks, each with its context. `fault_at` 0: nothing is wrong. */
static inline void ranks_run(int count, rung_context *const *contexts, ranks_work *work, void *user,
                             int faulty, int fault_at, ranks_fault fault, rung_status *statuses) {
  static ranks_rank ranks[RANKS_MOST];
  ranks_world *w = &ranks_all;
  memset(w, 0, sizeof *w);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->moved, NULL);
  w->count = w->busy = count;
  w->faulty = faulty;
  w->fault_at = fault_at;
  w->fault = fault;
  for (int r = 0; r < count; r++) {
    w->ends[r].world = w;
    w->ends[r].rank = r;
    ranks[r].context = contexts[r];
    ranks[r].work = work;
    ranks[r].user = user;
    ranks[r].ranks =
        (rung_ranks){.rank = r, .count = count, .state = &w->ends[r], .exchange = ranks_exchange};
  }
  for (int r = 0; r < count; r++)
    assert_int_equal(pthread_create(&ranks[r].thread, NULL, ranks_thread, &ranks[r]), 0);
  if (ranks_ready != NULL) ranks_ready();
  pthread_mutex_lock(&w->lock);
  w->begun = true;
  pthread_cond_broadcast(&w->moved);
  pthread_mutex_unlock(&w->lock);
  for (int r = 0; r < count; r++) pthread_join(ranks[r].thread, NULL);
  for (int r = 0; r < count; r++) statuses[r] = ranks[r].status;
  pthread_cond_destroy(&w->moved);
  pthread_mutex_destroy(&w->lock);
}

#endif
