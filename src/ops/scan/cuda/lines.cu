/* Lines of a band at most, every lane at work: a row of a warp's 32 groups holds as many lines as
 * fit into it, and each lane knows its place among its own line's groups; what a warp shifts never
 * leaves a line. A thread asks for eight groups before it looks at the first. Longer lines than a
 * row take one row after the other.
 *
 * Groups that begin at multiples of 16 bytes (of their own size, where that is less) are loaded and
 * stored whole. Others pass through shared memory, where every line has such a place, so that a
 * warp still reads and writes memory in one piece. */
#include "ops/scan/cuda/tile.cuh"

typedef uint32_t __attribute__((may_alias)) rung_word;

/* How lines lie in the rows of a warp. */
struct scan_packing {
  int groups; /* of a line in a row, 1 ... 32 */
  int side;   /* lines side by side in a row: 1 where a line has several rows */
  int rows;   /* of a line, 1 ... 8 */
  int units;  /* rows that a warp takes, one after the other: a multiple of `rows` */
};

static inline scan_packing scan_packing_of(int64_t columns) {
  scan_packing packing;
  packing.groups = columns < SCAN_ROW ? (int)(columns + SCAN_GROUP - 1) / SCAN_GROUP : SCAN_FAMILY;
  packing.side = SCAN_FAMILY / packing.groups;
  if (columns > SCAN_ROW) packing.side = 1;
  packing.rows = (int)((columns + SCAN_ROW - 1) / SCAN_ROW);
  packing.units = SCAN_EIGHT / packing.rows * packing.rows;
  return packing;
}

/* Where a thread is: its line is `beside` the first of a unit, its group the `place`-th of the
 * row's. A lane that no line has is beside them all. */
struct scan_seat {
  int beside, place;
};

__device__ __forceinline__ scan_seat scan_seat_of(const scan_packing &packing) {
  const int lane = (int)threadIdx.x % 32;
  return {lane / packing.groups, lane % packing.groups};
}

/* The prefixes of the groups of a unit, in place, and those of its rows; returned is what comes
 * before the thread's group in its row. *rows is what the line's rows so far come to, and then with
 * this one. */
template <typename S>
__device__ __forceinline__ typename S::value scan_unit(typename S::value e[], const scan_seat &seat,
                                                       bool several, typename S::value *rows) {
  typedef typename S::value value;
  scan_group_prefixes<S>(e);
  value g = e[SCAN_GROUP - 1];
#pragma unroll
  for (int s = 1; s < SCAN_FAMILY; s *= 2) {
    const value back = __shfl_up_sync(0xffffffffu, g, s);
    if (seat.place >= s) g = S::combine(back, g);
  }
  value back = __shfl_up_sync(0xffffffffu, g, 1);
  if (seat.place == 0) back = S::identity();
  if (!several) return back;
  const value base = S::combine(*rows, back);
  *rows = S::combine(*rows, __shfl_sync(0xffffffffu, g, 31));
  return base;
}

/* A group as it lies in memory. It is unpacked after all loads are on their way: where narrow
 * elements are parted as they come, every load waits for the one before. */
template <typename T>
struct alignas(scan_chunk<T>) scan_packed {
  rung_word words[sizeof(T)];
};

template <typename T>
__device__ __forceinline__ scan_packed<T> scan_load_group(const T *from) {
  return *(const scan_packed<T> *)from;
}

/* The first `count` of its elements, 0 ... 4, and the others `missing`. */
template <typename T>
__device__ __forceinline__ scan_packed<T> scan_load_some(const T *from, int count, T missing) {
  scan_chunk<T> some;
  scan_packed<T> packed;
#pragma unroll
  for (int c = 0; c < SCAN_GROUP; ++c) some.at[c] = c < count ? from[c] : missing;
  memcpy(&packed, &some, sizeof packed);
  return packed;
}

template <typename S>
__device__ __forceinline__ void scan_unpack(const scan_packed<typename S::in> &packed,
                                            const rung_key_code &key, typename S::value e[]) {
  scan_chunk<typename S::in> group;
  memcpy(&group, &packed, sizeof group);
#pragma unroll
  for (int c = 0; c < SCAN_GROUP; ++c) e[c] = S::load(group.at[c], key);
}

/* Rows that a thread asks for at once. */
template <typename S>
__host__ __device__ constexpr int scan_depth() {
  return sizeof(typename S::value) == 4 ? SCAN_EIGHT : SCAN_EIGHT / 2;
}

/* The next unit: its row of its lines, the lines that are left from it on, and steps of pointers to
 * its first element. */
struct scan_unit_at {
  int row, left;
  int64_t in, out;
};

template <typename S>
__device__ __forceinline__ void scan_next_unit(const scan_lines<S> &lines,
                                               const scan_packing &packing, scan_unit_at *at) {
  const bool same = ++at->row < packing.rows;
  const int64_t back = (packing.rows - 1) * SCAN_ROW;
  at->in += same ? SCAN_ROW : packing.side * lines.in_pitch - back;
  at->out += same ? SCAN_ROW : packing.side * lines.out_pitch - back;
  if (same) return;
  at->row = 0;
  at->left -= packing.side;
}

/* A warp's first unit of those that begin with the line `first`. */
template <typename S>
__device__ __forceinline__ scan_unit_at scan_first_unit(const scan_lines<S> &lines, int64_t first) {
  const int64_t left = lines.lines - first;
  return {0, left < INT32_MAX ? (int)left : INT32_MAX, first * lines.in_pitch,
          first * lines.out_pitch};
}

/* The first line of a warp's; *stride: lines that all warps of the grid take at once. */
__device__ __forceinline__ int64_t scan_first_line(const scan_packing &packing, int64_t *stride) {
  const int64_t lines = packing.units / packing.rows * packing.side;
  const int64_t warps = (int64_t)blockDim.x / 32;
  *stride = lines * gridDim.x * warps;
  return lines * (blockIdx.x * warps + threadIdx.x / 32);
}

template <typename S>
static __global__ void __launch_bounds__(SCAN_THREADS, sizeof(typename S::value) == 4 ? 4 : 3)
    scan_whole_groups_kernel(scan_lines<S> given, scan_packing packing) {
  typedef typename S::value value;
  typedef typename S::in in;
  constexpr int DEPTH = SCAN_EIGHT / 2;
  scan_lines<S> lines = given;
  lines.wide = true;
  const scan_seat seat = scan_seat_of(packing);
  const int at = seat.place * SCAN_GROUP, columns = (int)lines.columns;
  const bool idle = seat.beside >= packing.side;
  const in *const from = lines.in + seat.beside * lines.in_pitch + at;
  in *const to = lines.out + seat.beside * lines.out_pitch;
  int64_t stride;
  for (int64_t first = scan_first_line(packing, &stride); first < lines.lines; first += stride) {
    scan_unit_at unit = scan_first_unit(lines, first), next = unit;
    value rows = S::identity();
#pragma unroll 1
    for (int done = 0; done < packing.units; done += DEPTH) {
      scan_packed<in> groups[DEPTH];
#pragma unroll
      for (int u = 0; u < DEPTH; ++u) {
        const int left = columns - next.row * SCAN_ROW - at;
        const bool taken = done + u < packing.units && !idle && seat.beside < next.left;
        if (taken && left >= SCAN_GROUP)
          groups[u] = scan_load_group(from + next.in);
        else
          groups[u] = scan_load_some(from + next.in, taken ? left : 0, S::empty(lines.key));
        scan_next_unit(lines, packing, &next);
      }
#pragma unroll
      for (int u = 0; u < DEPTH; ++u) {
        if (done + u >= packing.units) break;
        value e[SCAN_GROUP];
        scan_unpack<S>(groups[u], lines.key, e);
        if (unit.row == 0) rows = S::identity();
        const value base = scan_unit<S>(e, seat, packing.rows > 1, &rows);
        if (!idle && seat.beside < unit.left)
          scan_store_group<S>(e, base, lines, unit.row == 0, to + unit.out, at,
                              columns - unit.row * SCAN_ROW);
        scan_next_unit(lines, packing, &unit);
      }
    }
  }
}

/* ---- groups that begin anywhere -----------------------------------------------------------------
 */

/* One of the elements that a lane reads and writes of every unit, in the order in which they lie in
 * memory: where, from the unit's first element on, and its slot in shared memory. It is there if
 * `key` is below the unit's limit. */
struct scan_element {
  int key, slot;
  int64_t in, out;
};

template <typename S>
__device__ __forceinline__ scan_element scan_element_of(const scan_lines<S> &lines,
                                                        const scan_packing &packing, int k) {
  const int at = (int)threadIdx.x % 32 + 32 * k, columns = (int)lines.columns;
  if (packing.rows > 1) return {at, at, at, at};
  const int beside = at / columns, column = at - beside * columns;
  if (beside >= packing.side) return {INT32_MAX, 0, 0, 0};
  return {beside, beside * packing.groups * SCAN_GROUP + column, beside * lines.in_pitch + column,
          beside * lines.out_pitch + column};
}

/* Of a unit: the lines that are left, or the elements of the one line's row. */
__device__ __forceinline__ int scan_limit(const scan_packing &packing, const scan_unit_at &unit,
                                          int columns) {
  if (packing.rows == 1) return unit.left;
  return unit.left > 0 ? columns - unit.row * SCAN_ROW : 0;
}

/* Copies what is there of `DEPTH` units from `next` on to their slots, and waits for it. */
template <typename S, int DEPTH>
__device__ __forceinline__ void scan_copy_units(const scan_lines<S> &lines,
                                                const scan_packing &packing,
                                                const scan_element element[], int units,
                                                scan_unit_at *next,
                                                scan_chunk<typename S::in> (*chunks)[SCAN_FAMILY]) {
  typedef typename S::in in;
  in x[DEPTH][SCAN_GROUP];
#pragma unroll
  for (int u = 0; u < DEPTH; ++u) {
    const int limit = u < units ? scan_limit(packing, *next, (int)lines.columns) : 0;
#pragma unroll
    for (int k = 0; k < SCAN_GROUP; ++k) {
      const in *const from = lines.in + next->in + element[k].in;
      if constexpr (sizeof(in) >= 4) {
        if (element[k].key < limit) rung_copy_async((in *)chunks[u] + element[k].slot, from);
      } else {
        x[u][k] = element[k].key < limit ? *from : S::empty(lines.key);
      }
    }
    scan_next_unit(lines, packing, next);
  }
  if constexpr (sizeof(in) >= 4) {
    rung_copy_async_commit();
    rung_copy_async_wait();
  } else {
#pragma unroll
    for (int u = 0; u < DEPTH; ++u) {
#pragma unroll
      for (int k = 0; k < SCAN_GROUP; ++k)
        if (element[k].key != INT32_MAX) ((in *)chunks[u])[element[k].slot] = x[u][k];
    }
  }
  __syncwarp();
}

template <typename S>
static __global__ void __launch_bounds__(SCAN_THREADS, 3)
    scan_any_groups_kernel(scan_lines<S> lines, scan_packing packing) {
  typedef typename S::value value;
  typedef typename S::in in;
  typedef scan_chunk<in> chunk;
  constexpr int DEPTH = sizeof(in) == 4 ? SCAN_EIGHT : SCAN_EIGHT / 2;
  __shared__ chunk held[SCAN_EIGHT][DEPTH][SCAN_FAMILY];
  const scan_seat seat = scan_seat_of(packing);
  const int lane = (int)threadIdx.x % 32;
  chunk(*const chunks)[SCAN_FAMILY] = held[threadIdx.x / 32];
  scan_element element[SCAN_GROUP];
#pragma unroll
  for (int k = 0; k < SCAN_GROUP; ++k) element[k] = scan_element_of(lines, packing, k);
  /* What no element has stays so, or is a result. */
  for (int u = 0; u < DEPTH; ++u)
    for (int c = 0; c < SCAN_GROUP; ++c) chunks[u][lane].at[c] = S::empty(lines.key);
  __syncwarp();
  int64_t stride;
  for (int64_t first = scan_first_line(packing, &stride); first < lines.lines; first += stride) {
    scan_unit_at unit = scan_first_unit(lines, first), next = unit;
    value rows = S::identity();
#pragma unroll 1
    for (int done = 0; done < packing.units; done += DEPTH) {
      scan_copy_units<S, DEPTH>(lines, packing, element, packing.units - done, &next, chunks);
#pragma unroll
      for (int u = 0; u < DEPTH; ++u) {
        if (done + u >= packing.units) break;
        const chunk own = chunks[u][lane];
        value e[SCAN_GROUP];
#pragma unroll
        for (int c = 0; c < SCAN_GROUP; ++c) e[c] = S::load(own.at[c], lines.key);
        if (unit.row == 0) rows = S::identity();
        const value base = scan_unit<S>(e, seat, packing.rows > 1, &rows);
        chunks[u][lane] = scan_group_results<S>(e, base, lines, unit.row == 0 && seat.place == 0);
        __syncwarp();
        const int limit = scan_limit(packing, unit, (int)lines.columns);
        const in *const slots = (const in *)chunks[u];
#pragma unroll
        for (int k = 0; k < SCAN_GROUP; ++k)
          if (element[k].key < limit) lines.out[unit.out + element[k].out] = slots[element[k].slot];
        scan_next_unit(lines, packing, &unit);
      }
      __syncwarp();
    }
  }
}

/* ---- lines of one and of two elements, without gaps ---------------------------------------------
 */

/* A group is four lines or two, and all of them are one array of `count` elements. */
template <typename S>
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_pairs_kernel(scan_lines<S> lines, int64_t count) {
  typedef typename S::value value;
  typedef typename S::in in;
  typedef scan_chunk<in> chunk;
  constexpr int DEPTH = scan_depth<S>();
  const bool pairs = lines.columns == 2;
  const int64_t step = (int64_t)blockDim.x * SCAN_GROUP;
  const int64_t stride = (int64_t)gridDim.x * DEPTH * step;
  for (int64_t first = (blockIdx.x * (int64_t)DEPTH * blockDim.x + threadIdx.x) * SCAN_GROUP;
       first < count; first += stride) {
    scan_packed<in> groups[DEPTH];
#pragma unroll
    for (int u = 0; u < DEPTH; ++u) {
      const int64_t at = first + u * step;
      if (at + SCAN_GROUP <= count)
        groups[u] = scan_load_group(lines.in + at);
      else
        groups[u] =
            scan_load_some(lines.in + at, at < count ? (int)(count - at) : 0, S::empty(lines.key));
    }
    /* In two turns of the same code, for which the second half is moved. */
#pragma unroll 1
    for (int begun = 0; begun < DEPTH; begun += DEPTH / 2) {
#pragma unroll
      for (int u = 0; u < DEPTH / 2; ++u) {
        const int64_t at = first + (begun + u) * step;
        chunk results;
        value e[SCAN_GROUP];
        scan_unpack<S>(groups[u], lines.key, e);
#pragma unroll
        for (int c = 0; c < SCAN_GROUP; c += 2) {
          const value a = e[c], b = e[c + 1];
          const value both = pairs ? S::combine(a, b) : b;
          results.at[c] = lines.exclusive ? S::empty(lines.key) : S::store(a, lines.key);
          results.at[c + 1] = !lines.exclusive ? S::store(both, lines.key)
                              : pairs          ? S::store(a, lines.key)
                                               : S::empty(lines.key);
        }
        if (at + SCAN_GROUP <= count) {
          *(chunk *)(lines.out + at) = results;
        } else {
#pragma unroll
          for (int c = 0; c < SCAN_GROUP; ++c)
            if (at + c < count) lines.out[at + c] = results.at[c];
        }
      }
#pragma unroll
      for (int u = 0; u < DEPTH / 2; ++u) groups[u] = groups[u + DEPTH / 2];
    }
  }
}

/* ---- launching ---------------------------------------------------------------------------------
 */

/* Whether all of the lines' groups begin where they can be loaded and stored whole. */
template <typename S>
static bool scan_groups_are_whole(const scan_lines<S> &lines) {
  typedef typename S::in in;
  const uint64_t size = sizeof(in), more = lines.lines > 1;
  return (((uintptr_t)lines.in | (uintptr_t)lines.out | more * (uint64_t)lines.in_pitch * size |
           more * (uint64_t)lines.out_pitch * size) &
          (alignof(scan_chunk<in>) - 1)) == 0;
}

struct scan_lines_rung {
  template <typename S>
  static rung_status run(const rung_task *task) {
    scan_lines<S> lines = scan_lines_of<S>(task);
    const scan_packing packing = scan_packing_of(lines.columns);
    const int64_t a_warp = packing.units / packing.rows * packing.side;
    const int64_t all = (lines.lines + a_warp - 1) / a_warp;
    const unsigned warps = all < SCAN_EIGHT ? (unsigned)all : (unsigned)SCAN_EIGHT;
    const unsigned grid = scan_grid((all + warps - 1) / warps);
    if (lines.columns <= 2 && lines.in_pitch == lines.columns && lines.out_pitch == lines.columns) {
      const int64_t count = lines.lines * lines.columns;
      const int64_t block = (int64_t)scan_depth<S>() * SCAN_GROUP * SCAN_THREADS;
      scan_lines<S> one = lines;
      one.lines = 1;
      if (scan_groups_are_whole(one)) {
        RUNG_LAUNCH(task, (scan_pairs_kernel<S>), scan_grid((count + block - 1) / block),
                    SCAN_THREADS, 0, lines, count);
        return RUNG_OK;
      }
    }
    if (scan_groups_are_whole(lines))
      RUNG_LAUNCH(task, (scan_whole_groups_kernel<S>), grid, 32 * warps, 0, lines, packing);
    else
      RUNG_LAUNCH(task, (scan_any_groups_kernel<S>), grid, 32 * warps, 0, lines, packing);
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(scan_lines)(const rung_task *task) {
  return scan_by_any_operator<scan_lines_rung>(task);
}
