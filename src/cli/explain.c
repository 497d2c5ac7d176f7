/* rung explain: what a device saw kernels do, and where in their source. */
#include "cli/explain.h"
#include "lab/line.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char verb[] = "explain";

enum { PATIENCE = 60 }; /* seconds that counting may take */

typedef struct request {
  const char *against, *size, *picture, *like;
} request;

enum { AGAINST, SIZE, PICTURE, LIKE };
static const cli_option options[] = {
    {"against", 0, "NAME", "set a second rung beside --rung"},
    {"sizes", 0, "LINE", "the job: \"n=64 m=4096\"; default: a small one of the operation's own"},
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
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_SEED | CLI_JSON | CLI_OUTPUT,
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
  rung_case test_case;
  bool made;        /* the case is to be dropped */
  explained *rungs; /* one a rung that was asked for */
  int count;
  file_replace out, picture;
} explanation;

/* ---- which rungs ---------------------------------------------------------------------------- */

static bool asked(const char *name) {
  return name && strcmp(name, "auto") != 0;
}

static rung_status add_rung(explanation *e, const char *name, rung_error *error) {
  const rung_operation *one[] = {e->operation, NULL};
  rung_status status = cli_check_rung(name, one, error);
  if (status) return status;
  for (int i = 0; i < e->operation->count; i++) {
    const rung_row *row = &e->operation->rows[i];
    if (row->family != RUNG_ON_GPU || strcmp(row->name, name) != 0) continue;
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
    if (e->operation->rows[i].family == RUNG_ON_GPU)
      e->rungs[e->count++] = (explained){.row = &e->operation->rows[i], .block = e->common->block};
  if (e->count > 0) return RUNG_OK;
  return rung_fail(error, RUNG_UNSUPPORTED, "%s has no GPU rungs to look at", e->operation->name);
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

/* The operation's own small job: the first of --type, where that is given. */
static rung_status make_default(const explanation *e, rung_case *test_case, rung_error *error) {
  const rung_cases *cases = rung_cases_of(e->operation);
  const char *const *lines = cases->explain ? cases->explain : cases->verify;
  rung_error ignored = {0};
  for (int i = 1; e->common->typed && lines[i]; i++)
    if (make_case(e, lines[i], test_case, &ignored) == RUNG_OK) return RUNG_OK;
  return make_case(e, lines[0], test_case, error);
}

/* The operation's job for pictures: of several the first that the rung supports. */
static rung_status make_drawable(explanation *e, rung_error *error) {
  const rung_cases *cases = rung_cases_of(e->operation);
  const char *const *lines = cases->picture ? cases->picture : cases->verify;
  const explained *the = &e->rungs[0];
  for (int i = 0;; i++) {
    lab_verdict verdict;
    rung_status status = make_case(e, lines[i], &e->test_case, error);
    if (status) return status;
    status = cases->expect(&e->test_case, error);
    if (!status) status = lab_try(e->context, &e->test_case, the->row, the->block, &verdict, error);
    if (!status && (verdict.finding != LAB_UNSUPPORTED || !lines[i + 1])) {
      e->made = true;
      return RUNG_OK;
    }
    cases->drop(&e->test_case);
    if (status) return status;
  }
}

/* ---- how long it will take ------------------------------------------------------------------ */

static double work_of(const rung_case *test_case) {
  return test_case->bytes + test_case->flops;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How long the rungs take for a case; what is counted is thrown away. */
static rung_status time_rungs(const explanation *e, rung_case *test_case, double *taken,
                              rung_error *error) {
  rung_status status = rung_cases_of(e->operation)->expect(test_case, error);
  const double begun = seconds();
  for (int i = 0; i < e->count && !status; i++) {
    rung_profile profile = {0};
    lab_verdict verdict;
    status = lab_explain(e->context, test_case, e->rungs[i].row, e->rungs[i].block, false, &profile,
                         &verdict, error);
    rung_profile_free(&profile);
  }
  *taken = seconds() - begun;
  return status;
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

/* Work is what time goes with; the operation's own job is measured. */
static rung_status check_patience(const explanation *e, rung_error *error) {
  rung_case small;
  double taken = 0;
  rung_status status = make_default(e, &small, error);
  if (status) return status;
  const double times = work_of(&e->test_case) / work_of(&small);
  if (times > 1) status = time_rungs(e, &small, &taken, error);
  rung_cases_of(e->operation)->drop(&small);
  const double wanted = taken * times;
  if (status || !(wanted > PATIENCE)) return status;
  char smaller[RUNG_SENTENCE], time[32];
  shrink(e->request->size, e->test_case.label, .8 * PATIENCE / wanted, smaller, sizeof smaller);
  return rung_fail(
      error, RUNG_BAD_ARGUMENT,
      "--sizes '%.80s' would take about %s to count, and at most %d s are taken for it; expected: "
      "%.160s",
      e->request->size, cli_time(1000 * wanted, time), PATIENCE, smaller);
}

/* ---- running -------------------------------------------------------------------------------- */

static rung_status make_job(explanation *e, rung_error *error) {
  if (e->request->picture && !e->request->size) return make_drawable(e, error);
  rung_status status = e->request->size ? make_case(e, e->request->size, &e->test_case, error)
                                        : make_default(e, &e->test_case, error);
  e->made = status == RUNG_OK;
  if (!status && e->request->size && e->context->device.kind == RUNG_SIM)
    status = check_patience(e, error);
  if (!status) status = rung_cases_of(e->operation)->expect(&e->test_case, error);
  return status;
}

/* One rung's, line by line. */
static bool shows_source(const explanation *e) {
  return !e->common->json && !e->request->against && asked(e->common->rung);
}

static rung_status count_rungs(explanation *e, rung_error *error) {
  cli_progress progress;
  rung_status status = RUNG_OK;
  cli_progress_begin(&progress, e->common);
  cli_progress_part(&progress, 0, 1, e->operation->name);
  for (int i = 0; i < e->count && !status; i++) {
    explained *the = &e->rungs[i];
    cli_progress_show(&progress, (double)i / e->count, the->row->name);
    if (e->context->device.kind == RUNG_CUDA)
      status = explain_on_gpu(e->context, &e->test_case, e->device, the, error);
    else
      status = lab_explain(e->context, &e->test_case, the->row, the->block,
                           e->request->picture != NULL, &the->profile, &the->verdict, error);
    lab_profile_total(&the->profile, &the->total);
    if (!status && shows_source(e))
      status = explain_sources_read(&the->profile, &the->sources, error);
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
           e->test_case.label);
  rung_status status = file_replace_begin(&e->picture, e->request->picture, error);
  return status ? status
                : explain_draw(e->picture.stream, &e->rungs[0].profile, title,
                               e->rungs[0].row->idea, NULL, NULL, error);
}

static void print(const explanation *e) {
  FILE *to = e->out.stream;
  fprintf(to, "%s on %s: %s\n\n", e->operation->name, e->context->device.name, e->test_case.label);
  if (e->request->against)
    explain_print_pair(to, e->rungs, &e->test_case);
  else if (shows_source(e))
    explain_print_rung(to, e->rungs, &e->test_case);
  else
    explain_print_rungs(to, e->rungs, e->count, &e->test_case);
}

static rung_status deliver(explanation *e, rung_error *error) {
  rung_status status = RUNG_OK;
  if (!explain_is_counted()) status = cli_results_begin(&e->out, e->common, error);
  if (status) return status;
  if (explain_is_counted())
    status = RUNG_OK; /* who counts tells */
  else if (e->common->json)
    status = cli_results_lines(&e->out, explain_json(e->rungs, e->count, &e->test_case, e->device),
                               error);
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
  if (e.made) e.test_case.cases->drop(&e.test_case);
  rung_close(e.context);
  return cli_end(verb, &error);
}
