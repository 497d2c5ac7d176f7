/* Arrays in files that ranks share out: each reads its share of one, and writes its share of
 * another. */
#include <string.h>

#include "cli/array.h"

rung_status array_place_share(const cli_common *common, rung_error *error) {
  if (!ranks_all()) return array_place(common, false, error);
  if (ranks_number() > 0) return RUNG_OK;
  if (!common->output || strcmp(common->output, "-") == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "ranks write their shares of a file; expected: -o OUT.npy");
  const rung_status status = array_name_share("-o", common->output, error);
  return status ? status : array_place(common, false, error);
}

rung_status array_name_share(const char *option, const char *path, rung_error *error) {
  const char *dot = strrchr(path, '.');
  if (!dot || strchr(dot, '/') || strcmp(dot, ".npy") == 0) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.80s': expected: a name that ends in .npy",
                   option, path);
}

rung_status array_same(const char *path, const share_file *mine, const share_file *before,
                       rung_error *error) {
  const share_file *all = ranks_gather(mine, sizeof *mine, error);
  if (!all) return error->status;
  for (int r = 0; r < ranks_all()->count; r++) {
    if (memcmp(&all[r], before ? before : &all[0], sizeof *all) == 0) continue;
    if (before || all[r].bytes == all[0].bytes)
      return rung_fail(
          error, RUNG_BAD_FILE,
          "%s: has changed while it was read, or is another file in rank %d; expected: "
          "the same file in all ranks, which nobody writes",
          path, r);
    return rung_fail(
        error, RUNG_BAD_FILE,
        "%s: rank %d finds %lld bytes, and rank 0 %lld; expected: the same file in all "
        "ranks, which nobody writes",
        path, r, (long long)all[r].bytes, (long long)all[0].bytes);
  }
  return RUNG_OK;
}

/* Nobody has changed the file between the first rank's first look and the last one's last. */
rung_status array_take_share(array_job *job, const char *path, rung_error *error) {
  const rung_ranks *ranks = ranks_all();
  share_read(path, job->cut, ranks->rank, ranks->count, &job->in, &job->file, error);
  if (array_same(path, &job->file, NULL, error)) return error->status;
  share_file later;
  memcpy(&later, &job->file, sizeof later); /* to be compared as bytes */
  share_look(path, &later, error);
  return array_same(path, &later, &job->file, error);
}

int64_t array_first(const array_job *job) {
  int64_t first = 0;
  if (ranks_all()) share_of(&job->file.about, job->cut, ranks_number(), ranks_all()->count, &first);
  return first;
}

int64_t array_first_row(const array_job *job) {
  const array_about rows = {.ndim = 1, .shape = {job->file.about.shape[0]}};
  int64_t first = 0;
  if (ranks_all()) share_of(&rows, SHARE_ELEMENTS, ranks_number(), ranks_all()->count, &first);
  return first;
}

rung_status array_begin_share(file_replace *file, const char *name, int ndim, const int64_t *shape,
                              int64_t first, const grid *out, rung_error *error) {
  share_place place = {0};
  array_about about;
  *file = (file_replace){0};
  if (!array_describe(&about, out->dtype, ndim, shape, error) && ranks_number() == 0)
    share_create(file, name, &about, &place, error);
  const share_place *all = ranks_gather(&place, sizeof place, error);
  if (!all) return error->status;
  place = all[0];
  share_write(&place, name, first, out->count, rung_dtype_bytes(out->dtype), out->memory, error);
  return ranks_agree(error);
}

rung_status array_say_share(const array_job *job, int ndim, const int64_t *shape, int64_t first,
                            const grid *out, rung_error *error) {
  file_replace file;
  if (!array_begin_share(&file, job->common->output, ndim, shape, first, out, error) &&
      ranks_number() == 0)
    file_replace_commit(&file, error);
  file_replace_abandon(&file);
  return error->status;
}
