/* rung radiator: heat in a cylindrical radiator, on CPU and GPU, timed and compared. */
#include "cli/radiator.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ranks.h"
#include "rung_defaults.h"

static const char verb[] = "radiator";

enum { ROWS, COLUMNS, STEPS, BLOCK, MEANS, TIMES, PRINT, NO_CPU, NO_GPU, PRESET };
static const cli_option options[] = {
    {NULL, 'n', "N", "rows; default 32"},
    {NULL, 'm', "M", "columns, 4 or more; default 32"},
    {NULL, 'p', "P", "steps; default 10"},
    {"block", 'b', "B", "GPU threads per block, 1 ... 1024; default 64, or the rung's own choice"},
    {NULL, 'a', NULL, "the mean of every row too"},
    {NULL, 't', NULL, "times of every stage"},
    {NULL, 'v', NULL, "print the grids (and means)"},
    {NULL, 'c', NULL, "skip the CPU's run, and with it the comparisons"},
    {NULL, 'g', NULL, "skip the GPU's run"},
    {"preset", 0, "YEAR", "2016, 2019, 2021, 2023 or 2025; default 2019"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  radiator_request *r = to;
  int64_t block = 0;
  rung_status status = RUNG_OK;
  switch (index) {
    case ROWS:
      return cli_int("-n", value, 1, INT64_MAX, &r->n, error);
    case COLUMNS:
      return cli_int("-m", value, 4, INT64_MAX, &r->m, error);
    case STEPS:
      return cli_int("-p", value, 0, INT64_MAX, &r->p, error);
    case BLOCK:
      status = cli_int("-b", value, 1, 1024, &block, error);
      r->block = (int)block;
      return status;
    case MEANS:
      r->means = true;
      break;
    case TIMES:
      r->times = true;
      break;
    case PRINT:
      r->print = true;
      break;
    case NO_CPU:
      r->skip_cpu = true;
      break;
    case NO_GPU:
      r->skip_gpu = true;
      break;
    default:
      r->preset = value;
  }
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[-n N] [-m M] [-p P] [-b B] [-a] [-t] [-v] [-c] [-g] [OPTION]...",
    .about =
        "Heat in a cylindrical radiator: N rows of M columns, P steps, the left columns hot.\n"
        "Runs on the CPU and, where there is one, on a GPU (its simplest rung and its\n"
        "fastest), prints their times, and says whether they agree. Started by mpirun, every\n"
        "rank computes its share of the grid, and writes it to the file of -o.",
    .example = "rung radiator -n 1000 -m 1000 -p 100 -a -t -o grid.npy",
    .common = CLI_DEVICE | CLI_RUNG | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_JSON | CLI_OUTPUT |
              CLI_DEVICE_LIST,
    .device_help = "the GPU: auto, cuda, cuda:<index> or sim; cpu: the CPU alone",
    .output_help = "save the final grid there, as .npy; '-': to standard output, as the only thing",
    .options = options,
    .take = take};

static rung_status check_preset(radiator_request *r, rung_error *error) {
  if (rung_radiator_preset(r->preset, &r->model) == RUNG_OK) return RUNG_OK;
  char list[120];
  size_t used = 0;
  const char *const *names = rung_radiator_presets();
  for (int i = 0; names[i] && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  return rung_fail(error, RUNG_UNKNOWN_NAME, "--preset '%.40s' is not known; expected: %s",
                   r->preset, list);
}

/* Which sides run. A GPU that nobody asked for by name may be absent; then the CPU goes on. */
static rung_status choose_sides(const cli_common *common, radiator_request *r, rung_error *error) {
  bool asked = common->device && strcmp(common->device, "auto") != 0;
  bool cpu_only = asked && strcmp(common->device, "cpu") == 0;
  if (r->skip_cpu) snprintf(r->cpu_skipped, sizeof r->cpu_skipped, "-c was given");
  if (r->skip_gpu || cpu_only)
    snprintf(r->gpu_skipped, sizeof r->gpu_skipped, "%s was given",
             r->skip_gpu ? "-g" : "--device cpu");
  if (r->cpu_skipped[0] && r->gpu_skipped[0])
    return rung_fail(error, RUNG_BAD_ARGUMENT, "-c and %s leave nothing to run: give one of them",
                     r->skip_gpu ? "-g" : "--device cpu");
  if (r->gpu_skipped[0]) return RUNG_OK;
  rung_device device;
  rung_error why = {0};
  rung_status status = rung_find_device(asked ? common->device : "cuda", &device, &why);
  if (status == RUNG_OK) return RUNG_OK;
  if (asked || r->cpu_skipped[0]) return rung_fail(error, status, "%s", why.sentence);
  snprintf(r->gpu_skipped, sizeof r->gpu_skipped, "%s", why.sentence);
  cli_note(common, verb, "no GPU run: %s", why.sentence);
  return RUNG_OK;
}

/* A --rung must be one of a side that runs. */
static rung_status check_rung(const cli_common *common, const radiator_request *r,
                              rung_error *error) {
  if (!common->rung || strcmp(common->rung, "auto") == 0) return RUNG_OK;
  const rung_operation *stencil = rung_operation_named("stencil");
  const rung_operation *const list[] = {stencil, NULL};
  rung_status status = cli_check_rung(common->rung, list, error);
  if (status) return status;
  for (int i = 0; i < stencil->count; i++) {
    const rung_row *row = &stencil->rows[i];
    const char *skipped = row->family == RUNG_ON_CPU ? r->cpu_skipped : r->gpu_skipped;
    if (strcmp(row->name, common->rung) == 0 && !skipped[0]) return RUNG_OK;
  }
  return rung_fail(error, RUNG_UNSUPPORTED,
                   "--rung '%s' is of a side that does not run here (%s); expected: auto",
                   common->rung, r->gpu_skipped[0] ? r->gpu_skipped : r->cpu_skipped);
}

/* What must fit in memory at once: a grid a side, the start that the GPU's simplest rung copies in
 * and the lab's copy of what comes out, and the double reference of a float run. */
static rung_status check_memory(const cli_common *common, const radiator_request *r,
                                rung_error *error) {
  int64_t element = (int64_t)rung_dtype_bytes(r->dtype), cells, bytes;
  int64_t a_cell = (r->cpu_skipped[0] ? 0 : element) + (r->gpu_skipped[0] ? 0 : 3 * element) +
                   (r->cpu_skipped[0] || r->dtype == RUNG_F64 ? 0 : (int64_t)sizeof(double));
  if (!rung_multiply(r->n, r->m, &cells) || !rung_multiply(cells, a_cell, &bytes))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "-n %lld times -m %lld cells have more bytes than 64 bits can count; "
                     "expected: smaller ones",
                     (long long)r->n, (long long)r->m);
  rung_device_info cpu;
  rung_status status = cli_opened(common, "cpu", &cpu, error);
  if (status || bytes <= cpu.available_bytes) return status;
  char need[32], have[32];
  return rung_fail(error, RUNG_OUT_OF_MEMORY,
                   "-n %lld and -m %lld need %s of memory and %s are available; expected: "
                   "smaller ones",
                   (long long)r->n, (long long)r->m, cli_bytes((double)bytes, need),
                   cli_bytes((double)cpu.available_bytes, have));
}

static rung_status check_output(const cli_common *common, const radiator_request *r,
                                rung_error *error) {
  array_about about;
  const int64_t shape[] = {r->n, r->m};
  const rung_status status = array_describe(&about, r->dtype, 2, shape, error);
  return status ? status : array_holds(common->output, &about, error);
}

static rung_status prepare(const cli_common *common, radiator_request *r, rung_error *error) {
  rung_status status = choose_sides(common, r, error);
  if (!status) status = check_rung(common, r, error);
  if (!status) status = check_memory(common, r, error);
  if (!status && common->output) status = array_possible("-o", common->output, error);
  if (!status && common->output) status = check_output(common, r, error);
  return status;
}

/* Text or JSON to standard output; to standard error where the grid itself goes there. */
static rung_status report(const cli_common *common, const radiator_request *r,
                          const radiator_result *result, rung_error *error) {
  bool taken = common->output && strcmp(common->output, "-") == 0;
  file_replace to = {.stream = taken ? stderr : stdout};
  if (common->json) return cli_results_json(&to, radiator_json(common, r, result), error);
  radiator_print(to.stream, r, result);
  return RUNG_OK;
}

int verb_radiator(int argc, char **argv) {
  radiator_request r = {.n = 32, .m = 32, .p = 10, .preset = "2019"};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  r.dtype = common.typed ? common.type : RUNG_DEFAULT_DOUBLE ? RUNG_F64 : RUNG_F32;
  rung_error error = {0};
  radiator_result result = {0};
  rung_status status = check_preset(&r, &error);
  if (team_shares(&common)) {
    if (!status) radiator_share(&common, &r, &error);
    return cli_end(verb, &error);
  }
  if (!status) status = prepare(&common, &r, &error);
  if (!status) status = radiator_compute(&common, &r, &result, &error);
  if (!status && common.output) {
    const grid *last = result.fast.row ? &result.gpu_grid : &result.cpu_grid;
    status = array_write(common.output, &last->tensor, &error);
  }
  if (!status) status = report(&common, &r, &result, &error);
  if (!status) radiator_agree(&result, &error);
  radiator_free(&result);
  return cli_end(verb, &error);
}
