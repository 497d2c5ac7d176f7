/* The charts of a report: numbers and, by plot_name(), names. */
#include <math.h>
#include <string.h>

#include "cli/report.h"

enum { NAMES = 20, SYMBOLS = 20 };

void report_range(double *least, double *most, double value) {
  if (!(value > 0) || !isfinite(value)) return;
  if (!(*least <= value)) *least = value;
  if (!(*most >= value)) *most = value;
}

/* ---- the ladder --------------------------------------------------------------------------- */

bool report_has_times(const lab_read_case *of) {
  for (int i = 0; i < of->count; i++)
    if (of->candidates[i].good) return true;
  return false;
}

/* The rungs that have a bar: of the others the table says why they have no time. */
static int rungs_of(const lab_read_case *of, const lab_read_candidate *rungs[REPORT_RUNGS]) {
  const int count = report_rungs(of, rungs);
  int good = 0;
  for (int k = 0; k < count; k++)
    if (rungs[k]->good) rungs[good++] = rungs[k];
  return good;
}

bool report_draws_ladder(const report *r, const lab_read_case *of) {
  const lab_read_candidate *rungs[REPORT_RUNGS];
  return rungs_of(of, rungs) > (r->plots ? 1 : 3);
}

/* What a bar looks like: by the order of arithmetic, of peers another. */
static const struct {
  const char *order, *title, *colour, *fill;
} bars[] = {{"textbook", "textbook", "#b08800", "solid 0.35 border"},
            {"canonical", "canonical: the same bits everywhere", "#2f81f7", "solid 1 noborder"},
            {"fast", "fast math", "#2da44e", "solid 0.65 border"},
            {NULL, "peers", "#8b949e", "empty border lc rgb '#8b949e'"}};

static bool is_bar(const lab_read_candidate *c, int bar) {
  return c->peer ? !bars[bar].order : bars[bar].order && strcmp(bars[bar].order, c->order) == 0;
}

static void ladder_rows(FILE *to, const lab_read_candidate **rungs, int count, double low) {
  for (int bar = 0; bar < 4; bar++) {
    fprintf(to, "$b%d << EOD\n", bar);
    for (int k = 0; k < count; k++)
      if (is_bar(rungs[k], bar)) fprintf(to, "%d %.9g\n", k, rungs[k]->time.median);
    fputs("EOD\n", to);
  }
  fputs("plot ", to);
  bool any = false;
  for (int bar = 0; bar < 4; bar++) {
    bool has = false;
    for (int k = 0; k < count; k++) has = has || is_bar(rungs[k], bar);
    if (!has) continue;
    fprintf(
        to,
        "%s$b%d using 2:1:(%.9g):2:($1-0.36):($1+0.36) with boxxyerror lc rgb '%s' fs %s title ",
        any ? ", " : "", bar, low, bars[bar].colour, bars[bar].fill);
    plot_name(to, bars[bar].title);
    fprintf(to, ", $b%d using 2:1:(sprintf('%%.4g ms', $2)) with labels left offset 0.6,0 notitle",
            bar);
    any = true;
  }
  fputc('\n', to);
}

void report_ladder(plot *chart, const lab_read_case *of) {
  const lab_read_candidate *rungs[REPORT_RUNGS];
  const int count = rungs_of(of, rungs);
  FILE *to = chart->script;
  double least = NAN, most = NAN;
  for (int k = 0; k < count; k++) report_range(&least, &most, rungs[k]->time.median);
  report_range(&least, &most, of->peak_ms);
  const double low = pow(10, floor(log10(least * 0.8)));
  chart->height = 110 + 24 * count;
  snprintf(chart->title, sizeof chart->title, "%.30s on %.40s, %.90s", of->operation,
           report_device(of), of->label);
  snprintf(chart->description, sizeof chart->description,
           "A bar a rung, logarithmic in milliseconds%s",
           isnan(of->peak_ms) ? "." : "; dashed: the measured peak.");
  fprintf(to, "set logscale x\nset xrange [%.9g:%.9g]\nset yrange [%d.6:-0.6]\n", low,
          most * pow(most / low, 0.22), count - 1);
  fputs(
      "set key below left horizontal\nset grid noytics xtics nomxtics\n"
      "set lmargin 20\nset ytics scale 0 (",
      to);
  for (int k = 0; k < count; k++) {
    char name[NAMES];
    snprintf(name, sizeof name, "%s", rungs[k]->rung);
    fputs(k ? ", " : "", to);
    plot_name(to, name);
    fprintf(to, " %d", k);
  }
  fputs(")\n", to);
  if (of->peak_ms > 0)
    fprintf(
        to,
        "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead front dt 2 lw 1.6 lc rgb '#d1495b'\n"
        "set label 'peak' at %.9g, graph 1 center offset 0,0.6\n",
        of->peak_ms, of->peak_ms, of->peak_ms);
  ladder_rows(to, rungs, count, low);
}

/* ---- lines -------------------------------------------------------------------------------- */

/* "plot $s0 ..., $s1 ...": one line a name, with a symbol at every `apart`-th value. */
static void plot_lines(FILE *to, const char *const *names, int count, int apart) {
  fputs("set linetype cycle 8\nplot ", to);
  for (int k = 0; k < count; k++) {
    fprintf(to, "%s$s%d using 1:2 smooth unique with linespoints lt %d pi %d title ", k ? ", " : "",
            k, k + 1, apart);
    plot_name(to, names[k]);
  }
}

void report_sizes(plot *chart, const report_group *group) {
  const char *names[REPORT_RUNGS];
  const int count = report_names(group, names);
  FILE *to = chart->script;
  char key[REPORT_KEY];
  bool peaks = false;
  double least = NAN, most = NAN;
  snprintf(chart->title, sizeof chart->title, "Time over size: %.30s on %.60s",
           group->cases[0]->operation, report_device(group->cases[0]));
  report_size_key(group->cases[0], key);
  snprintf(
      chart->description, sizeof chart->description,
      "A line a rung: medians in milliseconds over %s, both logarithmic. The dashed line is the "
      "least time that the measured peak allows. %.160s",
      key, group->cases[0]->label);
  for (int k = 0; k < count; k++) {
    fprintf(to, "$s%d << EOD\n", k);
    for (int i = 0; i < group->count; i++) {
      const lab_read_candidate *c = report_rung(group->cases[i], names[k]);
      if (!c || !c->good) continue;
      fprintf(to, "%.17g %.9g\n", report_size(group->cases[i]), c->time.median);
      report_range(&least, &most, c->time.median);
    }
    fputs("EOD\n", to);
  }
  fputs("$peak << EOD\n", to);
  for (int i = 0; i < group->count; i++)
    if (group->cases[i]->peak_ms > 0) {
      fprintf(to, "%.17g %.9g\n", report_size(group->cases[i]), group->cases[i]->peak_ms);
      peaks = true;
    }
  fputs(
      "EOD\nset logscale x 2\nset logscale y\nset format x '2^%L'\n"
      "set ylabel 'ms'\nset xlabel ",
      to);
  plot_name(to, key);
  fputc('\n', to);
  fprintf(to, "set yrange [%.9g:]\n", least / 4);
  plot_lines(to, names, count, 1);
  if (peaks) fputs(", $peak using 1:2 with lines dt 2 lw 1.6 lc rgb '#d1495b' title 'peak'", to);
  fputc('\n', to);
}

bool report_draws_blocks(const lab_read_case *of) {
  for (int i = 0; i < of->count; i++)
    for (int k = 0; k < i; k++)
      if (of->candidates[i].good && of->candidates[k].good && of->candidates[i].block > 0 &&
          of->candidates[k].block > 0 && of->candidates[i].block != of->candidates[k].block &&
          strcmp(of->candidates[i].rung, of->candidates[k].rung) == 0)
        return true;
  return false;
}

void report_blocks(plot *chart, const lab_read_case *of) {
  const lab_read_candidate *rungs[REPORT_RUNGS];
  const char *names[REPORT_RUNGS];
  const int all = report_rungs(of, rungs);
  FILE *to = chart->script;
  int count = 0;
  snprintf(chart->title, sizeof chart->title, "Block sizes: %.30s on %.60s", of->operation,
           report_device(of));
  snprintf(chart->description, sizeof chart->description,
           "A line a rung: medians in milliseconds over threads a block, both logarithmic. %.160s",
           of->label);
  for (int k = 0; k < all; k++) {
    if (!rungs[k]->good || rungs[k]->block == 0) continue;
    fprintf(to, "$s%d << EOD\n", count);
    for (int i = 0; i < of->count; i++)
      if (of->candidates[i].good && strcmp(of->candidates[i].rung, rungs[k]->rung) == 0)
        fprintf(to, "%d %.9g\n", of->candidates[i].block, of->candidates[i].time.median);
    fputs("EOD\n", to);
    names[count++] = rungs[k]->rung;
  }
  fputs("set logscale x 2\nset logscale y\nset xlabel 'threads a block'\nset ylabel 'ms'\n", to);
  plot_lines(to, names, count, 1);
  fputc('\n', to);
}

void report_samples(plot *chart, const lab_read_case *of) {
  const lab_read_candidate *rungs[REPORT_RUNGS];
  const char *names[REPORT_RUNGS];
  const int all = report_rungs(of, rungs);
  FILE *to = chart->script;
  int count = 0, most = 0;
  snprintf(chart->title, sizeof chart->title, "Samples in the order taken: %.30s on %.60s",
           of->operation, report_device(of));
  snprintf(chart->description, sizeof chart->description,
           "A line a rung: each sample's time in milliseconds, logarithmic. %.160s", of->label);
  for (int k = 0; k < all; k++) {
    if (!rungs[k]->good) continue;
    fprintf(to, "$s%d << EOD\n", count);
    for (int i = 0; i < rungs[k]->count && i < 200; i++) {
      fprintf(to, "%d %.6g\n", i + 1, rungs[k]->samples[i]);
      if (i >= most) most = i + 1;
    }
    fputs("EOD\n", to);
    names[count++] = rungs[k]->rung;
  }
  fputs("set logscale y\nset xlabel 'sample'\nset ylabel 'ms'\n", to);
  plot_lines(to, names, count, most / SYMBOLS + 1); /* of 200 each a symbol hides lines */
  fputc('\n', to);
}
