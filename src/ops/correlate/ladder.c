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
  const int columns = correlate_strip_columns(p);
  const int64_t bytes = columns * (int64_t)rung_dtype_bytes(p->types.in);
  if (p->kernel_rows > CORRELATE_STREAMED || p->kernel_columns > CORRELATE_STREAMED ||
      p->channels != 1 || correlate_number_bytes(p) != 4) {
    snprintf(why, RUNG_REASON,
             "the kernel is %d by %d, of %d channels; expected: at most %d by %d, one channel, and "
             "sums of f32",
             p->kernel_rows, p->kernel_columns, p->channels, CORRELATE_STREAMED,
             CORRELATE_STREAMED);
    return false;
  }
  /* The launch looks at the address, which may not be known yet. */
  if ((p->first_column + p->kernel_columns / 2) % columns == 0 &&
      task->arrays[CORRELATE_IN].stride[0] % columns == 0 && p->height < INT32_MAX &&
      p->width < INT32_MAX)
    return true;
  snprintf(why, RUNG_REASON,
           "runs of %d elements of a row begin anywhere; expected: at multiples of %" PRId64
           " bytes",
           columns, bytes);
  return false;
}

/* ---- what `auto` leaves alone -------------------------------------------------------------------
 */

/* Whether rung "shared" can take the job, and it is one of so many elements at most, of floats. */
static bool is_small(const rung_task *task, int64_t most) {
  const correlate_problem *p = problem_of(task);
  char why[RUNG_REASON];
  return p->types.in == RUNG_F32 && p->types.out == RUNG_F32 && p->channels == 1 &&
         p->kernels <= most && p->rows <= most && p->columns <= most &&
         p->kernels * p->rows <= most && p->kernels * p->rows * p->columns <= most &&
         tile_fits(task, why);
}

/* Measured on an H200: panels keep few multiprocessors busy with 512 by 512 elements, and take
 * 26.5 us for 11 by 11 taps where rung "shared" takes 20.2; not so for 31 by 31 taps. */
static bool panels_pay(const rung_task *task) {
  const correlate_problem *p = problem_of(task);
  return !is_small(task, 1 << 18) || (int64_t)p->kernel_rows * p->kernel_columns > 15 * 15;
}

/* Likewise, 128 by 128 elements and 5 by 5 taps: 8.6 us for 7.5. */
static bool streams_pay(const rung_task *task) {
  return !is_small(task, 1 << 14);
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
    {LOOSE_ON_CPU, .name = "separable", .supports = separates, .scratch_bytes = separable_scratch,
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
    {ON_GPU, .name = "registers", .blocks = blocks, .pays = panels_pay,
     .idea = "eight elements a thread: a pixel in a register serves all that it lies under"},
    {ON_GPU, .name = "unrolled", .supports = panel_fits, .pays = panels_pay,
     .idea = "64 elements a thread: a number from shared memory serves many, taps come by four"},
    {LOOSE_ON_GPU, .name = "separable", .supports = separates,
     .idea =
         "kernels of rank one: sums along the rows, then of these down the columns, in one sweep"},
    {ON_GPU, .name = "streamed", .supports = streams, .pays = streams_pay,
     .idea = "a warp walks down: every row passes through registers once, taps are operands"},
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
