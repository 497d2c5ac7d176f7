/* Short lines: a power of two of threads has a line, up to a warp, and a warp several lines. A
 * thread loads 16 bytes at a time, and eight times before it adds anything: of one line where that
 * is long enough, of several where it is not. Lanes are folded first in a thread's registers, then
 * between threads by shuffles, last within what one load brought: the order of the contract, for a
 * lane is (load, thread, place).
 *
 * Lines that do not all begin where 16 bytes do, or end so, are copied into shared memory as they
 * lie in memory, as many as a warp takes, and taken from there element by element: a thread has a
 * line where these are short, and shuffles fold what more threads have. Sums of longer ones are
 * loaded from where they are, a warp a line: lanes may be numbered from where 16 bytes begin
 * (sum.cuh), and only a line's ends are loaded element by element. Lines of planes too, of whatever
 * is reduced.
 *
 * A block size is taken as whole warps. */
#include "ops/reduce/cuda/fold.cuh"
#include "ops/reduce/cuda/walk.cuh"

static constexpr int LOADS = REDUCE_SUBWARP_LOADS;

/* Between the threads of a line, then within a chunk; the result is every thread's. */
template <typename S, int N>
__device__ __forceinline__ typename S::partial reduce_fold_line(
    const typename S::running (&sums)[N], int threads) {
  typename S::partial value[N];
#pragma unroll
  for (int c = 0; c < N; ++c) value[c] = sums[c];
#pragma unroll 1
  for (int s = threads / 2; s > 0; s /= 2) {
#pragma unroll
    for (int c = 0; c < N; ++c)
      value[c] = S::combine(value[c], __shfl_xor_sync(0xffffffffu, value[c], s));
  }
#pragma unroll
  for (int s = N / 2; s > 0; s /= 2) {
#pragma unroll
    for (int c = 0; c < N / 2; ++c)
      if (c < s) value[c] = S::combine(value[c], value[c + s]);
  }
  return value[0];
}

/* ---- lines that begin and end where wide loads do ----------------------------------------------
 */

/* K loads a line and thread, so that LOADS / K lines are under way. The threads of a line finish
 * one of these each, or so: as soon as they are there, while later lines are still on their way. */
template <typename S, int V, int K>
static __global__ void __launch_bounds__(REDUCE_SUBWARP_BLOCK)
    reduce_subwarp_few(reduce_level level, int thread_bits) {
  static constexpr int N = reduce_numbers<S, V, true>, LINES = LOADS / K;
  static constexpr int SUMS = S::ordered ? K : 1, TURN = LINES > 2 ? LINES / 2 : LINES;
  typedef reduce_packed<S, V> packed;
  const int in_warp = (int)threadIdx.x % 32, threads = 1 << thread_bits, lines = 32 >> thread_bits;
  const int own = in_warp >> thread_bits, thread = in_warp & (threads - 1);
  const int count = (int)level.columns;
  const int64_t leap = lines * level.in_outer;
  int64_t warp = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  for (; warp * lines * LINES < level.outer; warp += (int64_t)gridDim.x * (blockDim.x / 32)) {
    const int64_t first = warp * lines * LINES + own;
    const typename S::in *in =
        (const typename S::in *)level.in + first * level.in_outer + thread * V;
    const int64_t left = level.outer - first; /* u * lines is below it, for lines that are there */
    packed loaded[LINES][K];
#pragma unroll
    for (int u = 0; u < LINES; ++u, in += leap) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const int at = k * threads * V;
        if (u * lines < left && at + thread * V < count) loaded[u][k] = *(const packed *)(in + at);
      }
    }
    typename S::partial mine = S::identity();
    /* In two turns of the same code: to move what is left to do takes two instructions a line. */
#pragma unroll 1
    for (int begun = 0; begun < LINES; begun += TURN) {
#pragma unroll
      for (int v = 0; v < TURN; ++v) {
        const int u = begun + v;
        typename S::running sums[SUMS][N];
#pragma unroll
        for (int k = 0; k < K; ++k) {
#pragma unroll
          for (int c = 0; c < N; ++c)
            if (k < SUMS) sums[k][c] = S::identity();
          if (u * lines < left && (k * threads + thread) * V < count)
            reduce_take_first<S, V, N>(sums[k % SUMS], loaded[v][k], level.key);
        }
        reduce_fold_leaves<S, N, SUMS>(sums);
        const typename S::partial value = reduce_fold_line<S, N>(sums[0], threads);
        const int turn = u & (threads - 1), to = u - turn + thread;
        if (turn == thread) mine = value;
        if ((turn == threads - 1 || u == LINES - 1) && to <= u && to * lines < left)
          reduce_finish_of<S>(level.end, mine, level.out, (first + to * lines) * level.out_outer);
      }
#pragma unroll
      for (int v = 0; v < LINES - TURN; ++v) {
#pragma unroll
        for (int k = 0; k < K; ++k) loaded[v][k] = loaded[v + TURN][k];
      }
    }
  }
}

/* Eight loads of a line and thread, as often as it takes. */
template <typename S, int V>
static __global__ void __launch_bounds__(REDUCE_SUBWARP_BLOCK)
    reduce_subwarp_many(reduce_level level, int thread_bits) {
  static constexpr int N = reduce_numbers<S, V, true>;
  static constexpr int LANES = S::ordered ? RUNG_SUM_LANES / V : RUNG_SUM_LANES;
  const int in_warp = (int)threadIdx.x % 32, threads = 1 << thread_bits, lines = 32 >> thread_bits;
  const int own = in_warp >> thread_bits, thread = in_warp & (threads - 1);
  int64_t warp = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  for (; warp * lines < level.outer; warp += (int64_t)gridDim.x * (blockDim.x / 32)) {
    const int64_t line = warp * lines + own;
    typename S::running sums[N];
#pragma unroll
    for (int c = 0; c < N; ++c) sums[c] = S::identity();
    if (line < level.outer)
      reduce_walk_tile<S, V, true, LOADS, 4, LANES, true>(
          sums, (const typename S::in *)level.in + line * level.in_outer, V, (int)level.columns / V,
          thread, threads, level.key);
    const typename S::partial value = reduce_fold_line<S, N>(sums, threads);
    if (thread == 0 && line < level.outer)
      reduce_finish_of<S>(level.end, value, level.out, line * level.out_outer);
  }
}

/* ---- lines that begin anywhere -----------------------------------------------------------------
 */

/* n / by, where `inverse` is (2^64 - 1) / by. */
__device__ __forceinline__ int64_t reduce_quotient_of(int64_t n, int64_t by, uint64_t inverse) {
  const int64_t quotient = (int64_t)__umul64hi((uint64_t)n, inverse); /* or one less */
  return quotient + (n - quotient * by >= by);
}

/* A line by a warp, in the order of sums; the result is every thread's. The chunks at its ends are
 * fetched first, by the threads whose they are. */
template <typename S>
static __device__ __forceinline__ typename S::partial reduce_line_by_warp(
    const typename S::in *line, int columns, int thread, const rung_key_code &key) {
  static constexpr int V = S::wide;
  const auto run = reduce_run_of<typename S::in, V, false>(line, columns);
  const int chunks = (run.end + V - 1) / V, rest = run.end % V;
  reduce_ends<S, V> ends = {run.before > 0, run.end / V};
  if (run.before > 0 && thread == 0) ends.head = reduce_fetch_some<S, V>(run.at, run.before, V);
  if (rest > 0 && thread == ends.to % 32)
    ends.tail = reduce_fetch_some<S, V>(run.at + ends.to * V, 0, rest);
  typename S::running sums[V];
#pragma unroll
  for (int c = 0; c < V; ++c) sums[c] = S::identity();
  reduce_walk_tile<S, V, true, LOADS, 4, RUNG_SUM_LANES / V, true>(sums, run.at, V, chunks, thread,
                                                                   32, key, ends);
  return reduce_fold_line<S, V>(sums, 32);
}

template <typename S>
static __global__ void __launch_bounds__(REDUCE_SUBWARP_BLOCK)
    reduce_subwarp_ragged(reduce_level level, reduce_planes planes, uint64_t inverse) {
  const int thread = (int)threadIdx.x % 32, columns = (int)level.columns;
  int64_t line = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  for (; line < level.outer; line += (int64_t)gridDim.x * (blockDim.x / 32)) {
    const typename S::in *in = (const typename S::in *)level.in + line * level.in_outer;
    if (planes.lines > 0) in += reduce_quotient_of(line, planes.lines, inverse) * planes.gap;
    typename S::partial value;
    if constexpr (S::ordered) {
      value = reduce_line_by_warp<S>(in, columns, thread, level.key);
    } else {
      typename S::running sums[1] = {(typename S::running)S::identity()};
      reduce_combine_run<S>(sums[0], in, columns, thread, 32, level.key);
      value = reduce_fold_line<S, 1>(sums, 32);
    }
    if (thread == 0) reduce_finish_of<S>(level.end, value, level.out, line * level.out_outer);
  }
}

/* The warp copies elements to shared memory, which begins where 16 bytes do: the first comes to lie
 * as far from there as it does in global memory. Returns where. */
template <typename T>
__device__ __forceinline__ const T *reduce_bring(const T *from, int64_t count, void *shared) {
  typedef reduce_chunk<uint32_t, 4> chunk;
  static constexpr int V = 16 / sizeof(T);
  const int lane = (int)threadIdx.x % 32;
  const int before = (int)((uintptr_t)from % 16 / sizeof(T));
  const int head = before == 0 ? 0 : count < V - before ? (int)count : V - before;
  const int chunks = (int)(count - head) / V, tail = (int)(count - head) % V;
  T *const to = (T *)shared + before;
  for (int k = lane; k < chunks; k += 32)
    rung_copy_async((chunk *)(to + head) + k, (const chunk *)(from + head) + k);
  if (lane < head) to[lane] = from[lane];
  if (lane < tail) to[count - tail + lane] = from[count - tail + lane];
  rung_copy_async_commit();
  rung_copy_async_wait();
  __syncwarp();
  return to;
}

/* Bunches of at most `lines` lines of one plane, each a warp's at once, for which it has `room`
 * bytes of shared memory: all of them, and of each plane. */
struct reduce_bunches {
  int lines, room;
  int64_t all, each;
  uint64_t inverse; /* (2^64 - 1) / each */
  reduce_planes planes;
};

/* A bunch's lines in as many turns as it takes. */
template <typename S>
static __global__ void __launch_bounds__(REDUCE_SUBWARP_BLOCK)
    reduce_subwarp_shared(reduce_level level, int thread_bits, reduce_bunches bunches) {
  RUNG_DYNAMIC_SHARED(unsigned char, shared);
  const int in_warp = (int)threadIdx.x % 32, threads = 1 << thread_bits, turn = 32 >> thread_bits;
  const int own = in_warp >> thread_bits, thread = in_warp & (threads - 1);
  int64_t warp = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  for (; warp < bunches.all; warp += (int64_t)gridDim.x * (blockDim.x / 32)) {
    int64_t first = warp * bunches.lines, left = level.outer - first, at = first * level.in_outer;
    if (bunches.planes.lines > 0) {
      const int64_t plane = reduce_quotient_of(warp, bunches.each, bunches.inverse);
      const int64_t within = (warp - plane * bunches.each) * bunches.lines;
      first = plane * bunches.planes.lines + within;
      left = bunches.planes.lines - within;
      at = first * level.in_outer + plane * bunches.planes.gap;
    }
    const int here = left < bunches.lines ? (int)left : bunches.lines;
    const typename S::in *all = reduce_bring((const typename S::in *)level.in + at,
                                             (here - 1) * level.in_outer + level.columns,
                                             shared + threadIdx.x / 32 * bunches.room);
    for (int line = own; line - own < here; line += turn) {
      typename S::running sums[1] = {(typename S::running)S::identity()};
      if (line < here)
        reduce_walk_tile<S, 1, true, LOADS, 4, RUNG_SUM_LANES, true>(
            sums, all + line * (int)level.in_outer, 1, (int)level.columns, thread, threads,
            level.key);
      const typename S::partial value = reduce_fold_line<S, 1>(sums, threads);
      if (thread == 0 && line < here)
        reduce_finish_of<S>(level.end, value, level.out, (first + line) * level.out_outer);
    }
    __syncwarp();
  }
}

/* ---- launching ---------------------------------------------------------------------------------
 */

template <typename S>
constexpr int reduce_subwarp_most() {
  return 16 / (int)sizeof(typename S::in);
}

typedef void (*subwarp_kernel)(reduce_level level, int thread_bits);

template <typename S, int V>
static subwarp_kernel pick_loads(int loads) {
  return loads == 1   ? reduce_subwarp_few<S, V, 1>
         : loads == 2 ? reduce_subwarp_few<S, V, 2>
         : loads == 4 ? reduce_subwarp_few<S, V, 4>
                      : reduce_subwarp_many<S, V>;
}

static subwarp_kernel pick_kernel(reduce_operator op, bool wide, int loads) {
#define PICK(S) (wide ? pick_loads<S, reduce_subwarp_most<S>()>(loads) : pick_loads<S, 1>(loads))
  REDUCE_PICK(op, PICK)
#undef PICK
}

typedef void (*shared_kernel)(reduce_level level, int thread_bits, reduce_bunches bunches);
static shared_kernel pick_shared(reduce_operator op) {
#define PICK(S) reduce_subwarp_shared<S>
  REDUCE_PICK(op, PICK)
#undef PICK
}

/* Blocks of at most so many warps. */
static int warps_of(const rung_task *task, int most) {
  const int warps = task->block == 0 ? most : task->block / 32;
  return warps < 1 ? 1 : warps > most ? most : warps;
}

/* From a line to the next, in elements. */
static int64_t pitch_of(const reduce_level &level) {
  return level.outer == 1 ? level.columns : level.in_outer;
}

/* Threads that read a line's neighbours from shared memory, where a warp's lines lie `bytes` apart,
 * meet other lines' in the same banks unless they are as many as lie between. */
static int bank_bits(int64_t bytes) {
  int bits = 0;
  while (bits < 5 && bytes % (8 << bits) == 0) ++bits;
  return bits;
}

/* Whether a warp is to take so many lines at once: not more than it has room for, less of narrow
 * elements, which take longer to add than to bring; of few lines not so many that warps would be
 * missing: a few, where it has next to nothing to do, or as many as are resident; and none of the
 * next plane. */
static bool lines_fit(const rung_task *task, const reduce_level &level, const reduce_planes &planes,
                      int lines, int64_t bytes) {
  const int room =
      rung_dtype_bytes(level.dtype) < 4 ? REDUCE_SUBWARP_BYTES / 2 : (int)REDUCE_SUBWARP_BYTES;
  const int64_t warps = level.outer / lines / task->device->processors;
  return lines <= REDUCE_SUBWARP_LINES && lines * bytes <= room &&
         (planes.lines == 0 || lines <= planes.lines) &&
         warps >=
             (lines * bytes <= REDUCE_SUBWARP_LITTLE ? REDUCE_SUBWARP_FEW : REDUCE_SUBWARP_ALL);
}

static rung_status launch_shared(const rung_task *task, const reduce_level &level,
                                 reduce_operator op, const reduce_planes &planes) {
  const int64_t bytes = pitch_of(level) * (int64_t)rung_dtype_bytes(level.dtype);
  int lines = 1, thread_bits = 5, least = bank_bits(bytes);
  while (128 << least < level.columns) ++least; /* a thread's lanes at most: 16 times LOADS */
  for (; lines_fit(task, level, planes, 2 * lines, bytes); lines *= 2)
    if (thread_bits > least) --thread_bits;
  const int64_t plane = planes.lines > 0 ? planes.lines : level.outer;
  reduce_bunches bunches = {};
  bunches.each = (plane + lines - 1) / lines;
  bunches.planes = planes;
  if (planes.lines > 0) lines = (int)((plane + bunches.each - 1) / bunches.each);
  bunches.lines = lines;
  bunches.room = (int)((lines * bytes + 31) / 16 * 16);
  bunches.all = level.outer / plane * bunches.each;
  bunches.inverse = UINT64_MAX / (uint64_t)bunches.each;
  const int most = REDUCE_SUBWARP_SHARED / bunches.room,
            warps = warps_of(task, most < 4 ? most : 4);
  const shared_kernel reduce_subwarp_shared_kernel = pick_shared(op);
  RUNG_LAUNCH(task, reduce_subwarp_shared_kernel, reduce_grid((bunches.all + warps - 1) / warps),
              (unsigned)warps * 32, (size_t)(warps * bunches.room), level, thread_bits, bunches);
  return RUNG_OK;
}

typedef void (*ragged_kernel)(reduce_level level, reduce_planes planes, uint64_t inverse);
static ragged_kernel pick_ragged(reduce_operator op) {
#define PICK(S) reduce_subwarp_ragged<S>
  REDUCE_PICK(op, PICK)
#undef PICK
}

static rung_status launch_ragged(const rung_task *task, const reduce_level &level,
                                 reduce_operator op, const reduce_planes &planes) {
  const int warps = warps_of(task, REDUCE_SUBWARP_BLOCK / 32);
  const uint64_t inverse = planes.lines > 0 ? UINT64_MAX / (uint64_t)planes.lines : 0;
  const ragged_kernel reduce_subwarp_ragged_kernel = pick_ragged(op);
  RUNG_LAUNCH(task, reduce_subwarp_ragged_kernel, reduce_grid((level.outer + warps - 1) / warps),
              (unsigned)warps * 32, 0, level, planes, inverse);
  return RUNG_OK;
}

static rung_status launch_loads(const rung_task *task, const reduce_level &level,
                                reduce_operator op, bool wide) {
  const int at_once = wide ? 16 / (int)rung_dtype_bytes(level.dtype) : 1;
  /* Loads that hold a line, a power of two: shared out to threads first, until neighbouring threads
   * read enough of a line, then eight to a thread, then to the rest of the warp. Of single elements
   * a thread has four at least. */
  int64_t loads = 1;
  int thread_bits = 0, each = 1;
  while (loads * at_once < level.columns) loads *= 2;
  const int near = wide ? loads > 8 ? 8 : 4 : loads > 64 ? 16 : (int)(loads + 3) / 4;
  while (1 << thread_bits < near && 1 << thread_bits < loads) ++thread_bits;
  while (each < LOADS && (int64_t)each << thread_bits < loads) each *= 2;
  while (thread_bits < 5 && (int64_t)each << thread_bits < loads) ++thread_bits;
  const int warps = warps_of(task, REDUCE_SUBWARP_BLOCK / 32);
  const int64_t in_block = (int64_t)(32 >> thread_bits) * (LOADS / each) * warps;
  const subwarp_kernel reduce_subwarp_kernel = pick_kernel(op, wide, each);
  RUNG_LAUNCH(task, reduce_subwarp_kernel, reduce_grid((level.outer + in_block - 1) / in_block),
              (unsigned)warps * 32, 0, level, thread_bits);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(reduce_subwarp)(const rung_task *task) {
  const reduce_operator op = reduce_operator_of((const reduce_problem *)task->problem);
  reduce_level level = reduce_level_of(task);
  reduce_cut(task, &level, RUNG_SUM_TILE, NULL);
  reduce_planes planes = {}; /* of no lines where there are none */
  if (reduce_has_planes(task, &planes)) level.in_outer = planes.pitch;
  const int64_t size = (int64_t)rung_dtype_bytes(level.dtype), pitch = pitch_of(level);
  const bool wide =
      (uintptr_t)level.in % 16 == 0 && level.columns * size % 16 == 0 && pitch * size % 16 == 0;
  const bool dense = reduce_is_dense(level.columns, pitch);
  /* Short lines that all begin in the same bank, or in few of them, would wait for each other. */
  const bool meet = bank_bits(pitch * size) >= 3 && level.columns <= REDUCE_SUBWARP_BANKED;
  const bool fits =
      dense && pitch * size <= REDUCE_SUBWARP_ROOM && level.columns > REDUCE_SUBWARP_TINY && !meet;
  const bool longer = reduce_is_ordered(op) && level.columns * size >= REDUCE_SUBWARP_RAGGED;
  /* Sixteen bytes of halves are eight sums: too many registers, for as many loads. */
  const bool large = op == REDUCE_ADD_HALF && level.columns > REDUCE_SUBWARP_HALVES;
  if (planes.lines > 0)
    return (level.columns * size < REDUCE_SUBWARP_PLANES ? launch_shared : launch_ragged)(
        task, level, op, planes);
  if (longer && (!wide || large)) return launch_ragged(task, level, op, planes);
  if (fits && (!wide || large)) return launch_shared(task, level, op, planes);
  return launch_loads(task, level, op, wide);
}
