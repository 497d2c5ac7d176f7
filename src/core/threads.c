/* Ranks within one process: a thread each, and bytes that go from one's memory to the other's.
 *
 * Short messages are mail (core/mail.h), which no lock guards. Of all others, of a short one too
 * where no slot is free, a rank makes an offer: it lies where it is until the other one takes it.
 * Nothing is allocated on the way. What may lie in a device's memory is offered, and copied by the
 * receiver's device, or by the sender's where the receiver's has no memory but the host's.
 *
 * An offer stands until it is taken, and so a rank makes none while it has one with the same rank,
 * nor sends it mail; mail that a rank has from another one came before its offer. */
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
#include "core/mail.h"
#include "core/ranks.h"

/* BRIEF: bytes of a parcel that is copied sooner than the lock is given back and had again. YIELDS:
 * so often a rank that shares its processor with others lets them have it before it sleeps, for
 * they send what it waits for in less time than a wake takes. WARY: so many times a rank sleeps at
 * once after a stranger has had the processor; more, and ranks that hardly meet one sleep too
 * often. LOADS: copies that a device is waited for at once, at most. */
enum { MOST_RANKS = 1024, BRIEF = 4096, LOADS = 64, YIELDS = 8, WARY = 100 };
_Static_assert(sizeof(rung_word) <= RUNG_MAIL_MOST, "what ranks say is mail");
static const double usual_deadline = 60;
/* Seconds that a rank looks for what moves before it sleeps, where every rank has a processor: to
 * be woken takes as long as all else of a short message. */
static const double patience = 2e-4;
/* Seconds that a device waits for more to carry: as long as it takes for little. */
static const double moment = 2e-5;
/* Seconds that only strangers keep a processor for that a rank has let others have. */
static const double slice = 1e-3;

/* What a rank offers another one. */
typedef struct offer {
  rung_parcel *parcel; /* NULL: nothing */
  bool anywhere;       /* it may lie in the memory of the rank's device */
  bool taken;          /* it is being copied, and must stay */
} offer;

/* What is atomic is written with the lock, and read without it as a hint to take the lock and look
 * again. */
typedef struct world {
  pthread_mutex_t lock; /* of all that follows */
  bool looks;           /* ranks look before they sleep */
  int count;
  double deadline;
  struct rank *ranks;
  offer *offers;   /* count a sender */
  rung_mail *mail; /* without the lock */
  enum { WAITING, BEGUN, CALLED_OFF } state;
  atomic_bool broken;
  char why[RUNG_TEXT];
} world;

typedef struct rank {
  world *world;
  rung_context *context;
  rung_rank_work *work;
  void *user;
  rung_ranks ranks;
  rung_status status;
  pthread_t thread;
  int wary;             /* so many times it sleeps at once */
  pthread_cond_t moved; /* something that it may wait for */
  /* What others look at; nothing of it changes while all goes by mail. */
  _Alignas(64) atomic_uint news; /* so many things have moved, but for mail */
  atomic_int offers;             /* to it */
  atomic_bool carries;           /* its device copies, in whatever thread */
  atomic_bool ended;
  atomic_bool asleep; /* mail has to wake it */
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

/* With the lock: something has moved that a rank, or any, may wait for. */
static void tell(rank *r) {
  r->news++;
  pthread_cond_signal(&r->moved);
}
static void tell_all(world *w) {
  for (int r = 0; r < w->count; r++) tell(&w->ranks[r]);
}

static void break_up(world *w, const char *why) {
  w->broken = true;
  snprintf(w->why, sizeof w->why, "%s", why);
  tell_all(w);
}

static offer *offer_of(const world *w, int from, int to) {
  return &w->offers[(size_t)from * (size_t)w->count + (size_t)to];
}

/* Between what one rank writes and what it then reads, where another one writes the latter and then
 * reads the former: at least one of them reads what the other wrote. ThreadSanitizer knows of no
 * fences; what this one orders are atomics, and nothing else relies on it. */
#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif
static void fence(void) {
  atomic_thread_fence(memory_order_seq_cst);
}

/* Whether a rank's device has memory of its own. */
static bool is_apart(const rank *r) {
  return r->context != NULL && r->context->backend != NULL && r->context->backend->carry != NULL;
}

/* By a rank's device; the thread's current device stays what it was. */
static rung_status carry(const rank *by, const rung_load *loads, int count, rung_error *error) {
  const rung_backend *backend = by->context->backend;
  void *callers = backend->arrive != NULL ? backend->arrive() : NULL;
  const rung_status status = backend->carry(by->context->state, loads, count, error);
  if (backend->depart != NULL) backend->depart(callers);
  return status;
}

/* Whose device copies, where either side may lie in a device's memory; NULL: nobody's need. */
static rank *carrier_of(rank *receiver, rank *sender) {
  return is_apart(receiver) ? receiver : is_apart(sender) ? sender : NULL;
}

/* With the lock, which is not held meanwhile. What is copied stays where it is. */
static rung_status copy_long(world *w, rank *by, const rung_load *loads, int count,
                             rung_error *error) {
  rung_status status = RUNG_OK;
  if (by != NULL) by->carries = true;
  pthread_mutex_unlock(&w->lock);
  if (by != NULL)
    status = carry(by, loads, count, error);
  else
    for (int i = 0; i < count; i++) memcpy(loads[i].to, loads[i].from, loads[i].bytes);
  lock(w);
  if (by == NULL) return status;
  by->carries = false;
  tell_all(w); /* of whom some may have waited for the device */
  return status;
}

static size_t lesser(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Without the lock, or with it. False: there is none. */
static bool take_mail(world *w, int me, rung_parcel *to) {
  size_t bytes;
  const void *mail = rung_mail_find(w->mail, me, to->rank, &bytes);
  if (mail == NULL) return false;
  memcpy(to->data, mail, lesser(bytes, to->bytes));
  rung_mail_take(w->mail, me, to->rank);
  to->moved = bytes;
  return true;
}

/* With the lock: mail for the memory of a device. False: there is none, or the device is at another
 * copy. */
static bool carry_mail(world *w, int me, rung_parcel *to) {
  size_t bytes;
  rung_error error = {RUNG_OK, ""};
  const void *mail = rung_mail_find(w->mail, me, to->rank, &bytes);
  if (mail == NULL || w->ranks[me].carries) return false;
  const rung_load load = {to->data, mail, lesser(bytes, to->bytes)};
  const rung_status status = copy_long(w, &w->ranks[me], &load, 1, &error);
  rung_mail_take(w->mail, me, to->rank);
  if (status == RUNG_OK)
    to->moved = bytes;
  else
    break_up(w, error.sentence);
  return true;
}

static rung_load load_of(const offer *from, const rung_parcel *to) {
  return (rung_load){to->data, from->parcel->data, lesser(from->parcel->bytes, to->bytes)};
}

/* With the lock: what was offered has been copied, or not. */
static void end_offer(world *w, int me, rung_parcel *to, bool copied) {
  offer *from = offer_of(w, to->rank, me);
  if (copied) to->moved = from->parcel->moved = from->parcel->bytes;
  *from = (offer){0};
  w->ranks[me].offers--;
  tell(&w->ranks[to->rank]);
}

/* With the lock. False: there is none, or its device is at another copy. */
static bool take_offer(world *w, int me, rung_parcel *to, bool anywhere) {
  offer *from = offer_of(w, to->rank, me);
  rung_error error = {RUNG_OK, ""};
  rung_status status = RUNG_OK;
  if (from->parcel == NULL || from->taken) return false;
  const rung_load load = load_of(from, to);
  rank *by = anywhere || from->anywhere ? carrier_of(&w->ranks[me], &w->ranks[to->rank]) : NULL;
  if (by != NULL && by->carries) return false;
  if (by == NULL && load.bytes <= BRIEF) {
    memcpy(load.to, load.from, load.bytes);
  } else {
    from->taken = true;
    status = copy_long(w, by, &load, 1, &error);
  }
  if (status != RUNG_OK) break_up(w, error.sentence);
  end_offer(w, me, to, status == RUNG_OK);
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

/* Whether a parcel that has not come yet lies in the mail. */
static bool has_mail(const world *w, int me, const rung_parcel *to) {
  size_t bytes;
  return to->moved == 0 && rung_mail_find(w->mail, me, to->rank, &bytes) != NULL;
}

/* Whether any has come, and may be taken. */
static bool some_mail(const world *w, int me, const moves *m) {
  if (m->anywhere && w->ranks[me].carries) return false;
  for (int i = 0; i < m->receives; i++)
    if (has_mail(w, me, &m->received[i])) return true;
  return false;
}

/* How many parcels have come, or lie there to be taken. */
static int those_there(const world *w, int me, const moves *m) {
  int count = 0;
  for (int i = 0; i < m->receives; i++)
    count += m->received[i].moved > 0 || offer_of(w, m->received[i].rank, me)->parcel != NULL ||
             has_mail(w, me, &m->received[i]);
  return count;
}

/* With the lock, which is not held meanwhile: for a moment until all offer what a device is to
 * carry, for to wait for it twice takes longer. */
static void await_offers(world *w, int me, const moves *m) {
  const rank *self = &w->ranks[me];
  const double until = now() + moment;
  while (w->looks && !w->broken && those_there(w, me, m) < m->receives && now() < until) {
    const unsigned before = self->news;
    pthread_mutex_unlock(&w->lock);
    while (self->news == before && now() < until) sched_yield();
    lock(w);
  }
}

/* With the lock: all that others offer a rank whose device carries, by one wait for it. False:
 * there is none, or the device is at another copy. */
static bool carry_offers(world *w, int me, const moves *m) {
  rung_load loads[LOADS];
  rung_parcel *parcels[LOADS];
  rung_error error = {RUNG_OK, ""};
  int count = 0;
  if (w->ranks[me].carries) return false;
  for (int i = 0; i < m->receives && count < LOADS; i++) {
    rung_parcel *to = &m->received[i];
    offer *from = offer_of(w, to->rank, me);
    /* Its mail comes first. */
    if (to->moved > 0 || from->parcel == NULL || from->taken || has_mail(w, me, to)) continue;
    from->taken = true;
    loads[count] = load_of(from, to);
    parcels[count++] = to;
  }
  if (count == 0) return false;
  const rung_status status = copy_long(w, &w->ranks[me], loads, count, &error);
  if (status != RUNG_OK) break_up(w, error.sentence);
  for (int i = 0; i < count; i++) end_offer(w, me, parcels[i], status == RUNG_OK);
  return true;
}

/* A rank that is waited for and has ended; -1: none. */
static int ended_one(const world *w, int me, const moves *m) {
  for (int i = 0; i < m->receives; i++) {
    const int from = m->received[i].rank;
    if (m->received[i].moved == 0 && w->ranks[from].ended && !has_mail(w, me, &m->received[i]))
      return from;
  }
  for (int i = 0; i < m->sends; i++) {
    const int to = m->sent[i].rank;
    if (m->sent[i].moved == 0 && w->ranks[to].ended && !offer_of(w, me, to)->taken) return to;
  }
  return -1;
}

/* Lets others have the processor, who are ranks, or else strangers: they keep it for milliseconds,
 * and who sleeps gets it back sooner. */
static void give_way(rank *self) {
  const double before = now();
  sched_yield();
  if (now() - before > slice) self->wary = WARY;
}

/* Whether it may wait without sleeping. */
static bool may_look(rank *self) {
  if (self->wary == 0) return true;
  self->wary--;
  return false;
}

/* Without the lock for as long as patience lasts; true: something has moved. */
static bool look(world *w, int me, const moves *m) {
  rank *self = &w->ranks[me];
  const unsigned before = self->news;
  const double until = now() + patience;
  pthread_mutex_unlock(&w->lock);
  while (self->news == before && !some_mail(w, me, m) && now() < until) give_way(self);
  lock(w);
  return self->news != before || some_mail(w, me, m);
}

/* Until something moves, or the deadline, which began at `since`. */
static void wait_for(world *w, int me, const moves *m, double since) {
  rank *self = &w->ranks[me];
  char why[RUNG_TEXT];
  if (w->looks && may_look(self) && look(w, me, m)) return;
  const double until = since + w->deadline;
  const struct timespec time = {.tv_sec = (time_t)until,
                                .tv_nsec = (long)(1e9 * (until - (double)(time_t)until))};
  atomic_store_explicit(&self->asleep, true, memory_order_relaxed);
  fence();
  if (!some_mail(w, me, m)) pthread_cond_timedwait(&self->moved, &w->lock, &time);
  self->asleep = false;
  if (now() <= until || w->broken || some_mail(w, me, m)) return;
  snprintf(why, sizeof why, "nothing has moved for %g s", w->deadline);
  break_up(w, why);
}

/* With the lock. Mail is as good as ever when ranks have parted: it had been sent before. */
static void move_all(world *w, int me, const moves *m) {
  const bool apart = m->anywhere && is_apart(&w->ranks[me]);
  double since = now();
  if (apart) await_offers(w, me, m);
  for (int left = left_of(m), before; left > 0;) {
    bool took = apart && !w->broken && carry_offers(w, me, m);
    for (int i = 0; i < m->receives; i++) { /* not all from the same one first */
      rung_parcel *to = &m->received[(i + me) % m->receives];
      if (to->moved > 0) continue;
      if (has_mail(w, me, to)) /* before what is offered */
        took |= apart ? carry_mail(w, me, to) : take_mail(w, me, to);
      else if (!w->broken)
        took |= take_offer(w, me, to, m->anywhere);
    }
    before = left;
    left = left_of(m);
    if (left < before) since = now();
    if (took || left == 0) continue;
    if (w->broken) return;
    const int ended = ended_one(w, me, m);
    if (ended < 0) {
      wait_for(w, me, m, since);
    } else {
      char why[RUNG_TEXT];
      snprintf(why, sizeof why, "rank %d has ended", ended);
      break_up(w, why);
    }
  }
}

/* ---- mail --------------------------------------------------------------------------------------
 */

/* Whom mail has come for, and who sleeps. Of each rank: either it finds the mail before it sleeps,
 * or this finds that it sleeps; the fences are both here and in wait_for(). */
static void wake(world *w, const moves *m) {
  bool locked = false;
  fence();
  for (int i = 0; i < m->sends; i++) {
    rank *to = &w->ranks[m->sent[i].rank];
    if (m->sent[i].moved == 0 || !atomic_load_explicit(&to->asleep, memory_order_relaxed)) continue;
    if (!locked) lock(w);
    locked = true;
    to->asleep = false; /* it needs nobody else for that */
    pthread_cond_signal(&to->moved);
  }
  if (locked) pthread_mutex_unlock(&w->lock);
}

/* What may go as mail. A rank that has ended takes none. */
static bool is_mail(const world *w, const rung_parcel *parcel) {
  return parcel->bytes > 0 && parcel->bytes <= RUNG_MAIL_MOST && !w->ranks[parcel->rank].ended;
}

/* Sends what it can; true: that is all. */
static bool send_mail(world *w, int me, const moves *m) {
  const bool apart = m->anywhere && is_apart(&w->ranks[me]);
  int sent = 0, slot = -1;
  const rung_parcel *written = NULL; /* what is in the slot */
  if (apart) return m->sends == 0;
  for (int i = 0; i < m->sends; i++) {
    rung_parcel *parcel = &m->sent[i];
    if (!is_mail(w, parcel)) continue;
    if (written == NULL || written->data != parcel->data || written->bytes != parcel->bytes)
      slot = rung_mail_write(w->mail, me, parcel->data, parcel->bytes);
    if (slot < 0) break;
    written = parcel;
    rung_mail_post(w->mail, me, parcel->rank, slot);
    parcel->moved = parcel->bytes;
    sent++;
  }
  if (sent > 0) wake(w, m);
  return sent == m->sends;
}

/* Takes what comes by mail, for a while; true: that is all. Else there is something that needs the
 * lock, or it is time to sleep. */
static bool receive_mail(world *w, int me, const moves *m) {
  rank *self = &w->ranks[me];
  const unsigned news = self->news;
  double until = 0;
  if (m->anywhere && is_apart(self)) return m->receives == 0;
  for (int left = m->receives, turn = 0;; turn++) {
    for (int i = 0; i < m->receives; i++) { /* as they are asked for in move_all() */
      rung_parcel *to = &m->received[(i + me) % m->receives];
      if (to->moved == 0 && take_mail(w, me, to)) left--;
    }
    if (left == 0) return true;
    if (w->broken || self->offers > 0 || self->news != news) return false;
    if (turn == 0) {
      if (!may_look(self)) return false;
      until = now() + patience;
    }
    if (now() > until || (!w->looks && turn >= YIELDS)) return false;
    give_way(self);
  }
}

/* ---- exchanges ---------------------------------------------------------------------------------
 */

static int move(const rank *self, const moves *m, char why[RUNG_TEXT]) {
  world *w = self->world;
  const int me = self->ranks.rank;
  for (int i = 0; i < m->sends; i++) m->sent[i].moved = 0;
  for (int i = 0; i < m->receives; i++) m->received[i].moved = 0;
  if (!w->broken && send_mail(w, me, m) && receive_mail(w, me, m)) return 0;
  lock(w);
  for (int i = 0; i < m->sends; i++) {
    const int to = m->sent[i].rank;
    if (m->sent[i].moved > 0) continue;
    *offer_of(w, me, to) = (offer){&m->sent[i], m->anywhere, false};
    w->ranks[to].offers++;
    tell(&w->ranks[to]);
  }
  move_all(w, me, m);
  for (int i = 0; i < m->sends; i++) { /* withdrawn, where nobody is at it */
    const int to = m->sent[i].rank;
    offer *mine = offer_of(w, me, to);
    while (mine->taken) pthread_cond_wait(&w->ranks[me].moved, &w->lock);
    if (mine->parcel != &m->sent[i]) continue;
    mine->parcel = NULL;
    w->ranks[to].offers--;
  }
  const int failed = left_of(m) > 0;
  if (failed) memcpy(why, w->why, sizeof w->why);
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
  while (w->state == WAITING) pthread_cond_wait(&self->moved, &w->lock);
  const bool begun = w->state == BEGUN;
  pthread_mutex_unlock(&w->lock);
  if (begun) {
    void *callers = rung_settle_thread(self->context);
    self->status = self->work(self->context, &self->ranks, self->user);
    rung_leave_thread(self->context, callers);
  }
  lock(w);
  self->ended = true;
  tell_all(w);
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
  tell_all(w);
  pthread_mutex_unlock(&w->lock);
  live(&w->ranks[0]);
  for (int r = 1; r < made; r++) pthread_join(w->ranks[r].thread, NULL);
  if (made < w->count) return RUNG_OUT_OF_MEMORY;
  for (int r = 0; r < w->count; r++)
    if (w->ranks[r].status != RUNG_OK) return w->ranks[r].status;
  return RUNG_OK;
}

static void destroy_conditions(world *w, int count) {
  for (int r = 0; r < count; r++) pthread_cond_destroy(&w->ranks[r].moved);
}

static bool make_lock(world *w) {
  pthread_condattr_t monotonic;
  int made = 0;
  if (pthread_condattr_init(&monotonic) != 0) return false;
  if (pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0)
    while (made < w->count && pthread_cond_init(&w->ranks[made].moved, &monotonic) == 0) made++;
  pthread_condattr_destroy(&monotonic);
  if (made == w->count && pthread_mutex_init(&w->lock, NULL) == 0) return true;
  destroy_conditions(w, made);
  return false;
}

static void destroy_lock(world *w) {
  destroy_conditions(w, w->count);
  pthread_mutex_destroy(&w->lock);
}

rung_status rung_run_ranks(rung_context *const *contexts, int count, double deadline,
                           rung_rank_work *work, void *user) {
  if (contexts == NULL || count < 1 || count > MOST_RANKS || work == NULL) return RUNG_BAD_ARGUMENT;
  world w = {.count = count,
             .deadline = deadline > 0 ? deadline : usual_deadline,
             .looks = count <= rung_processors()};
  w.ranks = aligned_alloc(_Alignof(rank), (size_t)count * sizeof *w.ranks);
  w.offers = calloc((size_t)count * (size_t)count, sizeof *w.offers);
  w.mail = rung_mail_make(count);
  rung_status status = RUNG_OUT_OF_MEMORY;
  if (w.ranks != NULL) memset(w.ranks, 0, (size_t)count * sizeof *w.ranks);
  if (w.ranks != NULL && w.offers != NULL && w.mail != NULL && make_lock(&w)) {
    for (int r = 0; r < count; r++) {
      rank *self = &w.ranks[r];
      self->world = &w;
      self->context = contexts[r];
      self->work = work;
      self->user = user;
      self->ranks = (rung_ranks){sizeof self->ranks, r, count, self, exchange, exchange_anywhere};
    }
    status = run(&w);
    destroy_lock(&w);
  }
  rung_mail_free(w.mail);
  free(w.ranks);
  free(w.offers);
  return status;
}
