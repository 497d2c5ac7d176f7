/* rung scan: sums, minima or maxima of all beginnings of an array's lines, from file to file. */
#include <string.h>

#include "cli/array.h"

static const char verb[] = "scan";

typedef struct request {
  rung_reduction op;
  bool exclusive;
  int axis;
  array_job job;
  grid out;
} request;

/* Not bf16: a file has no type for the result. */
#define TAKEN                                                                              \
  (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_F16) | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I8) |    \
   RUNG_TYPE(RUNG_U16) | RUNG_TYPE(RUNG_I16) | RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | \
   RUNG_TYPE(RUNG_I64) | RUNG_TYPE(RUNG_U64))

enum { OP, AXIS, EXCLUSIVE };
static const cli_option options[] = {
    {"op", 0, "NAME", "sum, min or max; default sum"},
    {"axis", 0, "K", "along this axis, from 0, or from -1 backwards; default -1, the last"},
    {"exclusive", 0, NULL, "of what lies before an element, without it"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  static const char *const ops[] = {[RUNG_SUM] = "sum", [RUNG_MIN] = "min", [RUNG_MAX] = "max"};
  request *r = to;
  if (index == EXCLUSIVE) {
    r->exclusive = true;
    return RUNG_OK;
  }
  if (index == AXIS) {
    int64_t axis = 0;
    const rung_status status =
        cli_int("--axis", value, -RUNG_MAX_DIMS, RUNG_MAX_DIMS - 1, &axis, error);
    if (!status) r->axis = (int)axis;
    return status;
  }
  for (int op = RUNG_SUM; op <= RUNG_MAX; op++) {
    if (strcmp(ops[op], value) != 0) continue;
    r->op = (rung_reduction)op;
    return RUNG_OK;
  }
  return rung_fail(error, RUNG_UNKNOWN_NAME, "--op '%.40s' is not known; expected: sum, min or max",
                   value);
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "IN.npy [OPTION]... -o OUT.npy",
    .about =
        "Replaces every element by the sum, least or largest of its line up to and with it,\n"
        "along one axis. Sums keep the array's type. IN.npy '-' is standard input. Started by\n"
        "mpirun, every rank reads and writes its share of the files of one dimension.",
    .example = "rung scan rain.npy -o so_far.npy",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_OUTPUT |
              CLI_DEVICE_LIST,
    .types = TAKEN,
    .output_help = "the result, as .npy; default: standard output, if that is no terminal",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

static rung_status call(rung_context *context, const rung_ranks *ranks, void *of, rung_call *how) {
  request *r = of;
  array_part in, out;
  DLTensor *from = &r->job.in.tensor, *to = &r->out.tensor;
  if (!ranks) return rung_scan(context, r->op, from, r->axis, r->exclusive, to, how);
  return rung_scan_ranks(context, ranks, r->op, array_part_of(&in, from, SHARE_ELEMENTS, ranks),
                         r->exclusive, array_part_of(&out, to, SHARE_ELEMENTS, ranks), how);
}

static rung_status check_line(const request *r, const char *path, rung_error *error) {
  const int ndim = ranks_all() ? r->job.file.about.ndim : r->job.in.tensor.ndim;
  if (!team_shares(r->job.common))
    return r->job.in.tensor.ndim > 0 ? array_axis(path, &r->job.in, r->axis, error) : RUNG_OK;
  if (ndim == 1) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE,
                   "%s: has %d dimensions; expected: 1, along which ranks share it out", path,
                   ndim);
}

int verb_scan(int argc, char **argv) {
  cli_common common;
  request r = {.op = RUNG_SUM,
               .axis = -1,
               .job = {.verb = verb, .common = &common, .streams = 1, .large_result = true}};
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  file_array *in = &r.job.in;
  rung_status status = array_place_share(&common, &error);
  if (!status) status = array_take(&r.job, argv[first], TAKEN, &error);
  if (!status) status = check_line(&r, argv[first], &error);
  if (!status)
    status = array_make_result(&r.job, &r.out, in->dtype, in->tensor.ndim, in->shape, &error);
  if (!status) status = array_run(&r.job, call, &r, &error);
  if (!status && ranks_all())
    array_say_share(&r.job, 1, r.job.file.about.shape, array_first(&r.job), &r.out, &error);
  else if (!status && r.job.source.open)
    array_say_stored(&r.job, &error);
  else if (!status)
    array_say(&r.job, &r.out.tensor, NULL, NULL, NULL, &error);
  grid_free(&r.out);
  array_drop_stored(&r.job);
  array_free(in);
  return cli_end(verb, &error);
}
