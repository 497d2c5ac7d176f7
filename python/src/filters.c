/* rung.correlate and rung.convolve; rung/_filters.py says what their words mean. */
#include "binding.h"

static const char *const names[] = {"x",    "kernel",  "edge", "up",    "left", "cval",
                                    "rows", "columns", "out",  OPTIONS, NULL};
enum { X, KERNEL, EDGE, UP, LEFT, CVAL, ROWS, COLUMNS, OUT, VALUES };

static bool read_model(PyObject **values, rung_filter_model *model) {
  int64_t edge;
  if (!read_long("mode", values[EDGE], RUNG_EDGE_REFLECT, &edge) ||
      !read_long("origin", values[UP], 0, &model->origin[0]) ||
      !read_long("origin", values[LEFT], 0, &model->origin[1]) ||
      !read_double("cval", values[CVAL], 0, &model->edge_value))
    return false;
  model->edge = (rung_edge)edge;
  return true;
}

/* A slice of an extent: where it begins in *first, and the extent becomes its length. */
static bool read_slice(PyObject *value, int64_t *first, int64_t *extent) {
  Py_ssize_t from, to, step;
  if (value == NULL || value == Py_None) return true;
  if (!PySlice_Check(value)) {
    PyErr_Format(PyExc_TypeError, "region holds %R; expected: a slice", value);
    return false;
  }
  if (PySlice_Unpack(value, &from, &to, &step) != 0) return false;
  if (step != 1) {
    PyErr_Format(PyExc_ValueError, "region holds %R; expected: a slice of step 1", value);
    return false;
  }
  *extent = PySlice_AdjustIndices((Py_ssize_t)*extent, &from, &to, step);
  *first = from;
  return true;
}

typedef rung_status filtering(rung_context *context, const rung_filter_model *model,
                              const DLTensor *in, const DLTensor *kernel, DLTensor *out,
                              rung_call *call);

static PyObject *filter(const signature *takes, filtering *function, PyObject *const *given,
                        Py_ssize_t count, PyObject *keywords) {
  call made;
  PyObject *values[VALUES];
  rung_filter_model model = {0};
  rung_status status;
  if (!call_begin(&made, takes, given, count, keywords, values)) return NULL;
  array *x = call_array(&made, "x", values[X], false);
  array *kernel = x != NULL ? call_other(&made, "kernel", values[KERNEL]) : NULL;
  if (kernel == NULL || !read_model(values, &model)) return call_fail(&made);
  /* What librung refuses has a shape here too. */
  const int several = kernel->tensor.ndim == 3, ndim = x->tensor.ndim + several;
  int64_t shape[DIMENSIONS + 1] = {kernel->shape[0]};
  for (int d = 0; d < x->tensor.ndim; d++) shape[several + d] = x->shape[d];
  for (int d = 0; d < 2 && d < x->tensor.ndim; d++)
    if (!read_slice(values[d == 0 ? ROWS : COLUMNS], &model.region[d], &shape[several + d]))
      return call_fail(&made);
  array *out = ndim <= DIMENSIONS
                   ? call_result(&made, values[OUT], ndim, shape, x->tensor.dtype)
                   : call_result(&made, values[OUT], x->tensor.ndim, shape, x->tensor.dtype);
  if (out == NULL) return call_fail(&made);
  /* librung would take a smaller one for a region. */
  for (int d = several; d < several + 2 && out->tensor.ndim == ndim && d < ndim; d++)
    if (out->shape[d] != shape[d]) {
      PyErr_Format(PyExc_ValueError, "out has %lld %s; expected: %lld", (long long)out->shape[d],
                   d == several ? "rows" : "columns", (long long)shape[d]);
      return call_fail(&made);
    }
  CALL(&made, status,
       function(made.lent.context, &model, &x->tensor, &kernel->tensor, &out->tensor, &made.how));
  return call_end(&made, status, out);
}

FUNCTION(py_correlate) {
  static const signature takes = {"rung._rung.correlate", OUT + 1, 2, names};
  (void)module;
  return filter(&takes, rung_correlate, given, count, keywords);
}

FUNCTION(py_convolve) {
  static const signature takes = {"rung._rung.convolve", OUT + 1, 2, names};
  (void)module;
  return filter(&takes, rung_convolve, given, count, keywords);
}

PyObject *py_edge_named(PyObject *module, PyObject *value) {
  const char *name;
  rung_edge edge;
  (void)module;
  if (!read_text("mode", value, NULL, &name)) return NULL;
  if (rung_edge_named(name, &edge) == RUNG_OK) return PyLong_FromLong(edge);
  Py_RETURN_NONE;
}
