/* rung_histogram() against numpy.histogram, numpy.digitize and numpy.bincount: cases written down
 * (numpy_cases.py made them), on every rung of the CPU and some of the simulated GPU. */
#include "ops/histogram/outside.h"

typedef struct numpy_case {
  rung_bins_kind kind;
  DLDataType type;
  int count;
  double low, high;
  const double *edges;   /* count + 1 of them, but of modulo */
  const int64_t *counts; /* count, and after them below, above, NaN */
} numpy_case;

#include "ops/histogram/numpy_cases.h"

enum { CASES = sizeof numpy_cases / sizeof *numpy_cases, MOST = 1000 };

/* The numbers of a case, in its own type. */
typedef union numbers {
  float f32[MOST];
  double f64[MOST];
  uint8_t u8[MOST];
  uint16_t u16[MOST];
  uint32_t u32[MOST];
  int64_t i64[MOST];
} numbers;

static void put_integer(const numpy_case *c, numbers *x, int i, int64_t value) {
  if (c->type.bits == 8)
    x->u8[i] = (uint8_t)value;
  else if (c->type.bits == 16)
    x->u16[i] = (uint16_t)value;
  else if (c->type.bits == 32)
    x->u32[i] = (uint32_t)value;
  else
    x->i64[i] = value;
}

static void put_real(const numpy_case *c, numbers *x, int i, double value, int side) {
  const double to = side > 0 ? INFINITY : -INFINITY;
  if (c->type.bits == 32)
    x->f32[i] = side ? nextafterf((float)value, (float)to) : (float)value;
  else
    x->f64[i] = side ? nextafter(value, to) : value;
}

static int make_numbers(const numpy_case *c, numbers *x) {
  static const int sides[] = {0, 1, -1};
  const bool real = c->type.code == kDLFloat;
  int n = 0;
  for (int k = 0; k <= c->count && c->kind != RUNG_BINS_MODULO; ++k)
    for (int s = 0; s < 3; ++s, ++n)
      if (real)
        put_real(c, x, n, c->edges[k], sides[s]);
      else
        put_integer(c, x, n, (int64_t)floor(c->edges[k]) + sides[s]);
  uint32_t drawn = 1;
  for (int i = 0; i < 300; ++i, ++n) {
    drawn = drawn * 1664525u + 1013904223u;
    const double span = c->high - c->low;
    if (real)
      put_real(c, x, n, c->low - 0.1 * span + 1.2 * span * (drawn / 4294967296.0), 0);
    else
      put_integer(c, x, n, drawn);
  }
  const double last[] = {-0.0, (double)NAN, (double)INFINITY, -(double)INFINITY};
  for (int i = 0; i < 4 && real; ++i, ++n) put_real(c, x, n, last[i], 0);
  return n;
}

static void counts_as_numpy_does(void **state) {
  (void)state;
  static numbers x;
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (int i = 0; i < CASES && context != NULL; ++i) {
      const numpy_case *c = &numpy_cases[i];
      const rung_bins bins = {0, c->kind, c->count, c->low, c->high, c->edges};
      int64_t found[64];
      count_all(context, &bins, c->type, &x, make_numbers(c, &x), found, places[p].rung);
      for (int k = 0; k < c->count + 3; ++k)
        if (found[k] != c->counts[k])
          fail_msg("case %d, rung %s, bin %d: %ld, and NumPy has %ld", i, places[p].rung, k,
                   (long)found[k], (long)c->counts[k]);
    }
    rung_close(context);
  }
}

/* In every second double or float of `memory`, from the last one backwards. */
static void edges_are_numpys(void **state) {
  (void)state;
  double memory[256];
  int64_t step[1] = {-2}, extent[1];
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (int i = 0; i < CASES && context != NULL; ++i) {
      const numpy_case *c = &numpy_cases[i];
      const rung_bins bins = {0, c->kind, c->count, c->low, c->high, c->edges};
      const bool narrow =
          c->type.code == kDLFloat && c->type.bits == 32 && c->kind == RUNG_BINS_EVEN;
      const int last = 2 * c->count;
      rung_call call = {.used = "none"};
      memset(memory, 0x5a, sizeof memory);
      extent[0] = c->count + 1;
      DLTensor edges =
          rung_array((char *)memory + last * (narrow ? 4 : 8), narrow ? f32 : f64, 1, extent);
      edges.strides = step;
      if (rung_bin_edges(context, &bins, &edges, &call) != RUNG_OK)
        fail_msg("%s", rung_last_error(context));
      assert_null(call.used);
      for (int k = 0; k <= c->count; ++k) {
        const double found = narrow ? ((float *)memory)[last - 2 * k] : memory[last - 2 * k];
        const double wanted = c->kind == RUNG_BINS_MODULO ? k : c->edges[k];
        if (found != wanted)
          fail_msg("case %d, edge %d: %a, and NumPy has %a", i, k, found, wanted);
        if (k > 0) assert_int_equal(((char *)memory)[(last - 2 * k + 1) * (narrow ? 4 : 8)], 0x5a);
      }
    }
    rung_close(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_as_numpy_does),
                                     cmocka_unit_test(edges_are_numpys)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
