/* What must come out of a case of histogram, and whether it did. Counts are exact: they are right
 * or wrong. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "lab/compare.h"
#include "lab/numbers.h"
#include "ops/histogram/lab/cases.h"

/* ---- counting by all processors ----------------------------------------------------------------
 */

/* Elements [from, until) of a row, counted into a table of `slots`. */
typedef struct tally {
  const histogram_problem *problem;
  const double *edges;
  const char *row;
  void (*count)(const struct tally *tally, int64_t from, int64_t until, int64_t *table);
  int64_t slots;
  int parts;
  int64_t *tables; /* one a part */
} tally;

static void count_part(void *arg, int part, int64_t from, int64_t until) {
  const tally *t = (const tally *)arg;
  t->count(t, from, until, t->tables + part * t->slots);
}

/* Adds the counts of a row to sums[slots]. False: no memory. */
static bool count_row(tally *t, int64_t *sums) {
  t->parts = t->problem->columns < 1 << 16 ? 1 : rung_processors();
  t->tables = (int64_t *)calloc((size_t)(t->parts * t->slots), sizeof(int64_t));
  if (t->tables == NULL) return false;
  rung_parallel_range(t->parts, t->problem->columns, t->parts, count_part, t);
  for (int64_t k = 0; k < t->parts * t->slots; ++k) sums[k % t->slots] += t->tables[k];
  free(t->tables);
  return true;
}

/* Counts by slot of every row that is no copy. */
typedef struct expected_counts {
  int64_t *slots;
} expected_counts;

static int64_t originals(const histogram_problem *problem) {
  return problem->rows < HISTOGRAM_BASE ? problem->rows : HISTOGRAM_BASE;
}

static void count_slots(const tally *t, int64_t from, int64_t until, int64_t *table) {
  for (int64_t k = from; k < until; ++k)
    table[histogram_reference(t->problem, t->edges, t->row, k)] += 1;
}

rung_status histogram_expect(rung_case *test_case, rung_error *error) {
  if (test_case->expected != NULL) return RUNG_OK;
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  const int64_t all = p->rule.bins + HISTOGRAM_OUTER;
  tally row = {.problem = p,
               .edges = (const double *)test_case->arrays[HISTOGRAM_EDGES].data,
               .row = test_case->arrays[HISTOGRAM_IN].data,
               .count = count_slots,
               .slots = all};
  expected_counts *expected = (expected_counts *)calloc(1, sizeof *expected);
  if (expected != NULL)
    expected->slots = (int64_t *)calloc((size_t)(originals(p) * all), sizeof(int64_t));
  bool there = expected != NULL && expected->slots != NULL;
  for (int64_t i = 0; i < originals(p) && there && p->columns > 0; ++i) {
    there = count_row(&row, expected->slots + i * all);
    row.row += p->columns * (int64_t)rung_dtype_bytes(p->dtype);
  }
  test_case->expected = expected;
  if (there) return RUNG_OK;
  histogram_forget(test_case);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no host memory for the reference",
                   test_case->label);
}

void histogram_forget(rung_case *test_case) {
  expected_counts *expected = (expected_counts *)test_case->expected;
  if (expected != NULL) free(expected->slots);
  free(expected);
  test_case->expected = NULL;
}

/* ---- checking ---------------------------------------------------------------------------------
 */

/* Another library finds even bins by arithmetic of its own: an element next to an edge may be on
 * the other side of it. */
static void count_near(const tally *t, int64_t from, int64_t until, int64_t *near) {
  const histogram_rule *rule = &t->problem->rule;
  const double tolerance = 0x1p-20 * (1 + fabs(rule->low) / rule->distance) * rule->bins;
  for (int64_t k = from; k < until; ++k) {
    const double x = rung_number_at(t->problem->dtype, t->row, k);
    const double at = (x - rule->low) / rule->distance * rule->bins, edge = nearbyint(at);
    if (!(fabs(at - edge) <= tolerance) || edge < 0 || edge > rule->bins) continue;
    if (edge > 0) near[(int)edge - 1] += 1;
    if (edge < rule->bins) near[(int)edge] += 1;
  }
}

/* Counts of such elements by bin, of row 0; NULL: no memory. */
static int64_t *near_edges(const rung_case *test_case) {
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  tally row = {.problem = p,
               .row = test_case->arrays[HISTOGRAM_IN].data,
               .count = count_near,
               .slots = p->rule.bins};
  int64_t *near = (int64_t *)calloc((size_t)p->rule.bins, sizeof *near);
  if (near == NULL || p->kind != RUNG_BINS_EVEN || p->columns == 0 || count_row(&row, near))
    return near;
  free(near);
  return NULL;
}

/* One row's counts of slots [first, first + count), as `found` has them; `near` (or NULL) says by
 * how much each may be off. Returns their sum. */
static uint64_t check_row(const rung_case *test_case, const int64_t *found, int64_t row,
                          int64_t first, int64_t count, int output, const int64_t *near,
                          rung_comparison *comparison) {
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  const expected_counts *expected = (const expected_counts *)test_case->expected;
  const int64_t all = p->rule.bins + HISTOGRAM_OUTER;
  const int64_t *wanted = expected->slots + row % HISTOGRAM_BASE * all + first;
  uint64_t total = 0;
  for (int64_t k = 0; k < count; ++k) {
    total += (uint64_t)found[k];
    if (found[k] == wanted[k]) continue;
    if (near != NULL && found[k] >= 0 && llabs(found[k] - wanted[k]) <= near[k]) {
      comparison->different += 1;
      continue;
    }
    const double is = (double)found[k], was = (double)wanted[k];
    rung_compare_error(comparison, fabs(is - was));
    /* The poison is -1, which no count is. */
    rung_compare_wrong(comparison, output, row * count + k, is, was, found[k] == -1);
  }
  return total;
}

static void explain(const histogram_problem *p, int64_t results, uint64_t total, int64_t row,
                    rung_comparison *comparison) {
  const int64_t width = comparison->output == 0 ? p->rule.bins : HISTOGRAM_OUTER;
  const char *const what = comparison->output == 0 ? "bin" : "place outside";
  if (comparison->unwritten > 0)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64
             " counts were not written; the first wrong one is that of "
             "%s %" PRId64 " of row %" PRId64,
             comparison->unwritten, results, what, comparison->first % width,
             comparison->first / width);
  else
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64 " counts are wrong; %s %" PRId64 " of row %" PRId64
             " has %.0f where the reference has %.0f; row %" PRId64 " counts %" PRIu64
             " of %" PRId64 " elements",
             comparison->wrong, results, what, comparison->first % width, comparison->first / width,
             comparison->found, comparison->wanted, row, total, p->columns);
}

void histogram_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                     rung_comparison *comparison) {
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  const int64_t *counts = (const int64_t *)outputs[0].data;
  const int64_t *outside = outputs[1].count > 0 ? (const int64_t *)outputs[1].data : NULL;
  uint64_t total = 0;
  int64_t row = -1; /* the first wrong one, and its sum */
  int64_t *near = rung->order == RUNG_TEXTBOOK ? near_edges(test_case) : NULL;
  *comparison = (rung_comparison){.first = -1};
  for (int64_t i = 0; i < p->rows; ++i) {
    uint64_t sum =
        check_row(test_case, counts + i * p->rule.bins, i, 0, p->rule.bins, 0, near, comparison);
    if (outside != NULL)
      sum += check_row(test_case, outside + i * HISTOGRAM_OUTER, i, p->rule.bins, HISTOGRAM_OUTER,
                       1, NULL, comparison);
    if (comparison->wrong == 0 || row >= 0) continue;
    row = i;
    total = sum;
  }
  free(near);
  comparison->pass = comparison->wrong == 0;
  const int64_t results = outputs[0].count + outputs[1].count;
  if (!comparison->pass) explain(p, results, total, row, comparison);
}
