/* What is computed, type by type (scan_operator in scan.h): for each operator the elements' type,
 * that of the numbers which are combined, how an element is loaded as one and stored again. */
#ifndef RUNG_SCAN_CUDA_OPERATORS_CUH
#define RUNG_SCAN_CUDA_OPERATORS_CUH

#include <stdint.h>

#include "backend/gpu.h"
#include "core/half.h"
#include "ops/scan/scan.h"

/* identity() changes nothing it is combined with: of floats it is the missing element -0.0. empty()
 * is the element that an exclusive scan begins with. `next` scans what a scan leaves. */
#define SCAN_DEVICE static __device__ __forceinline__

template <typename T>
struct scan_add {
  typedef T in;
  typedef T value;
  typedef scan_add<T> next;
  SCAN_DEVICE T identity() {
    return (T)-0.0;
  }
  SCAN_DEVICE T empty(const rung_key_code &) {
    return (T)0;
  }
  SCAN_DEVICE T load(T x, const rung_key_code &) {
    return x;
  }
  SCAN_DEVICE T store(T x, const rung_key_code &) {
    return x;
  }
  SCAN_DEVICE T combine(T a, T b) {
    return a + b;
  }
};

/* Integers of 8 and 16 bits, in 32: what is stored is the sum modulo 2^8 or 2^16. */
template <typename Element>
struct scan_add_small : scan_add<uint32_t> {
  typedef Element in;
  SCAN_DEVICE Element empty(const rung_key_code &) {
    return 0;
  }
  SCAN_DEVICE uint32_t load(Element x, const rung_key_code &) {
    return x;
  }
  SCAN_DEVICE Element store(uint32_t x, const rung_key_code &) {
    return (Element)x;
  }
};

/* f16 and bf16, in float. */
struct scan_add_half : scan_add<float> {
  typedef uint16_t in;
  SCAN_DEVICE uint16_t empty(const rung_key_code &) {
    return 0;
  }
  SCAN_DEVICE float load(uint16_t x, const rung_key_code &key) {
    return rung_half_to_f32(x, key.bfloat);
  }
  SCAN_DEVICE uint16_t store(float x, const rung_key_code &key) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 /* an instruction each: no choice costs less */
    uint16_t bfloat;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bfloat) : "f"(x));
    return key.bfloat ? bfloat : rung_f32_to_f16(x);
#else
    return rung_f32_to_half(x, key.bfloat);
#endif
  }
};

/* The least of keys (core/key.h). */
template <typename Key>
struct scan_least {
  typedef Key in;
  typedef Key value;
  typedef scan_least<Key> next;
  SCAN_DEVICE Key identity() {
    return sizeof(Key) == 4 ? (Key)INT32_MAX : (Key)INT64_MAX;
  }
  SCAN_DEVICE Key empty(const rung_key_code &key) {
    return identity() ^ (Key)key.mask;
  }
  SCAN_DEVICE Key load(Key x, const rung_key_code &key) {
    return x ^ (Key)key.mask;
  }
  SCAN_DEVICE Key store(Key x, const rung_key_code &key) {
    return x ^ (Key)key.mask;
  }
  SCAN_DEVICE Key combine(Key a, Key b) {
    return b < a ? b : a;
  }
};

/* Elements are looked at as the integers of their bits. */
struct scan_least_f32 : scan_least<int32_t> {
  SCAN_DEVICE int32_t identity() {
    return RUNG_KEY_MOST_F32;
  }
  SCAN_DEVICE int32_t empty(const rung_key_code &key) {
    return store(identity(), key);
  }
  SCAN_DEVICE int32_t load(int32_t x, const rung_key_code &key) {
    return rung_key_f32(x, (int32_t)key.mask);
  }
  SCAN_DEVICE int32_t store(int32_t x, const rung_key_code &key) {
    return rung_unkey_f32(x, (int32_t)key.mask);
  }
};
struct scan_least_f64 : scan_least<int64_t> {
  SCAN_DEVICE int64_t identity() {
    return RUNG_KEY_MOST_F64;
  }
  SCAN_DEVICE int64_t empty(const rung_key_code &key) {
    return store(identity(), key);
  }
  SCAN_DEVICE int64_t load(int64_t x, const rung_key_code &key) {
    return rung_key_f64(x, key.mask);
  }
  SCAN_DEVICE int64_t store(int64_t x, const rung_key_code &key) {
    return rung_unkey_f64(x, key.mask);
  }
};

/* All types of 8 or of 16 bits; the identity is above every key of theirs. */
template <typename Element>
struct scan_least_small : scan_least<int32_t> {
  typedef Element in;
  SCAN_DEVICE Element empty(const rung_key_code &key) {
    return store(key.most, key);
  }
  SCAN_DEVICE int32_t load(Element x, const rung_key_code &key) {
    return rung_key_16(x, &key);
  }
  SCAN_DEVICE Element store(int32_t x, const rung_key_code &key) {
    return (Element)rung_unkey_16(x, &key);
  }
};

/* Lines of a job, as kernels take them; pitches in elements. */
template <typename S>
struct scan_lines {
  const typename S::in *in;
  typename S::in *out;
  int64_t in_pitch, out_pitch, lines, columns;
  rung_key_code key;
  bool exclusive;
  bool wide; /* every line of both arrays begins at a multiple of 16 bytes */
};

template <typename S>
static scan_lines<S> scan_lines_of(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  const rung_view *in = &task->arrays[SCAN_IN], *out = &task->arrays[SCAN_OUT];
  scan_lines<S> lines;
  lines.in = (const typename S::in *)in->data;
  lines.out = (typename S::in *)out->data;
  lines.in_pitch = scan_pitch_of(problem, in);
  lines.out_pitch = scan_pitch_of(problem, out);
  lines.lines = problem->lines;
  lines.columns = problem->columns;
  lines.key = scan_key_of(problem);
  lines.exclusive = problem->exclusive;
  const uint64_t size = sizeof(typename S::in), more = lines.lines > 1;
  lines.wide = (((uintptr_t)lines.in | (uintptr_t)lines.out |
                 more * (uint64_t)lines.in_pitch * size | more * (uint64_t)lines.out_pitch * size) &
                15) == 0;
  return lines;
}

/* As many blocks as there are jobs, at most what a grid can have; kernels stride over the rest. */
static inline unsigned scan_grid(int64_t jobs) {
  return jobs < INT32_MAX ? (unsigned)jobs : (unsigned)INT32_MAX;
}

/* The prefix of a warp's numbers; K of the contract. */
template <typename S>
__device__ __forceinline__ typename S::value scan_warp(typename S::value t) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned s = 1; s < 32; s *= 2) {
    const typename S::value back = __shfl_up_sync(0xffffffffu, t, s);
    if (lane >= s) t = S::combine(back, t);
  }
  return t;
}

/* Rung::run<S>(task) for the task's operator S, one of elements of 4 or 8 bytes. */
template <typename Rung>
static rung_status scan_by_operator(const rung_task *task) {
  switch (scan_operator_of((const scan_problem *)task->problem)) {
    case SCAN_ADD_F32:
      return Rung::template run<scan_add<float>>(task);
    case SCAN_ADD_F64:
      return Rung::template run<scan_add<double>>(task);
    case SCAN_ADD_32:
      return Rung::template run<scan_add<uint32_t>>(task);
    case SCAN_ADD_64:
      return Rung::template run<scan_add<uint64_t>>(task);
    case SCAN_LEAST_32:
      return Rung::template run<scan_least<int32_t>>(task);
    case SCAN_LEAST_F32:
      return Rung::template run<scan_least_f32>(task);
    case SCAN_LEAST_64:
      return Rung::template run<scan_least<int64_t>>(task);
    case SCAN_LEAST_F64:
      return Rung::template run<scan_least_f64>(task);
    case SCAN_ADD_8:
    case SCAN_ADD_16:
    case SCAN_ADD_HALF:
    case SCAN_LEAST_8:
    case SCAN_LEAST_16:
    case SCAN_OPERATORS:
      break;
  }
  return rung_fail(task->error, RUNG_UNSUPPORTED, "no kernel for elements of this type");
}

/* The same for elements of any size. */
template <typename Rung>
static rung_status scan_by_any_operator(const rung_task *task) {
  switch (scan_operator_of((const scan_problem *)task->problem)) {
    case SCAN_ADD_8:
      return Rung::template run<scan_add_small<uint8_t>>(task);
    case SCAN_ADD_16:
      return Rung::template run<scan_add_small<uint16_t>>(task);
    case SCAN_ADD_HALF:
      return Rung::template run<scan_add_half>(task);
    case SCAN_LEAST_8:
      return Rung::template run<scan_least_small<int8_t>>(task);
    case SCAN_LEAST_16:
      return Rung::template run<scan_least_small<int16_t>>(task);
    default: /* a wider one */
      return scan_by_operator<Rung>(task);
  }
}

#endif
