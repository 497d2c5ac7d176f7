/* A table a warp, one after the other in shared memory: only the lanes of one warp can meet in a
 * counter. */
#include "ops/histogram/cuda/tables.cuh"

struct histogram_warp_tables {
  static int copies(const rung_task *task) {
    return histogram_warps(task);
  }
  static __host__ __device__ int words(int slots, int copies) {
    return slots * copies;
  }
  template <typename T>
  static __device__ __forceinline__ void count(unsigned *shared, int, const histogram_job<T> &job,
                                               int64_t, unsigned slot) {
    const unsigned table = threadIdx.x / 32 * (unsigned)job.rule.slots;
    if (slot != HISTOGRAM_NOTHING) atomicAdd(&shared[table + slot], 1u);
  }
  static __device__ __forceinline__ unsigned sum(const unsigned *shared, int slots, int copies,
                                                 int slot) {
    unsigned total = 0;
    for (int c = 0; c < copies; ++c) total += shared[c * slots + slot];
    return total;
  }
};

extern "C" rung_status RUNG_ENTRY(histogram_per_warp)(const rung_task *task) {
  return histogram_by_type<histogram_table_rung<histogram_warp_tables>>(task);
}
