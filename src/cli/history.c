#include "cli/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "rung_report.h"

static const char *const texts[] = {RUNG_REPORT_HISTORY};

/* ---- reading: the files are ours ------------------------------------------------------------- */

/* What stands at *at up to the first of `ends`, which is skipped. */
static void take(const char **at, const char *ends, char *to, size_t room) {
  const size_t length = strcspn(*at, ends);
  snprintf(to, room, "%.*s", (int)length, *at);
  *at += length + ((*at)[length] != '\0');
}

static bool is_key(const history *of, const char *name) {
  char braced[HISTORY_NAME + 2];
  snprintf(braced, sizeof braced, "{%s}", name);
  return strcmp(name, "block") == 0 || strstr(of->job, braced);
}

static void take_names(const char **at, history *of) {
  bool more = true;
  while (more && of->count < HISTORY_COLUMNS) {
    more = (*at)[strcspn(*at, ",\n")] == ',';
    take(at, ",\n", of->columns[of->count], HISTORY_NAME);
    of->keys += is_key(of, of->columns[of->count]);
    of->count++;
  }
}

bool history_of(int number, history *of) {
  *of = (history){0};
  if (number < 0 || number >= (int)(sizeof texts / sizeof *texts)) return false;
  const char *at = texts[number] + strlen("# ");
  take(&at, "\n", of->caption, sizeof of->caption);
  at += strlen("# job: ");
  take(&at, " ", of->operation, sizeof of->operation);
  take(&at, "\n", of->job, sizeof of->job);
  take_names(&at, of);
  for (; *at && of->rows < HISTORY_ROWS; of->rows++)
    for (int c = 0; c < of->count; c++) {
      char field[HISTORY_NAME], *end;
      take(&at, ",\n", field, sizeof field);
      of->at[of->rows][c] = field[0] ? strtod(field, &end) : NAN;
      if (c > 0) continue;
      memcpy(of->names[of->rows], field, sizeof field);
      of->named = of->named || *end != '\0';
    }
  return true;
}

/* ---- the same jobs in records --------------------------------------------------------------- */

/* The job of a row, as a label. */
static void label_of(const history *of, int row, char label[RUNG_LABEL]) {
  size_t used = 0;
  for (const char *at = of->job; *at && used < RUNG_LABEL - 1;) {
    const size_t length = *at == '{' ? strcspn(at, "}") + 1 : 1;
    int key = *at == '{' ? 0 : of->keys;
    while (key < of->keys && (strlen(of->columns[key]) != length - 2 ||
                              strncmp(of->columns[key], at + 1, length - 2) != 0))
      key++;
    if (key == 0 && of->named)
      used += (size_t)snprintf(label + used, RUNG_LABEL - used, "%s", of->names[row]);
    else if (key < of->keys)
      used += (size_t)snprintf(label + used, RUNG_LABEL - used, "%.0f", of->at[row][key]);
    else
      used += (size_t)snprintf(label + used, RUNG_LABEL - used, "%.*s", (int)length, at);
    at += length;
  }
}

double history_time(const history *of, int row, int column, const lab_read_case *in) {
  int block = 0;
  double best = NAN;
  for (int key = 0; key < of->keys; key++)
    if (strcmp(of->columns[key], "block") == 0) block = (int)of->at[row][key];
  for (int i = 0; i < in->count; i++) {
    const lab_read_candidate *c = &in->candidates[i];
    if (c->good && !c->peer && strcmp(c->rung, of->columns[column]) == 0 &&
        (block == 0 || c->block == block) && !(best <= c->time.median))
      best = c->time.median;
  }
  return best;
}

/* How many of the columns a case has times of. */
static int times_in(const history *of, int row, const lab_read_case *in) {
  int count = 0;
  for (int column = of->keys; column < of->count; column++)
    count += !isnan(history_time(of, row, column, in));
  return count;
}

const lab_read_case *history_case(const history *of, int row, const lab_records *records,
                                  const lab_read_case *like) {
  char label[RUNG_LABEL] = "";
  const lab_read_case *best = NULL;
  int most = 0;
  label_of(of, row, label);
  for (int i = 0; i < records->count; i++) {
    const lab_read_case *found = &records->cases[i];
    if (strcmp(found->operation, of->operation) != 0 || strcmp(found->label, label) != 0 ||
        found->memory[0] != '\0' || !report_same_name(found, like))
      continue;
    const int count = times_in(of, row, found);
    if (best && (count < most || (count == most && strcmp(found->date, best->date) <= 0))) continue;
    best = found;
    most = count;
  }
  return best;
}
