/* What every call does: its arguments, its arrays, its context, its errors. */
#include <string.h>

#include "binding.h"

PyObject *rung_error;

PyObject *raise_status(rung_status status, const char *sentence) {
  PyObject *kind = rung_error;
  switch (status) {
    case RUNG_BAD_ARGUMENT:
    case RUNG_BAD_SHAPE:
    case RUNG_BAD_PLACE:
    case RUNG_OVERLAP:
    case RUNG_UNKNOWN_NAME:
    case RUNG_TOO_LARGE:
      kind = PyExc_ValueError;
      break;
    case RUNG_BAD_DTYPE:
      kind = PyExc_TypeError;
      break;
    case RUNG_OUT_OF_MEMORY:
      kind = PyExc_MemoryError;
      break;
    default:
      break;
  }
  PyErr_SetString(kind, *sentence != '\0' ? sentence : rung_status_text(status));
  return NULL;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool put_keyword(const signature *takes, PyObject *name, PyObject *value, int names,
                        PyObject **values) {
  for (int i = 0; i < names; i++) {
    if (PyUnicode_CompareWithASCIIString(name, takes->names[i]) != 0) continue;
    if (values[i] != NULL) {
      PyErr_Format(PyExc_TypeError, "%s() got \"%s\" twice", takes->function, takes->names[i]);
      return false;
    }
    values[i] = value;
    return true;
  }
  PyErr_Format(PyExc_TypeError, "%s() has no argument \"%U\"", takes->function, name);
  return false;
}

static bool read_math(PyObject *value, rung_math *math) {
  static const struct {
    const char *name;
    rung_math math;
  } known[] = {{"strict", RUNG_MATH_STRICT}, {"fast", RUNG_MATH_FAST}, {"fixed", RUNG_MATH_FIXED}};
  const char *name;
  if (!read_text("math", value, known[0].name, &name)) return false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    *math = known[i].math;
    if (strcmp(name, known[i].name) == 0) return true;
  }
  PyErr_Format(PyExc_ValueError, "math is %R; expected: \"strict\", \"fast\" or \"fixed\"", value);
  return false;
}

static bool read_options(call *made, PyObject *const *options) {
  int64_t threads;
  made->device = options[0];
  if (!read_text("rung", options[1], NULL, &made->how.rung) ||
      !read_long("threads", options[2], 0, &threads) || !read_math(options[3], &made->how.math))
    return false;
  made->threads = (long)threads;
  PyObject *const own = context_stream(options[0]);
  if (is_given(options[4])) {
    if (!stream_read(options[4], &made->stream)) return false;
    made->how.stream = made->stream;
  } else if (own != NULL && !stream_read(own, &made->stream)) {
    return false;
  }
  return true;
}

bool call_begin(call *made, const signature *takes, PyObject *const *given, Py_ssize_t count,
                PyObject *keywords, PyObject **values) {
  enum { MOST = 24 };
  PyObject *all[MOST] = {NULL};
  int names = 0;
  while (takes->names[names] != NULL) names++;
  made->count = 0;
  made->stream = NULL;
  made->how = (rung_call){0};
  made->lent = (lease){0};
  if (count > takes->positional) {
    PyErr_Format(PyExc_TypeError, "%s() got %zd positional arguments; expected: at most %d",
                 takes->function, count, takes->positional);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) all[i] = given[i];
  const Py_ssize_t named = keywords != NULL ? PyTuple_Size(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; i++)
    if (!put_keyword(takes, PyTuple_GetItem(keywords, i), given[count + i], names, all))
      return false;
  for (int i = 0; i < takes->required; i++) {
    if (all[i] != NULL) continue;
    PyErr_Format(PyExc_TypeError, "%s() needs \"%s\"", takes->function, takes->names[i]);
    return false;
  }
  memcpy(values, all, (size_t)(names - OPTION_COUNT) * sizeof *values);
  return read_options(made, all + names - OPTION_COUNT);
}

bool read_long(const char *name, PyObject *value, int64_t fallback, int64_t *number) {
  *number = fallback;
  if (!is_given(value)) return true;
  PyObject *index = PyNumber_Index(value);
  if (index == NULL) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "%s is %R; expected: an integer", name, value);
    return false;
  }
  *number = PyLong_AsLongLong(index);
  Py_DECREF(index);
  if (*number != -1 || !PyErr_Occurred()) return true;
  PyErr_Format(PyExc_ValueError, "%s is %R; expected: an integer of 64 bits", name, value);
  return false;
}

bool read_double(const char *name, PyObject *value, double fallback, double *number) {
  *number = fallback;
  if (!is_given(value)) return true;
  *number = PyFloat_AsDouble(value);
  if (*number != -1 || !PyErr_Occurred()) return true;
  if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_OverflowError))
    PyErr_Format(PyExc_TypeError, "%s is %R; expected: a number", name, value);
  return false;
}

bool read_flag(PyObject *value, bool fallback, bool *flag) {
  const int is = is_given(value) ? PyObject_IsTrue(value) : fallback;
  *flag = is == 1;
  return is >= 0;
}

bool read_text(const char *name, PyObject *value, const char *fallback, const char **text) {
  *text = fallback;
  if (!is_given(value)) return true;
  if (PyUnicode_Check(value)) {
    Py_ssize_t length;
    *text = PyUnicode_AsUTF8AndSize(value, &length);
    if (*text == NULL || strlen(*text) == (size_t)length) return *text != NULL;
    PyErr_Format(PyExc_ValueError, "%s is %R; expected: text without a NUL", name, value);
    return false;
  }
  PyErr_Format(PyExc_TypeError, "%s is %R; expected: text", name, value);
  return false;
}

bool read_doubles(const char *name, PyObject *value, Py_buffer *held, const double **values,
                  int64_t *count) {
  if (PyObject_GetBuffer(value, held, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) return false;
  if (held->ndim == 1 && held->format != NULL && strcmp(held->format, "d") == 0) {
    *values = held->buf;
    *count = held->shape[0];
    return true;
  }
  PyBuffer_Release(held);
  PyErr_Format(PyExc_TypeError, "%s is no row of doubles", name);
  return false;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static bool beside(const array *first, const array *next) {
  if (first->library != next->library) {
    PyErr_Format(PyExc_TypeError, "%s is of %U and %s of %U; expected: arrays of one library",
                 first->name, first->library->name, next->name, next->library->name);
    return false;
  }
  const DLDevice a = first->tensor.device, b = next->tensor.device;
  if (on_cuda(&first->tensor) == on_cuda(&next->tensor) &&
      (!on_cuda(&first->tensor) || a.device_id == b.device_id))
    return true;
  PyErr_Format(PyExc_ValueError,
               "%s is on device (%d, %d) and %s on (%d, %d); expected: arrays of one device",
               first->name, (int)a.device_type, (int)a.device_id, next->name, (int)b.device_type,
               (int)b.device_id);
  return false;
}

static array *add(call *made, const char *name, PyObject *object, array_use use) {
  array *read = &made->arrays[made->count];
  if (!array_read(read, name, object, use, made->stream)) return NULL;
  made->count++;
  if (made->count == 1 && made->stream == NULL && on_cuda(&read->tensor))
    made->how.stream = made->stream = read->stream;
  return read;
}

array *call_array(call *made, const char *name, PyObject *object, bool written) {
  array *read = add(made, name, object, written ? ARRAY_WRITTEN : ARRAY_READ);
  if (read == NULL || (made->count > 1 && !beside(&made->arrays[0], read))) return NULL;
  if (!written || !read->library->immutable) return read;
  PyErr_Format(PyExc_TypeError, "%s is of %U, whose arrays never change; expected: no %s", name,
               read->library->name, name);
  return NULL;
}

array *call_other(call *made, const char *name, PyObject *object) {
  return add(made, name, object, ARRAY_READ);
}

bool call_array_if(call *made, const char *name, PyObject *object, bool written, array **found) {
  *found = is_given(object) ? call_array(made, name, object, written) : NULL;
  return !is_given(object) || *found != NULL;
}

/* An array by its library's quick(). NULL: raised; None: it is not for this GPU. */
static PyObject *quick_of(const library *of, int ndim, const int64_t *shape, PyObject *extents,
                          PyObject *type, int index) {
  int64_t compact[DIMENSIONS + 1];
  compact_strides(ndim, shape, compact);
  PyObject *strides = integers(compact, ndim, 1), *at = PyLong_FromLong(index), *made = NULL;
  if (strides != NULL && at != NULL)
    made = PyObject_CallFunctionObjArgs(of->quick, extents, strides, type, at, NULL);
  Py_XDECREF(at);
  Py_XDECREF(strides);
  return made;
}

/* An array like `first`, or of no other, by its library. NULL: raised. */
static PyObject *empty_of(const library *of, const array *first, int ndim, const int64_t *shape,
                          PyObject *type) {
  PyObject *extents = integers(shape, ndim, 1), *made = NULL;
  const bool quick = of->quick != NULL && first != NULL && on_cuda(&first->tensor);
  if (extents != NULL && quick)
    made = quick_of(of, ndim, shape, extents, type, first->tensor.device.device_id);
  if (extents != NULL && (!quick || made == Py_None)) {
    Py_XDECREF(made);
    PyObject *like = first != NULL ? first->object : NULL;
    made = PyObject_CallFunctionObjArgs(of->empty, extents, type, of->like ? like : NULL, NULL);
  }
  Py_XDECREF(extents);
  return made;
}

static bool as_asked(const array *read, int ndim, const int64_t *shape, DLDataType type) {
  bool same = read->tensor.ndim == ndim && read->tensor.dtype.bits == type.bits;
  for (int i = 0; i < ndim && same; i++) same = read->shape[i] == shape[i];
  if (!same)
    PyErr_Format(PyExc_TypeError,
                 "%U makes no array of %s here; expected: `out`, or another type of input",
                 read->library->name, elements[element_of(type)].name);
  return same;
}

array *call_new(call *made, const library *of, int ndim, const int64_t *shape, DLDataType type) {
  const array *first = made->count > 0 ? &made->arrays[0] : NULL;
  const bool gpu = first != NULL && on_cuda(&first->tensor);
  const int row = element_of(type);
  PyObject *object;
  if (!gpu && (of->empty == NULL || of->adopt != NULL)) {
    object = object_new(ndim, shape, type);
  } else if (of->empty != NULL && of->types[row] != NULL) {
    object = empty_of(of, first, ndim, shape, of->types[row]);
  } else {
    PyErr_Format(PyExc_TypeError, "%U makes no array of %s %s; expected: `out`", of->name,
                 elements[row].name, gpu ? "on a GPU" : "here");
    return NULL;
  }
  if (object == NULL) return NULL;
  array *read = add(made, "the result", object, ARRAY_NEW);
  Py_DECREF(object);
  if (read == NULL || !as_asked(read, ndim, shape, type)) return NULL;
  read->library = of;
  read->tensor.dtype = type;
  return read;
}

array *call_result(call *made, PyObject *out, int ndim, const int64_t *shape, DLDataType type) {
  if (is_given(out)) return call_array(made, "out", out, true);
  return call_new(made, made->arrays[0].library, ndim, shape, type);
}

/* The dimensions from the widest stride to the least, behind them those of one element; whether
 * that is another order than theirs. Strides that are not above 0 have none. */
static bool memory_order(const array *x, int order[DIMENSIONS]) {
  bool turned = false;
  int count = 0;
  for (int d = 0; d < x->tensor.ndim; d++) {
    int at = count;
    if (x->shape[d] == 1) continue;
    if (x->strides[d] <= 0) return false;
    while (at > 0 && x->strides[order[at - 1]] < x->strides[d]) at--;
    turned = turned || at < count;
    for (int k = count++; k > at; k--) order[k] = order[k - 1];
    order[at] = d;
  }
  for (int d = 0; d < x->tensor.ndim; d++)
    if (x->shape[d] == 1) order[count++] = d;
  return turned;
}

array *call_result_as(call *made, PyObject *out, const array *x) {
  const int ndim = x->tensor.ndim;
  int order[DIMENSIONS];
  int64_t shape[DIMENSIONS];
  const DLDataType type = x->tensor.dtype;
  if (is_given(out) || !x->library->keeps || !memory_order(x, order))
    return call_result(made, out, ndim, x->shape, type);
  for (int d = 0; d < ndim; d++) shape[d] = x->shape[order[d]];
  array *plain = call_new(made, x->library, ndim, shape, type);
  PyObject *places = plain != NULL ? PyTuple_New(ndim) : NULL, *turned = NULL;
  for (int d = 0; d < ndim && places != NULL; d++) {
    PyObject *place = PyLong_FromLong(d);
    if (place == NULL || PyTuple_SetItem(places, order[d], place) != 0) Py_CLEAR(places);
  }
  if (places != NULL) turned = PyObject_CallMethod(plain->object, "transpose", "O", places);
  array *result = turned != NULL ? add(made, "the result", turned, ARRAY_NEW) : NULL;
  Py_XDECREF(turned);
  Py_XDECREF(places);
  return result;
}

void view_drop(array *view, int at) {
  const int last = --view->tensor.ndim;
  for (int i = at; i < last; i++) {
    view->shape[i] = view->shape[i + 1];
    view->strides[i] = view->strides[i + 1];
  }
}

void view_add(array *view, int at) {
  for (int i = view->tensor.ndim++; i > at; i--) {
    view->shape[i] = view->shape[i - 1];
    view->strides[i] = view->strides[i - 1];
  }
  view->shape[at] = view->strides[at] = 1;
}

/* ---- from the context to the result ---------------------------------------------------------- */

bool call_open(call *made) {
  return lease_begin(&made->lent, made->device, made->threads,
                     made->count > 0 ? &made->arrays[0].tensor : NULL);
}

void call_release(call *made) {
  for (int i = 0; i < made->count; i++) array_release(&made->arrays[i]);
  made->count = 0;
}

PyObject *call_fail(call *made) {
  call_release(made);
  return NULL;
}

bool call_settle(call *made, rung_status status) {
  const array *first = made->count > 0 ? &made->arrays[0] : NULL;
  rung_context *context = made->lent.context;
  /* Its library knows of no stream: what it gets must be there. */
  if (status == RUNG_OK && first != NULL && first->library->immutable && on_cuda(&first->tensor)) {
    Py_BEGIN_ALLOW_THREADS;
    status = rung_synchronize(context);
    Py_END_ALLOW_THREADS;
  }
  if (status != RUNG_OK) raise_status(status, rung_last_error(context));
  lease_end(&made->lent, status);
  made->lent.context = NULL;
  if (status != RUNG_OK) call_release(made);
  return status == RUNG_OK;
}

PyObject *call_give(const array *result) {
  if (result->library->adopt != NULL && Py_TYPE(result->object) == array_type)
    return PyObject_CallFunctionObjArgs(result->library->adopt, result->object, NULL);
  return Py_NewRef(result->object);
}

PyObject *call_end(call *made, rung_status status, array *result) {
  if (!call_settle(made, status)) return NULL;
  PyObject *object = call_give(result);
  call_release(made);
  return object;
}
