/* What the textbook's rungs share. Theirs is a lesson in how a block folds, not in loads: but for
 * sums of floats and of integers of 32 bits, which have kernels of their own, a kernel takes every
 * type whose partial results are of one type, and looks at each load which it is: a twentieth to a
 * quarter of its time. */
#ifndef RUNG_REDUCE_CUDA_TEXTBOOK_CUH
#define RUNG_REDUCE_CUDA_TEXTBOOK_CUH

#include "ops/reduce/cuda/levels.cuh"

/* Operators with at(): element `from` + k of a level, of one type; `from` is the block's. */
template <typename T>
struct reduce_floats : reduce_add_float<T> {
  static __device__ __forceinline__ T at(const reduce_level &level, int64_t from, unsigned k) {
    return ((const T *)level.in + from)[k];
  }
};

struct reduce_words : reduce_add_integer<uint64_t> {
  static __device__ __forceinline__ uint64_t at(const reduce_level &level, int64_t from,
                                                unsigned k) {
    return ((const uint32_t *)level.in + from)[k] ^ (uint64_t)level.key.mask;
  }
};

/* The same, whatever its type. */
struct reduce_any_float : reduce_add_float<float> {
  static __device__ __forceinline__ float at(const reduce_level &level, int64_t from, unsigned k) {
    if (level.dtype == RUNG_F32) return reduce_floats<float>::at(level, from, k);
    return rung_half_to_f32(((const uint16_t *)level.in + from)[k], level.key.bfloat);
  }
};

struct reduce_any_integer : reduce_add_integer<uint64_t> {
  static __device__ __forceinline__ uint64_t at(const reduce_level &level, int64_t from,
                                                unsigned k) {
    uint64_t x;
    switch (level.dtype) {
      case RUNG_I32:
      case RUNG_U32:
        return reduce_words::at(level, from, k);
      case RUNG_I16:
      case RUNG_U16:
        x = ((const uint16_t *)level.in + from)[k];
        break;
      case RUNG_I8:
      case RUNG_U8:
        x = ((const uint8_t *)level.in + from)[k];
        break;
      default:
        x = ((const uint64_t *)level.in + from)[k];
    }
    return x ^ (uint64_t)level.key.mask;
  }
};

struct reduce_any_key_32 : reduce_least<int32_t> {
  static __device__ __forceinline__ int32_t at(const reduce_level &level, int64_t from,
                                               unsigned k) {
    switch (level.dtype) {
      case RUNG_F32:
        return rung_key_f32(((const int32_t *)level.in + from)[k], (int32_t)level.key.mask);
      case RUNG_I32:
      case RUNG_U32:
        return ((const int32_t *)level.in + from)[k] ^ (int32_t)level.key.mask;
      case RUNG_I8:
      case RUNG_U8:
        return ((const int8_t *)level.in + from)[k] ^ (int32_t)level.key.mask;
      default:
        return rung_key_16(((const int16_t *)level.in + from)[k], &level.key);
    }
  }
};

struct reduce_any_key_64 : reduce_least<int64_t> {
  static __device__ __forceinline__ int64_t at(const reduce_level &level, int64_t from,
                                               unsigned k) {
    const int64_t bits = ((const int64_t *)level.in + from)[k];
    return level.dtype == RUNG_F64 ? rung_key_f64(bits, level.key.mask) : bits ^ level.key.mask;
  }
};

/* So few registers that a multiprocessor is full of threads, in blocks of up to 1024: these kernels
 * wait for memory, and other threads are all they have to cover it. Only chips of these
 * capabilities hold 2048 threads; others have registers enough. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900)
#define REDUCE_WHOLE __launch_bounds__(1024, 2)
#else
#define REDUCE_WHOLE __launch_bounds__(1024)
#endif

/* In a function that returns kernel<S> for the S of an operator's partial results. */
#define REDUCE_PICK_ANY(op, kernel)         \
  switch (reduce_partial_of(op)) {          \
    case RUNG_F32:                          \
      return kernel<reduce_any_float>;      \
    case RUNG_F64:                          \
      return kernel<reduce_floats<double>>; \
    case RUNG_U64:                          \
      return kernel<reduce_any_integer>;    \
    case RUNG_I32:                          \
      return kernel<reduce_any_key_32>;     \
    default:                                \
      return kernel<reduce_any_key_64>;     \
  }
/* The same for elements of a type. */
#define REDUCE_PICK_OF(op, dtype, kernel)                                                          \
  if (reduce_partial_of(op) == RUNG_F32 && dtype == RUNG_F32) return kernel<reduce_floats<float>>; \
  if (reduce_partial_of(op) == RUNG_U64 && rung_dtype_bytes(dtype) == 4)                           \
    return kernel<reduce_words>;                                                                   \
  REDUCE_PICK_ANY(op, kernel)

/* What a thread brings to its block's fold: its element of the part. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_one(const reduce_level &level,
                                                          const reduce_part &part) {
  return threadIdx.x < part.count ? S::at(level, part.first, threadIdx.x) : S::identity();
}

/* Or two of them, a block apart. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_two(const reduce_level &level,
                                                          const reduce_part &part) {
  const unsigned second = threadIdx.x + blockDim.x;
  const typename S::partial first = reduce_one<S>(level, part);
  return second < part.count ? S::combine(first, S::at(level, part.first, second)) : first;
}

static inline int64_t reduce_block(const rung_task *task) {
  return task->block == 0 ? REDUCE_BLOCK : task->block;
}

/* Shared memory of a partial result a thread. */
static inline size_t reduce_block_shared(const rung_task *task, reduce_operator op) {
  return (size_t)reduce_block(task) * rung_dtype_bytes(reduce_partial_of(op));
}

/* reduce_NAME_launch(), for reduce_all_levels(), of a rung whose kernels are reduce_NAME<S>. */
#define REDUCE_TEXTBOOK_LAUNCH(name)                                                       \
  static inline reduce_kernel reduce_##name##_pick(reduce_operator op, rung_dtype dtype) { \
    REDUCE_PICK_OF(op, dtype, reduce_##name)                                               \
  }                                                                                        \
  static inline rung_status reduce_##name##_launch(                                        \
      const rung_task *task, const reduce_level &level, reduce_operator op) {              \
    const reduce_kernel reduce_##name##_kernel = reduce_##name##_pick(op, level.dtype);    \
    RUNG_LAUNCH(task, reduce_##name##_kernel, reduce_grid(level.outer *level.parts),       \
                (unsigned)reduce_block(task), reduce_block_shared(task, op), level);       \
    return RUNG_OK;                                                                        \
  }

#endif
