/* Lines side by side, in the order of the tree. Folding by halves joins lane l with lane l + 1024
 * first and lane 0 with lane 1 last: a thread that has every so-many-th lane has a subtree, and
 * walks it depth first, so that it holds no more than a number a level. It takes a row of eight or
 * sixteen lanes at once, which are a subtree's leaves, and of some neighbouring lines: that many
 * loads are under way. Threads of a block, and blocks, have other subtrees of the same lines, as
 * many as keep the device busy; the last block to finish folds what blocks left, of a tile first
 * and then the tiles. */
#include "ops/reduce/cuda/walk.cuh"

struct reduce_walk_rest {
  unsigned *counters;
  void *partials, *out;
  int64_t out_outer;
};

/* Where a thread stands in its block, and which columns are its. */
struct reduce_place {
  int party;
  int64_t column, outer, inner;
  bool live;
};

/* Folds the values of a block's parties by halves; the result is the threads' of party 0. */
template <typename S, int V>
__device__ __forceinline__ void reduce_fold_parties(typename S::partial (&value)[V], int width,
                                                    int parties,
                                                    reduce_chunk<typename S::partial, V> *shared) {
  typedef reduce_chunk<typename S::partial, V> chunk;
  const int thread = (int)threadIdx.x;
  if (parties == 1) return;
  chunk own;
#pragma unroll
  for (int c = 0; c < V; ++c) own.at[c] = value[c];
  shared[thread] = own;
  for (int left = parties; left > 1;) {
    const int apart = left >= 4 ? left / 4 * width : width;
    __syncthreads();
    if (thread < apart) {
      if (left >= 4) {
        chunk some[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) some[k] = shared[thread + k * apart];
#pragma unroll
        for (int c = 0; c < V; ++c)
          own.at[c] = S::combine(S::combine(some[0].at[c], some[2].at[c]),
                                 S::combine(some[1].at[c], some[3].at[c]));
      } else {
        const chunk other = shared[thread + apart];
#pragma unroll
        for (int c = 0; c < V; ++c) own.at[c] = S::combine(own.at[c], other.at[c]);
      }
      shared[thread] = own;
    }
    left = left >= 4 ? left / 4 : 1;
  }
#pragma unroll
  for (int c = 0; c < V; ++c) value[c] = own.at[c];
  __syncthreads();
}

/* A block's part of the rows of its columns. */
template <typename S, int V, int LEAVES, int LEVELS, bool MORE, typename Ends>
__device__ __forceinline__ void reduce_by_parties(typename S::partial (&value)[V],
                                                  const typename S::in *tile, int64_t step,
                                                  int count, const reduce_walk &walk,
                                                  const reduce_place &place, int part, int parts,
                                                  const rung_key_code &key,
                                                  reduce_chunk<typename S::partial, V> *shared) {
  typename S::running sums[V];
#pragma unroll
  for (int c = 0; c < V; ++c) sums[c] = S::identity();
  if (place.live)
    reduce_walk_tile<S, V, false, LEAVES, LEVELS, RUNG_SUM_LANES, MORE>(
        sums, tile, step, count, place.party * parts + part, walk.parties * parts, key, Ends());
#pragma unroll
  for (int c = 0; c < V; ++c) value[c] = sums[c];
  reduce_fold_parties<S, V>(value, walk.width, walk.parties, shared);
}

/* What the last block does with what others left: seldom, and not to be paid for in registers by
 * what is done always. */
template <typename S, int V>
static __device__ __attribute__((noinline)) reduce_chunk<typename S::partial, V> reduce_end_parties(
    const typename S::in *rows, int64_t step, int count, const reduce_walk &walk,
    const reduce_place &place, reduce_chunk<typename S::partial, V> *shared) {
  reduce_chunk<typename S::partial, V> result;
  reduce_by_parties<S, V, 8, 4, true, reduce_seldom>(result.at, rows, step, count, walk, place, 0,
                                                     1, rung_key_code(), shared);
  return result;
}

template <typename P, int V>
__device__ __forceinline__ void reduce_store(void *to, int64_t at,
                                             const reduce_chunk<P, V> &value) {
  ((reduce_chunk<P, V> *)to)[at] = value;
}

/* Lanes that a thread loads at once (reduce_walk_of()), and blocks that a multiprocessor is to have
 * room for: what the registers of as many loads and sums allow. */
template <typename S, int V>
static constexpr bool reduce_walk_is_slim = S::ordered ? V * sizeof(typename S::partial) <= 8
                                                       : V == 1;
template <typename S, int V>
static constexpr int reduce_walk_leaves = reduce_walk_is_slim<S, V> ? 16 : 8;
/* Of REDUCE_WALK_LANES lanes, or of REDUCE_WALK_DEEP. */
template <int V>
static constexpr int reduce_walk_levels = V == 1 ? 6 : 4;
template <typename S, int V, bool MORE>
static constexpr int reduce_walk_resident() {
  if (V > 1 || (S::ordered && sizeof(typename S::partial) == 8)) return 2;
  if (!S::ordered) return sizeof(typename S::in) < 8 ? 4 : S::sums ? 3 : 2;
  return MORE ? 3 : 4;
}

/* Of which a thread's lines are, and where among its lines they begin. */
template <int V>
__device__ __forceinline__ void reduce_find(reduce_place &place, const reduce_walk &walk) {
  int64_t outer = (int64_t)__umul64hi((uint64_t)place.column, walk.inverse); /* or one less */
  int64_t inner = place.column - outer * walk.across;
  if (inner >= walk.across) outer++, inner -= walk.across;
  rung_keep(outer); /* worked out again for each of a thread's loads otherwise */
  rung_keep(inner);
  place.outer = outer;
  place.inner = inner * V;
}

/* Lines of at most LEAVES elements: a thread has all of them, and of lines of few bytes several, a
 * block's threads apart, so that as much is on its way. */
RUNG_ANYWHERE constexpr int reduce_leaves_each(int bytes, int leaves) {
  return bytes <= 4 ? 16 / leaves : bytes <= 8 ? 8 / leaves : 1;
}

template <typename S, int V, int LEAVES>
static __global__ void __launch_bounds__(REDUCE_LEAVES_THREADS)
    reduce_tree_leaves(const __grid_constant__ reduce_level level,
                       const __grid_constant__ reduce_walk walk, reduce_walk_rest rest) {
  static constexpr int EACH = reduce_leaves_each(V * (int)sizeof(typename S::in), LEAVES);
  typedef reduce_packed<S, V> packed;
  const int64_t step = (int64_t)gridDim.x * (REDUCE_LEAVES_THREADS * EACH);
  int64_t first = (int64_t)blockIdx.x * (REDUCE_LEAVES_THREADS * EACH) + threadIdx.x;
  for (; first < walk.columns; first += step) {
    reduce_place places[EACH];
    packed loaded[EACH][LEAVES];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
      places[k].column = first + k * REDUCE_LEAVES_THREADS;
      places[k].live = places[k].column < walk.columns;
      if (!places[k].live) continue;
      reduce_find<V>(places[k], walk);
      const typename S::in *at =
          (const typename S::in *)level.in + places[k].outer * level.in_outer + places[k].inner;
#pragma unroll
      for (int m = 0; m < LEAVES; ++m, at += level.in_column) {
        if constexpr (S::ordered) loaded[k][m] = reduce_missing<S, V>();
        if (m < level.columns) loaded[k][m] = *(const packed *)at;
      }
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
      if (!places[k].live) continue;
      typename S::running sums[S::ordered ? LEAVES : 1][V];
#pragma unroll
      for (int m = 0; m < LEAVES; ++m) {
#pragma unroll
        for (int c = 0; c < V; ++c)
          if (S::ordered || m == 0) sums[S::ordered ? m : 0][c] = S::identity();
        if (!S::ordered && m >= level.columns) break;
        reduce_take<S, V, V>(sums[S::ordered ? m : 0], loaded[k][m], level.key);
      }
      if constexpr (S::ordered) reduce_fold_leaves<S, V, LEAVES>(sums);
#pragma unroll
      for (int c = 0; c < V; ++c)
        reduce_finish_each<S>(level.end, (typename S::partial)sums[0][c], rest.out,
                              places[k].outer * rest.out_outer + places[k].inner + c);
    }
  }
}

/* The grid is (strips, blocks that share a tile, tiles). MORE: lines of more than RUNG_SUM_LANES
 * elements. */
template <typename S, int V, bool MORE>
static __global__ void __launch_bounds__(REDUCE_WALK_THREADS, reduce_walk_resident<S, V, MORE>())
    reduce_tree_walk(const __grid_constant__ reduce_level level,
                     const __grid_constant__ reduce_walk walk, reduce_walk_rest rest) {
  typedef typename S::partial P;
  typedef typename S::next next;
  typedef reduce_chunk<P, V> chunk;
  RUNG_DYNAMIC_SHARED(chunk, shared);
  const int thread = (int)threadIdx.x, part = (int)blockIdx.y, tile = (int)blockIdx.z;
  reduce_place place;
  place.party = thread >> walk.width_bits;
  for (int64_t strip = blockIdx.x; strip < walk.strips; strip += gridDim.x) {
    place.column = (strip << walk.width_bits) + (thread & (walk.width - 1));
    place.live = place.party < walk.parties && place.column < walk.columns;
    reduce_find<V>(place, walk);
    const int64_t first = (int64_t)tile * RUNG_SUM_TILE, left = level.columns - first;
    const typename S::in *in = (const typename S::in *)level.in + place.outer * level.in_outer +
                               first * level.in_column + place.inner;
    const bool writes = place.live && place.party == 0;
    chunk value;
    reduce_by_parties<S, V, reduce_walk_leaves<S, V>, reduce_walk_levels<V>, MORE, reduce_no_ends>(
        value.at, in, level.in_column, left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE, walk,
        place, part, walk.split, level.key, shared);
    if (walk.split > 1) {
      P *const parts = (P *)rest.partials;
      const int64_t step = walk.columns * V;
      if (writes)
        reduce_store<P, V>(parts, ((int64_t)tile * walk.split + part) * walk.columns + place.column,
                           value);
      if (!rung_is_last(&rest.counters[tile * walk.strips + strip], walk.split)) continue;
      value = reduce_end_parties<next, V>(parts + tile * walk.split * step + place.column * V, step,
                                          walk.split, walk, place, shared);
    }
    if (walk.tiles > 1) {
      const int64_t step = walk.columns * V, before = walk.split > 1 ? walk.tiles : 0;
      P *const tiles = (P *)rest.partials + before * walk.split * step;
      if (writes) reduce_store<P, V>(tiles, tile * walk.columns + place.column, value);
      if (!rung_is_last(&rest.counters[before * walk.strips + strip], walk.tiles)) continue;
      value = reduce_end_parties<next, V>(tiles + place.column * V, step, (int)walk.tiles, walk,
                                          place, shared);
    }
    if (writes) {
#pragma unroll
      for (int c = 0; c < V; ++c)
        reduce_finish_of<S>(level.end, value.at[c], rest.out,
                            place.outer * rest.out_outer + place.inner + c);
    }
  }
}

typedef void (*walk_kernel)(reduce_level level, reduce_walk walk, reduce_walk_rest rest);

/* at_once: 1, or reduce_walk_wide(), which is V; and 2 of halves. */
template <typename S>
static walk_kernel pick_rows(int at_once, int64_t rows) {
  const bool more = rows > RUNG_SUM_LANES, wide = at_once > 1;
  static constexpr int SIZE = sizeof(typename S::in), V = SIZE == 8 ? 2 : 4;
  if constexpr (SIZE == 2 && S::ordered) {
    if (at_once == 2) return reduce_tree_walk<S, 2, true>;
  }
  static constexpr int MANY = S::ordered && SIZE >= 4 ? V / 2 : V;
  if (rows <= 4) return wide ? reduce_tree_leaves<S, V, 4> : reduce_tree_leaves<S, 1, 4>;
  if (rows <= REDUCE_LEAVES)
    return wide ? reduce_tree_leaves<S, V, REDUCE_LEAVES> : reduce_tree_leaves<S, 1, REDUCE_LEAVES>;
  if constexpr (S::ordered) {
    if (!more) return wide ? reduce_tree_walk<S, V, false> : reduce_tree_walk<S, 1, false>;
  }
  return wide ? reduce_tree_walk<S, MANY, true> : reduce_tree_walk<S, 1, true>;
}

static walk_kernel pick_kernel(reduce_operator op, int at_once, int64_t rows) {
#define PICK(S) pick_rows<S>(at_once, rows)
  REDUCE_PICK(op, PICK)
#undef PICK
}

/* Whether every row begins where a wide load may, and ends where one does. */
static bool is_wide(const reduce_level &level, int at_once) {
  const int64_t bytes = at_once * (int64_t)rung_dtype_bytes(level.dtype);
  return (uintptr_t)level.in % (uintptr_t)bytes == 0 && level.inner % at_once == 0 &&
         (level.columns <= 1 || level.in_column % at_once == 0) &&
         (level.outer == 1 || level.in_outer % at_once == 0);
}

extern "C" rung_status RUNG_ENTRY(reduce_tree_walk)(const rung_task *task) {
  const reduce_operator op = reduce_operator_of((const reduce_problem *)task->problem);
  const reduce_level level = reduce_level_of(task);
  const int most = reduce_walk_wide(task);
  const bool pairs = op == REDUCE_ADD_HALF && level.columns > REDUCE_LEAVES && is_wide(level, 2);
  const int at_once = is_wide(level, most) ? most : pairs ? 2 : 1;
  const reduce_walk walk = reduce_walk_of(task, at_once);
  const reduce_walk_rest rest = {(unsigned *)task->zeros, task->scratch,
                                 task->arrays[REDUCE_OUT].data, reduce_layout_of(task).out_outer};
  const walk_kernel reduce_tree_walk_kernel = pick_kernel(op, at_once, level.columns);
  if (level.columns <= REDUCE_LEAVES) {
    const int bytes = walk.at_once * (int)rung_dtype_bytes(level.dtype);
    const int64_t block =
        REDUCE_LEAVES_THREADS * reduce_leaves_each(bytes, level.columns <= 4 ? 4 : REDUCE_LEAVES);
    RUNG_LAUNCH(task, reduce_tree_walk_kernel, reduce_grid((walk.columns + block - 1) / block),
                REDUCE_LEAVES_THREADS, 0, level, walk, rest);
    return RUNG_OK;
  }
  const int busy = walk.width * walk.parties, threads = busy < 32 ? 32 : busy;
  const dim3 grid(reduce_grid(walk.strips), (unsigned)walk.split, (unsigned)walk.tiles);
  RUNG_LAUNCH(task, reduce_tree_walk_kernel, grid, threads,
              (size_t)(threads * walk.at_once) * rung_dtype_bytes(reduce_partial_of(op)), level,
              walk, rest);
  return RUNG_OK;
}
