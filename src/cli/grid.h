/* Host arrays of the command's own. */
#ifndef RUNG_CLI_GRID_H
#define RUNG_CLI_GRID_H

#include "cli/cli.h"

/* A compact array; `tensor` points into this struct, which therefore must not move. */
typedef struct grid {
  DLTensor tensor;
  rung_dtype dtype;
  int64_t shape[RUNG_MAX_DIMS], count;
  void *memory; /* owned; aligned to 256 bytes */
} grid;

/* RUNG_OUT_OF_MEMORY, RUNG_TOO_LARGE; *made is then zeroed. */
rung_status grid_make(grid *made, rung_dtype dtype, int ndim, const int64_t *shape,
                      rung_error *error);
void grid_free(grid *grid);

/* One row of two dimensions becomes one dimension. */
void grid_flatten(grid *grid);

/* An element, as wide as its kind. */
typedef struct grid_number {
  enum { GRID_SIGNED, GRID_UNSIGNED, GRID_REAL } kind;
  int64_t integer;
  uint64_t natural;
  double real;
} grid_number;
grid_number grid_number_of(const void *memory, rung_dtype dtype, int64_t index);

double grid_value(const grid *grid, int64_t index); /* of f32 or f64 */

/* Replaces an array by a compact one of f32 or f64, every element converted as C does. */
rung_status grid_convert(file_array *array, rung_dtype dtype, rung_error *error);

/* How two arrays of the same type and shape differ. */
typedef struct grid_difference {
  int64_t elements; /* whose bits differ; two NaN are the same */
  double largest;   /* |a - b|; NaN where only one is a NaN */
} grid_difference;
grid_difference grid_compare(const grid *a, const grid *b);

/* The largest |a - b| over the largest |b|, whatever the types: the distance from a reference. */
double grid_distance(const grid *a, const grid *reference);

#endif
