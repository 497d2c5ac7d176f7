/* Heat in a radiator, its row means, and a stencil of one's own: the three calls of now.
 *
 *   cc heat.c $(pkg-config --cflags --libs rung) -o heat && ./heat */
#include <rung/rung.h>

#include <stdio.h>

int main(void) {
  enum { ROWS = 8, COLUMNS = 32 };
  static float heat[ROWS][COLUMNS], sums[ROWS];
  int64_t shape[2] = {ROWS, COLUMNS};
  DLTensor grid = rung_array(heat, rung_type(kDLFloat, 32), 2, shape);
  DLTensor means = rung_array_f32(sums, shape);

  rung_context *context;
  rung_status status = rung_open(&context, NULL); /* a GPU that works, else the CPU */
  rung_radiator_model model;
  rung_call call = {0}; /* the best canonical rung */
  if (status == RUNG_OK) status = rung_radiator_preset("2019", &model);
  if (status == RUNG_OK) status = rung_radiator(context, &model, 100, &grid, &means, &call);
  if (status == RUNG_OK)
    printf("rung %s: row 8 of 8 has a mean of %.7f\n", call.used, (double)sums[ROWS - 1]);

  /* Three more steps of a smoothing of one's own, in place, by a rung called by name. */
  const double weights[] = {1, 2, 1};
  rung_stencil_model smooth = {0};
  smooth.radius = 1;
  smooth.weights = weights;
  smooth.divide = 4;
  smooth.steps = 3;
  smooth.edge = RUNG_EDGE_NEAREST;
  call.rung = "no-such-rung";
  if (status == RUNG_OK && rung_stencil(context, &smooth, &grid, &grid, NULL, &call) != RUNG_OK)
    printf("refused: %s\n", rung_last_error(context));
  call.rung = NULL;
  if (status == RUNG_OK) status = rung_stencil(context, &smooth, &grid, &grid, NULL, &call);
  if (status == RUNG_OK) status = rung_reduce(context, RUNG_MEAN, &grid, 1, &means, &call);
  if (status == RUNG_OK)
    printf("rung %s: smoothed, row 8 has a mean of %.7f\n", call.used, (double)sums[ROWS - 1]);

  if (status != RUNG_OK) fprintf(stderr, "heat: %s\n", rung_last_error(context));
  rung_close(context);
  return status != RUNG_OK;
}
