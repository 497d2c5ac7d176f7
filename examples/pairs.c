/* The radial distribution function of an array of points in a periodic box.
 *
 *   cc pairs.c $(pkg-config --cflags --libs rung) -o pairs && ./pairs */
#include <rung/rung.h>

#include <stdio.h>

int main(void) {
  enum { SIDE = 10, POINTS = SIDE * SIDE * SIDE, BINS = 8 };
  static double at[POINTS][3]; /* a simple cubic lattice of spacing 1 */
  for (int i = 0; i < POINTS; i++) {
    at[i][0] = i % SIDE;
    at[i][1] = i / SIDE % SIDE;
    at[i][2] = i / (SIDE * SIDE);
  }
  int64_t shape[2] = {POINTS, 3}, bins = BINS, counts[BINS];
  double g[BINS], neighbours[BINS];
  DLTensor points = rung_array(at, rung_type(kDLFloat, 64), 2, shape);
  DLTensor histogram = rung_array_i64(counts, &bins);
  const rung_points set = {.at = &points};
  const rung_box box = {{SIDE, 0, 0}, {0, SIDE, 0}, {0, 0, SIDE}};
  const rung_distances even = {.count = BINS, .width = 0.25};
  const double volume = SIDE * SIDE * SIDE, pairs = POINTS * (POINTS - 1) / 2.0;

  rung_context *context;
  rung_status status = rung_open(&context, NULL); /* a GPU that works, else the CPU */
  if (status == RUNG_OK)
    status = rung_pairs(context, &set, NULL, &box, &even, &histogram, NULL, NULL, NULL);
  if (status == RUNG_OK)
    status = rung_pairs_rdf(&even, counts, pairs / volume, 2.0 / POINTS, g, neighbours);
  for (int k = 0; k < BINS && status == RUNG_OK; k++)
    printf("%.2f ... %.2f: %5d pairs, g %5.2f, %g neighbours\n", k * 0.25, (k + 1) * 0.25,
           (int)counts[k], g[k], neighbours[k]);
  if (status != RUNG_OK) fprintf(stderr, "pairs: %s\n", rung_last_error(context));
  rung_close(context);
  return status != RUNG_OK;
}
