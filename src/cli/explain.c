/* rung explain: what a device saw kernels do, and where in their source. */
#include "cli/explain.h"
#include "lab/line.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char verb[] = "explain";

enum {
  PATIENCE = 60, /* seconds that counting may take */
  JOBS = 24      /* of an operation's own */
};

typedef struct request {
  const char *against, *size, *picture, *like;
} request;

enum { AGAINST, SIZE, PICTURE, LIKE };
static const cli_option options[] = {
    {"against", 0, "NAME", "set a second rung beside --rung"},
    {"sizes", 0, "LINE", "the job: \"n=64 m=4096\"; default: a small one of the rung's own"},
    {"picture", 0, "FILE",
     "draw there as SVG what the threads of one block do, step by step; with --rung, on sim"},
    CLI_LIKE,
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  (void)error;
  const char **const members[] = {&r->against, &r->size, &r->picture, &r->like};
  *members[index] = value;
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "OPERATION [OPTION]...",
    .about =
        "Counts what the GPU rungs' kernels do, access by access: sectors a request, bank\n"
        "conflicts, divergence, barriers, arithmetic. With --rung, line by line of the source.",
    .example = "rung explain reduce --rung modulo --against sequential",
    .types = RUNG_TYPE(RUNG_DTYPES) - 1,
    .common =
        CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_SEED | CLI_JSON | CLI_OUTPUT,
    .fixed = true,
    .device_help = "sim:h200 (default) and others: see --like; sim; cuda or cuda:<index>",
    .rung_help = "kernel by kernel and line by line; default: a table of all GPU rungs",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

/* One explanation under way. */
typedef struct explanation {
  const cli_common *common;
  const request *request;
  const rung_operation *operation;
  const char *device;
  char like[CLI_LIKE_TEXT];
  rung_context *context;
  rung_case cases[JOBS]; /* that were made: to be dropped */
  int made[JOBS];        /* each one's place in the operation's list, from 1 on; 0: --sizes */
  int cases_made;
  explained *rungs; /* one a rung that was asked for */
  int count;
  file_replace out, picture;
} explanation;

/* ---- which rungs ---------------------------------------------------------------------------- */

static bool asked(const char *name) {
  return name && strcmp(name, "auto") != 0;
}

/* --math strict leaves out what saves arithmetic, fixed all but fixed point. */
static bool is_of_math(const explanation *e, const rung_row *row) {
  const cli_common *common = e->common;
  if (!common->mathed) return true;
  if (common->math == RUNG_MATH_FIXED) return rung_row_fixed(row);
  return common->math == RUNG_MATH_FAST || row->order != RUNG_LOOSE;
}

static rung_status add_rung(explanation *e, const char *name, rung_error *error) {
  const rung_operation *one[] = {e->operation, NULL};
  rung_status status = cli_check_rung(name, one, error);
  if (status) return status;
  for (int i = 0; i < e->operation->count; i++) {
    const rung_row *row = &e->operation->rows[i];
    if (row->family != RUNG_ON_GPU || strcmp(row->name, name) != 0) continue;
    if (!is_of_math(e, row))
      return rung_fail(error, RUNG_UNSUPPORTED,
                       "rung '%.40s' is not one of that --math; expected: another one, or none",
                       name);
    e->rungs[e->count++] = (explained){.row = row, .block = e->common->block};
    return RUNG_OK;
  }
  return rung_fail(
      error, RUNG_UNSUPPORTED,
      "rung '%.40s' runs on the CPU, and explain looks at GPU rungs; expected: those that "
      "`rung ladder %s` marks gpu",
      name, e->operation->name);
}

static rung_status choose_rungs(explanation *e, rung_error *error) {
  e->rungs = calloc((size_t)e->operation->count + 2, sizeof *e->rungs);
  if (!e->rungs) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the rungs");
  if (e->request->against && !asked(e->common->rung))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--against '%.40s' is given without --rung; expected: --rung NAME too",
                     e->request->against);
  if (asked(e->common->rung)) {
    rung_status status = add_rung(e, e->common->rung, error);
    return status || !e->request->against ? status : add_rung(e, e->request->against, error);
  }
  for (int i = 0; i < e->operation->count; i++)
    if (e->operation->rows[i].family == RUNG_ON_GPU && is_of_math(e, &e->operation->rows[i]))
      e->rungs[e->count++] = (explained){.row = &e->operation->rows[i], .block = e->common->block};
  if (e->count > 0) return RUNG_OK;
  return rung_fail(error, RUNG_UNSUPPORTED, "%s has no GPU rungs %sto look at", e->operation->name,
                   e->common->mathed ? "of that --math " : "");
}

static rung_status choose_device(explanation *e, rung_error *error) {
  rung_device device;
  rung_status status = cli_like(e->common->device, e->request->like, e->like, &e->device, error);
  if (!status && !e->device) e->device = "sim:h200";
  if (!status) status = rung_find_device(e->device, &device, error);
  if (status) return status;
  if (e->request->picture && device.kind != RUNG_SIM)
    return rung_fail(
        error, RUNG_UNSUPPORTED,
        "--picture is drawn from what the simulated GPU sees, and --device is '%.40s'; "
        "expected: sim",
        e->device);
  if (device.kind == RUNG_CPU)
    return rung_fail(
        error, RUNG_UNSUPPORTED,
        "--device '%.40s' runs no GPU rungs, and explain looks at those; expected: sim or cuda",
        e->device);
  return cli_open(e->common, e->device, &e->context, error);
}

/* A picture is of one rung, and one thing has standard output. */
static rung_status check_picture(const explanation *e, rung_error *error) {
  const char *path = e->request->picture, *output = e->common->output;
  if (!path) return RUNG_OK;
  if (!asked(e->common->rung) || e->request->against)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--picture '%.80s' is of one rung; expected: --rung NAME, and no --against",
                     path);
  if (strcmp(path, output ? output : "-") == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--picture '%.80s' is where the counts go; expected: another file than that "
                     "of -o, or - with -o FILE",
                     path);
  return file_replace_possible(path, error);
}

/* The smallest block of at least two warps that the rung is swept with. */
static int block_to_draw(const rung_row *row) {
  enum { TWO_WARPS = 64 };
  int least = 0;
  for (int i = 0; row->blocks && row->blocks[i] > 0; i++)
    if (row->blocks[i] >= TWO_WARPS && (least == 0 || row->blocks[i] < least))
      least = row->blocks[i];
  return least;
}

/* ---- which job ------------------------------------------------------------------------------ */

/* Where the value of `key` stands in a line of key=value pairs; NULL: nowhere. */
static const char *value_in(const char *line, const char *key) {
  const size_t length = strlen(key);
  for (const char *at = line; (at = strstr(at, key)); at++)
    if ((at == line || at[-1] == ' ') && at[length] == '=') return at + length + 1;
  return NULL;
}

/* The case of a line; of --type where the line says nothing of it. */
static rung_status make_case(const explanation *e, const char *line, rung_case *test_case,
                             rung_error *error) {
  char typed[1024];
  const cli_common *common = e->common;
  const rung_cases *cases = rung_cases_of(e->operation);
  const bool adds = common->typed && !value_in(line, "type");
  snprintf(typed, sizeof typed, "%s%s%s", line, adds ? " type=" : "",
           adds ? rung_dtype_name(common->type) : "");
  if (strlen(line) >= RUNG_SENTENCE)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--sizes is a line of %zu characters; expected: fewer than %d", strlen(line),
                     RUNG_SENTENCE);
  rung_status status = cases->make(typed, common->seed, test_case, error);
  if (status || !common->typed || test_case->types.in == common->type) return status;
  const rung_dtype found = test_case->types.in;
  cases->drop(test_case);
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "--type is %s where the job '%.60s' is of %s; expected: one of them",
                   rung_dtype_name(common->type), line, rung_dtype_name(found));
}

/* The case of one of the operation's own lines, made once; NULL: it is not of --type. */
static rung_status own_case(explanation *e, const char *const *lines, int index,
                            const rung_case **found, rung_error *error) {
  rung_case *made = &e->cases[e->cases_made];
  rung_error ignored = {0};
  *found = NULL;
  for (int i = 0; i < e->cases_made; i++)
    if (e->made[i] == index + 1) *found = &e->cases[i];
  if (*found || e->cases_made == JOBS) return RUNG_OK;
  const rung_status status = make_case(e, lines[index], made, &ignored);
  if (status == RUNG_BAD_ARGUMENT && e->common->typed) return RUNG_OK;
  if (status) return rung_fail(error, status, "%s", ignored.sentence);
  e->made[e->cases_made++] = index + 1;
  *found = made;
  return rung_cases_of(e->operation)->expect(made, error);
}

/* One rung on one job. */
static rung_status count_rung(const explanation *e, explained *the, rung_error *error) {
  rung_profile_free(&the->profile);
  if (e->context->device.kind == RUNG_CUDA)
    return explain_on_gpu(e->context, the->test_case, e->device, the, error);
  return lab_explain(e->context, the->test_case, the->row, the->block, e->request->picture != NULL,
                     &the->profile, &the->verdict, error);
}

/* Those that are counted for the same job: one, or the two that are set side by side. */
static rung_status count_together(const explanation *e, explained *rungs, int count,
                                  const rung_case *test_case, bool *supported, rung_error *error) {
  rung_status status = RUNG_OK;
  *supported = true;
  for (int k = 0; k < count && !status; k++) {
    rungs[k].test_case = test_case;
    status = count_rung(e, &rungs[k], error);
    if (rungs[k].verdict.finding == LAB_UNSUPPORTED) *supported = false;
  }
  return status;
}

/* The operation's own jobs are tried in turn; where all are refused, it is the first one's reason
 * that is told. */
static rung_status count_own(explanation *e, explained *rungs, int count, rung_error *error) {
  const rung_cases *cases = rung_cases_of(e->operation);
  const char *const *own = e->request->picture ? cases->picture : cases->explain,
                    *const *lines = own ? own : cases->verify;
  const rung_case *first = NULL, *job = NULL;
  bool supported = false;
  rung_status status = RUNG_OK;
  for (int i = 0; lines[i] && !supported && !status; i++) {
    status = own_case(e, lines, i, &job, error);
    if (status || !job) continue;
    if (!first) first = job;
    status = count_together(e, rungs, count, job, &supported, error);
  }
  if (status || supported) return status;
  if (first) return count_together(e, rungs, count, first, &supported, error);
  return make_case(e, lines[0], &e->cases[0], error); /* which is not of --type, and says so */
}

/* ---- how long it will take ------------------------------------------------------------------ */

static double work_of(const rung_case *test_case) {
  return test_case->bytes + test_case->flops;
}

/* Whether the asked for is more work than one of the operation's own. */
static bool is_larger(const explanation *e, const char *line) {
  rung_case small;
  rung_error ignored = {0};
  const rung_cases *cases = rung_cases_of(e->operation);
  if (cases->make(line, LAB_UNFILLED, &small, &ignored) != RUNG_OK) return true;
  const bool larger = work_of(&e->cases[0]) > work_of(&small);
  cases->drop(&small);
  return larger;
}

/* Of the processor: what is refused does not hang on what else the machine does. */
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The line with its n made smaller by `factor`, to two digits. */
static void shrink(const char *line, const char *label, double factor, char *text, size_t size) {
  const char *value = value_in(line, "n");
  if (!value) {
    line = label;
    value = value_in(label, "n");
  }
  if (!value) {
    snprintf(text, size, "%s", "one of the operation's own");
    return;
  }
  const char *end = value;
  int64_t whole = 0;
  rung_whole_number(value, &end, &whole);
  long long n = (long long)((double)whole * factor), unit = 1;
  while (n / unit >= 100) unit *= 10;
  n = n > unit ? n / unit * unit : 1;
  snprintf(text, size, "\"%.*s%lld%s\"", (int)(value - line), line, n, end);
}

/* Work is what time goes with; the operation's own jobs are measured. */
static rung_status check_patience(explanation *e, rung_error *error) {
  const rung_case *asked_for = &e->cases[0];
  double wanted = 0;
  for (int i = 0; i < e->count; i++) {
    explained small = {.row = e->rungs[i].row, .block = e->rungs[i].block};
    const double begun = seconds();
    const rung_status status = count_own(e, &small, 1, error);
    rung_profile_free(&small.profile);
    if (status) return status;
    wanted += (seconds() - begun) * work_of(asked_for) / work_of(small.test_case);
  }
  if (!(wanted > PATIENCE)) return RUNG_OK;
  char smaller[RUNG_SENTENCE], time[32];
  shrink(e->request->size, asked_for->label, .8 * PATIENCE / wanted, smaller, sizeof smaller);
  return rung_fail(
      error, RUNG_BAD_ARGUMENT,
      "--sizes '%.80s' would take about %s to count, and at most %d s are taken for it; expected: "
      "%.160s",
      e->request->size, cli_time(1000 * wanted, time), PATIENCE, smaller);
}

/* ---- running -------------------------------------------------------------------------------- */

/* The job of --sizes, where that is given. */
static rung_status make_job(explanation *e, rung_error *error) {
  if (!e->request->size) return RUNG_OK;
  rung_status status = make_case(e, e->request->size, &e->cases[0], error);
  if (status) return status;
  e->cases_made = 1;
  const rung_cases *cases = rung_cases_of(e->operation);
  const char *const *lines = cases->explain ? cases->explain : cases->verify;
  if (e->context->device.kind == RUNG_SIM && is_larger(e, lines[0]))
    status = check_patience(e, error);
  if (!status) status = cases->expect(&e->cases[0], error);
  return status;
}

/* One rung's, line by line. */
static bool shows_source(const explanation *e) {
  return !e->common->json && !e->request->against && asked(e->common->rung);
}

static rung_status count_rungs(explanation *e, rung_error *error) {
  cli_progress progress;
  rung_status status = RUNG_OK;
  const int together = e->request->against ? 2 : 1;
  bool supported;
  cli_progress_begin(&progress, e->common);
  cli_progress_part(&progress, 0, 1, e->operation->name);
  for (int i = 0; i < e->count && !status; i += together) {
    explained *the = &e->rungs[i];
    cli_progress_show(&progress, (double)i / e->count, the->row->name);
    status = e->request->size ? count_together(e, the, together, &e->cases[0], &supported, error)
                              : count_own(e, the, together, error);
  }
  for (int i = 0; i < e->count && !status; i++) {
    explained *the = &e->rungs[i];
    lab_profile_total(&the->profile, &the->total);
    if (shows_source(e)) status = explain_sources_read(&the->profile, &the->sources, error);
  }
  cli_progress_end(&progress);
  return status;
}

/* What a rung that fails its check does is not drawn. */
static rung_status draw(explanation *e, rung_error *error) {
  const lab_verdict *verdict = &e->rungs[0].verdict;
  if (!e->request->picture) return RUNG_OK;
  if (verdict->finding == LAB_UNSUPPORTED)
    return rung_fail(error, RUNG_UNSUPPORTED, "nothing to draw: %s", verdict->sentence);
  if (verdict->finding != LAB_GOOD) return RUNG_OK;
  char title[RUNG_LABEL + 128];
  snprintf(title, sizeof title, "%.30s, rung %.30s: %s", e->operation->name, e->rungs[0].row->name,
           e->rungs[0].test_case->label);
  rung_status status = file_replace_begin(&e->picture, e->request->picture, error);
  return status ? status
                : explain_draw(e->picture.stream, &e->rungs[0].profile, title,
                               e->rungs[0].row->idea, NULL, NULL, error);
}

static void print(const explanation *e) {
  FILE *to = e->out.stream;
  fprintf(to, "%s on %s: %s\n\n", e->operation->name, e->context->device.name,
          explain_job(e->rungs, e->count)->label);
  if (e->request->against)
    explain_print_pair(to, e->rungs);
  else if (shows_source(e))
    explain_print_rung(to, e->rungs);
  else
    explain_print_rungs(to, e->rungs, e->count);
}

static rung_status deliver(explanation *e, rung_error *error) {
  rung_status status = RUNG_OK;
  if (!explain_is_counted()) status = cli_results_begin(&e->out, e->common, error);
  if (status) return status;
  if (explain_is_counted())
    status = RUNG_OK; /* who counts tells */
  else if (e->common->json)
    status = cli_results_lines(&e->out, explain_json(e->rungs, e->count, e->device), error);
  else
    print(e);
  if (!status && !explain_is_counted()) status = file_replace_commit(&e->out, error);
  if (!status && e->picture.stream) status = file_replace_commit(&e->picture, error);
  int wrong = 0;
  for (int i = 0; i < e->count; i++)
    wrong +=
        e->rungs[i].verdict.finding != LAB_GOOD && e->rungs[i].verdict.finding != LAB_UNSUPPORTED;
  if (!status && wrong > 0)
    status = rung_fail(error, RUNG_CHECK_FAILED,
                       "%d of %d rungs failed their check: what they do "
                       "is not explained",
                       wrong, e->count);
  return status;
}

int verb_explain(int argc, char **argv) {
  request r = {0};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  const rung_operation *list[CLI_OPERATIONS + 1], *const *operations = NULL;
  explanation e = {.common = &common, .request = &r};
  rung_status status = cli_operations_of(argc - first, argv + first, list, &operations, &error);
  if (!status) {
    e.operation = operations[0];
    status = choose_rungs(&e, &error);
  }
  if (!status) status = check_picture(&e, &error);
  if (!status && r.picture && common.block == 0) e.rungs[0].block = block_to_draw(e.rungs[0].row);
  if (!status && common.output) status = file_replace_possible(common.output, &error);
  if (!status) status = choose_device(&e, &error);
  if (!status) status = make_job(&e, &error);
  if (!status) status = count_rungs(&e, &error);
  if (!status) status = draw(&e, &error);
  if (!status) deliver(&e, &error);
  file_replace_abandon(&e.out);
  file_replace_abandon(&e.picture);
  for (int i = 0; i < e.count; i++) {
    rung_profile_free(&e.rungs[i].profile);
    explain_sources_free(&e.rungs[i].sources);
  }
  free(e.rungs);
  for (int i = 0; i < e.cases_made; i++) e.cases[i].cases->drop(&e.cases[i]);
  rung_close(e.context);
  return cli_end(verb, &error);
}
