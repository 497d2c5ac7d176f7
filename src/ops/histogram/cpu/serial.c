/* The textbook: one element after the other, its bin by a division or a binary search, counted in
 * the result itself. An element that falls into the bin of the one before waits for its store. */
#include "backend/cpu/isa.h"
#include "ops/histogram/rule.h"

#define REAL(name, type, VALUE)                                                         \
  static int64_t name(const histogram_rule *rule, const double *edges, const void *row, \
                      int64_t at) {                                                     \
    return histogram_find(rule, edges, (double)VALUE(((const type *)row)[at]));         \
  }
#define INTEGER(name, type)                                                             \
  static int64_t name(const histogram_rule *rule, const double *edges, const void *row, \
                      int64_t at) {                                                     \
    const int64_t rest = (int64_t)((const type *)row)[at] % rule->bins;                 \
    (void)edges;                                                                        \
    return rest < 0 ? rest + rule->bins : rest;                                         \
  }
REAL(real_u8, uint8_t, )
REAL(real_u16, uint16_t, )
REAL(real_i32, int32_t, )
REAL(real_u32, uint32_t, )
REAL(real_i64, int64_t, )
REAL(real_i8, int8_t, )
REAL(real_i16, int16_t, )
REAL(real_f16, uint16_t, rung_f16_to_f32)
REAL(real_bf16, uint16_t, rung_bf16_to_f32)
REAL(real_f32, float, )
REAL(real_f64, double, )
INTEGER(integer_u8, uint8_t)
INTEGER(integer_i8, int8_t)
INTEGER(integer_i16, int16_t)
INTEGER(integer_u16, uint16_t)
INTEGER(integer_i32, int32_t)
INTEGER(integer_u32, uint32_t)
INTEGER(integer_i64, int64_t)

typedef int64_t slot_of(const histogram_rule *rule, const double *edges, const void *row,
                        int64_t at);

static slot_of *const reals[RUNG_DTYPES] = {
    [RUNG_U8] = real_u8,   [RUNG_U16] = real_u16, [RUNG_I32] = real_i32,  [RUNG_U32] = real_u32,
    [RUNG_I64] = real_i64, [RUNG_F32] = real_f32, [RUNG_F64] = real_f64,  [RUNG_I8] = real_i8,
    [RUNG_I16] = real_i16, [RUNG_F16] = real_f16, [RUNG_BF16] = real_bf16};
static slot_of *const integers[RUNG_DTYPES] = {
    [RUNG_U8] = integer_u8,   [RUNG_U16] = integer_u16, [RUNG_I32] = integer_i32,
    [RUNG_U32] = integer_u32, [RUNG_I64] = integer_i64, [RUNG_I8] = integer_i8,
    [RUNG_I16] = integer_i16};

rung_status RUNG_ENTRY(histogram_serial)(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const histogram_rule *rule = &problem->rule;
  const rung_view *in = &task->arrays[HISTOGRAM_IN], *counts = &task->arrays[HISTOGRAM_COUNTS],
                  *outside = &task->arrays[HISTOGRAM_OUTSIDE];
  const double *edges = (const double *)task->arrays[HISTOGRAM_EDGES].data;
  slot_of *slot = (rule->way == HISTOGRAM_MODULO ? integers : reals)[problem->dtype];
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  for (int64_t i = 0; i < problem->rows; ++i) {
    const char *row = problem->columns > 0 ? in->data + i * in->stride[0] * size : NULL;
    int64_t *bins = (int64_t *)counts->data + i * counts->stride[0];
    int64_t spare[HISTOGRAM_OUTER], *outer = spare;
    if (outside->count > 0) outer = (int64_t *)outside->data + i * outside->stride[0];
    for (int k = 0; k < rule->bins; ++k) bins[k] = 0;
    for (int k = 0; k < HISTOGRAM_OUTER; ++k) outer[k] = 0;
    for (int64_t k = 0; k < problem->columns; ++k) {
      const int64_t at = slot(rule, edges, row, k);
      *(at < rule->bins ? &bins[at] : &outer[at - rule->bins]) += 1;
    }
  }
  return RUNG_OK;
}
