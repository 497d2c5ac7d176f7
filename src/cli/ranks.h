/* The command over ranks: mpirun starts it several times, and they do one verb together. Each has a
 * part of the array and of the output; rank 0 speaks. A process that mpirun has not started, or
 * alone, is no rank, and all of this is nothing.
 *
 * Ranks wait for each other in calls of rung/ranks.h, in ranks_agree() and in ranks_gather(); all
 * make these in the same order. What may fail in some of them only is agreed on before the next. */
#ifndef RUNG_CLI_RANKS_H
#define RUNG_CLI_RANKS_H

#include <rung/ranks.h>

#include "cli/cli.h"

enum { RANKS_ROOM = 4608 }; /* what a rank may say at once */

/* Before a verb: finds the others. `together`: the verb knows ranks. False: the verb is not to run,
 * and *code is its exit code. */
bool ranks_begin(const char *verb, bool together, int *code);
/* After it. */
void ranks_end(void);

/* NULL: there are none. */
const rung_ranks *ranks_all(void);
int ranks_number(void); /* this one's; 0 where there are none */

/* All come to the same: RUNG_OK, or the failure of the first rank that failed, in *error, with
 * "rank 2: " before it if it is not that of all. After a failure all ranks know it, and no call
 * waits for others any more. */
rung_status ranks_agree(rung_error *error);

/* What every rank has, `bytes` each, one after another, until the next call of these, once all
 * agree; NULL: *error says why. */
const void *ranks_gather(const void *mine, size_t bytes, rung_error *error);

/* Seconds that ranks wait where nothing moves: RUNG_RANKS_DEADLINE of the environment, or 600. */
rung_status ranks_deadline(double *seconds, rung_error *error);

/* Whether this rank is to say a failure: rank 0, and all where they may not hear of each other. */
bool ranks_speaks(rung_status status);

/* Where a rank is not heard of any more the others do not wait for it. */
void ranks_give_up(rung_status status, int code);

#endif
