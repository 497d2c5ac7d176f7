/* Ranks within one process (rung_run_ranks()), with a way between them that loses, cuts and alters
 * on purpose: what a rank sends goes through here first. */
#ifndef TESTS_OPS_RANKS_H
#define TESTS_OPS_RANKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ops/outside.h"
#include "rung/ranks.h"

enum { RANKS_MOST = 9, RANKS_ALTERED = 1 << 16, RANKS_PATIENCE = 600 };

/* What is wrong with a rank from one of its exchanges on, the first being 1; 0: nothing. */
typedef enum ranks_fault {
  RANKS_DIES,      /* it is gone before it sends anything */
  RANKS_DIES_LATE, /* the first of those it sends to gets its bytes, and it is gone */
  RANKS_CUTS,      /* half of what it sends in this one gets lost */
  RANKS_ALTERS,    /* a byte of what it sends in this one is another one */
  RANKS_FAULTS
} ranks_fault;

/* What a rank does; returns what its call came to. */
typedef rung_rank_work ranks_work;

typedef struct ranks_world {
  int count, calls[RANKS_MOST]; /* exchanges so far */
  int faulty, fault_at;
  ranks_fault fault;
  bool struck;        /* it has made a difference */
  atomic_size_t sent; /* bytes in all */
  ranks_work *work;
  void *user;
  const rung_ranks *inner[RANKS_MOST];
  rung_status *statuses;
  pthread_barrier_t there;
} ranks_world;

static ranks_world ranks_all;
static bool ranks_by_host;            /* ranks have no exchange_anywhere() */
static size_t ranks_altered_at = 7;   /* the byte that RANKS_ALTERS alters */
static void (*ranks_ready)(int rank); /* NULL, or called by each thread when all are there */
static char ranks_altered[RANKS_MOST][RANKS_ALTERED];

/* The parcels that the faulty rank sends instead. */
static inline int ranks_spoil(const rung_parcel *sent, int sends, rung_parcel *spoilt) {
  const ranks_fault fault = ranks_all.fault;
  if (fault == RANKS_DIES) return 0;
  if (fault == RANKS_DIES_LATE && sends > 1) sends = 1;
  for (int i = 0; i < sends; i++) {
    spoilt[i] = sent[i];
    if (fault == RANKS_CUTS) spoilt[i].bytes /= 2;
    if (fault != RANKS_ALTERS) continue;
    if (sent[i].bytes > RANKS_ALTERED) abort(); /* the test's own room */
    spoilt[i].data = memcpy(ranks_altered[i], sent[i].data, sent[i].bytes);
    ranks_altered[i][ranks_altered_at] ^= (char)0x81;
  }
  return sends;
}

static inline int ranks_move(void *state, rung_parcel *sent, int sends, rung_parcel *received,
                             int receives, bool anywhere, char why[RUNG_TEXT]) {
  const rung_ranks *inner = *(const rung_ranks **)state;
  ranks_world *w = &ranks_all;
  rung_parcel spoilt[RANKS_MOST];
  const bool wrong = ++w->calls[inner->rank] == w->fault_at && inner->rank == w->faulty;
  const bool dies = wrong && w->fault <= RANKS_DIES_LATE;
  int (*exchange)(void *, rung_parcel *, int, rung_parcel *, int, char *) =
      anywhere ? inner->exchange_anywhere : inner->exchange;
  for (int i = 0; i < sends; i++) w->sent += sent[i].bytes;
  if (!wrong) return exchange(inner->state, sent, sends, received, receives, why);
  w->struck = dies || sends > 0;
  const int left = ranks_spoil(sent, sends, spoilt);
  const int failed = exchange(inner->state, spoilt, left, received, dies ? 0 : receives, why);
  for (int i = 0; i < sends; i++) sent[i].moved = i < left ? sent[i].bytes : 0;
  return dies || failed;
}

static inline int ranks_exchange(void *state, rung_parcel *sent, int sends, rung_parcel *received,
                                 int receives, char why[RUNG_TEXT]) {
  return ranks_move(state, sent, sends, received, receives, false, why);
}

static inline int ranks_exchange_anywhere(void *state, rung_parcel *sent, int sends,
                                          rung_parcel *received, int receives,
                                          char why[RUNG_TEXT]) {
  return ranks_move(state, sent, sends, received, receives, true, why);
}

static inline rung_status ranks_rank(rung_context *context, const rung_ranks *ranks, void *of) {
  ranks_world *w = (ranks_world *)of;
  const int me = ranks->rank;
  const rung_ranks way = {.size = sizeof way,
                          .rank = me,
                          .count = ranks->count,
                          .state = &w->inner[me],
                          .exchange = ranks_exchange,
                          .exchange_anywhere = ranks_by_host ? NULL : ranks_exchange_anywhere};
  w->inner[me] = ranks;
  pthread_barrier_wait(&w->there);
  if (ranks_ready != NULL) ranks_ready(me);
  pthread_barrier_wait(&w->there);
  return w->statuses[me] = w->work(context, &way, w->user);
}

/* Runs work() by `count` ranks, each with its context. `fault_at` 0: nothing is wrong. */
static inline void ranks_run(int count, rung_context *const *contexts, ranks_work *work, void *user,
                             int faulty, int fault_at, ranks_fault fault, rung_status *statuses) {
  ranks_world *w = &ranks_all;
  rung_status first = RUNG_OK;
  memset(w, 0, sizeof *w);
  w->count = count;
  w->faulty = faulty;
  w->fault_at = fault_at;
  w->fault = fault;
  w->work = work;
  w->user = user;
  w->statuses = statuses;
  assert_int_equal(pthread_barrier_init(&w->there, NULL, (unsigned)count), 0);
  const rung_status status = rung_run_ranks(contexts, count, RANKS_PATIENCE, ranks_rank, w);
  for (int r = count - 1; r >= 0; r--) first = statuses[r] != RUNG_OK ? statuses[r] : first;
  assert_int_equal(status, first);
  pthread_barrier_destroy(&w->there);
}

#endif
