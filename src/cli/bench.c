/* rung bench: how long each rung takes, and what it gained. */
#include <stdlib.h>
#include <string.h>

#include "cli/measure.h"

static const char verb[] = "bench";

enum { SAMPLES_MOST = 100000, COMMAND = 1024 };

typedef struct request {
  const char *sizes, *blocks, *rungs;
  bool hot, peers;
  int64_t samples; /* 0: the lab's rules */
  double seconds;  /* 0: the lab's rules */
  char command[COMMAND];
} request;

enum { SIZES, BLOCKS, RUNGS, HOT, PEERS, SAMPLES, TIME_OUT };
static const cli_option options[] = {
    {"sizes", 0, "LINE",
     "the job: \"n=1024 m=1024 p=100\"; several parted by ';', or n=2^10..2^20, doubling"},
    {"blocks", 0, "LIST", "threads per block: 32,64 or all that a rung sweeps; default its own"},
    {"rung", 0, "LIST", "only these rungs: global,onchip"},
    {"hot", 0, NULL, "leave the caches as the run before left them"},
    {"peers", 0, NULL, "other libraries and programs too, where they are found"},
    {"samples", 0, "N", "take N samples of each; default 11 to 101, until they agree"},
    {"time-out", 0, "S", "seconds for each candidate; default 10"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  rung_status status = RUNG_OK;
  switch (index) {
    case SIZES:
      r->sizes = value;
      break;
    case BLOCKS:
      r->blocks = value;
      break;
    case RUNGS:
      r->rungs = strcmp(value, "auto") == 0 ? NULL : value;
      break;
    case HOT:
      r->hot = true;
      break;
    case PEERS:
      r->peers = true;
      break;
    case SAMPLES:
      return cli_int("--samples", value, 1, SAMPLES_MOST, &r->samples, error);
    default:
      status = cli_double("--time-out", value, &r->seconds, error);
      if (!status && !(r->seconds > 0))
        status =
            rung_fail(error, RUNG_BAD_ARGUMENT,
                      "--time-out '%.40s' is out of range: more than 0 seconds would do", value);
  }
  return status;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPERATION] [OPTION]...",
    .about =
        "Times every rung by the lab's protocol: verified, warmed up, sampled with cold\n"
        "caches and interleaved, verified again.",
    .example = "rung bench stencil --sizes \"n=1024 m=1024 p=100\" -o record.json",
    .common = CLI_DEVICE | CLI_MATH | CLI_THREADS | CLI_SEED | CLI_JSON | CLI_OUTPUT,
    .output_help = "write the records there, as JSON; the table still goes to standard output",
    .options = options,
    .take = take,
    .most = 1};

/* Refuses a rung of the list that no operation has. */
static rung_status check_rungs(const request *r, const rung_operation *const *operations,
                               rung_error *error) {
  char *list = strdup(r->rungs ? r->rungs : ""), *rest = NULL;
  if (!list) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for --rung");
  rung_status status = RUNG_OK;
  for (char *name = strtok_r(list, ",", &rest); name && !status; name = strtok_r(NULL, ",", &rest))
    status = cli_check_rung(name, operations, error);
  free(list);
  return status;
}

static rung_status choose(const cli_common *common, const request *r, lab_choice *choice,
                          rung_error *error) {
  *choice =
      (lab_choice){.rungs = r->rungs, .strict = common->mathed && common->math == RUNG_MATH_STRICT};
  if (!r->blocks) return RUNG_OK;
  choice->own_blocks = strcmp(r->blocks, "all") == 0;
  if (choice->own_blocks) return RUNG_OK;
  char *list = strdup(r->blocks), *rest = NULL;
  if (!list) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for --blocks");
  rung_status status = RUNG_OK;
  int count = 0;
  for (char *word = strtok_r(list, ", ", &rest); word && !status;
       word = strtok_r(NULL, ", ", &rest)) {
    int64_t block = 0;
    status = cli_int("--blocks", word, 1, 1024, &block, error);
    if (!status && count == LAB_BLOCKS - 1)
      status = rung_fail(error, RUNG_BAD_ARGUMENT,
                         "--blocks has more than %d values: fewer would do", LAB_BLOCKS - 1);
    if (!status) choice->blocks[count++] = (int)block;
  }
  free(list);
  if (!status && count == 0)
    status = rung_fail(error, RUNG_BAD_ARGUMENT,
                       "--blocks '%.40s' names none: numbers such as 32,64, or all, would do",
                       r->blocks);
  return status;
}

static lab_rules rules_of(const cli_common *common, const request *r) {
  lab_rules rules = lab_rules_default();
  rules.seed = common->seed;
  rules.hot = r->hot;
  if (r->samples > 0) {
    rules.least = rules.most = (int)r->samples;
    rules.spread = 0;
  }
  if (r->seconds > 0) rules.seconds = r->seconds;
  return rules;
}

/* One bench under way. */
typedef struct bench {
  const cli_common *common;
  const request *request;
  lab_bench_set_up set_up;
  cli_progress progress;
  const rung_operation *operation; /* the one under way */
  json_t *records;
  int timed, failures;
  rung_error memory; /* that ran out for one of them */
} bench;

static rung_status bench_line(void *to, const char *line, rung_error *error) {
  bench *b = to;
  const rung_operation *operation = b->operation;
  lab_bench m;
  cli_progress_begin(&b->progress, b->common);
  cli_progress_part(&b->progress, 0, 1, operation->name);
  rung_status status =
      lab_bench_run(&b->set_up, operation, rung_cases_of(operation), line, &m, error);
  cli_progress_end(&b->progress);
  if (!status) {
    if (!b->common->json) measure_print(stdout, &m);
    json_t *record = lab_record(b->set_up.context, &m.test_case, m.candidates, m.count, &m.rules,
                                &m.peaks, b->request->command);
    if (!record || json_array_append_new(b->records, record) != 0)
      status = rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the record");
    b->timed += m.count;
    b->failures += lab_bench_failures(&m);
    lab_bench_memory(&m, &b->memory);
  }
  lab_bench_free(&m);
  return status;
}

/* The lines of --sizes, or the first that the operation wants benched. */
static rung_status bench_operation(bench *b, const rung_operation *operation, rung_error *error) {
  if (lab_bench_count(&b->set_up, operation, &b->set_up.context->device) == 0) return RUNG_OK;
  b->operation = operation;
  if (!b->request->sizes) return bench_line(b, rung_cases_of(operation)->bench[0], error);
  if (strspn(b->request->sizes, "; ") == strlen(b->request->sizes))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--sizes '%.40s' names no job; expected: one, \"n=1048576\", or several with "
                     "semicolons between them",
                     b->request->sizes);
  char *lines = strdup(b->request->sizes), *rest = NULL;
  if (!lines) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for --sizes");
  rung_status status = RUNG_OK;
  for (char *line = strtok_r(lines, ";", &rest); line && !status; line = strtok_r(NULL, ";", &rest))
    status = cli_sweep(line, bench_line, b, error);
  free(lines);
  return status;
}

/* The records, where they are wanted. lab_record_write() and standard output both take the
 * array's own reference. */
static rung_status deliver(bench *b, rung_error *error) {
  const cli_common *common = b->common;
  rung_status status = RUNG_OK;
  if (common->output && strcmp(common->output, "-") != 0)
    status = lab_record_write(common->output, b->records, error);
  if (!status && (common->json || (common->output && strcmp(common->output, "-") == 0))) {
    file_replace to = {.stream = stdout};
    status = cli_results_json(
        &to, lab_object("{s:i, s:O}", "rung-records", LAB_RECORD_VERSION, "records", b->records),
        error);
  }
  return status;
}

static rung_status run(bench *b, const rung_operation *const *operations, rung_error *error) {
  rung_status status = measure_open(&b->set_up, b->common, b->common->device, &b->progress,
                                    b->request->peers, error);
  for (int i = 0; operations[i] && !status; i++) status = bench_operation(b, operations[i], error);
  if (!status && b->timed == 0)
    status = rung_fail(
        error, RUNG_UNSUPPORTED, "no rung of %s runs on %s: `rung ladder` lists them",
        b->request->rungs ? b->request->rungs : "these operations", b->set_up.context->device.name);
  if (!status) status = deliver(b, error);
  if (!status && b->memory.status) {
    *error = b->memory;
    return error->status;
  }
  if (!status && b->failures > 0)
    status = rung_fail(error, RUNG_CHECK_FAILED, "%d of %d candidates failed their check",
                       b->failures, b->timed);
  return status;
}

int verb_bench(int argc, char **argv) {
  request r = {0};
  cli_common common;
  int first, code;
  size_t used = (size_t)snprintf(r.command, sizeof r.command, "rung");
  for (int i = 0; i < argc && used < sizeof r.command; i++)
    used += (size_t)snprintf(r.command + used, sizeof r.command - used,
                             strchr(argv[i], ' ') ? " \"%s\"" : " %s", argv[i]);
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) {
    if (code == CLI_DONE) cli_help_keys(argc, argv);
    return code;
  }
  rung_error error = {0};
  const rung_operation *one[2], *const *operations = NULL;
  bench b = {.common = &common, .request = &r, .set_up.rules = rules_of(&common, &r)};
  b.records = json_array();
  rung_status status = cli_operations_of(argv[first], one, &operations, &error);
  if (!status) status = check_rungs(&r, operations, &error);
  if (!status) status = choose(&common, &r, &b.set_up.choice, &error);
  if (!status && common.output) status = file_replace_possible(common.output, &error);
  if (!status) run(&b, operations, &error);
  rung_close(b.set_up.context);
  json_decref(b.records);
  return cli_end(verb, &error);
}
