/* The sum of an array that all ranks of MPI have parts of: the same bits for any number of ranks.
 *
 *   mpicc ranks.c $(pkg-config --cflags --libs rung) -o ranks && mpirun -n 4 ./ranks */
#include <rung/mpi.h>

int main(int argc, char **argv) {
  enum { COUNT = 100000 };
  static float data[COUNT];
  rung_context *context;
  rung_mpi mpi;
  MPI_Init(&argc, &argv);
  if (rung_mpi_open(&mpi, MPI_COMM_WORLD, 60) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);

  /* This rank's part; ranks need not have as many each. */
  const int64_t first = (int64_t)COUNT * mpi.ranks.rank / mpi.ranks.count;
  int64_t count = (int64_t)COUNT * (mpi.ranks.rank + 1) / mpi.ranks.count - first;
  for (int64_t i = 0; i < count; i++) data[i] = (float)((first + i) % 16) / 4;

  float sum = 0;
  DLTensor part = rung_array_f32(data, &count), out = rung_number_f32(&sum);
  rung_open(&context, NULL); /* where it fails, the call says so in all ranks */
  const rung_status bad = rung_reduce_ranks(context, &mpi.ranks, RUNG_SUM, &part, &out, NULL);
  if (bad) fprintf(stderr, "ranks: %s\n", rung_last_error(context));
  if (!bad && mpi.ranks.rank == 0)
    printf("the sum is %.0f, over %d ranks\n", (double)sum, mpi.ranks.count);

  rung_close(context);
  if (bad == RUNG_RANKS_FAILED) MPI_Abort(MPI_COMM_WORLD, 1); /* others may be gone */
  rung_mpi_close(&mpi);
  MPI_Finalize();
  return bad != RUNG_OK;
}
