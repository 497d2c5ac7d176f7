/* A thread's part of a line's tile, in the canonical order (core/sum.h): a subtree of the lanes,
 * walked depth first, several lanes at a time so that their loads are under way together. */
#ifndef RUNG_REDUCE_CUDA_WALK_CUH
#define RUNG_REDUCE_CUDA_WALK_CUH

#include <string.h>

#include "ops/reduce/cuda/fold.cuh"

/* A thread's results of V neighbours: V lines, or V lanes of one line, which where the order is
 * free are one number. */
template <typename S, int V, bool ALONG>
static constexpr int reduce_numbers = ALONG && !S::ordered ? 1 : V;

/* V elements as they are loaded, in one word or more: parted at once, narrow ones would take a
 * register each. */
template <int BYTES>
struct reduce_word {
  struct type {
    uint4 at[BYTES / 16];
  };
};
template <>
struct reduce_word<1> {
  typedef uint8_t type;
};
template <>
struct reduce_word<2> {
  typedef uint16_t type;
};
template <>
struct reduce_word<4> {
  typedef uint32_t type;
};
template <>
struct reduce_word<8> {
  typedef uint2 type;
};
template <>
struct reduce_word<16> {
  typedef uint4 type;
};
template <typename S, int V>
using reduce_packed = typename reduce_word<V *(int)sizeof(typename S::in)>::type;

/* Whole sectors are read once; of narrower elements the next ones are a neighbour's, soon. */
template <typename P>
__device__ __forceinline__ P reduce_fetch(const P *at) {
  if constexpr (sizeof(P) == 16)
    return rung_load_once(at);
  else
    return *at;
}

template <typename S, int V, int N>
__device__ __forceinline__ void reduce_take(typename S::running (&sums)[N],
                                            const reduce_packed<S, V> &packed,
                                            const rung_key_code &key) {
  reduce_chunk<typename S::in, V> chunk;
  memcpy(&chunk, &packed, sizeof chunk);
#pragma unroll
  for (int c = 0; c < V; ++c)
    sums[N == 1 ? 0 : c] =
        S::combine(sums[N == 1 ? 0 : c], (typename S::running)S::load(chunk.at[c], key));
}

/* The same; in order, of sums that have nothing yet. */
template <typename S, int V, int N>
__device__ __forceinline__ void reduce_take_first(typename S::running (&sums)[N],
                                                  const reduce_packed<S, V> &packed,
                                                  const rung_key_code &key) {
  if constexpr (S::ordered) {
    reduce_chunk<typename S::in, V> chunk;
    memcpy(&chunk, &packed, sizeof chunk);
#pragma unroll
    for (int c = 0; c < V; ++c) sums[c] = (typename S::running)S::load(chunk.at[c], key);
  } else {
    reduce_take<S, V, N>(sums, packed, key);
  }
}

/* V elements that change no sum of floats. */
template <typename S, int V>
__device__ __forceinline__ reduce_packed<S, V> reduce_missing() {
  reduce_chunk<typename S::in, V> chunk;
  reduce_packed<S, V> packed;
#pragma unroll
  for (int c = 0; c < V; ++c) chunk.at[c] = S::missing();
  memcpy(&packed, &chunk, sizeof packed);
  return packed;
}

/* sums[0] becomes what folding sums[0 ... LEAVES) by halves comes to. */
template <typename S, int N, int LEAVES>
__device__ __forceinline__ void reduce_fold_leaves(typename S::running (&sums)[LEAVES][N]) {
#pragma unroll
  for (int s = LEAVES / 2; s > 0; s /= 2) {
#pragma unroll
    for (int m = 0; m < LEAVES / 2; ++m) {
#pragma unroll
      for (int c = 0; c < N; ++c)
        if (m < s) sums[m][c] = S::combine(sums[m][c], sums[m + s][c]);
    }
  }
}

/* The ends of a line whose first and last chunks are not whole: these, with elements missing, and
 * which are, from `from` to before `to`. Only the threads that own them need have them. */
struct reduce_no_ends {
  static const bool ragged = false, seldom = false;
};
/* What is done so seldom that code for lanes that are all there does not pay. */
struct reduce_seldom {
  static const bool ragged = false, seldom = true;
};
template <typename S, int V>
struct reduce_ends {
  static const bool ragged = true, seldom = false;
  int from, to;
  reduce_packed<S, V> head, tail;
};

/* The chunk at `at`, of which only elements from `first` to before `last` are there. */
template <typename S, int V>
__device__ __forceinline__ reduce_packed<S, V> reduce_fetch_some(const typename S::in *at,
                                                                 int first, int last) {
  reduce_chunk<typename S::in, V> chunk;
  reduce_packed<S, V> packed;
#pragma unroll
  for (int c = 0; c < V; ++c) {
    chunk.at[c] = S::missing();
    if (c >= first && c < last) chunk.at[c] = at[c];
  }
  memcpy(&packed, &chunk, sizeof packed);
  return packed;
}

/* Adds what LEAVES lanes have, `apart` from each other, each to a sum of its own or, where the
 * order is free, all to one: the row of `lane`, and where there are MORE, lane + LANES ... below
 * `count`, `step` elements apart. `lane` is the `party`-th of `parties` neighbours: what they ask
 * is asked of their first or last, so that warps do not diverge where a row ends. */
template <typename S, int V, int N, int LEAVES, int SUMS, int LANES, bool MORE, typename Ends>
__device__ __forceinline__ void reduce_leaves(typename S::running (&sums)[SUMS][N],
                                              const typename S::in *tile, int64_t step, int count,
                                              int lane, int party, int parties, int apart,
                                              const rung_key_code &key, const Ends &ends) {
  typedef reduce_packed<S, V> packed;
  const int64_t leap = apart * step;
  int from = 0, to = count; /* whole chunks */
  if constexpr (Ends::ragged) from = ends.from, to = ends.to;
#pragma unroll 1
  for (int row = lane; row - party < count; row += LANES) {
    /* From one to the next, not each from the first: that would be a register or two for each. */
    const typename S::in *at = tile + row * step;
    packed loaded[LEAVES];
    const bool begun = !Ends::ragged || row - party >= from;
    if (!Ends::seldom && begun && row - party + parties + (LEAVES - 1) * apart <= to) {
#pragma unroll
      for (int m = 0; m < LEAVES; ++m, at += leap) loaded[m] = reduce_fetch((const packed *)at);
#pragma unroll
      for (int m = 0; m < LEAVES; ++m) reduce_take<S, V, N>(sums[m % SUMS], loaded[m], key);
    } else {
      int left = count - row;
#pragma unroll
      for (int m = 0; m < LEAVES; ++m, at += leap, left -= apart)
        if constexpr (Ends::ragged) {
          const int place = count - left;
          if (place < from) loaded[m] = ends.head;
          if (place >= to) loaded[m] = ends.tail;
          if (place >= from && place < to) loaded[m] = reduce_fetch((const packed *)at);
        } else if (left > 0) {
          loaded[m] = reduce_fetch((const packed *)at);
        }
      left = count - row;
#pragma unroll
      for (int m = 0; m < LEAVES; ++m, left -= apart)
        if (left > 0) reduce_take<S, V, N>(sums[m % SUMS], loaded[m], key);
    }
    if (!MORE) break;
  }
}

/* Rows party, party + parties ... of keys of 8 bytes, eight of a thread's at a time, as far as
 * there are so many for all; returns where they end. The next eight come in meanwhile, by the loop:
 * of numbers that take so much work the compiler would rather wait for each. */
template <typename S, int V, int N>
__device__ __forceinline__ int reduce_least_ahead(typename S::running (&sums)[N],
                                                  const typename S::in *tile, int64_t step,
                                                  int count, int party, int parties,
                                                  const rung_key_code &key) {
  enum { ROWS = 8 };
  typedef reduce_packed<S, V> packed;
  const int batch = ROWS * parties, whole = count / batch * batch;
  const typename S::in *at = tile + party * step;
  packed next[ROWS];
  const auto bring = [&] {
#pragma unroll
    for (int m = 0; m < ROWS; ++m, at += parties * step) next[m] = reduce_fetch((const packed *)at);
  };
  if (whole > 0) bring();
#pragma unroll 1
  for (int left = whole; left > 0; left -= batch) {
    packed now[ROWS];
#pragma unroll
    for (int m = 0; m < ROWS; ++m) now[m] = next[m];
    if (left > batch) bring();
#pragma unroll
    for (int m = 0; m < ROWS; ++m) reduce_take<S, V, N>(sums, now[m], key);
  }
  return whole;
}

/* What folding by halves makes of the lanes party, party + parties ... of a tile of `count` rows,
 * `step` elements apart, of V neighbours each. LANES is the rows from one element of a lane to the
 * next; where not MORE, count is at most that. Of LANES / parties lanes, LEAVES * 2^LEVELS at most,
 * and at least LEAVES where count is more than LANES. */
template <typename S, int V, bool ALONG, int LEAVES, int LEVELS, int LANES, bool MORE,
          typename Ends = reduce_no_ends>
__device__ __forceinline__ void reduce_walk_tile(
    typename S::running (&value)[reduce_numbers<S, V, ALONG>], const typename S::in *tile,
    int64_t step, int count, int party, int parties, const rung_key_code &key,
    const Ends &ends = Ends()) {
  static constexpr int N = reduce_numbers<S, V, ALONG>;
  typedef typename S::running R;
  if constexpr (S::ordered) {
    int own = 1, bits = 0;
    while (own < LANES / parties && own * parties < count) own *= 2;
    while (LEAVES << bits < own) ++bits;
    const int batches = 1 << bits, apart = parties * batches;
    R held[LEVELS][N];
#pragma unroll
    for (int b = 0; b < LEVELS; ++b)
#pragma unroll
      for (int c = 0; c < N; ++c) held[b][c] = S::identity();
#pragma unroll 1
    for (int j = 0; j < batches; ++j) {
      const int batch = bits == 0 ? 0 : (int)(__brev((unsigned)j) >> (32 - bits));
      R sums[LEAVES][N];
#pragma unroll
      for (int m = 0; m < LEAVES; ++m)
#pragma unroll
        for (int c = 0; c < N; ++c) sums[m][c] = S::identity();
      reduce_leaves<S, V, N, LEAVES, LEAVES, LANES, MORE>(
          sums, tile, step, count, party + parties * batch, party, parties, apart, key, ends);
      reduce_fold_leaves<S, N, LEAVES>(sums);
#pragma unroll
      for (int c = 0; c < N; ++c) value[c] = sums[0][c];
      bool rising = true;
#pragma unroll
      for (int b = 0; b < LEVELS; ++b) {
        const bool second = rising && (j >> b & 1), first = rising && !second;
#pragma unroll
        for (int c = 0; c < N; ++c) {
          if (second) value[c] = S::combine(held[b][c], value[c]);
          if (first) held[b][c] = value[c];
        }
        rising = second;
      }
    }
  } else {
    R sums[1][N];
#pragma unroll
    for (int c = 0; c < N; ++c) sums[0][c] = S::identity();
    int first = 0;
    if constexpr (sizeof(typename S::in) == 8 && !S::sums && !Ends::ragged && !Ends::seldom)
      first = reduce_least_ahead<S, V, N>(sums[0], tile, step, count, party, parties, key);
#pragma unroll 1
    for (; first < count; first += LEAVES * parties)
      reduce_leaves<S, V, N, LEAVES, 1, LANES, false>(sums, tile, step, count, first + party, party,
                                                      parties, parties, key, ends);
#pragma unroll
    for (int c = 0; c < N; ++c) value[c] = sums[0][c];
  }
}

#endif
