/* rung stencil: a weighted row stencil applied to an array in a file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/grid.h"
#include "files/npy.h"

static const char verb[] = "stencil";

enum { TAPS_LEAST = 3, TAPS_MOST = 2 * RUNG_STENCIL_MAX_RADIUS + 1 };

typedef struct request {
  rung_stencil_model model;
  double weights[TAPS_MOST];
  int taps;
  const char *means;
} request;

enum { WEIGHTS, DIVIDE, STEPS, FIXED, EDGE, MEANS };
static const cli_option options[] = {
    {"weights", 0, "LIST", "weights from the leftmost tap on, an odd count of 3 ... 17 (required)"},
    {"divide", 0, "D", "every weight is divided by it; default 1"},
    {"steps", 0, "P", "how often it is applied; default 1"},
    {"fixed", 0, "K", "the first K columns keep their values; default 0"},
    {"edge", 0, "RULE", "wrap, nearest, reflect, mirror or constant:VALUE; default wrap"},
    {"means", 0, "FILE", "write the mean of every row there"},
    {0}};

/* Numbers parted by blanks or commas. */
static rung_status take_weights(request *to, const char *value, rung_error *error) {
  rung_status status = cli_numbers("--weights", value, TAPS_MOST, to->weights, &to->taps, error);
  if (!status && (to->taps < TAPS_LEAST || to->taps > TAPS_MOST || to->taps % 2 == 0))
    status = rung_fail(error, RUNG_BAD_ARGUMENT,
                       "--weights '%.80s' has %d values: an odd count of %d ... %d would do", value,
                       to->taps, TAPS_LEAST, TAPS_MOST);
  return status;
}

static rung_status take_edge(request *to, const char *value, rung_error *error) {
  static const char *const names[] = {[RUNG_EDGE_WRAP] = "wrap",
                                      [RUNG_EDGE_CONSTANT] = "constant",
                                      [RUNG_EDGE_NEAREST] = "nearest",
                                      [RUNG_EDGE_REFLECT] = "reflect",
                                      [RUNG_EDGE_MIRROR] = "mirror"};
  static const char prefix[] = "constant:";
  if (strncmp(value, prefix, sizeof prefix - 1) == 0) {
    to->model.edge = RUNG_EDGE_CONSTANT;
    return cli_double("--edge constant:", value + sizeof prefix - 1, &to->model.edge_value, error);
  }
  for (int i = 0; i <= RUNG_EDGE_MIRROR; i++) {
    if (strcmp(names[i], value) != 0) continue;
    to->model.edge = (rung_edge)i;
    to->model.edge_value = 0;
    return RUNG_OK;
  }
  return rung_fail(
      error, RUNG_UNKNOWN_NAME,
      "--edge '%.40s' is not known: wrap, nearest, reflect, mirror or constant:VALUE would do",
      value);
}

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  switch (index) {
    case WEIGHTS:
      return take_weights(r, value, error);
    case DIVIDE: {
      rung_status status = cli_double("--divide", value, &r->model.divide, error);
      if (!status && r->model.divide == 0)
        status = rung_fail(error, RUNG_BAD_ARGUMENT,
                           "--divide '%.40s' is zero: any other number would do", value);
      return status;
    }
    case STEPS:
      return cli_int("--steps", value, 0, INT64_MAX, &r->model.steps, error);
    case FIXED:
      return cli_int("--fixed", value, 0, INT64_MAX, &r->model.fixed, error);
    case EDGE:
      return take_edge(r, value, error);
    default:
      r->means = value;
      return RUNG_OK;
  }
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "IN.npy --weights LIST [OPTION]... -o OUT.npy",
    .about =
        "Replaces every value by a weighted sum of its neighbours in the row, P times.\n"
        "IN.npy is an array of rows, or one row; '-' is standard input.",
    .example =
        "rung stencil plate.npy --weights \"1.9 1.5 1 .5 .1\" --divide 5 --steps 100 "
        "--fixed 2 -o later.npy",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_OUTPUT,
    .output_help = "the result, as .npy; default: standard output, if that is no terminal",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

/* What can be refused before anything is read. */
static rung_status check_places(const cli_common *common, const request *r, const char *output,
                                rung_error *error) {
  if (r->taps == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--weights is not given: an odd count of %d ... %d numbers would do",
                     TAPS_LEAST, TAPS_MOST);
  if (!common->output && isatty(STDOUT_FILENO))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "the result is no text for a terminal: -o OUT.npy, or a pipe, would do");
  if (r->means && strcmp(r->means, output) == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--means '%.80s' is where the result goes: another file would do", r->means);
  rung_status status = file_replace_possible(output, error);
  if (!status && r->means) status = file_replace_possible(r->means, error);
  return status;
}

/* The input as rows: of the type asked for, a single row where it has one dimension. */
static rung_status take_input(const cli_common *common, const char *path, npy_array *array,
                              rung_error *error) {
  rung_status status = npy_read(path, array, error);
  if (status) return status;
  if (array->tensor.ndim < 1 || array->tensor.ndim > 2)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "%s: has %d dimensions: 2 (rows, columns), or 1 (a single row) would do", path,
                     array->tensor.ndim);
  if (!common->typed && !(RUNG_SINGLE_DOUBLE & RUNG_TYPE(array->dtype)))
    return rung_fail(error, RUNG_BAD_DTYPE,
                     "%s: holds %s: f32 and f64 are taken; --type f32 or --type f64 converts it",
                     path, rung_dtype_name(array->dtype));
  if (common->typed && common->type != array->dtype)
    status = grid_convert(array, common->type, error);
  return status;
}

static rung_status run(const cli_common *common, request *r, const npy_array *in, grid *out,
                       grid *means, rung_error *error) {
  DLTensor rows = in->tensor;
  int64_t shape[2] = {1, in->shape[0]}, strides[2] = {1, in->strides[0]};
  if (rows.ndim == 1) {
    rows.ndim = 2;
    rows.shape = shape;
    rows.strides = strides;
  }
  rung_context *context = NULL;
  rung_status status = grid_make(out, in->dtype, 2, rows.shape, error);
  if (!status && r->means) status = grid_make(means, in->dtype, 1, rows.shape, error);
  if (!status) status = cli_open(common, common->device, &context, error);
  if (!status) {
    rung_call call = {.rung = common->rung, .block = common->block, .math = common->math};
    status = cli_carry(context,
                       rung_stencil(context, &r->model, &rows, &out->tensor,
                                    r->means ? &means->tensor : NULL, &call),
                       error);
    if (!status) cli_note(common, verb, "rung %s on %s", call.used, context->device.name);
  }
  rung_close(context);
  if (in->tensor.ndim == 1) grid_flatten(out);
  return status;
}

int verb_stencil(int argc, char **argv) {
  request r = {.model = {.divide = 1, .steps = 1}};
  cli_common common;
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  r.model.weights = r.weights;
  r.model.radius = (r.taps - 1) / 2;
  const char *output = common.output ? common.output : "-";
  rung_error error = {0};
  npy_array in = {0};
  grid out = {0}, means = {0};
  rung_status status = check_places(&common, &r, output, &error);
  if (!status) status = take_input(&common, argv[first], &in, &error);
  if (!status) status = run(&common, &r, &in, &out, &means, &error);
  if (!status) status = npy_write(output, &out.tensor, &error);
  if (!status && r.means) npy_write(r.means, &means.tensor, &error);
  grid_free(&out);
  grid_free(&means);
  npy_free(&in);
  return cli_end(verb, &error);
}
