/* Arrays inside the house: a DLTensor is validated once at an operation's entry point and becomes a
 * rung_view, which everything further in may trust. */
#ifndef RUNG_CORE_TENSOR_H
#define RUNG_CORE_TENSOR_H

#include <stdbool.h>

#include "core/dtype.h"
#include "core/error.h"

enum { RUNG_MAX_DIMS = 8 };

/* Where a view's bytes are: memory the host reads and writes, the memory of one GPU, or a store. */
typedef enum rung_place { RUNG_HOST, RUNG_DEVICE, RUNG_STORED } rung_place;

/* Addresses of a store begin here: none of an element is NULL. */
enum { RUNG_STORE_BASE = 4096 };

typedef struct rung_view {
  char *data; /* the element with all indices 0, byte_offset applied; NULL: no array given */
  rung_dtype dtype;
  rung_place place;
  int device; /* the GPU's index where place is RUNG_DEVICE, else 0 */
  int ndim;
  int64_t shape[RUNG_MAX_DIMS];
  int64_t stride[RUNG_MAX_DIMS]; /* in elements */
  int64_t count;                 /* product of shape; its bytes fit in int64_t */
  const rung_store *store;       /* where place is RUNG_STORED, else NULL */
} rung_view;

#ifdef __cplusplus
extern "C" {
#endif

/* Validates `tensor` and fills *view. `argument` is the name used in the sentence. `dtypes` is
 * the set allowed; `ndim` the number of dimensions. Refuses: NULL tensor, NULL data where there
 * are elements, data not aligned to its element, wrong ndim, negative shape, a product or an
 * extent that overflows, an element type outside the set, lanes != 1, memory that is neither host
 * nor CUDA. Reads no element. */
rung_status rung_view_of(rung_error *error, const char *argument, const DLTensor *tensor,
                         unsigned dtypes, int ndim, rung_view *view);

/* The same, of what may also be a store. */
rung_status rung_view_stored(rung_error *error, const char *argument, const DLTensor *tensor,
                             unsigned dtypes, int ndim, rung_view *view);

DLDataType rung_dlpack_type(rung_dtype dtype);

/* A compact row-major host view over memory of the caller's. */
rung_view rung_view_compact(void *data, rung_dtype dtype, int ndim, const int64_t *shape);

/* a * b in *product; false where it does not fit in int64_t or either is negative. */
bool rung_multiply(int64_t a, int64_t b, int64_t *product);

/* The bytes of a compact copy. */
size_t rung_view_bytes(const rung_view *view);

/* The first byte the view touches and one past the last, as addresses. Empty views: equal. */
void rung_view_extent(const rung_view *view, uintptr_t *low, uintptr_t *high);

bool rung_view_compact_rows(const rung_view *view);          /* last stride 1 (or last extent 1) */
bool rung_view_same(const rung_view *a, const rung_view *b); /* same data, shape, strides */
bool rung_views_overlap(const rung_view *a, const rung_view *b); /* extents intersect: may say
                                                                    true of interleaved views */
/* Refuses an output that writes one element twice: a zero stride on an extent above 1, or strides
 * that fold elements onto each other. */
rung_status rung_view_writable(rung_error *error, const char *argument, const rung_view *view);

/* Refuses an output that shares memory with another array, unless it is the very same view and that
 * is allowed. Arrays that were not given (count 0) share nothing. */
rung_status rung_refuse_overlap(rung_error *error, const char *name, const rung_view *output,
                                const char *other_name, const rung_view *other, bool same_allowed);

/* Refuses two arrays of one call of which one lies in host memory and one in a GPU's. */
rung_status rung_refuse_sides(rung_error *error, const char *name, const rung_view *view,
                              const char *other_name, const rung_view *other);

bool rung_view_is_compact(const rung_view *view); /* row-major, without gaps */

/* Leaves only the range [first, first + count) of dimension d; an empty view stays as it is. */
void rung_view_narrow(rung_view *view, int d, int64_t first, int64_t count);

/* Leaves dimension d out: what is left has the index `at` there. */
void rung_view_drop(rung_view *view, int d, int64_t at);

/* The elements [first, first + count) of a view in row-major order, as few views: visit() gets one
 * after the other, and how many elements came before it. Ends with the first failure. */
typedef rung_status rung_box_visit(void *user, const rung_view *box, int64_t before);
rung_status rung_view_boxes(const rung_view *view, int64_t first, int64_t count,
                            rung_box_visit *visit, void *user);

/* Copies elements between two host views of the same shape and dtype. */
void rung_view_copy(const rung_view *to, const rung_view *from);

#ifdef __cplusplus
}
#endif
#endif
