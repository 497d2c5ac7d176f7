/* rung pairs N WIDTH [BLOCK]: the old report's job. N random points in a cube, the histogram of all
 * their distances on the CPU and on every other device, how long each took, and whether they agree.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/pairs.h"
#include "cli/rows.h"

static const char verb[] = "pairs";

#define SIDE 23000.0

enum { A_LINE = 5, LINE = 160 };

/* One device's run. */
typedef struct run {
  char device[96], name[CLI_DEVICE_NAME];
  bool gpu, simulated;
  int threads;
  const char *rung;
  double whole; /* ms, from host arrays to host arrays */
  lab_stage_times stages;
  int64_t *counts, outside[3];
  int64_t different; /* bins, from the first run's */
} run;

typedef struct report {
  const cli_common *common;
  const pairs_request *r;
  rung_distances bins;
  rung_case test_case; /* the points are its first array */
  bool made;
  run runs[CLI_DEVICES];
  int count;
} report;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* ---- the job ----------------------------------------------------------------------------------
 */

/* As many bins as the report's program had: up to the cube's diagonal, rounded up. */
static rung_status make_bins(report *to, rung_error *error) {
  const double bins = SIDE * 1.732 / to->r->width;
  if (!(bins < RUNG_MAX_BINS))
    return rung_fail(error, RUNG_BAD_ARGUMENT, "WIDTH %g makes %.0f bins; expected: at most %d",
                     to->r->width, bins + 1, RUNG_MAX_BINS);
  to->bins = (rung_distances){.count = (int64_t)bins + 1, .width = to->r->width};
  return RUNG_OK;
}

static rung_status make_points(report *to, rung_error *error) {
  char line[LINE];
  const cli_common *common = to->common;
  snprintf(line, sizeof line, "n=%lld bins=%lld width=%.17g data=report type=%s",
           (long long)to->r->n, (long long)to->bins.count, to->bins.width,
           common->typed ? rung_dtype_name(common->type) : "f64");
  rung_status status =
      rung_cases_of(rung_operation_named(verb))->make(line, common->seed, &to->test_case, error);
  to->made = !status;
  return status;
}

/* --rung, where this family has it; else the best. */
static const char *rung_for(const report *of, rung_family family) {
  const char *rung = of->common->rung;
  return rung && cli_row_of(verb, family, rung) ? rung : "auto";
}

static rung_status count(const report *of, rung_context *context, int64_t n, rung_call *call,
                         run *to, rung_error *error) {
  const rung_view *points = &of->test_case.arrays[0];
  const DLDevice host = {kDLCPU, 0};
  int64_t shape[2] = {n, 3}, bins = of->bins.count, three = 3;
  DLTensor at = {.data = points->data,
                 .device = host,
                 .ndim = 2,
                 .dtype = rung_dlpack_type(points->dtype),
                 .shape = shape};
  DLTensor counts = {
      .data = to->counts, .device = host, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = &bins};
  DLTensor outside = counts;
  outside.data = to->outside;
  outside.shape = &three;
  const rung_points set = {.at = &at};
  return cli_carry(context,
                   rung_pairs(context, &set, NULL, NULL, &of->bins, &counts, &outside, NULL, call),
                   error);
}

/* The histogram, then, on a GPU, the stages one by one. It is counted once before the clock runs,
 * so that threads are started, code is loaded and memory is there; where that takes long, of a few
 * points only. */
static rung_status run_on(report *of, const char *device, run *to, rung_error *error) {
  enum { MANY = 20000, FEW = 64 };
  rung_context *context;
  rung_status status = cli_open(of->common, device, &context, error);
  if (status) return status;
  const rung_kind kind = context->device.kind;
  const rung_family family = kind == RUNG_CPU ? RUNG_ON_CPU : RUNG_ON_GPU;
  rung_call call = {
      .rung = rung_for(of, family), .block = of->common->block, .math = of->common->math};
  snprintf(to->device, sizeof to->device, "%s", context->device.name);
  snprintf(to->name, sizeof to->name, "%s", device);
  to->gpu = kind != RUNG_CPU;
  to->simulated = kind == RUNG_SIM;
  to->threads = context->device.threads;
  to->counts = calloc((size_t)of->bins.count, sizeof *to->counts);
  if (!to->counts)
    status =
        rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %lld bins", (long long)of->bins.count);
  if (!status) status = count(of, context, of->r->n <= MANY ? of->r->n : FEW, &call, to, error);
  cli_progress progress;
  cli_progress_begin(&progress, of->common);
  if (!status) cli_progress_call(&progress, 0, 1, verb, to->device, context);
  const double begin = now_ms();
  if (!status) status = count(of, context, of->r->n, &call, to, error);
  to->whole = now_ms() - begin;
  cli_progress_end(&progress);
  to->rung = call.used;
  if (!status && kind == RUNG_CUDA)
    status = lab_stages_of(context, &of->test_case, cli_row_of(verb, family, call.used),
                           of->common->block, false, &to->stages, error);
  rung_close(context);
  return status;
}

/* The CPU, then every other device, or the one that was asked for. */
static rung_status run_all(report *of, rung_error *error) {
  const char *asked = of->common->device;
  const rung_operation *const list[] = {rung_operation_named(verb), NULL};
  cli_devices devices;
  rung_status status = cli_devices_of(asked, &devices, error);
  if (!status)
    status = cli_check_rung(
        of->common->rung && strcmp(of->common->rung, "auto") != 0 ? of->common->rung : NULL, list,
        error);
  if (!status) status = run_on(of, "cpu", &of->runs[of->count++], error);
  for (int i = 0; i < devices.count && !status && of->count < CLI_DEVICES; i++)
    if (strcmp(devices.names[i], "cpu") != 0)
      status = run_on(of, devices.names[i], &of->runs[of->count++], error);
  for (int i = 1; i < of->count && !status; i++)
    for (int64_t k = 0; k < of->bins.count; k++)
      of->runs[i].different += of->runs[i].counts[k] != of->runs[0].counts[k];
  if (!status && devices.absent[0]) cli_note(of->common, verb, "no GPU: %s", devices.absent);
  return status;
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* Five bins a line; less[], where it is not NULL, is taken off. */
static void print_bins(FILE *to, const report *of, const run *from, const run *less) {
  int64_t total = 0;
  for (int64_t k = 0; k < of->bins.count; k++) {
    const int64_t number = from->counts[k] - (less ? less->counts[k] : 0);
    if (k % A_LINE == 0) fprintf(to, "%s%02" PRId64 ": ", k ? "\n" : "", k);
    fprintf(to, "%15" PRId64 " %s", number, k + 1 < of->bins.count ? "| " : "\n");
    total += number;
  }
  fprintf(to, "T:%" PRId64 "\n", total);
  if (!less && from->outside[1] > 0)
    fprintf(to, "longer than the last bin: %" PRId64 "\n", from->outside[1]);
}

static void print_times(FILE *to, const report *of, const run *from) {
  const struct {
    const char *name;
    double ms;
  } stages[] = {{"allocate", from->stages.allocate},
                {"copy in", from->stages.copy_in},
                {"kernel", from->stages.kernel},
                {"copy out", from->stages.copy_out},
                {"free", from->stages.free}};
  char left[96], text[32];
  fprintf(to, "%s: %s", from->gpu ? "GPU" : "CPU", from->device);
  if (!from->gpu) fprintf(to, ", %d thread%s", from->threads, from->threads == 1 ? "" : "s");
  fputs(from->simulated ? " (its time is the simulator's own, no GPU's)\n" : "\n", to);
  if (from->gpu && of->common->block > 0)
    snprintf(left, sizeof left, "%s, block %d", from->rung, of->common->block);
  else
    snprintf(left, sizeof left, "%s", from->rung);
  fprintf(to, "  %-30s %10s\n", left, cli_time(from->whole, text));
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (stages[i].ms > 0)
      fprintf(to, "    %-28s %10s\n", stages[i].name, cli_time(stages[i].ms, text));
}

static void print(FILE *to, const report *of) {
  fprintf(to, "%lld points in a cube of %g, bins of %g, %s\n", (long long)of->r->n, SIDE,
          of->bins.width, rung_dtype_name(of->test_case.types.in));
  print_bins(to, of, &of->runs[0], NULL);
  for (int i = 0; i < of->count; i++) {
    const run *at = &of->runs[i];
    print_times(to, of, at);
    if (i == 0) continue;
    if (of->r->all) print_bins(to, of, at, NULL);
    if (at->different == 0)
      fprintf(to, "  difference from the CPU: none\n");
    else
      fprintf(to, "  difference from the CPU: %lld bins\n", (long long)at->different);
    if (of->r->all || at->different > 0) print_bins(to, of, at, &of->runs[0]);
  }
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static json_t *report_json(const report *of) {
  json_t *runs = json_array();
  for (int i = 0; i < of->count; i++) {
    const run *at = &of->runs[i];
    cli_append(&runs,
               lab_object("{s:s, s:s, s:b, s:s, s:f, s:f, s:o, s:I, s:I}", "device", at->name,
                          "name", at->device, "simulated", at->simulated, "rung", at->rung,
                          "whole_ms", at->whole, "kernel_ms", at->stages.kernel, "counts",
                          cli_integers(at->counts, of->bins.count), "longer",
                          (json_int_t)at->outside[1], "different_bins", (json_int_t)at->different));
  }
  return lab_object("{s:s, s:I, s:f, s:I, s:s, s:o}", "verb", verb, "n", (json_int_t)of->r->n,
                    "width", of->bins.width, "bins", (json_int_t)of->bins.count, "type",
                    rung_dtype_name(of->test_case.types.in), "runs", runs);
}

/* The table of -o is the CPU's; the report then goes to standard output, or, where the table itself
 * goes there, to standard error. */
static rung_status say(const report *of, rung_error *error) {
  const cli_common *common = of->common;
  const bool taken = common->output && strcmp(common->output, "-") == 0;
  file_replace file;
  rung_status status = RUNG_OK;
  if (common->json) {
    status = cli_results_begin(&file, common, error);
    if (!status) status = cli_results_json(&file, report_json(of), error);
    return status ? status : file_replace_commit(&file, error);
  }
  if (common->output) {
    pairs_result table = {.bins = of->bins, .counts = of->runs[0].counts};
    table.edges = malloc(((size_t)of->bins.count + 1) * sizeof *table.edges);
    if (!table.edges) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the table");
    for (int64_t k = 0; k <= of->bins.count; k++) table.edges[k] = (double)k * of->bins.width;
    status = pairs_write(common, &table, error);
    free(table.edges);
  }
  if (!status) print(taken ? stderr : stdout, of);
  return status;
}

rung_status pairs_report(const cli_common *common, const pairs_request *r, rung_error *error) {
  report of = {.common = common, .r = r};
  rung_status status = make_bins(&of, error);
  if (!status) status = make_points(&of, error);
  if (!status) status = run_all(&of, error);
  if (!status) status = say(&of, error);
  for (int i = 1; i < of.count && !status; i++)
    if (of.runs[i].different > 0)
      status = rung_fail(error, RUNG_CHECK_FAILED,
                         "rung %s on %s and rung %s on the CPU differ in %lld bins, and must not",
                         of.runs[i].rung, of.runs[i].name, of.runs[0].rung,
                         (long long)of.runs[i].different);
  for (int i = 0; i < of.count; i++) free(of.runs[i].counts);
  if (of.made) rung_cases_of(rung_operation_named(verb))->drop(&of.test_case);
  return status;
}
