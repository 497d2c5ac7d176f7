/* cub::DeviceHistogram::HistogramEven. It counts in 32 bits, which is what it is fastest in; when
 * that has been timed, a kernel widens the counts to the contract's 64. Elements modulo the bins
 * come through an iterator, as CUB's documentation has it. */
#include <thrust/iterator/transform_iterator.h>

#include "ops/histogram/histogram.h"
#include "peers/cub/cub.cuh"

static __global__ void widen(const uint32_t *from, uint64_t *to, int bins, uint64_t *outside) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < bins) to[at] = from[at];
  if (at < HISTOGRAM_OUTER && outside) outside[at] = 0; /* the jobs here leave nothing outside */
}

/* x modulo the bins: a mask where that does. */
struct peer_modulo {
  uint32_t bins, mask;
  __host__ __device__ uint32_t operator()(uint32_t x) const {
    return mask ? x & mask : x % bins;
  }
};

struct peer_histogram {
  template <typename Samples, typename Level>
  static cudaError_t even(const rung_task *task, void *scratch, size_t &bytes, Samples samples,
                          Level low, Level high) {
    const histogram_problem *problem = (const histogram_problem *)task->problem;
    const int bins = problem->rule.bins;
    const size_t counts = ((size_t)bins * sizeof(uint32_t) + 255) / 256 * 256;
    const cudaStream_t stream = (cudaStream_t)task->stream;
    uint32_t *narrow = (uint32_t *)scratch;
    size_t own = bytes > counts ? bytes - counts : 0;
    const int64_t n = problem->columns;
    void *temporary = scratch ? (char *)scratch + counts : nullptr;
    const cudaError_t error =
        n < INT32_MAX ? cub::DeviceHistogram::HistogramEven(temporary, own, samples, narrow,
                                                            bins + 1, low, high, (int)n, stream)
                      : cub::DeviceHistogram::HistogramEven(temporary, own, samples, narrow,
                                                            bins + 1, low, high, n, stream);
    bytes = own + counts;
    return error;
  }

  static cudaError_t call(const rung_task *task, void *scratch, size_t &bytes) {
    const histogram_problem *problem = (const histogram_problem *)task->problem;
    const void *in = task->arrays[HISTOGRAM_IN].data;
    const int bins = problem->rule.bins;
    if (problem->dtype == RUNG_U8) return even(task, scratch, bytes, (const uint8_t *)in, 0, 256);
    if (problem->kind == RUNG_BINS_MODULO) {
      const uint32_t mask = (bins & (bins - 1)) == 0 ? (uint32_t)bins - 1 : 0;
      const peer_modulo modulo = {(uint32_t)bins, mask};
      return even(task, scratch, bytes,
                  thrust::make_transform_iterator((const uint32_t *)in, modulo), 0u,
                  (uint32_t)bins);
    }
    return even(task, scratch, bytes, (const uint32_t *)in, (uint64_t)problem->rule.low,
                (uint64_t)problem->rule.high);
  }
};

extern "C" size_t peer_histogram_cub_scratch(const rung_task *task) {
  return peer_scratch<peer_histogram>(task);
}

extern "C" rung_status peer_histogram_cub(const rung_task *task) {
  return peer_run<peer_histogram>(task, "cub::DeviceHistogram");
}

extern "C" rung_status peer_histogram_cub_settle(const rung_task *task) {
  const int bins = ((const histogram_problem *)task->problem)->rule.bins;
  widen<<<(bins + 255) / 256, 256, 0, (cudaStream_t)task->stream>>>(
      (const uint32_t *)task->scratch, (uint64_t *)task->arrays[HISTOGRAM_COUNTS].data, bins,
      (uint64_t *)task->arrays[HISTOGRAM_OUTSIDE].data);
  return peer_status(task, "cub::DeviceHistogram", cudaGetLastError());
}
