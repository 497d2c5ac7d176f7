/* Every CPU rung on every instruction set (isas.h), with 1, 2 and 5 threads; ThreadSanitizer sees
 * nothing with 1. */
#ifndef TESTS_OPS_RUNGS_H
#define TESTS_OPS_RUNGS_H

#include "lab/lab.h"
#include "ops/isas.h"

static const int thread_counts[] = {1, 2, 5};

/* NULL: this machine lacks the instructions, or they are not watched. */
static inline rung_context *open_with(const char *isa, int threads) {
  rung_context *context;
  if (INSTRUMENTED && isa_number(isa) > widest_isa()) return NULL;
  const rung_options options = {.device = "cpu", .isa = isa, .threads = threads};
  const rung_status status = rung_open(&context, &options);
  if (status == RUNG_OK) return context;
  if (status != RUNG_UNSUPPORTED) fail_msg("%s", rung_last_error(context));
  rung_close(context);
  return NULL;
}

static inline void verify_on(rung_context *context, const rung_case *test_case, const char *isa) {
  lab_fixture *fixture = NULL;
  rung_error error = {0};
  assert_int_equal(lab_fixture_open(context, test_case, &fixture, &error), RUNG_OK);
  for (int r = 0; r < test_case->operation->count; ++r) {
    const rung_row *row = &test_case->operation->rows[r];
    lab_verdict verdict;
    if (row->family != RUNG_ON_CPU) continue;
    lab_verify(fixture, row, 0, &verdict);
    const rung_types *types = &test_case->types;
    const bool typed = row->types.in & RUNG_TYPE(types->in) &&
                       row->types.accumulate & RUNG_TYPE(types->accumulate) &&
                       row->types.out & RUNG_TYPE(types->out);
    if (verdict.finding == LAB_UNSUPPORTED && (row->supports != NULL || !typed)) continue;
    if (verdict.finding != LAB_GOOD)
      fail_msg("%s on %s, %s: %s", row->name, isa, test_case->label, verdict.sentence);
  }
  lab_fixture_close(fixture);
}

/* A case on all of them; under a sanitizer on one, which is drawn anew for every case. */
static inline void verify_line(const rung_cases *cases, const char *line) {
  static uint32_t draw = 1;
  rung_case test_case;
  rung_error error = {0};
  const int first = first_isa(), isa_count = widest_isa() - first + 1;
  const int least = THREADS_ONLY ? 1 : 0, ways = isa_count * (3 - least);
  draw = draw * 1664525u + 1013904223u;
  const int begin = INSTRUMENTED ? (int)((draw >> 16) % (uint32_t)ways) : 0;
  if (cases->make(line, 5, &test_case, &error) != RUNG_OK) fail_msg("%s", error.sentence);
  assert_int_equal(cases->expect(&test_case, &error), RUNG_OK);
  for (int way = begin; way < (INSTRUMENTED ? begin + 1 : ways); ++way) {
    const char *isa = isas[first + way % isa_count];
    rung_context *context = open_with(isa, thread_counts[least + way / isa_count]);
    verify_on(context, &test_case, isa);
    rung_close(context);
  }
  cases->drop(&test_case);
}

static inline void verify_lines(const rung_cases *cases) {
  const char *line;
  for (int i = 0; (line = rung_cases_line(cases, i, NULL)) != NULL; ++i) verify_line(cases, line);
}

/* A result of which one bit is turned, and whether it passes as one of that order. */
typedef struct turned {
  const char *line;
  rung_order order;
  int byte, bit; /* of the element */
  bool pass;
} turned;

static inline const rung_row *row_named(const rung_operation *operation, const char *name) {
  for (int r = 0; r < operation->count; ++r)
    if (strcmp(operation->rows[r].name, name) == 0) return &operation->rows[r];
  fail_msg("no rung is called %s", name);
  return NULL;
}

/* What `rung` makes of a line is right, and no longer so when a bit of element `wrong` is turned.
 * Array number `out` is the only output. */
static inline void see_turned(const rung_cases *cases, const char *rung, int out, int64_t wrong,
                              const turned *t) {
  rung_context *context = open_with(isas[widest_isa()], 1);
  rung_case test_case;
  rung_comparison comparison;
  assert_int_equal(cases->make(t->line, 1, &test_case, NULL), RUNG_OK);
  assert_int_equal(cases->expect(&test_case, NULL), RUNG_OK);
  rung_task task = {.problem = test_case.problem, .device = &context->device};
  memcpy(task.arrays, test_case.arrays, sizeof task.arrays);
  rung_view *result = &task.arrays[out];
  result->data = (char *)malloc(rung_view_bytes(result));
  const rung_row *row = row_named(test_case.operation, rung);
  void *const scratch = malloc(rung_row_needs(row, &task).scratch + 1);
  task.scratch = scratch;
  assert_int_equal(rung_row_launch(row, &context->device)(&task), RUNG_OK);
  cases->check(&test_case, &(rung_row){.name = "", .order = RUNG_CANONICAL}, result, &comparison);
  assert_true(comparison.pass && comparison.worst <= comparison.bound);
  result->data[wrong * (int64_t)rung_dtype_bytes(result->dtype) + t->byte] ^= (char)(1 << t->bit);
  cases->check(&test_case, &(rung_row){.name = "", .order = t->order}, result, &comparison);
  if (comparison.pass != t->pass || (!comparison.pass && comparison.first != wrong))
    fail_msg("%s, order %d: %s", t->line, (int)t->order, comparison.sentence);
  free(scratch);
  free(result->data);
  cases->drop(&test_case);
  rung_close(context);
}

/* Lines that no case can be made of are refused with a sentence. */
static inline void refuse_lines(const rung_cases *cases, const char *const *lines, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    rung_case test_case;
    rung_error error = {0};
    if (cases->make(lines[k], 1, &test_case, &error) == RUNG_OK) fail_msg("%s", lines[k]);
    assert_true(error.sentence[0] != '\0');
  }
}

#endif
