/* Equal elements of a warp are found first, and one lane adds their number: when all are equal, one
 * addition instead of 32. The price is paid where they are not. A table that does not fit into
 * shared memory is the result itself. */
#include "ops/histogram/cuda/aggregated.cuh"
#include "ops/histogram/cuda/tables.cuh"

struct histogram_merged_table {
  static int copies(const rung_task *task) {
    const histogram_problem *problem = (const histogram_problem *)task->problem;
    return histogram_copies(problem->rule.slots, task->device->shared_bytes) > 0;
  }
  static __host__ __device__ int words(int slots, int copies) {
    return slots * copies;
  }
  template <typename T>
  static __device__ __forceinline__ void count(unsigned *shared, int copies,
                                               const histogram_job<T> &job, int64_t row,
                                               unsigned slot) {
    const unsigned n = histogram_peers(slot);
    if (slot == HISTOGRAM_NOTHING || n == 0) return;
    if (copies > 0)
      atomicAdd(&shared[slot], n);
    else
      histogram_add(job, row, slot, n);
  }
  static __device__ __forceinline__ unsigned sum(const unsigned *shared, int, int, int slot) {
    return shared[slot];
  }
};

extern "C" rung_status RUNG_ENTRY(histogram_aggregated)(const rung_task *task) {
  return histogram_by_type<histogram_table_rung<histogram_merged_table>>(task);
}
