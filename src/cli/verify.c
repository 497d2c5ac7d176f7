/* rung verify: every rung against the reference. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/rows.h"

static const char verb[] = "verify";

/* Block sizes that are no multiple of anything, one thread, and the most. */
static const int odd_blocks[] = {1, 31, 33, 64, 1000, 1024, 0};
enum { ODD_LINES = 2 };

typedef struct request {
  bool exhaustive;
  int64_t part, parts; /* the jobs part, part + parts ...; from 1 on */
  const char *kernels; /* NULL: none */
} request;

enum { EXHAUSTIVE, PART, KERNELS };
static const cli_option options[] = {
    {"exhaustive", 0, NULL,
     "every block size on every job, and every rung on those that take a simulated GPU long"},
    {"part", 0, "I/N", "only jobs I, I + N, I + 2N ... of every operation: a part of the work"},
    CLI_KERNELS,
    {0}};

static rung_status take_part(request *r, const char *value, rung_error *error) {
  char text[64];
  snprintf(text, sizeof text, "%s", value);
  char *parts = strchr(text, '/');
  if (!parts)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--part '%.40s' is not a part; expected: I/N, such as 1/4", value);
  *parts++ = '\0';
  rung_status status = cli_int("--part", parts, 1, 1000, &r->parts, error);
  return status ? status : cli_int("--part", text, 1, r->parts, &r->part, error);
}

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  if (index == PART) return take_part(r, value, error);
  if (index == KERNELS)
    r->kernels = value;
  else
    r->exhaustive = true;
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPERATION] [OPTION]...",
    .about =
        "Runs every rung on small jobs that between them reach every path, and holds each\n"
        "result against the reference, to the bit where the rung is canonical.",
    .example = "rung verify stencil --device cpu",
    .types = RUNG_TYPE(RUNG_DTYPES) - 1,
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_SEED |
              CLI_JSON | CLI_OUTPUT,
    .rung_help = "only these rungs, comma-separated: global,onchip",
    .device_help = "auto, cpu, cuda, cuda:<index> or sim; default auto: every device that is here",
    .options = options,
    .take = take,
    .most = 1};

/* What became of one rung on one device. */
typedef struct tally {
  const rung_row *row;
  int passed, failed, unsupported;
  char failure[RUNG_SENTENCE + RUNG_LABEL + 32]; /* the first, with its job */
  char reason[RUNG_SENTENCE];                    /* the first job it does not support, why */
  bool no_memory;                                /* the first that failed did so for that */
} tally;

typedef struct verification {
  const cli_common *common;
  cli_progress progress;
  int64_t done, all; /* checks of the operation under way */
  const request *request;
  file_replace out;
  json_t *json; /* an array of rungs */
  int checks, failures, unsupported;
} verification;

static bool chosen(const cli_common *common, const rung_row *row, const rung_device *device) {
  if (!cli_on_device(row, device)) return false;
  if (common->mathed && common->math == RUNG_MATH_STRICT && row->order == RUNG_LOOSE) return false;
  return !common->rung || strcmp(common->rung, "auto") == 0 || cli_in_list(common->rung, row->name);
}

static void check(lab_fixture *fixture, const rung_case *test_case, int block, tally *t) {
  lab_verdict verdict;
  lab_verify(fixture, t->row, block, &verdict);
  if (verdict.finding == LAB_GOOD) {
    t->passed++;
  } else if (verdict.finding == LAB_UNSUPPORTED) {
    if (t->unsupported++ == 0) snprintf(t->reason, sizeof t->reason, "%s", verdict.sentence);
  } else if (t->failed++ == 0) {
    snprintf(t->failure, sizeof t->failure, "%s, block %d: %s: %s", test_case->label, block,
             lab_finding_name(verdict.finding), verdict.sentence);
    t->no_memory = verdict.cause == RUNG_OUT_OF_MEMORY;
  }
}

static void show_check(verification *v, const char *what) {
  cli_progress_show(&v->progress, v->all > 0 ? (double)v->done / (double)v->all : 0, what);
}

/* One row on one case: its block sizes. Returns how many; without a fixture, only that. */
static int check_blocks(verification *v, lab_fixture *fixture, const rung_case *test_case, int line,
                        tally *t) {
  const int *own = t->row->blocks;
  int blocks[LAB_BLOCKS + sizeof odd_blocks / sizeof *odd_blocks], count = 0;
  if (v->common->block > 0 || !own) {
    blocks[count++] = own ? v->common->block : 0;
  } else {
    for (int i = 0; own[i] != 0 && (i == 0 || v->request->exhaustive); i++)
      blocks[count++] = own[i];
    for (int i = 0; odd_blocks[i] != 0 && (line < ODD_LINES || v->request->exhaustive); i++)
      blocks[count++] = odd_blocks[i];
  }
  for (int i = 0; i < count && fixture; i++) {
    show_check(v, t->row->name);
    check(fixture, test_case, blocks[i], t);
    v->done++;
  }
  return count;
}

/* How many checks a line has. */
static int checks_of(verification *v, const rung_operation *operation, int line, tally *tallies) {
  int count = 0;
  for (int i = 0; i < operation->count; i++)
    if (tallies[i].row) count += check_blocks(v, NULL, NULL, line, &tallies[i]);
  return count;
}

/* Whether every rung tries heavy lines too: else a simulated GPU tries them by the rung that `auto`
 * takes, and those that it never takes, of fast math. */
static bool tries_all(const verification *v, const rung_context *context) {
  return context->device.kind != RUNG_SIM || v->request->exhaustive || v->common->rung ||
         v->request->kernels;
}

static rung_status check_line(verification *v, rung_context *context,
                              const rung_operation *operation, int line, tally *tallies,
                              rung_error *error) {
  const rung_cases *cases = rung_cases_of(operation);
  rung_case test_case;
  bool heavy;
  const char *text = rung_cases_line(cases, line, &heavy);
  rung_status status = cases->make(text, v->common->seed, &test_case, error);
  if (status) return status;
  if (v->common->typed && test_case.types.in != v->common->type) {
    cases->drop(&test_case);
    v->done += checks_of(v, operation, line, tallies);
    return RUNG_OK;
  }
  lab_fixture *fixture = NULL;
  status = cases->expect(&test_case, error);
  if (!status) status = lab_fixture_open(context, &test_case, &fixture, error);
  const bool few = !status && heavy && !tries_all(v, context);
  const rung_row *automatic = few ? lab_fixture_auto(fixture) : NULL;
  for (int i = 0; i < operation->count && !status; i++)
    if (tallies[i].row) {
      if (few && tallies[i].row != automatic && tallies[i].row->order != RUNG_LOOSE)
        v->done += check_blocks(v, NULL, NULL, line, &tallies[i]);
      else
        check_blocks(v, fixture, &test_case, line, &tallies[i]);
      /* That says nothing of the rung. */
      if (tallies[i].no_memory)
        status = rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: %s", tallies[i].row->name,
                           tallies[i].failure);
    }
  lab_fixture_close(fixture);
  cases->drop(&test_case);
  return status;
}

/* ---- reporting ---------------------------------------------------------------------------- */

static void print_tally(FILE *to, const tally *t) {
  const char *plain = cli_colour(to, CLI_PLAIN);
  fprintf(to, "  %-17s %s%s%s  %d passed", t->row->name,
          cli_colour(to, t->failed ? CLI_RED : CLI_GREEN),
          t->failed   ? "FAILED"
          : t->passed ? "ok    "
                      : "-     ",
          plain, t->passed);
  if (t->failed) fprintf(to, ", %d failed", t->failed);
  if (t->unsupported) fprintf(to, ", %d not supported", t->unsupported);
  fputc('\n', to);
  if (t->failed) fprintf(to, "      %s\n", t->failure);
  if (t->unsupported) fprintf(to, "      not supported: %s\n", t->reason);
}

static json_t *tally_json(const char *device, const rung_operation *operation, const tally *t) {
  json_t *json = lab_object("{s:s, s:s, s:s, s:i, s:i, s:i}", "device", device, "operation",
                            operation->name, "rung", t->row->name, "passed", t->passed, "failed",
                            t->failed, "unsupported", t->unsupported);
  if (t->failed) cli_set(&json, "failure", lab_text(t->failure));
  if (t->unsupported) cli_set(&json, "reason", lab_text(t->reason));
  return json;
}

static void report(verification *v, const char *device, const rung_operation *operation,
                   const tally *tallies) {
  for (int i = 0; i < operation->count; i++) {
    const tally *t = &tallies[i];
    if (!t->row) continue;
    v->checks += t->passed + t->failed;
    v->failures += t->failed;
    v->unsupported += t->unsupported;
    if (v->common->json)
      cli_append(&v->json, tally_json(device, operation, t));
    else
      print_tally(v->out.stream, t);
  }
}

/* ---- running ------------------------------------------------------------------------------ */

static rung_status verify_operation(verification *v, rung_context *context, const char *device,
                                    const rung_operation *operation, rung_error *error) {
  tally *tallies = calloc((size_t)operation->count, sizeof *tallies);
  if (!tallies) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the counts");
  int rows = 0, lines = 0;
  for (int i = 0; i < operation->count; i++) {
    if (!chosen(v->common, &operation->rows[i], &context->device)) continue;
    tallies[i].row = &operation->rows[i];
    rows++;
  }
  while (rung_cases_line(rung_cases_of(operation), lines, NULL)) lines++;
  rung_status status = RUNG_OK;
  cli_progress_begin(&v->progress, v->common);
  cli_progress_part(&v->progress, 0, 1, operation->name);
  const int first = (int)v->request->part - 1, step = (int)v->request->parts;
  v->done = v->all = 0;
  for (int line = first; line < lines; line += step)
    v->all += checks_of(v, operation, line, tallies);
  for (int line = first; line < lines && rows > 0 && !status; line += step) {
    show_check(v, rung_cases_line(rung_cases_of(operation), line, NULL));
    status = check_line(v, context, operation, line, tallies, error);
  }
  cli_progress_end(&v->progress);
  if (!status && rows > 0) {
    if (!v->common->json)
      fprintf(v->out.stream, "%s on %s\n", operation->name, context->device.name);
    report(v, device, operation, tallies);
  }
  free(tallies);
  return status;
}

static rung_status verify_device(verification *v, const char *device,
                                 const rung_operation *const *operations, rung_error *error) {
  rung_context *context;
  rung_status status = cli_open(v->common, device, &context, error);
  for (int i = 0; operations[i] && !status; i++)
    status = verify_operation(v, context, device, operations[i], error);
  rung_close(context);
  return status;
}

static rung_status finish(verification *v, rung_error *error) {
  rung_status status = RUNG_OK;
  if (v->checks + v->unsupported == 0)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "nothing was verified: no rung of that name runs on that device; "
                     "`rung ladder` lists them");
  if (v->common->json) {
    status = cli_results_json(
        &v->out,
        lab_object("{s:s, s:i, s:i, s:i, s:O}", "verb", verb, "checks", v->checks, "failures",
                   v->failures, "unsupported", v->unsupported, "rungs", v->json),
        error);
  } else {
    fprintf(v->out.stream, "%d checks, %d failed, %d not supported\n", v->checks, v->failures,
            v->unsupported);
  }
  if (!status) status = file_replace_commit(&v->out, error);
  if (!status && v->failures > 0)
    status = rung_fail(error, RUNG_CHECK_FAILED, "%d of %d checks failed", v->failures, v->checks);
  return status;
}

int verb_verify(int argc, char **argv) {
  request r = {.part = 1, .parts = 1};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) {
    if (code == CLI_DONE) cli_help_keys(argc, argv);
    return code;
  }
  rung_error error = {0};
  const rung_operation *list[CLI_OPERATIONS + 1], *const *operations = NULL;
  cli_devices devices = {0};
  verification v = {.common = &common, .request = &r, .json = json_array()};
  rung_status status = cli_operations_of(argc - first, argv + first, list, &operations, &error);
  if (!status) status = cli_kernels(r.kernels, list, &operations, &error);
  if (!status && common.rung && strcmp(common.rung, "auto") != 0)
    status = cli_check_rungs(common.rung, operations, &error);
  if (!status) status = cli_devices_of(common.device, &devices, &error);
  if (!status) status = cli_results_begin(&v.out, &common, &error);
  if (!status && devices.absent[0]) cli_note(&common, verb, "no GPU: %s", devices.absent);
  for (int i = 0; !status && i < devices.count; i++)
    status = verify_device(&v, devices.names[i], operations, &error);
  if (!status) status = finish(&v, &error);
  file_replace_abandon(&v.out);
  json_decref(v.json);
  lab_kernels_close();
  return cli_end(verb, &error);
}
