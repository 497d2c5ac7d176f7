/* Whether results are the same everywhere: jobs by devices. */
#include <string.h>

#include "cli/report.h"

static bool same_job(const lab_read_case *a, const lab_read_case *b) {
  return strcmp(a->operation, b->operation) == 0 && strcmp(a->label, b->label) == 0 &&
         strcmp(a->seed, b->seed) == 0;
}

static bool has_bits(const lab_read_candidate *c) {
  return c->good && c->bits && !c->peer && strcmp(c->order, "canonical") == 0;
}

/* A row of a job's canonical rungs, on all devices; where it is the first of the job. */
static void bits_row(const report *r, int first) {
  const lab_read_case *cases = r->records->cases, *of = &cases[first];
  const char *bits = NULL;
  int rungs = 0, devices = 0;
  bool same = true;
  for (int i = 0; i < first; i++)
    if (same_job(&cases[i], of)) return;
  for (int i = first; i < r->records->count; i++) {
    const int before = rungs;
    for (int k = 0; k < cases[i].count && same_job(&cases[i], of); k++) {
      const lab_read_candidate *c = &cases[i].candidates[k];
      if (!has_bits(c)) continue;
      if (!bits) bits = c->bits;
      same = same && strcmp(bits, c->bits) == 0;
      rungs++;
    }
    devices += rungs > before;
  }
  if (rungs < 2) return;
  html_row(r, of->operation);
  html_cell_text(r, of->label);
  html_cell(r, rungs);
  html_cell(r, devices);
  html_cell_text(r, same ? "the same" : "DIFFERENT");
  html_cell_text(r, bits);
  fputs("</tr>\n", r->to);
}

void report_bits(const report *r) {
  bool any = false;
  for (int i = 0; i < r->records->count && !any; i++)
    for (int k = 0; k < r->records->cases[i].count; k++)
      any = any || has_bits(&r->records->cases[i].candidates[k]);
  if (!any) return;
  fputs("<section id=\"bits\"><h2>The same bits</h2>\n", r->to);
  html_table(r, "Results of the canonical rungs", "operation|job|#rungs|#records|bits|hash");
  for (int i = 0; i < r->records->count; i++) bits_row(r, i);
  html_table_end(r);
  fputs("</section>\n", r->to);
}
