/* Products over ranks, rows as they lie and as grids of blocks: the bits of one call, whichever way
 * and however rows are cut; what goes wrong on the way; and which way is taken. */
#include <stdio.h>

#include "core/context.h"
#include "core/random.h"
#include "core/ranks.h"
#include "failing.h"
#include "ops/matmul/grid.h"
#include "ops/ranks.h"

enum { ROOM = 1 << 17, POISON = 0xff, GAP = 5, CUTS = 5 };

/* How matrices lie: without gaps; rows with gaps; A and B turned; C turned. */
typedef enum layout { PLAIN, GAPS, TURNED_FACTORS, TURNED_RESULT } layout;

typedef struct product {
  DLDataType type, out;
  int64_t m, n, k;
  double alpha, beta;
  layout layout;
  bool fixed;
} product;

#define F16 \
  { kDLFloat, 16, 1 }
#define BF16 \
  { kDLBfloat, 16, 1 }
#define F32 \
  { kDLFloat, 32, 1 }
#define F64 \
  { kDLFloat, 64, 1 }

static const product products[] = {
    {F32, F32, 41, 200, 50, 1, 0, PLAIN, false},
    {F32, F32, 37, 150, 33, 1.5, 0.75, GAPS, false},
    {F64, F64, 30, 130, 40, 1, 2, TURNED_FACTORS, false},
    {F64, F64, 3, 300, 21, -1, 0, TURNED_RESULT, false},
    {F16, F16, 26, 210, 19, 1, 0.5, GAPS, false},
    {BF16, F32, 33, 129, 64, 2, 0, TURNED_FACTORS, false},
    {{kDLInt, 8, 1}, {kDLInt, 32, 1}, 29, 190, 70, 3, 7, TURNED_RESULT, false},
    {F32, F32, 24, 140, 45, 1, 0.5, PLAIN, true},
    {F16, F32, 21, 260, 30, 1, 0, GAPS, true},
    {F32, F32, 1, 50, 9, 1, 1, PLAIN, false},
    {F32, F32, 70, 1, 12, 1, 0, GAPS, false},
};
enum { PRODUCTS = sizeof products / sizeof products[0] };

typedef struct matrix {
  char *data;
  int64_t rows, columns, step[2], bytes;
} matrix;

/* A call, and where its ranks' rows of A and of B begin. */
typedef struct run {
  product of;
  int64_t a_cuts[RANKS_MOST + 1], b_cuts[RANKS_MOST + 1];
  bool chooses; /* else it is `grid` */
  matmul_grid grid;
  matrix a, b, c;
  char sentences[RANKS_MOST][RUNG_TEXT];
  const char *used[RANKS_MOST];
} run;

static char left[ROOM], right[ROOM], added[ROOM], found[ROOM], wanted[ROOM];
static rung_context *cpus[RANKS_MOST], *sims[RANKS_MOST];
static rung_status statuses[RANKS_MOST];

static int open_all(void **state) {
  (void)state;
  for (int r = 0; r < RANKS_MOST; r++)
    if (rung_open(&cpus[r], &(rung_options){.device = "cpu", .threads = 1}) != RUNG_OK) return -1;
  return 0;
}

static int close_all(void **state) {
  (void)state;
  for (int r = 0; r < RANKS_MOST; r++) {
    rung_close(cpus[r]);
    rung_close(sims[r]);
    sims[r] = NULL;
  }
  return 0;
}

/* ---- matrices ----------------------------------------------------------------------------------
 */

static matrix matrix_of(char *data, DLDataType type, int64_t rows, int64_t columns, bool gaps,
                        bool turned) {
  matrix made = {data, rows, columns, {columns + (gaps ? GAP : 0), 1}, type.bits / 8};
  if (turned) {
    made.step[0] = 1;
    made.step[1] = rows + GAP;
  }
  return made;
}

static DLTensor rows_of(const matrix *m, DLDataType type, int64_t first, int64_t end,
                        int64_t shape[2]) {
  shape[0] = end - first;
  shape[1] = m->columns;
  return tensor(m->data + first * m->step[0] * m->bytes, type, 2, shape, (int64_t *)m->step);
}

static void fill(char *data, DLDataType type, int64_t bytes) {
  rung_random random = {17};
  for (int64_t i = 0; i < bytes / (type.bits / 8); i++) {
    const double x = 2 * rung_random_double(&random) - 1;
    if (type.bits == 64)
      ((double *)data)[i] = x;
    else if (type.bits == 32 && type.code == kDLFloat)
      ((float *)data)[i] = (float)x;
    else if (type.bits == 16)
      ((uint16_t *)data)[i] = (uint16_t)(0x3800 + (rung_random_next(&random) & 0x83ff));
    else
      ((uint8_t *)data)[i] = (uint8_t)rung_random_next(&random);
  }
}

static run run_of(const product *of) {
  const bool gaps = of->layout == GAPS, turned = of->layout == TURNED_FACTORS;
  run made = {.of = *of};
  made.a = matrix_of(left, of->type, of->m, of->k, gaps, turned);
  made.b = matrix_of(right, of->type, of->k, of->n, gaps, turned);
  made.c = matrix_of(found, of->out, of->m, of->n, gaps, of->layout == TURNED_RESULT);
  return made;
}

static rung_status multiply(rung_context *context, const rung_ranks *ranks, void *user) {
  run *r = (run *)user;
  const product *p = &r->of;
  const int me = ranks == NULL ? 0 : ranks->rank;
  int64_t shape[3][2];
  const int64_t first = ranks == NULL ? 0 : r->a_cuts[me];
  const int64_t end = ranks == NULL ? p->m : r->a_cuts[me + 1];
  DLTensor a = rows_of(&r->a, p->type, first, end, shape[0]);
  DLTensor b = rows_of(&r->b, p->type, ranks == NULL ? 0 : r->b_cuts[me],
                       ranks == NULL ? p->k : r->b_cuts[me + 1], shape[1]);
  DLTensor c = rows_of(&r->c, p->out, first, end, shape[2]);
  rung_call call = {.size = sizeof call, .math = p->fixed ? RUNG_MATH_FIXED : RUNG_MATH_STRICT};
  rung_status status;
  if (ranks == NULL)
    status = rung_matmul(context, p->alpha, &a, &b, p->beta, &c, &call);
  else if (r->chooses)
    status = rung_matmul_ranks(context, ranks, p->alpha, &a, &b, p->beta, &c, &call);
  else
    status = matmul_ranks(context, ranks, p->alpha, &a, &b, p->beta, &c, &call, &r->grid);
  strcpy(r->sentences[me], rung_last_error(context));
  r->used[me] = call.used;
  return status;
}

/* C as it is before a call: where it is not added to, a NaN that is read would be seen. */
static void prepare(const run *r, char *c) {
  if (r->of.beta == 0)
    memset(c, POISON, ROOM);
  else
    memcpy(c, added, ROOM);
}

static void find_wanted(run *r) {
  fill(left, r->of.type, ROOM);
  fill(right, r->of.type, ROOM);
  fill(added, r->of.out, ROOM);
  prepare(r, wanted);
  r->c.data = wanted;
  assert_int_equal(multiply(cpus[0], NULL, r), RUNG_OK);
  r->c.data = found;
}

/* Cuts: 0 even, 1 anywhere, 2 with empty parts, 3 all with one rank, 4 one row each but the last.
 */
static void cut(int kind, int count, int64_t total, rung_random *random, int64_t *at) {
  at[0] = 0;
  for (int r = 1; r < count; r++) {
    const int64_t left_over = total - at[r - 1];
    const int64_t drawn = (int64_t)(rung_random_double(random) * (double)(left_over + 1));
    at[r] = at[r - 1] + drawn;
    if (kind == 0) at[r] = total * r / count;
    if (kind == 2 && r % 2 == 1) at[r] = at[r - 1];
    if (kind == 3) at[r] = r <= count / 2 ? 0 : total;
    if (kind == 4) at[r] = r < total ? r : total;
  }
  at[count] = total;
}

static void compare(run *r, int count, rung_context *const *contexts, const char *about) {
  prepare(r, found);
  ranks_run(count, contexts, multiply, r, 0, 0, RANKS_FAULTS, statuses);
  for (int k = 0; k < count; k++)
    if (statuses[k] != RUNG_OK) fail_msg("%s, rank %d of %d: %s", about, k, count, r->sentences[k]);
  for (size_t i = 0; i < ROOM; i++)
    if (found[i] != wanted[i]) fail_msg("%s, %d ranks: byte %zu has other bits", about, count, i);
}

/* ---- bits --------------------------------------------------------------------------------------
 */

/* Every number of ranks, every kind of cut, and all numbers of rows of blocks, with as many columns
 * of them as there are ranks for; products take turns. */
static void every_grid(rung_context *const *contexts, int from, int to, int share) {
  rung_random random = {3};
  for (int j = 0; j < PRODUCTS; j++) {
    run r = run_of(&products[j]);
    find_wanted(&r);
    int turn = j;
    for (int count = from; count <= to; count++)
      for (int kind = 0; kind < CUTS; kind++)
        for (int down = 0; down <= count; down++) {
          char about[80];
          if (turn++ % share != 0) continue;
          r.grid = (matmul_grid){down, down > 0 ? count / down : 0};
          snprintf(about, sizeof about, "product %d, cut %d, %d by %d", j, kind, down,
                   r.grid.across);
          cut(kind, count, r.of.m, &random, r.a_cuts);
          cut((kind + turn) % CUTS, count, r.of.k, &random, r.b_cuts);
          ranks_by_host = turn % 2 == 1;
          compare(&r, count, contexts, about);
          ranks_by_host = false;
        }
  }
}

static void any_grid_gives_the_bits_of_one_call(void **state) {
  (void)state;
  every_grid(cpus, 1, RANKS_MOST, INSTRUMENTED ? 31 : 5);
}

/* CPUs among GPUs, whose blocks lie in their own memory. */
static void devices_may_be_mixed(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) sims[k] = open_on("sim");
  if (sims[0] == NULL) skip();
  rung_context *mixed[RANKS_MOST] = {cpus[0], sims[0], cpus[1], sims[1]};
  every_grid(mixed, 4, 4, INSTRUMENTED ? 29 : 4);
}

/* Rows as they lie, with columns of B in two blocks; a grid with two; and one of whose columns one
 * has a block more than the other. */
static void b_may_come_in_blocks(void **state) {
  (void)state;
  const struct {
    matmul_grid grid;
    int64_t n;
    int calls; /* words; A, C there and back; blocks */
  } cases[] = {{{0, 0}, 640, 3 + 2}, {{2, 1}, 640, 4 + 3 + 2}, {{2, 2}, 1088, 4 + 3 + 2}};
  enum { K = 9000, M = 3, N = 1088 };
  if (INSTRUMENTED) skip();
  char *factors = malloc(sizeof(float) * K * (M + N));
  assert_non_null(factors);
  fill(factors, f32, (int64_t)sizeof(float) * K * (M + N));
  fill(added, f32, ROOM);
  for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) {
    const product of = {F32, F32, M, cases[j].n, K, 1, 0.5, PLAIN, false};
    run r = run_of(&of);
    r.grid = cases[j].grid;
    r.a.data = factors;
    r.b.data = factors + sizeof(float) * K * M;
    r.c.data = wanted;
    prepare(&r, wanted);
    assert_int_equal(multiply(cpus[0], NULL, &r), RUNG_OK);
    r.c.data = found;
    const int count = r.grid.down * r.grid.across > 2 ? 4 : 2;
    memcpy(r.a_cuts, (int64_t[]){0, 2, count > 2 ? 2 : M, 2, M}, 5 * sizeof(int64_t));
    memcpy(r.b_cuts, (int64_t[]){0, 5000, count > 2 ? 5001 : K, 7000, K}, 5 * sizeof(int64_t));
    compare(&r, count, cpus, "blocks of B");
    assert_int_equal(ranks_all.calls[0], cases[j].calls);
    if (sims[0] == NULL || j > 0) continue;
    compare(&r, count, (rung_context *[]){cpus[0], sims[0]}, "blocks of B, to a GPU");
  }
  free(factors);
}

/* ---- what goes wrong ---------------------------------------------------------------------------
 */

enum { RANKS = 4, RANKS_MANY = 16 };
static const product small = {F64, F64, 22, 150, 20, 1, 0.5, GAPS, false};
static const matmul_grid square = {2, 2};

/* Of A's rows rank 1 has none, and rank 2 has some of either row of blocks. */
static run small_run(double beta) {
  run r = run_of(&small);
  r.of.beta = beta;
  r.grid = square;
  memcpy(r.a_cuts, (int64_t[]){0, 5, 5, 18, small.m}, 5 * sizeof(int64_t));
  memcpy(r.b_cuts, (int64_t[]){0, 3, 11, 11, small.k}, 5 * sizeof(int64_t));
  return r;
}

/* A rank's rows of C are untouched, or all made; if all is well, made. */
static void check_rows(const run *r, int rank, const char *about) {
  char before[ROOM];
  prepare(r, before);
  const int64_t row = r->c.step[0] * r->c.bytes;
  const int64_t at = r->a_cuts[rank] * row;
  const size_t bytes = (size_t)((r->a_cuts[rank + 1] - r->a_cuts[rank]) * row);
  const bool made = memcmp(found + at, wanted + at, bytes) == 0;
  const bool untouched = memcmp(found + at, before + at, bytes) == 0;
  if (!made && (statuses[rank] == RUNG_OK || !untouched))
    fail_msg("%s, rank %d: status %d, and its rows are half done", about, rank,
             (int)statuses[rank]);
}

static bool names(const char *sentence, int rank) {
  char text[16];
  snprintf(text, sizeof text, "rank %d", rank);
  return strstr(sentence, text) != NULL;
}

/* False: there is no such message. */
static bool go_wrong(run *r, int faulty, int at, int messages, ranks_fault fault) {
  char about[80];
  int failed = 0, named = 0;
  snprintf(about, sizeof about, "rank %d does %d at message %d", faulty, (int)fault, at);
  prepare(r, found);
  ranks_run(RANKS, cpus, multiply, r, faulty, at, fault, statuses);
  if (ranks_all.calls[faulty] < at) return false;
  for (int k = 0; k < RANKS; k++) {
    check_rows(r, k, about);
    failed += statuses[k] != RUNG_OK;
    named += names(r->sentences[k], faulty);
    if (statuses[k] != RUNG_OK && strncmp(r->sentences[k], "rank ", 5) != 0)
      fail_msg("%s, rank %d: \"%s\"", about, k, r->sentences[k]);
  }
  const bool last = at == messages && fault != RANKS_DIES;
  if (ranks_all.struck && ((failed < RANKS && !last) || named == 0))
    fail_msg("%s: %d ranks failed, %d name it", about, failed, named);
  return true;
}

static void every_message_may_be_the_last(void **state) {
  (void)state;
  for (int adds = 0; adds < 2; adds++) {
    run r = small_run(adds);
    find_wanted(&r);
    for (int faulty = adds; faulty < RANKS; faulty += INSTRUMENTED ? 2 : 1) {
      ranks_by_host = faulty % 2 == 1;
      compare(&r, RANKS, cpus, "a grid");
      const int messages = ranks_all.calls[faulty];
      assert_int_equal(messages, 4 + 3 + adds); /* words; A, B, C back, C there */
      for (ranks_fault fault = 0; fault < RANKS_ALTERS; fault++) {
        int at = 1;
        while (go_wrong(&r, faulty, at, messages, fault)) at++;
        assert_int_equal(at, messages + 1);
      }
      ranks_by_host = false;
    }
  }
}

/* Rows that no rank can have. */
static void rows_that_are_none_are_refused(void **state) {
  (void)state;
  run r = small_run(0);
  find_wanted(&r);
  prepare(&r, found);
  ranks_altered_at = offsetof(rung_word, more) + 7; /* the sign */
  ranks_run(RANKS, cpus, multiply, &r, 2, 1, RANKS_ALTERS, statuses);
  ranks_altered_at = 7;
  for (int k = 0; k < RANKS; k++) {
    check_rows(&r, k, "rows that are none");
    if (k == 2) continue; /* it has its own word */
    assert_int_equal(statuses[k], RUNG_RANKS_FAILED);
    assert_non_null(strstr(r.sentences[k], "rank 2 says that it has -"));
  }
}

static long request;
static int victim; /* the rank whose request fails */

static void begin_failing(int rank) {
  failing_spared = rank != victim;
  if (rank == victim) failing_begin(request);
}

/* Every request of all ranks fails once: all ranks say the same, or have made C another way. */
static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  long asked, failed = 0, others = 0;
  victim = 0;
  request = 0;
  do {
    char about[96];
    request++;
    snprintf(about, sizeof about, "request %ld of rank %d", request, victim);
    run r = small_run(0.5);
    find_wanted(&r);
    prepare(&r, found);
    close_all(NULL); /* scratch is asked for again */
    assert_int_equal(open_all(NULL), 0);
    const long held = failing_held;
    ranks_ready = begin_failing;
    ranks_run(RANKS, cpus, multiply, &r, 0, 0, RANKS_FAULTS, statuses);
    ranks_ready = NULL;
    failing_spared = false; /* a rank may have been this thread */
    asked = failing_end();
    close_all(NULL);
    if (failing_held > held) fail_msg("%s: %ld blocks more are held", about, failing_held - held);
    assert_int_equal(open_all(NULL), 0);
    for (int k = 0; k < RANKS; k++) {
      check_rows(&r, k, about);
      if (statuses[k] != statuses[0] || strcmp(r.sentences[k], r.sentences[0]) != 0)
        fail_msg("%s: \"%s\" in rank %d, \"%s\" in rank 0", about, r.sentences[k], k,
                 r.sentences[0]);
      if (statuses[k] != RUNG_OK &&
          (statuses[k] != RUNG_OUT_OF_MEMORY || strncmp(r.sentences[k], "rank ", 5) != 0))
        fail_msg("%s: status %d, \"%s\"", about, (int)statuses[k], r.sentences[k]);
    }
    failed += statuses[0] != RUNG_OK;
    others += statuses[0] == RUNG_OK && ranks_all.calls[0] == 6; /* words: five; and B */
    if (asked < request) {                                       /* that rank has no more */
      victim++;
      request = 0;
    }
  } while (victim < RANKS);
  if (failed < 12 || others < 4) fail_msg("%ld requests failed, %ld did no harm", failed, others);
}

/* A rank that may not have so much as a block takes: rows as they lie, a word later; and one that
 * may not have what these take either. */
static void memory_may_be_too_little_for_a_grid(void **state) {
  (void)state;
  rung_context *const open = cpus[1];
  run r = small_run(0.5);
  find_wanted(&r);
  assert_int_equal(setenv("RUNG_MEMORY_LIMIT", "20K", 1), 0);
  cpus[1] = open_on("cpu");
  compare(&r, RANKS, cpus, "a limit");
  assert_int_equal(ranks_all.calls[0], 1 + 2 + 1 + 2); /* of the grid, and B with four words */
  rung_close(cpus[1]);
  assert_int_equal(setenv("RUNG_MEMORY_LIMIT", "64", 1), 0);
  cpus[1] = open_on("cpu");
  memcpy(r.a_cuts, (int64_t[]){0, 2, 9, 18, small.m}, 5 * sizeof(int64_t));
  for (int way = 0; way < 2; way++) {
    prepare(&r, found);
    r.grid = way == 0 ? square : (matmul_grid){0, 0};
    ranks_run(RANKS, cpus, multiply, &r, 0, 0, RANKS_FAULTS, statuses);
    for (int k = 0; k < RANKS; k++) {
      assert_int_equal(statuses[k], RUNG_OUT_OF_MEMORY);
      assert_non_null(
          strstr(r.sentences[k], "rank 1: environment variable RUNG_MEMORY_LIMIT is 64 bytes"));
      assert_string_equal(r.sentences[k], r.sentences[0]);
      check_rows(&r, k, "too low a limit");
    }
  }
  rung_close(cpus[1]);
  cpus[1] = open;
  assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
}

/* ---- which way ---------------------------------------------------------------------------------
 */

/* A product of f32 over `count` ranks, which have as many rows of B each. */
static matmul_grid chosen(int count, const int64_t *a_rows, int64_t n, int64_t k, bool on_gpus) {
  int64_t b_rows[RANKS_MANY + 1];
  for (int r = 0; r <= count; r++) b_rows[r] = k * r / count;
  const matmul_shares shares = {count, a_rows, b_rows, n, k, 4, 4, false};
  return matmul_grid_of(&shares, matmul_rates_of(on_gpus));
}

static matmul_grid chosen_evenly(int count, int64_t m, int64_t n, int64_t k, bool on_gpus) {
  int64_t a_rows[RANKS_MANY + 1];
  for (int r = 0; r <= count; r++) a_rows[r] = m * r / count;
  return chosen(count, a_rows, n, k, on_gpus);
}

static void expect(matmul_grid grid, int down, int across) {
  if (grid.down != down || grid.across != across)
    fail_msg("%d by %d; expected: %d by %d", grid.down, grid.across, down, across);
}

/* A word is all that a product of few numbers may cost, whoever has them. */
static void short_products_stay_as_they_lie(void **state) {
  (void)state;
  for (int count = 2; count <= RANKS_MANY; count++)
    for (int gpus = 0; gpus < 2; gpus++) {
      int64_t all_with_one[RANKS_MANY + 1] = {0};
      for (int r = 2; r <= count; r++) all_with_one[r] = 100;
      expect(chosen(count, all_with_one, 100, 100, gpus), 0, 0);
      expect(chosen_evenly(count, 100, 100, 100, gpus), 0, 0);
      expect(chosen_evenly(count, 1, 1000, 30, gpus), 0, 0);
      expect(chosen_evenly(count, 0, 1000000, 1000, gpus), 0, 0);
      expect(chosen_evenly(count, 1000000, 0, 1000, gpus), 0, 0);
      expect(chosen_evenly(count, 1000000, 1000, 0, gpus), 0, 0);
    }
}

static void few_rows_are_shared_by_columns(void **state) {
  (void)state;
  for (int gpus = 0; gpus < 2; gpus++) {
    expect(chosen_evenly(4, 64, 100000, 1000, gpus), 1, 4);
    expect(chosen_evenly(4, 2, 100000, 1000, gpus), 1, 4);
    expect(chosen_evenly(9, 3, 100000, 1000, gpus), 1, 9);
    expect(chosen_evenly(7, 5, 200, 400000, gpus), 1, 4); /* of 64 columns each */
  }
}

/* One rank has all rows, or most of them: all ranks make blocks. */
static void rows_of_one_rank_are_shared(void **state) {
  (void)state;
  for (int gpus = 0; gpus < 2; gpus++)
    for (int count = 2; count <= RANKS_MANY; count *= 2)
      for (int64_t most = 70; most <= 100; most += 10) {
        const int64_t n = gpus ? 8192 : 1024;
        int64_t rows[RANKS_MANY + 1] = {0};
        for (int r = 2; r < count; r++) rows[r] = n * most / 100;
        rows[count > 1 ? count : 1] = n;
        if (count == 2) rows[1] = n * (100 - most) / 100;
        const matmul_grid grid = chosen(count, rows, n, n, gpus);
        assert_int_equal(grid.down * grid.across, count);
      }
}

static double bytes_of(int count, int64_t n, matmul_grid grid) {
  int64_t rows[RANKS_MANY + 1];
  for (int r = 0; r <= count; r++) rows[r] = n * r / count;
  const matmul_shares shares = {count, rows, rows, n, n, 4, 4, false};
  return matmul_grid_seconds(&shares, &(matmul_rates){HUGE_VAL, 1, 0}, grid);
}

/* As they lie over up to four ranks; of more, as near to a square as there are ranks for. */
static void even_squares_are_a_grid_of_many_ranks(void **state) {
  (void)state;
  const struct {
    int count;
    matmul_grid grid;
  } cases[] = {{8, {4, 2}}, {9, {3, 3}}, {16, {4, 4}}};
  for (int64_t n = 64; n <= 65536; n *= 2)
    for (int count = 1; count <= 4; count++) {
      expect(chosen_evenly(count, n, n, n, false), 0, 0);
      expect(chosen_evenly(count, n, n, n, true), 0, 0);
    }
  for (int j = 0; j < 3; j++) {
    const matmul_grid grid = cases[j].grid;
    expect(chosen_evenly(cases[j].count, 4096, 4096, 4096, false), grid.down, grid.across);
    expect(chosen_evenly(cases[j].count, 32768, 32768, 32768, true), grid.down, grid.across);
    assert_true(bytes_of(cases[j].count, 4096, grid) <
                bytes_of(cases[j].count, 4096, (matmul_grid){0, 0}));
  }
}

/* Of a grid every row and column is one rank's. */
static void blocks_are_the_whole(void **state) {
  (void)state;
  const int64_t n = 1000, rows[] = {0, 10, 10, 12, 300, 300, 301};
  const matmul_shares shares = {6, rows, rows, n, 301, 4, 4, false};
  const matmul_grid grids[] = {{2, 3}, {3, 2}, {1, 6}, {6, 1}, {2, 2}};
  for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
    int64_t elements = 0, end = 0;
    for (int r = 0; r < 6; r++) {
      const matmul_span down = matmul_grid_rows(&shares, grids[g], r);
      const matmul_span across = matmul_grid_columns(&shares, grids[g], r);
      elements += down.count * across.count;
      int64_t common = 0;
      for (int k = 0; k < 6; k++) common += matmul_grid_common(&shares, down, k).count;
      assert_int_equal(common, down.count);
      if (r >= grids[g].across) continue; /* the first row of blocks */
      assert_int_equal(across.first, end);
      end += across.count;
    }
    assert_int_equal(end, n);
    assert_int_equal(elements, n * 301);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_grid_gives_the_bits_of_one_call),
      cmocka_unit_test(devices_may_be_mixed),
      cmocka_unit_test(b_may_come_in_blocks),
      cmocka_unit_test(every_message_may_be_the_last),
      cmocka_unit_test(rows_that_are_none_are_refused),
      cmocka_unit_test(memory_may_run_out_anywhere),
      cmocka_unit_test(memory_may_be_too_little_for_a_grid),
      cmocka_unit_test(short_products_stay_as_they_lie),
      cmocka_unit_test(few_rows_are_shared_by_columns),
      cmocka_unit_test(rows_of_one_rank_are_shared),
      cmocka_unit_test(even_squares_are_a_grid_of_many_ranks),
      cmocka_unit_test(blocks_are_the_whole),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
