/* All cores. What is shared out is tiles of lines, or of strips of lines side by side: their
 * partial results are independent by the contract, so that one long line keeps all threads busy
 * too. They meet in the scratch, laid out as the lines of another reduction, which ends it. */
#include "backend/cpu/isa.h"
#include "backend/cpu/parallel.h"
#include "ops/reduce/cpu/fold.h"

/* Elements a chunk: long enough to be worth dealing out, short enough to balance. */
enum { CHUNK = 4 * RUNG_SUM_TILE };

typedef struct job {
  const reduce_problem *problem;
  reduce_layout layout;
  reduce_operator op;
  reduce_end end;
  rung_dtype type;       /* of partial results */
  int64_t size, partial; /* bytes of an element and of a partial result */
  int64_t tiles, strips; /* of a line; of the lines side by side */
  int64_t chunk;         /* jobs dealt out together: tiles of strips of outer lines */
  const char *in;
  char *out, *partials; /* (outer, tiles, inner) where there is more than one tile */
} job;

static void put_strip(const job *job, const char *partials, int64_t o, int64_t i, int width) {
  for (int w = 0; w < width; ++w)
    reduce_finish_any(&job->end, job->type, partials + w * job->partial, job->out,
                      o * job->layout.out_outer + i + w);
}

static int width_of(const job *job, int64_t i) {
  const int64_t left = job->problem->inner - i;
  return left < REDUCE_STRIP ? (int)left : REDUCE_STRIP;
}

/* One tile of a strip. */
static void fold_tile(const job *job, int64_t o, int64_t tile, int64_t i) {
  const reduce_problem *problem = job->problem;
  const int64_t first = tile * RUNG_SUM_TILE, left = problem->columns - first;
  const int64_t n = left < RUNG_SUM_TILE ? left : RUNG_SUM_TILE;
  const int64_t at = o * job->layout.in_outer + first * job->layout.in_column + i;
  const char *from = problem->columns > 0 ? job->in + at * job->size : NULL;
  const int width = width_of(job, i);
  reduce_partials own;
  char *partials = (char *)&own;
  if (job->tiles > 1)
    partials = job->partials + ((o * job->tiles + tile) * problem->inner + i) * job->partial;
  if (problem->form == REDUCE_ACROSS)
    reduce_folds[job->op].across(from, job->layout.in_column, n, width, &job->end.key, partials);
  else
    reduce_folds[job->op].line(from, n, &job->end.key, partials);
  if (job->tiles == 1) put_strip(job, partials, o, i, width);
}

static void fold_chunk(void *arg, int64_t chunk, int thread) {
  const job *job = (const struct job *)arg;
  (void)thread;
  const int64_t first = chunk * job->chunk, all = job->problem->outer * job->tiles * job->strips;
  for (int64_t at = first; at < first + job->chunk && at < all; ++at) {
    const int64_t strip = at % job->strips, line = at / job->strips;
    fold_tile(job, line / job->tiles, line % job->tiles, strip * REDUCE_STRIP);
  }
}

/* The partial results of a strip's tiles. */
static void finish_strip(void *arg, int64_t at, int thread) {
  const job *job = (const struct job *)arg;
  const reduce_operator next = reduce_operator_next(job->op);
  const rung_key_code key = {0};
  const int64_t inner = job->problem->inner, o = at / job->strips;
  const int64_t i = at % job->strips * REDUCE_STRIP;
  const char *from = job->partials + (o * job->tiles * inner + i) * job->partial;
  const int width = width_of(job, i);
  reduce_partials partials;
  (void)thread;
  if (job->problem->form == REDUCE_ACROSS)
    reduce_folds[next].across(from, inner, job->tiles, width, &key, &partials);
  else
    reduce_folds[next].line(from, job->tiles, &key, &partials);
  put_strip(job, (const char *)&partials, o, i, width);
}

rung_status RUNG_ENTRY(reduce_threads)(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  job job = {.problem = problem,
             .layout = reduce_layout_of(task),
             .op = reduce_operator_of(problem),
             .end = reduce_end_of(problem),
             .size = (int64_t)rung_dtype_bytes(problem->dtype),
             .tiles = reduce_tiles(problem->columns),
             .strips = (problem->inner + REDUCE_STRIP - 1) / REDUCE_STRIP,
             .in = task->arrays[REDUCE_IN].data,
             .out = task->arrays[REDUCE_OUT].data,
             .partials = (char *)task->scratch};
  job.type = reduce_partial_of(job.op);
  job.partial = (int64_t)rung_dtype_bytes(job.type);
  const int64_t columns = problem->columns < RUNG_SUM_TILE ? problem->columns : RUNG_SUM_TILE;
  const int64_t width = problem->inner < REDUCE_STRIP ? problem->inner : REDUCE_STRIP;
  job.chunk = columns * width > 0 ? CHUNK / (columns * width) : CHUNK;
  if (job.chunk < 1) job.chunk = 1;
  const int64_t all = problem->outer * job.tiles * job.strips, threads = task->device->threads;
  rung_parallel((int)threads, (all + job.chunk - 1) / job.chunk, fold_chunk, &job);
  if (job.tiles > 1) rung_parallel((int)threads, problem->outer * job.strips, finish_strip, &job);
  return RUNG_OK;
}
