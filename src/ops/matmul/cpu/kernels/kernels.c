/* Tiles of a product in registers: 12 rows of two vectors where there are 32 registers, 6 where
 * there are 16. So every number of A that is loaded serves two multiply-adds, every vector of B as
 * many as there are rows; and a chain's value is loaded and stored but once in MATMUL_K
 * multiply-adds. */
#include "backend/cpu/lanes_turn.h"
#include "ops/matmul/cpu/product.h"

#if LANES_REGISTERS == 32
enum { ROWS = 12 };
#define EACH_ROW(of) of(12) of(4) of(2) of(1)
#else
enum { ROWS = 6 };
#define EACH_ROW(of) of(6) of(4) of(2) of(1)
#endif

/* The first bytes of a vector, a multiple of 4: none are touched beyond. */
#if LANES_MASKS
#define load_some lanes_load_some
#define store_some lanes_store_some
#elif LANES_BYTES == 32
LANES_INLINE lanes_i32 load_some(const void *p, int bytes) {
  const lanes_i32 lane = {0, 4, 8, 12, 16, 20, 24, 28};
  return (lanes_i32)_mm256_maskload_epi32((const int *)p, (__m256i)(lane < bytes));
}
LANES_INLINE void store_some(void *p, lanes_i32 v, int bytes) {
  if (bytes == LANES_BYTES)
    memcpy(p, &v, sizeof v);
  else /* by an instruction some processors take twenty cycles */
    for (int done = 0, now; done < bytes; done += now) {
      now = bytes - done >= 16 ? 16 : bytes - done >= 8 ? 8 : 4;
      memcpy((char *)p + done, (const char *)&v + done, (size_t)now);
    }
}
#else
LANES_INLINE lanes_i32 load_some(const void *p, int bytes) {
  lanes_i32 v = {0};
  memcpy(&v, p, (size_t)bytes);
  return v;
}
#endif

typedef uint32_t lanes_u32 __attribute__((vector_size(LANES_BYTES)));

/* Modulo 2^32, and so of unsigned numbers. */
LANES_INLINE lanes_u32 load_u32(const uint32_t *p) {
  lanes_u32 v;
  memcpy(&v, p, sizeof v);
  return v;
}
LANES_INLINE void store_u32(uint32_t *p, lanes_u32 v) {
  memcpy(p, &v, sizeof v);
}
LANES_INLINE uint32_t byte_at(const char *from, int64_t at) {
  return (uint32_t)((const int8_t *)from)[at];
}
LANES_INLINE float single_at(rung_dtype dtype, const char *from, int64_t at) {
  if (dtype == RUNG_F32) return ((const float *)from)[at];
  return rung_half_to_f32(((const uint16_t *)from)[at], dtype == RUNG_BF16);
}

#define NUMBER float
#define LANES lanes_f32
#define WIDTH LANES_F32
#define NAME(x) x##_f32
#define FMA lanes_fma_f32
#define LOAD lanes_load_f32
#define STORE lanes_store_f32
#define ALL lanes_all_f32
#define ELEMENT(dtype, from, at) single_at(dtype, from, at)
#define IS_PLAIN(p) ((p)->types.in == RUNG_F32)
#define TURN lanes_turn_f32
#define TURNS LANES_TURNS_F32
#define LINE lanes_line_f32
#define LINES LANES_LINE_F32
#include "ops/matmul/cpu/kernels_of.h"

#define NUMBER double
#define LANES lanes_f64
#define WIDTH LANES_F64
#define NAME(x) x##_f64
#define FMA lanes_fma_f64
#define LOAD lanes_load_f64
#define STORE lanes_store_f64
#define ALL lanes_all_f64
#define ELEMENT(dtype, from, at) ((void)(dtype), ((const double *)(from))[at])
#define IS_PLAIN(p) ((void)(p), true)
#define TURN lanes_turn_f64
#define TURNS LANES_TURNS_F64
#define LINE lanes_line_f64
#define LINES LANES_LINE_F64
#include "ops/matmul/cpu/kernels_of.h"

#define NUMBER uint32_t
#define LANES lanes_u32
#define WIDTH LANES_F32
#define NAME(x) x##_i32
#define FMA(a, b, c) ((a) * (b) + (c))
#define LOAD load_u32
#define STORE store_u32
#define ALL(x) ((x) - (lanes_u32){0})
#define ELEMENT(dtype, from, at) ((void)(dtype), byte_at(from, at))
#define IS_PLAIN(p) ((void)(p), false)
#include "ops/matmul/cpu/kernels_of.h"
