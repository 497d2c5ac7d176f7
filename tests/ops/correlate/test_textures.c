/* Images as they lie for a texture, on the simulated GPU: aligned or not, rows near or far,
 * backwards or all the same one. The bits are those of the CPU's textbook. */
#include "ops/context.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEIGHT = 9, WIDTH = 20, ROOM = 16384, ALIGNMENT = 512 };

static const DLDataType kinds[] = {
    {kDLUInt, 8, 1}, {kDLUInt, 16, 1}, {kDLFloat, 16, 1}, {kDLFloat, 32, 1}, {kDLFloat, 64, 1}};

/* Elements from a row to the next, in bytes, and the first one's place; height 0: HEIGHT. */
static const struct lie {
  const char *name;
  int64_t step, first, height, channels;
} lies[] = {{"aligned rows", 256, 0, 0, 1},         {"rows of channels", 256, 0, 0, 3},
            {"rows begun late", 256, 16, 0, 1},     {"rows close together", 168, 0, 0, 1},
            {"a line begun late", 168, 8, 0, 1},    {"backwards", -256, 8 * 256, 0, 1},
            {"backwards, close", -168, 2048, 0, 2}, {"one row for all", 0, 512, 0, 1},
            {"a single row", 0, 0, 1, 1},           {"a single late row", 168, 24, 1, 1}};

static const rung_edge edges[] = {RUNG_EDGE_CONSTANT, RUNG_EDGE_NEAREST, RUNG_EDGE_REFLECT,
                                  RUNG_EDGE_MIRROR, RUNG_EDGE_WRAP};

/* Small whole numbers, by the CPU's rung or by the simulator's. */
static void run(rung_context *on, const char *rung, const struct lie *lie, int kind, rung_edge edge,
                double value, char *image, char *result) {
  const int64_t bytes = kinds[kind].bits / 8, height = lie->height ? lie->height : HEIGHT;
  const int64_t shape[] = {height, WIDTH, lie->channels};
  const int64_t in_step[] = {lie->step / bytes, lie->channels, 1};
  static const float taps[3][5] = {{1, -2, 3, .5f, 4}, {.25f, 2, -1, 1, 7}, {3, 3, -.5f, 2, 1}};
  const int64_t kernel_shape[] = {3, 5};
  DLTensor in = tensor(image + lie->first, kinds[kind], 3, (int64_t *)shape, (int64_t *)in_step);
  DLTensor kernel = tensor((void *)taps, kinds[3], 2, (int64_t *)kernel_shape, NULL);
  DLTensor out = tensor(result, kinds[kind], 3, (int64_t *)shape, NULL);
  const rung_filter_model model = {.size = sizeof model, .edge = edge, .edge_value = value};
  rung_call call = {.size = sizeof call, .rung = rung};
  const rung_status status = rung_correlate(on, &model, &in, &kernel, &out, &call);
  if (status) fail_msg("%s, %s: %s", rung, lie->name, rung_last_error(on));
}

static void as_the_cpu_has_it(void **state) {
  (void)state;
  static const char *const rungs[] = {"texture", "registers"};
  rung_context *sim = NULL;
  char *image = NULL, wanted[ROOM], found[ROOM];
  if (rung_open(&sim, &(rung_options){.device = "sim"}) != RUNG_OK) {
    print_message("sim is not tried: %s\n", rung_last_error(sim));
    rung_close(sim);
    skip();
  }
  assert_int_equal(posix_memalign((void **)&image, ALIGNMENT, ROOM), 0);
  for (int i = 0; i < ROOM; i++) image[i] = (char)(i % 2 == 0 ? i * 7 % 61 : 60 - i % 5);
  for (size_t l = 0; l < sizeof lies / sizeof *lies; l++)
    for (int kind = 0; kind < 5; kind++)
      for (int e = 0; e < 6; e++) {
        const rung_edge edge = edges[e % 5];
        const int64_t bytes = kinds[kind].bits / 8;
        if (WIDTH * lies[l].channels * bytes > 168 && lies[l].step != 0 && lies[l].height != 1)
          continue; /* rows would overlap, which says no more */
        memset(wanted, 1, sizeof wanted);
        run(context, "direct", &lies[l], kind, edge, e == 5 ? 3 : 0, image, wanted);
        for (size_t r = 0; r < 2; r++) {
          memset(found, 1, sizeof found);
          run(sim, rungs[r], &lies[l], kind, edge, e == 5 ? 3 : 0, image, found);
          if (memcmp(found, wanted, sizeof found) != 0)
            fail_msg("%s, %s, kind %d, edge %d: other bits", rungs[r], lies[l].name, kind, e);
        }
      }
  free(image);
  rung_close(sim);
}

/* Rows that are no multiple of 32 bytes apart, of more elements than a line has. */
static void refuses_what_no_texture_shows(void **state) {
  (void)state;
  rung_context *sim = NULL;
  if (rung_open(&sim, &(rung_options){.device = "sim"}) != RUNG_OK) {
    rung_close(sim);
    skip();
  }
  static char few[64], result[64];
  const int64_t shape[] = {3, 4}, far[] = {(1 << 26) + 1, 1}, one[] = {1, 1};
  static float tap = 1;
  /* The elements between are not there: the refusal comes before anything is read. */
  DLTensor in = tensor(few, kinds[0], 2, (int64_t *)shape, (int64_t *)far);
  DLTensor kernel = tensor(&tap, kinds[3], 2, (int64_t *)one, NULL);
  DLTensor out = tensor(result, kinds[0], 2, (int64_t *)shape, NULL);
  rung_call call = {.size = sizeof call, .rung = "texture"};
  assert_int_equal(rung_correlate(sim, NULL, &in, &kernel, &out, &call), RUNG_UNSUPPORTED);
  assert_non_null(strstr(rung_last_error(sim), "a texture of the image is a line of"));
  assert_non_null(strstr(rung_last_error(sim), "expected: at most 134217728"));
  rung_close(sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_cpu_has_it),
                                     cmocka_unit_test(refuses_what_no_texture_shows)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
