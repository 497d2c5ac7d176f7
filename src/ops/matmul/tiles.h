/* Which tile a product is made by, where a rung has several: what a step of k costs by each, in
 * cycles of a multiprocessor, as measured on an H100 and an H200. For the host and for kernels'
 * launches. */
#ifndef RUNG_MATMUL_TILES_H
#define RUNG_MATMUL_TILES_H

#include <math.h>

#include "ops/matmul/matmul.h"
#include "ops/matmul/modes.h"
#include "ops/matmul/share.h"
#include "ops/matmul/turned.h"

typedef struct matmul_cost {
  int rows, columns;
  double alone; /* a step of a tile that has a multiprocessor for itself */
  double each;  /* of each one more */
  double start; /* what a tile waits for its first numbers, where many follow each other */
} matmul_cost;

enum {
  MATMUL_CHAINS_F32 = 5,
  MATMUL_CHAINS_F64 = 4,
  MATMUL_QUADS = 7,
  MATMUL_TENSOR = 5,
  MATMUL_TMA = 3,
  MATMUL_TMA_WARPS = 8, /* that multiply, of a block */
  MATMUL_QUADS_TMA = 4,
  MATMUL_QUADS_TMA_ALONG = 2, /* from this one on A may lie as its k goes on in memory */
  MATMUL_QUADS_TMA_WARPS = 4, /* that multiply, of a block */
  MATMUL_STRIPS = 2,
  MATMUL_SHORT = 64 /* steps of a short chain */
};

/* Of `chains`: 1 chain a thread in stages of 64 steps, and of 128; 2 by 2; 1 in a row; 2 by
 * 2 of larger tiles. */
static const matmul_cost matmul_chains_f32[MATMUL_CHAINS_F32] = {{4, 8, 6.8, 3.4, 2000},
                                                                 {4, 8, 5, 3.3, 2000},
                                                                 {16, 16, 10.9, 9, 4100},
                                                                 {1, 32, 16.8, 8, 3000},
                                                                 {16, 32, 18, 17, 5200}};
static const matmul_cost matmul_chains_f64[MATMUL_CHAINS_F64] = {
    {4, 8, 11, 10, 1000}, {4, 8, 9.5, 5.5, 1000}, {16, 16, 18.4, 17, 2300}, {1, 32, 20, 16, 2000}};

/* Of `quads`; the first one where both operands lie line beside line. */
static const matmul_cost matmul_quads_f32[MATMUL_QUADS] = {
    {96, 64, 96, 65, 10000}, {64, 128, 110, 76, 10000}, {64, 64, 68, 46, 6000},
    {128, 32, 68, 46, 6000}, {32, 128, 72, 52, 6000},   {32, 64, 42, 33, 3500},
    {32, 32, 31, 23, 2000}};
/* Of `tensor`, without which `quads` is what there is: what a step costs of one tile alone, of two
 * and of three at once, as many as a multiprocessor holds; what more it costs where elements come
 * in one by one; and how many steps a stage has. Tiles that read more of shared memory draw more
 * power, and pay for it where many follow each other. Where blocks share tiles a step takes
 * `shared` times as long. */
typedef struct matmul_group {
  int rows, columns, depth, resident;
  double of[3], uneven, shared;
} matmul_group;

static const matmul_group matmul_tensor_f64[MATMUL_TENSOR] = {{128, 128, 16, 1, {127, 0, 0}, 18, 1},
                                                              {64, 64, 16, 3, {66, 73, 110}, 11, 1},
                                                              {32, 64, 16, 2, {36, 54, 0}, 18, 1},
                                                              {32, 32, 16, 3, {27, 28, 38}, 7, 1},
                                                              {16, 32, 64, 2, {15.5, 24, 0}, 8, 1}};

/* Of `tensor-tma`, where elements never come in one by one; on an H200. */
static const matmul_group matmul_tma_f64[MATMUL_TMA] = {{128, 128, 16, 1, {135, 0, 0}, 0, 1.15},
                                                        {128, 64, 16, 2, {82, 146, 0}, 0, 1.15},
                                                        {64, 64, 16, 3, {64, 90, 128}, 0, 1.15}};

/* Of `quads-tma`. */
static const matmul_group matmul_quads_tma_f32[MATMUL_QUADS_TMA] = {
    {256, 64, 16, 2, {170, 315, 0}, 0, 1},
    {64, 128, 16, 3, {88, 168, 250}, 0, 1},
    {64, 64, 16, 3, {57, 95, 143}, 0, 1},
    {32, 64, 16, 3, {38, 60, 90}, 0, 1}};

/* Of `strips`: of one row, and of eight; on an H200, where 15 cycles are what memory takes for a
 * step of 64 floats in all multiprocessors. Wide strips of doubles gain nothing. */
static const matmul_cost matmul_strip_f32[MATMUL_STRIPS] = {{1, 32, 10, 7, 4000},
                                                            {1, 64, 15, 15.5, 4000}},
                         matmul_strips_f32[MATMUL_STRIPS] = {{8, 32, 14.5, 9, 4000},
                                                             {8, 64, 22.5, 14, 4000}},
                         matmul_strip_f64[1] = {{1, 32, 16.5, 15.3, 4000}},
                         matmul_strips_f64[1] = {{8, 32, 25, 17, 4000}};

/* Tiles of the multiprocessor that has the most of them. */
static inline double matmul_busiest(const rung_task *task, int rows, int columns, int64_t m,
                                    int64_t n) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const int64_t down = (m + rows - 1) / rows, across = (n + columns - 1) / columns;
  const double all = (double)down * (double)across * (double)p->batch;
  const double busiest = all / task->device->processors;
  return busiest < 16 ? (double)(int64_t)(busiest + 1 - 1e-9) : busiest;
}

static inline double matmul_cost_of(const rung_task *task, const matmul_cost *tile, int64_t m,
                                    int64_t n) {
  const double busiest = matmul_busiest(task, tile->rows, tile->columns, m, n);
  return tile->alone + (busiest - 1) * tile->each;
}

/* The cheapest of `count` tiles for an m by n matrix. */
static inline int matmul_cheapest(const rung_task *task, const matmul_cost *tiles, int count,
                                  int64_t m, int64_t n, double *cost) {
  int best = 0;
  *cost = matmul_cost_of(task, &tiles[0], m, n);
  for (int i = 1; i < count; i++) {
    const double found = matmul_cost_of(task, &tiles[i], m, n);
    if (found >= *cost) continue;
    best = i;
    *cost = found;
  }
  return best;
}

/* Of `strips`, for a product that is at least as wide as high. */
static inline const matmul_cost *matmul_strips_tile(const rung_task *task, int64_t m, int64_t n,
                                                    double *cost) {
  const bool single = ((const matmul_problem *)task->problem)->types.in == RUNG_F32;
  const matmul_cost *tiles = m == 1   ? single ? matmul_strip_f32 : matmul_strip_f64
                             : single ? matmul_strips_f32
                                      : matmul_strips_f64;
  return &tiles[matmul_cheapest(task, tiles, single ? MATMUL_STRIPS : 1, m, n, cost)];
}

/* Whether 16 bytes of C from a multiple of as many on are in all its rows or in none. */
static inline bool matmul_c_has_quads(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const rung_view *c = &task->arrays[MATMUL_C];
  const matmul_steps steps = matmul_steps_of(c, false);
  return matmul_is_wide(c, &steps) && p->n * (int64_t)rung_dtype_bytes(c->dtype) % 16 == 0;
}

/* Whether C, rather than the chains, is what takes time: it then goes through shared memory, so
 * that neighbours store neighbours. */
static inline bool matmul_turns_c(const rung_task *task) {
  return ((const matmul_problem *)task->problem)->k <= MATMUL_SHORT && !matmul_c_has_quads(task);
}

/* Of `quads`; the first of its tiles is for operands that lie line beside line, or are copied so.
 */
static inline int matmul_quads_tile(const rung_task *task, double *cost) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_turned turned = matmul_turned_of(task);
  const bool lines =
      (turned.a || matmul_steps_of(&task->arrays[MATMUL_A], p->a_turned).row == 1) &&
      (turned.b || matmul_steps_of(&task->arrays[MATMUL_B], p->b_turned).column == 1);
  const int first = lines ? 0 : 1;
  return first +
         matmul_cheapest(task, matmul_quads_f32 + first, MATMUL_QUADS - first, p->m, p->n, cost);
}

/* The part of what comes in that does so by single elements, of doubles. */
static inline double matmul_uneven_part(const rung_task *task, const matmul_group *tile) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_steps a = matmul_steps_of(&task->arrays[MATMUL_A], p->a_turned);
  const matmul_steps b = matmul_steps_of(&task->arrays[MATMUL_B], p->b_turned);
  const bool a_uneven = (p->a_turned ? a.column : a.row) % 2 != 0;
  const bool b_uneven = (p->b_turned ? b.column : b.row) % 2 != 0;
  return (double)((a_uneven ? tile->rows : 0) + (b_uneven ? tile->columns : 0)) /
         (tile->rows + tile->columns);
}

/* Blocks of such a tile that are there at once, and tiles that they share where they may. */
static inline int64_t matmul_group_blocks(const rung_task *task, const matmul_group *tile) {
  return (int64_t)task->device->processors * tile->resident;
}
static inline int64_t matmul_tiles_in(const matmul_problem *p, const matmul_group *tile) {
  return ((p->m + tile->rows - 1) / tile->rows) * ((p->n + tile->columns - 1) / tile->columns) *
         p->batch;
}
static inline int64_t matmul_group_cut(const rung_task *task, const matmul_group *tile) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  return matmul_cut_tiles(matmul_tiles_in(p, tile), matmul_group_blocks(task, tile), p->k,
                          tile->shared);
}

/* Of `tensor`: groups of as many tiles as a multiprocessor holds, one after the other. */
static inline double matmul_group_cost(const rung_task *task, const matmul_group *tile) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const double busiest = ceil(matmul_busiest(task, tile->rows, tile->columns, p->m, p->n) - 1e-9);
  const double groups = floor(busiest / tile->resident);
  const int rest = (int)(busiest - groups * tile->resident);
  return groups * tile->of[tile->resident - 1] + (rest > 0 ? tile->of[rest - 1] : 0) +
         busiest * tile->uneven * matmul_uneven_part(task, tile);
}

/* The same of blocks that share tiles which do not come out even. */
static inline double matmul_shared_cost(const rung_task *task, const matmul_group *tile) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  if (matmul_group_cut(task, tile) == 0) return matmul_group_cost(task, tile);
  const double turns = (double)matmul_tiles_in(p, tile) / (double)matmul_group_blocks(task, tile);
  return tile->of[tile->resident - 1] *
         (turns * tile->shared + (double)MATMUL_SHARE_STEPS / (double)p->k);
}

typedef double matmul_cost_by(const rung_task *task, const matmul_group *tile);

/* The cheapest, of long stages only where chains fill them. */
static inline int matmul_cheapest_group(const rung_task *task, const matmul_group *tiles, int count,
                                        matmul_cost_by *cost_of, double *cost) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  int best = 0;
  *cost = cost_of(task, &tiles[0]);
  for (int i = 1; i < count; i++) {
    const matmul_group *tile = &tiles[i];
    if (tile->depth > 16 && tile->depth > p->k) continue;
    const double found = cost_of(task, tile);
    if (found >= *cost) continue;
    best = i;
    *cost = found;
  }
  return best;
}
static inline int matmul_tensor_tile(const rung_task *task, double *cost) {
  return matmul_cheapest_group(task, matmul_tensor_f64, MATMUL_TENSOR, matmul_group_cost, cost);
}

static inline int matmul_tma_tile(const rung_task *task, double *cost) {
  return matmul_cheapest_group(task, matmul_tma_f64, MATMUL_TMA, matmul_shared_cost, cost);
}

/* Whether the tensor memory accelerator can bring both operands from where they lie. */
static inline bool matmul_tma_may(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const rung_view *in_a = &task->arrays[MATMUL_A], *in_b = &task->arrays[MATMUL_B];
  const matmul_steps a = matmul_steps_of(in_a, p->a_turned), b = matmul_steps_of(in_b, p->b_turned);
  const int bytes = (int)sizeof(double);
  return p->k > 0 &&
         (p->a_turned ? matmul_lies_well(in_a, p->m, p->k, a.column, a.batch, bytes)
                      : matmul_lies_well(in_a, p->k, p->m, a.row, a.batch, bytes)) &&
         (p->b_turned ? matmul_lies_well(in_b, p->k, p->n, b.column, b.batch, bytes)
                      : matmul_lies_well(in_b, p->n, p->k, b.row, b.batch, bytes));
}

/* How `quads-tma` makes a product: its tile; whether it has A brought as its k goes on in memory,
 * which takes small tiles a twelfth longer, but no copy; what is copied first, line beside line;
 * and what a step of k costs in all. */
typedef struct matmul_tma_plan {
  int tile;
  bool along;
  matmul_turned turned;
  double step;
} matmul_tma_plan;

static inline matmul_tma_plan matmul_tma_plan_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const rung_view *in_a = &task->arrays[MATMUL_A], *in_b = &task->arrays[MATMUL_B];
  const matmul_steps a = matmul_steps_of(in_a, p->a_turned), b = matmul_steps_of(in_b, p->b_turned);
  const int bytes = (int)sizeof(float), lines = 32;
  const bool a_lines = p->a_turned && matmul_lies_well(in_a, p->m, p->k, a.column, a.batch, bytes);
  const bool a_along = !p->a_turned && matmul_lies_well(in_a, p->k, p->m, a.row, a.batch, bytes);
  const bool b_lines = !p->b_turned && matmul_lies_well(in_b, p->n, p->k, b.row, b.batch, bytes);
  const double steps = p->k > 0 ? (double)p->k : 1;
  matmul_tma_plan best = {0, false, {false, false, 0, 0, 0, 0}, INFINITY};
  for (int i = 0; i < MATMUL_QUADS_TMA; i++) {
    const int ways = a_along && i >= MATMUL_QUADS_TMA_ALONG ? 2 : 1;
    for (int way = 0; way < ways; way++) {
      const bool along = way == 1;
      matmul_tma_plan plan = {i, along, {false, false, 0, 0, 0, 0}, 0};
      plan.turned = matmul_turned_as(task, p->k > 0 && !a_lines && !along, p->k > 0 && !b_lines,
                                     lines, lines);
      plan.step = matmul_shared_cost(task, &matmul_quads_tma_f32[i]) * (along ? 1.08 : 1) +
                  (1000 + matmul_turned_cycles(&plan.turned)) / steps;
      if (plan.step < best.step) best = plan;
    }
  }
  return best;
}

/* What a step takes by `quads`, with its copies; what comes in by single elements, turned or not,
 * costs it a fifth more. */
static inline double matmul_quads_step(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_steps a = matmul_steps_of(&task->arrays[MATMUL_A], p->a_turned);
  const matmul_steps b = matmul_steps_of(&task->arrays[MATMUL_B], p->b_turned);
  const matmul_turned turned = matmul_turned_of(task);
  const bool a_single = !turned.a && (!p->a_turned || a.column % 4 != 0),
             b_single = !turned.b && (p->b_turned || b.row % 4 != 0);
  double cost;
  const matmul_cost *tile = &matmul_quads_f32[matmul_quads_tile(task, &cost)];
  const int single = (a_single ? tile->rows : 0) + (b_single ? tile->columns : 0);
  return cost * (1 + 0.2 * single / (tile->rows + tile->columns)) +
         matmul_turned_cycles(&turned) / (p->k > 0 ? (double)p->k : 1);
}

/* Of `chains`, for a product that is at least as wide as high: short stages where k is short. */
static inline int matmul_chains_tile(const rung_task *task, int64_t m, int64_t n, double *cost) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const bool single = p->types.in == RUNG_F32;
  const matmul_cost *tiles = single ? matmul_chains_f32 : matmul_chains_f64;
  const int count = single ? MATMUL_CHAINS_F32 : MATMUL_CHAINS_F64;
  if (p->k < 512) {
    *cost = matmul_cost_of(task, &tiles[0], m, n);
    if (*cost <= tiles[2].alone) return 0;
  }
  return matmul_cheapest(task, tiles + 1, count - 1, m, n, cost) + 1;
}

/* What more `chains` takes for lines that lie side by side in rows which begin anywhere: eight of
 * them, which come in at once, are then two sectors of memory. */
static inline double matmul_chains_uneven(const rung_task *task, int number, int64_t m, int64_t n) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_cost *tile =
      p->types.in == RUNG_F32 ? &matmul_chains_f32[number] : &matmul_chains_f64[number];
  const int sector = 32 / (int)rung_dtype_bytes(p->types.in);
  const matmul_steps a = matmul_steps_of(&task->arrays[MATMUL_A], p->a_turned);
  const matmul_steps b = matmul_steps_of(&task->arrays[MATMUL_B], p->b_turned);
  const bool wide = p->m <= p->n; /* else A's lines are the tile's columns */
  double lines = 0;
  if (p->a_turned && a.column % sector != 0) lines += wide ? tile->rows : tile->columns;
  if (!p->b_turned && b.row % sector != 0) lines += wide ? tile->columns : tile->rows;
  return matmul_busiest(task, tile->rows, tile->columns, m, n) * lines * 0.6;
}

#endif
