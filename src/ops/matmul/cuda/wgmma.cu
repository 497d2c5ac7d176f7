/* Rung `wgmma`: digits on the tensor cores of capability 9.0, as `tensor-i8` multiplies bytes: the
 * planes of a level are one long k. All of it is one launch: a level's sums of 32 bits are carried
 * into the next, as `mma` does it, and the last one's become elements of C where they are. */
#include "ops/matmul/cuda/fixed.cuh"
#include "ops/matmul/cuda/wgmma.cuh"

typedef wgmma_i8 wgmma_fixed;

/* What a cluster makes: a tile's sums over a piece of k. Extents have 31 bits. */
struct wgmma_unit {
  int batch, i, j, from, stages;
};
static __device__ inline wgmma_unit wgmma_unit_at(const fixed_job &job, const matmul_tiles &tiles,
                                                  int64_t unit) {
  typedef wgmma_fixed F;
  const int64_t from = unit % job.pieces * job.piece;
  const int64_t left = job.pitch - from < job.piece ? job.pitch - from : job.piece;
  const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, unit / job.pieces);
  return {(int)tile.batch, (int)tile.i, (int)tile.j, (int)from, (int)left / F::LINE};
}

/* One thread: brings all that the block's units need. */
static __device__ inline void wgmma_bring_planes(matmul_ring<wgmma_fixed> ring,
                                                 const fixed_job &job, const matmul_tiles &tiles,
                                                 const CUtensorMap *a, const CUtensorMap *b,
                                                 uint32_t rank) {
  typedef wgmma_fixed F;
  const int half = F::COLUMNS / 2;
  for (int64_t n = blockIdx.x / 2; n < tiles.all * job.pieces; n += gridDim.x / 2) {
    const wgmma_unit unit = wgmma_unit_at(job, tiles, n);
    const int row = unit.i + (int)rank * 128, column = unit.j + (int)rank * half;
    const int a_first = job.a_lines > 0 ? unit.batch * job.digits : 0;
    const int b_first = job.b_lines > 0 ? unit.batch * job.digits : 0;
    for (int level = job.digits - 1; level >= 0; level--)
      for (int u = 0; u <= level; u++) {
        int at = unit.from;
        for (int s = 0; s < unit.stages; s++, at += F::LINE) {
          rung_barrier_wait(ring.empty(), ring.phase ^ 1);
          rung_barrier_expect(ring.full(), F::BYTES);
          rung_tile_copy(ring.a(), a, ring.full(), at, row, a_first + u);
          rung_tile_copy_to_all(ring.b() + rank * half * F::LINE, b, ring.full(), at, column,
                                b_first + level - u, 3);
          ring.go_on();
        }
      }
  }
}

/* 2^(a line's exponent + more), or a NaN of a line that has no exponent. */
static __device__ inline double wgmma_power(uint32_t largest, int more) {
  const int exponent =
      largest >= 0x00800000u ? (int)(largest >> 23) - 126 : matmul_exponent(largest);
  return __hiloint2double(largest >= MATMUL_NO_SCALE ? 0x7ff80000 : (exponent + more + 1023) << 20,
                          0);
}

/* t of a sum high * 2^24 + low, low < 2^24, of which a double has all bits: numbers are made by
 * writing them into doubles of a known exponent. */
static __device__ inline float wgmma_t(uint32_t high, uint32_t low, double power) {
  const double top = __hiloint2double(0x44b00000, (int)(high ^ 0x80000000u)); /* 2^76 + ... */
  const double rest = __hiloint2double(0x43300000, (int)(low & 0xffffff));    /* 2^52 + low */
  return (float)((top - (0x1p76 + 0x1p55 + 0x1p52) + rest) * power);
}

/* Whether a thread's elements can be stored two at once, and nothing is added. */
static __device__ inline bool wgmma_stores_pairs(const fixed_job &job) {
  return job.pieces == 1 && job.end.c_wide && !job.end.narrow && job.end.added == nullptr &&
         job.end.n % 2 == 0;
}

/* Rows i and i + 8, pairs of columns from j on that are eight apart. */
static __device__ inline void wgmma_store_pairs(const fixed_job &job, int batch, int i, int j,
                                                const fixed_carried<128> &carried,
                                                const uint32_t (&t)[128]) {
  const int more = -8 * job.digits - 4 - 8 * (MATMUL_DIGITS - job.digits);
  const int64_t of_a = batch * job.a_lines + i;
  const int left = (int)(job.end.n - j < 256 ? job.end.n - j : 256);
  const bool first = i < job.end.m, second = i + 8 < job.end.m;
  const double p = wgmma_power(first ? job.a_largest[of_a] : 0, more);
  const double q = wgmma_power(second ? job.a_largest[of_a + 8] : 0, more);
  const uint32_t *of_b = job.b_largest + batch * job.b_lines + j;
  float *c = static_cast<float *>(job.end.c) + batch * job.end.cs.batch + i * job.end.cs.row + j;
  float *below = c + 8 * job.end.cs.row;
#pragma unroll
  for (int e = 0; e < 32; e++) {
    if (e * 8 >= left) continue;
    const uint32_t x = carried.low[0][e], y = carried.low[1][e], z = carried.low[2][e];
    const uint32_t up = __byte_perm(x, y, 0x5140), down = __byte_perm(x, y, 0x7362);
    const double even = wgmma_power(of_b[e * 8], 0), odd = wgmma_power(of_b[e * 8 + 1], 0);
    const float alpha = job.end.alpha;
    if (first)
      *reinterpret_cast<float2 *>(c + e * 8) =
          make_float2(alpha * wgmma_t(t[4 * e], __byte_perm(up, z, 0x0410), p * even),
                      alpha * wgmma_t(t[4 * e + 1], __byte_perm(up, z, 0x0532), p * odd));
    if (second)
      *reinterpret_cast<float2 *>(below + e * 8) =
          make_float2(alpha * wgmma_t(t[4 * e + 2], __byte_perm(down, z, 0x0610), q * even),
                      alpha * wgmma_t(t[4 * e + 3], __byte_perm(down, z, 0x0732), q * odd));
  }
}

static __device__ inline void wgmma_make_fixed(matmul_ring<wgmma_fixed> ring, const fixed_job &job,
                                               const matmul_tiles &tiles, uint32_t rank) {
  typedef wgmma_fixed F;
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const bool pairs = wgmma_stores_pairs(job);
  /* Of fewer digits the lightest bytes stay zero, and the sum goes up by as many bytes. */
  const int lightest = pairs ? MATMUL_DIGITS - job.digits : 0;
  fixed_carried<F::SUMS> carried;
  for (int l = 0; l < MATMUL_DIGITS - 1; l++)
    for (int e = 0; e < F::SUMS / 4; e++) carried.low[l][e] = 0;
  for (int64_t n = blockIdx.x / 2; n < tiles.all * job.pieces; n += gridDim.x / 2) {
    const wgmma_unit unit = wgmma_unit_at(job, tiles, n);
    uint32_t t[F::SUMS] = {};
#pragma unroll 1
    for (int level = job.digits - 1; level >= 0; level--) {
      wgmma_work(ring, unit.stages * (level + 1), t, (uint32_t)group);
      if (level > 0) carried.keep(lightest + job.digits - 1 - level, t);
    }
    const int i = unit.i + (int)rank * 128 + group * 64 + warp * 16 + lane / 4;
    const int j = unit.j + lane % 4 * 2;
    if (pairs) {
      wgmma_store_pairs(job, unit.batch, i, j, carried, t);
      continue;
    }
    carried.keep_all(t);
#pragma unroll 1
    for (int e = 0; e < F::SUMS; e++)
      fixed_put(job, unit.batch, i + e / 2 % 2 * 8, j + e / 4 * 8 + e % 2,
                carried.sum(e, job.digits));
    if (job.pieces == 1) continue;
    rung_threads_sync<1, 256>();
    fixed_end_pieces<128, F::COLUMNS>(job, unit.batch, unit.i + (int)rank * 128, unit.j,
                                      job.counters + n / job.pieces * 2 + rank, 256,
                                      [] { rung_threads_sync<1, 256>(); });
  }
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(wgmma_fixed::THREADS, 1)
    matmul_wgmma_fixed(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                       fixed_job job, matmul_tiles tiles) {
  typedef wgmma_fixed F;
  RUNG_DYNAMIC_SHARED(unsigned char, shared);
  const uint32_t rank = rung_cluster_rank();
  matmul_ring<F> ring(shared);
  if (threadIdx.x == 0) ring.begin(4); /* two warpgroups of two blocks */
  rung_await_before();
  rung_cluster_sync();
  if (threadIdx.x >= 256) {
    rung_registers_give<24>();
    if (threadIdx.x == 256 && job.pitch > 0) wgmma_bring_planes(ring, job, tiles, &a, &b, rank);
  } else {
    rung_registers_take<240>();
    wgmma_make_fixed(ring, job, tiles, rank);
  }
  rung_cluster_sync(); /* a block that is gone can not be told that its stage was read */
}

/* ---- launching --------------------------------------------------------------------------------
 */

/* Planes of an operand: [matrix and plane][line][digit]. */
static rung_status wgmma_map_planes(const rung_task *task, const int8_t *planes, int64_t pitch,
                                    int64_t lines, int64_t all, CUtensorMap *map) {
  if (pitch == 0) return RUNG_OK;
  return wgmma_map<wgmma_fixed>(task, planes, pitch, lines, pitch, all, lines * pitch, false, 128,
                                map);
}

extern "C" rung_status RUNG_ENTRY(matmul_wgmma)(const rung_task *task) {
  typedef wgmma_fixed F;
  const matmul_planes planes = matmul_planes_of(task);
  const fixed_job job = fixed_job_of(task, matmul_wgmma_pieces(task));
  const matmul_tiles tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  const int64_t units = tiles.all * job.pieces, clusters = task->device->processors / 2;
  CUtensorMap a = {}, b = {};
  rung_status status = RUNG_ENTRY(matmul_cut)(task);
  if (status == RUNG_OK)
    status =
        wgmma_map_planes(task, job.a, job.pitch, job.end.m, planes.a_matrices * planes.digits, &a);
  if (status == RUNG_OK)
    status =
        wgmma_map_planes(task, job.b, job.pitch, job.end.n, planes.b_matrices * planes.digits, &b);
  if (status != RUNG_OK) return status;
  RUNG_ALLOW_SHARED(task, matmul_wgmma_fixed, F::SHARED);
  RUNG_LAUNCH_NEXT(task, matmul_wgmma_fixed, (unsigned)(units < clusters ? units : clusters) * 2,
                   F::THREADS, F::SHARED, a, b, job, tiles);
  return RUNG_OK;
}
