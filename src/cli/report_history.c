/* What old reports measured, beside ours: a chart of times, one of differences where two ways are
 * compared, and a table. */
#include <math.h>
#include <string.h>

#include "cli/history.h"
#include "cli/report.h"

/* A file of history and the records of the same jobs on devices of one name. */
typedef struct beside {
  history old;
  const lab_read_case *cases[HISTORY_ROWS]; /* NULL: that job was not measured */
  const lab_read_case *any;
} beside;

enum { OLD, OURS };

static bool find(beside *b, const lab_records *records, const lab_read_case *like) {
  b->any = NULL;
  for (int row = 0; row < b->old.rows; row++) {
    b->cases[row] = history_case(&b->old, row, records, like);
    if (b->cases[row]) b->any = b->cases[row];
  }
  return b->any != NULL;
}

static double time_of(const beside *b, int row, int column, int whose) {
  if (whose == OLD) return b->old.at[row][column];
  return b->cases[row] ? history_time(&b->old, row, column, b->cases[row]) : NAN;
}

static const lab_read_candidate *best_of(const beside *b, int row) {
  return b->cases[row] ? lab_read_best(b->cases[row]) : NULL;
}

/* Whether two ways are compared over sizes, and by how much the first is the slower one. */
static bool compares(const beside *b) {
  return !b->old.named && b->old.count - b->old.keys == 2;
}
static double difference(const beside *b, int row, int whose) {
  const int first = b->old.keys;
  return time_of(b, row, first, whose) - time_of(b, row, first + 1, whose);
}

/* ---- charts --------------------------------------------------------------------------------- */

/* Data, then how it is drawn, which follows all data. Names are of files built in, not of records.
 */
typedef struct lines {
  FILE *data;
  char style[4096];
  size_t used;
  int count;
} lines;

/* A line is broken where it has no value. */
static void put_line(lines *l, const beside *b, const double y[HISTORY_ROWS], const char *name,
                     int colour, bool dashed) {
  bool any = false;
  for (int row = 0; row < b->old.rows; row++) {
    if (!(y[row] > 0)) {
      if (any) fputc('\n', l->data);
      continue;
    }
    if (!any) fprintf(l->data, "$h%d << EOD\n", l->count);
    fprintf(l->data, "%.17g %.9g\n", b->old.at[row][0], y[row]);
    any = true;
  }
  if (!any) return;
  fputs("EOD\n", l->data);
  const int length = snprintf(l->style + l->used, sizeof l->style - l->used,
                              "%s$h%d using 1:2 with linespoints lt %d%s title '%s'",
                              l->count ? ", " : "", l->count, colour, dashed ? " dt 2" : "", name);
  l->used += (size_t)length < sizeof l->style - l->used ? (size_t)length : 0;
  l->count++;
}

static void put_axes(plot *chart, const lines *l) {
  fprintf(chart->script,
          "set logscale x 2\nset logscale y\nset format x '2^%%L'\nset xlabel 'n'\n"
          "set ylabel 'ms'\nset linetype cycle 8\nplot %s\n",
          l->style);
}

static void name_times(plot *chart, const beside *b) {
  snprintf(chart->title, sizeof chart->title, "%.30s on %.50s beside an old report",
           b->old.operation, report_device(b->any));
}

/* Bars from the top: of every name the old times, then ours. */
typedef struct bars {
  struct {
    int at, whose;
    double value;
    char name[2 * HISTORY_NAME + 8];
  } all[HISTORY_ROWS * 2 * HISTORY_COLUMNS];
  int count, at;
  double least, most;
} bars;

static void add_bar(bars *to, int whose, double value, const char *row, const char *name) {
  if (!(value > 0)) return;
  to->all[to->count].at = to->at++;
  to->all[to->count].whose = whose;
  to->all[to->count].value = value;
  snprintf(to->all[to->count].name, sizeof to->all->name, "%s %s%s", row, name,
           whose == OLD ? ", old" : "");
  to->least = fmin(to->least, value);
  to->most = fmax(to->most, value);
  to->count++;
}

static void find_bars(bars *to, const beside *b) {
  *to = (bars){.least = NAN, .most = NAN};
  for (int row = 0; row < b->old.rows; row++, to->at++) {
    for (int whose = OLD; whose <= OURS; whose++)
      for (int c = b->old.keys; c < b->old.count; c++)
        add_bar(to, whose, time_of(b, row, c, whose), b->old.names[row], b->old.columns[c]);
    if (best_of(b, row))
      add_bar(to, OURS, best_of(b, row)->time.median, b->old.names[row], "best measured");
  }
}

static void draw_bars(plot *chart, const beside *b) {
  static const struct {
    const char *colour, *fill, *title;
  } kinds[] = {{"#8b949e", "empty border lc rgb '#8b949e'", "an old report"},
               {"#2f81f7", "solid 1 noborder", "these records"}};
  FILE *to = chart->script;
  bars all;
  find_bars(&all, b);
  const double low = pow(10, floor(log10(all.least * 0.8)));
  name_times(chart, b);
  snprintf(chart->description, sizeof chart->description,
           "Bars of milliseconds, logarithmic: what an old report measured, empty, and the same "
           "jobs here: %.300s.",
           b->old.caption);
  chart->height = 90 + 24 * all.at;
  fprintf(to,
          "set logscale x\nset xrange [%.9g:%.9g]\nset yrange [%d.6:-0.6]\n"
          "set key below left horizontal\nset grid noytics xtics nomxtics\nset lmargin 26\n"
          "set ytics scale 0\n",
          low, all.most * pow(all.most / low, 0.22), all.at - 2);
  for (int whose = OLD; whose <= OURS; whose++) {
    fprintf(to, "$h%d << EOD\n", whose);
    for (int i = 0; i < all.count; i++)
      if (all.all[i].whose == whose)
        fprintf(to, "%d %.9g \"%s\"\n", all.all[i].at, all.all[i].value, all.all[i].name);
    fputs("EOD\n", to);
  }
  for (int whose = OLD; whose <= OURS; whose++)
    fprintf(to,
            "%s$h%d using 2:1:(%.9g):2:($1-0.36):($1+0.36):ytic(3) with boxxyerror lc rgb '%s' "
            "fs %s title '%s', $h%d using 2:1:(sprintf($2 < 1e4 ? '%%.4g ms' : '%%.0f ms', $2)) "
            "with labels left offset 0.6,0 notitle",
            whose == OLD ? "plot " : ", ", whose, low, kinds[whose].colour, kinds[whose].fill,
            kinds[whose].title, whose);
  fputc('\n', to);
}

static void draw_times(plot *chart, const beside *b) {
  lines l = {.data = chart->script};
  double y[HISTORY_ROWS];
  char name[96];
  name_times(chart, b);
  snprintf(chart->description, sizeof chart->description,
           "Milliseconds over n, both logarithmic: what an old report measured, dashed, and the "
           "same jobs here: %.200s.",
           b->old.caption);
  for (int c = b->old.keys, colour = 1; c < b->old.count; c++, colour++)
    for (int whose = OLD; whose <= OURS; whose++) {
      for (int row = 0; row < b->old.rows; row++) y[row] = time_of(b, row, c, whose);
      snprintf(name, sizeof name, "%s%s", b->old.columns[c], whose == OLD ? ", old" : "");
      put_line(&l, b, y, name, colour, whose == OLD);
    }
  for (int row = 0; row < b->old.rows; row++)
    y[row] = best_of(b, row) ? best_of(b, row)->time.median : NAN;
  put_line(&l, b, y, "best measured", 6, false);
  put_axes(chart, &l);
}

/* Logarithmic, so that each way round is a line of its own. */
static void draw_differences(plot *chart, const beside *b) {
  const char *first = b->old.columns[b->old.keys], *second = b->old.columns[b->old.keys + 1];
  lines l = {.data = chart->script};
  double y[HISTORY_ROWS];
  char name[96];
  snprintf(chart->title, sizeof chart->title, "%.30s and %.30s: the difference, on %.50s", first,
           second, report_device(b->any));
  snprintf(chart->description, sizeof chart->description,
           "By how many milliseconds %.30s takes longer than %.30s, or the other way round, over "
           "n, both logarithmic: an old report's, dashed, and ours.",
           first, second);
  for (int whose = OLD; whose <= OURS; whose++)
    for (int turn = 0; turn < 2; turn++) {
      for (int row = 0; row < b->old.rows; row++)
        y[row] = (turn ? -1 : 1) * difference(b, row, whose);
      snprintf(name, sizeof name, "%s minus %s%s", turn ? second : first, turn ? first : second,
               whose == OLD ? ", old" : "");
      put_line(&l, b, y, name, 1 + turn, whose == OLD);
    }
  put_axes(chart, &l);
}

/* ---- the table ------------------------------------------------------------------------------ */

static void put_row(const report *r, const beside *b, int row) {
  char number[32];
  const lab_read_candidate *best = best_of(b, row);
  html_row(r, b->old.named ? b->old.names[row] : html_number(b->old.at[row][0], number));
  for (int c = 1; c < b->old.count; c++) {
    html_cell(r, time_of(b, row, c, OLD));
    if (c >= b->old.keys) html_cell(r, time_of(b, row, c, OURS));
  }
  if (compares(b)) {
    html_cell(r, difference(b, row, OLD));
    html_cell(r, difference(b, row, OURS));
  }
  html_cell_text(r, best ? best->rung : "-");
  html_cell(r, best ? best->time.median : NAN);
  fputs("</tr>\n", r->to);
}

static void put_table(const report *r, const beside *b) {
  char columns[1024];
  size_t used = 0;
  for (int c = 0; c < b->old.count; c++)
    used += (size_t)snprintf(columns + used, sizeof columns - used,
                             c < b->old.keys ? "#%s|" : "#%s, old|#%s|", b->old.columns[c],
                             b->old.columns[c]);
  snprintf(columns + used, sizeof columns - used, "%s",
           compares(b) ? "#difference, old|#difference|best measured|#ms" : "best measured|#ms");
  html_table(r, b->old.caption, columns);
  for (int row = 0; row < b->old.rows; row++) put_row(r, b, row);
  html_table_end(r);
}

/* ---- the section ---------------------------------------------------------------------------- */

static rung_status put_beside(report *r, const beside *b) {
  rung_status status = RUNG_OK;
  plot chart;
  fputs("<h3>", r->to);
  html_text(r, b->old.operation);
  fputs(" on ", r->to);
  html_text(r, report_device(b->any));
  for (int c = b->old.keys; c < b->old.count; c++)
    fprintf(r->to, "%s %s", c == b->old.keys ? ":" : ",", b->old.columns[c]);
  fputs("</h3>\n", r->to);
  if (report_chart_begin(r, &chart, &status)) {
    (b->old.named ? draw_bars : draw_times)(&chart, b);
    status = report_chart(r, &chart, "history");
  }
  if (!status && compares(b) && report_chart_begin(r, &chart, &status)) {
    draw_differences(&chart, b);
    status = report_chart(r, &chart, "difference");
  }
  if (!status) put_table(r, b);
  return status;
}

/* Whether a case is the first of an operation on a device of its name, a GPU. */
static bool begins_device(const lab_records *records, int number, const char *operation) {
  const lab_read_case *of = &records->cases[number];
  if (strcmp(of->operation, operation) != 0 ||
      strcmp(lab_read_text(of->device, "backend"), "cuda") != 0)
    return false;
  for (int i = 0; i < number; i++)
    if (strcmp(records->cases[i].operation, operation) == 0 &&
        report_same_name(&records->cases[i], of))
      return false;
  return true;
}

rung_status report_history(report *r) {
  rung_status status = RUNG_OK;
  bool any = false;
  beside b;
  for (int number = 0; history_of(number, &b.old) && !status; number++)
    for (int i = 0; i < r->records->count && !status; i++) {
      if (!begins_device(r->records, i, b.old.operation) ||
          !find(&b, r->records, &r->records->cases[i]))
        continue;
      if (!any)
        fputs(
            "<section id=\"history\"><h2>Beside old reports</h2>\n"
            "<p>What old reports measured with programs of their own on GPUs of their own, and the "
            "same jobs of these records: history, neither a target nor a peer.</p>\n",
            r->to);
      any = true;
      status = put_beside(r, &b);
    }
  if (any) fputs("</section>\n", r->to);
  return status;
}
