/* What two records have in common, and what their samples or launches say. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"

/* *at, unless it is NULL: the case that it is of. */
static const lab_read_candidate *find(const lab_records *in, const lab_read_case *of,
                                      const lab_read_candidate *like, int nth,
                                      const lab_read_case **at) {
  for (int i = 0; i < in->count; i++) {
    const lab_read_case *other = &in->cases[i];
    if (strcmp(other->operation, of->operation) != 0 || strcmp(other->label, of->label) != 0 ||
        strcmp(other->seed, of->seed) != 0 || other->hot != of->hot ||
        strcmp(other->memory, of->memory) != 0 ||
        strcmp(lab_read_text(other->device, "backend"), lab_read_text(of->device, "backend")) != 0)
      continue;
    for (int k = 0; k < other->count; k++) {
      const lab_read_candidate *c = &other->candidates[k];
      if (strcmp(c->rung, like->rung) != 0 || c->block != like->block || nth-- > 0) continue;
      if (at) *at = other;
      return c;
    }
  }
  return NULL;
}

/* How many rows so far are alike. */
static int alike(const compare *c, const lab_read_case *of, const lab_read_candidate *like) {
  int count = 0;
  for (int r = 0; r < c->count; r++)
    count +=
        find(&(lab_records){(lab_read_case *)c->rows[r].of, 1, NULL}, of, like, 0, NULL) != NULL &&
        strcmp(c->rows[r].a->rung, like->rung) == 0 && c->rows[r].a->block == like->block;
  return count;
}

static bool other_bits(const lab_read_candidate *a, const lab_read_candidate *b) {
  return a->bits && b->bits && strcmp(a->order, "canonical") == 0 && strcmp(a->bits, b->bits) != 0;
}

static const char *wrong(const lab_read_candidate *a, const lab_read_candidate *b) {
  if (!b->good) return b->finding;
  return other_bits(a, b) ? "other bits" : NULL;
}

static int good_ones(const lab_records *records) {
  int count = 0;
  for (int i = 0; i < records->count; i++)
    for (int k = 0; k < records->cases[i].count; k++) count += records->cases[i].candidates[k].good;
  return count;
}

rung_status compare_match(compare *c, const char *const names[2], rung_error *error) {
  const lab_records *a = &c->records[0], *b = &c->records[1];
  int both = 0;
  c->only[0] = good_ones(a);
  c->rows = calloc((size_t)c->only[0] + 1, sizeof *c->rows);
  if (!c->rows) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to compare");
  for (int i = 0; i < a->count; i++)
    for (int k = 0; k < a->cases[i].count; k++) {
      const lab_read_case *of = &a->cases[i];
      const lab_read_candidate *ours = &of->candidates[k];
      if (!ours->good) continue;
      const int nth = alike(c, of, ours);
      const lab_read_case *b_of = NULL;
      const lab_read_candidate *theirs = find(b, of, ours, nth, &b_of);
      if (!theirs) continue;
      both += theirs->good;
      c->rows[c->count++] = (compare_row){
          .of = of, .b_of = b_of, .a = ours, .b = theirs, .nth = nth, .wrong = wrong(ours, theirs)};
    }
  c->only[0] -= c->count;
  c->only[1] = good_ones(b) - both;
  if (c->count > 0) return RUNG_OK;
  return rung_fail(
      error, RUNG_BAD_FILE,
      "%.100s and %.100s have nothing in common; expected: good rungs of the same jobs "
      "and block sizes",
      names[0], names[1]);
}

/* ---- two records -------------------------------------------------------------------------- */

static double *logs_of(const double *times, int count) {
  double *logs = malloc((size_t)count * sizeof *logs + 1);
  for (int i = 0; logs && i < count; i++) logs[i] = log(times[i]);
  return logs;
}

static double clock_of(double a, double b) {
  return a > 0 && b > 0 ? log(b / a) : 0;
}

/* What a candidate differs by from itself: by its samples, or where there are some, its launches.
 */
static double margin_of(const lab_read_candidate *c) {
  return fmax(lab_relative_iqr(&c->time), c->launches > 1 ? c->apart : 0);
}

/* One of them, or both, was measured in one process alone. */
static bool compare_samples(compare_row *row) {
  double *a = logs_of(row->a->samples, row->a->count), *b = logs_of(row->b->samples, row->b->count);
  const bool can =
      a && b && lab_interval_unpaired(a, row->a->count, b, row->b->count, &row->found.time);
  free(a);
  free(b);
  if (!can) return false;
  row->a_ms = row->a->time.median;
  row->b_ms = row->b->time.median;
  row->found.margin = fmax(LAB_MARGIN, fmax(margin_of(row->a), margin_of(row->b)));
  row->found.outcome = lab_outcome_of(&row->found.time, row->found.margin, row->clock);
  return true;
}

static bool compare_medians(compare_row *row) {
  const int a_count = row->a->launches, b_count = row->b->launches;
  double *a = logs_of(row->a->medians, a_count), *b = logs_of(row->b->medians, b_count);
  const bool can = a && b && lab_compare_runs(a, a_count, b, b_count, row->clock, &row->found);
  if (can) {
    row->a_ms = exp(lab_mean(a, a_count));
    row->b_ms = exp(lab_mean(b, b_count));
  }
  free(a);
  free(b);
  return can;
}

/* A record beside itself, or a copy of it. */
static bool is_identical(const compare_row *row) {
  return row->a->count == row->b->count && row->a->launches == row->b->launches &&
         memcmp(row->a->samples, row->b->samples,
                (size_t)row->a->count * sizeof *row->a->samples) == 0;
}

static void call_same(compare_row *row) {
  row->identical = true;
  row->found.outcome = LAB_SAME;
  row->found.time.estimate = row->found.time.low = row->found.time.high = 0;
}

rung_status compare_records(compare *c, rung_error *error) {
  for (int r = 0; r < c->count; r++) {
    compare_row *row = &c->rows[r];
    if (!row->b->good) continue;
    row->launches[0] = row->a->launches;
    row->launches[1] = row->b->launches;
    row->clock = clock_of(row->a->clock.median, row->b->clock.median);
    const bool both = row->a->launches > 1 && row->b->launches > 1;
    if (!(both ? compare_medians(row) : compare_samples(row)))
      return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to compare");
    if (is_identical(row)) call_same(row);
  }
  return RUNG_OK;
}

/* ---- launches ----------------------------------------------------------------------------- */

enum { SAID_MOST = 1 << 28 };

static rung_status launch(const char *command, int number, lab_records *records,
                          rung_error *error) {
  char *argv[] = {"/bin/sh", "-c", (char *)command, NULL}, name[160];
  cli_child_end end;
  rung_status status = cli_child(argv, "", CLI_ERRORS_SHOWN, SAID_MOST, &end, error);
  if (!status && end.code != 0)
    status = rung_fail(error, RUNG_BAD_FILE,
                       "'%.200s' ended with %d at launch %d; expected: 0, and records printed, as "
                       "`rung bench ... --json` does",
                       command, end.code, number);
  snprintf(name, sizeof name, "what '%.100s' printed", command);
  if (!status) status = lab_read(records, name, end.said, end.length, error);
  free(end.said);
  return status;
}

static rung_status make_room(compare *c, int blocks, rung_error *error) {
  const size_t each = 2 * (size_t)blocks;
  c->blocks = blocks;
  for (int r = 0; r < c->count; r++) {
    compare_row *row = &c->rows[r];
    row->a_logs = calloc(4 * each, sizeof *row->a_logs);
    if (!row->a_logs) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to compare");
    row->b_logs = row->a_logs + each;
    row->clocks[0] = row->b_logs + each;
    row->clocks[1] = row->clocks[0] + each;
  }
  return RUNG_OK;
}

/* What a launch, the `at`th of A or B, says of every row. */
static void take(compare *c, int which, int at, const lab_records *launched) {
  for (int r = 0; r < c->count; r++) {
    compare_row *row = &c->rows[r];
    const lab_read_candidate *found = find(launched, row->of, row->a, row->nth, NULL);
    if (!found || !found->good) {
      if (!row->wrong) row->wrong = "not good in every launch";
      continue;
    }
    if (!row->wrong && other_bits(row->a, found)) row->wrong = "other bits";
    (which ? row->b_logs : row->a_logs)[at] = log(found->time.median);
    row->clocks[which][at] = found->clock.median;
  }
}

static rung_status conclude(compare *c, rung_error *error) {
  for (int r = 0; r < c->count; r++) {
    compare_row *row = &c->rows[r];
    const lab_stats a = lab_stats_of(row->clocks[0], 2 * c->blocks),
                    b = lab_stats_of(row->clocks[1], 2 * c->blocks);
    const lab_launches launches = {row->a_logs, row->b_logs, c->blocks};
    row->a_ms = row->a->time.median;
    row->b_ms = row->b->time.median;
    row->clock = clock_of(a.median, b.median);
    if (!lab_compare_launches(&launches, row->clock, &row->found))
      return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to compare");
  }
  return RUNG_OK;
}

/* The first two launches, one of A and one of B, say which rows there are. */
static rung_status first_two(compare *c, const char *const commands[2], int blocks, bool b_first,
                             rung_error *error) {
  rung_status status = RUNG_OK;
  for (int slot = 0; slot < 2 && !status; slot++) {
    const int which = slot != b_first;
    status = launch(commands[which], slot + 1, &c->records[which], error);
  }
  if (!status) status = compare_match(c, commands, error);
  if (!status) status = make_room(c, blocks, error);
  for (int which = 0; which < 2 && !status; which++) take(c, which, 0, &c->records[which]);
  return status;
}

rung_status compare_launch(compare *c, const char *const commands[2], int blocks, uint64_t seed,
                           const cli_common *common, rung_error *error) {
  bool b_first[LAB_BLOCKS_MOST];
  cli_progress progress;
  int taken[2] = {1, 1};
  lab_interleave(seed, blocks, b_first);
  cli_progress_begin(&progress, common);
  cli_progress_part(&progress, 0, 1, "launches");
  rung_status status = first_two(c, commands, blocks, b_first[0], error);
  for (int number = 2; number < 4 * blocks && !status; number++) {
    const int slot = number % 4, which = (slot == 1 || slot == 2) != b_first[number / 4];
    lab_records launched = {0};
    cli_progress_show(&progress, (double)number / (4 * blocks), which ? "B" : "A");
    status = launch(commands[which], number + 1, &launched, error);
    if (!status) take(c, which, taken[which]++, &launched);
    lab_records_free(&launched);
  }
  cli_progress_end(&progress);
  return status ? status : conclude(c, error);
}

void compare_free(compare *c) {
  for (int r = 0; r < c->count; r++) free(c->rows[r].a_logs);
  free(c->rows);
  lab_records_free(&c->records[0]);
  lab_records_free(&c->records[1]);
}
