/* Cases of pairs: lines such as "n=1000 bins=80 width=500 data=report". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "ops/pairs/lab/cases.h"
#include "ops/pairs/lab/report.h"
#include "ops/pairs/space.h"

/* log: edges of equal ratio over three decades. given: ever closer. centred: on the multiples of
 * the width, so that the first bin is half as wide. */
static const char *const kinds[] = {"even", "log", "given", "centred", NULL};
static const char *const types[] = {"f32", "f64", NULL};
static const char *const boxes[] = {"open", "cube", "slab", "tri", "skew", NULL};
/* lattice: simple cubic, cell for cell. equal, line: all at one point, along one line. edge: at
 * every edge's distance from the origin, and next to it. huge, tiny: as random, 1e9 and 1e-9 times
 * as large. report: see report.h. liquid: uniform, 100 points to a unit, in the cell, in whole
 * millionths: as a .gro file in nanometres has the atoms of a liquid. */
static const char *const datas[] = {"random", "lattice", "equal",  "line",   "edge", "special",
                                    "huge",   "tiny",    "report", "liquid", NULL};
static const char *const judgings[] = {"whole", "totals", NULL};
enum { EVEN, LOG, GIVEN, CENTRED };
enum { OPEN };
enum { RANDOM, LATTICE, EQUAL, LINE, EDGE, SPECIAL, HUGE_, TINY, REPORT, LIQUID };

#define FLUSH ((int64_t)1 << 31)
#define DENSITY 0.1
#define LIQUID_DENSITY 100
#define MILLION 1e6

typedef struct request {
  int64_t n, m, bins, weights, molecules, flush;
  int kind, type, box, data, judging;
  double width, share;
  double side; /* of a cube of the box's volume */
} request;

/* ---- the box and the bins ---------------------------------------------------------------------
 */

static rung_box box_of(const request *r) {
  static const double shapes[][9] = {
      {1, 0, 0, 0, 1, 0, 0, 0, 1},
      {1, 0, 0, 0, 1, 0, 0, 0, 1},
      {0.5, 0, 0, 0, 1, 0, 0, 0, 2},
      {1.1, 0, 0, 0.5, 1, 0, -0.4, 0.35, 0.9},
      {1.1, 0.2, -0.1, 3.7, 1.6, -0.3, -7.3, 5.2, -1.4},
  };
  const double *shape = shapes[r->box];
  rung_box box;
  for (int k = 0; k < 3; ++k) {
    box.a[k] = r->side * shape[k];
    box.b[k] = r->side * shape[3 + k];
    box.c[k] = r->side * shape[6 + k];
  }
  return box;
}

/* The last edge that share asks for. */
static double last_of(const request *r, const pairs_box *box) {
  if (r->box != OPEN) return r->share * box->reach;
  return r->share * 1.001 * (r->data == LINE ? 1.0 : sqrt(3.0)) * r->side;
}

static double *make_edges(const request *r, double last, double width) {
  double *edges = (double *)malloc((size_t)(r->bins + 1) * sizeof *edges);
  for (int64_t k = 0; k <= r->bins && edges != NULL; ++k) {
    const double at = (double)k / (double)r->bins;
    edges[k] = r->kind == LOG ? last * pow(1000, at - 1) : last * (0.5 * at + 0.5 * at * at);
    if (r->kind == CENTRED) edges[k] = pairs_centred_edge(width, k);
  }
  return edges;
}

/* ---- points ------------------------------------------------------------------------------------
 */

/* What points are made of. */
typedef struct maker {
  const request *r;
  rung_box box;
  const double *edges; /* NULL: even */
  double width;
  int64_t lattice; /* points along an axis */
  rung_random random;
} maker;

static double special(rung_random *random) {
  static const double numbers[] = {0.0,  -0.0,   1.0,    -1.0,      0.5,       0x1p-1074,
                                   1e15, -1e200, 1e-200, -0x1p-149, 0x1p-1022, 3e38};
  const int k = (int)(rung_random_next(random) >> 32) & 63;
  if (k < 12) return numbers[k];
  if (k == 12) return (double)INFINITY;
  if (k == 13) return -(double)INFINITY;
  if (k == 14) return (double)NAN;
  return rung_random_double(random);
}

/* Fractional coordinates as a point. */
static void at_fraction(const maker *m, const double f[3], double x[3]) {
  for (int k = 0; k < 3; ++k) x[k] = f[0] * m->box.a[k] + f[1] * m->box.b[k] + f[2] * m->box.c[k];
}

static void at_edge(const maker *m, int64_t i, double x[3]) {
  const int64_t round = i / 4, k = round % (m->r->bins + 1);
  double at = m->edges != NULL ? m->edges[k] : (double)k * m->width;
  if (i % 4 == 2) at = nextafter(at, INFINITY);
  if (i % 4 == 3) at = nextafter(at, 0);
  if (i % 4 == 0) at = 0;
  const bool diagonal = round / (m->r->bins + 1) % 2 == 1;
  x[0] = diagonal ? at / sqrt(3.0) : at;
  x[1] = x[2] = diagonal ? x[0] : 0;
}

static void make_point(maker *m, int64_t i, double x[3]) {
  const int64_t across = m->lattice;
  double f[3];
  switch (m->r->data) {
    case LATTICE:
      f[0] = (double)(i % across) / (double)across;
      f[1] = (double)(i / across % across) / (double)across;
      f[2] = (double)(i / across / across) / (double)across;
      break;
    case EQUAL:
      f[0] = f[1] = f[2] = 0.3;
      break;
    case LINE:
      f[0] = rung_random_double(&m->random);
      f[1] = f[2] = 0;
      break;
    case EDGE:
      at_edge(m, i, x);
      return;
    case SPECIAL:
      for (int k = 0; k < 3; ++k) f[k] = special(&m->random);
      break;
    default:
      for (int k = 0; k < 3; ++k) {
        f[k] = rung_random_double(&m->random);
        if (m->r->box != OPEN && m->r->data != LIQUID) f[k] = 2 * f[k] - 0.5;
      }
  }
  at_fraction(m, f, x);
  for (int k = 0; k < 3 && m->r->data == LIQUID; ++k) x[k] = rint(x[k] * MILLION) / MILLION;
}

static void put(rung_dtype dtype, void *data, int64_t at, double value) {
  const rung_traits *traits = rung_traits_of(dtype);
  traits->store((char *)data + at * (int64_t)traits->bytes, value);
}

/* Both sets, one after the other. */
static bool fill_points(maker *m, rung_case *test_case) {
  const int64_t n = m->r->n, all = n + m->r->m;
  void *a = test_case->arrays[PAIRS_A].data, *b = test_case->arrays[PAIRS_B].data;
  double *report = NULL;
  if (m->r->data == REPORT) {
    report = (double *)malloc((size_t)(3 * all + 1) * sizeof *report);
    if (report == NULL) return false;
    pairs_report_points(all, report);
  }
  for (int64_t i = 0; i < all; ++i) {
    double x[3];
    if (report != NULL)
      memcpy(x, report + 3 * i, sizeof x);
    else
      make_point(m, i, x);
    for (int k = 0; k < 3; ++k)
      put(test_case->types.in, i < n ? a : b, 3 * (i < n ? i : i - n) + k, x[k]);
  }
  free(report);
  return true;
}

static void fill_weights(rung_view *view, rung_random *random) {
  for (int64_t i = 0; i < view->count; ++i)
    ((double *)view->data)[i] =
        ldexp(2 * rung_random_double(random) - 1, -(int)(rung_random_next(random) >> 32) % 24);
}

/* Every fifth of them is none. */
static void fill_molecules(const request *r, rung_view *view) {
  for (int64_t i = 0; i < view->count; ++i) {
    const int64_t molecule = i / r->molecules;
    ((int64_t *)view->data)[i] = molecule % 5 == 4 ? -1 : molecule;
  }
}

/* ---- making ---------------------------------------------------------------------------------- */

enum { AS_USUAL = -1 };

static bool has_width(const void *r) {
  return ((const request *)r)->width > 0;
}
static bool has_share(const void *r) {
  return !has_width(r);
}
static bool has_weights(const void *r) {
  return ((const request *)r)->weights != 0;
}
static bool has_molecules(const void *r) {
  return ((const request *)r)->molecules != 0;
}
static bool has_flush(const void *r) {
  return ((const request *)r)->flush != FLUSH;
}
static bool is_partly_checked(const void *r) {
  return ((const request *)r)->judging == PAIRS_TOTALS;
}

static const rung_key keys[] = {
    RUNG_INTEGER(request, n, 0, PAIRS_MOST, 1000, .name = "n", .help = "points"),
    RUNG_INTEGER(request, m, 0, PAIRS_MOST, 0, .name = "m",
                 .help = "points of a second set; 0: pairs within the one"),
    RUNG_INTEGER(request, bins, 1, RUNG_MAX_BINS, 64, .name = "bins", .help = "how many"),
    RUNG_CHOICE(request, kind, EVEN, .name = "kind", .names = kinds, .help = "of bins"),
    RUNG_REAL(request, width, 1e-300, 1e300, 0, .name = "width", .help = "of even and centred bins",
              .depends = "as share says", .shown = has_width),
    RUNG_REAL(request, share, 1e-9, 1e9, 1, .name = "share",
              .help = "the last edge, of the box's reach or of the longest distance",
              .shown = has_share),
    RUNG_CHOICE(request, type, 1, .name = "type", .names = types, .help = "of coordinates"),
    RUNG_CHOICE(request, box, OPEN, .name = "box", .names = boxes,
                .help = "of the same volume, 0.1 points to a unit"),
    RUNG_CHOICE(request, data, RANDOM, .name = "data", .names = datas, .help = "where points lie"),
    RUNG_INTEGER(request, weights, 0, 1, 0, .name = "weights", .help = "1: sums are asked for",
                 .shown = has_weights),
    RUNG_INTEGER(request, molecules, 0, PAIRS_MOST, 0, .name = "molecules",
                 .help = "so many points each; 0: none", .shown = has_molecules),
    RUNG_INTEGER(request, flush, 1, FLUSH, FLUSH, .name = "flush",
                 .help = "so many pairs at most are counted in 32 bits", .shown = has_flush),
    RUNG_CHOICE(request, judging, AS_USUAL, .name = "judged", .names = judgings,
                .help = "totals: only how many pairs were counted is checked",
                .depends = "as much as takes seconds", .shown = is_partly_checked),
    {0}};

static rung_status read_line(const char *text, request *r, rung_error *error) {
  rung_status status = rung_keys_read(keys, text, r, error);
  if (status != RUNG_OK) return status;
  if (r->width > 0 && r->kind != EVEN && r->kind != CENTRED)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "width is %.17g and kind %s; expected: kind=even or kind=centred", r->width,
                     kinds[r->kind]);
  const double density = r->data == LIQUID ? LIQUID_DENSITY : DENSITY;
  const double scale = r->data == HUGE_ ? 1e9 : r->data == TINY ? 1e-9 : 1;
  r->side = r->data == REPORT ? PAIRS_REPORT_SIDE
                              : scale * cbrt((double)(r->n + r->m > 0 ? r->n + r->m : 1) / density);
  return RUNG_OK;
}

/* A compact array of the case's, in memory of its own; of no rows: none. */
static bool make_array(rung_case *test_case, int array, rung_dtype dtype, int64_t rows, int ndim) {
  const int64_t shape[2] = {rows, 3}, count = rows * (ndim == 2 ? 3 : 1);
  void *data = count > 0 ? calloc((size_t)count, rung_dtype_bytes(dtype)) : NULL;
  test_case->arrays[array] = rung_view_compact(data, dtype, ndim, shape);
  return data != NULL || count == 0;
}

static bool make_arrays(rung_case *test_case, const request *r) {
  const int64_t none[1] = {0}, counts[1] = {r->bins}, outside[1] = {PAIRS_OUTER};
  test_case->arrays[PAIRS_COUNTS] = rung_view_compact(NULL, RUNG_I64, 1, counts);
  test_case->arrays[PAIRS_OUTSIDE] = rung_view_compact(NULL, RUNG_I64, 1, outside);
  test_case->arrays[PAIRS_SUMS] = rung_view_compact(NULL, RUNG_F64, 1, r->weights ? counts : none);
  return make_array(test_case, PAIRS_A, test_case->types.in, r->n, 2) &&
         make_array(test_case, PAIRS_B, test_case->types.in, r->m, 2) &&
         make_array(test_case, PAIRS_A_WEIGHTS, RUNG_F64, r->weights ? r->n : 0, 1) &&
         make_array(test_case, PAIRS_B_WEIGHTS, RUNG_F64, r->weights ? r->m : 0, 1) &&
         make_array(test_case, PAIRS_A_MOLECULES, RUNG_I64, r->molecules ? r->n : 0, 1) &&
         make_array(test_case, PAIRS_B_MOLECULES, RUNG_I64, r->molecules ? r->m : 0, 1) &&
         make_array(test_case, PAIRS_THRESHOLDS, RUNG_F64, r->bins + 1, 1);
}

static rung_status out_of_memory(const rung_case *test_case, rung_error *error) {
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: host memory ran out", test_case->label);
}

/* Bins, box and thresholds; the edges stay the caller's. */
static rung_status make_problem(rung_case *test_case, const request *r, maker *m, double **edges,
                                rung_error *error) {
  pairs_case *t = (pairs_case *)test_case->problem;
  pairs_box reduced;
  const rung_box *box = r->box != OPEN ? &m->box : NULL;
  rung_status status = pairs_box_of(error, box, 0, &reduced);
  if (status != RUNG_OK) return status;
  const double last = last_of(r, &reduced);
  const double widths = (double)r->bins - (r->kind == CENTRED ? 0.5 : 0);
  m->width = r->width > 0 ? r->width : last / widths;
  while (r->width == 0 && m->width * widths > last) m->width = nextafter(m->width, 0);
  if (r->kind != EVEN && (m->edges = *edges = make_edges(r, last, m->width)) == NULL)
    return out_of_memory(test_case, error);
  const rung_distances bins = {0, r->bins, m->width, m->edges};
  status = pairs_problem_of(error, &bins, box, r->n, r->m, r->m > 0, &t->problem,
                            (double *)test_case->arrays[PAIRS_THRESHOLDS].data);
  t->problem.dtype = test_case->types.in;
  t->problem.weighted = r->weights != 0;
  t->problem.excluding = r->molecules > 0;
  t->problem.flush = r->flush;
  t->report = r->data == REPORT;
  t->centred = r->kind == CENTRED ? m->width : 0;
  t->decimals = r->data == LIQUID ? 6 : 0;
  return status;
}

/* Bins this much wider than points are apart, or less, leave a rung next to nothing to count but
 * pairs, one by one. */
#define NARROW 4.0

/* What a job moves and computes at least; 8 flops a pair where all of them are within the bins and
 * must be looked at. */
static void weigh(rung_case *test_case) {
  const pairs_problem *p = &((const pairs_case *)test_case->problem)->problem;
  const double *e = p->extent;
  for (int a = 0; a < PAIRS_ARRAYS; ++a)
    if (a != PAIRS_THRESHOLDS) test_case->bytes += (double)rung_view_bytes(&test_case->arrays[a]);
  const double apart = cbrt(e[0] * e[1] * e[2] / (double)(p->n + p->m + 1));
  if (p->known && pairs_square_open(e[0], e[1], e[2]) < p->largest && p->even &&
      p->width <= NARROW * apart)
    test_case->flops = 8 * (double)pairs_all(p);
  test_case->single = true; /* a pair in doubt is rare */
}

static void drop(rung_case *test_case) {
  pairs_forget(test_case);
  for (int a = 0; a < PAIRS_COUNTS; ++a) free(test_case->arrays[a].data);
  free(test_case->problem);
  memset(test_case, 0, sizeof *test_case);
}

static rung_status fill(rung_case *test_case, request *r, rung_error *error) {
  pairs_case *t = (pairs_case *)calloc(1, sizeof *t);
  maker m = {.r = r, .box = box_of(r), .random = {test_case->seed}};
  double *edges = NULL;
  test_case->problem = t;
  if (t == NULL || !make_arrays(test_case, r)) return out_of_memory(test_case, error);
  while (m.lattice * m.lattice * m.lattice < r->n + r->m) ++m.lattice;
  rung_status status = make_problem(test_case, r, &m, &edges, error);
  if (status == RUNG_OK && !fill_points(&m, test_case)) status = out_of_memory(test_case, error);
  free(edges);
  if (status != RUNG_OK) return status;
  fill_weights(&test_case->arrays[PAIRS_A_WEIGHTS], &m.random);
  fill_weights(&test_case->arrays[PAIRS_B_WEIGHTS], &m.random);
  fill_molecules(r, &test_case->arrays[PAIRS_A_MOLECULES]);
  fill_molecules(r, &test_case->arrays[PAIRS_B_MOLECULES]);
  pairs_look(&t->problem, &test_case->arrays[PAIRS_A], &test_case->arrays[PAIRS_B]);
  if (r->judging == AS_USUAL) r->judging = (int)pairs_usual_judging(&t->problem, t->report);
  t->judging = (pairs_judging)r->judging;
  rung_keys_label(keys, r, test_case->label, sizeof test_case->label);
  weigh(test_case);
  return RUNG_OK;
}

static rung_status make(const char *text, uint64_t seed, rung_case *test_case, rung_error *error) {
  request r;
  rung_status status = read_line(text, &r, error);
  if (status != RUNG_OK) return status;
  *test_case =
      (rung_case){.operation = rung_operation_named("pairs"),
                  .cases = &pairs_cases,
                  .seed = seed,
                  .types = {r.type == 0 ? RUNG_F32 : RUNG_F64, RUNG_U64, RUNG_I64},
                  .inputs = PAIRS_COUNTS,
                  .outputs = PAIRS_ARRAYS - PAIRS_COUNTS,
                  .array_names = {"a", "b", "a's weights", "b's weights", "a's molecules",
                                  "b's molecules", "thresholds", "counts", "outside", "sums"}};
  snprintf(test_case->label, sizeof test_case->label, "%.*s", (int)sizeof test_case->label - 1,
           text);
  status = fill(test_case, &r, error);
  if (status != RUNG_OK) drop(test_case);
  return status;
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define SIZES(rest)                                                                              \
  "n=0 " rest, "n=1 " rest, "n=2 " rest, "n=31 " rest, "n=32 " rest, "n=33 " rest, "n=65 " rest, \
      "n=127 " rest, "n=257 " rest
#define TILES(rest)                                                                    \
  "n=15 " rest, "n=16 " rest, "n=17 " rest, "n=63 " rest, "n=64 " rest, "n=128 " rest, \
      "n=129 " rest, "n=255 " rest, "n=256 " rest, "n=511 " rest, "n=513 " rest
#define CROSSES(rest)                                                                       \
  "n=1 m=1 " rest, "n=0 m=5 " rest, "n=33 m=1 " rest, "n=1 m=130 " rest, "n=64 m=32 " rest, \
      "n=129 m=63 " rest, "n=31 m=257 " rest
/* Every kind of points and bins, in one space. */
#define KINDS(rest)                                                                              \
  "n=150 data=lattice bins=20 " rest, "n=99 data=equal " rest, "n=130 data=line " rest,          \
      "n=161 data=edge bins=39 " rest, "n=161 data=edge bins=20 kind=log " rest,                 \
      "n=200 data=special " rest, "n=100 m=90 data=special " rest,                               \
      "n=130 data=huge type=f32 " rest, "n=130 data=tiny " rest, "n=120 kind=log bins=30 " rest, \
      "n=120 m=77 kind=given bins=30 type=f32 " rest, "n=140 weights=1 bins=7 " rest,            \
      "n=70 m=71 weights=1 " rest, "n=141 molecules=3 " rest,                                    \
      "n=70 m=80 molecules=5 weights=1 type=f32 share=0.6 " rest
/* Cut-offs: cells of all counts, empty ones among them. */
#define CUTS(rest)                                                                               \
  "n=600 bins=10 share=0.1 " rest, "n=400 m=300 bins=12 share=0.13 type=f32 " rest,              \
      "n=300 bins=5 share=0.03 kind=given weights=1 molecules=4 " rest,                          \
      "n=300 bins=9 share=0.2 data=special " rest, "n=343 bins=7 share=0.15 data=lattice " rest, \
      "n=200 bins=9 share=0.1 data=equal " rest

static const char *const verify[] = {"n=500 bins=80 width=500 data=report",
                                     "n=300 box=cube",
                                     SIZES("bins=10"),
                                     SIZES("bins=10 box=cube type=f32"),
                                     TILES("bins=20"),
                                     CROSSES("bins=10 type=f32"),
                                     CROSSES("bins=10 box=tri"),
                                     KINDS("box=open"),
                                     KINDS("box=cube"),
                                     KINDS("box=slab"),
                                     KINDS("box=tri"),
                                     KINDS("box=skew"),
                                     CUTS("box=open"),
                                     CUTS("box=cube"),
                                     CUTS("box=slab"),
                                     CUTS("box=skew"),
                                     "n=700 bins=80 width=500 data=report type=f32",
                                     "n=300 bins=20 kind=centred box=cube data=liquid",
                                     "n=300 m=80 bins=30 kind=centred width=0.02 data=liquid",
                                     "n=300 bins=1",
                                     "n=300 bins=9000",
                                     "n=200 bins=100000 kind=given",
                                     "n=100 bins=1048576 weights=1",
                                     "n=300 bins=8 flush=100",
                                     "n=400 bins=300 flush=1000 box=cube",
                                     "n=250 m=250 bins=8 flush=64 data=equal",

                                     "n=1000 bins=8 data=lattice box=tri",

                                     "n=600 m=1300 bins=50 data=line",

                                     "n=600 m=1300 bins=60 kind=log data=line",

                                     NULL};
static const char *const heavy[] = {"n=2000 bins=20 share=0.3 box=cube",
                                    "n=1500 m=700 bins=20 share=0.1",
                                    "n=3000 bins=80 width=500 data=report",
                                    "n=1000 m=1500 bins=3000 data=huge",
                                    "n=1500 bins=40 data=tiny type=f32",
                                    "n=1728 bins=12 data=lattice box=cube",
                                    "n=1000 bins=8 kind=given data=lattice box=skew",
                                    "n=600 m=1300 bins=3000 data=line",
                                    "n=600 m=1300 bins=1500 kind=given data=line",
                                    NULL};
static const char *const bench[] = {
    "n=100000 bins=80 width=500 data=report",
    "n=512000 bins=80 width=500 data=report",
    "n=10000 bins=80 width=500 data=report",
    "n=1000000 bins=100 width=0.1 box=cube",
    "n=10000000 bins=100 width=0.1 box=cube",
    "n=1000000 bins=100 width=0.1",
    "n=100000 bins=1000 share=0.3 box=tri",
    "n=100000 bins=80 kind=log",
    "n=100000 bins=100 kind=centred width=0.01 box=cube data=liquid",
    "n=20000 bins=80 weights=1",
    NULL};
static const char *const explain[] = {"n=512 bins=80 width=500 data=report",
                                      "n=1000 bins=20 width=0.2 box=cube", NULL};
static const char *const picture[] = {"n=32 bins=8 width=500 data=report", NULL};
static const char *const tour[] = {"n=10000 bins=80 width=500 data=report",
                                   "n=10000 bins=100 width=0.1 box=cube", NULL};

const rung_cases pairs_cases = {.operation = "pairs",
                                .keys = keys,
                                .verify = verify,
                                .heavy = heavy,
                                .bench = bench,
                                .explain = explain,
                                .picture = picture,
                                .tour = tour,
                                .make = make,
                                .drop = drop,
                                .expect = pairs_expect,
                                .check = pairs_check};
