#include <math.h>

#include "cli/explain.h"

/* null: not counted. `all`: zeros too. */
static json_t *counts_json(const rung_counts *counts, bool all) {
  json_t *json = json_object();
  for (int i = 0; i < RUNG_COUNTERS; i++) {
    const int64_t count = counts->at[i];
    if (count == 0 && !all) continue;
    cli_set(&json, rung_counter_name((rung_counter)i),
            count == RUNG_NOT_COUNTED ? json_null() : json_integer(count));
  }
  return json;
}

static json_t *lines_json(const rung_profile_kernel *kernel) {
  json_t *lines = json_array();
  for (int i = 0; i < kernel->line_count; i++) {
    const rung_profile_line *line = &kernel->lines[i];
    cli_append(&lines, lab_object("{s:s?, s:i, s:o}", "file", explain_file(line->file), "line",
                                  line->line, "counts", counts_json(&line->counts, false)));
  }
  return lines;
}

/* ---- steps ---------------------------------------------------------------------------------- */

const char *explain_deed_name(rung_deed deed) {
  static const char *const names[] = {
      [RUNG_DID_WORK] = "work",       [RUNG_DID_LOAD] = "load",
      [RUNG_DID_STORE] = "store",     [RUNG_DID_ATOMIC] = "atomic",
      [RUNG_DID_BARRIER] = "barrier", [RUNG_DID_EXCHANGE] = "exchange"};
  return names[deed];
}

/* Of the lanes that took part, from the 128 bytes on in which the lowest lies: the same every time,
 * with the same banks and sectors. */
static json_t *addresses_json(const rung_profile_step *step) {
  enum { LINE = 128 };
  json_t *list = json_array();
  uint64_t least = UINT64_MAX;
  for (int lane = 0; lane < RUNG_LANES; lane++)
    if (step->lanes >> lane & 1 && step->address[lane] < least) least = step->address[lane];
  for (int lane = 0; lane < RUNG_LANES && step->bytes > 0; lane++)
    if (step->lanes >> lane & 1)
      cli_append(&list, json_integer((json_int_t)(step->address[lane] - least / LINE * LINE)));
  return list;
}

static json_t *step_json(const rung_profile_step *step, uint64_t first_place) {
  return lab_object("{s:i, s:i, s:s, s:I, s:s?, s:i, s:b, s:I, s:I, s:i, s:i, s:i, s:o}", "warp",
                    step->warp, "phase", step->phase, "deed", explain_deed_name(step->deed),
                    "place", (json_int_t)(step->place - first_place), "file",
                    explain_file(step->file), "line", step->line, "shared", step->shared, "lanes",
                    (json_int_t)step->lanes, "all", (json_int_t)step->all, "bytes", step->bytes,
                    "sectors", step->sectors, "depth", step->depth, "addresses",
                    addresses_json(step));
}

static json_t *steps_json(const rung_profile_kernel *kernel) {
  json_t *steps = json_array();
  uint64_t first = UINT64_MAX;
  for (int64_t i = 0; i < kernel->step_count; i++)
    if (kernel->steps[i].place < first) first = kernel->steps[i].place;
  for (int64_t i = 0; i < kernel->step_count; i++)
    cli_append(&steps, step_json(&kernel->steps[i], first));
  return steps;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static json_t *kernels_json(const rung_profile *profile) {
  json_t *kernels = json_array();
  for (int i = 0; i < profile->count; i++) {
    const rung_profile_kernel *kernel = &profile->kernels[i];
    json_t *one =
        lab_object("{s:s, s:I, s:I, s:I, s:i, s:I, s:o, s:o}", "kernel", kernel->name, "launches",
                   (json_int_t)kernel->launches, "blocks", (json_int_t)kernel->blocks, "warps",
                   (json_int_t)kernel->warps, "threads", kernel->threads, "shared_bytes",
                   (json_int_t)kernel->shared_bytes, "counts", counts_json(&kernel->total, true),
                   "lines", lines_json(kernel));
    if (kernel->step_count > 0) {
      cli_set(&one, "steps_lost", json_integer((json_int_t)kernel->steps_lost));
      cli_set(&one, "steps", steps_json(kernel));
    }
    cli_append(&kernels, one);
  }
  return kernels;
}

static json_t *figures_json(const explained *the) {
  const explain_figures figures = explain_rung_figures(the);
  json_t *json = json_object();
  for (int i = 0; i < FIGURES; i++)
    cli_set(&json, explain_figure_name((explain_figure)i), cli_real(figures.at[i]));
  return json;
}

static json_t *sayings_json(const explained *the) {
  char sayings[EXPLAIN_SAYINGS][RUNG_SENTENCE];
  const int count = explain_say(the, sayings);
  json_t *json = json_array();
  for (int i = 0; i < count; i++) cli_append(&json, lab_text(sayings[i]));
  return json;
}

static json_t *rung_json(const explained *the, const rung_case *heading) {
  json_t *json = lab_object("{s:s, s:s, s:i, s:s}", "rung", the->row->name, "idea", the->row->idea,
                            "block", the->block, "finding", lab_finding_name(the->verdict.finding));
  if (the->test_case != heading) {
    cli_set(&json, "job", lab_text(the->test_case->label));
    cli_set(&json, "least_bytes", cli_real(the->test_case->bytes));
    cli_set(&json, "least_flops", cli_real(the->test_case->flops));
  }
  if (the->verdict.finding != LAB_GOOD) {
    cli_set(&json, "reason", lab_text(the->verdict.sentence));
    return json;
  }
  cli_set(&json, "meaning", sayings_json(the));
  cli_set(&json, "figures", figures_json(the));
  cli_set(&json, "flops_counted", json_boolean(the->total.at[RUNG_FLOPS] != RUNG_NOT_COUNTED));
  cli_set(&json, "counts", counts_json(&the->total, true));
  cli_set(&json, "kernels", kernels_json(&the->profile));
  return json;
}

json_t *explain_json(const explained *list, int count, const char *device) {
  const rung_case *test_case = explain_job(list, count);
  json_t *rungs = json_array();
  for (int i = 0; i < count; i++) cli_append(&rungs, rung_json(&list[i], test_case));
  return lab_object("{s:s, s:i, s:s, s:s, s:s, s:I, s:f, s:f, s:o}", "verb", "explain", "version",
                    EXPLAIN_VERSION, "device", device, "operation", test_case->operation->name,
                    "job", test_case->label, "seed", (json_int_t)test_case->seed, "least_bytes",
                    test_case->bytes, "least_flops", test_case->flops, "rungs", rungs);
}
