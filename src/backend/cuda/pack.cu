/* pack: copies elements between two views of one device, whatever their strides, of any dimensions.
 *
 * Dimensions are merged where both views go on evenly. Long rows of narrow elements that are runs
 * of memory on both sides go by 16 bytes, wherever they begin; all else goes by boxes (boxes.cuh).
 * Strides are in elements, 64-bit, of any sign. */
#include "backend/cuda/boxes.cuh"
#include "backend/cuda/state.h"

enum { PACK_RUN = 16 };

/* ---- rows that are runs of memory ---------------------------------------------------------------
 */

/* Rows of so many bytes, in planes. */
struct pack_rows {
  int64_t rows, bytes, to_row, from_row, planes;
  int others; /* dimensions of planes */
  int64_t extent[RUNG_MAX_DIMS], to_step[RUNG_MAX_DIMS], from_step[RUNG_MAX_DIMS];
};

/* Where a plane begins. */
static __device__ inline void pack_find_plane(const pack_rows &s, int64_t plane, int64_t *to,
                                              int64_t *from) {
  *to = *from = 0;
  for (int k = 0; k < s.others; k++) {
    const int64_t rest = plane / s.extent[k], i = plane - rest * s.extent[k];
    *to += i * s.to_step[k];
    *from += i * s.from_step[k];
    plane = rest;
  }
}

/* A row, in runs of 16 bytes that begin at multiples of 16 bytes of the output: a thread a run. Its
 * bytes come as two aligned loads, where the row has all of them; at a row's ends one by one. */
static __device__ inline void pack_run_of(char *line, const char *source, int64_t bytes,
                                          int64_t first, int64_t step) {
  const int64_t before = (int64_t)((uintptr_t)line % PACK_RUN);
  const int by = (int)((uintptr_t)(source - before) % PACK_RUN);
  for (int64_t c = first - before; c < bytes; c += step) {
    const int64_t low = c - by, high = low + (by ? 2 : 1) * PACK_RUN;
    if (c >= 0 && c + PACK_RUN <= bytes && low >= 0 && high <= bytes) {
      const uint4 *words = (const uint4 *)(source + low);
      *(uint4 *)(line + c) = by ? rung_shift_bytes(words[0], words[1], by, false) : words[0];
      continue;
    }
    const int64_t end = c + PACK_RUN < bytes ? c + PACK_RUN : bytes;
    for (int64_t k = c < 0 ? 0 : c; k < end; k++) line[k] = source[k];
  }
}

static __global__ void pack_runs(char *to, const char *from, pack_rows s) {
  const int64_t row_step = (int64_t)gridDim.y * blockDim.y;
  const int64_t run_step = (int64_t)gridDim.x * blockDim.x * PACK_RUN;
  const int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK_RUN;
  for (int64_t plane = blockIdx.z; plane < s.planes; plane += gridDim.z) {
    int64_t to_plane, from_plane;
    pack_find_plane(s, plane, &to_plane, &from_plane);
    for (int64_t r = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; r < s.rows; r += row_step)
      pack_run_of(to + to_plane + r * s.to_row, from + from_plane + r * s.from_row, s.bytes, first,
                  run_step);
  }
}

/* ---- how ----------------------------------------------------------------------------------------
 */

static rung_dimension take(rung_dimensions *d, int k) {
  const rung_dimension taken = d->at[k];
  for (d->count--; k < d->count; k++) d->at[k] = d->at[k + 1];
  return taken;
}

/* A thread for every one of so many places of every row, and about `most` blocks or fewer. */
static void spread(int64_t most, int64_t planes, int64_t rows, int64_t places, dim3 *grid,
                   dim3 *block) {
  unsigned wide = 1;
  while (wide < PACK_THREADS && wide < places) wide *= 2;
  *block = dim3(wide, PACK_THREADS / wide);
  int64_t across = pack_parts_of(places, block->x), down = pack_parts_of(rows, block->y);
  if (across > most) across = most;
  int64_t room = pack_parts_of(most, across);
  if (down > room) down = room;
  room = pack_parts_of(room, down);
  *grid = dim3((unsigned)across, (unsigned)down, (unsigned)(planes > room ? room : planes));
}

/* The dimension whose rows are runs of memory on both sides and best go as such: long ones of
 * narrow elements, which begin anywhere; or -1. */
static int run_of(const rung_dimensions *d, int64_t bytes) {
  enum { LEAST = 32 * PACK_RUN };
  for (int k = 0; k < d->count; k++)
    if (bytes < 4 && d->at[k].in == 1 && d->at[k].out == 1 && d->at[k].extent * bytes >= LEAST)
      return k;
  return -1;
}

static void launch_runs(const rung_state *state, char *to, const char *from, rung_dimensions d,
                        int run, int64_t bytes) {
  pack_rows s = {1, take(&d, run).extent * bytes, 0, 0, 1, 0, {}, {}, {}};
  int longest = 0;
  for (int k = 1; k < d.count; k++)
    if (d.at[k].extent > d.at[longest].extent) longest = k;
  if (d.count > 0) {
    const rung_dimension rows = take(&d, longest);
    s.rows = rows.extent;
    s.to_row = rows.out * bytes;
    s.from_row = rows.in * bytes;
  }
  for (int k = 0; k < d.count; k++) {
    s.extent[k] = d.at[k].extent;
    s.to_step[k] = d.at[k].out * bytes;
    s.from_step[k] = d.at[k].in * bytes;
    s.planes *= d.at[k].extent;
  }
  s.others = d.count;
  dim3 grid, block;
  spread((int64_t)state->processors * 16, s.planes, s.rows, s.bytes / PACK_RUN + 2, &grid, &block);
  pack_runs<<<grid, block, 0, state->stream>>>(to, from, s);
}

/* Elements that are neighbours on both sides, two by two, as one, as often as it goes; bytes of
 * one. */
static int64_t widen(rung_dimensions *d, const char *to, const char *from, int64_t bytes) {
  for (; bytes < 8; bytes *= 2) {
    int near = -1;
    int64_t odd = 0;
    for (int k = 0; k < d->count; k++) {
      if (d->at[k].in == 1 && d->at[k].out == 1 && near < 0)
        near = k;
      else
        odd |= d->at[k].in | d->at[k].out;
    }
    if (near < 0 || (odd | d->at[near].extent) % 2 != 0 ||
        ((uintptr_t)to | (uintptr_t)from) % (uintptr_t)(2 * bytes) != 0)
      break;
    for (int k = 0; k < d->count; k++) {
      d->at[k].in /= k == near ? 1 : 2;
      d->at[k].out /= k == near ? 1 : 2;
    }
    d->at[near].extent /= 2;
    if (d->at[near].extent == 1) take(d, near);
  }
  return bytes;
}

template <typename Element, int N>
static void launch(const rung_state *state, char *to, const char *from, const pack_plan *plan) {
  pack_by_boxes<Element, N>
      <<<pack_grid<Element>(plan, state->processors), PACK_THREADS, plan->shared, state->stream>>>(
          (Element *)to, (const Element *)from, plan->boxes);
}

static void pack(const rung_state *state, char *to, const char *from, rung_dimensions *d,
                 int64_t count, int64_t bytes) {
  const int64_t wide = widen(d, to, from, bytes);
  const int run = run_of(d, wide);
  if (run >= 0) {
    launch_runs(state, to, from, *d, run, wide);
    return;
  }
  const pack_plan plan = pack_plan_of(d, to, from, count * bytes / wide, wide, state->processors);
  if (wide == 1)
    plan.n == 2 ? launch<uint8_t, 2>(state, to, from, &plan)
                : launch<uint8_t, 1>(state, to, from, &plan);
  else if (wide == 2)
    plan.n == 2 ? launch<uint16_t, 2>(state, to, from, &plan)
                : launch<uint16_t, 1>(state, to, from, &plan);
  else
    wide == 4 ? launch<uint32_t, 1>(state, to, from, &plan)
              : launch<uint64_t, 1>(state, to, from, &plan);
}

/* Both sides one run of memory in the same order. */
static bool is_plain(const rung_dimensions *d) {
  return d->count == 0 || (d->count == 1 && d->at[0].in == 1 && d->at[0].out == 1);
}

rung_status rung_cuda_pack_load(rung_error *error) {
  const void *kernels[] = {(const void *)pack_runs,
                           (const void *)pack_by_boxes<uint8_t, 1>,
                           (const void *)pack_by_boxes<uint8_t, 2>,
                           (const void *)pack_by_boxes<uint16_t, 1>,
                           (const void *)pack_by_boxes<uint16_t, 2>,
                           (const void *)pack_by_boxes<uint32_t, 1>,
                           (const void *)pack_by_boxes<uint64_t, 1>};
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    cudaFuncAttributes attributes;
    RUNG_CUDA_CHECK(error, cudaFuncGetAttributes(&attributes, kernels[i]), "loading kernel pack");
  }
  return RUNG_OK;
}

rung_status rung_cuda_pack(rung_state *state, const rung_view *to, const rung_view *from,
                           rung_error *error) {
  if (from->ndim != to->ndim)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "pack between views of %d and %d dimensions; expected: as many in both",
                     to->ndim, from->ndim);
  int64_t count = 1;
  for (int i = 0; i < to->ndim; i++) {
    if (to->shape[i] != from->shape[i])
      return rung_fail(error, RUNG_BAD_SHAPE,
                       "pack between views whose axis %d has %lld and %lld elements; expected: the "
                       "same in both",
                       i, (long long)to->shape[i], (long long)from->shape[i]);
    count *= to->shape[i];
  }
  const size_t bytes = rung_dtype_bytes(to->dtype);
  if (to->dtype != from->dtype)
    return rung_fail(error, RUNG_BAD_DTYPE,
                     "pack from %s to %s; expected: the same element type in both",
                     rung_dtype_name(from->dtype), rung_dtype_name(to->dtype));
  RUNG_CHECK(rung_cuda_enter(state, error));
  if (count <= 0) return RUNG_OK;
  rung_dimensions d = rung_dimensions_of(from, RUNG_ALL, to);
  rung_dimensions_by_stride(&d);
  rung_dimensions_merge(&d);
  if (is_plain(&d))
    return rung_cuda_copy(state, to->data, from->data, (size_t)count * bytes, RUNG_ON_DEVICE,
                          error);
  pack(state, to->data, from->data, &d, count, (int64_t)bytes);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel pack");
  return RUNG_OK;
}
