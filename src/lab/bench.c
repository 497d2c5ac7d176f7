/* One job's bench: which candidates, sampled, and held to the peaks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab.h"

/* ---- choosing ----------------------------------------------------------------------------- */

/* Whether `name` stands in "a,b,c". */
static bool is_listed(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ',')) {
    if (*at == ',') at++;
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

static bool is_chosen(const lab_choice *choice, const rung_row *row, const rung_device *device) {
  if ((row->family == RUNG_ON_CPU) != (device->kind == RUNG_CPU)) return false;
  if (choice->strict && row->order == RUNG_LOOSE) return false;
  const char *list = row->peer ? choice->peers : choice->rungs;
  return !list || is_listed(list, row->name);
}

/* The block sizes of a row under a choice, ended by 0. One that takes none gets its own. */
static const int *blocks_of(const lab_choice *choice, const rung_row *row) {
  static const int own[] = {0};
  if (!row->blocks) return own;
  return choice->own_blocks ? row->blocks : choice->blocks;
}

/* Adds every candidate to `list` (NULL: only counts them), from number `count` on. */
static int add_rows(const lab_choice *choice, const rung_operation *operation,
                    const rung_device *device, lab_candidate *list, int count) {
  for (int i = 0; i < operation->count; i++) {
    const rung_row *row = &operation->rows[i];
    if (!is_chosen(choice, row, device)) continue;
    const int *blocks = blocks_of(choice, row);
    do {
      if (list && count < LAB_CANDIDATES)
        list[count] = (lab_candidate){.row = row, .block = *blocks};
      count++;
    } while (*blocks != 0 && *++blocks != 0);
  }
  return count < LAB_CANDIDATES ? count : LAB_CANDIDATES;
}

/* The rungs, and after them the peers. */
static int add_candidates(const lab_bench_set_up *set_up, const rung_operation *operation,
                          const rung_device *device, lab_candidate *list) {
  const int count = add_rows(&set_up->choice, operation, device, list, 0);
  if (!set_up->peers || count == 0) return count;
  return add_rows(&set_up->choice, set_up->peers->of(operation, device), device, list, count);
}

int lab_bench_count(const lab_bench_set_up *set_up, const rung_operation *operation,
                    const rung_device *device) {
  return add_candidates(set_up, operation, device, NULL);
}

void lab_bench_candidates(const lab_bench_set_up *set_up, const rung_operation *operation,
                          const rung_device *device, lab_candidate *list) {
  add_candidates(set_up, operation, device, list);
}

/* ---- running ------------------------------------------------------------------------------ */

static void tell(const lab_bench_set_up *set_up, const char *what) {
  if (set_up->progress) set_up->progress(set_up->to, 0, what);
}

static rung_status sample(const lab_bench_set_up *set_up, lab_bench *bench, rung_error *error) {
  const rung_device *device = &bench->context->device;
  lab_fixture *fixture = NULL;
  const bool whole = bench->rules.memory > 0;
  rung_status status =
      whole ? RUNG_OK : lab_fixture_open(bench->context, &bench->test_case, &fixture, error);
  if (status) return status;
  if (set_up->peers) status = set_up->peers->begin(&bench->test_case, device, error);
  const lab_watch before = lab_watch_now();
  if (!status && whole)
    status = lab_sample_memory(bench->context, &bench->test_case, bench->candidates, bench->count,
                               &bench->rules, set_up->progress, set_up->to, error);
  else if (!status)
    status = lab_sample(fixture, bench->candidates, bench->count, &bench->rules, set_up->progress,
                        set_up->to, error);
  const lab_watch after = lab_watch_now();
  bench->disturbed = lab_watch_between(&before, &after);
  if (set_up->peers) set_up->peers->end();
  lab_fixture_close(fixture);
  return status;
}

/* Not before the first case stands: a line that is refused should be so at once. */
static rung_status find_peaks(lab_bench_set_up *set_up, rung_error *error) {
  if (set_up->has_peaks) return RUNG_OK;
  tell(set_up, "the machine's peaks");
  const lab_conditions now = lab_conditions_now();
  rung_status status = lab_peaks_of(set_up->context, &now, &set_up->peaks, error);
  set_up->has_peaks = status == RUNG_OK;
  return status;
}

static void set_limit(const lab_bench_set_up *set_up, lab_bench *bench) {
  bench->peaks = set_up->peaks;
  bench->limit =
      lab_limit_of(&bench->peaks, &bench->test_case, &bench->context->device, bench->rules.hot);
}

static bool contradicts(const lab_bench *bench) {
  for (int i = 0; i < bench->count; i++)
    if (lab_impossible(&bench->limit, &bench->candidates[i])) return true;
  return false;
}

static rung_status hold_to_peaks(lab_bench_set_up *set_up, lab_bench *bench, rung_error *error) {
  set_limit(set_up, bench);
  if (contradicts(bench)) {
    tell(set_up, "the peaks once more");
    const lab_conditions now = lab_conditions_now();
    rung_status status = lab_peaks_again(set_up->context, &now, &set_up->peaks, error);
    if (status) return status;
    set_limit(set_up, bench);
  }
  lab_refuse_impossible(&bench->limit, bench->candidates, bench->count);
  return RUNG_OK;
}

rung_status lab_bench_run(lab_bench_set_up *set_up, const rung_operation *operation,
                          const rung_cases *cases, const char *line, lab_bench *bench,
                          rung_error *error) {
  *bench = (lab_bench){.context = set_up->context, .rules = set_up->rules, .line = line};
  bench->count = lab_bench_count(set_up, operation, &bench->context->device);
  bench->candidates = calloc((size_t)bench->count + 1, sizeof *bench->candidates);
  if (!bench->candidates)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %d candidates", bench->count);
  add_candidates(set_up, operation, &bench->context->device, bench->candidates);
  tell(set_up, "references");
  rung_status status = cases->make(line, bench->rules.seed, &bench->test_case, error);
  bench->made = status == RUNG_OK;
  if (!status) status = cases->expect(&bench->test_case, error);
  /* The peaks are the device's, and say nothing of the way there. */
  const bool whole = bench->rules.memory > 0;
  if (!status && !whole) status = find_peaks(set_up, error);
  if (!status) status = sample(set_up, bench, error);
  if (!status && !whole) status = hold_to_peaks(set_up, bench, error);
  return status;
}

void lab_bench_free(lab_bench *bench) {
  for (int i = 0; bench->candidates && i < bench->count; i++)
    lab_candidate_free(&bench->candidates[i]);
  free(bench->candidates);
  if (bench->made) bench->test_case.cases->drop(&bench->test_case);
  *bench = (lab_bench){0};
}

/* ---- what came of it ---------------------------------------------------------------------- */

const lab_verdict *lab_candidate_verdict(const lab_candidate *candidate) {
  return candidate->before.finding != LAB_GOOD ? &candidate->before : &candidate->after;
}

bool lab_candidate_good(const lab_candidate *candidate) {
  return lab_candidate_verdict(candidate)->finding == LAB_GOOD && candidate->count > 0;
}

int lab_bench_failures(const lab_bench *bench) {
  int failures = 0;
  for (int i = 0; i < bench->count; i++) {
    const lab_finding finding = lab_candidate_verdict(&bench->candidates[i])->finding;
    failures += finding != LAB_GOOD && finding != LAB_UNSUPPORTED;
  }
  return failures;
}

rung_status lab_bench_memory(const lab_bench *bench, rung_error *error) {
  for (int i = 0; i < bench->count; i++) {
    const lab_verdict *verdict = lab_candidate_verdict(&bench->candidates[i]);
    if (verdict->cause == RUNG_OUT_OF_MEMORY)
      return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: %s", bench->candidates[i].row->name,
                       verdict->sentence);
  }
  return RUNG_OK;
}

const lab_candidate *lab_bench_fastest(const lab_bench *bench) {
  const lab_candidate *best = NULL;
  for (int i = 0; i < bench->count; i++) {
    const lab_candidate *c = &bench->candidates[i];
    if (lab_candidate_good(c) && !c->row->peer && (!best || c->time.median < best->time.median))
      best = c;
  }
  return best;
}

const lab_candidate *lab_bench_against(const lab_bench *bench, const lab_candidate *peer) {
  const bool program = peer->row->program;
  const lab_candidate *best = NULL;
  for (int i = 0; i < bench->count; i++) {
    const lab_candidate *c = &bench->candidates[i];
    const rung_row *row = c->row;
    if (!lab_candidate_good(c) || row->program != program || row->order != RUNG_CANONICAL) continue;
    if (row->peer && !program) continue;
    if (!best || c->time.median < best->time.median) best = c;
  }
  return best;
}

double lab_bench_gain(const lab_bench *bench, const lab_candidate *candidate) {
  const rung_row *lower = NULL;
  double best = NAN;
  if (candidate->row->peer || candidate->count == 0) return best;
  for (const lab_candidate *c = bench->candidates; c < candidate; c++) {
    if (c->row == candidate->row || !lab_candidate_good(c)) continue;
    if (c->row != lower || c->time.median < best) best = c->time.median;
    lower = c->row;
  }
  return best / candidate->time.median;
}
