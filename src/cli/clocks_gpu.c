/* A GPU's clocks, all of one launch of one kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clocks.h"
#include "lab/fixture.h"

/* A kernel whose blocks write down when they began and ended. */
static const char operation[] = "reduce", rung[] = "timed",
                  job[] = "n=32768 op=min type=f32 outer=2048";

/* One launch: marks around it on the device, the host's clock before it, behind it, and when the
 * device is idle again. */
static rung_status launch(lab_fixture *fixture, const rung_row *row, clocks_gpu *found,
                          rung_error *error) {
  rung_context *context = fixture->context;
  const rung_backend *backend = context->backend;
  double before = 0, queued = 0;
  rung_status status = backend->synchronize(context->state, error);
  if (!status) status = backend->clock_begin(context->state, error);
  if (!status) status = backend->mark(context->state, 0, error);
  before = lab_seconds();
  if (!status) status = lab_fixture_launch(fixture, row, 0, error);
  queued = lab_seconds();
  if (!status) status = backend->mark(context->state, 1, error);
  if (!status) status = backend->synchronize(context->state, error);
  found->host_ms = 1e3 * (lab_seconds() - before);
  found->launch_ms = 1e3 * (queued - before);
  if (!status) status = backend->clock_end(context->state, error);
  if (!status) status = backend->elapsed(context->state, &found->events_ms, error);
  return status ? status : backend->clock_mhz(context->state, &found->clock_mhz, error);
}

/* What the blocks of that launch wrote down. */
static rung_status look_at_blocks(lab_fixture *fixture, const rung_row *row, clocks_gpu *found,
                                  rung_error *error) {
  rung_context *context = fixture->context;
  lab_shot shot;
  lab_timeline blocks = {.count = 0};
  lab_timeline_figures figures = {0};
  rung_status status = lab_fixture_shot(fixture, row, 0, &shot, error);
  if (status) return status;
  blocks.count = row->block_times(&shot.task);
  const size_t bytes = (size_t)blocks.count * sizeof *blocks.blocks;
  blocks.blocks = malloc(bytes + 1);
  if (!blocks.blocks) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the blocks");
  status = context->backend->copy(context->state, blocks.blocks, fixture->arenas[LAB_SCRATCH].data,
                                  bytes, RUNG_TO_HOST, error);
  if (!status) status = context->backend->synchronize(context->state, error);
  if (!status) status = lab_timeline_look(&blocks, &figures, error);
  if (!status) {
    found->blocks = blocks.count;
    found->global_ms = 1e-6 * (double)figures.span;
    found->global_step_ns = figures.tick > 0 ? (double)figures.tick : NAN;
  }
  free(blocks.blocks);
  return status;
}

static rung_status look(rung_context *context, rung_case *test_case, const rung_row *row,
                        clocks_gpu *found, rung_error *error) {
  lab_fixture *fixture = NULL;
  lab_verdict verdict;
  rung_status status = rung_cases_of(test_case->operation)->expect(test_case, error);
  if (!status) status = lab_fixture_open(context, test_case, &fixture, error);
  if (status) return status;
  lab_verify(fixture, row, 0, &verdict);
  if (verdict.finding != LAB_GOOD)
    status =
        rung_fail(error, verdict.finding == LAB_UNSUPPORTED ? RUNG_UNSUPPORTED : RUNG_CHECK_FAILED,
                  "%s", verdict.sentence);
  if (!status) status = lab_fixture_prepare(fixture, row, 0, error);
  if (!status) status = lab_fixture_poison(fixture, error);
  if (!status) status = launch(fixture, row, found, error);
  if (!status) status = look_at_blocks(fixture, row, found, error);
  lab_fixture_close(fixture);
  return status;
}

rung_status clocks_look_gpu(const cli_common *common, const char *device, clocks_gpu *found,
                            rung_error *error) {
  rung_context *context;
  rung_case test_case;
  const rung_row *row = cli_row_of(operation, RUNG_ON_GPU, rung);
  const rung_cases *cases = rung_cases_of(rung_operation_named(operation));
  rung_status status = cli_open(common, device, &context, error);
  if (status) return status;
  status = cases->make(job, common->seed, &test_case, error);
  if (!status) {
    status = look(context, &test_case, row, found, error);
    cases->drop(&test_case);
  }
  if (!status) snprintf(found->device, sizeof found->device, "%s", context->device.name);
  rung_close(context);
  return status;
}
