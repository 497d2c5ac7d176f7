/* NumPy's arrays: (n, 3), or (frames, n, 3) with a frame each; f32 or f64. Read whole. */
#include <math.h>

#include "files/points_format.h"

static rung_status check(points *file, rung_error *error) {
  const DLTensor *tensor = &file->array.tensor;
  const int n = tensor->ndim;
  if (file->how.weights) return points_refuse_weights(file, error);
  if (!(RUNG_TYPE(file->array.dtype) & RUNG_SINGLE_DOUBLE))
    return rung_fail(error, RUNG_BAD_FILE, "%s: holds %s; expected: f32 or f64", file->name,
                     rung_dtype_name(file->array.dtype));
  if (n == 3 && tensor->shape[2] == 3 && tensor->shape[0] > 0 && tensor->shape[1] == 0)
    return rung_fail(error, RUNG_BAD_FILE, "%s: has %lld frames of no points; expected: points",
                     file->name, (long long)tensor->shape[0]);
  if ((n == 2 || n == 3) && tensor->shape[n - 1] == 3) return RUNG_OK;
  return rung_fail(
      error, RUNG_BAD_FILE,
      "%s: is of %d dimensions, the last of %lld; expected: a shape of (n, 3) or (frames, n, 3)",
      file->name, n, n > 0 ? (long long)tensor->shape[n - 1] : 0LL);
}

rung_status points_read_npy(points *file, bool *more, rung_error *error) {
  static const char axes[] = "xyz";
  const file_array *array = &file->array;
  rung_status status = check(file, error);
  if (status) return status;
  const bool many = array->tensor.ndim == 3;
  const int64_t frame = file->now.number - 1, frames = many ? array->shape[0] : 1;
  *more = frame < frames;
  if (!*more) return RUNG_OK;
  const int64_t count = array->shape[many], *strides = array->strides + many;
  const int64_t base = many ? frame * array->strides[0] : 0;
  points_begin(file, 0);
  for (int64_t i = 0; !status && i < count; i++) {
    points_point point = {0};
    for (int axis = 0; axis < 3; axis++) {
      point.at[axis] =
          rung_number_at(array->dtype, array->memory, base + i * strides[0] + axis * strides[1]);
      if (!isfinite(point.at[axis]))
        return rung_fail(
            error, RUNG_BAD_FILE, "%s: frame %lld: point %lld: %c is %g; expected: a finite number",
            file->name, (long long)frame + 1, (long long)i + 1, axes[axis], point.at[axis]);
    }
    status = points_push(file, &point, error);
  }
  return status;
}
