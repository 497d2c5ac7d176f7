/* rung ladder: the rungs of each operation, their ideas, what each needs. */
#include <string.h>

#include "cli/cli.h"
#include "lab/case.h"

static const char verb[] = "ladder";

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPERATION] [OPTION]...",
    .about =
        "Lists the rungs from the simplest to the fastest: the one idea each adds, what it\n"
        "needs, and whether it can run here. A * marks what auto takes.",
    .example = "rung ladder stencil",
    .common = CLI_DEVICE | CLI_JSON | CLI_OUTPUT,
    .device_help =
        "check by this device: auto, cpu, cuda, cuda:<index> or sim; default: those here",
    .most = 1};

/* The devices to checker by: the CPU and the first GPU, where there. */
typedef struct judges {
  bool has[2]; /* by family */
  rung_device devices[2];
  char absent[2][RUNG_SENTENCE];
} judges;

static rung_status find_judges(const char *asked, judges *j, rung_error *error) {
  *j = (judges){0};
  if (asked && strcmp(asked, "auto") != 0) {
    rung_device device;
    rung_status status = rung_find_device(asked, &device, error);
    if (status) return status;
    rung_family family = device.kind == RUNG_CPU ? RUNG_ON_CPU : RUNG_ON_GPU;
    j->has[family] = true;
    j->devices[family] = device;
    snprintf(j->absent[!family], RUNG_SENTENCE, "not on %s", asked);
    return RUNG_OK;
  }
  static const char *const names[] = {[RUNG_ON_CPU] = "cpu", [RUNG_ON_GPU] = "cuda"};
  for (int family = 0; family < 2; family++) {
    rung_error why = {0};
    j->has[family] = rung_find_device(names[family], &j->devices[family], &why) == RUNG_OK;
    snprintf(j->absent[family], RUNG_SENTENCE, "%s", why.sentence);
  }
  return RUNG_OK;
}

static const char *order_text(rung_order order) {
  return order == RUNG_CANONICAL ? "canonical" : order == RUNG_TEXTBOOK ? "textbook" : "fast";
}

/* "f32 f64", "needs 9.0, wgmma" */
static void needs_text(const rung_row *row, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < RUNG_DTYPES; i++)
    if (row->types.in & RUNG_TYPE(i) && used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "",
                               rung_dtype_name((rung_dtype)i));
  if (row->capability > 0 && used < size)
    used += (size_t)snprintf(text + used, size - used, ", capability %d.%d", row->capability / 10,
                             row->capability % 10);
  if (row->hardware && used < size) snprintf(text + used, size - used, ", %s", row->hardware);
}

/* A task of the first, small job to verify, without data: what supports() may look at. */
static void task_of(const rung_case *test_case, const rung_device *device, rung_task *task) {
  *task = (rung_task){.problem = test_case->problem, .device = device};
  memcpy(task->arrays, test_case->arrays, sizeof task->arrays);
}

/* "" where the row can run here, else why not. */
static void check(const judges *j, const rung_row *row, const rung_case *test_case, char *why,
                  size_t size) {
  snprintf(why, size, "%s", j->absent[row->family]);
  if (!j->has[row->family]) return;
  rung_task task;
  rung_error error = {0};
  task_of(test_case, &j->devices[row->family], &task);
  rung_row_supports(row, &task, test_case->types, &error);
  snprintf(why, size, "%s", error.sentence);
}

/* Whether auto would take the row for the case. */
static bool is_auto(const judges *j, const rung_operation *operation, const rung_row *row,
                    const rung_case *test_case) {
  const rung_row *best = NULL;
  rung_task task;
  if (!j->has[row->family]) return false;
  task_of(test_case, &j->devices[row->family], &task);
  return rung_choose(operation, &task, test_case->types, NULL, &best, NULL) == RUNG_OK &&
         best == row;
}

static json_t *row_json(const rung_row *row, bool taken, const char *why) {
  json_t *dtypes = json_array(), *blocks = json_array();
  for (int i = 0; i < RUNG_DTYPES; i++)
    if (row->types.in & RUNG_TYPE(i))
      json_array_append_new(dtypes, json_string(rung_dtype_name((rung_dtype)i)));
  for (int i = 0; row->blocks && row->blocks[i]; i++)
    json_array_append_new(blocks, json_integer(row->blocks[i]));
  return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:i, s:s?, s:b, s:b, s:s?}", "rung", row->name,
                   "idea", row->idea, "family", row->family == RUNG_ON_CPU ? "cpu" : "gpu", "order",
                   order_text(row->order), "dtypes", dtypes, "blocks", blocks, "capability",
                   row->capability, "hardware", row->hardware, "auto", taken, "runs_here",
                   why[0] == '\0', "why_not", why[0] ? why : NULL);
}

static void print_row(FILE *to, const judges *j, const rung_row *row, bool taken, const char *why) {
  char needs[96];
  needs_text(row, needs, sizeof needs);
  fprintf(to, "  %c %-17s %-10s %-9s %-30s %s\n", taken ? '*' : ' ', row->name,
          row->family == RUNG_ON_CPU ? "cpu" : "gpu", order_text(row->order), needs,
          why[0] ? "no" : "yes");
  fprintf(to, "      %s\n", row->idea);
  if (why[0] && j->has[row->family]) fprintf(to, "      %s\n", why);
}

/* One operation; its JSON is added to `all`. */
static rung_status show(FILE *to, const judges *j, const rung_operation *operation, bool as_json,
                        json_t *all, rung_error *error) {
  rung_case test_case;
  rung_status status =
      rung_cases_of(operation)->make(rung_cases_of(operation)->verify[0], 1, &test_case, error);
  if (status) return status;
  json_t *rungs = json_array();
  if (!as_json) {
    fprintf(to, "%s%s%s: %s\n", cli_colour(to, CLI_BOLD), operation->name,
            cli_colour(to, CLI_PLAIN), operation->summary);
    fprintf(to, "    %-17s %-10s %-9s %-30s %s\n", "rung", "family", "order", "takes, needs",
            "runs here");
  }
  for (int i = 0; i < operation->count; i++) {
    const rung_row *row = &operation->rows[i];
    char why[RUNG_SENTENCE];
    check(j, row, &test_case, why, sizeof why);
    bool taken = is_auto(j, operation, row, &test_case);
    if (as_json)
      json_array_append_new(rungs, row_json(row, taken, why));
    else
      print_row(to, j, row, taken, why);
  }
  if (as_json)
    json_array_append_new(
        all, json_pack("{s:s, s:s, s:s, s:O}", "operation", operation->name, "summary",
                       operation->summary, "judged_by", test_case.label, "rungs", rungs));
  json_decref(rungs);
  rung_cases_of(operation)->drop(&test_case);
  return RUNG_OK;
}

int verb_ladder(int argc, char **argv) {
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, NULL, &first, &code)) return code;
  rung_error error = {0};
  const rung_operation *one[2], *const *operations = NULL;
  judges j = {0};
  file_replace out = {0};
  json_t *all = json_array();
  rung_status status = cli_operations_of(argv[first], one, &operations, &error);
  if (!status) status = find_judges(common.device, &j, &error);
  if (!status) status = cli_results_begin(&out, &common, &error);
  for (int i = 0; !status && operations[i]; i++)
    status = show(out.stream, &j, operations[i], common.json, all, &error);
  for (int family = 0; !status && !common.json && family < 2; family++)
    if (!j.has[family])
      fprintf(out.stream, "No rung of the %s runs here: %s\n",
              family == RUNG_ON_CPU ? "cpu" : "gpu", j.absent[family]);
  if (!status && common.json)
    status =
        cli_results_json(&out, json_pack("{s:s, s:O}", "verb", verb, "operations", all), &error);
  if (!status) status = file_replace_commit(&out, &error);
  file_replace_abandon(&out);
  json_decref(all);
  return cli_end(verb, &error);
}
