/* The rungs of matmul, and their scratch. */
#include <inttypes.h>
#include <stdio.h>

#include "core/prefer.h"
#include "ops/matmul/cpu/sizes.h"
#include "ops/matmul/modes.h"
#include "ops/matmul/pieces.h"
#include "ops/matmul/tiles.h"
#include "ops/matmul/turned.h"
#include "ops/matmul/widened.h"

RUNG_CPU_DECLARE(matmul_naive);
RUNG_CPU_DECLARE(matmul_loop_order);
RUNG_CPU_DECLARE(matmul_blocked);
RUNG_CPU_DECLARE(matmul_packed);
RUNG_CPU_DECLARE(matmul_threads);
RUNG_CPU_DECLARE(matmul_digits);
RUNG_CPU_DECLARE(matmul_packed_digits);

/* ---- scratch ----------------------------------------------------------------------------------
 */

static const matmul_problem *problem_of(const rung_task *task) {
  return (const matmul_problem *)task->problem;
}

static size_t row_scratch(const rung_task *task) {
  return (size_t)problem_of(task)->n * rung_dtype_bytes(problem_of(task)->types.accumulate);
}

static size_t packed_scratch(const rung_task *task) {
  return matmul_product_scratch(task, 1);
}

static size_t threads_scratch(const rung_task *task) {
  const int64_t threads = task->device->threads;
  if (matmul_deals(problem_of(task))) return (size_t)threads * matmul_product_scratch(task, 1);
  return matmul_product_scratch(task, threads);
}

static size_t turned_scratch(const rung_task *task) {
  const matmul_turned turned = matmul_turned_of(task);
  return turned.a_bytes + turned.b_bytes;
}

/* Where blocks share tiles they leave each other a tile each, and say so by marks. */
static size_t left_chains(const rung_task *task, const matmul_group *tile) {
  const size_t each =
      (size_t)(tile->rows * tile->columns) * rung_dtype_bytes(problem_of(task)->types.accumulate);
  return matmul_group_cut(task, tile) > 0 ? (size_t)matmul_group_blocks(task, tile) * each : 0;
}
static size_t share_zeros(const rung_task *task, const matmul_group *tile, int warps) {
  return matmul_group_cut(task, tile) > 0
             ? matmul_share_zeros(matmul_group_blocks(task, tile), warps)
             : 0;
}
static size_t quads_tma_scratch(const rung_task *task) {
  const matmul_tma_plan plan = matmul_tma_plan_of(task);
  return plan.turned.a_bytes + plan.turned.b_bytes +
         left_chains(task, &matmul_quads_tma_f32[plan.tile]);
}
static size_t quads_tma_zeros(const rung_task *task) {
  return share_zeros(task, &matmul_quads_tma_f32[matmul_tma_plan_of(task).tile],
                     MATMUL_QUADS_TMA_WARPS);
}
static size_t tensor_tma_scratch(const rung_task *task) {
  double cost;
  return left_chains(task, &matmul_tma_f64[matmul_tma_tile(task, &cost)]);
}
static size_t tensor_tma_zeros(const rung_task *task) {
  double cost;
  return share_zeros(task, &matmul_tma_f64[matmul_tma_tile(task, &cost)], MATMUL_TMA_WARPS);
}

static size_t widened_scratch(const rung_task *task) {
  return problem_of(task)->types.in == RUNG_F32 ? 0 : matmul_widened_of(task).bytes;
}

static size_t planes_scratch(const rung_task *task) {
  return matmul_planes_of(task).bytes;
}

/* How digits are packed depends on the instructions there are. */
typedef size_t scratch_of(const rung_task *task);
scratch_of RUNG_CPU_NAMES(matmul_packed_digits_scratch);

static size_t packed_digits_scratch(const rung_task *task) {
  static scratch_of *const entries[RUNG_ISAS] = RUNG_CPU_ENTRIES(matmul_packed_digits_scratch);
  return entries[task->device->isa](task);
}

static size_t dp4a_scratch(const rung_task *task) {
  return matmul_pieces_of(task, 0, 0, 0).bytes;
}
static size_t mma_scratch(const rung_task *task) {
  return matmul_mma_pieces(task).bytes;
}
static size_t mma_zeros(const rung_task *task) {
  return matmul_mma_pieces(task).zeros;
}
static size_t fused_zeros(const rung_task *task) {
  return matmul_fused_cut_of(task).bytes;
}
static size_t wgmma_scratch(const rung_task *task) {
  return matmul_wgmma_pieces(task).bytes;
}
static size_t wgmma_zeros(const rung_task *task) {
  return matmul_wgmma_pieces(task).zeros;
}

static size_t copies_of(const rung_task *task, const matmul_mode *mode) {
  const matmul_operands of = matmul_operands_of(task, mode);
  return of.a_bytes + of.b_bytes;
}
static size_t tf32_scratch(const rung_task *task) {
  return copies_of(task, &matmul_tf32);
}
static size_t tf32x3_scratch(const rung_task *task) {
  return copies_of(task, &matmul_tf32x3);
}
static size_t half_scratch(const rung_task *task) {
  return copies_of(task, &matmul_bf16); /* as many as f16 has */
}
static size_t i8_scratch(const rung_task *task) {
  return copies_of(task, &matmul_i8);
}

/* ---- what rungs cannot do -----------------------------------------------------------------------
 */

/* Whether a block has so much shared memory. */
static bool shared_fits(const rung_task *task, int bytes, char why[RUNG_REASON]) {
  if (task->device->shared_bytes >= bytes) return true;
  snprintf(why, RUNG_REASON,
           "its stages take %d bytes of shared memory, and a block has %" PRId64
           "; expected: rung \"pipelined\"",
           bytes, task->device->shared_bytes);
  return false;
}

static bool quads_fit(const rung_task *task, char why[RUNG_REASON]) {
  const bool single = problem_of(task)->types.in == RUNG_F32;
  /* Of the tile that takes most: 32 by 32 of six stages; 64 by 128 of three. */
  const int single_bytes = 6 * 32 * (36 + 36) * 4, double_bytes = 3 * 16 * (66 + 130) * 8;
  return shared_fits(task, single ? single_bytes : double_bytes, why);
}

static bool tensor_fits(const rung_task *task, char why[RUNG_REASON]) {
  return shared_fits(task, 6 * (32 + 64) * 20 * 8, why);
}

static bool naive_is_ahead(const rung_task *task);

/* Of short chains and many results what takes time is to store C, which `quads` does sooner: 2500
 * by 2002 by 24 in 29 us on an H200 instead of 33, and at 40 steps they are alike. Of fewer results
 * `tensor` is ahead from 11 steps on, and so it is of small matrices. */
static bool tensor_pays(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  char why[RUNG_REASON];
  if (naive_is_ahead(task)) return false;
  if (!quads_fit(task, why)) return true;
  const double results = (double)p->m * (double)p->n;
  const bool many = results >= 0x1p18 && results * (double)p->batch >= 0x1p21;
  return p->k > (many ? 40 : 10);
}

/* Code for 9.0a: no later chip has all of its instructions. */
static bool is_hopper(const rung_task *task, int bytes, char why[RUNG_REASON]) {
  const matmul_problem *p = problem_of(task);
  const int64_t most = INT32_MAX - MATMUL_MARGIN;
  if (task->device->capability != 90) {
    snprintf(why, RUNG_REASON, "it is made for compute capability 9.0 alone, and %s has %d.%d",
             task->device->name, task->device->capability / 10, task->device->capability % 10);
    return false;
  }
  if (p->batch <= most && p->m <= most && p->n <= most && p->k <= most / 2)
    return shared_fits(task, bytes, why);
  snprintf(why, RUNG_REASON,
           "its extents have 31 bits, and these are %" PRId64 " products with m = %" PRId64
           ", n = %" PRId64 ", k = %" PRId64,
           p->batch, p->m, p->n, p->k);
  return false;
}

static bool has_wgmma(const rung_task *task, char why[RUNG_REASON]) {
  return is_hopper(task, 4 * 48 * 1024 + 1024 + 4 * 16, why);
}
static bool has_tma(const rung_task *task, char why[RUNG_REASON]) {
  return is_hopper(task, 6 * 32 * 1024 + 1024 + 6 * 16, why);
}

static bool past_small(const rung_task *task);

/* Copies are to leave the memory to others. */
static bool quads_tma_pays(const rung_task *task) {
  return past_small(task) && problem_of(task)->k > 0 && !matmul_turns_c(task) &&
         (double)quads_tma_scratch(task) <= (double)task->device->memory_bytes / 4 &&
         matmul_tma_plan_of(task).step < matmul_quads_step(task);
}

/* What a step costs was measured where power is not short, and by large tiles it is: of these
 * `tensor` takes an eighth more than `tensor-tma` on an H200, and not less. */
static bool tma_pays(const rung_task *task) {
  double cost, others;
  matmul_tma_tile(task, &cost);
  matmul_tensor_tile(task, &others);
  return tensor_pays(task) && matmul_tma_may(task) && cost <= 1.15 * others;
}

/* Rounding and copying take launches of their own: below so many multiply-adds strict rungs, that
 * are one, are as fast. Of bytes they are not where chains are long: 1 by 1024 by 1024 takes
 * `tensor-i8` 16 us on an H200, and `naive` 108 (docs/results/h200/matmul-narrow.csv). */
static bool bytes_pay(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  return p->k >= 96 || (p->flops / 2 >= 0x1p24 && p->m >= 16 && p->n >= 16);
}

static bool pays(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const double least = p->types.in == RUNG_F32 ? 0x1p28 : 0x1p24;
  return p->flops / 2 >= least;
}

/* Copies and their product take two launches or three: tiny products, and few columns and short
 * chains, which are read and written rather than computed, are as fast by `naive`, which is one
 * (docs/results/h200/matmul-narrow.csv). Copies are to leave the memory to others, and where a job
 * has been cut down to its smallest pieces there is no room for them. */
static bool widened_pays(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const bool thin = p->k <= 16 && (p->m <= 16 || p->n <= 16);
  return p->flops / 2 >= 0x1p13 && !thin && !p->smallest &&
         (double)widened_scratch(task) <= (double)task->device->memory_bytes / 4;
}

/* A small product on a GPU is a wait for memory and one for every step along k: `tiled` made 16, 32
 * and 40 by 40 by 80 in 5.0, 5.9 and 6.8 us on an H200, where `strips` took 7.2 of the first and
 * `quads` 6.3 and 9.0 of the others; at 64 `quads` is ahead (docs/results/h200/matmul-small-f32).
 * Of larger ones with short chains, 340 by 678 by 11, it takes 7.2 us and `quads` 10.2. */
static bool past_small(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  if (naive_is_ahead(task)) return false;
  if (p->types.in != RUNG_F32 || p->batch > 1) return true;
  if (p->k <= 40 && p->flops / 2 <= 0x1p22 && p->m >= 8 && p->n >= 8) return false;
  return p->k > 48 || p->m < 16 || p->n < 16 || p->m > 80 || p->n > 80;
}

/* Of halves and bytes its tiles of 64 by 64 are too few for the GPU below, and `naive` is ahead. */
static bool block_pays(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  if (p->types.in == RUNG_F32 || p->types.in == RUNG_F64) return past_small(task);
  return p->m >= 64 && p->n >= 64 && p->m > ((int64_t)1 << 20) / p->n;
}

/* Few lines in both operands, each of which is cut once or twice whatever the rung. */
static bool few_lines(const matmul_problem *p) {
  return p->m <= 2 * MATMUL_FUSED_SIDE && p->n <= 2 * MATMUL_FUSED_SIDE;
}

/* Clusters of 256 by 256 elements: below so many multiply-adds `mma` fills more multiprocessors. */
static bool fixed_pays(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  return !few_lines(p) && p->flops / 2 >= 0x1p32;
}

static bool mma_fits(const rung_task *task, char why[RUNG_REASON]) {
  return shared_fits(task, 3 * (128 + 128) * 64 + 16, why);
}

/* Every tile cuts its lines' digits anew: on an H200 that costs as much as planes of digits, which
 * launches of their own make, at some 64 tiles of k = 4096. */
static bool fused_pays(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  return few_lines(p) || (double)matmul_squares(p, MATMUL_FUSED_SIDE) * (double)p->k <= 0x1p17;
}

static bool fused_fits(const rung_task *task, char why[RUNG_REASON]) {
  return shared_fits(task, 2 * MATMUL_FUSED_SIDE * (64 * 4 + 20) + 16, why);
}

static bool is_batch(const rung_task *task, char why[RUNG_REASON]) {
  const matmul_problem *p = problem_of(task);
  if (p->batch > 1 ? p->m <= 32 && p->n <= 32 : (p->m <= 32) != (p->n <= 32))
    return shared_fits(task, 4 * 2 * 2 * 32 * 34 * 8, why);
  snprintf(why, RUNG_REASON,
           "it makes batches of small products, and these are %" PRId64 " of %" PRId64
           " by %" PRId64
           "; expected: at least 2 of at most 32 by 32, or 1 of at most 32 rows or "
           "columns and more of the other",
           p->batch, p->m, p->n);
  return false;
}

static bool chains_fit(const rung_task *task, char why[RUNG_REASON]) {
  const bool single = problem_of(task)->types.in == RUNG_F32;
  return shared_fits(task, single ? 4 * 48 * 132 * 4 : 4 * 32 * 66 * 8, why);
}

static bool is_slender(const rung_task *task, char why[RUNG_REASON]) {
  const matmul_problem *p = problem_of(task);
  if (p->m < 32 || p->n < 32) return shared_fits(task, 6 * (64 * 36 + 8 * 64) * 4, why);
  snprintf(why, RUNG_REASON,
           "it makes products of few rows or columns, and there are %" PRId64 " by %" PRId64
           "; expected: less than 32 of one",
           p->m, p->n);
  return false;
}

/* Whether doubles have tensor cores for their chains. */
static bool has_tensor(const rung_task *task) {
  return problem_of(task)->types.in == RUNG_F64 && task->device->capability >= 90;
}

/* The large matrix streams by in `strips`: whether it goes on along k, and whether what goes on in
 * memory begins anywhere. */
typedef struct strips_lie {
  bool along, uneven;
} strips_lie;

static strips_lie strips_lie_of(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const bool wide = p->m <= p->n, along = wide ? p->b_turned : !p->a_turned;
  const matmul_steps large = wide ? matmul_steps_of(&task->arrays[MATMUL_B], p->b_turned)
                                  : matmul_steps_of(&task->arrays[MATMUL_A], p->a_turned);
  const int quad = p->types.in == RUNG_F32 ? 4 : 2;
  return (strips_lie){along, (wide == along ? large.column : large.row) % quad != 0};
}

/* What a step of k takes by `strips`. *tile: which one. */
static double strips_step(const rung_task *task, int64_t m, int64_t n, matmul_cost *tile) {
  const strips_lie lie = strips_lie_of(task);
  double cost;
  *tile = *matmul_strips_tile(task, m, n, &cost);
  if (m == 1 || !lie.uneven) return cost;
  const bool single = problem_of(task)->types.in == RUNG_F32;
  return cost * (!lie.along ? 1.3 : single ? 2 : 1.2);
}

/* Whether not one stage of this tile of `chains` is whole, of 64 steps, or 128 but of the first:
 * then each element that comes in is tested. Of few results that is still the fastest. */
static bool chains_are_cut(const matmul_problem *p, int tile) {
  return p->k < (tile == 0 ? 64 : 128) && (p->k < 48 || p->m > 4096 / p->n);
}

/* ---- many products ------------------------------------------------------------------------------
 *
 * Of a batch a multiprocessor has many tiles, one after another, and each waits for its first
 * numbers, which of single products, that have few, does not decide: cycles of a multiprocessor for
 * all of it, fitted to 1800 batches on an H200, and again to 2100. Of these the choice is 3 % off
 * the best in the mean of floats, 6 % of doubles; 12 and 19 % in one of ten; 3.1 and 2.1 times at
 * worst. */

static bool is_many(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  return p->batch > 1 && (p->types.in == RUNG_F32 || p->types.in == RUNG_F64);
}

/* Two cycles a result, and so many multiply-adds a cycle, by how well neighbouring threads' loads
 * go together; where few results are waited for a step takes what a load does, from a cache or, of
 * more of them, from memory. */
static double naive_cycles(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const double results = (double)p->batch * (double)p->m * (double)p->n / task->device->processors;
  const bool single = p->types.in == RUNG_F32, few = p->n < 16, thin = p->m <= 2 || p->n <= 2;
  double each = single ? (few ? 6.5 : 8.8) : few ? 4.2 : 5, step = single ? 90 : 170;
  if (p->b_turned) each = single ? (few ? 4.5 : 2.4) : few ? 3.2 : 1.5;
  if (thin) each = single ? 4 : 2.4;
  if (thin && (p->m <= p->n ? p->b_turned : !p->a_turned)) each = single ? 2.2 : 1;
  if (results > (thin ? 45 : few ? 180 : 400)) step *= 2.4;
  return fmax(results * (2 + (double)p->k / each), step * (double)p->k);
}

static double chains_cycles(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const int64_t m = p->m < p->n ? p->m : p->n, n = p->m < p->n ? p->n : p->m;
  double cost = 0;
  const int tile = matmul_chains_tile(task, m, n, &cost);
  const matmul_cost *of =
      p->types.in == RUNG_F32 ? &matmul_chains_f32[tile] : &matmul_chains_f64[tile];
  if (chains_are_cut(p, tile)) return INFINITY;
  return (double)p->k * cost + of->start * matmul_busiest(task, of->rows, of->columns, m, n);
}

/* INFINITY: they are no such products. */
static double strips_cycles(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const int64_t m = p->m < p->n ? p->m : p->n, n = p->m < p->n ? p->n : p->m;
  char why[RUNG_REASON];
  matmul_cost tile;
  if (!is_slender(task, why)) return INFINITY;
  const double cost = strips_step(task, m, n, &tile);
  const double busiest = matmul_busiest(task, tile.rows, tile.columns, m, n);
  return (double)p->k * cost + (tile.start + (strips_lie_of(task).along ? 4500 : 0)) * busiest;
}

/* A warp takes 132 cycles a step where few others are there, 28 where many are. */
static double batch_cycles(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  char why[RUNG_REASON];
  if (!is_batch(task, why)) return INFINITY;
  return (double)p->k * fmax(132, 28.0 * (double)p->batch / task->device->processors);
}

/* By large tiles, which wait for as many numbers as there are. */
static double tiles_cycles(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const double k = (double)p->k, most = 1500 + 90 * k;
  double cost = 0;
  if (has_tensor(task)) {
    const matmul_group *tile = &matmul_tensor_f64[matmul_tensor_tile(task, &cost)];
    return 0.9 * k * cost +
           fmin(2000, most) * matmul_busiest(task, tile->rows, tile->columns, p->m, p->n);
  }
  const matmul_cost *tile = &matmul_quads_f32[matmul_quads_tile(task, &cost)];
  return 1.1 * k * cost +
         fmin(tile->start, most) * matmul_busiest(task, tile->rows, tile->columns, p->m, p->n);
}

/* Of many products. */
static bool naive_is_ahead(const rung_task *task) {
  if (!is_many(task)) return false;
  const double small = fmin(strips_cycles(task), batch_cycles(task)),
               large = fmin(chains_cycles(task), tiles_cycles(task));
  return naive_cycles(task) < fmin(small, large);
}

/* Of one product the pieces are to keep all multiprocessors busy, and what is read with every piece
 * is to be little. */
static bool batch_pays(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  if (p->batch <= 1) return p->k <= 64 && (p->m > p->n ? p->m : p->n) >= 1 << 15;
  const double small = fmin(strips_cycles(task), naive_cycles(task)),
               large = fmin(chains_cycles(task), tiles_cycles(task));
  return batch_cycles(task) <= fmin(small, large);
}

/* Neither tiny nor `batch`'s. */
static bool is_past_batches(const rung_task *task) {
  char why[RUNG_REASON];
  return past_small(task) && !(is_batch(task, why) && batch_pays(task));
}

static bool tiled_pays(const rung_task *task) {
  return !naive_is_ahead(task);
}

/* What `chains` takes for a step of k, and what the best of the others does. */
static bool chains_pay(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const int64_t m = p->m < p->n ? p->m : p->n, n = p->m < p->n ? p->n : p->m;
  matmul_cost strip;
  double cost = 0, others = 0;
  if (is_many(task)) {
    const double best = fmin(fmin(strips_cycles(task), batch_cycles(task)), tiles_cycles(task));
    return past_small(task) && chains_cycles(task) < best;
  }
  if (!is_past_batches(task)) return false;
  const int tile = matmul_chains_tile(task, m, n, &cost);
  if (chains_are_cut(p, tile)) return false;
  if (has_tensor(task))
    matmul_tensor_tile(task, &others);
  else
    matmul_quads_tile(task, &others);
  const double uneven = cost + matmul_chains_uneven(task, tile, m, n);
  if (m < 32) return cost < others && uneven < strips_step(task, m, n, &strip);
  return uneven < others;
}

/* Batches of small products are `batch`'s. */
static bool strips_pay(const rung_task *task) {
  const matmul_problem *p = problem_of(task);
  const int64_t m = p->m < p->n ? p->m : p->n, n = p->m < p->n ? p->n : p->m;
  matmul_cost tile;
  double tensor = 0;
  if (is_many(task))
    return past_small(task) && strips_cycles(task) < fmin(batch_cycles(task), tiles_cycles(task));
  if (!is_past_batches(task)) return false;
  if (!has_tensor(task) || !tensor_pays(task)) return true;
  matmul_tensor_tile(task, &tensor);
  return strips_step(task, m, n, &tile) <= tensor;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

#define ALL_TYPES \
  { MATMUL_DTYPES, MATMUL_SUM_DTYPES, MATMUL_RESULT_DTYPES }
#define FIXED_TYPES \
  { MATMUL_FIXED_DTYPES, RUNG_TYPE(RUNG_I64), MATMUL_FIXED_DTYPES }
#define ON_CPU .family = RUNG_ON_CPU, .order = RUNG_CANONICAL, .in_place = true

#define ON_CHIP(least) \
  .family = RUNG_ON_GPU, .order = RUNG_CANONICAL, .in_place = true, .capability = least
#define ON_GPU ON_CHIP(75), .then = matmul_after_chains

#define ON_WGMMA(of_order, when)                                                \
  .family = RUNG_ON_GPU, .order = of_order, .in_place = true, .capability = 90, \
  .hardware = "wgmma (compute capability 9.0)", .supports = has_wgmma, .pays = when
#define HALF(dtype)                                              \
  {                                                              \
    RUNG_TYPE(RUNG_F32) | RUNG_TYPE(dtype), RUNG_TYPE(RUNG_F32), \
        RUNG_TYPE(RUNG_F32) | RUNG_TYPE(dtype)                   \
  }

static const int element_blocks[] = {256, 32, 64, 128, 512, 1024, 0};
static const int square_blocks[] = {256, 16, 64, 1024, 0}; /* of 16, 4, 8 and 32 on a side */

static rung_row rows[] = {
    {ON_CPU, .name = "naive", .types = ALL_TYPES,
     .idea = "the textbook: for every element a loop over k",
     .launch = RUNG_CPU_ENTRIES(matmul_naive)},
    {ON_CPU, .name = "loop-order", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .idea = "the innermost loop along B's rows: a row of chains goes on in vectors",
     .scratch_bytes = row_scratch, .launch = RUNG_CPU_ENTRIES(matmul_loop_order)},
    {ON_CPU, .name = "blocked", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .idea = "a block of C stays in the cache while all of k goes by",
     .launch = RUNG_CPU_ENTRIES(matmul_blocked)},
    {ON_CPU, .name = "packed", .types = ALL_TYPES,
     .idea = "tiles of C in registers, from packed panels of A and B",
     .scratch_bytes = packed_scratch, .launch = RUNG_CPU_ENTRIES(matmul_packed)},
    {ON_CPU, .name = "threads", .types = ALL_TYPES,
     .idea = "blocks of rows, or matrices of a batch, shared out to all cores",
     .scratch_bytes = threads_scratch, .launch = RUNG_CPU_ENTRIES(matmul_threads)},
    {ON_CPU, .name = "digits", .types = FIXED_TYPES, .scratch_bytes = planes_scratch,
     .idea = "fixed point, the textbook: digits of 8 bits, for every element their products over k",
     .launch = RUNG_CPU_ENTRIES(matmul_digits)},
    {ON_CPU, .name = "packed-digits", .types = FIXED_TYPES, .scratch_bytes = packed_digits_scratch,
     .idea = "fixed point on all cores: whole-number sums in registers, from packed digits",
     .launch = RUNG_CPU_ENTRIES(matmul_packed_digits)},
    {ON_GPU, .name = "naive", .types = ALL_TYPES, .blocks = element_blocks,
     .idea = "the textbook: a thread an element"},
    {ON_GPU, .name = "tiled", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .blocks = square_blocks,
     .pays = tiled_pays, .idea = "squares of A and B in shared memory, 4, 8, 16 or 32 on a side"},
    {ON_GPU, .name = "column", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .pays = past_small,
     .idea = "eight elements of a column a thread: a number of B serves all of them"},
    {ON_GPU, .name = "block", .types = ALL_TYPES, .pays = block_pays,
     .idea = "eight by eight elements a thread: sixteen loads for 64 multiply-adds"},
    {ON_GPU, .name = "vector", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .pays = past_small,
     .idea = "16 bytes a load; A's panel turned in shared memory"},
    {ON_GPU, .name = "pipelined", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .pays = past_small,
     .idea = "panels come in by asynchronous copies, two stages ahead"},
    {ON_GPU, .name = "quads", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .supports = quads_fit,
     .scratch_bytes = turned_scratch, .pays = past_small,
     .idea = "64 by 128 elements a block, four blocks a multiprocessor; smaller tiles where those "
             "are few"},
    {ON_CHIP(90), .name = "quads-tma", .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .hardware = "the tensor memory accelerator (compute capability 9.0)", .supports = has_tma,
     .scratch_bytes = quads_tma_scratch, .zeroed_bytes = quads_tma_zeros, .pays = quads_tma_pays,
     .idea = "16 by 8 elements a thread; a warp of its own has panels brought, and no other waits "
             "for copies"},
    {ON_CHIP(75), .name = "widened", .then = matmul_after_widening, .pays = widened_pays,
     .types = {RUNG_HALVES, RUNG_TYPE(RUNG_F32), RUNG_TYPE(RUNG_F32) | RUNG_HALVES},
     .scratch_bytes = widened_scratch,
     .idea = "f16 and bf16 become f32, which is exact, and the best rung of f32 makes the chains"},
    {ON_CHIP(90), .name = "tensor", .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F64)),
     .supports = tensor_fits, .pays = tensor_pays,
     .idea = "tensor cores make the same chains, 16 by 8 of 16 steps at once"},
    {ON_CHIP(90), .name = "tensor-tma", .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F64)),
     .hardware = "the tensor memory accelerator (compute capability 9.0)", .supports = has_tma,
     .scratch_bytes = tensor_tma_scratch, .zeroed_bytes = tensor_tma_zeros, .pays = tma_pays,
     .idea = "a warp of its own has panels brought; those that multiply wait for nothing else"},
    {ON_WGMMA(RUNG_CANONICAL, bytes_pay), .name = "tensor-i8", .scratch_bytes = i8_scratch,
     .types = {RUNG_TYPE(RUNG_I8), RUNG_TYPE(RUNG_I32), RUNG_TYPE(RUNG_I32)},
     .idea = "tensor cores multiply bytes and add up in 32 bits: nothing is rounded, so any order "
             "has the bits"},
    {ON_WGMMA(RUNG_LOOSE, pays), .name = "f16", .scratch_bytes = half_scratch,
     .types = HALF(RUNG_F16),
     .idea = "tensor cores, factors in f16: f32 is rounded to 11 digits and a short range"},
    {ON_WGMMA(RUNG_LOOSE, pays), .name = "bf16", .scratch_bytes = half_scratch,
     .types = HALF(RUNG_BF16), .idea = "tensor cores, factors in bf16: f32 is rounded to 8 digits"},
    {ON_WGMMA(RUNG_LOOSE, pays), .name = "tf32x3", .scratch_bytes = tf32x3_scratch,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .idea = "every factor as a sum of two of TF32: three products, nearly all of f32's digits"},
    {ON_WGMMA(RUNG_LOOSE, pays), .name = "tf32", .scratch_bytes = tf32_scratch,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .idea = "tensor cores, factors rounded to TF32: 11 digits and all of f32's range"},
    {ON_GPU, .name = "batch", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .supports = is_batch,
     .pays = batch_pays, .idea = "a warp a small matrix, the next one on its way meanwhile"},
    {ON_GPU, .name = "strips", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .supports = is_slender,
     .pays = strips_pay,
     .idea = "few rows or columns, matrix-vector products: a thread a chain, the large matrix "
             "streams by once"},
    {ON_GPU, .name = "chains", .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .supports = chains_fit,
     .pays = chains_pay,
     .idea = "few elements and long k: tiles of 32 chains and more, which wait for nothing but one "
             "another; warps of their own bring the panels"},
    {ON_GPU, .name = "digits", .types = FIXED_TYPES, .blocks = element_blocks,
     .scratch_bytes = planes_scratch,
     .idea = "fixed point, the textbook: digits of 8 bits, a thread an element"},
    {ON_GPU, .name = "dp4a", .types = FIXED_TYPES, .scratch_bytes = dp4a_scratch,
     .idea = "four products of digits an instruction; four by eight elements a thread"},
    {ON_GPU, .name = "mma", .types = FIXED_TYPES, .supports = mma_fits,
     .scratch_bytes = mma_scratch, .zeroed_bytes = mma_zeros,
     .idea =
         "digits on tensor cores; sums of 32 bits, carried from level to level; few tiles: k is "
         "cut"},
    {ON_GPU, .name = "fused", .types = FIXED_TYPES, .supports = fused_fits, .pays = fused_pays,
     .zeroed_bytes = fused_zeros,
     .idea = "few tiles: no planes, blocks cut the digits that they multiply, all planes at once"},
    {.family = RUNG_ON_GPU,
     .order = RUNG_CANONICAL,
     .in_place = true,
     .capability = 90,
     .hardware = "wgmma (compute capability 9.0)",
     .supports = has_wgmma,
     .pays = fixed_pays,
     .name = "wgmma",
     .types = FIXED_TYPES,
     .scratch_bytes = wgmma_scratch,
     .zeroed_bytes = wgmma_zeros,
     .idea = "digits on the tensor cores of 9.0, all levels in one launch, ended in registers"},
};

static void class_of(const void *problem, char text[RUNG_CLASS]) {
  const matmul_problem *p = problem;
  char batch[8], m[8], n[8], k[8], digits[24] = "";
  if (p->bits > 0) snprintf(digits, sizeof digits, " digits=%d", matmul_digits_of(p->bits));
  snprintf(text, RUNG_CLASS, "%s %s %c%c batch=%s m=%s n=%s k=%s%s", rung_dtype_name(p->types.in),
           rung_dtype_name(p->types.out), p->a_turned ? 't' : 'n', p->b_turned ? 't' : 'n',
           rung_power(p->batch, batch), rung_power(p->m, m), rung_power(p->n, n),
           rung_power(p->k, k), digits);
}

const rung_operation matmul_operation = {
    .name = "matmul",
    .summary = "products of matrices, alpha A B + beta C, and batches of them",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .class_of = class_of,
    .fixed = true,
};
