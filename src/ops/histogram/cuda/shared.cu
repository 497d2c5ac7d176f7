/* A table a block in shared memory, where atomic additions are near and few others wait. It is
 * cleared before the first element and added to the result after the last, with the block's barrier
 * between: each of the old report's tables missed one of these, and its total was not n. */
#include "ops/histogram/cuda/tables.cuh"

struct histogram_shared_table {
  static int copies(const rung_task *) {
    return 1;
  }
  static __host__ __device__ int words(int slots, int) {
    return slots;
  }
  template <typename T>
  static __device__ __forceinline__ void count(unsigned *shared, int, const histogram_job<T> &,
                                               int64_t, unsigned slot) {
    if (slot != HISTOGRAM_NOTHING) atomicAdd(&shared[slot], 1u);
  }
  static __device__ __forceinline__ unsigned sum(const unsigned *shared, int, int, int slot) {
    return shared[slot];
  }
};

extern "C" rung_status RUNG_ENTRY(histogram_shared)(const rung_task *task) {
  return histogram_by_type<histogram_table_rung<histogram_shared_table>>(task);
}
