/* Which rung and block were the fastest for a job, measured, and kept for `auto`. */
#ifndef RUNG_LAB_TUNE_H
#define RUNG_LAB_TUNE_H

#include "lab/lab.h"

enum { LAB_TUNED = 256 }; /* of a device: as many as a context prefers */

/* What was found of one class of jobs. */
typedef struct lab_tuned {
  const rung_operation *operation;
  char job[RUNG_CLASS];   /* the class: rung_operation.class_of() */
  char label[RUNG_LABEL]; /* the job that was measured */
  const rung_row *row;    /* canonical */
  int block;              /* 0: its own choice */
  double ms, usual_ms;    /* its median; that of what `auto` takes else */
} lab_tuned;

/* Verifies and times every canonical rung of the device with its own choice of block and those that
 * it is swept with, as lab_sample() does. What `auto` takes else stays unless another is faster
 * than it by 2 % and more, the upper quartile below the other's lower one. *found: false where no
 * rung was good, or the operation has no classes. The case's expect() must have run. */
rung_status lab_tune(rung_context *context, const rung_case *test_case, const lab_rules *rules,
                     void (*progress)(void *to, double done, const char *what), void *to,
                     lab_tuned *tuned, bool *found, rung_error *error);
/* How many candidates that are. */
int lab_tune_count(const rung_operation *operation, const rung_device *device);

/* Those of a device in $XDG_CACHE_HOME/rung/tuned.json: the entries that a measurement could have
 * written, the others are passed over. How many; -1: memory ran out. */
int lab_tuned_kept(const rung_device *device, lab_tuned list[LAB_TUNED]);
/* Writes them beside those that are kept, in the place of those of the same class; of too many the
 * first go. RUNG_FILE_FAILED with a sentence. */
rung_status lab_tuned_keep(const rung_device *device, const lab_tuned *list, int count,
                           rung_error *error);
/* None are kept any more. */
rung_status lab_tuned_forget(const rung_device *device, rung_error *error);
/* The context prefers those that are kept of its device. */
void lab_tuned_apply(rung_context *context);

#endif
