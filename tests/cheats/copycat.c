/* copycat's ladder and cases. */
#include "cheats/copycat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "lab/line.h"

int copycat_calls, copycat_spared, copycat_watched_from;

void copycat_forget(void) {
  copycat_calls = copycat_spared = 0;
}

/* ---- the ladder --------------------------------------------------------------------------- */

static size_t hundred_bytes(const rung_task *task) {
  (void)task;
  return 100;
}

#define ON_CPU(id, row_name)                                                             \
  {                                                                                      \
    .name = row_name, .idea = "a cheat", .family = RUNG_ON_CPU, .order = RUNG_CANONICAL, \
    .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)), .launch = RUNG_CPU_ENTRIES(copycat_##id)   \
  }
#define ON_GPU(id, row_name)                                                             \
  {                                                                                      \
    .name = row_name, .idea = "a cheat", .family = RUNG_ON_GPU, .order = RUNG_CANONICAL, \
    .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)), .launch = {                                \
      RUNG_CUDA_ENTRY(copycat_##id)                                                      \
    }                                                                                    \
  }

static rung_row rows[] = {
    ON_CPU(honest, "honest"),
    ON_CPU(writes_nothing, "writes-nothing"),
    ON_CPU(writes_nan, "writes-nan"),
    ON_CPU(overruns_by_one, "overruns-by-one"),
    ON_CPU(underruns_by_one, "underruns-by-one"),
    {.name = "overruns-scratch",
     .idea = "a cheat",
     .family = RUNG_ON_CPU,
     .order = RUNG_CANONICAL,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .scratch_bytes = hundred_bytes,
     .launch = RUNG_CPU_ENTRIES(copycat_overruns_scratch)},
    {.name = "litters-zeros",
     .idea = "a cheat",
     .family = RUNG_ON_CPU,
     .order = RUNG_CANONICAL,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .zeroed_bytes = hundred_bytes,
     .launch = RUNG_CPU_ENTRIES(copycat_litters_zeros)},
    ON_CPU(overruns_with_nan, "overruns-with-nan"),
    ON_CPU(leaves_last_block, "leaves-last-block"),
    ON_CPU(right_only_first_time, "right-only-first-time"),
    ON_CPU(fails_to_launch, "fails-to-launch"),
    ON_CPU(stale_output, "stale-output"),
    ON_CPU(peeks_at_output, "peeks-at-output"),
    ON_CPU(off_by_a_percent, "off-by-a-percent"),
    ON_CPU(writes_input, "writes-input"),
    ON_CPU(too_fast, "too-fast"),

    ON_GPU(honest, "honest"),
    ON_GPU(writes_nothing, "writes-nothing"),
    ON_GPU(writes_nan, "writes-nan"),
    ON_GPU(overruns_by_one, "overruns-by-one"),
    ON_GPU(leaves_last_block, "leaves-last-block"),
    ON_GPU(right_only_first_time, "right-only-first-time"),
    ON_GPU(fails_to_launch, "fails-to-launch"),
    ON_GPU(launch_error_swallowed, "launch-error-swallowed"),
    ON_GPU(other_stream, "other-stream"),
    ON_GPU(default_stream, "default-stream"),
    ON_GPU(waits_for_the_stream, "waits-for-the-stream"),
    ON_GPU(stale_output, "stale-output"),
    ON_GPU(off_by_a_percent, "off-by-a-percent"),
    ON_GPU(writes_input, "writes-input"),
    ON_GPU(too_fast, "too-fast"),
};
enum { ROWS = sizeof rows / sizeof *rows };

const rung_row *copycat_row(rung_family family, const char *name) {
  for (int i = 0; i < ROWS; ++i)
    if (rows[i].family == family && strcmp(rows[i].name, name) == 0) return &rows[i];
  return NULL;
}

/* ---- cases ------------------------------------------------------------------------------- */

static void drop(rung_case *test_case) {
  free(test_case->problem);
  free(test_case->arrays[COPYCAT_IN].data);
  free(test_case->expected);
}

static rung_status make(const char *line, uint64_t seed, rung_case *test_case, rung_error *error) {
  static const char *const keys[] = {"n", NULL};
  rung_line parsed;
  int64_t n;
  rung_status status = rung_line_parse(error, line, keys, &parsed);
  if (status == RUNG_OK) status = rung_line_int(error, &parsed, "n", 1000, 1, 1 << 28, &n);
  if (status != RUNG_OK) return status;
  copycat_problem *problem = malloc(sizeof *problem);
  float *in = malloc((size_t)n * sizeof *in);
  if (!problem || !in) {
    free(problem);
    free(in);
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %lld elements", (long long)n);
  }
  problem->n = n;
  rung_random random = {seed};
  for (int64_t i = 0; i < n; ++i) in[i] = 1 + rung_random_float(&random);
  *test_case = (rung_case){.operation = &copycat_operation,
                           .cases = &copycat_cases,
                           .seed = seed,
                           .types = RUNG_ALIKE(RUNG_F32),
                           .problem = problem,
                           .inputs = 1,
                           .outputs = 1,
                           .array_names = {"in", "out"},
                           .bytes = 8.0 * (double)n,
                           .flops = (double)n};
  snprintf(test_case->label, sizeof test_case->label, "n=%lld", (long long)n);
  test_case->arrays[COPYCAT_IN] = rung_view_compact(in, RUNG_F32, 1, &n);
  test_case->arrays[COPYCAT_OUT] = rung_view_compact(NULL, RUNG_F32, 1, &n);
  return RUNG_OK;
}

static rung_status expect(rung_case *test_case, rung_error *error) {
  const int64_t n = test_case->arrays[COPYCAT_IN].count;
  const float *in = (const float *)test_case->arrays[COPYCAT_IN].data;
  float *expected = malloc((size_t)n * sizeof *expected);
  if (!expected) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a reference");
  for (int64_t i = 0; i < n; ++i) expected[i] = 2 * in[i];
  test_case->expected = expected;
  return RUNG_OK;
}

static void check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                  rung_comparison *comparison) {
  (void)rung;
  const float *found = (const float *)outputs[0].data, *wanted = test_case->expected;
  *comparison = (rung_comparison){.first = -1};
  for (int64_t i = 0; i < outputs[0].count; ++i) {
    if (memcmp(&found[i], &wanted[i], sizeof *found) == 0) continue;
    unsigned char poison[sizeof *found];
    memset(poison, RUNG_POISON_BYTE, sizeof poison);
    const double error = fabs((double)found[i] - wanted[i]);
    if (!(error <= comparison->worst)) comparison->worst = error;
    if (memcmp(&found[i], poison, sizeof poison) == 0) comparison->unwritten += 1;
    comparison->nans += isnan(found[i]);
    if (comparison->wrong++ > 0) continue;
    comparison->first = i;
    comparison->found = found[i];
    comparison->wanted = wanted[i];
  }
  comparison->pass = comparison->wrong == 0;
  if (!comparison->pass)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "out[%lld] is %g where %g is wanted; %lld elements are wrong",
             (long long)comparison->first, comparison->found, comparison->wanted,
             (long long)comparison->wrong);
}

static const char *const lines[] = {"n=1000", NULL};
const rung_cases copycat_cases = {.operation = "copycat",
                                  .verify = lines,
                                  .bench = lines,
                                  .tour = lines,
                                  .make = make,
                                  .drop = drop,
                                  .expect = expect,
                                  .check = check};

const rung_operation copycat_operation = {
    .name = "copycat", .summary = "twice its input, or a lie", .rows = rows, .count = ROWS};
