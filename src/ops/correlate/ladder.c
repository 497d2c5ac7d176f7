/* The rungs of correlate, and their scratch. */
#include <inttypes.h>
#include <stdio.h>

#include "core/prefer.h"
#include "ops/correlate/cpu/sizes.h"
#include "ops/correlate/separable.h"
#include "ops/correlate/texture.h"
#include "ops/correlate/tiles.h"

RUNG_CPU_DECLARE(correlate_direct);
RUNG_CPU_DECLARE(correlate_rows);
RUNG_CPU_DECLARE(correlate_threads);
RUNG_CPU_DECLARE(correlate_separable);

static const correlate_problem *problem_of(const rung_task *task) {
  return (const correlate_problem *)task->problem;
}

static size_t rows_scratch(const rung_task *task) {
  return correlate_filter_scratch(problem_of(task), 1);
}

static size_t threads_scratch(const rung_task *task) {
  return correlate_filter_scratch(problem_of(task), task->device->threads);
}

static size_t separable_scratch(const rung_task *task) {
  return correlate_separable_scratch(problem_of(task), task->device->threads);
}

/* The taps, in the device's memory. */
static size_t taps_scratch(const rung_task *task) {
  const correlate_problem *p = problem_of(task);
  const size_t tap = p->types.accumulate == RUNG_F64 ? sizeof(double) : sizeof(float);
  return (size_t)p->kernels * (size_t)p->kernel_rows * (size_t)p->kernel_columns * tap;
}

/* ---- what rungs cannot do -----------------------------------------------------------------------
 */

static bool shared_fits(const rung_task *task, int64_t bytes, char why[RUNG_REASON]) {
  if (task->device->shared_bytes >= bytes) return true;
  snprintf(why, RUNG_REASON,
           "its tile takes %" PRId64 " bytes of shared memory, and a block has %" PRId64
           "; expected: a smaller kernel or block, or rung \"constant\"",
           bytes, task->device->shared_bytes);
  return false;
}

/* The address is not known yet: the worst is asked for. */
static bool texture_fits(const rung_task *task, char why[RUNG_REASON]) {
  const rung_texture shown =
      correlate_texture_of(task, correlate_texture_margin(problem_of(task)) - 1);
  if (rung_texture_fits(&shown)) return true;
  snprintf(why, RUNG_REASON,
           "a texture of the image is a line of %" PRId64
           " elements; expected: at most %d, or at most %d rows a multiple of %d bytes apart and "
           "%d elements wide",
           shown.width, RUNG_TEXTURE_LINE, RUNG_TEXTURE_HEIGHT, RUNG_TEXTURE_PITCH,
           RUNG_TEXTURE_WIDTH);
  return false;
}

/* On a CPU an image by few taps waits for memory, which one sweep meets once: 8192 x 8192 of f32 on
 * two threads takes two passes 2.3 times as long by 3 x 3, 1.4 times by 5 x 5, 0.86 by 7 x 7. */
static bool passes_pay(const rung_task *task) {
  const correlate_problem *p = problem_of(task);
  return p->kernel_rows * p->kernel_columns > 3 * (p->kernel_rows + p->kernel_columns);
}

static bool separates(const rung_task *task, char why[RUNG_REASON]) {
  return correlate_is_separable(problem_of(task), why);
}

static bool tile_fits(const rung_task *task, char why[RUNG_REASON]) {
  return shared_fits(task, correlate_shared_bytes(task), why);
}

static bool panel_fits(const rung_task *task, char why[RUNG_REASON]) {
  const correlate_problem *p = problem_of(task);
  const correlate_panel panel = correlate_panel_of(task);
  return shared_fits(
      task,
      correlate_panel_bytes(&panel, p->kernel_rows, p->kernel_columns, correlate_number_bytes(p)),
      why);
}

static bool streams(const rung_task *task, char why[RUNG_REASON]) {
  const correlate_problem *p = problem_of(task);
  const int rows = p->kernel_rows, columns = p->kernel_columns;
  if (correlate_number_bytes(p) == 4 && p->height < INT32_MAX &&
      p->width * p->channels < INT32_MAX && correlate_streams(rows, columns, p->channels))
    return true;
  snprintf(
      why, RUNG_REASON,
      "the kernel is %d by %d, of %d channels; expected: of one channel at most %d rows, or %d "
      "of %d to %d columns or of one; of several 3, 5 or 7 columns and %d rows; sums of f32",
      rows, columns, p->channels, CORRELATE_NARROW, CORRELATE_STREAMED, CORRELATE_NARROW + 1,
      CORRELATE_STREAMED, CORRELATE_NARROW);
  return false;
}

/* Taps that are signed bytes, and images of bytes. */
static bool bands(const rung_task *task, char why[RUNG_REASON]) {
  const correlate_problem *p = problem_of(task);
  if (p->types.in != RUNG_U8 || p->types.accumulate != RUNG_I64 || p->height >= INT32_MAX ||
      p->width * p->channels >= INT32_MAX / 2 || correlate_band_steps(p) > CORRELATE_BAND_STEPS) {
    snprintf(why, RUNG_REASON,
             "the image is of %s, and a row of taps reaches over %d elements; expected: u8, taps "
             "that are integers, and at most %d elements",
             rung_dtype_name(p->types.in), correlate_band_columns(p),
             32 * CORRELATE_BAND_STEPS - 15);
    return false;
  }
  const int32_t tap = correlate_wide_tap(p);
  if (tap == 0) return true;
  snprintf(why, RUNG_REASON, "a tap is %d; expected: taps within %d and %d", (int)tap, INT8_MIN,
           INT8_MAX);
  return false;
}

static size_t band_scratch(const rung_task *task) {
  return (size_t)correlate_band_bytes(problem_of(task));
}

/* Two passes take as long as one of so many taps: on an H200 8192 x 8192 of f32 0.22 ms for 5 by 5
 * and 0.31 for 15 by 15, of u8 0.54, where `streamed` takes 0.16 and 0.70, of u8 0.13 and more. */
static bool separating_pays(const rung_task *task) {
  const correlate_problem *p = problem_of(task);
  char why[RUNG_REASON];
  return !streams(task, why) ||
         p->kernel_rows * p->kernel_columns > (p->types.in == RUNG_F32 ? 64 : 196);
}

/* A band has a fixed part: on an H200 512 x 512 by 7 by 7 takes 36 us, and 14 by `streamed`, where
 * 8192 x 8192 by 15 by 15 takes 0.19 ms, and 0.69. Few taps cost `streamed` no more. */
static bool banding_pays(const rung_task *task) {
  const correlate_problem *p = problem_of(task);
  const int64_t taps = p->kernel_rows * p->kernel_columns;
  const int64_t products = p->rows * p->columns * p->channels * taps;
  char why[RUNG_REASON];
  if (!streams(task, why)) return products >= (int64_t)1 << 28;
  return taps > 64 && products >= (int64_t)1 << 29;
}

/* Of a small image there are too few panels for all multiprocessors: on an H100 256 x 256 takes 21
 * and 40 us by 17 by 17 and 31 by 31, by `shared` 14 and 28; 512 x 512 takes 21 and 40, and 33 and
 * 88. */
static bool panels_pay(const rung_task *task) {
  const correlate_problem *p = problem_of(task);
  const int64_t elements = p->rows * p->columns * p->channels;
  return p->kernel_rows * p->kernel_columns <= 256 ||
         elements >= 800 * (int64_t)task->device->processors;
}

/* Of 15 by 15 `shared` is the faster one: 5.5 ms, and 5.9, of 8192 x 8192 on an H200. */
static bool columns_pay(const rung_task *task) {
  const correlate_problem *p = problem_of(task);
  return p->kernel_rows * p->kernel_columns < 225;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

#define ALL_TYPES \
  { CORRELATE_DTYPES, CORRELATE_SUM_DTYPES, CORRELATE_DTYPES }
#define ON_CPU .family = RUNG_ON_CPU, .order = RUNG_CANONICAL, .types = ALL_TYPES
#define LOOSE_ON_CPU .family = RUNG_ON_CPU, .order = RUNG_LOOSE, .types = ALL_TYPES
#define LOOSE_ON_GPU \
  .family = RUNG_ON_GPU, .order = RUNG_LOOSE, .capability = 75, .types = ALL_TYPES
#define ON_GPU .family = RUNG_ON_GPU, .order = RUNG_CANONICAL, .capability = 75, .types = ALL_TYPES

static const int blocks[] = {256, 64, 128, 512, 1024, 0};

static rung_row rows[] = {
    {ON_CPU, .name = "direct", .idea = "the textbook: for every element a loop over the taps",
     .launch = RUNG_CPU_ENTRIES(correlate_direct)},
    {ON_CPU, .name = "rows", .scratch_bytes = rows_scratch,
     .idea = "vectors along the row, edges widened beforehand, chains of several rows in registers",
     .launch = RUNG_CPU_ENTRIES(correlate_rows)},
    {ON_CPU, .name = "threads", .scratch_bytes = threads_scratch,
     .idea = "blocks of the image dealt out to all cores",
     .launch = RUNG_CPU_ENTRIES(correlate_threads)},
    {LOOSE_ON_CPU, .name = "separable", .supports = separates, .pays = passes_pay,
     .scratch_bytes = separable_scratch,
     .idea =
         "kernels of rank one: sums along the rows, then of these down the columns, in one sweep",
     .launch = RUNG_CPU_ENTRIES(correlate_separable)},
    {ON_GPU, .name = "serial", .scratch_bytes = taps_scratch,
     .idea = "the whole image by one thread: what a GPU is not for"},
    {ON_GPU, .name = "blocked", .blocks = blocks, .scratch_bytes = taps_scratch,
     .idea = "a thread an element, in blocks 16 wide"},
    {ON_GPU, .name = "constant", .blocks = blocks,
     .idea = "the taps are arguments, in constant memory"},
    {ON_GPU, .name = "texture", .blocks = blocks, .supports = texture_fits,
     .idea = "the image in texture memory, which knows what lies beyond its edges"},
    {ON_GPU, .name = "shared", .blocks = blocks, .supports = tile_fits,
     .idea = "a tile of the image with its border in shared memory"},
    {ON_GPU, .name = "registers", .blocks = blocks, .pays = columns_pay,
     .idea = "eight elements a thread: a pixel in a register serves all that it lies under"},
    {ON_GPU, .name = "unrolled", .supports = panel_fits, .pays = panels_pay,
     .idea = "64 elements a thread: a number from shared memory serves many, taps come by four"},
    {ON_GPU, .name = "streamed", .supports = streams,
     .idea = "a block walks down: every row passes through registers once, taps are operands"},
    {ON_GPU, .name = "banded", .supports = bands, .pays = banding_pays,
     .scratch_bytes = band_scratch,
     .idea = "tensor cores: a row of taps is a band matrix of bytes, by eight rows of the image"},
    {LOOSE_ON_GPU, .name = "separable", .supports = separates, .pays = separating_pays,
     .idea =
         "kernels of rank one: sums along the rows, then of these down the columns, in one sweep"},
};

static void class_of(const void *problem, char text[RUNG_CLASS]) {
  const correlate_problem *p = problem;
  char kernels[8], rows[8], columns[8];
  snprintf(text, RUNG_CLASS, "%s %s kernels=%s rows=%s columns=%s channels=%d kernel=%dx%d edge=%d",
           rung_dtype_name(p->types.in), rung_dtype_name(p->types.out),
           rung_power(p->kernels, kernels), rung_power(p->rows, rows),
           rung_power(p->columns, columns), p->channels, p->kernel_rows, p->kernel_columns,
           (int)p->edge);
}

const rung_operation correlate_operation = {
    .name = "correlate",
    .summary = "filters of images, correlation and convolution",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .class_of = class_of,
};
