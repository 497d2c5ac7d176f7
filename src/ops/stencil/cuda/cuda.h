/* The stencil's CUDA rungs, and what they lend each other. */
#ifndef RUNG_STENCIL_CUDA_H
#define RUNG_STENCIL_CUDA_H

#include "ops/stencil/stencil.h"

#ifdef __cplusplus
extern "C" {
#endif

RUNG_GPU_DECLARE(stencil_global);
RUNG_GPU_DECLARE(stencil_window);
RUNG_GPU_DECLARE(stencil_pairs);
RUNG_GPU_DECLARE(stencil_peeled);
RUNG_GPU_DECLARE(stencil_selfstart);
RUNG_GPU_DECLARE(stencil_reciprocal);
RUNG_GPU_DECLARE(stencil_onchip);
RUNG_GPU_DECLARE(stencil_composed);

enum { STENCIL_ONCHIP_RADIUS = 4 };

/* The block that holds a row: columns a thread, the threads it may have at most and the threads a
 * row takes (whole warps; 0: the row is too long). */
typedef struct stencil_onchip_shape {
  int columns, most_threads, threads;
  bool snug; /* the row fills the block exactly and its ends are no trouble */
} stencil_onchip_shape;

stencil_onchip_shape stencil_onchip_shape_of(const stencil_problem *problem);
bool stencil_onchip_moves(const stencil_problem *problem);

/* Bytes of dynamic shared memory of such a block. */
size_t stencil_onchip_shared(const stencil_problem *problem, int columns, int threads, bool means);

/* Whether a row fits in a multiprocessor of the device; if not, *most is how many columns would. */
bool stencil_onchip_fits(const stencil_problem *problem, const rung_device *device, int64_t *most);

#ifdef __cplusplus
}
#endif
#endif
