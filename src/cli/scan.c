/* rung scan: sums, minima or maxima of all beginnings of an array's lines, from file to file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/grid.h"
#include "files/npy.h"

static const char verb[] = "scan";

typedef struct request {
  rung_reduction op;
  bool exclusive;
} request;

/* Not bf16: a file has no type for the result. */
#define TAKEN                                                                              \
  (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_F16) | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I8) |    \
   RUNG_TYPE(RUNG_U16) | RUNG_TYPE(RUNG_I16) | RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | \
   RUNG_TYPE(RUNG_I64) | RUNG_TYPE(RUNG_U64))

enum { OP, EXCLUSIVE };
static const cli_option options[] = {
    {"op", 0, "NAME", "sum, min or max; default sum"},
    {"exclusive", 0, NULL, "of what lies before an element, without it"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  static const char *const ops[] = {[RUNG_SUM] = "sum", [RUNG_MIN] = "min", [RUNG_MAX] = "max"};
  request *r = to;
  if (index == EXCLUSIVE) {
    r->exclusive = true;
    return RUNG_OK;
  }
  for (int op = RUNG_SUM; op <= RUNG_MAX; op++) {
    if (strcmp(ops[op], value) != 0) continue;
    r->op = (rung_reduction)op;
    return RUNG_OK;
  }
  return rung_fail(error, RUNG_UNKNOWN_NAME, "--op '%.40s' is not known: sum, min or max would do",
                   value);
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "IN.npy [OPTION]... -o OUT.npy",
    .about =
        "Replaces every element by the sum, least or largest of its line up to and with it,\n"
        "along the last axis. Sums keep the array's type. IN.npy '-' is standard input.",
    .example = "rung scan rain.npy -o so_far.npy",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_OUTPUT,
    .types = TAKEN,
    .output_help = "the result, as .npy; default: standard output, if that is no terminal",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

/* What can be refused before anything is read. */
static rung_status check_place(const cli_common *common, const char *output, rung_error *error) {
  if (!common->output && isatty(STDOUT_FILENO))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "the result is no text for a terminal: -o OUT.npy, or a pipe, would do");
  return file_replace_possible(output, error);
}

static rung_status take_input(const cli_common *common, const char *path, npy_array *array,
                              rung_error *error) {
  return grid_read(common, path, TAKEN, array, error);
}

/* A compact array of in's shape and type; its memory is the caller's to free. */
static rung_status make_result(const npy_array *in, DLTensor *out, rung_error *error) {
  int64_t bytes = in->tensor.dtype.bits / 8;
  bool fits = true;
  for (int d = 0; d < in->tensor.ndim; d++)
    fits = fits && rung_multiply(bytes, in->tensor.shape[d], &bytes);
  *out = in->tensor;
  out->strides = NULL;
  out->byte_offset = 0;
  out->data = fits ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
  if (out->data) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a result of the input's size");
}

static rung_status run(const cli_common *common, const request *r, const npy_array *in,
                       DLTensor *out, rung_error *error) {
  rung_context *context = NULL;
  rung_status status = make_result(in, out, error);
  if (!status) status = cli_open(common, common->device, &context, error);
  if (!status) {
    rung_call call = {.rung = common->rung, .block = common->block, .math = common->math};
    status =
        cli_carry(context, rung_scan(context, r->op, &in->tensor, r->exclusive, out, &call), error);
    if (!status) cli_note(common, verb, "rung %s on %s", call.used, context->device.name);
  }
  rung_close(context);
  return status;
}

int verb_scan(int argc, char **argv) {
  request r = {.op = RUNG_SUM};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  const char *output = common.output ? common.output : "-";
  rung_error error = {0};
  npy_array in = {0};
  DLTensor out = {0};
  rung_status status = check_place(&common, output, &error);
  if (!status) status = take_input(&common, argv[first], &in, &error);
  if (!status) status = run(&common, &r, &in, &out, &error);
  if (!status) npy_write(output, &out, &error);
  free(out.data);
  npy_free(&in);
  return cli_end(verb, &error);
}
