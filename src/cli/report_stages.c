/* Whole jobs on a GPU, from host memory of one kind and back: what of the time is copies, and from
 * which size on the GPU is the faster one all the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

/* Of a sample end to end; the second clearing stands beside it. */
static const struct {
  lab_stage stage;
  const char *title, *fill;
} parts[] = {{LAB_COPY_IN, "copy in", "solid 0.35 border"},
             {LAB_CLEAR_FILL, "clear the output", "solid 0.1 border"},
             {LAB_KERNEL, "kernel", "solid 1 noborder"},
             {LAB_COPY_OUT, "copy out", "solid 0.65 border"}};
enum { PARTS = sizeof parts / sizeof *parts };

/* The fastest rung of a whole job; NULL: the case is none, or no rung is good. */
static const lab_read_candidate *whole_of(const lab_read_case *of) {
  const lab_read_candidate *best = of->memory[0] ? lab_read_best(of) : NULL;
  return best && best->stages[LAB_KERNEL] >= 0 ? best : NULL;
}

/* ---- the same job on a CPU ------------------------------------------------------------------ */

static bool same_job(const lab_read_case *a, const lab_read_case *b) {
  return strcmp(a->operation, b->operation) == 0 && strcmp(a->label, b->label) == 0;
}

/* The fastest that a CPU of these records does it, its arrays where they are; NULL: none did. */
static const lab_read_case *on_cpu(const report *r, const lab_read_case *of) {
  const lab_read_case *found = NULL;
  for (int i = 0; i < r->records->count; i++) {
    const lab_read_case *at = &r->records->cases[i];
    const lab_read_candidate *best = lab_read_best(at);
    if (strcmp(lab_read_text(at->device, "backend"), "cpu") != 0 || !same_job(at, of) || !best)
      continue;
    if (!found || best->time.median < lab_read_best(found)->time.median) found = at;
  }
  return found;
}

/* ---- from which size on ----------------------------------------------------------------------
 */

/* A job at its fastest: from whichever kind of memory. */
typedef struct whole {
  const lab_read_case *of, *cpu;
  double ms, cpu_ms;
} whole;

static int by_bytes(const void *a, const void *b) {
  const double x = ((const whole *)a)->of->bytes, y = ((const whole *)b)->of->bytes;
  return (x > y) - (x < y);
}

/* The jobs that a CPU did too, the smallest first; how many. */
static int wholes_of(const report *r, const lab_read_case *const *jobs, int count,
                     whole list[REPORT_SIZES]) {
  int found = 0;
  for (int i = 0; i < count; i++) {
    const lab_read_case *cpu = on_cpu(r, jobs[i]);
    const double ms = whole_of(jobs[i])->time.median;
    int at = 0;
    if (!cpu) continue;
    while (at < found && !same_job(list[at].of, jobs[i])) at++;
    if (at == found) list[found++] = (whole){jobs[i], cpu, ms, lab_read_best(cpu)->time.median};
    if (ms < list[at].ms) list[at].ms = ms;
  }
  qsort(list, (size_t)found, sizeof *list, by_bytes);
  return found;
}

static void say_whole(const report *r, const whole *w) {
  char here[32], there[32];
  fputs("<span class=\"j\">", r->to);
  html_text(r, w->of->label);
  fprintf(r->to, "</span> (%s here, %s there)", cli_time(w->ms, here), cli_time(w->cpu_ms, there));
}

static void say_break_even(const report *r, const lab_read_case *const *jobs, int count) {
  whole list[REPORT_SIZES];
  const int all = wholes_of(r, jobs, count, list);
  int pays = all; /* from there on all do */
  while (pays > 0 && list[pays - 1].ms < list[pays - 1].cpu_ms) pays--;
  if (all == 0) {
    fputs(
        "<p>No record of a CPU holds these jobs, so the size from which on the copies pay is not "
        "known.</p>\n",
        r->to);
    return;
  }
  fputs("<p>Break-even, copies included, against the fastest rung on ", r->to);
  html_text(r, report_device(list[0].cpu));
  fputs(": ", r->to);
  if (pays < all) {
    fputs("from ", r->to);
    say_whole(r, &list[pays]);
    fputs(" on the GPU takes less time", r->to);
  }
  if (pays > 0) {
    fputs(pays < all ? "; up to " : "up to ", r->to);
    say_whole(r, &list[pays - 1]);
    fputs(" the CPU does", r->to);
  }
  fputs(".</p>\n", r->to);
}

/* ---- chart and table ------------------------------------------------------------------------- */

/* The whole jobs that are `like`, NULL: all; how many. */
static int jobs_of(const report_group *groups, int count, const lab_read_case *like,
                   const lab_read_case *list[REPORT_SIZES]) {
  int found = 0;
  for (int g = 0; g < count; g++)
    for (int i = 0; i < groups[g].count && found < REPORT_SIZES; i++) {
      const lab_read_case *of = groups[g].cases[i];
      if (whole_of(of) && (!like || same_job(of, like))) list[found++] = of;
    }
  return found;
}

/* A bar a kind of memory, one stage behind the other. */
static void put_bars(FILE *to, const lab_read_case *const *jobs, int count) {
  for (int p = 0; p < PARTS; p++) {
    fprintf(to, "$p%d << EOD\n", p);
    for (int bar = 0; bar < count; bar++) {
      const double *stages = whole_of(jobs[bar])->stages;
      double from = 0;
      for (int k = 0; k < p; k++) from += stages[parts[k].stage];
      const double until = from + stages[parts[p].stage];
      fprintf(to, "%.9g %d %.9g %.9g %.2f %.2f\n", until, bar, from, until, bar - 0.36, bar + 0.36);
    }
    fputs("EOD\n", to);
  }
  fputs("plot ", to);
  for (int p = 0; p < PARTS; p++)
    fprintf(to, "%s$p%d with boxxyerror lc rgb '#2f81f7' fs %s title '%s'", p ? ", " : "", p,
            parts[p].fill, parts[p].title);
  fputc('\n', to);
}

static void draw(plot *chart, const lab_read_case *const *jobs, int count) {
  FILE *to = chart->script;
  snprintf(chart->title, sizeof chart->title, "Copies and kernel: %.30s on %.40s, %.90s",
           jobs[0]->operation, report_device(jobs[0]), jobs[0]->label);
  snprintf(chart->description, sizeof chart->description,
           "A bar a kind of host memory, in milliseconds: copy in, clear the output, kernel and "
           "copy out one behind the other, of the fastest rung.");
  chart->height = 110 + 30 * count;
  fprintf(to, "set xrange [0:*]\nset yrange [%d.6:-0.6]\nset xlabel 'ms'\n", count - 1);
  fputs(
      "set key below left horizontal\nset grid noytics xtics nomxtics\nset lmargin 18\n"
      "set ytics scale 0 (",
      to);
  for (int bar = 0; bar < count; bar++) {
    fputs(bar ? ", " : "", to);
    plot_name(to, jobs[bar]->memory);
    fprintf(to, " %d", bar);
  }
  fputs(")\n", to);
  put_bars(to, jobs, count);
}

static void put_row(const report *r, const lab_read_case *of) {
  const lab_read_candidate *best = whole_of(of);
  const lab_read_case *cpu = on_cpu(r, of);
  html_row(r, of->label);
  html_cell_text(r, of->memory);
  html_cell_text(r, best->rung);
  html_cell(r, best->time.median);
  for (lab_stage s = 0; s < LAB_STAGES; s++) html_cell(r, best->stages[s]);
  html_cell(r, 100 * best->stages[LAB_KERNEL] / best->time.median);
  html_cell(r, cpu ? lab_read_best(cpu)->time.median : NAN);
  fputs("</tr>\n", r->to);
}

rung_status report_stages(report *r, const report_group *groups, int count) {
  const lab_read_case *all[REPORT_SIZES], *bars[REPORT_SIZES], *largest;
  const int jobs = jobs_of(groups, count, NULL, all);
  rung_status status = RUNG_OK;
  plot chart;
  if (jobs == 0) return RUNG_OK;
  largest = all[0];
  for (int i = 1; i < jobs; i++)
    if (all[i]->bytes > largest->bytes) largest = all[i];
  fputs("<h3>Copies and kernel</h3>\n", r->to);
  if (report_chart_begin(r, &chart, &status)) {
    const int same = jobs_of(groups, count, largest, bars);
    draw(&chart, bars, same);
    status = report_chart(r, &chart, "stages");
  }
  html_table(r, "Whole jobs, from host memory and back",
             "job|memory|rung|#ms|#copy in|#clear by a fill|#clear by a copy|#kernel|#copy out|"
             "#kernel, %|#on a CPU, ms");
  for (int i = 0; i < jobs; i++) put_row(r, all[i]);
  html_table_end(r);
  say_break_even(r, all, jobs);
  return status;
}
