/* Chains of a strip of columns in registers, a kernel's rows by up to six: as many as leave twelve
 * chains room in 16 registers, or twenty and more in 32, for four have to be under way for each of
 * the two multiply-adds that a core begins in a cycle. */
#include "backend/cpu/lanes.h"
#include "ops/correlate/cpu/filter.h"
#include "ops/correlate/store.h"

/* Rows of a kernel, and the vectors that a strip is wide then; 24 is a multiple of each. */
enum { MOST_ROWS = CORRELATE_GROUP, MOST_VECTORS = 8 };
/* Vectors of a strip of columns(): CORRELATE_HIGH chains each. */
enum { COLUMN_VECTORS = LANES_REGISTERS == 32 ? 6 : 3 };
#if LANES_REGISTERS == 32
#define EACH_GROUP(of) of(1, 8) of(2, 8) of(3, 8) of(4, 6) of(5, 4) of(6, 4)
#else
#define EACH_GROUP(of) of(1, 8) of(2, 6) of(3, 4) of(4, 3) of(5, 2) of(6, 2)
#endif

LANES_INLINE lanes_i64 load_i64(const int64_t *p) {
  lanes_i64 v;
  memcpy(&v, p, sizeof v);
  return v;
}
LANES_INLINE void store_i64(int64_t *p, lanes_i64 v) {
  memcpy(p, &v, sizeof v);
}

#define NUMBER float
#define LANES lanes_f32
#define WIDTH LANES_F32
#define NAME(x) x##_f32
#define FMA lanes_fma_f32
#define LOAD lanes_load_f32
#define STORE lanes_store_f32
#define ALL lanes_all_f32
#define STREAM lanes_stream_f32
#define DTYPE RUNG_F32
#define STORE_ONE correlate_store_f32
#define WIDEN_HALVES(from, n, to) lanes_widen_halves(from, n, false, to)
#define EACH_INPUT(of) \
  of(RUNG_U8, uint8_t, (float)) of(RUNG_U16, uint16_t, (float)) of(RUNG_F32, float, )
#include "ops/correlate/cpu/kernels_of.h"

#define NUMBER double
#define LANES lanes_f64
#define WIDTH LANES_F64
#define NAME(x) x##_f64
#define FMA lanes_fma_f64
#define LOAD lanes_load_f64
#define STORE lanes_store_f64
#define ALL lanes_all_f64
#define STREAM lanes_stream_f64
#define DTYPE RUNG_F64
#define STORE_ONE correlate_store_f64
#define EACH_INPUT(of)                                                              \
  of(RUNG_U8, uint8_t, (double)) of(RUNG_U16, uint16_t, (double))                   \
      of(RUNG_F16, uint16_t, (double)rung_f16_to_f32) of(RUNG_F32, float, (double)) \
          of(RUNG_F64, double, )
#include "ops/correlate/cpu/kernels_of.h"

#define NUMBER int64_t
#define LANES lanes_i64
#define WIDTH LANES_F64
#define NAME(x) x##_i64
#define FMA(a, b, c) ((a) * (b) + (c))
#define LOAD load_i64
#define STORE store_i64
#define ALL(x) ((x) - (lanes_i64){0})
#define STREAM store_i64
#define DTYPE RUNG_I64
#define STORE_ONE correlate_store_i64
#define EACH_INPUT(of) of(RUNG_U16, uint16_t, ) /* f64 holds all sums of u8 */
#include "ops/correlate/cpu/kernels_of.h"
