/* The rungs that count element by element into a table of the block's: blocks take parts of rows,
 * clear their table, count, and add it to the row's results. What the table is, and how an element
 * is counted in it, is the rung's own:
 *
 *   copies(task)                     how many tables there are
 *   words(slots, copies)             32-bit words of shared memory; 0: the results themselves
 *   count(shared, copies, job, row, slot)     counts one element; all threads of a warp that
 *                                    exist come here together, with slot = HISTOGRAM_NOTHING
 *                                    where one has no element
 *   sum(shared, slots, copies, slot) what the tables hold for a slot */
#ifndef RUNG_HISTOGRAM_CUDA_TABLES_CUH
#define RUNG_HISTOGRAM_CUDA_TABLES_CUH

#include "ops/histogram/cuda/bins.cuh"
#include "ops/histogram/cuda/copies.h"

static const unsigned HISTOGRAM_NOTHING = 0xffffffffu;

template <typename T, typename Table>
static __global__ void histogram_table_kernel(histogram_job<T> job, int copies) {
  RUNG_DYNAMIC_SHARED(unsigned, shared);
  const int slots = job.rule.slots, words = Table::words(slots, copies);
  for (int64_t at = blockIdx.x; at < job.rows * job.parts; at += gridDim.x) {
    const int64_t row = at / job.parts, part = at % job.parts;
    const T *in = job.in + row * job.in_row;
    for (int i = (int)threadIdx.x; i < words; i += (int)blockDim.x) shared[i] = 0;
    __syncthreads();
    for (int64_t first = part * blockDim.x; first < job.columns; first += job.parts * blockDim.x) {
      const int64_t i = first + threadIdx.x;
      const unsigned slot = i < job.columns
                                ? histogram_slot(job.rule, job.edges, job.rule.way, in[i])
                                : HISTOGRAM_NOTHING;
      Table::count(shared, copies, job, row, slot);
    }
    __syncthreads();
    for (int slot = (int)threadIdx.x; slot < slots && words > 0; slot += (int)blockDim.x)
      histogram_add(job, row, (unsigned)slot, Table::sum(shared, slots, copies, slot));
    __syncthreads();
  }
}

template <typename Table>
struct histogram_table_rung {
  static bool stores(const rung_task *) {
    return false;
  }
  template <typename T>
  static rung_status launch(const rung_task *task, histogram_job<T> job) {
    const int threads = histogram_block(task);
    const int copies = Table::copies(task);
    const size_t shared = (size_t)Table::words(job.rule.slots, copies) * sizeof(unsigned);
    const int64_t tiles = (job.columns + threads - 1) / threads;
    int resident = 0;
    RUNG_ALLOW_SHARED(task, (histogram_table_kernel<T, Table>), shared);
    RUNG_RESIDENT_BLOCKS(task, (histogram_table_kernel<T, Table>), threads, shared, &resident);
    const int64_t busy = (int64_t)task->device->processors * (resident > 0 ? resident : 1);
    job.parts = (busy + job.rows - 1) / job.rows;
    if (job.parts > tiles) job.parts = tiles;
    RUNG_LAUNCH(task, (histogram_table_kernel<T, Table>),
                histogram_grid(job.rows * job.parts, busy), (unsigned)threads, shared, job, copies);
    return RUNG_OK;
  }
};

#endif
