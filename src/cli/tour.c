/* rung tour: every ladder verified and timed on this machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/measure.h"
#include "cli/report.h"

static const char verb[] = "tour";

enum { PATH = 4096, CLOSING = 96 };

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPERATION]... [OPTION]...",
    .about =
        "Every rung on every device is verified, timed and set against the peak measured here, of\n"
        "the operations that are named, or of all. Sampling takes half a minute for all of them.",
    .example = "rung tour scan reduce --device cpu -o results",
    .common = CLI_DEVICE | CLI_MATH | CLI_THREADS | CLI_SEED | CLI_JSON | CLI_OUTPUT,
    .device_help = "auto, cpu, cuda or cuda:<index>; default auto: every device that is here",
    .output_help =
        "the folder for rung-tour.html, the report, and rung-tour.json; default: this one",
    .most = CLI_OPERATIONS};

/* Seconds that all operations may take in sampling, and one candidate at most. */
static const double tour_seconds = 20, candidate_seconds = 2;

/* The closing summary: what was fastest at each job. */
typedef struct closing {
  char job[RUNG_LABEL + 32], device[CLOSING], rung[CLOSING];
  double ms, part, gain; /* gain: over the lowest rung that was timed; NaN where it is that */
} closing;

typedef struct tour {
  const cli_common *common;
  const rung_operation *const *operations;
  char command[MEASURE_COMMAND];
  lab_bench_set_up set_up; /* its context: the device's whose turn it is */
  cli_devices devices;
  char record[PATH], page[PATH];
  json_t *records;
  closing *closings;
  int closed, candidates, failures, unsupported, too_fast;
  int steps, step;   /* jobs in all, jobs done */
  rung_error memory; /* that ran out for a candidate */
  cli_progress progress;
} tour;

static rung_status record_path(tour *t, rung_error *error) {
  const char *folder = t->common->output ? t->common->output : ".";
  int length = snprintf(t->record, sizeof t->record, "%s/rung-tour.json", folder);
  if (length >= (int)sizeof t->record)
    return rung_fail(error, RUNG_FILE_FAILED, "-o '%.60s...' is too long for a folder's name",
                     folder);
  snprintf(t->page, sizeof t->page, "%.*s.html", (int)(strlen(t->record) - strlen(".json")),
           t->record);
  const rung_status status = file_replace_possible(t->record, error);
  return status ? status : file_replace_possible(t->page, error);
}

/* Jobs of those operations. */
static int jobs_of(const rung_operation *const *operations) {
  int count = 0;
  for (; *operations; operations++)
    for (const char *const *line = rung_cases_of(*operations)->tour; *line; line++) count++;
  return count;
}

/* A candidate's share of the time is the same whether all operations are asked for or one. */
static rung_status plan(tour *t, rung_error *error) {
  int candidates = 0;
  for (int d = 0; d < t->devices.count; d++) {
    rung_device device;
    rung_status status = rung_find_device(t->devices.names[d], &device, error);
    if (status) return status;
    for (int k = 0; rung_operations[k]; k++)
      for (const char *const *line = rung_cases_of(rung_operations[k])->tour; *line; line++)
        candidates += lab_bench_count(&t->set_up, rung_operations[k], &device);
  }
  t->steps = t->devices.count * jobs_of(t->operations);
  t->set_up.rules = lab_rules_default();
  t->set_up.rules.seed = t->common->seed;
  double share = tour_seconds / (candidates > 0 ? candidates : 1);
  t->set_up.rules.seconds = share < candidate_seconds ? share : candidate_seconds;
  t->closings = calloc((size_t)t->steps + 1, sizeof *t->closings);
  if (!t->closings) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the summary");
  return RUNG_OK;
}

static void remember(tour *t, const lab_bench *m) {
  const lab_candidate *best = lab_bench_fastest(m), *first = NULL;
  int too_fast = 0;
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    const lab_finding finding = lab_candidate_verdict(c)->finding;
    t->unsupported += finding == LAB_UNSUPPORTED;
    too_fast += finding == LAB_TOO_FAST;
    if (!first && lab_candidate_good(c)) first = c;
  }
  t->candidates += m->count;
  /* Its result is right: a busy minute, or a clock that rose, makes that of the time. */
  t->too_fast += too_fast;
  t->failures += lab_bench_failures(m) - too_fast;
  lab_bench_memory(m, &t->memory);
  if (!best) return;
  closing *c = &t->closings[t->closed++];
  snprintf(c->job, sizeof c->job, "%.30s %s", m->test_case.operation->name, m->test_case.label);
  snprintf(c->device, sizeof c->device, "%s", m->context->device.name);
  snprintf(c->rung, sizeof c->rung, "%s", best->row->name);
  c->ms = best->time.median;
  c->part = lab_part_of_peak(&m->limit, best);
  c->gain = best == first ? NAN : first->time.median / best->time.median;
}

static rung_status tour_line(tour *t, const rung_operation *operation, const char *line,
                             rung_error *error) {
  lab_bench m;
  cli_progress_begin(&t->progress, t->common);
  cli_progress_part(&t->progress, (double)t->step / t->steps, 1.0 / t->steps, operation->name);
  rung_status status =
      lab_bench_run(&t->set_up, operation, rung_cases_of(operation), line, &m, error);
  cli_progress_end(&t->progress);
  t->step++;
  if (!status) {
    if (!t->common->json) {
      measure_bars(stdout, &m);
      fputc('\n', stdout);
      fflush(stdout);
    }
    remember(t, &m);
    status = lab_record_add(t->records, &m, t->command, error);
  }
  lab_bench_free(&m);
  return status;
}

static rung_status tour_device(tour *t, const char *name, rung_error *error) {
  rung_status status = measure_open(&t->set_up, t->common, name, &t->progress, false, error);
  for (int k = 0; t->operations[k] && !status; k++)
    for (const char *const *line = rung_cases_of(t->operations[k])->tour; *line && !status; line++)
      status = tour_line(t, t->operations[k], *line, error);
  return status;
}

/* Of a small job what is no work of its own takes most of the time. */
static void print_part(double part) {
  if (part < 0.01) printf(", below 1 %% of the peak");
  if (part >= 0.01) printf(", %.0f %% of the peak", 100 * part);
}

static void print_closing(const tour *t) {
  char text[32];
  printf("%sThe fastest of each ladder%s\n", cli_colour(stdout, CLI_BOLD),
         cli_colour(stdout, CLI_PLAIN));
  for (int i = 0; i < t->closed; i++) {
    const closing *c = &t->closings[i];
    printf("  %s on %s: %s, %s", c->job, c->device, c->rung, cli_time(c->ms, text));
    if (!isnan(c->gain)) printf(", %.1f times as fast as the first rung", c->gain);
    print_part(c->part);
    putchar('\n');
  }
  printf("%d results verified, %d failed, %d not supported.\n", t->candidates - t->unsupported,
         t->failures, t->unsupported);
  if (t->too_fast > 0)
    printf("%d times are not believed: they are shorter than the peaks measured here allow.\n",
           t->too_fast);
  printf("Report: %s\nRecord: %s\n", t->page, t->record);
}

static rung_status finish(tour *t, rung_error *error) {
  rung_status status = lab_record_write(t->record, t->records, error);
  if (!status) status = report_write_lines(t->records, t->page, error);
  if (status) return status;
  if (t->common->json) {
    status = measure_records(t->records, error);
  } else {
    print_closing(t);
  }
  if (!status && t->memory.status) {
    *error = t->memory;
    return error->status;
  }
  if (!status && t->failures > 0)
    status = rung_fail(error, RUNG_CHECK_FAILED, "%d of %d results failed their check", t->failures,
                       t->candidates);
  return status;
}

int verb_tour(int argc, char **argv) {
  cli_common common;
  int first, code;
  tour t = {.common = &common};
  measure_command(argc, argv, t.command);
  if (!cli_parse(&usage, argc, argv, &common, NULL, &first, &code)) return code;
  rung_error error = {0};
  const rung_operation *list[CLI_OPERATIONS + 1];
  t.records = json_array();
  t.set_up.choice.strict = common.mathed && common.math == RUNG_MATH_STRICT;
  rung_status status = cli_operations_of(argc - first, argv + first, list, &t.operations, &error);
  if (!status) status = record_path(&t, &error);
  if (!status) status = cli_devices_of(common.device, &t.devices, &error);
  if (!status) status = plan(&t, &error);
  if (!status && t.devices.absent[0]) cli_note(&common, verb, "no GPU: %s", t.devices.absent);
  for (int d = 0; !status && d < t.devices.count; d++)
    status = tour_device(&t, t.devices.names[d], &error);
  if (!status) finish(&t, &error);
  rung_close(t.set_up.context);
  free(t.closings);
  json_decref(t.records);
  return cli_end(verb, &error);
}
