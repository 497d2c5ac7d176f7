/* Going on with a record that is partly there. */
#ifndef RUNG_LAB_RESUME_H
#define RUNG_LAB_RESUME_H

#include "lab/read.h"

/* Reads what is whole of a record that may have been cut off at any byte; its last job counts
 * where all its rungs are there. *text, to be freed, is what was kept of the file. As
 * lab_read_file() otherwise. */
rung_status lab_resume_read(lab_records *records, const char *path, char **text, rung_error *error);

/* Refuses a record that was measured by another build, on another machine or device, or by other
 * rules than the set-up's; that caches were hot or cold is no other rule. */
rung_status lab_resume_check(const lab_records *records, const char *path,
                             const lab_bench_set_up *set_up, rung_error *error);

/* Looks for a job as it was asked for, among those that `taken` (one a job) does not mark, and
 * marks it: *found; NULL: there is none. Refuses one that was measured of other rungs, blocks or
 * peers. */
rung_status lab_resume_find(const lab_records *records, const char *path,
                            const lab_bench_set_up *set_up, const rung_operation *operation,
                            const char *line, bool *taken, const lab_read_case **found,
                            rung_error *error);

#endif
