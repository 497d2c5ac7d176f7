/* What the verbs share that take an array from a file and make another: an operation's options and
 * its call are all that is left to each. */
#ifndef RUNG_CLI_ARRAY_H
#define RUNG_CLI_ARRAY_H

#include "cli/grid.h"
#include "cli/team.h"
#include "files/share.h"
#include "files/stored.h"

typedef struct array_job {
  const char *verb;
  const cli_common *common;
  share_cut cut;   /* over ranks: how it is shared out */
  file_array in;   /* over ranks this one's share */
  share_file file; /* over ranks: the whole of it */
  cli_progress progress;
  /* A file larger than memory goes through piece by piece, if the verb says so. */
  int streams;               /* how many dimensions it must have; 0: the verb needs all of it */
  bool large_result;         /* it is as large as the input, and has a file of its own */
  file_store source, result; /* open where it does */
  file_replace file_made;    /* result's */
  bool apart;                /* the call is made once, and calls array_together() itself */
  size_t spare_bytes; /* what a device of --devices but the first writes results to that all get */
  char *spare;
  const cli_team *team; /* while the call is made */
  /* Of the call, once it is done. */
  const char *rung;
  char device[96];
} array_job;

/* Refuses a place for the result before anything is read: a name that says another format, a file
 * that cannot be written, and, where results are no text, a terminal. */
rung_status array_place(const cli_common *common, bool text, rung_error *error);

/* Refuses, before any work is done, a file of -o whose format does not hold the result. */
rung_status array_fits(const cli_common *common, const DLTensor *out, rung_error *error);

/* Reads job->in, to --type where that is given. An element type not among `taken` is refused. */
rung_status array_take(array_job *job, const char *path, unsigned taken, rung_error *error);

/* Refuses an --axis that the array lacks. */
rung_status array_axis(const char *path, const file_array *in, int axis, rung_error *error);

/* One dimension of `least` numbers or more, as f64 without gaps. `what` they are is for the
 * sentence that refuses another shape. */
rung_status array_take_numbers(const char *path, const char *what, int64_t least, file_array *array,
                               rung_error *error);

/* Opens the device, makes the call as the options say, and says which rung ran. */
rung_status array_run(array_job *job, team_call *call, void *of, rung_error *error);
/* Within a call that is made once: another one, of all devices. */
rung_status array_together(const array_job *job, team_call *call, void *of, rung_call *how);

/* Where a rank gets what all get: `own` but in devices of --devices behind the first one. */
void *array_spare(const array_job *job, const rung_ranks *ranks, void *own);

/* A rank's part of an array that is here as a whole. */
typedef struct array_part {
  DLTensor tensor;
  int64_t shape[RUNG_MAX_DIMS];
  int64_t first; /* of what is cut: elements, or rows */
  bool rows;     /* those; the part has as many dimensions as the whole */
} array_part;
/* What a rank of mpirun has is its part: that is returned as it is. */
DLTensor *array_part_of(array_part *part, DLTensor *whole, share_cut cut, const rung_ranks *ranks);

/* The result: `tensor` to the file of -o, or, without one and with --json, what the verb makes of
 * it. Of print and json both are NULL where results are no text: then standard output has the file.
 */
rung_status array_say(const array_job *job, const DLTensor *tensor,
                      void (*print)(FILE *to, const void *of), json_t *(*json)(const void *of),
                      const void *of, rung_error *error);

/* array_share.c: arrays that ranks share out. */

/* As array_place(); over ranks it is a file of -o that all may write. */
rung_status array_place_share(const cli_common *common, rung_error *error);
/* Refuses a name that says another format than NPY. */
rung_status array_name_share(const char *option, const char *path, rung_error *error);

/* Whether all ranks see the same file, and what they saw `before`; NULL: they have not looked yet.
 * All bytes of the structs are compared. */
rung_status array_same(const char *path, const share_file *mine, const share_file *before,
                       rung_error *error);

/* This rank's share of the file, of which nobody has changed anything meanwhile. */
rung_status array_take_share(array_job *job, const char *path, rung_error *error);
/* Its first element, and, where rows are shared out, row; 0 where there are no ranks. */
int64_t array_first(const array_job *job);
int64_t array_first_row(const array_job *job);

/* Each rank writes `out`, the elements from `first` on of an array of that shape, to one file,
 * which rank 0 has made and is to commit. */
rung_status array_begin_share(file_replace *file, const char *name, int ndim, const int64_t *shape,
                              int64_t first, const grid *out, rung_error *error);
/* The same, to the file of -o. */
rung_status array_say_share(const array_job *job, int ndim, const int64_t *shape, int64_t first,
                            const grid *out, rung_error *error);

/* array_stored.c: arrays that stay in their files. */

/* Opens job->source, with job->in, where the file is larger than there is memory for. */
rung_status array_take_stored(array_job *job, const char *path, rung_error *error);
/* The result: in memory, or, if the input is not, in its file. */
rung_status array_make_result(array_job *job, grid *out, rung_dtype dtype, int ndim,
                              const int64_t *shape, rung_error *error);
/* Before the call: how much there is to be read and written, for the progress. */
void array_see_stored(const array_job *job);
/* After it: what became of the files. */
rung_status array_check_stored(const array_job *job, rung_error *error);
/* The result's file is put in its place. */
rung_status array_say_stored(array_job *job, rung_error *error);
void array_drop_stored(array_job *job);

/* Element `index` of a grid, with all its digits. JSON: integers beyond its own as text. */
void array_print(FILE *to, const grid *from, int64_t index);
json_t *array_json(const grid *from, int64_t index);

#endif
