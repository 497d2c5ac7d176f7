/* Which tile a product is made by, where a rung has several: what a step of k costs by each, in
 * cycles of a multiprocessor, as measured on an H100 and an H200. For the host and for kernels'
 * launches. */
#ifndef RUNG_MATMUL_TILES_H
#define RUNG_MATMUL_TILES_H

#include "ops/matmul/matmul.h"

typedef struct matmul_cost {
  int rows, columns;
  double alone; /* a step, of a tile that has a multiprocessor for itself, or nearly */
  double each;  /* of each, where there are many */
} matmul_cost;

enum { MATMUL_CHAINS = 6, MATMUL_QUADS = 5, MATMUL_STRIPS = 4 };

/* Of `chains`: a thread's 1, 1, 2 by 2, 2 by 2, 1 and 2 by 2 chains. */
static const matmul_cost matmul_chains_f32[MATMUL_CHAINS] = {
    {4, 8, 6.8, 3.4},   {4, 8, 5, 3.3},    {16, 16, 10.9, 9.5},
    {16, 32, 18, 17.5}, {1, 32, 16.8, 10}, {8, 16, 13, 8}};
static const matmul_cost matmul_chains_f64[MATMUL_CHAINS] = {{4, 8, 11, 10},     {4, 8, 9.5, 9},
                                                             {16, 16, 18.4, 18}, {16, 32, 35, 35},
                                                             {1, 32, 24, 20},    {8, 16, 20, 18}};

static const matmul_cost matmul_quads_f32[MATMUL_QUADS] = {
    {64, 128, 115, 88}, {128, 64, 118, 90}, {64, 64, 75, 53}, {32, 64, 42, 38}, {32, 32, 33, 23}};
/* `tensor` has three sizes, which choose themselves; without it `quads` is what there is. */
static const matmul_cost matmul_tensor_f64[] = {{32, 32, 27, 16}, {64, 64, 90, 42}};

/* Of `strips`: of one row, and of eight. */
static const matmul_cost matmul_strips_f32[MATMUL_STRIPS] = {
    {1, 128, 32, 32}, {1, 32, 27, 27}, {8, 128, 50, 50}, {8, 32, 30, 33}};
static const matmul_cost matmul_strips_f64[MATMUL_STRIPS] = {
    {1, 128, 65, 65}, {1, 32, 29, 29}, {8, 128, 97, 97}, {8, 32, 60, 65}};

static inline double matmul_cost_of(const rung_task *task, const matmul_cost *tile, int64_t m,
                                    int64_t n) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const int64_t down = (m + tile->rows - 1) / tile->rows,
                across = (n + tile->columns - 1) / tile->columns;
  const double all = (double)down * (double)across * (double)p->batch;
  double busiest = all / task->device->processors;
  if (busiest < 16) busiest = (double)(int64_t)(busiest + 1 - 1e-9); /* tiles of one of them */
  return busiest * tile->each > tile->alone ? busiest * tile->each : tile->alone;
}

/* The cheapest of the first `count` that an m by n matrix holds; the smallest one's if it holds
 * none. */
static inline int matmul_cheapest(const rung_task *task, const matmul_cost *tiles, int count,
                                  int64_t m, int64_t n, double *cost) {
  int best = -1, smallest = 0;
  for (int i = 0; i < count; i++) {
    if (tiles[i].rows * tiles[i].columns < tiles[smallest].rows * tiles[smallest].columns)
      smallest = i;
    if (tiles[i].rows > m || tiles[i].columns > n) continue;
    const double found = matmul_cost_of(task, &tiles[i], m, n);
    if (best >= 0 && found >= *cost) continue;
    best = i;
    *cost = found;
  }
  if (best >= 0) return best;
  *cost = matmul_cost_of(task, &tiles[smallest], m, n);
  return smallest;
}

/* Of `chains`, for a product that is at least as wide as high: stages of 64 steps where k is short.
 */
static inline int matmul_chains_tile(const rung_task *task, const matmul_cost *tiles, int64_t m,
                                     int64_t n, double *cost) {
  const bool is_short = ((const matmul_problem *)task->problem)->k < 512;
  return is_short && m >= 4 && n >= 8 && matmul_cheapest(task, tiles, 1, m, n, cost) == 0 &&
                 *cost <= tiles[2].alone
             ? 0
             : matmul_cheapest(task, tiles + 1, MATMUL_CHAINS - 1, m, n, cost) + 1;
}

#endif
