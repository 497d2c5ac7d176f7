/* The numbers of glibc's rand() (its TYPE_3 generator) on every C library: r[i] = r[i - 3] +
 * r[i - 31] modulo 2^32, of which the lowest bit is dropped. The first 31 come from 16807 r modulo
 * 2^31 - 1, beginning with the seed 1; the 310 after them are passed over. */
#include "ops/pairs/lab/report.h"

enum { LAG = 31, SHORT_LAG = 3, PASSED_OVER = 310 };

typedef struct generator {
  uint32_t last[LAG]; /* the ring of the latest numbers */
  int at;             /* where the oldest is */
} generator;

static uint32_t next(generator *g) {
  const uint32_t sum = g->last[g->at] + g->last[(g->at + LAG - SHORT_LAG) % LAG];
  g->last[g->at] = sum;
  g->at = (g->at + 1) % LAG;
  return sum >> 1;
}

static void seed(generator *g) {
  uint64_t r = 1;
  for (int i = 0; i < LAG; ++i) {
    g->last[i] = (uint32_t)r;
    r = 16807 * r % 2147483647;
  }
  g->at = SHORT_LAG;
  for (int i = 0; i < PASSED_OVER; ++i) next(g);
}

void pairs_report_points(int64_t n, double *points) {
  generator g;
  seed(&g);
  for (int64_t i = 0; i < 3 * n; ++i)
    points[i] = (double)next(&g) / 2147483647.0 * PAIRS_REPORT_SIDE;
}

int64_t pairs_report_bins(double width, int64_t most) {
  const double bins = PAIRS_REPORT_SIDE * 1.732 / width;
  return bins < (double)most ? (int64_t)bins + 1 : 0;
}
