/* std::reduce over TBB, as many threads as the device has. */
#include <algorithm>
#include <execution>
#include <functional>
#include <numeric>

#include "ops/reduce/reduce.h"
#include "peers/tbb/tbb.h"

template <typename In, typename Sum>
static void typed(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const In *in = (const In *)task->arrays[REDUCE_IN].data, *end = in + problem->columns;
  void *out = task->arrays[REDUCE_OUT].data;
  if (problem->what == RUNG_MIN)
    *(In *)out = std::reduce(std::execution::par_unseq, in, end, *in,
                             [](In a, In b) { return std::min(a, b); });
  else
    *(Sum *)out = std::reduce(std::execution::par_unseq, in, end, (Sum)0, std::plus<Sum>());
}

extern "C" rung_status peer_reduce_tbb(const rung_task *task) {
  return peer_with_threads(task, [task] {
    switch (((const reduce_problem *)task->problem)->dtype) {
      case RUNG_F32:
        return typed<float, float>(task);
      case RUNG_F64:
        return typed<double, double>(task);
      case RUNG_U8:
        return typed<uint8_t, uint64_t>(task);
      case RUNG_U32:
        return typed<uint32_t, uint64_t>(task);
      default:
        return typed<int64_t, int64_t>(task);
    }
  });
}
