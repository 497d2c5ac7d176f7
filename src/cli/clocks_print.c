/* What rung clocks found, as text, JSON and CSV. docs/RECORDS.md has the layouts. */
#include <math.h>

#include "cli/clocks.h"

/* ---- text ----------------------------------------------------------------------------------- */

static const char *nanoseconds(double ns, char text[32]) {
  if (isnan(ns)) return "-";
  snprintf(text, 32, ns < 10 ? "%.1f ns" : "%.0f ns", ns);
  return ns < 10000 ? text : cli_time(ns * 1e-6, text);
}

static const char *steps(double count, char text[32]) {
  if (isnan(count)) return "-";
  snprintf(text, 32, count < 10 ? "%.1f" : "%.0f", count);
  return text;
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
  const char *(*shown)(double, char[32]) = found->simulated ? steps : nanoseconds;
  char a[32], b[32], c[32], d[32], k[CLOCKS_KERNELS][32];
  fprintf(to, "\n%s%s\n%-26s %10s %10s %10s %9s %12s %12s %12s\n", found->device,
          found->simulated ? ", in steps" : "", "clock", "step", "a reading", "in a row",
          "drift ppm", "empty kernel", found->simulated ? "10^4" : "10 us",
          found->simulated ? "10^6" : "1 ms");
  for (int w = 0; w < found->count; w++) {
    const clocks_way *way = &found->ways[w];
    fprintf(to, "%-26s %10s %10s %10s %9s %12s %12s %12s\n", way->name, shown(way->step, a),
            shown(way->reading, b), shown(way->in_row, c), ppm(way->drift, d),
            shown(way->kernels[CLOCKS_EMPTY], k[0]), shown(way->kernels[CLOCKS_SHORT], k[1]),
            shown(way->kernels[CLOCKS_LONG], k[2]));
  }
  if (found->simulated)
    fprintf(
        to,
        "A simulated GPU has no time: no events, no drift, and the host's clocks would time the\n"
        "simulator.\n\n");
  else
    fprintf(to,
            "The same kernels, of 1, %lld and %lld cycles of one thread, by each clock; in a row: "
            "what\n"
            "it says of nothing between two readings. clock64 ran at %.0f MHz; drift against\n"
            "CLOCK_MONOTONIC over %.1f s without work, within %.1f ppm.\n\n",
            (long long)found->cycles[CLOCKS_SHORT], (long long)found->cycles[CLOCKS_LONG],
            found->clock_mhz, found->seconds, 1e6 * found->within);
  for (int w = 0; w < found->count; w++)
    fprintf(to, "%s: %s\n", found->ways[w].name, found->ways[w].meaning);
}

void clocks_print(FILE *to, const clocks_cpu *cpu, const clocks_gpu *gpu, const char *absent) {
  print_cpu(to, cpu);
  if (gpu->device[0]) print_gpu(to, gpu);
  if (absent[0])
    fprintf(to, "\nA GPU's clocks (CUDA events, clock64, globaltimer) are not looked at: %s\n",
            absent);
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
  json_t *ways = json_array();
  for (int w = 0; w < found->count; w++) {
    const clocks_way *way = &found->ways[w];
    json_t *json = lab_object("{s:s, s:s}", "clock", way->name, "meaning", way->meaning);
    cli_set(&json, "step", cli_real(way->step));
    cli_set(&json, "reading", cli_real(way->reading));
    cli_set(&json, "in_a_row", cli_real(way->in_row));
    cli_set(&json, "drift", cli_real(way->drift));
    cli_set(&json, "kernels", cli_reals(way->kernels, CLOCKS_KERNELS));
    cli_append(&ways, json);
  }
  json_t *json = lab_object("{s:s, s:s, s:o}", "device", found->device, "unit",
                            found->simulated ? "steps" : "ns", "clocks", ways);
  cli_set(&json, "cycles", cli_integers(found->cycles, CLOCKS_KERNELS));
  cli_set(&json, "clock64_mhz", cli_real(found->clock_mhz));
  cli_set(&json, "seconds", cli_real(found->seconds));
  cli_set(&json, "drift_within", cli_real(found->within));
  return json;
}

json_t *clocks_json(const clocks_cpu *cpu, const clocks_gpu *gpu, const char *absent) {
  json_t *json = lab_object("{s:s, s:i, s:o, s:s?}", "verb", "clocks", "threads", cpu->threads,
                            "clocks", cpu_json(cpu), "cuda_absent", absent[0] ? absent : NULL);
  cli_set(&json, "seconds", cli_real(cpu->seconds));
  if (gpu->device[0]) cli_set(&json, "gpu", gpu_json(gpu));
  return json;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

enum { NUMBERS = 10 };

static void put_row(FILE *to, const char *device, const char *name, const char *unit,
                    const double numbers[NUMBERS], const char *meaning) {
  fputs(device, to);
  csv_text(to, name);
  csv_text(to, unit);
  for (int k = 0; k < NUMBERS; k++) csv_number(to, numbers[k]);
  csv_text(to, meaning);
  fputc('\n', to);
}

void clocks_csv(FILE *to, const clocks_cpu *cpu, const clocks_gpu *gpu) {
  fputs(
      "device,clock,unit,step,reading,in_a_row,drift,empty_kernel,short_kernel,long_kernel,"
      "one_thread,all_threads,waiting,meaning\n",
      to);
  for (int i = 0; i < cpu->count; i++) {
    const clocks_one *one = &cpu->clocks[i];
    const double numbers[NUMBERS] = {one->step_ns,
                                     one->reading_ns,
                                     NAN,
                                     one->drift,
                                     NAN,
                                     NAN,
                                     NAN,
                                     1e6 * one->single_ms,
                                     1e6 * one->all_ms,
                                     1e6 * one->waiting_ms};
    put_row(to, "cpu", one->name, "ns", numbers, one->meaning);
  }
  for (int w = 0; gpu->device[0] && w < gpu->count; w++) {
    const clocks_way *way = &gpu->ways[w];
    const double numbers[NUMBERS] = {
        way->step,       way->reading,    way->in_row, way->drift, way->kernels[0],
        way->kernels[1], way->kernels[2], NAN,         NAN,        NAN};
    put_row(to, gpu->device, way->name, gpu->simulated ? "steps" : "ns", numbers, way->meaning);
  }
}
