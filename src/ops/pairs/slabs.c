#include "ops/pairs/slabs.h"

#include <limits.h>
#include <math.h>

#include "ops/pairs/cut.h"
#include "ops/pairs/space.h"

/* Layers along an axis, and their reach; 0: with less than two last edges along it most points are
 * in most slabs' halos. */
static int layers_along(double extent, double edge, bool box, int ranks, int *reach) {
  const double base = floor(extent / edge), wanted = (double)PAIRS_LAYERS_A_RANK * ranks;
  if (!(base >= 2)) return 0;
  const double finer = ceil(wanted / base);
  *reach = finer < PAIRS_LAYERS_REACH ? (int)finer : PAIRS_LAYERS_REACH;
  const double most = floor(extent * *reach / edge);
  if (box && most < 2 * *reach + 1) return 0;
  return most < PAIRS_LAYERS ? (int)most : PAIRS_LAYERS;
}

bool pairs_slabs_of(const pairs_problem *p, const double low[3], int ranks, pairs_slabs *slabs) {
  const bool box = p->box.space != PAIRS_OPEN;
  const double *extent = pairs_cut_extent(p), edge = p->last * (1 + PAIRS_CUT_MARGIN);
  double thickest = 0;
  *slabs = (pairs_slabs){.around = box};
  if (!(edge >= PAIRS_CUT_LEAST) || (!box && !p->known)) return false;
  for (int i = 0; i < 3; ++i) {
    int reach;
    const int layers = isfinite(extent[i]) ? layers_along(extent[i], edge, box, ranks, &reach) : 0;
    if (layers == 0 || !(extent[i] > thickest)) continue;
    thickest = extent[i];
    slabs->axis = i;
    slabs->layers = layers;
    slabs->reach = reach;
    slabs->low = box ? 0 : low[i];
    slabs->scale = box ? 0 : layers / extent[i];
  }
  return slabs->layers > 0;
}

int pairs_layer_of(const pairs_slabs *slabs, const pairs_problem *p, const void *data, int64_t i) {
  const pairs_point place = pairs_place_of(p, data, i);
  const double x[3] = {place.x, place.y, place.z};
  if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) return -1;
  const double at =
      slabs->around
          ? pairs_fraction(&p->box, place.x, place.y, place.z, slabs->axis) * slabs->layers
          : (x[slabs->axis] - slabs->low) * slabs->scale;
  if (!(at >= -PAIRS_CUT_STRAY && at <= slabs->layers + PAIRS_CUT_STRAY)) return -1;
  return at <= 0 ? 0 : at >= slabs->layers ? slabs->layers - 1 : (int)at;
}

/* How many layers to one side of a slab a layer is. */
static int beyond(const pairs_slabs *slabs, int from, int to) {
  const int apart = to - from;
  return apart >= 0 ? apart : slabs->around ? apart + slabs->layers : INT_MAX;
}

bool pairs_slabs_reaches(const pairs_slabs *slabs, const int *begins, int rank, int layer) {
  const int first = begins[rank], last = begins[rank + 1] - 1;
  if (first > last) return false;
  return (layer >= first && layer <= last) || beyond(slabs, last, layer) <= slabs->reach ||
         beyond(slabs, layer, first) <= slabs->reach;
}

/* Points in reach of a layer's. */
static double around_of(const pairs_slabs *slabs, const int64_t *points, int layer) {
  double sum = 0;
  for (int d = -slabs->reach; d <= slabs->reach; ++d) {
    int at = layer + d;
    if (slabs->around) at = (at + slabs->layers) % slabs->layers;
    if (at >= 0 && at < slabs->layers) sum += (double)points[at];
  }
  return sum;
}

/* A point is sorted, which takes as long as to meet others; and meets those around it. */
static double work_of(const pairs_slabs *slabs, const int64_t *a, const int64_t *b, int layer,
                      double sorting) {
  const double points = (double)a[layer] + (b != NULL ? (double)b[layer] : 0);
  return (double)a[layer] * around_of(slabs, b != NULL ? b : a, layer) + points * sorting;
}

double pairs_slabs_share(const pairs_slabs *slabs, const int64_t *a, const int64_t *b, int ranks,
                         int *begins) {
  double points = 0, all = 0, before = 0, most = 0, own = 0;
  for (int l = 0; l < slabs->layers; ++l) {
    points += (double)a[l] + (b != NULL ? (double)b[l] : 0);
    all += work_of(slabs, a, b, l, 0);
  }
  const double sorting = points > 0 ? all / points / 4 : 0;
  all += points * sorting;
  for (int k = 0; k <= ranks; ++k) begins[k] = k == 0 ? 0 : slabs->layers;
  for (int l = 0, rank = 0; l < slabs->layers; ++l) {
    const double work = work_of(slabs, a, b, l, sorting);
    for (; rank + 1 < ranks && before + work / 2 > all * (rank + 1) / ranks; own = 0)
      begins[++rank] = l;
    before += work;
    own += work;
    if (own > most) most = own;
  }
  return all > 0 ? most * ranks / all : 1;
}
