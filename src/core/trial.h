/* Trials: how an operation lets itself be checked and timed.
 *
 * A trial is one concrete job, made from a line of text such as
 *     "n=1000 m=777 p=10 type=f32 rows=random"
 * with its inputs on the host, drawn from a seed. The lab knows trials only; it never sees an
 * operation's own types. */
#ifndef RUNG_CORE_TRIAL_H
#define RUNG_CORE_TRIAL_H

#include "core/ladder.h"

enum { RUNG_LABEL = 160 };

typedef struct rung_trial {
  const rung_operation *operation;
  char label[RUNG_LABEL]; /* the line in full, every default written out: identity in a record */
  uint64_t seed;
  rung_dtype dtype;
  void *problem;
  int inputs,
      outputs; /* arrays[0 ... inputs) are read, arrays[inputs ... inputs+outputs) written */
  rung_view arrays[RUNG_TASK_ARRAYS]; /* compact host views; inputs have data, outputs have NULL
                                         data and a shape. A view of count 0 stands for an array
                                         this job does not have. */
  const char *array_names[RUNG_TASK_ARRAYS];
  double bytes;   /* the least the job must move through memory: inputs once, outputs once */
  double flops;   /* the least arithmetic, an FMA counted as 2 */
  bool single;    /* whatever the dtype, a rung may do most of it in single precision */
  void *expected; /* the operation's own, made by expect() */
} rung_trial;

/* What comparing a result with the reference found. */
typedef struct rung_judgement {
  bool pass;
  int64_t wrong;     /* elements outside the bound (or, canonical, not the contract's bits) */
  int64_t unwritten; /* elements that still hold the poison */
  int64_t nans;      /* NaN where the reference has none */
  int64_t different; /* counts that are not the reference's and pass all the same: the order's bound
                        allows them. Of results that are counts; else 0 */
  int output;        /* index among the outputs of the first wrong element */
  int64_t first;     /* its flat index */
  double found, wanted;
  double worst; /* the largest error against the wide reference, in the operation's norm */
  double bound; /* what was allowed */
  char sentence[RUNG_SENTENCE]; /* where it passed: "", or what was let pass */
} rung_judgement;

/* Poison: every byte of every output and of the scratch is set to this before a run. In floats it
 * is a quiet NaN that no arithmetic makes of numbers, so that what was computed from memory nobody
 * wrote shows, too. */
#define RUNG_POISON_BYTE 0xFF

typedef struct rung_trials {
  /* Lines of text, ended by NULL. */
  const char *const *verify; /* small jobs that between them reach every path */
  const char *const *bench;  /* jobs worth timing, the first is the default */
  const char *const *tour;   /* a few, seconds in all on a laptop */
  /* Jobs small enough to be counted thread by thread, the first is the default. NULL: the first of
   * `verify` has to do. */
  const char *const *explain;
  /* Jobs whose blocks are worth looking at one by one, the first is the default. NULL: the first of
   * `verify` has to do. */
  const char *const *timeline;
  /* Makes a trial from a line: unknown keys and values out of range are refused by a sentence.
   * On failure *trial needs no drop(). */
  rung_status (*make)(const char *line, uint64_t seed, rung_trial *trial, rung_error *error);
  void (*drop)(rung_trial *trial);
  /* Computes the references (the wide one and the canonical one) once; kept in the trial. */
  rung_status (*expect)(rung_trial *trial, rung_error *error);
  /* Compares compact host outputs (outputs[0 ... trial->outputs)) with the references. */
  void (*judge)(const rung_trial *trial, rung_order order, const rung_view *outputs,
                rung_judgement *judgement);
} rung_trials;

#endif
