/* Lines that lie side by side, as they are: a lane of a vector has a line, every step of the order
 * is one of whole vectors, and no element changes its lane. A strip of a few vectors goes down all
 * of its lines, four elements of each at a time, as they lie in memory; what a step needs of those
 * before stays in the nearest cache. Strips are shared out to all cores, and their tiles where
 * strips are too few. Long lines that are fewer than a vector has lanes are brought together tile
 * by tile, and go by the tiles of line.h. */
#include "backend/cpu/isa.h"
#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "ops/scan/cpu/line.h"

typedef struct job {
  const scan_operator_tiles *of;
  const rung_view *in, *out;
  scan_strip strip; /* what all have in common */
  int64_t size, inner, lines, lanes;
  int64_t wide, strips; /* lines of a strip; strips of an outer index, or all */
  int64_t shift;        /* so many lines fewer has the first strip, for vectors to be aligned */
  bool scattered;
  bool shares;          /* threads take tiles in turn, or else strips */
  int64_t tiles, flags; /* of a strip; a flag for each of its aggregates */
  char *aggregates;
  size_t strip_bytes; /* of aggregates of a strip */
  atomic_uchar *there;
  atomic_llong next; /* tile */
} job;

static scan_strip strip_of(const job *job, int64_t number) {
  scan_strip strip = job->strip;
  const int64_t outer = job->scattered ? 0 : number / job->strips;
  const int64_t begin = (job->scattered ? number : number % job->strips) * job->wide - job->shift;
  const int64_t first = begin > 0 ? begin : 0, end = begin + job->wide;
  const int64_t lines = job->scattered ? job->lines : job->inner;
  const int64_t *from = job->in->stride, *to = job->out->stride;
  strip.count = (int)((end < lines ? end : lines) - first);
  strip.head = begin < 0 ? (int)(job->lanes - job->shift) : 0;
  if (strip.head > strip.count) strip.head = strip.count;
  strip.vectors =
      (strip.head > 0) + (int)((strip.count - strip.head + job->lanes - 1) / job->lanes);
  strip.scattered = job->scattered;
  strip.in = job->in->data;
  strip.out = job->out->data;
  if (!job->scattered) {
    strip.in += (outer * from[0] + first) * job->size;
    strip.out += (outer * to[0] + first) * job->size;
    if (end + job->wide <= lines) strip.next = strip.in + strip.count * job->size;
  }
  for (int l = 0; l < strip.count && job->scattered; ++l) {
    const int64_t line = first + l;
    strip.in_at[l] = line / job->inner * from[0] + line % job->inner;
    strip.out_at[l] = line / job->inner * to[0] + line % job->inner;
  }
  strip.begin = 0;
  strip.end = strip.columns;
  return strip;
}

static void take_strip(void *arg, int64_t number, int thread) {
  const job *job = (struct job *)arg;
  scan_strip strip = strip_of(job, number);
  strip.aggregates = job->aggregates + (size_t)thread * job->strip_bytes;
  job->of->across(&strip);
}

/* Tile after tile, as they come: whoever waits for one, waits for a thread that has it. */
static void take_tiles(void *arg, int64_t chunk, int thread) {
  job *job = (struct job *)arg;
  const int64_t all = job->lines / job->inner * job->strips * job->tiles;
  (void)chunk, (void)thread;
  for (;;) {
    const int64_t at = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    if (at >= all) return;
    const int64_t number = at / job->tiles, tile = at % job->tiles;
    scan_strip strip = strip_of(job, number);
    strip.next = NULL;
    strip.begin = tile * SCAN_TILE;
    if (tile + 1 < job->tiles) strip.end = strip.begin + SCAN_TILE;
    strip.aggregates = job->aggregates + (size_t)number * job->strip_bytes;
    strip.there = job->there + number * job->flags;
    job->of->across(&strip);
  }
}

/* ---- few long lines ----------------------------------------------------------------------------
 */

typedef struct few {
  const rung_task *task;
  int64_t inner, tiles, units; /* a unit is a tile of each of the lines side by side */
  int64_t aggregates;          /* of a line */
  char *numbers, *rooms;       /* a room, of a tile, for every thread */
  atomic_uchar *there;
  atomic_llong next;
} few;

/* Elements `step` apart to where they follow each other, and back. */
#define MOVE(type)                                                                                 \
  for (int k = 0; k < count; ++k) ((type *)to)[k * to_step] = ((const type *)from)[k * from_step]; \
  break;
static void move(const void *from, int64_t from_step, void *to, int64_t to_step, int count,
                 int64_t size) {
  switch (size) {
    case 1:
      MOVE(uint8_t)
    case 2:
      MOVE(uint16_t)
    case 4:
      MOVE(uint32_t)
    default:
      MOVE(uint64_t)
  }
}
#undef MOVE

static void take_few(void *arg, int64_t chunk, int thread) {
  few *few = (struct few *)arg;
  const rung_view *in = &few->task->arrays[SCAN_IN], *out = &few->task->arrays[SCAN_OUT];
  scan_line line = scan_line_of(few->task, 0);
  char *room = few->rooms + (int64_t)thread * SCAN_TILE * line.size;
  (void)chunk;
  for (;;) {
    const int64_t unit = atomic_fetch_add_explicit(&few->next, 1, memory_order_relaxed);
    if (unit >= few->units) return;
    const int64_t o = unit / few->tiles, tile = unit % few->tiles, row = tile * SCAN_TILE;
    const int count = scan_tile_count(&line, tile);
    for (int64_t l = 0; l < few->inner; ++l) {
      const int64_t number = o * few->inner + l;
      const int64_t from = o * in->stride[0] + row * in->stride[1] + l;
      const int64_t to = o * out->stride[0] + row * out->stride[1] + l;
      line.aggregates = few->numbers + number * few->aggregates * line.number;
      line.there = few->there + number * few->aggregates;
      move(in->data + from * line.size, in->stride[1], room, 1, count, line.size);
      scan_tile_at(&line, tile, room, room, count, NULL);
      move(room, 1, out->data + to * line.size, out->stride[1], count, line.size);
    }
  }
}

static void across_few(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  const int threads = (int)task->device->threads;
  few few = {.task = task, .inner = problem->inner, .tiles = scan_tiles(problem->columns)};
  few.units = problem->lines / problem->inner * few.tiles;
  few.aggregates = few.tiles > 1 ? scan_aggregates(few.tiles) : 0;
  few.rooms = (char *)task->scratch;
  few.numbers = few.rooms + threads * SCAN_TILE * (int64_t)rung_dtype_bytes(problem->dtype);
  few.there =
      (atomic_uchar *)(few.numbers + problem->lines * few.aggregates * scan_number_bytes(problem));
  memset((void *)few.there, 0, (size_t)(problem->lines * few.aggregates));
  rung_parallel(threads, few.units < threads ? few.units : threads, take_few, &few);
}

/* Strips of equal width: as few as the operator takes and the nearest cache has room for, or as
 * many more as give every thread as much as the others, where their tiles are not shared. Where
 * every row of the output begins at the same place of a vector, so do the strips, but for the
 * first. */
static void cut_into_strips(job *job, int threads, int64_t cache_bytes) {
  const rung_view *in = job->in, *out = job->out;
  const int64_t lanes = job->lanes, number = LANES_BYTES / lanes, others = job->lines / job->inner;
  const bool narrow = job->of->widest > SCAN_STRIP_VECTORS * lanes;
  const int64_t bytes = job->strip.columns < SCAN_ROW ? SCAN_STRIP_BYTES_SHORT : SCAN_STRIP_BYTES;
  int64_t most = job->of->widest;
  if (!narrow && most > bytes / number) most = bytes / number;
  if (job->size == number && LANES_BYTES == 64 && out->stride[1] * number % LANES_BYTES == 0) {
    job->shift = (int64_t)((uintptr_t)out->data % LANES_BYTES) / number;
    job->strip.past = in->data != out->data && out->count * number > cache_bytes &&
                      (uintptr_t)out->data % (uintptr_t)number == 0 &&
                      (others == 1 || out->stride[0] * number % LANES_BYTES == 0);
  }
  const int64_t vectors = (job->inner + job->shift + lanes - 1) / lanes;
  job->strips = (vectors * lanes + most - 1) / most;
  if (!narrow && job->tiles > 1 && others * job->strips < threads) {
    job->shares = true;
  } else if (others < threads) {
    const int64_t even = (others * job->strips + threads - 1) / threads * threads;
    const int64_t finest = vectors / SCAN_STRIP_LEAST, wanted = (even + others - 1) / others;
    const int64_t strips = wanted < finest ? wanted : finest;
    if (strips > job->strips) job->strips = strips;
  }
  job->wide = (vectors + job->strips - 1) / job->strips * lanes;
  job->strips = (vectors * lanes + job->wide - 1) / job->wide;
}

rung_status RUNG_ENTRY(scan_across)(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  const rung_view *in = &task->arrays[SCAN_IN], *out = &task->arrays[SCAN_OUT];
  const int threads = (int)task->device->threads;
  const int64_t lanes = LANES_BYTES / scan_number_bytes(problem);
  job job = {.of = &RUNG_ENTRY(scan_tiles_of)[scan_operator_of(problem)],
             .in = in,
             .out = out,
             .strip = {.columns = problem->columns,
                       .in_step = in->stride[1],
                       .out_step = out->stride[1],
                       .key = scan_key_of(problem),
                       .exclusive = problem->exclusive},
             .size = (int64_t)rung_dtype_bytes(problem->dtype),
             .inner = problem->inner,
             .lines = problem->lines,
             .lanes = lanes,
             .tiles = scan_tiles(problem->columns),
             .scattered = problem->inner < lanes,
             .aggregates = (char *)task->scratch};
  if (job.scattered && problem->columns >= SCAN_LONG) {
    across_few(task);
    return RUNG_OK;
  }
  job.strip.asks = (in->count + out->count) * job.size > SCAN_STRIP_NEAR;
  if (job.scattered) {
    job.wide = SCAN_STRIP_LEAST * lanes;
    job.strips = (job.lines + job.wide - 1) / job.wide;
  } else {
    cut_into_strips(&job, threads, task->device->cache_bytes);
  }
  const int64_t vectors = job.wide / lanes; /* operators that take more have no aggregates */
  job.strip_bytes = (size_t)(scan_aggregates(job.tiles) * LANES_BYTES) *
                    (size_t)(vectors < SCAN_STRIP_VECTORS ? vectors : SCAN_STRIP_VECTORS);
  const int64_t strips = job.scattered ? job.strips : job.lines / job.inner * job.strips;
  if (!job.shares) {
    rung_parallel(threads, strips, take_strip, &job);
    return RUNG_OK;
  }
  job.flags = scan_aggregates(job.tiles);
  job.there = (atomic_uchar *)(job.aggregates + (size_t)strips * job.strip_bytes);
  memset((void *)job.there, 0, (size_t)(strips * job.flags));
  rung_parallel(threads, threads, take_tiles, &job);
  return RUNG_OK;
}
