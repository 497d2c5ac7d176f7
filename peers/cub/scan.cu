/* cub::DeviceScan. */
#include "ops/scan/scan.h"
#include "peers/cub/cub.cuh"

struct peer_scan {
  template <typename T>
  static cudaError_t typed(const rung_task *task, void *scratch, size_t &bytes) {
    const scan_problem *problem = (const scan_problem *)task->problem;
    const T *in = (const T *)task->arrays[SCAN_IN].data;
    T *out = (T *)task->arrays[SCAN_OUT].data;
    const uint32_t n = (uint32_t)problem->columns;
    const cudaStream_t stream = (cudaStream_t)task->stream;
    if (problem->exclusive)
      return cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, n, stream);
    return cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n, stream);
  }

  static cudaError_t call(const rung_task *task, void *scratch, size_t &bytes) {
    switch (((const scan_problem *)task->problem)->dtype) {
      case RUNG_F32:
        return typed<float>(task, scratch, bytes);
      case RUNG_F64:
        return typed<double>(task, scratch, bytes);
      case RUNG_I32:
      case RUNG_U32:
        return typed<uint32_t>(task, scratch, bytes);
      default:
        return typed<uint64_t>(task, scratch, bytes);
    }
  }
};

extern "C" size_t peer_scan_cub_scratch(const rung_task *task) {
  return peer_scratch<peer_scan>(task);
}

extern "C" rung_status peer_scan_cub(const rung_task *task) {
  return peer_run<peer_scan>(task, "cub::DeviceScan");
}
