/* The table of a bench: shared by bench and tour. */
#ifndef RUNG_CLI_MEASURE_H
#define RUNG_CLI_MEASURE_H

#include "cli/cli.h"
#include "cli/rows.h"

/* The set-up's context, and the peaks with it, are of another device from here on. */
rung_status measure_open(lab_bench_set_up *set_up, const cli_common *common, const char *device,
                         cli_progress *progress, bool with_peers, rung_error *error);

/* The table: rung, block, median, [min, q3], gain over the rung below, GB/s and GFLOP/s of the
 * job's least work, part of the peak, clock, of launches how many and how far apart they are,
 * samples, why it stopped, verdict; and what disturbed it. */
void measure_print(FILE *to, const lab_bench *result);
/* The same as a table of Markdown. */
void measure_markdown(FILE *to, const lab_bench *result);
/* Of whole jobs (lab_rules.memory): end to end, and the medians of the stages. measure_stages.c */
void measure_stages(FILE *to, const lab_bench *result);
/* What disturbed it, in words; "" where nothing did. */
const char *measure_disturbed(const lab_bench *result, char *text, size_t room);
/* The ladder as bars: one line a rung. */
void measure_bars(FILE *to, const lab_bench *result);

/* The command, for the record, without --resume: what that goes on with is the same command. */
enum { MEASURE_COMMAND = 1024 };
void measure_command(int argc, char **argv, char command[MEASURE_COMMAND]);
/* The lines of records on standard output. */
rung_status measure_records(const json_t *lines, rung_error *error);

#endif
