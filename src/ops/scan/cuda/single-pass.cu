/* One launch and one pass over memory: a block takes the next tile, keeps it in registers, leaves
 * its total for the others, and waits for those of the tiles before: for aggregates only, its 31
 * family mates', its family's 31 mates' and so on, never for what they waited for themselves. So no
 * chain of blocks forms, and the association is the same every time. A line of one tile needs no
 * flags, and nothing is cleared for it. */
#include "ops/scan/cuda/single-pass.cuh"

struct scan_single_pass_rung {
  template <typename S, int V>
  static rung_status run(const rung_task *task, const scan_lines<S> &lines) {
    return scan_single_pass<S, V>(task, lines);
  }
};

extern "C" rung_status RUNG_ENTRY(scan_single_pass)(const rung_task *task) {
  return scan_by_source<scan_canonical<scan_single_pass_rung>>(task);
}
