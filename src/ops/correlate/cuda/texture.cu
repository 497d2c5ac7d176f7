/* Rung `texture`: the image is read through a texture object. Where the texture unit's rule for
 * what lies beyond the image is the job's, the nearest element or zero, it answers that question,
 * and no thread asks; else indices are folded as in the rungs below, and only the reads are its. */
#include "ops/correlate/texture.h"

#include "ops/correlate/cuda/element.cuh"

/* The view's first element is number `first` of the texture's first row, or of its only line, where
 * rows are `step` elements apart. */
struct correlate_fetch {
  cudaTextureObject_t texture;
  int first, step;
  bool rows, knows; /* knows: what lies beyond the image */
};

/* Element x of the view's row. */
template <typename E>
static __device__ __forceinline__ E correlate_texel(const correlate_fetch &from, int row, int x) {
  if (!from.rows) return tex1Dfetch<E>(from.texture, from.first + row * from.step + x);
  return tex2D<E>(from.texture, (float)(from.first + x) + .5f, (float)row + .5f);
}

template <typename S>
static __device__ inline S correlate_fetched(rung_dtype dtype, const correlate_fetch &from, int row,
                                             int x) {
  switch (dtype) {
    case RUNG_U8:
      return (S)correlate_texel<unsigned char>(from, row, x);
    case RUNG_U16:
      return (S)correlate_texel<unsigned short>(from, row, x);
    case RUNG_F16:
      return (S)rung_f16_to_f32(correlate_texel<unsigned short>(from, row, x));
    case RUNG_F32:
      return (S)correlate_texel<float>(from, row, x);
    default: {
      const int2 halves = correlate_texel<int2>(from, row, x);
      return (S)__longlong_as_double((long long)halves.y << 32 | (unsigned)halves.x);
    }
  }
}

template <typename S, typename T, int N>
__global__ void __launch_bounds__(1024)
    correlate_texture(correlate_job<S> job, const __grid_constant__ correlate_taps<T, N> taps,
                      int64_t k, correlate_fetch from) {
  const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= job.n) return;
  const auto known = [&](int64_t row, int64_t column, int channel) {
    return correlate_fetched<S>(job.in_type, from, (int)(row - job.view_row),
                                (int)(column * job.channels + channel));
  };
  const auto folded = [&](int64_t row, int64_t column, int channel) {
    row = correlate_index(job.edge, row, job.height);
    column = correlate_index(job.edge, column, job.width);
    return row < 0 || column < 0 ? job.edge_value : known(row, column, channel);
  };
  const auto tap = [&](int i) { return taps.at[i]; };
  for (int64_t y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; y < job.rows;
       y += (int64_t)gridDim.y * blockDim.y)
    correlate_store(job.out_type, correlate_row_out(job, k, y), x,
                    from.knows ? correlate_element(job, tap, y, x, known)
                               : correlate_element(job, tap, y, x, folded));
}

/* The texture begins at the last address before the view's lowest that one may. */
static rung_status show(const rung_task *task, correlate_fetch *from) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const rung_view *in = &task->arrays[CORRELATE_IN];
  const int64_t bytes = (int64_t)rung_dtype_bytes(in->dtype), step = correlate_texture_step(in);
  const int64_t back = step < 0 ? -step * (in->shape[0] - 1) : 0;
  const char *lowest = in->data - back * bytes;
  const int64_t beyond = (int64_t)((uintptr_t)lowest % RUNG_TEXTURE_ALIGNMENT);
  rung_texture shown = correlate_texture_of(task, beyond / bytes);
  shown.data = lowest - beyond;
  from->first = (int)(beyond / bytes + back);
  from->step = (int)step;
  from->rows = shown.height > 0;
  from->knows = from->rows && beyond == 0 && correlate_texture_knows(p);
  RUNG_TEXTURE(task, &shown, &from->texture);
  return RUNG_OK;
}

template <typename S, int N>
static rung_status run_taps(const rung_task *task, correlate_room<N>) {
  typedef typename correlate_tap<S>::type T;
  const auto job = correlate_job_of<S>(task);
  const dim3 block = correlate_block(task);
  correlate_fetch from = {};
  const rung_status status = show(task, &from);
  if (status != RUNG_OK) return status;
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_texture<S, T, N>), correlate_grid(job, block), block, 0, job,
                (correlate_taps_of<T, N>(task, k)), k, from);
  return RUNG_OK;
}

template <typename S>
static rung_status run(const rung_task *task) {
  return correlate_by_taps<S>(task, [&](auto room) { return run_taps<S>(task, room); });
}

extern "C" rung_status RUNG_ENTRY(correlate_texture)(const rung_task *task) {
#define RUN(S) return run<S>(task)
  CORRELATE_BY_SUM(task, RUN)
#undef RUN
}
