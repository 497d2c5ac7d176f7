/* The table of a bench: shared by bench and tour. */
#ifndef RUNG_CLI_MEASURE_H
#define RUNG_CLI_MEASURE_H

#include "cli/cli.h"
#include "cli/rows.h"

/* The set-up's context, and the peaks with it, are of another device from here on. */
rung_status measure_open(lab_bench_set_up *set_up, const cli_common *common, const char *device,
                         cli_progress *progress, bool with_peers, rung_error *error);

/* The table: rung, block, median, [min, q3], gain over the rung below, part of the peak, clock,
 * samples, why it stopped, verdict. */
void measure_print(FILE *to, const lab_bench *result);
/* The ladder as bars: one line a rung. */
void measure_bars(FILE *to, const lab_bench *result);

#endif
