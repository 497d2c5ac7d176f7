/* What is computed, type by type (reduce_source in reduce.h): for each source the elements' type,
 * the partial results' type, and how an element is taken and two partial results are joined. */
#ifndef RUNG_REDUCE_CUDA_SOURCES_CUH
#define RUNG_REDUCE_CUDA_SOURCES_CUH

#include <stdint.h>

#include "backend/gpu.h"
#include "ops/reduce/reduce.h"

/* The host joins partial results too, where it finishes. */
#define REDUCE_BOTH static __host__ __device__ __forceinline__

/* Partial results of floats' sums have the contract's order, where a rung is canonical; none() is
 * the missing element -0.0, which changes no sum. */
template <typename T>
struct reduce_add_float {
  typedef T in;
  typedef T partial;
  typedef reduce_add_float<T> next;
  static const bool ordered = true;
  REDUCE_BOTH T none() {
    return (T)-0.0;
  }
  REDUCE_BOTH T take(T x, int64_t) {
    return x;
  }
  REDUCE_BOTH T join(T a, T b) {
    return a + b;
  }
};

/* Integers, modulo 2^64: a signed one is extended first. */
template <typename T>
struct reduce_add_integer {
  typedef T in;
  typedef uint64_t partial;
  typedef reduce_add_integer<uint64_t> next;
  static const bool ordered = false;
  REDUCE_BOTH uint64_t none() {
    return 0;
  }
  REDUCE_BOTH uint64_t take(T x, int64_t) {
    return (uint64_t)x;
  }
  REDUCE_BOTH uint64_t join(uint64_t a, uint64_t b) {
    return a + b;
  }
};

template <typename Key>
REDUCE_BOTH Key reduce_highest() {
  return sizeof(Key) == 4 ? (Key)INT32_MAX : (Key)INT64_MAX;
}

/* The least of integers' keys: their bits, some turned over. */
template <typename T, typename Key>
struct reduce_least_integer {
  typedef T in;
  typedef Key partial;
  typedef reduce_least_integer<Key, Key> next;
  static const bool ordered = false;
  REDUCE_BOTH Key none() {
    return reduce_highest<Key>();
  }
  REDUCE_BOTH Key take(T x, int64_t turn) {
    return (Key)x ^ (Key)turn;
  }
  REDUCE_BOTH Key join(Key a, Key b) {
    return a < b ? a : b;
  }
};

/* The least of floats' keys, from the floats' bits. */
struct reduce_least_f32 : reduce_least_integer<int32_t, int32_t> {
  REDUCE_BOTH int32_t take(int32_t bits, int64_t turn) {
    return rung_key_f32(bits, (int32_t)turn);
  }
};
struct reduce_least_f64 : reduce_least_integer<int64_t, int64_t> {
  REDUCE_BOTH int64_t take(int64_t bits, int64_t turn) {
    return rung_key_f64(bits, turn);
  }
};

/* ---- the end -----------------------------------------------------------------------------------
 */

/* What becomes of a partial result. */
struct reduce_end {
  bool last; /* it is a whole line's: to be made a result; otherwise it is stored as it is */
  bool mean;
  rung_dtype dtype; /* of the problem's elements */
  int64_t columns;  /* of the problem */
  int64_t turn;
};

template <typename T>
REDUCE_BOTH void reduce_finish_float(const reduce_end &end, T sum, void *out, int64_t at) {
  if (end.columns == 0) sum = (T)0;
  ((T *)out)[at] = end.mean ? (T)((double)sum / (double)end.columns) : sum;
}

REDUCE_BOTH void reduce_finish(const reduce_end &end, float sum, void *out, int64_t at) {
  reduce_finish_float<float>(end, sum, out, at);
}
REDUCE_BOTH void reduce_finish(const reduce_end &end, double sum, void *out, int64_t at) {
  reduce_finish_float<double>(end, sum, out, at);
}

REDUCE_BOTH void reduce_finish(const reduce_end &end, uint64_t sum, void *out, int64_t at) {
  const bool negative = end.dtype == RUNG_I32 || end.dtype == RUNG_I64;
  if (end.mean)
    ((double *)out)[at] = (negative ? (double)(int64_t)sum : (double)sum) / (double)end.columns;
  else
    ((uint64_t *)out)[at] = sum;
}

REDUCE_BOTH void reduce_finish(const reduce_end &end, int32_t key, void *out, int64_t at) {
  const int32_t bits = key ^ (int32_t)end.turn;
  if (end.dtype == RUNG_U8)
    ((uint8_t *)out)[at] = (uint8_t)bits;
  else if (end.dtype == RUNG_F32)
    ((int32_t *)out)[at] = rung_unkey_f32(key, (int32_t)end.turn);
  else
    ((int32_t *)out)[at] = bits;
}

REDUCE_BOTH void reduce_finish(const reduce_end &end, int64_t key, void *out, int64_t at) {
  ((int64_t *)out)[at] = end.dtype == RUNG_F64 ? rung_unkey_f64(key, end.turn) : key ^ end.turn;
}

template <typename P>
REDUCE_BOTH void reduce_put(const reduce_end &end, P partial, void *out, int64_t at) {
  if (end.last)
    reduce_finish(end, partial, out, at);
  else
    ((P *)out)[at] = partial;
}

#endif
