/* Aggregates that blocks leave for one another: a number and the sign that it is there in one word
 * of 8 bytes, or in two where the number has 8 bytes, so that who sees the sign sees the number,
 * and nothing else need be ordered: a release would have to wait until all that its thread has
 * written so far is there. No value of the number stands for "not there". Words are the context's
 * zeros, and the launch's last block leaves them so: nothing is cleared before. */
#ifndef RUNG_SCAN_CUDA_FLAGS_CUH
#define RUNG_SCAN_CUDA_FLAGS_CUH

#include "ops/scan/cuda/tile.cuh"

typedef unsigned long long scan_word;

/* Words of a number of type V. */
template <typename V>
__host__ __device__ constexpr int scan_words() {
  return (int)sizeof(V) / 4;
}

static const scan_word scan_there = (scan_word)1 << 32;

template <typename V>
__device__ __forceinline__ void scan_leave(scan_word *words, V value) {
  constexpr int N = scan_words<V>();
  uint32_t bits[N];
  memcpy(bits, &value, sizeof value);
#pragma unroll
  for (int k = 0; k < N; ++k) rung_store_relaxed(words + k, (scan_word)bits[k] | scan_there);
}

/* Looks once: whether the number is there, and then what it is. */
template <typename V>
__device__ __forceinline__ bool scan_look(const scan_word *words, V *value) {
  constexpr int N = scan_words<V>();
  uint32_t bits[N];
  scan_word all = scan_there;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const scan_word word = rung_load_relaxed(words + k);
    bits[k] = (uint32_t)word;
    all &= word;
  }
  memcpy(value, bits, sizeof bits);
  return (all & scan_there) != 0;
}

/* What a launch of waiting blocks works on. A line has `pitch` aggregates, those of a level one
 * after the other and then those of the next, and each its words.
 *
 * Blocks take tiles by their own number, and nobody promises that a block of a lower number has
 * begun: who has looked `patience` times for an aggregate makes it himself (scan_help()). In place
 * that would not do, for its tile may have been overwritten meanwhile: there blocks take tickets,
 * which are counted in the order in which blocks begin, and look for ever. */
struct scan_queue {
  unsigned *tickets;  /* NULL: no tickets */
  unsigned *finished; /* blocks that need the words no more */
  scan_word *words;
  int64_t tiles, pitch, jobs;
  unsigned patience; /* UINT32_MAX: as good as for ever */
  int ahead;         /* so many tiles ahead the next ones are fetched from memory */
  int resident;      /* blocks that begin together, and fetch their own */
};

#ifdef __CUDACC__
enum { SCAN_PATIENCE = 1 << 20 }; /* a second or so */
#else
enum { SCAN_PATIENCE = 4 }; /* the simulator's blocks come in any order: let it happen */
#endif

template <typename V>
__device__ __forceinline__ scan_word *scan_line_words(const scan_queue &queue, int line) {
  return queue.words + line * queue.pitch * scan_words<V>();
}

/* By one warp: a tile's total, from its elements; every lane has it. The tile is full. */
template <typename S>
__device__ __forceinline__ typename S::value scan_total(const scan_lines<S> &lines, int line,
                                                        int tile) {
  typedef typename S::value value;
  const typename S::in *in = lines.in + line * lines.in_pitch + tile * (int64_t)SCAN_TILE;
  value bands = S::identity();
#pragma unroll 1
  for (int band = 0; band < SCAN_EIGHT; ++band) {
    value rows = S::identity();
#pragma unroll 1
    for (int row = 0; row < SCAN_EIGHT; ++row) {
      const typename S::in *at = in + band * SCAN_BAND + scan_group_at(row);
      const value left = S::combine(S::load(at[0], lines.key), S::load(at[1], lines.key)),
                  right = S::combine(S::load(at[2], lines.key), S::load(at[3], lines.key));
      rows = S::combine(rows, __shfl_sync(0xffffffffu, scan_warp<S>(S::combine(left, right)), 31));
    }
    bands = S::combine(bands, rows);
  }
  return bands;
}

/* By one warp: leaves every aggregate of the tiles before `tile` that nobody has left, in their
 * stead. Who does so later leaves the same bits once more. Rare: it may take its time. */
template <typename S>
__device__ __forceinline__ void scan_help(const scan_lines<S> &lines, const scan_queue &queue,
                                          int line, int tile) {
  typedef typename S::value value;
  constexpr int N = scan_words<value>();
  const int lane = (int)threadIdx.x % 32;
  for (int first = 0; first < tile; first += SCAN_FAMILY) {
    scan_word *words = scan_line_words<value>(queue, line);
    const int left = tile - first;
    value seen;
    const bool there = lane >= left || scan_look(words + (first + lane) * N, &seen);
    for (unsigned missing = __ballot_sync(0xffffffffu, !there); missing != 0;
         missing &= missing - 1) {
      const int mate = __ffs((int)missing) - 1;
      const value total = scan_total<S>(lines, line, first + mate);
      if (lane == mate) scan_leave(words + (first + mate) * N, total);
    }
    __syncwarp();
    int count = (int)queue.tiles;
    for (int at = first + SCAN_FAMILY - 1;
         left >= SCAN_FAMILY && at % SCAN_FAMILY == SCAN_FAMILY - 1;) {
      value k;
      while (!scan_look(words + (at - (SCAN_FAMILY - 1) + lane) * N, &k)) continue;
      __syncwarp();
      k = scan_warp<S>(k);
      words += count * N;
      count /= SCAN_FAMILY;
      at /= SCAN_FAMILY;
      if (lane == 31) scan_leave(words + at * N, k);
    }
    __syncwarp();
  }
}

/* By one warp: lane i < count gets aggregate first + i of a level, whose words are given, in
 * *found; the others get nothing. False where one is not there, and patience is at an end. */
template <typename S>
__device__ __forceinline__ bool scan_gather(const scan_queue &queue, const scan_word *words,
                                            int first, int count, typename S::value *found) {
  typedef typename S::value value;
  const int lane = (int)threadIdx.x % 32;
  const scan_word *at = words + (first + lane) * scan_words<value>();
  bool there = lane >= count;
  value seen = S::identity();
  for (unsigned looks = 0; !there && looks != queue.patience; ++looks) there = scan_look(at, &seen);
  *found = seen;
  return __all_sync(0xffffffffu, there) != 0;
}

/* By one warp: leaves a tile's total. The last tile of a family also leaves the family's aggregate
 * for the level above, as soon as its mates' are there, and so on up. False: in vain. */
template <typename S>
__device__ __forceinline__ bool scan_arrive(const scan_queue &queue, int line, int tile,
                                            typename S::value total) {
  typedef typename S::value value;
  constexpr int N = scan_words<value>();
  const int lane = (int)threadIdx.x % 32;
  scan_word *words = scan_line_words<value>(queue, line); /* of the level */
  int count = (int)queue.tiles, at = tile;                /* of the level; its number in it */
  if (lane == 0) scan_leave(words + at * N, total);
  while (at % SCAN_FAMILY == SCAN_FAMILY - 1) {
    value k;
    if (!scan_gather<S>(queue, words, at - (SCAN_FAMILY - 1), SCAN_FAMILY - 1, &k)) return false;
    if (lane == SCAN_FAMILY - 1) k = total;
    total = __shfl_sync(0xffffffffu, scan_warp<S>(k), 31);
    words += count * N;
    count /= SCAN_FAMILY;
    at /= SCAN_FAMILY;
    if (lane == 0) scan_leave(words + at * N, total);
  }
  return true;
}

/* Warp k of the block finds E(k) of a tile, waiting for the aggregates before it. Every warp calls;
 * the results are for after the next barrier, in e[0 ... SCAN_LEVELS). A block waits for tiles
 * before its own only. False: in vain. */
template <typename S>
__device__ __forceinline__ bool scan_families(const scan_queue &queue, int line, int tile,
                                              typename S::value *e) {
  typedef typename S::value value;
  constexpr int N = scan_words<value>();
  const int level = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  if (level >= SCAN_LEVELS) return true;
  const scan_word *words = scan_line_words<value>(queue, line);
  int count = (int)queue.tiles, at = tile;
  for (int k = 0; k < level; ++k) {
    words += count * N;
    count /= SCAN_FAMILY;
    at /= SCAN_FAMILY;
  }
  const int number = (int)(at % SCAN_FAMILY);
  value k;
  if (!scan_gather<S>(queue, words, at - number, number, &k)) return false;
  k = scan_warp<S>(k);
  if (number == 0 ? lane == 0 : lane == number - 1) e[level] = number == 0 ? S::identity() : k;
  return true;
}

/* P, from what scan_families() found, and from e[SCAN_LEVELS], which comes before all of the line.
 */
template <typename S>
__device__ __forceinline__ typename S::value scan_combined(const typename S::value *e) {
  typename S::value all = e[SCAN_LEVELS];
#pragma unroll
  for (int k = SCAN_LEVELS - 1; k >= 0; --k) all = S::combine(all, e[k]);
  return all;
}

/* By the launch's last block: clears the words. Its counters have come round to zero. */
template <typename S>
__device__ __forceinline__ void scan_clear(const scan_lines<S> &lines, const scan_queue &queue) {
  const int64_t words = lines.lines * queue.pitch * scan_words<typename S::value>();
  for (int64_t k = threadIdx.x; k < words; k += blockDim.x) queue.words[k] = 0;
}

/* The queue of a task, `resident` of whose blocks a multiprocessor holds: the counters come first
 * in the zeros. */
template <typename S>
static scan_queue scan_queue_of(const rung_task *task, const scan_lines<S> &lines, int resident) {
  scan_queue queue;
  queue.tiles = scan_tiles(lines.columns);
  queue.pitch = scan_aggregates(queue.tiles);
  queue.jobs = lines.lines * queue.tiles;
  const bool in_place = (const void *)lines.in == (const void *)lines.out;
  queue.finished = (unsigned *)task->zeros;
  queue.tickets = in_place ? queue.finished + 1 : NULL;
  queue.patience = in_place ? UINT32_MAX : (unsigned)SCAN_PATIENCE;
  queue.ahead = task->device->processors;
  queue.resident = task->device->processors * resident;
  queue.words = (scan_word *)task->zeros + SCAN_COUNTER_WORDS;
  return queue;
}

#endif
