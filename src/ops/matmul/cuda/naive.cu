/* Rung `naive`: a thread an element. Neighbours read the same element of A and neighbouring ones of
 * B, but for every multiply-add two loads. */
#include "ops/matmul/cuda/matmul.cuh"

template <typename E, typename S>
__global__ void __launch_bounds__(1024) matmul_naive(matmul_job<E, S> job) {
  const int64_t all = job.batch * job.m * job.n;
  for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < all;
       at += (int64_t)gridDim.x * blockDim.x) {
    const int64_t j = at % job.n, i = at / job.n % job.m, batch = at / job.n / job.m;
    const E *a = job.a + batch * job.as.batch + i * job.as.row;
    const E *b = job.b + batch * job.bs.batch + j * job.bs.column;
    S t = 0;
    for (int64_t l = 0; l < job.k; l++)
      t = matmul_fma(matmul_load(a[l * job.as.column], job.bfloat),
                     matmul_load(b[l * job.bs.row], job.bfloat), t);
    matmul_store(job, batch, i, j, t);
  }
}

template <typename E>
static rung_status run(const rung_task *task) {
  const auto job = matmul_job_of<E>(task);
  const unsigned threads = task->block == 0 ? 256 : (unsigned)task->block;
  const int64_t blocks = (job.batch * job.m * job.n + threads - 1) / threads;
  RUNG_LAUNCH(task, (matmul_naive<E, typename matmul_sum<E>::type>), matmul_grid(blocks), threads,
              0, job);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(matmul_naive)(const rung_task *task) {
#define RUN(E) return run<E>(task)
  MATMUL_BY_TYPE(static_cast<const matmul_problem *>(task->problem)->types.in, RUN)
#undef RUN
}
