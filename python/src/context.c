/* Contexts. A call borrows one of those that are kept, by device and number of threads, or opens
 * one more: as many as there are calls at a time, so that two threads never share one. Python's
 * lock guards the list. rung.Context is one of the caller's own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

enum { NAME = 32, MOST_THREADS = 4096 };

typedef struct slot {
  struct slot *next;
  rung_context *context;
  char device[NAME];
  long threads;
} slot;
static slot *kept;

/* After fork() the parent's contexts refuse every call: the child begins with none. */
static void forget_kept(void) {
  kept = NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* NULL: raised. */
static rung_context *open_context(const rung_options *options) {
  rung_context *context;
  rung_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = rung_open(&context, options);
  Py_END_ALLOW_THREADS;
  if (status == RUNG_OK) return context;
  raise_status(status, rung_last_error(context));
  rung_close(context);
  return NULL;
}

static void close_context(rung_context *context) {
  Py_BEGIN_ALLOW_THREADS;
  rung_close(context);
  Py_END_ALLOW_THREADS;
}

static bool threads_fit(long threads) {
  if (threads >= 0 && threads <= MOST_THREADS) return true;
  PyErr_Format(PyExc_ValueError, "threads is %ld; expected: 1 ... %d, or 0 for all", threads,
               MOST_THREADS);
  return false;
}

static slot *take_kept(const char *device, long threads) {
  for (slot **at = &kept; *at != NULL; at = &(*at)->next) {
    slot *found = *at;
    if (found->threads != threads || strcmp(found->device, device) != 0) continue;
    *at = found->next;
    return found;
  }
  return NULL;
}

static slot *open_slot(const char *device, long threads) {
  slot *made = malloc(sizeof *made);
  if (made == NULL) return PyErr_NoMemory(), NULL;
  *made = (slot){.threads = threads};
  strcpy(made->device, device);
  made->context = open_context(&(rung_options){.device = device, .threads = (int)threads});
  if (made->context == NULL) {
    free(made);
    return NULL;
  }
  return made;
}

static bool lend_kept(lease *lent, const char *device, long threads) {
  if (!threads_fit(threads)) return false;
  if (strlen(device) >= NAME) {
    PyErr_Format(PyExc_ValueError,
                 "device is \"%s\"; expected: \"cpu\", \"cuda\", \"cuda:0\", \"sim\" or \"auto\"",
                 device);
    return false;
  }
  lent->slot = take_kept(device, threads);
  if (lent->slot == NULL) lent->slot = open_slot(device, threads);
  if (lent->slot == NULL) return false;
  lent->context = lent->slot->context;
  return true;
}

/* ---- rung.Context ---------------------------------------------------------------------------- */

typedef struct context {
  PyObject base;
  rung_context *opened; /* NULL: closed */
  PyObject *stream;     /* the caller's, kept alive; NULL: none */
  bool busy;
} context;

static PyTypeObject *context_type;

static bool usable(const context *self) {
  if (self->opened == NULL)
    PyErr_SetString(PyExc_ValueError, "the context is closed; expected: an open one");
  else if (self->busy)
    PyErr_SetString(PyExc_ValueError,
                    "the context is in use by another thread; expected: one each");
  return self->opened != NULL && !self->busy;
}

static bool lend_callers(lease *lent, PyObject *device, long threads) {
  context *self = (context *)device;
  if (threads != 0) {
    PyErr_Format(PyExc_ValueError,
                 "threads is %ld beside a context; expected: the number that it was opened with",
                 threads);
    return false;
  }
  if (!usable(self)) return false;
  self->busy = true;
  lent->callers = Py_NewRef(device);
  lent->context = self->opened;
  return true;
}

PyObject *context_stream(PyObject *device) {
  return device != NULL && Py_TYPE(device) == context_type ? ((context *)device)->stream : NULL;
}

bool lease_begin(lease *lent, PyObject *device, long threads, const DLTensor *place) {
  *lent = (lease){0};
  if (device != NULL && Py_TYPE(device) == context_type) return lend_callers(lent, device, threads);
  if (is_given(device)) {
    const char *name;
    return read_text("device", device, NULL, &name) && lend_kept(lent, name, threads);
  }
  char name[NAME] = "cpu";
  if (place != NULL && on_cuda(place))
    PyOS_snprintf(name, sizeof name, "cuda:%d", (int)place->device.device_id);
  return lend_kept(lent, name, threads);
}

void lease_end(lease *lent, rung_status status) {
  slot *used = lent->slot;
  if (used != NULL && status == RUNG_DEVICE_FAILED) { /* of no more use */
    close_context(used->context);
    free(used);
  } else if (used != NULL) {
    used->next = kept;
    kept = used;
  }
  if (lent->callers != NULL) ((context *)lent->callers)->busy = false;
  Py_CLEAR(lent->callers);
  lent->slot = NULL;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The integer of a stream: itself, CuPy's `ptr`, PyTorch's `cuda_stream`, or what __cuda_stream__()
 * says second. */
static PyObject *stream_number(PyObject *stream) {
  static const char *const attributes[] = {"cuda_stream", "ptr"};
  if (PyLong_Check(stream)) return Py_NewRef(stream);
  for (int i = 0; i < 2; i++)
    if (PyObject_HasAttrString(stream, attributes[i]))
      return PyObject_GetAttrString(stream, attributes[i]);
  if (!PyObject_HasAttrString(stream, "__cuda_stream__")) {
    PyErr_Format(PyExc_TypeError,
                 "stream is %R; expected: an integer, or an object of CuPy, PyTorch or CUDA Python",
                 stream);
    return NULL;
  }
  PyObject *both = PyObject_CallMethod(stream, "__cuda_stream__", NULL);
  PyObject *number = both != NULL ? PySequence_GetItem(both, 1) : NULL;
  Py_XDECREF(both);
  return number;
}

bool stream_read(PyObject *stream, void **handle) {
  PyObject *number = stream_number(stream);
  if (number == NULL) return false;
  *handle = PyLong_AsVoidPtr(number);
  if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError))
    PyErr_Format(PyExc_ValueError, "stream is %R; expected: an integer of 64 bits", number);
  Py_DECREF(number);
  if (PyErr_Occurred()) return false;
  if (*handle == NULL) *handle = LEGACY_STREAM; /* its other name */
  return true;
}

/* ---- the type -------------------------------------------------------------------------------- */

static PyObject *context_make(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"device", "threads", "isa", "stream", NULL};
  rung_options options = {0};
  int64_t threads;
  PyObject *stream = NULL, *wanted = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|z$OzO:Context", names, &options.device,
                                   &wanted, &options.isa, &stream) ||
      !read_long("threads", wanted, 0, &threads) || !threads_fit((long)threads))
    return NULL;
  options.threads = (int)threads;
  const bool own = is_given(stream) && PyUnicode_Check(stream) &&
                   PyUnicode_CompareWithASCIIString(stream, "own") == 0;
  if (own)
    options.stream = RUNG_OWN_STREAM;
  else if (is_given(stream) && !stream_read(stream, &options.stream))
    return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  context *made = (context *)allocate(type, 0);
  if (made == NULL) return NULL;
  made->opened = open_context(&options);
  if (made->opened == NULL) {
    Py_DECREF(made);
    return NULL;
  }
  if (is_given(stream) && !own) made->stream = Py_NewRef(stream);
  return (PyObject *)made;
}

static PyObject *context_close(PyObject *from, PyObject *nothing) {
  (void)nothing;
  context *self = (context *)from;
  if (self->opened != NULL && !usable(self)) return NULL;
  rung_context *opened = self->opened;
  self->opened = NULL;
  close_context(opened);
  Py_CLEAR(self->stream);
  Py_RETURN_NONE;
}

static PyObject *context_synchronize(PyObject *from, PyObject *nothing) {
  (void)nothing;
  context *self = (context *)from;
  rung_status status;
  if (!usable(self)) return NULL;
  self->busy = true;
  Py_BEGIN_ALLOW_THREADS;
  status = rung_synchronize(self->opened);
  Py_END_ALLOW_THREADS;
  self->busy = false;
  if (status != RUNG_OK) return raise_status(status, rung_last_error(self->opened));
  Py_RETURN_NONE;
}

static PyObject *context_enter(PyObject *from, PyObject *nothing) {
  (void)nothing;
  return usable((context *)from) ? Py_NewRef(from) : NULL;
}
static PyObject *context_exit(PyObject *from, PyObject *arguments) {
  (void)arguments;
  return context_close(from, NULL);
}

static void context_delete(PyObject *from) {
  context *self = (context *)from;
  PyTypeObject *type = Py_TYPE(from);
  if (self->opened != NULL) close_context(self->opened);
  Py_CLEAR(self->stream);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(from);
  Py_DECREF(type);
}

static PyMethodDef context_methods[] = {
    {"close", context_close, METH_NOARGS,
     PyDoc_STR("Waits for the work under way and frees what the context owns; again: nothing.")},
    {"synchronize", context_synchronize, METH_NOARGS,
     PyDoc_STR("Waits until all work of this context is done; raises what went wrong in it.")},
    {"__enter__", context_enter, METH_NOARGS, NULL},
    {"__exit__", context_exit, METH_VARARGS, NULL},
    {0}};
static PyType_Slot context_slots[] = {
    {Py_tp_doc,
     (void
          *)"Context(device=None, *, threads=0, isa=None, stream=None)\n--\n\n"
            "A device that is opened for one thread at a time: what `device=` of every function\n"
            "takes too. Calls without one borrow contexts that are kept.\n\n"
            "device: \"cpu\", \"cuda\", \"cuda:0\", \"sim\", None or \"auto\": the first GPU that\n"
            "    works, else the CPU\n"
            "threads: of the CPU; 0: as many as the process may use\n"
            "isa: \"baseline\", \"avx2\", \"avx512\"; None: the best\n"
            "stream: a CUDA stream that calls run on, \"own\": one of the context's own\n\n"
            "ValueError: no such device or instruction set; rung.Error: it cannot be opened.\n\n"
            ">>> import array, rung\n"
            ">>> with rung.Context(\"cpu\", threads=1) as one:\n"
            "...     rung.sum(array.array('d', [1, 2, 3]), device=one)\n"
            "6.0\n"},
    {Py_tp_new, context_make},
    {Py_tp_dealloc, context_delete},
    {Py_tp_methods, context_methods},
    {0}};
static PyType_Spec context_spec = {"rung.Context", sizeof(context), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, context_slots};

bool context_begin(PyObject *module) {
  if (pthread_atfork(NULL, NULL, forget_kept) != 0) return PyErr_NoMemory(), false;
  context_type = (PyTypeObject *)PyType_FromSpec(&context_spec);
  return context_type != NULL &&
         PyModule_AddObjectRef(module, "Context", (PyObject *)context_type) == 0;
}
