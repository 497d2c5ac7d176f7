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

/* Rows cut into tiles for a block of `onchip` each. Tile t begins at column first + t * apart, the
 * last one at `last`; what is made of its outermost `halo` columns is not written: p steps carry
 * what they do not know of so far, at most. */
typedef struct stencil_tiles {
  int64_t count; /* in a row; 0: rows are not cut */
  int64_t first, apart, last;
  int halo, threads;
} stencil_tiles;

/* overlapped takes the inside of rows by onchip. */
typedef rung_status stencil_tiles_launch(const rung_task *task, const stencil_tiles *tiles);
stencil_tiles_launch stencil_onchip_tiles_cuda, stencil_onchip_tiles_sim;

/* The block that holds a row: columns a thread, the threads it may have at most and the threads a
 * row takes (whole warps; 0: the row is too long). */
typedef struct stencil_onchip_shape {
  int columns, most_threads, threads;
  bool snug; /* the row fills the block exactly and its ends are no trouble */
} stencil_onchip_shape;

stencil_onchip_shape stencil_onchip_shape_of(const stencil_problem *problem);
bool stencil_onchip_moves(const stencil_problem *problem);

/* How many of the rows, the last ones, are to be cut into tiles for a warp each, and how: those
 * beyond the same number for every multiprocessor, which holds `resident` rows at a time, where
 * their tiles are done sooner than a row. */
int64_t stencil_onchip_rest(const stencil_problem *problem, const stencil_onchip_shape *shape,
                            const rung_device *device, int resident, stencil_tiles *tiles);

/* Bytes of dynamic shared memory of such a block; and what it has beside that at most: the ends of
 * the row and where they stand. */
enum { STENCIL_ONCHIP_STATIC = 384 };
size_t stencil_onchip_shared(const stencil_problem *problem, int columns, int threads, bool means);

/* Whether a row fits in a multiprocessor of the device; if not, *most is how many columns would. */
bool stencil_onchip_fits(const stencil_problem *problem, const rung_device *device, int64_t *most);

/* Columns a lane of a warp's tile has, of few steps and of many. */
enum { STENCIL_LANE_FEW = 8, STENCIL_LANE_MANY = 16 };

/* Columns that steps carry a value: up to so many are few steps; and so many are a pass, where rows
 * are too short for blocks. */
enum { STENCIL_OVERLAP_FEW = 32, STENCIL_OVERLAP_REACH = 64 };

/* How `overlapped` does a job: `passes` over the grid, each of up to `steps`. Warps take tiles of
 * `lane` columns a lane: of the whole row, or where blocks take the inside (blocks.count > 0) only
 * what is left at its two ends. */
typedef struct stencil_overlap {
  int64_t passes, steps;
  int lane; /* columns a lane */
  stencil_tiles blocks;
} stencil_overlap;

stencil_overlap stencil_overlap_of(const stencil_problem *problem, const rung_device *device);

/* Columns beside the row that p steps at its ends ask for. */
int64_t stencil_overlap_outside(const stencil_problem *problem, int64_t steps);

/* `short-rows`: threads of a block, elements of a thread, so that a row has at most so many; bytes
 * of shared memory, which hold one of these twice, of doubles and the largest radius. */
enum {
  STENCIL_SHORT_THREADS = 256,
  STENCIL_SHORT_EACH = 4,
  STENCIL_SHORT_COLUMNS = STENCIL_SHORT_THREADS * STENCIL_SHORT_EACH,
  STENCIL_SHORT_SHARED = 48 * 1024 - 512
};
int stencil_short_rows_of(const stencil_problem *problem, const rung_device *device);

#ifdef __cplusplus
}
#endif
#endif
