/* Cases of scan: lines such as "n=1000 op=sum type=f32 exclusive=0 lines=1 data=random". */
#include <stdlib.h>
#include <string.h>

#include "lab/numbers.h"
#include "ops/scan/lab/cases.h"

static const char *const ops[] = {"sum", "min", "max", NULL};
static const char *const types[] = {"f32", "f64", "f16", "bf16", "i32", "u32", "i64",
                                    "u64", "i16", "u16", "i8",   "u8",  NULL};

/* ---- making ---------------------------------------------------------------------------------- */

typedef struct request {
  int64_t n, lines, inner, exclusive;
  int op, type, kind;
} request;

static bool has_inner(const void *request_) {
  return ((const request *)request_)->inner > 1;
}

static const rung_key keys[] = {
    RUNG_INTEGER(request, n, 1, SCAN_MOST, 1000, .name = "n", .help = "elements in a segment"),
    RUNG_CHOICE(request, op, RUNG_SUM, .name = "op", .names = ops, .help = "what is computed"),
    RUNG_CHOICE(request, type, 0, .name = "type", .names = types, .help = "of the elements"),
    RUNG_INTEGER(request, exclusive, 0, 1, 0, .name = "exclusive",
                 .help = "1: without the element itself"),
    RUNG_INTEGER(request, lines, 1, SCAN_MOST, 1, .name = "lines",
                 .help = "segments, one after the other in memory"),
    RUNG_INTEGER(request, inner, 1, SCAN_MOST, 1, .name = "inner", .shown = has_inner,
                 .help = "segments side by side: above 1 the middle axis of (lines, n, inner)"),
    RUNG_CHOICE(request, kind, RUNG_NUMBERS_RANDOM, .name = "data", .names = rung_numbers_kinds,
                .help = "the elements' values"),
    {0}};

static rung_numbers line_of(const rung_case *test_case, int64_t j) {
  const scan_problem *p = (const scan_problem *)test_case->problem;
  const int64_t bytes = scan_first_of(p, j) * (int64_t)rung_dtype_bytes(p->dtype);
  return (rung_numbers){p->dtype, test_case->arrays[SCAN_IN].data + bytes, p->inner, p->columns};
}

static void fill_all(const rung_case *test_case, rung_numbers_kind kind) {
  const scan_problem *p = (const scan_problem *)test_case->problem;
  rung_random random = {test_case->seed};
  for (int64_t j = 0; j < p->lines; ++j) {
    const rung_numbers to = line_of(test_case, j), from = line_of(test_case, j % SCAN_BASE);
    if (j < SCAN_BASE)
      rung_numbers_fill(&to, kind, j, &random);
    else
      rung_numbers_copy(&to, &from);
  }
}

static rung_status make_arrays(rung_case *test_case, rung_error *error) {
  const scan_problem *p = (const scan_problem *)test_case->problem;
  const size_t bytes = (size_t)(p->lines * p->columns) * rung_dtype_bytes(p->dtype);
  const int64_t shape[3] = {p->lines / p->inner, p->columns, p->inner};
  void *data = malloc(bytes);
  if (data == NULL)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s needs %zu bytes of memory for its input",
                     test_case->label, bytes);
  test_case->arrays[SCAN_IN] = rung_view_compact(data, p->dtype, p->across ? 3 : 2, shape);
  test_case->arrays[SCAN_OUT] = rung_view_compact(NULL, p->dtype, p->across ? 3 : 2, shape);
  return RUNG_OK;
}

static rung_status make(const char *text, uint64_t seed, rung_case *test_case, rung_error *error) {
  request r;
  rung_dtype dtype = RUNG_F32;
  rung_status status = rung_keys_read(keys, text, &r, error);
  if (status != RUNG_OK) return status;
  rung_dtype_named(types[r.type], &dtype);
  *test_case = (rung_case){.operation = rung_operation_named("scan"),
                           .cases = &scan_cases,
                           .seed = seed,
                           .types = scan_types_of((rung_reduction)r.op, dtype),
                           .inputs = 1,
                           .outputs = 1,
                           .array_names = {"in", "out"}};
  rung_keys_label(keys, &r, test_case->label, sizeof test_case->label);
  scan_problem *problem = (scan_problem *)malloc(sizeof *problem);
  if (problem == NULL) return rung_fail(error, RUNG_OUT_OF_MEMORY, "host memory ran out");
  test_case->problem = problem;
  int64_t lines = 0;
  if (!rung_multiply(r.lines, r.inner, &lines))
    status = rung_fail(error, RUNG_TOO_LARGE, "%s has too many segments", test_case->label);
  if (status == RUNG_OK)
    status = scan_problem_of(error, (rung_reduction)r.op, dtype, r.exclusive == 1, lines, r.n,
                             r.inner, problem);
  if (status == RUNG_OK) status = make_arrays(test_case, error);
  if (status != RUNG_OK) {
    free(problem);
    return status;
  }
  test_case->bytes = problem->bytes;
  test_case->flops = problem->flops;
  fill_all(test_case, (rung_numbers_kind)r.kind);
  return RUNG_OK;
}

static void drop(rung_case *test_case) {
  scan_forget(test_case);
  free(test_case->arrays[SCAN_IN].data);
  free(test_case->problem);
  memset(test_case, 0, sizeof *test_case);
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define LENGTHS(rest)                                                                \
  "n=1 " rest, "n=2 " rest, "n=31 " rest, "n=32 " rest, "n=33 " rest, "n=127 " rest, \
      "n=128 " rest, "n=129 " rest, "n=1024 " rest, "n=1025 " rest, "n=8191 " rest,  \
      "n=8192 " rest, "n=8193 " rest, "n=16384 " rest, "n=20011 " rest
#define SHORTER(rest) "n=1 " rest, "n=5 " rest, "n=1021 " rest, "n=8195 " rest
/* Lines of each kind that rungs tell apart: shorter than a band, than a tile, of several tiles. */
#define SHAPES(rest) \
  "n=3 lines=70 " rest, "n=100 lines=9 " rest, "n=1500 lines=3 " rest, "n=9001 lines=2 " rest
#define KINDS(rest) "n=1 lines=11 data=special " rest, "n=1030 lines=11 data=special " rest
/* Lines side by side: as many as fill the lanes of a vector and a tile of the GPU, and more, and
 * fewer; shorter than a row, than a tile, longer. */
#define ASIDE(rest)                                                                   \
  "n=2 inner=3 lines=5 " rest, "n=9 inner=130 " rest, "n=100 inner=2 lines=37 " rest, \
      "n=128 inner=64 " rest, "n=130 inner=33 lines=2 " rest, "n=1100 inner=9 data=special " rest
#define SUMS(type)                                                      \
  ASIDE("op=sum exclusive=1 type=" type), SHORTER("op=sum type=" type), \
      SHAPES("op=sum exclusive=1 type=" type), "n=1030 lines=12 data=special op=sum type=" type
#define EXTREMES(type)                                                                           \
  "n=61 inner=20 lines=3 op=max type=" type, SHORTER("op=min exclusive=1 type=" type),           \
      SHAPES("op=max type=" type), "n=1030 lines=12 data=special op=max exclusive=1 type=" type, \
      "n=130 lines=12 data=special op=min type=" type

#define NARROW(type) SUMS(type), EXTREMES(type), KINDS("op=sum exclusive=1 type=" type)

/* The first lines are tried with many block sizes. 262145 is one more than 32 tiles hold: the first
 * that needs an aggregate of a family. */
static const char *const verify[] = {"n=1000 op=sum type=f32",
                                     "n=1500 op=max exclusive=1 type=i64 lines=2",
                                     "n=262145 op=sum type=f32",

                                     LENGTHS("op=sum type=f32"),
                                     LENGTHS("op=sum exclusive=1 type=f64"),
                                     SUMS("f32"),
                                     SUMS("f64"),
                                     SUMS("i32"),
                                     SUMS("u64"),
                                     KINDS("op=sum exclusive=1 type=f32"),
                                     KINDS("op=sum exclusive=1 type=f64"),
                                     EXTREMES("f32"),
                                     EXTREMES("f64"),
                                     EXTREMES("i32"),
                                     EXTREMES("u32"),
                                     EXTREMES("i64"),
                                     EXTREMES("u64"),
                                     "n=8500 lines=11 data=special op=sum type=f32",
                                     "n=8500 lines=11 data=special op=min type=f64",
                                     "n=9001 data=alternating op=sum type=f64",
                                     "n=4099 data=equal op=sum type=f32",
                                     "n=8193 data=permutation op=max type=u32",
                                     "n=8193 op=sum exclusive=1 type=u32",
                                     "n=8193 op=sum type=i64",
                                     NARROW("f16"),
                                     NARROW("bf16"),
                                     NARROW("i8"),
                                     NARROW("u8"),
                                     NARROW("i16"),
                                     NARROW("u16"),
                                     LENGTHS("op=sum type=f16"),
                                     LENGTHS("op=max exclusive=1 type=bf16"),
                                     LENGTHS("op=min exclusive=1 type=i8"),
                                     "n=270001 op=sum exclusive=1 type=f16",
                                     "n=262145 op=max type=u16",
                                     ASIDE("op=sum type=f32"),
                                     ASIDE("op=min type=f64"),
                                     "n=9000 inner=40 op=sum type=f32",
                                     "n=16385 inner=5 lines=3 op=sum exclusive=1 type=f64",
                                     "n=270001 inner=2 op=sum type=f32",
                                     "n=270001 inner=3 op=sum type=i16",
                                     NULL};
static const char *const heavy[] = {"n=500003 op=sum type=f32", "n=100003 lines=5 op=min type=i64",
                                    "n=270001 op=sum exclusive=1 type=f64", NULL};
static const char *const bench[] = {"n=268435456 op=sum type=f32",
                                    "n=16777216 op=sum type=f32",
                                    "n=1048576 op=sum type=f32",
                                    "n=8192 op=sum type=f32",
                                    "n=1024 op=sum type=f32",
                                    "n=134217728 op=sum type=f64",
                                    "n=268435456 op=sum type=u32",
                                    "n=268435456 op=max type=f32",
                                    "n=268435456 op=sum exclusive=1 type=f32",
                                    "n=16384 op=sum type=f32 lines=16384",
                                    "n=256 op=sum type=f32 lines=1048576",
                                    "n=8 op=sum type=f32 lines=4194304",
                                    "n=4096 op=sum type=f32 inner=4096",
                                    NULL};
static const char *const explain[] = {
    "n=65536 op=sum type=f32",         "n=65536 op=sum type=f64",         "n=65536 op=max type=u32",
    "n=1024 op=sum type=f32 lines=64", "n=1024 op=sum type=f32 inner=64", NULL};
static const char *const picture[] = {"n=128 op=sum", "n=16 op=sum inner=64", NULL};
static const char *const tour[] = {"n=16777216 op=sum type=f32",
                                   "n=1024 op=sum type=f32 lines=8192", NULL};

const rung_cases scan_cases = {.operation = "scan",
                               .keys = keys,
                               .verify = verify,
                               .heavy = heavy,
                               .bench = bench,
                               .explain = explain,
                               .picture = picture,
                               .tour = tour,
                               .make = make,
                               .drop = drop,
                               .expect = scan_expect,
                               .check = scan_check};
