/* rung ladder: the rungs of each operation, their ideas, what each needs. */
#include <string.h>

#include "cli/rows.h"

static const char verb[] = "ladder";

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPERATION] [OPTION]...",
    .about =
        "Lists the rungs from the simplest to the fastest: the one idea each adds, what it\n"
        "needs, and whether it can run here. A * marks what auto tries first.",
    .example = "rung ladder stencil",
    .common = CLI_DEVICE | CLI_JSON | CLI_OUTPUT,
    .device_help =
        "check by this device: auto, cpu, cuda, cuda:<index> or sim; default: those here",
    .most = 1};

/* The devices to judge by: one for the CPU's rungs, one for those of GPUs. */
enum { ON_CPU, ON_GPU, SIDES };
static const char *const side_names[SIDES] = {"cpu", "gpu"};
typedef struct sides {
  rung_device_info devices[SIDES];
} sides;

static int side_of(const char *on) {
  return strcmp(on, side_names[ON_CPU]) == 0 ? ON_CPU : ON_GPU;
}

/* The device asked for; the other side's rungs do not run there. Or the CPU and the first CUDA
 * device, where there is one that works. */
static rung_status find_sides(const cli_common *common, sides *of, rung_error *error) {
  rung_device_info at = {.size = sizeof at};
  if (common->device && strcmp(common->device, "auto") != 0) {
    rung_status status = cli_opened(common, common->device, &at, error);
    const int side = at.kind && strcmp(at.kind, "cpu") == 0 ? ON_CPU : ON_GPU;
    of->devices[side] = at;
    of->devices[!side] = at;
    of->devices[!side].usable = 0;
    snprintf(of->devices[!side].why_not, RUNG_TEXT, "not on %s", common->device);
    return status;
  }
  for (int i = 0; rung_device_at(i, &at) == RUNG_OK; i++) {
    rung_device_info *to = &of->devices[strcmp(at.kind, "cpu") == 0 ? ON_CPU : ON_GPU];
    if (strcmp(at.kind, "sim") != 0 && !to->usable) *to = at;
  }
  return RUNG_OK;
}

/* "f32 f64, capability 9.0, wgmma" */
static void needs_text(const rung_ladder_info *rung, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "%s", rung->types);
  if (rung->capability > 0 && used < size)
    used += (size_t)snprintf(text + used, size - used, ", capability %d.%d", rung->capability / 10,
                             rung->capability % 10);
  if (rung->hardware && used < size) snprintf(text + used, size - used, ", %s", rung->hardware);
}

/* "f32 f64" as a list. */
static json_t *types_json(const char *types) {
  json_t *list = json_array();
  for (const char *at = types; *at;) {
    const size_t length = strcspn(at, " ");
    cli_append(&list, json_stringn(at, length));
    at += length + (at[length] == ' ');
  }
  return list;
}

static json_t *rung_json(const char *operation, const rung_ladder_info *rung) {
  json_t *blocks = json_array();
  for (int i = 0; rung->blocks[i]; i++) cli_append(&blocks, json_integer(rung->blocks[i]));
  return lab_object("{s:s, s:s, s:s, s:s, s:o, s:o, s:i, s:s?, s:b, s:b, s:s?, s:s?}", "rung",
                    rung->name, "idea", rung->idea, "family", rung->on, "order", rung->order,
                    "dtypes", types_json(rung->types), "blocks", blocks, "capability",
                    rung->capability, "hardware", rung->hardware, "auto", rung->first, "runs_here",
                    rung->available, "why_not", rung->available ? NULL : rung->why_not, "slower",
                    cli_slower(operation, rung->name, rung->on));
}

static void print_rung(FILE *to, const sides *of, const char *operation,
                       const rung_ladder_info *rung) {
  char needs[160];
  const char *slower = cli_slower(operation, rung->name, rung->on);
  needs_text(rung, needs, sizeof needs);
  fprintf(to, "  %c %-17s %-7s %-9s %-9s  %s\n", rung->first ? '*' : ' ', rung->name, rung->on,
          rung->order, rung->available ? "yes" : "no", needs);
  fprintf(to, "      %s\n", rung->idea);
  if (slower) fprintf(to, "      on an H200 %s\n", slower);
  if (!rung->available && of->devices[side_of(rung->on)].usable)
    fprintf(to, "      %s\n", rung->why_not);
}

/* A rung, judged by its side's device. */
static rung_ladder_info rung_at(const sides *of, const rung_operation_info *operation, int index) {
  rung_ladder_info rung = {.size = sizeof rung};
  rung_ladder_at(operation->name, index, NULL, &rung);
  rung_ladder_at(operation->name, index, &of->devices[side_of(rung.on)], &rung);
  return rung;
}

/* One operation, printed; or, as JSON, added to `all`. */
static void show(FILE *to, const sides *of, const rung_operation_info *operation, json_t **all) {
  json_t *rungs = all ? json_array() : NULL;
  if (!all) {
    fprintf(to, "%s%s%s: %s\n", cli_colour(to, CLI_BOLD), operation->name,
            cli_colour(to, CLI_PLAIN), operation->summary);
    fprintf(to, "    %-17s %-7s %-9s %-9s  %s\n", "rung", "family", "order", "runs here",
            "takes, needs");
  }
  for (int i = 0; i < operation->rungs; i++) {
    const rung_ladder_info rung = rung_at(of, operation, i);
    if (all)
      cli_append(&rungs, rung_json(operation->name, &rung));
    else
      print_rung(to, of, operation->name, &rung);
  }
  if (all)
    cli_append(all, lab_object("{s:s, s:s, s:o}", "operation", operation->name, "summary",
                               operation->summary, "rungs", rungs));
}

int verb_ladder(int argc, char **argv) {
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, NULL, &first, &code)) return code;
  rung_error error = {0};
  rung_operation_info at = {.size = sizeof at};
  sides of = {0};
  file_replace out = {0};
  json_t *all = json_array();
  const rung_operation *list[CLI_OPERATIONS + 1], *const *operations;
  rung_status status = cli_operations_of(argc - first, argv + first, list, &operations, &error);
  if (!status) status = find_sides(&common, &of, &error);
  if (!status) status = cli_results_begin(&out, &common, &error);
  for (int i = 0; !status && rung_operation_at(i, &at) == RUNG_OK; i++)
    if (!argv[first] || strcmp(at.name, argv[first]) == 0)
      show(out.stream, &of, &at, common.json ? &all : NULL);
  for (int side = 0; !status && !common.json && side < SIDES; side++)
    if (!of.devices[side].usable)
      fprintf(out.stream, "No rung of the %s runs here: %s\n", side_names[side],
              of.devices[side].why_not);
  if (!status && common.json)
    status =
        cli_results_json(&out, lab_object("{s:s, s:O}", "verb", verb, "operations", all), &error);
  if (!status) status = file_replace_commit(&out, &error);
  file_replace_abandon(&out);
  json_decref(all);
  return cli_end(verb, &error);
}
