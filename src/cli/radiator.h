/* rung radiator: what was asked, what was found. */
#ifndef RUNG_CLI_RADIATOR_H
#define RUNG_CLI_RADIATOR_H

#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/rows.h"
#include "cli/team.h"

typedef struct radiator_request {
  int64_t n, m, p;
  int block; /* -b; 0: not given */
  bool means, times, print, skip_cpu, skip_gpu;
  const char *preset; /* never NULL */
  rung_radiator_model model;
  rung_dtype dtype;
  char cpu_skipped[RUNG_SENTENCE], gpu_skipped[RUNG_SENTENCE]; /* why; "" where it runs */
} radiator_request;

/* One rung's run of the whole job. */
typedef struct radiator_run {
  const rung_row *row; /* NULL: did not run */
  int block;           /* 0: takes none */
  lab_stage_times stages;
  double total;    /* ms */
  bool with_means; /* the next two were measured */
  const rung_row *means_row;
  double means_ms;
  grid_difference from_cpu; /* the grid against the CPU's */
  bool compared;
} radiator_run;

typedef struct radiator_result {
  char cpu_name[96], gpu_name[96];
  int threads;
  bool simulated; /* the GPU: its times mean nothing */
  radiator_run cpu, naive, fast;
  grid cpu_grid, gpu_grid, cpu_means, gpu_means;
  grid_difference means_difference;
  bool means_compared;
  double distance; /* from the double reference; NaN: not computed */
} radiator_result;

/* Runs what is to be run and compares. */
rung_status radiator_compute(const cli_common *common, const radiator_request *request,
                             radiator_result *result, rung_error *error);
/* Over ranks: each computes its share of the grid, on its device, and writes it to the file of -o.
 */
rung_status radiator_share(const cli_common *common, const radiator_request *request,
                           rung_error *error);
void radiator_free(radiator_result *result);

/* RUNG_CHECK_FAILED where two canonical rungs did not give the same bits. */
rung_status radiator_agree(const radiator_result *result, rung_error *error);

void radiator_print(FILE *to, const radiator_request *request, const radiator_result *result);
json_t *radiator_json(const cli_common *common, const radiator_request *request,
                      const radiator_result *result);

#endif
