/* How long short calls over the ranks of MPI take, of arrays in host memory: medians, of the rank
 * that takes longest, behind a barrier.
 *
 *   mpicc -O2 times.c $(pkg-config --cflags --libs rung) -o times
 *   mpirun -n 4 ./times cuda 200000    # DEVICE ELEMENTS [CALLS] */
#include <rung/mpi.h>

enum { BINS = 256, MOST = 500, WARM_UP = 50 };

typedef struct job {
  rung_context *context;
  const rung_ranks *ranks;
  int64_t count; /* of this rank */
  float *in, *out;
} job;

static rung_status reduce(const job *j) {
  float sum;
  DLTensor in = rung_array_f32(j->in, &j->count), out = rung_number_f32(&sum);
  return rung_reduce_ranks(j->context, j->ranks, RUNG_SUM, &in, &out, NULL);
}

static rung_status scan(const job *j) {
  DLTensor in = rung_array_f32(j->in, &j->count), out = rung_array_f32(j->out, &j->count);
  return rung_scan_ranks(j->context, j->ranks, RUNG_SUM, &in, 0, &out, NULL);
}

static rung_status histogram(const job *j) {
  const rung_bins bins = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = 0, .high = 2};
  int64_t bars = BINS, found[BINS];
  DLTensor in = rung_array_f32(j->in, &j->count), counts = rung_array_i64(found, &bars);
  return rung_histogram_ranks(j->context, j->ranks, &bins, &in, &counts, NULL, NULL);
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Seconds; below 0: it has failed. */
static double median(const job *j, rung_status (*call)(const job *), int calls) {
  double taken[MOST];
  for (int i = -WARM_UP; i < calls; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    if (call(j) != RUNG_OK) return -1;
    double mine = MPI_Wtime() - begun, longest;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i >= 0) taken[i] = longest;
  }
  qsort(taken, (size_t)calls, sizeof *taken, compare);
  return taken[calls / 2];
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    rung_status (*call)(const job *);
  } operations[] = {{"reduce", reduce}, {"scan", scan}, {"histogram", histogram}};
  rung_mpi mpi;
  job j = {NULL, &mpi.ranks, 0, NULL, NULL};
  MPI_Init(&argc, &argv);
  const int64_t total = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000;
  const int calls = argc > 3 ? atoi(argv[3]) : MOST;
  if (calls < 1 || calls > MOST || rung_mpi_open(&mpi, MPI_COMM_WORLD, 60) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 2);
  const int64_t first = total * mpi.ranks.rank / mpi.ranks.count;
  j.count = total * (mpi.ranks.rank + 1) / mpi.ranks.count - first;
  j.in = malloc((size_t)j.count * sizeof *j.in + 1);
  j.out = malloc((size_t)j.count * sizeof *j.out + 1);
  if (j.in == NULL || j.out == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int64_t i = 0; i < j.count; i++) j.in[i] = (float)((first + i) % 97) / 64;
  const rung_options options = {.device = argc > 1 ? argv[1] : "cpu", .threads = 1};
  rung_status status = rung_open(&j.context, &options);
  for (int k = 0; k < 3 && status == RUNG_OK; k++) {
    const double seconds = median(&j, operations[k].call, calls);
    if (seconds < 0) status = RUNG_RANKS_FAILED;
    if (seconds >= 0 && mpi.ranks.rank == 0)
      printf("%s of %lld over %d ranks: %.1f us\n", operations[k].name, (long long)total,
             mpi.ranks.count, 1e6 * seconds);
  }
  if (status != RUNG_OK) {
    fprintf(stderr, "times: %s\n", rung_last_error(j.context));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  rung_close(j.context);
  free(j.in);
  free(j.out);
  rung_mpi_close(&mpi);
  MPI_Finalize();
  return 0;
}
