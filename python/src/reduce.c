/* rung.sum, min, max, mean; rung.cumsum, cummin, cummax. */
#include "binding.h"

/* ---- reductions ------------------------------------------------------------------------------ */

static const char *const reduce_names[] = {"x", "axis", "keepdims", "out", OPTIONS, NULL};
enum { X, AXIS, KEEPDIMS, OUT, REDUCE_VALUES };

static DLDataType result_type(rung_reduction what, DLDataType in) {
  if (what == RUNG_MIN || what == RUNG_MAX || in.code == kDLFloat || in.code == kDLBfloat)
    return in;
  if (what == RUNG_MEAN) return rung_type(kDLFloat, 64);
  return rung_type(in.code, 64);
}

/* The axis from 0 on, or RUNG_ALL. */
static bool read_axis(PyObject *value, int ndim, int fallback, int *axis) {
  int64_t at;
  *axis = fallback;
  if (!is_given(value)) return true;
  if (!read_long("axis", value, 0, &at)) return false;
  if (at < -ndim || at >= ndim) {
    PyErr_Format(PyExc_ValueError, "axis is %lld; expected: %d ... %d", (long long)at, -ndim,
                 ndim - 1);
    return false;
  }
  *axis = (int)(at < 0 ? at + ndim : at);
  return true;
}

/* Is the result one number, of a library that has a type for it (or of none, which gets Python's)?
 * Then it is computed into this thread's stack. */
static bool is_scalar(const array *x, DLDataType type, PyObject *out, bool keep, bool whole) {
  const library *of = x->library;
  return whole && !keep && !is_given(out) && !on_cuda(&x->tensor) && type.code != kDLBfloat &&
         !(type.code == kDLFloat && type.bits == 16) &&
         (of->scalars[element_of(type)] != NULL || (of->empty == NULL && of->adopt == NULL));
}

static PyObject *scalar(call *made, rung_reduction what, int axis, DLDataType type) {
  const array *x = &made->arrays[0];
  union {
    double f64;
    uint64_t u64;
  } value = {0};
  rung_status status;
  DLTensor one = rung_array(&value, type, 0, NULL);
  CALL(made, status, rung_reduce(made->lent.context, what, &x->tensor, axis, &one, &made->how));
  if (!call_settle(made, status)) return NULL;
  PyObject *number = number_of(&value, type);
  PyObject *const kind = x->library->scalars[element_of(type)];
  if (number != NULL && kind != NULL) {
    PyObject *const plain = number;
    number = PyObject_CallFunctionObjArgs(kind, plain, NULL);
    Py_DECREF(plain);
  }
  call_release(made);
  return number;
}

/* The shape of the result, with extents of 1 where dimensions are kept. */
static int result_shape(const array *x, int axis, bool keep, int64_t *shape) {
  int ndim = 0;
  for (int i = 0; i < x->tensor.ndim; i++) {
    const bool gone = axis == RUNG_ALL || i == axis;
    if (!gone || keep) shape[ndim++] = gone ? 1 : x->shape[i];
  }
  return ndim;
}

/* librung's result has no extents of 1. false: `out` has other extents. */
static bool drop_kept(const array *x, array *result, int axis) {
  if (result->tensor.ndim != x->tensor.ndim) {
    PyErr_Format(PyExc_ValueError, "out has %d dimensions; expected: %d, for keepdims is True",
                 result->tensor.ndim, x->tensor.ndim);
    return false;
  }
  for (int i = x->tensor.ndim - 1; i >= 0; i--) {
    if (axis != RUNG_ALL && i != axis) continue;
    if (result->shape[i] != 1) {
      PyErr_Format(PyExc_ValueError, "out has %lld elements along axis %d; expected: 1",
                   (long long)result->shape[i], i);
      return false;
    }
    view_drop(result, i);
  }
  return true;
}

static PyObject *reduce(const signature *takes, rung_reduction what, PyObject *const *given,
                        Py_ssize_t count, PyObject *keywords) {
  call made;
  PyObject *values[REDUCE_VALUES];
  bool keep;
  int axis;
  rung_status status;
  if (!call_begin(&made, takes, given, count, keywords, values)) return NULL;
  const array *x = call_array(&made, "x", values[X], false);
  if (x == NULL || !read_axis(values[AXIS], x->tensor.ndim, RUNG_ALL, &axis) ||
      !read_flag(values[KEEPDIMS], false, &keep))
    return call_fail(&made);
  const DLDataType type = result_type(what, x->tensor.dtype);
  const bool whole = axis == RUNG_ALL || x->tensor.ndim == 1;
  if (is_scalar(x, type, values[OUT], keep, whole)) return scalar(&made, what, axis, type);
  int64_t shape[DIMENSIONS];
  const int ndim = result_shape(x, axis, keep, shape);
  array *result = call_result(&made, values[OUT], ndim, shape, type);
  if (result == NULL || (keep && !drop_kept(x, result, axis))) return call_fail(&made);
  CALL(&made, status,
       rung_reduce(made.lent.context, what, &x->tensor, axis, &result->tensor, &made.how));
  return call_end(&made, status, result);
}

#define REDUCTION(name, what)                                                 \
  FUNCTION(py_##name) {                                                       \
    static const signature takes = {"rung." #name, OUT + 1, 1, reduce_names}; \
    (void)module;                                                             \
    return reduce(&takes, what, given, count, keywords);                      \
  }
REDUCTION(sum, RUNG_SUM)
REDUCTION(min, RUNG_MIN)
REDUCTION(max, RUNG_MAX)
REDUCTION(mean, RUNG_MEAN)

/* ---- scans ----------------------------------------------------------------------------------- */

static const char *const scan_names[] = {"x", "axis", "exclusive", "out", OPTIONS, NULL};
enum { SCAN_X, SCAN_AXIS, SCAN_EXCLUSIVE, SCAN_OUT, SCAN_VALUES };

static PyObject *scan(const signature *takes, rung_reduction what, PyObject *const *given,
                      Py_ssize_t count, PyObject *keywords) {
  call made;
  PyObject *values[SCAN_VALUES];
  bool exclusive;
  int axis;
  rung_status status;
  if (!call_begin(&made, takes, given, count, keywords, values)) return NULL;
  array *x = call_array(&made, "x", values[SCAN_X], false);
  if (x == NULL || !read_axis(values[SCAN_AXIS], x->tensor.ndim, x->tensor.ndim - 1, &axis) ||
      !read_flag(values[SCAN_EXCLUSIVE], false, &exclusive))
    return call_fail(&made);
  array *result = call_result_as(&made, values[SCAN_OUT], x);
  if (result == NULL) return call_fail(&made);
  CALL(&made, status,
       rung_scan(made.lent.context, what, &x->tensor, axis, exclusive, &result->tensor, &made.how));
  return call_end(&made, status, result);
}

#define SCAN(name, what)                                                         \
  FUNCTION(py_##name) {                                                          \
    static const signature takes = {"rung." #name, SCAN_OUT + 1, 1, scan_names}; \
    (void)module;                                                                \
    return scan(&takes, what, given, count, keywords);                           \
  }
SCAN(cumsum, RUNG_SUM)
SCAN(cummin, RUNG_MIN)
SCAN(cummax, RUNG_MAX)
