/* A page of records: what they hold in words, tables and charts. */
#ifndef RUNG_CLI_REPORT_H
#define RUNG_CLI_REPORT_H

#include "cli/plot.h"
#include "lab/read.h"

enum { REPORT_RUNGS = 64, REPORT_SIZES = 64, REPORT_SAMPLES = 40000, REPORT_KEY = 16 };

/* Cases that differ in their size alone, in the order of the records. */
typedef struct report_group {
  const lab_read_case *cases[REPORT_SIZES];
  int count;
} report_group;

struct looks;

typedef struct report {
  const lab_records *records;
  const struct looks *looks; /* look.h; NULL: none */
  report_group *groups;      /* those of an operation and device one behind the other */
  int count;
  bool charts;       /* gnuplot is here */
  const char *plots; /* the folder for the same charts as files; NULL: none */
  int64_t samples;   /* of all records together */
  int drawn;         /* charts so far */
  int pictures;      /* of looks, so far */
  FILE *to;
  rung_error *error;
} report;

/* ---- report_data.c ------------------------------------------------------------------------ */

rung_status report_begin(report *r, const lab_records *records, rung_error *error);
void report_end(report *r);

/* One candidate a rung, in the ladder's order: the fastest good block, else the first; how many. */
int report_rungs(const lab_read_case *of, const lab_read_candidate *rungs[REPORT_RUNGS]);
/* That of a rung by name; NULL: there is none. */
const lab_read_candidate *report_rung(const lab_read_case *of, const char *name);
/* The names of all rungs of a group's cases that are good in one of them; how many. */
int report_names(const report_group *group, const char *names[REPORT_RUNGS]);
/* What a job's size is called, "n" or "height": the first of its keys. */
void report_size_key(const lab_read_case *of, char key[REPORT_KEY]);
/* The size; 0: it has none. */
double report_size(const lab_read_case *of);
/* Whether the group's cases are of more than one size. */
bool report_is_sweep(const report_group *group);
/* The case of the largest size. */
const lab_read_case *report_largest(const report_group *group);
/* The best canonical rung against the first that is good: how many times as fast; NaN. */
double report_gain(const lab_read_case *of);
/* What its device is called. */
const char *report_device(const lab_read_case *of);
/* Whether two cases are of devices of one kind and name. */
bool report_same_name(const lab_read_case *a, const lab_read_case *b);
/* Whether two cases are of one operation on one device. */
bool report_same_place(const lab_read_case *a, const lab_read_case *b);
/* The first group behind the section that a group begins. */
int report_section_end(const report *r, int group);

/* ---- report_charts.c ---------------------------------------------------------------------- */

/* Whether a rung is good. */
bool report_has_times(const lab_read_case *of);
/* Each writes a chart's title, description and script; false: there is nothing to draw. */
/* Charts for --plots are of two bars and more; in the page, of three the table says as much. */
bool report_draws_ladder(const report *r, const lab_read_case *of);
void report_ladder(plot *chart, const lab_read_case *of);
void report_sizes(plot *chart, const report_group *group);
bool report_draws_blocks(const lab_read_case *of);
void report_blocks(plot *chart, const lab_read_case *of);
void report_samples(plot *chart, const lab_read_case *of);
/* Widens a range to a value, unless it is no number above 0; begun as NaNs. */
void report_range(double *least, double *most, double value);

/* ---- report_html.c ------------------------------------------------------------------------ */

void html_text(const report *r, const char *words);
/* Four significant digits; "-" where there is no number. */
const char *html_number(double value, char room[32]);
void html_cell(const report *r, double value);
void html_cell_text(const report *r, const char *words);
/* A table's beginning: its caption, and its columns parted by '|', those of numbers with a '#'. */
void html_table(const report *r, const char *caption, const char *columns);
/* The same with columns of any names: begun, a column each, ended. */
void html_table_begin(const report *r, const char *caption);
void html_column(const report *r, const char *name, bool numbers);
void html_columns_end(const report *r);
void html_table_end(const report *r);
/* A row's beginning: its name. */
void html_row(const report *r, const char *name);
/* A line of a list of terms; none where the value is "". */
void html_term(const report *r, const char *name, const char *value);

/* ---- report_section.c --------------------------------------------------------------------- */

/* A chart is begun, unless there are none; false: it is not. */
bool report_chart_begin(report *r, plot *chart, rung_status *status);
/* One that was begun and described: into the page, and the folder; ended. What gnuplot cannot draw
 * is said; the table has it all the same. */
rung_status report_chart(report *r, plot *chart, const char *kind);
/* A job's line, and the memory that it began in where that was timed. */
void report_job(const report *r, const lab_read_case *of);
/* Groups of one operation on one device. */
rung_status report_section(report *r, const report_group *groups, int count);

/* ---- report_roofline.c -------------------------------------------------------------------- */

/* The rate of a bound of a level, "": of the arithmetic units; NaN: not measured. */
double report_rate(const lab_read_case *of, const char *level, const char *bound);
/* The jobs of groups of one operation on one device under its peaks; nothing where no peak was
 * measured. */
rung_status report_roofline(report *r, const report_group *groups, int count);

/* ---- report_stages.c ---------------------------------------------------------------------- */

/* What of whole jobs, from host memory and back, is copies, and from which size on they pay;
 * nothing where there are none. */
rung_status report_stages(report *r, const report_group *groups, int count);

/* ---- report_history.c --------------------------------------------------------------------- */

/* What old reports measured of the same jobs; nothing where there are none. */
rung_status report_history(report *r);

/* ---- report_scaling.c --------------------------------------------------------------------- */

/* What calls over several devices reach of the ideal; nothing where there are no such files. */
rung_status report_scaling(report *r);

/* ---- report_looks.c ----------------------------------------------------------------------- */

/* What explain and timeline saw. */
rung_status report_looks(report *r);

/* ---- report_bits.c ------------------------------------------------------------------------ */

/* Whether the canonical rungs have the same bits on all devices; nothing where no bits are known.
 */
rung_status report_bits(const report *r);

/* ---- report_machines.c -------------------------------------------------------------------- */

/* The devices, the commits that were measured on each, and their builds. */
rung_status report_machines(const report *r);

/* ---- report_words.c ----------------------------------------------------------------------- */

/* What all records come to; it leads to each job. */
void report_words(const report *r);

/* ---- report_page.c ------------------------------------------------------------------------ */

/* The whole page, to r->to. */
rung_status report_page(report *r);

/* ---- report.c ----------------------------------------------------------------------------- */

/* The report of records and looks into a file, whole or not at all. looks, plots NULL: none. */
rung_status report_write(const lab_records *records, const struct looks *looks, const char *path,
                         const char *plots, rung_error *error);
/* That of the lines of a file of records. */
rung_status report_write_lines(const json_t *lines, const char *path, rung_error *error);

#endif
