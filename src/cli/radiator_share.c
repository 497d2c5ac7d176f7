/* rung radiator over ranks, or devices of --devices: whole rows each, where there are as many;
 * nothing is compared. */
#include <string.h>
#include <time.h>

#include "cli/array.h"
#include "cli/radiator.h"

typedef struct share {
  const radiator_request *r;
  array_job job;
  grid cells;
  double ms;
  int ranks;
} share;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static rung_status call(rung_context *context, const rung_ranks *ranks, void *of, rung_call *how) {
  share *s = of;
  array_part part;
  const double begin = now_ms();
  const rung_status status =
      rung_radiator_ranks(context, ranks, &s->r->model, s->r->p, s->r->m,
                          array_part_of(&part, &s->cells.tensor, SHARE_LINES, ranks), NULL, how);
  if (ranks != ranks_all() && ranks->rank > 0) return status;
  s->ms = now_ms() - begin;
  s->ranks = ranks->count;
  return status;
}

static rung_status check(const cli_common *common, const radiator_request *r, rung_error *error) {
  const char *given = r->means      ? "-a"
                      : r->times    ? "-t"
                      : r->print    ? "-v"
                      : r->skip_cpu ? "-c"
                      : r->skip_gpu ? "-g"
                                    : NULL;
  if (common->json) given = "--json";
  if (given)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "%s is not taken over ranks, which compare nothing; expected: -n, -m, -p, -b, "
                     "--preset, -o and what says how each runs",
                     given);
  return common->output ? array_place_share(common, error) : RUNG_OK;
}

/* This rank's cells, or those of all devices, without any in them. */
static rung_status make_cells(share *s, rung_error *error) {
  int64_t first, shape[2] = {s->r->n, s->r->m};
  if (!ranks_all()) return grid_make(&s->cells, s->r->dtype, 2, shape, error);
  const int ranks = ranks_all()->count;
  int ndim = 2;
  rung_status status = array_describe(&s->job.file.about, s->r->dtype, 2, shape, error);
  if (status) return status;
  shape[0] = share_of(&s->job.file.about, SHARE_LINES, ranks_number(), ranks, &first);
  if (s->r->n >= ranks)
    shape[0] /= s->r->m;
  else
    ndim = 1;
  return grid_make(&s->cells, s->r->dtype, ndim, shape, error);
}

rung_status radiator_share(const cli_common *common, const radiator_request *r, rung_error *error) {
  cli_common how = *common;
  share s = {.r = r, .job = {.verb = "radiator", .common = &how, .cut = SHARE_LINES}};
  char text[32];
  if (r->block > 0) how.block = r->block;
  rung_status status = check(common, r, error);
  if (!status) status = make_cells(&s, error);
  if (!status) status = array_run(&s.job, call, &s, error);
  if (!status && common->output)
    status = ranks_all() ? array_say_share(&s.job, 2, s.job.file.about.shape, array_first(&s.job),
                                           &s.cells, error)
                         : array_write(common->output, &s.cells.tensor, error);
  if (!status)
    fprintf(common->output && strcmp(common->output, "-") == 0 ? stderr : stdout,
            "%lld rows of %lld columns, %lld steps over %d ranks: %s\n", (long long)r->n,
            (long long)r->m, (long long)r->p, s.ranks, cli_time(s.ms, text));
  grid_free(&s.cells);
  return status;
}
