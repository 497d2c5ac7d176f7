/* A program of somebody else's: opens the CPU, then the simulator, and runs one step of the
 * smallest radiator there is on each. */
#include <rung/rung.h>
#include <stdio.h>

int main(void) {
  rung_context *context = NULL;
  rung_radiator_model model;
  float grid[4] = {0};
  int64_t shape[2] = {1, 4};
  DLTensor tensor = {
      .data = grid, .ndim = 2, .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1}, .shape = shape};
  rung_options options = {.device = "cpu"};
  rung_status status = rung_open(&context, &options);

  tensor.device.device_type = kDLCPU;
  if (status == RUNG_OK) status = rung_radiator_preset(NULL, &model);
  if (status == RUNG_OK) status = rung_radiator(context, &model, 1, &tensor, NULL, NULL);
  if (status != RUNG_OK) fprintf(stderr, "%s\n", rung_last_error(context));
  rung_close(context);
  if (status != RUNG_OK || grid[0] != 1.0f) return 1;
  /* The simulator: a part that is loaded, or linked in; it says why where there is none. */
  options.device = "sim";
  status = rung_open(&context, &options);
  if (status != RUNG_OK && status != RUNG_NO_DEVICE) return 1;
  if (status == RUNG_OK) status = rung_radiator(context, &model, 1, &tensor, NULL, NULL);
  if (status != RUNG_OK) fprintf(stderr, "%s\n", rung_last_error(context));
  rung_close(context);
  printf("rung %s%s\n", rung_version(), status == RUNG_OK ? " and sim" : "");
  return 0;
}
