/* rung.histogram and rung.bincount. */
#include <string.h>

#include "binding.h"

/* ---- edges ----------------------------------------------------------------------------------- */

/* even_edges(count, low, high): a rung.Array */
PyObject *py_even_edges(PyObject *module, PyObject *arguments) {
  rung_bins bins = {.kind = RUNG_BINS_EVEN};
  call made = {0};
  long long count;
  rung_status status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Ldd:even_edges", &count, &bins.low, &bins.high)) return NULL;
  bins.count = count++;
  array *edges =
      call_new(&made, library_named("rung"), 1, (const int64_t[]){count}, rung_type(kDLFloat, 64));
  if (edges == NULL) return call_fail(&made);
  CALL(&made, status, rung_bin_edges(made.lent.context, &bins, &edges->tensor, &made.how));
  return call_end(&made, status, edges);
}

/* row_like(row, like): the doubles of a buffer, as an array of another's library and device */
PyObject *py_row_like(PyObject *module, PyObject *arguments) {
  static const DLDataType type = {kDLFloat, 64, 1};
  call made = {0};
  PyObject *row, *like, *result = NULL;
  Py_buffer held;
  const double *values;
  int64_t count;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO:row_like", &row, &like) ||
      !read_doubles("row", row, &held, &values, &count))
    return NULL;
  const array *first = call_array(&made, "like", like, false), *to = NULL;
  if (first != NULL && on_cuda(&first->tensor) && first->library->copy != NULL) {
    result = PyObject_CallFunction(first->library->copy, "OsO", row,
                                   elements[element_of(type)].name, first->object);
  } else if (first != NULL && (to = call_result(&made, NULL, 1, &count, type)) != NULL) {
    memcpy(to->tensor.data, values, (size_t)count * sizeof *values);
    result = call_give(to);
  }
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

/* The elements of a library's row, read at once: item() is the quicker way to one. */
static bool read_list(PyObject *row, bool whole, int count, PyObject **numbers) {
  const char *how = count == 1 ? "item" : "tolist";
  PyObject *read = row != NULL ? PyObject_CallMethod(row, how, NULL) : NULL;
  for (int i = 0; i < count && read != NULL; i++) {
    PyObject *number = count == 1 ? Py_NewRef(read) : PySequence_GetItem(read, i);
    if (number != NULL) numbers[i] = whole ? PyNumber_Long(number) : PyNumber_Float(number);
    Py_XDECREF(number);
    if (numbers[i] == NULL) Py_CLEAR(read);
  }
  Py_XDECREF(read);
  return read != NULL;
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

/* The counts, and the edges beside them. */
static rung_status count_all(call *made, const rung_bins *bins, array *counts, array *apart,
                             array *edges) {
  rung_call how = {.stream = made->how.stream};
  const rung_status status =
      rung_histogram(made->lent.context, bins, &made->arrays[0].tensor, &counts->tensor,
                     apart != NULL ? &apart->tensor : NULL, &made->how);
  return status == RUNG_OK ? rung_bin_edges(made->lent.context, bins, &edges->tensor, &how)
                           : status;
}

static PyObject *counted(call *made, const rung_bins *bins, bool rows, bool outside) {
  const array *x = &made->arrays[0];
  const DLDataType whole = rung_type(kDLInt, 64);
  const DLDataType edge = bins->kind == RUNG_BINS_EVEN && is_narrow_float(x->tensor.dtype)
                              ? x->tensor.dtype
                              : rung_type(kDLFloat, 64);
  const int64_t shape[2] = {rows ? x->shape[0] : bins->count, bins->count};
  const int64_t apart_shape[2] = {rows ? x->shape[0] : 3, 3}, edge_shape[1] = {bins->count + 1};
  array *counts = call_result(made, NULL, 1 + rows, shape, whole), *apart = NULL, *edges = NULL;
  rung_status status;
  if (counts == NULL ||
      (outside && !(apart = call_result(made, NULL, 1 + rows, apart_shape, whole))) ||
      !(edges = call_result(made, NULL, 1, edge_shape, edge)))
    return call_fail(made);
  CALL(made, status, count_all(made, bins, counts, apart, edges));
  if (!call_settle(made, status)) return NULL;
  PyObject *given[3] = {call_give(counts), NULL, NULL}, *result = NULL;
  if (given[0] != NULL) given[1] = call_give(edges);
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

/* Whether no element of the type can be `least` or more, whatever it is. */
static bool all_below(DLDataType type, int64_t least) {
  return type.code == kDLUInt && type.bits < 32 && least >> type.bits > 0;
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
  if (has_elements(x) && !all_below(type, least) && !find_length(&made, &bins.count))
    return call_fail(&made);
  if (bins.count < least) bins.count = least;
  array *counts = call_result(&made, NULL, 1, &bins.count, rung_type(kDLInt, 64));
  if (counts == NULL) return call_fail(&made);
  if (bins.count == 0) return call_end(&made, RUNG_OK, counts);
  CALL(&made, status,
       rung_histogram(made.lent.context, &bins, &x->tensor, &counts->tensor, NULL, &made.how));
  return call_end(&made, status, counts);
}
