/* Lines that lie side by side, where they are. A strip is some lines that are neighbours; a warp
 * takes a row of the contract, 128 elements, of each of 17 to 32 lines, or several rows of fewer
 * lines, by asynchronous copies, the next ones while it computes. A lane has a row of a line: it
 * finds the totals of the row's groups, scans them in registers, and puts what comes before to the
 * prefixes of groups. Warps of a block take rows that follow one another; their totals meet in
 * shared memory. Of lines of a row at most, lanes have lines of other strips instead of other rows.
 *
 * Where there are too few lines for the device, long ones are cut into tiles of the contract, as
 * the rung "tiles" does it: totals, prefixes of families, results. Very short lines stay in
 * registers from the start, a thread a line. */
#include "ops/scan/cuda/levels.cuh"

static constexpr int SCAN_MOST_WARPS = 8, SCAN_FEW_GROUPS = 4, SCAN_SOME_GROUPS = 16;

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
  int mode;
  int wide, span;         /* a strip's lines, and the lanes that it takes, a power of two */
  int height;             /* a row's elements, whole groups */
  int stages;             /* a warp's rows in shared memory, 1 or 2 */
  int chunks;             /* so many times 16 bytes are a strip's next elements; 0: not so */
  bool near;              /* a row's results are less than 2^31 elements apart */
  int64_t beside;         /* strips of neighbouring lines */
  int64_t strips;         /* all of them */
  int64_t parts, part;    /* of a line, and the elements of one */
  int64_t jobs;           /* parts of strips; of short lines what a block takes at once */
  int64_t tiles, pitches; /* aggregates, of a line */
  typename S::value *numbers;
};

/* A part of a strip: where it begins, how many elements and lines it has. There is nothing in it
 * beyond the last. */
struct scan_strip {
  int64_t in, out, count, line, part;
  int lines;
};

/* Where a block is: in which job, how many elements of its parts are done. */
struct scan_cursor {
  int64_t job, first;
};

/* A row of a strip: its strip, its first element, how many there are. */
struct scan_place {
  scan_strip strip;
  int64_t first;
  int there;
};

/* Division is dear, of 64 bits above all, and mostly there is nothing to divide. */
__device__ __forceinline__ int64_t scan_quotient(int64_t a, int64_t b) {
  if (b == 1 || a < b) return b == 1 ? a : 0;
  if (a <= UINT32_MAX) return (unsigned)a / (unsigned)b;
  return a / b;
}

template <typename S>
__device__ __forceinline__ scan_strip scan_strip_of(const scan_aside<S> &aside, int64_t number) {
  scan_strip strip;
  const bool there = number < aside.strips * aside.parts;
  if (!there) number = 0;
  strip.part = scan_quotient(number, aside.strips);
  number -= strip.part * aside.strips;
  const int64_t outer = scan_quotient(number, aside.beside);
  const int64_t begin = (number - outer * aside.beside) * aside.wide;
  const int64_t first = strip.part * aside.part;
  strip.in = outer * aside.in_far + first * aside.in_step + begin;
  strip.out = outer * aside.out_far + first * aside.out_step + begin;
  strip.line = outer * aside.inner + begin;
  strip.lines = aside.inner - begin < aside.wide ? (int)(aside.inner - begin) : aside.wide;
  strip.count = aside.columns - first < aside.part ? aside.columns - first : aside.part;
  if (!there) strip.count = 0;
  return strip;
}

/* Whether the warps of a block share its strips; else each has its own. */
template <typename S>
__device__ __forceinline__ bool scan_together(const scan_aside<S> &aside) {
  return aside.columns > SCAN_ROW;
}

/* How many elements a block takes at a time of lines that are longer than a row. */
template <typename S>
__device__ __forceinline__ int scan_round(const scan_aside<S> &aside) {
  return (int)blockDim.x / aside.span * SCAN_ROW;
}

template <typename S>
__device__ __forceinline__ void scan_next(const scan_aside<S> &aside, scan_cursor *at) {
  at->first += scan_round(aside);
  if (at->first < aside.part) return;
  at->first = 0;
  at->job += gridDim.x;
}

/* The lane's row. The strip is kept while a job lasts. */
template <typename S>
__device__ __forceinline__ void scan_find(const scan_aside<S> &aside, const scan_cursor &at,
                                          scan_place *place) {
  const int row = (int)threadIdx.x / aside.span;
  if (!scan_together(aside))
    place->strip = scan_strip_of(aside, at.job * (blockDim.x / aside.span) + row);
  else if (at.first == 0)
    place->strip = scan_strip_of(aside, at.job);
  place->first = scan_together(aside) ? at.first + row * SCAN_ROW : 0;
  const int64_t left = place->strip.count - place->first;
  place->there = left >= aside.height ? aside.height : left > 0 ? (int)left : 0;
}

/* A lane's row into shared memory, element r to 32 r and the lane's place. A lane copies its own
 * elements, or 16 bytes of several lines. */
template <typename S>
__device__ __forceinline__ void scan_fetch_row(const scan_aside<S> &aside, const scan_place &place,
                                               typename S::in *stage) {
  typedef typename S::in in;
  typedef scan_chunk<uint32_t> chunk;
  constexpr int PER = 16 / (int)sizeof(in);
  const int lane = (int)threadIdx.x % 32, column = lane % aside.span, there = place.there;
  const int64_t step = aside.in_step;
  const in *from = aside.in + place.strip.in + place.first * step;
  if (aside.chunks > 0) {
    const int first = column % aside.chunks * PER, by = aside.span / aside.chunks;
    int r = first < place.strip.lines ? column / aside.chunks : there;
    in *to = stage + r * 32 + lane - column + first;
    from += r * step + first;
#pragma unroll 8
    for (; r < there; r += by, to += by * 32, from += by * step)
      rung_copy_async((chunk *)to, (const chunk *)from);
  } else if (column < place.strip.lines) {
    in *to = stage + lane;
    from += column;
    if constexpr (sizeof(in) >= 4) {
#pragma unroll 8
      for (int r = 0; r < there; ++r, to += 32, from += step) rung_copy_async(to, from);
    } else {
#pragma unroll 16
      for (int r = 0; r < there; ++r, to += 32, from += step) *to = *from;
    }
  }
}

/* What a warp takes next. What is missing changes nothing. */
template <typename S>
__device__ __forceinline__ void scan_fetch(const scan_aside<S> &aside, const scan_cursor &at,
                                           scan_place *place, typename S::in *stage) {
  if (at.job >= aside.jobs) return;
  scan_find(aside, at, place);
  scan_fetch_row(aside, *place, stage);
  const int lane = (int)threadIdx.x % 32;
  for (int r = lane % aside.span < place->strip.lines ? place->there : 0; r < aside.height; ++r)
    stage[r * 32 + lane] = S::empty(aside.key);
  rung_copy_async_commit();
}

/* ---- a lane's row -------------------------------------------------------------------------------
 */

/* K of the contract, of a lane's own numbers, which stay in registers as every step is unrolled. */
template <typename S, int COUNT = SCAN_FAMILY, int BACK = 1>
__device__ __forceinline__ void scan_own_family(typename S::value g[]) {
#pragma unroll
  for (int i = COUNT - 1; i >= BACK; --i) g[i] = S::combine(g[i - BACK], g[i]);
  if constexpr (2 * BACK < COUNT) scan_own_family<S, COUNT, 2 * BACK>(g);
}

/* Whether the prefixes of a row's groups stay in registers; else they are found a second time: of
 * 8 bytes they are too many, and of less than 4 more warps are worth more. */
template <typename S>
constexpr bool scan_keeps = sizeof(typename S::in) == 4;

template <typename S>
struct scan_row_of {
  typename S::value e[scan_keeps<S> ? SCAN_ROW : SCAN_GROUP], g[SCAN_FAMILY];
};

template <typename S>
__device__ __forceinline__ void scan_read_group(const scan_aside<S> &aside,
                                                const typename S::in *at, typename S::value e[]) {
#pragma unroll
  for (int c = 0; c < SCAN_GROUP; ++c) e[c] = S::load(at[c * 32], aside.key);
  scan_group_prefixes<S>(e);
}

/* The totals of a row's groups. */
template <typename S>
__device__ __forceinline__ void scan_read_row(const scan_aside<S> &aside,
                                              const typename S::in *stage, scan_row_of<S> *row) {
#pragma unroll
  for (int q = 0; q < SCAN_FAMILY; ++q) {
    row->g[q] = S::identity();
    if (q * SCAN_GROUP >= aside.height) continue;
    typename S::value *const e = row->e + (scan_keeps<S> ? q * SCAN_GROUP : 0);
    scan_read_group<S>(aside, stage + q * SCAN_GROUP * 32, e);
    row->g[q] = e[SCAN_GROUP - 1];
  }
}

/* The results of a group, from its prefixes and what comes before it; `begins`: it is its line's
 * first. `there` of them are there; `plain`: all, and neither are they
 * exclusive nor far apart. */
template <typename S>
__device__ __forceinline__ void scan_put_group(const scan_aside<S> &aside,
                                               const typename S::value e[], typename S::value base,
                                               bool begins, bool plain, int there,
                                               typename S::in *to) {
  typename S::value with[SCAN_GROUP];
#pragma unroll
  for (int c = 0; c < SCAN_GROUP; ++c) with[c] = S::combine(base, e[c]);
  if (plain) {
    const int step = (int)aside.out_step;
#pragma unroll
    for (int c = 0; c < SCAN_GROUP; ++c) to[(int64_t)c * step] = S::store(with[c], aside.key);
    return;
  }
#pragma unroll
  for (int c = 0; c < SCAN_GROUP; ++c) {
    const typename S::value before = c > 0 ? with[c > 0 ? c - 1 : 0] : base;
    typename S::in result = S::store(aside.exclusive ? before : with[c], aside.key);
    if (c == 0 && aside.exclusive && begins) result = S::empty(aside.key);
    if (c < there) to[c * aside.out_step] = result;
  }
}

/* A row's results, from what comes before it. */
template <typename S>
__device__ __forceinline__ void scan_put_row(const scan_aside<S> &aside,
                                             const typename S::in *stage, scan_row_of<S> *row,
                                             typename S::value offset, bool begins, bool plain,
                                             int there, typename S::in *to) {
#pragma unroll
  for (int q = 0; q < SCAN_FAMILY; ++q) {
    if (q * SCAN_GROUP >= aside.height) continue;
    typename S::value *const e = row->e + (scan_keeps<S> ? q * SCAN_GROUP : 0);
    if (!scan_keeps<S>) scan_read_group<S>(aside, stage + q * SCAN_GROUP * 32, e);
    scan_put_group<S>(aside, e, q > 0 ? S::combine(offset, row->g[q > 0 ? q - 1 : 0]) : offset,
                      begins && q == 0, plain, there - q * SCAN_GROUP, to);
    to += SCAN_GROUP * aside.out_step;
  }
}

/* ---- what comes before a row --------------------------------------------------------------------
 */

/* What a line has come to: before the tile, in the tile's bands, in the band's rows. */
template <typename S>
struct scan_so_far {
  typename S::value tiles, bands, rows;
};

/* K of the contract at the last of `count` aggregates of a family, 1 or more. */
template <typename S>
__device__ __forceinline__ typename S::value scan_family_at(const typename S::value *aggregates,
                                                            int count) {
  typename S::value g[SCAN_FAMILY], last = S::identity();
#pragma unroll
  for (int i = 0; i < SCAN_FAMILY; ++i) g[i] = i < count ? aggregates[i] : S::identity();
  scan_own_family<S>(g);
#pragma unroll
  for (int i = 0; i < SCAN_FAMILY; ++i)
    if (i == count - 1) last = g[i];
  return last;
}

/* Leaves the total of a line's tile, and the aggregates of the families that it is the last of. */
template <typename S>
__device__ __forceinline__ void scan_leave_tile(const scan_aside<S> &aside,
                                                typename S::value *level, int64_t tile,
                                                typename S::value total) {
#pragma unroll 1
  for (int64_t count = aside.tiles;; count /= SCAN_FAMILY, tile /= SCAN_FAMILY) {
    level[tile] = total;
    if (tile % SCAN_FAMILY != SCAN_FAMILY - 1) return;
    total = scan_family_at<S>(level + tile - (SCAN_FAMILY - 1), SCAN_FAMILY);
    level += count;
  }
}

/* P of a tile, from the aggregates that the lane left itself. */
template <typename S>
__device__ __forceinline__ typename S::value scan_walked(const scan_aside<S> &aside,
                                                         const typename S::value *numbers,
                                                         int64_t tile) {
  typename S::value all = S::identity();
#pragma unroll 1
  for (int k = SCAN_LEVELS - 1; k >= 0; --k) {
    const typename S::value *level = numbers;
    int64_t count = aside.tiles, at = tile;
    for (int j = 0; j < k; ++j, count /= SCAN_FAMILY, at /= SCAN_FAMILY) level += count;
    const int number = (int)(at % SCAN_FAMILY);
    if (number > 0) all = S::combine(all, scan_family_at<S>(level + at - number, number));
  }
  return all;
}

/* The rows of a block's warps, whose totals are given, have been: what comes before the lane's own
 * is returned, and `so_far` is what comes before the rows that follow. */
template <typename S>
__device__ __forceinline__ typename S::value scan_pass_rows(const scan_aside<S> &aside,
                                                            const scan_cursor &at,
                                                            const typename S::value totals[],
                                                            scan_so_far<S> *so_far) {
  typename S::value bands = S::identity(), rows = S::identity(); /* at the lane's own row */
  const int own = (int)threadIdx.x / aside.span, column = (int)threadIdx.x % aside.span;
  for (int row = 0; row < (int)blockDim.x / aside.span; ++row) {
    const int64_t first = at.first + row * SCAN_ROW;
    if (first % SCAN_BAND == 0) {
      so_far->bands =
          first % SCAN_TILE == 0 ? S::identity() : S::combine(so_far->bands, so_far->rows);
      so_far->rows = S::identity();
    }
    if (row == own) {
      bands = so_far->bands;
      rows = so_far->rows;
    }
    so_far->rows = S::combine(so_far->rows, totals[row * aside.span + column]);
  }
  return S::combine(S::combine(so_far->tiles, bands), rows);
}

/* At the end of a tile, a block's warps together. */
template <typename S>
__device__ __forceinline__ void scan_end_tile(const scan_aside<S> &aside, const scan_strip &strip,
                                              int64_t tile, typename S::value before[],
                                              scan_so_far<S> *so_far) {
  const int column = (int)threadIdx.x % aside.span;
  const typename S::value total = S::combine(so_far->bands, so_far->rows);
  typename S::value *const numbers = aside.numbers + (strip.line + column) * aside.pitches;
  const bool mine = (int)threadIdx.x < strip.lines;
  if (aside.mode == SCAN_TOTALS && mine) numbers[strip.part] = total;
  if (aside.mode != SCAN_WALK) return;
  if (mine) {
    scan_leave_tile<S>(aside, numbers, tile, total);
    before[column] = scan_walked<S>(aside, numbers, tile + 1);
  }
  __syncthreads();
  if (column < strip.lines) so_far->tiles = before[column];
}

/* What comes before the lane's row of a line that is longer than a row. */
template <typename S>
__device__ __forceinline__ typename S::value scan_before_row(
    const scan_aside<S> &aside, const scan_cursor &at, const scan_strip &strip,
    typename S::value totals[], typename S::value before[], scan_so_far<S> *so_far) {
  const int column = (int)threadIdx.x % aside.span;
  if (at.first == 0) {
    so_far->tiles = S::identity();
    if (aside.mode == SCAN_RESULTS && column < strip.lines)
      so_far->tiles = scan_before<S>(aside.numbers + (strip.line + column) * aside.pitches,
                                     aside.tiles, strip.part, S::identity());
  }
  const typename S::value offset = scan_pass_rows<S>(aside, at, totals, so_far);
  const int64_t end = at.first + scan_round(aside);
  if (end % SCAN_TILE == 0 && (aside.mode == SCAN_TOTALS || end < aside.part))
    scan_end_tile<S>(aside, strip, at.first / SCAN_TILE, before, so_far);
  return offset;
}

template <typename S>
static __global__ void __launch_bounds__(32 * SCAN_MOST_WARPS)
    scan_across_kernel(scan_aside<S> aside) {
  typedef typename S::in in;
  typedef typename S::value value;
  RUNG_DYNAMIC_SHARED(in, stages);
  rung_take_turn();
  __shared__ value totals[2][32 * SCAN_MOST_WARPS], before[32];
  const int lane = (int)threadIdx.x % 32, column = lane % aside.span;
  const int stage_elements = aside.height * 32, second = (aside.stages - 1) * stage_elements;
  in *const own = stages + (int)threadIdx.x / 32 * aside.stages * stage_elements;
  /* What is computed follows what is fetched by a round, unless there is room for one row only that
   * is read twice. */
  const bool late = !scan_keeps<S> && aside.stages == 1;
  scan_cursor ahead = {blockIdx.x, 0}, at = {blockIdx.x, late ? 0 : -scan_round(aside)};
  scan_place place, next;
  scan_so_far<S> so_far;
  scan_row_of<S> row;
  bool fetched = false;
  for (int k = 1; at.job < aside.jobs;) {
    in *const stage = own + k * second, *const other = own + (k ^ 1) * second;
    const bool computes = late ? fetched : at.first >= 0;
    if (computes) {
      rung_copy_async_wait();
      __syncwarp();
      scan_read_row<S>(aside, stage + lane, &row);
      __syncwarp();
    }
    fetched = !late || !computes;
    if (fetched) {
      scan_fetch(aside, ahead, &next, other);
      scan_next(aside, &ahead);
    }
    if (late && !computes) continue;
    const scan_cursor now = at;
    scan_next(aside, &at);
    k ^= 1;
    if (!computes) continue;
    scan_find(aside, now, &place);
    scan_own_family<S>(row.g);
    value offset = S::identity();
    if (scan_together(aside)) {
      totals[k][threadIdx.x] = row.g[SCAN_FAMILY - 1];
      __syncthreads();
      offset = scan_before_row<S>(aside, now, place.strip, totals[k], before, &so_far);
    }
    if (aside.mode == SCAN_TOTALS) continue;
    const bool plain =
        aside.near && !aside.exclusive && __all_sync(0xffffffffu, place.there == aside.height);
    if (column < place.strip.lines)
      scan_put_row<S>(aside, stage + lane, &row, offset, place.strip.part + place.first == 0, plain,
                      place.there,
                      aside.out + place.strip.out + place.first * aside.out_step + column);
  }
}

/* Lines of so few elements that a thread has all of one. */
template <typename S, int GROUPS>
static __global__ void __launch_bounds__(SCAN_THREADS, GROUPS > SCAN_FEW_GROUPS ? 2
                                                       : GROUPS > 1             ? 3
                                                                                : 4)
    scan_few_kernel(scan_aside<S> aside) {
  constexpr int MOST = GROUPS * SCAN_GROUP;
  const int columns = (int)aside.columns;
  for (int64_t line = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; line < aside.lines;
       line += (int64_t)gridDim.x * blockDim.x) {
    const int64_t outer = scan_quotient(line, aside.inner), beside = line - outer * aside.inner;
    const typename S::in *from = aside.in + outer * aside.in_far + beside;
    typename S::in *to = aside.out + outer * aside.out_far + beside;
    typename S::value e[MOST], g[GROUPS];
#pragma unroll
    for (int r = 0; r < MOST; ++r, from += aside.in_step)
      e[r] = r < columns ? S::load(*from, aside.key) : S::identity();
#pragma unroll
    for (int q = 0; q < GROUPS; ++q) {
      scan_group_prefixes<S>(e + q * SCAN_GROUP);
      g[q] = e[q * SCAN_GROUP + SCAN_GROUP - 1];
    }
    scan_own_family<S, GROUPS>(g);
#pragma unroll
    for (int q = 0; q < GROUPS; ++q, to += SCAN_GROUP * aside.out_step)
      scan_put_group<S>(aside, e + q * SCAN_GROUP, q > 0 ? g[q > 0 ? q - 1 : 0] : S::identity(),
                        q == 0, false, columns - q * SCAN_GROUP, to);
  }
}

/* ---- launching ---------------------------------------------------------------------------------
 */

/* Strips of `wide` lines. */
template <typename S>
static void scan_cut_strips(scan_aside<S> *aside, int wide) {
  constexpr int PER = 16 / (int)sizeof(typename S::in);
  const bool outer = aside->lines > aside->inner;
  const uint64_t size = sizeof(typename S::in);
  aside->wide = wide;
  for (aside->span = 32; aside->span / 2 >= wide; aside->span /= 2) continue;
  aside->beside = (aside->inner + wide - 1) / wide;
  aside->strips = aside->lines / aside->inner * aside->beside;
  aside->chunks = 0;
  if ((((uintptr_t)aside->in | outer * (uint64_t)aside->in_far * size |
        (uint64_t)aside->in_step * size | (uint64_t)aside->inner * size) %
           16 ==
       0) &&
      wide % PER == 0 && aside->span % (wide / PER) == 0)
    aside->chunks = wide / PER;
}

/* Strips as wide as leaves enough of them, and such that few lanes have no line: where rows do not
 * begin at multiples of 16 bytes, all alike. Pieces of less than 64 bytes are half sectors. */
template <typename S>
static void scan_choose_strips(scan_aside<S> *aside, int64_t enough) {
  constexpr int SIZE = (int)sizeof(typename S::in), LEAST = SIZE == 8 ? 8 : 16;
  const int64_t inner = aside->inner, beside = (inner + 31) / 32;
  if (inner <= 32) {
    scan_cut_strips(aside, (int)inner);
    return;
  }
  int wide = 32;
  const bool alike = SIZE < 8 && inner * SIZE % 16 != 0;
  if (alike) wide = (int)((inner + beside - 1) / beside);
  for (int narrow = 16; !alike && narrow >= LEAST; narrow /= 2) {
    const int64_t padded = (inner + narrow - 1) / narrow * narrow;
    if (8 * padded < 7 * ((inner + wide - 1) / wide * wide)) wide = narrow;
  }
  while (wide > 8 && aside->lines / wide < enough) wide = wide > 16 ? 16 : 8;
  scan_cut_strips(aside, wide);
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
  aside.near = aside.out_step > INT32_MIN && aside.out_step < INT32_MAX;
  aside.tiles = scan_tiles(problem->columns);
  aside.pitches = scan_aggregates(aside.tiles);
  aside.numbers = (typename S::value *)task->scratch;
  aside.height = SCAN_ROW;
  if (aside.columns < SCAN_ROW)
    aside.height = (int)(aside.columns + SCAN_GROUP - 1) / SCAN_GROUP * SCAN_GROUP;
  return aside;
}

/* Whether a thread may have all of a line of more than a few groups: the half of its registers.
 * Halves and bytes, 64 of them one by one, take two to three times as long, and the keys of floats
 * a quarter longer. */
template <typename S>
constexpr bool scan_has_some = sizeof(typename S::in) == 4;
template <>
constexpr bool scan_has_some<scan_least_f32> = false;

struct scan_across_rung {
  template <int GROUPS, typename S>
  static rung_status few(const rung_task *task, const scan_aside<S> &aside) {
    RUNG_LAUNCH(task, (scan_few_kernel<S, GROUPS>),
                scan_grid((aside.lines + SCAN_THREADS - 1) / SCAN_THREADS), SCAN_THREADS, 0, aside);
    return RUNG_OK;
  }

  template <typename S>
  static rung_status launch(const rung_task *task, scan_aside<S> aside, int mode) {
    constexpr int MOST = sizeof(typename S::in) > 4 ? 2 : SCAN_MOST_WARPS;
    constexpr int64_t FIXED = (2 * 32 * SCAN_MOST_WARPS + 32) * sizeof(typename S::value);
    const int64_t processors = task->device->processors;
    const int64_t room = task->device->shared_bytes - FIXED;
    const int64_t row = aside.height * 32 * (int64_t)sizeof(typename S::in);
    aside.mode = mode;
    aside.parts = mode == SCAN_WALK ? 1 : mode == SCAN_TOTALS ? aside.tiles - 1 : aside.tiles;
    aside.part = mode == SCAN_WALK ? aside.columns : (int64_t)SCAN_TILE;
    /* Blocks of half as many warps balance better, where there are enough of them. A block ends
     * with a tile. */
    int warps = aside.strips * aside.parts >= 2 * processors ? MOST / 2 : MOST;
    while (32 * warps / aside.span > SCAN_TILE / SCAN_ROW) warps /= 2;
    /* Nor has it warps beyond a line's end: of few lines side by side a warp has many rows. */
    while (warps > 1 && aside.columns > SCAN_ROW &&
           32 * (warps / 2) / aside.span * (int64_t)SCAN_ROW >= aside.columns)
      warps /= 2;
    aside.stages = scan_keeps<S> || 2 * row > room ? 1 : 2;
    while (warps * aside.stages * row > room) warps /= 2;
    const size_t bytes = (size_t)(warps * aside.stages * row);
    const int64_t each = aside.columns > SCAN_ROW ? 1 : 32 * warps / aside.span;
    aside.jobs = (aside.strips * aside.parts + each - 1) / each;
    int resident = 0;
    RUNG_ALLOW_SHARED(task, (scan_across_kernel<S>), bytes);
    RUNG_RESIDENT_BLOCKS(task, (scan_across_kernel<S>), 32 * warps, bytes, &resident);
    const int64_t most = processors * (resident > 0 ? resident : 1);
    RUNG_LAUNCH_NEXT(task, (scan_across_kernel<S>),
                     scan_grid(aside.jobs < most ? aside.jobs : most), 32 * (unsigned)warps, bytes,
                     aside);
    return RUNG_OK;
  }

  template <typename S>
  static rung_status run(const rung_task *task) {
    const int64_t processors = task->device->processors;
    scan_aside<S> aside = scan_aside_of<S>(task);
    if (aside.columns <= SCAN_GROUP) return few<1>(task, aside);
    if (aside.columns <= SCAN_FEW_GROUPS * SCAN_GROUP) return few<SCAN_FEW_GROUPS>(task, aside);
    if constexpr (scan_has_some<S>) { /* and a warp's lines are neighbours */
      if (aside.columns <= SCAN_SOME_GROUPS * SCAN_GROUP && aside.inner >= 32)
        return few<SCAN_SOME_GROUPS>(task, aside);
    }
    scan_choose_strips(&aside, aside.columns > SCAN_ROW ? processors : 0);
    if (aside.tiles == 1 || 2 * aside.strips > processors) return launch<S>(task, aside, SCAN_WALK);
    scan_choose_strips(&aside, 0);
    const rung_status status = launch<S>(task, aside, SCAN_TOTALS);
    if (status != RUNG_OK) return status;
    const int64_t warps = (aside.tiles - 2) / SCAN_FAMILY + 1;
    RUNG_LAUNCH_NEXT(task, (scan_families_kernel<S>), scan_grid(aside.lines),
                     32 * (unsigned)(warps < 32 ? warps : 32), 0, aside.lines, aside.tiles,
                     aside.numbers, aside.pitches);
    return launch<S>(task, aside, SCAN_RESULTS);
  }
};

extern "C" rung_status RUNG_ENTRY(scan_across)(const rung_task *task) {
  return scan_by_any_operator<scan_across_rung>(task);
}
