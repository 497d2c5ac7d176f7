/* The kernels of the peaks: nothing but loads, nothing but stores, nothing but multiply-adds.
 * Compiled once per instruction set. */
#include "backend/cpu/cpu.h"
#include "backend/cpu/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Vectors of the widest kind, and enough accumulators for two units of latency 4 or 5 to be busy
 * every cycle, within the registers there are. */
#if defined(__AVX512F__)
enum { WIDTH = 64, CHAINS = 16 };
#elif defined(__AVX2__)
enum { WIDTH = 32, CHAINS = 14 };
#elif defined(__aarch64__)
enum { WIDTH = 16, CHAINS = 24 };
#else
enum { WIDTH = 16, CHAINS = 14 };
#endif

typedef uint64_t word_lanes __attribute__((vector_size(WIDTH), may_alias));
typedef float float_lanes __attribute__((vector_size(WIDTH)));
typedef double double_lanes __attribute__((vector_size(WIDTH)));

enum { STRIP = 8, FLOATS = WIDTH / 4, DOUBLES = WIDTH / 8 };

/* ---- memory --------------------------------------------------------------------------------- */

static uint64_t value_of(const word_lanes sums[STRIP]) {
  word_lanes sum = sums[0];
  for (int k = 1; k < STRIP; k++) sum ^= sums[k];
  uint64_t value = 0;
  for (int l = 0; l < DOUBLES; l++) value ^= sum[l];
  return value;
}

static uint64_t read_words(const void *from, size_t bytes) {
  const word_lanes *at = from;
  word_lanes sums[STRIP] = {{0}};
  for (size_t i = 0; i < bytes / WIDTH; i += STRIP) {
#pragma GCC unroll 8
    for (int k = 0; k < STRIP; k++) sums[k] ^= at[i + (size_t)k];
  }
  return value_of(sums);
}

/* Several places at once: each is a stream of its own to the processor's prefetchers, of which one
 * alone may not keep memory busy. */
static uint64_t read_words_apart(const void *from, size_t bytes) {
  enum { STREAMS = STRIP, LINE = 64 / WIDTH };
  const word_lanes *at = from;
  const size_t apart = bytes / STREAMS / WIDTH;
  word_lanes sums[STREAMS] = {{0}};
  for (size_t i = 0; i < apart; i += LINE) {
#pragma GCC unroll 8
    for (size_t k = 0; k < STREAMS; k++) {
      for (size_t v = 0; v < LINE; v++) sums[k] ^= at[k * apart + i + v];
    }
  }
  return value_of(sums);
}

static void write_words(void *to, size_t bytes) {
  volatile word_lanes *at = to; /* volatile: or it becomes memset(), which chooses its own way */
  const word_lanes ones = {0};
  for (size_t i = 0; i < bytes / WIDTH; i++) at[i] = ones + 1;
}

static void copy_words(void *to, const void *from, size_t bytes) {
  volatile word_lanes *out = to; /* likewise memcpy() */
  const word_lanes *in = from;
  for (size_t i = 0; i < bytes / WIDTH; i++) out[i] = in[i];
}

#if defined(__x86_64__)
static inline void store_past(word_lanes *to, word_lanes value) {
#if defined(__AVX512F__)
  _mm512_stream_si512((void *)to, (__m512i)value);
#elif defined(__AVX2__)
  _mm256_stream_si256((void *)to, (__m256i)value);
#else
  _mm_stream_si128((void *)to, (__m128i)value);
#endif
}

static void write_words_past(void *to, size_t bytes) {
  word_lanes *at = to;
  const word_lanes ones = {0};
  for (size_t i = 0; i < bytes / WIDTH; i++) store_past(at + i, ones + 1);
  _mm_sfence();
}

static void copy_words_past(void *to, const void *from, size_t bytes) {
  word_lanes *out = to;
  const word_lanes *in = from;
  for (size_t i = 0; i < bytes / WIDTH; i++) store_past(out + i, in[i]);
  _mm_sfence();
}
#endif

/* ---- arithmetic ----------------------------------------------------------------------------- */

/* A baseline x86 CPU has no fused multiply-add: there the rate is that of a product and a sum,
 * which is what its rungs cannot beat. Arm's instruction adds into its accumulator: there the
 * other form would cost a move with every operation. */
static inline float_lanes multiply_add_float(float_lanes t, float_lanes factor, float_lanes term) {
#if defined(__AVX512F__)
  return (float_lanes)_mm512_fmadd_ps((__m512)t, (__m512)factor, (__m512)term);
#elif defined(__FMA__)
  return (float_lanes)_mm256_fmadd_ps((__m256)t, (__m256)factor, (__m256)term);
#elif defined(__aarch64__)
  return (float_lanes)vfmaq_f32((float32x4_t)t, (float32x4_t)factor, (float32x4_t)term);
#else
  return t * factor + term;
#endif
}

static inline double_lanes multiply_add_double(double_lanes t, double_lanes factor,
                                               double_lanes term) {
#if defined(__AVX512F__)
  return (double_lanes)_mm512_fmadd_pd((__m512d)t, (__m512d)factor, (__m512d)term);
#elif defined(__FMA__)
  return (double_lanes)_mm256_fmadd_pd((__m256d)t, (__m256d)factor, (__m256d)term);
#elif defined(__aarch64__)
  return (double_lanes)vfmaq_f64((float64x2_t)t, (float64x2_t)factor, (float64x2_t)term);
#else
  return t * factor + term;
#endif
}

static float multiply_add_floats(int64_t rounds, float factor, float term) {
  const float_lanes none = {0}, factors = none + factor, terms = none + term;
  float_lanes t[CHAINS];
#pragma GCC unroll 24
  for (int k = 0; k < CHAINS; k++) t[k] = none + (float)k; /* equal chains would become one */
  for (int64_t i = 0; i < rounds; i++) {
#pragma GCC unroll 24
    for (int k = 0; k < CHAINS; k++) t[k] = multiply_add_float(t[k], factors, terms);
  }
  float sum = 0;
  for (int k = 0; k < CHAINS; k++) {
    for (int l = 0; l < FLOATS; l++) sum += t[k][l];
  }
  return sum;
}

static double multiply_add_doubles(int64_t rounds, double factor, double term) {
  const double_lanes none = {0}, factors = none + factor, terms = none + term;
  double_lanes t[CHAINS];
#pragma GCC unroll 24
  for (int k = 0; k < CHAINS; k++) t[k] = none + (double)k; /* equal chains would become one */
  for (int64_t i = 0; i < rounds; i++) {
#pragma GCC unroll 24
    for (int k = 0; k < CHAINS; k++) t[k] = multiply_add_double(t[k], factors, terms);
  }
  double sum = 0;
  for (int k = 0; k < CHAINS; k++) {
    for (int l = 0; l < DOUBLES; l++) sum += t[k][l];
  }
  return sum;
}

const rung_cpu_kernels RUNG_ENTRY(rung_cpu_kernels) = {
    .read = read_words,
    .read_apart = read_words_apart,
    .write = write_words,
    .copy = copy_words,
#if defined(__x86_64__)
    .write_past = write_words_past,
    .copy_past = copy_words_past,
#endif
    .fma32 = multiply_add_floats,
    .fma64 = multiply_add_doubles,
    .fmas32 = CHAINS * FLOATS,
    .fmas64 = CHAINS * DOUBLES,
};
