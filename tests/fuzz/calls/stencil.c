#include <math.h>

#include "fuzz/calls/calls.h"

enum { TAPS = 2 * RUNG_STENCIL_MAX_RADIUS + 1 };

/* The stencil, or the radiator, which is its own input. */
typedef struct stencil {
  rung_stencil_model model;
  double weights[TAPS];
  bool radiator, means;
  rung_radiator_model heat;
  int64_t steps;
} stencil;

static void make_models(fuzz_input *input, stencil *of, int64_t columns) {
  static const double divisors[] = {1, 5, -3, 0.25};
  of->model = (rung_stencil_model){.size = sizeof of->model,
                                   .radius = 1 + fuzz_pick(input, RUNG_STENCIL_MAX_RADIUS),
                                   .weights = of->weights,
                                   .divide = divisors[fuzz_pick(input, 4)],
                                   .steps = fuzz_pick(input, 12),
                                   .fixed = fuzz_pick(input, (int)columns + 1),
                                   .edge = (rung_edge)fuzz_pick(input, 5),
                                   .edge_value = fuzz_pick(input, 9) - 4};
  for (int k = 0; k < TAPS; k++) of->weights[k] = (fuzz_byte(input) - 128) * 0.01;
  of->steps = of->model.steps;
  rung_radiator_preset(rung_radiator_presets()[fuzz_pick(input, 5)], &of->heat);
}

static void make(fuzz_input *input, job *job) {
  stencil *of = job->of = malloc(sizeof *of);
  int64_t shape[DIMS];
  const DLDataType type = rung_type(kDLFloat, fuzz_pick(input, 2) ? 64 : 32);
  of->radiator = fuzz_rarely(input, 3);
  of->means = fuzz_rarely(input, 2);
  fuzz_shape(input, 2, shape);
  shape[0]++;
  shape[1] += of->radiator ? 4 : 1;
  make_models(input, of, shape[1] > 255 ? 255 : shape[1]);
  fuzz_array(input, job, of->radiator, true, type, 2, shape);
  if (!of->radiator) fuzz_array(input, job, OUTPUT, false, type, 2, shape);
  if (of->means) fuzz_array(input, job, OUTPUT, false, type, 1, shape);
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  const stencil *of = job->of;
  DLTensor *means = of->means ? &job->arrays[job->count - 1].tensor : NULL;
  if (of->radiator)
    return rung_radiator(context, &of->heat, of->steps, &job->arrays[0].tensor, means, how);
  return rung_stencil(context, &of->model, &job->arrays[0].tensor, &job->arrays[1].tensor, means,
                      how);
}

static void spoil(fuzz_input *input, job *job) {
  stencil *of = job->of;
  switch (fuzz_pick(input, 8)) {
    case 0:
      of->model.size = 1 + fuzz_byte(input) % 40;
      break;
    case 1:
      of->model.radius = of->heat.power = (int32_t)fuzz_bits(input);
      break;
    case 2:
      of->model.weights = NULL;
      of->heat.start = (double)NAN;
      break;
    case 3:
      of->weights[fuzz_pick(input, TAPS)] = of->heat.weights[fuzz_pick(input, 5)] =
          fuzz_pick(input, 2) ? (double)INFINITY : 1e308;
      break;
    case 4:
      of->model.divide = of->heat.divide = fuzz_pick(input, 2) ? 0 : 1e-310;
      break;
    case 5:
      of->model.steps = of->steps = -1 - (int64_t)(fuzz_bits(input) >> 1);
      break;
    case 6:
      of->model.fixed = of->heat.fixed = (int32_t)fuzz_bits(input);
      break;
    default:
      of->model.edge = (rung_edge)(int32_t)fuzz_bits(input);
      of->model.edge_value = of->heat.hot[0] = -(double)INFINITY;
  }
}

/* No steps copy. */
static void check(const job *job) {
  const stencil *of = job->of;
  if (of->radiator || of->steps != 0) return;
  void *in = fuzz_gather(&job->arrays[0]), *out = fuzz_gather(&job->arrays[1]);
  if (memcmp(in, out, (size_t)fuzz_count(&job->arrays[0]) * job->arrays[0].type.bits / 8) != 0)
    fuzz_wrong("no steps, and other numbers");
  free(in);
  free(out);
}

const operation fuzz_stencil = {make, call, spoil, check};
