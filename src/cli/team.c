#include "cli/team.h"

#include "lab/tune.h"

bool team_shares(const cli_common *common) {
  return ranks_all() || common->devices;
}

rung_status team_open(cli_team *team, const cli_common *common, rung_error *error) {
  const rung_options options = {.threads = common->threads, .stream = RUNG_OWN_STREAM};
  *team = (cli_team){.several = common->devices != NULL};
  if (team->several && ranks_deadline(&team->deadline, error)) return error->status;
  if (!team->several) {
    const rung_status status = cli_open(common, common->device, &team->contexts[0], error);
    team->count = !status;
    return status;
  }
  const rung_status status =
      rung_open_devices(team->contexts, &team->count, common->devices, &options);
  if (status) {
    cli_carry(team->contexts[0], status, error);
    team_close(team);
  }
  for (int i = 0; i < team->count; i++) lab_tuned_apply(team->contexts[i]);
  return status;
}

void team_close(cli_team *team) {
  for (int i = 0; i < team->count; i++) rung_close(team->contexts[i]);
  *team = (cli_team){0};
}

rung_status team_name(const cli_team *team, char text[96], rung_error *error) {
  rung_device_info device = {.size = sizeof device};
  const rung_status status =
      cli_carry(team->contexts[0], rung_opened(team->contexts[0], &device), error);
  if (team->several)
    snprintf(text, 96, "%d device%s, the first %.60s", team->count, team->count == 1 ? "" : "s",
             device.name);
  else
    snprintf(text, 96, "%s", device.name);
  return status;
}

typedef struct work {
  team_call *call;
  void *of;
  const rung_call asked;
  rung_call *how; /* the caller's, which the first rank alone looks at and writes */
} work;

static rung_status work_of_rank(rung_context *context, const rung_ranks *ranks, void *user) {
  const work *w = user;
  rung_call how = w->asked;
  return w->call(context, ranks, w->of, ranks->rank == 0 ? w->how : &how);
}

rung_status team_run(const cli_team *team, team_call *call, void *of, rung_call *how,
                     rung_error *error) {
  rung_context *first = team->contexts[0];
  if (!team->several) return cli_carry(first, call(first, ranks_all(), of, how), error);
  work w = {call, of, *how, how};
  return cli_carry(
      first, rung_run_ranks(team->contexts, team->count, team->deadline, work_of_rank, &w), error);
}
