/* All cores, for one core cannot ask for as much memory at a time as the machine can give. What is
 * shared out is tiles, not rows: their sums are independent by the contract, so that few long rows
 * keep all threads busy too. A row's tile sums meet in the scratch and are summed at the end. */
#include "backend/cpu/isa.h"
#include "backend/cpu/parallel.h"
#include "ops/rowmeans/cpu/fold.h"
#include "ops/rowmeans/rowmeans.h"

/* Elements a chunk: long enough to be worth dealing out, short enough to balance. */
enum { CHUNK = 4 * RUNG_SUM_TILE };

typedef struct job {
  const rung_view *in, *means;
  char *sums; /* rows * tiles of them, where a row has several */
  int64_t rows, columns, tiles;
  int64_t chunk; /* tiles (of any rows) in a chunk */
  rung_dtype dtype;
} job;

static void put_mean(const job *job, int64_t row, double sum) {
  const int64_t at = row * job->means->stride[0];
  if (job->dtype == RUNG_F32)
    ((float *)job->means->data)[at] = rowmeans_mean_f32((float)sum, job->columns);
  else
    ((double *)job->means->data)[at] = rowmeans_mean_f64(sum, job->columns);
}

static double tile_sum(const job *job, int64_t row, int64_t tile) {
  const int64_t first = tile * RUNG_SUM_TILE, left = job->columns - first;
  const int64_t at = row * job->in->stride[0] + first;
  const int count = left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE;
  if (job->dtype == RUNG_F32) return rowmeans_tile_f32((const float *)job->in->data + at, count);
  return rowmeans_tile_f64((const double *)job->in->data + at, count);
}

static void sum_chunk(void *arg, int64_t chunk, int thread) {
  const job *job = (const struct job *)arg;
  (void)thread;
  const int64_t first = chunk * job->chunk, all = job->rows * job->tiles;
  for (int64_t t = first; t < first + job->chunk && t < all; ++t) {
    const double sum = tile_sum(job, t / job->tiles, t % job->tiles);
    if (job->tiles == 1)
      put_mean(job, t, sum);
    else if (job->dtype == RUNG_F32)
      ((float *)job->sums)[t] = (float)sum;
    else
      ((double *)job->sums)[t] = sum;
  }
}

static void finish_row(void *arg, int64_t row, int thread) {
  const job *job = (const struct job *)arg;
  (void)thread;
  const int64_t at = row * job->tiles;
  put_mean(job, row,
           job->dtype == RUNG_F32 ? rowmeans_sum_f32((const float *)job->sums + at, job->tiles)
                                  : rowmeans_sum_f64((const double *)job->sums + at, job->tiles));
}

rung_status RUNG_ENTRY(rowmeans_threads)(const rung_task *task) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  job job = {.in = &task->arrays[ROWMEANS_IN],
             .means = &task->arrays[ROWMEANS_MEANS],
             .sums = (char *)task->scratch,
             .rows = problem->rows,
             .columns = problem->columns,
             .tiles = rowmeans_tiles(problem->columns),
             .dtype = problem->dtype};
  job.chunk = CHUNK / (problem->columns < RUNG_SUM_TILE ? problem->columns : RUNG_SUM_TILE);
  const int64_t all = job.rows * job.tiles;
  rung_parallel(task->device->threads, (all + job.chunk - 1) / job.chunk, sum_chunk, &job);
  if (job.tiles > 1) rung_parallel(task->device->threads, job.rows, finish_row, &job);
  return RUNG_OK;
}
