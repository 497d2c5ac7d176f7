/* The CUDA surface of kernels, for nvcc. */
#ifndef RUNG_BACKEND_CUDA_SURFACE_H
#define RUNG_BACKEND_CUDA_SURFACE_H

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include "backend/texture.h"
#include "core/ladder.h"

/* A launch that was refused, or nothing. */
static inline rung_status rung_cuda_launched(const rung_task *task, const char *kernel) {
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "kernel %s could not be launched: %s", kernel,
                   cudaGetErrorString(status));
}

#define RUNG_LAUNCH(task, kernel, grid, block, shared_bytes, ...)                             \
  do {                                                                                        \
    (kernel)<<<(grid), (block), (shared_bytes), (cudaStream_t)(task)->stream>>>(__VA_ARGS__); \
    rung_status launched_ = rung_cuda_launched((task), #kernel);                              \
    if (launched_ != RUNG_OK) return launched_;                                               \
  } while (0)

/* kernels.cu. Not where the GPU's code for the kernel is older than such launches: it would not
 * wait. */
rung_status rung_cuda_may_begin_early(const rung_task *task, const void *kernel, bool *may);

#define RUNG_LAUNCH_NEXT(task, kernel, grid, block, shared_bytes, ...)                          \
  do {                                                                                          \
    bool early_ = false;                                                                        \
    rung_status launched_ = rung_cuda_may_begin_early((task), (const void *)(kernel), &early_); \
    if (launched_ != RUNG_OK) return launched_;                                                 \
    cudaLaunchAttribute attribute_ = {};                                                        \
    attribute_.id = cudaLaunchAttributeProgrammaticStreamSerialization;                         \
    attribute_.val.programmaticStreamSerializationAllowed = 1;                                  \
    cudaLaunchConfig_t config_ = {};                                                            \
    config_.gridDim = (grid);                                                                   \
    config_.blockDim = (block);                                                                 \
    config_.dynamicSmemBytes = (shared_bytes);                                                  \
    config_.stream = (cudaStream_t)(task)->stream;                                              \
    config_.attrs = &attribute_;                                                                \
    config_.numAttrs = early_ ? 1 : 0;                                                          \
    (void)cudaLaunchKernelEx(&config_, (kernel), __VA_ARGS__);                                  \
    launched_ = rung_cuda_launched((task), #kernel);                                            \
    if (launched_ != RUNG_OK) return launched_;                                                 \
  } while (0)

static __device__ inline void rung_let_next_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
static __device__ inline void rung_await_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void rung_take_turn() {
  rung_let_next_begin();
  rung_await_before();
}

/* One extern array serves all kernels of a file: its type is fixed by the cast. Aligned to a line
 * of the cache: asynchronous copies of whole lines to any other place take an eighth longer. */
extern __shared__ unsigned char rung_dynamic_shared_[] __attribute__((aligned(128)));
#define RUNG_DYNAMIC_SHARED(type, name) type *name = reinterpret_cast<type *>(rung_dynamic_shared_)

/* A refused call also leaves its error behind: it is taken back, or the next launch would be blamed
 * for it. */
#define RUNG_CUDA_TRY(task, call)                                          \
  do {                                                                     \
    cudaError_t status_ = (call);                                          \
    if (status_ != cudaSuccess) {                                          \
      cudaGetLastError();                                                  \
      return rung_fail((task)->error, RUNG_DEVICE_FAILED, "%s: %s", #call, \
                       cudaGetErrorString(status_));                       \
    }                                                                      \
  } while (0)

/* kernels.cu. The runtime is asked once a kernel, and once a size of its blocks. */
rung_status rung_cuda_allow_shared(const rung_task *task, const void *kernel, size_t bytes);
rung_status rung_cuda_resident_blocks(const rung_task *task, const void *kernel, int threads,
                                      size_t bytes, int *blocks);

#define RUNG_ALLOW_SHARED(task, kernel, bytes)                                   \
  do {                                                                           \
    rung_status allowed_ =                                                       \
        rung_cuda_allow_shared((task), (const void *)(kernel), (size_t)(bytes)); \
    if (allowed_ != RUNG_OK) return allowed_;                                    \
  } while (0)

/* How many blocks of a kernel a multiprocessor holds at once. */
#define RUNG_RESIDENT_BLOCKS(task, kernel, threads, shared_bytes, blocks)                          \
  do {                                                                                             \
    rung_status asked_ = rung_cuda_resident_blocks((task), (const void *)(kernel), (int)(threads), \
                                                   (size_t)(shared_bytes), (blocks));              \
    if (asked_ != RUNG_OK) return asked_;                                                          \
  } while (0)

/* One element, of 4, 8 or 16 bytes, from global into shared memory behind the thread's back: copies
 * since the last commit are one group; wait<N>() waits for all groups of the calling thread but the
 * last N. Below capability 8.0 an ordinary copy. */
template <typename T>
static __device__ inline void rung_copy_async(T *shared, const T *global) {
  __pipeline_memcpy_async(shared, global, sizeof(T));
}
/* The same of 16 bytes by way of the level 1 cache, which the other keeps out of. */
template <typename T>
static __device__ inline void rung_copy_async_shared(T *shared, const T *global) {
  static_assert(sizeof(T) == 16, "other sizes go that way by themselves");
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
      "l"(global)
      : "memory");
#else
  rung_copy_async(shared, global);
#endif
}
static __device__ inline void rung_copy_async_commit() {
  __pipeline_commit();
}
template <int LATER = 0>
static __device__ inline void rung_copy_async_wait() {
  __pipeline_wait_prior(LATER);
}

/* Each side comes at a barrier where the other only arrives, so that all who wait at one do so at
 * one place. */
template <int THREADS, int SIDE>
static __device__ inline void rung_sides_meet() {
  if (SIDE == 0)
    asm volatile("bar.arrive 1, %0;\nbar.sync 2, %0;" ::"n"(THREADS) : "memory");
  else
    asm volatile("bar.sync 1, %0;\nbar.arrive 2, %0;" ::"n"(THREADS) : "memory");
}

/* No access to memory is moved over this place by the compiler. */
static __device__ inline void rung_keep_order() {
  asm volatile("" ::: "memory");
}

/* The compiler takes x as it is from here on: it keeps it in a register. */
static __device__ inline void rung_keep(int &x) {
  asm volatile("" : "+r"(x));
}
static __device__ inline void rung_keep(unsigned &x) {
  asm volatile("" : "+r"(x));
}
static __device__ inline void rung_keep(int64_t &x) {
  asm volatile("" : "+l"(x));
}
/* An address in global memory, or in shared memory, likewise. */
template <typename T>
static __device__ inline void rung_keep_global(T *&x) {
  size_t at = __cvta_generic_to_global(x);
  asm volatile("" : "+l"(at));
  x = static_cast<T *>(__cvta_global_to_generic(at));
}
template <typename T>
static __device__ inline void rung_keep_shared(T *&x) {
  unsigned at = (unsigned)__cvta_generic_to_shared(x);
  asm volatile("" : "+r"(at));
  x = static_cast<T *>(__cvta_shared_to_generic(at));
}

/* Where the hardware has it: `bytes` of global memory, from `from` on, both multiples of 16, are on
 * their way to the level 2 cache. By one thread. */
static __device__ inline void rung_fetch_ahead(const void *from, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#else
  (void)from, (void)bytes;
#endif
}

/* Flags between blocks: what was written before the release is there after the acquire. */
template <typename T>
static __device__ inline T rung_load_acquire(const T *at) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "flags have 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    unsigned bits;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(at) : "memory");
    return (T)bits;
  } else {
    unsigned long long bits;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(at) : "memory");
    return (T)bits;
  }
}
template <typename T>
static __device__ inline void rung_store_release(T *at, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "flags have 4 or 8 bytes");
  if constexpr (sizeof(T) == 4)
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"((unsigned)value) : "memory");
  else
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(at), "l"((unsigned long long)value)
                 : "memory");
}

/* The same of words that say all themselves: nothing else is ordered by them. */
template <typename T>
static __device__ inline T rung_load_relaxed(const T *at) {
  static_assert(sizeof(T) == 8, "such words have 8 bytes");
  unsigned long long bits;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(at) : "memory");
  return (T)bits;
}
template <typename T>
static __device__ inline void rung_store_relaxed(T *at, T value) {
  static_assert(sizeof(T) == 8, "such words have 8 bytes");
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"((unsigned long long)value)
               : "memory");
}

/* atomicInc() that releases what was stored before it and acquires what others released. */
static __device__ inline unsigned rung_count_in(unsigned *at, unsigned most) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(at), "r"(most)
               : "memory");
  return before;
}

/* One instruction each; sqrtf() and rsqrtf() take more for subnormals, and to round rightly. */
static __device__ inline float rung_root(float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
static __device__ inline float rung_inverse_root(float x) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/* Nanoseconds on a clock all multiprocessors share, and the multiprocessor a thread runs on. */
static __device__ inline unsigned long long rung_global_timer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
static __device__ inline unsigned rung_processor() {
  unsigned number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

template <typename T>
static __device__ inline T rung_load_once(const T *from) {
  return __ldcs(from);
}

static __device__ inline unsigned rung_block_number() {
  unsigned number;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
  return number;
}

static __device__ inline void rung_mma_f64(double (&t)[4], const double (&a)[8],
                                           const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, "
      "%9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(t[0]), "+d"(t[1]), "+d"(t[2]), "+d"(t[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
  __trap();
  (void)t, (void)a, (void)b;
#endif
}

static __device__ inline void rung_mma_f64(double (&t)[4], const double (&a)[2],
                                           const double (&b)[1]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(t[0]), "+d"(t[1]), "+d"(t[2]), "+d"(t[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]));
#else
  __trap();
  (void)t, (void)a, (void)b;
#endif
}

/* rung_mma_s8(), of B's signed bytes, and rung_mma_s8u8(). Where the hardware has no products so
 * large, four of 8 by 8 of 16 steps. */
#if __CUDA_ARCH__ >= 800
#define RUNG_MMA_OF_BYTES_(name, b_type)                                                         \
  static __device__ inline void name(int *t, unsigned a0, unsigned a1, unsigned a2, unsigned a3, \
                                     unsigned b0, unsigned b1) {                                 \
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8." b_type                                       \
        ".s32 {%0, %1, %2, %3}, {%4, %5, %6, "                                                   \
        "%7}, {%8, %9}, {%0, %1, %2, %3};"                                                       \
        : "+r"(t[0]), "+r"(t[1]), "+r"(t[2]), "+r"(t[3])                                         \
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                                 \
  }
#else
#define RUNG_MMA_8_(b_type, t0, t1, a, b)                                                      \
  asm("mma.sync.aligned.m8n8k16.row.col.s32.s8." b_type ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
      : "+r"(t0), "+r"(t1)                                                                     \
      : "r"(a), "r"(b))
#define RUNG_MMA_OF_BYTES_(name, b_type)                                                         \
  static __device__ inline void name(int *t, unsigned a0, unsigned a1, unsigned a2, unsigned a3, \
                                     unsigned b0, unsigned b1) {                                 \
    RUNG_MMA_8_(b_type, t[0], t[1], a0, b0);                                                     \
    RUNG_MMA_8_(b_type, t[0], t[1], a2, b1);                                                     \
    RUNG_MMA_8_(b_type, t[2], t[3], a1, b0);                                                     \
    RUNG_MMA_8_(b_type, t[2], t[3], a3, b1);                                                     \
  }
#endif
RUNG_MMA_OF_BYTES_(rung_mma_s8, "s8")
RUNG_MMA_OF_BYTES_(rung_mma_s8u8, "u8")
#undef RUNG_MMA_OF_BYTES_
#undef RUNG_MMA_8_

/* Four products of a's bytes and b's signed ones, added up modulo 2^32. */
static __device__ inline int rung_dot_u8s8(unsigned a, int b, int c) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}

/* Four integers as bytes, the first in the lowest, saturated to 0 ... 255. */
static __device__ inline unsigned rung_pack_u8(int a, int b, int c, int d) {
  unsigned high, all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(high) : "r"(d), "r"(c), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(high));
  return all;
}

/* texture.cu. The object is kept as long as the device is open, or until nothing queued can use it:
 * destroying it at once could take it from a kernel that runs, and would have to wait. */
rung_status rung_cuda_texture(const rung_task *task, const rung_texture *shown,
                              cudaTextureObject_t *object);
#define RUNG_TEXTURE(task, shown, object)                             \
  do {                                                                \
    rung_status made_ = rung_cuda_texture((task), (shown), (object)); \
    if (made_ != RUNG_OK) return made_;                               \
  } while (0)

#define RUNG_COPY_TO_CONSTANT(task, symbol, from, bytes)                                          \
  RUNG_CUDA_TRY(task, cudaMemcpyToSymbolAsync(symbol, (from), (bytes), 0, cudaMemcpyHostToDevice, \
                                              (cudaStream_t)(task)->stream))

#define RUNG_COPY_ON_DEVICE(task, to, from, bytes)                                     \
  RUNG_CUDA_TRY(task, cudaMemcpyAsync((to), (from), (bytes), cudaMemcpyDeviceToDevice, \
                                      (cudaStream_t)(task)->stream))

#define RUNG_COPY_TO_HOST(task, to, from, bytes)                                     \
  RUNG_CUDA_TRY(task, cudaMemcpyAsync((to), (from), (bytes), cudaMemcpyDeviceToHost, \
                                      (cudaStream_t)(task)->stream))

#define RUNG_COPY_TO_DEVICE(task, to, from, bytes)                                   \
  RUNG_CUDA_TRY(task, cudaMemcpyAsync((to), (from), (bytes), cudaMemcpyHostToDevice, \
                                      (cudaStream_t)(task)->stream))

#define RUNG_CALL_ON_HOST(task, function, argument) \
  RUNG_CUDA_TRY(task, cudaLaunchHostFunc((cudaStream_t)(task)->stream, (function), (argument)))

#define RUNG_FILL_ON_DEVICE(task, to, byte, bytes) \
  RUNG_CUDA_TRY(task, cudaMemsetAsync((to), (byte), (bytes), (cudaStream_t)(task)->stream))

#endif
