/* rung.stencil and rung.radiator; rung/_grids.py says what their words mean. */
#include <string.h>

#include "binding.h"

/* `what` and its means, as the caller asked. */
static PyObject *give_both(call *made, const array *grid, const array *means) {
  PyObject *first = call_give(grid), *result = first;
  if (means != NULL) {
    PyObject *second = first != NULL ? call_give(means) : NULL;
    result = second != NULL ? Py_BuildValue("(OO)", first, second) : NULL;
    Py_XDECREF(second);
    Py_XDECREF(first);
  }
  call_release(made);
  return result;
}

/* ---- stencil --------------------------------------------------------------------------------- */

static const char *const stencil_names[] = {"x",     "weights", "divide",     "steps",
                                            "fixed", "edge",    "edge_value", "means",
                                            "out",   OPTIONS,   NULL};
enum { X, WEIGHTS, DIVIDE, STEPS, FIXED, EDGE, EDGE_VALUE, MEANS, OUT, STENCIL_VALUES };
static const signature stencil_takes = {"rung._rung.stencil", OUT + 1, 2, stencil_names};

static bool read_model(PyObject **values, rung_stencil_model *model, Py_buffer *weights) {
  int64_t edge, taps;
  if (!read_double("divide", values[DIVIDE], 1, &model->divide) ||
      !read_long("steps", values[STEPS], 1, &model->steps) ||
      !read_long("fixed", values[FIXED], 0, &model->fixed) ||
      !read_long("edge", values[EDGE], RUNG_EDGE_WRAP, &edge) ||
      !read_double("edge_value", values[EDGE_VALUE], 0, &model->edge_value) ||
      !read_doubles("weights", values[WEIGHTS], weights, &model->weights, &taps))
    return false;
  model->edge = (rung_edge)edge;
  if (taps % 2 == 1 && taps <= 2 * RUNG_STENCIL_MAX_RADIUS + 1) {
    model->radius = (int)(taps / 2);
    return true;
  }
  PyBuffer_Release(weights);
  PyErr_Format(PyExc_ValueError, "weights has %lld values; expected: 3, 5 ... %d", (long long)taps,
               2 * RUNG_STENCIL_MAX_RADIUS + 1);
  return false;
}

static PyObject *stencil(call *made, PyObject **values, const rung_stencil_model *model) {
  bool wants_means;
  rung_status status;
  array *x = call_array(made, "x", values[X], false), *means = NULL;
  if (x == NULL || !read_flag(values[MEANS], false, &wants_means)) return call_fail(made);
  const DLDataType type = x->tensor.dtype;
  array *result = call_result(made, values[OUT], x->tensor.ndim, x->shape, type);
  if (result == NULL) return call_fail(made);
  const bool row = x->tensor.ndim == 1;
  if (wants_means && x->tensor.ndim >= 1 &&
      !(means = call_result(made, NULL, row ? 0 : 1, x->shape, type)))
    return call_fail(made);
  if (row) view_add(x, 0);
  if (row && result->tensor.ndim == 1) view_add(result, 0);
  if (row && means != NULL) view_add(means, 0);
  CALL(made, status,
       rung_stencil(made->lent.context, model, &x->tensor, &result->tensor,
                    means != NULL ? &means->tensor : NULL, &made->how));
  return call_settle(made, status) ? give_both(made, result, means) : NULL;
}

FUNCTION(py_stencil) {
  call made;
  PyObject *values[STENCIL_VALUES];
  rung_stencil_model model = {0};
  Py_buffer weights;
  (void)module;
  if (!call_begin(&made, &stencil_takes, given, count, keywords, values) ||
      !read_model(values, &model, &weights))
    return NULL;
  PyObject *result = stencil(&made, values, &model);
  PyBuffer_Release(&weights);
  return result;
}

/* ---- radiator -------------------------------------------------------------------------------- */

static const char *const radiator_names[] = {"rows",  "columns", "steps", "model", "dtype",
                                             "means", "library", "out",   OPTIONS, NULL};
enum {
  ROWS,
  COLUMNS,
  RADIATOR_STEPS,
  MODEL,
  DTYPE,
  RADIATOR_MEANS,
  LIBRARY,
  RADIATOR_OUT,
  RADIATOR_VALUES
};
static const signature radiator_takes = {"rung._rung.radiator", RADIATOR_OUT + 1, 4,
                                         radiator_names};

/* (weights, divide, hot, power, fixed, falling, start), as radiator_preset() gives it. */
static bool read_radiator(PyObject *tuple, rung_radiator_model *model) {
  double *w = model->weights, *hot = model->hot;
  if (!PyTuple_Check(tuple)) {
    PyErr_SetString(PyExc_TypeError, "model is no tuple");
    return false;
  }
  return PyArg_ParseTuple(tuple, "(ddddd)d(dd)iiid", w, w + 1, w + 2, w + 3, w + 4, &model->divide,
                          hot, hot + 1, &model->power, &model->fixed, &model->falling,
                          &model->start);
}

/* The grid: `out`, or a new one of the library that is named. */
static array *radiator_grid(call *made, PyObject **values, const int64_t *shape) {
  const char *dtype, *name;
  if (is_given(values[RADIATOR_OUT])) return call_array(made, "out", values[RADIATOR_OUT], true);
  if (!read_text("dtype", values[DTYPE], "float32", &dtype) ||
      !read_text("library", values[LIBRARY], "rung", &name))
    return NULL;
  const DLDataType type = element_named(dtype);
  const library *of = type.bits != 0 ? library_named(name) : NULL;
  if (of == NULL) return NULL;
  if (shape[0] >= 0 && shape[1] >= 0) return call_new(made, of, 2, shape, type);
  PyErr_Format(PyExc_ValueError, "the grid is %lld x %lld; expected: 1 x 4 or more",
               (long long)shape[0], (long long)shape[1]);
  return NULL;
}

FUNCTION(py_radiator) {
  call made;
  PyObject *values[RADIATOR_VALUES];
  rung_radiator_model model;
  int64_t shape[2], steps;
  bool wants_means;
  rung_status status;
  (void)module;
  if (!call_begin(&made, &radiator_takes, given, count, keywords, values) ||
      !read_long("rows", values[ROWS], 0, shape) ||
      !read_long("columns", values[COLUMNS], 0, shape + 1) ||
      !read_long("steps", values[RADIATOR_STEPS], 0, &steps) ||
      !read_radiator(values[MODEL], &model) ||
      !read_flag(values[RADIATOR_MEANS], false, &wants_means))
    return NULL;
  array *grid = radiator_grid(&made, values, shape), *means = NULL;
  if (grid == NULL) return call_fail(&made);
  if (wants_means && grid->tensor.ndim == 2 &&
      !(means = call_result(&made, NULL, 1, grid->shape, grid->tensor.dtype)))
    return call_fail(&made);
  CALL(&made, status,
       rung_radiator(made.lent.context, &model, steps, &grid->tensor,
                     means != NULL ? &means->tensor : NULL, &made.how));
  return call_settle(&made, status) ? give_both(&made, grid, means) : NULL;
}

/* radiator_preset(name): the model as a tuple. */
PyObject *py_radiator_preset(PyObject *module, PyObject *value) {
  const char *name;
  rung_radiator_model m;
  (void)module;
  if (!read_text("preset", value, NULL, &name)) return NULL;
  if (rung_radiator_preset(name, &m) != RUNG_OK) {
    PyErr_Format(PyExc_ValueError, "preset is %R; expected: \"2016\", \"2019\", \"2021\", ...",
                 value);
    return NULL;
  }
  return Py_BuildValue("(ddddd)d(dd)iiid", m.weights[0], m.weights[1], m.weights[2], m.weights[3],
                       m.weights[4], m.divide, m.hot[0], m.hot[1], m.power, m.fixed, m.falling,
                       m.start);
}
