/* Blocks of two sides, warps that bring panels in and warps that work on them, each with a loop of
 * its own: they meet once a stage. What works has its first reads of a stage before it comes to
 * it. */
#ifndef RUNG_MATMUL_CUDA_SIDES_CUH
#define RUNG_MATMUL_CUDA_SIDES_CUH

#include "ops/matmul/cuda/feed.cuh"

template <typename F>
static __device__ inline int matmul_next_stage(int stage) {
  return stage < (F::STAGES - 1) * F::STAGE ? stage + F::STAGE : 0;
}

/* What a tile's panels come in by, F::STAGES - 1 stages ahead: bring_to(stage) has the next one
 * copied to where that stage is. */
template <typename F, typename BRING>
static __device__ inline void matmul_bring_side(int64_t k, const BRING &bring_to) {
  int stage = 0;
  const auto bring = [&] {
    bring_to(stage);
    rung_copy_async_commit();
    stage = matmul_next_stage<F>(stage);
  };
#pragma unroll 1
  for (int s = 0; s < F::STAGES - 1; s++) bring();
  rung_copy_async_wait<F::STAGES - 2>();
  rung_sides_meet<F::THREADS, 0>();
  rung_copy_async_wait<F::STAGES - 3>();
#pragma unroll 1
  for (int64_t left = k; left > 0; left -= F::DEPTH) {
    rung_sides_meet<F::THREADS, 0>();
    bring();
    rung_copy_async_wait<F::STAGES - 3>();
  }
  rung_sides_meet<F::THREADS, 0>(); /* before the next tile's stages come in */
}

/* A worker's chains. A READ is a thread's numbers of F::QUAD steps: load(a, b, lay) takes them from
 * shared memory, where they lie so, and work(t, steps) goes on by them; those of the next ones lie
 * A_NEXT and B_NEXT on. F::READS of them are a stage, F::AHEAD are under way. */
template <typename F, typename READ, typename T, int R, int C>
struct matmul_worker {
  static constexpr int BUFFERS = F::AHEAD + 1;
  static_assert(F::READS % BUFFERS == 0, "a stage begins with the first buffer");
  READ reads[BUFFERS];
  T t[R][C];
  const T *a, *b; /* of the first stage */
  typename READ::lay lay;
  int stage;

  __device__ inline void begin(int64_t k) {
    stage = 0;
#pragma unroll
    for (int g = 0; g < F::AHEAD; g++)
      if (k >= F::DEPTH) reads[g].load(a + g * F::A_NEXT, b + g * F::B_NEXT, lay);
  }
  /* A whole stage; the next one's first reads too. */
  __device__ inline void work() {
    const T *at = a + stage, *bt = b + stage;
    stage = matmul_next_stage<F>(stage);
#pragma unroll
    for (int g = 0; g < F::READS; g++) {
      const int then = g + F::AHEAD;
      if (then == F::READS) {
        at = a + stage;
        bt = b + stage;
      }
      reads[then % BUFFERS].load(at + then % F::READS * F::A_NEXT, bt + then % F::READS * F::B_NEXT,
                                 lay);
      rung_keep_order();
      reads[g % BUFFERS].work(t, F::QUAD);
    }
  }
  __device__ inline void work_some(int left) {
#pragma unroll 1
    for (int g = 0; g * F::QUAD < left; g++) {
      reads[0].load(a + stage + g * F::A_NEXT, b + stage + g * F::B_NEXT, lay);
      reads[0].work(t, left - g * F::QUAD);
    }
  }
  /* All of a tile, from its thread's first numbers of the first stage on. */
  __device__ inline void work_side(int64_t k, const T *first_a, const T *first_b,
                                   const typename READ::lay &so) {
    a = first_a;
    b = first_b;
    lay = so;
    rung_sides_meet<F::THREADS, 1>();
    begin(k);
#pragma unroll 1
    for (int64_t left = k; left > 0; left -= F::DEPTH) {
      rung_sides_meet<F::THREADS, 1>();
      if (left >= F::DEPTH)
        work();
      else
        work_some((int)left);
    }
    rung_sides_meet<F::THREADS, 1>();
  }
};

#endif
