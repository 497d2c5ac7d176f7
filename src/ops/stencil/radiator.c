/* The radiator: the stencil's weights and starts, by the year of the assignment they come from. */
#include <math.h>
#include <string.h>

#include "ops/stencil/stencil.h"

static const char *const preset_names[] = {"2016", "2019", "2021", "2023", "2025", NULL};

/* Weights from the left; hot column 0 and its part of column 1; power of the height; fixed
 * columns; whether the start falls off; the start. */
static const rung_radiator_model presets[] = {
    {{1.85, 1.40, 1.00, .60, .15}, 5, {1, .75}, 1, 2, 0, 0},
    {{1.90, 1.50, 1.00, .50, .10}, 5, {1, .80}, 1, 2, 0, 0},
    {{1.70, 1.40, 1.00, .60, .30}, 5, {1, .80}, 1, 2, 0, 0},
    {{1.65, 1.35, 1.00, .65, .35}, 5, {1, .70}, 1, 2, 0, 1. / 15360},
    {{1.60, 1.55, 1.00, .60, .25}, 5, {.98, 0}, 2, 1, 1, 0},
};

const char *const *rung_radiator_presets(void) {
  return preset_names;
}

rung_status rung_radiator_preset(const char *name, rung_radiator_model *model) {
  if (model == NULL) return RUNG_BAD_ARGUMENT;
  if (name == NULL) name = "2019";
  for (int i = 0; preset_names[i] != NULL; i++)
    if (strcmp(name, preset_names[i]) == 0) {
      *model = presets[i];
      return RUNG_OK;
    }
  return RUNG_UNKNOWN_NAME;
}

static rung_status check_radiator(rung_error *error, const rung_radiator_model *model) {
  if (model == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "model is NULL; rung_radiator_preset() fills a rung_radiator_model");
  if (model->power != 1 && model->power != 2)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "power is %d; expected: 1 or 2", model->power);
  if (model->fixed != 1 && model->fixed != 2)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "fixed is %d; expected: 1 or 2", model->fixed);
  if (!isfinite(model->hot[0]) || !isfinite(model->hot[1]) || !isfinite(model->start))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "hot is %g, %g and start is %g; expected: finite numbers", model->hot[0],
                     model->hot[1], model->start);
  return RUNG_OK;
}

rung_status stencil_radiator_problem(rung_error *error, const rung_radiator_model *model,
                                     int64_t steps, int64_t rows, int64_t columns, rung_dtype dtype,
                                     stencil_problem *problem) {
  rung_status status = check_radiator(error, model);
  if (status != RUNG_OK) return status;
  const rung_stencil_model stencil = {
      .radius = 2,
      .weights = model->weights,
      .divide = model->divide,
      .steps = steps,
      .fixed = model->fixed,
      .edge = RUNG_EDGE_WRAP,
  };
  status = stencil_problem_of(error, &stencil, rows, columns, dtype, problem);
  if (status != RUNG_OK) return status;
  problem->start = (stencil_start){
      .own = true,
      .hot = {model->hot[0], model->hot[1]},
      .value = model->start,
      .power = model->power,
      .falling = model->falling,
      .fixed = model->fixed,
      .all_rows = rows,
  };
  problem->bytes /= 2; /* nothing is read */
  return RUNG_OK;
}

void stencil_fill_start(const stencil_problem *p, void *grid) {
  const rung_traits *traits = rung_traits_of(p->dtype);
  for (int64_t i = 0; i < p->rows; i++)
    for (int64_t j = 0; j < p->columns; j++)
      traits->store((char *)grid + (i * p->columns + j) * (int64_t)traits->bytes,
                    stencil_start_value(&p->start, i, j, p->columns));
}
