/* Aggregates that blocks leave for one another: a number and the sign that it is there in one word
 * of 8 bytes, or in two where the number has 8 bytes, so that who sees the sign sees the number,
 * and nothing else need be ordered: a release would have to wait until all that its thread has
 * written so far is there. No value of the number stands for "not there". Words are cleared before
 * the launch. */
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

/* Looks again and again until the number is there. */
template <typename V>
__device__ __forceinline__ V scan_wait_for(const scan_word *words) {
  constexpr int N = scan_words<V>();
  uint32_t bits[N];
  V value;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    scan_word word;
    do word = rung_load_relaxed(words + k);
    while ((word & scan_there) == 0);
    bits[k] = (uint32_t)word;
  }
  memcpy(&value, bits, sizeof value);
  return value;
}

/* What a launch of waiting blocks works on. `tickets` counts the tiles of all lines that were
 * taken. A line has `pitch` aggregates, those of a level one after the other and then those of the
 * next: first their words, then as many counters, of the members of its family that have arrived.
 */
struct scan_queue {
  unsigned long long *tickets;
  scan_word *words;
  int64_t tiles, pitch, jobs;
};

template <typename V>
__device__ __forceinline__ scan_word *scan_line_words(const scan_queue &queue, int64_t line) {
  return queue.words + line * queue.pitch * scan_words<V>();
}

/* By one warp: leaves a tile's total. The last tile of a family also leaves the family's aggregate
 * for the level above, as soon as its mates' are there, and so on up. It waits for tiles before its
 * own only, which were taken before. */
template <typename S>
__device__ __forceinline__ void scan_arrive(const scan_queue &queue, int64_t line, int64_t tile,
                                            typename S::value total) {
  typedef typename S::value value;
  constexpr int N = scan_words<value>();
  const int lane = (int)threadIdx.x % 32;
  scan_word *words = scan_line_words<value>(queue, line); /* of the level */
  int64_t count = queue.tiles, at = tile;                 /* of the level; its number in it */
  if (lane == 0) scan_leave(words + at * N, total);
  while (at % SCAN_FAMILY == SCAN_FAMILY - 1) {
    value k = total;
    if (lane < SCAN_FAMILY - 1)
      k = scan_wait_for<value>(words + (at - (SCAN_FAMILY - 1) + lane) * N);
    __syncwarp();
    total = __shfl_sync(0xffffffffu, scan_warp<S>(k), 31);
    words += count * N;
    count /= SCAN_FAMILY;
    at /= SCAN_FAMILY;
    if (lane == 0) scan_leave(words + at * N, total);
  }
}

/* Warp k of the block finds E(k) of a tile, waiting for the aggregates before it. Every warp calls;
 * the results are for after the next barrier, in e[0 ... SCAN_LEVELS). A block waits for tiles
 * before its own only, which were taken before. */
template <typename S>
__device__ __forceinline__ void scan_families(const scan_queue &queue, int64_t line, int64_t tile,
                                              typename S::value *e) {
  typedef typename S::value value;
  constexpr int N = scan_words<value>();
  const int level = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  if (level >= SCAN_LEVELS) return;
  const scan_word *words = scan_line_words<value>(queue, line);
  int64_t count = queue.tiles, at = tile;
  for (int k = 0; k < level; ++k) {
    words += count * N;
    count /= SCAN_FAMILY;
    at /= SCAN_FAMILY;
  }
  const int number = (int)(at % SCAN_FAMILY);
  value k = S::none();
  if (lane < number) k = scan_wait_for<value>(words + (at - number + lane) * N);
  __syncwarp();
  k = scan_warp<S>(k);
  if (number == 0 ? lane == 0 : lane == number - 1) e[level] = number == 0 ? S::none() : k;
}

/* P, from what scan_families() found. */
template <typename S>
__device__ __forceinline__ typename S::value scan_joined(const typename S::value *e) {
  typename S::value all = S::none();
#pragma unroll
  for (int k = SCAN_LEVELS - 1; k >= 0; --k) all = S::join(all, e[k]);
  return all;
}

/* The queue of a task, cleared on its stream: the tickets come first in the scratch. */
template <typename S>
static rung_status scan_queue_of(const rung_task *task, const scan_lines<S> &lines,
                                 scan_queue *queue) {
  queue->tiles = scan_tiles(lines.columns);
  queue->pitch = scan_aggregates(queue->tiles);
  queue->jobs = lines.lines * queue->tiles;
  queue->tickets = (unsigned long long *)task->scratch;
  queue->words = (scan_word *)task->scratch + SCAN_TICKET_WORDS;
  const int64_t words =
      SCAN_TICKET_WORDS + lines.lines * queue->pitch * scan_words<typename S::value>();
  if (queue->tiles > 1)
    RUNG_FILL_ON_DEVICE(task, task->scratch, 0, (size_t)words * sizeof(scan_word));
  return RUNG_OK;
}

#endif
