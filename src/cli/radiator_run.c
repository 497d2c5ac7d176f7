#include <math.h>
#include <string.h>
#include <time.h>

#include "cli/radiator.h"

enum { LINE = 160, REPORT_BLOCK = 64 };

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* --rung, where this family has it; else the best. */
static const char *rung_for(const cli_common *common, rung_family family) {
  bool has = common->rung && cli_row_of("stencil", family, common->rung);
  return has ? common->rung : "auto";
}

static rung_status make_arrays(const radiator_request *r, grid *cells, grid *means,
                               rung_error *error) {
  int64_t shape[2] = {r->n, r->m};
  rung_status status = grid_make(cells, r->dtype, 2, shape, error);
  /* Touched now, so that no page fault falls into the time of the first run. */
  if (!status) memset(cells->memory, 0, (size_t)cells->count * rung_dtype_bytes(r->dtype));
  if (!status && r->means) status = grid_make(means, r->dtype, 1, shape, error);
  return status;
}

/* ---- the CPU ------------------------------------------------------------------------------ */

/* A small job first: threads are started and code is loaded before the clock runs. */
static rung_status warm_up(rung_context *context, const cli_common *common,
                           const radiator_request *r, rung_error *error) {
  int64_t shape[2] = {64, 64};
  grid small;
  rung_status status = grid_make(&small, r->dtype, 2, shape, error);
  if (status) return status;
  rung_call call = {.rung = rung_for(common, RUNG_ON_CPU), .math = common->math};
  status =
      cli_carry(context, rung_radiator(context, &r->model, 2, &small.tensor, NULL, &call), error);
  grid_free(&small);
  return status;
}

static rung_status run_cpu(const cli_common *common, const radiator_request *r,
                           radiator_result *result, rung_error *error) {
  radiator_run *run = &result->cpu;
  rung_context *context;
  rung_status status = cli_open(common, "cpu", &context, error);
  if (status) return status;
  rung_device_info cpu = {.size = sizeof cpu};
  status = cli_carry(context, rung_opened(context, &cpu), error);
  snprintf(result->cpu_name, sizeof result->cpu_name, "%s", cpu.name);
  result->threads = cpu.threads;
  if (!status) status = warm_up(context, common, r, error);
  double begin = now_ms();
  if (!status) status = make_arrays(r, &result->cpu_grid, &result->cpu_means, error);
  cli_progress progress;
  cli_progress_begin(&progress, common);
  cli_progress_call(&progress, 0, 1, "radiator", "CPU", context);
  double made = now_ms();
  rung_call call = {.rung = rung_for(common, RUNG_ON_CPU), .math = common->math};
  if (!status)
    status = cli_carry(
        context, rung_radiator(context, &r->model, r->p, &result->cpu_grid.tensor, NULL, &call),
        error);
  double done = now_ms();
  cli_progress_end(&progress);
  if (!status) {
    run->row = cli_row_of("stencil", RUNG_ON_CPU, call.used);
    run->stages = (lab_stage_times){.allocate = made - begin, .kernel = done - made};
    run->total = done - begin;
  }
  if (!status && r->means) {
    rung_call means = {0};
    begin = now_ms();
    status = cli_carry(context,
                       rung_reduce(context, RUNG_MEAN, &result->cpu_grid.tensor, 1,
                                   &result->cpu_means.tensor, &means),
                       error);
    run->means_ms = now_ms() - begin;
    run->with_means = !status;
    if (!status) run->means_row = cli_row_of("reduce", RUNG_ON_CPU, means.used);
  }
  rung_close(context);
  return status;
}

/* The same model on a double grid: how far float arithmetic has drifted. */
static rung_status run_reference(const cli_common *common, const radiator_request *r,
                                 radiator_result *result, rung_error *error) {
  rung_context *context;
  grid wide = {0};
  int64_t shape[2] = {r->n, r->m};
  rung_status status = cli_open(common, "cpu", &context, error);
  if (status) return status;
  status = grid_make(&wide, RUNG_F64, 2, shape, error);
  rung_call call = {0};
  cli_progress progress;
  cli_progress_begin(&progress, common);
  cli_progress_call(&progress, 0, 1, "radiator", "double", context);
  if (!status)
    status = cli_carry(context, rung_radiator(context, &r->model, r->p, &wide.tensor, NULL, &call),
                       error);
  cli_progress_end(&progress);
  if (!status) result->distance = grid_distance(&result->cpu_grid, &wide);
  grid_free(&wide);
  rung_close(context);
  return status;
}

/* ---- the GPU ------------------------------------------------------------------------------ */

/* One rung end to end, by the lab. `line` describes the job in the operation's case language. */
static rung_status time_stages(rung_context *context, const char *operation, const char *line,
                               const rung_row *row, int block, lab_stage_times *stages,
                               rung_error *error) {
  const rung_cases *cases = rung_cases_of(rung_operation_named(operation));
  rung_case test_case;
  rung_status status = cases->make(line, 1, &test_case, error);
  if (status) return status;
  status = lab_stages_of(context, &test_case, row, block, false, stages, error);
  cases->drop(&test_case);
  return status;
}

static rung_status time_means(rung_context *context, const radiator_request *r, const char *rung,
                              radiator_run *run, rung_error *error) {
  char line[LINE];
  lab_stage_times stages;
  snprintf(line, sizeof line, "n=%lld op=mean type=%s outer=%lld", (long long)r->m,
           rung_dtype_name(r->dtype), (long long)r->n);
  run->means_row = cli_row_of("reduce", RUNG_ON_GPU, rung);
  rung_status status = time_stages(context, "reduce", line, run->means_row, 0, &stages, error);
  run->means_ms = stages.kernel;
  run->with_means = !status;
  return status;
}

/* The job itself. Where the rows do not start themselves, a start made on the host is copied in. */
static rung_status time_rung(rung_context *context, const radiator_request *r, const rung_row *row,
                             int block, bool own_start, lab_stage_times *stages,
                             rung_error *error) {
  char line[LINE];
  snprintf(line, sizeof line, "n=%lld m=%lld p=%lld type=%s rows=%s preset=%s", (long long)r->n,
           (long long)r->m, (long long)r->p, rung_dtype_name(r->dtype), own_start ? "own" : "heat",
           r->preset);
  return time_stages(context, "stencil", line, row, block, stages, error);
}

/* Computes the grid into `result`, compares it with the CPU's, then times the stages. */
static rung_status run_gpu_rung(rung_context *context, const cli_common *common,
                                const radiator_request *r, const char *rung, int block,
                                bool own_start, radiator_result *result, radiator_run *run,
                                rung_error *error) {
  rung_call call = {.rung = rung, .block = block, .math = common->math};
  rung_status status = cli_carry(
      context, rung_radiator(context, &r->model, r->p, &result->gpu_grid.tensor, NULL, &call),
      error);
  if (status) return status;
  const rung_row *row = cli_row_of("stencil", RUNG_ON_GPU, call.used);
  if (result->cpu.row) {
    run->from_cpu = grid_compare(&result->gpu_grid, &result->cpu_grid);
    run->compared = true;
  }
  status = time_rung(context, r, row, block, own_start, &run->stages, error);
  if (status == RUNG_UNSUPPORTED && own_start)
    status = time_rung(context, r, row, block, false, &run->stages, error);
  if (status) return status;
  const lab_stage_times *s = &run->stages;
  run->total = s->allocate + s->copy_in + s->kernel + s->copy_out + s->free;
  run->block = row->blocks ? block : 0;
  run->row = row;
  return RUNG_OK;
}

static rung_status run_gpu(const cli_common *common, const radiator_request *r,
                           radiator_result *result, rung_error *error) {
  const char *device =
      common->device && strcmp(common->device, "auto") != 0 ? common->device : "cuda";
  rung_context *context;
  rung_status status = cli_open(common, device, &context, error);
  if (status) return status;
  rung_device_info gpu = {.size = sizeof gpu};
  status = cli_carry(context, rung_opened(context, &gpu), error);
  snprintf(result->gpu_name, sizeof result->gpu_name, "%s", gpu.name);
  result->simulated = gpu.kind && strcmp(gpu.kind, "sim") == 0;
  if (!status) status = make_arrays(r, &result->gpu_grid, &result->gpu_means, error);
  if (!status)
    status = run_gpu_rung(context, common, r, "global", r->block ? r->block : REPORT_BLOCK, false,
                          result, &result->naive, error);
  if (!status)
    status = run_gpu_rung(context, common, r, rung_for(common, RUNG_ON_GPU), r->block, true, result,
                          &result->fast, error);
  if (!status && r->means) {
    rung_call call = {0};
    status = cli_carry(context,
                       rung_reduce(context, RUNG_MEAN, &result->gpu_grid.tensor, 1,
                                   &result->gpu_means.tensor, &call),
                       error);
    if (!status) status = time_means(context, r, "row-per-thread", &result->naive, error);
    if (!status) status = time_means(context, r, call.used, &result->fast, error);
  }
  rung_close(context);
  return status;
}

/* ---- all ---------------------------------------------------------------------------------- */

rung_status radiator_compute(const cli_common *common, const radiator_request *r,
                             radiator_result *result, rung_error *error) {
  rung_status status = RUNG_OK;
  result->distance = NAN;
  if (!r->cpu_skipped[0]) status = run_cpu(common, r, result, error);
  if (!status && result->cpu.row && r->dtype == RUNG_F32)
    status = run_reference(common, r, result, error);
  if (!status && !r->gpu_skipped[0]) status = run_gpu(common, r, result, error);
  if (!status && result->cpu.with_means && result->fast.with_means) {
    result->means_difference = grid_compare(&result->gpu_means, &result->cpu_means);
    result->means_compared = true;
  }
  return status;
}

void radiator_free(radiator_result *result) {
  grid_free(&result->cpu_grid);
  grid_free(&result->gpu_grid);
  grid_free(&result->cpu_means);
  grid_free(&result->gpu_means);
}

rung_status radiator_agree(const radiator_result *result, rung_error *error) {
  const radiator_run *runs[] = {&result->naive, &result->fast};
  for (int i = 0; i < 2; i++) {
    const radiator_run *run = runs[i];
    if (!run->compared || run->from_cpu.elements == 0) continue;
    if (run->row->order != RUNG_CANONICAL || result->cpu.row->order != RUNG_CANONICAL) continue;
    return rung_fail(error, RUNG_CHECK_FAILED,
                     "rung %s on the GPU and %s on the CPU differ in %lld cells, by %g at most, "
                     "and must not differ",
                     run->row->name, result->cpu.row->name, (long long)run->from_cpu.elements,
                     run->from_cpu.largest);
  }
  if (result->means_compared && result->means_difference.elements > 0 &&
      result->fast.from_cpu.elements == 0)
    return rung_fail(error, RUNG_CHECK_FAILED,
                     "the row means of GPU and CPU differ in %lld rows, by %g at most, and must "
                     "not differ",
                     (long long)result->means_difference.elements,
                     result->means_difference.largest);
  return RUNG_OK;
}
