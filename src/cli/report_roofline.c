/* What a job's arithmetic and bytes allow on a device, and how far its rungs came: a chart, its
 * peaks and its points. */
#include <math.h>
#include <string.h>

#include "cli/look.h"
#include "cli/report.h"

enum { SERIES = 8, LEVELS = 8, SECTOR_BYTES = 32 };

double report_rate(const lab_read_case *of, const char *level, const char *bound) {
  char key[32];
  const json_t *levels = json_object_get(of->peaks, "levels");
  if (level[0] == '\0') {
    snprintf(key, sizeof key, "%.8s_g_per_s", bound);
    return lab_read_number(of->peaks, key);
  }
  snprintf(key, sizeof key, "%.8s_gb_per_s", bound);
  for (size_t i = 0; i < json_array_size(levels); i++)
    if (strcmp(lab_read_text(json_array_get(levels, i), "level"), level) == 0)
      return lab_read_number(json_array_get(levels, i), key);
  return NAN;
}

/* ---- points --------------------------------------------------------------------------------- */

static bool has_points(const lab_read_case *of) {
  return of->flops > 0 && of->bytes > 0 && of->peaks && report_has_times(of);
}

static bool is_point(const lab_read_candidate *c) {
  return c->good && !c->peer && strcmp(c->order, "fast") != 0;
}

static double gflops(const lab_read_case *of, const lab_read_candidate *c) {
  return of->flops / c->time.median * 1e-6;
}

/* The bytes that explain counted of a rung of the same job, hardware's before the simulator's; NaN:
 * it did not. */
static double counted_bytes(const report *r, const lab_read_case *of, const lab_read_candidate *c) {
  double bytes = NAN;
  for (int f = 0; r->looks && f < r->looks->counted; f++) {
    const look_counts *in = &r->looks->counts[f];
    if (strcmp(in->operation, of->operation) != 0) continue;
    for (int k = 0; k < in->count; k++) {
      const look_rung *rung = &in->rungs[k];
      const double sectors = rung->figures.at[FIGURE_SECTORS];
      if (strcmp(rung->name, c->rung) == 0 && strcmp(rung->job, of->label) == 0 && sectors > 0 &&
          (isnan(bytes) || strncmp(in->device, "sim", 3) != 0))
        bytes = SECTOR_BYTES * sectors;
    }
  }
  return bytes;
}

static bool is_counted(const report *r, const lab_read_case *of) {
  for (int k = 0; k < of->count; k++)
    if (is_point(&of->candidates[k]) && !isnan(counted_bytes(r, of, &of->candidates[k])))
      return true;
  return false;
}

/* Operations a byte: of the bytes that the rung was counted to move, else of the job's least. */
static double intensity(const report *r, const lab_read_case *of, const lab_read_candidate *c) {
  const double bytes = counted_bytes(r, of, c);
  return of->flops / (isnan(bytes) ? of->bytes : bytes);
}

/* The jobs that are drawn: the largest of each group, then those whose bytes were counted. */
static int jobs_of(const report *r, const report_group *groups, int count,
                   const lab_read_case *jobs[SERIES]) {
  int found = 0;
  for (int g = 0; g < count && found < SERIES; g++)
    if (has_points(report_largest(&groups[g]))) jobs[found++] = report_largest(&groups[g]);
  for (int g = 0; g < count; g++)
    for (int i = 0; i < groups[g].count && found < SERIES; i++) {
      const lab_read_case *of = groups[g].cases[i];
      if (of != report_largest(&groups[g]) && has_points(of) && is_counted(r, of))
        jobs[found++] = of;
    }
  return found;
}

/* ---- the chart ------------------------------------------------------------------------------ */

/* The roofs of a device, as data of gnuplot's: levels' bandwidths up to the rate of multiply-adds,
 * straight on logarithmic axes. Their levels are in names; returns how many. */
static int roofs(FILE *to, const lab_read_case *of, double low, double high,
                 const char *names[LEVELS]) {
  const json_t *levels = json_object_get(of->peaks, "levels");
  const bool wide = strcmp(of->type, "f64") == 0;
  const double most = 2 * report_rate(of, "", wide ? "fma64" : "fma32");
  int count = 0;
  for (size_t i = 0; i < json_array_size(levels) && count < LEVELS; i++) {
    const double rate = lab_read_number(json_array_get(levels, i), "read_gb_per_s");
    if (!(rate > 0) || !(most > 0) || !isfinite(rate) || !isfinite(most)) continue;
    const double ridge = most / rate;
    fprintf(to, "$r%d << EOD\n%.9g %.9g\n", count, low, fmin(low * rate, most));
    if (low < ridge && ridge < high) fprintf(to, "%.9g %.9g\n", ridge, most);
    fprintf(to, "%.9g %.9g\nEOD\n", high, fmin(high * rate, most));
    names[count++] = lab_read_text(json_array_get(levels, i), "level");
  }
  return count;
}

static void draw(const report *r, plot *chart, const lab_read_case *const *jobs, int count) {
  FILE *to = chart->script;
  const char *levels[LEVELS];
  double low = NAN, high = NAN;
  for (int s = 0; s < count; s++) {
    const lab_read_candidate *rungs[REPORT_RUNGS];
    const int all = report_rungs(jobs[s], rungs);
    fprintf(to, "$s%d << EOD\n", s);
    for (int k = 0; k < all; k++) {
      if (!is_point(rungs[k])) continue;
      const double x = intensity(r, jobs[s], rungs[k]);
      fprintf(to, "%.9g %.9g\n", x, gflops(jobs[s], rungs[k]));
      report_range(&low, &high, x);
    }
    fputs("EOD\n", to);
    report_range(&low, &high, jobs[s]->flops / jobs[s]->bytes);
  }
  snprintf(chart->title, sizeof chart->title, "Roofline: %.30s on %.60s", jobs[0]->operation,
           report_device(jobs[0]));
  snprintf(chart->description, sizeof chart->description,
           "GFLOP/s over operations a byte, of a job's least work, both logarithmic: its rungs, "
           "and what caches, memory and arithmetic units allow.");
  chart->height = 380;
  fputs(
      "set logscale xy\nset xlabel 'FLOP a byte'\nset ylabel 'GFLOP/s'\n"
      "set key below left vertical maxrows 6\n",
      to);
  const int count_of_roofs = roofs(to, jobs[0], low / 8, high * 8, levels);
  fprintf(to, "set xrange [%.9g:%.9g]\nset linetype cycle 8\nplot ", low / 8, high * 8);
  for (int i = 0; i < count_of_roofs; i++) {
    fprintf(to, "$r%d using 1:2 with lines dt %d lw 1.4 lc rgb '#8b949e' title ", i, i + 1);
    plot_name(to, levels[i]);
    fputs(", ", to);
  }
  for (int s = 0; s < count; s++) {
    char name[64];
    snprintf(name, sizeof name, "%.63s", jobs[s]->label);
    fprintf(to, "%s$s%d using 1:2 with linespoints lt %d title ", s ? ", " : "", s, s + 1);
    plot_name(to, name);
  }
  fputc('\n', to);
}

/* ---- tables --------------------------------------------------------------------------------- */

static void put_peaks(const report *r, const lab_read_case *of) {
  static const char *const bounds[] = {"fma32", "fma64", "mma64"};
  const json_t *levels = json_object_get(of->peaks, "levels");
  html_table(r, "Measured peaks", "what|#read GB/s|#write GB/s|#copy GB/s|#10^9 multiply-adds/s");
  for (size_t i = 0; i < json_array_size(levels); i++) {
    const json_t *level = json_array_get(levels, i);
    html_row(r, lab_read_text(level, "level"));
    html_cell(r, lab_read_number(level, "read_gb_per_s"));
    html_cell(r, lab_read_number(level, "write_gb_per_s"));
    html_cell(r, lab_read_number(level, "copy_gb_per_s"));
    fputs("<td>-</td></tr>\n", r->to);
  }
  for (int b = 0; b < 3; b++) {
    if (isnan(report_rate(of, "", bounds[b]))) continue;
    html_row(r, bounds[b]);
    fputs("<td>-</td><td>-</td><td>-</td>", r->to);
    html_cell(r, report_rate(of, "", bounds[b]));
    fputs("</tr>\n", r->to);
  }
  html_table_end(r);
}

/* The names of the jobs' points, each once; how many. */
static int names_of(const lab_read_case *const *jobs, int count, const char *names[REPORT_RUNGS]) {
  int found = 0;
  for (int s = 0; s < count; s++)
    for (int k = 0; k < jobs[s]->count; k++) {
      const lab_read_candidate *c = &jobs[s]->candidates[k];
      int at = 0;
      while (at < found && strcmp(names[at], c->rung) != 0) at++;
      if (at == found && found < REPORT_RUNGS && is_point(c)) names[found++] = c->rung;
    }
  return found;
}

static void put_point(const report *r, const lab_read_case *of, const char *name) {
  const lab_read_candidate *c = report_rung(of, name);
  char y[32], x[32];
  if (!c || !is_point(c)) {
    fputs("<td>-</td>", r->to);
    return;
  }
  fprintf(r->to, "<td>%s", html_number(gflops(of, c), y));
  if (!isnan(counted_bytes(r, of, c)))
    fprintf(r->to, " at %s", html_number(intensity(r, of, c), x));
  fputs("</td>", r->to);
}

static void put_points(const report *r, const lab_read_case *const *jobs, int count) {
  const char *names[REPORT_RUNGS];
  const int rungs = names_of(jobs, count, names);
  bool counted = false;
  html_table_begin(r, "Points of the roofline: GFLOP/s");
  html_column(r, "job", false);
  html_column(r, "FLOP a byte", true);
  for (int k = 0; k < rungs; k++) html_column(r, names[k], true);
  html_columns_end(r);
  for (int s = 0; s < count; s++) {
    html_row(r, jobs[s]->label);
    html_cell(r, jobs[s]->flops / jobs[s]->bytes);
    for (int k = 0; k < rungs; k++) put_point(r, jobs[s], names[k]);
    fputs("</tr>\n", r->to);
    counted = counted || is_counted(r, jobs[s]);
  }
  html_table_end(r);
  if (counted)
    fputs("<p>At: the FLOP a byte of a rung by the bytes that explain counted.</p>\n", r->to);
}

rung_status report_roofline(report *r, const report_group *groups, int count) {
  const lab_read_case *jobs[SERIES];
  const int found = jobs_of(r, groups, count, jobs);
  rung_status status = RUNG_OK;
  plot chart;
  if (found == 0) return RUNG_OK;
  if (report_chart_begin(r, &chart, &status)) {
    draw(r, &chart, jobs, found);
    status = report_chart(r, &chart, "roofline");
  }
  put_points(r, jobs, found);
  put_peaks(r, jobs[0]);
  return status;
}
