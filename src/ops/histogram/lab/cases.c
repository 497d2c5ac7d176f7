/* Cases of histogram: lines such as "n=1000 bins=256 kind=even type=f32 rows=1 data=random". */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "core/random.h"
#include "ops/histogram/lab/cases.h"

static const char *const kinds[] = {"modulo", "even", "edges", "bytes", NULL};
static const char *const types[] = {"u8",  "i8",  "u16",  "i16", "i32", "u32",
                                    "i64", "f16", "bf16", "f32", "f64", NULL};
static const char *const datas[] = {"random", "edges",       "special", "equal",
                                    "sorted", "alternating", "whole",   NULL};
enum { RANDOM, EDGES, SPECIAL, EQUAL, SORTED, ALTERNATING, WHOLE };
enum { TYPE_U32 = 5, BY_TYPE = -1 };
#define FLUSH ((int64_t)1 << 31)

/* ---- inputs ---------------------------------------------------------------------------------- */

static char *element(rung_dtype dtype, void *data, int64_t at) {
  return (char *)data + at * (int64_t)rung_dtype_bytes(dtype);
}

static void put_integer(rung_dtype dtype, void *data, int64_t at, uint64_t value) {
  rung_traits_of(dtype)->store_integer(element(dtype, data, at), (int64_t)value);
}

/* A real number as the nearest element there is to it; of integers those beyond 2^62 wrap. */
static void put_real(rung_dtype dtype, void *data, int64_t at, double value) {
  if (rung_dtype_is_float(dtype))
    rung_traits_of(dtype)->store(element(dtype, data, at), value);
  else
    put_integer(dtype, data, at,
                !(fabs(value) <= 0x1p62) ? 0 : (uint64_t)(int64_t)nearbyint(value));
}

/* The neighbour of an element, up or down: of a float, the next of its bits. */
static void nudge(rung_dtype dtype, void *data, int64_t at, bool up) {
  const rung_traits *traits = rung_traits_of(dtype);
  char *to = element(dtype, data, at);
  if (traits->kind != RUNG_FLOAT) {
    traits->store_integer(to, (int64_t)((uint64_t)traits->load_integer(to) + (up ? 1 : -1)));
    return;
  }
  const uint64_t sign = (uint64_t)1 << (8 * traits->bytes - 1);
  uint64_t bits = 0;
  memcpy(&bits, to, traits->bytes);
  if ((bits & ~sign) == 0)
    bits = (up ? 0 : sign) | 1;
  else
    bits += ((bits & sign) == 0) == up ? 1 : -1;
  memcpy(to, &bits, traits->bytes);
}

static void put_special(rung_dtype dtype, void *data, int64_t at, rung_random *random) {
  static const double reals[] = {0.0,       -0.0,     1.0,       -1.0,       0.5,    0x1p-149,
                                 -0x1p-149, 0x1p-126, 0x1p-1074, -0x1p-1074, 3.4e38, -3.4e38};
  static const uint64_t integers[] = {0,          1,          UINT64_MAX, (uint64_t)INT64_MAX,
                                      0x80000000, 0x7fffffff, 0xffffffff, (uint64_t)INT64_MIN,
                                      127,        128,        255,        0x1fffffffffffff};
  const int k = (int)(rung_random_next(random) >> 32) & 15;
  const rung_traits *traits = rung_traits_of(dtype);
  if (!rung_dtype_is_float(dtype))
    put_integer(dtype, data, at, integers[k % 12]);
  else if (traits->bytes == 2 && (k == 5 || k == 6))
    put_real(dtype, data, at, k == 5 ? traits->tiny : -traits->tiny);
  else if (k < 12)
    put_real(dtype, data, at, reals[k]);
  else
    put_real(dtype, data, at,
             k == 12   ? (double)INFINITY
             : k == 13 ? -(double)INFINITY
                       : (double)NAN);
}

typedef struct request {
  int64_t n, bins, rows, outside, flush;
  int kind, type, data;
  double low, high;
} request;

static double edge_of(const rung_case *test_case, int k) {
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  const double *edges = (const double *)test_case->arrays[HISTOGRAM_EDGES].data;
  if (edges != NULL) return edges[k];
  return p->rule.even ? histogram_even_edge(&p->rule, k) : k;
}

/* A row under way. A long one is filled by all processors, from where each element's draws begin.
 */
enum { PARTS = 64, SHORT = 1 << 16 };
typedef struct filling {
  const rung_case *test_case;
  const request *request;
  void *row;
  rung_random first;
} filling;

static uint64_t draws_of(const filling *all) {
  const histogram_problem *p = (const histogram_problem *)all->test_case->problem;
  const int data = all->request->data;
  if (data == EDGES || data == EQUAL || data == SORTED || data == ALTERNATING) return 0;
  return data == SPECIAL || data == WHOLE || rung_dtype_is_float(p->dtype) ? 1 : 2;
}

static void fill_part(void *arg, int part, int64_t from, int64_t until) {
  const filling *all = (const filling *)arg;
  const rung_case *test_case = all->test_case;
  const request *r = all->request;
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  const double first = edge_of(test_case, 0), span = edge_of(test_case, p->rule.bins) - first;
  void *row = all->row;
  rung_random drawn = all->first, *random = &drawn;
  (void)part;
  rung_random_skip(random, draws_of(all) * (uint64_t)from);
  for (int64_t k = from; k < until; ++k) {
    if (r->data == SPECIAL) {
      put_special(p->dtype, row, k, random);
    } else if (r->data == EDGES) {
      put_real(p->dtype, row, k, edge_of(test_case, (int)(k / 3 % (p->rule.bins + 1))));
      if (k % 3 > 0) nudge(p->dtype, row, k, k % 3 == 1);
    } else if (r->data == EQUAL) {
      put_real(p->dtype, row, k, first + 0.37 * span);
    } else if (r->data == SORTED) {
      put_real(p->dtype, row, k, first + span * ((double)k / (double)p->columns));
    } else if (r->data == ALTERNATING) {
      put_real(p->dtype, row, k, first + span * (k % 2 ? 0.13 : 0.91));
    } else if (r->data == WHOLE) {
      put_real(p->dtype, row, k, floor(first + span * rung_random_double(random)));
    } else if (!rung_dtype_is_float(p->dtype) && rung_random_next(random) >> 63) {
      put_integer(p->dtype, row, k, rung_random_next(random));
    } else {
      put_real(p->dtype, row, k, first + span * (1.002 * rung_random_double(random) - 0.001));
    }
  }
}

static void fill_row(const rung_case *test_case, const request *r, void *row, rung_random *random) {
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  const int parts = p->columns < SHORT ? 1 : PARTS;
  filling all = {.test_case = test_case, .request = r, .row = row, .first = *random};
  rung_parallel_range(parts == 1 ? 1 : rung_processors(), p->columns, parts, fill_part, &all);
  rung_random_skip(random, draws_of(&all) * (uint64_t)p->columns);
}

static void fill(const rung_case *test_case, const request *r) {
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  const size_t bytes = (size_t)p->columns * rung_dtype_bytes(p->dtype);
  char *data = test_case->arrays[HISTOGRAM_IN].data;
  rung_random random = {test_case->seed};
  for (int64_t i = 0; i < p->rows && p->columns > 0; ++i)
    if (i < HISTOGRAM_BASE)
      fill_row(test_case, r, data + (size_t)i * bytes, &random);
    else
      memcpy(data + (size_t)i * bytes, data + (size_t)(i % HISTOGRAM_BASE) * bytes, bytes);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void default_range(rung_dtype dtype, double *low, double *high) {
  const rung_traits *traits = rung_traits_of(dtype);
  const bool is_float = traits->kind == RUNG_FLOAT;
  *low = is_float ? 0 : traits->least;
  *high = is_float ? 1 : traits->largest + 1;
}

static bool has_range(const void *request_) {
  const request *r = (const request *)request_;
  return r->kind == RUNG_BINS_EVEN || r->kind == RUNG_BINS_EDGES;
}

static bool has_flush(const void *request_) {
  return ((const request *)request_)->flush != FLUSH;
}

static const rung_key keys[] = {
    RUNG_INTEGER(request, n, 0, HISTOGRAM_MOST, 1000, .name = "n", .help = "elements to a row"),
    RUNG_INTEGER(request, bins, 1, RUNG_MAX_BINS, 0, .name = "bins", .help = "how many",
                 .depends = "64; 256 of bytes"),
    RUNG_CHOICE(request, kind, BY_TYPE, .name = "kind", .names = kinds, .help = "of bins",
                .depends = "modulo of integers, even of floats"),
    RUNG_CHOICE(request, type, TYPE_U32, .name = "type", .names = types, .help = "of the elements"),
    RUNG_INTEGER(request, rows, 1, HISTOGRAM_MOST, 1, .name = "rows", .help = "histograms"),
    RUNG_CHOICE(request, data, RANDOM, .name = "data", .names = datas,
                .help = "the elements' values; edges: every edge and the numbers next to it; "
                        "whole: random whole numbers"),
    RUNG_REAL(request, low, -1e308, 1e308, NAN, .name = "low", .help = "the first edge",
              .depends = "0 of floats, the type's least", .shown = has_range),
    RUNG_REAL(request, high, -1e308, 1e308, NAN, .name = "high", .help = "the last edge",
              .depends = "1 of floats, the type's largest and one more", .shown = has_range),
    RUNG_INTEGER(request, outside, 0, 1, 1, .name = "outside",
                 .help = "1: what falls outside is asked for too", .shown = has_range),
    RUNG_INTEGER(request, flush, 1, FLUSH, FLUSH, .name = "flush",
                 .help = "so many elements at most are counted in 32 bits", .shown = has_flush),
    {0}};

static rung_status read_line(const char *text, request *r, rung_error *error) {
  rung_dtype dtype = RUNG_U32;
  rung_status status = rung_keys_read(keys, text, r, error);
  if (status != RUNG_OK) return status;
  rung_dtype_named(types[r->type], &dtype);
  double low, high;
  default_range(dtype, &low, &high);
  if (isnan(r->low)) r->low = low;
  if (isnan(r->high)) r->high = high;
  if (r->kind == BY_TYPE) r->kind = rung_dtype_is_float(dtype) ? RUNG_BINS_EVEN : RUNG_BINS_MODULO;
  if (r->bins == 0) r->bins = r->kind == RUNG_BINS_BYTES ? 256 : 64;
  return RUNG_OK;
}

static rung_status make_arrays(rung_case *test_case, const request *r, const double *edges,
                               rung_error *error) {
  const histogram_problem *p = (const histogram_problem *)test_case->problem;
  int64_t count = 0, bytes = 0;
  if (!rung_multiply(p->rows, p->columns, &count) || !rung_multiply(count, 8, &bytes))
    return rung_fail(error, RUNG_TOO_LARGE, "%s has more bytes than fit in 64 bits",
                     test_case->label);
  bytes = count * (int64_t)rung_dtype_bytes(p->dtype);
  void *data = count > 0 ? malloc((size_t)bytes) : NULL;
  if (data == NULL && count > 0)
    return rung_fail(error, RUNG_OUT_OF_MEMORY,
                     "%s needs %" PRId64 " bytes of memory for its input", test_case->label, bytes);
  const int64_t in[2] = {p->rows, p->columns}, counts[2] = {p->rows, p->rule.bins},
                outside[2] = {p->rows, r->outside ? HISTOGRAM_OUTER : 0}, given[1] = {r->bins + 1},
                none[1] = {0};
  test_case->arrays[HISTOGRAM_IN] = rung_view_compact(data, p->dtype, 2, in);
  test_case->arrays[HISTOGRAM_EDGES] =
      rung_view_compact((void *)edges, RUNG_F64, 1, edges != NULL ? given : none);
  test_case->arrays[HISTOGRAM_COUNTS] = rung_view_compact(NULL, RUNG_I64, 2, counts);
  test_case->arrays[HISTOGRAM_OUTSIDE] = rung_view_compact(NULL, RUNG_I64, 2, outside);
  return RUNG_OK;
}

/* Edges that come closer and closer, from low to high. */
static double *make_edges(const request *r) {
  double *edges = (double *)malloc((size_t)(r->bins + 1) * sizeof *edges);
  for (int64_t k = 0; k <= r->bins && edges != NULL; ++k) {
    const double at = (double)k / (double)r->bins;
    edges[k] = r->low + (r->high - r->low) * (0.5 * at + 0.5 * at * at);
  }
  return edges;
}

static rung_status make_problem(rung_case *test_case, const request *r, rung_error *error) {
  double *edges = r->kind == RUNG_BINS_EDGES ? make_edges(r) : NULL;
  histogram_problem *problem = (histogram_problem *)malloc(sizeof *problem);
  test_case->problem = problem;
  rung_status status = RUNG_OK;
  if (problem == NULL || (edges == NULL && r->kind == RUNG_BINS_EDGES))
    status = rung_fail(error, RUNG_OUT_OF_MEMORY, "host memory ran out");
  const rung_bins bins = {0, (rung_bins_kind)r->kind, r->bins, r->low, r->high, edges};
  if (status == RUNG_OK)
    status = histogram_problem_of(error, &bins, test_case->types.in, r->rows, r->n, problem);
  if (status == RUNG_OK) problem->flush = r->flush;
  if (status == RUNG_OK) status = make_arrays(test_case, r, edges, error);
  if (status != RUNG_OK) {
    free(edges);
    free(problem);
  }
  return status;
}

static rung_status make(const char *text, uint64_t seed, rung_case *test_case, rung_error *error) {
  request r;
  rung_dtype dtype = RUNG_F32;
  rung_status status = read_line(text, &r, error);
  if (status != RUNG_OK) return status;
  rung_dtype_named(types[r.type], &dtype);
  *test_case = (rung_case){.operation = rung_operation_named("histogram"),
                           .cases = &histogram_cases,
                           .seed = seed,
                           .types = {dtype, RUNG_U64, RUNG_I64},
                           .inputs = 2,
                           .outputs = 2,
                           .array_names = {"in", "edges", "counts", "outside"}};
  rung_keys_label(keys, &r, test_case->label, sizeof test_case->label);
  status = make_problem(test_case, &r, error);
  if (status != RUNG_OK) return status;
  const histogram_problem *problem = (const histogram_problem *)test_case->problem;
  test_case->bytes = problem->bytes;
  test_case->flops = problem->flops;
  fill(test_case, &r);
  return RUNG_OK;
}

static void drop(rung_case *test_case) {
  histogram_forget(test_case);
  free(test_case->arrays[HISTOGRAM_IN].data);
  free(test_case->arrays[HISTOGRAM_EDGES].data);
  free(test_case->problem);
  memset(test_case, 0, sizeof *test_case);
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define LENGTHS(rest)                                                                              \
  "n=0 " rest, "n=1 " rest, "n=2 " rest, "n=31 " rest, "n=32 " rest, "n=33 " rest, "n=1023 " rest, \
      "n=1025 " rest, "n=5003 " rest
#define KINDS(rest)                                                                       \
  "n=3000 data=equal " rest, "n=3001 data=sorted " rest, "n=3002 data=alternating " rest, \
      "n=2003 data=special " rest, "n=777 rows=5 " rest, "n=3 rows=70 " rest, "n=0 rows=3 " rest
/* Every way in which bins are found, of one type. */
#define INTEGERS(type)                                                                             \
  "n=3003 bins=8 type=" type, "n=3003 bins=7 data=special type=" type, "n=3003 bins=1 type=" type, \
      "n=3003 bins=1000 rows=2 type=" type, "n=3003 kind=even bins=10 type=" type,                 \
      "n=3003 kind=even bins=10 low=-3.5 high=77.25 data=edges type=" type,                        \
      "n=3003 kind=even bins=300 data=edges type=" type,                                           \
      "n=303 kind=even bins=30 low=100 high=100.0001 data=edges type=" type,                       \
      "n=3003 kind=edges bins=33 data=edges type=" type,                                           \
      "n=2003 kind=edges bins=9 data=special type=" type
#define FLOATS(type)                                                                      \
  KINDS("bins=16 type=" type), KINDS("kind=edges bins=300 type=" type),                   \
      "n=3073 bins=1024 data=edges type=" type, "n=3001 bins=1000 data=edges type=" type, \
      "n=3001 bins=77 low=-0.3 high=0.9 data=edges type=" type,                           \
      "n=3001 bins=1 low=-1 high=1 data=edges type=" type,                                \
      "n=3001 bins=99 low=1000000 high=1000001 data=edges type=" type,                    \
      "n=3001 bins=5 low=1 high=1.0000000000000009 data=edges type=" type,                \
      "n=3001 bins=12 low=0 high=1e-320 data=edges type=" type,                           \
      "n=3001 bins=64 low=-1e-40 high=1e-39 data=edges type=" type,                       \
      "n=3001 bins=700 low=-3e38 high=3e38 data=edges type=" type,                        \
      "n=3001 bins=12 outside=0 low=0.3 high=0.7 type=" type,                             \
      "n=3001 kind=edges bins=1 data=special type=" type

#define HALVES(type)                                                                     \
  KINDS("bins=16 type=" type), KINDS("kind=edges bins=300 type=" type),                  \
      "n=3073 bins=1024 data=edges type=" type, "n=3001 bins=100 data=edges type=" type, \
      "n=3001 bins=30 low=-0.3 high=0.9 data=edges type=" type,                          \
      "n=3001 bins=1 low=-1 high=1 data=edges type=" type,                               \
      "n=3001 bins=99 low=60000 high=61000 data=edges type=" type,                       \
      "n=3001 bins=70 low=-60000 high=60000 data=edges type=" type,                      \
      "n=3001 bins=64 low=-1e-7 high=1e-6 data=edges type=" type,                        \
      "n=3001 bins=12 outside=0 low=0.3 high=0.7 type=" type,                            \
      "n=3001 kind=edges bins=1 data=special type=" type, "n=20011 bins=10 type=" type

static const char *const verify[] = {
    "n=5000 bins=8 type=u32",
    "n=3000 bins=256 kind=even type=f32",
    LENGTHS("bins=8 type=u32"),
    LENGTHS("kind=bytes type=u8"),
    LENGTHS("bins=100 type=f32"),
    LENGTHS("bins=2000 type=u16"),
    KINDS("bins=6 type=u32"),
    KINDS("kind=bytes type=u8"),
    KINDS("kind=even bins=1024 type=u32"),
    INTEGERS("u8"),
    INTEGERS("u16"),
    INTEGERS("i32"),
    INTEGERS("u32"),
    INTEGERS("i64"),
    FLOATS("f32"),
    FLOATS("f64"),
    INTEGERS("i8"),
    INTEGERS("i16"),
    HALVES("f16"),
    HALVES("bf16"),
    "n=3001 bins=455 data=edges type=f16", /* DOUBLE, just so */
    "n=3001 bins=12 low=0 high=1e-33 data=edges type=bf16",
    "n=3000 bins=8 flush=100 type=u32",
    "n=3001 bins=300 flush=64 rows=3 type=f32",
    "n=3001 kind=bytes flush=1000 type=u8",
    "n=20011 bins=8 type=u32",
    "n=20011 bins=300 rows=3 type=u32",
    "n=20011 bins=10 rows=2 type=f32",
    "n=20011 bins=1000 data=edges type=f32",
    "n=20011 bins=1000 data=equal type=f64",
    "n=20011 bins=60000 type=i64",
    "n=20011 bins=500 kind=even low=-5 high=5e18 type=i64",
    "n=40001 bins=7 rows=2 type=u16",
    "n=40001 bins=300000 rows=2 data=sorted type=f32",
    "n=80003 kind=bytes rows=2 type=u8",
    "n=80003 kind=bytes data=equal type=u8",
    "n=140003 kind=even bins=100 type=f32",
    "n=5000 bins=9000 type=u32",
    "n=5000 bins=20000 type=f32 rows=2",
    "n=5000 bins=65536 type=u32",
    "n=5000 bins=65536 type=u16 kind=even",
    "n=300007 bins=65536 data=equal type=u32",
    "n=300007 bins=65536 kind=even data=alternating type=u16",
    "n=300007 bins=100000 kind=even data=sorted type=f32",
    "n=300007 bins=200000 data=equal type=i32",
    "n=300007 bins=66000 rows=2 data=edges type=f64",
    "n=20011 bins=100 rows=80 type=f32",
    "n=5003 bins=7 rows=70 type=i32",
    "n=1003 bins=16 rows=300 type=f32",
    "n=999 bins=300 rows=200 data=edges type=f64",
    "n=1111 bins=5 rows=150 type=u16",
    "n=20011 bins=16 low=0 high=16 data=whole type=f32",
    "n=20011 bins=4096 low=-2048 high=2048 data=whole type=f32",
    "n=20011 kind=even bins=16 low=0 high=16 data=whole type=i32",
    "n=20011 kind=even bins=1000 low=-7 high=993 data=whole type=i64",
    "n=20011 bins=10 low=0 high=10 data=whole type=f16",
    "n=3000 bins=400000 type=f64",
    "n=3000 bins=1048576 type=f32 data=edges",
    "n=3000 bins=1048576 kind=edges type=u32",
    NULL};
static const char *const bench[] = {"n=268435456 bins=8 type=u32",
                                    "n=268435456 kind=bytes type=u8",
                                    "n=268435456 kind=even bins=1024 type=u32",
                                    "n=268435456 kind=even bins=256 type=f32",
                                    "n=268435456 kind=even bins=256 type=f32 data=equal",
                                    "n=268435456 kind=edges bins=256 type=f32",
                                    "n=134217728 kind=even bins=256 type=f64",
                                    "n=268435456 kind=even bins=65536 type=u32",
                                    "n=268435456 kind=even bins=1048576 type=u32",
                                    "n=16384 rows=16384 kind=even bins=256 type=f32",
                                    "n=1024 bins=8 type=u32",
                                    "n=1048576 bins=8 type=u32",
                                    NULL};
static const char *const explain[] = {"n=65536 bins=8 type=u32", "n=65536 kind=bytes type=u8",
                                      "n=65536 kind=even bins=256 type=f32",
                                      "n=65536 kind=even bins=256 data=equal type=f32", NULL};
static const char *const picture[] = {"n=128 bins=8 type=u32", NULL};
static const char *const tour[] = {"n=16777216 bins=8 type=u32", "n=16777216 kind=bytes type=u8",
                                   "n=16777216 kind=even bins=256 type=f32", NULL};

const rung_cases histogram_cases = {.operation = "histogram",
                                    .keys = keys,
                                    .verify = verify,
                                    .bench = bench,
                                    .explain = explain,
                                    .picture = picture,
                                    .tour = tour,
                                    .make = make,
                                    .drop = drop,
                                    .expect = histogram_expect,
                                    .check = histogram_check};
