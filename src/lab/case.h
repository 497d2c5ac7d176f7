/* Cases: how an operation lets itself be checked and timed.
 *
 * A case is one concrete job, made from a line of text such as
 *     "n=1000 m=777 p=10 type=f32 rows=random"
 * with its inputs on the host, drawn from a seed. The lab knows cases only; it never sees an
 * operation's own types. */
#ifndef RUNG_LAB_CASE_H
#define RUNG_LAB_CASE_H

#include "core/ladder.h"
#include "lab/keys.h"

enum { RUNG_LABEL = 160 };

#define LAB_UNFILLED UINT64_MAX

typedef struct rung_cases rung_cases;

typedef struct rung_case {
  const rung_operation *operation;
  const rung_cases *cases;
  char label[RUNG_LABEL]; /* the line in full, every default written out: identity in a record */
  uint64_t seed;
  rung_types types;
  void *problem;
  int inputs,
      outputs; /* arrays[0 ... inputs) are read, arrays[inputs ... inputs+outputs) written */
  rung_view arrays[RUNG_TASK_ARRAYS]; /* compact host views; inputs have data, outputs have NULL
                                         data and a shape. A view of count 0 stands for an array
                                         this job does not have. */
  const char *array_names[RUNG_TASK_ARRAYS];
  const double *numbers; /* what else a kernel of a user's own is to know, as rung/lab.h has it;
                            borrowed from the problem. NULL: nothing */
  int number_count;
  double bytes;   /* the least the job must move through memory: inputs once, outputs once */
  double flops;   /* the least arithmetic, an FMA counted as 2 */
  bool matrix;    /* it makes products of matrices, which some devices have units for */
  bool single;    /* whatever the dtype, a rung may do most of it in single precision */
  void *expected; /* the operation's own, made by expect() */
} rung_case;

/* What comparing a result with the reference found. */
typedef struct rung_comparison {
  bool pass;
  int64_t wrong;     /* elements outside the bound (or, canonical, not the contract's bits) */
  int64_t unwritten; /* elements that still hold the poison */
  int64_t nans;      /* NaN where the reference has none */
  int64_t different; /* counts, or elements of products, that are not the contract's and pass all
                        the same: the order's bound allows them. Of other results 0 */
  int output;        /* index among the outputs of the first wrong element */
  int64_t first;     /* its flat index */
  double found, wanted;
  double worst; /* the largest error against the wide reference, in the operation's norm */
  double bound; /* what was allowed */
  char sentence[RUNG_SENTENCE]; /* where it passed: "", or what was let pass */
} rung_comparison;

/* Poison: every byte of every output and of the scratch is set to this before a run. In floats it
 * is a quiet NaN that no arithmetic makes of numbers, so that what was computed from memory nobody
 * wrote shows, too. */
#define RUNG_POISON_BYTE 0xFF

struct rung_cases {
  const char *operation; /* its name */
  const rung_key *keys;  /* of a line of text; NULL: not told */
  /* Lines of text, ended by NULL. */
  const char *const *verify; /* small jobs that between them reach every path */
  /* More of these that a simulated GPU takes a second or more for: there `rung verify` tries them
   * by the rung that `auto` takes and those of fast math alone, unless rungs were named. NULL:
   * none. */
  const char *const *heavy;
  const char *const *bench; /* jobs worth timing, the first is the default */
  const char *const *tour;  /* a few, seconds in all on a laptop */
  /* Jobs small enough to be counted thread by thread, the first is the default. NULL: the first of
   * `verify` has to do. */
  const char *const *explain;
  /* Jobs whose blocks are small enough to be drawn step by step: the first that a rung supports is
   * its default. NULL: the first of `verify` has to do. */
  const char *const *picture;
  /* Jobs whose blocks are worth looking at one by one, the first is the default. NULL: the first of
   * `verify` has to do. */
  const char *const *timeline;
  /* Makes a case from a line: unknown keys and values out of range are refused by a sentence.
   * On failure *case needs no drop(). Seed LAB_UNFILLED: who asks for the shapes alone; where
   * `unfilled`, inputs are left as they come, so that it takes no time. */
  rung_status (*make)(const char *line, uint64_t seed, rung_case *test_case, rung_error *error);
  bool unfilled;
  void (*drop)(rung_case *test_case);
  /* Computes the references (the wide one and the canonical one) once; kept in the case. */
  rung_status (*expect)(rung_case *test_case, rung_error *error);
  /* Compares compact host outputs of a rung (outputs[0 ... case->outputs)) with the references. */
  void (*check)(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                rung_comparison *comparison);
};

/* The cases of every operation of the library, in the order of rung_operations[], ended by NULL. */
extern const rung_cases *const rung_all_cases[];

/* NULL: an operation that is not the library's own. */
const rung_cases *rung_cases_of(const rung_operation *operation);

/* Line `index` of those that `verify` and `heavy` have between them, in this order; NULL: no more.
 * *heavy (may be NULL): whether it is of the latter. */
const char *rung_cases_line(const rung_cases *cases, int index, bool *heavy);

#endif
