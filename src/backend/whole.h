/* Stores that stay whole: a part of backend/gpu.h, which kernels include. */
#ifndef RUNG_BACKEND_WHOLE_H
#define RUNG_BACKEND_WHOLE_H

#include <string.h>

/* The widest words that a value of so many bytes is stored by. */
template <int BYTES>
struct rung_store_word {
  typedef uint4 type;
};
template <>
struct rung_store_word<8> {
  typedef uint2 type;
};
template <>
struct rung_store_word<4> {
  typedef unsigned type;
};

/* `value`, of 4, 8 or a multiple of 16 bytes, to where it is aligned. By __stwb, which stores as by
 * default: of a plain assignment nvcc makes, of some in a kernel, a store an element. */
template <typename T>
static __device__ __forceinline__ void rung_store_whole(void *to, const T &value) {
  typedef typename rung_store_word<(int)sizeof(T)>::type word;
  static constexpr int WORDS = (int)(sizeof(T) / sizeof(word));
  word words[WORDS];
  memcpy(words, &value, sizeof value);
#pragma unroll
  for (int w = 0; w < WORDS; ++w) __stwb((word *)to + w, words[w]);
}

#endif
