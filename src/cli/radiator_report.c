#include <math.h>

#include "cli/radiator.h"

/* ---- text --------------------------------------------------------------------------------- */

static void print_stages(FILE *to, const radiator_run *run) {
  const struct {
    const char *name;
    double ms;
  } stages[] = {{"allocate", run->stages.allocate},
                {"copy in", run->stages.copy_in},
                {"kernel", run->stages.kernel},
                {"copy out", run->stages.copy_out},
                {"free", run->stages.free}};
  char text[32];
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (stages[i].ms > 0)
      fprintf(to, "    %-28s %10s\n", stages[i].name, cli_time(stages[i].ms, text));
}

static void print_run(FILE *to, const radiator_request *r, const char *side,
                      const radiator_run *run) {
  if (!run->row) return;
  char left[64], text[32], total[32];
  int used = snprintf(left, sizeof left, "%s  %s", side, run->row->name);
  if (run->block > 0) snprintf(left + used, sizeof left - (size_t)used, ", block %d", run->block);
  fprintf(to, "  %-30s %10s  (%s in all)\n", left, cli_time(run->stages.kernel, text),
          cli_time(run->total, total));
  if (r->times) print_stages(to, run);
  if (run->with_means) {
    snprintf(left, sizeof left, "%s  row means, %s", side, run->means_row->name);
    fprintf(to, "  %-30s %10s\n", left, cli_time(run->means_ms, text));
  }
}

static void print_gain(FILE *to, const char *what, double slow, double fast) {
  if (slow > 0 && fast > 0) fprintf(to, "  %-30s %8.3g x\n", what, slow / fast);
}

static void print_speed_ups(FILE *to, const radiator_result *x) {
  if (!x->fast.row || x->simulated) return;
  fprintf(to, "Speed-ups\n");
  if (x->cpu.row) {
    print_gain(to, "CPU to GPU naive", x->cpu.stages.kernel, x->naive.stages.kernel);
    print_gain(to, "CPU to GPU fast", x->cpu.stages.kernel, x->fast.stages.kernel);
    print_gain(to, "CPU to GPU fast, in all", x->cpu.total, x->fast.total);
  }
  print_gain(to, "GPU naive to fast", x->naive.stages.kernel, x->fast.stages.kernel);
  if (x->fast.with_means) {
    if (x->cpu.with_means)
      print_gain(to, "row means, CPU to GPU", x->cpu.means_ms, x->fast.means_ms);
    print_gain(to, "row means, naive to fast", x->naive.means_ms, x->fast.means_ms);
  }
}

/* What may differ: a rung that does not keep the contract's order of arithmetic. */
static const char *excuse(const radiator_result *x, const radiator_run *run) {
  if (run->row->order == RUNG_TEXTBOOK) return " (a textbook rung: its own order of arithmetic)";
  if (run->row->order == RUNG_LOOSE) return " (a rung of --math fast)";
  return x->cpu.row->order == RUNG_CANONICAL ? "" : " (the CPU's rung keeps another order)";
}

static void print_difference(FILE *to, const char *what, const grid_difference *d, int64_t count,
                             const char *why) {
  if (d->elements == 0)
    fprintf(to, "  %s: the same bits in all %lld\n", what, (long long)count);
  else
    fprintf(to, "  %s: %lld of %lld differ, by %.3g at most%s\n", what, (long long)d->elements,
            (long long)count, d->largest, why);
}

static void print_agreement(FILE *to, const radiator_request *r, const radiator_result *x) {
  if (!x->fast.compared && isnan(x->distance)) return;
  fprintf(to, "Agreement\n");
  if (x->naive.compared)
    print_difference(to, "GPU naive and CPU", &x->naive.from_cpu, x->cpu_grid.count,
                     excuse(x, &x->naive));
  if (x->fast.compared)
    print_difference(to, "GPU fast and CPU", &x->fast.from_cpu, x->cpu_grid.count,
                     excuse(x, &x->fast));
  if (x->means_compared)
    print_difference(to, "row means of GPU and CPU", &x->means_difference, r->n, "");
  if (!isnan(x->distance))
    fprintf(to, "  distance from double: %.3g of the largest value\n", x->distance);
}

static void print_grid(FILE *to, const char *title, const grid *cells) {
  if (!cells->memory) return;
  fprintf(to, "%s\n", title);
  int64_t columns = cells->tensor.ndim == 2 ? cells->shape[1] : 1;
  char text[RUNG_NUMBER_TEXT];
  for (int64_t i = 0; i < cells->count; i++)
    fprintf(to, "%s%c", rung_number_text(cells->dtype, cells->memory, i, text),
            (i + 1) % columns == 0 ? '\n' : ' ');
}

void radiator_print(FILE *to, const radiator_request *r, const radiator_result *x) {
  fprintf(to, "Radiator: %lld rows, %lld columns, %lld steps, %s, preset %s\n", (long long)r->n,
          (long long)r->m, (long long)r->p, rung_dtype_name(r->dtype), r->preset);
  if (x->cpu.row) {
    fprintf(to, "CPU: %s, %d thread%s\n", x->cpu_name, x->threads, x->threads == 1 ? "" : "s");
    print_run(to, r, "CPU", &x->cpu);
  }
  if (x->fast.row) {
    fprintf(to, "GPU: %s%s\n", x->gpu_name,
            x->simulated ? " (its times are the simulator's own, no GPU's)" : "");
    print_run(to, r, "naive", &x->naive);
    print_run(to, r, "fast", &x->fast);
  }
  print_speed_ups(to, x);
  print_agreement(to, r, x);
  if (!r->print) return;
  print_grid(to, "CPU grid", &x->cpu_grid);
  if (x->cpu.with_means) print_grid(to, "CPU row means", &x->cpu_means);
  print_grid(to, "GPU grid", &x->gpu_grid);
  if (x->fast.with_means) print_grid(to, "GPU row means", &x->gpu_means);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *difference_json(const grid_difference *d) {
  return lab_object("{s:I, s:o}", "elements", (json_int_t)d->elements, "largest",
                    cli_real(d->largest));
}

static json_t *run_json(const radiator_run *run) {
  if (!run->row) return json_null();
  const lab_stage_times *ms = &run->stages;
  json_t *stages = lab_object("{s:o, s:o, s:o, s:o, s:o}", "allocate", cli_real(ms->allocate),
                              "copy_in", cli_real(ms->copy_in), "kernel", cli_real(ms->kernel),
                              "copy_out", cli_real(ms->copy_out), "free", cli_real(ms->free));
  json_t *json = lab_object("{s:s, s:i, s:o, s:o}", "rung", run->row->name, "block", run->block,
                            "stages_ms", stages, "total_ms", cli_real(run->total));
  if (run->with_means) {
    cli_set(&json, "means_rung", lab_text(run->means_row->name));
    cli_set(&json, "means_ms", cli_real(run->means_ms));
  }
  if (run->compared) cli_set(&json, "difference_from_cpu", difference_json(&run->from_cpu));
  return json;
}

static json_t *grid_json(const grid *cells) {
  json_t *values = json_array();
  for (int64_t i = 0; values && i < cells->count; i++)
    cli_append(&values, cli_number(grid_value(cells, i)));
  return values;
}

static json_t *skipped_json(const char *why) {
  return why[0] ? lab_text(why) : json_null();
}

json_t *radiator_json(const cli_common *common, const radiator_request *r,
                      const radiator_result *x) {
  json_t *json =
      lab_object("{s:s, s:I, s:I, s:I, s:s, s:s, s:s}", "verb", "radiator", "n", (json_int_t)r->n,
                 "m", (json_int_t)r->m, "p", (json_int_t)r->p, "type", rung_dtype_name(r->dtype),
                 "preset", r->preset, "math", common->math == RUNG_MATH_FAST ? "fast" : "strict");
  cli_set(&json, "cpu_skipped", skipped_json(r->cpu_skipped));
  cli_set(&json, "gpu_skipped", skipped_json(r->gpu_skipped));
  if (x->cpu.row) {
    cli_set(&json, "cpu_device", lab_text(x->cpu_name));
    cli_set(&json, "cpu_threads", json_integer(x->threads));
  }
  if (x->fast.row) cli_set(&json, "gpu_device", lab_text(x->gpu_name));
  cli_set(&json, "gpu_simulated", json_boolean(x->simulated));
  cli_set(&json, "cpu", run_json(&x->cpu));
  cli_set(&json, "gpu_naive", run_json(&x->naive));
  cli_set(&json, "gpu_fast", run_json(&x->fast));
  if (x->means_compared) cli_set(&json, "means_difference", difference_json(&x->means_difference));
  cli_set(&json, "distance_from_double", cli_real(x->distance));
  if (r->print) {
    cli_set(&json, "grid", grid_json(x->fast.row ? &x->gpu_grid : &x->cpu_grid));
    if (r->means) cli_set(&json, "means", grid_json(x->fast.row ? &x->gpu_means : &x->cpu_means));
  }
  return json;
}
