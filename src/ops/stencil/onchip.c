/* What the `onchip` rung can hold: host arithmetic, so that a build without CUDA can say it too. */
#include "ops/stencil/cuda/cuda.h"

/* Its largest blocks: 1024 threads of 30 floats, 512 threads of 30 or 1024 of 16 doubles. */
enum { FLOATS = 1024 * 30, DOUBLES = 1024 * 16 };

int64_t stencil_onchip_columns(const stencil_problem *p, const rung_device *device) {
  const int64_t element = (int64_t)rung_dtype_bytes(p->dtype);
  const int64_t held = p->dtype == RUNG_F32 ? FLOATS : DOUBLES;
  /* Beside the row: what warps and ends show each other, the lanes of the row's sum. */
  const int64_t beside = 2 * 32 * 2 * p->radius + 4 * (p->radius + 1) + 2048;
  const int64_t padding = 32 * 30; /* to whole warps */
  const int64_t fits = device->shared_bytes / element - beside - padding;
  return fits < 0 ? 0 : fits < held ? fits : held;
}
