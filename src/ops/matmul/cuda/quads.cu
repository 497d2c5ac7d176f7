/* Rung `quads`: the tile by the job. Large products: 128 by 256, 8 by 16 a thread, which is as many
 * chains as registers hold: six reads of 16 bytes serve 128 multiply-adds, and what is no
 * multiply-add takes a twentieth of the issue slots. With too few tiles for all multiprocessors
 * smaller ones. */
#include "ops/matmul/cuda/stream.cuh"

/* Whether tiles of so many rows and columns are enough for all multiprocessors. */
static bool fill(const rung_task *task, int rows, int columns) {
  return matmul_tiles_of(task, rows, columns).all >= task->device->processors;
}

static rung_status run_f32(const rung_task *task) {
  if (fill(task, 128, 256))
    return matmul_run_stream<matmul_shape<float, 128, 256, 16, 8, 16, 3>, float>(task);
  if (fill(task, 128, 128))
    return matmul_run_stream<matmul_shape<float, 128, 128, 16, 8, 8, 3>, float>(task);
  return matmul_run_stream<matmul_shape<float, 64, 64, 16, 4, 4, 4>, float>(task);
}

static rung_status run_f64(const rung_task *task) {
  if (fill(task, 128, 128))
    return matmul_run_stream<matmul_shape<double, 128, 128, 8, 8, 8, 4>, double>(task);
  return matmul_run_stream<matmul_shape<double, 64, 64, 16, 4, 4, 3>, double>(task);
}

extern "C" rung_status RUNG_ENTRY(matmul_quads)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32 ? run_f32(task)
                                                                                  : run_f64(task);
}
