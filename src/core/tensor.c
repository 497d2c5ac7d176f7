#include "core/tensor.h"

#include <assert.h>
#include <string.h>

#include "core/layout.h"

bool rung_multiply(int64_t a, int64_t b, int64_t *product) {
  if (a < 0 || b < 0) return false;
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) return false;
  *product = result;
  return true;
}

/* ---- validation: one function a question, in the order a reader would ask -------------------- */

static rung_status read_dtype(rung_error *error, const char *argument, DLDataType type,
                              unsigned dtypes, rung_dtype *dtype) {
  if (type.lanes == 1 && rung_dtype_of_code(type.code, type.bits, dtype) &&
      (dtypes & RUNG_TYPE(*dtype)))
    return RUNG_OK;
  static const char *const codes[] = {"int",    "uint",    "float", "handle",
                                      "bfloat", "complex", "bool"};
  char wanted[96];
  rung_dtypes_text(dtypes, wanted, sizeof wanted);
  return rung_fail(error, RUNG_BAD_DTYPE,
                   "%s has elements of type %s (DLPack code %d), %d bits, %d lanes; expected: %s",
                   argument, type.code < sizeof codes / sizeof *codes ? codes[type.code] : "other",
                   type.code, type.bits, type.lanes, wanted);
}

static rung_status read_place(rung_error *error, const char *argument, DLDevice device,
                              rung_view *view) {
  int type = (int)device.device_type;
  if (type == kDLCPU || type == kDLCUDAHost) {
    view->place = RUNG_HOST;
    view->device = 0;
    return RUNG_OK;
  }
  if (type == kDLCUDA || type == kDLCUDAManaged) {
    if (device.device_id < 0)
      return rung_fail(error, RUNG_BAD_PLACE, "%s lies on CUDA device %d; expected: 0 or more",
                       argument, device.device_id);
    view->place = RUNG_DEVICE;
    view->device = device.device_id;
    return RUNG_OK;
  }
  return rung_fail(
      error, RUNG_BAD_PLACE,
      "%s lies in memory of DLPack device type %d; expected: host memory (1 or 3) or CUDA "
      "memory (2 or 13)",
      argument, type);
}

static rung_status read_shape(rung_error *error, const char *argument, const DLTensor *tensor,
                              rung_view *view) {
  if (view->ndim > 0 && tensor->shape == NULL)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "%s has %d dimensions and a NULL shape; expected: an extent for each",
                     argument, view->ndim);
  bool empty = false;
  for (int d = 0; d < view->ndim; d++) {
    view->shape[d] = tensor->shape[d];
    if (view->shape[d] < 0)
      return rung_fail(error, RUNG_BAD_SHAPE,
                       "%s has extent %lld in dimension %d; expected: 0 or more", argument,
                       (long long)view->shape[d], d);
    empty |= view->shape[d] == 0;
  }
  /* Looked for first: (huge, huge, 0) has no elements and is not too large. */
  int64_t count = !empty, bytes;
  for (int d = 0; d < view->ndim && !empty; d++) {
    if (!rung_multiply(count, view->shape[d], &count))
      return rung_fail(
          error, RUNG_TOO_LARGE,
          "%s has more elements than fit in 64 bits: extent %lld in dimension %d times "
          "the extents before it",
          argument, (long long)view->shape[d], d);
  }
  if (!rung_multiply(count, (int64_t)rung_dtype_bytes(view->dtype), &bytes))
    return rung_fail(error, RUNG_TOO_LARGE,
                     "%s has %lld elements of %zu bytes: their bytes do not fit in 64 bits; "
                     "expected: fewer",
                     argument, (long long)count, rung_dtype_bytes(view->dtype));
  view->count = count;
  return RUNG_OK;
}

static void compact_strides(rung_view *view) {
  int64_t step = 1;
  for (int d = view->ndim - 1; d >= 0; d--) {
    view->stride[d] = step;
    /* Without elements the strides say nothing, and their product might not fit. */
    if (view->count > 0) step *= view->shape[d];
  }
}

static bool is_stored(DLDevice device) {
  return device.device_type == kDLExtDev && device.device_id == RUNG_STORE_DEVICE;
}

/* Of a store, its first element is where its addresses begin. */
static rung_status read_store(rung_error *error, const char *argument, const DLTensor *tensor,
                              rung_view *view) {
  rung_store known;
  const rung_status status =
      rung_read_struct(error, argument, &rung_store_layout, tensor->data, &known);
  if (status != RUNG_OK) return status;
  if (known.read == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s is a store without read(); expected: a function that reads", argument);
  view->place = RUNG_STORED;
  view->store = tensor->data;
  return RUNG_OK;
}

/* Where an extent is 1 the stride is never used, and may be anything: but arithmetic with it must
 * be defined. */
static void tame_strides(rung_view *view) {
  const int64_t most = INT64_C(1) << 56; /* beyond any address */
  for (int d = 0; d < view->ndim; d++)
    if (view->shape[d] <= 1 && (view->stride[d] > most || view->stride[d] < -most))
      view->stride[d] = 1;
}

/* Bytes from the first element to the lowest and to the highest one; false: not in 64 bits. */
static bool reach(const rung_view *view, int64_t *low, int64_t *high) {
  *low = *high = 0;
  int64_t element = (int64_t)rung_dtype_bytes(view->dtype);
  for (int d = 0; d < view->ndim && view->count > 0; d++) {
    int64_t span;
    if (__builtin_mul_overflow(view->shape[d] - 1, view->stride[d], &span)) return false;
    if (__builtin_mul_overflow(span, element, &span)) return false;
    int64_t *end = span < 0 ? low : high;
    if (__builtin_add_overflow(*end, span, end)) return false;
  }
  return true;
}

static rung_status read_addresses(rung_error *error, const char *argument, const DLTensor *tensor,
                                  rung_view *view) {
  size_t element = rung_dtype_bytes(view->dtype);
  uintptr_t base = view->place == RUNG_STORED ? RUNG_STORE_BASE : (uintptr_t)tensor->data;
  uintptr_t first, end;
  if (tensor->data == NULL && view->count > 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s has %lld elements and NULL data; expected: their address", argument,
                     (long long)view->count);
  if (__builtin_add_overflow(base, tensor->byte_offset, &first))
    return rung_fail(
        error, RUNG_TOO_LARGE,
        "%s has byte_offset %llu, past the end of all addresses; expected: a lesser one", argument,
        (unsigned long long)tensor->byte_offset);
  if (first % element != 0 && view->count > 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s starts at address %p, which is not a multiple of its element's %zu "
                     "bytes; expected: an aligned array, or a copy of it that is",
                     argument, (void *)first, element);
  view->data = (char *)first;
  if (view->count == 0) return RUNG_OK;
  int64_t low, high; /* low <= 0 <= high */
  if (!reach(view, &low, &high) || first < 0 - (uintptr_t)low ||
      __builtin_add_overflow(first, (uintptr_t)high + element, &end))
    return rung_fail(error, RUNG_TOO_LARGE,
                     "%s reaches past the end of all addresses: its strides times its shape do not "
                     "fit in 64 bits; expected: lesser ones",
                     argument);
  return RUNG_OK;
}

static rung_status view_of(rung_error *error, const char *argument, const DLTensor *tensor,
                           unsigned dtypes, int ndim, bool stored, rung_view *view) {
  assert(ndim >= 0 && ndim <= RUNG_MAX_DIMS);
  if (tensor == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "%s is NULL; expected: a DLTensor", argument);
  if (tensor->ndim != ndim)
    return rung_fail(error, RUNG_BAD_SHAPE, "%s has %d dimensions; expected: %d", argument,
                     tensor->ndim, ndim);
  rung_view made = {.ndim = ndim};
  rung_status status = read_dtype(error, argument, tensor->dtype, dtypes, &made.dtype);
  if (status == RUNG_OK)
    status = stored && is_stored(tensor->device)
                 ? read_store(error, argument, tensor, &made)
                 : read_place(error, argument, tensor->device, &made);
  if (status == RUNG_OK) status = read_shape(error, argument, tensor, &made);
  if (status != RUNG_OK) return status;
  if (tensor->strides != NULL)
    memcpy(made.stride, tensor->strides, (size_t)ndim * sizeof *made.stride);
  else
    compact_strides(&made);
  tame_strides(&made);
  status = read_addresses(error, argument, tensor, &made);
  if (status == RUNG_OK) *view = made;
  return status;
}

rung_status rung_view_of(rung_error *error, const char *argument, const DLTensor *tensor,
                         unsigned dtypes, int ndim, rung_view *view) {
  return view_of(error, argument, tensor, dtypes, ndim, false, view);
}

rung_status rung_view_stored(rung_error *error, const char *argument, const DLTensor *tensor,
                             unsigned dtypes, int ndim, rung_view *view) {
  return view_of(error, argument, tensor, dtypes, ndim, true, view);
}

DLDataType rung_dlpack_type(rung_dtype dtype) {
  const rung_traits *traits = rung_traits_of(dtype);
  return (DLDataType){traits->dlpack, (uint8_t)(8 * traits->bytes), 1};
}

rung_view rung_view_compact(void *data, rung_dtype dtype, int ndim, const int64_t *shape) {
  assert(ndim >= 0 && ndim <= RUNG_MAX_DIMS);
  rung_view view = {.data = data, .dtype = dtype, .place = RUNG_HOST, .ndim = ndim, .count = 1};
  for (int d = 0; d < ndim; d++) {
    view.shape[d] = shape[d];
    view.count *= shape[d];
  }
  compact_strides(&view);
  return view;
}
