/* Columns of lines that lie anywhere, as vectors: for the files that lanes.h is for. */
#ifndef RUNG_BACKEND_CPU_LANES_TURN_H
#define RUNG_BACKEND_CPU_LANES_TURN_H

#include "backend/cpu/lanes.h"

/* LANES_TURNS numbers of each of as many lines as a vector has lanes, from `at` on, a vector for
 * each place. Pieces of 16 bytes are put side by side as they are loaded, so that half the shuffles
 * of transposing, which cross them, are not needed. */
#if LANES_BYTES > 16
enum { LANES_TURNS_F32 = 4, LANES_TURNS_F64 = 2 };
LANES_INLINE lanes_f32 lanes_pieces_f32(const float *const *line, int apart, int64_t at) {
#if LANES_BYTES == 64
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(line[0] + at));
  v = _mm512_mask_broadcast_f32x4(v, 0x00f0, _mm_loadu_ps(line[apart] + at));
  v = _mm512_mask_broadcast_f32x4(v, 0x0f00, _mm_loadu_ps(line[2 * apart] + at));
  return (lanes_f32)_mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps(line[3 * apart] + at));
#else
  const __m256 v = _mm256_castps128_ps256(_mm_loadu_ps(line[0] + at));
  return (lanes_f32)_mm256_insertf128_ps(v, _mm_loadu_ps(line[apart] + at), 1);
#endif
}
LANES_INLINE lanes_f64 lanes_pieces_f64(const double *const *line, int apart, int64_t at) {
#if LANES_BYTES == 64
  __m512d v = _mm512_castpd128_pd512(_mm_loadu_pd(line[0] + at));
  v = _mm512_mask_broadcast_f64x2(v, 0x0c, _mm_loadu_pd(line[apart] + at));
  v = _mm512_mask_broadcast_f64x2(v, 0x30, _mm_loadu_pd(line[2 * apart] + at));
  return (lanes_f64)_mm512_mask_broadcast_f64x2(v, 0xc0, _mm_loadu_pd(line[3 * apart] + at));
#else
  const __m256d v = _mm256_castpd128_pd256(_mm_loadu_pd(line[0] + at));
  return (lanes_f64)_mm256_insertf128_pd(v, _mm_loadu_pd(line[apart] + at), 1);
#endif
}
#if LANES_BYTES == 64
#define LANES_UNPACK(low_or_high, type, a, b) \
  _mm512_unpack##low_or_high##_##type((lanes_##type##_)(a), (lanes_##type##_)(b))
typedef __m512 lanes_ps_;
typedef __m512d lanes_pd_;
#else
#define LANES_UNPACK(low_or_high, type, a, b) \
  _mm256_unpack##low_or_high##_##type((lanes_##type##_)(a), (lanes_##type##_)(b))
typedef __m256 lanes_ps_;
typedef __m256d lanes_pd_;
#endif
/* Of each 16 bytes of four vectors: v[i] has number i of each. */
LANES_INLINE void lanes_fours_f32(lanes_f32 a, lanes_f32 b, lanes_f32 c, lanes_f32 d,
                                  lanes_f32 v[4]) {
  const lanes_f64 low = (lanes_f64)LANES_UNPACK(lo, ps, a, b),
                  high = (lanes_f64)LANES_UNPACK(hi, ps, a, b),
                  lower = (lanes_f64)LANES_UNPACK(lo, ps, c, d),
                  higher = (lanes_f64)LANES_UNPACK(hi, ps, c, d);
  v[0] = (lanes_f32)LANES_UNPACK(lo, pd, low, lower);
  v[1] = (lanes_f32)LANES_UNPACK(hi, pd, low, lower);
  v[2] = (lanes_f32)LANES_UNPACK(lo, pd, high, higher);
  v[3] = (lanes_f32)LANES_UNPACK(hi, pd, high, higher);
}
LANES_INLINE void lanes_turn_f32(const float *const *line, int64_t at, lanes_f32 v[4]) {
  const lanes_f32 a = lanes_pieces_f32(line, 4, at), b = lanes_pieces_f32(line + 1, 4, at),
                  c = lanes_pieces_f32(line + 2, 4, at), d = lanes_pieces_f32(line + 3, 4, at);
  lanes_fours_f32(a, b, c, d, v);
}
LANES_INLINE void lanes_turn_f64(const double *const *line, int64_t at, lanes_f64 v[2]) {
  const lanes_f64 a = lanes_pieces_f64(line, 2, at), b = lanes_pieces_f64(line + 1, 2, at);
  v[0] = (lanes_f64)LANES_UNPACK(lo, pd, a, b);
  v[1] = (lanes_f64)LANES_UNPACK(hi, pd, a, b);
}
#else
enum { LANES_TURNS_F32 = LANES_F32, LANES_TURNS_F64 = LANES_F64 };
LANES_INLINE void lanes_turn_f32(const float *const *line, int64_t at, lanes_f32 v[LANES_F32]) {
  for (int i = 0; i < LANES_F32; i++) v[i] = lanes_load_f32(line[i] + at);
  lanes_transpose_f32(v);
}
LANES_INLINE void lanes_turn_f64(const double *const *line, int64_t at, lanes_f64 v[LANES_F64]) {
  for (int i = 0; i < LANES_F64; i++) v[i] = lanes_load_f64(line[i] + at);
  lanes_transpose_f64(v);
}
#endif

/* The same of LANES_LINE numbers of lines that are `apart`. Of 64-byte vectors those are a line of
 * the caches, where it begins at one, read at once by two halves, which are put side by side as
 * they are loaded: so that none is asked for again after fifteen others, which may share its place
 * in a cache. */
#if LANES_BYTES == 64
enum { LANES_LINE_F32 = 16, LANES_LINE_F64 = 8 };
/* 32 bytes from either place. */
LANES_INLINE lanes_f64 lanes_beside(const void *low, const void *high) {
  const __m512i v = _mm512_castsi256_si512(_mm256_loadu_si256(low));
  return (lanes_f64)_mm512_mask_broadcast_i64x4(v, 0xf0, _mm256_loadu_si256(high));
}
/* The first and the second 32 bytes of lines, of which there are four times `each`, as many as 16
 * bytes have numbers: those of a line beside those of the one `each` after it. */
LANES_INLINE void lanes_line_halves(const int each, const char *line, int64_t apart_bytes,
                                    lanes_f64 *first, lanes_f64 *second) {
#pragma GCC unroll 8
  for (int i = 0; i < 2 * each; i++) {
    const char *low = line + (i / each * 2 * each + i % each) * apart_bytes,
               *high = low + each * apart_bytes;
    first[i] = lanes_beside(low, high);
    second[i] = lanes_beside(low + 32, high + 32);
  }
}
/* Every other piece of 16 bytes of a and b. */
#define LANES_PIECES(a, b, odd) \
  _mm512_shuffle_f64x2((__m512d)(a), (__m512d)(b), (odd) ? 0xdd : 0x88)
LANES_INLINE void lanes_squares_f32(const lanes_f64 from[8], lanes_f32 v[8]) {
  lanes_f32 of[2][4];
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    const lanes_f64 *x = from + 4 * i;
    lanes_fours_f32((lanes_f32)x[0], (lanes_f32)x[1], (lanes_f32)x[2], (lanes_f32)x[3], of[i]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    v[i] = (lanes_f32)LANES_PIECES(of[0][i], of[1][i], 0);
    v[4 + i] = (lanes_f32)LANES_PIECES(of[0][i], of[1][i], 1);
  }
}
LANES_INLINE void lanes_squares_f64(const lanes_f64 from[4], lanes_f64 v[4]) {
  const lanes_f64 a = (lanes_f64)LANES_UNPACK(lo, pd, from[0], from[1]),
                  b = (lanes_f64)LANES_UNPACK(hi, pd, from[0], from[1]),
                  c = (lanes_f64)LANES_UNPACK(lo, pd, from[2], from[3]),
                  d = (lanes_f64)LANES_UNPACK(hi, pd, from[2], from[3]);
  v[0] = (lanes_f64)LANES_PIECES(a, c, 0);
  v[1] = (lanes_f64)LANES_PIECES(b, d, 0);
  v[2] = (lanes_f64)LANES_PIECES(a, c, 1);
  v[3] = (lanes_f64)LANES_PIECES(b, d, 1);
}
LANES_INLINE void lanes_line_f32(const float *line, int64_t apart, lanes_f32 v[16]) {
  lanes_f64 first[8], second[8];
  lanes_line_halves(4, (const char *)line, apart * (int64_t)sizeof *line, first, second);
  lanes_squares_f32(first, v);
  lanes_squares_f32(second, v + 8);
}
LANES_INLINE void lanes_line_f64(const double *line, int64_t apart, lanes_f64 v[8]) {
  lanes_f64 first[4], second[4];
  lanes_line_halves(2, (const char *)line, apart * (int64_t)sizeof *line, first, second);
  lanes_squares_f64(first, v);
  lanes_squares_f64(second, v + 4);
}
#undef LANES_PIECES
#else
enum { LANES_LINE_F32 = LANES_TURNS_F32, LANES_LINE_F64 = LANES_TURNS_F64 };
LANES_INLINE void lanes_line_f32(const float *line, int64_t apart, lanes_f32 v[LANES_LINE_F32]) {
  const float *lines[LANES_F32];
#pragma GCC unroll 8
  for (int i = 0; i < LANES_F32; i++) lines[i] = line + i * apart;
  lanes_turn_f32(lines, 0, v);
}
LANES_INLINE void lanes_line_f64(const double *line, int64_t apart, lanes_f64 v[LANES_LINE_F64]) {
  const double *lines[LANES_F64];
#pragma GCC unroll 4
  for (int i = 0; i < LANES_F64; i++) lines[i] = line + i * apart;
  lanes_turn_f64(lines, 0, v);
}
#endif
#undef LANES_UNPACK

#endif
