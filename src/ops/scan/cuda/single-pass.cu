/* One launch and one pass over memory: a block takes the next tile, keeps it in registers, leaves
 * its total for the others, and waits for those of the tiles before: for aggregates only, its 31
 * family mates', its family's 31 mates' and so on, never for what they waited for themselves. So no
 * chain of blocks forms, and the association is the same every time. A line of one tile needs no
 * flags, and nothing is cleared for it. */
#include "ops/scan/cuda/flags.cuh"

/* Where a warp's band of a tile lies. */
struct scan_place {
  int64_t line, tile, first;
  int count;
};

template <typename S>
__device__ __forceinline__ scan_place scan_place_of(const scan_lines<S> &lines,
                                                    const scan_queue &queue, int64_t job) {
  scan_place at;
  at.line = job / queue.tiles;
  at.tile = job - at.line * queue.tiles;
  at.first = at.tile * SCAN_TILE + (int)threadIdx.x / 32 * SCAN_BAND;
  const int64_t left = lines.columns - at.first;
  at.count = left < SCAN_BAND ? (int)left : SCAN_BAND;
  return at;
}

/* Blocks a multiprocessor is to have room for: while one waits, others load and store. */
template <typename S>
constexpr int scan_resident() {
  return sizeof(typename S::value) == 4 ? 4 : 2;
}

template <typename S, int V>
static __global__ void __launch_bounds__(SCAN_THREADS, scan_resident<S>())
    scan_single_pass_kernel(scan_lines<S> lines, scan_queue queue) {
  __shared__ typename S::value bands[SCAN_EIGHT], e[SCAN_LEVELS];
  __shared__ int64_t ticket;
  const int warp = (int)threadIdx.x / 32;
  for (int64_t round = blockIdx.x; round < queue.jobs; round += gridDim.x) {
    int64_t job = round;
    if (queue.tiles > 1) {
      if (threadIdx.x == 0) ticket = (int64_t)atomicAdd(queue.tickets, 1ull);
      __syncthreads();
      job = ticket;
    }
    const scan_place at = scan_place_of(lines, queue, job);
    scan_held<S> held;
    scan_load<S, V>(lines.in + at.line * lines.in_pitch + at.first, at.count, lines.turn, held);
    const typename S::value rows = scan_prefixes<S>(held);
    if (threadIdx.x % 32 == 31) bands[warp] = rows;
    __syncthreads();
    typename S::value before = S::none();
    if (queue.tiles > 1) {
      if (warp == SCAN_EIGHT - 1)
        scan_arrive<S>(queue, at.line, at.tile, scan_bands<S>(bands, SCAN_EIGHT));
      scan_families<S>(queue, at.line, at.tile, e);
      __syncthreads();
      before = scan_joined<S>(e);
    }
    scan_store<S, V>(held, S::join(before, scan_bands<S>(bands, warp)), lines, at.first == 0,
                     lines.out + at.line * lines.out_pitch + at.first, at.count);
    __syncthreads();
  }
}

template <typename S, int V>
static rung_status scan_single_pass(const rung_task *task, const scan_lines<S> &lines) {
  scan_queue queue;
  const rung_status status = scan_queue_of(task, lines, &queue);
  if (status != RUNG_OK) return status;
  RUNG_LAUNCH(task, (scan_single_pass_kernel<S, V>), scan_grid(queue.jobs), SCAN_THREADS, 0, lines,
              queue);
  return RUNG_OK;
}

struct scan_single_pass_rung {
  template <typename S, int V>
  static rung_status run(const rung_task *task, const scan_lines<S> &lines) {
    return scan_single_pass<S, V>(task, lines);
  }
};

extern "C" rung_status RUNG_ENTRY(scan_single_pass)(const rung_task *task) {
  return scan_by_source<scan_canonical<scan_single_pass_rung>>(task);
}
