/* All cores: every thread has tables of its own. Of many rows each is one thread's; a long row is
 * dealt out in chunks, and the threads' tables are added up at its end. */
#include "backend/cpu/isa.h"
#include "backend/cpu/parallel.h"
#include "ops/histogram/cpu/tables.h"

/* Entries of the tables that are added up at a time. */
enum { ENTRIES = 4096 };

typedef struct job {
  const rung_task *task;
  const histogram_problem *problem;
  histogram_tables tables; /* of thread 0 */
  int64_t threads, each;   /* counters from thread to thread */
  int64_t rows;            /* dealt out together */
  int64_t *counted;        /* by thread: elements that its tables hold; -1: they are not clear */
  const char *data;        /* of the long row under way */
  histogram_row row;
} job;

static histogram_tables tables_of(const job *job, int64_t thread) {
  histogram_tables tables = job->tables;
  tables.counts += thread * job->each;
  return tables;
}

static const char *row_data(const job *job, int64_t i) {
  const rung_view *in = &job->task->arrays[HISTOGRAM_IN];
  if (job->problem->columns == 0) return NULL;
  return in->data + i * in->stride[0] * (int64_t)rung_dtype_bytes(job->problem->dtype);
}

/* ---- many rows ---------------------------------------------------------------------------------
 */

static void do_rows(void *arg, int64_t chunk, int thread) {
  const job *job = (const struct job *)arg;
  const histogram_tables tables = tables_of(job, thread);
  const int64_t first = chunk * job->rows, left = job->problem->rows - first;
  for (int64_t i = first; i < first + (left < job->rows ? left : job->rows); ++i) {
    const histogram_row row = histogram_row_of(job->task, i);
    histogram_do_row(&tables, row_data(job, i), &row);
  }
}

/* ---- a long row --------------------------------------------------------------------------------
 */

/* Adds a thread's tables to the row while others may do so too, and clears them. */
static void flush(const job *job, const histogram_tables *tables) {
  histogram_part_pairs(tables);
  for (int entry = 0; entry < tables->shape.width; ++entry) {
    const uint64_t sum = histogram_sum_of(tables, entry);
    uint64_t *at = NULL;
    if (sum > 0) at = histogram_at(job->problem, &job->row, histogram_slot_of(tables, entry));
    if (at != NULL) __atomic_fetch_add(at, sum, __ATOMIC_RELAXED);
  }
  histogram_clear_tables(tables);
}

static int64_t chunk_of(const histogram_problem *problem) {
  return problem->flush < HISTOGRAM_CHUNK ? problem->flush : HISTOGRAM_CHUNK;
}

static void do_chunk(void *arg, int64_t chunk, int thread) {
  const job *job = (const struct job *)arg;
  const histogram_tables tables = tables_of(job, thread);
  const int64_t size = chunk_of(job->problem), at = chunk * size;
  const int64_t left = job->problem->columns - at, n = left < size ? left : size;
  if (job->counted[thread] < 0) {
    histogram_clear_tables(&tables);
    job->counted[thread] = 0;
  }
  if (job->counted[thread] + n > job->problem->flush) {
    flush(job, &tables);
    job->counted[thread] = 0;
  }
  histogram_count(&tables, job->data, at, n);
  job->counted[thread] += n;
}

static void part_pairs(void *arg, int64_t t, int thread) {
  const job *job = (const struct job *)arg;
  const histogram_tables tables = tables_of(job, t);
  (void)thread;
  if (job->counted[t] > 0) histogram_part_pairs(&tables);
}

static void add_entries(void *arg, int64_t chunk, int thread) {
  const job *job = (const struct job *)arg;
  const int first = (int)chunk * ENTRIES, left = job->tables.shape.width - first;
  (void)thread;
  for (int64_t t = 0; t < job->threads; ++t) {
    const histogram_tables tables = tables_of(job, t);
    if (job->counted[t] > 0)
      histogram_add_up(&tables, &job->row, first, first + (left < ENTRIES ? left : ENTRIES));
  }
}

static void do_long_row(job *job, int64_t i) {
  const int64_t size = chunk_of(job->problem), chunks = (job->problem->columns + size - 1) / size;
  /* A byte's values may share slots: their sums are one thread's work. */
  const int64_t parts = (job->tables.shape.width + ENTRIES - 1) / ENTRIES;
  job->data = row_data(job, i);
  job->row = histogram_row_of(job->task, i);
  if (histogram_is_sparse(job->problem)) {
    const histogram_tables tables = tables_of(job, 0);
    histogram_do_row(&tables, job->data, &job->row);
    return;
  }
  for (int64_t t = 0; t < job->threads; ++t) job->counted[t] = -1;
  histogram_clear_row(job->problem, &job->row);
  rung_parallel((int)job->threads, chunks, do_chunk, job);
  if (job->tables.shape.pairs > 0) rung_parallel((int)job->threads, job->threads, part_pairs, job);
  rung_parallel((int)job->threads, parts, add_entries, job);
}

rung_status RUNG_ENTRY(histogram_threads)(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  job job = {.task = task, .problem = problem, .threads = histogram_threads(problem, task->device)};
  char *scratch = (char *)task->scratch;
  job.counted = (int64_t *)scratch;
  scratch += histogram_counted_bytes(problem, task->device);
  job.tables = (histogram_tables){
      .problem = problem,
      .given = histogram_given_of(task, scratch),
      .shape = histogram_private_of(problem, job.threads),
      .counts = (uint32_t *)(scratch + histogram_guide_bytes(problem)),
  };
  job.each = histogram_counters(&job.tables.shape);
  const bool shared_out = problem->rows >= 4 * job.threads || problem->columns < HISTOGRAM_CHUNK;
  if (!shared_out || problem->flush < problem->columns) {
    for (int64_t i = 0; i < problem->rows; ++i) do_long_row(&job, i);
    return RUNG_OK;
  }
  const int64_t work = problem->columns + problem->rule.slots;
  job.rows = HISTOGRAM_CHUNK / work + 1;
  rung_parallel((int)job.threads, (problem->rows + job.rows - 1) / job.rows, do_rows, &job);
  return RUNG_OK;
}
