/* Lines that lie side by side, where they are: a tile of some elements of some lines comes into
 * shared memory as it lies in global memory, neighbours by neighbours, is scanned there by warps
 * whose lanes go along the lines, and leaves the same way. The groups of a line lie in it so far
 * apart that a warp's lanes miss one another's banks. The next tiles are on their way meanwhile.
 *
 * A block goes down the lines of its strip, so that nobody waits for anybody. Where there are too
 * few strips for the device long lines are parted into tiles of the contract, as the rung "tiles"
 * does it: totals, prefixes of families, results. */
#include "ops/scan/cuda/levels.cuh"

enum { SCAN_STAGES = 3, SCAN_STAGE_BYTES = 1 << 14, SCAN_MOST_WIDE = 32 };

/* What a launch does: all of it, or one of the parts. */
enum { SCAN_WALK, SCAN_TOTALS, SCAN_RESULTS };

template <typename S>
struct scan_aside {
  const typename S::in *in;
  typename S::in *out;
  int64_t in_far, in_step, out_far, out_step;
  int64_t inner, columns, lines;
  rung_key_code key;
  bool exclusive;
  /* The tile in shared memory: `wide` lines, `height` elements of each. A line has `groups` groups
   * of a row in it, and `rows` rows; a warp takes `side` lines' rows at once. */
  int wide, height, groups, side, rows, units, skew;
  bool solid;          /* a strip's lines are neighbours in memory: else any lines */
  int64_t strips;      /* of an outer index; of all where they are not solid */
  int64_t jobs;        /* strips, or their parts */
  int64_t parts, part; /* a strip's, and the elements of one */
  int mode;
  int64_t tiles, pitch; /* aggregates, of a line */
  typename S::value *numbers;
};

/* The tile that a block is at: of which job, which of its lines' elements, from `first` on and
 * until the part's end, `last`; and the lines: the first one, how many, and where they begin if
 * they are neighbours. */
struct scan_cursor {
  int64_t job, first, last, line, in, out;
  int count;
};

/* Division is dear, of 64 bits above all, and mostly there is nothing to divide. */
__device__ __forceinline__ int64_t scan_quotient(int64_t a, int64_t b) {
  if (b == 1 || a < b) return b == 1 ? a : 0;
  if (a <= UINT32_MAX) return (unsigned)a / (unsigned)b;
  return a / b;
}

template <typename S>
__device__ __forceinline__ void scan_begin_job(const scan_aside<S> &aside, scan_cursor *at) {
  const int64_t strip = scan_quotient(at->job, aside.parts);
  at->first = (at->job - strip * aside.parts) * aside.part;
  at->last = at->first + aside.part;
  if (at->last > aside.columns) at->last = aside.columns;
  int64_t outer = 0, beside = strip * aside.wide, all = aside.lines;
  if (aside.solid) {
    outer = scan_quotient(strip, aside.strips);
    beside = (strip - outer * aside.strips) * aside.wide;
    all = aside.inner;
  }
  at->line = outer * aside.inner + beside;
  at->in = outer * aside.in_far + beside;
  at->out = outer * aside.out_far + beside;
  at->count = all - beside < aside.wide ? (int)(all - beside) : aside.wide;
}

template <typename S>
__device__ __forceinline__ void scan_next_tile(const scan_aside<S> &aside, scan_cursor *at) {
  at->first += aside.height;
  if (at->first < at->last) return;
  at->job += gridDim.x;
  scan_begin_job(aside, at);
}

/* Where line `line` begins. */
__device__ __forceinline__ int64_t scan_line_at(int64_t line, int64_t inner, int64_t far) {
  const int64_t outer = scan_quotient(line, inner);
  return outer * far + (line - outer * inner);
}

/* A thread's elements of a tile, in memory's order: it takes every SCAN_THREADS-th. Where the lines
 * are neighbours and the tile is full `at` is where the element lies, from the tile's first on. */
struct scan_step {
  int row, column;
  int64_t at;
};

__device__ __forceinline__ scan_step scan_steps_of(int elements, int wide, int64_t step) {
  const int row = elements / wide, column = elements - row * wide;
  return {row, column, row * step + column};
}

__device__ __forceinline__ void scan_next_step(const scan_step &by, int wide, int64_t step,
                                               scan_step *k) {
  k->row += by.row;
  k->column += by.column;
  k->at += by.at;
  if (k->column < wide) return;
  k->column -= wide;
  k->row += 1;
  k->at += step - wide;
}

/* Where an element lies in shared memory. */
template <typename S>
__device__ __forceinline__ int scan_slot(const scan_aside<S> &aside, int row, int column) {
  return row * aside.wide + row / SCAN_GROUP * aside.skew + column;
}

/* How many elements of its lines a tile has. */
template <typename S>
__device__ __forceinline__ int scan_there(const scan_aside<S> &aside, const scan_cursor &at) {
  return at.last - at.first < aside.height ? (int)(at.last - at.first) : aside.height;
}

template <typename S>
__device__ __forceinline__ bool scan_is_full(const scan_aside<S> &aside, const scan_cursor &at) {
  return aside.solid && at.count == aside.wide && scan_there(aside, at) == aside.height;
}

template <typename S>
__device__ __forceinline__ void scan_copy_element(typename S::in *to, const typename S::in *from) {
  if constexpr (sizeof(typename S::in) >= 4)
    rung_copy_async(to, from);
  else
    *to = *from;
}

template <typename S>
__device__ __forceinline__ void scan_copy_tile(const scan_aside<S> &aside, const scan_cursor &at,
                                               const scan_step &own, typename S::in *stage) {
  const int64_t step = aside.in_step;
  const int wide = aside.wide;
  if (at.job < aside.jobs) {
    const scan_step by = scan_steps_of(SCAN_THREADS, wide, step);
    scan_step k = {own.row, own.column, own.row * step + own.column};
    if (scan_is_full(aside, at)) {
      const typename S::in *const from = aside.in + at.in + at.first * step;
#pragma unroll 4
      for (; k.row < aside.height; scan_next_step(by, wide, step, &k))
        scan_copy_element<S>(stage + scan_slot(aside, k.row, k.column), from + k.at);
    } else {
      const int there = scan_there(aside, at);
      for (; k.row < aside.height; scan_next_step(by, wide, step, &k)) {
        typename S::in *const to = stage + scan_slot(aside, k.row, k.column);
        if (k.row >= there || k.column >= at.count)
          *to = S::empty(aside.key);
        else
          scan_copy_element<S>(
              to, aside.in + (at.first + k.row) * step +
                      (aside.solid ? at.in + k.column
                                   : scan_line_at(at.line + k.column, aside.inner, aside.in_far)));
      }
    }
  }
  rung_copy_async_commit();
}

template <typename S>
__device__ __forceinline__ void scan_store_tile(const scan_aside<S> &aside, const scan_cursor &at,
                                                const scan_step &own, const typename S::in *stage) {
  const int64_t step = aside.out_step;
  const int wide = aside.wide;
  const scan_step by = scan_steps_of(SCAN_THREADS, wide, step);
  scan_step k = {own.row, own.column, own.row * step + own.column};
  if (scan_is_full(aside, at)) {
    typename S::in *const to = aside.out + at.out + at.first * step;
#pragma unroll 4
    for (; k.row < aside.height; scan_next_step(by, wide, step, &k))
      to[k.at] = stage[scan_slot(aside, k.row, k.column)];
    return;
  }
  const int there = scan_there(aside, at);
  for (; k.row < there; scan_next_step(by, wide, step, &k)) {
    if (k.column >= at.count) continue;
    const int64_t to = (at.first + k.row) * step +
                       (aside.solid ? at.out + k.column
                                    : scan_line_at(at.line + k.column, aside.inner, aside.out_far));
    aside.out[to] = stage[scan_slot(aside, k.row, k.column)];
  }
}

/* ---- what comes before a row
 * ---------------------------------------------------------------------
 */

/* What a line has come to. */
template <typename S>
struct scan_so_far {
  typename S::value tiles, bands, rows; /* before the tile, in the tile's bands, the band's rows */
};

/* By one warp: leaves a tile's total, and the aggregates of the families that it is the last of. */
template <typename S>
__device__ __forceinline__ void scan_leave_total(const scan_aside<S> &aside, int64_t line,
                                                 int64_t tile, typename S::value total) {
  typedef typename S::value value;
  const int lane = (int)threadIdx.x % 32;
  value *level = aside.numbers + line * aside.pitch;
  int64_t count = aside.tiles;
  for (;;) {
    if (lane == 0) level[tile] = total;
    __syncwarp();
    if (aside.mode != SCAN_WALK || tile % SCAN_FAMILY != SCAN_FAMILY - 1) return;
    total = __shfl_sync(0xffffffffu, scan_warp<S>(level[tile - (SCAN_FAMILY - 1) + lane]), 31);
    level += count;
    count /= SCAN_FAMILY;
    tile /= SCAN_FAMILY;
  }
}

/* By one warp: P of a tile, from the aggregates that it left itself. */
template <typename S>
__device__ __forceinline__ typename S::value scan_walked(const scan_aside<S> &aside, int64_t line,
                                                         int64_t tile) {
  typedef typename S::value value;
  const int lane = (int)threadIdx.x % 32;
  const value *level = aside.numbers + line * aside.pitch;
  int64_t count = aside.tiles;
  value e[SCAN_LEVELS], all = S::identity();
#pragma unroll
  for (int k = 0; k < SCAN_LEVELS; ++k) {
    const int number = (int)(tile % SCAN_FAMILY);
    e[k] = S::identity();
    if (number > 0) {
      const value own = lane < number ? level[tile - number + lane] : S::identity();
      e[k] = __shfl_sync(0xffffffffu, scan_warp<S>(own), number - 1);
    }
    level += count;
    count /= SCAN_FAMILY;
    tile /= SCAN_FAMILY;
  }
#pragma unroll
  for (int k = SCAN_LEVELS - 1; k >= 0; --k) all = S::combine(all, e[k]);
  return all;
}

/* By one warp, at the row of a line that begins with element `first`: the bands and the tile before
 * it are put together where they end. */
template <typename S>
__device__ __forceinline__ void scan_enter_row(const scan_aside<S> &aside, int64_t line,
                                               int64_t first, scan_so_far<S> *so_far) {
  if (first % SCAN_BAND != 0) return;
  if (first % SCAN_TILE == 0) {
    const int64_t tile = first / SCAN_TILE;
    so_far->tiles = S::identity();
    if (tile > 0 && aside.mode == SCAN_WALK) so_far->tiles = scan_walked(aside, line, tile);
    if (tile > 0 && aside.mode == SCAN_RESULTS)
      so_far->tiles =
          scan_before<S>(aside.numbers + line * aside.pitch, aside.tiles, tile, S::identity());
    so_far->bands = S::identity();
  } else {
    so_far->bands = S::combine(so_far->bands, so_far->rows);
  }
  so_far->rows = S::identity();
}

/* ---- a tile in shared memory --------------------------------------------------------------------
 */

/* The unit of a warp: its place in the tile is found by the lane's line and group. */
template <typename S>
__device__ __forceinline__ void scan_read_group(const scan_aside<S> &aside,
                                                const typename S::in *group,
                                                typename S::value e[]) {
#pragma unroll
  for (int c = 0; c < SCAN_GROUP; ++c) e[c] = S::load(group[c * aside.wide], aside.key);
}

template <typename S>
__device__ __forceinline__ void scan_write_group(const scan_aside<S> &aside,
                                                 const typename S::value e[],
                                                 typename S::value base, bool begins,
                                                 typename S::in *group) {
#pragma unroll
  for (int c = 0; c < SCAN_GROUP; ++c) {
    const typename S::value with = S::combine(base, e[c]);
    const typename S::value before = c > 0 ? S::combine(base, e[c > 0 ? c - 1 : 0]) : base;
    group[c * aside.wide] = S::store(aside.exclusive ? before : with, aside.key);
  }
  if (aside.exclusive && begins) group[0] = S::empty(aside.key);
}

/* Lines of a row at most. */
template <typename S>
__device__ __forceinline__ void scan_short_tile(const scan_aside<S> &aside, typename S::in *stage) {
  typedef typename S::value value;
  const int lane = (int)threadIdx.x % 32, beside = lane / aside.groups, place = lane % aside.groups;
  for (int unit = (int)threadIdx.x / 32; unit < aside.units; unit += SCAN_EIGHT) {
    const bool there = beside < aside.side;
    typename S::in *const group =
        stage + scan_slot(aside, place * SCAN_GROUP, unit * aside.side + (there ? beside : 0));
    value e[SCAN_GROUP] = {};
    if (there) scan_read_group<S>(aside, group, e);
    scan_group_prefixes<S>(e);
    value g = e[SCAN_GROUP - 1];
#pragma unroll
    for (int s = 1; s < SCAN_FAMILY; s *= 2) {
      const value back = __shfl_up_sync(0xffffffffu, g, s);
      if (place >= s) g = S::combine(back, g);
    }
    value base = __shfl_up_sync(0xffffffffu, g, 1);
    if (place == 0) base = S::identity();
    if (there) scan_write_group<S>(aside, e, base, place == 0, group);
  }
}

/* Longer ones: a warp has the same lines in every tile. */
template <typename S>
__device__ __forceinline__ void scan_long_tile(const scan_aside<S> &aside, const scan_cursor &at,
                                               scan_so_far<S> *so_far, typename S::in *stage) {
  typedef typename S::value value;
  const int lane = (int)threadIdx.x % 32, each = aside.units / SCAN_EIGHT;
  for (int k = 0; k < each; ++k) {
    const int unit = (int)threadIdx.x / 32 * each + k, column = unit / aside.rows;
    const int row = unit - column * aside.rows;
    const int64_t first = at.first + row * SCAN_ROW, line = at.line + column;
    if (first >= at.last || column >= at.count) continue;
    typename S::in *const group =
        stage + scan_slot(aside, row * SCAN_ROW + lane * SCAN_GROUP, column);
    scan_so_far<S> before = so_far[column];
    scan_enter_row(aside, line, first, &before);
    value e[SCAN_GROUP];
    scan_read_group<S>(aside, group, e);
    scan_group_prefixes<S>(e);
    const value g = scan_warp<S>(e[SCAN_GROUP - 1]);
    value back = __shfl_up_sync(0xffffffffu, g, 1);
    if (lane == 0) back = S::identity();
    const value offset = S::combine(S::combine(before.tiles, before.bands), before.rows);
    if (aside.mode != SCAN_TOTALS)
      scan_write_group<S>(aside, e, S::combine(offset, back), lane == 0 && first == 0, group);
    before.rows = S::combine(before.rows, __shfl_sync(0xffffffffu, g, 31));
    __syncwarp();
    if (lane == 0) so_far[column] = before;
    __syncwarp();
    if ((first + SCAN_ROW) % SCAN_TILE == 0 && first + SCAN_ROW < aside.columns &&
        aside.mode != SCAN_RESULTS)
      scan_leave_total(aside, line, first / SCAN_TILE, S::combine(before.bands, before.rows));
  }
}

template <typename S>
static __global__ void __launch_bounds__(SCAN_THREADS, 4)
    scan_across_kernel(scan_aside<S> aside, int stage_elements) {
  typedef typename S::in in;
  RUNG_DYNAMIC_SHARED(in, stages);
  __shared__ scan_so_far<S> so_far[SCAN_MOST_WIDE];
  scan_cursor at, ahead;
  at.job = blockIdx.x;
  if (at.job >= aside.jobs) return;
  scan_begin_job(aside, &at);
  ahead = at;
  const scan_step own = scan_steps_of((int)threadIdx.x, aside.wide, 0);
  for (int k = 0; k < SCAN_STAGES - 1; ++k) {
    scan_copy_tile(aside, ahead, own, stages + k * stage_elements);
    scan_next_tile(aside, &ahead);
  }
  for (int k = 0; at.job < aside.jobs; k = k + 1 < SCAN_STAGES ? k + 1 : 0) {
    rung_copy_async_wait<SCAN_STAGES - 2>();
    __syncthreads();
    scan_copy_tile(aside, ahead, own, stages + (k > 0 ? k - 1 : SCAN_STAGES - 1) * stage_elements);
    scan_next_tile(aside, &ahead);
    in *const stage = stages + k * stage_elements;
    if (aside.columns <= SCAN_ROW)
      scan_short_tile(aside, stage);
    else
      scan_long_tile(aside, at, so_far, stage);
    __syncthreads();
    if (aside.mode != SCAN_TOTALS) scan_store_tile(aside, at, own, stage);
    scan_next_tile(aside, &at);
  }
  rung_copy_async_wait<0>();
}

/* ---- launching ---------------------------------------------------------------------------------
 */

/* The tile's shape: where lines are longer than a row, `wide` of them, 8 or more. */
template <typename S>
static void scan_shape_tile(scan_aside<S> *aside, int wide) {
  aside->rows = 1;
  aside->side = 1;
  aside->groups = SCAN_FAMILY;
  aside->wide = wide;
  if (aside->columns <= SCAN_ROW) {
    aside->groups = (int)(aside->columns + SCAN_GROUP - 1) / SCAN_GROUP;
    aside->side = SCAN_FAMILY / aside->groups;
    aside->wide = aside->units * aside->side;
    aside->height = aside->groups * SCAN_GROUP;
  } else {
    aside->rows = aside->units / wide;
    aside->height = aside->rows * SCAN_ROW;
  }
  aside->skew = (aside->side + 28 * aside->wide) % 32; /* after four rows: `side` banks on */
  aside->solid = aside->inner >= aside->wide;
  aside->strips = ((aside->solid ? aside->inner : aside->lines) + aside->wide - 1) / aside->wide;
}

template <typename S>
static int64_t scan_strips(const scan_aside<S> &aside) {
  return aside.strips * (aside.solid ? aside.lines / aside.inner : 1);
}

template <typename S>
static scan_aside<S> scan_aside_of(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  const rung_view *in = &task->arrays[SCAN_IN], *out = &task->arrays[SCAN_OUT];
  scan_aside<S> aside;
  aside.in = (const typename S::in *)in->data;
  aside.out = (typename S::in *)out->data;
  aside.in_far = in->stride[0];
  aside.in_step = in->stride[1];
  aside.out_far = out->stride[0];
  aside.out_step = out->stride[1];
  aside.inner = problem->inner;
  aside.columns = problem->columns;
  aside.lines = problem->lines;
  aside.key = scan_key_of(problem);
  aside.exclusive = problem->exclusive;
  aside.tiles = scan_tiles(problem->columns);
  aside.pitch = scan_aggregates(aside.tiles);
  aside.numbers = (typename S::value *)task->scratch;
  aside.units = SCAN_STAGE_BYTES / (int)(sizeof(typename S::value) > 4 ? 8 : 4) / SCAN_ROW;
  return aside;
}

struct scan_across_rung {
  template <typename S>
  static rung_status launch(const rung_task *task, scan_aside<S> aside, int mode) {
    aside.mode = mode;
    aside.parts = mode == SCAN_WALK ? 1 : mode == SCAN_TOTALS ? aside.tiles - 1 : aside.tiles;
    aside.part = mode == SCAN_WALK ? aside.columns : (int64_t)SCAN_TILE;
    aside.jobs = scan_strips(aside) * aside.parts;
    const int stage = (aside.height / SCAN_GROUP) * (SCAN_GROUP * aside.wide + aside.skew);
    const size_t bytes = (size_t)stage * SCAN_STAGES * sizeof(typename S::in);
    const int64_t most = (int64_t)task->device->processors * 4;
    RUNG_ALLOW_SHARED(task, (scan_across_kernel<S>), SCAN_STAGES * (SCAN_STAGE_BYTES + 1024));
    RUNG_LAUNCH(task, (scan_across_kernel<S>), scan_grid(aside.jobs < most ? aside.jobs : most),
                SCAN_THREADS, bytes, aside, stage);
    return RUNG_OK;
  }

  template <typename S>
  static rung_status run(const rung_task *task) {
    scan_aside<S> aside = scan_aside_of<S>(task);
    const int64_t processors = task->device->processors;
    int wide = aside.units;
    /* Narrower strips are more, for the device to be full of them. */
    scan_shape_tile(&aside, wide);
    while (aside.columns > SCAN_ROW && wide > SCAN_EIGHT && 2 * scan_strips(aside) < 3 * processors)
      scan_shape_tile(&aside, wide /= 2);
    if (aside.tiles == 1 || 2 * scan_strips(aside) > processors)
      return launch<S>(task, aside, SCAN_WALK);
    for (wide = aside.units; wide > SCAN_EIGHT && aside.lines <= wide / 2; wide /= 2) continue;
    scan_shape_tile(&aside, wide);
    const rung_status status = launch<S>(task, aside, SCAN_TOTALS);
    if (status != RUNG_OK) return status;
    const int64_t warps = (aside.tiles - 2) / SCAN_FAMILY + 1;
    RUNG_LAUNCH(task, (scan_families_kernel<S>), scan_grid(aside.lines),
                32 * (unsigned)(warps < 32 ? warps : 32), 0, aside.lines, aside.tiles,
                aside.numbers, aside.pitch);
    return launch<S>(task, aside, SCAN_RESULTS);
  }
};

extern "C" rung_status RUNG_ENTRY(scan_across)(const rung_task *task) {
  return scan_by_any_operator<scan_across_rung>(task);
}
