/* What the files of the extension share.
 *
 * array.c      an array of Python's as a DLTensor: buffer protocol, DLPack, CUDA array interface
 * library.c    which library an array is of, and how that makes another
 * object.c     rung.Array: host memory of our own, or somebody's array, for everybody
 * context.c    contexts: rung.Context, and those that calls borrow
 * call.c       what every call does: arguments, arrays, context, errors
 * numbers.c    single elements of any type
 * reduce.c, histogram.c, matmul.c, pairs.c, filters.c, grids.c, answers.c   the functions */
#ifndef RUNG_PYTHON_BINDING_H
#define RUNG_PYTHON_BINDING_H

#define Py_LIMITED_API 0x030B0000 /* one file for CPython 3.11 and later */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <rung/rung.h>
#include <stdbool.h>

enum { DIMENSIONS = 8, TYPES = 12, ARRAYS = 10 };

/* ---- element types: a row in the order of rung._libraries.TYPES ------------------------------ */

typedef struct element {
  const char *name;   /* "float32" */
  const char *format; /* of the buffer protocol; NULL: it has none */
  DLDataType type;
} element;
extern const element elements[TYPES];
/* Its row; -1: none of ours. */
int element_of(DLDataType type);
DLDataType element_named(const char *name); /* bits 0, ValueError: none of ours */
/* An element as Python has it. */
PyObject *number_of(const void *value, DLDataType type);

/* ---- libraries ------------------------------------------------------------------------------- */

/* All members live as long as the process; NULL where a library has no such thing. */
typedef struct library {
  PyObject *name;           /* "numpy" */
  PyObject *empty;          /* empty(shape, type) or, where `like`, empty(shape, type, like) */
  PyObject *types[TYPES];   /* what empty() takes */
  PyObject *scalars[TYPES]; /* types of single numbers */
  PyObject *stream;         /* stream(like): the current CUDA stream, an integer */
  PyObject *capsule; /* capsule(array): DLPack's, ready on the current stream, by a quicker way
                        than __dlpack__(); None: not of this array */
  PyObject *more;    /* functions of an array: one that is true means that there is more to it than
                        its memory, such as a gradient; NULL: there never is */
  PyObject *quick; /* quick(shape, strides, type, index): an array on that GPU by a quicker way than
                      empty(); None: not on this one */
  PyObject *load;  /* load(object): the array that stands for it */
  PyObject *adopt; /* adopt(rung.Array): one of its own, not copied */
  PyObject *copy;  /* copy(bytes, name of a type, like): a new array of these elements */
  bool like, immutable;
  bool keeps; /* results of its own lie in memory as their input does; it has transpose() */
} library;

/* DLPack's functions for arrays of a type, in C (DLPackExchangeAPI of its version 1.3): no stream
 * waits for another in any of them. They raise and return not 0 where they fail. */
typedef struct exchange {
  struct {
    uint32_t major, minor;
  } version;
  struct exchange *before; /* of an older major version, or NULL */
  int (*allocate)(DLTensor *like, rung_managed **made, void *to,
                  void (*fail)(void *to, const char *kind, const char *why));
  int (*export)(void *object, rung_managed **made);
  int (*import)(rung_managed *stolen, void **object);
  int (*view)(void *object, DLTensor *view); /* may be NULL */
  int (*current_stream)(DLDeviceType kind, int32_t index, void **stream);
} exchange;

/* The library whose arrays objects of this type are; NULL: raised. *by: its functions in C, or
 * NULL. */
const library *library_of(PyTypeObject *type, const exchange **by);
/* The library by its name: "numpy". */
const library *library_named(const char *name);

/* ---- arrays ---------------------------------------------------------------------------------- */

typedef struct array {
  const char *name; /* of the argument, for sentences */
  PyObject *object;
  const library *library;
  const exchange *by;
  DLTensor tensor; /* its shape and strides are `shape` and `strides`, which may be changed */
  int64_t shape[DIMENSIONS + 1], strides[DIMENSIONS + 1];
  void *stream; /* on a GPU: the CUDA stream that its producer was told of */
  bool read_only;
  enum { HELD_NOT, HELD_BUFFER, HELD_MANAGED, HELD_VERSIONED } held;
  Py_buffer buffer;
  union {
    DLManagedTensor *plain;
    rung_managed *versioned;
  } managed;
} array;

/* What for: in a call; or by its library for this call alone, and no questions need be asked; or to
 * be held for as long as somebody likes. */
typedef enum array_use { ARRAY_READ, ARRAY_WRITTEN, ARRAY_NEW, ARRAY_KEPT } array_use;

/* Fills *made from any object that is an array, nothing copied; false: raised, nothing held.
 * stream: what a CUDA producer is told to be ready on; NULL: its library's current one. */
bool array_read(array *made, const char *name, PyObject *object, array_use use, void *stream);
/* Strides of a row-major array without gaps. */
void compact_strides(int ndim, const int64_t *shape, int64_t *strides);
void array_compact(array *made);
void array_release(array *held);
static inline bool on_cuda(const DLTensor *tensor) {
  return tensor->device.device_type == kDLCUDA;
}

/* ---- rung.Array ------------------------------------------------------------------------------ */

extern PyTypeObject *array_type;
/* A tuple of `scale` times each. NULL: raised. */
PyObject *integers(const int64_t *values, int count, int64_t scale);
/* New host memory, aligned to 64 bytes. */
PyObject *object_new(int ndim, const int64_t *shape, DLDataType type);
/* Borrows what a rung.Array is; its owner must outlive the use. */
void object_view(PyObject *object, array *made);
bool object_begin(PyObject *module);

/* ---- contexts -------------------------------------------------------------------------------- */

/* A context lent to one call: the caller's rung.Context, or one of those kept for calls. */
typedef struct lease {
  rung_context *context;
  struct slot *slot; /* of those that are kept */
  PyObject *callers; /* rung.Context */
} lease;

/* device: NULL or None: `place`'s own; a name; a rung.Context. */
bool lease_begin(lease *lent, PyObject *device, long threads, const DLTensor *place);
void lease_end(lease *lent, rung_status status);
/* The stream that a rung.Context was opened on; NULL: none of its caller's, or no rung.Context. */
PyObject *context_stream(PyObject *device);
/* A CUDA stream from an integer, or an object of CuPy's, PyTorch's or CUDA Python's. */
bool stream_read(PyObject *stream, void **handle);
/* The legacy default stream, by the number that CUDA and DLPack give it. */
#define LEGACY_STREAM ((void *)1)
bool context_begin(PyObject *module);

/* ---- calls ----------------------------------------------------------------------------------- */

/* What a status is in Python, with the sentence; returns NULL. */
extern PyObject *rung_error; /* rung.Error */
PyObject *raise_status(rung_status status, const char *sentence);

/* Every function's last five arguments, by keyword alone: see OPTIONS. */
typedef struct call {
  PyObject *device;
  long threads;
  void *stream; /* that producers are told of; NULL: their libraries' current ones */
  rung_call how;
  lease lent;
  array arrays[ARRAYS];
  int count;
} call;

enum { OPTION_COUNT = 5 };
#define OPTIONS "device", "rung", "threads", "math", "stream"

/* A function's arguments: `names` ends with OPTIONS and NULL; so many of them may be given by
 * position, the first `required` must be given. */
typedef struct signature {
  const char *function;
  int positional, required;
  const char *const *names;
} signature;

/* values[] gets as many as there are names but OPTIONS, borrowed, NULL where not given; the call
 * its options. false: raised, and nothing to end. */
bool call_begin(call *made, const signature *takes, PyObject *const *given, Py_ssize_t count,
                PyObject *keywords, PyObject **values);
/* An array of the caller's: of the library and in the memory of the first one. */
array *call_array(call *made, const char *name, PyObject *object, bool written);
/* One that is read, of any library: librung says where it may be. */
array *call_other(call *made, const char *name, PyObject *object);
/* call_array() where the object may be NULL or None: then *found is NULL. */
bool call_array_if(call *made, const char *name, PyObject *object, bool written, array **found);
/* A new array of the first one's library and place; `out` itself where that is not NULL or None. */
array *call_result(call *made, PyObject *out, int ndim, const int64_t *shape, DLDataType type);
/* One of x's shape and type, which lies in memory as x does where x's library has it so. */
array *call_result_as(call *made, PyObject *out, const array *x);
/* One of a library that is named, in host memory. */
array *call_new(call *made, const library *of, int ndim, const int64_t *shape, DLDataType type);
/* Ready to compute: the context is made.lent.context. */
bool call_open(call *made);
/* The call came to `status`: false, raised and everything released, where that is a failure. */
bool call_settle(call *made, rung_status status);
/* What the caller gets for an array of call_result(). NULL: raised. */
PyObject *call_give(const array *result);
void call_release(call *made); /* keeps an exception that was raised */
/* call_settle(), call_give(), call_release(). */
PyObject *call_end(call *made, rung_status status, array *result);
/* call_release(), and NULL. */
PyObject *call_fail(call *made);

/* Runs one expression of librung without the lock of Python. */
#define CALL(made, status, expression)                 \
  do {                                                 \
    if (!call_open(made)) return call_fail(made);      \
    PyThreadState *const state_ = PyEval_SaveThread(); \
    (status) = (expression);                           \
    PyEval_RestoreThread(state_);                      \
  } while (0)

static inline bool is_given(PyObject *value) {
  return value != NULL && value != Py_None;
}
/* Small arguments; `fallback` where not given. false: raised. */
bool read_long(const char *name, PyObject *value, int64_t fallback, int64_t *number);
bool read_double(const char *name, PyObject *value, double fallback, double *number);
bool read_flag(PyObject *value, bool fallback, bool *flag);
bool read_text(const char *name, PyObject *value, const char *fallback, const char **text);
/* Doubles from a buffer of them (array.array, NumPy); held until PyBuffer_Release(). */
bool read_doubles(const char *name, PyObject *value, Py_buffer *held, const double **values,
                  int64_t *count);
/* Views: a dimension less, or one more (of extent 1) before `at`. */
void view_drop(array *view, int at);
void view_add(array *view, int at);

/* ---- the functions --------------------------------------------------------------------------- */

#define FUNCTION(name) \
  PyObject *name(PyObject *module, PyObject *const *given, Py_ssize_t count, PyObject *keywords)
FUNCTION(py_sum);
FUNCTION(py_min);
FUNCTION(py_max);
FUNCTION(py_mean);
FUNCTION(py_cumsum);
FUNCTION(py_cummin);
FUNCTION(py_cummax);
FUNCTION(py_matmul);
FUNCTION(py_histogram);
FUNCTION(py_bincount);
FUNCTION(py_pairs);
FUNCTION(py_correlate);
FUNCTION(py_convolve);
FUNCTION(py_stencil);
FUNCTION(py_radiator);
PyObject *py_even_edges(PyObject *module, PyObject *arguments);
PyObject *py_row_like(PyObject *module, PyObject *arguments);
PyObject *py_pairs_rdf(PyObject *module, PyObject *arguments);
PyObject *py_box_reach(PyObject *module, PyObject *value);
PyObject *py_edge_named(PyObject *module, PyObject *value); /* None: there is no such edge */
PyObject *py_radiator_preset(PyObject *module, PyObject *value);
PyObject *py_devices(PyObject *module, PyObject *nothing);
PyObject *py_operations(PyObject *module, PyObject *nothing);
PyObject *py_ladder(PyObject *module, PyObject *arguments);

#endif
