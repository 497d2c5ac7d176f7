/* As many copies of every counter as fit, side by side: a lane's copy is its number's rest. With 32
 * of them every lane has a bank of its own, and equal elements of a warp do not collide at all. */
#include "ops/histogram/cuda/tables.cuh"

struct histogram_lane_tables {
  static int copies(const rung_task *task) {
    return histogram_copies(((const histogram_problem *)task->problem)->rule.slots,
                            task->device->shared_bytes);
  }
  static __host__ __device__ int words(int slots, int copies) {
    return slots * copies;
  }
  template <typename T>
  static __device__ __forceinline__ void count(unsigned *shared, int copies,
                                               const histogram_job<T> &, int64_t, unsigned slot) {
    const unsigned copy = threadIdx.x & (unsigned)(copies - 1);
    if (slot != HISTOGRAM_NOTHING) atomicAdd(&shared[slot * (unsigned)copies + copy], 1u);
  }
  /* Begins with another copy in every thread, as neighbours' counters share a bank otherwise. */
  static __device__ __forceinline__ unsigned sum(const unsigned *shared, int, int copies,
                                                 int slot) {
    unsigned total = 0;
    for (int c = 0; c < copies; ++c) total += shared[slot * copies + ((c + slot) & (copies - 1))];
    return total;
  }
};

extern "C" rung_status RUNG_ENTRY(histogram_replicated)(const rung_task *task) {
  return histogram_by_type<histogram_table_rung<histogram_lane_tables>>(task);
}
