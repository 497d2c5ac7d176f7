/* rung correlate over ranks: each has rows of the image in memory, all at once. */
#include "cli/correlate.h"

typedef struct share {
  correlate_request *r;
  grid out;
} share;

static rung_status call(rung_context *context, const rung_ranks *ranks, void *of, rung_call *how) {
  share *s = of;
  const correlate_request *r = s->r;
  const DLTensor *in = &r->job.in.tensor, *kernel = &r->kernel.tensor;
  return r->flipped
             ? rung_convolve_ranks(context, ranks, &r->model, in, kernel, &s->out.tensor, how)
             : rung_correlate_ranks(context, ranks, &r->model, in, kernel, &s->out.tensor, how);
}

rung_status correlate_share(correlate_request *r, const char *path, rung_error *error) {
  share s = {.r = r};
  rung_dtype made, sum;
  const array_about *about = &r->job.file.about;
  const file_array *in = &r->job.in;
  r->job.cut = SHARE_ROWS;
  cli_progress_begin(&r->job.progress, r->job.common);
  cli_progress_read(&r->job.progress, path);
  rung_status status = array_take_share(&r->job, path, error);
  cli_progress_end(&r->job.progress);
  if (!status) status = correlate_takes(path, about, error);
  if (!status) status = correlate_types(r, in->dtype, &made, &sum, error);
  if (!status) status = grid_make(&s.out, made, in->tensor.ndim, in->shape, error);
  if (!status) status = array_run(&r->job, call, &s, error);
  if (!status) {
    const int64_t row = about->shape[1] * (about->ndim == 3 ? about->shape[2] : 1);
    status = array_say_share(&r->job, about->ndim, about->shape, array_first_row(&r->job) * row,
                             &s.out, error);
  }
  grid_free(&s.out);
  array_free(&r->job.in);
  return status;
}
