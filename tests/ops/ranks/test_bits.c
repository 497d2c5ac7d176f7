/* One array over ranks: the bits of one call on the whole, for any number of ranks and any cut, on
 * the CPU, the simulated GPU, and both. */
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/plan.h"

#include "ops/ranks/cuts.h"
#include "ops/reduce/reduce.h"
#include "ops/scan/scan.h"

enum { MOST = 300000, CUTS = 6, TILE = 32768, SCANS = 8192 };

static char data[2 * MOST * BYTES], found[2 * MOST * BYTES], wanted[2 * MOST * BYTES];
static rung_context *cpus[RANKS_MOST], *sims[RANKS_MOST];
static over_run run;

static const over_job jobs[] = {
    {REDUCE, RUNG_SUM, 0, {kDLFloat, 32, 1}, 7 * TILE + 77, 1, false},
    {REDUCE, RUNG_MEAN, 0, {kDLFloat, 64, 1}, 4 * TILE, 2, false},
    {REDUCE, RUNG_SUM, 0, {kDLFloat, 16, 1}, 3 * TILE + 1, 1, false},
    {REDUCE, RUNG_MAX, 0, {kDLFloat, 32, 1}, 100000, 1, false},
    {REDUCE, RUNG_SUM, 0, {kDLInt, 8, 1}, 100001, 1, false},
    {REDUCE, RUNG_MEAN, 0, {kDLUInt, 16, 1}, 70000, 1, false},
    {REDUCE, RUNG_SUM, 0, {kDLFloat, 32, 1}, 20, 1, false},
    {SCAN, RUNG_SUM, 0, {kDLFloat, 32, 1}, 35 * SCANS + 123, 1, false},
    {SCAN, RUNG_SUM, 1, {kDLFloat, 32, 1}, 33 * SCANS, 1, true},
    {SCAN, RUNG_SUM, 1, {kDLFloat, 64, 1}, 5 * SCANS + 1, 2, false},
    {SCAN, RUNG_MIN, 1, {kDLInt, 32, 1}, 40000, 1, true},
    {SCAN, RUNG_MAX, 0, {kDLFloat, 16, 1}, 30000, 1, false},
    {SCAN, RUNG_SUM, 0, {kDLUInt, 8, 1}, 50000, 1, false},
    {SCAN, RUNG_SUM, 0, {kDLFloat, 64, 1}, 9, 1, false},
    {HISTOGRAM, RUNG_SUM, 0, {kDLFloat, 32, 1}, 100003, 1, false},
    {HISTOGRAM, RUNG_SUM, 0, {kDLFloat, 64, 1}, 3000, 2, false},
    {PAIRS, RUNG_SUM, SUMS, {kDLFloat, 64, 1}, 700, 3, false},
    {PAIRS, RUNG_SUM, EDGES | MOLECULES, {kDLFloat, 32, 1}, 900, 5, false},
    {PAIRS, RUNG_SUM, CROSS | SUMS | MOLECULES, {kDLFloat, 64, 1}, 600, 4, false},
    {PAIRS, RUNG_SUM, NEAR | SUMS, {kDLFloat, 32, 1}, 1100, 3, false},
    {PAIRS, RUNG_SUM, NEAR | BOX | MOLECULES, {kDLFloat, 64, 1}, 1100, 3, false},
    {PAIRS, RUNG_SUM, BOX | SLANTED | SUMS, {kDLFloat, 32, 1}, 500, 3, false},
    {PAIRS, RUNG_SUM, CROSS | BOX | EDGES, {kDLFloat, 64, 1}, 500, 3, false},
    {PAIRS, RUNG_SUM, SUMS, {kDLFloat, 64, 1}, 5, 3, false},
    {PAIRS, RUNG_SUM, CROSS, {kDLFloat, 32, 1}, 1, 3, false},
    {PAIRS, RUNG_SUM, SUMS | MOLECULES, {kDLFloat, 32, 1}, 0, 3, false},
    {STENCIL, RUNG_SUM, 0, {kDLFloat, 32, 1}, 37 * 29, 1, false},
    {STENCIL, RUNG_SUM, 1, {kDLFloat, 64, 1}, 200 * 13, 1, true},
    {STENCIL, RUNG_SUM, 2, {kDLFloat, 32, 1}, 40 * 3, 1, false},
    {STENCIL, RUNG_SUM, 3, {kDLFloat, 32, 1}, 70001 * 2, 1, true},
    {RADIATOR, RUNG_SUM, 4, {kDLFloat, 32, 1}, 70001 * 3, 1, false},
    {STENCIL, RUNG_SUM, 5, {kDLFloat, 32, 1}, 65537 * 3, 1, false},
    {STENCIL, RUNG_SUM, 6, {kDLFloat, 64, 1}, 65537 * 2, 1, false},
    {STENCIL, RUNG_SUM, 7, {kDLFloat, 64, 1}, 65537, 1, false},
    {STENCIL, RUNG_SUM, 9, {kDLFloat, 32, 1}, 65537, 1, true},
    {RADIATOR, RUNG_SUM, 0, {kDLFloat, 64, 1}, 37 * 19, 1, false},
    {MATMUL, RUNG_SUM, 10, {kDLFloat, 32, 1}, 70, 1, false},
    {MATMUL, RUNG_SUM, 11, {kDLFloat, 64, 1}, 23, 1, false},
    {MATMUL, RUNG_SUM, 12, {kDLFloat, 16, 1}, 30, 1, false},
    {MATMUL, RUNG_SUM, 13, {kDLInt, 8, 1}, 40, 1, false},
    {CORRELATE, RUNG_SUM, 15, {kDLFloat, 32, 1}, 60, 1, false},
    {CONVOLVE, RUNG_SUM, 15, {kDLFloat, 32, 1}, 3, 1, false},
    {CORRELATE, RUNG_SUM, 16, {kDLUInt, 8, 1}, 50, 1, false},
    {CONVOLVE, RUNG_SUM, 16, {kDLUInt, 8, 1}, 7, 1, false},
    {CORRELATE, RUNG_SUM, 17, {kDLFloat, 64, 1}, 100, 1, false},
    {CORRELATE, RUNG_SUM, 18, {kDLFloat, 16, 1}, 45, 1, false},
    {CONVOLVE, RUNG_SUM, 19, {kDLFloat, 32, 1}, 40, 1, false},
    {CORRELATE, RUNG_SUM, 20, {kDLUInt, 16, 1}, 33, 1, false},
};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

static int open_all(void **state) {
  (void)state;
  over_fill_points();
  for (int r = 0; r < RANKS_MOST; r++)
    if (rung_open(&cpus[r], &(rung_options){.device = "cpu", .threads = 1 + r % 2}) != RUNG_OK)
      return -1;
  for (int r = 0; r < RANKS_MOST; r++) sims[r] = r < 3 ? open_on("sim") : NULL;
  return 0;
}

static int close_all(void **state) {
  (void)state;
  for (int r = 0; r < RANKS_MOST; r++) rung_close(cpus[r]);
  for (int r = 0; r < RANKS_MOST; r++) rung_close(sims[r]);
  return 0;
}

/* Cuts of all kinds: 0 even, 1 anywhere, 2 with empty parts, 3 a few elements each but the last,
 * 4 all with one rank, 5 at the ends of tiles and one element beside them. */
static void cut(int kind, int count, int64_t total, int64_t tile, rung_random *random) {
  int64_t *at = run.cuts;
  at[0] = 0;
  for (int r = 1; r < count; r++) {
    int64_t next = at[r - 1];
    const int64_t drawn = (int64_t)(rung_random_double(random) * (double)(total + 1));
    if (kind == 0) next = total * r / count;
    if (kind == 1) next = drawn;
    if (kind == 2) next = r % 2 == 1 ? at[r - 1] : drawn;
    if (kind == 3) next = at[r - 1] + 1 + drawn % 7;
    if (kind == 4) next = r <= count / 2 ? 0 : total;
    if (kind == 5) next = (drawn + tile - 1) / tile * tile + r % 3 - 1;
    at[r] = next < 0 ? 0 : next > total ? total : next;
  }
  at[count] = total;
  for (int a = 1; a <= count; a++) /* in order */
    for (int b = a; b > 1 && at[b] < at[b - 1]; b--) {
      const int64_t swapped = at[b];
      at[b] = at[b - 1];
      at[b - 1] = swapped;
    }
}

/* The whole, by one call. */
static void find_wanted(const over_job *job, int64_t one[ONE]) {
  run = (over_run){.job = *job, .in = data, .out = wanted};
  assert_true(elements_of(job) * job->type.bits / 8 < (int64_t)sizeof data &&
              bytes_of(job) < sizeof found);
  fill(data, job->type, elements_of(job));
  memset(wanted, 0x5a, bytes_of(job));
  if (job->in_place) memcpy(wanted, data, bytes_of(job));
  assert_int_equal(over_call(cpus[0], NULL, &run, 0, 0, job->total), RUNG_OK);
  memcpy(one, run.one[0], sizeof run.one[0]);
}

static void compare(const over_job *job, const int64_t one[ONE], int count,
                    rung_context *const *contexts, const char *about) {
  rung_status statuses[RANKS_MOST];
  run.in = data;
  run.out = found;
  if (job->in_place)
    memcpy(found, data, bytes_of(job));
  else
    memset(found, 0x5a, bytes_of(job));
  memset(run.one, 0, sizeof run.one);
  ranks_run(count, contexts, over_rank, &run, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < count; r++) {
    if (statuses[r] != RUNG_OK)
      fail_msg("%s, rank %d of %d: %s", about, r, count, run.sentences[r]);
    if (!has_parts(job) && memcmp(run.one[r], one, sizeof run.one[r]) != 0)
      fail_msg("%s, rank %d of %d: other bits", about, r, count);
  }
  for (size_t i = 0; has_parts(job) && i < bytes_of(job); i++)
    if (found[i] != wanted[i]) fail_msg("%s, %d ranks: byte %zu has other bits", about, count, i);
}

/* Sanitizers, which look for other things than wrong bits, see a third of the cuts of every job,
 * and where GPUs are simulated one of the six. Without them a third of all is seen there: each kind
 * of cut with a third of the jobs; by CPUs all kinds with all jobs, each over every other number of
 * ranks. */
static void every_cut(rung_context *const *contexts, int from, int to, int step, bool long_rows) {
  rung_random random = {3};
  for (int j = 0; j < JOBS; j++) {
    const over_job *job = &jobs[j];
    const bool grid = job->over == STENCIL || job->over == RADIATOR;
    int64_t one[ONE];
    const bool is_long = grid && over_grids[job->how].columns > 65536;
    int share = INSTRUMENTED ? 3 : 2; /* of the kinds: one of so many */
    if (contexts != cpus && INSTRUMENTED) share = CUTS;
    if (contexts != cpus && !INSTRUMENTED) share = 3;
    if (is_long && !long_rows) continue;
    find_wanted(job, one);
    int turn = j;
    for (int count = from; count <= to; count += is_long ? 2 * step : step, turn++)
      for (int kind = turn % share; kind < CUTS; kind += share) {
        char about[64];
        snprintf(about, sizeof about, "job %d, cut %d", j, kind);
        cut(kind, count, job->total,
            job->over == SCAN      ? SCANS
            : job->over == PAIRS   ? 64
            : job->over == STENCIL ? over_grids[job->how].columns
            : job->over > STENCIL  ? 5
                                   : TILE,
            &random);
        ranks_by_host = kind % 2 == 1;
        compare(job, one, count, contexts, about);
        ranks_by_host = false;
      }
  }
}

static void any_cut_gives_the_bits_of_the_whole(void **state) {
  (void)state;
  every_cut(cpus, 1, RANKS_MOST, INSTRUMENTED ? 3 : 1, !INSTRUMENTED);
}

/* A rank's part lies alone in its memory, for AddressSanitizer to see what lies beside it. */
static rung_status alone(rung_context *context, const rung_ranks *ranks, void *user) {
  const over_run *all = (const over_run *)user;
  const int r = ranks->rank;
  const int64_t element = all->job.type.bits / 8, count = all->cuts[r + 1] - all->cuts[r];
  const size_t bytes = (size_t)(count * element);
  static over_run each[RANKS_MOST];
  char *in = malloc(bytes), *out = malloc(bytes);
  each[r] = *all;
  each[r].in = memcpy(in, all->in + all->cuts[r] * element, bytes);
  each[r].out = memset(out, 0, bytes);
  const rung_status status = over_call(context, ranks, &each[r], r, 0, count);
  if (all->job.over == SCAN) memcpy(all->out + all->cuts[r] * element, out, bytes);
  free(in);
  free(out);
  return status;
}

static void nothing_beside_a_part_is_touched(void **state) {
  (void)state;
  const over_job job = {SCAN, RUNG_SUM, 0, {kDLFloat, 32, 1}, 40 * SCANS + 5, 1, false};
  const int64_t cuts[][4] = {{0, 8 * SCANS, 40 * SCANS, 40 * SCANS + 5},
                             {0, SCANS, 2 * SCANS, 40 * SCANS + 5},
                             {0, SCANS + 1, 2 * SCANS - 1, 40 * SCANS + 5}};
  int64_t one[ONE];
  rung_status statuses[RANKS_MOST];
  find_wanted(&job, one);
  for (int c = 0; c < 3; c++) {
    memcpy(run.cuts, cuts[c], sizeof cuts[c]);
    run.out = found;
    ranks_run(3, cpus, alone, &run, 0, 0, RANKS_FAULTS, statuses);
    for (int r = 0; r < 3; r++) assert_int_equal(statuses[r], RUNG_OK);
    assert_memory_equal(found, wanted, bytes_of(&job));
  }
}

/* Few rows of A and a B of 18 MB: each makes half of the columns, by two CPUs, and by a CPU and a
 * GPU. */
static void few_rows_are_shared_by_columns(void **state) {
  (void)state;
  rung_context *mixed[RANKS_MOST] = {cpus[0], sims[0]};
  enum { ROWS_OF_A = 5, K = 4400, N = 1000 };
  static float factors[ROWS_OF_A * K + K * N];
  const over_job job = {MATMUL, RUNG_SUM, 14, {kDLFloat, 32, 1}, ROWS_OF_A, 1, false};
  rung_status statuses[RANKS_MOST];
  if (INSTRUMENTED) skip();
  fill((char *)factors, job.type, ROWS_OF_A * K + K * N);
  run = (over_run){.job = job, .in = (const char *)factors, .out = wanted};
  memset(wanted, 0x5a, bytes_of(&job));
  assert_int_equal(over_call(cpus[1], NULL, &run, 0, 0, job.total), RUNG_OK);
  memcpy(run.cuts, (int64_t[]){0, 2, ROWS_OF_A}, 3 * sizeof run.cuts[0]);
  run.out = found;
  for (int way = 0; way < (sims[0] != NULL ? 3 : 2); way++) {
    memset(found, 0x5a, bytes_of(&job));
    ranks_by_host = way == 1;
    ranks_run(2, way == 2 ? mixed : cpus, over_rank, &run, 0, 0, RANKS_FAULTS, statuses);
    ranks_by_host = false;
    for (int r = 0; r < 2; r++) assert_int_equal(statuses[r], RUNG_OK);
    assert_memory_equal(found, wanted, bytes_of(&job));
    assert_int_equal(ranks_all.calls[0], 8); /* words: four; A, B, C there and back */
  }
}

/* CPU ranks among GPU ranks. */
static void devices_may_be_mixed(void **state) {
  (void)state;
  if (sims[0] == NULL) skip();
  rung_context *mixed[RANKS_MOST] = {cpus[0], sims[0], cpus[1], sims[1], sims[2]};
  every_cut(mixed, 5, 5, 1, !INSTRUMENTED);
}

/* Ranks whose memory is short cut their parts into pieces, and ranges of scans into others. */
static void short_memory_changes_nothing(void **state) {
  (void)state;
  if (sims[0] == NULL) skip();
  rung_context *mixed[RANKS_MOST] = {cpus[0]};
  assert_int_equal(setenv("RUNG_MEMORY_LIMIT", "600K", 1), 0);
  for (int r = 1; r < 3; r++) mixed[r] = open_on("sim");
  assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
  every_cut(mixed, 3, 3, 1, false); /* a row is never cut */
  for (int r = 1; r < 3; r++) rung_close(mixed[r]);
}

/* Points go around where one rank may not have all of them: 3900 are 93600 bytes, of floats 46800.
 */
static void points_may_go_around(void **state) {
  (void)state;
  enum { MOST = 5, SHARE = INSTRUMENTED ? CUTS : 3 }; /* of the kinds of cuts: one of so many */
  rung_context *mixed[RANKS_MOST] = {cpus[0], cpus[1], NULL, cpus[2], cpus[3]};
  const int how[] = {0,
                     SUMS,
                     MOLECULES | EDGES,
                     NEAR | BOX,
                     SLANTED | BOX | SUMS,
                     CROSS,
                     SUMS | CROSS | MOLECULES | BOX,
                     NEAR | CROSS};
  rung_random random = {11};
  assert_int_equal(setenv("RUNG_MEMORY_LIMIT", "60K", 1), 0);
  mixed[2] = open_on("cpu");
  assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
  for (size_t j = 0; j < sizeof how / sizeof how[0]; j++) {
    const DLDataType type = {kDLFloat, j ? 64 : 32, 1};
    const over_job job = {PAIRS, RUNG_SUM, how[j], type, 3900, 3, false};
    int64_t one[ONE];
    find_wanted(&job, one);
    mixed[2]->memory_limit = j ? 60000 : 45000;
    for (int count = INSTRUMENTED ? MOST : 3; count <= MOST; count++)
      for (int kind = ((int)j + count) % SHARE; kind < CUTS; kind += SHARE) {
        cut(kind, count, job.total, 64, &random);
        ranks_by_host = kind % 2 == 1;
        compare(&job, one, count, mixed, "going around");
        ranks_by_host = false;
      }
    if (j == 0) { /* words: two, two of ends, results; and of five ranks two come by */
      memcpy(run.cuts, (int64_t[]){0, 200, 300, 2700, 2900, 3900}, 6 * sizeof run.cuts[0]);
      compare(&job, one, MOST, mixed, "going around");
      assert_int_equal(ranks_all.calls[0], 2 + 2 + 1 + 2);
    }
  }
  rung_close(mixed[2]);
}

/* A rank's share of pairs is cut where all points at once take more than there may be: 3900 of them
 * are 93600 bytes, which go around. */
static void shares_of_pairs_are_cut_where_memory_is_short(void **state) {
  (void)state;
  rung_context *mixed[RANKS_MOST] = {NULL};
  const int count = sims[0] != NULL ? 3 : 2, how[] = {SUMS, CROSS | SUMS, NEAR | BOX | MOLECULES};
  rung_random random = {5};
  assert_int_equal(setenv("RUNG_MEMORY_LIMIT", "64K", 1), 0);
  for (int r = 0; r < count; r++) mixed[r] = open_on(r == 2 ? "sim" : "cpu");
  assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
  for (int j = 0; j < 3; j++) {
    const over_job job = {PAIRS, RUNG_SUM, how[j], {kDLFloat, 64, 1}, 3900, 3, false};
    int64_t one[ONE];
    find_wanted(&job, one);
    cut(1, count, job.total, 64, &random);
    compare(&job, one, count, mixed, "cut shares");
  }
  for (int r = 0; r < count; r++) rung_close(mixed[r]);
}

/* GPUs that count by sorted tiles deal these out: of points spread evenly, and of many that share a
 * cell, whose order must be the same on all. Of near pairs each counts those of its points, by
 * another rung: there are to be more than 2^25 for rank 0 not to count them all. */
static void tiles_of_pairs_are_dealt_out(void **state) {
  (void)state;
  enum { MANY = INSTRUMENTED ? 700 : 1900, HALF = MANY / 2, SOME = INSTRUMENTED ? 520 : 1100 };
  const struct {
    int how, points;
    bool in_heaps, dealt;
  } cases[] = {{0, MANY, false, true},     {0, HALF, true, true},  {CROSS, HALF, true, true},
               {EDGES, SOME, false, true}, {0, 3, false, true},    {NEAR | BOX, 8300, false, false},
               {SUMS, SOME, false, false}, {CROSS, 1, false, true}};
  if (sims[0] == NULL) skip();
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const over_job job = {PAIRS,           RUNG_SUM, cases[k].how, {kDLFloat, 64, 1},
                          cases[k].points, 5,        false};
    const bool few = cases[k].points < 8192, named = few && cases[k].dealt;
    int64_t one[ONE];
    find_wanted(&job, one);
    if (cases[k].in_heaps) {
      for (int64_t i = 0; i < elements_of(&job); i++)
        ((double *)data)[i] = round(((double *)data)[i]) + ((double *)data)[i] / 64;
      assert_int_equal(over_call(cpus[0], NULL, &run, 0, 0, job.total), RUNG_OK);
      memcpy(one, run.one[0], sizeof run.one[0]);
    }
    for (int count = INSTRUMENTED ? 3 : 1; count <= 3; count++) {
      memcpy(run.cuts, (int64_t[]){0, job.total / 5, job.total / 5, job.total},
             4 * sizeof(int64_t));
      run.cuts[count] = job.total;
      if (few) compare(&job, one, count, sims, "few pairs"); /* all are rank 0's */
      if (few && !named) continue;
      run.rung = named ? "exact32" : NULL;
      compare(&job, one, count, sims, "tiles");
      for (int r = 0; r < count && cases[k].points > 3; r++)
        assert_int_equal(strcmp(run.used[r], "exact32") == 0, cases[k].dealt);
      run.rung = NULL;
    }
  }
}

/* Families of families: ranges of 32^2 tiles, and of 32, and tiles between them. */
static void compare_long(const over_job *job, int64_t of_gpu, const char *in, char *whole,
                         char *out) {
  rung_context *mixed[RANKS_MOST] = {cpus[0], sims[0], cpus[1], cpus[2]};
  rung_status statuses[RANKS_MOST];
  const int64_t cuts[3][5] = {
      {0, 0, of_gpu, job->total - 100, job->total}, /* if there is one */
      {0, 3 * SCANS + 7, 1100 * SCANS, job->total - 100, job->total},
      {0, 1024 * SCANS - 1, 1024 * SCANS + 9, 2 * 1024 * SCANS, job->total}};
  run = (over_run){.job = *job, .in = in, .out = whole};
  assert_int_equal(over_call(cpus[0], NULL, &run, 0, 0, job->total), RUNG_OK);
  run.out = out;
  for (int c = 0; c < 3; c++) {
    memcpy(run.cuts, cuts[c], sizeof cuts[c]);
    memset(out, 0x5a, bytes_of(job));
    ranks_run(4, c == 0 && sims[0] != NULL ? mixed : cpus, over_rank, &run, 0, 0, RANKS_FAULTS,
              statuses);
    for (int r = 0; r < 4; r++) assert_int_equal(statuses[r], RUNG_OK);
    assert_memory_equal(out, whole, bytes_of(job));
  }
}

static void long_scans_are_taken_in_ranges(void **state) {
  (void)state;
  enum { LONG = 2 * 32 * 32 * SCANS + 40 * SCANS + 5000 };
  if (INSTRUMENTED) skip();
  char *in = malloc(LONG * sizeof(float)), *out = malloc(LONG * sizeof(float)),
       *whole = malloc(LONG * sizeof(float));
  assert_true(in != NULL && out != NULL && whole != NULL);
  const over_job sums = {SCAN, RUNG_SUM, 0, {kDLFloat, 32, 1}, LONG, 1, false};
  fill(in, sums.type, LONG);
  compare_long(&sums, 2 * 1024 * SCANS, in, whole, out);
  /* Falling, and above 0: what is not there must not be taken for a number. */
  const over_job least = {SCAN, RUNG_MIN, 1, {kDLInt, 32, 1}, LONG, 1, false};
  for (int i = 0; i < LONG; i++) ((int32_t *)in)[i] = LONG - i;
  compare_long(&least, (1024 + 33) * SCANS, in, whole, out);
  free(in);
  free(out);
  free(whole);
}

/* A rank with 62 ranges of a level: more than a launch takes of those that lie side by side. */
static void ranges_of_a_level_are_taken_side_by_side(void **state) {
  (void)state;
  static const char *const rungs[] = {"tiles", "single-pass"};
  static const DLDataType types[] = {{kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLUInt, 8, 1}};
  const int64_t total = 67 * SCANS + 77, cuts[] = {0, SCANS, 63 * SCANS, total};
  if (sims[0] == NULL || INSTRUMENTED) skip();
  for (int k = 0; k < 12; k++) {
    const bool is_sum = k % 3 < 2;
    const over_job job = {
        SCAN, is_sum ? RUNG_SUM : RUNG_MAX, k / 3 % 2, types[k % 3], total, 1, k % 4 == 0};
    int64_t one[ONE];
    find_wanted(&job, one);
    memcpy(run.cuts, cuts, sizeof cuts);
    run.rung = rungs[k / 6];
    compare(&job, one, 3, sims, rungs[k / 6]);
    for (int r = 0; r < 3; r++) assert_string_equal(run.used[r], rungs[k / 6]);
  }
}

/* The first pass over a part reads that part, once, and leaves a number for each of its ranges. */
static void a_first_pass_leaves_a_number_a_range(void **state) {
  (void)state;
  const struct {
    int64_t first, count, range; /* tiles */
  } parts[] = {{0, 1, 1},    {5, 3, 1},        {5, 62, 1},         {32, 32, 32},
               {32, 64, 32}, {0, 31 * 32, 32}, {1024, 2048, 1024}, {32, 33 * 32, 32}};
  const int64_t total = 4096 * SCANS + 1, shape[2] = {1, total};
  scan_problem problem;
  assert_int_equal(scan_problem_of(NULL, RUNG_SUM, RUNG_F64, false, 1, total, 1, &problem),
                   RUNG_OK);
  problem.axis = 1;
  for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
    const int64_t first = parts[k].first * SCANS, count = parts[k].count * SCANS;
    const rung_piece piece = {RUNG_PARTS, {0, first}, {1, count}};
    const scan_problem *p;
    rung_share share = {.arrays = {rung_view_compact(data, RUNG_F64, 2, shape),
                                   rung_view_compact(found, RUNG_F64, 2, shape)}};
    memcpy(share.problem.bytes, &problem, sizeof problem);
    assert_true(scan_parts.share(&piece, NULL, &share));
    p = (const scan_problem *)share.problem.bytes;
    assert_true(p->aggregates);
    assert_int_equal(p->columns, parts[k].range * SCANS);
    assert_int_equal(p->lines * p->columns, count);
    assert_ptr_equal(share.arrays[SCAN_IN].data, data + first * (int64_t)sizeof(double));
    assert_int_equal(share.arrays[SCAN_IN].count, count);
    assert_int_equal(share.arrays[SCAN_OUT].count, p->lines);
  }
}

/* A rank that has a tile of tiles, 2^30 elements, sends what it comes to. The array is one block of
 * memory, shown again and again. */
static void tiles_of_tiles_are_one_number(void **state) {
  (void)state;
  enum { BLOCK = 8 << 20 };
  const int64_t total = ((int64_t)1 << 31) + 123456;
  const size_t bytes = ((size_t)total * sizeof(float) + BLOCK - 1) / BLOCK * BLOCK;
  if (INSTRUMENTED) skip();
  const int file = memfd_create("block", 0);
  assert_true(file >= 0 && ftruncate(file, BLOCK) == 0);
  char *array = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(array != MAP_FAILED);
  for (size_t at = 0; at < bytes; at += BLOCK)
    assert_true(mmap(array + at, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
                array + at);
  const over_job job = {REDUCE, RUNG_SUM, 0, {kDLFloat, 32, 1}, total, 1, false};
  const int64_t cuts[3] = {0, 40000, total};
  int64_t one[ONE];
  rung_status statuses[RANKS_MOST];
  fill(array, job.type, BLOCK / (int64_t)sizeof(float));
  run = (over_run){.job = job, .in = array, .out = array};
  assert_int_equal(over_call(cpus[1], NULL, &run, 0, 0, total), RUNG_OK);
  memcpy(one, run.one[0], sizeof one);
  memset(run.one, 0, sizeof run.one);
  memcpy(run.cuts, cuts, sizeof cuts);
  ranks_run(2, cpus, over_rank, &run, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < 2; r++) {
    assert_int_equal(statuses[r], RUNG_OK);
    assert_memory_equal(run.one[r], one, sizeof one);
  }
  /* Tiles before it and behind it: of the other 32768 there is one number. */
  assert_true(ranks_all.sent < (RUNG_SUM_TILE + 10) * sizeof(float) + 65536);
  assert_int_equal(munmap(array, bytes), 0);
  assert_int_equal(close(file), 0);
}

/* The same by itself: two tiles of tiles and one tile more. */
static void what_is_missing_is_no_number(void **state) {
  (void)state;
  const int64_t super = (int64_t)TILE * TILE, total = 2 * super + 10;
  const int32_t given[2][3] = {{7, 9, 5}, {5, 7, 9}};
  int64_t found_there = 0;
  reduce_problem problem;
  assert_int_equal(
      reduce_problem_of(NULL, RUNG_MIN, RUNG_I32, REDUCE_PACKED, 1, total, 1, &problem), RUNG_OK);
  rung_piece whole = {.stage = RUNG_PARTS, .count = {total}};
  for (int k = 0; k < 2; k++) {
    void *parts = calloc(1, reduce_parts.state_bytes(&problem, &whole));
    assert_non_null(parts);
    for (int i = 0; i < 3; i++) {
      int32_t number = given[k][i];
      rung_view results[2] = {{0}};
      rung_piece piece = {.first = {i * super}, .count = {i < 2 ? super : 10}};
      results[REDUCE_OUT] = rung_view_compact(&number, RUNG_I32, 0, NULL);
      reduce_parts.take(&problem, &piece, results, parts);
    }
    rung_view outputs[2] = {{0}};
    outputs[REDUCE_OUT] = rung_view_compact(&found_there, RUNG_I32, 0, NULL);
    reduce_parts.finish(&problem, &whole, parts, outputs);
    free(parts);
    int32_t least;
    memcpy(&least, &found_there, sizeof least);
    assert_int_equal(least, 5);
  }
}

/* Rows of a matrix are a part of it, whatever their strides. */
enum { ROWS = 700, COLUMNS = 99, PITCH = 120 };
static float matrix[ROWS][PITCH];

static rung_status sum_rows(rung_context *context, const rung_ranks *ranks, void *user) {
  const int first = ranks == NULL ? 0 : ROWS * ranks->rank / ranks->count;
  const int end = ranks == NULL ? ROWS : ROWS * (ranks->rank + 1) / ranks->count;
  int64_t shape[2] = {end - first, COLUMNS}, stride[2] = {PITCH, 1};
  DLTensor in = tensor(matrix[first], f32, 2, shape, stride);
  DLTensor out = rung_number_f32((float *)user + (ranks == NULL ? RANKS_MOST : ranks->rank));
  return ranks == NULL ? rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, NULL)
                       : rung_reduce_ranks(context, ranks, RUNG_SUM, &in, &out, NULL);
}

static void parts_may_have_dimensions(void **state) {
  (void)state;
  float sums[RANKS_MOST + 1];
  rung_status statuses[RANKS_MOST];
  rung_random random = {11};
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < PITCH; j++) matrix[i][j] = rung_random_float(&random);
  assert_int_equal(sum_rows(cpus[0], NULL, sums), RUNG_OK);
  ranks_run(5, cpus, sum_rows, sums, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < 5; r++) {
    assert_int_equal(statuses[r], RUNG_OK);
    assert_memory_equal(&sums[r], &sums[RANKS_MOST], sizeof sums[r]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_cut_gives_the_bits_of_the_whole),
      cmocka_unit_test(nothing_beside_a_part_is_touched),
      cmocka_unit_test(few_rows_are_shared_by_columns),
      cmocka_unit_test(devices_may_be_mixed),
      cmocka_unit_test(short_memory_changes_nothing),
      cmocka_unit_test(points_may_go_around),
      cmocka_unit_test(shares_of_pairs_are_cut_where_memory_is_short),
      cmocka_unit_test(tiles_of_pairs_are_dealt_out),
      cmocka_unit_test(long_scans_are_taken_in_ranges),
      cmocka_unit_test(ranges_of_a_level_are_taken_side_by_side),
      cmocka_unit_test(a_first_pass_leaves_a_number_a_range),
      cmocka_unit_test(tiles_of_tiles_are_one_number),
      cmocka_unit_test(what_is_missing_is_no_number),
      cmocka_unit_test(parts_may_have_dimensions),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
