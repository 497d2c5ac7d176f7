/* Which library an array is of, and how that library makes another one: asked of
 * rung/_libraries.py once a library, and remembered by type. */
#include <stdlib.h>
#include <string.h>

#include "binding.h"

enum { LIBRARIES = 16, SEEN = 32 };
static library libraries[LIBRARIES];
static int known;

/* The types met last. They are kept alive, so that no other can take their address. */
static struct {
  PyTypeObject *type;
  const library *library;
  const exchange *by;
} seen[SEEN];
static int seen_next;

static PyObject *python_half(void) {
  return PyImport_ImportModule("rung._libraries");
}

/* The attribute, or NULL where it is None. false: raised. */
static bool attribute(PyObject *from, const char *name, PyObject **value) {
  *value = PyObject_GetAttrString(from, name);
  if (*value == NULL) return false;
  if (*value == Py_None) Py_CLEAR(*value);
  return true;
}

/* TYPES objects of a tuple, None as NULL; all NULL where it is None. */
static bool types_of(PyObject *from, const char *name, PyObject **types) {
  PyObject *tuple;
  if (!attribute(from, name, &tuple)) return false;
  for (int i = 0; i < TYPES && tuple != NULL; i++) {
    PyObject *type = PyTuple_GetItem(tuple, i);
    if (type == NULL) {
      Py_DECREF(tuple);
      return false;
    }
    types[i] = type == Py_None ? NULL : Py_NewRef(type);
  }
  Py_XDECREF(tuple);
  return true;
}

static void forget(library *made) {
  Py_CLEAR(made->name);
  Py_CLEAR(made->empty);
  Py_CLEAR(made->stream);
  Py_CLEAR(made->capsule);
  Py_CLEAR(made->more);
  Py_CLEAR(made->quick);
  Py_CLEAR(made->load);
  Py_CLEAR(made->adopt);
  Py_CLEAR(made->copy);
  for (int i = 0; i < TYPES; i++) {
    Py_CLEAR(made->types[i]);
    Py_CLEAR(made->scalars[i]);
  }
}

static const library *remembered(PyObject *name) {
  for (int i = 0; i < known; i++)
    if (PyUnicode_Compare(libraries[i].name, name) == 0) return &libraries[i];
  return NULL;
}

/* What rung/_libraries.py says of it. false: raised, and nothing is kept. */
static bool ask(library *made, PyObject *name, PyObject *half) {
  *made = (library){.name = Py_NewRef(name)};
  PyObject *said = PyObject_CallMethod(half, "library", "O", name);
  PyObject *like = NULL, *immutable = NULL, *keeps = NULL;
  const bool good =
      said != NULL && attribute(said, "empty", &made->empty) &&
      attribute(said, "stream", &made->stream) && attribute(said, "capsule", &made->capsule) &&
      attribute(said, "more", &made->more) && attribute(said, "quick", &made->quick) &&
      attribute(said, "load", &made->load) && attribute(said, "adopt", &made->adopt) &&
      attribute(said, "copy", &made->copy) && types_of(said, "types", made->types) &&
      types_of(said, "scalars", made->scalars) && attribute(said, "like", &like) &&
      attribute(said, "immutable", &immutable) && attribute(said, "keeps", &keeps);
  made->like = like == Py_True;
  made->immutable = immutable == Py_True;
  made->keeps = keeps == Py_True;
  Py_XDECREF(like);
  Py_XDECREF(immutable);
  Py_XDECREF(keeps);
  Py_XDECREF(said);
  if (!good) forget(made);
  return good;
}

/* One that was asked for before, or a new row. `name` is borrowed. While Python is asked, other
 * threads come here too: a row is there when it is whole. */
static const library *remember(PyObject *name, PyObject *half) {
  library made;
  const library *found = remembered(name);
  if (found != NULL) return found;
  if (!ask(&made, name, half)) return NULL;
  found = remembered(name);
  if (found != NULL) return forget(&made), found;
  if (known == LIBRARIES) {
    forget(&made);
    PyErr_SetString(PyExc_RuntimeError, "too many libraries of arrays");
    return NULL;
  }
  libraries[known] = made;
  return &libraries[known++];
}

const library *library_named(const char *name) {
  PyObject *half = python_half(), *text = PyUnicode_FromString(name);
  const library *found = half != NULL && text != NULL ? remember(text, half) : NULL;
  Py_XDECREF(text);
  Py_XDECREF(half);
  return found;
}

/* What the type's capsule points to lives as long as the process. Types without one, and with what
 * is not as it should be, have none. */
static const exchange *exchange_of(PyTypeObject *type) {
  PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
  const exchange *found = NULL;
  if (capsule != NULL && PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
    found = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  Py_XDECREF(capsule);
  if (PyErr_Occurred()) PyErr_Clear();
  while (found != NULL && found->version.major != 1) found = found->before;
  return found != NULL && found->export != NULL && found->current_stream != NULL ? found : NULL;
}

const library *library_of(PyTypeObject *type, const exchange **by) {
  for (int i = 0; i < SEEN && seen[i].type != NULL; i++)
    if (seen[i].type == type) {
      *by = seen[i].by;
      return seen[i].library;
    }
  PyObject *half = python_half();
  PyObject *name = half != NULL ? PyObject_CallMethod(half, "name_of", "O", type) : NULL;
  const library *found = name != NULL ? remember(name, half) : NULL;
  Py_XDECREF(name);
  Py_XDECREF(half);
  if (found == NULL) return NULL;
  *by = exchange_of(type);
  PyObject *before = (PyObject *)seen[seen_next].type;
  seen[seen_next].type = (PyTypeObject *)Py_NewRef((PyObject *)type);
  seen[seen_next].library = found;
  seen[seen_next].by = *by;
  seen_next = (seen_next + 1) % SEEN;
  Py_XDECREF(before);
  return found;
}
