/* One launch and one pass over memory: a block keeps its tile in the multiprocessor, leaves its
 * total for the others, and waits for those of the tiles before: for aggregates only, its 31 family
 * mates', its family's 31 mates' and so on, never for what they waited for themselves. So no chain
 * of blocks forms, and the association is the same every time. A line of one tile needs no flags,
 * no counters.
 *
 * While a block waits others must load, so that as many blocks as possible are to live on a
 * multiprocessor at once: tiles lie in shared memory, not in registers, and the prefixes of groups
 * are made twice. And a tile that begins soon is fetched into the level 2 cache now. */
#include "ops/scan/cuda/flags.cuh"

/* What one asynchronous copy carries: a group, or half of one where elements have 8 bytes. */
template <typename T>
struct alignas(SCAN_GROUP * sizeof(T) < 16 ? SCAN_GROUP * sizeof(T) : 16) scan_piece {
  enum { EACH = sizeof(T) < 8 ? (int)SCAN_GROUP : SCAN_GROUP / 2 };
  T at[EACH];
};

/* A thread's groups of its warp's band, in shared memory: from row to row, and from piece to piece,
 * a warp's width apart. No other thread sees them. */
template <typename S>
struct scan_band_groups {
  typedef typename S::in in;
  typedef scan_piece<in> piece;
  enum { EACH = (int)piece::EACH, PIECES = (int)SCAN_GROUP / EACH };
  piece *own;

  __device__ __forceinline__ void group(int row, const rung_key_code &key,
                                        typename S::value e[]) const {
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
      const piece x = own[(row * PIECES + p) * 32];
#pragma unroll
      for (int c = 0; c < EACH; ++c) e[p * EACH + c] = S::load(x.at[c], key);
    }
  }
  __device__ __forceinline__ void put(int row, const scan_chunk<in> &results) const {
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
      piece x;
#pragma unroll
      for (int c = 0; c < EACH; ++c) x.at[c] = results.at[p * EACH + c];
      own[(row * PIECES + p) * 32] = x;
    }
  }
};

/* Where element `at` of the warp's band lies in shared memory. */
template <typename S>
__device__ __forceinline__ typename S::in *scan_element_at(const scan_band_groups<S> &band,
                                                           int at) {
  typedef scan_band_groups<S> groups;
  const int row = at / SCAN_ROW, group = at % SCAN_ROW / SCAN_GROUP, c = at % SCAN_GROUP;
  const int piece = (row * groups::PIECES + c / groups::EACH) * 32 + group;
  return &(band.own - (int)threadIdx.x % 32)[piece].at[c % groups::EACH];
}

/* Copies in the band at `in`, of which `count` elements are there (none or less: an empty one). */
template <typename S>
__device__ __forceinline__ void scan_copy_in(const scan_lines<S> &lines, const typename S::in *in,
                                             int count, const scan_band_groups<S> &band) {
  typedef scan_band_groups<S> groups;
  typedef typename groups::piece piece;
  if (lines.wide && count >= SCAN_BAND) {
#pragma unroll
    for (int r = 0; r < SCAN_EIGHT; ++r) {
#pragma unroll
      for (int p = 0; p < groups::PIECES; ++p)
        rung_copy_async(band.own + (r * groups::PIECES + p) * 32,
                        (const piece *)(in + scan_group_at(r)) + p);
    }
    rung_copy_async_commit();
    rung_copy_async_wait();
    return;
  }
  /* Neighbours read neighbours, whoever has their groups. */
#pragma unroll 4
  for (int at = (int)threadIdx.x % 32; at < SCAN_BAND; at += 32) {
    typename S::in *to = scan_element_at<S>(band, at);
    if (at >= count)
      *to = S::empty(lines.key);
    else if constexpr (sizeof(typename S::in) >= 4)
      rung_copy_async(to, in + at);
    else
      *to = in[at];
  }
  rung_copy_async_commit();
  rung_copy_async_wait();
  __syncwarp();
}

/* The prefixes of rows, from groups' totals: g. The band's total is returned to the warp's last
 * thread. */
template <typename S>
__device__ __forceinline__ typename S::value scan_row_prefixes(const scan_band_groups<S> &band,
                                                               const rung_key_code &key,
                                                               typename S::value g[]) {
#pragma unroll
  for (int r = 0; r < SCAN_EIGHT; ++r) {
    typename S::value e[SCAN_GROUP];
    band.group(r, key, e);
    g[r] = scan_warp<S>(S::combine(S::combine(e[0], e[1]), S::combine(e[2], e[3])));
  }
  typename S::value rows = g[0];
  if (threadIdx.x % 32 == 31)
#pragma unroll
    for (int r = 1; r < SCAN_EIGHT; ++r) rows = S::combine(rows, g[r]);
  return rows;
}

/* Writes a band's results; `offset` is what comes before it, `begins` whether its first element is
 * its line's. */
template <typename S>
__device__ __forceinline__ void scan_write(const scan_band_groups<S> &band,
                                           const typename S::value g[], typename S::value offset,
                                           const scan_lines<S> &lines, bool begins,
                                           typename S::in *out, int count) {
  const unsigned lane = threadIdx.x % 32;
  typename S::value rows = S::identity();
#pragma unroll
  for (int r = 0; r < SCAN_EIGHT; ++r) {
    typename S::value back = __shfl_up_sync(0xffffffffu, g[r], 1), e[SCAN_GROUP];
    if (lane == 0) back = S::identity();
    const typename S::value above = r == 0 ? offset : S::combine(offset, rows);
    const typename S::value base = S::combine(above, back);
    band.group(r, lines.key, e);
    scan_group_prefixes<S>(e);
    if (lines.wide && count >= SCAN_BAND)
      scan_store_group<S>(e, base, lines, begins, out, scan_group_at(r), SCAN_BAND);
    else
      band.put(r, scan_group_results<S>(e, base, lines, begins && scan_group_at(r) == 0));
    const typename S::value row = __shfl_sync(0xffffffffu, g[r], 31);
    if (r < SCAN_EIGHT - 1) rows = r == 0 ? row : S::combine(rows, row);
  }
  if (lines.wide && count >= SCAN_BAND) return;
  __syncwarp();
  for (int at = (int)lane; at < count; at += 32) out[at] = *scan_element_at<S>(band, at);
}

/* Blocks a multiprocessor is to have room for; those of compute capability 7.5 hold 1024 threads.
 */
template <typename S>
constexpr int scan_resident() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return sizeof(typename S::value) == 4 ? 4 : 2;
#else
  return sizeof(typename S::value) == 4 ? 6 : 3;
#endif
}

/* Which tile of which line a block has, and where in the line its warp's band begins. */
struct scan_place {
  int line, tile;
  int64_t first;
};

template <typename S>
__device__ __forceinline__ scan_place scan_place_of(const scan_lines<S> &lines,
                                                    const scan_queue &queue, unsigned job) {
  scan_place at;
  at.line = lines.lines == 1 ? 0 : (int)(job / (unsigned)queue.tiles);
  at.tile = (int)(lines.lines == 1 ? job : job % (unsigned)queue.tiles);
  at.first = at.tile * (int64_t)SCAN_TILE + (int)threadIdx.x / 32 * SCAN_BAND;
  return at;
}

/* Elements of the band at `first` that are there; none or less: an empty one. Found twice, before
 * the wait and after it, so as not to be kept meanwhile: registers are what limits blocks. */
template <typename S>
__device__ __forceinline__ int scan_count(const scan_lines<S> &lines, int64_t first) {
  const int64_t left = lines.columns - first;
  return left < SCAN_BAND ? (int)left : SCAN_BAND;
}

template <typename S>
static __global__ void __launch_bounds__(SCAN_THREADS, scan_resident<S>())
    scan_single_pass_kernel(scan_lines<S> lines, scan_queue queue, scan_beginnings<S> beginnings) {
  typedef scan_band_groups<S> groups;
  RUNG_DYNAMIC_SHARED(typename groups::piece, pieces);
  __shared__ typename S::value bands[SCAN_EIGHT], e[SCAN_LEVELS + 1];
  __shared__ unsigned ticket, finished;
  const int warp = (int)threadIdx.x / 32;
  unsigned job = blockIdx.x;
  if (queue.tickets != NULL && queue.tiles > 1) {
    if (threadIdx.x == 0) ticket = atomicInc(queue.tickets, (unsigned)(queue.jobs - 1));
    __syncthreads();
    job = ticket;
  }
  const scan_place at = scan_place_of(lines, queue, job);
  const typename S::in *line = lines.in + at.line * lines.in_pitch;
  const int64_t ahead = at.tile + (int64_t)queue.ahead;
  if (lines.wide && threadIdx.x == 0 && job + (unsigned)queue.ahead >= (unsigned)queue.resident &&
      (ahead + 1) * SCAN_TILE <= lines.columns)
    rung_fetch_ahead(line + ahead * SCAN_TILE, SCAN_TILE * (unsigned)sizeof *line);
  groups band;
  band.own = pieces + warp * SCAN_EIGHT * groups::PIECES * 32 + (int)threadIdx.x % 32;
  scan_copy_in<S>(lines, line + at.first, scan_count(lines, at.first), band);
  typename S::value g[SCAN_EIGHT], before = S::identity();
  if (threadIdx.x == 0) e[SCAN_LEVELS] = beginnings.of(at.line);
  for (bool there = false; !there;) {
    const typename S::value rows = scan_row_prefixes<S>(band, lines.key, g);
    if (threadIdx.x % 32 == 31) bands[warp] = rows;
    __syncthreads();
    if (queue.tiles == 1) before = e[SCAN_LEVELS];
    if (queue.tiles == 1) break;
    there = warp < SCAN_EIGHT - 1 ||
            scan_arrive<S>(queue, at.line, at.tile, scan_bands<S>(bands, SCAN_EIGHT));
    there &= scan_families<S>(queue, at.line, at.tile, e);
    there = __syncthreads_and(there) != 0;
    if (there)
      before = scan_combined<S>(e);
    else if (warp == 0)
      scan_help<S>(lines, queue, at.line, at.tile);
    if (!there) __syncthreads();
  }
  /* The block needs the words no more: all it looked at has come. It counts itself in now, and
   * looks at the number when its results are on their way. */
  const unsigned most = (unsigned)(queue.jobs - 1);
  unsigned earlier = 0;
  if (queue.tiles > 1 && threadIdx.x == 0) earlier = atomicInc(queue.finished, most);
  scan_write<S>(band, g, S::combine(before, scan_bands<S>(bands, warp)), lines,
                at.first == 0 && at.line < beginnings.first,
                lines.out + at.line * lines.out_pitch + at.first, scan_count(lines, at.first));
  if (queue.tiles == 1) return;
  if (threadIdx.x == 0) finished = earlier;
  __syncthreads();
  if (finished == most) scan_clear<S>(lines, queue);
}

struct scan_single_pass_launch {
  template <typename S>
  static rung_status run(const rung_task *task, const scan_lines<S> &lines,
                         const scan_beginnings<S> &beginnings) {
    /* Of a line of one tile only the bands that are there. */
    const int64_t all = (lines.columns + SCAN_BAND - 1) / SCAN_BAND;
    const int bands = all < SCAN_EIGHT ? (int)all : (int)SCAN_EIGHT;
    const size_t band = SCAN_BAND * sizeof(typename S::in);
    const scan_queue queue = scan_queue_of(task, lines, scan_resident<S>());
    if (queue.jobs > INT32_MAX) /* 8 TB of elements */
      return rung_fail(task->error, RUNG_TOO_LARGE,
                       "in has %lld tiles of %d elements; expected: at most 2^31 - 1",
                       (long long)queue.jobs, SCAN_TILE);
    RUNG_ALLOW_SHARED(task, (scan_single_pass_kernel<S>), SCAN_EIGHT * band);
    RUNG_LAUNCH(task, (scan_single_pass_kernel<S>), (unsigned)queue.jobs, 32 * (unsigned)bands,
                (size_t)bands * band, lines, queue, beginnings);
    return RUNG_OK;
  }
};

struct scan_single_pass_rung {
  template <typename S>
  static rung_status run(const rung_task *task) {
    return scan_by_beginnings<scan_single_pass_launch>(task, scan_lines_of<S>(task));
  }
};

extern "C" rung_status RUNG_ENTRY(scan_single_pass)(const rung_task *task) {
  if (scan_is_short(task) || scan_asks_for_aggregates(task)) return RUNG_ENTRY(scan_tiles)(task);
  return scan_by_any_operator<scan_single_pass_rung>(task);
}
