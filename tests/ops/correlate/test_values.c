/* rung_correlate() and rung_convolve() from outside: what SciPy has; every result the chain that
 * rung.h states, by every rung, of views of every kind; and what a filter must be whatever the
 * order of arithmetic. */
#include <stdlib.h>

#include "core/half.h"
#include "core/random.h"
#include "ops/context.h"

static const char *const rungs[] = {NULL, "direct", "rows", "threads"};
enum { RUNGS = sizeof rungs / sizeof *rungs };

static const DLDataType types[] = {{kDLUInt, 8, 1},   {kDLUInt, 16, 1},  {kDLFloat, 16, 1},
                                   {kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLInt, 8, 1},
                                   {kDLInt, 16, 1},   {kDLInt, 32, 1}};
enum { U8, U16, F16, F32, F64, I8, I16, I32, IMAGES = I8, TYPES = I32 + 1 };

static double get(int type, const void *from) {
  switch (type) {
    case U8:
      return *(const uint8_t *)from;
    case U16:
      return *(const uint16_t *)from;
    case F16:
      return rung_f16_to_f32(*(const uint16_t *)from);
    case F32:
      return *(const float *)from;
    case F64:
      return *(const double *)from;
    case I8:
      return *(const int8_t *)from;
    case I16:
      return *(const int16_t *)from;
    default:
      return *(const int32_t *)from;
  }
}

/* A number rounded to a type of images; `of_f32`: one that a float has. */
static void put(int type, void *to, double value, bool of_f32) {
  const double most = type == U8 ? 255 : 65535;
  if (type == U8 || type == U16) value = value > 0 ? nearbyint(fmin(value, most)) : 0;
  if (type == U8)
    *(uint8_t *)to = (uint8_t)value;
  else if (type == U16)
    *(uint16_t *)to = (uint16_t)value;
  else if (type == F16)
    *(uint16_t *)to = of_f32 ? rung_f32_to_f16((float)value) : rung_f64_to_half(value, false);
  else if (type == F32)
    *(float *)to = (float)value;
  else
    *(double *)to = value;
}

/* ---- SciPy ------------------------------------------------------------------------------------
 */

typedef struct expectation {
  rung_edge edge;
  int reversed, rows, columns;
  int64_t origin[2];
  int result[20];
} expectation;
#include "ops/correlate/expected.h"
#include "ops/correlate/fold.h"

static void draw(double *to, int n, int less) {
  uint32_t x = 1;
  for (int i = 0; i < n; i++) {
    x = x * 1664525 + 1013904223;
    to[i] = (double)((int)((x >> 16) % 5) - less);
  }
}

static void compare(const expectation *e, const char *rung, int from, int to) {
  double image[HEIGHT * WIDTH], taps[12 * 12];
  char in[8 * HEIGHT * WIDTH], out[8 * HEIGHT * WIDTH], wanted[8];
  int64_t shape[2] = {HEIGHT, WIDTH}, of_taps[2] = {e->rows, e->columns};
  const int size = types[from].bits / 8, result = types[to].bits / 8;
  draw(image, HEIGHT * WIDTH, 0);
  draw(taps, e->rows * e->columns, 2);
  for (int i = 0; i < HEIGHT * WIDTH; i++) put(from, in + i * size, image[i], true);
  const rung_filter_model model = {
      .edge = e->edge, .edge_value = 3, .origin = {e->origin[0], e->origin[1]}};
  const DLTensor x = tensor(in, types[from], 2, shape, NULL),
                 kernel = tensor(taps, f64, 2, of_taps, NULL);
  DLTensor y = tensor(out, types[to], 2, shape, NULL);
  rung_call call = {.rung = rung};
  if ((e->reversed ? rung_convolve : rung_correlate)(context, &model, &x, &kernel, &y, &call))
    fail_msg("%s", rung_last_error(context));
  for (int i = 0; i < HEIGHT * WIDTH; i++) {
    put(to, wanted, e->result[i], true);
    if (get(to, out + i * result) != get(to, wanted))
      fail_msg("%s, edge %d, %d by %d from %d, %d, reversed %d: element %d is %g, and not %g",
               call.used, (int)e->edge, e->rows, e->columns, (int)e->origin[0], (int)e->origin[1],
               e->reversed, i, get(to, out + i * result), get(to, wanted));
  }
}

static void as_scipy_has_it(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof expectations / sizeof *expectations; k++)
    for (int from = 0; from < IMAGES; from++)
      for (int to = 0; to < IMAGES; to++)
        compare(&expectations[k], rungs[(k + (size_t)(from + to)) % RUNGS], from, to);
}

/* ---- any shape, any view ----------------------------------------------------------------------
 */

enum { BYTES = 1 << 16, EXTENT = 19 };
static double in_room[BYTES / 8], tap_room[BYTES / 8], out_room[BYTES / 8], kept[BYTES / 8];
static rung_random dice = {2013};

static int64_t throw(int64_t sides) {
  return (int64_t)(rung_random_double(&dice) * (double)sides);
}

/* An array somewhere in its room. */
typedef struct array {
  DLTensor tensor;
  int64_t shape[4], stride[4];
  int type;
} array;

/* Dimensions in any order, gaps, backwards, and, where it is only read, no step at all. */
static void lay_out(array *m, int type, void *room, int ndim, const int64_t *shape, bool written) {
  int order[4] = {0, 1, 2, 3};
  int64_t step = 1, first = 0;
  for (int d = ndim - 1; d > 0; d--) {
    const int64_t other = throw(3) ? d : throw(d + 1);
    const int swap = order[d];
    order[d] = order[other];
    order[other] = swap;
  }
  for (int d = ndim - 1; d >= 0; d--) {
    const int of = order[d];
    const int64_t way = throw(8);
    m->shape[of] = shape[of];
    m->stride[of] = way == 0 && !written ? 0 : way == 1 ? -step : step;
    if (way == 1 && shape[of] > 0) first += (shape[of] - 1) * step;
    step *= shape[of] > 0 ? shape[of] : 1;
    if (throw(4) == 0) step += 1 + throw(3);
  }
  m->type = type;
  m->tensor =
      tensor((char *)room + first * (types[type].bits / 8), types[type], ndim, m->shape, m->stride);
  assert_true(step * types[type].bits / 8 <= BYTES);
}

static void *at(const array *m, const int64_t *index) {
  int64_t element = 0;
  for (int d = 0; d < m->tensor.ndim; d++) element += index[d] * m->stride[d];
  return (char *)m->tensor.data + element * (types[m->type].bits / 8);
}

static void fill(void *room, int type) {
  const int64_t size = types[type].bits / 8;
  const bool whole = types[type].code != kDLFloat;
  for (int64_t i = 0; i < BYTES / size; i++) {
    const uint64_t bits = rung_random_next(&dice);
    char *to = (char *)room + i * size;
    if (whole)
      memcpy(to, &bits, (size_t)size);
    else
      put(type, to, rung_random_double(&dice) * 400 - 150, false);
  }
}

typedef struct filter {
  array in, taps, out;
  rung_filter_model model;
  bool reversed, several, channels;
} filter;

/* What a tap meets at pixel (y, x) of the image, or beyond it. */
static double pixel(const filter *f, int64_t y, int64_t x, int64_t channel) {
  const int64_t index[3] = {fold(f->model.edge, y, f->in.shape[0]),
                            fold(f->model.edge, x, f->in.shape[1]), channel};
  double edge;
  if (index[0] >= 0 && index[1] >= 0) return get(f->in.type, at(&f->in, index));
  put(f->in.type, &edge, f->model.edge_value, false);
  return get(f->in.type, &edge);
}

static void expect_element(const filter *f, const int64_t *of, char *to) {
  const int64_t *rows = f->taps.shape + f->several, y = of[f->several], x = of[f->several + 1];
  const bool exact = f->in.type <= U16 && types[f->taps.type].code != kDLFloat;
  const bool wide = f->in.type == F64 || f->out.type == F64;
  int64_t sum = 0;
  double t = 0;
  float narrow = 0;
  for (int64_t i = 0; i < rows[0]; i++)
    for (int64_t j = 0; j < rows[1]; j++) {
      const int64_t tap[3] = {of[0], f->reversed ? rows[0] - 1 - i : i,
                              f->reversed ? rows[1] - 1 - j : j};
      const int64_t *o = f->model.origin;
      const int64_t up = f->reversed ? rows[0] - 1 - rows[0] / 2 - o[0] : rows[0] / 2 + o[0];
      const int64_t left = f->reversed ? rows[1] - 1 - rows[1] / 2 - o[1] : rows[1] / 2 + o[1];
      const double w = get(f->taps.type, at(&f->taps, tap + !f->several));
      const double v = pixel(f, f->model.region[0] + y + i - up, f->model.region[1] + x + j - left,
                             f->channels ? of[f->several + 2] : 0);
      if (exact) sum += (int64_t)w * (int64_t)v;
      t = fma(w, v, t);
      narrow = fmaf((float)w, (float)v, narrow);
    }
  if (exact && f->out.type == F32)
    *(float *)to = (float)sum; /* 64 bits, rounded once */
  else
    put(f->out.type, to, exact ? (double)sum : wide ? t : (double)narrow, !exact && !wide);
}

static void expect(const filter *f) {
  int64_t of[4] = {0};
  memcpy(kept, out_room, sizeof kept);
  for (int64_t n = 1;;) {
    char *to = (char *)kept + ((char *)at(&f->out, of) - (char *)out_room);
    expect_element(f, of, to);
    int d = f->out.tensor.ndim - 1;
    for (; d >= 0 && ++of[d] == f->out.shape[d]; d--) of[d] = 0;
    if (d < 0) return;
    n++;
  }
}

static void make_filter(filter *f) {
  const int64_t most = throw(10) ? EXTENT : 1 + throw(3);
  const int64_t shape[3] = {1 + throw(most), 1 + throw(most), 1 + throw(4)};
  int64_t taps[3] = {1 + throw(3), 1 + throw(throw(4) ? 7 : 24), 1 + throw(throw(4) ? 7 : 24)};
  int64_t out[4] = {taps[0], 0, 0, shape[2]};
  const int type = (int) throw(IMAGES);
  f->several = throw(3) == 0;
  f->channels = throw(2);
  f->reversed = throw(2);
  f->model = (rung_filter_model){.edge = (rung_edge) throw(RUNG_EDGE_MIRROR + 1),
                                 .edge_value = (double) throw(300) - 20};
  for (int d = 0; d < 2; d++) {
    f->model.region[d] = throw(3) ? 0 : throw(shape[d]);
    out[1 + d] = 1 + throw(shape[d] - f->model.region[d]);
    if (throw(2)) out[1 + d] = shape[d] - f->model.region[d];
    f->model.origin[d] = throw(taps[1 + d]) - taps[1 + d] / 2;
  }
  fill(in_room, type);
  lay_out(&f->in, type, in_room, 2 + f->channels, shape, false);
  const int of_taps = (int[]){U8, U16, I8, I16, I32, F32, F64}[throw(7)];
  fill(tap_room, of_taps);
  lay_out(&f->taps, of_taps, tap_room, 2 + f->several, taps + !f->several, false);
  const int of_out = throw(2) ? type : (int) throw(IMAGES);
  lay_out(&f->out, of_out, out_room, 2 + f->several + f->channels, out + !f->several, true);
  f->in.tensor.shape = f->in.shape, f->in.tensor.strides = f->in.stride;
}

static void any_shape_and_strides(void **state) {
  (void)state;
  for (int job = 0; job < (INSTRUMENTED ? 400 : 3000); job++) {
    filter f;
    make_filter(&f);
    memset(out_room, 0x5a, sizeof out_room);
    expect(&f);
    rung_call call = {.rung = rungs[job % RUNGS]};
    if ((f.reversed ? rung_convolve : rung_correlate)(context, &f.model, &f.in.tensor,
                                                      &f.taps.tensor, &f.out.tensor, &call))
      fail_msg("%s", rung_last_error(context));
    if (memcmp(out_room, kept, sizeof kept) != 0)
      fail_msg("job %d: %s, types %d, %d, %d, image %ld by %ld, kernel %ld by %ld: other bits", job,
               call.used, f.in.type, f.taps.type, f.out.type, (long)f.in.shape[0],
               (long)f.in.shape[1], (long)f.taps.shape[f.several],
               (long)f.taps.shape[f.several + 1]);
  }
}

/* ---- what a filter must be --------------------------------------------------------------------
 */

enum { SIDE = 70 };
static float x[SIDE * SIDE], y[SIDE * SIDE], z[SIDE * SIDE];

static void run(bool reversed, rung_edge edge, const float *taps, int64_t rows, int64_t columns,
                float *to, const char *rung) {
  int64_t shape[2] = {SIDE, SIDE}, of_taps[2] = {rows, columns};
  const rung_filter_model model = {.edge = edge};
  const DLTensor in = tensor(x, f32, 2, shape, NULL),
                 kernel = tensor((void *)(uintptr_t)taps, f32, 2, of_taps, NULL);
  DLTensor out = tensor(to, f32, 2, shape, NULL);
  rung_call call = {.rung = rung};
  if ((reversed ? rung_convolve : rung_correlate)(context, &model, &in, &kernel, &out, &call))
    fail_msg("%s", rung_last_error(context));
}

static void draw_image(void) {
  for (int i = 0; i < SIDE * SIDE; i++) x[i] = (float)(rung_random_double(&dice) * 4 - 2);
}

static void a_delta_shifts(void **state) {
  (void)state;
  for (int r = 0; r < RUNGS; r++) {
    draw_image();
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++) {
        float delta[7 * 5] = {0};
        delta[i * 5 + j] = 1;
        run(false, RUNG_EDGE_WRAP, delta, 7, 5, y, rungs[r]);
        for (int a = 0; a < SIDE; a++)
          for (int b = 0; b < SIDE; b++)
            assert_true(y[a * SIDE + b] ==
                        x[(a + i - 3 + SIDE) % SIDE * SIDE + (b + j - 2 + SIDE) % SIDE]);
      }
  }
}

static void keeps_a_constant(void **state) {
  (void)state;
  float taps[63 * 63];
  for (int i = 0; i < 63 * 63; i++) taps[i] = (i > 0 ? 1 : 128) / 4096.0f;
  for (int r = 0; r < RUNGS; r++)
    for (int edge = RUNG_EDGE_WRAP; edge <= RUNG_EDGE_MIRROR; edge++) {
      if (edge == RUNG_EDGE_CONSTANT) continue;
      for (int i = 0; i < SIDE * SIDE; i++) x[i] = 3;
      run(r % 2, (rung_edge)edge, taps, 63, 63, y, rungs[r]);
      for (int i = 0; i < SIDE * SIDE; i++) assert_true(y[i] == 3);
    }
}

static void convolves_by_the_reversed_kernel(void **state) {
  (void)state;
  float taps[5 * 9], turned[5 * 9];
  for (int r = 0; r < RUNGS; r++) {
    draw_image();
    for (int i = 0; i < 45; i++) turned[44 - i] = taps[i] = (float)rung_random_double(&dice) - 0.5f;
    run(true, RUNG_EDGE_REFLECT, taps, 5, 9, y, rungs[r]);
    run(false, RUNG_EDGE_REFLECT, turned, 5, 9, z, rungs[(r + 1) % RUNGS]);
    assert_memory_equal(y, z, sizeof y);
  }
}

/* No tap is skipped, and none is added: a NaN or an infinity is under exactly 3 * 3 taps of 0. */
static void zero_taps_meet_nan_and_infinity(void **state) {
  (void)state;
  static const float taps[3 * 3] = {0};
  for (int r = 0; r < RUNGS; r++) {
    memset(x, 0, sizeof x);
    x[20 * SIDE + 33] = NAN;
    x[50 * SIDE + 1] = INFINITY;
    run(false, RUNG_EDGE_CONSTANT, taps, 3, 3, y, rungs[r]);
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) {
        const float at_ij = y[i * SIDE + j];
        const bool under = (abs(i - 20) < 2 && abs(j - 33) < 2) || (abs(i - 50) < 2 && j < 3);
        assert_true(under ? isnan(at_ij) : at_ij == 0 && !signbit(at_ij));
      }
  }
}

/* ---- results of integers ----------------------------------------------------------------------
 */

static void rounds_half_to_even_and_saturates(void **state) {
  (void)state;
  enum { N = 10 };
  static const double given[N] = {0.5, 1.5, 2.5, 254.5, 255.5, -0.5, -3, 70000, NAN, INFINITY};
  static const double bytes[N] = {0, 2, 2, 254, 255, 0, 0, 255, 0, 255},
                      shorts[N] = {0, 2, 2, 254, 256, 0, 0, 65535, 0, 65535};
  int64_t shape[2] = {1, N}, one[2] = {1, 1};
  double tap = 1;
  const DLTensor kernel = tensor(&tap, f64, 2, one, NULL);
  for (int r = 0; r < RUNGS; r++)
    for (int from = F32; from <= F64; from++) {
      double in[N];
      uint8_t narrow[N];
      uint16_t wide[N];
      for (int i = 0; i < N; i++)
        put(from, (char *)in + i * (types[from].bits / 8), given[i], true);
      const DLTensor image = tensor(in, types[from], 2, shape, NULL);
      DLTensor to_u8 = tensor(narrow, types[U8], 2, shape, NULL),
               to_u16 = tensor(wide, types[U16], 2, shape, NULL);
      rung_call call = {.rung = rungs[r]};
      assert_int_equal(rung_correlate(context, NULL, &image, &kernel, &to_u8, &call), RUNG_OK);
      assert_int_equal(rung_correlate(context, NULL, &image, &kernel, &to_u16, &call), RUNG_OK);
      for (int i = 0; i < N; i++) assert_true(narrow[i] == bytes[i] && wide[i] == shorts[i]);
    }
}

/* Sums that f32 does not hold, that 32 bits do not, and that f64 does not. */
static void sums_of_integers_are_exact(void **state) {
  (void)state;
  static uint16_t image[63 * 63];
  static int32_t taps[63 * 63];
  int64_t shape[2] = {63, 63}, one[2] = {1, 1};
  const DLTensor in = tensor(image, types[U16], 2, shape, NULL),
                 kernel = tensor(taps, types[I32], 2, shape, NULL);
  const rung_filter_model middle = {.region = {31, 31}};
  for (int r = 0; r < RUNGS; r++)
    for (int32_t tap = 1; tap > 0; tap = tap < 1 << 30 ? tap * 2 + 1 : -1) {
      double result = 7;
      for (int i = 0; i < 63 * 63; i++) {
        image[i] = 65535;
        taps[i] = i < 1984 ? -tap : tap;
      }
      taps[63 * 63 - 1] = 0; /* as many of each sign */
      image[30 * 63 + 30] = 65534;
      DLTensor out = tensor(&result, types[F64], 2, one, NULL);
      rung_call call = {.rung = rungs[r]};
      assert_int_equal(rung_correlate(context, &middle, &in, &kernel, &out, &call), RUNG_OK);
      assert_true(result == tap); /* a tap of -tap met one less */
    }
}

/* Taps of floats that are integers leave what those leave, a sum of zeros +0; a fraction among them
 * leaves a sum of its own. */
static void whole_taps_are_integers(void **state) {
  (void)state;
  enum { N = 24, TAPS = 25 };
  static uint8_t image[N * N];
  int64_t shape[2] = {N, N}, five[2] = {5, 5};
  int32_t integers[TAPS];
  float floats[TAPS];
  for (int i = 0; i < N * N; i++) image[i] = i < N * N / 3 ? 0 : (uint8_t)(i * 37 % 256);
  for (int i = 0; i < TAPS; i++) {
    integers[i] = i * 53 % 256 - 128;
    floats[i] = integers[i] == 0 ? -0.0F : (float)integers[i];
  }
  const DLTensor in = tensor(image, types[U8], 2, shape, NULL),
                 kernel = tensor(integers, types[I32], 2, five, NULL),
                 same = tensor(floats, types[F32], 2, five, NULL);
  for (int r = 0; r < RUNGS; r++)
    for (int to = 0; to < 2; to++) {
      float wanted[N * N] = {1}, found[N * N] = {2};
      DLTensor one = tensor(wanted, types[to ? F32 : U8], 2, shape, NULL),
               other = tensor(found, types[to ? F32 : U8], 2, shape, NULL);
      const size_t bytes = N * N * (to ? sizeof(float) : 1);
      rung_call call = {.rung = rungs[r]};
      floats[3] = (float)integers[3];
      assert_int_equal(rung_correlate(context, NULL, &in, &kernel, &one, &call), RUNG_OK);
      assert_int_equal(rung_correlate(context, NULL, &in, &same, &other, &call), RUNG_OK);
      assert_memory_equal(wanted, found, bytes);
      assert_true(!to || (wanted[0] == 0 && !signbit(wanted[0])));
      floats[3] += 0.5F;
      assert_int_equal(rung_correlate(context, NULL, &in, &same, &other, &call), RUNG_OK);
      assert_memory_not_equal(wanted, found, bytes);
    }
}

/* ---- the input of an old report ---------------------------------------------------------------
 */

/* Numbers of rand() from srand(2013), a kernel of 5 by 5 that is drawn after them. */
/* Nothing to write: no columns, no rows, no pixel at all; by every rung. */
static void results_may_be_empty(void **state) {
  (void)state;
  static float in[1200], taps[9], out[1200];
  int64_t image[2] = {300, 4}, three[2] = {3, 3};
  static const int64_t parts[][2] = {{3, 0}, {300, 0}, {0, 4}, {0, 0}};
  for (int r = 0; r < RUNGS; r++)
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
      int64_t part[2] = {parts[k][0], parts[k][1]};
      const DLTensor from = tensor(in, f32, 2, image, NULL),
                     kernel = tensor(taps, f32, 2, three, NULL);
      DLTensor to = tensor(out, f32, 2, part, NULL);
      rung_call call = {.rung = rungs[r]};
      out[0] = 7;
      assert_int_equal(rung_correlate(context, NULL, &from, &kernel, &to, &call), RUNG_OK);
      assert_int_equal(rung_correlate(context, NULL, &to, &kernel, &to, &call), RUNG_OK);
      assert_true(out[0] == 7);
    }
}

static void an_old_report(void **state) {
  (void)state;
  static const int64_t sides[] = {1, 2, 3, 4, 5, 16, 33, 128, 1024};
  const size_t count = sizeof sides / sizeof *sides - INSTRUMENTED;
  float *in = malloc(1024 * 1024 * sizeof *in), *out = malloc(1024 * 1024 * sizeof *out);
  assert_true(in != NULL && out != NULL);
  for (size_t s = 0; s < count; s++) {
    float taps[5 * 5];
    const int64_t n = sides[s];
    int64_t shape[2] = {n, n}, of_taps[2] = {5, 5};
    srand(2013);
    for (int64_t i = 0; i < n * n; i++) in[i] = (float)rand() / (float)RAND_MAX;
    for (int i = 0; i < 25; i++) taps[i] = (float)rand() / (float)RAND_MAX;
    const DLTensor image = tensor(in, f32, 2, shape, NULL),
                   kernel = tensor(taps, f32, 2, of_taps, NULL);
    DLTensor result = tensor(out, f32, 2, shape, NULL);
    assert_int_equal(rung_correlate(context, NULL, &image, &kernel, &result, NULL), RUNG_OK);
    for (int64_t i = 0; i < n * n; i++) {
      double sum = 0;
      for (int64_t a = i / n - 2; a <= i / n + 2; a++)
        for (int64_t b = i % n - 2; b <= i % n + 2; b++)
          if (a >= 0 && a < n && b >= 0 && b < n)
            sum += (double)taps[(a - i / n + 2) * 5 + b - i % n + 2] * in[a * n + b];
      assert_true(fabs(out[i] - sum) <= 1e-3 * sum);
    }
  }
  free(in);
  free(out);
}

/* ---- names of edges ---------------------------------------------------------------------------
 */

static void edges_have_names(void **state) {
  (void)state;
  rung_edge edge = RUNG_EDGE_MIRROR;
  assert_int_equal(rung_edge_named("scipy:reflect", &edge), RUNG_OK);
  assert_int_equal(edge, RUNG_EDGE_REFLECT);
  assert_int_equal(rung_edge_named("numpy:reflect", &edge), RUNG_OK);
  assert_int_equal(edge, RUNG_EDGE_MIRROR);
  assert_int_equal(rung_edge_named("reflect", &edge), RUNG_UNKNOWN_NAME);
  assert_int_equal(rung_edge_named(NULL, &edge), RUNG_UNKNOWN_NAME);
  assert_int_equal(rung_edge_named("wrap", NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(edge, RUNG_EDGE_MIRROR);
  int count = 0;
  for (const char *const *name = rung_edge_names(); *name != NULL; name++, count++)
    assert_int_equal(rung_edge_named(*name, &edge), RUNG_OK);
  assert_true(count >= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_scipy_has_it),
      cmocka_unit_test(any_shape_and_strides),
      cmocka_unit_test(a_delta_shifts),
      cmocka_unit_test(keeps_a_constant),
      cmocka_unit_test(convolves_by_the_reversed_kernel),
      cmocka_unit_test(zero_taps_meet_nan_and_infinity),
      cmocka_unit_test(rounds_half_to_even_and_saturates),
      cmocka_unit_test(sums_of_integers_are_exact),
      cmocka_unit_test(whole_taps_are_integers),
      cmocka_unit_test(results_may_be_empty),
      cmocka_unit_test(an_old_report),
      cmocka_unit_test(edges_have_names),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
