/* Probes: what this device can do at best, the peaks everything else is checked by.
 *
 * A peak that is too low would make honest kernels look impossible, so the memory probes try
 * several ways (blocks that stay, a block a tile, the runtime's own copy and fill), many times, and
 * keep the fastest. */
#include <math.h>

#include "backend/cuda/state.h"
#include "backend/cuda/surface.h"

enum { CHAINS = 8, CHAIN_STEPS = 16 };
static const int64_t SWEEP_BYTES = (int64_t)4 << 30;
static const double FMA_MILLISECONDS = 5;

/* What a sum is compared with so that the compiler must compute it: nothing depends on whether
 * it is ever met. */
#define NEVER 0x9E3779B9u

static __global__ void __launch_bounds__(SWEEP_THREADS)
    read_tiles(const uint4 *memory, int64_t tiles, int rounds, rung_cuda_board *board) {
  unsigned seen = 0;
  for (int64_t i = blockIdx.x; i < tiles * rounds; i += gridDim.x) {
    const int64_t t = i % tiles;
    const uint4 *tile = memory + t * (SWEEP_THREADS * SWEEP_VECTORS) + threadIdx.x;
    uint4 v[SWEEP_VECTORS];
#pragma unroll
    for (int k = 0; k < SWEEP_VECTORS; k++) v[k] = __ldcg(tile + k * SWEEP_THREADS);
#pragma unroll
    for (int k = 0; k < SWEEP_VECTORS; k++) seen += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (seen == NEVER) board->sink = seen;
}

static __global__ void __launch_bounds__(SWEEP_THREADS)
    write_tiles(uint4 *memory, int64_t tiles, int rounds, uint4 value) {
  for (int64_t i = blockIdx.x; i < tiles * rounds; i += gridDim.x) {
    const int64_t t = i % tiles;
    uint4 *tile = memory + t * (SWEEP_THREADS * SWEEP_VECTORS) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < SWEEP_VECTORS; k++) tile[k * SWEEP_THREADS] = value;
  }
}

static __global__ void __launch_bounds__(SWEEP_THREADS)
    copy_tiles(uint4 *to, const uint4 *from, int64_t tiles, int rounds) {
  for (int64_t i = blockIdx.x; i < tiles * rounds; i += gridDim.x) {
    const int64_t t = i % tiles;
    int64_t at = t * (SWEEP_THREADS * SWEEP_VECTORS) + threadIdx.x;
    uint4 v[SWEEP_VECTORS];
#pragma unroll
    for (int k = 0; k < SWEEP_VECTORS; k++) v[k] = __ldcg(from + at + k * SWEEP_THREADS);
#pragma unroll
    for (int k = 0; k < SWEEP_VECTORS; k++) to[at + k * SWEEP_THREADS] = v[k];
  }
}

static __device__ float fused(float a, float b, float c) {
  return fmaf(a, b, c);
}

static __device__ double fused(double a, double b, double c) {
  return fma(a, b, c);
}

/* CHAINS independent chains a thread hide the latency of one multiply-add behind the others. */
template <typename Real>
static __global__ void __launch_bounds__(SWEEP_THREADS)
    multiply_add(Real factor, Real term, int rounds, rung_cuda_board *board) {
  Real chain[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) chain[k] = (Real)(threadIdx.x + k);
#pragma unroll 1
  for (int round = 0; round < rounds; round++) {
#pragma unroll
    for (int step = 0; step < CHAIN_STEPS; step++)
#pragma unroll
      for (int k = 0; k < CHAINS; k++) chain[k] = fused(chain[k], factor, term);
  }
  Real sum = 0;
#pragma unroll
  for (int k = 0; k < CHAINS; k++) sum += chain[k];
  if (sum == (Real)-1) board->sink = rounds;
}

rung_status rung_cuda_read_tiles(rung_state *state, const void *memory, int64_t tiles, int rounds,
                                 int blocks, rung_error *error) {
  read_tiles<<<(unsigned)blocks, SWEEP_THREADS, 0, state->stream>>>((const uint4 *)memory, tiles,
                                                                    rounds, state->board);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel read_tiles");
  return RUNG_OK;
}

/* How a sweep is done: by blocks that stay (4 or 8 a multiprocessor), by a block a tile, or by
 * the runtime (which cannot read, nor go round). */
enum sweep_way { FOUR_STAY, EIGHT_STAY, BLOCK_A_TILE, RUNTIME, SWEEP_WAYS };

struct sweep {
  rung_probe probe;
  char *from, *to; /* to: half way up the memory for a copy, else `from` */
  int64_t tiles;
  int rounds; /* 1: of memory; more: of the cache that holds the tiles */
};

static rung_status sweep_once(rung_state *state, const sweep *s, int way, rung_error *error) {
  size_t bytes = (size_t)s->tiles * SWEEP_TILE;
  if (way == RUNTIME && s->probe == RUNG_PROBE_WRITE)
    return rung_cuda_fill(state, s->to, 0x5A, bytes, error);
  if (way == RUNTIME) return rung_cuda_copy(state, s->to, s->from, bytes, RUNG_ON_DEVICE, error);
  int64_t blocks = (int64_t)state->processors * (way == EIGHT_STAY ? 8 : 4);
  if (way == BLOCK_A_TILE || blocks > s->tiles * s->rounds) blocks = s->tiles * s->rounds;
  if (s->probe == RUNG_PROBE_READ)
    return rung_cuda_read_tiles(state, s->from, s->tiles, s->rounds, (int)blocks, error);
  if (s->probe == RUNG_PROBE_WRITE)
    write_tiles<<<(unsigned)blocks, SWEEP_THREADS, 0, state->stream>>>(
        (uint4 *)s->to, s->tiles, s->rounds, make_uint4(1, 2, 3, 4));
  else
    copy_tiles<<<(unsigned)blocks, SWEEP_THREADS, 0, state->stream>>>(
        (uint4 *)s->to, (const uint4 *)s->from, s->tiles, s->rounds);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching a memory probe");
  return RUNG_OK;
}

/* Memory that was idle takes some ten milliseconds of work until it is at full speed (an H200: 4.0
 * TB/s at first, then 4.7), so the ways go round until that is past, and the fastest counts. */
enum { SWEEP_ROUNDS = 10 };

static rung_status fastest_sweep(rung_state *state, const sweep *s, double *milliseconds,
                                 rung_error *error) {
  double best = INFINITY;
  for (int run = 0; run < SWEEP_ROUNDS * SWEEP_WAYS; run++) {
    const int way = run % SWEEP_WAYS;
    if (way == RUNTIME && (s->probe == RUNG_PROBE_READ || s->rounds > 1)) continue;
    RUNG_CHECK(rung_cuda_mark(state, 0, error));
    RUNG_CHECK(sweep_once(state, s, way, error));
    RUNG_CHECK(rung_cuda_mark(state, 1, error));
    double took;
    RUNG_CHECK(rung_cuda_elapsed(state, &took, error));
    if (took < best) best = took;
  }
  *milliseconds = best;
  return RUNG_OK;
}

/* `asked` bytes, as often as makes a millisecond of it; 0: as much as memory spares, once. */
static rung_status probe_memory(rung_state *state, rung_probe probe, int64_t asked, double *work,
                                double *milliseconds, rung_error *error) {
  int64_t bytes;
  RUNG_CHECK(rung_cuda_available(state, &bytes, error));
  bytes /= 4;
  if (bytes > SWEEP_BYTES) bytes = SWEEP_BYTES;
  if (asked > 0 && bytes > asked) bytes = asked;
  int64_t tiles = bytes / SWEEP_TILE / 2 * 2;
  if (tiles == 0)
    return rung_fail(error, RUNG_OUT_OF_MEMORY,
                     "a memory probe takes a quarter of the free GPU memory, which is only %s",
                     rung_cuda_size_of((double)bytes).text);
  void *memory = NULL;
  RUNG_CHECK(rung_cuda_allocate(state, (size_t)tiles * SWEEP_TILE, &memory, error));
  const int rounds = asked > 0 ? (int)(SWEEP_BYTES / (tiles * SWEEP_TILE)) : 1;
  sweep s = {probe, (char *)memory, (char *)memory, tiles, rounds > 0 ? rounds : 1};
  if (probe == RUNG_PROBE_COPY) {
    s.tiles = tiles / 2;
    s.to = s.from + s.tiles * SWEEP_TILE;
  }
  rung_status status = rung_cuda_fill(state, memory, 0x5A, (size_t)tiles * SWEEP_TILE, error);
  if (status == RUNG_OK) status = fastest_sweep(state, &s, milliseconds, error);
  rung_cuda_release(state, memory);
  *work =
      (double)tiles * SWEEP_TILE * s.rounds; /* a copy of half the memory reads it and writes it */
  return status;
}

/* So many that the next run is long enough. */
static int longer_rounds(int rounds, double milliseconds) {
  double longer = 1.5 * FMA_MILLISECONDS / (milliseconds > 1e-3 ? milliseconds : 1e-3);
  if (longer > 64) longer = 64;
  if (longer > 1) rounds = (int)(rounds * longer) + 1;
  return rounds > 1 << 24 ? 1 << 24 : rounds;
}

template <typename Real>
static rung_status probe_fma(rung_state *state, double *work, double *milliseconds,
                             rung_error *error) {
  int resident = 0;
  RUNG_CUDA_CHECK(error,
                  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, multiply_add<Real>,
                                                                SWEEP_THREADS, 0),
                  "asking for the occupancy of kernel multiply_add");
  int blocks = state->processors * (resident > 0 ? resident : 1);
  /* The first run loads the kernel and is not believed; the later ones grow until one is long
   * enough. */
  int rounds = 64;
  for (int attempt = 0; attempt < 12; attempt++) {
    RUNG_CHECK(rung_cuda_mark(state, 0, error));
    multiply_add<Real><<<(unsigned)blocks, SWEEP_THREADS, 0, state->stream>>>(
        (Real)0.999, (Real)0.001, rounds, state->board);
    RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel multiply_add");
    RUNG_CHECK(rung_cuda_mark(state, 1, error));
    RUNG_CHECK(rung_cuda_elapsed(state, milliseconds, error));
    *work = (double)blocks * SWEEP_THREADS * rounds * CHAIN_STEPS * CHAINS;
    if (attempt > 0 && *milliseconds >= FMA_MILLISECONDS) break;
    rounds = longer_rounds(rounds, *milliseconds);
  }
  return RUNG_OK;
}

/* Where the tensor cores take doubles, as many multiply-adds as there are products of 16 by 8 by 16
 * in flight: a warp makes eight at a time. */
enum { MMA_CHAINS = 8, MMA_STEPS = 16 * 8 * 16 };

static __global__ void __launch_bounds__(SWEEP_THREADS)
    multiply_add_matrices(double factor, double term, int rounds, double *sums) {
  double t[MMA_CHAINS][4], a[8], b[4];
  for (int i = 0; i < 8; i++) a[i] = factor * (i + threadIdx.x);
  for (int i = 0; i < 4; i++) b[i] = factor * i;
  for (int c = 0; c < MMA_CHAINS; c++)
    for (int i = 0; i < 4; i++) t[c][i] = term;
  for (int round = 0; round < rounds; round++)
#pragma unroll
    for (int c = 0; c < MMA_CHAINS; c++) rung_mma_f64(t[c], a, b);
  double sum = 0;
  for (int c = 0; c < MMA_CHAINS; c++) sum += t[c][0] + t[c][1] + t[c][2] + t[c][3];
  if (sum == -1) *sums = sum; /* never: so that nothing is left out */
}

static rung_status probe_mma(rung_state *state, double *work, double *milliseconds,
                             rung_error *error) {
  const int blocks = state->processors * 2;
  int rounds = 64, major = 0;
  RUNG_CUDA_CHECK(error,
                  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, state->device),
                  "asking for the compute capability");
  if (major < 9) return probe_fma<double>(state, work, milliseconds, error);
  for (int attempt = 0; attempt < 12; attempt++) {
    RUNG_CHECK(rung_cuda_mark(state, 0, error));
    multiply_add_matrices<<<(unsigned)blocks, SWEEP_THREADS, 0, state->stream>>>(
        1e-9, 1, rounds, (double *)state->board);
    RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel multiply_add_matrices");
    RUNG_CHECK(rung_cuda_mark(state, 1, error));
    RUNG_CHECK(rung_cuda_elapsed(state, milliseconds, error));
    *work = (double)blocks * (SWEEP_THREADS / 32) * rounds * MMA_CHAINS * MMA_STEPS;
    if (attempt > 0 && *milliseconds >= FMA_MILLISECONDS) break;
    rounds = longer_rounds(rounds, *milliseconds);
  }
  return RUNG_OK;
}

rung_status rung_cuda_probe(rung_state *state, rung_probe probe, int64_t bytes, double *work,
                            double *milliseconds, rung_error *error) {
  *work = *milliseconds = 0;
  RUNG_CHECK(rung_cuda_measuring(state, error));
  switch (probe) {
    case RUNG_PROBE_READ:
    case RUNG_PROBE_WRITE:
    case RUNG_PROBE_COPY:
      return probe_memory(state, probe, bytes, work, milliseconds, error);
    case RUNG_PROBE_FMA32:
      return probe_fma<float>(state, work, milliseconds, error);
    case RUNG_PROBE_FMA64:
      return probe_fma<double>(state, work, milliseconds, error);
    case RUNG_PROBE_MMA64:
      return probe_mma(state, work, milliseconds, error);
    default:
      return rung_fail(error, RUNG_BAD_ARGUMENT, "probe is %d; expected: 0 ... %d", (int)probe,
                       RUNG_PROBES - 1);
  }
}
