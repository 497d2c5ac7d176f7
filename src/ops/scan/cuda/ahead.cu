/* What single-pass loses is the time in which a block waits with its tile in hand. Here nobody
 * waits: a block finds the total of one tile and writes the results of another, `distance` tiles
 * before it, whose total and all those before were left that long ago. A tile is read twice, but
 * the second time from the level 2 cache, where it still is: memory is passed over once.
 *
 * Tickets are taken in order. Ticket t stands for the total of tile t and the results of tile
 * t - distance; what a block waits for belongs to tickets before its own. */
#include "ops/scan/cuda/single-pass.cuh"

template <typename S, int V>
static __global__ void __launch_bounds__(SCAN_THREADS, scan_resident<S>())
    scan_ahead_kernel(scan_lines<S> lines, scan_queue queue, int64_t distance) {
  typedef typename S::value value;
  __shared__ value totals[SCAN_EIGHT], bands[SCAN_EIGHT], e[SCAN_LEVELS];
  __shared__ int64_t ticket;
  const int warp = (int)threadIdx.x / 32;
  for (int64_t round = blockIdx.x; round < queue.jobs + distance; round += gridDim.x) {
    if (threadIdx.x == 0) ticket = (int64_t)atomicAdd(queue.tickets, 1ull);
    __syncthreads();
    const int64_t total = ticket, result = total - distance;
    scan_held<S> held;
    if (total < queue.jobs) {
      const scan_place at = scan_place_of(lines, queue, total);
      scan_load<S, V>(lines.in + at.line * lines.in_pitch + at.first, at.count, lines.turn, held);
      const value rows = scan_prefixes<S>(held);
      if (threadIdx.x % 32 == 31) totals[warp] = rows;
      __syncthreads();
      if (warp == SCAN_EIGHT - 1)
        scan_arrive<S>(queue, at.line, at.tile, scan_bands<S>(totals, SCAN_EIGHT));
    }
    if (result >= 0) {
      const scan_place at = scan_place_of(lines, queue, result);
      scan_load<S, V>(lines.in + at.line * lines.in_pitch + at.first, at.count, lines.turn, held);
      const value rows = scan_prefixes<S>(held);
      if (threadIdx.x % 32 == 31) bands[warp] = rows;
      scan_families<S>(queue, at.line, at.tile, e);
      __syncthreads();
      const value before = S::join(scan_joined<S>(e), scan_bands<S>(bands, warp));
      scan_store<S, V>(held, before, lines, at.first == 0,
                       lines.out + at.line * lines.out_pitch + at.first, at.count);
    }
    __syncthreads();
  }
}

#ifndef SCAN_AHEAD_PARTS
#define SCAN_AHEAD_PARTS 3
#endif
/* Tiles ahead: three quarters of those at work at a time, for a block finds its total early. More
 * would leave the cache, fewer would not be there yet. */
static int64_t scan_distance(const rung_task *task, int resident) {
  const int64_t blocks = (int64_t)task->device->processors * resident;
  return blocks * SCAN_AHEAD_PARTS / 4 > 0 ? blocks * SCAN_AHEAD_PARTS / 4 : 1;
}

struct scan_ahead_rung {
  template <typename S, int V>
  static rung_status run(const rung_task *task, const scan_lines<S> &lines) {
    int resident = 0;
    RUNG_RESIDENT_BLOCKS(task, (scan_ahead_kernel<S, V>), SCAN_THREADS, 0, &resident);
    const int64_t distance = scan_distance(task, resident);
    if (lines.lines * scan_tiles(lines.columns) < 2 * distance || scan_tiles(lines.columns) == 1)
      return scan_single_pass<S, V>(task, lines);
    scan_queue queue;
    const rung_status status = scan_queue_of(task, lines, &queue);
    if (status != RUNG_OK) return status;
    RUNG_LAUNCH(task, (scan_ahead_kernel<S, V>), scan_grid(queue.jobs + distance), SCAN_THREADS, 0,
                lines, queue, distance);
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(scan_ahead)(const rung_task *task) {
  return scan_by_source<scan_canonical<scan_ahead_rung>>(task);
}
