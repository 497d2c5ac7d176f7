/* The kernels and the borders of rung correlate, by their names and from files. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/correlate.h"
#include "files/lines.h"

enum { MOST = RUNG_KERNEL_MOST * RUNG_KERNEL_MOST };

/* ---- names that are nearly right ---------------------------------------------------------- */

/* "; did you mean 'x'?" for the nearest of `names`, else ";". */
static const char *hint(const char *name, const char *const *names, char text[CLI_GUESS]) {
  cli_guess guess = {.word = name};
  for (; *names; names++) cli_guess_try(&guess, *names);
  return guess.best ? cli_guess_text(&guess, text) : ";";
}

rung_status correlate_border(rung_filter_model *model, const char *text, rung_error *error) {
  static const char prefix[] = "constant:";
  char meant[CLI_GUESS];
  if (strncmp(text, prefix, sizeof prefix - 1) == 0) {
    model->edge = RUNG_EDGE_CONSTANT;
    return cli_double("--border constant:", text + sizeof prefix - 1, &model->edge_value, error);
  }
  model->edge_value = 0;
  if (rung_edge_named(text, &model->edge) == RUNG_OK) return RUNG_OK;
  return rung_fail(
      error, RUNG_UNKNOWN_NAME,
      "--border '%.40s' is not known%s expected: constant:VALUE, edge, mirror-edge, "
      "mirror, wrap, or a library's own word with its name before it, as scipy:reflect "
      "or opencv:reflect101",
      text, hint(text, rung_edge_names(), meant));
}

/* ---- by name ------------------------------------------------------------------------------ */

static const struct {
  const char *name;
  int side;
  int8_t taps[9];
} fixed[] = {{"sobel-x", 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}},
             {"sobel-y", 3, {-1, -2, -1, 0, 0, 0, 1, 2, 1}},
             {"prewitt-x", 3, {-1, 0, 1, -1, 0, 1, -1, 0, 1}},
             {"prewitt-y", 3, {-1, -1, -1, 0, 0, 0, 1, 1, 1}},
             {"scharr-x", 3, {-3, 0, 3, -10, 0, 10, -3, 0, 3}},
             {"scharr-y", 3, {-3, -10, -3, 0, 0, 0, 3, 10, 3}},
             {"laplace", 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}},
             {"sharpen", 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}},
             {"identity", 1, {1}}};
enum { FIXED = sizeof fixed / sizeof *fixed };

/* Integers stay integers: sums of u8 and u16 images are then exact. */
static rung_status make(const double *taps, int rows, int columns, grid *kernel,
                        rung_error *error) {
  const int64_t shape[] = {rows, columns};
  bool whole = true;
  for (int i = 0; i < rows * columns; i++)
    whole = whole && taps[i] == rint(taps[i]) && fabs(taps[i]) <= INT32_MAX;
  const rung_status status = grid_make(kernel, whole ? RUNG_I32 : RUNG_F64, 2, shape, error);
  if (status) return status;
  const rung_traits *traits = rung_traits_of(kernel->dtype);
  for (int i = 0; i < rows * columns; i++)
    traits->store((char *)kernel->memory + (size_t)i * traits->bytes, taps[i]);
  return RUNG_OK;
}

static rung_status make_box(int side, grid *kernel, rung_error *error) {
  double taps[MOST];
  for (int i = 0; i < side * side; i++) taps[i] = 1.0 / (side * side);
  return make(taps, side, side, kernel, error);
}

/* Products of two samples of exp(-x^2 / 2 sigma^2), divided by their sum: relative to the largest
 * sample, which no sigma makes 0. */
static rung_status make_gauss(int side, double sigma, grid *kernel, rung_error *error) {
  double line[RUNG_KERNEL_MOST], taps[MOST], sum = 0;
  const double nearest = side % 2 == 0 ? 0.5 : 0;
  for (int i = 0; i < side; i++) {
    const double x = fabs(i - (side - 1) / 2.0);
    sum += line[i] = exp(-(x - nearest) / sigma * ((x + nearest) / sigma) / 2);
  }
  for (int i = 0; i < side * side; i++) taps[i] = line[i / side] / sum * (line[i % side] / sum);
  return make(taps, side, side, kernel, error);
}

/* "box5", "gauss5", "gauss5:1.2". *known is false where the name is none of these. */
static rung_status make_sized(const char *text, bool *known, grid *kernel, rung_error *error) {
  const bool gauss = strncmp(text, "gauss", 5) == 0, box = strncmp(text, "box", 3) == 0;
  const char *digits = text + (gauss ? 5 : 3);
  *known = (gauss || box) && isdigit((unsigned char)*digits);
  if (!*known) return RUNG_OK;
  char *end;
  const long side = strtol(digits, &end, 10);
  double sigma = .3 * ((side - 1) * .5 - 1) + .8;
  rung_status status = RUNG_OK;
  if (gauss && *end == ':') {
    status = cli_double("--kernel gauss:", end + 1, &sigma, error);
    end += strlen(end);
  }
  if (!status && (*end || side < 1 || side > RUNG_KERNEL_MOST || !(sigma > 0)))
    status = rung_fail(error, RUNG_BAD_ARGUMENT, "--kernel '%.40s': expected: a side of 1 ... %d%s",
                       text, RUNG_KERNEL_MOST, gauss ? ", and a sigma above 0" : "");
  if (status) return status;
  return gauss ? make_gauss((int)side, sigma, kernel, error) : make_box((int)side, kernel, error);
}

static rung_status make_named(const char *text, bool *known, grid *kernel, rung_error *error) {
  for (int f = 0; f < FIXED; f++) {
    double taps[9];
    if (strcmp(fixed[f].name, text) != 0) continue;
    for (int i = 0; i < 9; i++) taps[i] = fixed[f].taps[i];
    *known = true;
    return make(taps, fixed[f].side, fixed[f].side, kernel, error);
  }
  return make_sized(text, known, kernel, error);
}

/* ---- rows of numbers ---------------------------------------------------------------------- */

typedef struct rows {
  const char *name; /* for sentences */
  double taps[MOST];
  int rows, columns;
} rows;

/* A row of numbers between blanks or commas; an empty one is none. */
static rung_status add_row(rows *to, const char *line, rung_error *error) {
  double row[RUNG_KERNEL_MOST];
  int count = 0;
  const rung_status status = cli_numbers(to->name, line, RUNG_KERNEL_MOST, row, &count, error);
  if (status || count == 0) return status;
  if (count > RUNG_KERNEL_MOST || to->rows == RUNG_KERNEL_MOST)
    return rung_fail(error, RUNG_BAD_SHAPE, "%s: more than %d rows or columns; expected: 1 ... %d",
                     to->name, RUNG_KERNEL_MOST, RUNG_KERNEL_MOST);
  if (to->rows > 0 && count != to->columns)
    return rung_fail(error, RUNG_BAD_SHAPE, "%s: row %d has %d numbers; expected: %d, as row 1",
                     to->name, to->rows + 1, count, to->columns);
  to->columns = count;
  memcpy(to->taps + to->rows++ * count, row, (size_t)count * sizeof *row);
  return RUNG_OK;
}

static rung_status finish_rows(const rows *from, grid *kernel, rung_error *error) {
  if (from->rows > 0) return make(from->taps, from->rows, from->columns, kernel, error);
  return rung_fail(error, RUNG_BAD_SHAPE, "%s: holds no numbers; expected: rows of numbers",
                   from->name);
}

static rung_status read_inline(const char *text, grid *kernel, rung_error *error) {
  rows all = {.name = "--kernel"};
  char *copy = strdup(text), *rest = copy;
  if (!copy) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for --kernel");
  rung_status status = RUNG_OK;
  for (char *row; !status && (row = strsep(&rest, ";"));) status = add_row(&all, row, error);
  free(copy);
  return status ? status : finish_rows(&all, kernel, error);
}

static rung_status read_text(const char *path, grid *kernel, rung_error *error) {
  rows all = {.name = path};
  lines in;
  bool more = true;
  rung_status status = lines_open(&in, path, error);
  if (status) return status;
  while (!status && more) {
    status = lines_next(&in, &more, error);
    if (!status && more && in.text[0] != '#') status = add_row(&all, in.text, error);
  }
  lines_close(&in);
  return status ? status : finish_rows(&all, kernel, error);
}

/* An array's file: two dimensions. */
static rung_status read_array(const char *path, grid *kernel, rung_error *error) {
  file_array array;
  rung_status status = array_read(path, &array, error);
  if (status) return status;
  const int64_t rows = array.shape[0], columns = array.shape[1];
  if (array.tensor.ndim != 2 || rows < 1 || columns < 1 || rows > RUNG_KERNEL_MOST ||
      columns > RUNG_KERNEL_MOST) {
    status = rung_fail(error, RUNG_BAD_SHAPE,
                       "--kernel %.80s: expected: two dimensions of 1 ... %d rows and columns",
                       path, RUNG_KERNEL_MOST);
  } else {
    double taps[MOST];
    for (int64_t i = 0; i < rows * columns; i++)
      taps[i] = rung_number_at(array.dtype, array.memory,
                               i / columns * array.strides[0] + i % columns * array.strides[1]);
    status = make(taps, (int)rows, (int)columns, kernel, error);
  }
  array_free(&array);
  return status;
}

/* ---- any ---------------------------------------------------------------------------------- */

static bool is_inline(const char *text) {
  return text[strspn(text, "0123456789+-.eE,; \t\n")] == '\0' && strpbrk(text, "0123456789;, ");
}

static rung_status read_kernel(const char *text, grid *kernel, rung_error *error) {
  bool known = false;
  const rung_status status = make_named(text, &known, kernel, error);
  if (known || status) return status;
  if (is_inline(text) || text[0] == '\0') return read_inline(text, kernel, error);
  if (array_is(text)) return read_array(text, kernel, error);
  if (strpbrk(text, "./") || access(text, F_OK) == 0) return read_text(text, kernel, error);
  static const char *const names[] = {"box3",      "gauss3",    "sobel-x",  "sobel-y",
                                      "prewitt-x", "prewitt-y", "scharr-x", "scharr-y",
                                      "laplace",   "sharpen",   "identity", NULL};
  char meant[CLI_GUESS];
  return rung_fail(error, RUNG_UNKNOWN_NAME,
                   "--kernel '%.40s' is not known%s expected: a name, rows of numbers or a file",
                   text, hint(text, names, meant));
}

rung_status correlate_kernel(const correlate_request *r, grid *kernel, rung_error *error) {
  rung_status status = read_kernel(r->kernel_text, kernel, error);
  if (status || !r->normalize) return status;
  double taps[MOST], sum = 0, sizes = 0;
  for (int64_t i = 0; i < kernel->count; i++) {
    sum += taps[i] = grid_value(kernel, i);
    sizes += fabs(taps[i]);
  }
  if (!(fabs(sum) > 1e-13 * sizes) || !isfinite(sum)) /* zero, but for rounding */
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--normalize: the kernel's sum is %g; expected: one that is not 0", sum);
  for (int64_t i = 0; i < kernel->count; i++) taps[i] /= sum;
  const int rows = (int)kernel->shape[0], columns = (int)kernel->shape[1];
  grid_free(kernel);
  return make(taps, rows, columns, kernel, error);
}
