/* The radiator through rung.h: its starts by formulas of their own, first steps worked by hand,
 * presets, means, refusals, and that it is the stencil on its start. */
#include "ops/stencil/outside.h"

static rung_context *cpu;

static void heat(const rung_radiator_model *model, const char *rung, int64_t steps, bool wide,
                 int64_t n, int64_t m, void *grid, void *means) {
  int64_t shape[2] = {n, m};
  DLTensor to = out_tensor(grid, wide, 2, shape, NULL),
           mean = out_tensor(means, wide, 1, shape, NULL);
  rung_call call = {.rung = rung};
  OUT_OK(cpu, rung_radiator(cpu, model, steps, &to, means != NULL ? &mean : NULL, &call));
  assert_non_null(call.used);
}

/* What the years of the assignment say, from their text: f of column 1, start elsewhere. */
static double start_2016_to_2023(double f, double elsewhere, int64_t i, int64_t j, int64_t n) {
  const double hot = (double)(i + 1) / (double)n;
  return j == 0 ? hot : j == 1 ? f * hot : elsewhere;
}

static double start_2025(int64_t i, int64_t j, int64_t n, int64_t m) {
  const double hot = .98 * ((double)(i + 1) * (double)(i + 1)) / ((double)n * (double)n);
  return j == 0 ? hot : hot * ((double)(m - j) * (double)(m - j)) / ((double)m * (double)m);
}

static double start(const char *year, int64_t i, int64_t j, int64_t n, int64_t m) {
  if (strcmp(year, "2016") == 0) return start_2016_to_2023(.75, 0, i, j, n);
  if (strcmp(year, "2019") == 0 || strcmp(year, "2021") == 0)
    return start_2016_to_2023(.80, 0, i, j, n);
  if (strcmp(year, "2023") == 0) return start_2016_to_2023(.70, 1. / 15360, i, j, n);
  assert_string_equal(year, "2025");
  return start_2025(i, j, n, m);
}

static void starts_are_the_years(void **unused) {
  (void)unused;
  static const char *const years[] = {"2016", "2019", "2021", "2023", "2025"};
  static const double weights[5][5] = {{1.85, 1.40, 1.00, .60, .15},
                                       {1.90, 1.50, 1.00, .50, .10},
                                       {1.70, 1.40, 1.00, .60, .30},
                                       {1.65, 1.35, 1.00, .65, .35},
                                       {1.60, 1.55, 1.00, .60, .25}};
  for (int y = 0; y < 5; y++) {
    rung_radiator_model model;
    assert_string_equal(rung_radiator_presets()[y], years[y]);
    assert_int_equal(rung_radiator_preset(years[y], &model), RUNG_OK);
    assert_memory_equal(model.weights, weights[y], sizeof model.weights);
    assert_true(model.divide == 5);
    for (int wide = 0; wide < 2; wide++) {
      double grid[18], means[3];
      heat(&model, NULL, 0, wide, 3, 6, grid, means);
      for (int64_t k = 0; k < 18; k++) {
        /* The order of the 2025 products is the contract's; another may differ in the last bit. */
        const double wanted = start(years[y], k / 6, k % 6, 3, 6);
        const double ulp = wide ? 0x1p-52 : 0x1p-23;
        assert_true(fabs(out_get(grid, wide, k) - wanted) <= ulp * fabs(wanted));
      }
      for (int64_t i = 0; i < 3; i++)
        assert_true(out_get(means, wide, i) ==
                    out_mean((char *)grid + i * 6 * (wide ? 8 : 4), wide, 6));
    }
  }
  assert_null(rung_radiator_presets()[5]);
}

/* The hottest row and the rows below are exact where n is a power of two. */
static void starts_exactly(void **unused) {
  (void)unused;
  rung_radiator_model model;
  rung_radiator_preset("2019", &model);
  float grid[4 * 4];
  heat(&model, NULL, 0, false, 4, 4, grid, NULL);
  const float wanted[16] = {.25f, .2f, 0, 0, .5f, .4f, 0, 0, .75f, .6f, 0, 0, 1, .8f, 0, 0};
  for (int k = 0; k < 16; k++) /* .8 * .75 in double is .6000000000000001: the same float */
    assert_true(grid[k] == wanted[k]);
}

/* ---- first steps by hand ------------------------------------------------------------------- */

static void near_to(const double *grid, const double *wanted, int count) {
  for (int k = 0; k < count; k++)
    if (!(fabs(grid[k] - wanted[k]) <= 4e-16))
      fail_msg("[%d] is %.17g, not %.17g", k, grid[k], wanted[k]);
}

static const char *const rungs[] = {NULL, "sweep", "scaled", "threads", "rowwise", "panel"};

/* 2019, n = 2, m = 5. Row 1 starts as 1 .8 0 0 0, row 0 as half of it.
 *   column 2: (1.9 * 1 + 1.5 * .8) / 5 = 3.1 / 5 = .62
 *   column 3: (1.9 * .8 + .1 * column 0 around the end, 1) / 5 = 1.62 / 5 = .324
 *   column 4: (.5 * column 0, 1 + .1 * column 1, .8) / 5 = .58 / 5 = .116 */
static void first_step_of_2019(void **unused) {
  (void)unused;
  static const double wanted[10] = {.5, .4, .31, .162, .058, 1, .8, .62, .324, .116};
  rung_radiator_model model;
  rung_radiator_preset(NULL, &model);
  for (size_t r = 0; r < sizeof rungs / sizeof *rungs; r++) {
    double grid[10];
    heat(&model, rungs[r], 1, true, 2, 5, grid, NULL);
    near_to(grid, wanted, 10);
  }
}

/* 2019, two steps, row 1 from 1 .8 .62 .324 .116:
 *   column 2: (1.9 + 1.2 + .62 + .5 * .324 + .1 * .116) / 5 = 3.8936 / 5 = .77872
 *   column 3: (1.9 * .8 + 1.5 * .62 + .324 + .5 * .116 + .1 * 1) / 5 = 2.932 / 5 = .5864
 *   column 4: (1.9 * .62 + 1.5 * .324 + .116 + .5 * 1 + .1 * .8) / 5 = 2.36 / 5 = .472 */
static void second_step_of_2019(void **unused) {
  (void)unused;
  static const double wanted[5] = {1, .8, .77872, .5864, .472};
  rung_radiator_model model;
  rung_radiator_preset("2019", &model);
  for (size_t r = 0; r < sizeof rungs / sizeof *rungs; r++) {
    double grid[10];
    heat(&model, rungs[r], 2, true, 2, 5, grid, NULL);
    near_to(grid + 5, wanted, 5);
  }
}

/* 2025, n = 2, m = 4, one fixed column, both ends wrap. Row 1 starts as .98 times 1, 9/16, 4/16,
 * 1/16: .98 .55125 .245 .06125; row 0 as a quarter of it.
 *   column 1: (1.6 * .06125 + 1.55 * .98 + .55125 + .6 * .245 + .25 * .06125) / 5
 *           = (.098 + 1.519 + .55125 + .147 + .0153125) / 5 = 2.3305625 / 5 = .4661125
 *   column 2: (1.6 * .98 + 1.55 * .55125 + .245 + .6 * .06125 + .25 * .98) / 5
 *           = (1.568 + .8544375 + .245 + .03675 + .245) / 5 = 2.9491875 / 5 = .5898375
 *   column 3: (1.6 * .55125 + 1.55 * .245 + .06125 + .6 * .98 + .25 * .55125) / 5
 *           = (.882 + .37975 + .06125 + .588 + .1378125) / 5 = 2.0488125 / 5 = .4097625 */
static void first_step_of_2025(void **unused) {
  (void)unused;
  static const double wanted[8] = {.245, .116528125, .147459375, .102440625,
                                   .98,  .4661125,   .5898375,   .4097625};
  rung_radiator_model model;
  rung_radiator_preset("2025", &model);
  for (size_t r = 0; r < sizeof rungs / sizeof *rungs; r++) {
    double grid[8];
    heat(&model, rungs[r], 1, true, 2, 4, grid, NULL);
    near_to(grid, wanted, 8);
  }
}

/* 2016, 2021 and 2023, n = 1, m = 4, row 1 f s s, column 2: (w0 + w1 f + s (w2 + w3) + w4) / 5:
 *   2016: (1.85 + 1.05 + .15) / 5 = .61, column 3: (1.85 * .75 + .6 + .15 * .75) / 5 = .42
 *   2021: (1.7 + 1.12 + .3) / 5 = .624, column 3: (1.7 * .8 + .6 + .3 * .8) / 5 = .44
 *   2023, s = 1/15360: (1.65 + .945 + 1.65 s + .35) / 5 = .589 + .33 s,
 *         column 3: (1.65 * .7 + 1.35 s + s + .65 + .35 * .7) / 5 = .41 + .47 s */
static void first_steps_of_the_others(void **unused) {
  (void)unused;
  const double s = 1. / 15360;
  const double wanted[3][4] = {
      {1, .75, .61, .42}, {1, .8, .624, .44}, {1, .7, .589 + .33 * s, .41 + .47 * s}};
  static const char *const years[] = {"2016", "2021", "2023"};
  for (int y = 0; y < 3; y++) {
    rung_radiator_model model;
    double grid[4];
    rung_radiator_preset(years[y], &model);
    heat(&model, NULL, 1, true, 1, 4, grid, NULL);
    near_to(grid, wanted[y], 4);
  }
}

/* ---- the stencil on its start ------------------------------------------------------------------
 */

static void is_the_stencil_on_its_start(void **unused) {
  (void)unused;
  enum { N = 21 };
  for (const char *const *name = rung_radiator_presets(); *name != NULL; name++)
    for (int64_t m = 4; m <= 130; m += m < 10 ? 1 : 29)
      for (int wide = 0; wide < 2; wide++)
        for (size_t r = 0; r < sizeof rungs / sizeof *rungs; r++) {
          static double own[N * 160], in[N * 160], out[N * 160];
          double own_means[N], means[N];
          rung_radiator_model model;
          rung_radiator_preset(*name, &model);
          const rung_stencil_model stencil = out_model(&model, 13);
          heat(&model, rungs[r], 0, wide, N, m, in, NULL);
          heat(&model, rungs[r], 13, wide, N, m, own, own_means);
          OUT_OK(cpu, out_run(cpu, &stencil, rungs[r], wide, N, m, in, out, means));
          assert_true(out_same(own, out, wide, N * m));
          assert_true(out_same(own_means, means, wide, N));
        }
}

/* A model of one's own: power 2 with two fixed columns that fall. */
static void takes_a_model_of_ones_own(void **unused) {
  (void)unused;
  const rung_radiator_model model = {.weights = {1, 1, 1, 1, 1},
                                     .divide = 5,
                                     .hot = {2, 3},
                                     .power = 2,
                                     .fixed = 2,
                                     .falling = 1,
                                     .start = 9};
  double grid[2 * 4];
  heat(&model, NULL, 0, true, 2, 4, grid, NULL);
  /* Row 0: heat 1/4: 2/4, 3/4, then .5 * (2/4)^2, .5 * (1/4)^2. */
  const double wanted[8] = {.5, .75, .125, .03125, 2, 3, .5, .125};
  assert_memory_equal(grid, wanted, sizeof grid);
}

/* The grid is never read, and only its elements are written. */
static void writes_a_view_and_reads_none(void **unused) {
  (void)unused;
  rung_radiator_model model;
  rung_radiator_preset("2025", &model);
  double plain[3 * 7], room[6 * 20];
  heat(&model, NULL, 5, true, 3, 7, plain, NULL);
  for (int k = 0; k < 120; k++) room[k] = NAN;
  int64_t shape[2] = {3, 7}, strides[2] = {-40, 2};
  DLTensor grid = out_tensor(room + 80, true, 2, shape, strides);
  grid.byte_offset = 8;
  OUT_OK(cpu, rung_radiator(cpu, &model, 5, &grid, NULL, NULL));
  for (int k = 0; k < 120; k++) {
    const int i = 2 - k / 40, at = k % 40 - 1;
    const bool inside = at >= 0 && at <= 12 && at % 2 == 0;
    assert_true(inside ? room[k] == plain[i * 7 + at / 2] : isnan(room[k]));
  }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void unknown_presets_leave_the_model(void **unused) {
  (void)unused;
  rung_radiator_model model, before;
  memset(&model, 0x5a, sizeof model);
  before = model;
  static const char *const names[] = {"", "2017", "2019 ", "auto", "20190"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    assert_int_equal(rung_radiator_preset(names[k], &model), RUNG_UNKNOWN_NAME);
    assert_memory_equal(&model, &before, sizeof model);
  }
  assert_int_equal(rung_radiator_preset("2019", NULL), RUNG_BAD_ARGUMENT);
}

static DLTensor refused_grid, refused_means;

static void refused(const rung_radiator_model *model, int64_t steps, rung_status status,
                    const char *what, const char *value) {
  double grid[12], means[3];
  memset(grid, 0x6b, sizeof grid);
  memset(means, 0x6b, sizeof means);
  DLTensor to = refused_grid, mean = refused_means;
  to.data = grid;
  mean.data = means;
  const char *used = "untouched";
  rung_call call = {.used = used};
  const rung_status got = rung_radiator(cpu, model, steps, &to, &mean, &call);
  const char *sentence = rung_last_error(cpu);
  if (got != status || strstr(sentence, what) == NULL || strstr(sentence, value) == NULL)
    fail_msg("status %d, \"%s\": not %d with \"%s\" and \"%s\"", got, sentence, status, what,
             value);
  for (size_t k = 0; k < sizeof grid; k++) assert_int_equal(((unsigned char *)grid)[k], 0x6b);
  for (size_t k = 0; k < sizeof means; k++) assert_int_equal(((unsigned char *)means)[k], 0x6b);
  assert_ptr_equal(call.used, used);
}

static void refusals(void **unused) {
  (void)unused;
  static int64_t shape[2] = {3, 4}, narrow[2] = {3, 3}, none[2] = {0, 4}, short_means[1] = {2};
  static int64_t zero[2] = {0, 1}, cube[3] = {1, 3, 4};
  rung_radiator_model good, model;
  rung_radiator_preset("2019", &good);
  refused_grid = out_tensor(NULL, true, 2, shape, NULL);
  refused_means = out_tensor(NULL, true, 1, shape, NULL);
  refused(NULL, 1, RUNG_BAD_ARGUMENT, "model", "NULL");
  refused(&good, -1, RUNG_BAD_ARGUMENT, "steps", "-1");
#define WITH(change, what, value) \
  model = good;                   \
  model.change;                   \
  refused(&model, 1, RUNG_BAD_ARGUMENT, what, value)
  WITH(power = 0, "power", "0");
  WITH(power = 3, "power", "3");
  WITH(fixed = 0, "fixed", "0");
  WITH(fixed = 3, "fixed", "3");
  WITH(hot[0] = NAN, "hot", "nan");
  WITH(hot[1] = -INFINITY, "hot", "-inf");
  WITH(start = INFINITY, "start", "inf");
  WITH(divide = 0, "divide", "0");
  WITH(weights[3] = NAN, "weights[3]", "nan");
#undef WITH
  refused_grid.shape = narrow;
  refused(&good, 1, RUNG_BAD_SHAPE, "grid", "3 columns");
  refused_grid.shape = none;
  refused(&good, 1, RUNG_BAD_SHAPE, "grid", "0 rows");
  refused_grid = out_tensor(NULL, true, 3, cube, NULL);
  refused(&good, 1, RUNG_BAD_SHAPE, "grid", "3 dimensions");
  refused_grid = out_tensor(NULL, true, 2, shape, zero);
  refused(&good, 1, RUNG_BAD_SHAPE, "grid", "stride 0");
  refused_grid = out_tensor(NULL, true, 2, shape, NULL);
  refused_grid.dtype.code = kDLInt;
  refused(&good, 1, RUNG_BAD_DTYPE, "grid", "int");
  refused_grid = out_tensor(NULL, true, 2, shape, NULL);
  refused_means.shape = short_means;
  refused(&good, 1, RUNG_BAD_SHAPE, "means", "2");
  refused_means = out_tensor(NULL, false, 1, shape, NULL);
  refused(&good, 1, RUNG_BAD_DTYPE, "means", "32 bits");
}

static void means_may_not_lie_in_the_grid(void **unused) {
  (void)unused;
  rung_radiator_model model;
  rung_radiator_preset("2019", &model);
  double grid[12] = {0};
  int64_t shape[2] = {3, 4};
  DLTensor to = out_tensor(grid, true, 2, shape, NULL);
  DLTensor mean = out_tensor(grid + 9, true, 1, shape, NULL);
  assert_int_equal(rung_radiator(cpu, &model, 1, &to, &mean, NULL), RUNG_OVERLAP);
  assert_non_null(strstr(rung_last_error(cpu), "means"));
  assert_non_null(strstr(rung_last_error(cpu), "grid"));
  for (int k = 0; k < 12; k++) assert_true(grid[k] == 0);
  to.device.device_type = kDLCUDA;
  assert_int_equal(rung_radiator(cpu, &model, 1, &to, NULL, NULL), RUNG_BAD_PLACE);
  assert_non_null(strstr(rung_last_error(cpu), "grid"));
}

static int open_one(void **unused) {
  const int opened = out_open(unused);
  if (opened == 0) cpu = out_widest[1];
  return opened;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starts_are_the_years),
      cmocka_unit_test(starts_exactly),
      cmocka_unit_test(first_step_of_2019),
      cmocka_unit_test(second_step_of_2019),
      cmocka_unit_test(first_step_of_2025),
      cmocka_unit_test(first_steps_of_the_others),
      cmocka_unit_test(is_the_stencil_on_its_start),
      cmocka_unit_test(takes_a_model_of_ones_own),
      cmocka_unit_test(writes_a_view_and_reads_none),
      cmocka_unit_test(unknown_presets_leave_the_model),
      cmocka_unit_test(refusals),
      cmocka_unit_test(means_may_not_lie_in_the_grid),
  };
  return cmocka_run_group_tests(tests, open_one, out_close);
}
