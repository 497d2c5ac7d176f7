/* bits [EXPECTED [part [DEVICE [K/N]]]]: the same bits everywhere. Runs jobs through the public
 * interface on every instruction set this CPU has, with one and with three threads, on the
 * simulated GPU and on a real one, and prints a hash of each result; all must be equal, and equal
 * to those in EXPECTED, on x86-64 and on aarch64 alike. Uses nothing but the library (and the list
 * of its operations), so that it also runs where no test library does. Without EXPECTED the first
 * run's lines are printed: what EXPECTED holds. With `part` the simulated GPU, which takes longest,
 * and the set-ups of one thread, which an emulated machine takes minutes for, do few jobs: those of
 * 32-bit numbers, without products in fixed point. DEVICE: that one's set-ups alone; K/N: of
 * set-ups that do few jobs the Kth of every N operations. */
#include <inttypes.h>
#include <rung/rung.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/operations.h"

enum { ROWS = 37, COLUMNS = 83, LONG_ROWS = 3, LONG = 70001, NAME = 32, LINE = 80, JOBS = 64 };

static bool few;                  /* of the jobs */
static int share = 0, shares = 1; /* of their operations */

typedef struct matrix {
  DLTensor tensor;
  int64_t shape[2];
  size_t bytes;
} matrix;

static void make(matrix *m, int ndim, int64_t rows, int64_t columns, int bits) {
  *m = (matrix){.shape = {rows, columns}, .bytes = (size_t)(rows * columns * bits / 8)};
  m->tensor = (DLTensor){.data = malloc(m->bytes),
                         .device = {kDLCPU, 0},
                         .ndim = ndim,
                         .dtype = {kDLFloat, (uint8_t)bits, 1},
                         .shape = m->shape};
  if (m->tensor.data == NULL) exit(2);
  memset(m->tensor.data, 0xa5, m->bytes);
}

/* Values in [-1, 1) of 23 bits: the same numbers in float and in double. */
static void fill(matrix *m) {
  uint32_t x = 1;
  for (int64_t i = 0; i < m->shape[0] * m->shape[1]; i++) {
    x = x * 1664525u + 1013904223u;
    double value = (int32_t)(x >> 8) / 8388608.0 - 1.0;
    if (m->tensor.dtype.bits == 32)
      ((float *)m->tensor.data)[i] = (float)value;
    else
      ((double *)m->tensor.data)[i] = value;
  }
}

/* FNV-1a over the elements' bits, lowest byte first. */
static uint64_t hash(uint64_t h, const matrix *m) {
  const unsigned char *byte = m->tensor.data;
  for (size_t i = 0; i < m->bytes; i++) h = (h ^ byte[i]) * 1099511628211u;
  return h;
}

static void say(char *line, const char *job, int bits, uint64_t h) {
  snprintf(line, LINE, "%s f%d %016" PRIx64, job, bits, h);
}

static void check(rung_context *context, rung_status status, const char *job) {
  if (status == RUNG_OK) return;
  printf("bits: %s: %s\n", job, rung_last_error(context));
  exit(1);
}

static void radiator(rung_context *context, const char *preset, int bits, char *line) {
  matrix grid, means;
  rung_radiator_model model;
  char job[NAME];
  make(&grid, 2, ROWS, COLUMNS, bits);
  make(&means, 1, ROWS, 1, bits);
  snprintf(job, sizeof job, "radiator-%s", preset);
  check(context, rung_radiator_preset(preset, &model), job);
  check(context, rung_radiator(context, &model, 29, &grid.tensor, &means.tensor, NULL), job);
  say(line, job, bits, hash(hash(14695981039346656037u, &grid), &means));
  free(grid.tensor.data);
  free(means.tensor.data);
}

static void stencil(rung_context *context, int radius, rung_edge edge, int bits, char *line) {
  static const double weights[2 * RUNG_STENCIL_MAX_RADIUS + 1] = {
      .3, -.7, 1.1, .05, 2, .9, -.2, .4, 1.3, .6, -.1, .8, .25, .15, -.35, .45, .55};
  matrix in, out, means;
  rung_stencil_model model = {.radius = radius,
                              .weights = weights,
                              .divide = 7,
                              .steps = 11,
                              .fixed = radius % 3,
                              .edge = edge,
                              .edge_value = .3};
  char job[NAME];
  make(&in, 2, ROWS, COLUMNS, bits);
  make(&out, 2, ROWS, COLUMNS, bits);
  make(&means, 1, ROWS, 1, bits);
  snprintf(job, sizeof job, "stencil-%d-edge-%d", radius, (int)edge);
  fill(&in);
  check(context, rung_stencil(context, &model, &in.tensor, &out.tensor, &means.tensor, NULL), job);
  say(line, job, bits, hash(hash(14695981039346656037u, &out), &means));
  free(in.tensor.data);
  free(out.tensor.data);
  free(means.tensor.data);
}

static void rowmeans(rung_context *context, int bits, char *line) {
  matrix in, means;
  make(&in, 2, LONG_ROWS, LONG, bits);
  make(&means, 1, LONG_ROWS, 1, bits);
  fill(&in);
  check(context, rung_reduce(context, RUNG_MEAN, &in.tensor, 1, &means.tensor, NULL), "rowmeans");
  say(line, "rowmeans", bits, hash(14695981039346656037u, &means));
  free(in.tensor.data);
  free(means.tensor.data);
}

/* All four reductions of floats and of their bits as integers, of everything and along both
 * axes. */
static void reduce(rung_context *context, int bits, char *line) {
  matrix in, out;
  uint64_t h = 14695981039346656037u;
  make(&in, 2, LONG_ROWS, LONG, bits);
  fill(&in);
  for (int code = kDLInt; code <= kDLFloat; code++)
    for (int what = RUNG_SUM; what <= RUNG_MEAN; what++)
      for (int axis = -1; axis <= 1; axis++) {
        const bool keeps = what == RUNG_MIN || what == RUNG_MAX || code == kDLFloat;
        make(&out, axis < 0 ? 0 : 1,
             axis < 0    ? 1
             : axis == 0 ? LONG
                         : LONG_ROWS,
             1, keeps ? bits : 64);
        out.tensor.dtype.code = (uint8_t)(!keeps && what == RUNG_MEAN ? kDLFloat : code);
        in.tensor.dtype.code = (uint8_t)code;
        check(context,
              rung_reduce(context, (rung_reduction)what, &in.tensor, axis < 0 ? RUNG_ALL : axis,
                          &out.tensor, NULL),
              "reduce");
        h = hash(h, &out);
        free(out.tensor.data);
      }
  say(line, "reduce", bits, h);
  free(in.tensor.data);
}

/* All scans of floats and of their bits as integers. LONGER has tiles of more than one family. */
static void scan(rung_context *context, int bits, char *line) {
  enum { LONGER = 280001 };
  matrix in, out;
  uint64_t h = 14695981039346656037u;
  make(&in, 2, 1, LONGER, bits);
  make(&out, 2, 1, LONGER, bits);
  fill(&in);
  for (int code = kDLInt; code <= kDLFloat; code++)
    for (int what = RUNG_SUM; what <= RUNG_MAX; what++)
      for (int exclusive = 0; exclusive <= 1; exclusive++) {
        in.tensor.dtype.code = out.tensor.dtype.code = (uint8_t)code;
        check(
            context,
            rung_scan(context, (rung_reduction)what, &in.tensor, -1, exclusive, &out.tensor, NULL),
            "scan");
        h = hash(h, &out);
      }
  say(line, "scan", bits, h);
  free(in.tensor.data);
  free(out.tensor.data);
}

/* Products of matrices of several shapes, as they lie and transposed, with factors and without, in
 * floats or in fixed point of so many bits: the largest, which the simulator takes long for, in the
 * usual 31. */
static uint64_t products(rung_context *context, int bits, int fixed) {
  static const int64_t shapes[][3] = {{1, 1, 1},     {5, 7, 0},     {16, 16, 16},  {1, 700, 300},
                                      {700, 1, 301}, {3, 1000, 77}, {67, 130, 90}, {250, 70, 600}};
  const size_t count = sizeof shapes / sizeof *shapes - (fixed == 23 || fixed == 15);
  uint64_t h = 14695981039346656037u;
  for (size_t s = 0; s < count; s++)
    for (int form = 0; form < 4; form++) {
      rung_call call = {.math = fixed > 0 ? RUNG_MATH_FIXED : RUNG_MATH_STRICT, .bits = fixed};
      const int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
      matrix a, b, c;
      make(&a, 2, form & 1 ? k : m, form & 1 ? m : k, bits);
      make(&b, 2, form & 2 ? n : k, form & 2 ? k : n, bits);
      make(&c, 2, m, n, bits);
      fill(&a);
      fill(&b);
      fill(&c);
      int64_t a_shape[2] = {m, k}, a_turned[2] = {1, m}, b_shape[2] = {k, n}, b_turned[2] = {1, k};
      a.tensor.shape = a_shape;
      b.tensor.shape = b_shape;
      if (form & 1) a.tensor.strides = a_turned;
      if (form & 2) b.tensor.strides = b_turned;
      check(context,
            rung_matmul(context, form == 1 ? 0.3 : 1, &a.tensor, &b.tensor, form == 2 ? -1.7 : 0,
                        &c.tensor, &call),
            "matmul");
      h = hash(h, &c);
      free(a.tensor.data);
      free(b.tensor.data);
      free(c.tensor.data);
    }
  return h;
}

static void matmul(rung_context *context, int bits, char *line) {
  say(line, "matmul", bits, products(context, bits, 0));
}

static void fixed_products(rung_context *context, int fixed, char *line) {
  char job[NAME];
  snprintf(job, sizeof job, "matmul-fixed-%d", fixed);
  say(line, job, 32, products(context, 32, fixed));
}

/* Filters of several shapes, every edge among them, of floats and of bytes. */
static void correlate(rung_context *context, int bits, char *line) {
  static const int64_t kernels[][2] = {{1, 1}, {3, 3}, {5, 4}, {7, 7}, {2, 9}, {15, 15}, {31, 3}};
  matrix in, kernel, out;
  uint64_t h = 14695981039346656037u;
  make(&in, 2, 41, 131, bits);
  make(&out, 2, 41, 131, bits);
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    const rung_filter_model model = {.edge = (rung_edge)(k % 5), .edge_value = 0.25};
    const int64_t taps = kernels[k][0] * kernels[k][1];
    make(&kernel, 2, kernels[k][0], kernels[k][1], bits);
    fill(&in);
    fill(&kernel);
    check(context, rung_correlate(context, &model, &in.tensor, &kernel.tensor, &out.tensor, NULL),
          "correlate");
    h = hash(h, &out);
    DLTensor bytes = in.tensor, results = out.tensor;
    bytes.dtype = results.dtype = (DLDataType){kDLUInt, 8, 1};
    kernel.tensor.dtype = (DLDataType){kDLInt, 32, 1};
    for (int64_t i = 0; i < taps; i++)
      ((int32_t *)kernel.tensor.data)[i] = (int32_t)(i * 7 % 23) - 9;
    check(context, rung_convolve(context, &model, &bytes, &kernel.tensor, &results, NULL),
          "convolve");
    h = hash(h, &out);
    free(kernel.tensor.data);
  }
  say(line, "correlate", bits, h);
  free(in.tensor.data);
  free(out.tensor.data);
}

/* Bins of every kind, of floats and of their bits as integers, of everything and of every row. */
static void histogram(rung_context *context, int bits, char *line) {
  static const double edges[] = {-0.9, -0.5, -0.1, 0, 1e-3, .3, .35, .8};
  static const rung_bins all[] = {{0, RUNG_BINS_EVEN, 100, -.7, .9, NULL},
                                  {0, RUNG_BINS_EVEN, 4097, -1, 1, NULL},
                                  {0, RUNG_BINS_EDGES, 7, 0, 0, edges},
                                  {0, RUNG_BINS_MODULO, 10, 0, 0, NULL},
                                  {0, RUNG_BINS_MODULO, 300000, 0, 0, NULL}};
  matrix in, counts, outside;
  uint64_t h = 14695981039346656037u;
  make(&in, 2, LONG_ROWS, LONG, bits);
  fill(&in);
  for (size_t b = 0; b < sizeof all / sizeof *all; b++)
    for (int by_row = 0; by_row <= 1; by_row++) {
      in.tensor.dtype.code = all[b].kind == RUNG_BINS_MODULO ? kDLInt : kDLFloat;
      make(&counts, 2, by_row ? LONG_ROWS : 1, all[b].count, 64);
      make(&outside, 2, by_row ? LONG_ROWS : 1, 3, 64);
      counts.tensor.dtype.code = outside.tensor.dtype.code = kDLInt;
      counts.tensor.ndim = outside.tensor.ndim = 1 + by_row;
      counts.tensor.shape += !by_row;
      outside.tensor.shape += !by_row;
      check(context,
            rung_histogram(context, &all[b], &in.tensor, &counts.tensor, &outside.tensor, NULL),
            "histogram");
      h = hash(hash(h, &counts), &outside);
      free(counts.tensor.data);
      free(outside.tensor.data);
    }
  say(line, "histogram", bits, h);
  free(in.tensor.data);
}

/* Pairs of points in open space and in boxes, of all and of a cut-off, within a set and between
 * two, with weights and molecules. */
static void pairs(rung_context *context, int bits, char *line) {
  enum { POINTS = 401, OTHERS = 122 };
  static const double edges[] = {0.01, .02, .05, .1, .11, .13, .5};
  static const rung_box boxes[] = {{{1.5, 0, 0}, {0, 1.25, 0}, {0, 0, 2}},
                                   {{1.5, .1, 0}, {2.25, -1.5, .2}, {-.5, .75, 1.25}}};
  static const rung_distances all[] = {{0, 100, .04, NULL}, {0, 50, .01, NULL}, {0, 6, 0, edges}};
  matrix a, b, weights, molecules, counts, outside, sums;
  uint64_t h = 14695981039346656037u;
  make(&a, 2, POINTS, 3, bits);
  make(&weights, 1, POINTS, 1, 64);
  make(&molecules, 1, POINTS, 1, 64);
  fill(&a);
  fill(&weights);
  for (int64_t i = 0; i < POINTS; i++) ((int64_t *)molecules.tensor.data)[i] = i / 3 - 9;
  molecules.tensor.dtype.code = kDLInt;
  b = a;
  int64_t others[2] = {OTHERS, 3};
  b.tensor.shape = others;
  DLTensor other_weights = weights.tensor, other_molecules = molecules.tensor;
  other_weights.shape = other_molecules.shape = others;
  for (int job = 0; job < 3 * 3 * 2 * 2; job++) {
    const rung_distances *bins = &all[job % 3];
    const int space = job / 3 % 3, cross = job / 9 % 2, heavy = job / 18;
    if (space > 0 && bins->count == 100) continue; /* beyond what a box allows */
    make(&counts, 1, bins->count, 1, 64);
    make(&outside, 1, 3, 1, 64);
    make(&sums, 1, bins->count, 1, 64);
    counts.tensor.dtype.code = outside.tensor.dtype.code = kDLInt;
    const rung_points first = {0, &a.tensor, &weights.tensor, heavy ? &molecules.tensor : NULL},
                      second = {0, &b.tensor, &other_weights, heavy ? &other_molecules : NULL};
    check(context,
          rung_pairs(context, &first, cross ? &second : NULL, space > 0 ? &boxes[space - 1] : NULL,
                     bins, &counts.tensor, &outside.tensor, heavy ? &sums.tensor : NULL, NULL),
          "pairs");
    h = hash(hash(h, &counts), &outside);
    if (heavy) h = hash(h, &sums);
    free(counts.tensor.data);
    free(outside.tensor.data);
    free(sums.tensor.data);
  }
  say(line, "pairs", bits, h);
  free(a.tensor.data);
  free(weights.tensor.data);
  free(molecules.tensor.data);
}

/* Jobs of elements of 8 and 16 bits: of every pattern of bits, so that NaNs, whose bits nobody
 * promises, are among the elements. Sums are of numbers about 1. */
typedef struct narrow {
  const char *name;
  DLDataType type;
  uint16_t nan; /* the magnitudes above it are NaNs */
} narrow;

static const narrow narrows[] = {
    {"i8", {kDLInt, 8, 1}, 0xffff},     {"u8", {kDLUInt, 8, 1}, 0xffff},
    {"i16", {kDLInt, 16, 1}, 0xffff},   {"u16", {kDLUInt, 16, 1}, 0xffff},
    {"f16", {kDLFloat, 16, 1}, 0x7c00}, {"bf16", {kDLBfloat, 16, 1}, 0x7f80},
};
enum { NARROWS = sizeof narrows / sizeof *narrows };

static uint64_t hash_numbers(uint64_t h, const narrow *of, const matrix *m) {
  const bool real = of->nan != 0xffff;
  uint16_t *x = m->tensor.data;
  for (size_t i = 0; i < m->bytes / 2 && real; i++)
    if ((x[i] & 0x7fff) > of->nan) x[i] = 0x7fff;
  return hash(h, m);
}

/* Any bits; `about_one`: of floats magnitudes in [1/2, 2). */
static void fill_narrow(const narrow *of, bool about_one, matrix *m) {
  const bool real = of->nan != 0xffff;
  uint32_t x = 1;
  for (size_t i = 0; i < m->bytes; i++) {
    x = x * 1664525u + 1013904223u;
    ((unsigned char *)m->tensor.data)[i] = (unsigned char)(x >> 24);
  }
  for (size_t i = 0; i < m->bytes / 2 && real && about_one; i++) {
    uint16_t *bits = (uint16_t *)m->tensor.data + i;
    *bits = of->nan == 0x7c00 ? (*bits & 0x87ff) | 0x3800 : (*bits & 0x80ff) | 0x3f00;
  }
}

/* All four reductions, of everything and along both axes. */
static void narrow_reduce(rung_context *context, const narrow *of, char *line) {
  const bool real = of->nan != 0xffff;
  matrix in, out;
  uint64_t h = 14695981039346656037u;
  make(&in, 2, LONG_ROWS, LONG, of->type.bits);
  in.tensor.dtype = of->type;
  for (int what = RUNG_SUM; what <= RUNG_MEAN; what++)
    for (int axis = -1; axis <= 1; axis++) {
      const bool keeps = what == RUNG_MIN || what == RUNG_MAX || real;
      const int64_t count = axis < 0 ? 1 : axis == 0 ? LONG : LONG_ROWS;
      make(&out, axis < 0 ? 0 : 1, count, 1, keeps ? of->type.bits : 64);
      out.tensor.dtype.code = what == RUNG_MEAN && !real ? kDLFloat : of->type.code;
      fill_narrow(of, what == RUNG_SUM || what == RUNG_MEAN, &in);
      check(context,
            rung_reduce(context, (rung_reduction)what, &in.tensor, axis < 0 ? RUNG_ALL : axis,
                        &out.tensor, NULL),
            of->name);
      h = keeps ? hash_numbers(h, of, &out) : hash(h, &out);
      free(out.tensor.data);
    }
  snprintf(line, LINE, "narrow-reduce %s %016" PRIx64, of->name, h);
  free(in.tensor.data);
}

static void narrow_jobs(rung_context *context, const narrow *of, char *line) {
  enum { LONGER = 280001 };
  const rung_bins all[] = {{0, RUNG_BINS_EVEN, 100, -7, 90, NULL},
                           {0, RUNG_BINS_EVEN, 9, -1, 1, NULL},
                           {0, RUNG_BINS_MODULO, 10, 0, 0, NULL}};
  const bool real = of->nan != 0xffff;
  matrix in, out, counts;
  uint64_t h = 14695981039346656037u;
  make(&in, 2, 1, LONGER, of->type.bits);
  make(&out, 2, 1, LONGER, of->type.bits);
  in.tensor.dtype = out.tensor.dtype = of->type;
  fill_narrow(of, false, &in);
  for (int job = 2; job < 6; job++) {
    check(context, rung_scan(context, job / 2, &in.tensor, -1, job % 2, &out.tensor, NULL),
          of->name);
    h = hash_numbers(h, of, &out);
  }
  for (int b = 0; b < 3 - real; b++) {
    make(&counts, 1, all[b].count, 1, 64);
    counts.tensor.dtype.code = kDLInt;
    check(context, rung_histogram(context, &all[b], &in.tensor, &counts.tensor, NULL, NULL),
          of->name);
    h = hash(h, &counts);
    free(counts.tensor.data);
  }
  fill_narrow(of, true, &in);
  for (int exclusive = 0; exclusive <= 1; exclusive++) {
    check(context, rung_scan(context, RUNG_SUM, &in.tensor, -1, exclusive, &out.tensor, NULL),
          of->name);
    h = hash_numbers(h, of, &out);
  }
  snprintf(line, LINE, "narrow %s %016" PRIx64, of->name, h);
  free(in.tensor.data);
  free(out.tensor.data);
}

/* ---- every operation ------------------------------------------------------------------------ */

/* OPERATION_lines(): its lines, written from lines[count] on; returns how many there are then. */
typedef char (*line_list)[LINE];

static int stencil_lines(rung_context *context, int bits, line_list lines, int count) {
  static const int radii[] = {1, 2, 3, 5, 8};
  for (const char *const *preset = rung_radiator_presets(); *preset; preset++)
    radiator(context, *preset, bits, lines[count++]);
  for (int edge = RUNG_EDGE_WRAP; edge <= RUNG_EDGE_MIRROR; edge++)
    stencil(context, radii[edge], (rung_edge)edge, bits, lines[count++]);
  stencil(context, 2, RUNG_EDGE_WRAP, bits, lines[count++]);
  return count;
}

#define ONE_LINE(name)                                                                   \
  static int name##_lines(rung_context *context, int bits, line_list lines, int count) { \
    name(context, bits, lines[count]);                                                   \
    return count + 1;                                                                    \
  }
/* A mean along lines, which was an operation of its own, and keeps its line; then the sums. */
static int reduce_lines(rung_context *context, int bits, line_list lines, int count) {
  rowmeans(context, bits, lines[count]);
  reduce(context, bits, lines[count + 1]);
  return count + 2;
}
ONE_LINE(scan)
static int matmul_lines(rung_context *context, int bits, line_list lines, int count) {
  static const int fixed[] = {31, 23, 15};
  matmul(context, bits, lines[count++]);
  for (int k = 0; k < 3 && bits == 32 && !few; k++)
    fixed_products(context, fixed[k], lines[count++]);
  return count;
}
ONE_LINE(correlate)
ONE_LINE(histogram)
ONE_LINE(pairs)

/* An operation without lines here does not compile. */
static int run_jobs(rung_context *context, line_list lines) {
  int count = 0, at = 0;
  for (int bits = 32; bits <= (few ? 32 : 64); bits += 32) {
#define RUN(name) \
  if (!few || at++ % shares == share) count = name##_lines(context, bits, lines, count);
    RUNG_EVERY_OPERATION(RUN)
#undef RUN
  }
  if (few) return count;
  for (int k = 0; k < NARROWS; k++) narrow_jobs(context, &narrows[k], lines[count++]);
  for (int k = 0; k < NARROWS; k++) narrow_reduce(context, &narrows[k], lines[count++]);
  return count;
}

/* The lines expected: from the file, or where none is given the first run's own. */
static int read_expected(const char *path, char lines[JOBS][LINE]) {
  FILE *file = fopen(path, "r");
  int count = 0;
  if (file == NULL) return -1;
  while (count < JOBS && fgets(lines[count], LINE, file) != NULL) {
    lines[count][strcspn(lines[count], "\n")] = '\0';
    count++;
  }
  fclose(file);
  return count;
}

/* What every job runs on. A set-up that is not here is passed over, the first one is always. Under
 * a sanitizer, which finds other things than wrong bits, the widest instructions have to do: the
 * rooms' tests have all of them. */
typedef struct set_up {
  const char *device, *isa;
  int threads;
} set_up;

static const set_up set_ups[] = {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    {"cpu", NULL, 3},
#else
    {"cpu", "baseline", 1}, {"cpu", "baseline", 3}, {"cpu", "avx2", 1}, {"cpu", "avx2", 3},
    {"cpu", "avx512", 1},   {"cpu", "avx512", 3},   {"sim", NULL, 0},   {"cuda", NULL, 0},
#endif
};

/* How many lines differ from those expected, which have the same order, and more where few jobs are
 * done. */
static int compare(const set_up *with, char lines[JOBS][LINE], int count, char expected[JOBS][LINE],
                   int expected_count) {
  int wrong = few ? count == 0 : count != expected_count;
  for (int k = 0, e = 0; k < count; k++, e++) {
    const size_t name = (size_t)(strrchr(lines[k], ' ') - lines[k]);
    while (few && e < expected_count && strncmp(lines[k], expected[e], name + 1) != 0) e++;
    if (e < expected_count && strcmp(lines[k], expected[e]) == 0) continue;
    printf("%s %s, %d threads: %s, expected %s\n", with->device, with->isa ? with->isa : "",
           with->threads, lines[k], e < expected_count ? expected[e] : "no such line");
    wrong++;
  }
  return wrong;
}

int main(int argc, char **argv) {
  static char expected[JOBS][LINE], lines[JOBS][LINE];
  const int given = argc > 1 ? read_expected(argv[1], expected) : 0;
  int runs = 0, wrong = 0, count = 0;
  if (given < 0) {
    printf("bits: %s cannot be read\n", argv[1]);
    return 2;
  }
  const bool part = argc > 2 && strcmp(argv[2], "part") == 0;
  const char *only = argc > 3 ? argv[3] : NULL;
  if (argc > 4 &&
      (sscanf(argv[4], "%d/%d", &share, &shares) != 2 || share-- < 1 || share >= shares)) {
    printf("bits: '%s': expected: K/N\n", argv[4]);
    return 2;
  }
  for (size_t i = 0; i < sizeof set_ups / sizeof *set_ups; i++) {
    const set_up *with = &set_ups[i];
    rung_options options = {.device = with->device, .threads = with->threads, .isa = with->isa};
    rung_context *context = NULL;
    if (only != NULL && strcmp(only, with->device) != 0) continue;
    if (rung_open(&context, &options) == RUNG_OK) {
      few = part && (strcmp(with->device, "sim") == 0 || with->threads == 1);
      count = run_jobs(context, lines);
      if (argc < 2 && runs == 0) memcpy(expected, lines, sizeof lines);
      wrong += compare(with, lines, count, expected, argc < 2 ? count : given);
      runs++;
    } else {
      fprintf(stderr, "bits: not on %s %s: %s\n", with->device, with->isa ? with->isa : "",
              rung_last_error(context));
      wrong += i == 0;
    }
    rung_close(context);
  }
  for (int k = 0; argc < 2 && k < count; k++) printf("%s\n", expected[k]);
  fprintf(stderr, "bits: %d jobs, %d set-ups, %d wrong\n", count, runs, wrong);
  return wrong != 0 || runs == 0;
}
