/* The canonical order, by one thread. A tile is read twice: from memory for the totals of its rows,
 * which are found in vector registers, all rows of a band at a time, and then from the cache for
 * the results, no row waiting for the one before. */
#include "backend/cpu/isa.h"
#include "ops/scan/cpu/line.h"

rung_status RUNG_ENTRY(scan_tiles)(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  if (scan_short_ones(task, 0, problem->lines)) return RUNG_OK;
  for (int64_t l = 0; l < problem->lines; ++l) {
    scan_line line = scan_line_of(task, l);
    line.aggregates = (char *)task->scratch;
    for (int64_t tile = 0; tile < line.tiles; ++tile) scan_one_tile(&line, tile, NULL);
  }
  return RUNG_OK;
}
