/* What single-pass loses is the time in which a block waits: nothing of its own moves then. Here a
 * block stays, takes tile after tile, and has the next one on its way into shared memory while it
 * waits for the totals before this one and writes. A thread copies what it will read itself, so
 * copies need no barrier. Tickets are taken in order and tiles finished in the order of tickets, so
 * whatever a block waits for is in hands that wait for less. */
#include "ops/scan/cuda/flags.cuh"

/* Sends for a thread's groups of the band at `in`, of which `count` elements are there. */
template <typename T, int V>
__device__ __forceinline__ void scan_send_for(T *band, const T *in, int count) {
  struct __align__(16) piece {
    T at[16 / sizeof(T)];
  };
  enum { PIECE = 16 / sizeof(T) };
#pragma unroll
  for (int r = 0; r < SCAN_EIGHT; ++r) {
    const int at = scan_group_at(r);
    if (V == SCAN_GROUP && at + SCAN_GROUP <= count) {
#pragma unroll
      for (int c = 0; c < SCAN_GROUP; c += PIECE)
        rung_copy_async((piece *)(band + at + c), (const piece *)(in + at + c));
    } else {
#pragma unroll
      for (int c = 0; c < SCAN_GROUP; ++c)
        if (at + c < count) rung_copy_async(band + at + c, in + at + c);
    }
  }
}

/* Where a warp's band of a tile lies. */
struct scan_place_of_band {
  int64_t line, tile, first;
  int count;
};

template <typename S>
__device__ __forceinline__ scan_place_of_band scan_find_band(const scan_lines<S> &lines,
                                                             const scan_queue &queue, int64_t job) {
  scan_place_of_band at;
  at.line = job / queue.tiles;
  at.tile = job - at.line * queue.tiles;
  at.first = at.tile * SCAN_TILE + (int)threadIdx.x / 32 * SCAN_BAND;
  const int64_t left = lines.columns - at.first;
  at.count = left < SCAN_BAND ? (int)left : SCAN_BAND;
  return at;
}

template <typename S, int V>
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_overlapped_kernel(scan_lines<S> lines, scan_queue queue) {
  typedef typename S::value value;
  RUNG_DYNAMIC_SHARED(typename S::in, tiles);
  __shared__ value bands[SCAN_EIGHT], e[SCAN_LEVELS];
  __shared__ int64_t tickets[SCAN_FLIGHT];
  const int warp = (int)threadIdx.x / 32;
  int64_t jobs[SCAN_FLIGHT] = {}, given = blockIdx.x; /* given: where tiles need no tickets */
  const auto next = [&]() -> int64_t {
    const int64_t mine = given;
    given += gridDim.x;
    return queue.tiles > 1 ? (int64_t)atomicAdd(queue.tickets, 1ull) : mine;
  };
  const auto send_for = [&](int slot) {
    if (jobs[slot] < queue.jobs) {
      const scan_place_of_band at = scan_find_band(lines, queue, jobs[slot]);
      scan_send_for<typename S::in, V>(tiles + slot * SCAN_TILE + warp * SCAN_BAND,
                                       lines.in + at.line * lines.in_pitch + at.first, at.count);
    }
    rung_copy_async_commit();
  };

  if (threadIdx.x == 0)
    for (int k = 0; k < SCAN_FLIGHT; ++k) tickets[k] = next();
  __syncthreads();
#pragma unroll
  for (int k = 0; k < SCAN_FLIGHT; ++k) {
    jobs[k] = tickets[k];
    send_for(k);
  }
  __syncthreads();

  while (true) {
#pragma unroll
    for (int slot = 0; slot < SCAN_FLIGHT; ++slot) {
      if (jobs[slot] >= queue.jobs) return; /* and so are those after it */
      const scan_place_of_band at = scan_find_band(lines, queue, jobs[slot]);
      scan_held<S> held;
      int64_t ticket = 0;
      if (threadIdx.x == 0) ticket = next();
      rung_copy_async_wait<SCAN_FLIGHT - 1>();
      scan_load<S, SCAN_GROUP>(tiles + slot * SCAN_TILE + warp * SCAN_BAND, at.count, lines.turn,
                               held);
      const value rows = scan_prefixes<S>(held);
      if (threadIdx.x % 32 == 31) bands[warp] = rows;
      if (threadIdx.x == 0) tickets[0] = ticket;
      __syncthreads();
      jobs[slot] = tickets[0];
      if (threadIdx.x == 0 && queue.tiles > 1)
        scan_leave(queue.words + (at.line * queue.pitch + at.tile) * scan_words<value>(),
                   scan_bands<S>(bands, SCAN_EIGHT));
      send_for(slot);
      const value in_tile = scan_bands<S>(bands, warp);
      if (queue.tiles > 1) scan_families<S>(queue, at.line, at.tile, e);
      __syncthreads();
      const value before = queue.tiles > 1 ? scan_joined<S>(e) : S::none();
      scan_store<S, V>(held, S::join(before, in_tile), lines, at.first == 0,
                       lines.out + at.line * lines.out_pitch + at.first, at.count);
    }
  }
}

struct scan_overlapped_rung {
  template <typename S, int V>
  static rung_status run(const rung_task *task, const scan_lines<S> &lines) {
    const size_t shared = scan_overlapped_shared(sizeof(typename S::in));
    scan_queue queue;
    int resident = 0;
    const rung_status status = scan_queue_of(task, lines, &queue);
    if (status != RUNG_OK) return status;
    RUNG_ALLOW_SHARED(task, (scan_overlapped_kernel<S, V>), shared);
    RUNG_RESIDENT_BLOCKS(task, (scan_overlapped_kernel<S, V>), SCAN_THREADS, shared, &resident);
    const int64_t most = (int64_t)(resident > 0 ? resident : 1) * task->device->processors;
    RUNG_LAUNCH(task, (scan_overlapped_kernel<S, V>),
                scan_grid(queue.jobs < most ? queue.jobs : most), SCAN_THREADS, shared, lines,
                queue);
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(scan_overlapped)(const rung_task *task) {
  return scan_by_source<scan_canonical<scan_overlapped_rung>>(task);
}
