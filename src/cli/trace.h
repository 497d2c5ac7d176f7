/* A timeline as trace events, which Perfetto and chrome://tracing show. */
#ifndef RUNG_CLI_TRACE_H
#define RUNG_CLI_TRACE_H

#include "cli/cli.h"
#include "lab/lab.h"

/* A process a multiprocessor, a thread a place, an event a block. `per_us`: the timeline's units in
 * what is shown as a microsecond. */
rung_status trace_write(const char *path, const lab_timeline *timeline, uint64_t first,
                        double per_us, const char *title, rung_error *error);

#endif
