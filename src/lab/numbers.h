/* Numbers for the cases of operations that take all types: the same seed, the same numbers. */
#ifndef RUNG_LAB_NUMBERS_H
#define RUNG_LAB_NUMBERS_H

#include "core/dtype.h"
#include "core/random.h"

typedef enum rung_numbers_kind {
  RUNG_NUMBERS_RANDOM,      /* floats of both signs over eight binades, integers of any bits */
  RUNG_NUMBERS_SPECIAL,     /* NaNs, infinities, zeros of both signs, subnormals, cancellation,
                               overflow: by the line's index. Of integers the least and largest */
  RUNG_NUMBERS_EQUAL,       /* one number, another on every line */
  RUNG_NUMBERS_ALTERNATING, /* the same, its sign alternating */
  RUNG_NUMBERS_PERMUTATION  /* of 0 ... n - 1 */
} rung_numbers_kind;

/* "random" and so on, ended by NULL. */
extern const char *const rung_numbers_kinds[];

/* A line of n numbers, `stride` of them apart. */
typedef struct rung_numbers {
  rung_dtype dtype;
  char *data;
  int64_t stride, n;
} rung_numbers;

/* Fills the line of number `index`. */
void rung_numbers_fill(const rung_numbers *to, rung_numbers_kind kind, int64_t index,
                       rung_random *random);

/* From a line of the same type, length and stride. */
void rung_numbers_copy(const rung_numbers *to, const rung_numbers *from);

#endif
