/* cub::DeviceReduce, and of several lines cub::DeviceSegmentedReduce. Sums of integers are
 * accumulated in 64 bits, as the contract asks: CUB adds in the type of its output. */
#include "ops/reduce/reduce.h"
#include "peers/cub/cub.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

/* Where a line begins. */
struct peer_line {
  int64_t columns;
  __host__ __device__ int64_t operator()(int64_t line) const {
    return line * columns;
  }
};

struct peer_reduce {
  template <typename In, typename Sum>
  static cudaError_t lines(const rung_task *task, void *scratch, size_t &bytes) {
    const reduce_problem *problem = (const reduce_problem *)task->problem;
    const In *in = (const In *)task->arrays[REDUCE_IN].data;
    void *out = task->arrays[REDUCE_OUT].data;
    const cudaStream_t stream = (cudaStream_t)task->stream;
    const auto begin = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0),
                                                       peer_line{problem->columns});
    if (problem->what == RUNG_MIN)
      return cub::DeviceSegmentedReduce::Min(scratch, bytes, in, (In *)out, problem->outer, begin,
                                             begin + 1, stream);
    return cub::DeviceSegmentedReduce::Sum(scratch, bytes, in, (Sum *)out, problem->outer, begin,
                                           begin + 1, stream);
  }

  template <typename In, typename Sum>
  static cudaError_t typed(const rung_task *task, void *scratch, size_t &bytes) {
    const reduce_problem *problem = (const reduce_problem *)task->problem;
    const In *in = (const In *)task->arrays[REDUCE_IN].data;
    void *out = task->arrays[REDUCE_OUT].data;
    const uint32_t n = (uint32_t)problem->columns;
    const cudaStream_t stream = (cudaStream_t)task->stream;
    if (problem->outer > 1) return lines<In, Sum>(task, scratch, bytes);
    if (problem->what == RUNG_MIN)
      return cub::DeviceReduce::Min(scratch, bytes, in, (In *)out, n, stream);
    return cub::DeviceReduce::Sum(scratch, bytes, in, (Sum *)out, n, stream);
  }

  static cudaError_t call(const rung_task *task, void *scratch, size_t &bytes) {
    switch (((const reduce_problem *)task->problem)->dtype) {
      case RUNG_F32:
        return typed<float, float>(task, scratch, bytes);
      case RUNG_F64:
        return typed<double, double>(task, scratch, bytes);
      case RUNG_U8:
        return typed<uint8_t, uint64_t>(task, scratch, bytes);
      case RUNG_U32:
        return typed<uint32_t, uint64_t>(task, scratch, bytes);
      default:
        return typed<int64_t, int64_t>(task, scratch, bytes);
    }
  }
};

extern "C" size_t peer_reduce_cub_scratch(const rung_task *task) {
  return peer_scratch<peer_reduce>(task);
}

extern "C" rung_status peer_reduce_cub(const rung_task *task) {
  return peer_run<peer_reduce>(task, "cub::DeviceReduce");
}
