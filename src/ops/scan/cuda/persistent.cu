/* As single-pass, by as many blocks as the GPU holds at once, which stay: no block is launched anew
 * for every tile, and the next ticket is on its way while a block waits for the totals before its
 * tile. */
#include "ops/scan/cuda/single-pass.cuh"

template <typename S, int V>
static __global__ void __launch_bounds__(SCAN_THREADS, scan_resident<S>())
    scan_persistent_kernel(scan_lines<S> lines, scan_queue queue) {
  typedef typename S::value value;
  __shared__ value bands[SCAN_EIGHT], e[SCAN_LEVELS];
  __shared__ int64_t ticket;
  const int warp = (int)threadIdx.x / 32;
  int64_t next = 0;
  if (threadIdx.x == 0) next = (int64_t)atomicAdd(queue.tickets, 1ull);
  while (true) {
    if (threadIdx.x == 0) ticket = next;
    __syncthreads(); /* `bands` and `e` were read, too */
    const int64_t job = ticket;
    if (job >= queue.jobs) return;
    const scan_place at = scan_place_of(lines, queue, job);
    scan_held<S> held;
    scan_load<S, V>(lines.in + at.line * lines.in_pitch + at.first, at.count, lines.turn, held);
    const value rows = scan_prefixes<S>(held);
    if (threadIdx.x % 32 == 31) bands[warp] = rows;
    __syncthreads();
    if (threadIdx.x == 0) next = (int64_t)atomicAdd(queue.tickets, 1ull);
    if (warp == SCAN_EIGHT - 1)
      scan_arrive<S>(queue, at.line, at.tile, scan_bands<S>(bands, SCAN_EIGHT));
    scan_families<S>(queue, at.line, at.tile, e);
    __syncthreads();
    const value before = S::join(scan_joined<S>(e), scan_bands<S>(bands, warp));
    scan_store<S, V>(held, before, lines, at.first == 0,
                     lines.out + at.line * lines.out_pitch + at.first, at.count);
  }
}

struct scan_persistent_rung {
  template <typename S, int V>
  static rung_status run(const rung_task *task, const scan_lines<S> &lines) {
    int resident = 0;
    if (scan_tiles(lines.columns) == 1) return scan_single_pass<S, V>(task, lines);
    RUNG_RESIDENT_BLOCKS(task, (scan_persistent_kernel<S, V>), SCAN_THREADS, 0, &resident);
    scan_queue queue;
    const rung_status status = scan_queue_of(task, lines, &queue);
    if (status != RUNG_OK) return status;
    const int64_t most = (int64_t)task->device->processors * (resident > 0 ? resident : 1);
    RUNG_LAUNCH(task, (scan_persistent_kernel<S, V>),
                scan_grid(queue.jobs < most ? queue.jobs : most), SCAN_THREADS, 0, lines, queue);
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(scan_persistent)(const rung_task *task) {
  return scan_by_source<scan_canonical<scan_persistent_rung>>(task);
}
