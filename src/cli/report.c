/* rung report: records as one page that fetches nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/look.h"
#include "cli/report.h"

static const char verb[] = "report";

enum { RECORDS_MOST = 1000 };

static const cli_option options[] = {
    {"plots", 0, "DIR", "also write every chart there, as SVG, PNG and PDF (needs gnuplot)"}, {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  (void)index;
  (void)error;
  *(const char **)to = value;
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "FILE... [OPTION]...",
    .about =
        "One HTML page of the records of bench and tour: the verdict in words, ladders, times\n"
        "over size and block, rooflines, bits, samples, provenance. Charts are drawn by gnuplot\n"
        "where it is installed; a table stands behind each. What explain and timeline write with\n"
        "--json joins them: counts of the simulator and of hardware side by side, and pictures;\n"
        "and what the program tests/scaling writes: how calls over several devices scale.",
    .example = "rung report record.json -o report.html",
    .common = CLI_OUTPUT,
    .output_help = "write the page there; default: standard output",
    .options = options,
    .take = take,
    .least = 1,
    .most = RECORDS_MOST};

static rung_status make_folder(const char *path, rung_error *error) {
  struct stat is;
  if (!plot_possible())
    return rung_fail(error, RUNG_FILE_FAILED,
                     "--plots needs gnuplot, which is not here; expected: it, on PATH (Debian: "
                     "gnuplot-nox)");
  if (mkdir(path, 0777) == 0 || (stat(path, &is) == 0 && S_ISDIR(is.st_mode))) return RUNG_OK;
  return rung_fail(error, RUNG_FILE_FAILED,
                   "--plots '%.200s' cannot be made: %s; expected: a folder", path,
                   strerror(errno));
}

rung_status report_write(const lab_records *records, const struct looks *looks, const char *path,
                         const char *plots, rung_error *error) {
  report r;
  file_replace file = {0};
  rung_status status = report_begin(&r, records, error);
  if (!status && plots) status = make_folder(plots, error);
  if (!status) status = file_replace_begin(&file, path, error);
  r.to = file.stream;
  r.plots = plots;
  r.looks = looks;
  if (!status) {
    r.charts = plot_possible();
    status = report_page(&r);
    if (!status)
      status = file_replace_commit(&file, error);
    else
      file_replace_abandon(&file);
  }
  report_end(&r);
  return status;
}

rung_status report_write_lines(const json_t *lines, const char *path, rung_error *error) {
  lab_records records = {0};
  char *text = lab_record_text(lines);
  if (!text) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the report");
  rung_status status = lab_read(&records, "the record", text, strlen(text), error);
  free(text);
  if (!status) status = report_write(&records, NULL, path, NULL, error);
  lab_records_free(&records);
  return status;
}

/* Records, or what explain or timeline wrote. */
static rung_status read_file(const char *path, lab_records *records, looks *seen,
                             rung_error *error) {
  char *text;
  size_t length = 0;
  rung_status status = lab_read_all(path, &text, &length, error);
  if (!status)
    status = look_is(text, length) ? look_read(seen, path, text, length, error)
                                   : lab_read(records, path, text, length, error);
  free(text);
  return status;
}

int verb_report(int argc, char **argv) {
  cli_common common;
  const char *plots = NULL;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &plots, &first, &code)) return code;
  rung_error error = {0};
  lab_records records = {0};
  rung_status status = RUNG_OK;
  looks seen = {0};
  if (!common.output) cli_wide(); /* a page is none to be wrapped */
  for (int i = first; i < argc && !status; i++)
    status = read_file(argv[i], &records, &seen, &error);
  if (!status)
    status = report_write(&records, &seen, common.output ? common.output : "-", plots, &error);
  if (!status && !plot_possible())
    cli_note(&common, verb, "no charts: gnuplot is not here (Debian: gnuplot-nox)");
  lab_records_free(&records);
  looks_free(&seen);
  return cli_end(verb, &error);
}
