/* Two records, or the launches of two commands, row by row. */
#ifndef RUNG_CLI_COMPARE_H
#define RUNG_CLI_COMPARE_H

#include "cli/cli.h"
#include "lab/interval.h"
#include "lab/read.h"

/* A rung of a job at a block size that both have. */
typedef struct compare_row {
  const lab_read_case *of, *b_of;
  const lab_read_candidate *a, *b; /* of launches: the first's */
  int nth;                         /* of rows that are alike */
  const char *wrong; /* why B fails, whatever its time: other bits, a finding; NULL: it does not */
  bool identical;    /* the samples are the very same: nothing was measured twice */
  lab_judged found;
  double a_ms, b_ms;                   /* that are compared */
  int launches[2];                     /* of A's and B's records; 0: a run each */
  double clock;                        /* the logarithm of B's over A's; 0: not known */
  double *a_logs, *b_logs, *clocks[2]; /* of launches */
} compare_row;

typedef struct compare {
  lab_records records[2];
  compare_row *rows;
  int count, blocks; /* blocks 0: records, not launches */
  int only[2];       /* good rungs that the other does not have */
} compare;

/* The rows that both have; RUNG_BAD_FILE where there are none. */
rung_status compare_match(compare *c, const char *const names[2], rung_error *error);
/* Two records: from the samples of a run each. */
rung_status compare_records(compare *c, rung_error *error);
/* Two commands that print records, launched in turn. */
rung_status compare_launch(compare *c, const char *const commands[2], int blocks, uint64_t seed,
                           const cli_common *common, rung_error *error);
void compare_free(compare *c);

#endif
