/* What is here: devices, operations, rungs, as dictionaries. */
#include <string.h>

#include "binding.h"

/* Steals `value`; NULL, or a failure: the dictionary is gone. */
static PyObject *with(PyObject *dictionary, const char *key, PyObject *value) {
  if (dictionary != NULL && (value == NULL || PyDict_SetItemString(dictionary, key, value) != 0))
    Py_CLEAR(dictionary);
  Py_XDECREF(value);
  return dictionary;
}
static PyObject *text(const char *value) {
  return value != NULL ? PyUnicode_DecodeUTF8(value, (Py_ssize_t)strlen(value), "replace")
                       : Py_NewRef(Py_None);
}
static PyObject *whole(int64_t value) {
  return PyLong_FromLongLong(value);
}
static PyObject *truth(int value) {
  return PyBool_FromLong(value);
}

/* Appends and steals it. */
static bool append(PyObject *list, PyObject *item) {
  const bool good = item != NULL && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return good;
}

static PyObject *device_dictionary(const rung_device_info *info) {
  PyObject *made = PyDict_New();
  made = with(made, "device", text(info->device));
  made = with(made, "kind", text(info->kind));
  made = with(made, "index", whole(info->index));
  made = with(made, "name", text(info->name));
  made = with(made, "capability", whole(info->capability));
  made = with(made, "processors", whole(info->processors));
  made = with(made, "threads", whole(info->threads));
  made = with(made, "isa", text(info->isa));
  made = with(made, "memory_bytes", whole(info->memory_bytes));
  made = with(made, "cache_bytes", whole(info->cache_bytes));
  made = with(made, "usable", truth(info->usable));
  return with(made, "why_not", text(info->why_not));
}

static rung_status device_at(int index, rung_device_info *info) {
  rung_status status;
  *info = (rung_device_info){.size = sizeof *info};
  Py_BEGIN_ALLOW_THREADS; /* the first question loads the parts for GPUs */
  status = rung_device_at(index, info);
  Py_END_ALLOW_THREADS;
  return status;
}

PyObject *py_devices(PyObject *module, PyObject *nothing) {
  rung_device_info info;
  PyObject *list = PyList_New(0);
  (void)module, (void)nothing;
  for (int i = 0; list != NULL && device_at(i, &info) == RUNG_OK; i++)
    if (!append(list, device_dictionary(&info))) Py_CLEAR(list);
  return list;
}

PyObject *py_operations(PyObject *module, PyObject *nothing) {
  rung_operation_info info = {.size = sizeof info};
  PyObject *list = PyList_New(0);
  (void)module, (void)nothing;
  for (int i = 0; list != NULL && rung_operation_at(i, &info) == RUNG_OK; i++)
    if (!append(list, Py_BuildValue("(ss)", info.name, info.summary))) Py_CLEAR(list);
  return list;
}

static PyObject *blocks_of(const rung_ladder_info *info) {
  PyObject *list = PyList_New(0);
  for (int i = 0; list != NULL && i < 16 && info->blocks[i] != 0; i++)
    if (!append(list, PyLong_FromLong(info->blocks[i]))) Py_CLEAR(list);
  return list;
}

static PyObject *rung_dictionary(const rung_ladder_info *info) {
  PyObject *made = PyDict_New();
  made = with(made, "rung", text(info->name));
  made = with(made, "idea", text(info->idea));
  made = with(made, "on", text(info->on));
  made = with(made, "order", text(info->order));
  made = with(made, "types", text(info->types));
  made = with(made, "hardware", text(info->hardware));
  made = with(made, "capability", whole(info->capability));
  made = with(made, "blocks", blocks_of(info));
  made = with(made, "available", truth(info->available));
  made = with(made, "first", truth(info->first));
  return with(made, "why_not", text(info->why_not));
}

/* The device of that name, as rung_device_at() has it. */
static bool find_device(const char *name, rung_device_info *info) {
  for (int i = 0; device_at(i, info) == RUNG_OK; i++)
    if (strcmp(info->device, name) == 0 || strcmp(info->kind, name) == 0) return true;
  PyErr_Format(PyExc_ValueError, "device is \"%s\"; expected: one of rung.devices()", name);
  return false;
}

/* ladder(operation, device): a list; device None: of any. */
PyObject *py_ladder(PyObject *module, PyObject *arguments) {
  const char *operation, *name;
  rung_device_info device;
  rung_ladder_info info = {.size = sizeof info};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sz:ladder", &operation, &name) ||
      (name != NULL && !find_device(name, &device)))
    return NULL;
  PyObject *list = PyList_New(0);
  for (int i = 0; list != NULL; i++) {
    if (rung_ladder_at(operation, i, name != NULL ? &device : NULL, &info) != RUNG_OK) break;
    if (!append(list, rung_dictionary(&info))) Py_CLEAR(list);
  }
  if (list == NULL || PyList_Size(list) > 0) return list;
  Py_DECREF(list);
  PyErr_Format(PyExc_ValueError, "operation is \"%s\"; expected: one of rung.operations()",
               operation);
  return NULL;
}
