/* Everything of arrays whose rows lie apart, which single-pass takes where they lie: on the
 * simulated GPU, the bits of the CPU. */
#include "ops/reduce/reduce.h"

#include "ops/reduce/gaps.h"

/* From the middle of `numbers`. */
static const view rows[] = {
    {2, {514, 513}, {520, 1}},
    {2, {16390, 16}, {17, 1}}, /* the shortest rows */
    {2, {2500, 105}, {-108, 1}},
    {2, {2, 131075}, {131080, 1}}, /* of more than a tile */
    {2, {5, 65535}, {65540, 1}},   /* divided by a product, */
    {2, {5, 65537}, {65540, 1}},   /* and by comparing */
    {2, {4, 65536}, {0, 1}},       /* the same row again and again */
    {3, {5, 233, 227}, {60000, 240, 1}},
    {3, {70, 4, 1001}, {5000, 1003, 1}}, /* the fewest rows of a plane */
    {3, {5, 233, 227}, {-60000, -230, 1}},
    {3, {233, 5, 227}, {230, 60000, 1}}, /* planes that interlock */
    {3, {2, 8200, 17}, {150000, 18, 1}},
    {3, {2, 66000, 16}, {7, 17, 1}}, /* more rows than are divided by a product */
};
enum { VIEWS = sizeof rows / sizeof *rows };

static size_t result_of(rung_context *context, const view *v, rung_reduction what, DLDataType type,
                        int block, void *to) {
  view copy = *v;
  DLTensor in = tensor(numbers + ROOM / 2, type, v->ndim, copy.shape, copy.stride);
  DLTensor out = tensor(to, result_type(what, type), 0, NULL, NULL);
  rung_call call = {.size = sizeof call, .block = block};
  if (rung_reduce(context, what, &in, RUNG_ALL, &out, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  return (size_t)out.dtype.bits / 8;
}

static void have_the_bits_of_the_cpu(void **state) {
  (void)state;
  rung_context *sim = open_on("sim");
  if (sim == NULL) skip();
  rung_context *cpu = open_on("cpu");
  for (int v = 0; v < VIEWS; ++v)
    for (int t = 0; t < TYPES; ++t) {
      const bool large = count_of(&rows[v]) > 1 << 20;
      if (t >= 3 && (t + v) % (INSTRUMENTED || large ? 9 : 3) != 0) continue;
      for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what) {
        if ((what == RUNG_MIN || what == RUNG_MEAN) && (t + v) % 4 != 0) continue;
        char wanted[8] = {0}, found[8] = {0};
        const size_t bytes = result_of(cpu, &rows[v], (rung_reduction)what, types[t], 0, wanted);
        result_of(sim, &rows[v], (rung_reduction)what, types[t], t % 3 == 2 ? 96 : 0, found);
        if (memcmp(wanted, found, bytes) != 0)
          fail_msg("view %d, type %d, what %d: other bits", v, t, what);
      }
    }
  rung_close(cpu);
  rung_close(sim);
}

static bool takes(const view *v) {
  reduce_problem problem = {.form = REDUCE_PACKED, .outer = 1, .columns = count_of(v), .inner = 1};
  const rung_task task = task_of(v, &problem);
  return reduce_has_rows(&task, NULL);
}

static void others_are_copied(void **state) {
  (void)state;
  static const view others[] = {{2, {60, 1000}, {1001, 1}}, /* few elements */
                                {2, {600, 600}, {1202, 2}}, /* no runs of memory */
                                {2, {40000, 15}, {16, 1}},  /* short ones */
                                {2, {600, 600}, {600, 1}},  /* no gaps */
                                {3, {600, 3, 600}, {3000, 601, 1}},
                                {4, {8, 8, 80, 80}, {90000, 9000, 81, 1}}};
  for (int v = 0; v < VIEWS; ++v)
    if (!takes(&rows[v])) fail_msg("view %d is copied", v);
  for (size_t v = 0; v < sizeof others / sizeof *others; ++v)
    if (takes(&others[v])) fail_msg("view %d of the others is not copied", (int)v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(have_the_bits_of_the_cpu),
      cmocka_unit_test(others_are_copied),
  };
  return cmocka_run_group_tests(tests, make_numbers, drop_numbers);
}
