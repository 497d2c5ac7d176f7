/* Cases of matmul: lines such as "n=256 m=256 k=256 type=f32 beta=0.5". */
#include <stdlib.h>
#include <string.h>

#include "lab/numbers.h"
#include "ops/matmul/lab/cases.h"

static const char *const types[] = {"f32", "f64", "f16", "bf16", "i8", NULL};
static const char *const layouts[] = {"nn", "nt", "tn", "tt", NULL};

/* ---- making ---------------------------------------------------------------------------------- */

typedef struct request {
  int64_t n, m, k, batch, narrow, bits;
  double alpha, beta;
  int type, layout, kind;
} request;

enum { MOST = 1 << 30 };

static bool is_batch(const void *of) {
  return ((const request *)of)->batch != 1;
}
static bool has_alpha(const void *of) {
  return ((const request *)of)->alpha != 1;
}
static bool has_beta(const void *of) {
  return ((const request *)of)->beta != 0;
}
static bool is_fixed(const void *of) {
  return ((const request *)of)->bits != 0;
}
static bool is_narrow(const void *of) {
  return ((const request *)of)->narrow != 0;
}

static const rung_key keys[] = {
    RUNG_INTEGER(request, n, 1, MOST, 256, .name = "n", .help = "columns of B and C"),
    RUNG_INTEGER(request, m, 1, MOST, -1, .name = "m", .help = "rows of A and C", .depends = "n"),
    RUNG_INTEGER(request, k, 0, MOST, -1, .name = "k", .help = "columns of A, rows of B",
                 .depends = "n"),
    RUNG_INTEGER(request, batch, 1, MOST, 1, .name = "batch", .help = "so many products",
                 .shown = is_batch),
    RUNG_CHOICE(request, type, 0, .name = "type", .names = types, .help = "of the elements"),
    RUNG_INTEGER(request, narrow, 0, 1, 0, .name = "narrow",
                 .help = "1: f16 and bf16 results in their own type, not f32", .shown = is_narrow),
    RUNG_INTEGER(request, bits, 0, MATMUL_BITS, 0, .name = "bits",
                 .help = "sums in fixed point of so many bits, 8 ... 31; 0: in floats",
                 .shown = is_fixed),
    RUNG_CHOICE(request, layout, 0, .name = "layout", .names = layouts,
                .help = "of A and B in memory: t is transposed"),
    RUNG_REAL(request, alpha, -1e9, 1e9, 1, .name = "alpha", .help = "the product's factor",
              .shown = has_alpha),
    RUNG_REAL(request, beta, -1e9, 1e9, 0, .name = "beta",
              .help = "the factor of what is added; 0: nothing is", .shown = has_beta),
    RUNG_CHOICE(request, kind, RUNG_NUMBERS_RANDOM, .name = "data", .names = rung_numbers_kinds,
                .help = "the elements' values"),
    {0}};

/* `count` elements of an array, `step` apart. */
static rung_numbers line_of(const rung_view *view, int64_t at, int64_t step, int64_t count) {
  return (rung_numbers){view->dtype, view->data + at * (int64_t)rung_dtype_bytes(view->dtype), step,
                        count};
}

/* Lines of an array, of every matrix: those from base.rows and base.batch on are copies. */
typedef struct lines {
  const rung_view *view;
  int64_t batch, batch_step, base_batch, rows, row_step, base_rows, count, step;
} lines;

static void fill(const lines *to, rung_numbers_kind kind, int shift, rung_random *random) {
  for (int64_t b = 0; b < to->batch; b++)
    for (int64_t r = 0; r < to->rows; r++) {
      const int64_t of = b % to->base_batch, base = r % to->base_rows;
      const rung_numbers line =
          line_of(to->view, b * to->batch_step + r * to->row_step, to->step, to->count);
      const rung_numbers from =
          line_of(to->view, of * to->batch_step + base * to->row_step, to->step, to->count);
      if (of == b && base == r)
        rung_numbers_fill(&line, kind, b * to->rows + r + shift, random);
      else
        rung_numbers_copy(&line, &from);
    }
}

/* Of special values B's columns are lines, so that each meets every kind of A's rows. */
static void fill_all(const rung_case *test_case, rung_numbers_kind kind) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  const rung_view *arrays = test_case->arrays;
  const matmul_steps a = matmul_steps_of(&arrays[MATMUL_A], p->a_turned),
                     b = matmul_steps_of(&arrays[MATMUL_B], p->b_turned),
                     added = matmul_steps_of(&arrays[MATMUL_ADDED], false);
  const int64_t base = matmul_base_batch(p), rows = matmul_base_rows(p);
  const bool columns = kind == RUNG_NUMBERS_SPECIAL;
  rung_random random = {test_case->seed};
  const lines
      of_a = {&arrays[MATMUL_A], p->batch, a.batch, base, p->m, a.row, rows, p->k, a.column},
      of_added = {
          &arrays[MATMUL_ADDED], p->batch, added.batch, base, p->m, added.row, rows, p->n, 1};
  const lines of_b =
      columns
          ? (lines){&arrays[MATMUL_B], p->batch, b.batch, base, p->n, b.column, p->n, p->k, b.row}
          : (lines){&arrays[MATMUL_B], p->batch, b.batch, base, p->k, b.row, p->k, p->n, b.column};
  if (p->k > 0) {
    fill(&of_a, kind, 0, &random);
    fill(&of_b, kind, 5, &random);
  }
  if (arrays[MATMUL_ADDED].count > 0) fill(&of_added, kind, 3, &random);
}

static rung_status make_array(rung_case *test_case, int number, rung_dtype dtype, int64_t rows,
                              int64_t columns, rung_error *error) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  const int64_t shape[3] = {p->batch, rows, columns};
  int64_t count, bytes;
  if (!rung_multiply(rows, columns, &count) || !rung_multiply(count, p->batch, &count) ||
      !rung_multiply(count, (int64_t)rung_dtype_bytes(dtype), &bytes))
    return rung_fail(error, RUNG_TOO_LARGE, "%s: an array's bytes do not fit in 64 bits",
                     test_case->label);
  rung_view *view = &test_case->arrays[number];
  const int ndim = p->batch > 1 ? 3 : 2;
  *view = rung_view_compact(NULL, dtype, ndim, shape + 3 - ndim);
  if (number == MATMUL_C || bytes == 0) return RUNG_OK;
  view->data = (char *)malloc((size_t)bytes);
  if (view->data == NULL)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s needs %lld bytes of memory for an input",
                     test_case->label, (long long)bytes);
  return RUNG_OK;
}

static rung_status make_arrays(rung_case *test_case, rung_error *error) {
  const matmul_problem *p = (const matmul_problem *)test_case->problem;
  const rung_dtype in = p->types.in, out = p->types.out;
  const int64_t m = p->m, n = p->n, k = p->k;
  rung_status status =
      make_array(test_case, MATMUL_A, in, p->a_turned ? k : m, p->a_turned ? m : k, error);
  if (status == RUNG_OK)
    status = make_array(test_case, MATMUL_B, in, p->b_turned ? n : k, p->b_turned ? k : n, error);
  if (status == RUNG_OK && p->beta != 0)
    status = make_array(test_case, MATMUL_ADDED, out, m, n, error);
  if (status == RUNG_OK) status = make_array(test_case, MATMUL_C, out, m, n, error);
  return status;
}

static void drop(rung_case *test_case) {
  matmul_forget(test_case);
  for (int a = MATMUL_A; a <= MATMUL_ADDED; a++) free(test_case->arrays[a].data);
  free(test_case->problem);
  memset(test_case, 0, sizeof *test_case);
}

static rung_status make(const char *text, uint64_t seed, rung_case *test_case, rung_error *error) {
  request r;
  rung_dtype dtype = RUNG_F32;
  rung_status status = rung_keys_read(keys, text, &r, error);
  if (status != RUNG_OK) return status;
  if (r.m < 0) r.m = r.n;
  if (r.k < 0) r.k = r.n;
  rung_dtype_named(types[r.type], &dtype);
  const bool half = dtype == RUNG_F16 || dtype == RUNG_BF16;
  const rung_dtype sum = matmul_types_of(dtype, dtype, false).accumulate;
  if (r.bits != 0 && !(MATMUL_FIXED_DTYPES & RUNG_TYPE(dtype)))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "bits=%d is of fixed point, and type=%s; expected: f32, f16 or bf16",
                     (int)r.bits, types[r.type]);
  *test_case =
      (rung_case){.operation = rung_operation_named("matmul"),
                  .cases = &matmul_cases,
                  .seed = seed,
                  .types = matmul_types_of(dtype, half && r.narrow ? dtype : sum, r.bits != 0),
                  .matrix = true,
                  .inputs = 3,
                  .outputs = 1,
                  .array_names = {"a", "b", "added", "c"}};
  rung_keys_label(keys, &r, test_case->label, sizeof test_case->label);
  matmul_problem *problem = (matmul_problem *)malloc(sizeof *problem);
  if (problem == NULL) return rung_fail(error, RUNG_OUT_OF_MEMORY, "host memory ran out");
  test_case->problem = problem;
  status = matmul_problem_of(error, test_case->types, (int64_t[]){r.batch, r.m, r.n, r.k}, r.alpha,
                             r.beta, (int)r.bits, problem);
  if (status == RUNG_OK) {
    problem->batch_axes = r.batch > 1;
    problem->a_turned = r.layout >= 2;
    problem->b_turned = r.layout % 2 == 1;
    status = make_arrays(test_case, error);
  }
  if (status != RUNG_OK) {
    drop(test_case);
    return status;
  }
  matmul_measure(problem, test_case->arrays);
  test_case->bytes = problem->bytes;
  test_case->flops = problem->flops;
  if (seed != LAB_UNFILLED) fill_all(test_case, (rung_numbers_kind)r.kind);
  return RUNG_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* All layouts, with factors and without. */
#define LAYOUTS(shape)                                                          \
  shape " layout=nn beta=0.75", shape " layout=nt", shape " layout=tn alpha=3", \
      shape " layout=tt alpha=-0.5 beta=1"
#define SHAPES(rest, batch)                                                      \
  "n=1 m=1 k=1 " rest, "n=7 m=5 k=0 beta=2 " rest, "n=3 m=70 k=9 " rest,         \
      "n=130 m=1 k=67 layout=nt " rest, "n=66 m=131 k=35 alpha=2 beta=-1 " rest, \
      "n=16 m=16 k=16 batch=9 " rest, "n=17 m=5 k=6 batch=" batch " layout=tn beta=1 " rest
#define SPECIAL(rest) "n=37 m=37 k=12 data=special " rest
#define SMALL(rest)                                                                          \
  "n=33 m=34 k=35 " rest, "n=33 m=1 k=5 layout=nt beta=1 " rest, "n=5 m=6 k=0 beta=3 " rest, \
      "n=21 m=9 k=40 batch=3 layout=tn alpha=2 " rest, SPECIAL("alpha=2 beta=1 layout=tt " rest)

/* The first lines are tried with many block sizes. */
static const char *const verify[] = {
    "n=33 m=65 k=34 type=f32 beta=0.5", "n=40 m=19 k=21 type=f64 layout=tt",
    SHAPES("type=f32", "70"), SHAPES("type=f64", "70"), LAYOUTS("n=128 m=64 k=32 type=f32"),
    LAYOUTS("n=77 m=129 k=50 type=f64"), "n=260 m=136 k=36 type=f32 layout=tn beta=1",
    "n=196 m=140 k=37 type=f32 layout=nt beta=1", "n=196 m=140 k=41 type=f64",
    "n=128 m=192 k=40 type=f32 layout=tn", "n=126 m=190 k=37 type=f32 layout=tn beta=1",
    "n=260 m=5 k=70 type=f64 layout=tt beta=1", "n=24 m=9 k=1100 type=f32 beta=1",
    "n=40 m=17 k=530 type=f64 layout=tn", "n=9 m=600 k=65 type=f64",
    SPECIAL("type=f32 layout=nn beta=1"), SPECIAL("type=f32 layout=tt"),
    SPECIAL("type=f64 layout=nt alpha=-1"), SPECIAL("type=f64 batch=2 beta=-2"), SMALL("type=f16"),
    SMALL("type=f16 narrow=1"), SMALL("type=bf16"), SMALL("type=bf16 narrow=1"), SMALL("type=i8"),
    /* As copies in f32: lines without gaps and with them, more than a grid makes at once. */
    LAYOUTS("n=70 m=35 k=37 type=f16"), LAYOUTS("n=39 m=66 k=130 type=bf16 narrow=1"),
    "n=37 m=35 k=33 batch=3 type=f16 narrow=1 beta=1 layout=nt",
    "n=34 m=2 k=33 batch=70 type=bf16 layout=tn alpha=2 beta=-1",
    "n=3 m=700 k=131 type=f16 beta=-1", "n=133 m=300 k=3 type=bf16 narrow=1 beta=0.5",
    "n=2 m=3 k=33001 type=bf16 layout=nt", "n=300 m=1 k=129 type=f16 narrow=1 layout=nt",
    SPECIAL("type=f16 narrow=1 beta=-1"), SPECIAL("type=bf16 layout=nt"),
    SPECIAL("type=bf16 narrow=1 alpha=-1 layout=tn"),
    /* As tensor cores read them: where they lie. */
    "n=264 m=130 k=72 type=bf16 beta=1", "n=264 m=130 k=72 type=f16 narrow=1 layout=nt",
    "n=136 m=259 k=144 type=i8 layout=nt beta=2",
    /* In fixed point: digits, layouts, types, factors, scales. */
    SHAPES("type=f32 bits=31", "11"), SHAPES("type=f32 bits=23", "3"),
    LAYOUTS("n=66 m=35 k=129 bits=31"), LAYOUTS("n=35 m=66 k=260 bits=15"),
    SPECIAL("type=f32 bits=31 beta=1"), SPECIAL("type=f32 bits=20 layout=tt alpha=-1"),
    SMALL("type=f16 bits=31"), SMALL("type=bf16 narrow=1 bits=23"), "n=20 m=30 k=40 bits=24",
    "n=20 m=30 k=40 bits=8",
    /* long enough to be cut along k */
    NULL};
static const char *const heavy[] = {
    "n=300 m=1 k=520 type=f64 layout=nt",  "n=48 m=300 k=600 type=f32 alpha=2 beta=1",
    "n=256 m=64 k=515 type=f32 layout=nt", "n=400 m=96 k=520 type=f32 layout=tt",
    "n=2000 m=9 k=700 type=f32",           "n=1000 m=3 k=300 type=f32",
    "n=20 m=30 k=1300 bits=31 beta=1",     NULL};
static const char *const bench[] = {"n=1024 type=f32",
                                    "n=4096 type=f32",
                                    "n=2048 type=f32",
                                    "n=8192 type=f32",
                                    "n=512 type=f32",
                                    "n=256 type=f32",
                                    "n=1003 m=1000 k=1001 type=f32",
                                    "n=4096 type=f64",
                                    "n=16384 m=1 k=16384 type=f32",
                                    "n=16384 m=1 k=16384 type=f32 layout=nt",
                                    "n=16 batch=100000 type=f32",
                                    NULL};
static const char *const explain_lines[] = {"n=128 type=f32",
                                            "n=64 type=f64",
                                            "n=64 type=f16",
                                            "n=32 batch=16 type=f32",
                                            "n=8 m=128 k=256 type=f32",
                                            "n=64 bits=23 type=f32",
                                            NULL};
static const char *const picture[] = {"n=16", "n=16 batch=4", "n=16 type=f64", NULL};
static const char *const tour[] = {"n=512 type=f32", "n=32 batch=1000 type=f32", NULL};

const rung_cases matmul_cases = {.operation = "matmul",
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
                                 .expect = matmul_expect,
                                 .check = matmul_check};
