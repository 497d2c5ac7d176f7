/* A block a tile. Neighbouring threads read neighbouring elements, where row-per-thread's are a
 * row apart, and all of a thread's loads of a tile are under way at once. The lanes meet in shared
 * memory. (It is what `vector` does with sums of floats along lines, by a name that says so.)
 *
 * A block size is taken as whole warps, at least one and at most sixteen: with wide loads more
 * threads would find no lanes of their own. */
#include "ops/reduce/cuda/vector.cuh"

static reduce_kernel pick_kernel(reduce_operator op, bool aligned) {
  REDUCE_PICK_FLOAT(op, REDUCE_PICK_VECTOR)
}

static rung_status launch(const rung_task *task, const reduce_level &level, reduce_operator op) {
  return reduce_launch_lines(task, level, op, pick_kernel);
}

extern "C" rung_status RUNG_ENTRY(reduce_block_per_row)(const rung_task *task) {
  return reduce_all_levels(task, RUNG_SUM_TILE, launch);
}
