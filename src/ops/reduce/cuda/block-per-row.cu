/* A block a tile. Neighbouring threads read neighbouring elements, where row-per-thread's are a
 * row apart, and all of a thread's loads of a tile are under way at once. The lanes meet in shared
 * memory. It is what `vector` does with sums of floats along lines, by a name that says so, and by
 * its kernels.
 *
 * A block size is taken as whole warps, at least one and at most sixteen: with wide loads more
 * threads would find no lanes of their own. */
#include "backend/gpu.h"

extern "C" rung_status RUNG_ENTRY(reduce_vector)(const rung_task *task);

extern "C" rung_status RUNG_ENTRY(reduce_block_per_row)(const rung_task *task) {
  return RUNG_ENTRY(reduce_vector)(task);
}
