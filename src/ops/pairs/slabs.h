/* Space cut into slabs for a cut-off over ranks: layers along one axis, of which a few side by
 * side, the reach, are as thick as the last edge, so that pairs within it lie in layers near each
 * other. Every rank has a run of layers, its slab. */
#ifndef RUNG_PAIRS_SLABS_H
#define RUNG_PAIRS_SLABS_H

#include "ops/pairs/pairs.h"

/* Layers at most; and so many a rank, where the last edge is thick enough to be cut so thin: then
 * slabs are even to within a few in a hundred. */
enum { PAIRS_LAYERS = 4096, PAIRS_LAYERS_A_RANK = 32, PAIRS_LAYERS_REACH = 32 };

typedef struct pairs_slabs {
  int axis;          /* of coordinates; in a box, of its vectors */
  int layers, reach; /* pairs within the last edge are at most so many layers apart */
  bool around;       /* in a box the last layer is beside the first */
  double low, scale; /* open space: layer = (x - low) * scale */
} pairs_slabs;

#ifdef __cplusplus
extern "C" {
#endif

/* Layers along the axis that points reach furthest on. low: of all finite points, in open space.
 * False: there are none, for along no axis do they reach two last edges, or squares might
 * underflow. */
bool pairs_slabs_of(const pairs_problem *problem, const double low[3], int ranks,
                    pairs_slabs *slabs);

/* The layer of a point of compact coordinates; -1: it has none, for it is not finite or not in the
 * box by more than roundings. */
int pairs_layer_of(const pairs_slabs *slabs, const pairs_problem *problem, const void *data,
                   int64_t at);

/* Layers [begins[rank], begins[rank + 1]) are a rank's: of about the same work each, by how many
 * points of a and, of two sets, of b (NULL: within a) each layer has. Returns the most work that a
 * rank has, over what it would have if all had as much. */
double pairs_slabs_share(const pairs_slabs *slabs, const int64_t *a, const int64_t *b, int ranks,
                         int *begins);

/* Whether a point of a layer may be within the last edge of one of a rank's slab, or in it. */
bool pairs_slabs_reaches(const pairs_slabs *slabs, const int *begins, int rank, int layer);

#ifdef __cplusplus
}
#endif
#endif
