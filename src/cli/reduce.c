/* rung reduce: sum, minimum, maximum or mean of an array in a file. */
#include <string.h>

#include "cli/array.h"

static const char verb[] = "reduce";

typedef struct request {
  bool has_op;
  rung_reduction op;
  int axis;
  array_job job;
  grid out;
} request;

#define TAKEN                                                                              \
  (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_F16) | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I8) |    \
   RUNG_TYPE(RUNG_U16) | RUNG_TYPE(RUNG_I16) | RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | \
   RUNG_TYPE(RUNG_I64) | RUNG_TYPE(RUNG_U64))

enum { OP, AXIS };
static const cli_option options[] = {
    {"op", 0, "NAME", "sum, min, max or mean (required)"},
    {"axis", 0, "K", "along this axis, from 0, or from -1 backwards; default: everything"},
    {0}};

static const char *const ops[] = {
    [RUNG_SUM] = "sum", [RUNG_MIN] = "min", [RUNG_MAX] = "max", [RUNG_MEAN] = "mean"};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  if (index == AXIS) {
    int64_t axis = 0;
    rung_status status = cli_int("--axis", value, -RUNG_MAX_DIMS, RUNG_MAX_DIMS - 1, &axis, error);
    if (!status) r->axis = (int)axis;
    return status;
  }
  for (int op = RUNG_SUM; op <= RUNG_MEAN; op++) {
    if (strcmp(ops[op], value) != 0) continue;
    r->op = (rung_reduction)op;
    r->has_op = true;
    return RUNG_OK;
  }
  return rung_fail(error, RUNG_UNKNOWN_NAME,
                   "--op '%.40s' is not known; expected: sum, min, max or mean", value);
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "IN.npy --op NAME [OPTION]...",
    .about =
        "Sums an array up, or finds its least or largest value, or its mean: of everything, or\n"
        "along one axis. Without -o the results are printed, one a line, in the order of their\n"
        "indices. IN.npy '-' is standard input. Sums of integers are of 64 bits. Started by "
        "mpirun,\n"
        "every rank reads its share of the file.",
    .example = "rung reduce heights.npy --op mean --axis 0 -o means.npy",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_JSON |
              CLI_OUTPUT | CLI_DEVICE_LIST,
    .types = TAKEN,
    .output_help = "the result, as .npy (with --json as JSON); default: printed",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

/* What can be refused before anything is read. */
static rung_status check(const cli_common *common, const request *r, rung_error *error) {
  if (!r->has_op)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--op is not given; expected: sum, min, max or mean");
  if (r->axis != RUNG_ALL && team_shares(common))
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "--axis is not taken over ranks; expected: a reduction of the whole array");
  return array_place(common, true, error);
}

static rung_dtype type_of(rung_reduction op, rung_dtype in) {
  const rung_number_kind kind = rung_traits_of(in)->kind;
  if (op == RUNG_MIN || op == RUNG_MAX || kind == RUNG_FLOAT) return in;
  if (op == RUNG_MEAN) return RUNG_F64;
  return kind == RUNG_SIGNED ? RUNG_I64 : RUNG_U64;
}

/* The shape of the input without the axis. */
static rung_status make_result(request *r, rung_error *error) {
  const file_array *in = &r->job.in;
  const int axis = r->axis < 0 && r->axis != RUNG_ALL ? r->axis + in->tensor.ndim : r->axis;
  int64_t shape[RUNG_MAX_DIMS];
  int ndim = 0;
  for (int d = 0; d < in->tensor.ndim && r->axis != RUNG_ALL; d++)
    if (d != axis) shape[ndim++] = in->shape[d];
  const rung_status status = grid_make(&r->out, type_of(r->op, in->dtype), ndim, shape, error);
  return status ? status : array_fits(r->job.common, &r->out.tensor, error);
}

static rung_status call(rung_context *context, const rung_ranks *ranks, void *of, rung_call *how) {
  request *r = of;
  array_part part;
  DLTensor *in = &r->job.in.tensor, out = r->out.tensor;
  if (!ranks) return rung_reduce(context, r->op, in, r->axis, &out, how);
  out.data = array_spare(&r->job, ranks, out.data);
  return rung_reduce_ranks(context, ranks, r->op, array_part_of(&part, in, SHARE_ELEMENTS, ranks),
                           &out, how);
}

static void print(FILE *to, const void *of) {
  const request *r = of;
  for (int64_t i = 0; i < r->out.count; i++) array_print(to, &r->out, i);
}

static json_t *json(const void *of) {
  const request *r = of;
  json_t *values = json_array();
  for (int64_t i = 0; values && i < r->out.count; i++) cli_append(&values, array_json(&r->out, i));
  return lab_object("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "verb", verb, "op", ops[r->op], "type",
                    rung_dtype_name(r->out.dtype), "rung", r->job.rung, "device", r->job.device,
                    "shape", cli_integers(r->out.shape, r->out.tensor.ndim), "values", values);
}

int verb_reduce(int argc, char **argv) {
  cli_common common;
  request r = {
      .axis = RUNG_ALL,
      .job = {.verb = verb, .common = &common, .streams = 1, .spare_bytes = sizeof(int64_t)}};
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  rung_status status = check(&common, &r, &error);
  if (!status) status = array_take(&r.job, argv[first], TAKEN, &error);
  if (!status && r.axis != RUNG_ALL) status = array_axis(argv[first], &r.job.in, r.axis, &error);
  if (!status) status = make_result(&r, &error);
  if (!status) status = array_run(&r.job, call, &r, &error);
  if (!status) array_say(&r.job, &r.out.tensor, print, json, &r, &error);
  grid_free(&r.out);
  array_drop_stored(&r.job);
  array_free(&r.job.in);
  return cli_end(verb, &error);
}
