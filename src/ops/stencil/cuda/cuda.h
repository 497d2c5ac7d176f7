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

/* Columns of a row `onchip` can hold on this device: what its largest block holds in registers,
 * and its shared memory beside. */
int64_t stencil_onchip_columns(const stencil_problem *problem, const rung_device *device);

#ifdef __cplusplus
}
#endif
#endif
