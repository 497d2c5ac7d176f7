/* The module rung._rung: its functions, what they say of themselves, its version. */
#include <string.h>

#include "binding.h"

#define TAIL "*, device=None, rung=None, threads=0, math=None, stream=None)\n--\n\n"
#define OPTIONS_DOC                                                                           \
  "device, rung, threads, math, stream: see help(rung).\n\n"                                  \
  "TypeError: no array, or elements that are not taken; ValueError: a bad axis, `out` of\n"   \
  "another shape or sharing memory with x; MemoryError; rung.Error: the device or the rung\n" \
  "cannot do this.\n\n"

#define REDUCTION_DOC(name, what, example)                                      \
  name "(x, axis=None, keepdims=False, out=None, " TAIL what                    \
       "\n\n"                                                                   \
       "x: of floats or integers, 0 to 8 dimensions, any strides\n"             \
       "axis: which dimension goes; None: all of them\n"                        \
       "keepdims: it stays, with an extent of 1\n"                              \
       "out: where the result goes: of x's library, on its device\n\n"          \
       "Returns an array of x's library and device; of all of a NumPy array a " \
       "number.\n\n" OPTIONS_DOC ">>> import numpy as np, rung\n" example

#define SCAN_DOC(name, what, first, example)                                        \
  name "(x, axis=-1, exclusive=False, out=None, " TAIL what                         \
       "\n\n"                                                                       \
       "x: of floats or integers, 1 to 8 dimensions, any strides\n"                 \
       "axis: along which\n"                                                        \
       "exclusive: element i is that of x[0 ... i - 1]; the first one is " first    \
       "\n"                                                                         \
       "out: where the result goes: of x's shape and type; x itself is allowed\n\n" \
       "Returns an array of x's shape, type, library and device.\n\n" OPTIONS_DOC   \
       ">>> import numpy as np, rung\n" example

static const char sum_doc[] = REDUCTION_DOC(
    "sum",
    "The sum of the elements, of all or along an axis, with the same bits on every device.\n\n"
    "Floats are added in one fixed order (docs/NUMERICS.md), integers in 64 bits modulo 2^64: the\n"
    "result of integers is int64 or uint64. The sum of nothing is 0.",
    ">>> rung.sum(np.ones((2, 3), np.float32), axis=0)\n"
    "array([2., 2., 2.], dtype=float32)\n");
static const char min_doc[] = REDUCTION_DOC(
    "min", "The least element; a NaN wins, -0.0 is below 0.0. That of nothing: ValueError.",
    ">>> rung.min(np.array([[3, 1], [2, 4]]), axis=1).tolist()\n"
    "[1, 2]\n");
static const char max_doc[] = REDUCTION_DOC(
    "max", "The largest element; a NaN wins, 0.0 is above -0.0. That of nothing: ValueError.",
    ">>> rung.max(np.array([[3, 1], [2, 4]]), axis=1).tolist()\n"
    "[3, 4]\n");
static const char mean_doc[] = REDUCTION_DOC(
    "mean",
    "The mean: the sum, divided in float64, rounded once. Of integers it is float64. Of nothing:\n"
    "a NaN.",
    ">>> float(rung.mean(np.array([1, 2, 4, 5])))\n"
    "3.0\n");
static const char cumsum_doc[] = SCAN_DOC(
    "cumsum",
    "The sums of all beginnings, in one fixed order of arithmetic. Integers stay of their type,\n"
    "modulo 2^bits.",
    "0",
    ">>> rung.cumsum(np.array([1, 2, 3]), exclusive=True).tolist()\n"
    "[0, 1, 3]\n");
static const char cummin_doc[] =
    SCAN_DOC("cummin", "The minima of all beginnings; a NaN stays.", "the largest of the type",
             ">>> rung.cummin(np.array([3, 1, 2])).tolist()\n"
             "[3, 1, 1]\n");
static const char cummax_doc[] =
    SCAN_DOC("cummax", "The maxima of all beginnings; a NaN stays.", "the least of the type",
             ">>> rung.cummax(np.array([1, 3, 2])).tolist()\n"
             "[1, 3, 3]\n");
static const char matmul_doc[] =
    "matmul(a, b, out=None, alpha=1.0, beta=0.0, *, bits=0, device=None, rung=None, threads=0, "
    "math=None, stream=None)\n--\n\n"
    "The product of matrices, alpha a b + beta out: every element one chain of fused\n"
    "multiply-adds over rising k.\n\n"
    "a: (..., m, k) or (k); float16, bfloat16, float32, float64 or int8\n"
    "b: (..., k, n) or (k), of a's type\n"
    "out: (..., m, n), where the result goes; needed where beta is not 0\n"
    "alpha, beta: finite; of int8 whole numbers\n"
    "math: \"strict\" (default), \"fast\", or \"fixed\": of float32 and smaller, sums in fixed\n"
    "    point, with the same bits everywhere (docs/FIXED.md)\n"
    "bits: of \"fixed\", 8 ... 31; 0: 31\n\n"
    "Returns an array of the type of a, of int8 of int32. What stands for ... is the batch, as\n"
    "numpy.matmul() has it.\n\n" OPTIONS_DOC
    ">>> import numpy as np, rung\n"
    ">>> rung.matmul(np.array([[1., 2.]]), np.array([[3.], [4.]])).tolist()\n"
    "[[11.0]]\n";

static const char histogram_doc[] =
    "histogram(x, bins=10, range=None, *, modulo=None, rows=False, outside=False, device=None, "
    "rung=None, threads=0, math=None, stream=None)\n--\n\n"
    "How many elements fall into each bin: (counts, edges), as numpy.histogram() has them.\n\n"
    "x: of integers or floats, 0 to 8 dimensions, any strides\n"
    "bins: a number of even bins over range; or the edges, rising; or \"bytes\": of uint8, one "
    "for\n"
    "    each value\n"
    "range: (low, high), of which high is in the last bin; None: the least and the largest "
    "element\n"
    "modulo: instead of bins: of integers, element e falls into bin e mod modulo\n"
    "rows: of (n, m): a histogram of every row, (n, bins)\n"
    "outside: a third result: how many elements are below, above, and NaN\n\n"
    "Returns counts, int64, and edges, one more than bins, float64 or the type of float elements,\n"
    "both of x's library and device. Counts are exact.\n\n"
    "device, rung, threads, math, stream: see help(rung).\n\n"
    "TypeError: elements that are not taken; ValueError: bins, range or edges that are none;\n"
    "MemoryError; rung.Error: the device or the rung cannot do this.\n\n"
    ">>> import numpy as np, rung\n"
    ">>> counts, edges = rung.histogram(np.array([1., 2., 2., 5.]), 4, (1, 5))\n"
    ">>> counts.tolist(), edges.tolist()\n"
    "([1, 2, 0, 1], [1.0, 2.0, 3.0, 4.0, 5.0])\n"
    ">>> rung.histogram(np.array([3, -1, 8]), modulo=4)[0].tolist()\n"
    "[1, 0, 0, 2]\n";
static const char bincount_doc[] =
    "bincount(x, minlength=0, " TAIL
    "How often each whole number occurs: counts, int64, of x's library and device.\n\n"
    "x: of integers from 0 up, below 2^20\n"
    "minlength: the least length of the result, which else ends at x's largest element\n\n"
    "device, rung, threads, math, stream: see help(rung).\n\n"
    "TypeError: no integers; ValueError: one that is negative or too large; MemoryError;\n"
    "rung.Error: the device or the rung cannot do this.\n\n"
    ">>> import numpy as np, rung\n"
    ">>> rung.bincount(np.array([0, 3, 3])).tolist()\n"
    "[1, 0, 0, 2]\n";

static const char operations_doc[] =
    "operations()\n--\n\n"
    "The operations of the library: (name, what it computes in one line), a list.\n\n"
    ">>> import rung\n"
    ">>> \"reduce\" in dict(rung.operations())\n"
    "True\n";

#define FAST(name, doc) \
  { #name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL | METH_KEYWORDS, doc }
static PyMethodDef functions[] = {FAST(sum, sum_doc),
                                  FAST(min, min_doc),
                                  FAST(max, max_doc),
                                  FAST(mean, mean_doc),
                                  FAST(cumsum, cumsum_doc),
                                  FAST(cummin, cummin_doc),
                                  FAST(cummax, cummax_doc),
                                  FAST(matmul, matmul_doc),
                                  FAST(histogram, histogram_doc),
                                  FAST(bincount, bincount_doc),
                                  FAST(pairs, NULL),
                                  FAST(correlate, NULL),
                                  FAST(convolve, NULL),
                                  FAST(stencil, NULL),
                                  FAST(radiator, NULL),
                                  {"even_edges", py_even_edges, METH_VARARGS, NULL},
                                  {"row_like", py_row_like, METH_VARARGS, NULL},
                                  {"pairs_rdf", py_pairs_rdf, METH_VARARGS, NULL},
                                  {"box_reach", py_box_reach, METH_O, NULL},
                                  {"edge_named", py_edge_named, METH_O, NULL},
                                  {"radiator_preset", py_radiator_preset, METH_O, NULL},
                                  {"devices", py_devices, METH_NOARGS, NULL},
                                  {"operations", py_operations, METH_NOARGS, operations_doc},
                                  {"ladder", py_ladder, METH_VARARGS, NULL},
                                  {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "rung._rung",
                                        "What rung is made of; use rung.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

/* The presets' names, oldest first. */
static PyObject *presets(void) {
  const char *const *names = rung_radiator_presets();
  int count = 0;
  while (names[count] != NULL) count++;
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; i < count && tuple != NULL; i++) {
    PyObject *name = PyUnicode_FromString(names[i]);
    if (name == NULL || PyTuple_SetItem(tuple, i, name) != 0) Py_CLEAR(tuple);
  }
  return tuple;
}

/* Adds and steals it. */
static bool put(PyObject *module, const char *name, PyObject *value) {
  const bool good = value != NULL && PyModule_AddObjectRef(module, name, value) == 0;
  Py_XDECREF(value);
  return good;
}

PyMODINIT_FUNC PyInit__rung(void) {
  if (strcmp(rung_version(), RUNG_VERSION) != 0) {
    PyErr_Format(PyExc_ImportError, "librung is of version %s; expected: " RUNG_VERSION,
                 rung_version());
    return NULL;
  }
  PyObject *module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  rung_error = PyErr_NewExceptionWithDoc(
      "rung.Error", "What a device or a rung cannot do; the message is the library's sentence.",
      NULL, NULL);
  if (rung_error == NULL || PyModule_AddObjectRef(module, "Error", rung_error) != 0 ||
      !object_begin(module) || !context_begin(module) ||
      !put(module, "version", PyUnicode_FromString(rung_version())) ||
      !put(module, "MAX_BINS", PyLong_FromLong(RUNG_MAX_BINS)) ||
      !put(module, "presets", presets()))
    Py_CLEAR(module);
  return module;
}
