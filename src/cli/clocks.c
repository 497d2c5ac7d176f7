/* rung clocks: what each clock measures, how finely, at what cost, and when it lies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clocks.h"

static const char verb[] = "clocks";

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "[OPTION]...",
    .about =
        "Reads every clock that a program may time with: how fine it is, what a reading costs,\n"
        "how it drifts, and what it says of the same work and the same waiting as the others.",
    .example = "rung clocks --device cpu --json",
    .common = CLI_DEVICE | CLI_THREADS | CLI_JSON | CLI_OUTPUT,
    .device_help = "auto, cpu, cuda or cuda:<index>; default auto: the CPU, and a GPU where one is",
    .output_help = "write the figures there"};

/* ---- printing ------------------------------------------------------------------------------- */

static const char *nanoseconds(double ns, char text[32]) {
  if (isnan(ns)) return "-";
  snprintf(text, 32, ns < 10 ? "%.1f ns" : "%.0f ns", ns);
  return ns < 10000 ? text : cli_time(ns * 1e-6, text);
}

static const char *ppm(double drift, char text[32]) {
  if (isnan(drift)) return "-";
  snprintf(text, 32, "%+.1f", 1e6 * drift);
  return text;
}

static void print_cpu(FILE *to, const clocks_cpu *found) {
  char a[32], b[32], c[32], d[32], e[32], f[32];
  fprintf(to, "%-26s %10s %10s %10s %9s %12s %12s %12s\n", "clock", "unit", "step", "a reading",
          "drift ppm", "one thread", "all threads", "waiting");
  for (int i = 0; i < found->count; i++) {
    const clocks_one *one = &found->clocks[i];
    fprintf(to, "%-26s %10s %10s %10s %9s %12s %12s %12s\n", one->name,
            nanoseconds(one->unit_ns, a), nanoseconds(one->step_ns, b),
            nanoseconds(one->reading_ns, c), ppm(one->drift, d), cli_time(one->single_ms, e),
            cli_time(one->all_ms, f), cli_time(one->waiting_ms, (char[32]){0}));
  }
  fprintf(to,
          "The same work on one thread and on %d, and a wait of %.0f ms, as each clock saw them;\n"
          "drift against CLOCK_MONOTONIC_RAW over %.1f s.\n\n",
          found->threads, found->asked_ms, found->seconds);
  for (int i = 0; i < found->count; i++)
    fprintf(to, "%s: %s\n", found->clocks[i].name, found->clocks[i].meaning);
}

static void print_gpu(FILE *to, const clocks_gpu *found) {
  char a[32], b[32], c[32], e[32], f[32];
  fprintf(to, "\n%s, one kernel of %lld blocks\n", found->device, (long long)found->blocks);
  fprintf(to,
          "  CUDA events               %12s  the device's time between two marks in the stream\n",
          cli_time(found->events_ms, a));
  fprintf(to,
          "  globaltimer               %12s  from the first block's start to the last one's end; "
          "moves in steps of %s\n",
          cli_time(found->global_ms, b), nanoseconds(found->global_step_ns, c));
  fprintf(to,
          "  clock64                   %8.0f MHz  cycles of one multiprocessor, each has its own: "
          "no time where the clock changes\n",
          found->clock_mhz);
  fprintf(to, "  host, launch and wait     %12s  with the cost of the launch and of waking up\n",
          cli_time(found->host_ms, e));
  fprintf(to, "  host, launch alone        %12s  lies: the kernel has only been queued\n",
          cli_time(found->launch_ms, f));
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *cpu_json(const clocks_cpu *found) {
  json_t *clocks = json_array();
  for (int i = 0; i < found->count; i++) {
    const clocks_one *one = &found->clocks[i];
    json_t *json = lab_object("{s:s, s:s}", "clock", one->name, "meaning", one->meaning);
    cli_set(&json, "unit_ns", cli_real(one->unit_ns));
    cli_set(&json, "step_ns", cli_real(one->step_ns));
    cli_set(&json, "reading_ns", cli_real(one->reading_ns));
    cli_set(&json, "drift", cli_real(one->drift));
    cli_set(&json, "one_thread_ms", cli_real(one->single_ms));
    cli_set(&json, "all_threads_ms", cli_real(one->all_ms));
    cli_set(&json, "waiting_ms", cli_real(one->waiting_ms));
    cli_append(&clocks, json);
  }
  return clocks;
}

static json_t *gpu_json(const clocks_gpu *found) {
  json_t *json =
      lab_object("{s:s, s:I}", "device", found->device, "blocks", (json_int_t)found->blocks);
  cli_set(&json, "events_ms", cli_real(found->events_ms));
  cli_set(&json, "globaltimer_ms", cli_real(found->global_ms));
  cli_set(&json, "globaltimer_step_ns", cli_real(found->global_step_ns));
  cli_set(&json, "clock64_mhz", cli_real(found->clock_mhz));
  cli_set(&json, "host_ms", cli_real(found->host_ms));
  cli_set(&json, "host_launch_ms", cli_real(found->launch_ms));
  return json;
}

static rung_status deliver(const cli_common *common, const clocks_cpu *cpu, const clocks_gpu *gpu,
                           const char *absent, rung_error *error) {
  file_replace out;
  rung_status status = cli_results_begin(&out, common, error);
  if (status) return status;
  if (common->json) {
    json_t *json = lab_object("{s:s, s:i, s:o, s:s?}", "verb", verb, "threads", cpu->threads,
                              "clocks", cpu_json(cpu), "cuda_absent", absent[0] ? absent : NULL);
    cli_set(&json, "seconds", cli_real(cpu->seconds));
    if (gpu->device[0]) cli_set(&json, "gpu", gpu_json(gpu));
    status = cli_results_json(&out, json, error);
  } else {
    print_cpu(out.stream, cpu);
    if (gpu->device[0]) print_gpu(out.stream, gpu);
    if (absent[0])
      fprintf(out.stream,
              "\nA GPU's clocks (CUDA events, clock64, globaltimer) are not looked at: %s\n",
              absent);
  }
  if (!status) status = file_replace_commit(&out, error);
  if (status) file_replace_abandon(&out);
  return status;
}

int verb_clocks(int argc, char **argv) {
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, NULL, &first, &code)) return code;
  rung_error error = {0};
  rung_device device;
  clocks_cpu cpu = {.count = 0};
  clocks_gpu gpu = {.device = ""};
  char absent[RUNG_SENTENCE] = "";
  const bool named = common.device && strcmp(common.device, "auto") != 0;
  const char *name = named ? common.device : "cuda";
  rung_status status = common.output ? file_replace_possible(common.output, &error) : RUNG_OK;
  if (!status) {
    rung_error why = {0};
    const rung_status found = rung_find_device(name, &device, &why);
    if (found && named) status = rung_fail(&error, found, "%s", why.sentence);
    if (found && !named) snprintf(absent, sizeof absent, "%s", why.sentence);
    if (!found && device.kind == RUNG_SIM)
      status =
          rung_fail(&error, RUNG_UNSUPPORTED,
                    "--device '%.40s' is simulated and has no clocks; expected: cpu or cuda", name);
    if (!status && named && device.kind == RUNG_CPU)
      snprintf(absent, sizeof absent, "--device cpu was given");
  }
  if (!status) status = clocks_look_cpu(&common, &cpu, &error);
  if (!status && !absent[0]) {
    status = clocks_look_gpu(&common, name, &gpu, &error);
    if (status == RUNG_UNSUPPORTED && !named) { /* of a build without that kernel, say */
      snprintf(absent, sizeof absent, "%s", error.sentence);
      error = (rung_error){0};
      gpu = (clocks_gpu){.device = ""};
      status = RUNG_OK;
    }
  }
  if (!status) deliver(&common, &cpu, &gpu, absent, &error);
  return cli_end(verb, &error);
}
