/* What shape of block the `onchip` rung takes for a row: host arithmetic, so that a build without
 * CUDA can say what would fit. */
#include "core/sum.h"
#include "ops/stencil/cuda/cuda.h"

/* Whether what stands outside the row must be looked up at every step. Not where fixed columns
 * shield the left end and a constant, or columns that stay, stand beyond the right one. */
bool stencil_onchip_moves(const stencil_problem *p) {
  if (p->fixed < p->radius) return true;
  return p->edge != RUNG_EDGE_CONSTANT && p->edge != RUNG_EDGE_WRAP;
}

/* Snug: the row fills the block's places exactly, and its ends are no trouble. */
static bool snug(const stencil_problem *p, int columns) {
  return p->columns % (32 * columns) == 0 && p->fixed <= p->radius && !stencil_onchip_moves(p);
}

/* Few columns a thread for short rows; many, so that halos and barriers cost little, for long
 * ones. Measured on an H200: 60 floats by 256 threads, 30 doubles by 512 are the fastest. */
stencil_onchip_shape stencil_onchip_shape_of(const stencil_problem *p) {
  const bool wide = p->dtype == RUNG_F64;
  const int64_t m = p->columns;
  stencil_onchip_shape shape = {wide ? 16 : 30, 1024, 0, false};
  if (m <= 8 * 256)
    shape = (stencil_onchip_shape){8, 256, 0, false};
  else if (wide && m <= 30 * 512 && snug(p, 30))
    shape = (stencil_onchip_shape){30, 512, 0, true};
  else if (!wide && m <= 60 * 256 && snug(p, 60))
    shape = (stencil_onchip_shape){60, 256, 0, true};
  const int64_t warps = (m + 32 * shape.columns - 1) / (32 * shape.columns);
  shape.threads = 32 * warps <= shape.most_threads ? (int)(32 * warps) : 0;
  return shape;
}

/* Warps that a multiprocessor advances at once; and steps, of fewer of which memory is what takes
 * the time of a row. */
enum { SCHEDULERS = 4, STEPS = 8 };

int64_t stencil_onchip_rest(const stencil_problem *p, const stencil_onchip_shape *shape,
                            const rung_device *device, int resident, stencil_tiles *tiles) {
  const int64_t wide = 32 * (int64_t)shape->columns, warps = resident * shape->threads / 32;
  const int64_t left = p->rows % device->processors;
  *tiles = (stencil_tiles){0};
  if (!shape->snug || p->columns < 4 * wide) return 0;
  if (p->steps < STEPS || p->steps > wide / 4 / p->radius) return 0;
  const int64_t halo = p->steps * p->radius, apart = wide - 2 * halo;
  const int64_t count = (p->columns - 2 * halo + apart - 1) / apart;
  if (left * count > device->processors * (warps - SCHEDULERS)) return 0;
  *tiles = (stencil_tiles){
      .count = count, .apart = apart, .last = p->columns - wide, .halo = (int)halo, .threads = 32};
  return left;
}

/* The row, two turns of what threads show each other (R columns at either end, and a place beyond
 * the first and the last, of the block or of every warp), the lanes of the row's sum. */
size_t stencil_onchip_shared(const stencil_problem *p, int columns, int threads, bool means) {
  const size_t shown = 2 * (size_t)(threads + threads / 16) * 2 * (size_t)p->radius;
  return ((size_t)threads * (size_t)columns + shown + (means ? RUNG_SUM_LANES : 0)) *
         rung_dtype_bytes(p->dtype);
}

bool stencil_onchip_fits(const stencil_problem *p, const rung_device *device, int64_t *most) {
  const stencil_onchip_shape shape = stencil_onchip_shape_of(p);
  const int64_t room = device->shared_bytes - STENCIL_ONCHIP_STATIC;
  if (shape.threads > 0 &&
      (int64_t)stencil_onchip_shared(p, shape.columns, shape.threads, true) <= room)
    return true;
  const int columns = p->dtype == RUNG_F64 ? 16 : 30; /* of the longest rows */
  int threads = 1024;
  while (threads > 0 && (int64_t)stencil_onchip_shared(p, columns, threads, true) > room)
    threads -= 32;
  *most = (int64_t)threads * columns;
  return false;
}
