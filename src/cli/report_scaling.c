/* What calls over several devices reach of what the time over one promises. */
#include <math.h>
#include <string.h>

#include "cli/look.h"
#include "cli/report.h"

enum { SERIES = 8 }; /* lines of a chart: as many as there are line types */

/* The end of the series that begins there: the next job over one device. */
static int series_end(const look_scaling *of, int first) {
  int end = first + 1;
  while (end < of->count && of->shares[end].devices > 1) end++;
  return end;
}

/* The points of a series, of jobs that have grown or have not; the first is both. */
static void put_points(FILE *to, const look_scaling *of, int first, int series, bool weak) {
  fprintf(to, "$%c%d << EOD\n", weak ? 'w' : 's', series);
  for (int i = first; i < series_end(of, first); i++)
    if (i == first || of->shares[i].weak == weak)
      fprintf(to, "%d %.9g\n", of->shares[i].devices, 100 * of->shares[i].ideal);
  fputs("EOD\n", to);
}

/* Where per cents of the ideal begin, so that lines near it are apart. */
static double least_of(const look_scaling *of) {
  double least = 1;
  for (int i = 0; i < of->count; i++) least = fmin(least, of->shares[i].ideal);
  return fmax(0, 10 * floor(10 * least - 0.5));
}

static void draw(plot *chart, const look_scaling *of) {
  FILE *to = chart->script;
  char name[128];
  int firsts[SERIES], series = 0;
  snprintf(chart->title, sizeof chart->title, "Over several devices: %.60s", of->device);
  snprintf(chart->description, sizeof chart->description,
           "A line a job: per cent of what the time over one device promises, over the number of "
           "devices. Dashed: a job that grows with the devices.");
  for (int first = 0; first < of->count && series < SERIES; first = series_end(of, first)) {
    put_points(to, of, first, series, false);
    put_points(to, of, first, series, true);
    firsts[series++] = first;
  }
  fprintf(to,
          "set logscale x 2\nset xlabel 'devices'\nset ylabel '%% of the ideal'\n"
          "set yrange [%.9g:*]\nset key outside right top vertical\nplot ",
          least_of(of));
  for (int s = 0; s < series; s++) {
    const look_share *share = &of->shares[firsts[s]];
    fprintf(to, "%s$s%d using 1:2 with linespoints lt %d title ", s ? ", " : "", s, s + 1);
    snprintf(name, sizeof name, "%.30s %.80s", share->operation, share->job);
    plot_name(to, name);
    fprintf(to, ", $w%d using 1:2 with lines lt %d dt 2 notitle", s, s + 1);
  }
  fputc('\n', to);
}

static void put_row(const report *r, const look_share *share, const look_share *alone) {
  const char *bits = share == alone || share->weak           ? "-"
                     : strcmp(share->bits, alone->bits) == 0 ? "the same"
                                                             : "DIFFERENT";
  html_row(r, share->operation);
  html_cell_text(r, share->job);
  html_cell(r, share->devices);
  html_cell_text(r, share == alone ? "-" : share->weak ? "weak" : "strong");
  html_cell(r, share->seconds);
  html_cell(r, 100 * share->ideal);
  html_cell_text(r, bits);
  fputs("</tr>\n", r->to);
}

static rung_status put_scaling(report *r, const look_scaling *of) {
  rung_status status = RUNG_OK;
  plot chart;
  fputs("<section><h2>Over several devices: ", r->to);
  html_text(r, of->device);
  fputs(
      "</h2>\n<p>Of the ideal: over P devices a job promises to take a P-th of its time over one "
      "(strong), and one that has grown with them that time (weak).</p>\n",
      r->to);
  if (report_chart_begin(r, &chart, &status)) {
    draw(&chart, of);
    status = report_chart(r, &chart, "scaling");
  }
  html_table(r, "Seconds, and the part of the ideal",
             "operation|job|#devices|scaling|#seconds|#of the ideal, %|bits of one device");
  for (int first = 0, end; first < of->count; first = end) {
    end = series_end(of, first);
    for (int i = first; i < end; i++) put_row(r, &of->shares[i], &of->shares[first]);
  }
  html_table_end(r);
  fputs("</section>\n", r->to);
  return status;
}

rung_status report_scaling(report *r) {
  rung_status status = RUNG_OK;
  for (int i = 0; r->looks && i < r->looks->scaled && !status; i++)
    status = put_scaling(r, &r->looks->scalings[i]);
  return status;
}
