/* Calls of the library made of any bytes: what the operations' files share. An operation's file
 * makes a job and calls the library with it; calls.c runs it, spoils arguments and compares. */
#ifndef RUNG_TESTS_FUZZ_CALLS_H
#define RUNG_TESTS_FUZZ_CALLS_H

#include "fuzz/fuzz.h"
#include "rung/rung.h"

enum { DIMS = 4, ARRAYS = 12, OUTPUT = 1, SMALL = 7, LARGE = 300 };

/* A tensor; what it is meant to be; and the memory that its elements lie in, with what that holds
 * before every run. */
typedef struct array {
  DLTensor tensor;
  DLDataType type;
  bool output;
  int ndim;
  int64_t shape[DIMS], strides[DIMS];
  int64_t given_shape[DIMS], given_strides[DIMS]; /* what the tensor points to: may be spoiled */
  uint8_t *memory, *before, *first;               /* first: the element with all indices 0 */
  size_t bytes;
} array;

typedef struct job {
  array arrays[ARRAYS];
  int count;
  void *of; /* the operation's own, malloc()ed */
} job;

typedef struct operation {
  void (*make)(fuzz_input *input, job *job);
  rung_status (*call)(rung_context *context, job *job, rung_call *how);
  void (*spoil)(fuzz_input *input, job *job); /* arguments that are no tensors */
  void (*check)(const job *job); /* what was computed, against a loop; NULL: there is none */
} operation;

/* An operation of the library without one of these is not linked. */
#define DECLARE(name) extern const operation fuzz_##name;

DLDataType fuzz_type(fuzz_input *input);
/* Extents of an array: small ones, and at times a large one. */
int fuzz_shape(fuzz_input *input, int ndim, int64_t *shape);
/* Adds an array to the job: its dimensions in any order, with gaps, backwards; an input at times
 * with a stride of 0. It has any bytes, or, of floating type where `tame`, small numbers. */
array *fuzz_array(fuzz_input *input, job *job, int output, bool tame, DLDataType type, int ndim,
                  const int64_t *shape);
/* The elements in row-major order of their indices: to be freed. */
void *fuzz_gather(const array *from);
int64_t fuzz_count(const array *of);

/* An integer's value in two's complement; any number's as a double. */
uint64_t fuzz_integer(DLDataType type, const void *elements, int64_t index);
double fuzz_number(DLDataType type, const void *elements, int64_t index);
/* Finite numbers from 0 up, each above the one before. */
void fuzz_edges(fuzz_input *input, double *edges, int64_t count);

static inline bool fuzz_floats(DLDataType type) {
  return type.code == kDLFloat || type.code == kDLBfloat;
}

#endif
