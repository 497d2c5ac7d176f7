/* Vectors along the row: blocks of the image are widened at their edges, and chains of several rows
 * and columns go on in registers as the rows of the image come by. */
#include "ops/correlate/cpu/filter.h"

rung_status RUNG_ENTRY(correlate_rows)(const rung_task *task) {
  return RUNG_ENTRY(correlate_filter)(task, 1);
}
