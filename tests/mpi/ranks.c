/* Sums, scans, histograms and pairs over the ranks of MPI: the bits of one call on the whole, in
 * MPI_COMM_WORLD and in a part of it; a rank that fails; a rank that never comes. Rank 1 is a
 * simulated GPU where there is one. */
#include <rung/mpi.h>

enum { TOTAL = 100003, BINS = 20, POINTS = 500 };

static float data[TOTAL], wanted[TOTAL], found[TOTAL];
static rung_context *context;
static int wrong, me;

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "rank %d: %s: %s\n", me, what, rung_last_error(context));
  wrong = 1;
}

static int64_t cut(int rank, int count) { /* the second rank has nothing */
  return rank == 2 && count > 2 ? TOTAL / count : (int64_t)TOTAL * rank / count;
}

static void compare(const rung_mpi *mpi) {
  const int rank = mpi->ranks.rank, count = mpi->ranks.count;
  const rung_bins bins = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = 0, .high = 1};
  int64_t all = TOTAL, first = cut(rank, count), length = cut(rank + 1, count) - first;
  int64_t bars = BINS, counts[2][BINS] = {{0}};
  float sums[2] = {0, 0};
  DLTensor whole = rung_array_f32(data, &all), in = rung_array_f32(data + first, &length);
  DLTensor scanned = rung_array_f32(wanted, &all), part = rung_array_f32(found + first, &length);
  DLTensor sum = rung_number_f32(&sums[0]), over = rung_number_f32(&sums[1]);
  DLTensor counted = rung_array_i64(counts[0], &bars), together = rung_array_i64(counts[1], &bars);
  check(!rung_reduce(context, RUNG_SUM, &whole, RUNG_ALL, &sum, NULL), "rung_reduce");
  check(!rung_scan(context, RUNG_SUM, &whole, 0, 1, &scanned, NULL), "rung_scan");
  check(!rung_histogram(context, &bins, &whole, &counted, NULL, NULL), "rung_histogram");
  check(!rung_reduce_ranks(context, &mpi->ranks, RUNG_SUM, &in, &over, NULL), "over ranks");
  check(!rung_scan_ranks(context, &mpi->ranks, RUNG_SUM, &in, 1, &part, NULL), "over ranks");
  check(!rung_histogram_ranks(context, &mpi->ranks, &bins, &in, &together, NULL, NULL),
        "over ranks");
  check(memcmp(&sums[0], &sums[1], sizeof sums[0]) == 0, "other sums");
  check(memcmp(wanted + first, found + first, (size_t)length * sizeof *found) == 0, "other scans");
  check(memcmp(counts[0], counts[1], sizeof counts[0]) == 0, "other counts");
}

/* Points of which every rank has as many, but the first what is left. */
static void compare_pairs(const rung_mpi *mpi) {
  const int64_t each = POINTS / mpi->ranks.count, left = POINTS - each * mpi->ranks.count;
  const int64_t first = mpi->ranks.rank == 0 ? 0 : left + each * mpi->ranks.rank;
  int64_t all[2] = {POINTS, 3}, part[2] = {mpi->ranks.rank == 0 ? left + each : each, 3};
  int64_t bars = BINS, counts[2][BINS] = {{0}};
  const rung_distances bins = {.count = BINS, .width = 0.05};
  DLTensor whole = rung_array(data, rung_type(kDLFloat, 32), 2, all);
  DLTensor mine = rung_array(data + 3 * first, rung_type(kDLFloat, 32), 2, part);
  const rung_points set = {.at = &whole}, here = {.at = &mine};
  DLTensor counted = rung_array_i64(counts[0], &bars), together = rung_array_i64(counts[1], &bars);
  check(!rung_pairs(context, &set, NULL, NULL, &bins, &counted, NULL, NULL, NULL), "rung_pairs");
  check(!rung_pairs_ranks(context, &mpi->ranks, &here, NULL, NULL, &bins, &together, NULL, NULL,
                          NULL),
        "over ranks");
  check(memcmp(counts[0], counts[1], sizeof counts[0]) == 0, "other pairs");
}

/* The last rank refuses its arguments: all do. */
static void refuse(const rung_mpi *mpi) {
  const int last = mpi->ranks.count - 1;
  int64_t length = 1;
  float sum = 7;
  char begins[32];
  DLTensor in = rung_array_f32(data, &length), out = rung_number_f32(&sum);
  const rung_status status = rung_reduce_ranks(context, &mpi->ranks, RUNG_SUM, &in,
                                               mpi->ranks.rank == last ? NULL : &out, NULL);
  snprintf(begins, sizeof begins, "rank %d: out is NULL", last);
  check(
      status == RUNG_BAD_ARGUMENT && strncmp(rung_last_error(context), begins, strlen(begins)) == 0,
      "a refusal");
  check(sum == 7, "an output after a refusal");
}

/* Rank 0 calls nothing until the others have given it up, however long that takes. */
static void wait_in_vain(MPI_Comm comm) {
  rung_mpi mpi;
  int64_t length = 1;
  float sum = 7;
  int done = 0;
  DLTensor in = rung_array_f32(data, &length), out = rung_number_f32(&sum);
  check(rung_mpi_open(&mpi, comm, 0.1) == MPI_SUCCESS, "rung_mpi_open");
  for (int call = 0; call < 2 && me > 0; call++) {
    const rung_status status = rung_reduce_ranks(context, &mpi.ranks, RUNG_SUM, &in, &out, NULL);
    check(status == RUNG_RANKS_FAILED && strncmp(rung_last_error(context), "rank 0", 6) == 0 &&
              strstr(rung_last_error(context), call ? "an earlier call" : "nothing has moved") &&
              sum == 7,
          "a rank that never comes");
  }
  for (int r = 1; r < mpi.ranks.count && me == 0; r++)
    MPI_Recv(&done, 1, MPI_INT, r, 0, comm, MPI_STATUS_IGNORE);
  if (me > 0) MPI_Send(&done, 1, MPI_INT, 0, 0, comm);
  if (me > 0) rung_mpi_close(&mpi);
}

int main(int argc, char **argv) {
  rung_mpi mpi;
  MPI_Comm odd;
  MPI_Init(&argc, &argv);
  check(rung_mpi_open(&mpi, MPI_COMM_WORLD, 0) == MPI_SUCCESS, "rung_mpi_open");
  me = mpi.ranks.rank;
  for (int i = 0; i < TOTAL; i++) data[i] = (float)((unsigned)i * 2654435761u >> 8) * 0x1p-24f;
  rung_options options = {.device = me == 1 ? "sim" : "cpu", .threads = 1};
  if (rung_open(&context, &options) != RUNG_OK && me == 1) { /* this build has none */
    rung_close(context);
    options.device = "cpu";
    rung_open(&context, &options);
  }
  compare(&mpi);
  compare_pairs(&mpi);
  refuse(&mpi);
  compare(&mpi); /* after which all goes on */
  rung_mpi_close(&mpi);
  /* The odd ones and the even ones, the other way round, each by themselves. */
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &odd);
  check(rung_mpi_open(&mpi, odd, 0) == MPI_SUCCESS, "rung_mpi_open");
  compare(&mpi);
  rung_mpi_close(&mpi);
  MPI_Comm_free(&odd);
  wait_in_vain(MPI_COMM_WORLD);
  rung_close(context);
  if (me == 0 && !wrong) printf("the same bits over ranks\n");
  MPI_Finalize();
  return wrong;
}
