/* Histograms of 8- and 16-bit elements from outside, of all the values there are: given edges and
 * remainders find what they do in the same numbers of 32 bits, and even edges are rounded to the
 * elements' own type. */
#include "core/dtype.h"
#include "ops/histogram/outside.h"

enum { VALUES = 65536, SLOTS = 400 };

static uint8_t bytes[256];
static uint16_t halves[VALUES + 1];
static float floats[VALUES];
static int32_t integers[VALUES];

static void same_counts(const int64_t *found, const int64_t *wanted, int64_t count, int place,
                        const char *what) {
  for (int64_t k = 0; k < count; ++k)
    if (found[k] != wanted[k])
      fail_msg("%s, %s: slot %ld has %ld, not %ld", what, places[place].rung, (long)k,
               (long)found[k], (long)wanted[k]);
}

/* Bins by hand: the last edge that is not above x, the last bin closed. */
static void count_by_edges(const double *edges, int count, const float *x, int n, int64_t *wanted) {
  memset(wanted, 0, (size_t)(count + 3) * sizeof *wanted);
  for (int i = 0; i < n; ++i) {
    int k = count;
    while (k >= 0 && !(edges[k] <= (double)x[i])) --k;
    if (isnan(x[i]))
      wanted[count + 2] += 1;
    else if (k < 0)
      wanted[count] += 1;
    else if (k == count && (double)x[i] > edges[count])
      wanted[count + 1] += 1;
    else
      wanted[k < count ? k : count - 1] += 1;
  }
}

/* Even edges as Python makes them: k * ((high - low) / n) + low, and `struct` packs them as 'e' (or
 * the nearest bf16 is looked for). */
static const struct {
  int count;
  double low, high;
  uint16_t f16[12], bf16[12];
} even[] = {
    {10,
     .1,
     .7,
     {0x2e66, 0x311f, 0x330a, 0x347b, 0x3571, 0x3666, 0x375c, 0x3829, 0x38a4, 0x391f, 0x399a},
     {0x3dcd, 0x3e24, 0x3e61, 0x3e8f, 0x3eae, 0x3ecd, 0x3eec, 0x3f05, 0x3f14, 0x3f24, 0x3f33}},
    {7,
     -.3,
     .9,
     {0xb4cd, 0xb01d, 0x297c, 0x32db, 0x362c, 0x3875, 0x39d4, 0x3b33},
     {0xbe9a, 0xbe04, 0x3d30, 0x3e5b, 0x3ec5, 0x3f0f, 0x3f3b, 0x3f66}},
    {5,
     60000,
     61000,
     {0x7b53, 0x7b59, 0x7b60, 0x7b66, 0x7b6c, 0x7b72},
     {0x476a, 0x476b, 0x476c, 0x476d, 0x476e, 0x476e}}, /* the last bin is a point */
};

static void even_edges_are_rounded(void **state) {
  (void)state;
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (size_t c = 0; c < 2 * sizeof even / sizeof *even && context != NULL; ++c) {
      const bool bfloat = c % 2;
      const rung_dtype dtype = bfloat ? RUNG_BF16 : RUNG_F16;
      const int count = even[c / 2].count;
      int64_t found[SLOTS], wanted[SLOTS];
      double edges[12];
      for (int i = 0; i < VALUES; ++i) {
        halves[i] = (uint16_t)i;
        floats[i] = (float)rung_number_at(dtype, halves, i);
      }
      for (int k = 0; k <= count; ++k)
        edges[k] = rung_number_at(dtype, bfloat ? even[c / 2].bf16 : even[c / 2].f16, k);
      count_by_edges(edges, count, floats, VALUES, wanted);
      const rung_bins bins = {0, RUNG_BINS_EVEN, count, even[c / 2].low, even[c / 2].high, NULL};
      count_all(context, &bins, bfloat ? bf16 : f16, halves, VALUES, found, places[p].rung);
      same_counts(found, wanted, count + 3, p, rung_dtype_name(dtype));
    }
    rung_close(context);
  }
}

/* `wide` are the numbers of `narrow`. */
static void as_wide(rung_context *context, int p, const rung_bins *bins, DLDataType type,
                    const void *narrow, DLDataType wide_type, const void *wide, int n) {
  int64_t found[SLOTS], wanted[SLOTS];
  rung_context *cpu = open_place(0);
  count_all(cpu, bins, wide_type, wide, n, wanted, places[0].rung);
  rung_close(cpu);
  count_all(context, bins, type, narrow, n, found, places[p].rung);
  same_counts(found, wanted, bins->count + 3, p, "as wide");
}

static void others_are_those_of_wide_numbers(void **state) {
  (void)state;
  static const double edges[] = {-300, -17.5, -1, -0x1p-20, 0, 0x1p-24, .1, 1, 2.5, 100, 40000};
  const rung_bins given = {0, RUNG_BINS_EDGES, 10, 0, 0, edges}, modulo = {.count = 7},
                  spread = {0, RUNG_BINS_EVEN, 33, -90.5, 77.25, NULL};
  const rung_bins *all[] = {&given, &modulo, &spread};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    if (context == NULL) continue;
    for (int b = 0; b < 3; ++b) {
      for (int i = 0; i < VALUES; ++i) halves[i] = (uint16_t)i, integers[i] = (int16_t)i;
      as_wide(context, p, all[b], i16, halves, i32, integers, VALUES);
      for (int i = 0; i < 256; ++i) bytes[i] = (uint8_t)i, integers[i] = (int8_t)i;
      as_wide(context, p, all[b], i8, bytes, i32, integers, 256);
    }
    for (int bfloat = 0; bfloat < 2; ++bfloat) {
      for (int i = 0; i < VALUES; ++i)
        floats[i] = (float)rung_number_at(bfloat ? RUNG_BF16 : RUNG_F16, halves, i);
      as_wide(context, p, &given, bfloat ? bf16 : f16, halves, f32, floats, VALUES);
    }
    rung_close(context);
  }
}

/* Every second element backwards, and rows apart. */
static void views(void **state) {
  (void)state;
  const rung_bins bins = {0, RUNG_BINS_EVEN, 9, -2, 7, NULL};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    int64_t shape[2] = {5, 600}, strides[2] = {1300, -2}, count[2] = {5, 9}, found[45], wanted[45];
    if (context == NULL) continue;
    for (int i = 0; i < VALUES; ++i) halves[i] = (uint16_t)(i * 40503u);
    memset(wanted, 0, sizeof wanted);
    for (int r = 0; r < 5; ++r)
      for (int i = 0; i < 600; ++i) {
        const double x = rung_number_at(RUNG_F16, halves, r * 1300 + 1199 - 2 * i);
        if (x >= -2 && x <= 7) wanted[r * 9 + (x == 7 ? 8 : (int)floor(x + 2))] += 1;
      }
    DLTensor in = tensor(halves + 1199, f16, 2, shape, strides),
             counts = tensor(found, i64, 2, count, NULL);
    rung_call call = {.rung = places[p].rung};
    assert_int_equal(rung_histogram(context, &bins, &in, &counts, NULL, &call), RUNG_OK);
    same_counts(found, wanted, 45, p, "views");
    rung_close(context);
  }
}

/* Bins beyond the type's range have no edges; remainders are of integers. */
static void refuses(void **state) {
  (void)state;
  rung_context *context = open_place(0);
  int64_t shape[1] = {4}, count[1] = {5}, counts[5] = {7, 7, 7, 7, 7};
  const rung_bins far = {0, RUNG_BINS_EVEN, 5, 0, 70000, NULL}, modulo = {.count = 5};
  DLTensor in = tensor(halves, f16, 1, shape, NULL), to = tensor(counts, i64, 1, count, NULL);
  assert_int_equal(rung_histogram(context, &far, &in, &to, NULL, NULL), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(rung_last_error(context),
                         "in holds f16; expected: numbers within its range, -6.6e+04"));
  assert_int_equal(rung_histogram(context, &modulo, &in, &to, NULL, NULL), RUNG_BAD_DTYPE);
  assert_non_null(strstr(rung_last_error(context), "expected: u8, i8, u16, i16, i32, u32 or i64"));
  for (int i = 0; i < 5; ++i) assert_int_equal(counts[i], 7);
  rung_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(even_edges_are_rounded),
      cmocka_unit_test(others_are_those_of_wide_numbers),
      cmocka_unit_test(views),
      cmocka_unit_test(refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
