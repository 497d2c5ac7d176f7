/* Rung `quads`: the tile by the job. Large products: 64 by 128, 8 by 8 a thread, four blocks a
 * multiprocessor, so that what one waits for the others cover. Where those are too few for all
 * multiprocessors smaller tiles, of more stages; of few columns or rows 128 by 32 or 32 by 128. */
#include "ops/matmul/cuda/stream.cuh"
#include "ops/matmul/cuda/turn.cuh"
#include "ops/matmul/tiles.h"

/* The tiles of tiles.h, in their order. Of short chains storing C is what takes time: by the tiles
 * that turn it in shared memory. */
static rung_status run_f32(const rung_task *task) {
  enum { TURNING = 2, TURNING_TILES = 3 };
  auto job = matmul_job_of<float>(task);
  double cost = 0;
  const int tile = matmul_turns_c(task)
                       ? TURNING + matmul_cheapest(task, matmul_quads_f32 + TURNING, TURNING_TILES,
                                                   job.m, job.n, &cost)
                       : matmul_quads_tile(task, &cost);
  const rung_status status =
      tile <= TURNING ? matmul_turn_operands(task, matmul_turned_of(task), &job) : RUNG_OK;
  if (status != RUNG_OK) return status;
  switch (tile) {
    case 0:
      return matmul_run_stream<matmul_shape<float, 96, 64, 16, 12, 4, 3, 4>>(task, job);
    case 1:
      return matmul_run_stream_of<matmul_shape<float, 64, 128, 16, 8, 8, 3, 4>>(task, job);
    case 2:
      return matmul_run_stream_of<matmul_shape<float, 64, 64, 16, 8, 4, 3, 6, true>>(task, job);
    case 3:
      return matmul_run_stream_of<matmul_shape<float, 128, 32, 16, 8, 4, 3, 6, true>>(task, job);
    case 4:
      return matmul_run_stream_of<matmul_shape<float, 32, 128, 16, 4, 8, 3, 6, true>>(task, job);
    case 5:
      return matmul_run_stream_of<matmul_shape<float, 32, 64, 32, 4, 4, 4, 6>>(task, job);
    default:
      return matmul_run_stream_of<matmul_shape<float, 32, 32, 32, 4, 4, 6, 8>>(task, job);
  }
}

static rung_status run_f64(const rung_task *task) {
  if (matmul_tiles_of(task, 64, 128).all >= task->device->processors * 3 / 4)
    return matmul_run_stream_of<matmul_shape<double, 64, 128, 16, 8, 4, 3, 2, true>>(task);
  return matmul_run_stream_of<matmul_shape<double, 32, 32, 16, 4, 4, 4, 4>>(task);
}

extern "C" rung_status RUNG_ENTRY(matmul_quads)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32 ? run_f32(task)
                                                                                  : run_f64(task);
}
