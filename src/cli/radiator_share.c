/* rung radiator over ranks: whole rows each, where there are as many; nothing is compared. */
#include <time.h>

#include "cli/array.h"
#include "cli/radiator.h"

typedef struct share {
  const radiator_request *r;
  array_job job;
  grid cells;
  double ms;
} share;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static rung_status call(rung_context *context, void *of, rung_call *how) {
  share *s = of;
  const double begin = now_ms();
  const rung_status status = rung_radiator_ranks(context, ranks_all(), &s->r->model, s->r->p,
                                                 s->r->m, &s->cells.tensor, NULL, how);
  s->ms = now_ms() - begin;
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

/* This rank's cells, without any in them. */
static rung_status make_cells(share *s, rung_error *error) {
  const int ranks = ranks_all()->count;
  int64_t first, shape[2] = {s->r->n, s->r->m};
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
    status =
        array_say_share(&s.job, 2, s.job.file.about.shape, array_first(&s.job), &s.cells, error);
  if (!status)
    printf("%lld rows of %lld columns, %lld steps over %d ranks: %s\n", (long long)r->n,
           (long long)r->m, (long long)r->p, ranks_all()->count, cli_time(s.ms, text));
  grid_free(&s.cells);
  return status;
}
