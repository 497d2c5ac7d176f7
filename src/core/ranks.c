#include "core/ranks.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/layout.h"

bool rung_ranks_make_words(rung_meeting *m, size_t *bytes) {
  const size_t ranks = (size_t)m->ranks.count, of_words = ranks * sizeof *m->words;
  *bytes += of_words;
  m->words = malloc(of_words); /* no zeros: of a word only what has come is read */
  m->parcels = rung_ranks_ask(bytes, 2 * ranks, sizeof *m->parcels);
  return m->words != NULL && m->parcels != NULL;
}

void *rung_ranks_ask(size_t *bytes, size_t count, size_t each) {
  *bytes += count * each;
  return calloc(count > 0 ? count : 1, each);
}

rung_status rung_ranks_no_memory(const rung_meeting *m, size_t bytes, const char *what) {
  return rung_fail(m->error, RUNG_OUT_OF_MEMORY, "no memory for %zu bytes of %s", bytes, what);
}

uint64_t rung_ranks_hash(const void *data, size_t bytes) {
  uint64_t hash = 14695981039346656037u, word = 0;
  for (size_t i = 0, n; i < bytes; i += n, word = 0) {
    n = bytes - i < sizeof word ? bytes - i : sizeof word;
    memcpy(&word, (const char *)data + i, n);
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 32; /* a word's high bits are felt by low ones */
  }
  return hash;
}

rung_status rung_ranks_read(rung_error *error, const rung_ranks *given, rung_ranks *known) {
  const rung_status status = rung_read_struct(error, "ranks", &rung_ranks_layout, given, known);
  if (status != RUNG_OK) return status;
  if (known->count < 1 || known->rank < 0 || known->rank >= known->count)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "ranks->rank is %d and ranks->count %d; expected: 0 <= rank < count",
                     known->rank, known->count);
  if (known->exchange == NULL && known->count > 1)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "ranks->exchange is NULL; expected: a function that moves bytes");
  return RUNG_OK;
}

/* ---- moving ------------------------------------------------------------------------------------
 */

/* All ranks of parcels that have not moved as they should: who waits for a rank that is gone is not
 * heard of either. False: there is none. */
static bool name_late(const rung_parcel *parcels, int count, const char *verb, const char *why,
                      rung_error *error) {
  const rung_parcel *first = NULL;
  char others[64] = "";
  size_t used = 0;
  for (int i = 0; i < count; i++) {
    if (parcels[i].moved == parcels[i].bytes) continue;
    if (first == NULL)
      first = &parcels[i];
    else if (used + 16 < sizeof others)
      used += (size_t)snprintf(others + used, sizeof others - used, ", rank %d", parcels[i].rank);
  }
  if (first != NULL)
    rung_fail(error, RUNG_RANKS_FAILED, "rank %d%s %s %zu of %zu bytes%s%s", first->rank, others,
              verb, first->moved, first->bytes, why[0] ? ": " : "", why);
  return first != NULL;
}

/* What the exchange failed by, if it did, is in `why`. */
static void exchange(rung_meeting *m, rung_parcel *sent, int sends, rung_parcel *received,
                     int receives, bool anywhere, char why[RUNG_TEXT]) {
  const rung_ranks *ranks = &m->ranks;
  why[0] = 0;
  for (int i = 0; i < sends; i++) sent[i].moved = 0;
  for (int i = 0; i < receives; i++) received[i].moved = 0;
  if (sends + receives == 0) return;
  m->broken = (anywhere ? ranks->exchange_anywhere : ranks->exchange)(ranks->state, sent, sends,
                                                                      received, receives, why) != 0;
  why[RUNG_TEXT - 1] = 0;
}

/* What it came to: all must have moved as many bytes as their parcels have now. */
static rung_status judge(rung_meeting *m, rung_parcel *sent, int sends, rung_parcel *received,
                         int receives, const char *why) {
  if (name_late(received, receives, "sent", why, m->error)) return RUNG_RANKS_FAILED;
  if (!m->broken) return RUNG_OK;
  if (name_late(sent, sends, "took", why, m->error)) return RUNG_RANKS_FAILED;
  return rung_fail(m->error, RUNG_RANKS_FAILED, "rank %d cannot reach the others%s%s",
                   m->ranks.rank, why[0] ? ": " : "", why);
}

static rung_status move(rung_meeting *m, rung_parcel *sent, int sends, rung_parcel *received,
                        int receives, bool anywhere) {
  char why[RUNG_TEXT];
  exchange(m, sent, sends, received, receives, anywhere, why);
  return judge(m, sent, sends, received, receives, why);
}

rung_status rung_ranks_move(rung_meeting *m, int sent, int received, bool anywhere) {
  return move(m, m->parcels, sent, m->parcels + sent, received, anywhere);
}

static rung_parcel parcel_of(int rank, char *all, const int64_t *firsts, int from, size_t each) {
  return (rung_parcel){rank, all + (size_t)firsts[from] * each,
                       (size_t)(firsts[from + 1] - firsts[from]) * each, 0};
}

rung_status rung_ranks_gather(rung_meeting *m, const int64_t *firsts, size_t each, char *all,
                              const char *mine, bool anywhere) {
  const int me = m->ranks.rank;
  int sends = 0, receives = 0;
  for (int r = 0; r < m->ranks.count; r++) {
    if (r == me || firsts[me] == firsts[me + 1]) continue;
    rung_parcel *parcel = &m->parcels[sends++];
    *parcel = parcel_of(r, all, firsts, me, each);
    if (mine != NULL) parcel->data = (void *)mine; /* who sends it does not write */
  }
  for (int r = 0; r < m->ranks.count; r++)
    if (r != me && firsts[r] < firsts[r + 1])
      m->parcels[sends + receives++] = parcel_of(r, all, firsts, r, each);
  return move(m, m->parcels, sends, m->parcels + sends, receives, anywhere);
}

rung_status rung_ranks_missing(const rung_meeting *m, rung_status moved, rung_status *own) {
  if (m->broken) return moved;
  if (*own == RUNG_OK) *own = moved;
  return RUNG_OK;
}

/* ---- words -------------------------------------------------------------------------------------
 */

/* Whether a rank may have said so: what is altered on its way must do no harm. */
static bool is_word(const rung_word *word) {
  return word->status >= RUNG_OK && word->status <= RUNG_RANKS_FAILED && word->number >= 0 &&
         word->number <= INT64_C(1) << 61 && word->along >= 0 && word->along <= RUNG_MORE;
}

/* What rank r said, next to rank 0: with that all compare, and so all say the same. */
static rung_status look_at(const rung_meeting *m, int r, const rung_word *word,
                           const rung_word *first) {
  if (memcmp(word->version, first->version, sizeof word->version) != 0)
    return rung_fail(m->error, RUNG_BAD_ARGUMENT,
                     "rank %d has version %.15s of Rung, and rank 0 has %.15s; expected: the same "
                     "in all ranks",
                     r, word->version, first->version);
  if (word->order != m->order)
    return rung_fail(m->error, RUNG_RANKS_FAILED,
                     "rank %d is at word %lld of a call; expected: %lld, as here", r,
                     (long long)word->order, (long long)m->order);
  if (!is_word(word))
    return rung_fail(m->error, RUNG_RANKS_FAILED,
                     "rank %d sends status %lld and number %lld, which no rank does", r,
                     (long long)word->status, (long long)word->number);
  if (word->status != RUNG_OK)
    return rung_fail(m->error, (rung_status)word->status, "rank %d: %.*s", r, RUNG_SENTENCE - 1,
                     word->sentence);
  if (memcmp(word->job, first->job, sizeof word->job) != 0)
    return rung_fail(m->error, RUNG_BAD_ARGUMENT,
                     "rank %d calls %.*s, and rank 0 %.*s; expected: the same in all ranks", r,
                     RUNG_JOB_TEXT - 1, word->job, RUNG_JOB_TEXT - 1, first->job);
  return RUNG_OK;
}

enum { WORD = offsetof(rung_word, more) }; /* bytes of one that nothing comes along with */
_Static_assert(WORD % 8 == 0, "what comes along is aligned");
_Static_assert(sizeof(rung_word) <= 4096 - 24, "a word is a short message to NCCL");

/* As the word says, which may have been altered on its way. */
static size_t bytes_along(const rung_word *word) {
  return word->along >= 0 && word->along <= RUNG_MORE ? (size_t)word->along : 0;
}

/* What has come is as long as it says. */
static void measure(rung_parcel *received, const rung_word *word) {
  received->bytes = WORD + (received->moved >= WORD ? bytes_along(word) : 0);
}

static rung_status hear_all(rung_meeting *m, const rung_word *mine) {
  const int count = m->ranks.count, me = m->ranks.rank;
  rung_word *words = m->words;
  rung_parcel *sent = m->parcels, *received = sent + count - 1;
  char why[RUNG_TEXT];
  int moves = 0;
  const size_t bytes = WORD + bytes_along(mine);
  memcpy(&words[me], mine, bytes);
  for (int r = 0; r < count; r++) {
    if (r == me) continue;
    sent[moves] = (rung_parcel){r, &words[me], bytes, 0};
    received[moves++] = (rung_parcel){r, &words[r], sizeof *words, 0};
  }
  exchange(m, sent, moves, received, moves, false, why);
  for (int i = 0; i < moves; i++) measure(&received[i], &words[received[i].rank]);
  rung_status status = judge(m, sent, moves, received, moves, why);
  for (int r = 0; r < count && status == RUNG_OK; r++) status = look_at(m, r, &words[r], &words[0]);
  return status;
}

/* Without memory the others are met one after the other. */
static rung_status hear_each(rung_meeting *m, const rung_word *mine) {
  rung_word first, word, said;
  rung_status status = RUNG_OK;
  memcpy(&first, mine, WORD);
  memcpy(&said, mine, WORD);
  for (int r = 0; r < m->ranks.count; r++) {
    memcpy(&word, mine, WORD);
    if (r != m->ranks.rank) {
      rung_parcel to = {r, &said, WORD, 0}, from = {r, &word, sizeof word, 0};
      rung_error error = {RUNG_OK, ""};
      rung_meeting with = {.ranks = m->ranks, .error = &error, .order = m->order};
      char why[RUNG_TEXT];
      exchange(&with, &to, 1, &from, 1, false, why);
      measure(&from, &word);
      const rung_status moved = judge(&with, &to, 1, &from, 1, why);
      if (moved != RUNG_OK) {
        *m->error = error;
        return moved;
      }
    }
    if (r == 0) memcpy(&first, &word, WORD);
    if (status == RUNG_OK) status = look_at(m, r, &word, &first);
  }
  return status;
}

rung_status rung_ranks_meet_with(rung_meeting *m, rung_status status, int64_t number, bool ready,
                                 const void *more, size_t bytes) {
  rung_word mine;
  memset(&mine, 0, WORD); /* what comes along is several times as much, and mostly nothing */
  mine.order = ++m->order;
  mine.status = status;
  mine.number = number;
  mine.sure = ready;
  strncpy(mine.version, RUNG_VERSION, sizeof mine.version - 1);
  strncpy(mine.job, m->job, sizeof mine.job - 1);
  if (status != RUNG_OK) memcpy(mine.sentence, m->error->sentence, sizeof mine.sentence);
  if (status == RUNG_OK && bytes > 0 && bytes <= RUNG_MORE) {
    mine.along = (int64_t)bytes;
    memcpy(mine.more, more, bytes);
  }
  return m->words != NULL ? hear_all(m, &mine) : hear_each(m, &mine);
}

rung_status rung_ranks_meet(rung_meeting *m, rung_status status, int64_t number) {
  return rung_ranks_meet_ready(m, status, number, false);
}

rung_status rung_ranks_meet_ready(rung_meeting *m, rung_status status, int64_t number, bool ready) {
  return rung_ranks_meet_with(m, status, number, ready, NULL, 0);
}

rung_status rung_ranks_tell(rung_meeting *m, rung_status status, const void *results, size_t bytes,
                            bool sure) {
  return rung_ranks_meet_with(m, status, status == RUNG_OK ? (int64_t)bytes : 0, sure, results,
                              bytes);
}

bool rung_ranks_on_host(const rung_view *outputs, int count) {
  for (int a = 0; a < count; a++)
    if (outputs[a].count > 0 && outputs[a].place != RUNG_HOST) return false;
  return true;
}

bool rung_ranks_told(const rung_meeting *m) {
  for (int r = 0; r < m->ranks.count; r++)
    if (m->words[r].number != m->words[r].along) return false;
  return true;
}

bool rung_ranks_ready(const rung_meeting *m) {
  for (int r = 0; r < m->ranks.count; r++)
    if (!m->words[r].sure) return false;
  return true;
}

bool rung_ranks_sure(const rung_meeting *m) {
  return rung_ranks_ready(m) && rung_ranks_told(m);
}
