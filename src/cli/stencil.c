/* rung stencil: a weighted row stencil applied to an array in a file. */
#include <string.h>

#include "cli/array.h"

static const char verb[] = "stencil";

enum { TAPS_LEAST = 3, TAPS_MOST = 2 * RUNG_STENCIL_MAX_RADIUS + 1 };

typedef struct request {
  rung_stencil_model model;
  double weights[TAPS_MOST];
  int taps;
  const char *means_path;
  array_job job;
  DLTensor rows; /* the input as rows; over ranks a share, perhaps of elements */
  int64_t columns;
  grid out, means;
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
                       "--weights '%.80s' has %d values; expected: an odd count of %d ... %d",
                       value, to->taps, TAPS_LEAST, TAPS_MOST);
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
      "--edge '%.40s' is not known; expected: wrap, nearest, reflect, mirror or constant:VALUE",
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
                           "--divide '%.40s' is zero; expected: any other number", value);
      return status;
    }
    case STEPS:
      return cli_int("--steps", value, 0, INT64_MAX, &r->model.steps, error);
    case FIXED:
      return cli_int("--fixed", value, 0, INT64_MAX, &r->model.fixed, error);
    case EDGE:
      return take_edge(r, value, error);
    default:
      r->means_path = value;
      return RUNG_OK;
  }
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "IN.npy --weights LIST [OPTION]... -o OUT.npy",
    .about =
        "Replaces every value by a weighted sum of its neighbours in the row, P times.\n"
        "IN.npy is an array of rows, or one row; '-' is standard input. Started by mpirun,\n"
        "every rank reads and writes its share of the files.",
    .example = "rung stencil in.npy --weights \"1 2 1\" --divide 4 --steps 10 -o out.npy",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_OUTPUT |
              CLI_DEVICE_LIST,
    .output_help = "the result, as .npy; default: standard output, if that is no terminal",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

/* What can be refused before anything is read. */
static rung_status check(const cli_common *common, const request *r, rung_error *error) {
  const char *output = common->output ? common->output : "-";
  if (r->taps == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--weights is not given; expected: an odd count of %d ... %d numbers",
                     TAPS_LEAST, TAPS_MOST);
  if (r->means_path && strcmp(r->means_path, output) == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--means '%.80s' is where the result goes; expected: another file",
                     r->means_path);
  rung_status status = array_place_share(common, error);
  if (status || !r->means_path || ranks_number() > 0) return status;
  if (ranks_all()) status = array_name_share("--means", r->means_path, error);
  return status ? status : array_possible("--means", r->means_path, error);
}

static rung_status check_dimensions(const char *path, int ndim, rung_error *error) {
  if (ndim == 1 || ndim == 2) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE,
                   "%s: has %d dimensions; expected: 2 (rows, columns), or 1 (a single row)", path,
                   ndim);
}

/* Over ranks this one's rows or elements, and the means of rows whose last element it has. */
static rung_status make_share(request *r, const char *path, rung_error *error) {
  const array_about *about = &r->job.file.about;
  file_array *in = &r->job.in;
  rung_status status = check_dimensions(path, about->ndim, error);
  if (status) return status;
  r->columns = about->shape[about->ndim - 1];
  r->rows = in->tensor;
  status = grid_make(&r->out, in->dtype, in->tensor.ndim, in->shape, error);
  if (!status) status = array_fits(r->job.common, &r->out.tensor, error);
  if (status || !r->means_path || r->columns == 0) return status;
  const int64_t first = array_first(&r->job), end = first + r->out.count;
  const int64_t rows = end / r->columns - first / r->columns;
  return grid_make(&r->means, in->dtype, 1, &rows, error);
}

/* A single row where the input has one dimension. */
static rung_status make_rows(request *r, const char *path, int64_t shape[2], int64_t strides[2],
                             rung_error *error) {
  file_array *in = &r->job.in;
  const int ndim = in->tensor.ndim;
  if (ranks_all()) return make_share(r, path, error);
  if (check_dimensions(path, ndim, error)) return error->status;
  shape[0] = ndim == 2 ? in->shape[0] : 1;
  shape[1] = in->shape[ndim - 1];
  strides[0] = ndim == 2 ? in->strides[0] : 1;
  strides[1] = in->strides[ndim - 1];
  r->columns = shape[1];
  r->rows = in->tensor;
  r->rows.ndim = 2;
  r->rows.shape = shape;
  r->rows.strides = strides;
  const rung_status status = array_make_result(&r->job, &r->out, in->dtype, 2, shape, error);
  return status || !r->means_path ? status : grid_make(&r->means, in->dtype, 1, shape, error);
}

/* The means of the rows whose last element is the part's. */
static DLTensor means_of(const request *r, const array_part *part, int64_t *count) {
  const int64_t columns = r->columns, end = part->first + part->shape[0];
  const int64_t row = part->rows || columns == 0 ? part->first : part->first / columns;
  DLTensor means = r->means.tensor;
  *count = (part->rows || columns == 0 ? end : end / columns) - row;
  means.data = (char *)means.data + row * (means.dtype.bits / 8);
  means.shape = count;
  return means;
}

static rung_status call(rung_context *context, const rung_ranks *ranks, void *of, rung_call *how) {
  request *r = of;
  array_part in, out;
  DLTensor part, *means = r->means_path ? &r->means.tensor : NULL;
  int64_t rows;
  if (!ranks) return rung_stencil(context, &r->model, &r->rows, &r->out.tensor, means, how);
  DLTensor *from = array_part_of(&in, &r->rows, SHARE_LINES, ranks);
  DLTensor *to = array_part_of(&out, &r->out.tensor, SHARE_LINES, ranks);
  if (means && from == &in.tensor) {
    part = means_of(r, &in, &rows);
    means = &part;
  }
  return rung_stencil_ranks(context, ranks, &r->model, r->columns, from, to, means, how);
}

static rung_status write_share(const request *r, rung_error *error) {
  const array_about *about = &r->job.file.about;
  const int64_t first = array_first(&r->job);
  const int64_t all = about->ndim == 2 ? about->shape[0] : 1, row = first / r->columns;
  file_replace rows = {0}, means = {0};
  rung_status status = RUNG_OK;
  if (r->means_path)
    status = array_begin_share(&means, r->means_path, 1, &all, row, &r->means, error);
  if (!status)
    status = array_begin_share(&rows, r->job.common->output, about->ndim, about->shape, first,
                               &r->out, error);
  if (!status && ranks_number() == 0) status = file_replace_commit(&rows, error);
  if (!status && ranks_number() == 0 && r->means_path) file_replace_commit(&means, error);
  file_replace_abandon(&rows);
  file_replace_abandon(&means);
  return error->status;
}

/* The rows and their means, or neither. */
static rung_status write(request *r, rung_error *error) {
  const char *output = r->job.common->output;
  file_replace rows = {0}, means = {0};
  rung_status status = RUNG_OK;
  if (ranks_all()) return write_share(r, error);
  if (r->means_path) status = array_begin(&means, r->means_path, &r->means.tensor, error);
  if (!status && r->job.source.open)
    status = array_say_stored(&r->job, error);
  else if (!status && !(status = array_begin(&rows, output ? output : "-", &r->out.tensor, error)))
    status = file_replace_commit(&rows, error);
  if (!status && r->means_path) status = file_replace_commit(&means, error);
  file_replace_abandon(&means);
  return status;
}

int verb_stencil(int argc, char **argv) {
  cli_common common;
  request r = {
      .model = {.size = sizeof r.model, .divide = 1, .steps = 1},
      .job = {
          .verb = verb, .common = &common, .cut = SHARE_LINES, .streams = 2, .large_result = true}};
  int64_t shape[2], strides[2];
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  r.model.weights = r.weights;
  r.model.radius = (r.taps - 1) / 2;
  rung_error error = {0};
  rung_status status = check(&common, &r, &error);
  if (!status) status = array_take(&r.job, argv[first], RUNG_SINGLE_DOUBLE, &error);
  if (!status) status = make_rows(&r, argv[first], shape, strides, &error);
  if (!status) status = array_run(&r.job, call, &r, &error);
  if (!status && !ranks_all() && r.job.in.tensor.ndim == 1) grid_flatten(&r.out);
  if (!status) write(&r, &error);
  grid_free(&r.out);
  array_drop_stored(&r.job);
  grid_free(&r.means);
  array_free(&r.job.in);
  return cli_end(verb, &error);
}
