/* The devices that do a call together: one, or those of --devices, which are ranks of this process,
 * a thread each. Ranks of mpirun have one each. */
#ifndef RUNG_CLI_TEAM_H
#define RUNG_CLI_TEAM_H

#include "cli/ranks.h"

typedef struct cli_team {
  rung_context *contexts[RUNG_DEVICES];
  int count;
  bool several;    /* --devices was given */
  double deadline; /* of its ranks */
} cli_team;

/* Whether the work is shared out: between ranks of mpirun, or devices of --devices. */
bool team_shares(const cli_common *common);

/* Opens them. On failure there is nothing to close. */
rung_status team_open(cli_team *team, const cli_common *common, rung_error *error);
void team_close(cli_team *team);

/* Which they are, once they are open. */
rung_status team_name(const cli_team *team, char text[96], rung_error *error);

/* What is called, of this rank's part of `of`; ranks NULL: of all of it. */
typedef rung_status team_call(rung_context *context, const rung_ranks *ranks, void *of,
                              rung_call *how);

/* Calls it of the one device or of all of them at once. *how is that of the first one. */
rung_status team_run(const cli_team *team, team_call *call, void *of, rung_call *how,
                     rung_error *error);

#endif
