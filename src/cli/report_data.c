/* Which records belong together, and what a page asks of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

void report_size_key(const lab_read_case *of, char key[REPORT_KEY]) {
  snprintf(key, REPORT_KEY, "%.*s", (int)strcspn(of->label, "= "), of->label);
}

double report_size(const lab_read_case *of) {
  const char *value = strchr(of->label, '=');
  return value ? strtod(value + 1, NULL) : 0;
}

/* Whether a word of a label, "m=1024", is an extent; and the length of its key with the '='. */
static bool is_extent(const char *word, size_t *key) {
  static const char *const extents[] = {"n=", "m=", "k=", "height=", "width="};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
    *key = strlen(extents[i]);
    if (strncmp(word, extents[i], *key) == 0) return true;
  }
  return false;
}

/* The label without the size, the first value, and without other extents that are the same. */
static void kind_of(const char *label, char kind[RUNG_LABEL]) {
  const char *size = label + strcspn(label, "=") + (strchr(label, '=') != NULL);
  const size_t length = strcspn(size, " ");
  size_t used = 0;
  for (const char *at = label; *at && used < RUNG_LABEL;) {
    const size_t word = strcspn(at, " ");
    size_t key = 0;
    const bool same =
        is_extent(at, &key) && word - key == length && strncmp(at + key, size, length) == 0;
    used += (size_t)snprintf(kind + used, RUNG_LABEL - used, "%.*s ", (int)(same ? key : word), at);
    at += word + (at[word] == ' ');
  }
  kind[used < RUNG_LABEL ? used : RUNG_LABEL - 1] = '\0';
}

static bool same_text(const json_t *a, const json_t *b, const char *key) {
  return strcmp(lab_read_text(a, key), lab_read_text(b, key)) == 0;
}

bool report_same_name(const lab_read_case *a, const lab_read_case *b) {
  return same_text(a->device, b->device, "backend") && same_text(a->device, b->device, "name");
}

bool report_same_place(const lab_read_case *a, const lab_read_case *b) {
  return strcmp(a->operation, b->operation) == 0 && same_text(a->device, b->device, "backend") &&
         same_text(a->device, b->device, "identity");
}

static bool same_kind(const lab_read_case *a, const lab_read_case *b) {
  char first[RUNG_LABEL + 8], second[RUNG_LABEL + 8];
  if (!report_same_place(a, b) || a->hot != b->hot || strcmp(a->memory, b->memory) != 0)
    return false;
  kind_of(a->label, first);
  kind_of(b->label, second);
  return strcmp(first, second) == 0;
}

int report_section_end(const report *r, int group) {
  int end = group + 1;
  while (end < r->count && report_same_place(r->groups[group].cases[0], r->groups[end].cases[0]))
    end++;
  return end;
}

/* Puts a new group behind the last of its operation and device. */
static report_group *add_group(report *r, const lab_read_case *of) {
  int at = r->count;
  while (at > 0 && !report_same_place(r->groups[at - 1].cases[0], of)) at--;
  if (at == 0) at = r->count;
  memmove(&r->groups[at + 1], &r->groups[at], (size_t)(r->count - at) * sizeof *r->groups);
  r->count++;
  r->groups[at].count = 0;
  return &r->groups[at];
}

rung_status report_begin(report *r, const lab_records *records, rung_error *error) {
  *r = (report){.records = records, .error = error};
  r->groups = calloc((size_t)records->count + 1, sizeof *r->groups);
  if (!r->groups) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the report");
  for (int i = 0; i < records->count; i++) {
    const lab_read_case *of = &records->cases[i];
    report_group *to = NULL;
    for (int g = 0; g < r->count && !to; g++)
      if (r->groups[g].count < REPORT_SIZES && same_kind(r->groups[g].cases[0], of))
        to = &r->groups[g];
    if (!to) to = add_group(r, of);
    to->cases[to->count++] = of;
    for (int k = 0; k < of->count; k++) r->samples += of->candidates[k].count;
  }
  return RUNG_OK;
}

void report_end(report *r) {
  free(r->groups);
  r->groups = NULL;
}

int report_rungs(const lab_read_case *of, const lab_read_candidate *rungs[REPORT_RUNGS]) {
  int count = 0;
  for (int i = 0; i < of->count; i++) {
    const lab_read_candidate *c = &of->candidates[i];
    int k = 0;
    while (k < count && strcmp(rungs[k]->rung, c->rung) != 0) k++;
    if (k == REPORT_RUNGS) continue;
    if (k == count)
      rungs[count++] = c;
    else if (c->good && (!rungs[k]->good || c->time.median < rungs[k]->time.median))
      rungs[k] = c;
  }
  return count;
}

const lab_read_candidate *report_rung(const lab_read_case *of, const char *name) {
  const lab_read_candidate *rungs[REPORT_RUNGS];
  const int count = report_rungs(of, rungs);
  for (int k = 0; k < count; k++)
    if (strcmp(rungs[k]->rung, name) == 0) return rungs[k];
  return NULL;
}

int report_names(const report_group *group, const char *names[REPORT_RUNGS]) {
  int count = 0;
  for (int i = 0; i < group->count; i++) {
    const lab_read_candidate *rungs[REPORT_RUNGS];
    const int found = report_rungs(group->cases[i], rungs);
    for (int k = 0; k < found; k++) {
      int at = 0;
      while (at < count && strcmp(names[at], rungs[k]->rung) != 0) at++;
      if (at == count && count < REPORT_RUNGS && rungs[k]->good) names[count++] = rungs[k]->rung;
    }
  }
  return count;
}

const lab_read_case *report_largest(const report_group *group) {
  const lab_read_case *largest = group->cases[0];
  for (int i = 1; i < group->count; i++)
    if (report_size(group->cases[i]) >= report_size(largest)) largest = group->cases[i];
  return largest;
}

bool report_is_sweep(const report_group *group) {
  const double first = report_size(group->cases[0]);
  for (int i = 1; i < group->count; i++)
    if (report_size(group->cases[i]) != first) return true;
  return false;
}

double report_gain(const lab_read_case *of) {
  const lab_read_candidate *rungs[REPORT_RUNGS], *best = lab_read_best(of);
  const int count = report_rungs(of, rungs);
  for (int k = 0; k < count && best; k++)
    if (rungs[k]->good && !rungs[k]->peer) return rungs[k]->time.median / best->time.median;
  return NAN;
}

const char *report_device(const lab_read_case *of) {
  return lab_read_text(of->device, "name");
}
