/* Tiles of sums of products of digits: 6 rows of a vector where there are 32 registers, 2 where
 * there are 16, each with a sum for every weight. The products of four bytes are one instruction
 * where the processor has VNNI; elsewhere digits have 16 bits, and those of two are. */
#include "ops/matmul/cpu/dots.h"
#include "backend/cpu/lanes.h"

#if LANES_REGISTERS == 32
enum { DOT_ROWS = 6 };
#else
enum { DOT_ROWS = 2 };
#endif

#if defined(__x86_64__) && LANES_BYTES == 16
#include <emmintrin.h>
#endif

/* Every lane's two products of 16-bit numbers, added to it. */
LANES_INLINE lanes_i32 add_two(lanes_i32 sum, lanes_i32 b, lanes_i32 a) {
#if defined(__x86_64__) && LANES_BYTES == 64
  return sum + (lanes_i32)_mm512_madd_epi16((__m512i)b, (__m512i)a);
#elif defined(__x86_64__) && LANES_BYTES == 32
  return sum + (lanes_i32)_mm256_madd_epi16((__m256i)b, (__m256i)a);
#elif defined(__x86_64__)
  return sum + (lanes_i32)_mm_madd_epi16((__m128i)b, (__m128i)a);
#else
  return sum + (b >> 16) * (a >> 16) + ((b << 16) >> 16) * ((a << 16) >> 16);
#endif
}

#define NAME(x) two_##x
#define TARGET
#define DIGIT int16_t
#define GROUP 2
#define BIASED false
#define DOT add_two
#include "ops/matmul/cpu/kernels/dots_of.h"

#if defined(__x86_64__) && LANES_BYTES == 64
#define HAS_VNNI __builtin_cpu_supports("avx512vnni")
#define VNNI __attribute__((target("avx512vnni")))
/* The same of four, of which b's have no sign. */
LANES_INLINE VNNI lanes_i32 add_four(lanes_i32 sum, lanes_i32 b, lanes_i32 a) {
  return (lanes_i32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)b, (__m512i)a);
}
#elif defined(__x86_64__) && LANES_BYTES == 32 && !defined(__clang__)
#define HAS_VNNI __builtin_cpu_supports("avxvnni")
#define VNNI __attribute__((target("avxvnni")))
LANES_INLINE VNNI lanes_i32 add_four(lanes_i32 sum, lanes_i32 b, lanes_i32 a) {
  return (lanes_i32)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)b, (__m256i)a);
}
#endif

#ifdef VNNI
#define NAME(x) four_##x
#define TARGET VNNI
#define DIGIT int8_t
#define GROUP 4
#define BIASED true
#define DOT add_four
#include "ops/matmul/cpu/kernels/dots_of.h"
#endif

const matmul_dots *RUNG_ENTRY(matmul_dots_at)(int index) {
  const matmul_dots *here[3] = {&two_dots};
#ifdef VNNI
  if (HAS_VNNI) here[1] = &four_dots;
#endif
  return index < 3 ? here[index] : NULL;
}

const matmul_dots *RUNG_ENTRY(matmul_dots_here)(void) {
  const matmul_dots *best = RUNG_ENTRY(matmul_dots_at)(1);
  return best != NULL ? best : RUNG_ENTRY(matmul_dots_at)(0);
}
