/* Every operation once, on a square of floats.
 *
 *   cc each.c $(pkg-config --cflags --libs rung) -o each && ./each */
#include <rung/rung.h>

#include <stdio.h>

int main(void) {
  enum { SIDE = 256, BINS = 4 };
  static float in[SIDE][SIDE], out[SIDE][SIDE], column[SIDE];
  int64_t square[] = {SIDE, SIDE}, side = SIDE, bins = BINS, triples[] = {SIDE, 3}, counts[BINS];
  for (int i = 0; i < SIDE * SIDE; i++) in[i / SIDE][i % SIDE] = (float)(i * 37 % 101) / 100;
  DLTensor x = rung_array(in, rung_type(kDLFloat, 32), 2, square);
  DLTensor y = rung_array(out, rung_type(kDLFloat, 32), 2, square);
  DLTensor means = rung_array_f32(column, &side), bars = rung_array_i64(counts, &bins);
  DLTensor places = rung_array(in, rung_type(kDLFloat, 32), 2, triples); /* x y z, x y z, ... */

  const double weights[] = {1, 2, 1};
  const rung_stencil_model smooth = {.radius = 1, .weights = weights, .divide = 4, .steps = 10};
  const rung_bins quarters = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = 0, .high = 1};
  const rung_points points = {.at = &places};
  const rung_distances shells = {.count = BINS, .width = 0.25};
  const float laplace[3][3] = {{0, 1, 0}, {1, -4, 1}, {0, 1, 0}};
  int64_t three[] = {3, 3};
  DLTensor edges = rung_array((void *)laplace, rung_type(kDLFloat, 32), 2, three);
  rung_radiator_model heat;

  rung_context *c;
  rung_status bad = rung_open(&c, NULL); /* a GPU that works, else the CPU */
  if (!bad) bad = rung_reduce(c, RUNG_MEAN, &x, 1, &means, NULL);
  if (!bad) bad = rung_scan(c, RUNG_SUM, &x, 0, 1, &y, NULL);
  if (!bad) bad = rung_matmul(c, 1, &x, &x, 0, &y, NULL);
  if (!bad) bad = rung_correlate(c, NULL, &x, &edges, &y, NULL); /* zeros beyond the image */
  if (!bad) bad = rung_histogram(c, &quarters, &x, &bars, NULL, NULL);
  if (!bad) printf("%d elements below 0.25\n", (int)counts[0]);
  if (!bad) bad = rung_pairs(c, &points, NULL, NULL, &shells, &bars, NULL, NULL, NULL);
  if (!bad) printf("%d pairs of points closer than 0.25\n", (int)counts[0]);
  if (!bad) bad = rung_stencil(c, &smooth, &x, &y, NULL, NULL);
  if (!bad) bad = rung_radiator_preset("2019", &heat);
  if (!bad) bad = rung_radiator(c, &heat, 100, &y, &means, NULL);
  if (!bad) printf("the last row's mean after 100 steps: %.7f\n", (double)column[SIDE - 1]);
  if (bad) fprintf(stderr, "each: %s\n", rung_last_error(c));
  rung_close(c);
  return bad != RUNG_OK;
}
