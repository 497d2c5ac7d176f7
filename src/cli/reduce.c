/* rung reduce: sum, minimum, maximum or mean of an array in a file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/grid.h"
#include "files/npy.h"

static const char verb[] = "reduce";

typedef struct request {
  bool has_op;
  rung_reduction op;
  int axis;
} request;

/* The result, and what it took. `tensor` points into this struct. */
typedef struct result {
  DLTensor tensor;
  rung_dtype dtype;
  int64_t shape[RUNG_MAX_DIMS], count;
  void *memory; /* owned */
  const char *rung;
  char device[96];
} result;

#define TAKEN                                                                            \
  (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | \
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
                   "--op '%.40s' is not known: sum, min, max or mean would do", value);
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "IN.npy --op NAME [OPTION]...",
    .about =
        "Sums an array up, or finds its least or largest value, or its mean: of everything, or\n"
        "along one axis. Without -o the results are printed, one a line, in the order of their\n"
        "indices. IN.npy '-' is standard input. Sums of integers are of 64 bits.",
    .example = "rung reduce heights.npy --op mean --axis 0 -o means.npy",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_JSON |
              CLI_OUTPUT,
    .types = TAKEN,
    .output_help = "the result, as .npy (with --json as JSON); default: printed",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

/* What can be refused before anything is read. */
static rung_status check(const cli_common *common, const request *r, rung_error *error) {
  if (!r->has_op)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "--op is not given: sum, min, max or mean would do");
  return common->output ? file_replace_possible(common->output, error) : RUNG_OK;
}

static rung_status take_input(const cli_common *common, const char *path, npy_array *array,
                              rung_error *error) {
  return grid_read(common, path, TAKEN, array, error);
}

/* ---- the result -------------------------------------------------------------------------------
 */

/* As rung.h has it. */
static rung_dtype type_of(rung_reduction op, rung_dtype in) {
  const rung_number_kind kind = rung_traits_of(in)->kind;
  if (op == RUNG_MIN || op == RUNG_MAX || kind == RUNG_FLOAT) return in;
  if (op == RUNG_MEAN) return RUNG_F64;
  return kind == RUNG_SIGNED ? RUNG_I64 : RUNG_U64;
}

/* The shape of `in` without the axis. One that `in` lacks leaves a shape the library refuses, with
 * its own sentence. */
static rung_status make_result(const request *r, const npy_array *in, result *out,
                               rung_error *error) {
  int ndim = 0;
  const int axis = r->axis < 0 && r->axis != RUNG_ALL ? r->axis + in->tensor.ndim : r->axis;
  out->count = 1;
  for (int d = 0; d < in->tensor.ndim && r->axis != RUNG_ALL; d++) {
    if (d == axis) continue;
    out->shape[ndim++] = in->shape[d];
    if (!rung_multiply(out->count, in->shape[d], &out->count))
      return rung_fail(error, RUNG_TOO_LARGE, "the result has more elements than fit in 64 bits");
  }
  out->dtype = type_of(r->op, in->dtype);
  int64_t bytes = 0;
  if (rung_multiply(out->count, (int64_t)rung_dtype_bytes(out->dtype), &bytes))
    out->memory = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (!out->memory)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a result of %lld elements",
                     (long long)out->count);
  out->tensor = (DLTensor){.data = out->memory,
                           .device = {kDLCPU, 0},
                           .ndim = ndim,
                           .dtype = rung_dlpack_type(out->dtype),
                           .shape = out->shape};
  return RUNG_OK;
}

static rung_status run(const cli_common *common, const request *r, const npy_array *in, result *out,
                       rung_error *error) {
  rung_context *context = NULL;
  rung_status status = make_result(r, in, out, error);
  if (!status) status = cli_open(common, common->device, &context, error);
  if (!status) {
    rung_call call = {.rung = common->rung, .block = common->block, .math = common->math};
    status = cli_carry(
        context, rung_reduce(context, r->op, &in->tensor, r->axis, &out->tensor, &call), error);
    if (!status) {
      cli_note(common, verb, "rung %s on %s", call.used, context->device.name);
      out->rung = call.used;
      snprintf(out->device, sizeof out->device, "%s", context->device.name);
    }
  }
  rung_close(context);
  return status;
}

/* ---- saying it --------------------------------------------------------------------------------
 */

static void print_value(FILE *to, const result *out, int64_t i) {
  char text[RUNG_NUMBER_TEXT];
  fprintf(to, "%s\n", rung_number_text(out->dtype, out->memory, i, text));
}

/* JSON's integers are signed here: what is larger goes as text. */
static json_t *value_json(const result *out, int64_t i) {
  const rung_traits *traits = rung_traits_of(out->dtype);
  const char *at = (const char *)out->memory + i * (int64_t)traits->bytes;
  char text[RUNG_NUMBER_TEXT];
  if (traits->kind == RUNG_FLOAT) return cli_real(traits->load(at));
  const int64_t value = traits->load_integer(at);
  if (traits->kind == RUNG_SIGNED || value >= 0) return json_integer((json_int_t)value);
  return json_string(rung_number_text(out->dtype, out->memory, i, text));
}

static json_t *result_json(const request *r, const result *out) {
  json_t *shape = json_array(), *values = json_array();
  for (int d = 0; d < out->tensor.ndim; d++)
    json_array_append_new(shape, json_integer(out->shape[d]));
  for (int64_t i = 0; i < out->count; i++) json_array_append_new(values, value_json(out, i));
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "verb", verb, "op", ops[r->op], "type",
                   rung_dtype_name(out->dtype), "rung", out->rung, "device", out->device, "shape",
                   shape, "values", values);
}

static rung_status say(const cli_common *common, const request *r, const result *out,
                       rung_error *error) {
  if (common->output && !common->json) return npy_write(common->output, &out->tensor, error);
  file_replace file;
  rung_status status = cli_results_begin(&file, common, error);
  if (status) return status;
  if (common->json)
    status = cli_results_json(&file, result_json(r, out), error);
  else
    for (int64_t i = 0; i < out->count; i++) print_value(file.stream, out, i);
  if (!status) return file_replace_commit(&file, error);
  file_replace_abandon(&file);
  return status;
}

int verb_reduce(int argc, char **argv) {
  request r = {.axis = RUNG_ALL};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  npy_array in = {0};
  result out = {0};
  rung_status status = check(&common, &r, &error);
  if (!status) status = take_input(&common, argv[first], &in, &error);
  if (!status) status = run(&common, &r, &in, &out, &error);
  if (!status) say(&common, &r, &out, &error);
  free(out.memory);
  npy_free(&in);
  return cli_end(verb, &error);
}
