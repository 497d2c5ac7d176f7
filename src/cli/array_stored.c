/* Arrays in files that are larger than the memory there is for them: read and written piece by
 * piece, as the library asks for them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/array.h"
#include "files/seen.h"
#include "lab/lab.h"

enum { SMALL = 16 << 20 }; /* of which nobody need be asked whether there is memory */

/* Bytes that arrays may have in memory: RUNG_MEMORY_LIMIT, or what there is. */
static rung_status find_most(const cli_common *common, int64_t *most, rung_error *error) {
  rung_context *context = NULL;
  rung_device_info cpu = {.size = sizeof cpu};
  rung_status status = cli_open(common, "cpu", &context, error);
  if (!status) status = cli_carry(context, rung_opened(context, &cpu), error);
  if (!status) *most = context->memory_limit > 0 ? context->memory_limit : cpu.available_bytes;
  rung_close(context);
  return status;
}

/* Whether the result, if it is as large, can go to its file piece by piece. */
static bool result_fits(const array_job *job) {
  const char *output = job->common->output;
  rung_error unsaid = {0};
  struct stat is;
  if (!job->large_result) return true;
  if (!output || strcmp(output, "-") == 0 || array_name_share("-o", output, &unsaid)) return false;
  return stat(output, &is) != 0 || S_ISREG(is.st_mode);
}

rung_status array_take_stored(array_job *job, const char *path, rung_error *error) {
  const char *limit = getenv("RUNG_MEMORY_LIMIT");
  const bool limited = limit && *limit;
  int64_t most = SMALL;
  if (job->streams == 0 || ranks_all() || !result_fits(job)) return RUNG_OK;
  if (limited && find_most(job->common, &most, error)) return error->status;
  if (job->large_result) most /= 2;
  rung_status status = file_store_open(&job->source, path, most, &job->in, error);
  if (status || !job->source.open) return status;
  if (!limited) {
    const DLTensor *in = &job->in.tensor;
    int64_t bytes = in->dtype.bits / 8 * (job->large_result ? 2 : 1);
    for (int d = 0; d < in->ndim; d++) bytes *= in->shape[d];
    status = find_most(job->common, &most, error);
    if (!status && bytes <= most) file_store_close(&job->source, error);
  }
  if (job->in.tensor.ndim < job->streams ||
      (job->common->typed && job->common->type != job->in.dtype)) /* it is converted as a whole */
    file_store_close(&job->source, error);
  if (!job->source.open) job->in = (file_array){0};
  return status;
}

rung_status array_make_result(array_job *job, grid *out, rung_dtype dtype, int ndim,
                              const int64_t *shape, rung_error *error) {
  array_about about;
  share_place place;
  if (!job->source.open) {
    const rung_status status = grid_make(out, dtype, ndim, shape, error);
    return status ? status : array_fits(job->common, &out->tensor, error);
  }
  *out = (grid){.dtype = dtype, .count = 1};
  for (int d = 0; d < ndim; d++) out->count *= out->shape[d] = shape[d];
  const char *path = job->common->output;
  rung_status status = array_describe(&about, dtype, ndim, shape, error);
  if (!status) status = share_create(&job->file_made, path, &about, &place, error);
  if (!status)
    status = file_store_create(&job->result, &place, path, rung_dtype_bytes(dtype), error);
  out->tensor = rung_stored(&job->result.store, rung_dlpack_type(dtype), ndim, out->shape);
  return status;
}

void array_see_stored(const array_job *job) {
  const DLTensor *in = &job->in.tensor;
  int64_t bytes = in->dtype.bits / 8;
  for (int d = 0; d < in->ndim; d++) bytes *= in->shape[d];
  /* A single line that is scanned is read twice. */
  seen_begin(bytes * (!job->large_result ? 1 : in->ndim == 1 ? 3 : 2));
}

rung_status array_check_stored(const array_job *job, rung_error *error) {
  file_store_check(&job->source, error);
  return file_store_check(&job->result, error);
}

rung_status array_say_stored(array_job *job, rung_error *error) {
  if (!file_store_close(&job->result, error)) file_replace_commit(&job->file_made, error);
  return error->status;
}

void array_drop_stored(array_job *job) {
  rung_error unsaid = {.status = RUNG_FILE_FAILED};
  file_store_close(&job->source, &unsaid);
  file_store_close(&job->result, &unsaid);
  file_replace_abandon(&job->file_made);
}
