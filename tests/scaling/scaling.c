/* How calls over ranks scale: the time of each over 1, 2, 4 ... of the devices, of the same job
 * (strong) and of one that grows with them (weak), beside the ideal, and the bits of its results,
 * as JSON (docs/RECORDS.md), which `rung report` draws.
 *
 *   cmake --preset cuda -DRUNG_CUDA_ARCHITECTURES=native
 *
 *   cmake --build build/cuda --target scaling
 *
 *   build/cuda/tests/scaling all > scaling.json # all GPUs
 *
 *   build/cuda/tests/scaling cpu,cpu,cpu,cpu    # ranks of the CPU, a thread each
 *
 * After the devices: `small` for jobs of seconds in all, `n=1500000` for jobs of one size, and the
 * names of operations. Arrays lie in the memory of each rank's device; a call is timed between
 * barriers, by the host's clock. Calls go on for a quarter of a second first (`small`: 20 ms), so
 * that clocks have risen, and of five more the median is taken. `ideal` is the part of what the
 * time over one device promises: t1 / (P tP) of strong, t1 / tP of weak. `bits` sums all elements'
 * bits, each times a number of its place: of strong they must be the same for any number of
 * devices, or the exit status is 1. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/parallel.h"
#include "core/context.h"
#include "core/random.h"
#include "rung/ranks.h"

enum {
  CALLS = 5, /* after those that warm up */
  BINS = 256,
  SHELLS = 80,
  STEPS = 100,
  BLOCK = 1 << 22,
  PIECE = 1 << 26,
  RESULT = 8 * (SHELLS + BINS)
};

static double warm_after = 0.25; /* seconds of calls */
static int processors;           /* asked for once: that takes as long as ten messages */

typedef struct share share;

/* An operation: elements and bytes that a rank has, what it needs filled, and the call. */
typedef struct operation {
  const char *name;
  int64_t large, small;
  double power; /* the work grows as the job to this power */
  size_t (*read)(const share *s), (*written)(const share *s);
  rung_status (*fill)(share *s);
  rung_status (*call)(share *s);
} operation;

/* A job over some of the devices. */
typedef struct job {
  const operation *of;
  int64_t n, total; /* of one device: elements, points, or rows and columns; of all ranks: rows */
  int count;
  double seconds[CALLS], begun; /* begun: the first call */
  int warm;
  uint64_t bits;
  int failed;
  pthread_barrier_t all;
  atomic_int there; /* ranks that have come to the barrier that is next */
  atomic_uint passed;
  pthread_mutex_t lock;
} job;

/* A rank's. */
struct share {
  job *job;
  rung_context *context;
  const rung_ranks *ranks;
  int64_t first, rows;
  char *in, *out, *result; /* of the device; the last RESULT bytes, of what is no array */
};

static float block[BLOCK]; /* elements of all arrays, over and over */

/* ---- arrays ------------------------------------------------------------------------------------
 */

static DLTensor there(const share *s, DLTensor array) {
  const rung_device *device = &s->context->device;
  return device->kind == RUNG_CUDA ? rung_on_cuda(array, device->index) : array;
}

static DLTensor matrix(const share *s, char *data, int64_t shape[2]) {
  return there(s, rung_array(data, rung_type(kDLFloat, 32), 2, shape));
}

static rung_status copy(share *s, void *to, const void *from, size_t bytes, rung_copy way) {
  if (bytes == 0) return RUNG_OK;
  return s->context->backend->copy(s->context->state, to, from, bytes, way, &s->context->error);
}

/* Elements [first, first + count) of the endless row that repeats the block. */
static rung_status fill(share *s, char *to, int64_t first, int64_t count) {
  const int64_t at = first % BLOCK, head = count < BLOCK - at ? count : BLOCK - at;
  int64_t done = count < BLOCK ? count : BLOCK;
  const size_t each = sizeof *block;
  rung_status status = copy(s, to, block + at, (size_t)head * each, RUNG_TO_DEVICE);
  if (status == RUNG_OK)
    status = copy(s, to + (size_t)head * each, block, (size_t)(done - head) * each, RUNG_TO_DEVICE);
  while (done < count && status == RUNG_OK) {
    const int64_t more = count - done < done ? count - done : done;
    status = copy(s, to + (size_t)done * each, to, (size_t)more * each, RUNG_ON_DEVICE);
    done += more;
  }
  return status;
}

static uint64_t bits_of(const void *data, size_t bytes, uint64_t place) {
  const uint32_t *words = (const uint32_t *)data;
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes / 4; i++)
    sum += words[i] * ((place + i) * UINT64_C(0x9e3779b97f4a7c15) | 1);
  return sum;
}

/* Of what the rank has written, wherever it has. */
static rung_status take_bits(share *s) {
  const size_t bytes = s->job->of->written(s);
  uint64_t bits = 0;
  rung_status status = RUNG_OK;
  if (bytes == 0) {
    int64_t here[RESULT / 8];
    status = copy(s, here, s->result, RESULT, RUNG_TO_HOST);
    if (status == RUNG_OK) status = rung_synchronize(s->context);
    bits = s->ranks->rank == 0 ? bits_of(here, RESULT, 0) : 0;
  } else {
    const uint64_t place = (uint64_t)s->first * (bytes / 4 / (size_t)s->rows);
    char *here = malloc(PIECE);
    status = here == NULL ? RUNG_OUT_OF_MEMORY : RUNG_OK;
    for (size_t at = 0; at < bytes && status == RUNG_OK; at += PIECE) {
      const size_t length = bytes - at < PIECE ? bytes - at : PIECE;
      status = copy(s, here, s->out + at, length, RUNG_TO_HOST);
      if (status == RUNG_OK) status = rung_synchronize(s->context);
      bits += bits_of(here, length, place + at / 4);
    }
    free(here);
  }
  pthread_mutex_lock(&s->job->lock);
  s->job->bits += bits;
  pthread_mutex_unlock(&s->job->lock);
  return status;
}

/* ---- operations --------------------------------------------------------------------------------
 */

static size_t nothing(const share *s) {
  (void)s;
  return 0;
}

static size_t a_row(const share *s) {
  return (size_t)s->rows * sizeof *block;
}

static size_t a_grid(const share *s) {
  return (size_t)(s->rows * s->job->n) * sizeof *block;
}

static rung_status fill_row(share *s) {
  return fill(s, s->in, s->first, s->rows);
}

static rung_status fill_none(share *s) {
  (void)s;
  return RUNG_OK;
}

static rung_status call_reduce(share *s) {
  DLTensor in = there(s, rung_array_f32((float *)s->in, &s->rows));
  DLTensor out = there(s, rung_number_f32((float *)s->result));
  return rung_reduce_ranks(s->context, s->ranks, RUNG_SUM, &in, &out, NULL);
}

static rung_status call_scan(share *s) {
  DLTensor in = there(s, rung_array_f32((float *)s->in, &s->rows));
  DLTensor out = there(s, rung_array_f32((float *)s->out, &s->rows));
  return rung_scan_ranks(s->context, s->ranks, RUNG_SUM, &in, 0, &out, NULL);
}

static rung_status call_histogram(share *s) {
  const rung_bins bins = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = 0, .high = 1};
  int64_t count = BINS;
  DLTensor in = there(s, rung_array_f32((float *)s->in, &s->rows));
  DLTensor counts = there(s, rung_array_i64((int64_t *)s->result, &count));
  return rung_histogram_ranks(s->context, s->ranks, &bins, &in, &counts, NULL, NULL);
}

static rung_status call_radiator(share *s) {
  rung_radiator_model model;
  int64_t shape[2] = {s->rows, s->job->n};
  DLTensor grid = matrix(s, s->out, shape);
  rung_radiator_preset(NULL, &model);
  return rung_radiator_ranks(s->context, s->ranks, &model, STEPS, s->job->n, &grid, NULL, NULL);
}

/* Rows of B are shared evenly, however many rows A has. */
static int64_t row_of_b(const share *s, int rank) {
  return s->job->n * rank / s->job->count;
}

static int64_t rows_of_b(const share *s) {
  return row_of_b(s, s->ranks->rank + 1) - row_of_b(s, s->ranks->rank);
}

static size_t read_matmul(const share *s) {
  return a_grid(s) + (size_t)(rows_of_b(s) * s->job->n) * sizeof *block;
}

static rung_status fill_matmul(share *s) {
  const int64_t n = s->job->n;
  const rung_status status = fill(s, s->in, s->first * n, s->rows * n);
  if (status != RUNG_OK) return status;
  return fill(s, s->in + a_grid(s), 7 + row_of_b(s, s->ranks->rank) * n, rows_of_b(s) * n);
}

static rung_status call_matmul(share *s) {
  int64_t rows[2] = {s->rows, s->job->n}, some[2] = {rows_of_b(s), s->job->n};
  DLTensor a = matrix(s, s->in, rows), b = matrix(s, s->in + a_grid(s), some);
  DLTensor c = matrix(s, s->out, rows);
  return rung_matmul_ranks(s->context, s->ranks, 1, &a, &b, 0, &c, NULL);
}

/* Points in a cube, as deep as its bins reach. */
static size_t read_pairs(const share *s) {
  return (size_t)s->rows * 3 * sizeof(double);
}

static rung_status fill_pairs(share *s) {
  rung_random random = {1};
  double *points = malloc(read_pairs(s));
  if (points == NULL) return RUNG_OUT_OF_MEMORY;
  rung_random_skip(&random, (uint64_t)(3 * s->first));
  for (int64_t i = 0; i < 3 * s->rows; i++) points[i] = 23000 * rung_random_double(&random);
  rung_status status = copy(s, s->in, points, read_pairs(s), RUNG_TO_DEVICE);
  if (status == RUNG_OK) status = rung_synchronize(s->context);
  free(points);
  return status;
}

static rung_status call_pairs(share *s) {
  const rung_distances bins = {.count = SHELLS, .width = 500};
  int64_t shape[2] = {s->rows, 3}, count = SHELLS;
  DLTensor at = there(s, rung_array(s->in, rung_type(kDLFloat, 64), 2, shape));
  DLTensor counts = there(s, rung_array_i64((int64_t *)s->result, &count));
  const rung_points points = {.at = &at};
  return rung_pairs_ranks(s->context, s->ranks, &points, NULL, NULL, &bins, &counts, NULL, NULL,
                          NULL);
}

static const operation operations[] = {
    {"reduce", INT64_C(1) << 32, 200000, 1, a_row, nothing, fill_row, call_reduce},
    {"scan", INT64_C(1) << 32, 200000, 1, a_row, a_row, fill_row, call_scan},
    {"histogram", INT64_C(1) << 32, 200000, 1, a_row, nothing, fill_row, call_histogram},
    {"radiator", 15360, 100, 1, nothing, a_grid, fill_none, call_radiator},
    {"matmul", 32768, 100, 1, read_matmul, a_grid, fill_matmul, call_matmul},
    {"pairs", 512000, 600, 2, read_pairs, nothing, fill_pairs, call_pairs},
    {"pairs", 4000000, 1500, 2, read_pairs, nothing, fill_pairs, call_pairs},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* What a CPU does in as much time. */
static int64_t size_of(const operation *of, int small, rung_kind kind) {
  if (small) return of->small;
  if (kind == RUNG_CUDA) return of->large;
  if (of->power > 1) return of->large / 16;
  return of->large > 1 << 20 ? of->large >> 6 : of->large / 8;
}

/* ---- running -----------------------------------------------------------------------------------
 */

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A barrier. Where every rank has a processor it is looked at until all are there: to be woken is
 * no part of a call, and one rank alone need not be. */
static void meet(job *j) {
  if (j->count > processors) {
    pthread_barrier_wait(&j->all);
    return;
  }
  const unsigned passed = j->passed;
  if (atomic_fetch_add(&j->there, 1) == j->count - 1) {
    j->there = 0;
    j->passed++;
  }
  while (j->passed == passed) sched_yield();
}

/* Whether all ranks are well; each says so. */
static int all_well(share *s, rung_status status) {
  job *j = s->job;
  if (status != RUNG_OK) {
    pthread_mutex_lock(&j->lock);
    j->failed = 1;
    fprintf(stderr, "scaling: %s over %d devices, rank %d: %s\n", j->of->name, j->count,
            s->ranks->rank,
            status == RUNG_OUT_OF_MEMORY ? rung_status_text(status) : rung_last_error(s->context));
    pthread_mutex_unlock(&j->lock);
  }
  meet(j);
  const int well = !j->failed;
  meet(j);
  return well;
}

static rung_status allocate(share *s, size_t bytes, char **memory) {
  void *found = NULL;
  const rung_status status =
      s->context->backend->allocate(s->context->state, bytes, &found, &s->context->error);
  *memory = (char *)found;
  return status;
}

static rung_status run_rank(rung_context *context, const rung_ranks *ranks, void *user) {
  job *j = (job *)user;
  share s = {.job = j, .context = context, .ranks = ranks};
  s.first = j->total * ranks->rank / j->count;
  s.rows = j->total * (ranks->rank + 1) / j->count - s.first;
  rung_status status = allocate(&s, j->of->read(&s), &s.in);
  if (status == RUNG_OK) status = allocate(&s, j->of->written(&s), &s.out);
  if (status == RUNG_OK) status = allocate(&s, RESULT, &s.result);
  if (status == RUNG_OK)
    status = context->backend->fill(context->state, s.result, 0, RESULT, &context->error);
  if (status == RUNG_OK) status = j->of->fill(&s);
  if (status == RUNG_OK) status = rung_synchronize(context);
  for (int call = 0; call < CALLS && all_well(&s, status);) {
    const int warm = j->warm;
    const double begun = seconds();
    status = j->of->call(&s);
    meet(j); /* rank 0 writes behind it, others read behind all_well() */
    if (ranks->rank == 0 && warm) j->seconds[call] = seconds() - begun;
    if (ranks->rank == 0 && j->begun == 0) j->begun = begun;
    if (ranks->rank == 0) j->warm = seconds() - j->begun > warm_after;
    call += warm;
  }
  if (status == RUNG_OK && !j->failed) status = take_bits(&s);
  const int well = all_well(&s, status);
  if (s.in != NULL) context->backend->release(context->state, s.in);
  if (s.out != NULL) context->backend->release(context->state, s.out);
  if (s.result != NULL) context->backend->release(context->state, s.result);
  return well ? RUNG_OK : RUNG_DEVICE_FAILED;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median; below 0: it has failed, and why has been said. */
static double time_job(job *j, rung_context *const *contexts) {
  j->bits = 0;
  j->failed = 0;
  j->begun = 0;
  j->warm = 0;
  pthread_barrier_init(&j->all, NULL, (unsigned)j->count);
  pthread_mutex_init(&j->lock, NULL);
  const rung_status status = rung_run_ranks(contexts, j->count, 300, run_rank, j);
  pthread_mutex_destroy(&j->lock);
  pthread_barrier_destroy(&j->all);
  qsort(j->seconds, CALLS, sizeof *j->seconds, compare);
  return status == RUNG_OK ? j->seconds[CALLS / 2] : -1;
}

/* An element of a list. */
static void print(const job *j, const char *kind, double time, double ideal) {
  static int printed;
  printf("%s\n{\"operation\":\"%s\",\"job\":\"n=%lld", printed++ ? "," : "", j->of->name,
         (long long)j->total);
  if (j->of->written == a_grid) printf(" columns=%lld", (long long)j->n);
  printf(
      "\",\"devices\":%d,\"scaling\":\"%s\",\"seconds\":%.9f,\"ideal\":%.3f,\"bits\":\"%016llx\"}",
      j->count, kind, time, ideal, (unsigned long long)j->bits);
  fflush(stdout);
}

/* Over 1, 2, 4 ... devices, and all. Returns how many jobs went wrong. */
static int measure(const operation *of, int64_t n, rung_context *const *contexts, int most) {
  job j = {.of = of, .n = n, .total = n, .count = 1};
  const double one = time_job(&j, contexts);
  const uint64_t bits = j.bits;
  int wrong = one < 0;
  if (wrong) return 1;
  print(&j, "strong", one, 1);
  for (int count = 2; count <= most; count = count < most && 2 * count > most ? most : 2 * count) {
    double time;
    j.count = count;
    j.total = n;
    if ((time = time_job(&j, contexts)) < 0) return wrong + 1;
    print(&j, "strong", time, one / (count * time));
    if (j.bits != bits) {
      fprintf(stderr, "scaling: %s over %d devices has other bits than over one\n", of->name,
              count);
      wrong++;
    }
    j.total = (int64_t)llround((double)n * pow(count, 1 / of->power));
    if ((time = time_job(&j, contexts)) < 0) return wrong + 1;
    print(&j, "weak", time, one / time);
  }
  return wrong;
}

static int wanted(const char *name, int argc, char **argv) {
  int names = 0;
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "small") == 0 || strncmp(argv[i], "n=", 2) == 0) continue;
    if (strcmp(argv[i], name) == 0) return 1;
    names++;
  }
  return names == 0;
}

int main(int argc, char **argv) {
  static rung_context *contexts[RUNG_DEVICES];
  rung_random random = {3};
  int count = 0, wrong = 0, small = 0;
  int64_t size = 0;
  for (int i = 2; i < argc; i++) {
    small |= strcmp(argv[i], "small") == 0;
    if (strncmp(argv[i], "n=", 2) == 0) size = strtoll(argv[i] + 2, NULL, 10);
  }
  if (small) warm_after = 0.02;
  const rung_options options = {.threads = argc > 1 && strncmp(argv[1], "cpu", 3) == 0 ? 1 : 0,
                                .stream = RUNG_OWN_STREAM};
  const rung_status status =
      rung_open_devices(contexts, &count, argc > 1 ? argv[1] : "all", &options);
  if (status != RUNG_OK) {
    fprintf(stderr, "scaling: %s\n", count > 0 ? rung_last_error(contexts[0]) : "no host memory");
    return 1;
  }
  processors = rung_processors();
  for (int64_t i = 0; i < BLOCK; i++) block[i] = rung_random_float(&random);
  printf(
      "{\"verb\":\"scaling\",\"version\":1,\"rung\":\"%s\",\"device\":\"%s\",\"calls\":%d,\"jobs\":"
      "[",
      rung_version(), contexts[0]->device.name, CALLS);
  for (int i = 0; i < OPERATIONS; i++)
    if (wanted(operations[i].name, argc, argv))
      wrong += measure(&operations[i],
                       size > 0 ? size : size_of(&operations[i], small, contexts[0]->device.kind),
                       contexts, count);
  printf("\n]}\n");
  for (int i = 0; i < count; i++) rung_close(contexts[i]);
  return wrong != 0;
}
