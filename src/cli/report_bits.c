/* Whether results are the same everywhere: a matrix of jobs and devices. */
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

static bool same_job(const lab_read_case *a, const lab_read_case *b) {
  return strcmp(a->operation, b->operation) == 0 && strcmp(a->label, b->label) == 0 &&
         strcmp(a->seed, b->seed) == 0;
}

static bool has_bits(const lab_read_candidate *c) {
  return c->good && c->bits && !c->peer && strcmp(c->order, "canonical") == 0;
}

static bool case_has_bits(const lab_read_case *of) {
  for (int k = 0; k < of->count; k++)
    if (has_bits(&of->candidates[k])) return true;
  return false;
}

/* The devices of such cases, a case for each name; how many. */
static int devices_of(const report *r, const lab_read_case **devices) {
  int count = 0;
  for (int i = 0; i < r->records->count; i++) {
    const lab_read_case *of = &r->records->cases[i];
    int at = 0;
    while (at < count && !report_same_name(devices[at], of)) at++;
    if (at == count && case_has_bits(of)) devices[count++] = of;
  }
  return count;
}

/* Rungs, each once for every result that it has. */
typedef struct tally {
  const lab_read_candidate *rungs[REPORT_RUNGS];
  int count;
} tally;

static void add(tally *to, const lab_read_candidate *c) {
  for (int i = 0; i < to->count; i++)
    if (strcmp(to->rungs[i]->rung, c->rung) == 0 && strcmp(to->rungs[i]->bits, c->bits) == 0)
      return;
  if (to->count < REPORT_RUNGS) to->rungs[to->count++] = c;
}

/* Those of a job, whose first case it is, on devices of one name. */
static void rungs_of(const report *r, int first, const lab_read_case *device, tally *to) {
  const lab_read_case *cases = r->records->cases;
  to->count = 0;
  for (int i = first; i < r->records->count; i++) {
    if (!same_job(&cases[i], &cases[first]) || !report_same_name(&cases[i], device)) continue;
    for (int k = 0; k < cases[i].count; k++)
      if (has_bits(&cases[i].candidates[k])) add(to, &cases[i].candidates[k]);
  }
}

/* "same: lanes, threads; DIFFERENT: shuffle", or "-" where none was measured. */
static void put_mark(const report *r, const tally *of, const char *bits) {
  fputs("<td class=\"w\">", r->to);
  if (of->count == 0) fputc('-', r->to);
  for (int other = 0, said = 0; other < 2; other++)
    for (int i = 0, more = 0; i < of->count; i++) {
      if ((strcmp(of->rungs[i]->bits, bits) != 0) != other) continue;
      if (more++ > 0)
        fputs(", ", r->to);
      else
        fprintf(r->to, "%s%s", said++ ? "; " : "",
                other ? "<strong>DIFFERENT</strong>: " : "same: ");
      html_text(r, of->rungs[i]->rung);
    }
  fputs("</td>", r->to);
}

/* How many results a job has, and the bits of the first. */
static int results_of(const report *r, int first, const char **bits) {
  const lab_read_case *cases = r->records->cases;
  int count = 0;
  for (int i = first; i < r->records->count; i++)
    for (int k = 0; k < cases[i].count && same_job(&cases[i], &cases[first]); k++) {
      if (!has_bits(&cases[i].candidates[k])) continue;
      if (count++ == 0) *bits = cases[i].candidates[k].bits;
    }
  return count;
}

/* The row of a job, where a case is its first and there is more than one result. */
static void bits_row(const report *r, int first, const lab_read_case *const *devices, int count) {
  const lab_read_case *cases = r->records->cases;
  const char *bits = "";
  tally rungs;
  for (int i = 0; i < first; i++)
    if (same_job(&cases[i], &cases[first])) return;
  if (results_of(r, first, &bits) < 2) return;
  html_row(r, cases[first].operation);
  html_cell_text(r, cases[first].label);
  for (int d = 0; d < count; d++) {
    rungs_of(r, first, devices[d], &rungs);
    put_mark(r, &rungs, bits);
  }
  html_cell_text(r, bits);
  fputs("</tr>\n", r->to);
}

rung_status report_bits(const report *r) {
  const lab_read_case **devices = calloc((size_t)r->records->count + 1, sizeof *devices);
  if (!devices) return rung_fail(r->error, RUNG_OUT_OF_MEMORY, "no memory for the report");
  const int count = devices_of(r, devices);
  if (count > 0) {
    fputs(
        "<section id=\"bits\"><h2>The same bits</h2>\n"
        "<p>Of each job the canonical rungs that were measured on a device, and whether their "
        "results have the bits of the first of all, whose hash is in the last column. A dash: "
        "none was measured there.</p>\n",
        r->to);
    html_table_begin(r, "Jobs by devices");
    html_column(r, "operation", false);
    html_column(r, "job", false);
    for (int d = 0; d < count; d++) html_column(r, report_device(devices[d]), false);
    html_column(r, "hash", false);
    html_columns_end(r);
    for (int i = 0; i < r->records->count; i++) bits_row(r, i, devices, count);
    html_table_end(r);
    fputs("</section>\n", r->to);
  }
  free(devices);
  return RUNG_OK;
}
