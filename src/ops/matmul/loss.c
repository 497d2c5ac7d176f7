/* What fixed point loses of an operand before anything is multiplied: counted on the host. */
#include "core/context.h"
#include "ops/matmul/fixed.h"

/* A line of an operand: where it begins, and its k elements. */
typedef struct line {
  const rung_traits *traits;
  const char *first;
  int64_t step, k; /* step: in bytes */
} line;

static double element(const line *of, int64_t l) {
  return of->traits->load(of->first + l * of->step);
}

/* The line's elements times its factor are exact in double, and so is what rounding takes away. */
static void count_line(const line *of, int bits, rung_loss *loss) {
  uint32_t largest = 0;
  for (int64_t l = 0; l < of->k; l++) {
    const uint32_t here = matmul_magnitude((float)element(of, l));
    if (here > largest) largest = here;
  }
  if (largest >= MATMUL_NO_SCALE) {
    loss->unscaled++;
    return;
  }
  const matmul_scale scale = {matmul_scale_of(largest, bits).factor, 0};
  for (int64_t l = 0; l < of->k; l++) {
    const double x = element(of, l), y = x * scale.factor;
    if (x == 0) continue;
    const int32_t whole = matmul_whole((float)x, scale);
    const double off = fabs(y - whole) / fabs(y);
    loss->elements++;
    loss->rounded += whole != y;
    loss->zeroed += whole == 0;
    if (whole != 0 && off > loss->worst) loss->worst = off;
  }
}

/* All lines along dimension `along`, of dimensions from d on. */
static void count_lines(const rung_view *view, int along, int d, const char *first, int bits,
                        rung_loss *loss) {
  const int64_t size = (int64_t)rung_dtype_bytes(view->dtype);
  if (d == view->ndim) {
    const line of = {rung_traits_of(view->dtype), first, view->stride[along] * size,
                     view->shape[along]};
    count_line(&of, bits, loss);
    return;
  }
  const int64_t extent = d == along ? 1 : view->shape[d];
  for (int64_t i = 0; i < extent; i++)
    count_lines(view, along, d + 1, first + i * view->stride[d] * size, bits, loss);
}

static rung_status look(rung_error *error, const DLTensor *operand, int right, int bits,
                        const rung_loss *loss, rung_view *view) {
  const char *name = right ? "b" : "a";
  if (loss == NULL) return rung_fail(error, RUNG_BAD_ARGUMENT, "loss is NULL; expected: a place");
  if (bits != 0 && (bits < MATMUL_LEAST_BITS || bits > MATMUL_BITS))
    return rung_fail(error, RUNG_BAD_ARGUMENT, "bits is %d; expected: %d ... %d, or 0 for %d", bits,
                     MATMUL_LEAST_BITS, MATMUL_BITS, MATMUL_BITS);
  if (operand != NULL && (operand->ndim < 2 || operand->ndim > RUNG_MAX_DIMS))
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "%s has %d dimensions; expected: 2 (rows, columns) ... %d", name,
                     operand->ndim, RUNG_MAX_DIMS);
  rung_status status = rung_view_of(error, name, operand, MATMUL_FIXED_DTYPES,
                                    operand != NULL ? operand->ndim : 2, view);
  if (status == RUNG_OK && view->count > 0 && view->place == RUNG_DEVICE)
    status = rung_fail(error, RUNG_BAD_PLACE,
                       "%s lies in the memory of cuda:%d; expected: an array in host memory", name,
                       view->device);
  return status;
}

rung_status rung_matmul_loss(rung_context *context, const DLTensor *operand, int right, int bits,
                             rung_loss *loss) {
  rung_view view;
  rung_status status = rung_begin(context);
  if (status != RUNG_OK) return status;
  status = look(&context->error, operand, right, bits, loss, &view);
  if (status == RUNG_OK) {
    rung_loss counted = {0};
    if (view.count > 0)
      count_lines(&view, view.ndim - (right ? 2 : 1), 0, view.data, bits != 0 ? bits : MATMUL_BITS,
                  &counted);
    *loss = counted;
  }
  return rung_end(context, status);
}
