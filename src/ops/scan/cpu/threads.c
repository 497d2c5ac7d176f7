/* Tiles shared out to all cores, in one pass over memory: a thread takes the next tile, finds its
 * total and leaves it for the others, puts together what the tiles before come to, and writes the
 * results while the tile is still in its cache. It never waits for a tile that nobody has taken.
 * Results that will not be read from the cache again are stored past it. Lines of one tile are
 * dealt out whole, several at a time. */
#include <string.h>

#include "backend/cpu/isa.h"
#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "ops/scan/cpu/line.h"

/* Elements of short lines that a thread takes at a time, and what the number of lines is a multiple
 * of where it is as large, so that all begin at a vector where the first does. */
enum { CHUNK = 1 << 16, CHUNK_LINES = 64 };

typedef struct job {
  const rung_task *task;
  int64_t lines, tiles, chunk; /* lines a chunk, where they are short */
  int64_t aggregates;          /* of a line */
  bool past, large;            /* in and out are more than the last cache holds; out alone is */
  char *numbers;
  atomic_uchar *there;
  atomic_llong next;
} job;

static scan_line line_of(const job *job, int64_t number) {
  scan_line line = scan_line_of(job->task, number);
  line.past = job->past;
  line.aggregates = job->numbers + number * job->aggregates * line.number;
  line.there = job->there + number * job->aggregates;
  return line;
}

/* A thread's share: tile after tile, until there are no more. The next one is taken early, so that
 * its elements can be prefetched while this one's results are made. A thread ends its tiles in the
 * order of their numbers, so whoever holds one that others wait for is at work on it or on an
 * earlier one. */
static void take_tiles(void *arg, int64_t chunk, int thread) {
  job *job = (struct job *)arg;
  const int64_t all = job->lines * job->tiles;
  (void)chunk, (void)thread;
  int64_t at = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
  while (at < all) {
    const scan_line line = line_of(job, at / job->tiles);
    const int64_t after = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    const int64_t tile = after % job->tiles;
    const scan_line then = line_of(job, after < all ? after / job->tiles : 0);
    const bool whole = after < all && (tile + 1) * SCAN_TILE <= line.columns;
    scan_one_tile(&line, at % job->tiles, whole ? then.in + tile * SCAN_TILE * line.size : NULL);
    at = after;
  }
  lanes_stream_end();
}

static void take_lines(void *arg, int64_t chunk, int thread) {
  const job *job = (struct job *)arg;
  const int64_t first = chunk * job->chunk;
  const int64_t left = job->lines - first, count = left < job->chunk ? left : job->chunk;
  (void)thread;
  if (scan_short_ones(job->task, first, count, job->past)) return;
  for (int64_t l = first; l < first + count; ++l) {
    scan_line line = scan_line_of(job->task, l);
    const bool ahead = job->large && l + 1 < first + count;
    /* Of shorter ones too much shares a vector with their neighbours. */
    line.past = job->large && line.columns >= 4 * SCAN_ROW;
    scan_one_tile(&line, 0, ahead ? scan_line_of(job->task, l + 1).in : NULL);
  }
  lanes_stream_end();
}

rung_status RUNG_ENTRY(scan_threads)(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  const int threads = (int)task->device->threads;
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  const rung_view *in = &task->arrays[SCAN_IN], *out = &task->arrays[SCAN_OUT];
  job job = {.task = task, .lines = problem->lines, .tiles = scan_tiles(problem->columns)};
  if (problem->aggregates) {
    scan_leave_aggregates(task, threads);
    return RUNG_OK;
  }
  job.large = in->data != out->data && out->count * size > task->device->cache_bytes;
  job.past = in->data != out->data && 2 * out->count * size > task->device->cache_bytes;
  if (job.tiles == 1) {
    job.chunk = CHUNK / problem->columns > 0 ? CHUNK / problem->columns : 1;
    if (job.chunk > CHUNK_LINES) job.chunk -= job.chunk % CHUNK_LINES;
    rung_parallel(threads, (job.lines + job.chunk - 1) / job.chunk, take_lines, &job);
    return RUNG_OK;
  }
  job.aggregates = scan_aggregates(job.tiles);
  job.numbers = (char *)task->scratch;
  job.there =
      (atomic_uchar *)(job.numbers + job.lines * job.aggregates * scan_number_bytes(problem));
  memset((void *)job.there, 0, (size_t)(job.lines * job.aggregates));
  rung_parallel(threads, threads, take_tiles, &job);
  return RUNG_OK;
}
