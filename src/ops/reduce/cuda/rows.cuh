/* A tile of elements that are rows of memory with gaps between them (reduce.h), by one block. */
#ifndef RUNG_REDUCE_CUDA_ROWS_CUH
#define RUNG_REDUCE_CUDA_ROWS_CUH

#include "ops/reduce/cuda/fold.cuh"

/* n / d, for n below d plus a tile, or two. Of more than that of d it is 0 or 1; else a product
 * with 2^33 / d, rounded up: what that is too much is less than 1 / d as long as n and d, which is
 * 3 at least, multiply to less than 2^33. */
struct reduce_divider {
  uint32_t by, factor; /* 0: by comparing */
};
enum { REDUCE_DIVIDED = 1 << 16, REDUCE_ROW_BYTES = 512 };

static inline reduce_divider reduce_divider_of(int64_t d) {
  return {(uint32_t)d,
          d < REDUCE_DIVIDED ? (uint32_t)(((INT64_C(1) << 33) + d - 1) / d) : UINT32_C(0)};
}
__device__ __forceinline__ uint32_t reduce_quotient(uint32_t n, const reduce_divider &d) {
  return d.factor != 0 ? __umulhi(n, d.factor) >> 1 : (uint32_t)(n >= d.by);
}

/* Rows as kernels take them. Steps of `gap` are as wide as addresses. */
struct reduce_gapped {
  reduce_divider width, height;
  int64_t gap, plane_gap;
  int party; /* threads that take a row together, where the order is free; 0: rows are too short */
};

/* Where a tile begins: its element `at` is `from + at` of row 0. */
template <typename T>
struct reduce_tile_rows {
  const T *row0;
  uint32_t from, above; /* elements of its first row before it, rows of its plane before that */
};

template <typename T>
__device__ __forceinline__ reduce_tile_rows<T> reduce_find_tile(const T *in, int64_t first,
                                                                const reduce_gapped &rows) {
  const int64_t row = first / rows.width.by, plane = row / rows.height.by;
  return {in + row * rows.width.by + row * rows.gap + plane * rows.plane_gap,
          (uint32_t)(first - row * rows.width.by), (uint32_t)(row - plane * rows.height.by)};
}

/* How many elements more than `at` the tile's element `at` lies after row 0, by its row. */
__device__ __forceinline__ int64_t reduce_gaps(const reduce_gapped &rows, uint32_t above,
                                               uint32_t row) {
  const int64_t gaps = row * rows.gap;
  if (rows.plane_gap == 0) return gaps;
  return gaps + reduce_quotient(above + row, rows.height) * rows.plane_gap;
}

template <typename T>
__device__ __forceinline__ const T *reduce_find_element(const reduce_tile_rows<T> &tile, int at,
                                                        const reduce_gapped &rows) {
  const uint32_t from = tile.from + (uint32_t)at, row = reduce_quotient(from, rows.width);
  return tile.row0 + from + reduce_gaps(rows, tile.above, row);
}

/* Lanes are elements 2048 apart, whatever rows they are of. */
template <typename S>
__device__ typename S::partial reduce_gapped_ordered(const reduce_tile_rows<typename S::in> &tile,
                                                     int count, const reduce_gapped &rows,
                                                     const rung_key_code &key,
                                                     typename S::partial *lanes) {
  typedef typename S::partial T;
  enum { LOADS = RUNG_SUM_ROWS / 2 }; /* under way at a time */
  const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
  for (int lane = thread; lane < RUNG_SUM_LANES; lane += threads) {
    T sum = S::identity();
    for (int first = lane; first < count; first += LOADS * RUNG_SUM_LANES) {
      T some[LOADS];
#pragma unroll
      for (int r = 0; r < LOADS; ++r) {
        const int at = first + r * RUNG_SUM_LANES;
        some[r] = S::load(*reduce_find_element(tile, at < count ? at : lane, rows), key);
        if (at >= count) some[r] = S::identity();
      }
#pragma unroll
      for (int r = 0; r < LOADS; ++r) sum = S::combine(sum, some[r]);
    }
    lanes[lane] = sum;
  }
  return reduce_fold_lanes(lanes);
}

template <typename S>
__device__ __forceinline__ void reduce_combine_elements(
    typename S::running &value, const reduce_tile_rows<typename S::in> &tile, int count,
    const reduce_gapped &rows, const rung_key_code &key) {
#pragma unroll 4
  for (int at = (int)threadIdx.x; at < count; at += (int)blockDim.x)
    value = S::combine(value, S::load(*reduce_find_element(tile, at, rows), key));
}

/* Rows, or what the tile has of them, one after the other, by as many threads as find work. */
template <typename S>
__device__ __forceinline__ void reduce_combine_rows(typename S::running &value,
                                                    const reduce_tile_rows<typename S::in> &tile,
                                                    int count, const reduce_gapped &rows,
                                                    const rung_key_code &key) {
  const int party = (int)threadIdx.x / rows.party, thread = (int)threadIdx.x % rows.party;
  const int parties = (int)blockDim.x / rows.party;
  const int64_t end = (int64_t)tile.from + count;
  for (int64_t row = party; row * rows.width.by < end; row += parties) {
    const int64_t begin = row * rows.width.by, next = begin + rows.width.by;
    const int64_t from = begin < tile.from ? tile.from : begin, to = next < end ? next : end;
    reduce_combine_run<S>(value, tile.row0 + from + reduce_gaps(rows, tile.above, (uint32_t)row),
                          (int)(to - from), thread, rows.party, key);
  }
}

/* Of narrow elements 16 bytes at once are worth having, where rows are not short. */
template <typename S>
__device__ typename S::partial reduce_gapped_unordered(const reduce_tile_rows<typename S::in> &tile,
                                                       int count, const reduce_gapped &rows,
                                                       const rung_key_code &key,
                                                       typename S::partial *shared) {
  typename S::running value = S::identity();
  if (sizeof(typename S::in) < 4 && rows.party > 0)
    reduce_combine_rows<S>(value, tile, count, rows, key);
  else
    reduce_combine_elements<S>(value, tile, count, rows, key);
  return reduce_fold_block<S>(value, shared);
}

template <typename S>
__device__ __forceinline__ typename S::partial reduce_tile_gapped(const typename S::in *in,
                                                                  int64_t first, int count,
                                                                  const reduce_gapped &rows,
                                                                  const rung_key_code &key,
                                                                  typename S::partial *shared) {
  const auto tile = reduce_find_tile(in, first, rows);
  if constexpr (S::ordered)
    return reduce_gapped_ordered<S>(tile, count, rows, key, shared);
  else
    return reduce_gapped_unordered<S>(tile, count, rows, key, shared);
}

/* The smallest power of two of threads, at least a warp, that has a row's 16 bytes each; at most
 * the block's. */
static inline reduce_gapped reduce_gapped_of(const reduce_rows &rows, int64_t bytes, int threads) {
  reduce_gapped gapped = {reduce_divider_of(rows.width), reduce_divider_of(rows.height), rows.gap,
                          rows.plane_gap, 32};
  while (2 * gapped.party <= threads && gapped.party * 16 < rows.width * bytes) gapped.party *= 2;
  if (rows.width * bytes < REDUCE_ROW_BYTES) gapped.party = 0;
  return gapped;
}

#endif
