/* `short-rows` on the simulated GPU: the bits of the CPU, for rows shorter than the radius and as
 * long as a block takes, every edge, fixed columns, rows with gaps, in place, and more rows than
 * blocks; and how many rows a block takes has room. */
#include <stdlib.h>

#include "ops/stencil/cuda/cuda.h"
#include "ops/stencil/outside.h"

enum { ROOM = 3 << 19 };
static char *given, *wanted, *found;

typedef struct job {
  int64_t rows, columns, gap;
  bool wide, in_place;
  rung_stencil_model model;
} job;

static void run(rung_context *context, const job *j, const char *rung, void *from, void *to) {
  int64_t shape[2] = {j->rows, j->columns}, strides[2] = {j->columns + j->gap, 1};
  const DLTensor in = out_tensor(from, j->wide, 2, shape, strides);
  DLTensor out = out_tensor(to, j->wide, 2, shape, strides);
  rung_call call = {.size = sizeof call, .rung = rung};
  if (rung_stencil(context, &j->model, &in, &out, NULL, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

static void compare(rung_context *cpu, rung_context *gpu, const job *j) {
  const int64_t count = j->rows * (j->columns + j->gap), bytes = count * (j->wide ? 8 : 4);
  assert_true(bytes <= 8 * ROOM);
  memcpy(wanted, given, (size_t)bytes); /* gaps stay what they are */
  memcpy(found, given, (size_t)bytes);
  run(cpu, j, "scaled", given, wanted);
  run(gpu, j, "short-rows", j->in_place ? found : given, found);
  if (!out_same(wanted, found, j->wide, count))
    fail_msg("%ld rows of %ld and %ld, f%d, radius %d, %ld steps, edge %d, fixed %ld%s: other bits",
             (long)j->rows, (long)j->columns, (long)j->gap, j->wide ? 64 : 32, j->model.radius,
             (long)j->model.steps, (int)j->model.edge, (long)j->model.fixed,
             j->in_place ? ", in place" : "");
}

static void fill(bool wide) {
  static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-310, 1e-42};
  const int64_t count = 8 * ROOM / (wide ? 8 : 4);
  for (int64_t i = 0; i < count; i++)
    out_set(given, wide, i, out_below(300) == 0 ? special[out_below(7)] : out_number());
}

static void has_the_bits_of_the_cpu(void **state) {
  (void)state;
  static double weights[2 * RUNG_STENCIL_MAX_RADIUS + 1];
  rung_context *gpu = open_on("sim:t4");
  if (gpu == NULL) skip();
  rung_context *cpu = open_on("cpu");
  for (size_t k = 0; k < sizeof weights / sizeof *weights; k++) weights[k] = out_number();
  for (int wide = 0; wide < 2; wide++) {
    fill(wide);
    for (int number = 0; number < 150; number += OUT_EVERY) {
      job j = {.rows = 1 + out_below(300),
               .columns = 1 + out_below(number % 5 == 0 ? 1024 : 40),
               .gap = number % 3 == 0 ? out_below(9) : 0,
               .wide = wide,
               .in_place = number % 4 == 0,
               .model = {.size = sizeof j.model, .weights = weights, .divide = 1.7}};
      j.model.radius = 1 + (int)out_below(RUNG_STENCIL_MAX_RADIUS);
      j.model.steps = out_below(6);
      j.model.edge = (rung_edge)out_below(5);
      j.model.edge_value = out_number();
      j.model.fixed = out_below(2) ? out_below(j.columns + 1) : 0;
      compare(cpu, gpu, &j);
    }
    /* A block takes several strips: a T4 is given 1280 of them. */
    const job many = {.rows = 1303,
                      .columns = 520,
                      .wide = wide,
                      .model = {.size = sizeof many.model,
                                .weights = weights,
                                .divide = 1.7,
                                .radius = 2,
                                .steps = 2,
                                .edge = RUNG_EDGE_MIRROR}};
    compare(cpu, gpu, &many);
  }
  rung_close(cpu);
  rung_close(gpu);
}

static void blocks_have_room(void **state) {
  (void)state;
  const rung_device device = {.processors = 132};
  stencil_problem p = {.rows = 1 << 30};
  for (p.columns = 1; p.columns <= STENCIL_SHORT_COLUMNS; p.columns++)
    for (p.radius = 1; p.radius <= RUNG_STENCIL_MAX_RADIUS; p.radius++)
      for (int wide = 0; wide < 2; wide++) {
        p.dtype = wide ? RUNG_F64 : RUNG_F32;
        const int64_t rows = stencil_short_rows_of(&p, &device);
        assert_true(rows >= 1 && rows * p.columns <= STENCIL_SHORT_COLUMNS);
        assert_true(2 * rows * (p.columns + 2 * p.radius) * (wide ? 8 : 4) <= STENCIL_SHORT_SHARED);
      }
}

static int make(void **state) {
  (void)state;
  given = malloc(8 * ROOM);
  wanted = malloc(8 * ROOM);
  found = malloc(8 * ROOM);
  return given != NULL && wanted != NULL && found != NULL ? 0 : -1;
}

static int drop(void **state) {
  (void)state;
  free(given);
  free(wanted);
  free(found);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_the_bits_of_the_cpu),
      cmocka_unit_test(blocks_have_room),
  };
  return cmocka_run_group_tests(tests, make, drop);
}
