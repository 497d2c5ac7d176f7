/* The stencil's cases: jobs from a line of text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "ops/stencil/lab/cases.h"

static const char *const type_names[] = {"f32", "f64", NULL};
static const char *const row_names[] = {"random", "special", "heat", "own", NULL};
static const char *const edge_names[] = {"wrap", "constant", "nearest", "reflect", "mirror", NULL};
static const char *const array_names[] = {"in", "out", "means"};

static const char *const verify_lines[] = {
    "n=7 m=700 p=20", /* the first: a job that every rung can do */
    "n=1 m=4 p=1",
    "n=9 m=2000 p=40",
    "n=1 m=5 p=3 type=f64",
    "n=3 m=6 p=2",
    "n=2 m=7 p=4 type=f64 means=1",
    "n=33 m=8 p=10 means=1",
    "n=5 m=9 p=0",
    "n=7 m=9 p=0 rows=own type=f64 means=1",
    "n=17 m=31 p=9",
    "n=31 m=32 p=10 means=1 rows=own",
    "n=32 m=33 p=11 type=f64",
    "n=19 m=257 p=23",
    "n=65 m=1000 p=17 type=f64 means=1",
    "n=129 m=777 p=10 rows=heat means=1",
    "n=40 m=641 p=25 rows=special",
    "n=40 m=641 p=12 rows=special type=f64 means=1",
    "n=21 m=300 p=20 preset=2025 rows=own",
    "n=21 m=480 p=21 preset=2025 type=f64 means=1",
    "n=20 m=301 p=20 preset=2016",
    "n=20 m=302 p=20 preset=2021 type=f64",
    "n=20 m=303 p=20 preset=2023 rows=own",
    "n=9 m=100 p=7 radius=1 fixed=0 edge=wrap",
    "n=9 m=100 p=7 radius=1 fixed=5 edge=nearest type=f64",
    "n=9 m=211 p=8 radius=2 fixed=0 edge=mirror",
    "n=9 m=60 p=8 radius=2 fixed=0 edge=reflect type=f64",
    "n=9 m=99 p=9 radius=3 fixed=1 edge=constant",
    "n=9 m=128 p=9 radius=3 fixed=100 edge=wrap type=f64",
    "n=9 m=97 p=6 radius=4 fixed=3 edge=reflect",
    "n=9 m=50 p=5 radius=5 fixed=0 edge=wrap",
    "n=9 m=51 p=5 radius=6 fixed=6 edge=mirror type=f64",
    "n=9 m=52 p=5 radius=7 fixed=2 edge=nearest",
    "n=9 m=90 p=5 radius=8 fixed=0 edge=constant type=f64",
    "n=4 m=3 p=5 radius=8 fixed=0 edge=reflect",
    "n=4 m=1 p=5 radius=2 fixed=0 edge=mirror type=f64",
    "n=4 m=12 p=3 radius=2 fixed=12 edge=wrap",
    "n=3 m=5000 p=30",
    "n=2 m=7680 p=8",
    "n=2 m=9600 p=19 rows=own",
    "n=1 m=3840 p=80 type=f64 radius=3 fixed=3 edge=constant",
    "n=1 m=4800 p=9 type=f64 radius=1 fixed=1 rows=special",
    "n=3 m=15360 p=12 means=1",
    "n=2 m=15361 p=7 type=f64",
    "n=2 m=15360 p=7 type=f64 means=1 rows=own",
    "n=2 m=40000 p=6 means=1",
    "n=7 m=1500 p=60 fixed=0 edge=mirror means=1",
    "n=3 m=2500 p=90 radius=3 fixed=20 edge=wrap type=f64",
    "n=19 m=1700 p=64 rows=own means=1",
    "n=17 m=1600 p=33 rows=special",
    NULL,
};

static const char *const bench_lines[] = {
    "n=15360 m=15360 p=100",
    "n=15360 m=15360 p=100 type=f64",
    NULL,
};

static const char *const tour_lines[] = {
    "n=1024 m=4096 p=100",
    "n=1024 m=4096 p=100 type=f64",
    NULL,
};

/* Rows as long as those that are benched, so that rungs take the paths they take there. */
static const char *const explain_lines[] = {
    "n=8 m=15360 p=4",
    "n=8 m=15360 p=4 type=f64",
    "n=64 m=512 p=4",
    NULL,
};
static const char *const timeline[] = {"n=9 m=2000 p=40", NULL};
static const char *const picture[] = {"n=2 m=128 p=2", "n=2 m=256 p=20", NULL};
static const char *const heavy[] = {"n=2 m=12000 p=260 fixed=700 edge=nearest type=f64",
                                    "n=9 m=7001 p=40 radius=3 fixed=0 edge=constant rows=special",
                                    "n=5 m=3000 p=100 type=f64 means=1",
                                    "n=4 m=9000 p=101 preset=2025 rows=own type=f64",
                                    "n=2 m=9001 p=61 radius=5 fixed=3 edge=mirror means=1",
                                    "n=2 m=9000 p=70 radius=8 fixed=0 edge=wrap",
                                    "n=129 m=777 p=13 rows=own type=f64 means=1",
                                    NULL};

/* ---- making --------------------------------------------------------------------------------- */

/* What a line asks for. */
typedef struct wish {
  int64_t n, m, p, radius, fixed, means;
  int type, rows, preset, edge;
} wish;

enum { BY_PRESET = -1 };
#define MOST ((int64_t)1 << 40)

static const rung_key keys[] = {
    RUNG_INTEGER(wish, n, 1, MOST, 32, .name = "n", .help = "rows"),
    RUNG_INTEGER(wish, m, 1, MOST, 32, .name = "m", .help = "columns"),
    RUNG_INTEGER(wish, p, 0, MOST, 10, .name = "p", .help = "steps"),
    RUNG_CHOICE(wish, type, 0, .name = "type", .names = type_names, .help = "of the elements"),
    RUNG_CHOICE(wish, rows, 0, .name = "rows", .names = row_names,
                .help = "the start; heat, own: the radiator's, from memory or made by the rung"),
    RUNG_CHOICE(wish, preset, 1, .name = "preset", .names_of = rung_radiator_presets,
                .help = "the radiator's weights, of radius 2"),
    RUNG_CHOICE(wish, edge, 0, .name = "edge", .names = edge_names, .help = "beyond a row's ends"),
    RUNG_INTEGER(wish, radius, 1, RUNG_STENCIL_MAX_RADIUS, 2, .name = "radius",
                 .help = "of the weights"),
    RUNG_INTEGER(wish, fixed, 0, MOST, BY_PRESET, .name = "fixed",
                 .help = "columns that stay as they are, m at most",
                 .depends = "2; 1 of preset 2025"),
    RUNG_INTEGER(wish, means, 0, 1, 0, .name = "means", .help = "1: means of the rows, too"),
    {0}};

static rung_status read_line(const char *text, wish *wish, rung_error *error) {
  rung_status status = rung_keys_read(keys, text, wish, error);
  if (status != RUNG_OK) return status;
  const int64_t fixed = wish->preset == 4 ? 1 : 2;
  if (wish->fixed == BY_PRESET) wish->fixed = fixed < wish->m ? fixed : wish->m;
  if (wish->fixed > wish->m)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "fixed=%lld: expected: at most m, which is %lld",
                     (long long)wish->fixed, (long long)wish->m);
  if (wish->rows >= STENCIL_HEAT && wish->m < 4)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "m is %lld with rows=%s; expected: 4 or more, as the radiator needs",
                     (long long)wish->m, row_names[wish->rows]);
  return RUNG_OK;
}

static rung_status make_problem(const wish *wish, rung_dtype dtype, stencil_problem *p,
                                rung_error *error) {
  rung_radiator_model radiator;
  rung_radiator_preset(rung_radiator_presets()[wish->preset], &radiator);
  if (wish->rows == STENCIL_OWN || wish->rows == STENCIL_HEAT)
    return stencil_radiator_problem(error, &radiator, wish->p, wish->n, wish->m, dtype, p);
  /* Other radii: positive weights that no symmetry hides behind, summing to `divide`. */
  double weights[STENCIL_TAPS], divide = 0;
  for (int k = 0; k <= 2 * wish->radius; k++) divide += weights[k] = 1 + (k * 7 + 3) % 11;
  const rung_stencil_model model = {
      .radius = (int)wish->radius,
      .weights = wish->radius == 2 ? radiator.weights : weights,
      .divide = wish->radius == 2 ? radiator.divide : divide,
      .steps = wish->p,
      .fixed = wish->fixed,
      .edge = (rung_edge)wish->edge,
      .edge_value = .625,
  };
  return stencil_problem_of(error, &model, wish->n, wish->m, dtype, p);
}

/* Row `base` of the pattern, in double; rounded to the type when stored. */
static void draw_row(const stencil_case *t, int64_t base, double *row) {
  rung_random random = {t->seed + (uint64_t)base * 0x9E3779B97F4A7C15u};
  const int64_t m = t->problem.columns;
  for (int64_t j = 0; j < m; j++) row[j] = (float)rung_random_double(&random);
  if (t->rows != STENCIL_SPECIAL) return;
  const int64_t at = (int64_t)(rung_random_next(&random) % (uint64_t)m);
  const double tiny = rung_traits_of(t->problem.dtype)->tiny;
  switch (base % 8) {
    case 0:
      row[at] = NAN;
      break;
    case 1:
      row[at] = INFINITY;
      break;
    case 2:
      row[at] = -INFINITY;
      row[m - 1] = INFINITY;
      break;
    case 3:
      for (int64_t j = 0; j < m; j++) row[j] = -0.0;
      break;
    case 4: /* subnormals */
      for (int64_t j = 0; j < m; j++) row[j] = tiny * (double)(rung_random_next(&random) % 1000);
      break;
    case 5:
      for (int64_t j = 0; j < m; j++) row[j] = (j % 2 ? -1e30 : 1e30) * row[j];
      break;
    case 6:
      for (int64_t j = 0; j < m; j++) row[j] = j == at ? 1 : 0;
      break;
    default:
      for (int64_t j = 0; j < m; j++) row[j] = 0.7310586;
  }
}

/* Rows repeat after STENCIL_BASES, each time scaled by another power of two: the chain commutes
 * with that exactly (away from under- and overflow), so the references of the first rows check
 * every row of a large grid. */
static void fill_input(const stencil_case *t, const double *bases, void *grid) {
  const stencil_problem *p = &t->problem;
  const int64_t m = p->columns;
  const rung_traits *traits = rung_traits_of(p->dtype);
  for (int64_t i = 0; i < p->rows; i++) {
    const double *row = bases + i % t->bases * m, scale = stencil_row_scale(t, i);
    for (int64_t j = 0; j < m; j++)
      traits->store((char *)grid + (i * m + j) * (int64_t)traits->bytes, row[j] * scale);
  }
}

static rung_status make_input(stencil_case *t, void **grid, rung_error *error) {
  const stencil_problem *p = &t->problem;
  const bool unfilled = t->seed == LAB_UNFILLED;
  const size_t row = (size_t)p->columns * sizeof(double);
  const size_t bytes = (size_t)p->rows * (size_t)p->columns * rung_dtype_bytes(p->dtype);
  double *bases = malloc((size_t)t->bases * row);
  *grid = t->rows == STENCIL_OWN ? NULL : malloc(bytes);
  if (bases == NULL || (*grid == NULL && t->rows != STENCIL_OWN)) {
    free(bases);
    free(*grid);
    *grid = NULL;
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a case's input of %zu bytes", bytes);
  }
  if (t->rows == STENCIL_HEAT && !unfilled) {
    stencil_fill_start(p, *grid);
  } else if (t->rows != STENCIL_OWN && !unfilled) {
    for (int64_t b = 0; b < t->bases; b++) draw_row(t, b, bases + b * p->columns);
    fill_input(t, bases, *grid);
  }
  free(bases);
  return RUNG_OK;
}

static void set_arrays(const wish *wish, stencil_case *t, void *grid, rung_case *test_case) {
  const rung_dtype dtype = t->problem.dtype;
  const int64_t shape[] = {t->problem.rows, t->problem.columns};
  test_case->inputs = 1;
  test_case->outputs = 2;
  for (int a = 0; a < 3; a++) test_case->array_names[a] = array_names[a];
  test_case->arrays[STENCIL_OUT] = rung_view_compact(NULL, dtype, 2, shape);
  if (grid != NULL) test_case->arrays[STENCIL_IN] = rung_view_compact(grid, dtype, 2, shape);
  if (wish->means) test_case->arrays[STENCIL_MEANS] = rung_view_compact(NULL, dtype, 1, shape);
}

static rung_status make(const char *text, uint64_t seed, rung_case *test_case, rung_error *error) {
  wish wish;
  memset(test_case, 0, sizeof *test_case);
  rung_status status = read_line(text, &wish, error);
  if (status != RUNG_OK) return status;
  const rung_dtype dtype = wish.type == 0 ? RUNG_F32 : RUNG_F64;
  int64_t elements, bytes;
  if (!rung_multiply(wish.n, wish.m, &elements) || !rung_multiply(elements, 8, &bytes))
    return rung_fail(error, RUNG_TOO_LARGE, "n=%lld m=%lld is too large for 64-bit sizes",
                     (long long)wish.n, (long long)wish.m);
  stencil_case *t = calloc(1, sizeof *t);
  if (t == NULL) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a case");
  t->seed = seed;
  t->rows = (stencil_rows)wish.rows;
  status = make_problem(&wish, dtype, &t->problem, error);
  t->scaled = t->rows == STENCIL_RANDOM && t->problem.edge != RUNG_EDGE_CONSTANT;
  t->bases = t->problem.rows < STENCIL_BASES ? t->problem.rows : STENCIL_BASES;
  void *grid = NULL;
  if (status == RUNG_OK) status = make_input(t, &grid, error);
  if (status != RUNG_OK) {
    free(t);
    return status;
  }
  if (t->rows == STENCIL_HEAT) {
    t->start = t->problem.start;
    t->problem.start.own = false;
    t->problem.bytes *= 2; /* the start is read, too */
  } else if (t->rows == STENCIL_OWN) {
    t->start = t->problem.start;
  }
  if (wish.means) t->problem.bytes += (double)wish.n * (double)rung_dtype_bytes(dtype);
  test_case->operation = rung_operation_named("stencil");
  test_case->cases = &stencil_cases;
  test_case->seed = seed;
  test_case->types = (rung_types)RUNG_ALIKE(dtype);
  test_case->problem = t; /* its first member is the problem */
  test_case->bytes = t->problem.bytes;
  test_case->flops = t->problem.flops;
  test_case->numbers = t->problem.scaled;
  test_case->number_count = 2 * t->problem.radius + 1;
  set_arrays(&wish, t, grid, test_case);
  wish.edge = (int)t->problem.edge; /* the radiator's own where it is one */
  wish.radius = t->problem.radius;
  wish.fixed = t->problem.fixed;
  rung_keys_label(keys, &wish, test_case->label, sizeof test_case->label);
  return RUNG_OK;
}

static void drop(rung_case *test_case) {
  free(test_case->arrays[STENCIL_IN].data);
  free(test_case->problem);
  stencil_drop_expected(test_case);
  memset(test_case, 0, sizeof *test_case);
}

const rung_cases stencil_cases = {
    .operation = "stencil",
    .keys = keys,
    .verify = verify_lines,
    .heavy = heavy,
    .bench = bench_lines,
    .tour = tour_lines,
    .explain = explain_lines,
    .picture = picture,
    .timeline = timeline,
    .make = make,
    .unfilled = true,
    .drop = drop,
    .expect = stencil_expect,
    .check = stencil_check,
};
