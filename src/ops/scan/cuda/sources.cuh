/* What is computed, type by type (scan_source in scan.h): for each source the elements' type, that
 * of the numbers which are joined, how an element becomes one and comes back. */
#ifndef RUNG_SCAN_CUDA_SOURCES_CUH
#define RUNG_SCAN_CUDA_SOURCES_CUH

#include <stdint.h>

#include "backend/gpu.h"
#include "ops/scan/scan.h"

/* none() changes nothing it is joined with: of floats it is the missing element -0.0. nothing() is
 * what an exclusive scan begins with. `next` scans what a scan leaves. */
template <typename T>
struct scan_add {
  typedef T in;
  typedef T value;
  typedef scan_add<T> next;
  static __device__ __forceinline__ T none() {
    return (T)-0.0;
  }
  static __device__ __forceinline__ T nothing(int64_t) {
    return (T)0;
  }
  static __device__ __forceinline__ T take(T x, int64_t) {
    return x;
  }
  static __device__ __forceinline__ T give(T x, int64_t) {
    return x;
  }
  static __device__ __forceinline__ T join(T a, T b) {
    return a + b;
  }
};

/* The least of keys (core/key.h). */
template <typename Key>
struct scan_least {
  typedef Key in;
  typedef Key value;
  typedef scan_least<Key> next;
  static __device__ __forceinline__ Key none() {
    return sizeof(Key) == 4 ? (Key)INT32_MAX : (Key)INT64_MAX;
  }
  static __device__ __forceinline__ Key nothing(int64_t turn) {
    return none() ^ (Key)turn;
  }
  static __device__ __forceinline__ Key take(Key x, int64_t turn) {
    return x ^ (Key)turn;
  }
  static __device__ __forceinline__ Key give(Key x, int64_t turn) {
    return x ^ (Key)turn;
  }
  static __device__ __forceinline__ Key join(Key a, Key b) {
    return b < a ? b : a;
  }
};

/* Elements are looked at as the integers of their bits. */
struct scan_least_f32 : scan_least<int32_t> {
  static __device__ __forceinline__ int32_t none() {
    return RUNG_KEY_MOST_F32;
  }
  static __device__ __forceinline__ int32_t nothing(int64_t turn) {
    return give(none(), turn);
  }
  static __device__ __forceinline__ int32_t take(int32_t x, int64_t turn) {
    return rung_key_f32(x, (int32_t)turn);
  }
  static __device__ __forceinline__ int32_t give(int32_t x, int64_t turn) {
    return rung_unkey_f32(x, (int32_t)turn);
  }
};
struct scan_least_f64 : scan_least<int64_t> {
  static __device__ __forceinline__ int64_t none() {
    return RUNG_KEY_MOST_F64;
  }
  static __device__ __forceinline__ int64_t nothing(int64_t turn) {
    return give(none(), turn);
  }
  static __device__ __forceinline__ int64_t take(int64_t x, int64_t turn) {
    return rung_key_f64(x, turn);
  }
  static __device__ __forceinline__ int64_t give(int64_t x, int64_t turn) {
    return rung_unkey_f64(x, turn);
  }
};

/* Lines of a job, as kernels take them; pitches in elements. */
template <typename S>
struct scan_lines {
  const typename S::in *in;
  typename S::in *out;
  int64_t in_pitch, out_pitch, lines, columns, turn;
  bool exclusive;
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
  lines.turn = scan_turn_of(problem);
  lines.exclusive = problem->exclusive;
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
    if (lane >= s) t = S::join(back, t);
  }
  return t;
}

/* Rung::run<S>(task) for the task's source S. */
template <typename Rung>
static rung_status scan_by_source(const rung_task *task) {
  switch (scan_source_of((const scan_problem *)task->problem)) {
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
    default:
      return Rung::template run<scan_least_f64>(task);
  }
}

#endif
