/* What explain and timeline saw: counts, of the simulator and of the hardware side by side, and
 * pictures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/look.h"
#include "cli/report.h"
#include "cli/trace.h"

/* As the command's own table has them. */
static const char *const headings[FIGURES] = {
    [FIGURE_LAUNCHES] = "launches",
    [FIGURE_LOADS] = "loads",
    [FIGURE_STORES] = "stores",
    [FIGURE_SECTORS] = "sectors",
    [FIGURE_SECTORS_PER_REQUEST] = "sectors a request",
    [FIGURE_IDEAL_SECTORS] = "ideal",
    [FIGURE_EFFICIENCY] = "efficiency",
    [FIGURE_ACCESSES] = "accesses",
    [FIGURE_SHARED] = "shared",
    [FIGURE_CONFLICTS] = "conflicts",
    [FIGURE_ATOMICS] = "atomics",
    [FIGURE_ATOMIC_DEPTH] = "deepest",
    [FIGURE_DIVERGENCE] = "diverged",
    [FIGURE_BRANCHES] = "branches",
    [FIGURE_BARRIERS] = "barriers",
    [FIGURE_SHUFFLES] = "shuffles",
    [FIGURE_FLOPS] = "flops",
    [FIGURE_FLOPS_PER_ACCESS] = "flops an access",
    [FIGURE_FLOPS_PER_BYTE] = "flops a byte",
};

/* ---- pictures ----------------------------------------------------------------------------- */

/* What all of them share. */
static void put_style(const report *r) {
  fputs(
      "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" style=\"position:absolute\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n",
      r->to);
  explain_put_style(r->to);
  fputs(timeline_style, r->to);
  fputs("</svg>\n", r->to);
}

/* As wide as it is: it scrolls. */
static void begin_picture(report *r, const char *title, char id[32]) {
  if (r->pictures++ == 0) put_style(r);
  snprintf(id, 32, "picture-%02d", r->pictures);
  fputs("<figure><div class=\"t\" role=\"group\" tabindex=\"0\" aria-label=\"", r->to);
  html_text(r, title);
  fputs("\">", r->to);
}

static void end_picture(const report *r, const char *title) {
  fputs("</div><figcaption>", r->to);
  html_text(r, title);
  fputs("</figcaption></figure>\n", r->to);
}

static void put_details(const report *r, const char *summary, const char *columns,
                        const char *text) {
  fprintf(r->to, "<details><summary>%s</summary><pre>%s\n", summary, columns);
  for (const char *at = text; *at;) { /* a line feed is none of XML's words */
    char line[1024];
    const size_t length = strcspn(at, "\n");
    snprintf(line, sizeof line, "%.*s", (int)length, at);
    html_text(r, line);
    fputc('\n', r->to);
    at += length + (at[length] == '\n');
  }
  fputs("</pre></details>\n", r->to);
}

static rung_status put_steps(report *r, const look_counts *of, const look_rung *rung) {
  char id[32], title[RUNG_LABEL + 128], *text = NULL;
  size_t length = 0;
  FILE *words = open_memstream(&text, &length);
  if (!words) return rung_fail(r->error, RUNG_OUT_OF_MEMORY, "no memory for a picture");
  snprintf(title, sizeof title, "%.30s, rung %.30s: %.150s", of->operation, rung->name, rung->job);
  begin_picture(r, title, id);
  rung_status status = explain_draw(r->to, &rung->profile, title, rung->idea, id, words, r->error);
  end_picture(r, title);
  if (fclose(words) != 0 && !status)
    status = rung_fail(r->error, RUNG_OUT_OF_MEMORY, "no memory for a picture");
  if (!status) put_details(r, "Every step, as text", "step,what,where,each warp", text);
  free(text);
  return status;
}

/* ---- counts ------------------------------------------------------------------------------- */

static bool same_job(const look_counts *a, const look_counts *b) {
  return strcmp(a->operation, b->operation) == 0 && strcmp(a->job, b->job) == 0;
}

static bool is_sim(const look_counts *of) {
  return strncmp(of->device, "sim", 3) == 0; /* and sim:h200 */
}

/* The rung in another file of the same job; NULL: it is not there. */
static const look_rung *rung_in(const look_counts *in, const look_rung *like) {
  for (int k = 0; k < in->count; k++)
    if (strcmp(in->rungs[k].name, like->name) == 0 && in->rungs[k].block == like->block &&
        strcmp(in->rungs[k].job, like->job) == 0)
      return &in->rungs[k];
  return NULL;
}

/* Whether the hardware counted something else than the simulator. */
static bool differs(double sim, double found) {
  return !isnan(sim) && !isnan(found) && fabs(sim - found) > 0.02 * fmax(sim, found);
}

static void put_row(const report *r, const look_counts *of, const look_rung *rung,
                    const look_rung *simulated) {
  char text[32];
  html_row(r, rung->name);
  html_cell_text(r, of->device);
  html_cell(r, rung->block > 0 ? rung->block : NAN);
  for (int i = 0; i < FIGURES; i++) {
    const bool other =
        simulated && !is_sim(of) && differs(simulated->figures.at[i], rung->figures.at[i]);
    fputs(other ? "<td><b>" : "<td>", r->to);
    html_text(r, explain_figure_text(&rung->figures, (explain_figure)i, text));
    fputs(other ? "</b></td>" : "</td>", r->to);
  }
  fputs("<td class=\"w\">", r->to);
  html_text(r, rung->finding);
  fputs(rung->reason[0] ? ": " : "", r->to);
  html_text(r, rung->reason);
  fputs(strcmp(rung->job, of->job) == 0 ? "" : ", of ", r->to);
  html_text(r, strcmp(rung->job, of->job) == 0 ? "" : rung->job);
  fputs("</td></tr>\n", r->to);
}

/* The rung's rows of this file and those behind it, unless one before it has had them. */
static void put_rung(const report *r, int first, int file, const look_rung *rung) {
  const look_counts *all = r->looks->counts;
  const look_rung *simulated = NULL;
  for (int f = first; f < file; f++)
    if (same_job(&all[f], &all[file]) && rung_in(&all[f], rung)) return;
  for (int f = file; f < r->looks->counted && !simulated; f++)
    if (same_job(&all[f], &all[file]) && is_sim(&all[f])) simulated = rung_in(&all[f], rung);
  for (int f = file; f < r->looks->counted; f++) {
    const look_rung *found = same_job(&all[f], &all[file]) ? rung_in(&all[f], rung) : NULL;
    if (found) put_row(r, &all[f], found, simulated);
  }
}

static void put_table(const report *r, int first) {
  const look_counts *all = r->looks->counts;
  char columns[512] = "rung|device|#block|";
  size_t used = strlen(columns);
  for (int i = 0; i < FIGURES; i++)
    used += (size_t)snprintf(columns + used, sizeof columns - used, "#%s|", headings[i]);
  snprintf(columns + used, sizeof columns - used, "verdict");
  html_table(r, all[first].job, columns);
  for (int f = first; f < r->looks->counted; f++)
    for (int k = 0; k < all[f].count && same_job(&all[f], &all[first]); k++)
      put_rung(r, first, f, &all[f].rungs[k]);
  html_table_end(r);
}

static void put_meaning(const report *r, const look_counts *of, const look_rung *rung) {
  if (json_array_size(rung->meaning) == 0) return;
  fputs("<li><code>", r->to);
  html_text(r, rung->name);
  fputs("</code> on ", r->to);
  html_text(r, of->device);
  fputc(':', r->to);
  for (size_t i = 0; i < json_array_size(rung->meaning); i++) {
    const char *sentence = json_string_value(json_array_get(rung->meaning, i));
    fputc(' ', r->to);
    html_text(r, sentence ? sentence : "");
  }
  fputs("</li>\n", r->to);
}

static rung_status put_counts(report *r, int first) {
  const look_counts *all = r->looks->counts;
  rung_status status = RUNG_OK;
  fputs("<section><h2>", r->to);
  html_text(r, all[first].operation);
  fputs(
      ": what its kernels did</h2>\n<p>Counts of the simulated GPU and of hardware, one above "
      "the other. Bold: of hardware, more than 2 % off the simulator's.</p>\n",
      r->to);
  put_table(r, first);
  fputs("<ul>\n", r->to);
  for (int f = first; f < r->looks->counted; f++)
    for (int k = 0; k < all[f].count && same_job(&all[f], &all[first]); k++)
      put_meaning(r, &all[f], &all[f].rungs[k]);
  fputs("</ul>\n", r->to);
  for (int f = first; f < r->looks->counted; f++)
    for (int k = 0; k < all[f].count && same_job(&all[f], &all[first]) && !status; k++)
      if (all[f].rungs[k].profile.count > 0) status = put_steps(r, &all[f], &all[f].rungs[k]);
  fputs("</section>\n", r->to);
  return status;
}

/* ---- times -------------------------------------------------------------------------------- */

static void put_figure(const report *r, const char *name, double value) {
  html_row(r, name);
  html_cell(r, value);
  fputs("</tr>\n", r->to);
}

static void put_figures(const report *r, const look_times *of) {
  const lab_timeline_figures *f = &of->figures;
  html_table(
      r, strcmp(of->unit, "ns") == 0 ? "Times in nanoseconds" : "Times in steps of the simulator",
      "what|#value");
  put_figure(r, "blocks", (double)of->timeline.count);
  put_figure(r, "from the first start to the last end", (double)f->span);
  put_figure(r, "a block: least", f->lasted.min);
  put_figure(r, "a block: median", f->lasted.median);
  put_figure(r, "a block: most", f->lasted.max);
  put_figure(r, "blocks at one time, at most", (double)f->at_once);
  put_figure(r, "multiprocessors that ran one", (double)f->processors);
  put_figure(r, "blocks each, at least", (double)f->least);
  put_figure(r, "blocks each, at most", (double)f->most);
  put_figure(r, "the times' own step", (double)f->tick);
  html_table_end(r);
}

static void put_blocks(const report *r, const look_times *of) {
  fprintf(r->to,
          "<details><summary>Every block</summary><pre>block,multiprocessor,start_%s,end_%s\n",
          of->unit, of->unit);
  for (int64_t i = 0; i < of->timeline.count; i++) {
    const rung_block_time *b = &of->timeline.blocks[i];
    fprintf(r->to, "%lld,%llu,%llu,%llu\n", (long long)i, (unsigned long long)b->processor,
            (unsigned long long)(b->start - of->figures.first),
            (unsigned long long)(b->end - of->figures.first));
  }
  fputs("</pre></details>\n", r->to);
}

static rung_status put_times(report *r, const look_times *of) {
  char id[32], title[RUNG_LABEL + 128];
  snprintf(title, sizeof title, "%.30s, rung %.30s, %.150s; times in %s", of->operation, of->rung,
           of->job, of->unit);
  fputs("<section><h2>", r->to);
  html_text(r, of->operation);
  fputs(" on ", r->to);
  html_text(r, of->device);
  fputs(": when its blocks ran</h2>\n", r->to);
  begin_picture(r, title, id);
  rung_status status =
      timeline_draw(r->to, &of->timeline, &of->figures, of->unit, title, id, r->error);
  end_picture(r, title);
  put_figures(r, of);
  put_blocks(r, of);
  fputs("</section>\n", r->to);
  return status;
}

rung_status report_looks(report *r) {
  rung_status status = RUNG_OK;
  for (int f = 0; r->looks && f < r->looks->counted && !status; f++) {
    bool had = false;
    for (int e = 0; e < f && !had; e++) had = same_job(&r->looks->counts[e], &r->looks->counts[f]);
    if (!had) status = put_counts(r, f);
  }
  for (int i = 0; r->looks && i < r->looks->timed && !status; i++)
    status = put_times(r, &r->looks->times[i]);
  return status;
}
