/* The textbook: for every element a loop over the taps, and for every tap the question whether it
 * lies within the image. */
#include "backend/cpu/isa.h"
#include "ops/correlate/correlate.h"
#include "ops/correlate/store.h"

/* Element x of row y of kernel k, and its taps. */
typedef struct element {
  const rung_task *task;
  const void *taps;
  int64_t y, pixel;
  int channel;
} element;

/* The row that a tap's row reads; NULL: the edge's constant. */
static const char *row_of(const element *e, int i) {
  const correlate_problem *p = (const correlate_problem *)e->task->problem;
  const int64_t r = rung_edge_index(p->edge, p->first_row + e->y + i, p->height);
  return r < 0 ? NULL : correlate_in_row(e->task, r);
}

/* A chain of elements of type E and taps of type T, in type S. */
#define CHAIN(name, E, T, S, LOAD, FMA)                                                       \
  static S name(const element *e, S edge) {                                                   \
    const correlate_problem *p = (const correlate_problem *)e->task->problem;                 \
    const T *tap = (const T *)e->taps;                                                        \
    S t = 0;                                                                                  \
    for (int i = 0; i < p->kernel_rows; i++) {                                                \
      const E *row = (const E *)row_of(e, i);                                                 \
      for (int j = 0; j < p->kernel_columns; j++, tap++) {                                    \
        const int64_t x = rung_edge_index(p->edge, p->first_column + e->pixel + j, p->width); \
        const bool outside = row == NULL || x < 0;                                            \
        t = FMA((S)*tap, outside ? edge : LOAD(row[x * p->channels + e->channel]), t);        \
      }                                                                                       \
    }                                                                                         \
    return t;                                                                                 \
  }
#define SAME(x) (x)
#define INTEGER(a, b, t) ((a) * (b) + (t))
CHAIN(chain_u8, uint8_t, float, float, (float), fmaf)
CHAIN(chain_u16, uint16_t, float, float, (float), fmaf)
CHAIN(chain_f16, uint16_t, float, float, rung_f16_to_f32, fmaf)
CHAIN(chain_f32, float, float, float, SAME, fmaf)
CHAIN(wide_u8, uint8_t, double, double, (double), fma)
CHAIN(wide_u16, uint16_t, double, double, (double), fma)
CHAIN(wide_f16, uint16_t, double, double, (double)rung_f16_to_f32, fma)
CHAIN(wide_f32, float, double, double, (double), fma)
CHAIN(wide_f64, double, double, double, SAME, fma)
CHAIN(whole_u8, uint8_t, int32_t, int64_t, (int64_t), INTEGER)
CHAIN(whole_u16, uint16_t, int32_t, int64_t, (int64_t), INTEGER)

static float chain_of(const element *e, rung_dtype in, double edge) {
  switch (in) {
    case RUNG_U8:
      return chain_u8(e, (float)edge);
    case RUNG_U16:
      return chain_u16(e, (float)edge);
    case RUNG_F16:
      return chain_f16(e, (float)edge);
    default:
      return chain_f32(e, (float)edge);
  }
}

static double wide_of(const element *e, rung_dtype in, double edge) {
  switch (in) {
    case RUNG_U8:
      return wide_u8(e, edge);
    case RUNG_U16:
      return wide_u16(e, edge);
    case RUNG_F16:
      return wide_f16(e, edge);
    case RUNG_F32:
      return wide_f32(e, edge);
    default:
      return wide_f64(e, edge);
  }
}

static void make(const element *e, char *row) {
  const correlate_problem *p = (const correlate_problem *)e->task->problem;
  const int64_t at = e->pixel * p->channels + e->channel;
  const rung_dtype in = p->types.in, out = p->types.out;
  if (p->types.accumulate == RUNG_F32)
    correlate_store_f32(out, row, at, chain_of(e, in, p->edge_value));
  else if (p->types.accumulate == RUNG_F64)
    correlate_store_f64(out, row, at, wide_of(e, in, p->edge_value));
  else if (in == RUNG_U8)
    correlate_store_i64(out, row, at, whole_u8(e, (int64_t)p->edge_value));
  else
    correlate_store_i64(out, row, at, whole_u16(e, (int64_t)p->edge_value));
}

rung_status RUNG_ENTRY(correlate_direct)(const rung_task *task) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t taps = (int64_t)p->kernel_rows * p->kernel_columns;
  const int64_t tap = p->types.accumulate == RUNG_F64 ? 8 : 4;
  element e = {.task = task};
  for (int64_t k = 0; k < p->kernels; k++) {
    e.taps = (const char *)p->taps + k * taps * tap;
    for (e.y = 0; e.y < p->rows; e.y++) {
      char *row = correlate_out_row(task, k, e.y);
      for (e.pixel = 0; e.pixel < p->columns; e.pixel++)
        for (e.channel = 0; e.channel < p->channels; e.channel++) make(&e, row);
    }
  }
  return RUNG_OK;
}
