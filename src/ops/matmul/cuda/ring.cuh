/* Stages in shared memory that one thread fills by copies of tiles and others read: two barriers
 * each, for what has come and for what has been read. */
#ifndef RUNG_MATMUL_CUDA_RING_CUH
#define RUNG_MATMUL_CUDA_RING_CUH

#include "backend/hopper.h"

/* F: STAGES of BYTES, of which the first A_BYTES are A's. Tiles begin at a multiple of 1024, so
 * that it takes that much more than they have, and 16 bytes a stage. */
template <typename F>
struct matmul_ring {
  uint32_t tiles, barriers;
  int stage = 0;
  uint32_t phase = 0;

  __device__ inline explicit matmul_ring(const void *shared) {
    tiles = (rung_shared_address(shared) + 1023) / 1024 * 1024;
    barriers = tiles + F::STAGES * F::BYTES;
  }
  /* One thread of the block, before any other: `readers` say of a stage that it has been read. */
  __device__ inline void begin(int readers) const {
    for (int s = 0; s < F::STAGES; s++) {
      rung_barrier_begin(barriers + s * 16, 1);
      rung_barrier_begin(barriers + s * 16 + 8, readers);
    }
    rung_barriers_begun();
  }
  __device__ inline uint32_t a() const {
    return tiles + stage * F::BYTES;
  }
  __device__ inline uint32_t b() const {
    return a() + F::A_BYTES;
  }
  __device__ inline uint32_t full() const {
    return barriers + stage * 16;
  }
  __device__ inline uint32_t empty() const {
    return full() + 8;
  }
  __device__ inline void go_on() {
    stage = stage + 1 == F::STAGES ? 0 : stage + 1;
    phase ^= stage == 0;
  }
};

/* The stage has been read by this warp, of a block that is no cluster's. */
static __device__ inline void matmul_ring_release(uint32_t empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) rung_barrier_arrive(empty, 0);
}

#endif
