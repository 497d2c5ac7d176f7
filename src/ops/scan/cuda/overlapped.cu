/* What single-pass loses is the time in which a block waits: nothing of its own moves then. Here a
 * block stays, takes tile after tile, and has three in its shared memory: one on its way, one whose
 * total it leaves for the others, and one that it finishes. A tile is finished a round after its
 * total was left, so what the others have to leave is there by then as a rule; that order also
 * keeps blocks from waiting for each other in a row, as they would if totals were left when tiles
 * are finished. A thread copies what it will read itself, so copies need no barrier.
 *
 * Tickets are taken in order, and a block leaves all the totals that it holds before it waits, but
 * for tiles still on their way, which are above those it finishes: whatever a block waits for is in
 * hands that wait for less. */
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
  __shared__ value bands[SCAN_FLIGHT][SCAN_EIGHT], e[SCAN_LEVELS];
  __shared__ int64_t ticket;
  const int thread = (int)threadIdx.x, warp = thread / 32;
  int64_t jobs[SCAN_FLIGHT] = {}, taken = 0,
          given = blockIdx.x; /* given: where tiles need no tickets */
  const auto take = [&]() {
    taken = queue.tiles > 1 ? (int64_t)atomicAdd(queue.tickets, 1ull) : given;
    given += gridDim.x;
  };
  const auto send_for = [&](int slot) {
    if (jobs[slot] < queue.jobs) {
      const scan_place_of_band at = scan_find_band(lines, queue, jobs[slot]);
      scan_send_for<typename S::in, V>(tiles + slot * SCAN_TILE + warp * SCAN_BAND,
                                       lines.in + at.line * lines.in_pitch + at.first, at.count);
    }
    rung_copy_async_commit();
  };
  const auto read = [&](int slot, const scan_place_of_band &at, scan_held<S> &held) {
    scan_load<S, SCAN_GROUP>(tiles + slot * SCAN_TILE + warp * SCAN_BAND, at.count, lines.turn,
                             held);
    return scan_prefixes<S>(held);
  };
  /* The total of a tile that is there, left for the others; ends with a barrier. */
  const auto leave = [&](int slot) {
    const bool there = jobs[slot] < queue.jobs;
    scan_place_of_band at = {};
    if (there) {
      at = scan_find_band(lines, queue, jobs[slot]);
      scan_held<S> held;
      const value rows = read(slot, at, held);
      if (thread % 32 == 31) bands[slot][warp] = rows;
    }
    __syncthreads();
    if (there && queue.tiles > 1 && warp == SCAN_EIGHT - 1)
      scan_arrive<S>(queue, at.line, at.tile, scan_bands<S>(bands[slot], SCAN_EIGHT));
  };
  /* Writes a tile whose total was left. */
  const auto finish = [&](int slot) {
    const scan_place_of_band at = scan_find_band(lines, queue, jobs[slot]);
    value before = S::none();
    if (queue.tiles > 1) {
      scan_families<S>(queue, at.line, at.tile, e);
      __syncthreads();
      before = scan_joined<S>(e);
    }
    scan_held<S> held;
    read(slot, at, held);
    scan_store<S, V>(held, S::join(before, scan_bands<S>(bands[slot], warp)), lines, at.first == 0,
                     lines.out + at.line * lines.out_pitch + at.first, at.count);
  };

  /* The first two tiles, one after the other: were both taken at once, blocks would hold neighbours
   * and wait for each other in a row. */
  if (thread == 0) {
    take();
    ticket = taken;
  }
  __syncthreads();
  jobs[0] = ticket;
  send_for(0);
  rung_copy_async_wait<0>();
  leave(0);
  if (thread == 0) {
    take();
    ticket = taken;
    take();
  }
  __syncthreads();
  jobs[1] = ticket;
  send_for(1);
  while (true) {
#pragma unroll
    for (int slot = 0; slot < SCAN_FLIGHT; ++slot) {
      const int next = (slot + 1) % SCAN_FLIGHT, after = (slot + 2) % SCAN_FLIGHT;
      if (jobs[slot] >= queue.jobs) return; /* and so are those after it */
      __syncthreads();                      /* `ticket` and `e` were read */
      if (thread == 0) {
        ticket = taken;
        take();
      }
      __syncthreads();
      jobs[after] = ticket;
      send_for(after);
      rung_copy_async_wait<1>();
      leave(next);
      finish(slot);
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
