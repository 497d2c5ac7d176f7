/* rung.matmul. */
#include "binding.h"

#include <limits.h>

static const char *const names[] = {"a", "b", "out", "alpha", "beta", "bits", OPTIONS, NULL};
enum { A, B, OUT, ALPHA, BETA, BITS, VALUES };
static const signature takes = {"rung.matmul", OUT + 1, 2, names};

static int largest(int a, int b) {
  return a > b ? a : b;
}

/* The batch's extents: those of the operand that has more than one matrix there. */
static int result_shape(const array *a, const array *b, int64_t *shape) {
  const int ndim = largest(a->tensor.ndim, b->tensor.ndim);
  for (int i = 0; i < ndim - 2; i++) {
    const int at_a = i - (ndim - a->tensor.ndim), at_b = i - (ndim - b->tensor.ndim);
    const int64_t of_a = at_a < 0 ? 1 : a->shape[at_a], of_b = at_b < 0 ? 1 : b->shape[at_b];
    shape[i] = of_a == 1 ? of_b : of_a;
  }
  shape[ndim - 2] = a->shape[a->tensor.ndim - 2];
  shape[ndim - 1] = b->shape[b->tensor.ndim - 1];
  return ndim;
}

/* Of vectors, as numpy.matmul() has them: the result lacks their dimension of 1. */
static int without(int64_t *shape, int ndim, bool row, bool column) {
  if (row && column) return ndim - 2;
  if (row) shape[ndim - 2] = shape[ndim - 1];
  return ndim - (row || column);
}

static bool read_bits(PyObject *value, int *bits) {
  int64_t number;
  if (!read_long("bits", value, 0, &number)) return false;
  *bits = (int)number;
  if (number >= INT_MIN && number <= INT_MAX) return true;
  PyErr_Format(PyExc_ValueError, "bits is %R; expected: 8 ... 31", value);
  return false;
}

FUNCTION(py_matmul) {
  call made;
  PyObject *values[VALUES];
  double alpha, beta;
  rung_status status;
  (void)module;
  if (!call_begin(&made, &takes, given, count, keywords, values)) return NULL;
  array *a = call_array(&made, "a", values[A], false);
  array *b = a != NULL ? call_array(&made, "b", values[B], false) : NULL;
  if (b == NULL || !read_double("alpha", values[ALPHA], 1, &alpha) ||
      !read_double("beta", values[BETA], 0, &beta) || !read_bits(values[BITS], &made.how.bits))
    return call_fail(&made);
  if (a->tensor.ndim == 0 || b->tensor.ndim == 0) {
    PyErr_Format(PyExc_ValueError, "%s has no dimensions; expected: 1 ... %d",
                 a->tensor.ndim == 0 ? "a" : "b", DIMENSIONS);
    return call_fail(&made);
  }
  const bool row = a->tensor.ndim == 1, column = b->tensor.ndim == 1;
  if (row) view_add(a, 0);
  if (column) view_add(b, 1);
  int64_t shape[DIMENSIONS];
  const int ndim = without(shape, result_shape(a, b, shape), row, column);
  const DLDataType type = a->tensor.dtype;
  const bool bytes = type.code == kDLInt && type.bits == 8;
  if (beta != 0 && !is_given(values[OUT])) {
    PyErr_SetString(PyExc_ValueError, "beta is not 0, and there is no out; expected: both");
    return call_fail(&made);
  }
  array *c = call_result(&made, values[OUT], ndim, shape, bytes ? rung_type(kDLInt, 32) : type);
  if (c == NULL) return call_fail(&made);
  if (c->tensor.ndim != ndim) {
    PyErr_Format(PyExc_ValueError, "out has %d dimensions; expected: %d", c->tensor.ndim, ndim);
    return call_fail(&made);
  }
  if (row) view_add(c, column ? ndim : ndim - 1);
  if (column) view_add(c, c->tensor.ndim);
  CALL(&made, status,
       rung_matmul(made.lent.context, alpha, &a->tensor, &b->tensor, beta, &c->tensor, &made.how));
  return call_end(&made, status, c);
}
