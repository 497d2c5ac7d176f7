/* What old reports measured, built in: the files of docs/history that name a job. */
#ifndef RUNG_CLI_HISTORY_H
#define RUNG_CLI_HISTORY_H

#include "lab/read.h"

enum { HISTORY_COLUMNS = 8, HISTORY_ROWS = 40, HISTORY_NAME = 32 };

typedef struct history {
  char caption[256], operation[HISTORY_NAME];
  char job[256]; /* a record's label, with names of columns in braces */
  char columns[HISTORY_COLUMNS][HISTORY_NAME];
  int count, keys; /* columns; the first `keys` of them say which job, the others are rungs */
  int rows;
  bool named; /* the first column holds names, as of types, not sizes */
  char names[HISTORY_ROWS][HISTORY_NAME];
  double at[HISTORY_ROWS][HISTORY_COLUMNS]; /* milliseconds of rungs; NaN: not known */
} history;

/* The first is 0; false: there are no more. */
bool history_of(int number, history *of);

/* The case of a row on a device that is called as that of `like`: the one with most of the row's
 * rungs, of several such the newest; NULL: none was measured. */
const lab_read_case *history_case(const history *of, int row, const lab_records *records,
                                  const lab_read_case *like);
/* The time of a column's rung in a case, at the row's block where there is one; NaN: none. */
double history_time(const history *of, int row, int column, const lab_read_case *in);

#endif
