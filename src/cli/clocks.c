/* rung clocks: what each clock measures, how finely, at what cost, and when it lies. */
#include <string.h>

#include "cli/clocks.h"

static const char verb[] = "clocks";

typedef struct request {
  const char *csv;
} request;

static const cli_option options[] = {
    {"csv", 0, "FILE", "write a row a clock there, a column a value; - is standard output"}, {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  (void)index;
  (void)error;
  ((request *)to)->csv = value;
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPTION]...",
    .about =
        "Reads every clock that a program may time with: how fine it is, what a reading costs,\n"
        "how it drifts, and what it says of the same work, the same waiting and, on a GPU, the\n"
        "same kernels as the others.",
    .example = "rung clocks --device cpu --json",
    .common = CLI_DEVICE | CLI_THREADS | CLI_JSON | CLI_OUTPUT,
    .device_help =
        "auto, cpu, cuda, cuda:<index> or sim; default auto: the CPU, and a GPU where one is",
    .output_help = "write the figures there",
    .options = options,
    .take = take};

static rung_status write_csv(const char *path, const clocks_cpu *cpu, const clocks_gpu *gpu,
                             rung_error *error) {
  file_replace out = {0};
  rung_status status = file_replace_begin(&out, path, error);
  if (status) return status;
  clocks_csv(out.stream, cpu, gpu);
  status = file_replace_commit(&out, error);
  if (status) file_replace_abandon(&out);
  return status;
}

static rung_status deliver(const cli_common *common, const char *csv, const clocks_cpu *cpu,
                           const clocks_gpu *gpu, const char *absent, rung_error *error) {
  file_replace out = {0};
  rung_status status = csv ? write_csv(csv, cpu, gpu, error) : RUNG_OK;
  if (status || (csv && strcmp(csv, "-") == 0)) return status;
  status = cli_results_begin(&out, common, error);
  if (status) return status;
  if (common->json)
    status = cli_results_json(&out, clocks_json(cpu, gpu, absent), error);
  else
    clocks_print(out.stream, cpu, gpu, absent);
  if (!status) status = file_replace_commit(&out, error);
  if (status) file_replace_abandon(&out);
  return status;
}

/* Which GPU is looked at; *absent says why none is. */
static rung_status choose(const cli_common *common, const char **name, char *absent, size_t size,
                          rung_error *error) {
  const bool named = common->device && strcmp(common->device, "auto") != 0;
  rung_device device;
  rung_error why = {0};
  *name = named ? common->device : "cuda";
  const rung_status found = rung_find_device(*name, &device, &why);
  if (found && named) return rung_fail(error, found, "%s", why.sentence);
  if (found) snprintf(absent, size, "%s", why.sentence);
  if (!found && device.kind == RUNG_CPU) snprintf(absent, size, "--device cpu was given");
  return RUNG_OK;
}

int verb_clocks(int argc, char **argv) {
  cli_common common;
  request r = {NULL};
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  clocks_cpu cpu = {.count = 0};
  clocks_gpu gpu = {.device = ""};
  char absent[RUNG_SENTENCE] = "";
  const char *name;
  rung_status status = common.output ? file_replace_possible(common.output, &error) : RUNG_OK;
  if (!status && r.csv) status = file_replace_possible(r.csv, &error);
  if (!status) status = choose(&common, &name, absent, sizeof absent, &error);
  if (!status) status = clocks_look_cpu(&common, &cpu, &error);
  if (!status && !absent[0]) status = clocks_look_gpu(&common, name, &gpu, &error);
  if (!status) deliver(&common, r.csv, &cpu, &gpu, absent, &error);
  return cli_end(verb, &error);
}
