/* An image through a filter: a strip of rows after the other, each with as many rows around it as
 * the kernel can reach, so that no more than a few strips are in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/correlate.h"

enum { BUDGET = 256 << 20 };

typedef struct strips {
  correlate_request *r;
  const char *path, *output;
  array_reader *reader;
  array_writer *writer;
  array_about in, out;
  rung_dtype sum;                      /* what the library gives: out's, or to be scaled to it */
  int64_t first_row, first_column;     /* of the region */
  int64_t rows, columns, channels;     /* of the result */
  int64_t reach, strip;                /* rows around a strip; rows of a strip */
  int64_t in_row, sum_row;             /* bytes */
  char *slab, *sums, *scaled;          /* rows of the image; a strip's results; those as out's */
  int64_t slab_first, slab_rows, room; /* which rows those are, and how many fit */
  double least, largest;               /* of a pass that measures */
  rung_error error;                    /* of files */
} strips;

/* ---- types and shapes --------------------------------------------------------------------- */

static bool is_integer(rung_dtype dtype) {
  return dtype == RUNG_U8 || dtype == RUNG_U16;
}

rung_status correlate_types(const correlate_request *r, rung_dtype in, rung_dtype *made,
                            rung_dtype *sum, rung_error *error) {
  const cli_common *common = r->job.common;
  const bool converted = r->clip || r->scaled, wide = in == RUNG_F64;
  rung_dtype out = wide || in == RUNG_F16 ? in : RUNG_F32;
  if (converted) out = is_integer(in) ? in : RUNG_U8;
  if (common->typed) out = common->type;
  if (is_integer(out) && !converted)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--type %s: sums become integers only by --clip or --scale; expected: one of "
                     "them",
                     rung_dtype_name(out));
  if (!is_integer(out) && converted)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--clip and --scale make integers, not %s; expected: --type u8 or --type u16",
                     rung_dtype_name(out));
  *made = out;
  *sum = r->scaled ? (wide ? RUNG_F64 : RUNG_F32) : out;
  return RUNG_OK;
}

rung_status correlate_takes(const char *path, const array_about *in, rung_error *error) {
  const unsigned taken =
      RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_F16) | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_U16);
  if (in->ndim != 2 && in->ndim != 3)
    return rung_fail(
        error, RUNG_BAD_SHAPE,
        "%s: has %d dimensions; expected: (height, width) or (height, width, channels)", path,
        in->ndim);
  if (taken & RUNG_TYPE(in->dtype)) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_DTYPE, "%s: holds %s; expected: u8, u16, f16, f32 or f64", path,
                   rung_dtype_name(in->dtype));
}

static rung_status check_image(const strips *s, rung_error *error) {
  if (correlate_takes(s->path, &s->in, error)) return error->status;
  const int64_t *at = s->r->region;
  if (!s->r->parted || (at[0] <= s->in.shape[0] - at[2] && at[1] <= s->in.shape[1] - at[3]))
    return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE,
                   "--region reaches to row %lld and column %lld; expected: no further than the "
                   "image, %lld rows and %lld columns",
                   (long long)(at[0] + at[2]), (long long)(at[1] + at[3]),
                   (long long)s->in.shape[0], (long long)s->in.shape[1]);
}

/* The result's place must hold it: asked before anything is worked out. */
static rung_status describe_result(strips *s, rung_error *error) {
  const correlate_request *r = s->r;
  int64_t shape[] = {s->rows, s->columns, s->channels};
  const rung_dtype out = s->out.dtype;
  rung_status status = array_describe(&s->out, out, s->in.ndim, shape, error);
  if (status) return status;
  status = array_holds(s->output, &s->out, error);
  if (status != RUNG_BAD_DTYPE || is_integer(out) || r->job.common->typed) return status;
  return rung_fail(
      error, RUNG_BAD_DTYPE,
      "output '%.80s' holds no %s; expected: --clip (rounds, and cuts off what is "
      "outside) or --scale (LO,HI or auto), or a name that ends in .tiff, .pfm or .npy",
      s->output, rung_dtype_name(out));
}

static rung_status open_image(strips *s, rung_error *error) {
  rung_status status = array_open(&s->reader, s->path, error);
  if (status) return status;
  const correlate_request *r = s->r;
  s->in = *array_of(s->reader);
  status = check_image(s, error);
  if (status) return status;
  s->first_row = r->parted ? r->region[0] : 0;
  s->first_column = r->parted ? r->region[1] : 0;
  s->rows = r->parted ? r->region[2] : s->in.shape[0];
  s->columns = r->parted ? r->region[3] : s->in.shape[1];
  s->channels = s->in.ndim == 3 ? s->in.shape[2] : 1;
  s->slab_first = s->slab_rows = 0;
  return RUNG_OK;
}

/* ---- memory ------------------------------------------------------------------------------- */

/* Where the border is the other end of the image, the file has its columns one by one, or several
 * devices share the image out, the strip is all of it. */
static rung_status make_room(strips *s, rung_error *error) {
  const int64_t height = s->in.shape[0];
  const bool whole =
      s->r->model.edge == RUNG_EDGE_WRAP || s->in.fortran || s->r->job.common->devices;
  s->reach = s->r->kernel.shape[0] - 1;
  s->in_row =
      s->in.fortran ? s->in.rows * s->in.row_bytes / (height > 0 ? height : 1) : s->in.row_bytes;
  s->sum_row = s->columns * s->channels * (int64_t)rung_dtype_bytes(s->sum);
  const int64_t row = s->in_row + s->sum_row + (s->r->scaled ? s->out.row_bytes : 0);
  s->strip = s->r->strip > 0 ? s->r->strip : (row > 0 ? BUDGET / row + 1 : 1);
  if (whole || s->strip > s->rows) s->strip = s->rows;
  s->room = whole || height < s->strip + 2 * s->reach ? height : s->strip + 2 * s->reach;
  s->slab = malloc((size_t)(s->room * s->in_row) + 1);
  s->sums = malloc((size_t)(s->strip * s->sum_row) + 1);
  s->scaled = malloc((size_t)(s->r->scaled ? s->strip * s->out.row_bytes : 0) + 1);
  if (s->slab && s->sums && s->scaled) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY,
                   "%s: no memory for %lld rows at a time; expected: fewer (--strip ROWS)", s->path,
                   (long long)s->strip);
}

static void free_room(strips *s) {
  free(s->slab);
  free(s->sums);
  free(s->scaled);
}

/* The rows [from, to) of the image are in the slab; those before them leave it. */
static rung_status fill(strips *s, int64_t from, int64_t to) {
  int64_t gone = from - s->slab_first;
  if (gone > s->slab_rows) gone = s->slab_rows;
  memmove(s->slab, s->slab + gone * s->in_row, (size_t)((s->slab_rows - gone) * s->in_row));
  s->slab_first += gone;
  s->slab_rows -= gone;
  rung_status status = RUNG_OK;
  while (!status && s->slab_first < from && s->slab_rows == 0) { /* not wanted */
    const int64_t left = from - s->slab_first, now = left < s->room ? left : s->room;
    status = array_rows(s->reader, now, s->slab, &s->error);
    s->slab_first += now;
  }
  const int64_t missing = to - s->slab_first - s->slab_rows;
  if (!status && missing > 0)
    status = array_rows(s->reader, missing, s->slab + s->slab_rows * s->in_row, &s->error);
  s->slab_rows += missing;
  return status;
}

/* ---- strips ------------------------------------------------------------------------------- */

static DLTensor tensor_of(void *data, rung_dtype dtype, int ndim, int64_t *shape,
                          int64_t *strides) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = rung_dlpack_type(dtype),
                    .shape = shape,
                    .strides = strides};
}

/* The rows of a strip, of the image and of the result. */
typedef struct strip {
  const correlate_request *r;
  rung_filter_model model;
  DLTensor in, out;
} strip;

static rung_status filter_part(rung_context *context, const rung_ranks *ranks, void *of,
                               rung_call *how) {
  strip *s = of;
  array_part from, to;
  const bool flipped = s->r->flipped;
  const DLTensor *kernel = &s->r->kernel.tensor;
  if (!ranks)
    return (flipped ? rung_convolve : rung_correlate)(context, &s->model, &s->in, kernel, &s->out,
                                                      how);
  return (flipped ? rung_convolve_ranks : rung_correlate_ranks)(
      context, ranks, &s->model, array_part_of(&from, &s->in, SHARE_ROWS, ranks), kernel,
      array_part_of(&to, &s->out, SHARE_ROWS, ranks), how);
}

/* Rows [y, y + count) of the region. */
static rung_status filter(strips *s, int64_t y, int64_t count, rung_call *how) {
  correlate_request *r = s->r;
  const int64_t height = s->in.shape[0];
  int64_t in_shape[] = {s->slab_rows, s->in.shape[1], s->channels},
          out_shape[] = {count, s->columns, s->channels},
          turned[] = {1, height, height * s->in.shape[1]};
  const int ndim = s->in.ndim;
  strip now = {.r = r,
               .model = r->model,
               .in = tensor_of(s->slab, s->in.dtype, ndim, in_shape, s->in.fortran ? turned : NULL),
               .out = tensor_of(s->sums, s->sum, ndim, out_shape, NULL)};
  now.model.region[0] = s->first_row + y - s->slab_first;
  now.model.region[1] = s->first_column;
  return array_together(&r->job, filter_part, &now, how);
}

static void measure(strips *s, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const double value = rung_number_at(s->sum, s->sums, i);
    if (!isfinite(value)) continue;
    if (value < s->least) s->least = value;
    if (value > s->largest) s->largest = value;
  }
}

/* low becomes 0, high the largest of out's type. */
static void scale(strips *s, int64_t count) {
  const rung_traits *to = rung_traits_of(s->out.dtype);
  const double low = s->r->low, width = s->r->high - low;
  const double factor = width != 0 ? to->largest / width : 0;
  for (int64_t i = 0; i < count; i++)
    to->store(s->scaled + i * (int64_t)to->bytes,
              (rung_number_at(s->sum, s->sums, i) - low) * factor);
}

/* Files' failures are in s->error; of the library's its context tells. */
static rung_status run_strips(strips *s, bool measuring, rung_call *how) {
  const int64_t height = s->in.shape[0];
  const double passes = s->r->measured ? 2 : 1, before = s->r->measured && !measuring ? 1 : 0;
  rung_status status = RUNG_OK;
  for (int64_t y = 0, count; !status && y < s->rows; y += count) {
    count = s->rows - y < s->strip ? s->rows - y : s->strip;
    if (s->strip < s->rows)
      cli_progress_show(&s->r->job.progress, (before + (double)y / (double)s->rows) / passes,
                        s->path);
    const int64_t row = s->first_row + y, all = count * s->columns * s->channels;
    const bool whole = s->room == height;
    const int64_t from = whole || row < s->reach ? 0 : row - s->reach;
    const int64_t to = whole || row + count + s->reach > height ? height : row + count + s->reach;
    status =
        s->in.fortran ? array_rows(s->reader, s->in.rows, s->slab, &s->error) : fill(s, from, to);
    if (s->in.fortran) s->slab_rows = height;
    if (!status) status = filter(s, y, count, how);
    if (status) return status;
    if (measuring) {
      measure(s, all);
    } else {
      if (s->r->scaled) scale(s, all);
      status = array_put(s->writer, count, s->r->scaled ? s->scaled : s->sums, &s->error);
    }
  }
  if (status || s->in.fortran) return status;
  return fill(s, height, height); /* what is not whole is refused, whatever part of it was wanted */
}

/* The image's least and largest results first, where they are the scale. */
static rung_status find_scale(strips *s, rung_call *how) {
  s->least = INFINITY;
  s->largest = -INFINITY;
  rung_status status = run_strips(s, true, how);
  if (status) return status;
  s->r->low = s->least <= s->largest ? s->least : 0;
  s->r->high = s->least <= s->largest ? s->largest : 1;
  array_close(s->reader);
  s->reader = NULL;
  const array_about before = s->in;
  status = open_image(s, &s->error);
  if (!status && (before.dtype != s->in.dtype || before.ndim != s->in.ndim ||
                  memcmp(before.shape, s->in.shape, sizeof before.shape) != 0))
    status =
        rung_fail(&s->error, RUNG_BAD_FILE, "%s: is another image when it is read again", s->path);
  return status;
}

static rung_status call(rung_context *context, const rung_ranks *ranks, void *of, rung_call *how) {
  strips *s = of;
  (void)context;
  (void)ranks;
  rung_status status = s->r->measured ? find_scale(s, how) : RUNG_OK;
  if (!status)
    status = array_create(&s->writer, s->output, &s->out, array_notes(s->reader), &s->error);
  if (!status) status = run_strips(s, false, how);
  return status;
}

rung_status correlate_run(correlate_request *r, const char *path, rung_error *error) {
  const char *output = r->job.common->output;
  strips s = {.r = r, .path = path, .output = output ? output : "-"};
  rung_status status = open_image(&s, error);
  if (!status) status = correlate_types(r, s.in.dtype, &s.out.dtype, &s.sum, error);
  if (!status) status = describe_result(&s, error);
  if (!status) status = make_room(&s, error);
  r->job.apart = true;
  if (!status) status = array_run(&r->job, call, &s, error);
  if (s.error.status) *error = s.error; /* not what the library last said */
  if (!status) {
    status = array_finish(s.writer, error);
    s.writer = NULL;
  }
  array_drop(s.writer);
  array_close(s.reader);
  free_room(&s);
  return status;
}
