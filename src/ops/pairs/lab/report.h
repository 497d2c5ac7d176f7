/* The points of the report's program: glibc's rand() after srand(1), in a cube. */
#ifndef RUNG_PAIRS_REPORT_H
#define RUNG_PAIRS_REPORT_H

#include <stdint.h>

#define PAIRS_REPORT_SIDE 23000.0

#ifdef __cplusplus
extern "C" {
#endif

/* n points, x, y, z of each in turn: (rand() / 2147483647) * 23000 in double. */
void pairs_report_points(int64_t n, double *points);

/* As many bins of a width above 0 as the report's program had: (int)(23000 * 1.732 / width) + 1. At
 * least 1; 0 where there would be more than `most`. */
int64_t pairs_report_bins(double width, int64_t most);

#ifdef __cplusplus
}
#endif
#endif
