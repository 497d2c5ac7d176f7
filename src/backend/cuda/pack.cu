/* pack: copies elements between two views of one device, whatever their strides.
 *
 * A view of fewer dimensions is one of two with extents of 1. The axes are put in the order in
 * which the output lies in memory, so that neighbouring threads write neighbouring elements.
 * Where the input lies the other way round (a transposed view) tiles are turned over in shared
 * memory, so that both sides stay coalesced. Rows that are runs of memory on both sides go by 16
 * bytes, wherever they begin. Strides are in elements, 64-bit, of any sign. */
#include <string.h>

#include "backend/cuda/state.h"
#include "backend/gpu.h"

enum { PACK_THREADS = 256, PACK_TILE = 32, PACK_RUN = 16 };

struct pack_shape {
  int64_t rows, columns; /* columns: the output's nearer neighbours */
  int64_t to_row, to_column, from_row, from_column;
};

template <typename Element>
static __global__ void pack_straight(Element *to, const Element *from, pack_shape s) {
  int64_t row_step = (int64_t)gridDim.y * blockDim.y;
  int64_t column_step = (int64_t)gridDim.x * blockDim.x;
  int64_t first_column = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int64_t r = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; r < s.rows; r += row_step)
    for (int64_t c = first_column; c < s.columns; c += column_step)
      to[r * s.to_row + c * s.to_column] = from[r * s.from_row + c * s.from_column];
}

/* Rows of s.columns bytes, in runs of 16 that begin at multiples of 16 bytes of the output: a
 * thread a run. Its bytes come as two aligned loads, where the row has all of them; at a row's ends
 * one by one. */
static __global__ void pack_runs(char *to, const char *from, pack_shape s) {
  const int64_t row_step = (int64_t)gridDim.y * blockDim.y;
  const int64_t run_step = (int64_t)gridDim.x * blockDim.x * PACK_RUN;
  const int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK_RUN;
  for (int64_t r = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; r < s.rows; r += row_step) {
    char *line = to + r * s.to_row;
    const char *source = from + r * s.from_row;
    const int64_t before = (int64_t)((uintptr_t)line % PACK_RUN);
    const int by = (int)((uintptr_t)(source - before) % PACK_RUN);
    for (int64_t c = first - before; c < s.columns; c += run_step) {
      const int64_t low = c - by, high = low + (by ? 2 : 1) * PACK_RUN;
      if (c >= 0 && c + PACK_RUN <= s.columns && low >= 0 && high <= s.columns) {
        const uint4 *words = (const uint4 *)(source + low);
        *(uint4 *)(line + c) = by ? rung_shift_bytes(words[0], words[1], by, false) : words[0];
        continue;
      }
      const int64_t end = c + PACK_RUN < s.columns ? c + PACK_RUN : s.columns;
      for (int64_t k = c < 0 ? 0 : c; k < end; k++) line[k] = source[k];
    }
  }
}

/* A block of 32 x 8 threads turns tiles of 32 x 32: it reads along the input's near axis (rows)
 * and writes along the output's (columns). The odd pitch keeps the banks apart. */
template <typename Element>
static __global__ void pack_turned(Element *to, const Element *from, pack_shape s) {
  __shared__ Element tile[PACK_TILE][PACK_TILE + 1];
  int64_t across = (s.columns + PACK_TILE - 1) / PACK_TILE;
  int64_t tiles = (s.rows + PACK_TILE - 1) / PACK_TILE * across;
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    int64_t row = t / across * PACK_TILE, column = t % across * PACK_TILE;
    for (int k = threadIdx.y; k < PACK_TILE; k += blockDim.y) {
      int64_t r = row + threadIdx.x, c = column + k;
      if (r < s.rows && c < s.columns)
        tile[k][threadIdx.x] = from[r * s.from_row + c * s.from_column];
    }
    __syncthreads();
    for (int k = threadIdx.y; k < PACK_TILE; k += blockDim.y) {
      int64_t r = row + k, c = column + threadIdx.x;
      if (r < s.rows && c < s.columns) to[r * s.to_row + c * s.to_column] = tile[threadIdx.x][k];
    }
    __syncthreads();
  }
}

static int64_t magnitude(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

/* A thread for every one of so many places of every row, and no more blocks than `most`. */
static void spread(int64_t most, int64_t rows, int64_t places, dim3 *grid, dim3 *block) {
  unsigned wide = 1;
  while (wide < PACK_THREADS && wide < places) wide *= 2;
  *block = dim3(wide, PACK_THREADS / wide);
  int64_t across = (places + block->x - 1) / block->x, down = (rows + block->y - 1) / block->y;
  if (across > most) across = most;
  int64_t room = (most + across - 1) / across;
  if (down > room) down = room;
  *grid = dim3((unsigned)across, (unsigned)down);
}

template <typename Element>
static void launch(const rung_state *state, char *to, const char *from, const pack_shape *s) {
  Element *out = (Element *)to;
  const Element *in = (const Element *)from;
  int64_t most = (int64_t)state->processors * 16;
  bool turned = s->rows > 1 && s->columns > 1 && s->from_row != 0 && s->from_column != 0 &&
                magnitude(s->from_row) < magnitude(s->from_column);
  if (turned) {
    int64_t across = (s->columns + PACK_TILE - 1) / PACK_TILE;
    int64_t down = (s->rows + PACK_TILE - 1) / PACK_TILE;
    int64_t tiles = across > most ? most : across * (down > most ? most : down);
    dim3 block(PACK_TILE, PACK_THREADS / PACK_TILE);
    pack_turned<<<(unsigned)(tiles > most ? most : tiles), block, 0, state->stream>>>(out, in, *s);
    return;
  }
  dim3 grid, block;
  spread(most, s->rows, s->columns, &grid, &block);
  pack_straight<<<grid, block, 0, state->stream>>>(out, in, *s);
}

/* Rows of so many bytes or more on both sides, each a run of memory. */
static bool has_runs(const pack_shape *s, size_t bytes) {
  enum { LEAST = 8 * PACK_RUN };
  return s->to_column == 1 && s->from_column == 1 && s->columns >= LEAST / (int64_t)bytes;
}

static void launch_runs(const rung_state *state, char *to, const char *from, const pack_shape *s,
                        size_t bytes) {
  const int64_t size = (int64_t)bytes;
  const pack_shape in_bytes = {s->rows, s->columns * size,  s->to_row * size,
                               1,       s->from_row * size, 1};
  dim3 grid, block;
  spread((int64_t)state->processors * 16, s->rows, in_bytes.columns / PACK_RUN + 2, &grid, &block);
  pack_runs<<<grid, block, 0, state->stream>>>(to, from, in_bytes);
}

static void swap(int64_t *a, int64_t *b) {
  int64_t kept = *a;
  *a = *b;
  *b = kept;
}

static void shape_of(const rung_view *to, const rung_view *from, pack_shape *s) {
  int n = to->ndim;
  s->rows = n > 1 ? to->shape[0] : 1;
  s->columns = n > 0 ? to->shape[n - 1] : 1;
  s->to_row = s->rows > 1 ? to->stride[0] : 0;
  s->from_row = s->rows > 1 ? from->stride[0] : 0;
  s->to_column = s->columns > 1 ? to->stride[n - 1] : 0;
  s->from_column = s->columns > 1 ? from->stride[n - 1] : 0;
  bool rows_nearer = s->rows > 1 && magnitude(s->to_row) < magnitude(s->to_column);
  if (rows_nearer || s->columns == 1) {
    swap(&s->rows, &s->columns);
    swap(&s->to_row, &s->to_column);
    swap(&s->from_row, &s->from_column);
  }
}

/* Both sides one run of memory in the same order. */
static bool is_plain(const pack_shape *s) {
  bool columns = s->columns == 1 || (s->to_column == 1 && s->from_column == 1);
  bool rows = s->rows == 1 || (s->to_row == s->columns && s->from_row == s->columns);
  return columns && rows;
}

rung_status rung_cuda_pack_load(rung_error *error) {
  const void *kernels[] = {(const void *)pack_runs,
                           (const void *)pack_straight<uint8_t>,
                           (const void *)pack_turned<uint8_t>,
                           (const void *)pack_straight<uint16_t>,
                           (const void *)pack_turned<uint16_t>,
                           (const void *)pack_straight<uint32_t>,
                           (const void *)pack_turned<uint32_t>,
                           (const void *)pack_straight<uint64_t>,
                           (const void *)pack_turned<uint64_t>};
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    cudaFuncAttributes attributes;
    RUNG_CUDA_CHECK(error, cudaFuncGetAttributes(&attributes, kernels[i]), "loading kernel pack");
  }
  return RUNG_OK;
}

rung_status rung_cuda_pack(rung_state *state, const rung_view *to, const rung_view *from,
                           rung_error *error) {
  if (to->ndim > 2 || from->ndim != to->ndim)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "pack between views of %d and %d dimensions: two of at most 2, alike, would "
                     "be accepted",
                     to->ndim, from->ndim);
  for (int i = 0; i < to->ndim; i++)
    if (to->shape[i] != from->shape[i])
      return rung_fail(error, RUNG_BAD_SHAPE,
                       "pack between views whose axis %d has %lld and %lld elements: the same "
                       "would be accepted",
                       i, (long long)to->shape[i], (long long)from->shape[i]);
  size_t bytes = rung_dtype_bytes(to->dtype);
  if (to->dtype != from->dtype)
    return rung_fail(error, RUNG_BAD_DTYPE,
                     "pack from %s to %s: the same element type would be accepted",
                     rung_dtype_name(from->dtype), rung_dtype_name(to->dtype));
  RUNG_CHECK(rung_cuda_enter(state, error));
  pack_shape shape;
  shape_of(to, from, &shape);
  if (shape.rows <= 0 || shape.columns <= 0) return RUNG_OK;
  if (is_plain(&shape))
    return rung_cuda_copy(state, to->data, from->data,
                          (size_t)shape.rows * (size_t)shape.columns * bytes, RUNG_ON_DEVICE,
                          error);
  if (has_runs(&shape, bytes))
    launch_runs(state, to->data, from->data, &shape, bytes);
  else if (bytes == 1)
    launch<uint8_t>(state, to->data, from->data, &shape);
  else if (bytes == 2)
    launch<uint16_t>(state, to->data, from->data, &shape);
  else if (bytes == 4)
    launch<uint32_t>(state, to->data, from->data, &shape);
  else if (bytes == 8)
    launch<uint64_t>(state, to->data, from->data, &shape);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel pack");
  return RUNG_OK;
}
