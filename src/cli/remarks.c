/* Rungs that records (docs/results/h200) show to be slower than one below, and why; the operations'
 * pages have the figures. */
#include <string.h>

#include "cli/rows.h"

static const struct {
  const char *operation, *rung, *why;
} slower[] = {
    {"reduce", "unrolled",
     "slower than first-add in f32 (67 against 66 us, 2^24 floats): a warp that goes on alone "
     "diverges, 2827 branches where 1542 did; faster in u32"},
    {"reduce", "shuffle",
     "slower than unrolled in u32 (1.12 against 0.99 ms, 2^28): every lane adds at every step, "
     "435616 operations where 131071 were needed; faster in f32"},
    {"reduce", "finish-host",
     "slower than shuffle (190 against 61 us, 2^24 floats): two copies over the bus, and a thread "
     "of the host that has to wake up, instead of a second launch"},
    {"reduce", "finish-last-block",
     "slower than finish-recursion (121 against 61 us, 2^24 floats): an atomic a block, and twice "
     "as many barriers, 8208 where 4112 were; faster where blocks are few"},
    {"reduce", "row-per-thread",
     "slower where rows are few (392 ms for one of 2^24 floats): a row is one thread's, and the "
     "rest of the machine is idle"},
    {"reduce", "warp-per-row",
     "slower than row-per-thread for short rows (909 against 209 us, 2^20 rows of 128): a warp has "
     "the 2048 lanes of a tile, however few of them a row fills"},
    {"reduce", "block-per-row",
     "slower than warp-per-row for short rows (3427 against 909 us, 2^20 rows of 128): a whole "
     "block and its two barriers for each of them"},
    {"scan", "blelloch",
     "slower than double-buffered for short lines (1149 against 526 us, 2^18 lines of 128): more "
     "steps, 18 where 8 are enough for a block of 256, and bank conflicts"},
    {"scan", "warp",
     "slower than blelloch-padded (182 against 176 us, 2^24 floats): 16191 branches diverge where "
     "1419 did"},
    {"histogram", "aggregated",
     "slower than replicated (237 against 149 us, 2^26 elements of 8 bins): finding equal "
     "elements takes shuffles, none before, and 4610 divergent branches where 258 were"},
    {"matmul", "tiled",
     "slower than naive at 512 (68 against 61 us): barriers and bank conflicts, of which naive has "
     "none; faster at 2048"},
    {"matmul", "column",
     "slower than tiled at 512 and below (73 against 68 us): tiles of 64 by 64 are fewer blocks "
     "than there are multiprocessors; faster from 1024 on"},
    {"matmul", "block",
     "slower than column (1.75 against 1.25 ms at 2048): an eighth as many threads, so that fewer "
     "warps go on while others wait for their panels"},
    {"matmul", "tf32x3",
     "slower than bf16 (12.0 against 1.7 ms at 8192): three products of TF32, for more digits, "
     "instead of one of 16 bits"},
    {"correlate", "constant",
     "slower than blocked for 15 by 15 and more (34.3 against 32.9 ms): a constant that is looked "
     "up by a number comes no sooner than a load that hits the first cache"},
    {"correlate", "registers",
     "slower than shared for 15 by 15 (5.9 against 5.5 ms): each load is still a request of its "
     "own"},
    {"correlate", "unrolled",
     "slower than shared below 1024 by 1024: too few blocks for all multiprocessors"},
    {"correlate", "banded",
     "slower than streamed for small kernels (120 against 41 us, bytes by 3 by 3): a fixed part of "
     "some 0.1 ms, the fill of tiles that blocks do not yet hide"},
    {"stencil", "window",
     "slower than global (209 against 116 ms): threads of a warp stand 8 columns apart, so that "
     "no access is coalesced"},
    {"stencil", "peeled",
     "slower than pairs in f32 (119 against 106 ms), faster in f64 (133 against 156 ms)"},
    {"pairs", "tiled",
     "slower than privatised (1085 against 15 ms): additions to counters in global memory are "
     "what naive waits for, not loads"},
    {"pairs", "lane",
     "slower than tiled-privatised (6.6 against 6.2 ms): the hardware adds equal counters of a "
     "warp at once by itself"},
    {"pairs", "shuffle",
     "slower than tiled-privatised (11.7 against 6.2 ms): six shuffles a pair take the place of "
     "loads from shared memory"},
};

const char *cli_slower(const char *operation, const char *rung, const char *on) {
  for (size_t i = 0; i < sizeof slower / sizeof *slower && strcmp(on, "gpu") == 0; i++)
    if (strcmp(slower[i].operation, operation) == 0 && strcmp(slower[i].rung, rung) == 0)
      return slower[i].why;
  return NULL;
}
