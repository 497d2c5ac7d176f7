/* A timeline as a file: trace events, which Perfetto and chrome://tracing show, or a picture. */
#ifndef RUNG_CLI_TRACE_H
#define RUNG_CLI_TRACE_H

#include "cli/cli.h"
#include "lab/lab.h"

/* A process a multiprocessor, a thread a place, an event a block. `per_us`: the timeline's units in
 * what is shown as a microsecond. */
rung_status trace_write(const char *path, const lab_timeline *timeline, uint64_t first,
                        double per_us, const char *title, rung_error *error);
/* An SVG: a line a place of a multiprocessor, a bar a block. `unit` of its times: "ns", "steps".
 * `id` NULL: a file of its own; else for a page in which timeline_style stands once, with ids that
 * begin so. */
rung_status timeline_draw(FILE *to, const lab_timeline *timeline,
                          const lab_timeline_figures *figures, const char *unit, const char *title,
                          const char *id, rung_error *error);
extern const char timeline_style[];
/* Of the JSON of `rung timeline`. */
enum { TIMELINE_VERSION = 1 };
/* "1.50 us" of nanoseconds, "150 steps": timeline.c. */
const char *timeline_span(const char *unit, double span, char text[32]);

#endif
