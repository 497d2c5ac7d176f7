/* p steps as one filter: its taps by hand, its results against a brute force within the bound, the
 * rows' ends against the canonical rung bit by bit, and what is refused. */
#include "ops/stencil/composed.h"
#include "ops/stencil/outside.h"

/* ---- taps ----------------------------------------------------------------------------------- */

static stencil_problem problem_of(const rung_stencil_model *model, int64_t m, bool wide) {
  stencil_problem problem;
  rung_error error = {0};
  const rung_dtype dtype = wide ? RUNG_F64 : RUNG_F32;
  if (stencil_problem_of(&error, model, 1, m, dtype, &problem) != RUNG_OK)
    fail_msg("%s", error.sentence);
  return problem;
}

static void taps_worked_by_hand(void **unused) {
  (void)unused;
  static const double four[] = {1, 8, 36, 104, 214, 312, 324, 216, 81};
  static const double five[] = {1, 10, 55, 200, 530, 1052, 1590, 1800, 1485, 810, 243};
  rung_stencil_model model = {.radius = 1, .weights = (double[]){1, 2, 3}, .divide = -6};
  char why[RUNG_REASON];
  stencil_filter f;
  for (int p = 4; p <= 5; p++) {
    model.steps = p;
    const stencil_problem problem = problem_of(&model, 1000, false);
    const double *hand = p == 4 ? four : five, sign = p == 4 ? 1 : -1;
    assert_true(stencil_compose(&problem, &f, why));
    assert_int_equal(f.count, 2 * p + 1);
    assert_int_equal(f.first, -p);
    assert_true(f.error < 1e-17);
    double roundings = 0;
    for (int k = 0; k < f.count; k++) {
      assert_true(fabs(f.taps[k] - sign * hand[k] / pow(6, p)) < 1e-16);
      roundings += hand[k] / pow(6, p) * (f.count - k + 1);
    }
    assert_true(fabs(f.roundings - roundings) < 1e-12);
  }
}

/* All of the row stays: taps that sum to 1, less what was cut, each rounded to the type. */
static void taps_sum_to_one(void **unused) {
  (void)unused;
  static const int64_t steps[] = {4, 100, 1000};
  for (int i = 0; rung_radiator_presets()[i] != NULL; i++)
    for (int s = 0; s < 3; s++)
      for (int wide = 0; wide < 2; wide++) {
        rung_radiator_model radiator;
        rung_radiator_preset(rung_radiator_presets()[i], &radiator);
        const rung_stencil_model model = {.radius = 2,
                                          .weights = radiator.weights,
                                          .divide = radiator.divide,
                                          .steps = steps[s],
                                          .fixed = 2};
        const stencil_problem problem = problem_of(&model, 40000, wide);
        const double eps = wide ? 0x1p-53 : 0x1p-24;
        char why[RUNG_REASON];
        stencil_filter f;
        if (!stencil_compose(&problem, &f, why)) fail_msg("%s", why);
        long double sum = 0, rounded = 0, given = 0;
        for (int k = 0; k < 5; k++) given += radiator.weights[k];
        given = powl(given / radiator.divide, steps[s]); /* 1, but for the weights as doubles */
        for (int k = 0; k < f.count; k++) {
          sum += f.taps[k];
          rounded += wide ? f.taps[k] : (double)(float)f.taps[k];
        }
        const double storing = 1.01 * 0x1p-53; /* both ends are cut, and double rounds */
        assert_true(fabsl(sum - given) <= eps / 4 + storing);
        assert_true(fabsl(rounded - given) <= 1.25 * eps + storing);
        assert_true(fabsl(given - 1) <= (double)steps[s] * 0x1p-52);
        assert_true(f.error <= .26 * eps + .01 * (double)steps[s] * 0x1p-53);
        assert_true(f.count <= 2 * 2 * steps[s] + 1);
      }
}

/* ---- results -------------------------------------------------------------------------------- */

enum { ROWS = 19 };

typedef struct job {
  rung_stencil_model model;
  int64_t n, m;
  bool wide;
  void *in, *out, *canonical, *first;
  double means[ROWS];
} job;

static void make(job *job, int64_t n, int64_t m, bool wide) {
  const size_t bytes = (size_t)(n * m) * (wide ? 8 : 4);
  job->n = n;
  job->m = m;
  job->wide = wide;
  job->in = malloc(bytes);
  job->out = malloc(bytes);
  job->canonical = malloc(bytes);
  job->first = malloc(bytes);
  for (int64_t k = 0; k < n * m; k++) out_set(job->in, wide, k, out_number());
}

static void drop(job *job) {
  free(job->in);
  free(job->out);
  free(job->canonical);
  free(job->first);
}

static void check_row(const job *job, int64_t i, double *worst) {
  const stencil_problem problem = problem_of(&job->model, job->m, job->wide);
  const stencil_ends ends = stencil_ends_of(&problem);
  char why[RUNG_REASON];
  stencil_filter f;
  if (!stencil_compose(&problem, &f, why)) fail_msg("%s", why);
  const double bound = stencil_filter_bound(&problem, &f, 1);
  long double *wanted = malloc((size_t)job->m * sizeof *wanted);
  for (int64_t j = 0; j < job->m; j++) wanted[j] = out_get(job->in, job->wide, i * job->m + j);
  out_brute(&job->model, job->model.edge_value, wanted, job->m);
  for (int64_t j = 0; j < job->m; j++) {
    const double got = out_get(job->out, job->wide, i * job->m + j);
    const double canonical = out_get(job->canonical, job->wide, i * job->m + j);
    const bool inside = j >= ends.from && j < ends.to;
    if (!inside && got != canonical)
      fail_msg("column %ld of %ld: %.17g is not the canonical %.17g", (long)j, (long)job->m, got,
               canonical);
    const double error = (double)fabsl(got - wanted[j]);
    if (inside && !(error <= bound))
      fail_msg("column %ld of %ld: %.17g is not %.17Lg within %.3g", (long)j, (long)job->m, got,
               wanted[j], bound);
    if (inside) *worst = fmax(*worst, error / bound);
  }
  free(wanted);
}

static void run_composed(rung_context *context, job *job, const void *in, void *out) {
  int64_t shape[2] = {job->n, job->m};
  const DLTensor from = out_tensor((void *)in, job->wide, 2, shape, NULL);
  DLTensor to = out_tensor(out, job->wide, 2, shape, NULL);
  DLTensor means = out_tensor(job->means, job->wide, 1, shape, NULL);
  rung_call call = {.rung = "composed", .math = RUNG_MATH_FAST};
  OUT_OK(context, rung_stencil(context, &job->model, &from, &to, &means, &call));
  assert_string_equal(call.used, "composed");
}

/* One job on every instruction set, by one thread and by several: the same bits, too, for the
 * chain is one. */
static double check_job(job *job, int64_t rows_checked) {
  double worst = 0;
  bool first = true;
  const size_t bytes = (size_t)(job->n * job->m) * (job->wide ? 8 : 4);
  OUT_OK(out_widest[0], out_run(out_widest[0], &job->model, "rowwise", job->wide, job->n, job->m,
                                job->in, job->canonical, NULL));
  for (int i = 0; i < ISAS; i++) {
    if (out_contexts[i][i] == NULL) continue;
    memset(job->out, 0xFF, bytes);
    run_composed(out_contexts[i][i], job, job->in, job->out);
    for (int64_t r = 0; r < job->n; r++) {
      const char *row = (char *)job->out + (size_t)(r * job->m) * (job->wide ? 8 : 4);
      assert_true(out_get(job->means, job->wide, r) == out_mean(row, job->wide, job->m));
    }
    if (first) memcpy(job->first, job->out, bytes);
    first = false;
    assert_true(out_same(job->first, job->out, job->wide, job->n * job->m));
  }
  for (int64_t r = 0; r < rows_checked; r++)
    check_row(job, rows_checked == 1 ? job->n - 1 : r * (job->n - 1) / (rows_checked - 1), &worst);
  return worst;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool slow = true; /* all of it would take minutes */
#else
static const bool slow = false;
#endif

/* Every edge, radius and number of fixed columns; rows that fill panels and rows that do not. */
static void within_the_bound_on_every_edge(void **unused) {
  (void)unused;
  double weights[7], divide = 0, worst = 0;
  for (int radius = 1; radius <= 3; radius++) {
    divide = 0;
    for (int k = 0; k <= 2 * radius; k++)
      divide += fabs(weights[k] = (1 + (k * 7 + 3) % 11) * (k == 1 ? -1 : 1));
    for (int edge = RUNG_EDGE_WRAP; edge <= RUNG_EDGE_MIRROR; edge++)
      for (int64_t fixed = slow ? 5 : 0; fixed <= 5; fixed++)
        for (int wide = 0; wide < 2; wide++) {
          job job = {.model = {.radius = radius,
                               .weights = weights,
                               .divide = divide,
                               .steps = 40,
                               .fixed = fixed,
                               .edge = (rung_edge)edge,
                               .edge_value = .625}};
          make(&job, wide ? 9 : 17, 600 * radius + 13 * fixed + edge, wide);
          worst = fmax(worst, check_job(&job, 2));
          drop(&job);
        }
  }
  print_message("worst error: %.3f of the bound\n", worst);
}

/* Few steps and many, with the radiators' weights. */
static void within_the_bound_for_presets(void **unused) {
  (void)unused;
  static const int64_t steps[] = {4, 100, 1000}, columns[] = {600, 1900, 13000};
  for (int i = 0; rung_radiator_presets()[i] != NULL; i++)
    for (int s = 0; s < 3; s++)
      for (int wide = 0; wide < 2; wide++) {
        rung_radiator_model radiator;
        rung_radiator_preset(rung_radiator_presets()[i], &radiator);
        job job = {.model = {.radius = 2,
                             .weights = radiator.weights,
                             .divide = radiator.divide,
                             .steps = steps[s],
                             .fixed = radiator.fixed}};
        if (s == 2 && (i != 1 || slow)) continue;
        if (s == 1 && i != 1 && slow) continue;
        make(&job, s == 2 ? 1 : 3, columns[s], wide);
        const double worst = check_job(&job, 1);
        print_message("%s, %ld steps, %s: %.3f of the bound\n", rung_radiator_presets()[i],
                      (long)steps[s], wide ? "f64" : "f32", worst);
        drop(&job);
      }
}

/* Many fixed columns, of which a wrapped edge sees the first; the output where the input was. */
static void in_place_behind_fixed_columns(void **unused) {
  (void)unused;
  rung_stencil_model model = {.radius = 3,
                              .weights = (double[]){1, 4, 2, 6, 3, 5, 2},
                              .divide = 23,
                              .steps = 25,
                              .fixed = 333};
  for (int wide = 0; wide < 2; wide++) {
    job job = {.model = model};
    make(&job, ROWS, 1500, wide);
    check_job(&job, 2);
    void *same = malloc((size_t)(job.n * job.m) * (wide ? 8 : 4));
    memcpy(same, job.in, (size_t)(job.n * job.m) * (wide ? 8 : 4));
    run_composed(out_widest[1], &job, same, same);
    assert_true(out_same(same, job.out, wide, job.n * job.m));
    free(same);
    drop(&job);
  }
}

/* ---- choosing and refusing ------------------------------------------------------------------ */

static rung_status choose(rung_call *call, int64_t steps, int64_t m) {
  const rung_stencil_model model = {.radius = 2,
                                    .weights = (double[]){1.9, 1.5, 1, .5, .1},
                                    .divide = 5,
                                    .steps = steps,
                                    .fixed = 2};
  float *x = calloc((size_t)m, sizeof *x), *out = malloc((size_t)m * sizeof *x);
  int64_t shape[2] = {1, m};
  const DLTensor from = out_tensor(x, false, 2, shape, NULL);
  DLTensor to = out_tensor(out, false, 2, shape, NULL);
  const rung_status status = rung_stencil(out_widest[0], &model, &from, &to, NULL, call);
  free(x);
  free(out);
  return status;
}

static void auto_takes_it_in_fast_mode_only(void **unused) {
  (void)unused;
  rung_call call = {.math = RUNG_MATH_FAST};
  assert_int_equal(choose(&call, 40, 2000), RUNG_OK);
  assert_string_equal(call.used, "composed");
  assert_int_equal(choose(&call, 40, 200), RUNG_OK); /* no inside */
  assert_string_equal(call.used, "panel");
  call = (rung_call){0};
  assert_int_equal(choose(&call, 40, 2000), RUNG_OK);
  assert_string_equal(call.used, "panel");
  call = (rung_call){.rung = "composed"};
  assert_int_equal(choose(&call, 40, 2000), RUNG_UNSUPPORTED);
  assert_non_null(strstr(rung_last_error(out_widest[0]), "`--math fast`"));
}

static void assert_refused(const rung_stencil_model *model, int64_t m, const char *says) {
  const stencil_problem problem = problem_of(model, m, false);
  char why[RUNG_REASON] = "";
  stencil_filter f;
  if (stencil_compose(&problem, &f, why)) fail_msg("not refused: \"%s\"", says);
  if (strstr(why, says) == NULL) fail_msg("\"%s\" does not say \"%s\"", why, says);
}

static void refuses_what_is_no_filter(void **unused) {
  (void)unused;
  rung_stencil_model model = {.radius = 2, .weights = (double[]){1.9, 1.5, 1, .5, .1}, .divide = 5};
  model.steps = 0;
  assert_refused(&model, 1000, "the steps are 0");
  model.steps = 3;
  assert_refused(&model, 1000, "the steps are 3");
  model.steps = 40;
  assert_refused(&model, 320, "no inside");
  assert_refused(&model, 321, "multiply-adds a row"); /* hardly any inside */
  model.fixed = 700;
  assert_refused(&model, 1000, "no inside");
  model.steps = INT64_MAX;
  assert_refused(&model, 1000, "no inside");
  model = (rung_stencil_model){.radius = 1, .weights = (double[]){1, -2, 1}, .divide = 3.99};
  model.steps = 10;
  assert_refused(&model, 1000, "sum to 1.0025");
  model = (rung_stencil_model){.radius = 8, .divide = 2, .steps = 2000, .fixed = 2};
  model.weights = (double[17]){[0] = 1, [16] = 1};
  assert_refused(&model, 100000, "more than 1024 taps");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(taps_worked_by_hand),
      cmocka_unit_test(taps_sum_to_one),
      cmocka_unit_test(within_the_bound_on_every_edge),
      cmocka_unit_test(within_the_bound_for_presets),
      cmocka_unit_test(in_place_behind_fixed_columns),
      cmocka_unit_test(auto_takes_it_in_fast_mode_only),
      cmocka_unit_test(refuses_what_is_no_filter),
  };
  return cmocka_run_group_tests(tests, out_open, out_close);
}
