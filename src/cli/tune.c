/* rung tune: which rung and block are the fastest on this machine, kept for `auto`. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/bench.h"
#include "lab/tune.h"

static const char verb[] = "tune";

static const double budget_usual = 30;

typedef struct request {
  bench_request jobs;
  double budget;
  bool show, forget;
} request;

enum { SIZES, BUDGET, SHOW, FORGET };
static const cli_option options[] = {
    {"sizes", 0, "LINE",
     "the jobs: \"n=2^10..2^24 type=f32,f64\", with lists and ranges; default: those of the tour"},
    {"budget", 0, "SECONDS",
     "sample for about so long in all; what is left then is not measured; default: 30"},
    {"show", 0, NULL, "list what is kept for the device, and measure nothing"},
    {"forget", 0, NULL, "drop what is kept for the device, and measure nothing"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  if (index == SIZES) r->jobs.sizes = value;
  if (index == SHOW) r->show = true;
  if (index == FORGET) r->forget = true;
  if (index != BUDGET) return RUNG_OK;
  rung_status status = cli_double("--budget", value, &r->budget, error);
  if (status || r->budget > 0) return status;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "--budget '%.40s' is out of range; expected: more than 0 seconds", value);
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPERATION] [OPTION]...",
    .about =
        "Verifies and times the canonical rungs with the block sizes worth trying, and keeps the\n"
        "fastest of each class of jobs: one operation, types, shapes by their power of two. From\n"
        "then on the command takes it where no --rung is given. Bits never change.",
    .example = "rung tune reduce --sizes \"n=2^10..2^24\" --budget 20",
    .common = CLI_DEVICE | CLI_THREADS | CLI_SEED | CLI_JSON | CLI_OUTPUT,
    .device_help = "cpu, cuda or cuda:<index>; default: a GPU where there is one, else cpu",
    .output_help = "write what was found there; default: standard output",
    .options = options,
    .take = take,
    .most = 1};

/* One tuning under way. */
typedef struct tuning {
  const cli_common *common;
  const request *request;
  const rung_operation *const *operations;
  rung_context *context;
  bench_jobs jobs;
  lab_tuned *found;
  int count, left; /* left: jobs that the budget was too small for */
} tuning;

/* ---- jobs ----------------------------------------------------------------------------------- */

/* Of a list that ends with NULL; NULL: it has not so many. */
static const char *nth(const char *const *lines, int number) {
  while (*lines && number > 0) {
    lines++;
    number--;
  }
  return *lines;
}

/* Those of --sizes, or of the tour: the first of every operation, then the second. */
static rung_status choose_jobs(tuning *t, rung_error *error) {
  const rung_operation *one[] = {NULL, NULL};
  if (t->request->jobs.sizes)
    return bench_jobs_of(&t->request->jobs, t->operations, &t->jobs, error);
  rung_status status = RUNG_OK;
  bool any = true;
  for (int i = 0; any && !status; i++) {
    any = false;
    for (int k = 0; t->operations[k] && !status; k++) {
      const char *line = nth(rung_cases_of(t->operations[k])->tour, i);
      if (!line) continue;
      const bench_request job = {.sizes = line};
      one[0] = t->operations[k];
      any = true;
      status = bench_jobs_of(&job, one, &t->jobs, error);
    }
  }
  return status;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* So long may a candidate be sampled that all take the budget. */
static lab_rules rules_of(const tuning *t) {
  lab_rules rules = lab_rules_default();
  int candidates = 1;
  for (int i = 0; i < t->jobs.count; i++)
    candidates += lab_tune_count(t->jobs.jobs[i].operation, &t->context->device);
  const double share = t->request->budget / candidates;
  if (share < rules.seconds) rules.seconds = share;
  rules.seed = t->common->seed;
  return rules;
}

static rung_status tune_job(tuning *t, const bench_job *job, const lab_rules *rules,
                            cli_progress *progress, rung_error *error) {
  const rung_cases *cases = rung_cases_of(job->operation);
  rung_case test_case;
  bool found = false;
  rung_status status = cases->make(job->line, t->common->seed, &test_case, error);
  if (status) return status;
  status = cases->expect(&test_case, error);
  if (!status)
    status = lab_tune(t->context, &test_case, rules, cli_progress_show, progress,
                      &t->found[t->count], &found, error);
  t->count += found;
  cases->drop(&test_case);
  return status;
}

/* The first job always; the others while the budget lasts. */
static rung_status tune_all(tuning *t, rung_error *error) {
  const lab_rules rules = rules_of(t);
  const double begun = seconds();
  rung_status status = RUNG_OK;
  cli_progress progress;
  t->found = calloc((size_t)t->jobs.count + 1, sizeof *t->found);
  if (!t->found) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for what is found");
  cli_progress_begin(&progress, t->common);
  for (int i = 0; i < t->jobs.count && !status; i++) {
    const bench_job *job = &t->jobs.jobs[i];
    if (i > 0 && seconds() - begun > t->request->budget) {
      t->left = t->jobs.count - i;
      break;
    }
    cli_progress_part(&progress, i, t->jobs.count, job->operation->name);
    status = tune_job(t, job, &rules, &progress, error);
  }
  cli_progress_end(&progress);
  if (!status) status = lab_tuned_keep(&t->context->device, t->found, t->count, error);
  return status;
}

/* ---- telling -------------------------------------------------------------------------------- */

static void print_block(FILE *to, int block) {
  if (block > 0)
    fprintf(to, " %5d", block);
  else
    fprintf(to, " %5s", "-");
}

static void print(FILE *to, const tuning *t) {
  char time[32], usual[32];
  fprintf(to, "%s%s: the rung that auto takes first%s\n", cli_colour(to, CLI_BOLD),
          t->context->device.name, cli_colour(to, CLI_PLAIN));
  if (t->count == 0) fprintf(to, "  nothing is kept\n");
  for (int i = 0; i < t->count; i++) {
    const lab_tuned *one = &t->found[i];
    fprintf(to, "  %s: %s\n    %-17s", one->operation->name, one->job, one->row->name);
    print_block(to, one->block);
    fprintf(to, " %12s, auto without it %s\n", cli_time(one->ms, time),
            cli_time(one->usual_ms, usual));
  }
}

static json_t *tuned_json(const tuning *t) {
  json_t *list = json_array();
  for (int i = 0; i < t->count; i++) {
    const lab_tuned *one = &t->found[i];
    cli_append(&list, lab_object("{s:s, s:s, s:s, s:s, s:i, s:o, s:o}", "operation",
                                 one->operation->name, "job", one->job, "measured", one->label,
                                 "rung", one->row->name, "block", one->block, "ms",
                                 cli_real(one->ms), "usual_ms", cli_real(one->usual_ms)));
  }
  return lab_object("{s:s, s:s, s:i, s:o}", "verb", verb, "device", t->context->device.name, "left",
                    t->left, "tuned", list);
}

static rung_status tell(const tuning *t, rung_error *error) {
  file_replace out = {0};
  rung_status status = cli_results_begin(&out, t->common, error);
  if (status) return status;
  if (t->common->json)
    status = cli_results_json(&out, tuned_json(t), error);
  else
    print(out.stream, t);
  if (!status) status = file_replace_commit(&out, error);
  file_replace_abandon(&out);
  return status;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static rung_status show(tuning *t, rung_error *error) {
  t->found = calloc(LAB_TUNED, sizeof *t->found);
  if (!t->found) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for what is kept");
  const int count = lab_tuned_kept(&t->context->device, t->found);
  if (count < 0) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to read what is kept");
  t->count = count;
  return tell(t, error);
}

static rung_status run(tuning *t, rung_error *error) {
  if (t->context->device.kind == RUNG_SIM)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "--device sim has no times of its own to tune by; expected: cpu or cuda");
  if (t->request->forget) return lab_tuned_forget(&t->context->device, error);
  if (t->request->show) return show(t, error);
  rung_status status = choose_jobs(t, error);
  if (!status) status = tune_all(t, error);
  if (!status) status = tell(t, error);
  if (!status && t->left > 0)
    cli_note(t->common, verb,
             "%d of %d jobs are left out: the budget was %.3g s; give more by "
             "--budget",
             t->left, t->jobs.count, t->request->budget);
  return status;
}

int verb_tune(int argc, char **argv) {
  request r = {.budget = budget_usual};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  const rung_operation *list[CLI_OPERATIONS + 1];
  tuning t = {.common = &common, .request = &r};
  rung_status status = cli_operations_of(argc - first, argv + first, list, &t.operations, &error);
  if (!status && common.output) status = file_replace_possible(common.output, &error);
  if (!status) status = cli_open(&common, common.device, &t.context, &error);
  if (!status) run(&t, &error);
  bench_jobs_free(&t.jobs);
  free(t.found);
  rung_close(t.context);
  return cli_end(verb, &error);
}
