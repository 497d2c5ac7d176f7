/* What every operation's entry point does once the arguments are validated: make one plan of the
 * call, from shapes alone, and execute it.
 *
 * Rungs take arrays in the device's own memory whose last dimension, where there are two, is
 * contiguous. Arrays with other strides are packed into scratch and unpacked, but for inputs of
 * rungs that gather (rung_row.gathers); host arrays given to a GPU context are staged through its
 * memory (core/transfer.h). So that no call takes more memory
 * than keeps the device busy, or than there is, or than RUNG_MEMORY_LIMIT allows, a job is cut into
 * pieces, one launch each. An operation says how: */
#ifndef RUNG_CORE_PLAN_H
#define RUNG_CORE_PLAN_H

#include "core/context.h"
#include "core/ladder.h"

enum { RUNG_AXES = RUNG_MAX_DIMS };

/* An axis along which a job may be cut into ranges. What it counts is the operation's matter: rows,
 * elements, points. */
typedef struct rung_axis {
  int64_t extent;
  /* Ranges begin at multiples of it. One that is longer holds whole granules only: what is left at
   * the end is a range of its own. */
  int64_t granule;
  /* 0; or ranges are granule * radix^k long, the last one perhaps shorter. */
  int64_t radix;
  /* Its ranges make one result together, by way of take() and finish(); else every range has its
   * own. */
  bool combined;
  /* Cut only where memory is short: in pieces the job is more work. */
  bool dear;
} rung_axis;

typedef enum rung_stage {
  RUNG_WHOLE, /* all along every combined axis: writes the outputs */
  RUNG_PARTS, /* ranges of the combined axes: what take() takes */
  RUNG_AGAIN  /* the same ranges once more, after finish(): write the outputs */
} rung_stage;

/* One launch's share of a job: a range of every axis. */
typedef struct rung_piece {
  rung_stage stage;
  int64_t first[RUNG_AXES], count[RUNG_AXES];
} rung_piece;

/* What a piece is to a rung: as share() finds it, the whole job's. */
typedef struct rung_share {
  union {
    char bytes[RUNG_PROBLEM_BYTES];
    double aligned;
  } problem;
  /* Views of the caller's memory in the shapes that rungs take; those of inputs may overlap their
   * neighbours' (a halo). In RUNG_PARTS outputs are results of the part: compact, in memory that
   * the plan finds, of any shape and dtype; data is not looked at. Count 0: not given. */
  rung_view arrays[RUNG_TASK_ARRAYS];
  /* -1; or of an input: the elements from this one on, in row-major order, of the job's own array,
   * which need not be a view. The rung sees them without gaps, in the shape above. */
  int64_t flat[RUNG_TASK_ARRAYS];
} rung_share;

/* How an operation's jobs are cut and put together again. Static; all functions are pure but for
 * what they write. Results of parts are self-contained: whoever computed them, on whatever device,
 * take() puts them into one state in any order, and finish() has the bits of the whole. */
typedef struct rung_cut {
  /* Makes *share that of the piece. False: there is nothing to do for it. `state`: in RUNG_AGAIN
   * what finish() left, else NULL. */
  bool (*share)(const rung_piece *piece, const void *state, rung_share *share);
  /* The rest: NULL where no axis is combined. */
  /* Bytes of host memory for all parts of a block: of the piece's ranges of the axes that are not
   * combined. At first they are zero, or so many of the last ones: to clear what is written anyway
   * may take as long as a message. */
  size_t (*state_bytes)(const void *problem, const rung_piece *piece);
  size_t (*state_zeros)(const void *problem, const rung_piece *piece); /* NULL: all */
  /* The results of a part, compact in host memory, by the number of the array. False: no part of
   * the job begins there or has so many; nothing is written. The range is within the job. */
  bool (*take)(const void *problem, const rung_piece *piece, const rung_view *results, void *state);
  /* Writes the block's outputs, compact in host memory, by the number of the array; where `again`
   * none are given. */
  void (*finish)(const void *problem, const rung_piece *piece, void *state,
                 const rung_view *outputs);
  bool again;
} rung_cut;

/* A part of a job whose other parts are somebody else's (core/over.c): a stretch of its one axis of
 * more than one range, the last, which is combined. */
typedef struct rung_stretch {
  rung_stage stage;     /* RUNG_PARTS or RUNG_AGAIN */
  int64_t first, count; /* of the job's own arrays; begins where a range may */
  int64_t range;        /* RUNG_PARTS: written, how long its ranges were; RUNG_AGAIN: the same */
  void *state;          /* RUNG_AGAIN: what finish() left */
  /* RUNG_PARTS: gets the results of every range, in place of the job's take() */
  rung_status (*take)(void *to, const rung_piece *piece, const rung_view *results);
  void *to;
} rung_stretch;

typedef struct rung_job {
  const rung_operation *operation;
  rung_task task; /* problem, arrays as the caller gave them (count 0: not given); the rest is set
                     by rung_run() */
  size_t problem_bytes; /* of the operation's struct, at most RUNG_PROBLEM_BYTES */
  rung_types types;
  int inputs, arrays;       /* arrays[0 ... inputs) are read, arrays[inputs ... arrays) written */
  const char *const *names; /* of the arrays, for sentences */
  unsigned compact; /* a bit for every array that rungs take without gaps and in row-major order
                       only, whatever its number of dimensions */
  const rung_cut *cut;
  int axes; /* in the order in which they are cut, combined ones last and those all at once. No
               elements along one that is not combined: nothing is done. */
  rung_axis axis[RUNG_AXES];
  rung_stretch *stretch; /* NULL: all of it */
  bool reserve;          /* nothing is run: only the memory is found that it takes */
  bool elsewhere; /* the problem points to memory outside it, on which the choice of a rung may
                     depend: that is made anew in every call */
} rung_job;

#ifdef __cplusplus
extern "C" {
#endif

/* Refuses arrays the context cannot reach, a rung that cannot do the job, and a limit of memory
 * that is too low, before anything is written; then runs it. Host arrays on a GPU context: returns
 * when the results are there. */
rung_status rung_run(rung_context *context, rung_job *job, rung_call *call);

/* Runs a job between rung_call_begin() and rung_call_end(). */
rung_status rung_run_job(rung_context *context, rung_job *job, const rung_call *known,
                         const char **used);

/* Runs a stretch of a job, likewise. */
rung_status rung_run_stretch(rung_context *context, const rung_job *job, const rung_call *known,
                             rung_stretch *stretch, const char **used);

/* Refuses arrays the context cannot reach. */
rung_status rung_run_reaches(rung_context *context, const rung_job *job);

/* From compact host memory to an array, wherever it is. The scratch may be another one after it. */
rung_status rung_deliver(rung_context *context, const rung_view *to, const rung_view *from);

/* ---- between plan.c, which makes a plan, and run.c, which executes it --------------------------
 */

/* How one array of a piece reaches the rung. */
typedef enum rung_way {
  RUNG_DIRECT,
  RUNG_PACKED, /* through scratch, on the device */
  RUNG_STAGED, /* from and to the host's memory */
  RUNG_RESULT  /* of a part: stays in scratch, then goes to the host */
} rung_way;

/* A piece, ready to run but for the addresses of memory. */
typedef struct rung_piece_plan {
  rung_piece piece;
  rung_share share;
  rung_task task; /* arrays that are not direct: data are offsets into the piece's scratch */
  rung_way ways[RUNG_TASK_ARRAYS];
  size_t moved; /* bytes of the arrays that are not direct */
  rung_needs needs;
} rung_piece_plan;

/* Never changed once it is made. */
typedef struct rung_plan {
  rung_context *context;
  const rung_job *job;
  const rung_row *rows[RUNG_AGAIN + 1]; /* by stage */
  int64_t count[RUNG_AXES];             /* of a range, but for the last ones of an axis */
  bool cut;      /* more than one piece; else `first` is all there is to do */
  bool combined; /* RUNG_PARTS, and RUNG_AGAIN where the job has it */
  int lanes;     /* pieces under way at once, 1 or 2: each has its part of the scratch. 2 where
                    something is copied, or read, while the rung is at the piece before */
  rung_needs needs;
  size_t moved; /* bytes of a lane */
} rung_plan;

/* `first` is the layout of the first piece. */
rung_status rung_plan_make(rung_context *context, rung_job *job, const rung_call *call,
                           rung_plan *plan, rung_piece_plan *first);

/* The range of `axis` that begins at `first`. */
int64_t rung_axis_range(const rung_axis *axis, int64_t count, int64_t first);

/* Only what the piece is: share, and the task's problem and arrays. */
bool rung_plan_share(const rung_plan *plan, const rung_piece *piece, const void *state,
                     rung_piece_plan *layout);

/* All of the layout. False: nothing is to be done for the piece. */
bool rung_plan_lay_out(const rung_plan *plan, const rung_piece *piece, const void *state,
                       rung_piece_plan *layout);

#ifdef __cplusplus
}
#endif
#endif
