/* The textbook: one running result a line, from the first element to the last. Every addition of
 * floats waits for the one before, and their rounding errors add up with the line's length. Across
 * lines it walks down one column after the other, and takes one element of every cache line it
 * touches. */
#include <math.h>

#include "backend/cpu/isa.h"
#include "ops/reduce/finish.h"

/* To *sum, of type reduce_partial_of(). */
#define SUM(name, type, total, number)                                             \
  static void sum_##name(const char *line, int64_t n, int64_t step, void *to) {    \
    total sum = 0;                                                                 \
    for (int64_t k = 0; k < n; ++k) sum += number(((const type *)line)[k * step]); \
    *(total *)to = sum;                                                            \
  }
SUM(f16, uint16_t, float, rung_f16_to_f32)
SUM(bf16, uint16_t, float, rung_bf16_to_f32)
SUM(f32, float, float, )
SUM(f64, double, double, )
SUM(u8, uint8_t, uint64_t, )
SUM(i8, int8_t, uint64_t, (uint64_t))
SUM(u16, uint16_t, uint64_t, )
SUM(i16, int16_t, uint64_t, (uint64_t))
SUM(u32, uint32_t, uint64_t, )
SUM(i32, int32_t, uint64_t, (uint64_t))
SUM(64, uint64_t, uint64_t, )

/* Where the first element is that no later one beats. Of floats a NaN beats all, and of zeros the
 * sign decides. */
#define EXTREME(name, type, value, number, beats)                                          \
  static int64_t extreme_##name(const char *line, int64_t n, int64_t step, bool largest) { \
    int64_t at = 0;                                                                        \
    value best = number(((const type *)line)[0]);                                          \
    for (int64_t k = 1; k < n; ++k) {                                                      \
      const value x = number(((const type *)line)[k * step]);                              \
      if (!(beats)) continue;                                                              \
      best = x;                                                                            \
      at = k;                                                                              \
    }                                                                                      \
    return at;                                                                             \
  }
#define INTEGER (largest ? x > best : x < best)
#define FLOATING (isnan(x) || (x == best ? !signbit(x) == largest : INTEGER && !isnan(best)))
EXTREME(u8, uint8_t, uint8_t, , INTEGER)
EXTREME(i8, int8_t, int8_t, , INTEGER)
EXTREME(u16, uint16_t, uint16_t, , INTEGER)
EXTREME(i16, int16_t, int16_t, , INTEGER)
EXTREME(u32, uint32_t, uint32_t, , INTEGER)
EXTREME(i32, int32_t, int32_t, , INTEGER)
EXTREME(u64, uint64_t, uint64_t, , INTEGER)
EXTREME(i64, int64_t, int64_t, , INTEGER)
EXTREME(f16, uint16_t, float, rung_f16_to_f32, FLOATING)
EXTREME(bf16, uint16_t, float, rung_bf16_to_f32, FLOATING)
EXTREME(f32, float, float, , FLOATING)
EXTREME(f64, double, double, , FLOATING)

/* In the order of the enum. */
static const struct {
  rung_dtype dtype;
  void (*sum)(const char *line, int64_t n, int64_t step, void *to);
  int64_t (*extreme)(const char *line, int64_t n, int64_t step, bool largest);
} types[] = {
    {RUNG_U8, sum_u8, extreme_u8},    {RUNG_I8, sum_i8, extreme_i8},
    {RUNG_U16, sum_u16, extreme_u16}, {RUNG_I16, sum_i16, extreme_i16},
    {RUNG_I32, sum_i32, extreme_i32}, {RUNG_U32, sum_u32, extreme_u32},
    {RUNG_I64, sum_64, extreme_i64},  {RUNG_U64, sum_64, extreme_u64},
    {RUNG_F16, sum_f16, extreme_f16}, {RUNG_BF16, sum_bf16, extreme_bf16},
    {RUNG_F32, sum_f32, extreme_f32}, {RUNG_F64, sum_f64, extreme_f64},
};
_Static_assert(sizeof types / sizeof *types == RUNG_DTYPES, "every dtype has its functions");

static void find(const reduce_problem *problem, const char *line, int64_t step, char *out,
                 int64_t at) {
  const size_t size = rung_dtype_bytes(problem->dtype);
  const int64_t found =
      types[problem->dtype].extreme(line, problem->columns, step, problem->what == RUNG_MAX);
  memcpy(out + (size_t)at * size, line + found * step * (int64_t)size, size);
}

static void sum_up(const reduce_problem *problem, const char *line, int64_t step, char *out,
                   int64_t at) {
  union {
    float f32;
    double f64;
    uint64_t u64;
  } sum;
  reduce_end end = reduce_end_of(problem);
  end.key.mask = 0; /* numbers are added as they are */
  types[problem->dtype].sum(line, problem->columns, step, &sum);
  reduce_finish_any(&end, reduce_partial_of(reduce_operator_of(problem)), &sum, out, at);
}

rung_status RUNG_ENTRY(reduce_serial)(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_layout layout = reduce_layout_of(task);
  const char *in = task->arrays[REDUCE_IN].data;
  char *out = task->arrays[REDUCE_OUT].data;
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  const bool sum = problem->what == RUNG_SUM || problem->what == RUNG_MEAN;
  for (int64_t o = 0; o < problem->outer; ++o)
    for (int64_t i = 0; i < problem->inner; ++i) {
      const char *line = problem->columns > 0 ? in + (o * layout.in_outer + i) * size : NULL;
      (sum ? sum_up : find)(problem, line, layout.in_column, out, o * layout.out_outer + i);
    }
  return RUNG_OK;
}
