/* Rung `digits`: fixed point, the textbook. A thread makes an element of C from planes of digits,
 * one of A's with one of B's at a time, in 64 bits. */
#include "ops/matmul/cuda/quantise.cuh"

template <typename E>
__global__ void __launch_bounds__(1024)
    matmul_of_digits(matmul_job<E, float> job, matmul_digit_planes planes) {
  const int digits = planes.digits;
  const int64_t all = job.batch * job.m * job.n, pitch = planes.pitch;
  for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < all;
       at += (int64_t)gridDim.x * blockDim.x) {
    const int64_t j = at % job.n, i = at / job.n % job.m, batch = at / job.n / job.m;
    const int64_t in_a = batch * planes.a_matrix, in_b = batch * planes.b_matrix;
    int64_t sum = 0;
    for (int u = 0; u < digits; u++)
      for (int v = 0; u + v < digits; v++) {
        const int8_t *a = planes.a + ((in_a * digits + u) * job.m + i) * pitch;
        const int8_t *b = planes.b + ((in_b * digits + v) * job.n + j) * pitch;
        int64_t of_planes = 0;
        for (int64_t l = 0; l < job.k; l++) of_planes += a[l] * b[l];
        sum += matmul_weight(digits, u, v) * of_planes;
      }
    const float t = matmul_fixed_t(sum, planes.a_largest[in_a * job.m + i],
                                   planes.b_largest[in_b * job.n + j], digits);
    matmul_store(job, batch, i, j, t);
  }
}

template <typename E>
static rung_status run(const rung_task *task) {
  const auto job = matmul_job_of<E>(task);
  matmul_digit_planes planes;
  const rung_status status = matmul_quantise(task, job, &planes);
  if (status != RUNG_OK) return status;
  const unsigned threads = task->block == 0 ? 256 : (unsigned)task->block;
  const int64_t blocks = (job.batch * job.m * job.n + threads - 1) / threads;
  RUNG_LAUNCH(task, matmul_of_digits<E>, matmul_grid(blocks), threads, 0, job, planes);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(matmul_digits)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run<float>(task)
             : run<uint16_t>(task);
}
