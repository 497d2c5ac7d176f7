/* The canonical order in three launches: a block a tile, a thread 32 elements in registers. The
 * first leaves the tiles' totals, the second their families' prefixes, level by level, the third
 * reads everything again and writes the results. Most of the work is additions between registers:
 * seven shuffles for a row of 128 elements, one barrier for a tile. Lines of a band at most are a
 * warp's each, and one launch. */
#include "ops/scan/cuda/levels.cuh"

/* Totals of all tiles but a line's last; `numbers` are a line's aggregates, pitch of them. */
template <typename S>
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_totals_kernel(scan_lines<S> lines, int64_t tiles, typename S::value *numbers,
                       int64_t pitch) {
  __shared__ typename S::value bands[SCAN_EIGHT];
  rung_let_next_begin();
  const int warp = (int)threadIdx.x / 32;
  for (int64_t job = blockIdx.x; job < lines.lines * (tiles - 1); job += gridDim.x) {
    const int64_t line = job / (tiles - 1), tile = job - line * (tiles - 1);
    scan_held<S> held;
    scan_load<S>(lines, lines.in + line * lines.in_pitch + tile * SCAN_TILE + warp * SCAN_BAND,
                 SCAN_BAND, held);
    typename S::value rows = S::identity();
#pragma unroll
    for (int r = 0; r < SCAN_EIGHT; ++r) {
      typename S::value t = S::combine(S::combine(held.e[r][0], held.e[r][1]),
                                       S::combine(held.e[r][2], held.e[r][3]));
#pragma unroll
      for (int s = 1; s < 32; s *= 2) t = S::combine(t, __shfl_xor_sync(0xffffffffu, t, s));
      rows = S::combine(rows, t);
    }
    if (threadIdx.x % 32 == 0) bands[warp] = rows;
    __syncthreads();
    if (threadIdx.x == 0) numbers[line * pitch + tile] = scan_bands<S>(bands, SCAN_EIGHT);
    __syncthreads();
  }
}

template <typename S>
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_results_kernel(scan_lines<S> lines, int64_t tiles, const typename S::value *numbers,
                        int64_t pitch, scan_beginnings<S> beginnings) {
  __shared__ typename S::value bands[SCAN_EIGHT];
  if (tiles == 1) rung_await_before(); /* no launch before this one has: elements may be new */
  const int warp = (int)threadIdx.x / 32;
  for (int64_t job = blockIdx.x; job < lines.lines * tiles; job += gridDim.x) {
    const int64_t line = job / tiles, tile = job - line * tiles;
    const int64_t first = tile * SCAN_TILE + warp * SCAN_BAND, left = lines.columns - first;
    const int count = left < SCAN_BAND ? (int)left : SCAN_BAND;
    scan_held<S> held;
    scan_load<S>(lines, lines.in + line * lines.in_pitch + first, count, held);
    rung_await_before();
    const typename S::value before =
        scan_before<S>(numbers + line * pitch, tiles, tile, beginnings.of(line));
    const typename S::value rows = scan_prefixes<S>(held);
    if (threadIdx.x % 32 == 31) bands[warp] = rows;
    __syncthreads();
    scan_store<S>(held, S::combine(before, scan_bands<S>(bands, warp)), lines,
                  first == 0 && line < beginnings.first, lines.out + line * lines.out_pitch + first,
                  count);
    __syncthreads();
  }
}

/* ---- lines of a band at most: a warp a line ----------------------------------------------------
 */

/* Short enough for one branch to show: whether lines are wide is a constant here. */
template <typename S, bool WIDE>
static __global__ void __launch_bounds__(SCAN_THREADS) scan_short_kernel(scan_lines<S> given) {
  scan_lines<S> lines = given;
  lines.wide = WIDE;
  const int64_t warps = (int64_t)gridDim.x * (blockDim.x / 32);
  for (int64_t line = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32;
       line < lines.lines; line += warps) {
    scan_held<S> held;
    scan_load<S>(lines, lines.in + line * lines.in_pitch, (int)lines.columns, held);
    scan_prefixes<S>(held);
    scan_store<S>(held, S::identity(), lines, true, lines.out + line * lines.out_pitch,
                  (int)lines.columns);
  }
}

/* ---- aggregates of ranges ----------------------------------------------------------------------
 */

/* The aggregates of families, or of families of families: a block of 32 or 32 * 32 numbers each. */
template <typename S>
static __global__ void __launch_bounds__(SCAN_FAMILY *SCAN_FAMILY)
    scan_fold_kernel(const typename S::value *numbers, typename S::value *aggregates) {
  __shared__ typename S::value families[SCAN_FAMILY];
  typename S::value k = scan_warp<S>(numbers[blockIdx.x * (int64_t)blockDim.x + threadIdx.x]);
  if (blockDim.x > SCAN_FAMILY) {
    if (threadIdx.x % SCAN_FAMILY == SCAN_FAMILY - 1) families[threadIdx.x / SCAN_FAMILY] = k;
    __syncthreads();
    k = scan_warp<S>(families[threadIdx.x % SCAN_FAMILY]);
  }
  if (threadIdx.x == SCAN_FAMILY - 1) aggregates[blockIdx.x] = k;
}

/* Ranges lie one behind the other, so their tiles are those of one line; of it the kernel leaves
 * out a last one that is not there. */
template <typename S>
static rung_status scan_leave_aggregates(const rung_task *task, scan_lines<S> lines) {
  typedef typename S::value value;
  value *out = (value *)task->arrays[SCAN_OUT].data, *numbers = (value *)task->scratch;
  int64_t tiles = scan_tiles(lines.columns), all = lines.lines * tiles;
  if (tiles == 1) numbers = out;
  lines.wide = ((uintptr_t)lines.in & 15) == 0;
  lines.lines = 1;
  RUNG_LAUNCH(task, (scan_totals_kernel<S>), scan_grid(all), SCAN_THREADS, 0, lines, all + 1,
              numbers, (int64_t)0);
  while (tiles > 1) {
    const int64_t width = tiles > SCAN_FAMILY ? SCAN_FAMILY * SCAN_FAMILY : SCAN_FAMILY;
    value *aggregates = tiles > width ? numbers + all : out;
    tiles /= width;
    all /= width;
    RUNG_LAUNCH(task, (scan_fold_kernel<S>), (unsigned)all, (unsigned)width, 0,
                (const value *)numbers, aggregates);
    numbers = aggregates;
  }
  return RUNG_OK;
}

/* ---- launching ---------------------------------------------------------------------------------
 */

template <typename S>
static rung_status scan_short(const rung_task *task, const scan_lines<S> &lines) {
  const unsigned warps = lines.lines < SCAN_EIGHT ? (unsigned)lines.lines : (unsigned)SCAN_EIGHT;
  const unsigned grid = scan_grid((lines.lines + warps - 1) / warps);
  if (lines.wide)
    RUNG_LAUNCH(task, (scan_short_kernel<S, true>), grid, 32 * warps, 0, lines);
  else
    RUNG_LAUNCH(task, (scan_short_kernel<S, false>), grid, 32 * warps, 0, lines);
  return RUNG_OK;
}

struct scan_tiles_launch {
  template <typename S>
  static rung_status run(const rung_task *task, const scan_lines<S> &lines,
                         const scan_beginnings<S> &beginnings) {
    typedef typename S::value value;
    const int64_t tiles = scan_tiles(lines.columns), pitch = scan_aggregates(tiles);
    value *numbers = (value *)task->scratch;
    if (tiles > 1) {
      const int64_t warps = (tiles - 2) / SCAN_FAMILY + 1;
      RUNG_LAUNCH(task, (scan_totals_kernel<S>), scan_grid(lines.lines * (tiles - 1)), SCAN_THREADS,
                  0, lines, tiles, numbers, pitch);
      RUNG_LAUNCH_NEXT(task, (scan_families_kernel<S>), scan_grid(lines.lines),
                       32 * (unsigned)(warps < 32 ? warps : 32), 0, lines.lines, tiles, numbers,
                       pitch);
    }
    RUNG_LAUNCH_NEXT(task, (scan_results_kernel<S>), scan_grid(lines.lines * tiles), SCAN_THREADS,
                     0, lines, tiles, numbers, pitch, beginnings);
    return RUNG_OK;
  }
};

struct scan_tiles_rung {
  template <typename S>
  static rung_status run(const rung_task *task) {
    const scan_lines<S> lines = scan_lines_of<S>(task);
    if (scan_asks_for_aggregates(task)) return scan_leave_aggregates(task, lines);
    if (scan_is_short(task)) return scan_short(task, lines);
    return scan_by_beginnings<scan_tiles_launch>(task, lines);
  }
};

extern "C" rung_status RUNG_ENTRY(scan_tiles)(const rung_task *task) {
  return scan_by_any_operator<scan_tiles_rung>(task);
}
