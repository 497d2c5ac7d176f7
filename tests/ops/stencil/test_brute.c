/* Every strict CPU rung against the brute force, on random rows of every shape; the canonical ones
 * against each other, bit by bit, for each instruction set and number of threads. */
#include "ops/stencil/outside.h"

typedef struct job {
  rung_stencil_model model;
  double weights[17];
  int64_t n, m;
  bool wide;
  void *in, *out, *first;
  double means[64], first_means[64];
} job;

static const char *describe(const job *job) {
  static char text[200];
  snprintf(text, sizeof text, "n=%ld m=%ld p=%ld radius=%d fixed=%ld edge=%d %s", (long)job->n,
           (long)job->m, (long)job->model.steps, job->model.radius, (long)job->model.fixed,
           (int)job->model.edge, job->wide ? "f64" : "f32");
  return text;
}

static void make(job *job) {
  const size_t bytes = (size_t)(job->n * job->m) * (job->wide ? 8 : 4);
  job->in = malloc(bytes);
  job->out = malloc(bytes);
  job->first = malloc(bytes);
  for (int64_t k = 0; k < job->n * job->m; k++) out_set(job->in, job->wide, k, out_number());
  job->model.weights = job->weights;
}

static void drop(job *job) {
  free(job->in);
  free(job->out);
  free(job->first);
}

/* Weights of both signs whose magnitudes sum to about `divide`, in no symmetric order. */
static void draw_weights(job *job) {
  double sum = 0;
  const int taps = 2 * job->model.radius + 1;
  for (int k = 0; k < taps; k++) sum += fabs(job->weights[k] = out_number());
  job->model.divide = out_below(4) == 0 ? -sum : sum;
}

static void within_bound(const job *job, const rung_row *row, const void *out) {
  /* The textbook rounds weights, products and sums each, and divides. */
  const int more = row->order == RUNG_TEXTBOOK ? job->model.radius * 2 + 4 : 0;
  const double constant = job->wide ? job->model.edge_value : (float)job->model.edge_value;
  const double bound = out_bound(&job->model, 1, job->wide, more);
  long double *wanted = malloc((size_t)job->m * sizeof *wanted);
  for (int64_t i = 0; i < job->n; i++) {
    for (int64_t j = 0; j < job->m; j++) wanted[j] = out_get(job->in, job->wide, i * job->m + j);
    out_brute(&job->model, constant, wanted, job->m);
    for (int64_t j = 0; j < job->m; j++) {
      const double got = out_get(out, job->wide, i * job->m + j);
      if (!(fabsl(got - wanted[j]) <= bound))
        fail_msg("%s, %s: (%ld, %ld) is %.17g, not %.17Lg within %.3g", row->name, describe(job),
                 (long)i, (long)j, got, wanted[j], bound);
      if ((j < job->model.fixed || job->model.steps == 0) &&
          got != out_get(job->in, job->wide, i * job->m + j))
        fail_msg("%s, %s: (%ld, %ld) was to stay", row->name, describe(job), (long)i, (long)j);
    }
  }
  free(wanted);
}

static void means_are(const job *job, const rung_row *row, const void *out, const void *means) {
  for (int64_t i = 0; i < job->n; i++) {
    const char *line = (const char *)out + i * job->m * (job->wide ? 8 : 4);
    const double wanted = out_mean(line, job->wide, job->m), got = out_get(means, job->wide, i);
    if (wanted != got)
      fail_msg("%s, %s: mean %ld is %a, not %a", row->name, describe(job), (long)i, got, wanted);
  }
}

/* Every rung by every instruction set, with team `team`. */
static void run_all(job *job, int team) {
  const int64_t count = job->n * job->m;
  const size_t bytes = (size_t)count * (job->wide ? 8 : 4);
  bool have_first = false;
  const rung_row *row;
  for (int k = 0; (row = out_rung(k)) != NULL; k++)
    for (int i = 0; i < ISAS; i++) {
      rung_context *context = out_contexts[i][team];
      if (context == NULL) continue;
      memset(job->out, 0x7d, bytes);
      memset(job->means, 0x7d, sizeof job->means);
      OUT_OK(context, out_run(context, &job->model, row->name, job->wide, job->n, job->m, job->in,
                              job->out, job->means));
      if (row->order == RUNG_TEXTBOOK || !have_first) within_bound(job, row, job->out);
      if (row->order == RUNG_TEXTBOOK || !have_first) means_are(job, row, job->out, job->means);
      if (row->order != RUNG_CANONICAL) continue;
      if (!have_first) {
        memcpy(job->first, job->out, bytes);
        memcpy(job->first_means, job->means, sizeof job->means);
        have_first = true;
      }
      if (!out_same(job->first, job->out, job->wide, count) ||
          !out_same(job->first_means, job->means, job->wide, job->n))
        fail_msg("%s on %s with %d threads has other bits: %s", row->name, isas[i], out_teams[team],
                 describe(job));
    }
  assert_true(have_first);
}

/* Every m, radius, edge and type; rows, steps and fixed columns drawn. */
static void every_shape(void **unused) {
  (void)unused;
  for (int64_t m = 1; m <= 40; m++)
    for (int radius = 1; radius <= RUNG_STENCIL_MAX_RADIUS; radius++)
      for (int edge = RUNG_EDGE_WRAP; edge <= RUNG_EDGE_MIRROR; edge++)
        for (int wide = 0; wide < 2; wide++) {
          job job = {.n = 1 + out_below(out_below(3) ? 5 : 19), .m = m, .wide = wide};
          job.model = (rung_stencil_model){
              .radius = radius,
              .steps = out_below(out_below(3) ? 11 : 41),
              .fixed = out_below(2) ? out_below(3) % (m + 1) : out_below(m + 1),
              .edge = (rung_edge)edge,
              .edge_value = 0.3};
          draw_weights(&job);
          if (out_below(OUT_EVERY) != 0) continue;
          make(&job);
          run_all(&job, 0);
          drop(&job);
        }
}

/* Rows long enough to have an inside between the ends of every rung, on every side of a size. */
static void longer_rows(void **unused) {
  (void)unused;
  static const int64_t sizes[] = {41, 63, 64, 65, 97, 128, 161, 200, 255, 257, 331, 500, 641, 2049};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int radius = 1; radius <= RUNG_STENCIL_MAX_RADIUS; radius++)
      for (int wide = 0; wide < 2; wide++) {
        const int64_t m = sizes[s];
        job job = {.n = 1 + out_below(17), .m = m, .wide = wide};
        job.model = (rung_stencil_model){.radius = radius,
                                         .steps = out_below(m > 500 ? 12 : 41),
                                         .fixed = out_below(3) ? out_below(12) : out_below(m + 1),
                                         .edge = (rung_edge)out_below(5),
                                         .edge_value = -0.7};
        draw_weights(&job);
        if (out_below(OUT_EVERY) != 0) continue;
        make(&job);
        run_all(&job, 0);
        drop(&job);
      }
}

static void every_preset(void **unused) {
  (void)unused;
  for (const char *const *name = rung_radiator_presets(); *name != NULL; name++)
    for (int wide = 0; wide < 2; wide++)
      for (int64_t p = 0; p <= 40; p++) {
        rung_radiator_model radiator;
        assert_int_equal(rung_radiator_preset(*name, &radiator), RUNG_OK);
        job job = {.n = 1 + out_below(33), .m = 4 + out_below(90), .wide = wide};
        job.model = out_model(&radiator, p);
        memcpy(job.weights, radiator.weights, sizeof radiator.weights);
        if (out_below(OUT_EVERY) != 0) continue;
        make(&job);
        run_all(&job, 0);
        drop(&job);
      }
}

/* The same bits by any number of threads. */
static void every_team(void **unused) {
  (void)unused;
  for (int turn = 0; turn < (OUT_EVERY > 1 ? 12 : 48); turn++) {
    job job = {.n = 1 + out_below(60), .m = 1 + out_below(turn % 4 ? 60 : 400), .wide = turn % 2};
    job.model = (rung_stencil_model){.radius = 1 + (int)out_below(8),
                                     .steps = out_below(9),
                                     .fixed = out_below(job.m + 1),
                                     .edge = (rung_edge)out_below(5),
                                     .edge_value = 0.1};
    draw_weights(&job);
    make(&job);
    void *alone = malloc((size_t)(job.n * job.m) * 8);
    for (int team = 0; team < OUT_TEAMS; team++) {
      run_all(&job, team);
      if (team == 0) memcpy(alone, job.first, (size_t)(job.n * job.m) * (job.wide ? 8 : 4));
      if (!out_same(alone, job.first, job.wide, job.n * job.m))
        fail_msg("%d threads have other bits than one: %s", out_teams[team], describe(&job));
    }
    free(alone);
    drop(&job);
  }
}

/* Rows past 2^15 elements: the mean's second level. */
static void very_long_rows(void **unused) {
  (void)unused;
  for (int wide = 0; wide < 2; wide++) {
    job job = {.n = 3, .m = 70001, .wide = wide};
    job.model = (rung_stencil_model){.radius = 2, .steps = 3, .fixed = 2};
    draw_weights(&job);
    make(&job);
    run_all(&job, 1);
    drop(&job);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shape),    cmocka_unit_test(longer_rows),
      cmocka_unit_test(every_preset),   cmocka_unit_test(every_team),
      cmocka_unit_test(very_long_rows),
  };
  return cmocka_run_group_tests(tests, out_open, out_close);
}
