/* rung timeline: when each block of a kernel ran, and on which multiprocessor. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/rows.h"
#include "cli/trace.h"

static const char verb[] = "timeline";

enum { COLUMNS = 60, LEFT = 16, LINES = 160 }; /* of the chart */

typedef struct request {
  const char *sizes, *trace, *picture, *like;
} request;

enum { SIZES, TRACE, PICTURE, LIKE };

static const cli_option options[] = {
    {"sizes", 0, "LINE", "the job: \"n=128 op=min outer=64\"; default: one of the operation's own"},
    {"trace", 0, "FILE",
     "write the blocks there as trace events, for Perfetto or chrome://tracing"},
    {"picture", 0, "FILE", "draw the blocks there as SVG, a line for each place they ran in"},
    CLI_LIKE,
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  (void)error;
  const char **const members[] = {&r->sizes, &r->trace, &r->picture, &r->like};
  *members[index] = value;
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "OPERATION [OPTION]...",
    .about =
        "Shows when each block of a rung ran and on which multiprocessor, as the blocks wrote it\n"
        "down themselves: a summary, and a chart with a line for each multiprocessor.",
    .example = "rung timeline reduce --sizes \"n=128 op=min outer=264\" -o blocks.csv",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_SEED | CLI_JSON | CLI_OUTPUT,
    .device_help = "cuda, cuda:<index>, sim; default: a GPU where there is one, else sim:h200",
    .rung_help = "one that writes times down; default: the operation's first",
    .output_help = "write the blocks there as CSV; with --json, the JSON",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

/* One timeline under way. */
typedef struct look {
  const cli_common *common;
  const rung_operation *operation;
  const rung_row *row;
  const char *device;
  char like[CLI_LIKE_TEXT];
  rung_context *context;
  rung_case test_case;
  bool made; /* the case is to be dropped */
  lab_timeline timeline;
  lab_timeline_figures figures;
  const char *unit; /* of its times */
  file_replace out, picture;
} look;

/* The summary has standard output. */
static rung_status check_files(const cli_common *common, const request *r, rung_error *error) {
  rung_status status = common->output ? file_replace_possible(common->output, error) : RUNG_OK;
  if (!status && r->trace) status = file_replace_possible(r->trace, error);
  if (status || !r->picture) return status;
  if (strcmp(r->picture, "-") == 0 || (common->output && strcmp(r->picture, common->output) == 0))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--picture '%.80s' is where other results go; expected: a file of its own",
                     r->picture);
  return file_replace_possible(r->picture, error);
}

/* ---- what is looked at ---------------------------------------------------------------------- */

static bool asked(const char *name) {
  return name && strcmp(name, "auto") != 0;
}

/* Some operation with a rung that writes times down. */
static const char *operation_with_times(void) {
  for (int k = 0; rung_operations[k]; k++)
    for (int i = 0; i < rung_operations[k]->count; i++)
      if (rung_operations[k]->rows[i].block_times) return rung_operations[k]->name;
  return "none";
}

static rung_status choose_row(look *the, rung_error *error) {
  const rung_operation *operation = the->operation, *one[] = {operation, NULL};
  const char *name = asked(the->common->rung) ? the->common->rung : NULL;
  const rung_row *first = NULL;
  for (int i = operation->count - 1; i >= 0; i--) {
    if (!operation->rows[i].block_times) continue;
    first = &operation->rows[i];
    if (name && strcmp(first->name, name) == 0) the->row = first;
  }
  if (!name) the->row = first;
  if (the->row) return RUNG_OK;
  rung_status status = name ? cli_check_rung(name, one, error) : RUNG_OK;
  if (status) return status;
  if (!first)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "no rung of %s writes down when its blocks ran; expected: one of %s",
                     operation->name, operation_with_times());
  return rung_fail(error, RUNG_UNSUPPORTED,
                   "the blocks of rung '%.40s' do not write down when they ran; expected: '%s'",
                   name, first->name);
}

static rung_status choose_device(look *the, const char *like, rung_error *error) {
  rung_device device;
  rung_error why = {0};
  rung_status status = cli_like(the->common->device, like, the->like, &the->device, error);
  if (status) return status;
  if (!the->device) {
    the->device = rung_find_device("cuda", &device, &why) == RUNG_OK ? "cuda" : "sim:h200";
    if (why.sentence[0]) cli_note(the->common, verb, "no GPU: %s", why.sentence);
  }
  status = rung_find_device(the->device, &device, error);
  if (status) return status;
  if (device.kind == RUNG_CPU)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "--device '%.40s' runs no blocks to look at; expected: cuda or sim",
                     the->device);
  the->unit = device.kind == RUNG_SIM ? "steps" : "ns";
  return cli_open(the->common, the->device, &the->context, error);
}

static rung_status make_case(look *the, const char *line, rung_error *error) {
  const rung_cases *cases = rung_cases_of(the->operation);
  if (!line) line = cases->timeline ? cases->timeline[0] : cases->verify[0];
  rung_status status = cases->make(line, the->common->seed, &the->test_case, error);
  the->made = status == RUNG_OK;
  return status ? status : cases->expect(&the->test_case, error);
}

static rung_status run(look *the, rung_error *error) {
  lab_verdict verdict;
  rung_status status = lab_timeline_of(the->context, &the->test_case, the->row, the->common->block,
                                       &the->timeline, &verdict, error);
  if (status) return status;
  if (verdict.finding != LAB_GOOD)
    return rung_fail(error,
                     verdict.finding == LAB_UNSUPPORTED ? RUNG_UNSUPPORTED : RUNG_CHECK_FAILED,
                     "%s%s%s", verdict.finding == LAB_UNSUPPORTED ? "" : the->row->name,
                     verdict.finding == LAB_UNSUPPORTED ? "" : ": ", verdict.sentence);
  return lab_timeline_look(&the->timeline, &the->figures, error);
}

/* ---- telling -------------------------------------------------------------------------------- */

const char *timeline_span(const char *unit, double span, char text[32]) {
  if (strcmp(unit, "ns") == 0) return cli_time(1e-6 * span, text);
  snprintf(text, 32, "%.0f steps", span);
  return text;
}

static void print_summary(FILE *to, const look *the) {
  const lab_timeline_figures *f = &the->figures;
  char span[32], median[32], least[32], most[32];
  fprintf(to, "%s on %s: rung %s, %s\n", the->operation->name, the->context->device.name,
          the->row->name, the->test_case.label);
  fprintf(to,
          "%" PRId64 " blocks on %" PRId64 " of %d multiprocessors, %" PRId64 " ... %" PRId64
          " on each of these; at most %" PRId64 " at once\n",
          the->timeline.count, f->processors, the->context->device.processors, f->least, f->most,
          f->at_once);
  fprintf(to, "%s from the first start to the last end; a block takes %s [%s ... %s]\n",
          timeline_span(the->unit, (double)f->span, span),
          timeline_span(the->unit, f->lasted.median, median),
          timeline_span(the->unit, f->lasted.min, least),
          timeline_span(the->unit, f->lasted.max, most));
  if (strcmp(the->unit, "ns") == 0)
    fprintf(to, "the device's clock moves by %" PRIu64 " ns at a time\n\n", f->tick);
  else
    fprintf(
        to,
        "times are steps of the simulator, no GPU's; blocks are placed by a rule: in order, each "
        "where a place is free first\n\n");
}

static int by_processor(const void *a, const void *b) {
  const rung_block_time *x = *(rung_block_time *const *)a, *y = *(rung_block_time *const *)b;
  return (x->processor > y->processor) - (x->processor < y->processor);
}

/* A moment in columns from the first start on. */
/* A narrow terminal has fewer. */
static int chart_columns(void) {
  const int columns = cli_columns(STDOUT_FILENO);
  return columns > 0 && columns < LEFT + COLUMNS ? columns - LEFT : COLUMNS;
}

static double column_of(const look *the, uint64_t moment) {
  return chart_columns() * (double)(moment - the->figures.first) / (double)(the->figures.span + 1);
}

/* One multiprocessor: in every column how many of its blocks ran at a time, on the average, rounded
 * up. */
static void print_line(FILE *to, const look *the, rung_block_time *const *blocks, int64_t count) {
  const double least = 1e-9; /* a block that takes no time is seen too */
  const int columns = chart_columns();
  double busy[COLUMNS] = {0};
  for (int64_t i = 0; i < count; i++) {
    const double start = column_of(the, blocks[i]->start), end = column_of(the, blocks[i]->end);
    for (int c = (int)start; c < columns && c <= end; c++)
      busy[c] += fmax(fmin(end, c + 1) - fmax(start, c), least);
  }
  fprintf(to, "%*" PRIu64 "  ", LEFT - 2, blocks[0]->processor);
  for (int c = 0; c < columns; c++) {
    const int running = (int)fmin(ceil(busy[c] - 1e-6), 10) + (busy[c] > 0 && busy[c] <= 1e-6);
    fputc(running == 0 ? '.' : running < 10 ? '0' + running : '+', to);
  }
  fputc('\n', to);
}

static rung_status print_chart(FILE *to, const look *the, rung_error *error) {
  const lab_timeline *timeline = &the->timeline;
  rung_block_time **blocks = malloc((size_t)timeline->count * sizeof *blocks);
  char span[32];
  if (!blocks) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the chart");
  for (int64_t i = 0; i < timeline->count; i++) blocks[i] = &timeline->blocks[i];
  qsort(blocks, (size_t)timeline->count, sizeof *blocks, by_processor);
  fprintf(to, "multiprocessor  0%*s\n", chart_columns() - 1,
          timeline_span(the->unit, (double)the->figures.span, span));
  int64_t lines = 0;
  for (int64_t first = 0, next; first < timeline->count; first = next) {
    for (next = first; next < timeline->count; next++)
      if (blocks[next]->processor != blocks[first]->processor) break;
    if (lines++ < LINES) print_line(to, the, blocks + first, next - first);
  }
  if (lines > LINES) fprintf(to, "and %" PRId64 " multiprocessors more\n", lines - LINES);
  free(blocks);
  return RUNG_OK;
}

static void print_csv(FILE *to, const look *the) {
  fprintf(to, "block,multiprocessor,start_%s,end_%s\n", the->unit, the->unit);
  for (int64_t i = 0; i < the->timeline.count; i++) {
    const rung_block_time *b = &the->timeline.blocks[i];
    fprintf(to, "%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", i, b->processor,
            b->start - the->figures.first, b->end - the->figures.first);
  }
}

static json_t *timeline_json(const look *the) {
  const lab_timeline_figures *f = &the->figures;
  json_t *blocks = json_array();
  for (int64_t i = 0; i < the->timeline.count; i++) {
    const rung_block_time *b = &the->timeline.blocks[i];
    cli_append(&blocks,
               lab_object("{s:I, s:I, s:I, s:I}", "block", (json_int_t)i, "multiprocessor",
                          (json_int_t)b->processor, "start", (json_int_t)(b->start - f->first),
                          "end", (json_int_t)(b->end - f->first)));
  }
  return lab_object(
      "{s:s, s:i, s:s, s:s, s:s, s:s, s:i, s:I, s:s, s:I, s:I, s:I, s:I, s:i, s:I, s:I, s:o}",
      "verb", verb, "version", TIMELINE_VERSION, "device", the->device, "operation",
      the->operation->name, "job", the->test_case.label, "rung", the->row->name, "block_size",
      the->common->block, "seed", (json_int_t)the->test_case.seed, "unit", the->unit, "span",
      (json_int_t)f->span, "tick", (json_int_t)f->tick, "at_once", (json_int_t)f->at_once,
      "multiprocessors_used", (json_int_t)f->processors, "multiprocessors",
      the->context->device.processors, "least_blocks_each", (json_int_t)f->least,
      "most_blocks_each", (json_int_t)f->most, "blocks", blocks);
}

/* The files beside the results. A step of the simulator is traced as a nanosecond. */
static rung_status write_files(look *the, const request *r, rung_error *error) {
  char title[RUNG_LABEL + 128];
  rung_status status = RUNG_OK;
  snprintf(title, sizeof title, "%.30s, rung %.30s, %s; times in %s", the->operation->name,
           the->row->name, the->test_case.label, the->unit);
  if (r->trace)
    status = trace_write(r->trace, &the->timeline, the->figures.first, 1000, title, error);
  if (!status && r->picture) status = file_replace_begin(&the->picture, r->picture, error);
  if (!status && r->picture)
    status = timeline_draw(the->picture.stream, &the->timeline, &the->figures, the->unit, title,
                           NULL, error);
  return status;
}

/* The summary goes to standard output; the blocks go to the file, where one is asked for. */
static rung_status deliver(look *the, rung_error *error) {
  const bool json = the->common->json;
  rung_status status = RUNG_OK;
  if (!json) {
    print_summary(stdout, the);
    status = print_chart(stdout, the, error);
    if (status || !the->common->output) return status;
  }
  status = cli_results_begin(&the->out, the->common, error);
  if (status) return status;
  if (json)
    status = cli_results_lines(&the->out, timeline_json(the), error);
  else
    print_csv(the->out.stream, the);
  return status ? status : file_replace_commit(&the->out, error);
}

int verb_timeline(int argc, char **argv) {
  request r = {0};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  const rung_operation *list[CLI_OPERATIONS + 1], *const *operations = NULL;
  look the = {.common = &common};
  rung_status status = cli_operations_of(argc - first, argv + first, list, &operations, &error);
  if (!status) {
    the.operation = operations[0];
    status = choose_row(&the, &error);
  }
  if (!status) status = check_files(&common, &r, &error);
  if (!status) status = choose_device(&the, r.like, &error);
  if (!status) status = make_case(&the, r.sizes, &error);
  if (!status) status = run(&the, &error);
  if (!status) status = write_files(&the, &r, &error);
  if (!status) status = deliver(&the, &error);
  if (!status && the.picture.stream) file_replace_commit(&the.picture, &error);
  file_replace_abandon(&the.out);
  file_replace_abandon(&the.picture);
  lab_timeline_free(&the.timeline);
  if (the.made) rung_cases_of(the.operation)->drop(&the.test_case);
  rung_close(the.context);
  return cli_end(verb, &error);
}
