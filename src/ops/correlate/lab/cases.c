/* Cases of correlate: lines such as "height=512 width=512 kernel=5 type=u8 edge=mirror". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/numbers.h"
#include "ops/correlate/lab/cases.h"

static const char *const types[] = {"u8", "u16", "f16", "f32", "f64", NULL};
static const char *const results[] = {"same", "u8", "u16", "f16", "f32", "f64", NULL};
static const char *const taps[] = {"float", "integer", "separable", "separable-integer", NULL};
enum { FLOAT_TAPS, INTEGER_TAPS, SEPARABLE_TAPS, SEPARABLE_INTEGERS };
static const char *const edges[] = {"constant", "edge", "mirror-edge", "mirror", "wrap", NULL};

/* ---- making ---------------------------------------------------------------------------------- */

typedef struct request {
  int64_t height, width, channels, kernel, columns, kernels, up, left, margin;
  double value;
  int type, to, taps, edge, kind;
} request;

enum { MOST = 1 << 30 };

static bool has_channels(const void *of) {
  return ((const request *)of)->channels != 1;
}
static bool has_kernels(const void *of) {
  return ((const request *)of)->kernels != 1;
}
static bool has_other_type(const void *of) {
  return ((const request *)of)->to != 0;
}
static bool has_taps(const void *of) {
  return ((const request *)of)->taps != FLOAT_TAPS;
}
static bool are_integers(int taps) {
  return taps == INTEGER_TAPS || taps == SEPARABLE_INTEGERS;
}
static bool has_value(const void *of) {
  return ((const request *)of)->value != 0;
}
static bool has_origin(const void *of) {
  return ((const request *)of)->up != 0 || ((const request *)of)->left != 0;
}
static bool has_margin(const void *of) {
  return ((const request *)of)->margin != 0;
}

static const rung_key keys[] = {
    RUNG_INTEGER(request, height, 1, MOST, 512, .name = "height", .help = "rows of the image"),
    RUNG_INTEGER(request, width, 1, MOST, -1, .name = "width", .help = "pixels of a row",
                 .depends = "height"),
    RUNG_INTEGER(request, channels, 1, CORRELATE_CHANNELS, 1, .name = "channels",
                 .help = "numbers of a pixel", .shown = has_channels),
    RUNG_INTEGER(request, kernel, 1, RUNG_KERNEL_MOST, 5, .name = "kernel",
                 .help = "rows of the kernel"),
    RUNG_INTEGER(request, columns, 1, RUNG_KERNEL_MOST, -1, .name = "columns",
                 .help = "columns of the kernel", .depends = "kernel"),
    RUNG_INTEGER(request, kernels, 1, 1024, 1, .name = "kernels", .help = "so many for one image",
                 .shown = has_kernels),
    RUNG_CHOICE(request, type, 3, .name = "type", .names = types, .help = "of the image"),
    RUNG_CHOICE(request, to, 0, .name = "to", .names = results, .help = "type of the result",
                .shown = has_other_type),
    RUNG_CHOICE(request, taps, 0, .name = "taps", .names = taps, .help = "the kernel's numbers",
                .shown = has_taps),
    RUNG_CHOICE(request, edge, 0, .name = "edge", .names = edges,
                .help = "what stands beyond the image"),
    RUNG_REAL(request, value, -65536, 65536, 0, .name = "value", .help = "of edge=constant",
              .shown = has_value),
    RUNG_INTEGER(request, up, -31, 31, 0, .name = "up", .help = "the kernel's origin, rows",
                 .shown = has_origin),
    RUNG_INTEGER(request, left, -31, 31, 0, .name = "left", .help = "and columns",
                 .shown = has_origin),
    RUNG_INTEGER(request, margin, 0, MOST, 0, .name = "margin",
                 .help = "rows and columns left out on every side", .shown = has_margin),
    RUNG_CHOICE(request, kind, RUNG_NUMBERS_RANDOM, .name = "data", .names = rung_numbers_kinds,
                .help = "the elements' values"),
    {0}};

static void fill_image(const rung_case *test_case, rung_numbers_kind kind, rung_random *random) {
  const correlate_problem *p = (const correlate_problem *)test_case->problem;
  const rung_view *in = &test_case->arrays[CORRELATE_IN];
  const int64_t n = p->width * p->channels, base = correlate_base(p);
  const int64_t bytes = n * (int64_t)rung_dtype_bytes(in->dtype);
  for (int64_t r = 0; r < p->height; r++) {
    const rung_numbers line = {in->dtype, in->data + r * bytes, 1, n};
    if (r < base)
      rung_numbers_fill(&line, kind, r, random);
    else
      memcpy(line.data, in->data + r % base * bytes, (size_t)bytes);
  }
}

/* Numbers from -1 to 1, or whole ones from -8 to 8. */
static double draw_tap(bool integers, rung_random *random) {
  return integers ? (double)(int64_t)(rung_random_next(random) % 17) - 8
                  : rung_random_double(random) * 2 - 1;
}

/* Products of a column and a row: of few digits, so that none is rounded. */
static void draw_separable(const correlate_problem *p, bool integers, rung_random *random,
                           double *to) {
  double factors[2 * RUNG_KERNEL_MOST] = {0};
  const int rows = p->kernel_rows, columns = p->kernel_columns;
  for (int i = 0; i < rows + columns; i++) {
    const double drawn = draw_tap(integers, random);
    factors[i] = integers ? drawn : rint(drawn * 1024) / 1024;
  }
  for (int i = 0; i < rows * columns; i++)
    to[i] = factors[i / columns] * factors[rows + i % columns];
}

static rung_status set_taps(correlate_problem *p, int taps_of, rung_random *random,
                            rung_error *error) {
  const int64_t each = (int64_t)p->kernel_rows * p->kernel_columns, count = p->kernels * each;
  const bool integers = are_integers(taps_of);
  double *given = (double *)malloc((size_t)count * sizeof *given);
  void *to = malloc(2 * (size_t)count * sizeof(double));
  rung_status status = RUNG_OUT_OF_MEMORY;
  for (int64_t k = 0; k < p->kernels && given != NULL; k++)
    if (taps_of >= SEPARABLE_TAPS)
      draw_separable(p, integers, random, given + k * each);
    else
      for (int64_t i = 0; i < each; i++) given[k * each + i] = draw_tap(integers, random);
  if (given != NULL && to != NULL)
    status = correlate_set_taps(error, p, RUNG_F64, given, false, to);
  else
    rung_fail(error, status, "host memory ran out");
  free(given);
  if (status != RUNG_OK) free(to);
  return status;
}

static rung_status make_arrays(rung_case *test_case, rung_error *error) {
  const correlate_problem *p = (const correlate_problem *)test_case->problem;
  const int64_t image[] = {p->height, p->width * p->channels};
  const int64_t result[] = {p->kernels, p->rows, p->columns * p->channels};
  const int extra = p->kernels > 1;
  int64_t bytes;
  if (!rung_multiply(image[0], image[1], &bytes) || !rung_multiply(bytes, 8, &bytes) ||
      !rung_multiply(bytes, p->kernels, &bytes))
    return rung_fail(error, RUNG_TOO_LARGE, "%s: an array's bytes do not fit in 64 bits",
                     test_case->label);
  rung_view *in = &test_case->arrays[CORRELATE_IN];
  *in = rung_view_compact(NULL, p->types.in, 2, image);
  test_case->arrays[CORRELATE_OUT] =
      rung_view_compact(NULL, p->types.out, 2 + extra, result + 1 - extra);
  in->data = (char *)malloc(rung_view_bytes(in));
  if (in->data != NULL) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s needs %zu bytes of memory for the image",
                   test_case->label, rung_view_bytes(in));
}

static void drop(rung_case *test_case) {
  const correlate_problem *p = (const correlate_problem *)test_case->problem;
  correlate_forget(test_case);
  free(test_case->arrays[CORRELATE_IN].data);
  if (p != NULL) free((void *)p->taps);
  free(test_case->problem);
  memset(test_case, 0, sizeof *test_case);
}

static rung_status check(const request *r, rung_error *error) {
  const int64_t extents[] = {r->kernel, r->columns}, origins[] = {r->up, r->left};
  for (int d = 0; d < 2; d++)
    if (origins[d] < -(extents[d] / 2) || origins[d] > (extents[d] - 1) / 2)
      return rung_fail(error, RUNG_BAD_ARGUMENT, "%s=%lld: expected: %lld ... %lld",
                       d == 0 ? "up" : "left", (long long)origins[d], (long long)-(extents[d] / 2),
                       (long long)((extents[d] - 1) / 2));
  const int64_t least = r->height < r->width ? r->height : r->width;
  if (2 * r->margin < least) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT, "margin=%lld: expected: less than half of %lld",
                   (long long)r->margin, (long long)least);
}

static correlate_problem problem_of(const request *r, rung_types of) {
  static const rung_edge edge_of[] = {RUNG_EDGE_CONSTANT, RUNG_EDGE_NEAREST, RUNG_EDGE_REFLECT,
                                      RUNG_EDGE_MIRROR, RUNG_EDGE_WRAP};
  correlate_problem p = {.kernels = r->kernels,
                         .rows = r->height - 2 * r->margin,
                         .columns = r->width - 2 * r->margin,
                         .channels = (int)r->channels,
                         .kernel_rows = (int)r->kernel,
                         .kernel_columns = (int)r->columns,
                         .height = r->height,
                         .width = r->width,
                         .first_row = r->margin - r->kernel / 2 - r->up,
                         .first_column = r->margin - r->columns / 2 - r->left,
                         .edge = edge_of[r->edge],
                         .edge_value = rung_number_rounded(of.in, r->value),
                         .types = of};
  correlate_measure(&p);
  return p;
}

static rung_status make(const char *text, uint64_t seed, rung_case *test_case, rung_error *error) {
  request r;
  rung_dtype in = RUNG_F32, out;
  rung_status status = rung_keys_read(keys, text, &r, error);
  if (status != RUNG_OK) return status;
  if (r.width < 0) r.width = r.height;
  if (r.columns < 0) r.columns = r.kernel;
  if ((status = check(&r, error)) != RUNG_OK) return status;
  rung_dtype_named(types[r.type], &in);
  out = in;
  if (r.to != 0) rung_dtype_named(results[r.to], &out);
  const rung_types of = {in, correlate_sum_of(in, are_integers(r.taps) ? RUNG_I32 : RUNG_F32, out),
                         out};
  rung_random random = {seed};
  *test_case = (rung_case){.operation = rung_operation_named("correlate"),
                           .cases = &correlate_cases,
                           .seed = seed,
                           .types = of,
                           .inputs = 1,
                           .outputs = 1,
                           .array_names = {"in", "out"}};
  rung_keys_label(keys, &r, test_case->label, sizeof test_case->label);
  correlate_problem *p = (correlate_problem *)malloc(sizeof *p);
  if (p == NULL) return rung_fail(error, RUNG_OUT_OF_MEMORY, "host memory ran out");
  test_case->problem = p;
  *p = problem_of(&r, of);
  status = set_taps(p, r.taps, &random, error);
  test_case->types = p->types;
  if (status == RUNG_OK) status = make_arrays(test_case, error);
  if (status != RUNG_OK) {
    drop(test_case);
    return status;
  }
  test_case->numbers = p->given;
  test_case->number_count = (int)(p->kernels * p->kernel_rows * p->kernel_columns);
  test_case->bytes = p->bytes;
  test_case->flops = p->flops;
  if (seed != LAB_UNFILLED) fill_image(test_case, (rung_numbers_kind)r.kind, &random);
  return RUNG_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define EDGES(rest)                                                                                \
  rest " edge=constant value=3", rest " edge=edge", rest " edge=mirror-edge", rest " edge=mirror", \
      rest " edge=wrap"
#define TYPES(rest) FLOATS(rest), INTEGERS(rest " taps=integer")
#define FLOATS(rest)                                                                         \
  rest " type=u8", rest " type=u16 to=f32", rest " type=f16 to=u8", rest " type=f64 to=f32", \
      rest " type=f32 to=f64", rest " type=f32 to=f16", rest " type=f64 to=u16"
#define INTEGERS(rest) rest " type=u8", rest " type=u16 to=f64"
#define SEPARABLE(rest) FLOATS(rest " taps=separable"), INTEGERS(rest " taps=separable-integer")

/* The first lines are tried with many block sizes. */
static const char *const verify[] = {
    "height=37 width=70 kernel=5",
    "height=20 width=33 kernel=3 type=u8 edge=mirror",
    EDGES("height=45 width=67 kernel=7 columns=4"),
    EDGES("height=5 width=3 kernel=9 columns=11 up=-4 left=5"),
    TYPES("height=40 width=71 kernel=4 edge=edge"),
    TYPES("height=19 width=40 kernel=3 columns=6 channels=3 edge=wrap"),
    "height=1 width=1 kernel=1",
    "height=1 width=200 kernel=5 edge=mirror",
    "height=200 width=1 kernel=5 edge=mirror-edge",
    "height=2 width=2 kernel=3 edge=mirror",
    "height=70 width=150 kernel=15 edge=mirror",

    "height=64 width=256 kernel=1 columns=8",
    "height=64 width=256 kernel=8 columns=1 left=0 up=3",
    "height=50 width=60 kernel=2 channels=2 to=f16",
    "height=50 width=60 kernel=5 channels=4 type=u8 edge=edge",
    "height=60 width=90 kernel=5 kernels=3 margin=7",
    "height=40 width=40 kernel=3 margin=19 edge=wrap",
    "height=300 width=133 kernel=6 up=-3 left=2 edge=mirror",
    EDGES("height=21 width=264 kernel=5"),
    "height=9 width=300 kernel=8 columns=6 edge=mirror",
    "height=9 width=300 kernel=1 columns=2",
    "height=17 width=140 kernel=6 columns=1",
    "height=12 width=264 kernel=2 columns=8 type=u8 edge=wrap",
    "height=12 width=132 kernel=4 columns=7 type=u16",
    "height=9 width=528 kernel=3 edge=wrap",
    "height=30 width=140 kernel=7 edge=mirror to=f16",
    "height=14 width=520 kernel=5 type=u8 edge=mirror-edge",
    "height=14 width=520 kernel=3 type=u8 taps=integer to=f64",
    "height=9 width=136 kernel=7 type=u16 edge=edge",
    "height=9 width=268 kernel=3 type=f16 to=u16 kernels=2",
    EDGES("height=30 width=533 kernel=5 type=u8"),
    EDGES("height=13 width=1063 kernel=7 type=u16"),
    "height=13 width=1063 kernel=5 type=f16 edge=wrap",
    "height=14 width=521 kernel=3 type=u8 taps=integer",
    "height=9 width=301 kernel=3 columns=5 channels=3 type=u8 edge=mirror",
    "height=9 width=518 kernel=9 columns=15 type=u8 edge=wrap",
    "height=33 width=65 kernel=5 data=special",
    "height=33 width=65 kernel=11 data=special type=f64 edge=mirror",
    "height=33 width=65 kernel=5 data=special type=f16 to=u8",
    "height=33 width=65 kernel=5 data=special type=u8 taps=integer",

    "height=140 width=768 kernel=3 data=special",

    "height=140 width=256 kernel=3 channels=3 edge=edge",

    "height=48 width=1024 kernel=5 edge=wrap",
    "height=44 width=1024 kernel=14 columns=3 edge=mirror",
    "height=26 width=1024 kernel=3 columns=4 type=f64 to=f32 kernels=2 edge=edge",
    "height=21 width=4096 kernel=7 columns=2 type=u8 to=f64",

    EDGES("height=35 width=150 kernel=15 type=u8 taps=integer"),
    EDGES("height=20 width=301 kernel=9 type=u8 taps=integer"),
    "height=20 width=304 kernel=7 type=u8 taps=integer edge=wrap",
    "height=20 width=129 kernel=3 columns=21 type=u8 taps=integer edge=edge",
    "height=18 width=194 kernel=2 columns=51 left=20 type=u8 taps=integer edge=mirror",
    "height=19 width=67 kernel=3 channels=3 type=u8 taps=integer kernels=2 edge=mirror-edge",
    "height=24 width=304 kernel=5 type=u8 taps=integer margin=3",
    "height=24 width=309 kernel=5 type=u8 taps=integer margin=2 to=f16",
    "height=24 width=294 kernel=5 type=u8 taps=integer margin=3",

    EDGES("height=45 width=67 kernel=7 columns=4 taps=separable"),
    EDGES("height=5 width=3 kernel=9 columns=11 up=-4 left=5 taps=separable"),
    SEPARABLE("height=40 width=71 kernel=5 edge=edge"),
    SEPARABLE("height=19 width=300 kernel=3 columns=6 channels=3 edge=wrap"),
    "height=2 width=2 kernel=3 edge=mirror taps=separable",

    "height=33 width=30 kernel=63 columns=2 taps=separable type=f64",

    "height=33 width=65 kernel=5 data=special taps=separable",
    "height=33 width=65 kernel=11 data=special type=f64 edge=mirror taps=separable",
    "height=33 width=65 kernel=5 data=special type=f16 to=u8 taps=separable",
    NULL};
static const char *const heavy[] = {
    "height=230 width=2101 kernel=3 type=u8 edge=wrap",
    "height=130 width=4199 kernel=5 type=u8 edge=mirror",
    "height=130 width=4201 kernel=7 type=u8 taps=integer edge=wrap",
    "height=130 width=2101 kernel=5 edge=wrap",
    "height=90 width=140 kernel=31 edge=wrap",
    "height=33 width=30 kernel=63 edge=mirror-edge",
    "height=325 width=1485 kernel=5 edge=wrap",
    "height=140 width=768 kernel=3 edge=mirror",
    "height=140 width=384 kernel=7 type=f64 edge=wrap",
    "height=230 width=2100 kernel=3 type=u8 edge=mirror",
    "height=70 width=304 kernel=31 type=u8 taps=integer",
    "height=33 width=30 kernel=63 type=u8 taps=integer edge=mirror to=f32",
    "height=70 width=112 kernel=9 columns=17 channels=3 type=u8 taps=integer kernels=2",
    "height=150 width=530 kernel=15 edge=mirror taps=separable",
    "height=90 width=140 kernel=31 edge=wrap taps=separable kernels=2",
    "height=33 width=30 kernel=63 edge=mirror-edge taps=separable",
    "height=60 width=90 kernel=17 kernels=3 margin=7 channels=2 taps=separable",
    NULL};
static const char *const bench[] = {"height=8192 kernel=5",
                                    "height=8192 kernel=3",
                                    "height=8192 kernel=7",
                                    "height=8192 kernel=11",
                                    "height=8192 kernel=15",
                                    "height=8192 kernel=31",
                                    "height=8192 kernel=5 type=u8",
                                    "height=8192 kernel=15 type=u8 taps=integer",
                                    "height=8192 kernel=31 type=u8 taps=integer",
                                    "height=8192 kernel=11 taps=separable",
                                    "height=8192 kernel=31 taps=separable",
                                    "height=2048 kernel=5",
                                    "height=512 kernel=5",
                                    NULL};
static const char *const explain_lines[] = {
    "height=64 width=128 kernel=5", "height=64 width=128 kernel=15",
    "height=64 width=256 kernel=15 taps=separable",
    "height=64 width=128 kernel=5 type=u8 taps=integer", NULL};
static const char *const picture[] = {"height=8 width=16 kernel=3", NULL};
static const char *const tour[] = {"height=1024 kernel=5", "height=512 kernel=15 type=u8", NULL};

const rung_cases correlate_cases = {.operation = "correlate",
                                    .keys = keys,
                                    .verify = verify,
                                    .heavy = heavy,
                                    .bench = bench,
                                    .explain = explain_lines,
                                    .picture = picture,
                                    .tour = tour,
                                    .make = make,
                                    .unfilled = true,
                                    .drop = drop,
                                    .expect = correlate_expect,
                                    .check = correlate_check};
