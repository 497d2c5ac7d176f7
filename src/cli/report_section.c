/* The sections of an operation on a device: charts, and a table behind each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/rows.h"

/* ---- charts ------------------------------------------------------------------------------- */

/* The same chart as a file of r->plots. */
static rung_status keep(report *r, plot *chart, plot_kind kind, const char *name,
                        const char *ending) {
  char path[4096], *image = NULL;
  size_t length = 0;
  file_replace file = {0};
  if (snprintf(path, sizeof path, "%s/%s.%s", r->plots, name, ending) >= (int)sizeof path)
    return rung_fail(r->error, RUNG_FILE_FAILED, "--plots '%.60s...' is too long", r->plots);
  rung_status status = plot_draw(chart, kind, name, &image, &length, r->error);
  if (!status) status = file_replace_begin(&file, path, r->error);
  if (!status) {
    fwrite(image, 1, length, file.stream);
    status = file_replace_commit(&file, r->error);
  }
  free(image);
  return status;
}

/* A chart that was begun and described: into the page, and the folder. What gnuplot cannot draw is
 * said; the table has it all the same. */
rung_status report_chart(report *r, plot *chart, const char *kind) {
  char name[64], *image = NULL;
  size_t length = 0;
  snprintf(name, sizeof name, "chart-%02d-%s", ++r->drawn, kind);
  rung_status status = plot_draw(chart, PLOT_INLINE, name, &image, &length, r->error);
  if (status == RUNG_FILE_FAILED) {
    fputs("<p>gnuplot could not draw this chart; the table has its numbers.</p>\n", r->to);
    *r->error = (rung_error){0};
    plot_end(chart);
    return RUNG_OK;
  }
  if (!status) {
    fputs("<figure>", r->to);
    fwrite(image, 1, length, r->to);
    fputs("<figcaption>", r->to);
    html_text(r, chart->title);
    fputs("</figcaption></figure>\n", r->to);
  }
  free(image);
  if (!status && r->plots) status = keep(r, chart, PLOT_SVG, name, "svg");
  if (!status && r->plots) status = keep(r, chart, PLOT_PNG, name, "png");
  if (!status && r->plots) status = keep(r, chart, PLOT_PDF, name, "pdf");
  plot_end(chart);
  return status;
}

bool report_chart_begin(report *r, plot *chart, rung_status *status) {
  if (!*status && r->charts) *status = plot_begin(chart, 760, 320, r->error);
  return !*status && r->charts;
}

/* ---- an operation on a device ------------------------------------------------------------- */

/* How many launches, and how far their medians are apart; of a job that has some. */
static void put_launches(const report *r, const lab_read_candidate *c) {
  char text[64] = "-";
  if (c->launches > 1)
    snprintf(text, sizeof text, "%d, %.1f %% apart", c->launches, 100 * c->apart);
  else if (c->launches == 1)
    snprintf(text, sizeof text, "1");
  html_cell_text(r, text);
}

/* Why a rung is slower than the one below it, where that is known. */
static void put_slower(const report *r, const lab_read_case *of, const lab_read_candidate *c) {
  const bool gpu = strcmp(lab_read_text(of->device, "backend"), "cuda") == 0;
  const char *why = cli_slower(of->operation, c->rung, gpu ? "gpu" : "cpu");
  if (!why) return;
  fputs("; on an H200 ", r->to);
  html_text(r, why);
}

/* Whether a table of a group before this one of the section has the rung, and its idea. */
static bool said_above(const report_group *groups, int g, const lab_read_candidate *c) {
  for (int k = 0; k < g; k++)
    if (report_rung(report_largest(&groups[k]), c->rung)) return true;
  return false;
}

static void ladder_row(const report *r, const lab_read_case *of, const lab_read_candidate *c,
                       bool said, double below) {
  char room[32], range[96], least[32], interval[96];
  html_row(r, c->rung);
  fputs("<td class=\"w i\">", r->to);
  html_text(r, c->peer ? c->peer : said ? "as above" : c->idea);
  if (c->good && !c->peer && below < c->time.median) put_slower(r, of, c);
  fputs("</td>", r->to);
  html_cell_text(r, c->peer ? "peer" : c->order);
  html_cell(r, c->block > 0 ? c->block : NAN);
  html_cell(r, c->time.median);
  snprintf(range, sizeof range, "[%s, %s]", html_number(c->time.min, least),
           html_number(c->time.q3, room));
  snprintf(interval, sizeof interval, "[%s, %s]", html_number(c->time.low, least),
           html_number(c->time.high, room));
  fprintf(r->to, "<td>%s</td><td>%s</td>", c->count > 0 ? range : "-",
          c->time.high > 0 ? interval : "-");
  if (of->launches > 0) put_launches(r, c);
  html_cell(r, c->good && !c->peer ? below / c->time.median : NAN);
  html_cell(r, c->good ? of->bytes / c->time.median * 1e-6 : NAN);
  html_cell(r, c->good && of->flops > 0 ? of->flops / c->time.median * 1e-6 : NAN);
  html_cell(r, c->peer && c->program ? NAN : 100 * lab_read_part(of, c));
  fprintf(r->to, "<td class=\"%s\">",
          c->good                                  ? "w"
          : strcmp(c->finding, "unsupported") == 0 ? "w i"
                                                   : "w i bad");
  html_text(r, c->finding);
  fputs(c->sentence[0] ? ": " : "", r->to);
  html_text(r, c->sentence);
  fputs("</td></tr>\n", r->to);
}

/* What the peak is, as its formula. */
static void say_peak(const report *r, const lab_read_case *of) {
  char room[32], rate[32];
  if (isnan(of->peak_ms)) {
    fputs("<p>No peak was measured.</p>\n", r->to);
    return;
  }
  const bool arithmetic = of->peak_level[0] == '\0';
  fprintf(r->to, "<p>Peak: %s ms = ", html_number(of->peak_ms, room));
  if (arithmetic)
    fprintf(r->to, "%s operations / 2 / ", html_number(of->flops, room));
  else
    fprintf(r->to, "%s bytes / ", html_number(of->bytes, room));
  fprintf(r->to, "%s %s (", html_number(report_rate(of, of->peak_level, of->peak_bound), rate),
          arithmetic ? "G multiply-adds a second" : "GB/s");
  html_text(r, of->peak_level);
  fputs(arithmetic ? "" : " ", r->to);
  html_text(r, of->peak_bound);
  fputs(", measured on this device); caches ", r->to);
  html_text(r, of->caches);
  fputs(".</p>\n", r->to);
}

static rung_status put_ladder(report *r, const report_group *groups, int g) {
  const lab_read_case *of = report_largest(&groups[g]);
  rung_status status = RUNG_OK;
  plot chart;
  if (report_draws_ladder(r, of) && report_chart_begin(r, &chart, &status)) {
    report_ladder(&chart, of);
    status = report_chart(r, &chart, "ladder");
  }
  const lab_read_candidate *rungs[REPORT_RUNGS];
  const int count = report_rungs(of, rungs);
  double below = NAN;
  html_table(r, of->label,
             of->launches > 0 ? "rung|idea|order|#block|#ms|[min, q3]|95 %|launches|#gain|#GB/s|"
                                "#GFLOP/s|#% of peak|verdict"
                              : "rung|idea|order|#block|#ms|[min, q3]|95 %|#gain|#GB/s|#GFLOP/s|"
                                "#% of peak|verdict");
  for (int k = 0; k < count; k++) {
    ladder_row(r, of, rungs[k], said_above(groups, g, rungs[k]), below);
    if (rungs[k]->good && !rungs[k]->peer) below = rungs[k]->time.median;
  }
  html_table_end(r);
  say_peak(r, of);
  return status;
}

static rung_status put_sizes(report *r, const report_group *group) {
  const char *names[REPORT_RUNGS];
  const int count = report_names(group, names);
  rung_status status = RUNG_OK;
  char key[REPORT_KEY];
  plot chart;
  if (!report_is_sweep(group) || count == 0) return RUNG_OK;
  if (report_chart_begin(r, &chart, &status)) {
    report_sizes(&chart, group);
    status = report_chart(r, &chart, "sizes");
  }
  html_table_begin(r, "Time over size: medians in milliseconds");
  report_size_key(group->cases[0], key);
  html_column(r, key, true);
  html_column(r, "peak", true);
  for (int k = 0; k < count; k++) html_column(r, names[k], true);
  html_columns_end(r);
  for (int i = 0; i < group->count; i++) {
    fprintf(r->to, "<tr><th scope=\"row\" class=\"n\">%.0f</th>", report_size(group->cases[i]));
    html_cell(r, group->cases[i]->peak_ms);
    for (int k = 0; k < count; k++) {
      const lab_read_candidate *c = report_rung(group->cases[i], names[k]);
      html_cell(r, c && c->good ? c->time.median : NAN);
    }
    fputs("</tr>\n", r->to);
  }
  html_table_end(r);
  return status;
}

static rung_status put_blocks(report *r, const lab_read_case *of) {
  rung_status status = RUNG_OK;
  plot chart;
  if (!report_draws_blocks(of)) return RUNG_OK;
  if (report_chart_begin(r, &chart, &status)) {
    report_blocks(&chart, of);
    status = report_chart(r, &chart, "blocks");
  }
  html_table(r, "Block sizes", "rung|#threads a block|#ms|verdict");
  for (int i = 0; i < of->count; i++) {
    const lab_read_candidate *c = &of->candidates[i];
    if (c->block == 0) continue;
    html_row(r, c->rung);
    html_cell(r, c->block);
    html_cell(r, c->time.median);
    html_cell_text(r, c->finding);
    fputs("</tr>\n", r->to);
  }
  html_table_end(r);
  return status;
}

static void put_case_samples(const report *r, const lab_read_case *of) {
  char room[32];
  html_text(r, of->label);
  fputc('\n', r->to);
  for (int k = 0; k < of->count; k++) {
    if (of->candidates[k].count == 0) continue;
    html_text(r, of->candidates[k].rung);
    fprintf(r->to, ",%d", of->candidates[k].block);
    for (int s = 0; s < of->candidates[k].count; s++)
      fprintf(r->to, ",%s", html_number(1000 * of->candidates[k].samples[s], room));
    fputc('\n', r->to);
  }
}

/* As text that a spreadsheet takes: most are below a millisecond. A page of many records has those
 * alone that a section's chart shows, so that it stays within 2 MB: the others are in the records.
 */
static void put_samples(const report *r, const report_group *groups, int count) {
  const bool all = r->samples <= REPORT_SAMPLES;
  fprintf(r->to, "<details><summary>Every sample%s, in microseconds</summary><pre>",
          all ? "" : " of the first ladder");
  for (int g = 0; g < count; g++)
    for (int i = 0; i < groups[g].count; i++)
      if (all || groups[g].cases[i] == report_largest(&groups[0]))
        put_case_samples(r, groups[g].cases[i]);
  fputs("</pre></details>\n", r->to);
}

static rung_status put_group(report *r, const report_group *groups, int g) {
  rung_status status = put_ladder(r, groups, g);
  if (!status) status = put_sizes(r, &groups[g]);
  if (!status) status = put_blocks(r, report_largest(&groups[g]));
  return status;
}

static const char *command_of(const report_group *group) {
  return lab_read_text(report_largest(group)->provenance, "command");
}

/* What repeats the groups so far: said behind the last of those that one command has measured. */
static void put_command(const report *r, const report_group *groups, int g, int count) {
  if (g + 1 < count && strcmp(command_of(&groups[g]), command_of(&groups[g + 1])) == 0) return;
  fputs("<p>Measured again by <code>", r->to);
  html_text(r, command_of(&groups[g]));
  fputs("</code></p>\n", r->to);
}

void report_job(const report *r, const lab_read_case *of) {
  fputs("<span class=\"j\">", r->to);
  html_text(r, of->label);
  if (of->memory[0]) {
    fputs(" memory=", r->to);
    html_text(r, of->memory);
  }
  fputs("</span>", r->to);
}

/* Groups of one operation on one device. */
rung_status report_section(report *r, const report_group *groups, int count) {
  const lab_read_case *of = report_largest(&groups[0]);
  rung_status status = RUNG_OK;
  plot chart;
  fputs("<section><h2>", r->to);
  html_text(r, of->operation);
  fputs(" on ", r->to);
  html_text(r, report_device(of));
  fputs("</h2>\n", r->to);
  for (int g = 0; g < count && !status; g++) {
    fprintf(r->to, "<h3 id=\"g%d\">", (int)(&groups[g] - r->groups));
    report_job(r, report_largest(&groups[g]));
    fputs("</h3>\n", r->to);
    status = put_group(r, groups, g);
    put_command(r, groups, g, count);
  }
  if (!status) status = report_stages(r, groups, count);
  if (!status) status = report_roofline(r, groups, count);
  if (report_has_times(of) && report_chart_begin(r, &chart, &status)) {
    report_samples(&chart, of);
    status = report_chart(r, &chart, "samples");
  }
  if (!status) put_samples(r, groups, count);
  fputs("</section>\n", r->to);
  return status;
}
