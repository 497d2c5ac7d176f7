/* Distances of pairs. rung/_pairs.py says what bins and boxes are; here they are the structs of
 * librung. */
#include <string.h>

#include "binding.h"

static const int64_t outside_shape[1] = {3};

/* A new array of 64-bit counts beside the first one. */
static array *counts_of(call *made, const int64_t *shape) {
  return call_result(made, NULL, 1, shape, rung_type(kDLInt, 64));
}

/* (counts, outside, sums), as the caller gets them; NULL ones are None. */
static PyObject *give_all(call *made, array *const *results, int count) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; i < count && tuple != NULL; i++) {
    PyObject *object = results[i] != NULL ? call_give(results[i]) : Py_NewRef(Py_None);
    if (object == NULL || PyTuple_SetItem(tuple, i, object) != 0) Py_CLEAR(tuple);
  }
  call_release(made);
  return tuple;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static const char *const pairs_names[] = {
    "a",         "b",           "box",         "count",   "width", "edges", "weights_a",
    "weights_b", "molecules_a", "molecules_b", "outside", OPTIONS, NULL};
enum {
  PAIRS_A,
  PAIRS_B,
  PAIRS_BOX,
  PAIRS_COUNT,
  PAIRS_WIDTH,
  PAIRS_EDGES,
  WEIGHTS_A,
  WEIGHTS_B,
  MOLECULES_A,
  MOLECULES_B,
  PAIRS_OUTSIDE,
  PAIRS_VALUES
};
static const signature pairs_takes = {"rung._rung.pairs", PAIRS_OUTSIDE + 1, 1, pairs_names};

/* Nine doubles: the vectors of the cell. *box is left alone, and *has false, without them. */
static bool read_box(PyObject *value, rung_box *box, bool *has) {
  Py_buffer held;
  const double *values;
  int64_t count;
  *has = is_given(value);
  if (!*has) return true;
  if (!read_doubles("box", value, &held, &values, &count)) return false;
  const bool good = count * (int64_t)sizeof *values == (int64_t)sizeof *box;
  if (good) memcpy(box, values, sizeof *box);
  PyBuffer_Release(&held);
  if (!good) PyErr_SetString(PyExc_ValueError, "box is no cell; expected: three vectors");
  return good;
}

static bool read_distances(PyObject **values, rung_distances *bins, Py_buffer *edges) {
  int64_t count;
  if (!read_long("bins", values[PAIRS_COUNT], 0, &bins->count) ||
      !read_double("width", values[PAIRS_WIDTH], 0, &bins->width))
    return false;
  if (!is_given(values[PAIRS_EDGES])) return true;
  if (!read_doubles("edges", values[PAIRS_EDGES], edges, &bins->edges, &count)) return false;
  bins->count = count - 1;
  return true;
}

/* One set: its points, weights and molecules. */
static bool read_set(call *made, PyObject *const *values, bool second, rung_points *set) {
  array *at, *weights, *molecules;
  const int b = second ? 1 : 0;
  const bool there = !second || is_given(values[PAIRS_B]); /* only b may be missing */
  at = there ? call_array(made, second ? "b" : "a", values[PAIRS_A + b], false) : NULL;
  if ((there && at == NULL) ||
      !call_array_if(made, "weights", values[WEIGHTS_A + b], false, &weights) ||
      !call_array_if(made, "molecules", values[MOLECULES_A + b], false, &molecules))
    return false;
  *set = (rung_points){.at = at != NULL ? &at->tensor : NULL,
                       .weights = weights != NULL ? &weights->tensor : NULL,
                       .molecules = molecules != NULL ? &molecules->tensor : NULL};
  return true;
}

static PyObject *pairs(call *made, PyObject **values, const rung_distances *bins) {
  rung_points a, b;
  rung_box box;
  bool boxed, outside;
  rung_status status;
  if (!read_set(made, values, false, &a) || !read_set(made, values, true, &b) ||
      !read_box(values[PAIRS_BOX], &box, &boxed) ||
      !read_flag(values[PAIRS_OUTSIDE], false, &outside))
    return call_fail(made);
  if (bins->count < 1 || bins->count > RUNG_MAX_BINS) {
    PyErr_Format(PyExc_ValueError, "bins is %lld; expected: 1 ... %d", (long long)bins->count,
                 RUNG_MAX_BINS);
    return call_fail(made);
  }
  array *results[3] = {counts_of(made, &bins->count), NULL, NULL};
  if (results[0] == NULL || (outside && !(results[1] = counts_of(made, outside_shape))) ||
      (a.weights != NULL &&
       !(results[2] = call_result(made, NULL, 1, &bins->count, rung_type(kDLFloat, 64)))))
    return call_fail(made);
  CALL(made, status,
       rung_pairs(made->lent.context, &a, b.at != NULL ? &b : NULL, boxed ? &box : NULL, bins,
                  &results[0]->tensor, outside ? &results[1]->tensor : NULL,
                  results[2] != NULL ? &results[2]->tensor : NULL, &made->how));
  return call_settle(made, status) ? give_all(made, results, 3) : NULL;
}

FUNCTION(py_pairs) {
  call made;
  PyObject *values[PAIRS_VALUES];
  rung_distances bins = {0};
  Py_buffer edges = {0};
  (void)module;
  if (!call_begin(&made, &pairs_takes, given, count, keywords, values) ||
      !read_distances(values, &bins, &edges))
    return NULL;
  PyObject *result = pairs(&made, values, &bins);
  PyBuffer_Release(&edges);
  return result;
}

/* ---- g(r) ------------------------------------------------------------------------------------ */

/* A new row of doubles, which `values` then is; NULL: raised. */
static PyObject *row_of(int64_t count, double **values) {
  PyObject *made = object_new(1, &count, rung_type(kDLFloat, 64));
  array view;
  if (made == NULL) return NULL;
  object_view(made, &view);
  *values = view.tensor.data;
  return made;
}

static void no_g(double density) {
  PyObject *value = PyFloat_FromDouble(density);
  if (value != NULL)
    PyErr_Format(PyExc_ValueError,
                 "no g(r) of these counts, of %R pairs a volume; expected: as many counts as "
                 "bins, and a finite number above 0",
                 value);
  Py_XDECREF(value);
}

static PyObject *g_of(const Py_buffer *counts, const rung_distances *bins, double density,
                      double per) {
  PyObject *rows[3] = {NULL}, *results = NULL;
  double *values[3];
  rung_status status = RUNG_OK;
  for (int i = 0; i < 3 && status == RUNG_OK; i++)
    if ((rows[i] = row_of(bins->count, &values[i])) == NULL) status = RUNG_OUT_OF_MEMORY;
  for (int64_t k = 0; k < bins->count && status == RUNG_OK; k++)
    values[0][k] = (bins->edges[k] + bins->edges[k + 1]) / 2;
  if (status == RUNG_OK)
    status = counts->itemsize == 8 && counts->len == 8 * bins->count
                 ? rung_pairs_rdf(bins, counts->buf, density, per, values[1], values[2])
                 : RUNG_BAD_SHAPE;
  if (status == RUNG_OK)
    results = PyTuple_Pack(3, rows[0], rows[1], rows[2]);
  else if (!PyErr_Occurred())
    no_g(density);
  for (int i = 0; i < 3; i++) Py_XDECREF(rows[i]);
  return results;
}

/* pairs_rdf(counts, edges, density, per) -> (middles, g, neighbours): counts int64, contiguous. */
PyObject *py_pairs_rdf(PyObject *module, PyObject *arguments) {
  PyObject *counts, *edges, *results = NULL;
  double density, per;
  Py_buffer held, held_edges;
  rung_distances bins = {0};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOdd:pairs_rdf", &counts, &edges, &density, &per) ||
      !read_doubles("edges", edges, &held_edges, &bins.edges, &bins.count))
    return NULL;
  bins.count--;
  if (PyObject_GetBuffer(counts, &held, PyBUF_C_CONTIGUOUS) == 0) {
    results = g_of(&held, &bins, density, per);
    PyBuffer_Release(&held);
  }
  PyBuffer_Release(&held_edges);
  return results;
}

/* box_reach(box) */
PyObject *py_box_reach(PyObject *module, PyObject *value) {
  rung_box box;
  bool has;
  double reach;
  (void)module;
  if (!read_box(value, &box, &has)) return NULL;
  const rung_status status = has ? rung_box_reach(NULL, &box, &reach) : RUNG_BAD_ARGUMENT;
  if (status == RUNG_OK) return PyFloat_FromDouble(reach);
  return raise_status(RUNG_BAD_ARGUMENT,
                      "box is no cell; expected: three finite vectors that lie in no plane");
}
