/* Calls over ranks that go wrong, at every message: every rank ends, with a sentence, and outputs
 * are untouched or whole. */
#include <stdio.h>

#include "core/context.h"
#include "core/ranks.h"
#include "failing.h"
#include "ops/outside.h"
#include "ops/ranks/cuts.h"

enum { RANKS = 3, MOST = 3 * 32768, POISON = 0x5a };

static char data[MOST * BYTES], found[MOST * BYTES], wanted[MOST * BYTES];
static rung_context *contexts[RANKS_MOST];
static over_run run;
static rung_status statuses[RANKS_MOST];

/* Small, with a tile that is cut twice; a scan with gaps, which needs scratch, and one rank's part
 * of it is the end of a tile and the beginning of another. */
static const over_job jobs[] = {
    {REDUCE, RUNG_SUM, 0, {kDLFloat, 32, 1}, 70000, 1, false},
    {SCAN, RUNG_SUM, 0, {kDLFloat, 64, 1}, 20000, 2, false},
    {HISTOGRAM, RUNG_SUM, 0, {kDLFloat, 32, 1}, 5000, 1, false},
    {PAIRS, RUNG_SUM, SUMS, {kDLFloat, 32, 1}, 120, 3, false},
    {PAIRS, RUNG_SUM, CROSS | SUMS | MOLECULES, {kDLFloat, 64, 1}, 110, 4, false},
    {STENCIL, RUNG_SUM, 0, {kDLFloat, 64, 1}, 37 * 5, 1, false},
    {STENCIL, RUNG_SUM, 8, {kDLFloat, 32, 1}, 65537, 1, false},
    {MATMUL, RUNG_SUM, 11, {kDLFloat, 64, 1}, 110, 1, false},
    {CORRELATE, RUNG_SUM, 15, {kDLFloat, 32, 1}, 120, 1, false},
    {PAIRS, RUNG_SUM, NEAR | SUMS | MOLECULES, {kDLFloat, 64, 1}, 2100, 3, false},
    {PAIRS, RUNG_SUM, 0, {kDLFloat, 64, 1}, 1510, 3, false},
};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

/* The last one's points go around, for rank 1 may not have all 36240 bytes of them: one message
 * more than where all ranks have all points. Those before go to slabs of space: a word, a word with
 * how far they reach, numbers of layers, a word; points, weights and molecules to slabs and to
 * halos; molecules to those that find them; and a word with results. */
enum { AROUND = JOBS - 1, LIMIT = 36000, GOING_AROUND = 5, SLABS = JOBS - 2, BY_SLABS = 12 };

static int open_all(void **state) {
  (void)state;
  over_fill_points();
  for (int r = 0; r < RANKS; r++)
    if (rung_open(&contexts[r], &(rung_options){.device = "cpu", .threads = 1}) != RUNG_OK)
      return -1;
  return 0;
}

static int close_all(void **state) {
  (void)state;
  for (int r = 0; r < RANKS; r++) rung_close(contexts[r]);
  return 0;
}

static int64_t one[ONE];

/* What is to come of a job, in `wanted` and `one`; found once, where the same of `jobs` follows. */
static void find_wanted(const over_job *job) {
  static const over_job *last;
  if (job == last) return;
  fill(data, job->type, elements_of(job));
  memset(wanted, POISON, sizeof wanted);
  memset(run.one, POISON, sizeof run.one);
  assert_int_equal(over_call(contexts[0], NULL, &run, 0, 0, job->total), RUNG_OK);
  memcpy(one, run.one[0], sizeof one);
  last = job >= jobs && job < jobs + JOBS ? job : NULL;
}

/* Everything as it is before a call. No call writes to `data`. */
static void prepare(const over_job *job) {
  run = (over_run){.job = *job, .in = data, .out = wanted};
  find_wanted(job);
  if (job == &jobs[AROUND])
    contexts[1]->memory_limit = LIMIT;
  else if (contexts[1]->memory_limit == LIMIT)
    contexts[1]->memory_limit = 0;
  const int64_t cuts[RANKS + 1] = {0, job->total / 3 + 11,
                                   job->total * (job->over == SCAN ? 16 : 9) / 20, job->total};
  memcpy(run.cuts, cuts, sizeof cuts);
  run.out = found;
  memset(found, POISON, sizeof found);
  memset(run.one, POISON, sizeof run.one);
}

static bool is_poison(const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (((const unsigned char *)bytes)[i] != POISON) return false;
  return true;
}

/* Untouched, or whole; where all is well, whole. */
static void check_outputs(int r, const char *about) {
  const over_job *job = &run.job;
  over_range range[OVER_RANGES];
  const int ranges = has_parts(job) ? ranges_of(job, run.cuts[r], run.cuts[r + 1], range) : 0;
  bool whole = true, untouched = true;
  for (int k = 0; k < ranges; k++) {
    const char *at = found + range[k].first;
    whole &= memcmp(at, wanted + range[k].first, (size_t)range[k].count) == 0;
    untouched &= is_poison(at, (size_t)range[k].count);
  }
  if (ranges == 0) {
    whole = memcmp(run.one[r], one, sizeof one) == 0;
    untouched = is_poison(run.one[r], sizeof run.one[r]);
  }
  if (!whole && (statuses[r] == RUNG_OK || !untouched))
    fail_msg("%s, rank %d: status %d, and its output is half done", about, r, (int)statuses[r]);
}

static bool names(const char *sentence, int rank) {
  char text[16];
  snprintf(text, sizeof text, "rank %d", rank);
  return strstr(sentence, text) != NULL;
}

/* One of the ranks goes wrong at one of its `messages`. Of the last one, what the others have got
 * in time is as good as ever. */
static bool go_wrong(int j, int faulty, int at, int messages, ranks_fault fault) {
  char about[80];
  int named = 0, failed = 0;
  snprintf(about, sizeof about, "job %d, rank %d does %d at message %d", j, faulty, (int)fault, at);
  const bool last = at == messages && fault != RANKS_DIES;
  prepare(&jobs[j]);
  ranks_run(RANKS, contexts, over_rank, &run, faulty, at, fault, statuses);
  if (ranks_all.calls[faulty] < at) return false; /* there is no such message */
  for (int r = 0; r < RANKS; r++) {
    check_outputs(r, about);
    failed += statuses[r] != RUNG_OK;
    named += names(run.sentences[r], faulty);
    if (statuses[r] != RUNG_OK && strncmp(run.sentences[r], "rank ", 5) != 0)
      fail_msg("%s, rank %d: \"%s\"", about, r, run.sentences[r]);
    /* Who has its bytes goes on, and then waits for those who have not. */
    const bool must_name = fault == RANKS_DIES;
    if (fault <= RANKS_DIES_LATE && r != faulty && !(last && statuses[r] == RUNG_OK) &&
        (statuses[r] != RUNG_RANKS_FAILED || (must_name && !names(run.sentences[r], faulty))))
      fail_msg("%s, rank %d: %d \"%s\"", about, r, (int)statuses[r], run.sentences[r]);
  }
  if (ranks_all.struck && ((failed < RANKS && !last) || named == 0))
    fail_msg("%s: %d ranks failed, %d name it", about, failed, named);
  return true;
}

/* Of a way that moves what lies anywhere, and of one that moves the host's memory. */
static void every_message_may_be_the_last(void **state) {
  (void)state;
  for (int j = 0; j < JOBS; j++)
    for (int faulty = 0; faulty < RANKS; faulty++) {
      if (THREADS_ONLY && faulty != j % RANKS) continue; /* they share the same, whichever it is */
      ranks_by_host = (j + faulty) % 2 == 1;
      prepare(&jobs[j]);
      ranks_run(RANKS, contexts, over_rank, &run, 0, 0, RANKS_FAULTS, statuses);
      const int messages = ranks_all.calls[faulty];
      assert_true(messages >= 2); /* words, and what is between them */
      assert_true(j != AROUND || messages == GOING_AROUND);
      assert_true(j != SLABS || messages == BY_SLABS);
      for (ranks_fault fault = 0; fault < RANKS_ALTERS; fault++) {
        int at = 1;
        if (INSTRUMENTED && j == AROUND && (int)fault != faulty) continue; /* each by one of them */
        while (go_wrong(j, faulty, at, messages, fault)) at++;
        assert_true(at > messages);
      }
      ranks_by_host = false;
    }
}

/* Another version's word, and results that are none. */
static void what_is_altered_is_seen(void **state) {
  (void)state;
  prepare(&jobs[0]);
  ranks_run(RANKS, contexts, over_rank, &run, 1, 1, RANKS_ALTERS, statuses);
  assert_int_equal(statuses[0], RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(run.sentences[0], "rank 1 has version"));
  assert_string_equal(run.sentences[0], run.sentences[2]);
  /* Of a scan a word follows them, of a histogram none: who has sent them has its own. */
  for (int j = 1; j < 3; j++) {
    prepare(&jobs[j]);
    ranks_altered_at = offsetof(rung_word, more) + 7;
    ranks_run(RANKS, contexts, over_rank, &run, 1, j == 1 ? 3 : 2, RANKS_ALTERS, statuses);
    ranks_altered_at = 7;
    assert_int_equal(statuses[0], RUNG_RANKS_FAILED);
    assert_int_equal(statuses[1], j == 1 ? RUNG_RANKS_FAILED : RUNG_OK);
    assert_non_null(strstr(run.sentences[0], "rank 1 sent results of parts that are none"));
    if (j == 1) assert_string_equal(run.sentences[0], run.sentences[1]);
    assert_string_equal(run.sentences[0], run.sentences[2]);
    for (int r = 0; r < RANKS; r++) check_outputs(r, "altered results");
  }
}

/* Ranks that have heard of other points than there are do not cut space each in its own way: of the
 * ends of a rank's points, which follow its word, only those that are the ends of all matter. */
static void slabs_are_the_same_in_all_ranks(void **state) {
  (void)state;
  enum { ENDS = 6 };
  int struck = 0;
  for (int faulty = 0; faulty < RANKS; faulty++)
    for (int at = 0; at <= ENDS; at++) {
      prepare(&jobs[SLABS]);
      if (at < ENDS) ranks_altered_at = offsetof(rung_word, more) + 8 * (size_t)at + 7;
      ranks_run(RANKS, contexts, over_rank, &run, faulty, at < ENDS ? 2 : 3, RANKS_ALTERS,
                statuses);
      ranks_altered_at = 7;
      for (int r = 0; r < RANKS; r++) {
        assert_int_equal(statuses[r], at < ENDS ? statuses[0] : RUNG_RANKS_FAILED);
        check_outputs(r, "altered slabs");
      }
      struck += at < ENDS && statuses[0] == RUNG_RANKS_FAILED;
    }
  assert_int_equal(struck, 2);
}

/* ---- arguments ---------------------------------------------------------------------------------
 */

typedef struct other {
  over_job job;    /* what rank 1 does */
  bool no_context; /* it has none */
  bool no_out;
  bool own_words; /* its context has another sentence, or none */
} other;

static other one_differs;

static rung_status differ(rung_context *context, const rung_ranks *ranks, void *user) {
  over_run *all = (over_run *)user;
  if (ranks->rank != 1) return over_rank(context, ranks, user);
  over_run mine = *all;
  rung_context *given = one_differs.no_context ? NULL : context;
  mine.job = one_differs.job;
  if (one_differs.no_out) {
    int64_t count = 3;
    DLTensor in = tensor(all->in, f32, 1, &count, NULL);
    const rung_status status = rung_reduce_ranks(given, ranks, RUNG_SUM, &in, NULL, NULL);
    strcpy(all->sentences[1], rung_last_error(given));
    return status;
  }
  const rung_status status = over_call(given, ranks, &mine, 1, all->cuts[1], all->cuts[2]);
  strcpy(all->sentences[1], rung_last_error(given));
  return status;
}

static void expect_of(const over_job *job, rung_status wanted_status, const char *part) {
  prepare(job);
  ranks_run(RANKS, contexts, differ, &run, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < RANKS; r++) {
    if (statuses[r] != wanted_status || (r != 1 && strstr(run.sentences[r], part) == NULL))
      fail_msg("rank %d: %d \"%s\"; expected: %s", r, (int)statuses[r], run.sentences[r], part);
    check_outputs(r, part);
  }
  assert_string_equal(run.sentences[0], run.sentences[2]);
  if (!one_differs.own_words) assert_string_equal(run.sentences[0], run.sentences[1]);
}

static void expect(rung_status wanted_status, const char *part) {
  expect_of(&jobs[0], wanted_status, part);
}

static void ranks_must_agree(void **state) {
  (void)state;
  one_differs = (other){.job = jobs[0]};
  one_differs.job.what = RUNG_MIN;
  expect(RUNG_BAD_ARGUMENT,
         "rank 1 calls rung_reduce_ranks(min of f32), and rank 0 "
         "rung_reduce_ranks(sum of f32); expected: the same in all ranks");
  one_differs.job = jobs[0];
  one_differs.job.type = i32;
  expect(RUNG_BAD_ARGUMENT, "rank 1 calls rung_reduce_ranks(sum of i32)");
  one_differs.job = jobs[2];
  expect(RUNG_BAD_ARGUMENT,
         "rank 1 calls rung_histogram_ranks(50 bins of kind 1 from -1 to 1, of f32)");
  one_differs.job = jobs[1];
  expect(RUNG_BAD_ARGUMENT, "rank 1 calls rung_scan_ranks(sums of f64)");
}

static void ranks_must_agree_on_pairs(void **state) {
  (void)state;
  const over_job base = {PAIRS, RUNG_SUM, CROSS | BOX | SUMS, {kDLFloat, 64, 1}, 110, 3, false};
  const int others[] = {CROSS | SUMS,
                        BOX | SUMS,
                        CROSS | BOX,
                        CROSS | BOX | SUMS | SLANTED,
                        CROSS | BOX | SUMS | NEAR,
                        CROSS | BOX | SUMS | EDGES,
                        CROSS | BOX | SUMS | MOLECULES};
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
    one_differs = (other){.job = base};
    one_differs.job.how = others[k];
    expect_of(&base, RUNG_BAD_ARGUMENT, "rank 1 calls rung_pairs_ranks(50 bins of ");
  }
  one_differs.job = base;
  one_differs.job.type = f32;
  expect_of(&base, RUNG_BAD_ARGUMENT, "of f32, two sets, sums), and rank 0 rung_pairs_ranks(50 ");
  one_differs.job = base;
  one_differs.job.how = CROSS;
  expect_of(&base, RUNG_BAD_ARGUMENT,
            "rank 1 calls rung_pairs_ranks(50 bins of width 0.029999999999999999, of f64, two "
            "sets), and rank 0 ");
  one_differs.job = jobs[0];
  expect_of(&base, RUNG_BAD_ARGUMENT, "rank 1 calls rung_reduce_ranks(sum of f32), and rank 0 ");
}

/* As many points as there may be, in every rank; none is read. */
static rung_status too_many(rung_context *context, const rung_ranks *ranks, void *user) {
  over_run *all = (over_run *)user;
  int64_t shape[2] = {INT32_MAX, 3}, stride[2] = {0, 0}, bins = BINS;
  DLTensor at = tensor(data, f64, 2, shape, stride);
  DLTensor counts = rung_array_i64(all->one[ranks->rank], &bins);
  const rung_points points = {.at = &at};
  const rung_distances distances = {.count = BINS, .width = 1};
  const rung_status status =
      rung_pairs_ranks(context, ranks, &points, NULL, NULL, &distances, &counts, NULL, NULL, NULL);
  strcpy(all->sentences[ranks->rank], rung_last_error(context));
  return status;
}

static void all_ranks_may_have_too_many_points(void **state) {
  (void)state;
  prepare(&jobs[3]);
  ranks_run(RANKS, contexts, too_many, &run, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < RANKS; r++) {
    assert_int_equal(statuses[r], RUNG_TOO_LARGE);
    assert_string_equal(run.sentences[r], "a has 6442450941 points; expected: at most 2^31 - 1");
    check_outputs(r, "too many");
  }
}

/* A rank whose limit of memory is too low for the least part of a share. */
static void memory_may_be_too_little_for_any_share(void **state) {
  (void)state;
  rung_context *open = contexts[1];
  assert_int_equal(setenv("RUNG_MEMORY_LIMIT", "64", 1), 0);
  contexts[1] = open_on("cpu");
  assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
  one_differs = (other){.job = jobs[3]};
  expect_of(&jobs[3], RUNG_OUT_OF_MEMORY,
            "rank 1: environment variable RUNG_MEMORY_LIMIT is 64 bytes");
  rung_close(contexts[1]);
  contexts[1] = open;
}

static void one_rank_refuses_for_all(void **state) {
  (void)state;
  one_differs = (other){.job = jobs[0], .no_out = true};
  expect(RUNG_BAD_ARGUMENT, "rank 1: out is NULL");
  one_differs = (other){.job = jobs[0]};
  one_differs.job.what = (rung_reduction)9;
  expect(RUNG_BAD_ARGUMENT, "rank 1: what is 9; expected:");
  one_differs = (other){.job = jobs[1]};
  one_differs.job.type = f16;
  expect(RUNG_BAD_DTYPE, "rank 1: in holds f16, whose sums are made in f32; expected:");
  one_differs = (other){.job = jobs[0], .no_context = true, .own_words = true};
  expect(RUNG_BAD_ARGUMENT, "rank 1: context is NULL");
  rung_context *open = contexts[1];
  assert_int_equal(rung_open(&contexts[1], &(rung_options){.device = "none"}), RUNG_UNKNOWN_NAME);
  one_differs = (other){.job = jobs[0], .own_words = true};
  expect(RUNG_UNKNOWN_NAME, "rank 1: device is \"none\"");
  rung_close(contexts[1]);
  contexts[1] = open;
}

static void nothing_has_no_minimum(void **state) {
  (void)state;
  over_job job = jobs[0];
  job.what = RUNG_MIN;
  run = (over_run){.job = job, .in = data, .out = found};
  ranks_run(RANKS, contexts, over_rank, &run, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < RANKS; r++) assert_int_equal(statuses[r], RUNG_BAD_SHAPE);
  run.job.what = RUNG_SUM;
  memset(run.one, POISON, sizeof run.one);
  ranks_run(RANKS, contexts, over_rank, &run, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < RANKS; r++) {
    float sum;
    memcpy(&sum, run.one[r], sizeof sum);
    assert_int_equal(statuses[r], RUNG_OK);
    assert_true(sum == 0 && !signbit(sum));
    assert_null(run.used[r]);
  }
}

static void a_way_that_is_none_is_refused(void **state) {
  (void)state;
  int64_t count = 3;
  float sum;
  DLTensor in = tensor(data, f32, 1, &count, NULL), out = rung_number_f32(&sum);
  const rung_ranks wrong[] = {{.rank = 0, .count = 0, .exchange = ranks_exchange},
                              {.rank = 2, .count = 2, .exchange = ranks_exchange},
                              {.rank = -1, .count = 2, .exchange = ranks_exchange},
                              {.rank = 0, .count = 2}};
  for (int k = 0; k < 4; k++) {
    assert_int_equal(rung_reduce_ranks(contexts[0], &wrong[k], RUNG_SUM, &in, &out, NULL),
                     RUNG_BAD_ARGUMENT);
    assert_non_null(strstr(rung_last_error(contexts[0]), "ranks->"));
  }
  assert_int_equal(rung_reduce_ranks(contexts[0], NULL, RUNG_SUM, &in, &out, NULL),
                   RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(rung_last_error(contexts[0]), "ranks is NULL; expected: a rung_ranks"));
  const rung_ranks alone = {.rank = 0, .count = 1};
  assert_int_equal(rung_reduce_ranks(contexts[0], &alone, RUNG_SUM, &in, &out, NULL), RUNG_OK);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static long request;
static int victim; /* the rank whose request fails */

static void begin_failing(int rank) {
  failing_spared = rank != victim;
  if (rank == victim) failing_begin(request);
}

/* Every request of all ranks fails once: all ranks say the same. For columns of B a product asks
 * again. */
static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  for (int j = 0; j < JOBS; j++) {
    long asked, failed = 0;
    victim = 0;
    request = 0;
    do {
      char about[96];
      request++;
      snprintf(about, sizeof about, "job %d, request %ld of rank %d", j, request, victim);
      close_all(NULL); /* scratch is asked for again */
      assert_int_equal(open_all(NULL), 0);
      prepare(&jobs[j]);
      close_all(NULL);
      assert_int_equal(open_all(NULL), 0);
      const long held = failing_held;
      ranks_ready = begin_failing;
      ranks_run(RANKS, contexts, over_rank, &run, 0, 0, RANKS_FAULTS, statuses);
      ranks_ready = NULL;
      failing_spared = false; /* a rank may have been this thread */
      asked = failing_end();
      close_all(NULL);
      if (failing_held > held) fail_msg("%s: %ld blocks more are held", about, failing_held - held);
      assert_int_equal(open_all(NULL), 0);
      for (int r = 0; r < RANKS; r++) {
        check_outputs(r, about);
        if (statuses[r] != statuses[0] || strcmp(run.sentences[r], run.sentences[0]) != 0)
          fail_msg("%s: \"%s\" in rank %d, \"%s\" in rank 0", about, run.sentences[r], r,
                   run.sentences[0]);
        if (statuses[r] != RUNG_OK &&
            (statuses[r] != RUNG_OUT_OF_MEMORY || strncmp(run.sentences[r], "rank ", 5) != 0))
          fail_msg("%s: status %d, \"%s\"", about, (int)statuses[r], run.sentences[r]);
      }
      failed += statuses[0] != RUNG_OK;
      if (asked < request) { /* that rank has no more */
        victim++;
        request = 0;
      }
    } while (victim < RANKS);
    if (failed < 12) fail_msg("job %d: %ld of %ld requests failed", j, failed, asked);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_message_may_be_the_last),
      cmocka_unit_test(what_is_altered_is_seen),
      cmocka_unit_test(slabs_are_the_same_in_all_ranks),
      cmocka_unit_test(ranks_must_agree),
      cmocka_unit_test(ranks_must_agree_on_pairs),
      cmocka_unit_test(all_ranks_may_have_too_many_points),
      cmocka_unit_test(memory_may_be_too_little_for_any_share),
      cmocka_unit_test(one_rank_refuses_for_all),
      cmocka_unit_test(nothing_has_no_minimum),
      cmocka_unit_test(a_way_that_is_none_is_refused),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
