/* rung.Array: an array of no library, for all of them: host memory of its own or an array of
 * somebody's, not copied. It speaks the buffer protocol and DLPack, both ways. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

typedef struct object {
  PyObject base;
  array of;     /* what it borrows; its tensor is what it shows */
  void *memory; /* its own, or NULL */
  Py_ssize_t shape[DIMENSIONS + 1], byte_strides[DIMENSIONS + 1]; /* for buffers */
} object;

PyTypeObject *array_type;

static int64_t elements_in(const DLTensor *tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor->ndim; i++) count *= tensor->shape[i];
  return count;
}

static object *allocate(void) {
  allocfunc make = (allocfunc)PyType_GetSlot(array_type, Py_tp_alloc);
  return (object *)make(array_type, 0);
}

/* The bytes of an array; -1: more than there can be. */
static int64_t bytes_of(int ndim, const int64_t *shape, DLDataType type) {
  int64_t bytes = type.bits / 8;
  bool none = false;
  for (int i = 0; i < ndim; i++) none |= shape[i] == 0;
  for (int i = 0; i < ndim && !none; i++)
    if (shape[i] < 0 || __builtin_mul_overflow(bytes, shape[i], &bytes)) return -1;
  return none ? 0 : bytes;
}

PyObject *object_new(int ndim, const int64_t *shape, DLDataType type) {
  enum { ALIGNMENT = 64 };
  const int64_t bytes = bytes_of(ndim, shape, type);
  object *made = allocate();
  if (made == NULL) return NULL;
  if (bytes >= 0 && bytes <= PY_SSIZE_T_MAX - ALIGNMENT)
    made->memory = aligned_alloc(ALIGNMENT, ((size_t)bytes / ALIGNMENT + 1) * ALIGNMENT);
  if (made->memory == NULL) {
    Py_DECREF(made);
    if (bytes >= 0)
      PyErr_Format(PyExc_MemoryError, "no memory for an array of %lld bytes", (long long)bytes);
    else
      PyErr_SetString(PyExc_MemoryError,
                      "no memory for an array of more bytes than fit in 64 bits");
    return NULL;
  }
  memcpy(made->of.shape, shape, (size_t)ndim * sizeof *shape);
  made->of.tensor = rung_array(made->memory, type, ndim, made->of.shape);
  made->of.tensor.strides = made->of.strides;
  array_compact(&made->of);
  return (PyObject *)made;
}

void object_view(PyObject *from, array *made) {
  const object *self = (const object *)from;
  memcpy(made->shape, self->of.shape, sizeof made->shape);
  memcpy(made->strides, self->of.strides, sizeof made->strides);
  made->tensor = self->of.tensor;
  made->tensor.shape = made->shape;
  made->tensor.strides = made->strides;
  made->read_only = self->of.read_only;
}

static PyObject *array_make(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  (void)type;
  static char *names[] = {"x", NULL};
  PyObject *from;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:Array", names, &from)) return NULL;
  object *made = allocate();
  if (made == NULL) return NULL;
  if (!array_read(&made->of, "x", from, ARRAY_KEPT, NULL)) {
    Py_DECREF(made);
    return NULL;
  }
  return (PyObject *)made;
}

static void array_delete(PyObject *from) {
  object *self = (object *)from;
  PyTypeObject *type = Py_TYPE(from);
  array_release(&self->of);
  free(self->memory);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(from);
  Py_DECREF(type);
}

/* ---- buffer protocol ------------------------------------------------------------------------- */

static char *data_of(const DLTensor *tensor) {
  return (char *)tensor->data + tensor->byte_offset;
}

static bool is_compact(const DLTensor *tensor) {
  int64_t stride = 1;
  for (int i = tensor->ndim - 1; i >= 0; i--) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != stride) return false;
    stride *= tensor->shape[i];
  }
  return true;
}

enum { CONTIGUOUS = PyBUF_C_CONTIGUOUS | PyBUF_F_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS };

static const char *buffer_refusal(const object *self, int flags, int row) {
  if (on_cuda(&self->of.tensor)) return "the array is on a GPU; expected: DLPack";
  if (elements[row].format == NULL) return "bfloat16 has no buffer; expected: DLPack";
  if ((flags & PyBUF_WRITABLE) && self->of.read_only) return "the array is read-only";
  const bool strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  const bool contiguous = flags & (CONTIGUOUS & ~PyBUF_STRIDES);
  const bool columns = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  if (((contiguous || !strides) && !is_compact(&self->of.tensor)) ||
      (columns && self->of.tensor.ndim > 1))
    return "the array is not contiguous that way; expected: a request that takes strides";
  return NULL;
}

static int buffer_get(PyObject *from, Py_buffer *view, int flags) {
  object *self = (object *)from;
  const DLTensor *tensor = &self->of.tensor;
  const int row = element_of(tensor->dtype);
  const char *refusal = buffer_refusal(self, flags, row);
  view->obj = NULL;
  if (refusal != NULL) {
    PyErr_SetString(PyExc_BufferError, refusal);
    return -1;
  }
  const Py_ssize_t size = tensor->dtype.bits / 8;
  for (int i = 0; i < tensor->ndim; i++) {
    self->shape[i] = tensor->shape[i];
    self->byte_strides[i] = tensor->strides[i] * size;
  }
  *view =
      (Py_buffer){.buf = data_of(tensor),
                  .obj = Py_NewRef(from),
                  .len = elements_in(tensor) * size,
                  .itemsize = size,
                  .readonly = self->of.read_only,
                  .ndim = tensor->ndim,
                  .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)elements[row].format : NULL,
                  .shape = flags & PyBUF_ND ? self->shape : NULL,
                  .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->byte_strides : NULL};
  return 0;
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

/* What a consumer is given: it keeps the array alive. */
typedef struct export {
  union {
    DLManagedTensor plain;
    rung_managed versioned;
  } managed;
  object *from;
}
export;

static void export_release(export *given) {
  if (Py_IsInitialized()) { /* else the process is about to end, and its memory with it */
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)given->from);
    PyGILState_Release(state);
  }
  free(given);
}
static void delete_plain(DLManagedTensor *managed) {
  export_release(managed->manager_ctx);
}
static void delete_versioned(rung_managed *managed) {
  export_release(managed->manager_ctx);
}

/* A capsule that nobody took. */
static void capsule_delete(PyObject *capsule) {
  const char *name = PyCapsule_GetName(capsule);
  if (name == NULL || strncmp(name, "used_", 5) == 0) return;
  const export *given = PyCapsule_GetPointer(capsule, name);
  if (given != NULL) export_release((export *)(uintptr_t)given);
}

static PyObject *capsule_new(object *self, bool versioned) {
  export *given = calloc(1, sizeof *given);
  if (given == NULL) return PyErr_NoMemory();
  given->from = self;
  if (versioned) {
    given->managed.versioned = (rung_managed){.version = {1, 0},
                                              .manager_ctx = given,
                                              .deleter = delete_versioned,
                                              .flags = self->of.read_only,
                                              .dl_tensor = self->of.tensor};
  } else {
    given->managed.plain = (DLManagedTensor){
        .dl_tensor = self->of.tensor, .manager_ctx = given, .deleter = delete_plain};
  }
  PyObject *capsule =
      PyCapsule_New(given, versioned ? "dltensor_versioned" : "dltensor", capsule_delete);
  if (capsule != NULL)
    Py_INCREF((PyObject *)self);
  else
    free(given);
  return capsule;
}

/* On a GPU the array's own producer is asked, who knows how to make it ready on another stream. */
static PyObject *forward(PyObject *producer, PyObject *arguments, PyObject *keywords) {
  PyObject *method = PyObject_GetAttrString(producer, "__dlpack__");
  PyObject *capsule = method != NULL ? PyObject_Call(method, arguments, keywords) : NULL;
  Py_XDECREF(method);
  return capsule;
}

/* The first number of a version such as (1, 0); 0: none was given. */
static bool read_major(PyObject *version, long *major) {
  int beyond = 0;
  *major = 0;
  if (!is_given(version)) return true;
  PyObject *first =
      PyTuple_Check(version) && PyTuple_Size(version) == 2 ? PyTuple_GetItem(version, 0) : NULL;
  if (first != NULL && PyLong_Check(first)) {
    *major = PyLong_AsLongAndOverflow(first, &beyond);
    if (beyond > 0) *major = LONG_MAX;
    return true;
  }
  PyErr_Format(PyExc_TypeError, "max_version is %R; expected: two integers, (1, 0)", version);
  return false;
}

static PyObject *array_dlpack(PyObject *from, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  object *self = (object *)from;
  PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
  long major = 0;
  bool copied;
  if (on_cuda(&self->of.tensor) && PyObject_HasAttrString(self->of.object, "__dlpack__"))
    return forward(self->of.object, arguments, keywords);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__", names, &stream,
                                   &version, &device, &copy))
    return NULL;
  if (!read_major(version, &major) || !read_flag(copy, false, &copied)) return NULL;
  if (copied) {
    PyErr_SetString(PyExc_BufferError, "copy is True; expected: None or False, nothing is copied");
    return NULL;
  }
  if (is_given(device)) {
    PyObject *own = PyObject_CallMethod(from, "__dlpack_device__", NULL);
    const int same = own != NULL ? PyObject_RichCompareBool(own, device, Py_EQ) : -1;
    Py_XDECREF(own);
    if (same < 0) return NULL;
    if (same == 0) {
      PyErr_SetString(PyExc_BufferError, "dl_device is another device; expected: the array's own");
      return NULL;
    }
  }
  if (self->of.read_only && major < 1) {
    PyErr_SetString(PyExc_BufferError,
                    "the array is read-only; expected: max_version of (1, 0) or later");
    return NULL;
  }
  return capsule_new(self, major >= 1);
}

static PyObject *array_dlpack_device(PyObject *from, PyObject *nothing) {
  (void)nothing;
  const DLDevice device = ((object *)from)->of.tensor.device;
  return Py_BuildValue("(ii)", (int)device.device_type, (int)device.device_id);
}

/* ---- what it says of itself ------------------------------------------------------------------ */

PyObject *integers(const int64_t *values, int count, int64_t scale) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; i < count && tuple != NULL; i++) {
    PyObject *value = PyLong_FromLongLong(values[i] * scale);
    if (value == NULL || PyTuple_SetItem(tuple, i, value) != 0) Py_CLEAR(tuple);
  }
  return tuple;
}
static PyObject *get_shape(PyObject *from, void *unused) {
  (void)unused;
  const DLTensor *tensor = &((object *)from)->of.tensor;
  return integers(tensor->shape, tensor->ndim, 1);
}
static PyObject *get_strides(PyObject *from, void *unused) {
  (void)unused;
  const DLTensor *tensor = &((object *)from)->of.tensor;
  return integers(tensor->strides, tensor->ndim, tensor->dtype.bits / 8);
}
static PyObject *get_dtype(PyObject *from, void *unused) {
  (void)unused;
  return PyUnicode_FromString(elements[element_of(((object *)from)->of.tensor.dtype)].name);
}
static PyObject *get_address(PyObject *from, void *unused) {
  (void)unused;
  return PyLong_FromVoidPtr(data_of(&((object *)from)->of.tensor));
}
static PyObject *get_read_only(PyObject *from, void *unused) {
  (void)unused;
  return PyBool_FromLong(((object *)from)->of.read_only);
}
static PyObject *array_text(PyObject *from) {
  PyObject *shape = get_shape(from, NULL), *made = NULL;
  const DLTensor *tensor = &((object *)from)->of.tensor;
  if (shape != NULL)
    made = PyUnicode_FromFormat("rung.Array(shape=%S, dtype='%s', device='%s')", shape,
                                elements[element_of(tensor->dtype)].name,
                                on_cuda(tensor) ? "cuda" : "cpu");
  Py_XDECREF(shape);
  return made;
}

#define GETTER(name, get, text) \
  { name, get, NULL, PyDoc_STR(text), NULL }
static PyGetSetDef array_getters[] = {
    GETTER("shape", get_shape, "The extents: a tuple of integers."),
    GETTER("strides", get_strides, "From one element to the next along each axis: bytes."),
    GETTER("dtype", get_dtype, "The element type's name: \"float32\"."),
    GETTER("address", get_address, "Where the first element lies: an integer."),
    GETTER("readonly", get_read_only, "True where the array may not be written."),
    {0}};
static PyMethodDef array_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("A capsule of DLPack 1.0, or for older consumers of 0.x. Nothing is copied.")},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS,
     PyDoc_STR("DLPack's device type and number.")},
    {0}};
static PyType_Slot array_slots[] = {
    {Py_tp_doc,
     (void *)"Array(x)\n--\n\n"
             "An array of no library, for all of them: any array that is given, not copied, or a\n"
             "result where the input was of no library that makes arrays. It has the buffer\n"
             "protocol and DLPack: numpy.asarray(a), torch.from_dlpack(a).\n\n"
             "TypeError, ValueError, BufferError: x is no array, or of no type that Rung knows.\n\n"
             ">>> import array, rung\n"
             ">>> rung.Array(array.array('d', [1, 2, 3]))\n"
             "rung.Array(shape=(3,), dtype='float64', device='cpu')\n"},
    {Py_tp_new, array_make},
    {Py_tp_dealloc, array_delete},
    {Py_tp_repr, array_text},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getters},
    {Py_bf_getbuffer, buffer_get},
    {0}};
static PyType_Spec array_spec = {"rung.Array", sizeof(object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, array_slots};

bool object_begin(PyObject *module) {
  array_type = (PyTypeObject *)PyType_FromSpec(&array_spec);
  return array_type != NULL && PyModule_AddObjectRef(module, "Array", (PyObject *)array_type) == 0;
}
