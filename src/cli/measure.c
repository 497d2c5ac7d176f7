#include "cli/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "peers/peers.h"

/* ---- choosing ----------------------------------------------------------------------------- */

/* Whether `name` stands in "a,b,c". */
static bool listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ',')) {
    if (*at == ',') at++;
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

bool measure_chosen(const measure_choice *choice, const rung_row *row, const rung_device *device) {
  if (!cli_on_device(row, device)) return false;
  if (choice->strict && row->order == RUNG_LOOSE) return false;
  return !choice->rungs || row->peer || listed(choice->rungs, row->name);
}

/* The block sizes of a row under a choice, ended by 0. One that takes none gets its own. */
static const int *blocks_of(const measure_choice *choice, const rung_row *row) {
  static const int own[] = {0};
  if (!row->blocks) return own;
  return choice->own_blocks ? row->blocks : choice->blocks;
}

/* Adds every candidate to `list` (NULL: only counts them), from number `count` on. */
static int add_rows(const measure_choice *choice, const rung_operation *operation,
                    const rung_device *device, lab_candidate *list, int count) {
  for (int i = 0; i < operation->count; i++) {
    const rung_row *row = &operation->rows[i];
    if (!measure_chosen(choice, row, device)) continue;
    const int *blocks = blocks_of(choice, row);
    do {
      if (list && count < MEASURE_CANDIDATES)
        list[count] = (lab_candidate){.row = row, .block = *blocks};
      count++;
    } while (*blocks != 0 && *++blocks != 0);
  }
  return count < MEASURE_CANDIDATES ? count : MEASURE_CANDIDATES;
}

/* The rungs, and after them the peers. */
static int add_candidates(const measure_choice *choice, const rung_operation *operation,
                          const rung_device *device, lab_candidate *list) {
  const int count = add_rows(choice, operation, device, list, 0);
  if (!choice->peers || count == 0) return count;
  return add_rows(choice, rung_peers_of(operation, device), device, list, count);
}

int measure_count(const measure_choice *choice, const rung_operation *operation,
                  const rung_device *device) {
  return add_candidates(choice, operation, device, NULL);
}

/* ---- running ------------------------------------------------------------------------------ */

static rung_status sample(const measure_set_up *set_up, cli_progress *progress, measure *m,
                          rung_error *error) {
  const rung_operation *operation = m->test_case.operation;
  m->roofs = set_up->roofs;
  m->roof_ms = lab_roof_ms(&m->roofs, &m->test_case, &m->bound);
  add_candidates(&set_up->choice, operation, &m->context->device, m->candidates);
  lab_fixture *fixture = NULL;
  rung_status status = lab_fixture_open(m->context, &m->test_case, &fixture, error);
  if (status) return status;
  const lab_floor floor = lab_floor_of(&m->roofs, &m->test_case, &m->context->device);
  if (set_up->choice.peers) status = rung_peers_begin(&m->test_case, &m->context->device, error);
  if (!status)
    status = lab_sample(fixture, m->candidates, m->count, &m->rules, floor, cli_progress_show,
                        progress, error);
  rung_peers_end();
  lab_fixture_close(fixture);
  return status;
}

/* Not before the first case stands: a line that is refused should be so at once. */
static rung_status find_roofs(measure_set_up *set_up, cli_progress *progress, rung_error *error) {
  if (set_up->roofed) return RUNG_OK;
  cli_progress_show(progress, 0, "the machine's roofs");
  rung_status status = lab_roofs_of(set_up->context, false, &set_up->roofs, error);
  set_up->roofed = status == RUNG_OK;
  return status;
}

rung_status measure_open(measure_set_up *set_up, const cli_common *common, const char *device,
                         rung_error *error) {
  rung_close(set_up->context);
  set_up->context = NULL;
  set_up->roofed = set_up->remeasured = false;
  return cli_open(common, device, &set_up->context, error);
}

static bool beats_roof(const measure *m) {
  for (int i = 0; i < m->count; i++)
    if (measure_verdict(&m->candidates[i])->finding == LAB_TOO_FAST) return true;
  return false;
}

/* A roof is the best that was seen: a second measurement can only raise it. */
static rung_status raise_roofs(measure_set_up *set_up, rung_error *error) {
  lab_roofs again, *roofs = &set_up->roofs;
  set_up->remeasured = true;
  rung_status status = lab_roofs_of(set_up->context, true, &again, error);
  if (status) return status;
  roofs->read = fmax(roofs->read, again.read);
  roofs->write = fmax(roofs->write, again.write);
  roofs->copy = fmax(roofs->copy, again.copy);
  roofs->fma32 = fmax(roofs->fma32, again.fma32);
  roofs->fma64 = fmax(roofs->fma64, again.fma64);
  roofs->cached = false;
  return RUNG_OK;
}

rung_status measure_run(measure_set_up *set_up, const rung_operation *operation, const char *line,
                        cli_progress *progress, measure *m, rung_error *error) {
  *m = (measure){.context = set_up->context, .rules = set_up->rules};
  m->count = measure_count(&set_up->choice, operation, &m->context->device);
  m->candidates = calloc((size_t)m->count + 1, sizeof *m->candidates);
  if (!m->candidates) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the candidates");
  cli_progress_show(progress, 0, "references");
  rung_status status = rung_cases_of(operation)->make(line, m->rules.seed, &m->test_case, error);
  m->made = status == RUNG_OK;
  if (!status) status = rung_cases_of(operation)->expect(&m->test_case, error);
  if (!status) status = find_roofs(set_up, progress, error);
  if (!status) status = sample(set_up, progress, m, error);
  if (status || set_up->remeasured || !beats_roof(m)) return status;
  cli_progress_show(progress, 0, "the roofs once more");
  status = raise_roofs(set_up, error);
  if (status) return status;
  for (int i = 0; i < m->count; i++) lab_candidate_free(&m->candidates[i]);
  return sample(set_up, progress, m, error);
}

void measure_free(measure *m) {
  for (int i = 0; m->candidates && i < m->count; i++) lab_candidate_free(&m->candidates[i]);
  free(m->candidates);
  if (m->made) m->test_case.cases->drop(&m->test_case);
  *m = (measure){0};
}

/* ---- what came of it ---------------------------------------------------------------------- */

const lab_verdict *measure_verdict(const lab_candidate *candidate) {
  return candidate->before.finding != LAB_GOOD ? &candidate->before : &candidate->after;
}

static bool good(const lab_candidate *candidate) {
  return measure_verdict(candidate)->finding == LAB_GOOD && candidate->count > 0;
}

int measure_failures(const measure *m) {
  int failures = 0;
  for (int i = 0; i < m->count; i++) {
    lab_finding finding = measure_verdict(&m->candidates[i])->finding;
    failures += finding != LAB_GOOD && finding != LAB_UNSUPPORTED;
  }
  return failures;
}

const lab_candidate *measure_fastest(const measure *m) {
  const lab_candidate *best = NULL;
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    if (good(c) && !c->row->peer && (!best || c->time.median < best->time.median)) best = c;
  }
  return best;
}

/* The best median of the rung below the candidate's; NaN: there is none. */
static double below(const measure *m, const lab_candidate *candidate) {
  const rung_row *lower = NULL;
  double best = NAN;
  if (candidate->row->peer) return best;
  for (const lab_candidate *c = m->candidates; c < candidate; c++) {
    if (c->row == candidate->row || !good(c)) continue;
    if (c->row != lower || c->time.median < best) best = c->time.median;
    lower = c->row;
  }
  return best;
}

/* ---- printing ----------------------------------------------------------------------------- */

static const char *colour_of(FILE *to, lab_finding finding) {
  if (finding == LAB_UNSUPPORTED) return "";
  return cli_colour(to, finding == LAB_GOOD ? CLI_GREEN : CLI_RED);
}

static const char *block_text(int block, char text[16]) {
  snprintf(text, 16, "%d", block);
  return block > 0 ? text : "-";
}

static const char *gain_text(double gain, char text[16]) {
  if (isnan(gain)) return "-";
  snprintf(text, 16, gain < 10 ? "%.2f x" : "%.1f x", gain);
  return text;
}

static void print_heading(FILE *to, const measure *m) {
  char text[32];
  fprintf(to, "%s%s on %s%s: %s\n", cli_colour(to, CLI_BOLD), m->test_case.operation->name,
          m->context->device.name, cli_colour(to, CLI_PLAIN), m->test_case.label);
  fprintf(to, "roof: %s, bound by %s; caches %s\n", cli_time(m->roof_ms, text), m->bound,
          m->rules.hot ? "hot" : "cold");
}

/* The best canonical rung, or our program where programs are asked for; NULL: none. */
static const lab_candidate *best_of_ours(const measure *m, bool program) {
  const lab_candidate *best = NULL;
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    const rung_row *row = c->row;
    if (!good(c) || row->program != program || row->order != RUNG_CANONICAL) continue;
    if (row->peer && !program) continue;
    if (!best || c->time.median < best->time.median) best = c;
  }
  return best;
}

/* It against every peer, the same samples. */
static void print_peers(FILE *to, const measure *m) {
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i], *best = best_of_ours(m, c->row->program);
    if (c->row->peer && good(c) && best && best != c)
      fprintf(to, "%s against %s (%s): %.3g times as fast\n", best->row->name, c->row->name,
              c->row->peer, c->time.median / best->time.median);
  }
}

void measure_print(FILE *to, const measure *m) {
  print_heading(to, m);
  fprintf(to, "%-17s %5s %12s %25s %8s %7s %6s %7s %-12s %s\n", "rung", "block", "median",
          "[min, q3]", "gain", "% roof", "MHz", "samples", "stopped", "verdict");
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    const lab_verdict *verdict = measure_verdict(c);
    char block[16], median[32], least[32], q3[32], gain[16], range[80], clock[16] = "-";
    fprintf(to, "%-17s %5s ", c->row->name, block_text(c->block, block));
    if (c->count == 0) {
      fprintf(to, "%s%s%s: %s\n", colour_of(to, verdict->finding),
              lab_finding_name(verdict->finding), cli_colour(to, CLI_PLAIN), verdict->sentence);
      continue;
    }
    snprintf(range, sizeof range, "[%s, %s]", cli_time(c->time.min, least),
             cli_time(c->time.q3, q3));
    if (c->clock.median > 0) snprintf(clock, sizeof clock, "%.0f", c->clock.median);
    fprintf(to, "%12s %25s %8s %7.1f %6s %7d %-12s %s%s%s%s%s\n", cli_time(c->time.median, median),
            range, gain_text(below(m, c) / c->time.median, gain), 100 * m->roof_ms / c->time.median,
            clock, c->count, lab_stop_text(c->stop), colour_of(to, verdict->finding),
            lab_finding_name(verdict->finding), cli_colour(to, CLI_PLAIN),
            verdict->sentence[0] ? ": " : "", verdict->sentence);
  }
  print_peers(to, m);
}

void measure_bars(FILE *to, const measure *m) {
  enum { BAR = 24 };
  print_heading(to, m);
  fprintf(to, "  %-17s %12s %9s %7s\n", "rung", "median", "gain", "% roof");
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    const lab_verdict *verdict = measure_verdict(c);
    char median[32], gain[16], bar[BAR + 1] = "";
    if (!good(c)) {
      fprintf(to, "  %-17s %s%s%s: %s\n", c->row->name, colour_of(to, verdict->finding),
              lab_finding_name(verdict->finding), cli_colour(to, CLI_PLAIN), verdict->sentence);
      continue;
    }
    double part = m->roof_ms / c->time.median;
    int full = (int)lrint(BAR * (part < 1 ? part : 1));
    for (int k = 0; k < full; k++) bar[k] = '#';
    fprintf(to, "  %-17s %12s %9s %6.1f%% %s\n", c->row->name, cli_time(c->time.median, median),
            gain_text(below(m, c) / c->time.median, gain), 100 * part, bar);
  }
}
