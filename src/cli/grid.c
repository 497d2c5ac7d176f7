#include "cli/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

static rung_status allocate(int64_t bytes, void **memory, rung_error *error) {
  if (posix_memalign(memory, ALIGNMENT, bytes > 0 ? (size_t)bytes : 1) == 0) return RUNG_OK;
  *memory = NULL;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for an array of %lld bytes",
                   (long long)bytes);
}

rung_status grid_make(grid *made, rung_dtype dtype, int ndim, const int64_t *shape,
                      rung_error *error) {
  *made = (grid){.dtype = dtype, .count = 1};
  int64_t bytes = (int64_t)rung_dtype_bytes(dtype);
  for (int i = 0; i < ndim; i++) {
    made->shape[i] = shape[i];
    if (!rung_multiply(bytes, shape[i], &bytes)) {
      *made = (grid){0};
      return rung_fail(error, RUNG_TOO_LARGE, "an array of %lld ... elements does not fit",
                       (long long)shape[i]);
    }
    made->count *= shape[i];
  }
  rung_status status = allocate(bytes, &made->memory, error);
  if (status) {
    *made = (grid){0};
    return status;
  }
  made->tensor = (DLTensor){.data = made->memory,
                            .device = {kDLCPU, 0},
                            .ndim = ndim,
                            .dtype = array_type_of(dtype),
                            .shape = made->shape};
  return RUNG_OK;
}

void grid_free(grid *grid) {
  free(grid->memory);
  memset(grid, 0, sizeof *grid);
}

void grid_flatten(grid *grid) {
  if (grid->tensor.ndim != 2) return;
  grid->shape[0] = grid->count;
  grid->tensor.ndim = 1;
}

double grid_value(const grid *grid, int64_t index) {
  if (grid->dtype == RUNG_F32) return ((const float *)grid->memory)[index];
  return ((const double *)grid->memory)[index];
}

/* ---- conversion --------------------------------------------------------------------------- */

grid_number grid_number_of(const void *memory, rung_dtype dtype, int64_t index) {
  grid_number number = {.kind = GRID_UNSIGNED};
  switch (dtype) {
    case RUNG_U8:
      number.natural = ((const uint8_t *)memory)[index];
      break;
    case RUNG_U16:
      number.natural = ((const uint16_t *)memory)[index];
      break;
    case RUNG_U32:
      number.natural = ((const uint32_t *)memory)[index];
      break;
    case RUNG_U64:
      number.natural = ((const uint64_t *)memory)[index];
      break;
    case RUNG_I32:
      number.kind = GRID_SIGNED;
      number.integer = ((const int32_t *)memory)[index];
      break;
    case RUNG_I64:
      number.kind = GRID_SIGNED;
      number.integer = ((const int64_t *)memory)[index];
      break;
    case RUNG_F32:
      number.kind = GRID_REAL;
      number.real = (double)((const float *)memory)[index];
      break;
    default:
      number.kind = GRID_REAL;
      number.real = ((const double *)memory)[index];
      break;
  }
  return number;
}

static double as_double(const grid_number *number) {
  if (number->kind == GRID_REAL) return number->real;
  return number->kind == GRID_SIGNED ? (double)number->integer : (double)number->natural;
}

/* Straight to float, for 64-bit integers through double would round twice. */
static float as_float(const grid_number *number) {
  if (number->kind == GRID_REAL) return (float)number->real;
  return number->kind == GRID_SIGNED ? (float)number->integer : (float)number->natural;
}

rung_status grid_convert(file_array *array, rung_dtype dtype, rung_error *error) {
  int64_t count = 1, bytes;
  for (int i = 0; i < array->tensor.ndim; i++) count *= array->shape[i];
  void *memory = NULL;
  rung_status status = RUNG_OK;
  if (!rung_multiply(count, (int64_t)rung_dtype_bytes(dtype), &bytes))
    status = rung_fail(error, RUNG_TOO_LARGE, "an array of %lld elements does not fit",
                       (long long)count);
  if (!status) status = allocate(bytes, &memory, error);
  if (status) return status;
  /* Element by element in memory order: the strides, in elements, stay as they are. */
  for (int64_t i = 0; i < count; i++) {
    const grid_number from = grid_number_of(array->memory, array->dtype, i);
    if (dtype == RUNG_F32)
      ((float *)memory)[i] = as_float(&from);
    else
      ((double *)memory)[i] = as_double(&from);
  }
  free(array->memory);
  array->memory = array->tensor.data = memory;
  array->dtype = dtype;
  array->tensor.dtype = array_type_of(dtype);
  return RUNG_OK;
}

/* ---- comparison --------------------------------------------------------------------------- */

grid_difference grid_compare(const grid *a, const grid *b) {
  grid_difference found = {0};
  for (int64_t i = 0; i < a->count; i++) {
    double x = grid_value(a, i), y = grid_value(b, i);
    /* -0 and +0 are equal and not the same bits. */
    bool same = isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
    if (same) continue;
    found.elements++;
    double difference = x == y ? 0 : fabs(x - y);
    if (!isnan(found.largest) && !(difference <= found.largest)) found.largest = difference;
  }
  return found;
}

double grid_distance(const grid *a, const grid *reference) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < a->count; i++) {
    double x = grid_value(a, i), y = grid_value(reference, i), error = fabs(x - y);
    if (isnan(x) && isnan(y)) continue;
    if (!isnan(worst) && !(error <= worst)) worst = error;
    if (fabs(y) > largest) largest = fabs(y);
  }
  return largest > 0 ? worst / largest : worst;
}
