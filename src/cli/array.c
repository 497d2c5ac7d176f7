#include "cli/array.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

rung_status array_place(const cli_common *common, bool text, rung_error *error) {
  if (ranks_number() > 0) return RUNG_OK;
  if (!common->output && !text && isatty(STDOUT_FILENO))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "the result is no text for a terminal; expected: -o OUT.npy, or a pipe");
  if (!common->output) return RUNG_OK;
  if (common->json) return file_replace_possible(common->output, error);
  return array_possible("-o", common->output, error);
}

rung_status array_fits(const cli_common *common, const DLTensor *out, rung_error *error) {
  array_about about;
  rung_dtype dtype;
  if (!common->output || common->json) return RUNG_OK;
  if (!rung_dtype_of_code(out->dtype.code, out->dtype.bits, &dtype)) return RUNG_OK;
  const rung_status status = array_describe(&about, dtype, out->ndim, out->shape, error);
  return status ? status : array_holds(common->output, &about, error);
}

rung_status array_take(array_job *job, const char *path, unsigned taken, rung_error *error) {
  rung_status status = array_take_stored(job, path, error);
  cli_progress_begin(&job->progress, job->common);
  cli_progress_read(&job->progress, path);
  if (!status && !job->source.open)
    status = ranks_all() ? array_take_share(job, path, error) : array_read(path, &job->in, error);
  cli_progress_end(&job->progress);
  if (status) return status;
  if (job->common->typed && job->common->type != job->in.dtype)
    return grid_convert(&job->in, job->common->type, error);
  if (taken & RUNG_TYPE(job->in.dtype)) return RUNG_OK;
  char types[120];
  rung_dtypes_text(taken, types, sizeof types);
  return rung_fail(error, RUNG_BAD_DTYPE,
                   "%s: holds %s; expected: %s (--type f32 or --type f64 converts it)", path,
                   rung_dtype_name(job->in.dtype), types);
}

rung_status array_axis(const char *path, const file_array *in, int axis, rung_error *error) {
  const int ndim = in->tensor.ndim;
  if (axis >= -ndim && axis < ndim) return RUNG_OK;
  if (ndim == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "--axis %d: %s is one number; expected: no --axis",
                     axis, path);
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "--axis %d: %s has %d dimension%s; expected: %d ... %d", axis, path, ndim,
                   ndim == 1 ? "" : "s", -ndim, ndim - 1);
}

rung_status array_take_numbers(const char *path, const char *what, int64_t least, file_array *array,
                               rung_error *error) {
  rung_status status = array_read(path, array, error);
  if (!status && (array->tensor.ndim != 1 || array->shape[0] < least))
    status =
        rung_fail(error, RUNG_BAD_SHAPE, "%s: holds no %s; expected: one dimension of %lld or more",
                  path, what, (long long)least);
  if (!status && (array->dtype != RUNG_F64 || array->strides[0] != 1))
    status = grid_convert(array, RUNG_F64, error);
  return status;
}

/* ---- the call ---------------------------------------------------------------------------------
 */

rung_status array_together(const array_job *job, team_call *call, void *of, rung_call *how) {
  rung_error said = {0}; /* by the first context, which keeps it */
  return team_run(job->team, call, of, how, &said);
}

void *array_spare(const array_job *job, const rung_ranks *ranks, void *own) {
  if (ranks == ranks_all() || ranks->rank == 0) return own;
  return job->spare + (size_t)(ranks->rank - 1) * job->spare_bytes;
}

static bool is_compact(const DLTensor *tensor) {
  int64_t step = 1;
  for (int d = tensor->ndim - 1; d >= 0 && tensor->strides; d--) {
    if (tensor->shape[d] > 1 && tensor->strides[d] != step) return false;
    step *= tensor->shape[d];
  }
  return true;
}

DLTensor *array_part_of(array_part *part, DLTensor *whole, share_cut cut, const rung_ranks *ranks) {
  array_about about = {.ndim = whole->ndim};
  int64_t row = 1, count;
  if (ranks == ranks_all()) return whole;
  memcpy(about.shape, whole->shape, (size_t)whole->ndim * sizeof *about.shape);
  for (int d = 1; d < whole->ndim; d++) row *= whole->shape[d];
  part->rows = whole->ndim > 0 && (cut == SHARE_ROWS || !is_compact(whole) ||
                                   (cut == SHARE_LINES && whole->shape[0] >= ranks->count));
  if (part->rows) about.ndim = 1;
  count = share_of(&about, SHARE_ELEMENTS, ranks->rank, ranks->count, &part->first);
  part->tensor = *whole;
  part->tensor.shape = memcpy(part->shape, whole->shape, sizeof *part->shape * (size_t)whole->ndim);
  part->shape[0] = count;
  if (!part->rows) {
    part->tensor.ndim = 1;
    part->tensor.strides = NULL;
  } else if (whole->strides) {
    row = whole->strides[0];
  }
  const int64_t before = part->first * (part->rows ? row : 1);
  part->tensor.byte_offset += (uint64_t)(before * (whole->dtype.bits / 8));
  return &part->tensor;
}

static rung_status make_spare(array_job *job, rung_error *error) {
  const size_t bytes = (size_t)(job->team->count - 1) * job->spare_bytes;
  job->spare = malloc(bytes + 1);
  if (job->spare) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %zu bytes of results", bytes);
}

rung_status array_run(array_job *job, team_call *call, void *of, rung_error *error) {
  const cli_common *common = job->common;
  cli_team team;
  rung_call how = {
      .size = sizeof how, .rung = common->rung, .block = common->block, .math = common->math};
  rung_status status = team_open(&team, common, error);
  job->team = &team;
  if (!status) status = make_spare(job, error);
  if (ranks_all()) status = ranks_agree(error);
  cli_progress_begin(&job->progress, common);
  if (!status) {
    rung_context *first = team.contexts[0];
    if (job->source.open) {
      array_see_stored(job);
      cli_progress_read(&job->progress, job->source.path);
    } else {
      cli_progress_call(&job->progress, 0, 1, job->verb, "", first);
    }
    status = job->apart ? cli_carry(first, call(first, ranks_all(), of, &how), error)
                        : team_run(&team, call, of, &how, error);
  }
  cli_progress_end(&job->progress);
  if (job->source.open) status = array_check_stored(job, error);
  if (!status) status = team_name(&team, job->device, error);
  team_close(&team);
  free(job->spare);
  job->spare = NULL;
  job->team = NULL;
  if (status) return status;
  job->rung = how.used ? how.used : "none";
  cli_note(common, job->verb, "rung %s on %s", job->rung, job->device);
  return RUNG_OK;
}

rung_status array_say(const array_job *job, const DLTensor *tensor,
                      void (*print)(FILE *to, const void *of), json_t *(*json)(const void *of),
                      const void *of, rung_error *error) {
  const cli_common *common = job->common;
  if (ranks_number() > 0) return RUNG_OK;
  if (!print || (common->output && !common->json))
    return array_write(common->output ? common->output : "-", tensor, error);
  file_replace file;
  rung_status status = cli_results_begin(&file, common, error);
  if (status) return status;
  if (common->json)
    status = cli_results_json(&file, json(of), error);
  else
    print(file.stream, of);
  if (!status) return file_replace_commit(&file, error);
  file_replace_abandon(&file);
  return status;
}

/* ---- numbers ------------------------------------------------------------------------------- */

void array_print(FILE *to, const grid *from, int64_t index) {
  char text[RUNG_NUMBER_TEXT];
  fprintf(to, "%s\n", rung_number_text(from->dtype, from->memory, index, text));
}

json_t *array_json(const grid *from, int64_t index) {
  const rung_traits *traits = rung_traits_of(from->dtype);
  const char *at = (const char *)from->memory + index * (int64_t)traits->bytes;
  char text[RUNG_NUMBER_TEXT];
  if (traits->kind == RUNG_FLOAT) return cli_number(traits->load(at));
  const int64_t value = traits->load_integer(at);
  if (traits->kind == RUNG_SIGNED || value >= 0) return json_integer((json_int_t)value);
  return json_string(rung_number_text(from->dtype, from->memory, index, text));
}
