/* Ranks within one process: a thread each, and bytes that go from one's memory to the other's. What
 * a rank sends lies where it is until the other one takes it; so nothing is allocated on the way.
 * What may lie in a device's memory is copied by the receiver's device, or by the sender's where
 * the receiver's has no memory but the host's. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/parallel.h"
#include "core/context.h"
#include "core/ranks.h"

/* BRIEF: bytes of a parcel that is copied sooner than the lock is given back and had again. */
enum { MOST_RANKS = 1024, BRIEF = 4096 };
static const double usual_deadline = 60;
/* Seconds that a rank looks for what moves before it sleeps, where every rank has a processor: to
 * be woken takes as long as all else of a short message. */
static const double patience = 2e-4;

/* What a rank offers another one. */
typedef struct offer {
  rung_parcel *parcel; /* NULL: nothing */
  bool anywhere;       /* it may lie in the memory of the rank's device */
  bool taken;          /* it is being copied, and must stay */
} offer;

typedef struct world {
  pthread_mutex_t lock; /* of all that follows */
  pthread_cond_t moved;
  atomic_uint changes; /* of what ranks wait for */
  bool looks;          /* ranks look before they sleep */
  int count;
  double deadline;
  struct rank *ranks;
  offer *offers; /* count a sender */
  enum { WAITING, BEGUN, CALLED_OFF } state;
  bool broken;
  char why[RUNG_TEXT];
} world;

typedef struct rank {
  world *world;
  rung_context *context;
  rung_rank_work *work;
  void *user;
  rung_ranks ranks;
  rung_status status;
  bool carries; /* its device copies, in whatever thread */
  pthread_t thread;
  bool ended;
} rank;

/* ---- moving bytes ------------------------------------------------------------------------------
 */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* It is held for a copy of a few KB at most. To be woken takes longer than several of these: a rank
 * that has a processor tries for a while before it sleeps. */
static void lock(world *w) {
  for (int tries = 0; tries < (w->looks ? 200 : 0); tries++) {
    if (pthread_mutex_trylock(&w->lock) == 0) return;
    sched_yield();
  }
  pthread_mutex_lock(&w->lock);
}

/* With the lock: something has changed that ranks may wait for. */
static void tell(world *w) {
  w->changes++;
  pthread_cond_broadcast(&w->moved);
}

static offer *offer_of(const world *w, int from, int to) {
  return &w->offers[(size_t)from * (size_t)w->count + (size_t)to];
}

/* Whether a rank's device has memory of its own. */
static bool is_apart(const rank *r) {
  return r->context != NULL && r->context->backend != NULL && r->context->backend->carry != NULL;
}

/* By a rank's device; the thread's current device stays what it was. */
static rung_status carry(const rank *by, void *to, const void *from, size_t bytes,
                         rung_error *error) {
  const rung_backend *backend = by->context->backend;
  void *callers = backend->arrive != NULL ? backend->arrive() : NULL;
  const rung_status status = backend->carry(by->context->state, to, from, bytes, error);
  if (backend->depart != NULL) backend->depart(callers);
  return status;
}

/* Whose device copies, where either side may lie in a device's memory; NULL: nobody's need. */
static rank *carrier_of(rank *receiver, rank *sender) {
  return is_apart(receiver) ? receiver : is_apart(sender) ? sender : NULL;
}

/* With the lock, which is not held meanwhile. */
static rung_status copy_long(world *w, offer *from, rank *by, const rung_parcel *to, size_t bytes,
                             rung_error *error) {
  const rung_parcel *parcel = from->parcel;
  rung_status status = RUNG_OK;
  if (by != NULL) by->carries = true;
  from->taken = true;
  pthread_mutex_unlock(&w->lock);
  if (by != NULL)
    status = carry(by, to->data, parcel->data, bytes, error);
  else
    memcpy(to->data, parcel->data, bytes);
  lock(w);
  if (by != NULL) by->carries = false;
  return status;
}

/* With the lock. False: there is nothing to take, or its device is at another copy. */
static bool take(world *w, int me, rung_parcel *to, bool anywhere) {
  offer *from = offer_of(w, to->rank, me);
  rung_error error = {RUNG_OK, ""};
  rung_status status = RUNG_OK;
  if (to->moved > 0 || from->parcel == NULL || from->taken) return false;
  rung_parcel *parcel = from->parcel;
  const size_t bytes = parcel->bytes < to->bytes ? parcel->bytes : to->bytes;
  rank *by = anywhere || from->anywhere ? carrier_of(&w->ranks[me], &w->ranks[to->rank]) : NULL;
  if (by != NULL && by->carries) return false;
  if (by == NULL && bytes <= BRIEF)
    memcpy(to->data, parcel->data, bytes);
  else
    status = copy_long(w, from, by, to, bytes, &error);
  if (status == RUNG_OK) {
    to->moved = parcel->moved = parcel->bytes;
  } else {
    w->broken = true;
    snprintf(w->why, sizeof w->why, "%s", error.sentence);
  }
  *from = (offer){0};
  if (bytes > BRIEF) tell(w); /* of others once, when all are taken */
  return true;
}

/* What is left of an exchange. */
typedef struct moves {
  rung_parcel *sent, *received;
  int sends, receives;
  bool anywhere; /* own parcels may lie in the memory of the rank's device */
} moves;

static int left_of(const moves *m) {
  int left = 0;
  for (int i = 0; i < m->sends; i++) left += m->sent[i].moved == 0;
  for (int i = 0; i < m->receives; i++) left += m->received[i].moved == 0;
  return left;
}

/* A rank that is waited for and has ended; -1: none. */
static int ended_one(const world *w, int me, const moves *m) {
  for (int i = 0; i < m->receives; i++) {
    const int from = m->received[i].rank;
    if (m->received[i].moved == 0 && w->ranks[from].ended) return from;
  }
  for (int i = 0; i < m->sends; i++) {
    const int to = m->sent[i].rank;
    if (m->sent[i].moved == 0 && w->ranks[to].ended && !offer_of(w, me, to)->taken) return to;
  }
  return -1;
}

/* Without the lock for as long as patience lasts; true: something has changed. */
static bool look(world *w) {
  const unsigned before = w->changes;
  const double until = now() + patience;
  pthread_mutex_unlock(&w->lock);
  while (w->changes == before && now() < until) sched_yield();
  lock(w);
  return w->changes != before;
}

/* Until something moves, or the deadline, which began at `since`. */
static void wait_for(world *w, double since) {
  if (w->looks && look(w)) return;
  const double until = since + w->deadline;
  const struct timespec time = {.tv_sec = (time_t)until,
                                .tv_nsec = (long)(1e9 * (until - (double)(time_t)until))};
  pthread_cond_timedwait(&w->moved, &w->lock, &time);
  if (now() <= until || w->broken) return;
  w->broken = true;
  snprintf(w->why, sizeof w->why, "nothing has moved for %g s", w->deadline);
}

/* With the lock. */
static void move_all(world *w, int me, const moves *m) {
  double since = now();
  for (int left = left_of(m), before; left > 0 && !w->broken;) {
    bool took = false;
    for (int i = 0; i < m->receives; i++) /* not all from the same one first */
      took |= take(w, me, &m->received[(i + me) % m->receives], m->anywhere);
    if (took) tell(w);
    before = left;
    left = left_of(m);
    if (left < before) since = now();
    if (took || left == 0 || w->broken) continue;
    const int ended = ended_one(w, me, m);
    if (ended < 0) {
      wait_for(w, since);
    } else {
      w->broken = true;
      snprintf(w->why, sizeof w->why, "rank %d has ended", ended);
    }
  }
}

static int move(const rank *self, const moves *m, char why[RUNG_TEXT]) {
  world *w = self->world;
  const int me = self->ranks.rank;
  for (int i = 0; i < m->sends; i++) m->sent[i].moved = 0;
  for (int i = 0; i < m->receives; i++) m->received[i].moved = 0;
  lock(w);
  for (int i = 0; i < m->sends; i++)
    *offer_of(w, me, m->sent[i].rank) = (offer){&m->sent[i], m->anywhere, false};
  tell(w);
  move_all(w, me, m);
  for (int i = 0; i < m->sends; i++) { /* withdrawn, where nobody is at it */
    offer *mine = offer_of(w, me, m->sent[i].rank);
    while (mine->taken) pthread_cond_wait(&w->moved, &w->lock);
    if (mine->parcel == &m->sent[i]) mine->parcel = NULL;
  }
  const int failed = left_of(m) > 0;
  if (failed) memcpy(why, w->why, sizeof w->why);
  tell(w);
  pthread_mutex_unlock(&w->lock);
  return failed;
}

/* rung_ranks.exchange */
static int exchange(void *state, rung_parcel *sent, int sends, rung_parcel *received, int receives,
                    char why[RUNG_TEXT]) {
  return move((const rank *)state, &(moves){sent, received, sends, receives, false}, why);
}

/* rung_ranks.exchange_anywhere */
static int exchange_anywhere(void *state, rung_parcel *sent, int sends, rung_parcel *received,
                             int receives, char why[RUNG_TEXT]) {
  return move((const rank *)state, &(moves){sent, received, sends, receives, true}, why);
}

/* ---- threads -----------------------------------------------------------------------------------
 */

static void *live(void *of) {
  rank *self = (rank *)of;
  world *w = self->world;
  lock(w);
  while (w->state == WAITING) pthread_cond_wait(&w->moved, &w->lock);
  const bool begun = w->state == BEGUN;
  pthread_mutex_unlock(&w->lock);
  if (begun) self->status = self->work(self->context, &self->ranks, self->user);
  lock(w);
  self->ended = true;
  tell(w);
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* Returns how many threads could be made, of ranks from 1 on. */
static int start(world *w) {
  sigset_t callers;
  int made = 1;
  rung_signals_block(&callers);
  while (made < w->count &&
         pthread_create(&w->ranks[made].thread, NULL, live, &w->ranks[made]) == 0)
    made++;
  pthread_sigmask(SIG_SETMASK, &callers, NULL);
  return made;
}

/* Rank 0 is the caller. */
static rung_status run(world *w) {
  const int made = start(w);
  lock(w);
  w->state = made == w->count ? BEGUN : CALLED_OFF;
  tell(w);
  pthread_mutex_unlock(&w->lock);
  live(&w->ranks[0]);
  for (int r = 1; r < made; r++) pthread_join(w->ranks[r].thread, NULL);
  if (made < w->count) return RUNG_OUT_OF_MEMORY;
  for (int r = 0; r < w->count; r++)
    if (w->ranks[r].status != RUNG_OK) return w->ranks[r].status;
  return RUNG_OK;
}

static bool make_lock(world *w) {
  pthread_condattr_t monotonic;
  if (pthread_condattr_init(&monotonic) != 0) return false;
  const bool made = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                    pthread_cond_init(&w->moved, &monotonic) == 0;
  pthread_condattr_destroy(&monotonic);
  if (made && pthread_mutex_init(&w->lock, NULL) == 0) return true;
  if (made) pthread_cond_destroy(&w->moved);
  return false;
}

rung_status rung_run_ranks(rung_context *const *contexts, int count, double deadline,
                           rung_rank_work *work, void *user) {
  if (contexts == NULL || count < 1 || count > MOST_RANKS || work == NULL) return RUNG_BAD_ARGUMENT;
  world w = {.count = count,
             .deadline = deadline > 0 ? deadline : usual_deadline,
             .looks = count <= rung_processors()};
  w.ranks = calloc((size_t)count, sizeof *w.ranks);
  w.offers = calloc((size_t)count * (size_t)count, sizeof *w.offers);
  rung_status status = RUNG_OUT_OF_MEMORY;
  if (w.ranks != NULL && w.offers != NULL && make_lock(&w)) {
    for (int r = 0; r < count; r++) {
      rank *self = &w.ranks[r];
      self->world = &w;
      self->context = contexts[r];
      self->work = work;
      self->user = user;
      self->ranks = (rung_ranks){sizeof self->ranks, r, count, self, exchange, exchange_anywhere};
    }
    status = run(&w);
    pthread_cond_destroy(&w.moved);
    pthread_mutex_destroy(&w.lock);
  }
  free(w.ranks);
  free(w.offers);
  return status;
}
