/* ramp: evenly spaced numbers, such as the edges of bins, which need not come from the host. */
#include "backend/cuda/state.h"

enum { RAMP_THREADS = 256 };

template <typename Number>
static __global__ void ramp_kernel(Number *to, int64_t stride, int64_t count, rung_ramp ramp) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  to[k * stride] = (Number)(k + 1 < count ? (double)k * ramp.step + ramp.low : ramp.last);
}

template <typename Number>
static void launch(const rung_state *state, const rung_view *to, const rung_ramp *ramp) {
  const int64_t blocks = (to->count + RAMP_THREADS - 1) / RAMP_THREADS;
  ramp_kernel<<<(unsigned)blocks, RAMP_THREADS, 0, state->stream>>>(
      (Number *)to->data, to->stride[0], to->count, *ramp);
}

rung_status rung_cuda_ramp(rung_state *state, const rung_view *to, const rung_ramp *ramp,
                           rung_error *error) {
  RUNG_CHECK(rung_cuda_enter(state, error));
  if (to->count > (int64_t)INT32_MAX * RAMP_THREADS)
    return rung_fail(error, RUNG_TOO_LARGE, "%lld evenly spaced numbers; expected: at most 2^39",
                     (long long)to->count);
  if (to->count <= 0) return RUNG_OK;
  if (to->dtype == RUNG_F64)
    launch<double>(state, to, ramp);
  else
    launch<float>(state, to, ramp);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel ramp");
  return RUNG_OK;
}
