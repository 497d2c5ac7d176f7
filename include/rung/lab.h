/* Your own kernels in Rung's laboratory: functions that `rung verify` and `rung bench` hold against
 * the same references, by the same protocol and beside the same rungs and peers as Rung's own. It
 * compiles as C11 and as C++17; docs/YOUR_KERNELS.md has a worked example.
 *
 * A shared object with a table of them,
 *
 *     RUNG_LAB_KERNELS = {
 *         {.size = sizeof(rung_lab_kernel), .operation = "reduce", .name = "mine", .launch = mine},
 *         {0}};
 *
 * made by `cc -shared -fPIC mine.c -o mine.so`, or by nvcc, joins the ladders of
 *
 *     rung verify reduce --kernels ./mine.so --rung mine
 *     rung bench reduce --kernels ./mine.so --sizes n=2^24 --peers
 *
 * Its functions run in the command's own process: load only what you would run. */
#ifndef RUNG_LAB_H
#define RUNG_LAB_H

#include <rung/rung.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One job, as a kernel gets it. All of it is borrowed, for as long as the call lasts.
 *
 * line:    the job in full, its keys with their values: "n=1000 op=sum type=f32 outer=1 inner=1
 *          data=random". `rung bench OPERATION --help` says what each means; rung_lab_number() and
 *          rung_lab_is() read it.
 * arrays:  inputs first, then outputs, in the memory of the kernel's device, row-major without
 *          gaps; strides, in elements, are always there. One that the job does not have has no
 *          elements; while a kernel is asked what it refuses or needs, data is NULL in all of them.
 *            reduce     in (outer, n), or along another axis than the last (outer, n, inner);
 *                       out (outer), or (outer, inner)
 *            scan       in, out: (lines, n), or (outer, n, inner)
 *            histogram  in (rows, n), edges or none; counts, i64 (rows, bins), and counts of what
 *                       is outside, or none
 *            matmul     a (m, k), b (k, n), what is added (m, n) or none; c (m, n). Where the line
 *                       says layout=tn, a is (k, m), of nt b is (n, k), of tt both; of a batch
 *                       all have it as a first dimension
 *            correlate  in (height, width x channels); out, of several kernels of 3 dimensions
 *            stencil    in (n, m), or none where the line says rows=own; out, row means or none
 *            pairs      a (n, 3), b or none, weights of a and of b or none, molecules likewise,
 *                       squares of the distances that bins begin at; counts, pairs outside, sums
 *                       of weights or none
 * numbers: what else the job is made of: correlate's taps, row by row, one kernel after the other;
 *          the stencil's weights, left to right, already divided. Else NULL. */
typedef struct rung_lab_job {
  size_t size;
  const char *line;
  const DLTensor *arrays;
  int inputs, outputs;
  const double *numbers;
  int number_count;
  int threads;   /* of the CPU: as many as it may use */
  int block;     /* threads per block, one of the kernel's own; 0: its choice */
  void *stream;  /* CUDA: the cudaStream_t that all work is to be queued on */
  void *scratch; /* scratch_bytes() of the device's memory, aligned to 256 bytes, of any content */
} rung_lab_job;

/* What a kernel's results are held against. */
typedef enum rung_lab_order {
  RUNG_LAB_SAME_BITS = 0,   /* the contract's order of arithmetic (docs/NUMERICS.md): bit for bit */
  RUNG_LAB_OTHER_ORDER = 1, /* another order of the same arithmetic: within the contract's bound */
  RUNG_LAB_FAST = 2         /* the bound of RUNG_MATH_FAST, of operations that have one */
} rung_lab_order;

/* size:      sizeof(rung_lab_kernel); 0 in the row that ends the table.
 * operation: "reduce", "scan", "histogram", "matmul", "correlate", "stencil" or "pairs".
 * name:      of letters, digits and '-', at most 31, and no rung's.
 * idea:      one line for those who read tables of them; NULL: none.
 * device:    "cpu" or "cuda"; NULL: "cpu".
 * types:     of the elements that it takes: "f32,f64"; NULL: all that the operation has.
 * blocks:    of CUDA: threads per block to be tried, ended by 0; NULL: it chooses for itself.
 * launch:    queues the work on job->stream; on the CPU, does it. It keeps nothing, waits for
 *            nothing and writes the outputs and the scratch alone, every element of the outputs.
 *            NULL: done; else what went wrong, text that lasts until the next call.
 * refuses:   why it cannot do a job, text likewise, or NULL. No function: it can do all that its
 *            types allow.
 * scratch_bytes: what a job needs of scratch; NULL: none. */
typedef struct rung_lab_kernel {
  size_t size;
  const char *operation, *name, *idea, *device, *types;
  rung_lab_order order;
  const int *blocks;
  const char *(*launch)(const rung_lab_job *job);
  const char *(*refuses)(const rung_lab_job *job);
  size_t (*scratch_bytes)(const rung_lab_job *job);
} rung_lab_kernel;

/* A file's table has at most so many. */
#define RUNG_LAB_MOST 16

/* Begins the definition of the table that the command looks for. */
extern RUNG_API const rung_lab_kernel rung_kernels[];
#define RUNG_LAB_KERNELS const rung_lab_kernel rung_kernels[]

/* The value of a key of the job's line, up to the next blank; NULL: the line has no such key. */
static inline const char *rung_lab_value(const rung_lab_job *job, const char *key) {
  const size_t length = strlen(key);
  const char *at = job->line;
  while (at != NULL && (strncmp(at, key, length) != 0 || at[length] != '=')) {
    at = strchr(at, ' ');
    if (at != NULL) at++;
  }
  return at != NULL ? at + length + 1 : NULL;
}

/* The same as a number; `otherwise` where there is none. */
static inline int64_t rung_lab_number(const rung_lab_job *job, const char *key, int64_t otherwise) {
  const char *value = rung_lab_value(job, key);
  char *end = NULL;
  if (value == NULL) return otherwise;
  const long long number = strtoll(value, &end, 10);
  return end != value ? (int64_t)number : otherwise;
}

/* Whether it is this word. */
static inline int rung_lab_is(const rung_lab_job *job, const char *key, const char *word) {
  const char *value = rung_lab_value(job, key);
  const size_t length = strlen(word);
  return value != NULL && strncmp(value, word, length) == 0 &&
         (value[length] == ' ' || value[length] == '\0');
}

#ifdef __cplusplus
}
#endif
#endif
