/* Rungs that records (docs/results/h200) show to be slower than one below, and why; the operations'
 * pages have the figures. */
#include <string.h>

#include "cli/rows.h"

static const struct {
  const char *operation, *rung, *why;
} slower[] = {
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
