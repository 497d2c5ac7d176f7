/* What the stencil's CUDA rungs lend each other, and ask the host's side. */
#ifndef RUNG_STENCIL_CUDA_H
#define RUNG_STENCIL_CUDA_H

#include "ops/stencil/stencil.h"

#ifdef __cplusplus
extern "C" {
#endif

/* composed takes the ends of rows by onchip, selfstart its steps by peeled. */
rung_launch stencil_onchip_cuda, stencil_onchip_sim;
rung_launch stencil_peeled_cuda, stencil_peeled_sim;

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
