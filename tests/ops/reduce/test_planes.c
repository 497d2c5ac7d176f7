/* Lines of planes, which subwarp takes where they lie: on the simulated GPU, the bits of the CPU.
 */
#include "ops/reduce/gaps.h"

enum { MOST = 8192 };

/* From the middle of `numbers`. */
static const view planes[] = {
    {3, {5, 60, 271}, {18000, 275, 1}},   /* many short lines, which begin anywhere, */
    {3, {5, 60, 256}, {18000, 272, 1}},   /* where wide loads do, */
    {3, {60, 5, 2048}, {10320, 2064, 1}}, /* and where a line's lanes end */
    {3, {719, 3, 33}, {120, 37, 1}},      /* of few bytes */
    {3, {40, 7, 2501}, {20000, 2507, 1}}, /* too few for warps */
    {3, {3, 45, 3000}, {-150000, -3100, 1}},
    {3, {2, 3, 40001}, {130000, 40007, 1}}, /* and too long */
    {3, {2, 70, 2100}, {2104, 5000, 1}},    /* planes that interlock */
    {3, {4, 50, 600}, {0, 601, 1}},         /* the same line again and again */
    {3, {3, 50, 700}, {100, 40, 1}},        /* lines that overlap */
    {3, {2, 32, 8300}, {270000, 8301, 1}},
    {3, {300, 7, 30}, {220, 31, 1}}, /* short ones, of small planes, */
    {3, {41, 130, 5}, {700, 5, 1}},  /* side by side, */
    {3, {41, 130, 2}, {300, 2, 1}},
    {3, {9, 100, 64}, {6500, 64, 1}}, /* and in few banks */
    {3, {41, 130, 1}, {140, 1, 1}},
};
enum { VIEWS = sizeof planes / sizeof *planes };

static void results_of(rung_context *context, const view *v, rung_reduction what, DLDataType type,
                       const char *rung, void *to) {
  view copy = *v;
  DLTensor in = tensor(numbers + ROOM / 2, type, 3, copy.shape, copy.stride);
  DLTensor out = tensor(to, result_type(what, type), 2, copy.shape, NULL);
  rung_call call = {.size = sizeof call, .rung = rung};
  if (rung_reduce(context, what, &in, 2, &out, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

static void have_the_bits_of_the_cpu(void **state) {
  (void)state;
  static uint64_t wanted[MOST], found[MOST];
  rung_context *sim = open_on("sim");
  if (sim == NULL) skip();
  rung_context *cpu = open_on("cpu");
  for (int v = 0; v < VIEWS; ++v)
    for (int t = 0; t < TYPES; ++t) {
      const bool large = count_of(&planes[v]) > 1 << 18;
      if ((t + v) % (INSTRUMENTED ? 11 : large ? 5 : 2) != 0) continue;
      for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what) {
        if ((what == RUNG_MIN || what == RUNG_MEAN) && (t + v) % 4 != 0) continue;
        const int64_t lines = planes[v].shape[0] * planes[v].shape[1];
        const DLDataType result = result_type((rung_reduction)what, types[t]);
        results_of(cpu, &planes[v], (rung_reduction)what, types[t], NULL, wanted);
        results_of(sim, &planes[v], (rung_reduction)what, types[t], NULL, found);
        if (memcmp(wanted, found, (size_t)lines * result.bits / 8) != 0)
          fail_msg("view %d, type %d, what %d: other bits", v, t, what);
        if (t % 3 != 0) continue; /* by one that has them copied first, too */
        results_of(sim, &planes[v], (rung_reduction)what, types[t], "single-pass", found);
        if (memcmp(wanted, found, (size_t)lines * result.bits / 8) != 0)
          fail_msg("view %d, type %d, what %d by single-pass: other bits", v, t, what);
      }
    }
  rung_close(cpu);
  rung_close(sim);
}

/* Longer than other lines that subwarp takes, where there are enough for its warps: 640, of a T4.
 */
static void longer_lines_are_subwarps(void **state) {
  (void)state;
  static const view longer = {3, {2, 320, 8192}, {9000, 5, 1}};
  static float wanted[640], found[640];
  if (INSTRUMENTED) skip();
  rung_context *sim = open_on("sim:t4");
  if (sim == NULL) skip();
  rung_context *cpu = open_on("cpu");
  results_of(cpu, &longer, RUNG_SUM, f32, NULL, wanted);
  results_of(sim, &longer, RUNG_SUM, f32, "subwarp", found);
  assert_memory_equal(wanted, found, sizeof wanted);
  rung_close(cpu);
  rung_close(sim);
}

static bool takes(const view *v) {
  const int last = v->ndim - 1;
  reduce_problem problem = {.form = REDUCE_PACKED,
                            .outer = count_of(v) / v->shape[last],
                            .columns = v->shape[last],
                            .inner = 1};
  const rung_task task = task_of(v, &problem);
  return reduce_has_planes(&task, NULL);
}

static void others_are_copied(void **state) {
  (void)state;
  static const view others[] = {{3, {5, 60, 271}, {60 * 271, 271, 1}}, /* no gaps */
                                {3, {5, 60, 271}, {40000, 600, 2}},    /* no runs of memory */
                                {4, {3, 4, 20, 300}, {90000, 20000, 310, 1}}};
  for (int v = 0; v < VIEWS; ++v)
    if (!takes(&planes[v])) fail_msg("view %d is copied", v);
  for (size_t v = 0; v < sizeof others / sizeof *others; ++v)
    if (takes(&others[v])) fail_msg("view %d of the others is not copied", (int)v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(have_the_bits_of_the_cpu),
      cmocka_unit_test(longer_lines_are_subwarps),
      cmocka_unit_test(others_are_copied),
  };
  return cmocka_run_group_tests(tests, make_numbers, drop_numbers);
}
