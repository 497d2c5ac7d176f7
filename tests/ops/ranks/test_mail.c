/* Messages of all sizes between ranks of one process, around the longest that goes as mail
 * (core/mail.h): thousands of them, in an order that differs from rank to rank. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "core/mail.h"
#include "ops/outside.h"
#include "rung/ranks.h"

enum { MOST = 3 * RUNG_MAIL_MOST, RANKS = 8, ROUNDS = 400 };

static rung_context *none[RANKS];

/* ---- slots -------------------------------------------------------------------------------------
 */

static bool finds(const rung_mail *mail, int me, int from, const char *text) {
  size_t bytes;
  const char *found = rung_mail_find(mail, me, from, &bytes);
  return found != NULL && bytes == strlen(text) && memcmp(found, text, bytes) == 0;
}

/* Writes until no slot is free; returns how many there were. */
static int fill_slots(rung_mail *mail, int from, int to) {
  char text[16];
  for (int k = 0;; k++) {
    snprintf(text, sizeof text, "%d", k);
    const int slot = rung_mail_write(mail, from, text, strlen(text));
    if (slot < 0) return k;
    rung_mail_post(mail, from, to, slot);
  }
}

static void messages_come_in_their_order_and_free_their_slots(void **state) {
  (void)state;
  rung_mail *mail = rung_mail_make(3);
  char text[16];
  size_t bytes;
  assert_non_null(mail);
  for (int round = 0; round < 100; round++) {
    assert_null(rung_mail_find(mail, 1, 0, &bytes));
    const int count = fill_slots(mail, 0, 1);
    assert_true(count > 1);
    assert_null(rung_mail_find(mail, 0, 1, &bytes));
    assert_null(rung_mail_find(mail, 2, 0, &bytes));
    for (int k = 0; k < count; k++) {
      snprintf(text, sizeof text, "%d", k);
      assert_true(finds(mail, 1, 0, text));
      rung_mail_take(mail, 1, 0);
      if (k > round % count) continue; /* some are written again meanwhile */
      const int slot = rung_mail_write(mail, 0, "more", 4);
      assert_true(slot >= 0);
      rung_mail_post(mail, 0, 1, slot);
      assert_int_equal(rung_mail_write(mail, 0, "none", 4), -1);
    }
    for (int k = 0; k <= round % count; k++) {
      assert_true(finds(mail, 1, 0, "more"));
      rung_mail_take(mail, 1, 0);
    }
  }
  rung_mail_free(mail);
}

static void a_slot_is_free_when_all_have_taken_it(void **state) {
  (void)state;
  rung_mail *mail = rung_mail_make(3);
  assert_non_null(mail);
  const int shared = rung_mail_write(mail, 0, "all", 3);
  rung_mail_post(mail, 0, 1, shared);
  rung_mail_post(mail, 0, 2, shared);
  const int others = fill_slots(mail, 0, 2);
  rung_mail_take(mail, 1, 0);
  assert_int_equal(rung_mail_write(mail, 0, "x", 1), -1);
  assert_true(finds(mail, 2, 0, "all"));
  rung_mail_take(mail, 2, 0);
  assert_int_equal(rung_mail_write(mail, 0, "x", 1), shared);
  for (int k = 0; k < others; k++) rung_mail_take(mail, 2, 0);
  rung_mail_free(mail);
}

/* ---- exchanges ---------------------------------------------------------------------------------
 */

/* The same number in all ranks. */
static uint64_t draw(int round, int from, int to) {
  uint64_t x = (uint64_t)round * 4096 + (uint64_t)from * 64 + (uint64_t)to + 1;
  x *= UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
  return x ^ x >> 29;
}

/* To all the same, every few rounds. */
static bool is_same(int round) {
  return round % 4 == 3;
}

/* 0: nothing. */
static size_t bytes_of(int round, int from, int to) {
  static const size_t sizes[] = {1,   63,   64,   65,   700,  RUNG_MAIL_MOST - 1, RUNG_MAIL_MOST,
                                 100, 3000, 1000, 4000, 2000, RUNG_MAIL_MOST + 1, MOST};
  const uint64_t drawn = draw(round, from, is_same(round) ? 63 : to);
  if (!is_same(round) && drawn >> 40 & 1) return 0;
  return sizes[drawn % (sizeof sizes / sizeof sizes[0])];
}

/* What the receiver has for it. */
static size_t room_of(int round, int from, int to) {
  const size_t bytes = bytes_of(round, from, to), kind = draw(round, to, from) >> 20 & 7;
  return kind == 0 ? bytes / 2 + 1 : kind == 1 ? bytes + 7 : bytes;
}

static void fill_bytes(char *data, size_t bytes, int round, int from, int to) {
  const uint64_t first = draw(round, from, is_same(round) ? 62 : to);
  for (size_t i = 0; i < bytes; i++) data[i] = (char)(first + i * 7);
}

typedef struct buffers {
  char sent[RANKS][MOST], got[RANKS][MOST + 16], wanted[MOST + 16], why[RUNG_TEXT];
  rung_parcel parcels[2 * RANKS];
} buffers;

static bool is_as_sent(buffers *b, const rung_parcel *parcel, int round, int me) {
  const size_t bytes = bytes_of(round, parcel->rank, me);
  const size_t kept = bytes < parcel->bytes ? bytes : parcel->bytes;
  memset(b->wanted, 0x5a, kept + 8);
  fill_bytes(b->wanted, kept, round, parcel->rank, me);
  return parcel->moved == bytes && memcmp(parcel->data, b->wanted, kept + 8) == 0;
}

/* One exchange, in an order of the rank's own. */
static rung_status exchange_all(const rung_ranks *ranks, buffers *b, int round) {
  const int me = ranks->rank, count = ranks->count;
  rung_parcel *received = b->parcels + count;
  int sends = 0, receives = 0;
  for (int k = 0; k < count; k++) {
    const int other = (int)((draw(round, me, 61) + (uint64_t)k) % (uint64_t)count);
    const size_t bytes = bytes_of(round, me, other), room = room_of(round, other, me);
    char *own = b->sent[is_same(round) ? 0 : other];
    if (other == me) continue;
    fill_bytes(own, bytes, round, me, other);
    memset(b->got[other], 0x5a, room + 8);
    if (bytes > 0) b->parcels[sends++] = (rung_parcel){other, own, bytes, 77};
    if (bytes_of(round, other, me) > 0)
      received[receives++] = (rung_parcel){other, b->got[other], room, 77};
  }
  b->why[0] = '\0';
  if (ranks->exchange(ranks->state, b->parcels, sends, received, receives, b->why) != 0)
    return RUNG_RANKS_FAILED;
  for (int i = 0; i < sends; i++)
    if (b->parcels[i].moved != b->parcels[i].bytes) return RUNG_CHECK_FAILED;
  for (int i = 0; i < receives; i++)
    if (!is_as_sent(b, &received[i], round, me)) return RUNG_CHECK_FAILED;
  return RUNG_OK;
}

/* Now and then one is late, and those that wait for it sleep. */
static rung_status talk(rung_context *context, const rung_ranks *ranks, void *user) {
  buffers *b = malloc(sizeof *b);
  rung_status status = b == NULL ? RUNG_OUT_OF_MEMORY : RUNG_OK;
  (void)context;
  (void)user;
  for (int round = 0; round < ROUNDS && status == RUNG_OK; round++) {
    if (draw(round, ranks->rank, 60) % 61 == 0) usleep(1000);
    status = exchange_all(ranks, b, round);
  }
  free(b);
  return status;
}

static void messages_of_all_sizes_come_as_they_were_sent(void **state) {
  (void)state;
  for (int ranks = 2; ranks <= RANKS; ranks++)
    assert_int_equal(rung_run_ranks(none, ranks, 1e9, talk, NULL), RUNG_OK);
}

/* The last rank takes one by one what all others send it, who only send. */
static rung_status flood(rung_context *context, const rung_ranks *ranks, void *user) {
  const int me = ranks->rank, last = ranks->count - 1;
  buffers *b = malloc(sizeof *b);
  rung_status status = b == NULL ? RUNG_OUT_OF_MEMORY : RUNG_OK;
  (void)context;
  (void)user;
  for (int k = 0; k < 4 * ROUNDS && status == RUNG_OK; k++) {
    const int round = k * 4; /* none is the same */
    if (me == last && k % 50 == 0) usleep(500);
    for (int other = 0; other < last && status == RUNG_OK; other++) {
      const int from = me == last ? other : me;
      const size_t bytes = bytes_of(round, from, last), room = room_of(round, from, last);
      rung_parcel parcel = {last, b->sent[0], bytes, 0};
      if (bytes == 0 || (me != last && other != me)) continue;
      fill_bytes(b->sent[0], bytes, round, from, last);
      memset(b->got[0], 0x5a, room + 8);
      if (me == last) parcel = (rung_parcel){from, b->got[0], room, 0};
      const int failed =
          ranks->exchange(ranks->state, &parcel, me != last, &parcel, me == last, b->why);
      if (failed) status = RUNG_RANKS_FAILED;
      if (!failed && me == last && !is_as_sent(b, &parcel, round, me)) status = RUNG_CHECK_FAILED;
    }
  }
  free(b);
  return status;
}

static void who_sends_may_be_far_ahead(void **state) {
  (void)state;
  for (int ranks = 2; ranks <= 4; ranks++)
    assert_int_equal(rung_run_ranks(none, ranks, 1e9, flood, NULL), RUNG_OK);
}

/* ---- a rank that goes --------------------------------------------------------------------------
 */

enum { FEW = 4, LAST = 15 };
typedef struct death {
  int faulty, at;
  bool tells; /* it sends its last messages, and waits for none */
  char why[FEW][RUNG_TEXT];
} death;

static rung_status die(rung_context *context, const rung_ranks *ranks, void *user) {
  death *d = (death *)user;
  const int me = ranks->rank;
  buffers *b = malloc(sizeof *b);
  rung_status status = b == NULL ? RUNG_OUT_OF_MEMORY : RUNG_OK;
  (void)context;
  for (int round = 0; round <= LAST && status == RUNG_OK; round++) {
    if (me == d->faulty && round == d->at) {
      rung_parcel parcel = {(me + 1) % FEW, b->sent[0], bytes_of(round, me, (me + 1) % FEW), 0};
      fill_bytes(b->sent[0], parcel.bytes, round, me, parcel.rank);
      if (d->tells && parcel.bytes > 0) ranks->exchange(ranks->state, &parcel, 1, NULL, 0, b->why);
      free(b);
      return RUNG_BAD_SHAPE;
    }
    status = exchange_all(ranks, b, round);
  }
  if (b != NULL) strcpy(d->why[me], status == RUNG_OK ? "" : b->why);
  free(b);
  return status;
}

/* In the last round all wait for all: so everybody else fails, whatever it had got by then. */
static void a_rank_that_goes_is_named_at_every_message(void **state) {
  (void)state;
  for (int at = 0; at <= LAST; at++)
    for (int faulty = 0; faulty < FEW; faulty++) {
      static death d;
      char text[32];
      d = (death){.faulty = faulty, .at = at, .tells = at < LAST && (at + faulty) % 2 == 1};
      snprintf(text, sizeof text, "rank %d has ended", faulty);
      const rung_status status = rung_run_ranks(none, FEW, 1e9, die, &d);
      assert_int_equal(status, faulty == 0 ? RUNG_BAD_SHAPE : RUNG_RANKS_FAILED);
      for (int r = 0; r < FEW; r++)
        if (r != faulty && strcmp(d.why[r], text) != 0)
          fail_msg("rank %d, message %d: rank %d has \"%s\"", faulty, at, r, d.why[r]);
    }
}

/* After some rounds all wait for the next one, who sends nothing. */
static rung_status stop(rung_context *context, const rung_ranks *ranks, void *user) {
  death *d = (death *)user;
  const int me = ranks->rank;
  buffers *b = malloc(sizeof *b);
  rung_status status = b == NULL ? RUNG_OUT_OF_MEMORY : RUNG_OK;
  (void)context;
  for (int round = 0; round < LAST && status == RUNG_OK; round++)
    status = exchange_all(ranks, b, round);
  if (status == RUNG_OK) {
    rung_parcel parcel = {(me + 1) % FEW, b->got[0], 1, 0};
    b->why[0] = '\0';
    if (ranks->exchange(ranks->state, NULL, 0, &parcel, 1, b->why) != 0) status = RUNG_RANKS_FAILED;
  }
  if (b != NULL) strcpy(d->why[me], b->why);
  free(b);
  return status;
}

static void the_deadline_ends_those_that_have_had_mail(void **state) {
  (void)state;
  static death d;
  assert_int_equal(rung_run_ranks(none, FEW, 0.3, stop, &d), RUNG_RANKS_FAILED);
  for (int r = 0; r < FEW; r++) assert_string_equal(d.why[r], "nothing has moved for 0.3 s");
}

/* What ranks have sent comes, though one has gone since and another one has found that out. */
static rung_status leave(rung_context *context, const rung_ranks *ranks, void *user) {
  atomic_bool *parted = (atomic_bool *)user;
  const int me = ranks->rank;
  char bytes[3] = {(char)(42 + me), 0, 0}, why[RUNG_TEXT];
  rung_parcel sent = {1, &bytes[0], 1, 0},
              received[2] = {{0, &bytes[1], 1, 0}, {2, &bytes[2], 1, 0}};
  (void)context;
  if (me == 1) {
    while (!*parted) sched_yield();
    if (ranks->exchange(ranks->state, NULL, 0, received, 2, why) != 0) return RUNG_RANKS_FAILED;
    return bytes[1] == 42 && bytes[2] == 44 ? RUNG_OK : RUNG_CHECK_FAILED;
  }
  if (ranks->exchange(ranks->state, &sent, 1, NULL, 0, why) != 0) return RUNG_RANKS_FAILED;
  if (me == 0) return RUNG_OK;
  const bool failed = ranks->exchange(ranks->state, NULL, 0, received, 1, why) != 0;
  *parted = true;
  return failed && strcmp(why, "rank 0 has ended") == 0 ? RUNG_OK : RUNG_CHECK_FAILED;
}

static void what_was_sent_outlives_who_sent_it(void **state) {
  (void)state;
  atomic_bool parted = false;
  assert_int_equal(rung_run_ranks(none, 3, 1e9, leave, &parted), RUNG_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_come_in_their_order_and_free_their_slots),
      cmocka_unit_test(a_slot_is_free_when_all_have_taken_it),
      cmocka_unit_test(messages_of_all_sizes_come_as_they_were_sent),
      cmocka_unit_test(who_sends_may_be_far_ahead),
      cmocka_unit_test(a_rank_that_goes_is_named_at_every_message),
      cmocka_unit_test(the_deadline_ends_those_that_have_had_mail),
      cmocka_unit_test(what_was_sent_outlives_who_sent_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
