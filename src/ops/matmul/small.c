#include "ops/matmul/small.h"

#include "ops/matmul/cpu/place.h"
#include "ops/matmul/cpu/sizes.h"

matmul_unpacked RUNG_CPU_NAMES(matmul_unpacked);
static matmul_unpacked *const entries[RUNG_ISAS] = RUNG_CPU_ENTRIES(matmul_unpacked);

/* Extents and steps up to here: no product of three of them overflows. */
enum { MOST = 1 << 20 };

typedef struct matrix {
  char *data;
  int64_t rows, columns, row, column;
} matrix;

static bool is_plain_call(const rung_call *call) {
  if (call == NULL) return true;
  return (call->size == 0 || call->size == sizeof *call) && call->rung == NULL &&
         call->block == 0 && call->math == RUNG_MATH_STRICT && call->bits == 0 &&
         call->stream == NULL;
}

static bool is_number(DLDataType type) {
  return type.code == kDLFloat && type.lanes == 1 && (type.bits == 32 || type.bits == 64);
}

static bool in_range(int64_t value, int64_t least) {
  return value >= least && value <= MOST;
}

static bool read_matrix(const DLTensor *t, DLDataType type, matrix *to) {
  if (t == NULL || t->ndim != 2 || t->shape == NULL || t->device.device_type != kDLCPU ||
      t->data == NULL || t->byte_offset != 0)
    return false;
  if (t->dtype.code != type.code || t->dtype.bits != type.bits || t->dtype.lanes != 1) return false;
  *to = (matrix){t->data, t->shape[0], t->shape[1], t->shape[1], 1};
  if (t->strides != NULL) {
    to->row = t->strides[0];
    to->column = t->strides[1];
  }
  return in_range(to->rows, 1) && in_range(to->columns, 1) && in_range(to->row, 0) &&
         in_range(to->column, 0) && (uintptr_t)to->data % (type.bits / 8u) == 0;
}

static uintptr_t end_of(const matrix *m, int64_t size) {
  const int64_t last = (m->rows - 1) * m->row + (m->columns - 1) * m->column;
  return (uintptr_t)m->data + (uintptr_t)((last + 1) * size);
}

/* Whether all of it lies in memory that may be, and apart from C. */
static bool is_apart(const matrix *m, const matrix *c, int64_t size) {
  const uintptr_t begin = (uintptr_t)m->data, c_begin = (uintptr_t)c->data;
  const uintptr_t end = end_of(m, size), c_end = end_of(c, size);
  return begin < end && c_begin < c_end && (end <= c_begin || c_end <= begin);
}

static bool fits(const matrix *a, const matrix *b, const matrix *c, int64_t size) {
  return a->columns == b->rows && c->rows == a->rows && c->columns == b->columns &&
         a->rows * a->columns <= MOST && a->rows * a->columns * b->columns <= MATMUL_ALONE &&
         (b->column == 1 || b->row == 1) && c->column == 1 && c->row >= c->columns &&
         is_apart(a, c, size) && is_apart(b, c, size);
}

bool matmul_small(const rung_context *context, double alpha, const DLTensor *a, const DLTensor *b,
                  double beta, const DLTensor *c, rung_call *call) {
  matrix left, right, to;
  if (context->device.kind != RUNG_CPU || alpha != 1 || beta != 0 || a == NULL ||
      !is_plain_call(call) || !is_number(a->dtype))
    return false;
  const int64_t size = a->dtype.bits / 8;
  if (!read_matrix(a, a->dtype, &left) || !read_matrix(b, a->dtype, &right) ||
      !read_matrix(c, a->dtype, &to) || !fits(&left, &right, &to, size))
    return false;
  const rung_dtype dtype = size == 4 ? RUNG_F32 : RUNG_F64;
  const matmul_problem problem = {.batch = 1,
                                  .m = left.rows,
                                  .n = right.columns,
                                  .k = left.columns,
                                  .types = {dtype, dtype, dtype},
                                  .alpha = 1};
  const matmul_at at = {.p = &problem,
                        .a = left.data,
                        .b = right.data,
                        .c = to.data,
                        .as = {0, left.row, left.column},
                        .bs = {0, right.row, right.column},
                        .c_row = to.row,
                        .size = size,
                        .result_size = size};
  if (!entries[context->device.isa](&at, 1)) return false;
  if (call != NULL) call->used = "threads";
  return true;
}
