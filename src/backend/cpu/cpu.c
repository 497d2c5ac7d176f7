/* The CPU backend's table, and the members that are a line or two. */
#include "backend/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"

static rung_status cpu_count(int *devices, rung_error *error) {
  (void)error;
  *devices = 1;
  return RUNG_OK;
}

static rung_status cpu_open(const rung_device *device, void *stream, rung_state **state,
                            rung_error *error) {
  (void)stream;
  *state = calloc(1, sizeof **state);
  if (*state == NULL) return rung_fail(error, RUNG_OUT_OF_MEMORY, "out of memory opening the CPU");
  (*state)->threads = device->threads;
  (*state)->isa = device->isa;
  (*state)->cache_bytes = device->cache_bytes;
  return RUNG_OK;
}

static void cpu_close(rung_state *state) {
  free(state->spare);
  free(state);
}

static void *cpu_stream(rung_state *state) {
  (void)state;
  return NULL;
}

static rung_status cpu_synchronize(rung_state *state, rung_error *error) {
  (void)state;
  (void)error;
  return RUNG_OK;
}

static void cpu_release(rung_state *state, void *memory) {
  (void)state;
  free(memory);
}

static rung_status cpu_available(rung_state *state, int64_t *bytes, rung_error *error) {
  (void)error;
  *bytes = rung_cpu_memory_available("");
  /* What allocate() would give back first. */
  const int64_t spare = (int64_t)state->spare_bytes;
  if (*bytes < INT64_MAX - spare) *bytes += spare;
  return RUNG_OK;
}

/* ---- moving bytes --------------------------------------------------------------------------- */

typedef struct moving {
  char *to;
  const char *from; /* NULL: fill */
  unsigned char byte;
  size_t bytes;
} moving;

static void move_chunk(void *arg, int64_t chunk, int thread) {
  (void)thread;
  const moving *move = arg;
  size_t at = (size_t)chunk * RUNG_CPU_CHUNK;
  size_t bytes = move->bytes - at < RUNG_CPU_CHUNK ? move->bytes - at : RUNG_CPU_CHUNK;
  if (move->from == NULL)
    memset(move->to + at, move->byte, bytes);
  else
    memcpy(move->to + at, move->from + at, bytes);
}

static void move_all(const rung_state *state, moving *move) {
  int64_t chunks = (int64_t)(move->bytes / RUNG_CPU_CHUNK + (move->bytes % RUNG_CPU_CHUNK != 0));
  rung_parallel(state->threads, chunks, move_chunk, move);
}

static rung_status cpu_copy(rung_state *state, void *to, const void *from, size_t bytes,
                            rung_copy way, rung_error *error) {
  (void)way;
  (void)error;
  if (bytes > 0) move_all(state, &(moving){.to = to, .from = from, .bytes = bytes});
  return RUNG_OK;
}

static rung_status cpu_fill(rung_state *state, void *memory, unsigned char byte, size_t bytes,
                            rung_error *error) {
  (void)error;
  move_all(state, &(moving){.to = memory, .byte = byte, .bytes = bytes});
  return RUNG_OK;
}

/* ---- packing -------------------------------------------------------------------------------- */

/* Two dimensions in tiles: long pieces of rows; or, where one of the arrays goes on down its
 * columns, small squares, so that the lines that a column touches are still in the cache for its
 * neighbour. */
enum { PACK_TILE = 64, PACK_PIECE = 1 << 16, PACK_ALONE = 1 << 16 };

typedef struct packing {
  rung_view to, from; /* of two dimensions */
  int64_t tile_rows, tile_columns, across;
} packing;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* A view of two dimensions over what has fewer. */
static rung_view as_rows(const rung_view *view) {
  rung_view rows = *view;
  int missing = 2 - view->ndim;
  rows.ndim = 2;
  for (int d = 1; d >= 0; d--) {
    rows.shape[d] = d >= missing ? view->shape[d - missing] : 1;
    rows.stride[d] = d >= missing ? view->stride[d - missing] : 1;
  }
  return rows;
}

static rung_view tile_of(const rung_view *view, const packing *pack, int64_t row, int64_t column) {
  rung_view tile = *view;
  tile.data +=
      (row * view->stride[0] + column * view->stride[1]) * (int64_t)rung_dtype_bytes(view->dtype);
  tile.shape[0] = least(pack->tile_rows, view->shape[0] - row);
  tile.shape[1] = least(pack->tile_columns, view->shape[1] - column);
  tile.count = tile.shape[0] * tile.shape[1];
  return tile;
}

static void pack_tile(void *arg, int64_t chunk, int thread) {
  (void)thread;
  const packing *pack = arg;
  int64_t row = chunk / pack->across * pack->tile_rows;
  int64_t column = chunk % pack->across * pack->tile_columns;
  rung_view to = tile_of(&pack->to, pack, row, column);
  rung_view from = tile_of(&pack->from, pack, row, column);
  rung_view_copy(&to, &from);
}

/* Whether its elements are closer to each other down a column than along a row. */
static bool goes_down(const rung_view *view) {
  const int64_t down = view->stride[0], along = view->stride[1];
  return (down < 0 ? -down : down) < (along < 0 ? -along : along);
}

static rung_status cpu_pack(rung_state *state, const rung_view *to, const rung_view *from,
                            rung_error *error) {
  if (to->ndim > 2)
    return rung_fail(error, RUNG_BAD_SHAPE, "pack() takes at most 2 dimensions, not %d", to->ndim);
  if (to->count == 0) return RUNG_OK;
  packing pack = {.to = as_rows(to), .from = as_rows(from)};
  int64_t rows = pack.to.shape[0], columns = pack.to.shape[1];
  const bool squares = rows > 1 && (goes_down(&pack.to) || goes_down(&pack.from));
  const int64_t piece = squares ? PACK_TILE * PACK_TILE : PACK_PIECE;
  pack.tile_columns = least(columns, squares ? PACK_TILE : piece);
  pack.tile_rows = least(rows, piece / pack.tile_columns);
  pack.tile_columns = least(columns, piece / pack.tile_rows); /* more of them where rows are few */
  pack.across = (columns + pack.tile_columns - 1) / pack.tile_columns;
  int64_t down = (rows + pack.tile_rows - 1) / pack.tile_rows;
  rung_parallel(to->count <= PACK_ALONE ? 1 : state->threads, pack.across * down, pack_tile, &pack);
  return RUNG_OK;
}

const rung_backend rung_cpu_backend = {
    .kind = RUNG_CPU,
    .name = "cpu",
    .count = cpu_count,
    .describe = rung_cpu_describe,
    .facts = rung_cpu_facts,
    .arrive = NULL,
    .depart = NULL,
    .settle = NULL,
    .default_stream = NULL,
    .open = cpu_open,
    .close = cpu_close,
    .stream = cpu_stream,
    .synchronize = cpu_synchronize,
    .allocate = rung_cpu_allocate,
    .release = cpu_release,
    .available = cpu_available,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .pack = cpu_pack,
    .packs = 2,
    .carry = NULL,
    .flush = rung_cpu_flush,
    .mark = rung_cpu_mark,
    .elapsed = rung_cpu_elapsed,
    .hold = NULL,
    .release_hold = NULL,
    .clock_begin = rung_cpu_clock_begin,
    .clock_end = rung_cpu_clock_end,
    .clock_mhz = rung_cpu_clock_mhz,
    .probe = rung_cpu_probe,
    .allocate_pinned = NULL,
    .release_pinned = NULL,
    .copy_beside = NULL,
    .record = NULL,
    .await = NULL,
    .wait = NULL,
    .is_pinned = NULL,
    .examine = NULL,
    .guard = NULL,
    .profile_begin = NULL,
    .profile_end = NULL,
};
