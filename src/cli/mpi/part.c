#include "cli/mpi/part.h"

#include <rung/mpi.h>

static rung_mpi all;

static const rung_ranks *begin(double deadline, char why[RUNG_TEXT]) {
  if (rung_mpi_say(MPI_Init(NULL, NULL), why)) return NULL;
  if (rung_mpi_say(rung_mpi_open(&all, MPI_COMM_WORLD, deadline), why)) return NULL;
  return &all.ranks;
}

static void end(void) {
  rung_mpi_close(&all);
  MPI_Finalize();
}

static void finish(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
}

extern const rung_mpi_part rung_part_mpi;
__attribute__((visibility("default"))) const rung_mpi_part rung_part_mpi = {
    .version = RUNG_VERSION, .begin = begin, .end = end, .abort = finish};
