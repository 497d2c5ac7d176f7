/* Rung `streamed`: a block walks down the image. Its rows come into a ring in shared memory without
 * being waited for, each once; a thread takes four or eight columns and their neighbours from there
 * into registers, where a running row of sums for every row of the kernel meets its taps in their
 * order. All taps are constant operands of multiply-adds; bytes by signed bytes are taken four at a
 * time as they lie, for the sums of integers have no order. */
#include "ops/correlate/cuda/ring.cuh"

/* Whether there are kernels for large images and for what is usual: not on the simulator, where
 * these take hours to compile and the others do the same. */
#ifdef __CUDACC__
static constexpr bool LARGE = true;
#else
static constexpr bool LARGE = false;
#endif

/* ---- from the ring into registers -------------------------------------------------------------
 */

/* What a thread's columns need of a row: numbers, from the first tap's on, or, for sums of
 * integers, the words of bytes as they were loaded. */
template <typename Slot, int V, typename S>
struct correlate_window {
  float at[V + Slot::REACH];
};
template <typename Slot, int V>
struct correlate_window<Slot, V, int> {
  unsigned at[Slot::WINDOW / 4];
};

/* The words of a window, of a row that lies `shift` elements behind a word's begin. */
template <typename Slot, int V, typename E>
static __device__ __forceinline__ void correlate_load_words(const E *line, int shift,
                                                            unsigned *words) {
  static constexpr int RUN = V / Slot::WORD, COUNT = Slot::WINDOW / Slot::WORD;
#pragma unroll
  for (int c = 0; c < COUNT / RUN; c++) {
    const auto run = *reinterpret_cast<const correlate_run<unsigned, RUN> *>(line + c * V);
#pragma unroll
    for (int w = 0; w < RUN; w++) words[c * RUN + w] = run.at[w];
  }
  if (shift == 0) return;
  const unsigned behind = *reinterpret_cast<const unsigned *>(line + Slot::WINDOW);
#pragma unroll
  for (int w = 0; w < COUNT; w++)
    words[w] = __funnelshift_r(words[w], w + 1 < COUNT ? words[w + 1] : behind,
                               shift * 8 * (int)sizeof(E));
}

template <typename Slot, int V>
static __device__ __forceinline__ void correlate_mend_words(unsigned *words, correlate_mend mend) {
  static constexpr int OWN = (Slot::SKIP + Slot::LEFT) / 4, END = OWN + V / 4;
  if constexpr (Slot::MENDS) {
    words[OWN - 1] = __byte_perm(words[OWN - 1], words[OWN], mend.before);
    words[END] = __byte_perm(words[END], words[END - 1], mend.behind);
  }
}

template <typename Slot, int V>
static __device__ __forceinline__ void correlate_load_window(const uint8_t *line, int shift, bool,
                                                             correlate_mend mend,
                                                             unsigned *window) {
  correlate_load_words<Slot, V>(line, shift, window);
  correlate_mend_words<Slot, V>(window, mend);
}

/* V numbers at a time, and of the first and the last of these what is needed. */
template <typename Slot, int V, int AT = 0>
static __device__ __forceinline__ void correlate_load_window(const float *line, int shift,
                                                             bool half, correlate_mend mend,
                                                             float *window) {
  constexpr int SKIP = Slot::SKIP, NEED = SKIP + V + Slot::REACH, FROM = AT < SKIP ? SKIP - AT : 0,
                TO = AT + V < NEED ? V : NEED - AT;
  correlate_load_part<V, FROM, TO>(line + AT, window + (AT + FROM - SKIP));
  if constexpr (AT + V < NEED)
    correlate_load_window<Slot, V, AT + V>(line, shift, half, mend, window);
}

/* Numbers of 16 bits, u16 or f16; the former below the exponent of 2^23 are 2^23 more than
 * themselves. */
template <typename Slot, int V>
static __device__ __forceinline__ void correlate_load_window(const uint16_t *line, int shift,
                                                             bool half, correlate_mend,
                                                             float *window) {
  unsigned words[Slot::WINDOW / 2];
  correlate_load_words<Slot, V>(line, shift, words);
  if (half) {
#pragma unroll
    for (int e = 0; e < V + Slot::REACH; e++) {
      const int at = Slot::SKIP + e;
      window[e] = rung_f16_to_f32((uint16_t)(at % 2 ? words[at / 2] >> 16 : words[at / 2]));
    }
    return;
  }
#pragma unroll
  for (int e = 0; e < V + Slot::REACH; e++) {
    const int at = Slot::SKIP + e;
    window[e] =
        __uint_as_float(__byte_perm(words[at / 2], 0x4b000000, at % 2 ? 0x7432 : 0x7410)) - 0x1p23f;
  }
}

/* Bytes likewise. */
template <typename Slot, int V>
static __device__ __forceinline__ void correlate_load_window(const uint8_t *line, int shift, bool,
                                                             correlate_mend mend, float *window) {
  unsigned words[Slot::WINDOW / 4];
  correlate_load_words<Slot, V>(line, shift, words);
  correlate_mend_words<Slot, V>(words, mend);
#pragma unroll
  for (int e = 0; e < V + Slot::REACH; e++) {
    const int at = Slot::SKIP + e;
    window[e] = __uint_as_float(__byte_perm(words[at / 4], 0x4b000000, 0x7440 + at % 4)) - 0x1p23f;
  }
}

/* ---- results ----------------------------------------------------------------------------------
 */

/* Those of the image's own type, all there and aligned. */
template <int V>
static __device__ __forceinline__ void correlate_store_own(float *to, bool, const float *sums) {
  correlate_store_as<float, V>(to, 0, sums, [](float t) { return t; });
}
template <int V>
static __device__ __forceinline__ void correlate_store_own(uint16_t *to, bool half,
                                                           const float *sums) {
  if (half)
    correlate_store_as<uint16_t, V>(to, 0, sums, [](float t) { return rung_f32_to_f16(t); });
  else
    correlate_store_as<uint16_t, V>(to, 0, sums,
                                    [](float t) { return (uint16_t)correlate_integer(t, 65535); });
}
static __device__ __forceinline__ int correlate_nearest(float t) {
  return __float2int_rn(t);
}
static __device__ __forceinline__ int correlate_nearest(int t) {
  return t;
}
template <int V, typename S>
static __device__ __forceinline__ void correlate_store_own(uint8_t *to, bool, const S *sums) {
  correlate_run<unsigned, V / 4> run;
#pragma unroll
  for (int w = 0; w < V / 4; w++)
    run.at[w] =
        rung_pack_u8(correlate_nearest(sums[4 * w]), correlate_nearest(sums[4 * w + 1]),
                     correlate_nearest(sums[4 * w + 2]), correlate_nearest(sums[4 * w + 3]));
  *reinterpret_cast<correlate_run<unsigned, V / 4> *>(to) = run;
}

/* Those of the image's own type, a warp's, of which `count` are there, wherever the first lies: by
 * way of `stage`, from which whole words go, and the rest by elements. */
template <typename E, int V, typename S>
static __device__ ASIDE void correlate_store_words(E *to, int count, bool half, const S *sums,
                                                   float *stage) {
  static constexpr int EACH = V * (int)sizeof(E) / 4, COUNT = 32 * EACH;
  const int lane = threadIdx.x % 32, bytes = count * (int)sizeof(E);
  const unsigned *words = reinterpret_cast<const unsigned *>(stage);
  __syncwarp();
  correlate_store_own<V>(reinterpret_cast<E *>(stage) + lane * V, half, sums);
  __syncwarp();
  const int behind = (int)((uintptr_t)to & 3); /* a word's begin */
  char *base = reinterpret_cast<char *>(to) - behind;
#pragma unroll
  for (int c = 0; c < EACH + 1; c++) {
    const int i = c * 32 + lane, at = i - (behind > 0), first = 4 * i - behind;
    if (first >= bytes) continue;
    const unsigned low = words[at > 0 ? at : 0], high = words[at + 1 < COUNT ? at + 1 : COUNT - 1];
    const unsigned word = __funnelshift_r(low, high, (32 - 8 * behind) & 31);
    if (first >= 0 && first + 4 <= bytes) {
      *reinterpret_cast<unsigned *>(base + 4 * i) = word;
    } else {
#pragma unroll 1
      for (int b = 0; b < 4; b += (int)sizeof(E))
        if (first + b >= 0 && first + b < bytes)
          *reinterpret_cast<E *>(base + 4 * i + b) = (E)(word >> 8 * b);
    }
  }
}
template <int V>
static __device__ __forceinline__ void correlate_store_numbers(float *to, int count,
                                                               const float *sums, float *stage) {
  const int lane = threadIdx.x % 32;
  __syncwarp();
  correlate_store_own<V>(stage + lane * V, false, sums);
  __syncwarp();
#pragma unroll
  for (int v = 0; v < V; v++)
    if (v * 32 + lane < count) to[v * 32 + lane] = stage[v * 32 + lane];
}

/* Any others, a warp's, whose first is element x of a row: by way of `stage`, from which a loop
 * takes them. Integers are small ones, which a float holds. */
template <int V, typename S>
static __device__ ASIDE void correlate_store_other(rung_dtype dtype, void *row, int64_t x,
                                                   int64_t n, const S *sums, float *stage) {
  const int lane = threadIdx.x % 32;
  __syncwarp();
#pragma unroll
  for (int v = 0; v < V; v++) stage[lane * V + v] = (float)sums[v];
  __syncwarp();
#pragma unroll 1
  for (int e = lane; e < 32 * V && x + e < n; e += 32) correlate_store(dtype, row, x + e, stage[e]);
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

/* The taps of M rows of K; of integers by words, as they meet the words of a row where the first
 * element that they meet is byte 0, 1, 2 or 3 of a word. */
template <typename S, int K, int M>
struct correlate_rows_of_taps {
  float at[M][K];
};
template <int K, int M>
struct correlate_rows_of_taps<int, K, M> {
  static constexpr int WORDS = (3 + K + 3) / 4;
  int at[M][4][WORDS];
};

/* Rows i and on of sums get row i of taps. */
template <int V, int G, int K, int M, int STEP, typename Slot>
static __device__ __forceinline__ void correlate_pass_row(
    const correlate_rows_of_taps<float, K, M> &taps, int i,
    const correlate_window<Slot, V, float> *window, float (*sums)[G][V]) {
#pragma unroll
  for (int j = 0; j < K; j++)
#pragma unroll
    for (int g = 0; g < G; g++)
#pragma unroll
      for (int v = 0; v < V; v++)
        sums[i + 1][g][v] = fmaf(taps.at[i][j], window[g].at[v + j * STEP],
                                 j == 0 ? sums[i][g][v] : sums[i + 1][g][v]);
}
template <int V, int G, int K, int M, int STEP, typename Slot>
static __device__ __forceinline__ void correlate_pass_row(
    const correlate_rows_of_taps<int, K, M> &taps, int i,
    const correlate_window<Slot, V, int> *window, int (*sums)[G][V]) {
#pragma unroll
  for (int g = 0; g < G; g++)
#pragma unroll
    for (int v = 0; v < V; v++) {
      const int word = (Slot::SKIP + v) / 4, byte = (Slot::SKIP + v) % 4;
#pragma unroll
      for (int w = 0; 4 * w < byte + K; w++)
        sums[i + 1][g][v] = rung_dot_u8s8(window[g].at[word + w], taps.at[i][byte][w],
                                          w == 0 ? sums[i][g][v] : sums[i + 1][g][v]);
    }
}

/* A row passes through, row number `row` of the block's. Kernels of fewer rows than M stand at the
 * bottom of its taps. Row i of sums is that of the output above which i rows of taps are done: with
 * the next one it becomes row i + 1, so that nothing is ever moved, and from the last comes the
 * result. Rows of taps before `first` serve no output of the block, nor do those after `row`: the
 * former is not asked where a kernel has ALL rows, the latter only where it pays. */
template <int V, int G, int K, int M, int STEP, bool ALL, bool HEAD, typename S, typename Slot>
static __device__ __forceinline__ void correlate_pass(const correlate_rows_of_taps<S, K, M> &taps,
                                                      int first, int row,
                                                      const correlate_window<Slot, V, S> *window,
                                                      S (*sums)[G][V]) {
#pragma unroll
  for (int i = M - 1; i >= 0; i--) {
    if (!ALL && i < first) break;
    if (HEAD && i > row) continue;
    correlate_pass_row<V, G, K, M, STEP>(taps, i, window, sums);
  }
}

/* Blocks that a multiprocessor is to hold: as many as leave registers for the sums, of threads that
 * make more than usual also for what hides delays instead of other warps. */
static constexpr int correlate_resident(int sums, bool more) {
  if (more) return sums <= 48 ? 5 : sums <= 56 ? 4 : sums <= 88 ? 3 : 2;
  return sums <= 28 ? 8 : sums <= 44 ? 6 : sums <= 80 ? 4 : 3;
}

template <typename E, int V, int G, int K, int M>
static constexpr int correlate_blocks() {
  return correlate_resident(V * G * M, G > 1 || V > 8) * CORRELATE_STRIP_THREADS /
         correlate_threads(sizeof(E), V, K);
}

/* All threads of the block. */
template <int THREADS>
static __device__ __forceinline__ void correlate_sync() {
  if (THREADS == 32)
    __syncwarp();
  else
    __syncthreads();
}

/* A constant as an argument. */
template <bool B>
struct correlate_flag {
  static constexpr bool value = B;
};

/* A thread makes V columns in each of G groups of a block's; sums are of S. WIDE: only where copies
 * of 16 bytes may be made, where the question alone costs. */
template <typename E, typename S, int V, int G, int K, int M, int STEP, bool ALL, bool WIDE>
__global__ void __launch_bounds__(correlate_threads(sizeof(E), V, K),
                                  correlate_blocks<E, V, G, K, M>())
    correlate_streamed(const __grid_constant__ correlate_job<float> job,
                       const __grid_constant__ correlate_rows_of_taps<S, K, M> taps, int64_t k,
                       int high, bool aligned, bool wide_out) {
  typedef correlate_slot<sizeof(E), V, G, K, STEP> slot;
  static constexpr int THREADS = slot::THREADS;
  /* Where a branch before each row of taps, which keeps the compiler from mixing them, was found to
   * leave registers for a block more, or to save more than it costs. */
  static constexpr bool BYTES = sizeof(E) == 1 && V == 16 && (K == 5 || (K == 7 && S(0.5) != 0)),
                        FLOATS = sizeof(E) == 4 && (K == 11 || (G == 2 && K == 7));
  static constexpr bool HEAD = ALL && (BYTES || FLOATS);
  __shared__ __align__(128) E ring[SLOTS * slot::PITCH];
  __shared__ const E *lines[CORRELATE_STRIP_ROWS + M];
  __shared__ int places[slot::LINE];
  __shared__ __align__(16) float stages[THREADS * V];
  const bool wide_in = WIDE || aligned;
  const bool half = job.in_type == RUNG_F16;
  const E outside = half ? (E)rung_f32_to_f16(job.edge_value) : (E)job.edge_value;
  const int64_t first = (int64_t)blockIdx.x * (G * slot::GROUP), columns = job.width * STEP;
  const int64_t left = first + job.first_column * STEP - slot::FIRST;
  const int alike = job.out_type == job.in_type;
  int own = wide_out && alike && first + G * slot::GROUP <= job.n;
  const correlate_need<slot> need(left, columns, job.n - first);
  correlate_find_places<STEP>(job, left, slot::LINE, places);
  if (!wide_in || need.ragged) /* what is never filled, and nothing is made of */
    for (int c = threadIdx.x; c < SLOTS * slot::PITCH; c += THREADS) ring[c] = outside;
  correlate_sync<THREADS>();
  correlate_share share = correlate_share_of<slot>(need, places);
  correlate_mend mend = {AS_IT_IS, AS_IT_IS};
  static constexpr bool MENDS = slot::MENDS && (WIDE || !LARGE);
  if constexpr (MENDS)
    if (own && wide_in && correlate_mends<slot, V>(share, places, mend)) share.at = -1;
  correlate_held<E> held;
  /* Elements that are loaded and then stored come when their neighbours' copies have been under way
   * for a row, from a cache then; where multiply-adds take longer than memory, the question costs
   * more than it gains. */
  static constexpr bool LATE = sizeof(E) == 2 || (WIDE && K == 3 && S(0.5) == 0);
  int64_t own_run = threadIdx.x * slot::RUN;
  E *runs = ring + own_run, *windows = ring + slot::FROM + threadIdx.x * V;
  rung_keep(own);
  rung_keep(own_run);
  rung_keep_shared(runs);
  rung_keep_shared(windows);
  const auto walk = [&](auto known) {
    constexpr bool OWN = decltype(known)::value;
    for (int64_t top = (int64_t)blockIdx.y * high; top < job.rows;
         top += (int64_t)gridDim.y * high) {
      const int outputs = (int)(job.rows - top < high ? job.rows - top : high);
      int above = (ALL ? M : job.kernel_rows) - 1, inputs = outputs + above;
      correlate_find_rows<E>(job, job.first_row + top, inputs, left, lines);
      int64_t out_step = job.out_line * correlate_bytes(job.out_type);
      char *out = static_cast<char *>(correlate_row_out(job, k, top));
      if (OWN || own) out += (first + threadIdx.x * V) * sizeof(E);
      if (!OWN && !own && alike) out += (first + threadIdx.x / 32 * 32 * V) * sizeof(E);
      const E **line = lines;
      rung_keep_shared(line);
      rung_keep(out_step);
      rung_keep(inputs);
      correlate_sync<THREADS>();
      /* A row comes into its slot of the ring. */
      const auto fill = [=, &held](int row) ONCE {
        held.store(ring);
        if (row < inputs) {
          const E *from = line[row];
          const int at = (row & (SLOTS - 1)) * slot::PITCH;
          if (from) {
            if (wide_in)
              correlate_copy_runs<E, slot>(runs + at, from, own_run, share);
            else
              correlate_copy_words<E, slot>(ring + at, from, need);
            if (!LATE)
              correlate_fill_other<E, slot>(ring, at, from, wide_in, share, need, places, held,
                                            outside);
          } else {
#pragma unroll 1
            for (int c = threadIdx.x; c < slot::WORDS * slot::WORD; c += THREADS)
              ring[at + c] = outside;
          }
        }
        if (LATE && (!WIDE || share.at >= 0) && row > 0 && row <= inputs) {
          const E *from = line[row - 1];
          if (from)
            correlate_fill_other<E, slot>(ring, ((row - 1) & (SLOTS - 1)) * slot::PITCH, from,
                                          wide_in, share, need, places, held, outside);
        }
        rung_copy_async_commit();
      };
      S sums[M + 1][G][V] = {};
      /* A row meets the taps, and one ahead is asked for. */
      const auto meet = [&](int r, auto early) {
        rung_copy_async_wait<AHEAD - 1>();
        correlate_sync<THREADS>();
        fill(r + AHEAD);
        int shift = 0;
        if constexpr (sizeof(E) < 4)
          if (!wide_in) shift = correlate_shift<slot>(line[r]);
        correlate_window<slot, V, S> window[G];
#pragma unroll
        for (int g = 0; g < G; g++)
          correlate_load_window<slot, V>(
              windows + (r & (SLOTS - 1)) * slot::PITCH + g * slot::GROUP, shift, half, mend,
              window[g].at);
        const int done = r - outputs + 1;
        correlate_pass<V, G, K, M, STEP, ALL, decltype(early)::value>(
            taps, M - 1 - above + (done > 0 ? done : 0), r, window, sums);
      };
#pragma unroll 1
      for (int row = 0; row < AHEAD; row++) fill(row);
      int r = 0;
      if constexpr (HEAD) {
#pragma unroll 1
        for (; r < above; r++) meet(r, correlate_flag<true>());
      }
#pragma unroll 1
      for (; r < inputs; r++) {
        meet(r, correlate_flag<false>());
        if (!HEAD && r < above) continue;
#pragma unroll
        for (int g = 0; g < G; g++)
          if (OWN || own) {
            correlate_store_own<V>(reinterpret_cast<E *>(out) + g * slot::GROUP, half, sums[M][g]);
          } else if (alike) {
            E *to = reinterpret_cast<E *>(out) + g * slot::GROUP;
            float *stage = stages + threadIdx.x / 32 * 32 * V;
            const int64_t left_over = job.n - first - g * slot::GROUP - threadIdx.x / 32 * 32 * V;
            const int count = left_over < 32 * V ? left_over < 0 ? 0 : (int)left_over : 32 * V;
            if constexpr (sizeof(E) == 4)
              correlate_store_numbers<V>(to, count, sums[M][g], stage);
            else
              correlate_store_words<E, V>(to, count, half, sums[M][g], stage);
          } else
            correlate_store_other<V>(job.out_type, out,
                                     first + g * slot::GROUP + threadIdx.x / 32 * 32 * V, job.n,
                                     sums[M][g], stages + threadIdx.x / 32 * 32 * V);
        out += out_step;
        rung_keep_global(out);
      }
      correlate_sync<THREADS>(); /* before `lines` are others */
    }
  };
  if constexpr (WIDE)
    if (own) return walk(correlate_flag<true>());
  walk(correlate_flag<false>());
}

/* ---- launches ---------------------------------------------------------------------------------
 */

template <int K, int M>
static void put_tap(correlate_rows_of_taps<float, K, M> &taps, int i, int j, float tap) {
  taps.at[i][j] = tap;
}
template <int K, int M>
static void put_tap(correlate_rows_of_taps<int, K, M> &taps, int i, int j, float tap) {
  for (int byte = 0; byte < 4; byte++)
    taps.at[i][byte][(byte + j) / 4] |= ((int)tap & 255) << (byte + j) % 4 * 8;
}

template <typename S, int K, int M>
static correlate_rows_of_taps<S, K, M> taps_of(const rung_task *task, int64_t k) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const int rows = p->kernel_rows, unused = M - rows;
  correlate_rows_of_taps<S, K, M> taps = {};
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < K; j++)
      put_tap(taps, unused + i, j, correlate_tap_at<float>(p, (k * rows + i) * K + j));
  return taps;
}

template <typename E, typename S, int V, int G, int K, int M, int STEP, bool ALL, bool WIDE>
static rung_status launch_strips(const rung_task *task, const correlate_job<float> &job,
                                 bool wide_in) {
  static constexpr int THREADS = correlate_threads(sizeof(E), V, K);
  const bool wide_out = correlate_wide_out(task, V);
  const int64_t across = (job.n + THREADS * V * G - 1) / (THREADS * V * G);
  int blocks;
  RUNG_RESIDENT_BLOCKS(task, (correlate_streamed<E, S, V, G, K, M, STEP, ALL, WIDE>), THREADS, 0,
                       &blocks);
  const int high = correlate_strip_rows(task, across, blocks, THREADS, V * G, job.kernel_rows);
  const int64_t down = (job.rows + high - 1) / high;
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_streamed<E, S, V, G, K, M, STEP, ALL, WIDE>),
                dim3((unsigned)across, (unsigned)(down < 65535 ? down : 65535)), THREADS, 0, job,
                (taps_of<S, K, M>(task, k)), k, high, wide_in, wide_out);
  return RUNG_OK;
}

template <typename E, typename S, int V, int G, int K, int M, int STEP, bool ALL>
static rung_status run_strips(const rung_task *task) {
  static constexpr int RUN = 16 / (int)sizeof(E);
  /* The usual kernels of small elements, whose time is not the memory's alone. */
  static constexpr bool OFTEN =
      LARGE && ALL && sizeof(E) < 4 && STEP == 1 && (K == 3 || K == 5 || K == 7);
  const auto job = correlate_job_of<float>(task);
  /* The middle of the kernel's row lies under a thread's first element where the origin is it. */
  const int64_t middle = (job.first_column + K / 2) * STEP;
  const bool wide_in = (uintptr_t)job.in % 16 == 0 && job.in_line % RUN == 0 && middle % RUN == 0;
  if constexpr (OFTEN)
    if (wide_in) return launch_strips<E, S, V, G, K, M, STEP, ALL, true>(task, job, wide_in);
  return launch_strips<E, S, V, G, K, M, STEP, ALL, false>(task, job, wide_in);
}

/* Results for every multiprocessor from which on threads make twice as much: of fewer there are too
 * few blocks. */
static constexpr int64_t MANY = 120000;

/* Whether blocks of `wide` columns have so many behind the image's last that blocks of 512, which
 * take half as long again for a column, and twice as long of kernels of three, are done first. */
static bool wastes(int64_t columns, int64_t wide, int kernel) {
  const int64_t narrow = CORRELATE_STRIP_THREADS * 4, halves = kernel == 3 ? 4 : 3;
  return halves * ((columns + narrow - 1) / narrow * narrow) <=
         2 * ((columns + wide - 1) / wide * wide);
}

/* The rows of sums that a kernel of K columns keeps; the common sizes have kernels of their own.
 * Bytes by eight, as long as there are registers for so many sums. In the common sizes large images
 * are taken by sixteen bytes, eight numbers of 16 bits or twice four floats, so that what a row
 * costs beside its multiply-adds is shared by more, and others by four, for a block would be wider
 * than many of them. */
template <typename E, int K>
static rung_status run(const rung_task *task) {
  static constexpr bool NARROW = K <= CORRELATE_NARROW, ODD = K % 2 == 1 && K > 1;
  static constexpr bool USUAL = K == 3 || K == 5 || K == 7, OWN = sizeof(E) != 2 || USUAL;
  static constexpr int V = sizeof(E) == 1 && NARROW ? 8 : 4, WIDEST = sizeof(E) == 1 ? 16 : 8;
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const int rows = p->kernel_rows;
  const bool square = rows == K,
             many = p->rows * p->columns >= MANY * task->device->processors &&
                    !wastes(p->columns, correlate_threads(sizeof(E), WIDEST, K) * WIDEST, K);
  const bool bytes = correlate_of_bytes(p);
  if constexpr (LARGE && sizeof(E) == 1 && NARROW && ODD)
    if (square && many)
      return bytes ? run_strips<E, int, 16, 1, K, K, 1, true>(task)
                   : run_strips<E, float, 16, 1, K, K, 1, true>(task);
  if constexpr (LARGE && sizeof(E) == 2 && USUAL)
    if (square && many) return run_strips<E, float, 8, 1, K, K, 1, true>(task);
  if constexpr (LARGE && sizeof(E) == 4 && ODD && K > 3)
    if (square && many) return run_strips<E, float, 4, 2, K, K, 1, true>(task);
  if constexpr (sizeof(E) == 1 && NARROW && ODD)
    if (square && bytes) return run_strips<E, int, 4, 1, K, K, 1, true>(task);
  if constexpr (OWN && ODD)
    if (square) return run_strips<E, float, 4, 1, K, K, 1, true>(task);
  if constexpr (NARROW)
    if (K > 1 || rows <= CORRELATE_NARROW)
      return run_strips<E, float, V, 1, K, CORRELATE_NARROW, 1, false>(task);
  if constexpr (!NARROW || K == 1)
    return run_strips<E, float, 4, 1, K, CORRELATE_STREAMED, 1, false>(task);
}

template <typename E>
static rung_status run_columns(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->kernel_columns) {
#define RUN(K) \
  case K:      \
    return run<E, K>(task);
    RUN(1)
    RUN(2)
    RUN(3)
    RUN(4)
    RUN(5)
    RUN(6)
    RUN(7)
    RUN(8)
    RUN(9)
    RUN(10)
    RUN(11)
    RUN(12)
    RUN(13)
    RUN(14)
    RUN(15)
#undef RUN
    default:
      return run<E, 16>(task);
  }
}

/* Pixels of several channels: the usual kernels. */
template <typename E, int STEP>
static rung_status run_channels(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->kernel_columns) {
    case 3:
      return run_strips<E, float, 4, 1, 3, CORRELATE_NARROW, STEP, false>(task);
    case 5:
      return run_strips<E, float, 4, 1, 5, CORRELATE_NARROW, STEP, false>(task);
    default:
      return run_strips<E, float, 4, 1, 7, CORRELATE_NARROW, STEP, false>(task);
  }
}

template <typename E>
static rung_status run_type(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->channels) {
    case 2:
      return run_channels<E, 2>(task);
    case 3:
      return run_channels<E, 3>(task);
    case 4:
      return run_channels<E, 4>(task);
    default:
      return run_columns<E>(task);
  }
}

extern "C" rung_status RUNG_ENTRY(correlate_streamed)(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->types.in) {
    case RUNG_U8:
      return run_type<uint8_t>(task);
    case RUNG_U16:
    case RUNG_F16:
      return run_type<uint16_t>(task);
    default:
      return run_type<float>(task);
  }
}
