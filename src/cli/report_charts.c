/* The charts of a report: numbers and, by plot_name(), names. */
#include <math.h>
#include <string.h>

#include "cli/report.h"

enum { NAMES = 20, SYMBOLS = 20 };

static void range_of(double *least, double *most, double value) {
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
  for (int k = 0; k < count; k++) range_of(&least, &most, rungs[k]->time.median);
  range_of(&least, &most, of->peak_ms);
  const double low = pow(10, floor(log10(least * 0.8)));
  chart->height = 110 + 24 * count;
  snprintf(chart->title, sizeof chart->title, "%.30s on %.40s, %.90s", of->operation,
           report_device(of), of->label);
  snprintf(chart->description, sizeof chart->description,
           "A bar a rung, from the simplest down, logarithmic in milliseconds. %s",
           isnan(of->peak_ms) ? "" : "The dashed line is the measured peak.");
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
      range_of(&least, &most, c->time.median);
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

/* ---- roofline ----------------------------------------------------------------------------- */

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

static double gflops(const lab_read_case *of, double ms) {
  return of->flops / ms * 1e-6;
}

static bool has_roofline(const lab_read_case *of) {
  return of->flops > 0 && of->bytes > 0 && of->peaks && report_has_times(of);
}

bool report_draws_roofline(const report_group *groups, int count) {
  for (int g = 0; g < count; g++)
    if (has_roofline(report_largest(&groups[g]))) return true;
  return false;
}

/* The roofs of a device, as data of gnuplot's: levels' bandwidths up to the rate of multiply-adds,
 * straight on logarithmic axes. Their levels are in names; returns how many. */
static int roofs(FILE *to, const lab_read_case *of, double low, double high, const char *names[8]) {
  const json_t *levels = json_object_get(of->peaks, "levels");
  const bool wide = strcmp(of->type, "f64") == 0;
  const double most = 2 * report_rate(of, "", wide ? "fma64" : "fma32");
  int count = 0;
  for (size_t i = 0; i < json_array_size(levels) && count < 8; i++) {
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

void report_roofline(plot *chart, const report_group *groups, int count) {
  FILE *to = chart->script;
  const lab_read_case *first = NULL;
  const char *names[8];
  double low = NAN, high = NAN;
  int series = 0;
  for (int g = 0; g < count && series < 8; g++) {
    const lab_read_case *of = report_largest(&groups[g]);
    const lab_read_candidate *rungs[REPORT_RUNGS];
    if (!has_roofline(of)) continue;
    fprintf(to, "$s%d << EOD\n", series);
    const int all = report_rungs(of, rungs);
    for (int k = 0; k < all; k++)
      if (rungs[k]->good && !rungs[k]->peer && strcmp(rungs[k]->order, "fast") != 0)
        fprintf(to, "%.9g %.9g\n", of->flops / of->bytes, gflops(of, rungs[k]->time.median));
    fputs("EOD\n", to);
    range_of(&low, &high, of->flops / of->bytes);
    names[series] = of->label;
    series++;
    if (!first) first = of;
  }
  if (!first) return;
  snprintf(chart->title, sizeof chart->title, "Roofline: %.30s on %.60s", first->operation,
           report_device(first));
  snprintf(
      chart->description, sizeof chart->description,
      "The least arithmetic a job needs, in GFLOP/s, over operations a byte, both logarithmic: "
      "every job's rungs as a path under what the caches and the memory (grey) and the "
      "arithmetic units allow.");
  chart->height = 380;
  fputs(
      "set logscale xy\nset xlabel 'FLOP a byte'\nset ylabel 'GFLOP/s'\n"
      "set key below left vertical maxrows 6\n",
      to);
  const char *levels[8];
  const int count_of_roofs = roofs(to, first, low / 8, high * 8, levels);
  fprintf(to, "set xrange [%.9g:%.9g]\nset linetype cycle 8\nplot ", low / 8, high * 8);
  for (int i = 0; i < count_of_roofs; i++) {
    fprintf(to, "$r%d using 1:2 with lines dt %d lw 1.4 lc rgb '#8b949e' title ", i, i + 1);
    plot_name(to, levels[i]);
    fputs(", ", to);
  }
  for (int k = 0; k < series; k++) {
    char name[64];
    snprintf(name, sizeof name, "%s", names[k]);
    fprintf(to, "%s$s%d using 1:2 with linespoints lt %d title ", k ? ", " : "", k, k + 1);
    plot_name(to, name);
  }
  fputc('\n', to);
}
