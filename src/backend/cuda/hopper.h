/* What kernels for capability 9.0a are made of: tiles that the tensor memory accelerator brings
 * into shared memory, barriers that count its bytes, and products of warpgroups (wgmma). Thin names
 * for single instructions, as the PTX manual describes them; addresses are of shared memory. */
#ifndef RUNG_BACKEND_CUDA_HOPPER_H
#define RUNG_BACKEND_CUDA_HOPPER_H

#include <cuda.h>
#include <stdint.h>

#include "core/ladder.h"

/* How an array lies in global memory, the dimension that goes on there first: extents in elements,
 * rows and matrices so many bytes apart (multiples of 16), and what is brought at once: `box`
 * elements by `rows`, up to 256 of each. Of boxes of 128 or 64 bytes in a row these may be a
 * swizzle: which 16 bytes of it lie where in shared memory depends on the row. Beyond the extents
 * there are zeros. */
typedef struct rung_tile_map {
  const void *base; /* aligned to 16 bytes */
  CUtensorMapDataType type;
  int64_t extent[3], apart[2];
  unsigned box, rows;
  int swizzle; /* 0, 64 or 128 bytes */
} rung_tile_map;

/* tiles.cu. Looks at nothing on the device and waits for nothing. */
rung_status rung_cuda_tile_map(const rung_task *task, const rung_tile_map *of, CUtensorMap *map);

static __device__ inline uint32_t rung_shared_address(const void *shared) {
  return (uint32_t)__cvta_generic_to_shared(shared);
}

/* ---- clusters of blocks -----------------------------------------------------------------------
 */

static __device__ inline uint32_t rung_cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/* All threads of all blocks of the cluster. */
static __device__ inline void rung_cluster_sync() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

/* COUNT threads of the block wait for one another at its barrier NUMBER, 1 ... 15: __syncthreads()
 * for some. */
template <int NUMBER, int COUNT>
static __device__ inline void rung_threads_sync() {
  asm volatile("bar.sync %0, %1;" ::"n"(NUMBER), "n"(COUNT) : "memory");
}

/* ---- barriers ---------------------------------------------------------------------------------
 */

static __device__ inline void rung_barrier_begin(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/* What rung_barrier_begin() made is seen by the cluster and by copies. */
static __device__ inline void rung_barriers_begun() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/* Arrives, and lets so many bytes be waited for. */
static __device__ inline void rung_barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/* Arrives at the barrier that lies at this place in block `rank` of the cluster. For who has only
 * read: it orders no stores. */
static __device__ inline void rung_barrier_arrive(uint32_t barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
static __device__ inline void rung_barrier_wait(uint32_t barrier, uint32_t phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

/* ---- copies of tiles --------------------------------------------------------------------------
 */

static __device__ inline void rung_tile_map_ahead(const CUtensorMap *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
/* The box from (x, y) of matrix z on; its bytes are counted by the barrier. */
static __device__ inline void rung_tile_copy(uint32_t to, const CUtensorMap *map, uint32_t barrier,
                                             int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
/* The same into all blocks of the cluster that `blocks` has a bit for, and for their barriers. */
static __device__ inline void rung_tile_copy_to_all(uint32_t to, const CUtensorMap *map,
                                                    uint32_t barrier, int x, int y, int z,
                                                    uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(blocks)
      : "memory");
}

/* ---- registers --------------------------------------------------------------------------------
 */

template <int REGISTERS>
static __device__ inline void rung_registers_give() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
static __device__ inline void rung_registers_take() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

/* ---- products of doubles ------------------------------------------------------------------------
 *
 * As rung_mma_f64(), of eight steps or four; and a double of shared memory. They stay where they
 * are among barriers and each other. */
static __device__ inline void rung_product_f64(double (&t)[4], const double (&a)[4],
                                               const double (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+d"(t[0]), "+d"(t[1]), "+d"(t[2]), "+d"(t[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
static __device__ inline void rung_product_f64(double (&t)[4], const double (&a)[2],
                                               const double (&b)[1]) {
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, "
      "%2, %3};"
      : "+d"(t[0]), "+d"(t[1]), "+d"(t[2]), "+d"(t[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}
static __device__ inline double rung_load_f64(uint32_t shared) {
  double x;
  asm volatile("ld.shared::cta.f64 %0, [%1];" : "=d"(x) : "r"(shared));
  return x;
}

/* ---- products of warpgroups ---------------------------------------------------------------------
 *
 * An operand is a tile of shared memory that begins at a multiple of 1024 bytes, lines of 128 bytes
 * in groups of eight, their 16-byte parts swizzled as the copies of tiles leave them. `far` is what
 * lies between two columns of such groups, where there are several. */
static __device__ inline uint64_t rung_operand(uint32_t tile, uint32_t far) {
  return (uint64_t)(tile >> 4 & 0x3fff) | (uint64_t)(far >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 |
         (uint64_t)1 << 62;
}
static __device__ inline void rung_products_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static __device__ inline void rung_products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* All but the last LATER groups are done. */
template <int LATER>
static __device__ inline void rung_products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LATER) : "memory");
}

/* Register lists: how 64 and 128 sums are written in an instruction, and given to it. */
#define RUNG_8_(f, n) f(n + 0), f(n + 1), f(n + 2), f(n + 3), f(n + 4), f(n + 5), f(n + 6), f(n + 7)
#define RUNG_64_(f, n)                                                                          \
  RUNG_8_(f, n), RUNG_8_(f, n + 8), RUNG_8_(f, n + 16), RUNG_8_(f, n + 24), RUNG_8_(f, n + 32), \
      RUNG_8_(f, n + 40), RUNG_8_(f, n + 48), RUNG_8_(f, n + 56)
#define RUNG_SUM_F_(n) "+f"(t[n])
#define RUNG_SUM_R_(n) "+r"(t[n])
#define RUNG_10_(d)                                                                                \
  "%" #d "0, %" #d "1, %" #d "2, %" #d "3, %" #d "4, %" #d "5, %" #d "6, %" #d "7, %" #d "8, %" #d \
  "9"
#define RUNG_NAMES_64_                                                             \
  "{" RUNG_10_() ", " RUNG_10_(1) ", " RUNG_10_(2) ", " RUNG_10_(3) ", " RUNG_10_( \
      4) ", " RUNG_10_(5) ", %60, %61, %62, %63}"
#define RUNG_NAMES_128_ \
  "{" RUNG_10_() ", " RUNG_10_(1) ", " RUNG_10_(2) ", " RUNG_10_(3) ", " RUNG_10_(4) ", " \
  RUNG_10_(5) ", " RUNG_10_(6) ", " RUNG_10_(7) ", " RUNG_10_(8) ", " RUNG_10_(9) ", "    \
  RUNG_10_(10) ", " RUNG_10_(11) ", %120, %121, %122, %123, %124, %125, %126, %127}"

#define RUNG_ADDING_ "{.reg .pred adding; setp.eq.b32 adding, 0, 0; "

/* t += a b of 64 rows and 256 or 128 columns, over 32 bytes of k. Thread 32 w + 4 g + q of the
 * warpgroup has t[4 c + e]: row 16 w + g + e / 2 * 8, column 8 c + 2 q + e % 2. */
static __device__ inline void rung_product_tf32(float (&t)[128], uint64_t a, uint64_t b) {
  asm volatile(RUNG_ADDING_ "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " RUNG_NAMES_128_
                            ", %128, %129, adding, 1, 1;}"
               : RUNG_64_(RUNG_SUM_F_, 0), RUNG_64_(RUNG_SUM_F_, 64)
               : "l"(a), "l"(b));
}
static __device__ inline void rung_product_tf32(float (&t)[64], uint64_t a, uint64_t b) {
  asm volatile(RUNG_ADDING_ "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 " RUNG_NAMES_64_
                            ", %64, %65, adding, 1, 1;}"
               : RUNG_64_(RUNG_SUM_F_, 0)
               : "l"(a), "l"(b));
}
/* B_LINES: B's lines go on in memory rather than its k. */
template <bool B_LINES>
static __device__ inline void rung_product_bf16(float (&t)[128], uint64_t a, uint64_t b) {
  asm volatile(RUNG_ADDING_ "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " RUNG_NAMES_128_
                            ", %128, %129, adding, 1, 1, 0, %130;}"
               : RUNG_64_(RUNG_SUM_F_, 0), RUNG_64_(RUNG_SUM_F_, 64)
               : "l"(a), "l"(b), "n"(B_LINES ? 1 : 0));
}
template <bool B_LINES>
static __device__ inline void rung_product_f16(float (&t)[128], uint64_t a, uint64_t b) {
  asm volatile(RUNG_ADDING_ "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 " RUNG_NAMES_128_
                            ", %128, %129, adding, 1, 1, 0, %130;}"
               : RUNG_64_(RUNG_SUM_F_, 0), RUNG_64_(RUNG_SUM_F_, 64)
               : "l"(a), "l"(b), "n"(B_LINES ? 1 : 0));
}
/* Modulo 2^32. */
static __device__ inline void rung_product_i8(uint32_t (&t)[128], uint64_t a, uint64_t b) {
  asm volatile(RUNG_ADDING_ "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 " RUNG_NAMES_128_
                            ", %128, %129, adding;}"
               : RUNG_64_(RUNG_SUM_R_, 0), RUNG_64_(RUNG_SUM_R_, 64)
               : "l"(a), "l"(b));
}

/* A float to TF32, whose fraction has ten bits: to nearest, ties away from zero. */
static __device__ inline float rung_tf32(float x) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

#endif
