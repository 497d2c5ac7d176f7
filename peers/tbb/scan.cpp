/* std::inclusive_scan and std::exclusive_scan over TBB, as many threads as the device has. */
#include <execution>
#include <numeric>

#include "ops/scan/scan.h"
#include "peers/tbb/tbb.h"

template <typename T>
static void typed(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  const T *in = (const T *)task->arrays[SCAN_IN].data, *end = in + problem->columns;
  T *out = (T *)task->arrays[SCAN_OUT].data;
  if (problem->exclusive)
    std::exclusive_scan(std::execution::par_unseq, in, end, out, (T)0);
  else
    std::inclusive_scan(std::execution::par_unseq, in, end, out);
}

extern "C" rung_status peer_scan_tbb(const rung_task *task) {
  return peer_with_threads(task, [task] {
    switch (((const scan_problem *)task->problem)->dtype) {
      case RUNG_F32:
        return typed<float>(task);
      case RUNG_F64:
        return typed<double>(task);
      case RUNG_I32:
      case RUNG_U32:
        return typed<uint32_t>(task);
      default:
        return typed<uint64_t>(task);
    }
  });
}
