/* From counts to the radial distribution function: plain arithmetic, the same everywhere. */
#include <math.h>

#include "core/float_mode.h"
#include "core/layout.h"
#include "ops/pairs/pairs.h"

#define PI 3.14159265358979323846

static double edge_of(const rung_distances *bins, int64_t k) {
  return bins->edges != NULL ? bins->edges[k] : (double)k * bins->width;
}

static rung_status rdf(const rung_distances *bins, const int64_t *counts, double density,
                       double per, double *g, double *neighbours) {
  pairs_problem problem;
  rung_distances known;
  rung_status status = rung_read_struct(NULL, "bins", &rung_distances_layout, bins, &known);
  if (status != RUNG_OK) return status;
  bins = &known;
  status = pairs_problem_of(NULL, bins, NULL, 0, 0, false, &problem, NULL);
  if (status != RUNG_OK) return status;
  if (counts == NULL || (g != NULL && !(density > 0 && isfinite(density))) ||
      (neighbours != NULL && !isfinite(per)))
    return RUNG_BAD_ARGUMENT;
  __int128 within = 0; /* counts may come from anywhere */
  for (int64_t k = 0; k < bins->count; ++k) {
    const double from = edge_of(bins, k), to = edge_of(bins, k + 1);
    /* to^3 - from^3 as a product, which keeps the digits of a thin shell. */
    const double shell = 4.0 / 3.0 * PI * ((to - from) * ((to * to + to * from) + from * from));
    const int64_t count = counts[k];
    within += count;
    if (g != NULL) g[k] = (double)count / (density * shell);
    if (neighbours != NULL) neighbours[k] = per * (double)within;
  }
  return RUNG_OK;
}

rung_status rung_pairs_rdf(const rung_distances *bins, const int64_t *counts, double density,
                           double per, double *g, double *neighbours) {
  rung_float_mode callers;
  rung_float_mode_enter(&callers);
  const rung_status status = rdf(bins, counts, density, per, g, neighbours);
  rung_float_mode_leave(&callers);
  return status;
}
