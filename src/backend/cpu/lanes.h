/* Vectors as wide as the instruction set this file is compiled for, in GCC's vector extensions;
 * the one operation those lack is a fused multiply-add. For float and double alike (f32, f64):
 *
 *   lanes_f32      the vector             LANES_F32    how many lanes it has
 *   lanes_fma_f32(a, b, c)                a * b + c, one rounding
 *   lanes_all_f32(x)                      x in every lane
 *   lanes_load_f32(p), lanes_store_f32(p, v)    no alignment asked
 *   lanes_stream_f32(p, v)                a store past the caches, where there is one; p is a
 *                                         multiple of LANES_BYTES
 *   lanes_transpose_f32(v)                LANES vectors as a square matrix, transposed in place
 *   lanes_of_f16(p), lanes_of_bf16(p)     so many halves as floats
 *   lanes_to_f16(p, v), lanes_to_bf16(p, v)     and floats rounded to halves (core/half.h)
 *   lanes_of_half(p, bfloat), lanes_to_half(p, v, bfloat)    of either, and
 *   lanes_widen_halves(from, n, bfloat, to)    n of them
 *   lanes_load_some(p, n), lanes_store_some(p, v, n)    the first n bytes of a lanes_i32, a
 * multiple of 4: none are touched beyond; loaded, the rest is 0 */
#ifndef RUNG_BACKEND_CPU_LANES_H
#define RUNG_BACKEND_CPU_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/half.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#define LANES_BYTES 64
#define LANES_REGISTERS 32
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define LANES_BYTES 32
#define LANES_REGISTERS 16
#elif defined(__aarch64__)
#include <arm_neon.h>
#define LANES_BYTES 16
#define LANES_REGISTERS 32
#else
#define LANES_BYTES 16
#define LANES_REGISTERS 16
#endif

#define LANES_INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__) /* which makes no clones */
#define LANES_OUTLINE static __attribute__((noinline))
#else
#define LANES_OUTLINE static __attribute__((noinline, noclone))
#endif

/* Elements from p to the first that begins a vector of memory: fewer than a vector's. */
#define LANES_HEAD(p) ((int)(-(uintptr_t)(p) % LANES_BYTES / sizeof *(p)))

#define LANES_MASKS (LANES_BYTES == 64) /* whether vectors are loaded and stored in part */

#define LANES_F32 (LANES_BYTES / 4)
#define LANES_F64 (LANES_BYTES / 8)

typedef float lanes_f32 __attribute__((vector_size(LANES_BYTES)));
typedef double lanes_f64 __attribute__((vector_size(LANES_BYTES)));
typedef int32_t lanes_i32 __attribute__((vector_size(LANES_BYTES)));
typedef int64_t lanes_i64 __attribute__((vector_size(LANES_BYTES)));

#if !defined(__FMA__) && !defined(__aarch64__)
/* Without the instruction: the C library's function a lane. In line it would make code ten times as
 * large and no faster. */
__attribute__((noinline, unused)) static lanes_f32 lanes_fma_each_f32(lanes_f32 a, lanes_f32 b,
                                                                      lanes_f32 c) {
  for (int l = 0; l < LANES_F32; l++) c[l] = fmaf(a[l], b[l], c[l]);
  return c;
}

__attribute__((noinline, unused)) static lanes_f64 lanes_fma_each_f64(lanes_f64 a, lanes_f64 b,
                                                                      lanes_f64 c) {
  for (int l = 0; l < LANES_F64; l++) c[l] = fma(a[l], b[l], c[l]);
  return c;
}
#endif

LANES_INLINE lanes_f32 lanes_fma_f32(lanes_f32 a, lanes_f32 b, lanes_f32 c) {
#if defined(__AVX512F__)
  return (lanes_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__) && defined(__FMA__)
  return (lanes_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
  return (lanes_f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return lanes_fma_each_f32(a, b, c);
#endif
}

LANES_INLINE lanes_f64 lanes_fma_f64(lanes_f64 a, lanes_f64 b, lanes_f64 c) {
#if defined(__AVX512F__)
  return (lanes_f64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__) && defined(__FMA__)
  return (lanes_f64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__)
  return (lanes_f64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
  return lanes_fma_each_f64(a, b, c);
#endif
}

/* x - 0 is x for every x, -0 included: the shortest way to a broadcast in vector extensions. */
LANES_INLINE lanes_f32 lanes_all_f32(float x) {
  return x - (lanes_f32){0};
}

LANES_INLINE lanes_f64 lanes_all_f64(double x) {
  return x - (lanes_f64){0};
}

LANES_INLINE lanes_f32 lanes_load_f32(const float *p) {
  lanes_f32 v;
  memcpy(&v, p, sizeof v);
  return v;
}

LANES_INLINE lanes_f64 lanes_load_f64(const double *p) {
  lanes_f64 v;
  memcpy(&v, p, sizeof v);
  return v;
}

LANES_INLINE void lanes_store_f32(float *p, lanes_f32 v) {
  memcpy(p, &v, sizeof v);
}

LANES_INLINE void lanes_store_f64(double *p, lanes_f64 v) {
  memcpy(p, &v, sizeof v);
}

LANES_INLINE void lanes_stream_f32(float *p, lanes_f32 v) {
#if defined(__AVX512F__)
  _mm512_stream_ps(p, (__m512)v);
#elif defined(__AVX2__) && defined(__FMA__)
  _mm256_stream_ps(p, (__m256)v);
#else
  lanes_store_f32(p, v);
#endif
}

LANES_INLINE void lanes_stream_f64(double *p, lanes_f64 v) {
#if defined(__AVX512F__)
  _mm512_stream_pd(p, (__m512d)v);
#elif defined(__AVX2__) && defined(__FMA__)
  _mm256_stream_pd(p, (__m256d)v);
#else
  lanes_store_f64(p, v);
#endif
}

LANES_INLINE lanes_f32 lanes_of_f16(const uint16_t *p) {
#if defined(__AVX512F__)
  return (lanes_f32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
#elif defined(__F16C__)
  return (lanes_f32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
#else
  float x[LANES_F32];
  for (int l = 0; l < LANES_F32; l++) x[l] = rung_f16_to_f32(p[l]);
  return lanes_load_f32(x);
#endif
}

typedef uint16_t lanes_halves __attribute__((vector_size(LANES_BYTES / 2)));
typedef uint32_t lanes_bits __attribute__((vector_size(LANES_BYTES)));

LANES_INLINE lanes_f32 lanes_of_bf16(const uint16_t *p) {
  lanes_halves halves;
  memcpy(&halves, p, sizeof halves);
  return (lanes_f32)(__builtin_convertvector(halves, lanes_bits) << 16);
}

LANES_INLINE void lanes_to_f16(uint16_t *p, lanes_f32 v) {
#if defined(__AVX512F__)
  _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  _mm_storeu_si128((__m128i *)(void *)p, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
#else
  for (int l = 0; l < LANES_F32; l++) p[l] = rung_f32_to_f16(v[l]);
#endif
}

/* As rung_f32_to_bf16(). */
LANES_INLINE void lanes_to_bf16(uint16_t *p, lanes_f32 v) {
  const lanes_bits bits = (lanes_bits)v, rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const lanes_bits nans = (lanes_bits)((bits & 0x7fffffff) > 0x7f800000);
  const lanes_bits kept = (nans & ((bits >> 16 & 0x8000) | 0x7fc0)) | (~nans & rounded);
  const lanes_halves halves = __builtin_convertvector(kept, lanes_halves);
  memcpy(p, &halves, sizeof halves);
}

LANES_INLINE lanes_f32 lanes_of_half(const uint16_t *p, bool bfloat) {
  return bfloat ? lanes_of_bf16(p) : lanes_of_f16(p);
}

LANES_INLINE void lanes_to_half(uint16_t *p, lanes_f32 v, bool bfloat) {
  if (bfloat)
    lanes_to_bf16(p, v);
  else
    lanes_to_f16(p, v);
}

/* n halves as floats. */
LANES_INLINE void lanes_widen_halves(const uint16_t *from, int64_t n, bool bfloat, float *to) {
  int64_t l = 0;
  for (; l + LANES_F32 <= n; l += LANES_F32)
    lanes_store_f32(to + l, lanes_of_half(from + l, bfloat));
  for (; l < n; l++) to[l] = rung_half_to_f32(from[l], bfloat);
}

#if LANES_MASKS
LANES_INLINE lanes_i32 lanes_load_some(const void *p, int n) {
  return (lanes_i32)_mm512_maskz_loadu_epi32((__mmask16)(0xffffu >> (16 - n / 4)), p);
}

LANES_INLINE void lanes_store_some(void *p, lanes_i32 v, int n) {
  _mm512_mask_storeu_epi32(p, (__mmask16)(0xffffu >> (16 - n / 4)), (__m512i)v);
}
#endif

/* Of a comparison that gives a mask the compiler makes several instructions. */
LANES_INLINE lanes_i32 lanes_least_i32(lanes_i32 a, lanes_i32 b) {
#if LANES_BYTES == 64
  return (lanes_i32)_mm512_min_epi32((__m512i)a, (__m512i)b);
#elif LANES_BYTES == 32
  return (lanes_i32)_mm256_min_epi32((__m256i)a, (__m256i)b);
#else
  const lanes_i32 first = a < b;
  return (a & first) | (b & ~first);
#endif
}
LANES_INLINE lanes_i64 lanes_least_i64(lanes_i64 a, lanes_i64 b) {
#if LANES_BYTES == 64
  return (lanes_i64)_mm512_min_epi64((__m512i)a, (__m512i)b);
#else
  const lanes_i64 first = a < b;
  return (a & first) | (b & ~first);
#endif
}

/* Stores past the caches become visible to other threads in order only after this. */
LANES_INLINE void lanes_stream_end(void) {
#if defined(__AVX2__)
  _mm_sfence();
#endif
}

/* Elements of v, or of a and b one after the other, in the order that the integers of `from` say.
 * Clang has no such operation on numbers that are not constants. */
#if defined(__clang__)
#define LANES_SHUFFLE(v, from)                                                  \
  ({                                                                            \
    const __typeof__(v) of_ = (v);                                              \
    const __typeof__(from) from_ = (from);                                      \
    __typeof__(-of_) made_;                                                     \
    const int n_ = (int)(sizeof of_ / sizeof of_[0]);                           \
    for (int k_ = 0; k_ < n_; k_++) made_[k_] = of_[(int)from_[k_] & (n_ - 1)]; \
    made_;                                                                      \
  })
#define LANES_SHUFFLE_TWO(a, b, from)                                                          \
  ({                                                                                           \
    const __typeof__(a) a_ = (a), b_ = (b);                                                    \
    const __typeof__(from) from_ = (from);                                                     \
    __typeof__(-a_) made_;                                                                     \
    const int n_ = (int)(sizeof a_ / sizeof a_[0]);                                            \
    for (int k_ = 0; k_ < n_; k_++)                                                            \
      made_[k_] =                                                                              \
          (int)from_[k_] & n_ ? b_[(int)from_[k_] & (n_ - 1)] : a_[(int)from_[k_] & (n_ - 1)]; \
    made_;                                                                                     \
  })
#else
#define LANES_SHUFFLE(v, from) __builtin_shuffle(v, from)
#define LANES_SHUFFLE_TWO(a, b, from) __builtin_shuffle(a, b, from)
#endif

/* Transposing by halves of halves: at stride s, lane bit s and row bit s trade places. The masks
 * are constants, so every exchange is two shuffles. */
#define LANES_LOW(l, s, n) ((l) & (s) ? (n) + (l) - (s) : (l))
#define LANES_HIGH(l, s, n) ((l) & (s) ? (n) + (l) : (l) + (s))
#define LANES_2(f, s, n) f(0, s, n), f(1, s, n)
#define LANES_4(f, s, n) LANES_2(f, s, n), f(2, s, n), f(3, s, n)
#define LANES_8(f, s, n) LANES_4(f, s, n), f(4, s, n), f(5, s, n), f(6, s, n), f(7, s, n)
#define LANES_16(f, s, n)                                                                       \
  LANES_8(f, s, n), f(8, s, n), f(9, s, n), f(10, s, n), f(11, s, n), f(12, s, n), f(13, s, n), \
      f(14, s, n), f(15, s, n)

#define LANES_EXCHANGE(v, s, n, integers, list)                                                   \
  for (int i = 0; i < (n); i++) {                                                                 \
    if (i & (s)) continue;                                                                        \
    __typeof__((v)[0]) low =                                                                      \
        LANES_SHUFFLE_TWO((v)[i], (v)[i + (s)], ((integers){list(LANES_LOW, s, n)}));             \
    (v)[i + (s)] = LANES_SHUFFLE_TWO((v)[i], (v)[i + (s)], ((integers){list(LANES_HIGH, s, n)})); \
    (v)[i] = low;                                                                                 \
  }

LANES_INLINE void lanes_transpose_f32(lanes_f32 v[LANES_F32]) {
#if LANES_F32 == 16
  LANES_EXCHANGE(v, 1, 16, lanes_i32, LANES_16)
  LANES_EXCHANGE(v, 2, 16, lanes_i32, LANES_16)
  LANES_EXCHANGE(v, 4, 16, lanes_i32, LANES_16)
  LANES_EXCHANGE(v, 8, 16, lanes_i32, LANES_16)
#elif LANES_F32 == 8
  LANES_EXCHANGE(v, 1, 8, lanes_i32, LANES_8)
  LANES_EXCHANGE(v, 2, 8, lanes_i32, LANES_8)
  LANES_EXCHANGE(v, 4, 8, lanes_i32, LANES_8)
#else
  LANES_EXCHANGE(v, 1, 4, lanes_i32, LANES_4)
  LANES_EXCHANGE(v, 2, 4, lanes_i32, LANES_4)
#endif
}

LANES_INLINE void lanes_transpose_f64(lanes_f64 v[LANES_F64]) {
#if LANES_F64 == 8
  LANES_EXCHANGE(v, 1, 8, lanes_i64, LANES_8)
  LANES_EXCHANGE(v, 2, 8, lanes_i64, LANES_8)
  LANES_EXCHANGE(v, 4, 8, lanes_i64, LANES_8)
#elif LANES_F64 == 4
  LANES_EXCHANGE(v, 1, 4, lanes_i64, LANES_4)
  LANES_EXCHANGE(v, 2, 4, lanes_i64, LANES_4)
#else
  LANES_EXCHANGE(v, 1, 2, lanes_i64, LANES_2)
#endif
}

#endif
