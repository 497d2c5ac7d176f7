/* Cases of reduce: lines such as "n=1000 op=sum type=f32 outer=1 inner=1 data=random". */
#include <stdlib.h>
#include <string.h>

#include "lab/numbers.h"
#include "ops/reduce/lab/cases.h"

static const char *const ops[] = {"sum", "min", "max", "mean", NULL};
static const char *const types[] = {"f32", "f64",  "u8", "i32", "u32", "i64", "u64",
                                    "f16", "bf16", "i8", "i16", "u16", NULL};

/* ---- inputs ---------------------------------------------------------------------------------- */

static rung_numbers line_of(const rung_case *test_case, int64_t j) {
  const reduce_problem *p = (const reduce_problem *)test_case->problem;
  const int64_t at = j / p->inner * p->columns * p->inner + j % p->inner;
  char *data = test_case->arrays[REDUCE_IN].data;
  if (p->columns > 0) data += at * (int64_t)rung_dtype_bytes(p->dtype);
  return (rung_numbers){p->dtype, data, p->inner, p->columns};
}

static void fill_all(const rung_case *test_case, rung_numbers_kind kind) {
  const reduce_problem *p = (const reduce_problem *)test_case->problem;
  rung_random random = {test_case->seed};
  for (int64_t j = 0; j < p->outer * p->inner; ++j) {
    const rung_numbers to = line_of(test_case, j), from = line_of(test_case, j % REDUCE_BASE);
    if (j < REDUCE_BASE)
      rung_numbers_fill(&to, kind, j, &random);
    else
      rung_numbers_copy(&to, &from);
  }
}

/* ---- making ---------------------------------------------------------------------------------- */

typedef struct request {
  int64_t n, outer, inner;
  int op, type, kind;
} request;

static const rung_key keys[] = {
    RUNG_INTEGER(request, n, 0, REDUCE_MOST, 1000, .name = "n", .help = "elements to a result"),
    RUNG_CHOICE(request, op, RUNG_SUM, .name = "op", .names = ops, .help = "what is computed"),
    RUNG_CHOICE(request, type, 0, .name = "type", .names = types, .help = "of the elements"),
    RUNG_INTEGER(request, outer, 1, REDUCE_MOST, 1, .name = "outer",
                 .help = "segments, one after the other in memory"),
    RUNG_INTEGER(request, inner, 1, REDUCE_MOST, 1, .name = "inner",
                 .help = "segments side by side: above 1 the middle axis of (outer, n, inner)"),
    RUNG_CHOICE(request, kind, RUNG_NUMBERS_RANDOM, .name = "data", .names = rung_numbers_kinds,
                .help = "the elements' values"),
    {0}};

static rung_status make_arrays(rung_case *test_case, rung_error *error) {
  const reduce_problem *p = (const reduce_problem *)test_case->problem;
  const int64_t count = p->outer * p->columns * p->inner;
  const size_t bytes = (size_t)count * rung_dtype_bytes(p->dtype);
  void *data = count > 0 ? malloc(bytes) : NULL;
  if (data == NULL && count > 0)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s needs %zu bytes of memory for its input",
                     test_case->label, bytes);
  const int64_t shape[3] = {p->outer, p->columns, p->inner}, kept[2] = {p->outer, p->inner};
  const bool across = p->form == REDUCE_ACROSS;
  test_case->arrays[REDUCE_IN] = rung_view_compact(data, p->dtype, across ? 3 : 2, shape);
  test_case->arrays[REDUCE_OUT] = rung_view_compact(NULL, p->result, across ? 2 : 1, kept);
  return RUNG_OK;
}

static rung_status make(const char *text, uint64_t seed, rung_case *test_case, rung_error *error) {
  request r;
  rung_dtype dtype = RUNG_F32;
  rung_status status = rung_keys_read(keys, text, &r, error);
  if (status != RUNG_OK) return status;
  rung_dtype_named(types[r.type], &dtype);
  *test_case = (rung_case){.operation = rung_operation_named("reduce"),
                           .cases = &reduce_cases,
                           .seed = seed,
                           .types = reduce_types_of((rung_reduction)r.op, dtype),
                           .inputs = 1,
                           .outputs = 1,
                           .array_names = {"in", "out"}};
  rung_keys_label(keys, &r, test_case->label, sizeof test_case->label);
  reduce_problem *problem = (reduce_problem *)malloc(sizeof *problem);
  if (problem == NULL) return rung_fail(error, RUNG_OUT_OF_MEMORY, "host memory ran out");
  test_case->problem = problem;
  status =
      reduce_problem_of(error, (rung_reduction)r.op, dtype,
                        r.inner > 1 ? REDUCE_ACROSS : REDUCE_LINES, r.outer, r.n, r.inner, problem);
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
  reduce_forget(test_case);
  free(test_case->arrays[REDUCE_IN].data);
  free(test_case->problem);
  memset(test_case, 0, sizeof *test_case);
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define LENGTHS(rest)                                                                    \
  "n=1 " rest, "n=2 " rest, "n=31 " rest, "n=32 " rest, "n=33 " rest, "n=2047 " rest,    \
      "n=2049 " rest, "n=5003 " rest, "n=32767 " rest, "n=32768 " rest, "n=32769 " rest, \
      "n=65541 " rest
#define SHORTER(rest) "n=1 " rest, "n=33 " rest, "n=1021 " rest, "n=32769 " rest
#define SHAPES(rest)                                                                         \
  "n=777 outer=5 " rest, "n=3 outer=70 " rest, "n=5 inner=2 " rest, "n=100 inner=300 " rest, \
      "n=2050 outer=3 inner=7 " rest, "n=32769 inner=3 " rest
#define KINDS(rest)                                                                     \
  "n=1 outer=12 data=special " rest, "n=7 outer=33 data=special " rest,                 \
      "n=2050 outer=12 data=special " rest, "n=90 outer=2 inner=33 data=special " rest, \
      "n=4099 data=equal " rest, "n=4009 data=alternating " rest, "n=3000 data=permutation " rest
#define INTEGERS(type)                                                                             \
  SHORTER("op=sum type=" type), SHAPES("op=sum type=" type), SHORTER("op=min type=" type),         \
      "n=777 outer=5 op=max type=" type, "n=300 inner=70 op=max type=" type,                       \
      "n=2050 outer=12 data=special op=min type=" type,                                            \
      "n=2050 outer=12 data=special op=max type=" type,                                            \
      "n=2050 outer=12 data=special op=sum type=" type, "n=99 outer=3 inner=5 op=mean type=" type, \
      "n=5000 data=permutation op=mean type=" type, "n=0 outer=3 op=sum type=" type,               \
      "n=0 inner=3 op=mean type=" type
#define FLOATS(type)                                                                               \
  LENGTHS("op=sum type=" type), SHAPES("op=sum type=" type), KINDS("op=sum type=" type),           \
      "n=32801 outer=2 op=sum type=" type, KINDS("op=min type=" type), KINDS("op=max type=" type), \
      SHORTER("op=min type=" type), SHAPES("op=max type=" type), KINDS("op=mean type=" type),      \
      "n=777 outer=5 op=mean type=" type, "n=0 outer=2 op=sum type=" type,                         \
      "n=0 inner=3 op=sum type=" type, "n=0 outer=3 op=mean type=" type
/* A half has few digits and a short range: what it is added up from decides. */
#define HALVES(type)                                                                         \
  SHORTER("op=sum type=" type), SHAPES("op=sum type=" type), KINDS("op=sum type=" type),     \
      SHORTER("op=min type=" type), SHAPES("op=max type=" type), KINDS("op=min type=" type), \
      "n=2050 outer=12 data=special op=max type=" type, "n=777 outer=5 op=mean type=" type,  \
      "n=2050 outer=12 data=special op=mean type=" type,                                     \
      "n=5000 data=permutation op=mean type=" type, "n=0 outer=2 op=sum type=" type,         \
      "n=0 inner=3 op=mean type=" type

/* Enough lines for a device to share out, along and side by side. */
#define MANY(rest)                                                                               \
  "n=1 outer=300 " rest, "n=7 outer=600 " rest, "n=8 outer=1100 " rest, "n=100 outer=300 " rest, \
      "n=1000 outer=150 " rest, "n=8 inner=600 " rest, "n=96 outer=4 inner=36 " rest,            \
      "n=2050 inner=40 " rest

static const char *const verify[] = {"n=1000 op=sum type=f32",
                                     "n=20011 op=max type=i32",

                                     "n=32800 inner=12 data=special op=sum type=f32",
                                     "n=70000 data=alternating op=sum type=f32",

                                     "n=70000 data=alternating op=sum type=f64",
                                     "n=32801 outer=2 op=sum type=u64",
                                     FLOATS("f32"),
                                     FLOATS("f64"),
                                     INTEGERS("u8"),
                                     INTEGERS("i32"),
                                     INTEGERS("u32"),
                                     INTEGERS("i64"),
                                     INTEGERS("u64"),
                                     INTEGERS("i8"),
                                     INTEGERS("u16"),
                                     INTEGERS("i16"),
                                     HALVES("f16"),
                                     HALVES("bf16"),
                                     MANY("op=sum type=f32"),
                                     "n=100 outer=300 op=sum type=f64",
                                     "n=2050 inner=40 op=sum type=f64",

                                     "n=96 outer=4 inner=36 op=mean type=f16",
                                     "n=100 outer=300 op=max type=i16",
                                     "n=8 inner=600 op=max type=i16",

                                     "n=40000 inner=12 op=mean type=f64",

                                     "n=32800 inner=12 data=special op=sum type=bf16",
                                     "n=70001 op=max type=bf16",
                                     "n=65541 outer=2 op=sum type=i8",
                                     NULL};
static const char *const heavy[] = {MANY("op=sum type=u8"),
                                    MANY("data=special op=min type=f32"),
                                    "n=32800 outer=12 data=special op=sum type=f32",
                                    "n=32800 outer=5 data=special op=sum type=f64",
                                    "n=2047 outer=140 op=sum type=f32",
                                    "n=2048 outer=140 op=sum type=f32",
                                    "n=70001 outer=3 op=sum type=f16",
                                    "n=7 outer=600 op=mean type=f16",
                                    NULL};
static const char *const bench[] = {"n=268435456 op=sum type=f32",
                                    "n=16777216 op=sum type=f32",
                                    "n=1048576 op=sum type=f32",
                                    "n=1024 op=sum type=f32",
                                    "n=134217728 op=sum type=f64",
                                    "n=268435456 op=sum type=u32",
                                    "n=268435456 op=max type=f32",
                                    "n=16384 op=sum type=f32 outer=16384",
                                    "n=16384 op=sum type=f32 inner=16384",
                                    "n=8 op=sum type=f32 outer=4194304",
                                    "n=128 op=sum type=f32 outer=1048576",
                                    "n=4096 op=sum type=f32 inner=4096",
                                    "n=8 op=sum type=f32 inner=4194304",
                                    "n=128 op=min type=f32 outer=64",
                                    "n=15360 op=mean type=f32 outer=15360",
                                    "n=15360 op=mean type=f64 outer=15360",
                                    NULL};
static const char *const explain[] = {"n=131072 op=sum type=f32",
                                      "n=131072 op=sum type=f64",
                                      "n=131072 op=max type=u32",
                                      "n=4096 op=mean type=f32 outer=64",
                                      "n=128 op=sum type=f32 outer=1024",
                                      "n=4096 op=sum type=f32 inner=64",
                                      NULL};
static const char *const picture[] = {"n=128 op=sum", "n=128 op=sum outer=64",
                                      "n=16 op=sum inner=64", NULL};
static const char *const tour[] = {"n=16777216 op=sum type=f32", "n=16777216 op=min type=f32",
                                   "n=4096 op=sum type=f32 inner=4096", NULL};

static const char *const timeline[] = {"n=128 op=min type=f32 outer=64", NULL};

const rung_cases reduce_cases = {.operation = "reduce",
                                 .keys = keys,
                                 .verify = verify,
                                 .heavy = heavy,
                                 .bench = bench,
                                 .explain = explain,
                                 .picture = picture,
                                 .timeline = timeline,
                                 .tour = tour,
                                 .make = make,
                                 .drop = drop,
                                 .expect = reduce_expect,
                                 .check = reduce_check};
