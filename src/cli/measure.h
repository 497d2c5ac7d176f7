/* Timing a case's rungs on a device, and the table of it: shared by bench and tour. Knows
 * operations by their ladders and cases only. */
#ifndef RUNG_CLI_MEASURE_H
#define RUNG_CLI_MEASURE_H

#include "cli/cli.h"
#include "cli/rows.h"

enum { MEASURE_BLOCKS = 32, MEASURE_CANDIDATES = 512 };

/* Which rungs, at which block sizes. */
typedef struct measure_choice {
  const char *rungs;          /* "a,b": only these; NULL: all of the device's */
  int blocks[MEASURE_BLOCKS]; /* ended by 0; none: the rung's own choice */
  bool own_blocks;            /* those of the rung's row instead */
  bool strict;                /* leave loose rungs out */
  bool peers;                 /* other libraries too */
} measure_choice;

typedef struct measure {
  rung_context *context; /* borrowed */
  rung_case test_case;
  lab_candidate *candidates;
  int count;
  lab_rules rules;
  lab_roofs roofs;
  double roof_ms;
  const char *bound;
  bool made; /* the case is to be dropped */
} measure;

bool measure_chosen(const measure_choice *choice, const rung_row *row, const rung_device *device);
/* How many candidates a choice makes of an operation on a device. */
int measure_count(const measure_choice *choice, const rung_operation *operation,
                  const rung_device *device);

/* What a measurement is made with. */
typedef struct measure_set_up {
  rung_context *context;
  measure_choice choice;
  lab_rules rules;
  lab_roofs roofs;         /* found when first needed; raised where a rung beat them */
  bool roofed, remeasured; /* they were found; they were raised: once is enough */
} measure_set_up;

/* The set-up's context, and the roofs with it, are of another device from here on. */
rung_status measure_open(measure_set_up *set_up, const cli_common *common, const char *device,
                         rung_error *error);

/* Makes the case of `line`, its references and candidates, and samples them. A rung faster than
 * the roof has the roof measured again (it may have been measured on a busy machine) and the
 * sampling repeated, once. On failure too *result is to be freed. */
rung_status measure_run(measure_set_up *set_up, const rung_operation *operation, const char *line,
                        cli_progress *progress, measure *result, rung_error *error);
void measure_free(measure *result);

/* How many candidates were found wrong; those that do not support the job are not. */
int measure_failures(const measure *result);
const lab_verdict *measure_verdict(const lab_candidate *candidate);
/* The fastest good candidate that is no peer; NULL: none. */
const lab_candidate *measure_fastest(const measure *result);

/* The table: rung, block, median, [min, q3], gain over the rung below, part of the roof, clock,
 * samples, why it stopped, verdict. */
void measure_print(FILE *to, const measure *result);
/* The ladder as bars: one line a rung. */
void measure_bars(FILE *to, const measure *result);

#endif
