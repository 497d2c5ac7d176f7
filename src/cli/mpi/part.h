/* What librung-mpi-openmpi.so and librung-mpi-mpich.so show: the ranks of MPI for the command,
 * which links none. Each is compiled by its MPI, and loaded where the environment says that its
 * mpirun has started the command. */
#ifndef RUNG_CLI_MPI_PART_H
#define RUNG_CLI_MPI_PART_H

#include <rung/ranks.h>

#define RUNG_PART_MPI "rung_part_mpi"

typedef struct rung_mpi_part {
  const char *version; /* RUNG_VERSION, and nothing else is looked at where it is another */
  /* MPI_Init() and all its ranks; NULL: `why` has a sentence. */
  const rung_ranks *(*begin)(double deadline, char why[RUNG_TEXT]);
  void (*end)(void);       /* all ranks: MPI_Finalize() */
  void (*abort)(int code); /* ends all of them; does not return */
} rung_mpi_part;

#endif
