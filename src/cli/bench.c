/* rung bench: how long each rung takes, and what it gained. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "peers/peers.h"

static const char verb[] = "bench";

enum { SAMPLES_MOST = 100000, BLOCK_MOST = 1024, LAUNCHES_MOST = 1000 };

enum {
  SIZES,
  TYPE,
  BLOCKS,
  RUNGS,
  CACHES,
  HOT,
  MEMORY,
  PEERS,
  SAMPLES,
  LAUNCHES,
  TIME_OUT,
  MARKDOWN,
  CSV,
  RESUME,
  KERNELS
};
static const cli_option options[] = {
    {"sizes", 0, "LINE",
     "the jobs: \"n=1e6,2^10..2^20 type=f32,f64\", lists and ranges of values, each with each; "
     "several lines, separated by ';'"},
    {"type", 0, "LIST", "f32,f64: of the lines that say no type"},
    {"blocks", 0, "LIST",
     "threads per block: 64,128 or 32..1024, or all that a rung sweeps; default its own"},
    {"rung", 0, "LIST", "only these rungs: global,onchip"},
    {"caches", 0, "LIST", "cold, hot or cold,hot; default cold: emptied before every sample"},
    {"hot", 0, NULL, "leave the caches as the run before left them: --caches hot"},
    {"memory", 0, "LIST",
     "the whole job on a GPU, from host memory of that kind and back, by stages: pageable, "
     "pinned, write-combined, mapped, managed"},
    {"peers", 0, "[=LIST]",
     "other libraries and programs too, where they are found; or only these"},
    {"samples", 0, "N", "take N samples of each; default 11 to 101, until they agree"},
    {"launches", 0, "N",
     "measure every job in N processes, 1 ... 1000, one after the other, and say how far they are "
     "apart; `rung compare` wants 4 of each record"},
    {"time-out", 0, "S", "seconds for each candidate; default 10"},
    {"markdown", 0, NULL, "print the table as Markdown"},
    {"csv", 0, "FILE", "write a row a candidate there, a column a value; - is standard output"},
    {"resume", 0, NULL, "go on with the record of -o: the jobs that it has are not measured again"},
    CLI_KERNELS,
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  bench_request *r = to;
  rung_status status = RUNG_OK;
  switch (index) {
    case SIZES:
      r->sizes = value;
      break;
    case TYPE:
      r->types = value;
      break;
    case BLOCKS:
      r->blocks = value;
      break;
    case RUNGS:
      r->rungs = strcmp(value, "auto") == 0 ? NULL : value;
      break;
    case CACHES:
      r->caches = value;
      break;
    case HOT:
      r->hot = true;
      break;
    case MEMORY:
      r->memory = value;
      break;
    case PEERS:
      r->peers = true;
      r->peer_names = value;
      break;
    case MARKDOWN:
      r->markdown = true;
      break;
    case CSV:
      r->csv = value;
      break;
    case RESUME:
      r->resume = true;
      break;
    case KERNELS:
      r->kernels = value;
      break;
    case SAMPLES:
      return cli_int("--samples", value, 1, SAMPLES_MOST, &r->samples, error);
    case LAUNCHES:
      return cli_int("--launches", value, 1, LAUNCHES_MOST, &r->launches, error);
    default:
      status = cli_double("--time-out", value, &r->seconds, error);
      if (!status && !(r->seconds > 0))
        status =
            rung_fail(error, RUNG_BAD_ARGUMENT,
                      "--time-out '%.40s' is out of range; expected: more than 0 seconds", value);
  }
  return status;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPERATION] [OPTION]...",
    .about =
        "Times every rung by the lab's protocol: verified, warmed up, sampled with cold\n"
        "caches and interleaved, verified again. With -o FILE what is done stands in FILE.part\n"
        "until all is: a run that ended early is gone on with by the same command and --resume.",
    .example = "rung bench stencil --sizes \"n=1024,2048 m=1024\" --type f32,f64 -o FILE",
    .common = CLI_DEVICE | CLI_MATH | CLI_THREADS | CLI_SEED | CLI_JSON | CLI_OUTPUT,
    .output_help =
        "write the records there, as JSON Lines; the table still goes to standard output",
    .options = options,
    .take = take,
    .most = 1};

/* ---- what was asked for --------------------------------------------------------------------- */

static rung_status add_block(void *to, const char *word, rung_error *error) {
  lab_choice *choice = to;
  int64_t block = 0;
  int count = 0;
  rung_status status = cli_int("--blocks", word, 1, BLOCK_MOST, &block, error);
  while (choice->blocks[count]) count++;
  if (!status && count == LAB_BLOCKS - 1)
    status = rung_fail(error, RUNG_BAD_ARGUMENT,
                       "--blocks has more than %d values; expected: fewer", LAB_BLOCKS - 1);
  if (!status) choice->blocks[count] = (int)block;
  return status;
}

static rung_status choose(const cli_common *common, const bench_request *r, lab_choice *choice,
                          rung_error *error) {
  *choice = (lab_choice){.rungs = r->rungs,
                         .peers = r->peer_names,
                         .strict = common->mathed && common->math == RUNG_MATH_STRICT};
  if (!r->blocks) return RUNG_OK;
  choice->own_blocks = strcmp(r->blocks, "all") == 0;
  if (choice->own_blocks) return RUNG_OK;
  char *list = strdup(r->blocks), *rest = NULL;
  if (!list) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for --blocks");
  rung_status status = RUNG_OK;
  for (char *word = strtok_r(list, ", ", &rest); word && !status;
       word = strtok_r(NULL, ", ", &rest))
    status = cli_each_value(word, add_block, choice, error);
  free(list);
  if (!status && choice->blocks[0] == 0)
    status = rung_fail(error, RUNG_BAD_ARGUMENT,
                       "--blocks '%.40s' names none; expected: numbers such as 32,64, or all",
                       r->blocks);
  return status;
}

static rung_status check_type(void *to, const char *name, rung_error *error) {
  rung_dtype type;
  char all[96];
  (void)to;
  if (rung_dtype_named(name, &type)) return RUNG_OK;
  rung_dtypes_text(RUNG_TYPE(RUNG_DTYPES) - 1, all, sizeof all);
  return rung_fail(error, RUNG_UNKNOWN_NAME, "--type '%.40s' is not taken; expected: %s", name,
                   all);
}

/* One thing has standard output. */
static rung_status check_outputs(const cli_common *common, const bench_request *r,
                                 rung_error *error) {
  const bool record = common->json || (common->output && strcmp(common->output, "-") == 0);
  const bool csv = r->csv && strcmp(r->csv, "-") == 0;
  if (record + csv + r->markdown > 1)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s%s%s would all be printed; expected: one of them on standard output",
                     record ? "the record" : "the CSV", record && csv ? ", the CSV" : "",
                     r->markdown ? " and the Markdown" : "");
  rung_status status = common->output ? file_replace_possible(common->output, error) : RUNG_OK;
  return !status && r->csv ? file_replace_possible(r->csv, error) : status;
}

static lab_rules rules_of(const cli_common *common, const bench_request *r) {
  lab_rules rules = lab_rules_default();
  rules.seed = common->seed;
  if (r->samples > 0) {
    rules.least = rules.most = (int)r->samples;
    rules.spread = 0;
  }
  if (r->seconds > 0) rules.seconds = r->seconds;
  rules.launches = (int)r->launches;
  return rules;
}

int verb_bench(int argc, char **argv) {
  bench_request r = {0};
  cli_common common;
  int first, code;
  measure_command(argc, argv, r.command);
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) {
    if (code == CLI_DONE) cli_help_keys(argc, argv);
    return code;
  }
  rung_error error = {0};
  const rung_operation *list[CLI_OPERATIONS + 1], *const *operations = NULL;
  bench b = {.common = &common, .request = &r, .set_up.rules = rules_of(&common, &r)};
  rung_status status = cli_operations_of(argc - first, argv + first, list, &operations, &error);
  if (!status) status = cli_kernels(r.kernels, list, &operations, &error);
  if (!status) status = cli_check_rungs(r.rungs, operations, &error);
  if (!status && r.types) status = cli_each_value(r.types, check_type, NULL, &error);
  if (!status) status = choose(&common, &r, &b.set_up.choice, &error);
  if (!status) status = bench_jobs_of(&r, operations, &b.jobs, &error);
  if (!status) status = check_outputs(&common, &r, &error);
  if (!status) bench_run(&b, operations, &error);
  rung_close(b.set_up.context);
  bench_part_free(&b.part);
  bench_jobs_free(&b.jobs);
  lab_kernels_close();
  return cli_end(verb, &error);
}
