/* An array of Python's as a DLTensor, nothing copied: by the buffer protocol, else by DLPack, else
 * by the CUDA array interface. */
#include <string.h>

#include "binding.h"

const element elements[TYPES] = {
    {"float16", "e", {kDLFloat, 16, 1}}, {"bfloat16", NULL, {kDLBfloat, 16, 1}},
    {"float32", "f", {kDLFloat, 32, 1}}, {"float64", "d", {kDLFloat, 64, 1}},
    {"uint8", "B", {kDLUInt, 8, 1}},     {"int8", "b", {kDLInt, 8, 1}},
    {"uint16", "H", {kDLUInt, 16, 1}},   {"int16", "h", {kDLInt, 16, 1}},
    {"int32", "i", {kDLInt, 32, 1}},     {"uint32", "I", {kDLUInt, 32, 1}},
    {"int64", "q", {kDLInt, 64, 1}},     {"uint64", "Q", {kDLUInt, 64, 1}},
};
#define EXPECTED_TYPES                                                                         \
  "expected: elements of float16, bfloat16, float32, float64 or integers of 8 to 64 bits, in " \
  "this "                                                                                      \
  "machine's byte order"

int element_of(DLDataType type) {
  for (int i = 0; i < TYPES; i++)
    if (elements[i].type.code == type.code && elements[i].type.bits == type.bits && type.lanes == 1)
      return i;
  return -1;
}

DLDataType element_named(const char *name) {
  for (int i = 0; i < TYPES; i++)
    if (strcmp(elements[i].name, name) == 0) return elements[i].type;
  PyErr_Format(PyExc_ValueError, "dtype is \"%s\"; expected: \"float32\", \"float64\" ...", name);
  return (DLDataType){0};
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* The type of a struct-module format such as "<f" with elements of `bytes`; none of `elements`: it
 * has none of ours. */
static DLDataType type_of_format(const char *format, Py_ssize_t bytes) {
  DLDataType type = {0};
  if (format == NULL) format = "B";
  if (*format == '@' || *format == '=' || *format == '<') format++;
  if (*format == '\0' || format[1] != '\0' || bytes > 8) return type;
  const int code = strchr("bhilqn", *format)   ? kDLInt
                   : strchr("BHILQN", *format) ? kDLUInt
                   : strchr("efd", *format)    ? kDLFloat
                                               : -1;
  return code < 0 ? type : rung_type(code, 8 * (int)bytes);
}

static bool too_many(const array *made, int ndim) {
  if (ndim >= 0 && ndim <= DIMENSIONS) return false;
  PyErr_Format(PyExc_ValueError, "%s has %d dimensions; expected: at most %d", made->name, ndim,
               DIMENSIONS);
  return true;
}

/* Strides in bytes as DLPack has them, in elements. */
static bool set_stride(array *made, int axis, Py_ssize_t bytes, Py_ssize_t size) {
  if (bytes % size != 0) {
    PyErr_Format(PyExc_ValueError,
                 "%s has a stride of %zd bytes; expected: a multiple of its elements' %zd",
                 made->name, bytes, size);
    return false;
  }
  made->strides[axis] = bytes / size;
  return true;
}

static bool fill_from_buffer(array *made) {
  const Py_buffer *buffer = &made->buffer;
  if (too_many(made, buffer->ndim)) return false;
  const DLDataType type = type_of_format(buffer->format, buffer->itemsize);
  if (element_of(type) < 0) {
    PyErr_Format(PyExc_TypeError, "%s has elements \"%s\"; " EXPECTED_TYPES, made->name,
                 buffer->format != NULL ? buffer->format : "");
    return false;
  }
  /* NumPy's datetime64 leaves out what was asked for, and calls its eight bytes elements. */
  if (buffer->ndim > 0 && (buffer->shape == NULL || buffer->strides == NULL)) {
    PyErr_Format(PyExc_BufferError, "%s has a buffer without shape or strides; expected: both",
                 made->name);
    return false;
  }
  if (buffer->suboffsets != NULL) {
    PyErr_Format(PyExc_BufferError, "%s is an array of pointers; expected: one block of memory",
                 made->name);
    return false;
  }
  made->tensor = rung_array(buffer->buf, type, buffer->ndim, made->shape);
  made->tensor.strides = made->strides;
  made->read_only = buffer->readonly;
  for (int i = 0; i < buffer->ndim; i++) {
    made->shape[i] = buffer->shape[i];
    if (!set_stride(made, i, buffer->strides[i], buffer->itemsize)) return false;
  }
  return true;
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

/* *found is NULL where there is no such attribute; false: raised, for looking for it did. */
static bool find_attribute(PyObject *object, const char *name, PyObject **found) {
  *found = PyObject_GetAttrString(object, name);
  if (*found != NULL) return true;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
  PyErr_Clear();
  return true;
}

/* Calls __dlpack__(), on a GPU with the stream, of the newest version that it knows. */
static PyObject *capsule_of(PyObject *method, PyObject *stream) {
  PyObject *nothing = PyTuple_New(0), *options = PyDict_New(), *made = NULL;
  PyObject *version = Py_BuildValue("(ii)", 1, 0);
  if (nothing && options && version &&
      (stream == NULL || PyDict_SetItemString(options, "stream", stream) == 0) &&
      PyDict_SetItemString(options, "max_version", version) == 0) {
    made = PyObject_Call(method, nothing, options);
    if (made == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) { /* it is older than that */
      PyErr_Clear();
      if (PyDict_DelItemString(options, "max_version") == 0)
        made = PyObject_Call(method, nothing, options);
    }
  }
  Py_XDECREF(version);
  Py_XDECREF(options);
  Py_XDECREF(nothing);
  return made;
}

static bool is_known(const array *made, const rung_managed *managed) {
  if (managed->version.major == 1) return true;
  PyErr_Format(PyExc_BufferError, "%s is of DLPack %u.%u; expected: 1.x", made->name,
               (unsigned)managed->version.major, (unsigned)managed->version.minor);
  return false;
}

/* From now on it is ours to delete. */
static const DLTensor *hold(array *made, rung_managed *managed) {
  made->held = HELD_VERSIONED;
  made->managed.versioned = managed;
  made->read_only = managed->flags & 1;
  return &managed->dl_tensor;
}

/* Takes the tensor out of the capsule. */
static const DLTensor *take(array *made, PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    rung_managed *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (!is_known(made, managed) || PyCapsule_SetName(capsule, "used_dltensor_versioned") != 0)
      return NULL;
    return hold(made, managed);
  }
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    made->managed.plain = PyCapsule_GetPointer(capsule, "dltensor");
    if (PyCapsule_SetName(capsule, "used_dltensor") != 0) return NULL;
    made->held = HELD_MANAGED;
    made->read_only = false;
    return &made->managed.plain->dl_tensor;
  }
  PyErr_Format(PyExc_BufferError,
               "%s.__dlpack__() gave no fresh capsule; expected: \"dltensor\" or "
               "\"dltensor_versioned\"",
               made->name);
  return NULL;
}

void compact_strides(int ndim, const int64_t *shape, int64_t *strides) {
  uint64_t stride = 1; /* one that wraps belongs to a shape that is refused, or has no memory */
  for (int i = ndim - 1; i >= 0; i--) {
    strides[i] = (int64_t)stride;
    if (shape[i] > 1) stride *= (uint64_t)shape[i];
  }
}

void array_compact(array *made) {
  compact_strides(made->tensor.ndim, made->shape, made->strides);
}

/* What a buffer's maker cannot get wrong and others can, in librung's words: no array may show it
 * to somebody else. */
static bool is_sound(const array *made) {
  const DLTensor *tensor = &made->tensor;
  const int place = (int)tensor->device.device_type;
  int64_t bytes = tensor->dtype.bits / 8;
  bool none = false, fits = true;
  for (int i = 0; i < tensor->ndim; i++) {
    if (made->shape[i] < 0) {
      PyErr_Format(PyExc_ValueError, "%s has extent %lld in dimension %d; expected: 0 or more",
                   made->name, (long long)made->shape[i], i);
      return false;
    }
    none |= made->shape[i] == 0;
  }
  for (int i = 0; i < tensor->ndim && !none && fits; i++)
    fits = !__builtin_mul_overflow(bytes, made->shape[i], &bytes);
  if (!fits)
    PyErr_Format(PyExc_ValueError, "%s has more elements than fit in 64 bits; expected: fewer",
                 made->name);
  else if (place != kDLCPU && place != kDLCUDAHost && place != kDLCUDA && place != kDLCUDAManaged)
    PyErr_Format(PyExc_ValueError,
                 "%s lies in memory of DLPack device type %d; expected: host memory (1 or 3) or "
                 "CUDA memory (2 or 13)",
                 made->name, place);
  else if (tensor->data == NULL && !none)
    PyErr_Format(PyExc_ValueError, "%s has elements and NULL data; expected: their address",
                 made->name);
  else
    return true;
  return false;
}

static void release_held(array *held) {
  if (held->held == HELD_BUFFER) PyBuffer_Release(&held->buffer);
  if (held->held == HELD_MANAGED && held->managed.plain->deleter != NULL)
    held->managed.plain->deleter(held->managed.plain);
  if (held->held == HELD_VERSIONED && held->managed.versioned->deleter != NULL)
    held->managed.versioned->deleter(held->managed.versioned);
  held->held = HELD_NOT;
}

static bool fill_from_dlpack(array *made, const DLTensor *theirs) {
  if (too_many(made, theirs->ndim)) return false;
  if (theirs->ndim > 0 && theirs->shape == NULL) {
    PyErr_Format(PyExc_BufferError, "%s has a shape of NULL; expected: %d extents", made->name,
                 theirs->ndim);
    return false;
  }
  if (element_of(theirs->dtype) < 0) {
    PyErr_Format(PyExc_TypeError, "%s has DLPack type (%d, %d, %d); " EXPECTED_TYPES, made->name,
                 theirs->dtype.code, theirs->dtype.bits, theirs->dtype.lanes);
    return false;
  }
  const size_t bytes = (size_t)theirs->ndim * sizeof(int64_t);
  made->tensor = *theirs;
  made->tensor.shape = made->shape;
  made->tensor.strides = made->strides;
  if (bytes > 0) memcpy(made->shape, theirs->shape, bytes);
  if (theirs->strides == NULL)
    array_compact(made);
  else if (bytes > 0)
    memcpy(made->strides, theirs->strides, bytes);
  return is_sound(made);
}

/* An integer of a producer's, of 32 bits. */
static bool small_integer(PyObject *value, int *number) {
  const long found = PyLong_AsLong(value);
  *number = (int)found;
  return found == *number && !PyErr_Occurred();
}

/* Where the producer says that its memory is. */
static bool place_of(array *made, int *kind) {
  int number;
  PyObject *method = NULL;
  if (!find_attribute(made->object, "__dlpack_device__", &method)) return false;
  if (method == NULL) {
    PyErr_Format(PyExc_TypeError, "%s has __dlpack__() and no __dlpack_device__(); expected: both",
                 made->name);
    return false;
  }
  PyObject *place = PyObject_CallNoArgs(method);
  Py_DECREF(method);
  if (place == NULL) return false;
  const bool good = PyTuple_Check(place) && PyTuple_Size(place) == 2 &&
                    small_integer(PyTuple_GetItem(place, 0), kind) &&
                    small_integer(PyTuple_GetItem(place, 1), &number);
  if (!good && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError) ||
                PyErr_ExceptionMatches(PyExc_OverflowError)))
    PyErr_Format(PyExc_BufferError,
                 "%s.__dlpack_device__() gave %R; expected: a device type and a number, integers",
                 made->name, place);
  Py_DECREF(place);
  return good;
}

/* The stream that a producer on a GPU is told of. */
static PyObject *stream_for(array *made, void *stream) {
  PyObject *const current = made->library->stream;
  if (stream == NULL && current != NULL) {
    PyObject *number = PyObject_CallFunctionObjArgs(current, made->object, NULL);
    if (number == NULL) return NULL;
    const bool good = stream_read(number, &stream);
    Py_DECREF(number);
    if (!good) return NULL;
  }
  made->stream = stream != NULL ? stream : LEGACY_STREAM;
  return PyLong_FromVoidPtr(made->stream);
}

/* The capsule's tensor; the reference to it is taken. */
static bool fill_from_capsule(array *made, PyObject *capsule) {
  const DLTensor *theirs = take(made, capsule);
  Py_DECREF(capsule);
  return theirs != NULL && fill_from_dlpack(made, theirs);
}

static bool read_dlpack(array *made, PyObject *method, void *stream) {
  int kind;
  PyObject *number = NULL;
  if (!place_of(made, &kind)) return false;
  if (kind == kDLCUDA && (number = stream_for(made, stream)) == NULL) return false;
  PyObject *capsule = capsule_of(method, number);
  Py_XDECREF(number);
  if (capsule == NULL || !fill_from_capsule(made, capsule)) return false;
  if ((int)made->tensor.device.device_type == kind) return true;
  PyErr_Format(PyExc_BufferError, "%s says that it is on device type %d and is on %d", made->name,
               kind, (int)made->tensor.device.device_type);
  return false;
}

/* By the library's quicker way, where it has one: nobody need be told of the stream, for it is the
 * current one. */
static bool read_capsule(array *made, PyObject *capsule) {
  if (!fill_from_capsule(made, capsule)) return false;
  if (made->tensor.device.device_type != kDLCUDA) return true;
  PyObject *number = stream_for(made, NULL);
  Py_XDECREF(number);
  return number != NULL;
}

/* One of them has failed, and said so. */
static bool exchange_failed(const array *made) {
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_BufferError, "%s has a function of DLPack's that failed and raised nothing",
                 made->name);
  return false;
}

/* Whether the array's memory is all there is to it. false: raised. */
static bool is_plain(const array *made, bool *plain) {
  PyObject *const more = made->library->more;
  const Py_ssize_t count = more != NULL ? PyTuple_Size(more) : 0;
  *plain = true;
  for (Py_ssize_t i = 0; i < count && *plain; i++) {
    PyObject *said = PyObject_CallFunctionObjArgs(PyTuple_GetItem(more, i), made->object, NULL);
    if (said == NULL) return false;
    *plain = said == Py_False;
    Py_DECREF(said);
  }
  return count >= 0;
}

/* What a call reads is only looked at, while its object is held: there is nothing to give back, but
 * nobody says whether it may be written. */
static bool export(array *made, bool looks) {
  const exchange *by = made->by;
  rung_managed *managed = NULL;
  if (looks && by->view != NULL) {
    DLTensor theirs = {0};
    made->read_only = false;
    return by->view(made->object, &theirs) == 0 ? fill_from_dlpack(made, &theirs)
                                                : exchange_failed(made);
  }
  if (by->export(made->object, &managed) != 0 || managed == NULL) return exchange_failed(made);
  const DLTensor *theirs = hold(made, managed);
  return is_known(made, managed) && fill_from_dlpack(made, theirs);
}

/* By the library's functions in C. Nobody is told of a stream, so that it is the current one or
 * this way is not open: then *done stays false, and nothing is held. */
static bool read_exchange(array *made, array_use use, void *stream, bool *done) {
  const exchange *by = made->by;
  bool plain = true;
  if (use != ARRAY_NEW && !is_plain(made, &plain)) return false;
  if (!plain) return true;
  if (!export(made, use == ARRAY_READ || use == ARRAY_NEW)) return false;
  if (on_cuda(&made->tensor)) {
    void *current = NULL;
    if (by->current_stream(kDLCUDA, made->tensor.device.device_id, &current) != 0)
      return exchange_failed(made);
    if (current == NULL) current = LEGACY_STREAM;
    if (stream != NULL && stream != current) return release_held(made), true;
    made->stream = current;
  }
  *done = true;
  return true;
}

/* ---- CUDA array interface -------------------------------------------------------------------- */

/* A shape, or, of elements of so many bytes, the strides of one. */
static bool read_integers(array *made, PyObject *values, const char *what, Py_ssize_t bytes) {
  const Py_ssize_t count = PyTuple_Check(values) ? PyTuple_Size(values) : -1;
  const bool fits = bytes == 0 ? count >= 0 && count <= DIMENSIONS : count == made->tensor.ndim;
  for (Py_ssize_t i = 0; i < count && fits; i++) {
    const Py_ssize_t value = PyNumber_AsSsize_t(PyTuple_GetItem(values, i), PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred()) break;
    if (bytes == 0)
      made->shape[i] = value;
    else if (!set_stride(made, (int)i, value, bytes))
      return false;
  }
  if (fits && !PyErr_Occurred()) {
    made->tensor.ndim = (int)count;
    return true;
  }
  if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError))
    PyErr_Format(PyExc_ValueError,
                 "%s.__cuda_array_interface__ has the %s %R; expected: an integer of 64 bits for "
                 "each of at most %d dimensions",
                 made->name, what, values, DIMENSIONS);
  return false;
}

/* A byte order, a letter and a number of bytes: "<f4". */
static DLDataType type_of_typestr(const char *text) {
  DLDataType type = {0};
  if (strlen(text) != 3 || text[0] == '>' || text[2] < '1' || text[2] > '8') return type;
  const int code = text[1] == 'f'   ? kDLFloat
                   : text[1] == 'i' ? kDLInt
                   : text[1] == 'u' ? kDLUInt
                                    : -1;
  return code < 0 ? type : rung_type(code, 8 * (text[2] - '0'));
}

/* (address, whether it may not be written) */
static bool read_address(array *made, PyObject *data, DLDataType type) {
  PyObject *const address = PyTuple_GetItem(data, 0);
  const int read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1));
  if (read_only < 0) return false;
  void *const at = PyLong_AsVoidPtr(address);
  if (PyErr_Occurred()) {
    PyErr_Format(PyErr_ExceptionMatches(PyExc_OverflowError) ? PyExc_ValueError : PyExc_TypeError,
                 "%s.__cuda_array_interface__ has the address %R; expected: an integer of 64 bits",
                 made->name, address);
    return false;
  }
  made->read_only = read_only == 1;
  made->tensor = rung_on_cuda(rung_array(at, type, 0, made->shape), 0);
  made->tensor.strides = made->strides;
  return true;
}

/* The interface says nothing of the device: it is the first one. */
static bool read_interface(array *made, PyObject *interface, void *stream) {
  PyObject *shape = PyDict_GetItemString(interface, "shape");
  PyObject *strides = PyDict_GetItemString(interface, "strides");
  PyObject *data = PyDict_GetItemString(interface, "data");
  PyObject *type = PyDict_GetItemString(interface, "typestr");
  const char *text =
      type != NULL && PyUnicode_Check(type) ? PyUnicode_AsUTF8AndSize(type, NULL) : "";
  if (text == NULL) return false;
  if (shape == NULL || type == NULL || data == NULL || !PyTuple_Check(data) ||
      PyTuple_Size(data) != 2) {
    PyErr_Format(PyExc_ValueError,
                 "%s.__cuda_array_interface__ is not whole; expected: shape, typestr and data",
                 made->name);
    return false;
  }
  const DLDataType dtype = type_of_typestr(text);
  if (element_of(dtype) < 0) {
    PyErr_Format(PyExc_TypeError, "%s has elements %R; " EXPECTED_TYPES, made->name, type);
    return false;
  }
  if (is_given(PyDict_GetItemString(interface, "mask"))) {
    PyErr_Format(PyExc_TypeError, "%s has a mask, which would be lost; expected: an array without",
                 made->name);
    return false;
  }
  if (!read_address(made, data, dtype) || !read_integers(made, shape, "shape", 0)) return false;
  PyObject *theirs = PyDict_GetItemString(interface, "stream");
  made->stream = stream != NULL ? stream : LEGACY_STREAM;
  if (stream == NULL && is_given(theirs) && !stream_read(theirs, &made->stream)) return false;
  if (!is_given(strides))
    array_compact(made);
  else if (!read_integers(made, strides, "strides", dtype.bits / 8))
    return false;
  return is_sound(made);
}

/* ---- any of them ----------------------------------------------------------------------------- */

static bool read_device_array(array *made, array_use use, void *stream) {
  bool done = false;
  if (made->by != NULL && !read_exchange(made, use, stream, &done)) return false;
  if (done) return true;
  if (stream == NULL && made->library->capsule != NULL) {
    PyObject *capsule = PyObject_CallFunctionObjArgs(made->library->capsule, made->object, NULL);
    if (capsule == NULL) return false;
    if (capsule != Py_None) return read_capsule(made, capsule);
    Py_DECREF(capsule);
  }
  PyObject *found;
  if (!find_attribute(made->object, "__dlpack__", &found)) return false;
  if (found != NULL) {
    const bool good = read_dlpack(made, found, stream);
    Py_DECREF(found);
    return good;
  }
  if (!find_attribute(made->object, "__cuda_array_interface__", &found)) return false;
  if (found != NULL && PyDict_Check(found)) {
    const bool good = read_interface(made, found, stream);
    Py_DECREF(found);
    return good;
  }
  Py_XDECREF(found);
  PyObject *type = PyType_GetName(Py_TYPE(made->object));
  if (type == NULL) return false;
  PyErr_Format(PyExc_TypeError,
               "%s is of type %U; expected: an array (buffer protocol, DLPack or CUDA array "
               "interface)",
               made->name, type);
  Py_DECREF(type);
  return false;
}

/* Whether what an array says of its buffer means that its memory is not the host's: JAX's say
 * BufferError, CuPy's TypeError. The exception is gone then, else it stays. */
static bool is_elsewhere(PyObject *object) {
  PyObject *type, *value, *trace;
  if (!PyErr_ExceptionMatches(PyExc_BufferError) && !PyErr_ExceptionMatches(PyExc_TypeError))
    return false;
  PyErr_Fetch(&type, &value, &trace); /* nothing may be called while one is set */
  if (!PyObject_HasAttrString(object, "__dlpack__") &&
      !PyObject_HasAttrString(object, "__cuda_array_interface__")) {
    PyErr_Restore(type, value, trace);
    return false;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return true;
}

static bool read_any(array *made, array_use use, void *stream) {
  if (Py_TYPE(made->object) == array_type) {
    object_view(made->object, made);
    return true;
  }
  if (PyObject_CheckBuffer(made->object)) {
    if (PyObject_GetBuffer(made->object, &made->buffer, PyBUF_FULL_RO) == 0) {
      made->held = HELD_BUFFER;
      return fill_from_buffer(made);
    }
    if (!is_elsewhere(made->object)) return false;
  }
  return read_device_array(made, use, stream);
}

bool array_read(array *made, const char *name, PyObject *object, array_use use, void *stream) {
  made->name = name;
  made->held = HELD_NOT;
  made->stream = NULL;
  made->object = NULL;
  made->library = library_of(Py_TYPE(object), &made->by);
  if (made->library == NULL) return false;
  if (made->library->load != NULL) {
    made->object = PyObject_CallFunctionObjArgs(made->library->load, object, NULL);
    if (made->object == NULL) return false;
    made->library = library_of(Py_TYPE(made->object), &made->by);
    if (made->library == NULL) return array_release(made), false;
  } else {
    made->object = Py_NewRef(object);
  }
  if (!read_any(made, use, stream)) return array_release(made), false;
  if (use != ARRAY_WRITTEN || !made->read_only) return true;
  PyErr_Format(PyExc_ValueError, "%s is read-only; expected: an array that may be written", name);
  array_release(made);
  return false;
}

void array_release(array *held) {
  PyObject *kind, *value, *trace; /* a producer's deleter must not meet an exception */
  PyErr_Fetch(&kind, &value, &trace);
  release_held(held);
  Py_CLEAR(held->object);
  PyErr_Restore(kind, value, trace);
}
