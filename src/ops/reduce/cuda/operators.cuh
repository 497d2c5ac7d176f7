/* What is computed, type by type (reduce_operator in reduce.h): for each operator the elements'
 * type, that of its partial results, how an element is loaded as a number and how two numbers are
 * combined. */
#ifndef RUNG_REDUCE_CUDA_OPERATORS_CUH
#define RUNG_REDUCE_CUDA_OPERATORS_CUH

#include <stdint.h>

#include "backend/gpu.h"
#include "ops/reduce/finish.h"

/* The host combines partial results too, where it finishes. */
#define REDUCE_BOTH static __host__ __device__ __forceinline__

/* identity() changes nothing it is combined with: of floats it is the missing element -0.0, which
 * is missing() before it is loaded. A thread's own numbers of a tile are `running`, the block's are
 * `partial`. `wide` elements are loaded at once. Where an operator is `ordered` its partial results
 * have the contract's order, if the rung is canonical. `next` combines what it leaves. */
template <typename T>
struct reduce_add_float {
  typedef T in;
  typedef T running;
  typedef T partial;
  typedef reduce_add_float<T> next;
  enum { wide = 16 / sizeof(T) };
  static const bool ordered = true, sums = true;
  REDUCE_BOTH T identity() {
    return (T)-0.0;
  }
  REDUCE_BOTH T missing() {
    return (T)-0.0;
  }
  REDUCE_BOTH T load(T x, const rung_key_code &) {
    return x;
  }
  REDUCE_BOTH T combine(T a, T b) {
    return a + b;
  }
};

/* f16 and bf16, in float. Four of them at once are as many lanes as of floats. */
struct reduce_add_half : reduce_add_float<float> {
  typedef uint16_t in;
  REDUCE_BOTH uint16_t missing() {
    return 0x8000;
  }
  REDUCE_BOTH float load(uint16_t x, const rung_key_code &key) {
    return rung_half_to_f32(x, key.bfloat);
  }
};

/* Integers modulo 2^64, those of 8 and 16 bits of a tile in 32: 2^15 of them fit. */
template <typename T>
struct reduce_add_integer;
template <>
struct reduce_add_integer<uint64_t> {
  typedef uint64_t in;
  typedef uint64_t running;
  typedef uint64_t partial;
  typedef reduce_add_integer<uint64_t> next;
  enum { wide = 2 };
  static const bool ordered = false, sums = true;
  REDUCE_BOTH uint64_t identity() {
    return 0;
  }
  REDUCE_BOTH uint64_t load(uint64_t x, const rung_key_code &) {
    return x;
  }
  template <typename N>
  REDUCE_BOTH N combine(N a, N b) {
    return a + b;
  }
};
template <>
struct reduce_add_integer<uint32_t> : reduce_add_integer<uint64_t> {
  typedef uint32_t in;
  enum { wide = 4 };
  REDUCE_BOTH uint64_t load(uint32_t x, const rung_key_code &key) {
    return x ^ (uint32_t)key.mask;
  }
};
template <typename T>
struct reduce_add_small : reduce_add_integer<uint64_t> {
  typedef T in;
  typedef uint32_t running;
  enum { wide = 16 / sizeof(T) };
  REDUCE_BOTH uint32_t load(T x, const rung_key_code &key) {
    return x ^ (uint32_t)key.mask;
  }
};

/* The least of keys (core/key.h). */
template <typename Key>
struct reduce_least {
  typedef Key in;
  typedef Key running;
  typedef Key partial;
  typedef reduce_least<Key> next;
  enum { wide = 16 / sizeof(Key) };
  static const bool ordered = false, sums = false;
  REDUCE_BOTH Key identity() {
    return sizeof(Key) == 4 ? (Key)INT32_MAX : (Key)INT64_MAX;
  }
  REDUCE_BOTH Key load(Key x, const rung_key_code &key) {
    return x ^ (Key)key.mask;
  }
  REDUCE_BOTH Key combine(Key a, Key b) {
    return a < b ? a : b;
  }
  /* The element that a partial result is: results of minima are of the elements' type. */
  REDUCE_BOTH in unload(Key key, const rung_key_code &code) {
    return key ^ (Key)code.mask;
  }
};

/* Of floats, from their bits. */
struct reduce_least_f32 : reduce_least<int32_t> {
  REDUCE_BOTH int32_t load(int32_t bits, const rung_key_code &key) {
    return rung_key_f32(bits, (int32_t)key.mask);
  }
  REDUCE_BOTH in unload(int32_t key, const rung_key_code &code) {
    return rung_unkey_f32(key, (int32_t)code.mask);
  }
};
struct reduce_least_f64 : reduce_least<int64_t> {
  REDUCE_BOTH int64_t load(int64_t bits, const rung_key_code &key) {
    return rung_key_f64(bits, key.mask);
  }
  REDUCE_BOTH in unload(int64_t key, const rung_key_code &code) {
    return rung_unkey_f64(key, code.mask);
  }
};

/* Of all types of 8 bits, which has no float, or of 16. */
struct reduce_least_8 : reduce_least<int32_t> {
  typedef int8_t in;
  enum { wide = 16 };
  REDUCE_BOTH int32_t load(int8_t x, const rung_key_code &key) {
    return x ^ (int32_t)key.mask;
  }
  REDUCE_BOTH in unload(int32_t key, const rung_key_code &code) {
    return (in)(key ^ (int32_t)code.mask);
  }
};
struct reduce_least_16 : reduce_least<int32_t> {
  typedef int16_t in;
  enum { wide = 8 };
  REDUCE_BOTH int32_t load(int16_t x, const rung_key_code &key) {
    return rung_key_16(x, &key);
  }
  REDUCE_BOTH in unload(int32_t key, const rung_key_code &code) {
    return (in)rung_unkey_16(key, &code);
  }
};

/* In a function that returns PICK(S) for the operator's S. */
#define REDUCE_PICK(op, PICK)                \
  switch (op) {                              \
    case REDUCE_ADD_F32:                     \
      return PICK(reduce_add_float<float>);  \
    case REDUCE_ADD_HALF:                    \
      return PICK(reduce_add_half);          \
    case REDUCE_ADD_F64:                     \
      return PICK(reduce_add_float<double>); \
      REDUCE_PICK_UNORDERED(PICK)            \
    default:                                 \
      return NULL;                           \
  }
#define REDUCE_PICK_UNORDERED(PICK)            \
  case REDUCE_ADD_8:                           \
    return PICK(reduce_add_small<uint8_t>);    \
  case REDUCE_ADD_16:                          \
    return PICK(reduce_add_small<uint16_t>);   \
  case REDUCE_ADD_32:                          \
    return PICK(reduce_add_integer<uint32_t>); \
  case REDUCE_ADD_64:                          \
    return PICK(reduce_add_integer<uint64_t>); \
  case REDUCE_LEAST_8:                         \
    return PICK(reduce_least_8);               \
  case REDUCE_LEAST_16:                        \
    return PICK(reduce_least_16);              \
  case REDUCE_LEAST_32:                        \
    return PICK(reduce_least<int32_t>);        \
  case REDUCE_LEAST_F32:                       \
    return PICK(reduce_least_f32);             \
  case REDUCE_LEAST_64:                        \
    return PICK(reduce_least<int64_t>);        \
  case REDUCE_LEAST_F64:                       \
    return PICK(reduce_least_f64);
/* Likewise for rungs that take nothing but sums of floats. */
#define REDUCE_PICK_FLOAT(op, PICK)          \
  switch (op) {                              \
    case REDUCE_ADD_F32:                     \
      return PICK(reduce_add_float<float>);  \
    case REDUCE_ADD_HALF:                    \
      return PICK(reduce_add_half);          \
    case REDUCE_ADD_F64:                     \
      return PICK(reduce_add_float<double>); \
    default:                                 \
      return NULL;                           \
  }

/* ---- the end -----------------------------------------------------------------------------------
 */

REDUCE_BOTH void reduce_finish(const reduce_end &end, float sum, void *out, int64_t at) {
  reduce_finish_f32(&end, sum, out, at);
}
REDUCE_BOTH void reduce_finish(const reduce_end &end, double sum, void *out, int64_t at) {
  reduce_finish_f64(&end, sum, out, at);
}
REDUCE_BOTH void reduce_finish(const reduce_end &end, uint64_t sum, void *out, int64_t at) {
  reduce_finish_u64(&end, sum, out, at);
}
REDUCE_BOTH void reduce_finish(const reduce_end &end, int32_t key, void *out, int64_t at) {
  reduce_finish_i32(&end, key, out, at);
}
REDUCE_BOTH void reduce_finish(const reduce_end &end, int64_t key, void *out, int64_t at) {
  reduce_finish_i64(&end, key, out, at);
}

/* By an operator, not by the type of its partial results. */
template <typename S>
static __device__ __forceinline__ void reduce_finish_of(const reduce_end &end,
                                                        typename S::partial partial, void *out,
                                                        int64_t at) {
  if constexpr (S::sums)
    reduce_finish(end, partial, out, at);
  else
    ((typename S::in *)out)[at] = S::unload(partial, end.key);
}

/* Where a thread has many results: of sums the mean, which is a division each, is code of its own.
 */
template <typename P>
static __device__ __attribute__((noinline)) void reduce_finish_mean(const reduce_end &end, P sum,
                                                                    void *out, int64_t at) {
  reduce_finish(end, sum, out, at);
}
template <typename S>
static __device__ __forceinline__ void reduce_finish_each(const reduce_end &end,
                                                          typename S::partial partial, void *out,
                                                          int64_t at) {
  reduce_end plain = end;
  plain.mean = false;
  if (S::sums && end.mean)
    reduce_finish_mean(end, partial, out, at);
  else
    reduce_finish_of<S>(plain, partial, out, at);
}

/* A partial result, wherever it goes. */
template <typename P>
REDUCE_BOTH void reduce_put(const reduce_end &end, P partial, void *out, int64_t at) {
  if (end.last)
    reduce_finish(end, partial, out, at);
  else
    ((P *)out)[at] = partial;
}

#endif
