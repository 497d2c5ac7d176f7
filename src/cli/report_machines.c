/* On what devices, by what commits, builds and commands. What several of them share is said once,
 * for a page of many records would be full of it. */
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

static bool same_text(const json_t *a, const json_t *b, const char *key) {
  return strcmp(lab_read_text(a, key), lab_read_text(b, key)) == 0;
}

static bool same_device(const lab_read_case *a, const lab_read_case *b) {
  return same_text(a->device, b->device, "identity");
}

static bool same_commit(const lab_read_case *a, const lab_read_case *b) {
  return same_text(a->provenance, b->provenance, "version") &&
         same_text(a->provenance, b->provenance, "commit");
}

/* The first case before `end` that is like one; `end`: there is none. */
static int first_of(const report *r, int end,
                    bool (*like)(const lab_read_case *, const lab_read_case *)) {
  const lab_read_case *cases = r->records->cases;
  for (int i = 0; i < end; i++)
    if (like(&cases[i], &cases[end])) return i;
  return end;
}

/* ---- a device ------------------------------------------------------------------------------- */

/* What is known of it; of a device whose name was said before, what is different of it. */
static void say_facts(const report *r, const lab_read_case *of, const lab_read_case *named) {
  const json_t *facts = json_object_get(of->device, "facts"),
               *known = named == of ? NULL : json_object_get(named->device, "facts");
  const char *key;
  json_t *value;
  fprintf(
      r->to, "<details><summary>%s</summary><dl>",
      known ? "What is different from the first of this name" : "All that is known of the device");
  json_object_foreach(
      (json_t *)facts, key,
      value) if (json_is_string(value) && !json_equal(value, json_object_get(known, key)))
      html_term(r, key, json_string_value(value));
  fputs("</dl></details>\n", r->to);
}

/* ---- commits and builds --------------------------------------------------------------------- */

/* What makes a build another, or its system. */
static const char *const keys[] = {"build",  "compiler", "cuda", "system",
                                   "kernel", "machine",  "flags"};
enum { KEYS = sizeof keys / sizeof *keys };

static bool same_build(const lab_read_case *a, const lab_read_case *b) {
  for (int i = 0; i < KEYS; i++)
    if (!same_text(a->provenance, b->provenance, keys[i])) return false;
  return true;
}

/* The builds so far, each by a case of it. */
typedef struct builds {
  const lab_read_case **cases;
  int count;
} builds;

/* The number of a case's build, from 1 on. */
static int number_of(builds *all, const lab_read_case *of) {
  int at = 0;
  while (at < all->count && !same_build(all->cases[at], of)) at++;
  if (at == all->count) all->cases[all->count++] = of;
  return at + 1;
}

/* A row of a commit's first case on a device. */
static void commit_row(const report *r, const lab_read_case *of, builds *all) {
  const char *commit = lab_read_text(of->provenance, "commit");
  html_row(r, commit[0] ? commit : "-");
  html_cell_text(r, lab_read_text(of->provenance, "version"));
  html_cell(r, number_of(all, of));
  html_cell_text(r, of->date);
  fputs("<td class=\"w j\">", r->to);
  html_text(r, lab_read_text(of->provenance, "command"));
  fputs("</td></tr>\n", r->to);
}

static void say_commits(const report *r, int first, builds *all) {
  const lab_read_case *cases = r->records->cases;
  html_table(r, "Commits that were measured there", "commit|version|#build|first measured|command");
  for (int i = first; i < r->records->count; i++) {
    bool had = false;
    if (!same_device(&cases[i], &cases[first])) continue;
    for (int k = first; k < i && !had; k++)
      had = same_device(&cases[k], &cases[i]) && same_commit(&cases[k], &cases[i]);
    if (!had) commit_row(r, &cases[i], all);
  }
  html_table_end(r);
}

static void say_builds(const report *r, const builds *all) {
  char number[32];
  html_table(r, "Builds", "number|build|compiler|CUDA|system|kernel|machine|flags");
  for (int i = 0; i < all->count; i++) {
    snprintf(number, sizeof number, "%d", i + 1);
    html_row(r, number);
    for (int k = 0; k < KEYS; k++)
      html_cell_text(r, lab_read_text(all->cases[i]->provenance, keys[k]));
    fputs("</tr>\n", r->to);
  }
  html_table_end(r);
}

rung_status report_machines(const report *r) {
  const lab_read_case *cases = r->records->cases;
  builds all = {calloc((size_t)r->records->count + 1, sizeof *all.cases), 0};
  if (!all.cases) return rung_fail(r->error, RUNG_OUT_OF_MEMORY, "no memory for the report");
  fputs("<section id=\"machines\"><h2>Machine and provenance</h2>\n", r->to);
  for (int i = 0; i < r->records->count; i++) {
    if (first_of(r, i, same_device) < i) continue;
    fputs("<h3>", r->to);
    html_text(r, report_device(&cases[i]));
    fputs("</h3>\n<dl>", r->to);
    html_term(r, "device", lab_read_text(cases[i].device, "backend"));
    html_term(r, "identity", lab_read_text(cases[i].device, "identity"));
    fputs("</dl>\n", r->to);
    say_commits(r, i, &all);
    say_facts(r, &cases[i], &cases[first_of(r, i, report_same_name)]);
  }
  say_builds(r, &all);
  fputs("</section>\n", r->to);
  free(all.cases);
  return RUNG_OK;
}
