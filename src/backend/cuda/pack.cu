/* pack: copies elements between two views of one device, whatever their strides, of any dimensions.
 *
 * Dimensions are merged where both views go on evenly. `columns` is then the one in which the
 * output's neighbours lie, `rows` the one in which the input's do, or another; what is left is
 * planes of these. Neighbouring threads write neighbouring elements; where the input lies the other
 * way round (a transposed view) tiles are turned over in shared memory, so that both sides stay
 * coalesced. Rows that are runs of memory on both sides go by 16 bytes, wherever they begin. Where
 * a tile would be mostly empty, elements are counted through, those first that are near in either
 * view. Strides are in elements, 64-bit, of any sign. */
#include <string.h>

#include "backend/cuda/state.h"
#include "backend/gpu.h"
#include "core/dimensions.h"

enum { PACK_THREADS = 256, PACK_RUN = 16, PACK_FEW = 16, PACK_SMALL = 512 };

struct pack_shape {
  int64_t rows, columns; /* columns: the output's nearer neighbours */
  int64_t to_row, to_column, from_row, from_column;
  int64_t planes;
  int others; /* dimensions of planes */
  int64_t extent[RUNG_MAX_DIMS], to_step[RUNG_MAX_DIMS], from_step[RUNG_MAX_DIMS];
};

/* Where a plane begins. */
static __device__ inline void pack_find_plane(const pack_shape &s, int64_t plane, int64_t *to,
                                              int64_t *from) {
  *to = *from = 0;
  for (int k = 0; k < s.others; k++) {
    const int64_t rest = plane / s.extent[k], i = plane - rest * s.extent[k];
    *to += i * s.to_step[k];
    *from += i * s.from_step[k];
    plane = rest;
  }
}

/* Several rows of a column at a time, so that their loads are under way together. */
template <typename Element>
static __global__ void pack_straight(Element *to, const Element *from, pack_shape s) {
  enum { ROWS = 4 };
  const int64_t row_step = (int64_t)gridDim.y * blockDim.y;
  const int64_t column_step = (int64_t)gridDim.x * blockDim.x;
  const int64_t first_row = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
  const int64_t first_column = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t to_leap = row_step * s.to_row, from_leap = row_step * s.from_row;
  for (int64_t plane = blockIdx.z; plane < s.planes; plane += gridDim.z) {
    int64_t to_plane, from_plane;
    pack_find_plane(s, plane, &to_plane, &from_plane);
    for (int64_t c = first_column; c < s.columns; c += column_step) {
      const Element *in = from + from_plane + first_row * s.from_row + c * s.from_column;
      Element *out = to + to_plane + first_row * s.to_row + c * s.to_column;
      for (int64_t r = first_row; r < s.rows; r += ROWS * row_step) {
        Element taken[ROWS];
#pragma unroll
        for (int u = 0; u < ROWS; u++, in += from_leap)
          if (r + u * row_step < s.rows) taken[u] = *in;
#pragma unroll
        for (int u = 0; u < ROWS; u++, out += to_leap)
          if (r + u * row_step < s.rows) *out = taken[u];
      }
    }
  }
}

/* A row of so many bytes, in runs of 16 that begin at multiples of 16 bytes of the output: a thread
 * a run. Its bytes come as two aligned loads, where the row has all of them; at a row's ends one by
 * one. */
static __device__ inline void pack_run_of(char *line, const char *source, int64_t columns,
                                          int64_t first, int64_t step) {
  const int64_t before = (int64_t)((uintptr_t)line % PACK_RUN);
  const int by = (int)((uintptr_t)(source - before) % PACK_RUN);
  for (int64_t c = first - before; c < columns; c += step) {
    const int64_t low = c - by, high = low + (by ? 2 : 1) * PACK_RUN;
    if (c >= 0 && c + PACK_RUN <= columns && low >= 0 && high <= columns) {
      const uint4 *words = (const uint4 *)(source + low);
      *(uint4 *)(line + c) = by ? rung_shift_bytes(words[0], words[1], by, false) : words[0];
      continue;
    }
    const int64_t end = c + PACK_RUN < columns ? c + PACK_RUN : columns;
    for (int64_t k = c < 0 ? 0 : c; k < end; k++) line[k] = source[k];
  }
}

/* Rows of s.columns bytes. */
static __global__ void pack_runs(char *to, const char *from, pack_shape s) {
  const int64_t row_step = (int64_t)gridDim.y * blockDim.y;
  const int64_t run_step = (int64_t)gridDim.x * blockDim.x * PACK_RUN;
  const int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK_RUN;
  for (int64_t plane = blockIdx.z; plane < s.planes; plane += gridDim.z) {
    int64_t to_plane, from_plane;
    pack_find_plane(s, plane, &to_plane, &from_plane);
    for (int64_t r = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; r < s.rows; r += row_step)
      pack_run_of(to + to_plane + r * s.to_row, from + from_plane + r * s.from_row, s.columns,
                  first, run_step);
  }
}

/* A block of 32 x 8 threads turns square tiles: it reads along the input's near axis (rows) and
 * writes along the output's (columns). All of a thread's loads are under way before it stores the
 * first; the pitch, a word more than a row, keeps the banks apart.
 *
 * N is 1, or 2 of narrow elements: two are loaded at once, and stored, where both sides have them
 * next to each other and begin where two may. */
template <typename Element>
struct pack_tile {
  enum {
    lanes = 32,
    lines = PACK_THREADS / lanes,
    side = sizeof(Element) > 4 ? 32 : 64,
    few = side / 2, /* neighbours for which most of a tile would be empty */
    pitch = side + (sizeof(Element) < 4 ? 4 / (int)sizeof(Element) : 1)
  };
};

/* N elements at once. */
template <typename Element, int N>
struct __align__(sizeof(Element) * N) pack_word {
  Element at[N];
};

template <typename Element, int N>
static __global__ void pack_turned(Element *to, const Element *from, pack_shape s) {
  typedef pack_tile<Element> of;
  typedef pack_word<Element, N> word;
  constexpr int across_lanes = of::side / of::lanes / N, down_lines = of::side / of::lines;
  __shared__ Element tile[of::side][of::pitch];
  const int x = (int)threadIdx.x * N, y = (int)threadIdx.y;
  const int64_t across = (s.columns + of::side - 1) / of::side;
  const int64_t tiles = (s.rows + of::side - 1) / of::side * across;
  for (int64_t all = blockIdx.x; all < tiles * s.planes; all += gridDim.x) {
    const int64_t plane = all / tiles, t = all - plane * tiles, down = t / across;
    const int64_t row = down * of::side, column = (t - down * across) * of::side;
    int64_t to_plane, from_plane;
    pack_find_plane(s, plane, &to_plane, &from_plane);
    const Element *in = from + from_plane + (row + x) * s.from_row + (column + y) * s.from_column;
    Element *out = to + to_plane + (row + y) * s.to_row + (column + x) * s.to_column;
    word taken[down_lines][across_lanes];
#pragma unroll
    for (int k = 0; k < down_lines; k++, in += of::lines * s.from_column)
#pragma unroll
      for (int l = 0; l < across_lanes; l++)
        if (row + x + l * of::lanes * N < s.rows && column + y + k * of::lines < s.columns)
          taken[k][l] = *(const word *)(in + l * of::lanes * N * s.from_row);
#pragma unroll
    for (int k = 0; k < down_lines; k++)
#pragma unroll
      for (int l = 0; l < across_lanes; l++)
#pragma unroll
        for (int n = 0; n < N; n++)
          tile[y + k * of::lines][x + l * of::lanes * N + n] = taken[k][l].at[n];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < down_lines; k++, out += of::lines * s.to_row)
#pragma unroll
      for (int l = 0; l < across_lanes; l++) {
        if (row + y + k * of::lines >= s.rows || column + x + l * of::lanes * N >= s.columns)
          continue;
        word given;
#pragma unroll
        for (int n = 0; n < N; n++)
          given.at[n] = tile[x + l * of::lanes * N + n][y + k * of::lines];
        *(word *)(out + l * of::lanes * N * s.to_column) = given;
      }
    __syncthreads();
  }
}

/* Few neighbours on one side, many on the other: points of three coordinates, and their
 * coordinates. A block brings a span of the many to shared memory, all neighbours of it in their
 * order on that side, and takes them from there in the other order. */
struct pack_strip {
  int few, span;    /* few times span is about a tile; span: PACK_THREADS times a power of two */
  int span_bits;    /* 2^span_bits */
  uint32_t inverse; /* 2^32 / few, rounded up: n / few is the high word of n times that */
  bool gathers;     /* the few are neighbours in the input; else in the output */
  int64_t many;
  int64_t to_few, to_many, from_few, from_many;
};

/* Element n of a span, by its order on either side: which of the few, and its place among the
 * many. */
static __device__ inline int pack_place(const pack_strip &strip, int n, bool near, int *which) {
  const int place = near ? (int)__umulhi((unsigned)n, strip.inverse) : n & (strip.span - 1);
  *which = near ? n - place * strip.few : n >> strip.span_bits;
  return place;
}

template <typename Element>
static __global__ void pack_narrow(Element *to, const Element *from, pack_shape s,
                                   pack_strip strip) {
  enum {
    ONCE = 8,
    MOST = pack_tile<Element>::few,
    PAD = pack_tile<Element>::pitch - pack_tile<Element>::side
  };
  __shared__ Element tile[MOST * (PACK_THREADS + PAD)];
  const int thread = (int)threadIdx.x, turns = strip.few * strip.span / PACK_THREADS;
  const int pitch = strip.span + PAD;
  const int64_t spans = (strip.many + strip.span - 1) / strip.span;
  for (int64_t all = blockIdx.x; all < spans * s.planes; all += gridDim.x) {
    const int64_t plane = all / spans, first = (all - plane * spans) * strip.span;
    const int here = strip.many - first < strip.span ? (int)(strip.many - first) : strip.span;
    int64_t to_plane, from_plane;
    pack_find_plane(s, plane, &to_plane, &from_plane);
    const Element *in = from + from_plane + first * strip.from_many;
    Element *out = to + to_plane + first * strip.to_many;
    for (int t = 0; t < turns; t += ONCE) {
      Element taken[ONCE];
      int at[ONCE];
#pragma unroll
      for (int u = 0; u < ONCE; u++) {
        int which;
        const int place = pack_place(strip, thread + (t + u) * PACK_THREADS, strip.gathers, &which);
        at[u] = t + u < turns && place < here ? which * pitch + place : -1;
        if (at[u] >= 0) taken[u] = in[which * strip.from_few + place * strip.from_many];
      }
#pragma unroll
      for (int u = 0; u < ONCE; u++)
        if (at[u] >= 0) tile[at[u]] = taken[u];
    }
    __syncthreads();
#pragma unroll 4
    for (int t = 0; t < turns; t++) {
      int which;
      const int place = pack_place(strip, thread + t * PACK_THREADS, !strip.gathers, &which);
      if (place < here)
        out[which * strip.to_few + place * strip.to_many] = tile[which * pitch + place];
    }
    __syncthreads();
  }
}

/* All elements, number by number: of dimension 0 first. */
struct pack_count {
  uint32_t count;
  int dimensions;
  uint32_t extent[RUNG_MAX_DIMS];
  int64_t to_step[RUNG_MAX_DIMS], from_step[RUNG_MAX_DIMS];
};

template <typename Element>
static __global__ void pack_counted(Element *to, const Element *from, pack_count s) {
  enum { ONCE = 4 };
  const uint32_t threads = gridDim.x * blockDim.x;
  for (uint32_t n = blockIdx.x * blockDim.x + threadIdx.x; n < s.count; n += ONCE * threads) {
    Element taken[ONCE];
    int64_t place[ONCE];
#pragma unroll
    for (int u = 0; u < ONCE; u++) {
      uint32_t rest = n + u * threads;
      if (rest >= s.count) continue;
      int64_t source = 0;
      place[u] = 0;
      for (int k = 0; k < s.dimensions; k++) {
        const uint32_t next = rest / s.extent[k], i = rest - next * s.extent[k];
        place[u] += i * s.to_step[k];
        source += i * s.from_step[k];
        rest = next;
      }
      taken[u] = from[source];
    }
#pragma unroll
    for (int u = 0; u < ONCE; u++)
      if (n + u * threads < s.count) to[place[u]] = taken[u];
  }
}

/* ---- how --------------------------------------------------------------------------------------
 */

static int64_t magnitude(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

/* A thread for every one of so many places of every row, and about `most` blocks or fewer. */
static void spread(int64_t most, int64_t planes, int64_t rows, int64_t places, dim3 *grid,
                   dim3 *block) {
  unsigned wide = 1;
  while (wide < PACK_THREADS && wide < places) wide *= 2;
  *block = dim3(wide, PACK_THREADS / wide);
  int64_t across = (places + block->x - 1) / block->x, down = (rows + block->y - 1) / block->y;
  if (across > most) across = most;
  int64_t room = (most + across - 1) / across;
  if (down > room) down = room;
  room = (room + down - 1) / down;
  *grid = dim3((unsigned)across, (unsigned)down, (unsigned)(planes > room ? room : planes));
}

static int64_t blocks_of(const rung_state *state) {
  return (int64_t)state->processors * 16;
}

/* Whether elements may be turned two at a time. */
static bool has_pairs(const char *to, const char *from, const pack_shape *s, size_t bytes) {
  int64_t strides = s->rows | s->columns | s->to_row | s->from_column;
  for (int k = 0; k < s->others; k++) strides |= s->to_step[k] | s->from_step[k];
  return s->from_row == 1 && s->to_column == 1 && strides % 2 == 0 &&
         ((uintptr_t)to | (uintptr_t)from) % (2 * bytes) == 0;
}

template <typename Element>
static void launch(const rung_state *state, char *to, const char *from, const pack_shape *s,
                   bool turned) {
  Element *out = (Element *)to;
  const Element *in = (const Element *)from;
  const int64_t most = blocks_of(state);
  if (turned) {
    constexpr int side = pack_tile<Element>::side;
    const int64_t across = (s->columns + side - 1) / side;
    const int64_t down = (s->rows + side - 1) / side;
    int64_t tiles = across > most ? most : across * (down > most ? most : down);
    tiles = tiles > most ? most : tiles * (s->planes > most ? most : s->planes);
    dim3 block(pack_tile<Element>::lanes, pack_tile<Element>::lines);
    const unsigned grid = (unsigned)(tiles > most ? most : tiles);
    if constexpr (sizeof(Element) < 4)
      if (has_pairs(to, from, s, sizeof(Element))) {
        pack_turned<Element, 2><<<grid, block, 0, state->stream>>>(out, in, *s);
        return;
      }
    pack_turned<Element, 1><<<grid, block, 0, state->stream>>>(out, in, *s);
    return;
  }
  dim3 grid, block;
  spread(most, s->planes, s->rows, s->columns, &grid, &block);
  pack_straight<<<grid, block, 0, state->stream>>>(out, in, *s);
}

/* Whether a shape that is turned has few neighbours on one side and many on the other. */
template <typename Element>
static bool strip_of(const pack_shape *s, pack_strip *strip) {
  enum { MOST = pack_tile<Element>::few };
  const bool gathers = s->rows <= s->columns;
  const int64_t few = gathers ? s->rows : s->columns, many = gathers ? s->columns : s->rows;
  if (few < 2 || few > MOST || many < PACK_THREADS / 4) return false;
  *strip = {(int)few,
            PACK_THREADS,
            8,
            (uint32_t)(((INT64_C(1) << 32) + few - 1) / few),
            gathers,
            many,
            gathers ? s->to_row : s->to_column,
            gathers ? s->to_column : s->to_row,
            gathers ? s->from_row : s->from_column,
            gathers ? s->from_column : s->from_row};
  static_assert(PACK_THREADS == 1 << 8, "the bits of a span");
  while (2 * few * strip->span <= MOST * PACK_THREADS && strip->span < many) {
    strip->span *= 2;
    strip->span_bits++;
  }
  return true;
}

template <typename Element>
static void launch_narrow(const rung_state *state, char *to, const char *from, const pack_shape *s,
                          const pack_strip &strip) {
  const int64_t spans = (strip.many + strip.span - 1) / strip.span, most = blocks_of(state);
  const int64_t blocks = spans > most ? most : spans * (s->planes > most ? most : s->planes);
  pack_narrow<<<(unsigned)(blocks > most ? most : blocks), PACK_THREADS, 0, state->stream>>>(
      (Element *)to, (const Element *)from, *s, strip);
}

template <typename Element>
static void count_through(const rung_state *state, char *to, const char *from,
                          const pack_count *s) {
  const int64_t wanted = (s->count + 4 * PACK_THREADS - 1) / (4 * PACK_THREADS),
                most = blocks_of(state);
  pack_counted<<<(unsigned)(wanted > most ? most : wanted), PACK_THREADS, 0, state->stream>>>(
      (Element *)to, (const Element *)from, *s);
}

/* Rows of so many bytes or more on both sides, each a run of memory. */
static bool has_runs(const pack_shape *s, size_t bytes) {
  enum { LEAST = 8 * PACK_RUN };
  return s->to_column == 1 && s->from_column == 1 && s->columns >= LEAST / (int64_t)bytes;
}

static void launch_runs(const rung_state *state, char *to, const char *from, const pack_shape *s,
                        size_t bytes) {
  const int64_t size = (int64_t)bytes;
  pack_shape in_bytes = *s;
  in_bytes.columns *= size;
  in_bytes.to_row *= size;
  in_bytes.from_row *= size;
  for (int k = 0; k < s->others; k++) {
    in_bytes.to_step[k] *= size;
    in_bytes.from_step[k] *= size;
  }
  dim3 grid, block;
  spread(blocks_of(state), s->planes, s->rows, in_bytes.columns / PACK_RUN + 2, &grid, &block);
  pack_runs<<<grid, block, 0, state->stream>>>(to, from, in_bytes);
}

/* The dimension in which neighbours lie nearest, of the output or the input. */
static int nearest(const rung_dimensions *d, bool out) {
  int best = 0;
  int64_t least = INT64_MAX;
  for (int k = 0; k < d->count; k++) {
    const int64_t step = magnitude(out ? d->at[k].out : d->at[k].in);
    if (step == 0 || step >= least) continue; /* 0: one element over and over */
    least = step;
    best = k;
  }
  return best;
}

static rung_dimension take(rung_dimensions *d, int k) {
  const rung_dimension taken = d->at[k];
  for (d->count--; k < d->count; k++) d->at[k] = d->at[k + 1];
  return taken;
}

static int longest(const rung_dimensions *d) {
  int best = 0;
  for (int k = 1; k < d->count; k++)
    if (d->at[k].extent > d->at[best].extent) best = k;
  return best;
}

/* *turned: rows are the input's nearer neighbours. */
static pack_shape shape_of(rung_dimensions d, bool *turned) {
  pack_shape s = {1, 1, 0, 0, 0, 0, 1, 0, {}, {}, {}};
  *turned = false;
  if (d.count == 0) return s;
  const int out = nearest(&d, true), in = nearest(&d, false);
  *turned = out != in && d.at[out].in != 0;
  const rung_dimension columns = take(&d, out);
  s.columns = columns.extent;
  s.to_column = columns.out;
  s.from_column = columns.in;
  if (d.count == 0) return s;
  const rung_dimension rows = take(&d, *turned ? in - (in > out) : longest(&d));
  s.rows = rows.extent;
  s.to_row = rows.out;
  s.from_row = rows.in;
  for (int k = 0; k < d.count; k++) {
    s.extent[k] = d.at[k].extent;
    s.to_step[k] = d.at[k].out;
    s.from_step[k] = d.at[k].in;
    s.planes *= d.at[k].extent;
  }
  s.others = d.count;
  return s;
}

/* The output's nearer neighbours first, or the input's where those are few. */
static pack_count count_of(rung_dimensions d) {
  pack_count s = {1, 0, {}, {}, {}};
  bool out = true;
  if (d.count > 0) out = d.at[nearest(&d, false)].extent >= PACK_FEW;
  for (; d.count > 0; out = !out) {
    const rung_dimension next = take(&d, nearest(&d, out));
    s.extent[s.dimensions] = (uint32_t)next.extent;
    s.to_step[s.dimensions] = next.out;
    s.from_step[s.dimensions++] = next.in;
    s.count *= (uint32_t)next.extent;
  }
  return s;
}

/* Both sides one run of memory in the same order. */
static bool is_plain(const rung_dimensions *d) {
  return d->count == 0 || (d->count == 1 && d->at[0].in == 1 && d->at[0].out == 1);
}

rung_status rung_cuda_pack_load(rung_error *error) {
  const void *kernels[] = {(const void *)pack_runs,
                           (const void *)pack_straight<uint8_t>,
                           (const void *)pack_turned<uint8_t, 1>,
                           (const void *)pack_turned<uint8_t, 2>,
                           (const void *)pack_narrow<uint8_t>,
                           (const void *)pack_counted<uint8_t>,
                           (const void *)pack_straight<uint16_t>,
                           (const void *)pack_turned<uint16_t, 1>,
                           (const void *)pack_turned<uint16_t, 2>,
                           (const void *)pack_narrow<uint16_t>,
                           (const void *)pack_counted<uint16_t>,
                           (const void *)pack_straight<uint32_t>,
                           (const void *)pack_turned<uint32_t, 1>,
                           (const void *)pack_narrow<uint32_t>,
                           (const void *)pack_counted<uint32_t>,
                           (const void *)pack_straight<uint64_t>,
                           (const void *)pack_turned<uint64_t, 1>,
                           (const void *)pack_narrow<uint64_t>,
                           (const void *)pack_counted<uint64_t>};
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    cudaFuncAttributes attributes;
    RUNG_CUDA_CHECK(error, cudaFuncGetAttributes(&attributes, kernels[i]), "loading kernel pack");
  }
  return RUNG_OK;
}

template <typename Element>
static void pack(const rung_state *state, char *to, const char *from, const rung_dimensions *d,
                 int64_t count) {
  bool turned;
  const pack_shape shape = shape_of(*d, &turned);
  pack_strip strip;
  const bool narrow =
      turned && (shape.rows <= pack_tile<Element>::few || shape.columns <= pack_tile<Element>::few);
  if (has_runs(&shape, sizeof(Element))) {
    launch_runs(state, to, from, &shape, sizeof(Element));
  } else if (narrow && strip_of<Element>(&shape, &strip)) {
    launch_narrow<Element>(state, to, from, &shape, strip);
  } else if (count <= INT32_MAX &&
             (narrow || (shape.planes > 1 && shape.rows * shape.columns < PACK_SMALL))) {
    const pack_count counted = count_of(*d);
    count_through<Element>(state, to, from, &counted);
  } else {
    launch<Element>(state, to, from, &shape, turned);
  }
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
  if (bytes == 1)
    pack<uint8_t>(state, to->data, from->data, &d, count);
  else if (bytes == 2)
    pack<uint16_t>(state, to->data, from->data, &d, count);
  else if (bytes == 4)
    pack<uint32_t>(state, to->data, from->data, &d, count);
  else if (bytes == 8)
    pack<uint64_t>(state, to->data, from->data, &d, count);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel pack");
  return RUNG_OK;
}
