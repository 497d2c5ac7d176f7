/* Launches of a bench, measured one after the other, as one record. */
#ifndef RUNG_LAB_MERGE_H
#define RUNG_LAB_MERGE_H

#include "lab/lab.h"

/* Of lines in which every job comes `launches` times, a launch each, makes lines in which it comes
 * once: every rung has the samples of all launches one behind the other, and "launches" says how
 * many each took (docs/RECORDS.md). Jobs that have launches already stay as they are; *kept is how
 * many, which come first. A rung that was not good in one of them is not good, nor is a canonical
 * one whose bits are not the same in all of them; of others they are left out.
 * *merged is to be dropped; NULL on failure: RUNG_BAD_FILE where launches are missing or have other
 * rungs, RUNG_OUT_OF_MEMORY. */
rung_status lab_merge(const json_t *lines, int launches, json_t **merged, int *kept,
                      rung_error *error);

#endif
