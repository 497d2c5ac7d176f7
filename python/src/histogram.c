/* rung.histogram and rung.bincount. */
#include "binding.h"

/* ---- edges ----------------------------------------------------------------------------------- */

/* Edge k of bins, in double: of even ones as rung.h states them, which are numpy.histogram()'s. */
static double edge_at(const rung_bins *bins, int64_t k) {
  if (bins->kind == RUNG_BINS_EDGES) return bins->edges[k];
  if (bins->kind != RUNG_BINS_EVEN) return (double)k;
  const double count = (double)bins->count, width = (bins->high - bins->low) / count;
  if (k == bins->count) return bins->high;
  if (width == 0) return (double)k / count * (bins->high - bins->low) + bins->low;
  return (double)k * width + bins->low;
}

/* All of them: of even bins what they have in common is worked out once. */
static void put_edges(const rung_bins *bins, void *data, DLDataType type) {
  const rung_bins of = *bins;
  const int64_t count = of.count + 1;
  if (type.bits == 64)
    for (int64_t k = 0; k < count; k++) ((double *)data)[k] = edge_at(&of, k);
  else if (type.bits == 32)
    for (int64_t k = 0; k < count; k++) ((float *)data)[k] = (float)edge_at(&of, k);
  else
    for (int64_t k = 0; k < count; k++) number_put(data, k, edge_at(&of, k), type);
}

/* The edges on a GPU: its library copies the bytes that they have here. */
static PyObject *give_copied(const array *first, const rung_bins *bins, DLDataType type) {
  const int64_t count = bins->count + 1;
  PyObject *made = NULL, *bytes = PyByteArray_FromStringAndSize(NULL, count * (type.bits / 8));
  char *data = bytes != NULL ? PyByteArray_AsString(bytes) : NULL;
  if (data != NULL) put_edges(bins, data, type);
  if (data != NULL)
    made = PyObject_CallFunction(first->library->copy, "OsO", bytes,
                                 elements[element_of(type)].name, first->object);
  Py_XDECREF(bytes);
  return made;
}

/* A new array of the edges, of the first array's library and on its device. */
static PyObject *give_edges(call *made, const rung_bins *bins, DLDataType type) {
  const array *first = &made->arrays[0];
  const int64_t count = bins->count + 1;
  if (on_cuda(&first->tensor) && first->library->copy != NULL)
    return give_copied(first, bins, type);
  const array *edges = call_result(made, NULL, 1, &count, type);
  if (edges == NULL) return NULL;
  put_edges(bins, edges->tensor.data, type);
  return call_give(edges);
}

/* even_edges(count, low, high): a rung.Array */
PyObject *py_even_edges(PyObject *module, PyObject *arguments) {
  rung_bins bins = {.kind = RUNG_BINS_EVEN};
  long long count;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Ldd:even_edges", &count, &bins.low, &bins.high)) return NULL;
  bins.count = count++;
  PyObject *edges = object_new(1, (const int64_t[]){count}, rung_type(kDLFloat, 64));
  array view;
  if (edges == NULL) return NULL;
  object_view(edges, &view);
  put_edges(&bins, view.tensor.data, view.tensor.dtype);
  return edges;
}

/* row_like(row, like): the doubles of a buffer, as an array of another's library and device */
PyObject *py_row_like(PyObject *module, PyObject *arguments) {
  call made = {0};
  PyObject *row, *like, *result = NULL;
  Py_buffer held;
  rung_bins bins = {.kind = RUNG_BINS_EDGES};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO:row_like", &row, &like) ||
      !read_doubles("row", row, &held, &bins.edges, &bins.count))
    return NULL;
  bins.count--;
  if (call_array(&made, "like", like, false) != NULL)
    result = give_edges(&made, &bins, rung_type(kDLFloat, 64));
  call_release(&made);
  PyBuffer_Release(&held);
  return result;
}

/* ---- the least and the largest element ------------------------------------------------------- */

static bool has_elements(const array *x) {
  for (int i = 0; i < x->tensor.ndim; i++)
    if (x->shape[i] == 0) return false;
  return true;
}

enum { EXTREMES = 2 };

/* One reduction after another into neighbours, from `to` on. */
static rung_status reduce_each(call *made, const rung_reduction *what, int count, DLTensor to) {
  const DLTensor *x = &made->arrays[0].tensor;
  rung_status status = RUNG_OK;
  for (int i = 0; i < count && status == RUNG_OK; i++) {
    rung_call how = {.stream = made->how.stream};
    status = rung_reduce(made->lent.context, what[i], x, RUNG_ALL, &to, &how);
    to.byte_offset += x->dtype.bits / 8;
  }
  return status;
}

/* The elements of a library's row, read at once. */
static bool read_list(PyObject *row, bool whole, int count, PyObject **numbers) {
  PyObject *list = row != NULL ? PyObject_CallMethod(row, "tolist", NULL) : NULL;
  for (int i = 0; i < count && list != NULL; i++) {
    PyObject *number = PySequence_GetItem(list, i);
    if (number != NULL) numbers[i] = whole ? PyNumber_Long(number) : PyNumber_Float(number);
    Py_XDECREF(number);
    if (numbers[i] == NULL) Py_CLEAR(list);
  }
  Py_XDECREF(list);
  return list != NULL;
}

/* Reductions of x as Python's numbers, each NULL before: of host memory by this thread's stack,
 * else by an array of x's library, which is of `stored`, for libraries do not have every type. */
static bool extremes(call *made, const rung_reduction *what, int count, DLDataType stored,
                     PyObject **numbers) {
  const array *x = &made->arrays[0];
  const DLDataType type = x->tensor.dtype;
  const bool here = !on_cuda(&x->tensor);
  uint64_t values[EXTREMES] = {0};
  DLTensor to = rung_array(values, type, 0, NULL);
  const array *result = here ? NULL : call_new(made, x->library, 1, &(int64_t){count}, stored);
  rung_status status;
  if (!here && result == NULL) return call_fail(made) != NULL;
  if (!here) {
    to = result->tensor;
    to.ndim = 0;
    to.dtype = type;
  }
  CALL(made, status, reduce_each(made, what, count, to));
  if (!call_settle(made, status)) return false;
  if (!here) {
    PyObject *given = call_give(result);
    const bool whole = stored.code == kDLInt || stored.code == kDLUInt;
    const bool good = read_list(given, whole, count, numbers);
    Py_XDECREF(given);
    return good;
  }
  for (int i = 0; i < count; i++) {
    numbers[i] = number_of((const char *)values + i * (type.bits / 8), type);
    if (numbers[i] == NULL) return false;
  }
  return true;
}

static PyObject *extreme(call *made, rung_reduction what, DLDataType stored) {
  PyObject *number = NULL;
  if (!extremes(made, &what, 1, stored, &number)) Py_CLEAR(number);
  return number;
}

/* ---- histogram ------------------------------------------------------------------------------- */

static const char *const histogram_names[] = {"x",    "bins",    "range", "modulo",
                                              "rows", "outside", OPTIONS, NULL};
enum { X, BINS, RANGE, MODULO, ROWS, OUTSIDE, HISTOGRAM_VALUES };

static bool is_narrow_float(DLDataType type) {
  return (type.code == kDLFloat || type.code == kDLBfloat) && type.bits < 64;
}

static bool count_fits(const char *name, int64_t count) {
  if (count >= 1 && count <= RUNG_MAX_BINS) return true;
  PyErr_Format(PyExc_ValueError, "%s is %lld; expected: 1 ... %d", name, (long long)count,
               RUNG_MAX_BINS);
  return false;
}

/* Numbers in any row, as the doubles of a buffer. */
static bool read_row(PyObject *value, rung_bins *bins, Py_buffer *held) {
  int64_t count;
  PyObject *half = PyImport_ImportModule("rung._counts");
  PyObject *row = half != NULL ? PyObject_CallMethod(half, "doubles", "Os", value, "bins") : NULL;
  const bool good = row != NULL && read_doubles("bins", row, held, &bins->edges, &count);
  Py_XDECREF(row); /* which the buffer keeps */
  Py_XDECREF(half);
  if (!good) return false;
  bins->kind = RUNG_BINS_EDGES;
  bins->count = count - 1;
  if (count >= 2) return true;
  PyErr_Format(PyExc_ValueError, "bins has %lld edges; expected: 2 or more", (long long)count);
  return false;
}

/* The number of bins, their edges, or their name. */
static bool read_bins(PyObject **values, rung_bins *bins, Py_buffer *held) {
  PyObject *const value = values[BINS];
  if (is_given(values[MODULO])) {
    bins->kind = RUNG_BINS_MODULO;
    return read_long("modulo", values[MODULO], 0, &bins->count) &&
           count_fits("modulo", bins->count);
  }
  if (value != NULL && PyUnicode_Check(value)) {
    bins->kind = RUNG_BINS_BYTES;
    bins->count = 256;
    if (PyUnicode_CompareWithASCIIString(value, "bytes") == 0) return true;
    PyErr_Format(PyExc_ValueError, "bins is %R; expected: a number, edges or \"bytes\"", value);
    return false;
  }
  bins->kind = RUNG_BINS_EVEN;
  bins->count = 10;
  if (value == NULL) return true;
  PyObject *number = PyNumber_Index(value);
  if (number == NULL && !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  if (number == NULL) {
    PyErr_Clear();
    return read_row(value, bins, held) && count_fits("bins", bins->count);
  }
  const bool good = read_long("bins", number, 0, &bins->count);
  Py_DECREF(number);
  return good && count_fits("bins", bins->count);
}

/* (low, high) */
static bool read_range(PyObject *value, double *low, double *high) {
  const Py_ssize_t size = PySequence_Size(value);
  if (size >= 0 && size != 2) PyErr_SetString(PyExc_ValueError, "");
  double *const ends[2] = {low, high};
  for (int i = 0; i < 2 && !PyErr_Occurred(); i++) {
    PyObject *end = PySequence_GetItem(value, i);
    if (end != NULL) *ends[i] = PyFloat_AsDouble(end);
    Py_XDECREF(end);
  }
  if (!PyErr_Occurred()) return true;
  if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
      PyErr_ExceptionMatches(PyExc_OverflowError))
    PyErr_Format(PyExc_ValueError, "range is %R; expected: (low, high)", value);
  return false;
}

/* The range of the elements. */
static bool find_range(call *made, double *low, double *high) {
  *low = 0, *high = 1;
  if (!has_elements(&made->arrays[0])) return true;
  const DLDataType type = made->arrays[0].tensor.dtype;
  PyObject *ends[EXTREMES] = {NULL};
  const bool found = extremes(made, (const rung_reduction[]){RUNG_MIN, RUNG_MAX}, 2, type, ends);
  if (found) {
    *low = PyFloat_AsDouble(ends[0]);
    *high = PyFloat_AsDouble(ends[1]);
  }
  for (int i = 0; i < EXTREMES; i++) Py_XDECREF(ends[i]);
  return found && !PyErr_Occurred();
}

/* As numpy.histogram() has it: where the range has no width it gets one. */
static bool even_range(call *made, PyObject *range, rung_bins *bins) {
  if (is_given(range) ? !read_range(range, &bins->low, &bins->high)
                      : !find_range(made, &bins->low, &bins->high))
    return false;
  if (bins->low == bins->high) bins->low -= 0.5, bins->high += 0.5;
  return true;
}

static PyObject *counted(call *made, const rung_bins *bins, bool rows, bool outside) {
  const array *x = &made->arrays[0];
  const DLDataType whole = rung_type(kDLInt, 64);
  const DLDataType edge = bins->kind == RUNG_BINS_EVEN && is_narrow_float(x->tensor.dtype)
                              ? x->tensor.dtype
                              : rung_type(kDLFloat, 64);
  const int64_t shape[2] = {rows ? x->shape[0] : bins->count, bins->count};
  const int64_t apart_shape[2] = {rows ? x->shape[0] : 3, 3};
  array *counts = call_result(made, NULL, 1 + rows, shape, whole), *apart = NULL;
  rung_status status;
  if (counts == NULL ||
      (outside && !(apart = call_result(made, NULL, 1 + rows, apart_shape, whole))))
    return call_fail(made);
  CALL(made, status,
       rung_histogram(made->lent.context, bins, &x->tensor, &counts->tensor,
                      outside ? &apart->tensor : NULL, &made->how));
  if (!call_settle(made, status)) return NULL;
  PyObject *given[3] = {call_give(counts), NULL, NULL}, *result = NULL;
  if (given[0] != NULL) given[1] = give_edges(made, bins, edge);
  if (given[1] != NULL && outside) given[2] = call_give(apart);
  if (given[1] != NULL && (given[2] != NULL || !outside))
    result = PyTuple_Pack(2 + outside, given[0], given[1], given[2]);
  for (int i = 0; i < 3; i++) Py_XDECREF(given[i]);
  call_release(made);
  return result;
}

static PyObject *histogram(call *made, PyObject **values, Py_buffer *held) {
  bool rows, outside;
  rung_bins bins = {0};
  const array *x = call_array(made, "x", values[X], false);
  if (x == NULL || !read_flag(values[ROWS], false, &rows) ||
      !read_flag(values[OUTSIDE], false, &outside) || !read_bins(values, &bins, held))
    return call_fail(made);
  if (rows && x->tensor.ndim != 2) {
    PyErr_Format(PyExc_ValueError, "x has %d dimensions; expected: 2, for rows is True",
                 x->tensor.ndim);
    return call_fail(made);
  }
  if (bins.kind == RUNG_BINS_EVEN && !even_range(made, values[RANGE], &bins))
    return call_fail(made);
  return counted(made, &bins, rows, outside);
}

FUNCTION(py_histogram) {
  static const signature takes = {"rung.histogram", RANGE + 1, 1, histogram_names};
  call made;
  PyObject *values[HISTOGRAM_VALUES];
  Py_buffer held = {0};
  (void)module;
  if (!call_begin(&made, &takes, given, count, keywords, values)) return NULL;
  PyObject *result = histogram(&made, values, &held);
  PyBuffer_Release(&held);
  return result;
}

/* ---- bincount -------------------------------------------------------------------------------- */

static const char *const bincount_names[] = {"x", "minlength", OPTIONS, NULL};
enum { MINLENGTH = 1, BINCOUNT_VALUES };

static bool no_index(PyObject *element) {
  if (element != NULL)
    PyErr_Format(PyExc_ValueError, "x has the element %S; expected: 0 ... %d", element,
                 RUNG_MAX_BINS - 1);
  Py_XDECREF(element);
  return false;
}

/* One more than the largest element. Those of a signed type are taken as unsigned, where negative
 * ones are the largest. */
static bool find_length(call *made, int64_t *length) {
  array *x = &made->arrays[0];
  const DLDataType type = x->tensor.dtype;
  const int64_t limit = type.code == kDLInt ? INT64_MAX >> (64 - type.bits) : INT64_MAX;
  int beyond;
  x->tensor.dtype.code = kDLUInt;
  PyObject *most = extreme(made, RUNG_MAX, type);
  if (most == NULL) return false;
  x->tensor.dtype = type;
  const int64_t largest = PyLong_AsLongLongAndOverflow(most, &beyond);
  if (type.code == kDLInt && (beyond != 0 || largest < 0 || largest > limit)) {
    Py_DECREF(most);
    return no_index(extreme(made, RUNG_MIN, type));
  }
  if (beyond != 0 || largest < 0 || largest >= RUNG_MAX_BINS) return no_index(most);
  Py_DECREF(most);
  *length = largest + 1;
  return true;
}

FUNCTION(py_bincount) {
  static const signature takes = {"rung.bincount", MINLENGTH + 1, 1, bincount_names};
  call made;
  PyObject *values[BINCOUNT_VALUES];
  rung_bins bins = {.kind = RUNG_BINS_MODULO};
  int64_t least;
  rung_status status;
  (void)module;
  if (!call_begin(&made, &takes, given, count, keywords, values)) return NULL;
  const array *x = call_array(&made, "x", values[X], false);
  if (x == NULL || !read_long("minlength", values[MINLENGTH], 0, &least)) return call_fail(&made);
  const DLDataType type = x->tensor.dtype;
  if (type.code != kDLInt && type.code != kDLUInt) {
    PyErr_Format(PyExc_TypeError, "x is of %s; expected: integers",
                 elements[element_of(type)].name);
    return call_fail(&made);
  }
  if (least < 0 || least > RUNG_MAX_BINS) {
    PyErr_Format(PyExc_ValueError, "minlength is %lld; expected: 0 ... %d", (long long)least,
                 RUNG_MAX_BINS);
    return call_fail(&made);
  }
  if (has_elements(x) && !find_length(&made, &bins.count)) return call_fail(&made);
  if (bins.count < least) bins.count = least;
  array *counts = call_result(&made, NULL, 1, &bins.count, rung_type(kDLInt, 64));
  if (counts == NULL) return call_fail(&made);
  if (bins.count == 0) return call_end(&made, RUNG_OK, counts);
  CALL(&made, status,
       rung_histogram(made.lent.context, &bins, &x->tensor, &counts->tensor, NULL, &made.how));
  return call_end(&made, status, counts);
}
