/* What the lab counts of a rung on the simulated GPU, against counts derived by hand from the
 * kernels' source. Rows lie where the fixture puts them: the first at a multiple of 256 bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "lab/counters.h"
#include "lab/lab.h"

enum { EXPECTED = 12 };

typedef struct expected {
  rung_counter counter;
  int64_t count;
} expected;

typedef struct counted_case {
  const char *operation, *line, *rung;
  int block;
  expected counts[EXPECTED]; /* ended by a count of -1 */
} counted_case;

/* ---- derived by hand ------------------------------------------------------------------------ */

#define END \
  { 0, -1 }

/* Of a division's multiply-adds on a GPU (backend/sim/flops.c). */
enum { DIVISION = 10, DIVISION_IN_DOUBLE = 17 };

static const counted_case cases[] = {
    /* 64 threads are 2 warps; 4096 columns are 1024 loads of 16 bytes, each lane's in another row
     * and so in a sector of its own. 4096 additions, 3 to join four sums, a division. */
    {"reduce",
     "n=4096 op=mean outer=64",
     "row-per-thread",
     64,
     {{RUNG_GLOBAL_LOADS, 2 * 1024},
      {RUNG_GLOBAL_LOAD_BYTES, 64 * 4096 * 4},
      {RUNG_GLOBAL_LOAD_SECTORS, 2 * 1024 * 32},
      {RUNG_GLOBAL_STORES, 2},
      {RUNG_GLOBAL_STORE_SECTORS, 2 * 4},
      {RUNG_GLOBAL_ACCESSES, 64 * 1024 + 64},
      {RUNG_BARRIERS, 0},
      {RUNG_EXCHANGES, 0},
      {RUNG_PARTIAL_STEPS, 0},
      {RUNG_DIVERGENT_BRANCHES, 0},
      {RUNG_FLOPS, 64 * (4096 + 3 + DIVISION_IN_DOUBLE)},
      END}},
    /* Rows of 24 bytes are read element by element, 6 loads a warp. 32 rows reach over 24 sectors,
     * the 8 of the second warp over 6. */
    {"reduce",
     "n=6 op=mean outer=40",
     "row-per-thread",
     64,
     {{RUNG_GLOBAL_LOADS, 2 * 6},
      {RUNG_GLOBAL_LOAD_BYTES, 40 * 24},
      {RUNG_GLOBAL_LOAD_SECTORS, 6 * 24 + 6 * 6},
      {RUNG_GLOBAL_STORES, 2},
      {RUNG_GLOBAL_STORE_SECTORS, 4 + 1},
      {RUNG_FLOPS, 40 * (4 + 3 + 2 + DIVISION_IN_DOUBLE)},
      END}},
    /* A warp a row: 3 times 16 loads of 4 elements a thread. Of the third time 904 elements are
     * left: 7 loads of 16 sectors; one whose first two threads have a sector and the others the
     * row's first 16 bytes; 8 of those only. 4 numbers go through 5 shuffles. */
    {"reduce",
     "n=5000 op=mean outer=3",
     "warp-per-row",
     128,
     {{RUNG_GLOBAL_LOADS, 3 * 48},
      {RUNG_GLOBAL_LOAD_BYTES, 3 * ((32 + 7) * 512 + 32 + 16 + 8 * 16)},
      {RUNG_GLOBAL_LOAD_SECTORS, 3 * (32 * 16 + 7 * 16 + 2 + 8)},
      {RUNG_GLOBAL_STORES, 3},
      {RUNG_GLOBAL_STORE_SECTORS, 3},
      {RUNG_GLOBAL_ACCESSES, 3 * 48 * 32 + 3},
      {RUNG_BARRIERS, 0},
      {RUNG_EXCHANGES, 3 * 20},
      {RUNG_SHARED_LOADS, 0},
      END}},
    /* 2 warps a row, 8 strips of lanes, 8 loads each of which 2 are of the row and 6 of its first
     * sector. A strip stores 4 numbers a thread, which are one access of 16 bytes. Folding: 4
     * stores and 4 times 8 loads a warp, then 8 loads and 5 shuffles of one warp. */
    {"reduce",
     "n=4096 op=mean outer=2",
     "block-per-row",
     64,
     {{RUNG_GLOBAL_LOADS, 2 * 2 * 8 * 8},
      {RUNG_GLOBAL_LOAD_SECTORS, 2 * 2 * 8 * (2 * 16 + 6)},
      {RUNG_GLOBAL_STORES, 2},
      {RUNG_SHARED_STORES, 2 * 2 * (8 + 4)},
      {RUNG_SHARED_STORE_CONFLICTS, 0},
      {RUNG_SHARED_LOADS, 2 * (2 * 4 * 8 + 8)},
      {RUNG_SHARED_LOAD_CONFLICTS, 0},
      {RUNG_BARRIERS, 2 * 2 * 3},
      {RUNG_EXCHANGES, 2 * 5},
      END}},
    /* 8 rows, 4 steps: 32 times a row of 47 warps, the last of 28 threads; 2 columns are fixed. A
     * warp loads its own column, which is the third tap too, and 4 taps beside it; at the right end
     * the 4th and the 5th tap go apart. Even rows begin with a sector, odd ones in the middle of
     * one: own columns 188 and 234 sectors, taps 938 and 937. */
    {"stencil",
     "n=8 m=1500 p=4",
     "global",
     256,
     {{RUNG_GLOBAL_LOADS, 32 * (47 * 5 + 2)},
      {RUNG_GLOBAL_LOAD_BYTES, 32 * (1500 + 4 * 1498) * 4},
      {RUNG_GLOBAL_LOAD_SECTORS, 16 * (188 + 938) + 16 * (234 + 937)},
      {RUNG_GLOBAL_STORES, 32 * 47},
      {RUNG_GLOBAL_STORE_SECTORS, 16 * (188 + 234)},
      {RUNG_GLOBAL_STORE_BYTES, 32 * 1500 * 4},
      {RUNG_GLOBAL_ACCESSES, 32 * (1500 + 4 * 1498 + 1500)},
      {RUNG_BARRIERS, 0},
      {RUNG_FLOPS, 32 * 1498 * (9 + DIVISION)},
      END}},
    /* 188 threads of 8 columns are 6 warps: 4 loads to begin with and 8 more; at either end two of
     * them go apart. The last thread leaves off after 4 columns. A sector a thread each time. */
    {"stencil",
     "n=8 m=1500 p=4",
     "window",
     64,
     {{RUNG_GLOBAL_LOADS, 32 * (6 * 12 + 4)},
      {RUNG_GLOBAL_LOAD_BYTES, 32 * (188 * 12 - 4) * 4},
      {RUNG_GLOBAL_LOAD_SECTORS, 32 * (188 * 12 - 4)},
      {RUNG_GLOBAL_STORES, 32 * 6 * 8},
      {RUNG_GLOBAL_STORE_SECTORS, 32 * 1500},
      {RUNG_GLOBAL_STORE_BYTES, 32 * 1500 * 4},
      {RUNG_FLOPS, 32 * 1498 * (9 + DIVISION)},
      END}},
    /* By pairs: half of the loads and stores, of which one at either end is two that go apart. */
    {"stencil",
     "n=8 m=1500 p=4",
     "pairs",
     64,
     {{RUNG_GLOBAL_LOADS, 32 * (6 * 6 + 2 + 2)},
      {RUNG_GLOBAL_LOAD_SECTORS, 32 * (188 * 6 - 2 + 1 + 1)},
      {RUNG_GLOBAL_STORES, 32 * 6 * 4},
      {RUNG_GLOBAL_STORE_SECTORS, 32 * (188 * 4 - 2)},
      {RUNG_FLOPS, 32 * 1498 * (9 + DIVISION)},
      END}},
    {"stencil",
     "n=4 m=1504 p=1 type=f64",
     "window",
     64,
     {{RUNG_GLOBAL_LOADS, 4 * (6 * 12 + 4)},
      {RUNG_GLOBAL_LOAD_BYTES, 4 * 188 * 12 * 8},
      {RUNG_GLOBAL_LOAD_SECTORS, 4 * 188 * 12},
      {RUNG_FLOPS, 4 * 1502 * (9 + DIVISION_IN_DOUBLE)},
      END}},
    /* Columns 2 ... 1497 are 187 runs: 6 loads of pairs by 6 warps, a sector a thread each time.
     * The ends: 4 columns, then 3 taps that lie inside, one half of which does, one outside. */
    {"stencil",
     "n=8 m=1500 p=4",
     "peeled",
     64,
     {{RUNG_GLOBAL_LOADS, 32 * (6 * 6 + 1 + 3 + 2 + 1)},
      {RUNG_GLOBAL_LOAD_BYTES, 32 * (187 * 6 * 8 + (4 + 2 * 5) * 4)},
      {RUNG_GLOBAL_LOAD_SECTORS, 32 * (187 * 6 + 2 + 3 + 2 + 1)},
      {RUNG_GLOBAL_STORES, 32 * (6 * 4 + 1)},
      {RUNG_GLOBAL_STORE_SECTORS, 32 * (187 * 4 + 2)},
      {RUNG_GLOBAL_STORE_BYTES, 32 * 1500 * 4},
      {RUNG_FLOPS, 32 * 1498 * (9 + DIVISION)},
      END}},
    /* A row is 8 warps of 60 columns a thread, in and out by whole sectors, once. A barrier a row
     * and one a step; 5 __syncwarp() a row, for every block has one row. A step is a product and 4
     * fused multiply-adds, of fixed columns too. */
    {"stencil",
     "n=8 m=15360 p=4",
     "onchip",
     0,
     {{RUNG_GLOBAL_LOADS, 8 * 480},
      {RUNG_GLOBAL_LOAD_SECTORS, 8 * 1920},
      {RUNG_GLOBAL_STORES, 8 * 480},
      {RUNG_GLOBAL_STORE_SECTORS, 8 * 1920},
      {RUNG_BARRIERS, 8 * 8 * (1 + 4)},
      {RUNG_EXCHANGES, 8 * 8 * 5},
      {RUNG_FLOPS, 8 * 15360 * 4 * 9},
      END}},
};

/* ---- helpers -------------------------------------------------------------------------------- */

/* A build without the simulator, or whose simulator sees no accesses, skips. */
static rung_context *open_or_skip(void) {
  rung_context *context = NULL;
  rung_error error = {0};
  if (rung_open(&context, &(rung_options){.device = "sim"}) == RUNG_OK) {
    rung_profile profile;
    const rung_backend *backend = context->backend;
    if (backend->profile_begin(context->state, false, &error) == RUNG_OK) {
      assert_int_equal(backend->profile_end(context->state, &profile, &error), RUNG_OK);
      rung_profile_free(&profile);
      return context;
    }
  }
  print_message("skipped: %s\n", error.sentence[0] ? error.sentence : rung_last_error(context));
  rung_close(context);
  skip();
  return NULL;
}

static void make(const char *operation, const char *line, rung_case *test_case) {
  rung_error error = {0};
  const rung_operation *the = rung_operation_named(operation);
  assert_non_null(the);
  if (rung_cases_of(the)->make(line, 5, test_case, &error) != RUNG_OK)
    fail_msg("%s", error.sentence);
  assert_int_equal(rung_cases_of(the)->expect(test_case, &error), RUNG_OK);
}

static const rung_row *row_of(const rung_case *test_case, const char *name, rung_family family) {
  for (int i = 0; i < test_case->operation->count; i++) {
    const rung_row *row = &test_case->operation->rows[i];
    if (row->family == family && strcmp(row->name, name) == 0) return row;
  }
  fail_msg("there is no rung %s", name);
  return NULL;
}

/* Counts one rung that must be good. */
static void explain(rung_context *context, const rung_case *test_case, const char *rung, int block,
                    rung_profile *profile) {
  rung_error error = {0};
  lab_verdict verdict;
  const rung_row *row = row_of(test_case, rung, RUNG_ON_GPU);
  if (lab_explain(context, test_case, row, block, false, profile, &verdict, &error) != RUNG_OK)
    fail_msg("%s", error.sentence);
  if (verdict.finding != LAB_GOOD) fail_msg("%s", verdict.sentence);
  assert_true(profile->count > 0);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void counts_are_those_derived_by_hand(void **state) {
  (void)state;
  rung_context *context = open_or_skip();
  int differ = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const counted_case *the = &cases[i];
    rung_case test_case;
    rung_profile profile;
    rung_counts total;
    make(the->operation, the->line, &test_case);
    explain(context, &test_case, the->rung, the->block, &profile);
    lab_profile_total(&profile, &total);
    for (const expected *e = the->counts; e->count >= 0; e++) {
      const int64_t found = total.at[e->counter];
      if (found == e->count || (e->counter == RUNG_FLOPS && found == RUNG_NOT_COUNTED)) continue;
      print_message("%s of %s, %s: %lld where %lld is derived\n", rung_counter_name(e->counter),
                    the->rung, the->line, (long long)found, (long long)e->count);
      differ++;
    }
    rung_profile_free(&profile);
    test_case.cases->drop(&test_case);
  }
  rung_close(context);
  assert_int_equal(differ, 0);
}

/* The steps of a block, or NULL where the kernel has no more; barriers are left out. */
static const rung_profile_step *next_access(const rung_profile_kernel *kernel, int warp,
                                            int64_t *at) {
  while (*at < kernel->step_count) {
    const rung_profile_step *step = &kernel->steps[(*at)++];
    if (step->warp == warp && step->bytes > 0) return step;
  }
  return NULL;
}

/* Of the first of two blocks of 64 threads: each warp loads 32 floats and puts them down; at
 * distance 1, 2, 4 ... of its threads those at the multiples of twice the distance load two and
 * store one; thread 0 of the block stores what comes out. */
static void steps_are_those_derived_by_hand(void **state) {
  (void)state;
  rung_context *context = open_or_skip();
  rung_case test_case;
  rung_profile profile;
  rung_error error = {0};
  lab_verdict verdict;
  make("reduce", "n=128 op=sum", &test_case);
  assert_int_equal(lab_explain(context, &test_case, row_of(&test_case, "modulo", RUNG_ON_GPU), 64,
                               true, &profile, &verdict, &error),
                   RUNG_OK);
  const rung_profile_kernel *kernel = &profile.kernels[0];
  for (int warp = 0; warp < 2; warp++) {
    static const rung_deed deeds[] = {RUNG_DID_LOAD, RUNG_DID_LOAD, RUNG_DID_STORE};
    int64_t at = 0;
    const rung_profile_step *step = next_access(kernel, warp, &at);
    assert_true(step && step->deed == RUNG_DID_LOAD && !step->shared && step->lanes == UINT32_MAX);
    assert_true(step->sectors == 4 && step->moved == 128 && step->phase == 0);
    assert_true(step->address[31] - step->address[0] == 31 * sizeof(float));
    step = next_access(kernel, warp, &at);
    assert_true(step && step->deed == RUNG_DID_STORE && step->shared && step->lanes == UINT32_MAX);
    for (int s = 1; s < 64; s *= 2) {
      uint32_t lanes = 0;
      for (int lane = 0; lane < 32; lane++)
        lanes |= (uint32_t)((32 * warp + lane) % (2 * s) == 0) << lane;
      for (int i = 0; i < 3 && lanes != 0; i++) {
        step = next_access(kernel, warp, &at);
        assert_true(step && step->deed == deeds[i] && step->shared);
        assert_int_equal(step->lanes, lanes);
        assert_int_equal(step->all, UINT32_MAX);
        assert_int_equal(step->phase, 1 + __builtin_ctz((unsigned)s));
        assert_int_equal(step->conflicts, 0);
        if (step->file) assert_non_null(strstr(step->file, "/reduce/cuda/"));
      }
    }
    for (int i = 0; i < 2 && warp == 0; i++) {
      step = next_access(kernel, warp, &at);
      assert_true(step && step->lanes == 1 && step->shared == (i == 0));
    }
    assert_null(next_access(kernel, warp, &at));
  }
  int barriers = 0;
  for (int64_t i = 0; i < kernel->step_count; i++)
    barriers += kernel->steps[i].deed == RUNG_DID_BARRIER;
  assert_int_equal(barriers, 2 * (1 + 6 + 1));
  assert_int_equal(kernel->steps_lost, 0);
  rung_profile_free(&profile);
  explain(context, &test_case, "modulo", 64, &profile);
  assert_null(profile.kernels[0].steps); /* not asked for */
  rung_profile_free(&profile);
  test_case.cases->drop(&test_case);
  rung_close(context);
}

/* A kernel's lines add up to it, and the loads are in the kernel's own file. */
static void lines_add_up(void **state) {
  (void)state;
  rung_context *context = open_or_skip();
  rung_case test_case;
  rung_profile profile;
  make("reduce", "n=4096 op=mean outer=64", &test_case);
  explain(context, &test_case, "row-per-thread", 0, &profile);
  assert_int_equal(profile.count, 1);
  const rung_profile_kernel *kernel = &profile.kernels[0];
  assert_string_equal(kernel->name, "reduce_thread_kernel");
  assert_int_equal(kernel->launches, 1);
  assert_int_equal(kernel->warps, 2);
  assert_true(kernel->line_count > 0);
  rung_counts sum = {0};
  for (int i = 0; i < kernel->line_count; i++) {
    const rung_profile_line *line = &kernel->lines[i];
    rung_counts_add(&sum, &line->counts);
    if (line->counts.at[RUNG_GLOBAL_LOADS] > 0 && line->file)
      assert_non_null(strstr(line->file, "src/ops/reduce/cuda/row-per-thread.cu"));
  }
  assert_memory_equal(&sum, &kernel->total, sizeof sum);
  rung_profile_free(&profile);
  test_case.cases->drop(&test_case);
  rung_close(context);
}

static rung_status does_nothing(const rung_task *task) {
  (void)task;
  return RUNG_OK;
}

static rung_status fails(const rung_task *task) {
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "it fell over");
}

static void assert_finds(rung_context *context, const rung_case *test_case, const rung_row *row,
                         lab_finding finding, const char *says) {
  rung_error error = {0};
  lab_verdict verdict;
  rung_profile profile;
  memset(&profile, 0xAB, sizeof profile);
  assert_int_equal(lab_explain(context, test_case, row, 0, false, &profile, &verdict, &error),
                   RUNG_OK);
  if (verdict.finding != finding)
    fail_msg("found %s: %s", lab_finding_name(verdict.finding), verdict.sentence);
  if (!strstr(verdict.sentence, says)) fail_msg("\"%s\"", verdict.sentence);
  assert_int_equal(profile.count, 0);
  assert_null(profile.kernels);
}

/* What computes something else explains nothing. */
static void only_good_rungs_are_explained(void **state) {
  (void)state;
  rung_context *context = open_or_skip();
  rung_case test_case;
  rung_profile profile;
  make("stencil", "n=2 m=40000 p=4", &test_case);
  rung_row cheat = *row_of(&test_case, "window", RUNG_ON_GPU);
  cheat.launch[1] = does_nothing;
  assert_finds(context, &test_case, &cheat, LAB_UNWRITTEN, "not written");
  cheat.launch[1] = fails;
  assert_finds(context, &test_case, &cheat, LAB_LAUNCH_FAILED, "it fell over");
  assert_finds(context, &test_case, row_of(&test_case, "onchip", RUNG_ON_GPU), LAB_UNSUPPORTED,
               "does not fit");
  explain(context, &test_case, "window", 0, &profile); /* none of these left anything behind */
  assert_int_equal(profile.kernels[0].launches, 4);
  rung_profile_free(&profile);
  test_case.cases->drop(&test_case);
  rung_close(context);
}

static void a_device_that_cannot_count_is_refused(void **state) {
  (void)state;
  rung_context *context = NULL;
  rung_case test_case;
  rung_profile profile;
  lab_verdict verdict;
  rung_error error = {0};
  assert_int_equal(rung_open(&context, &(rung_options){.device = "cpu"}), RUNG_OK);
  make("reduce", "n=4 op=mean outer=3", &test_case);
  assert_int_equal(lab_explain(context, &test_case, row_of(&test_case, "lanes", RUNG_ON_CPU), 0,
                               false, &profile, &verdict, &error),
                   RUNG_UNSUPPORTED);
  assert_non_null(strstr(error.sentence, "expected: \"sim\""));
  assert_int_equal(profile.count, 0);
  test_case.cases->drop(&test_case);
  rung_close(context);
}

/* The first job of every operation can be counted by every rung that supports it. */
static void every_operation_has_a_job_to_explain(void **state) {
  (void)state;
  for (int i = 0; rung_operations[i]; i++) {
    const rung_cases *cases = rung_cases_of(rung_operations[i]);
    for (int k = 0; cases->explain && cases->explain[k]; k++) {
      rung_case test_case;
      rung_error error = {0};
      if (cases->make(cases->explain[k], 1, &test_case, &error) != RUNG_OK)
        fail_msg("%s: %s", cases->explain[k], error.sentence);
      cases->drop(&test_case);
    }
  }
}

/* Of ncu's table, numbers that no launch has are 0 and overflow nothing. */
static void impossible_counters_are_none(void **state) {
  (void)state;
  static const char table[] =
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\","
      "\"smsp__sass_inst_executed_op_global_st.sum\"\n"
      "\"0\",\"k\",\"(64, 1, 1)\",\"(9, 1, 1)\",\"1,234\"\n"
      "\"1\",\"k\",\"(256, 9223372036854775807)\",\"(4294967296, 4294967296)\",\"1e300\"\n";
  rung_profile profile;
  rung_error error = {0};
  assert_int_equal(lab_counters_parse(table, &profile, &error), RUNG_OK);
  assert_int_equal(profile.count, 1);
  assert_int_equal(profile.kernels[0].launches, 2);
  assert_int_equal(profile.kernels[0].blocks, 9);
  assert_int_equal(profile.kernels[0].warps, 18);
  assert_int_equal(profile.kernels[0].total.at[RUNG_GLOBAL_STORES], 1234);
  rung_profile_free(&profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impossible_counters_are_none),
      cmocka_unit_test(counts_are_those_derived_by_hand),
      cmocka_unit_test(steps_are_those_derived_by_hand),
      cmocka_unit_test(lines_add_up),
      cmocka_unit_test(only_good_rungs_are_explained),
      cmocka_unit_test(a_device_that_cannot_count_is_refused),
      cmocka_unit_test(every_operation_has_a_job_to_explain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
