/* The CUDA surface of kernels, for g++ and the simulated GPU: what backend/cuda/surface.h is for
 * nvcc. Only backend/gpu.h includes it. */
#ifndef RUNG_BACKEND_SIM_SURFACE_H
#define RUNG_BACKEND_SIM_SURFACE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tuple>

#include "backend/sim/callbacks.h"
#include "backend/sim/machine.h"

/* ---- how functions and variables are declared ------------------------------------------------ */

/* The tag keeps a kernel's name apart from the one that nvcc gives its host side. A kernel is one
 * function with everything it calls in it, so that the order of its code is that of its source. */
#define __global__ __attribute__((abi_tag("rung_sim"), flatten, noinline))
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
/* A block asks for static shared memory before it declares it; the linker gathers what is declared
 * (backend/sim/shared.ld). */
#define __shared__          \
  rung_sim_static_shared(); \
  static
#define __constant__ __attribute__((section("rung_constant")))

#include "backend/sim/intrinsics.h"
#include "backend/sim/types.h"
/* which needs both */
#include "backend/sim/texture.h"

/* ---- where a thread is ---------------------------------------------------------------------- */

#define threadIdx (rung_sim_place_of(rung_sim_thread_index()))
#define blockIdx (rung_sim_place_of(rung_sim_block_index()))
#define blockDim (rung_sim_place_of(rung_sim_block_shape()))
#define gridDim (rung_sim_place_of(rung_sim_grid_shape()))
enum { warpSize = 32 };

static inline uint3 rung_sim_place_of(rung_sim_index index) {
  return {index.x, index.y, index.z};
}

#define RUNG_DYNAMIC_SHARED(type, name) type *name = static_cast<type *>(rung_sim_dynamic_shared())

/* ---- launches ------------------------------------------------------------------------------- */

template <typename... P>
struct rung_sim_call {
  void (*kernel)(P...);
  std::tuple<P...> arguments;
  /* Every thread gets copies of its own. */
  static void run(void *self) {
    rung_sim_call *call = static_cast<rung_sim_call *>(self);
    std::apply(call->kernel, call->arguments);
  }
};

template <typename... P, typename... A>
static inline rung_status rung_sim_launch_kernel(const rung_task *task, bool next, const char *name,
                                                 void (*kernel)(P...), dim3 grid, dim3 block,
                                                 size_t shared_bytes, A... arguments) {
  rung_sim_call<P...> call = {kernel, std::tuple<P...>(arguments...)};
  rung_sim_launch launch = {};
  launch.kernel = name;
  launch.function = reinterpret_cast<const void *>(kernel);
  launch.grid = {grid.x, grid.y, grid.z};
  launch.block = {block.x, block.y, block.z};
  launch.shared_bytes = shared_bytes;
  launch.next = next;
  launch.call = rung_sim_call<P...>::run;
  launch.arguments = &call;
  return rung_sim_run(task, &launch);
}

#define RUNG_SIM_LAUNCH(task, next, kernel, grid, block, shared_bytes, ...)        \
  do {                                                                             \
    rung_status launched_ =                                                        \
        rung_sim_launch_kernel((task), (next), #kernel, (kernel), (grid), (block), \
                               (shared_bytes)__VA_OPT__(, ) __VA_ARGS__);          \
    if (launched_ != RUNG_OK) return launched_;                                    \
  } while (0)
#define RUNG_LAUNCH(task, kernel, ...) RUNG_SIM_LAUNCH(task, false, kernel, __VA_ARGS__)
#define RUNG_LAUNCH_NEXT(task, kernel, ...) RUNG_SIM_LAUNCH(task, true, kernel, __VA_ARGS__)

/* A launch has ended before the next one begins. */
RUNG_SIM_INLINE void rung_let_next_begin() {}
RUNG_SIM_INLINE void rung_await_before() {
  rung_sim_await();
}
RUNG_SIM_INLINE void rung_take_turn() {
  rung_sim_await();
}

#define RUNG_SIM_TRY(call)                  \
  do {                                      \
    rung_status status_ = (call);           \
    if (status_ != RUNG_OK) return status_; \
  } while (0)

#define RUNG_ALLOW_SHARED(task, kernel, bytes) \
  RUNG_SIM_TRY(                                \
      rung_sim_allow_shared((task), #kernel, reinterpret_cast<const void *>(kernel), (bytes)))
#define RUNG_RESIDENT_BLOCKS(task, kernel, threads, shared_bytes, blocks) \
  RUNG_SIM_TRY(rung_sim_resident_blocks((task), (threads), (shared_bytes), (blocks)))
#define RUNG_COPY_ON_DEVICE(task, to, from, bytes) \
  RUNG_SIM_TRY(rung_sim_copy_on_device((task), (to), (from), (bytes)))
#define RUNG_COPY_TO_HOST(task, to, from, bytes) memcpy((to), (from), (bytes))
#define RUNG_COPY_TO_DEVICE(task, to, from, bytes) memcpy((to), (from), (bytes))
#define RUNG_CALL_ON_HOST(task, function, argument) (function)(argument)
#define RUNG_FILL_ON_DEVICE(task, to, byte, bytes) memset((to), (byte), (bytes))
#define RUNG_COPY_TO_CONSTANT(task, symbol, from, bytes) \
  RUNG_SIM_TRY(rung_sim_copy_to_constant((task), &(symbol), sizeof(symbol), (from), (bytes)))

#endif
