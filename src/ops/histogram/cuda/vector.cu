/* The limit: few blocks that stay, each with a table of its own for all it reads, four loads of 16
 * bytes under way in every thread, and the table that suits the number of slots:
 *
 *   owned     few slots: a counter for every thread, which needs no atomics: what a thread owns
 *             nobody else touches, and neighbours' counters lie in neighbouring banks
 *   copies    as many copies of each counter as fit, at most one for every lane of a warp, as in
 *             `replicated`
 *   packed    more slots than fit: counters of 16 bits, two to a word. Who takes one to 2^15 takes
 *             that much off again and adds it to the result; a barrier a tile sees to it that
 *             nobody counts so much meanwhile as would overflow. Where not even these fit, blocks
 *             see all elements and count a part of the slots each, a window; those that read the
 *             same elements are neighbours and run at the same time
 *   device    far more than fit: the result itself, after equal slots of a warp were merged
 *
 * A kernel counts in tables of the first two kinds by one way of finding slots, so that this way is
 * all its code; one of the last two takes any way, asked for word by word, as it is the counting
 * that its time is spent on.
 *
 * A search goes by a guide, which a kernel of its own writes before; edges and guide are kept in
 * shared memory beside the table, where they are not too long.
 *
 * Jobs of few elements have a kernel of their own, which is as short as it can be.
 *
 * Bytes are counted by value, 256 of them whatever the bins are; a value's slot is asked for once,
 * at the end. A block size is taken as whole warps, rounded down, at least one. */
#include <string.h>

#include "ops/histogram/cuda/aggregated.cuh"
#include "ops/histogram/cuda/copies.h"

enum histogram_table { HISTOGRAM_OWNED, HISTOGRAM_COPIED, HISTOGRAM_PACKED, HISTOGRAM_DEVICE };

/* Slots that are owned by threads; windows that are worth reading everything again for. */
enum { HISTOGRAM_OWN_SLOTS = 32, HISTOGRAM_MOST_WINDOWS = 4 };

/* Half of what a counter of 16 bits holds and one more: a tile's elements, at most as many, cannot
 * take one from below this to 2^16. */
static constexpr unsigned HISTOGRAM_CARRY = 0x8000u, HISTOGRAM_CARRIES = 0x80008000u;

/* So many bytes of edges and guide are kept in shared memory. */
enum { HISTOGRAM_NEAR_BYTES = 48 << 10 };

/* Loads of 16 bytes that a thread has under way. */
enum { HISTOGRAM_LOADS = 4 };

/* A row of so many bytes is one block's: others' help would come too late. */
static constexpr int HISTOGRAM_ALONE_BYTES = 32 << 10, HISTOGRAM_ALONE_BLOCK = 1024;

/* Bytes of a table that a warp has for itself, and threads of such blocks. */
static constexpr int HISTOGRAM_WARP_TABLE = 4 << 10, HISTOGRAM_WARPS_BLOCK = 256;

/* Blocks are not made smaller than this for more of them; elements for which a counter of a block's
 * table is worth clearing and adding up. */
static constexpr int HISTOGRAM_LEAST_BLOCK = 128, HISTOGRAM_PAYING = 4;

/* So many elements a bin are counted in the result itself at once, where a table is packed. */
static constexpr int HISTOGRAM_MOST_DIRECT = 16;

struct histogram_plan {
  histogram_table table;
  int way; /* to find slots by */
  int threads;
  unsigned team;    /* threads that count a row together: a block's, or a warp's */
  unsigned entries; /* of the table: slots of a window, or values of a byte */
  unsigned copies;  /* of an entry: a power of two, or as many as threads */
  unsigned words;   /* of the table, and of what it is folded into */
  unsigned folded;  /* slots that values of bytes are added up to before results are; 0: none */
  int windows, loads;
  const uint32_t *guide; /* of a search, or NULL */
  bool stores;           /* one block a row, which writes the results */
  int near_edges;        /* edges kept in shared memory with the guide, after the table; 0: none */
  size_t table_bytes, shared_bytes;
};

template <typename T>
struct histogram_wide {
  enum { COUNT = 16 / sizeof(T) };
  T at[COUNT];
};

/* ---- the table ---------------------------------------------------------------------------------
 */

/* What a thread counts with. */
template <typename T>
struct histogram_counter {
  const histogram_job<T> &job;
  unsigned *shared;
  const double *edges; /* of a search */
  const uint32_t *guide;
  histogram_table table;
  int way;
  unsigned copy, copies; /* this thread's, and how many there are */
  unsigned folded;
  unsigned first, entries; /* the window's */
  unsigned member, team;   /* this thread, of those that count a row together */
  int64_t row;
};

/* Waits for the team, a warp or the block. */
template <typename T>
static __device__ __forceinline__ void histogram_meet(const histogram_counter<T> &counter) {
  if (counter.team == blockDim.x)
    __syncthreads();
  else
    __syncwarp();
}

/* The entry of x: a byte's is itself. */
static __device__ __forceinline__ unsigned histogram_entry(const histogram_counter<uint8_t> &, int,
                                                           uint8_t x) {
  return x;
}
static __device__ __forceinline__ unsigned histogram_entry(const histogram_counter<int8_t> &, int,
                                                           int8_t x) {
  return (uint8_t)x;
}
template <typename T>
static __device__ __forceinline__ unsigned histogram_entry(const histogram_counter<T> &counter,
                                                           int way, T x) {
  const histogram_rule rule = histogram_rule_for<T>(counter.job.rule);
  if (way != HISTOGRAM_SEARCH) return histogram_slot(rule, counter.edges, way, x);
  const double number = (double)histogram_value(rule, x);
  const int out = histogram_outside(&rule, number);
  return (unsigned)(out >= 0 ? out : histogram_guided(&rule, counter.edges, counter.guide, number));
}

/* Adds n, which is no more than a tile has elements, to `count` counters of 16 bits. Of additions
 * that follow each other exactly one finds a counter below 2^15 and leaves it above. All are under
 * way before the first one's answer is looked at. */
template <int COUNT, typename T>
static __device__ __forceinline__ void histogram_count_packed(const histogram_counter<T> &counter,
                                                              const unsigned *entries, unsigned n) {
  unsigned was[COUNT], carries = 0;
#pragma unroll
  for (int e = 0; e < COUNT; ++e) {
    const unsigned at = entries[e] - counter.first;
    was[e] = at < counter.entries ? atomicAdd(&counter.shared[at / 2], n << at % 2 * 16) : 0;
  }
#pragma unroll
  for (int e = 0; e < COUNT; ++e) {
    const unsigned at = entries[e] - counter.first;
    carries |= (was[e] + (n << at % 2 * 16)) & ~was[e];
  }
  if ((carries & HISTOGRAM_CARRIES) == 0) return;
  /* Seldom: from memory, so that the loop is not unrolled. */
  unsigned seldom[COUNT], before[COUNT];
#pragma unroll
  for (int e = 0; e < COUNT; ++e) seldom[e] = entries[e], before[e] = was[e];
#pragma unroll 1
  for (int e = 0; e < COUNT; ++e) {
    const unsigned at = seldom[e] - counter.first, half = at % 2 * 16;
    if (at >= counter.entries ||
        ((before[e] + (n << half)) & ~before[e] & HISTOGRAM_CARRY << half) == 0)
      continue;
    atomicSub(&counter.shared[at / 2], HISTOGRAM_CARRY << half);
    histogram_add(counter.job, counter.row, seldom[e], HISTOGRAM_CARRY);
  }
}

/* Counts elements in the result itself. */
template <int COUNT, typename T>
static __device__ __forceinline__ void histogram_count_device(const histogram_counter<T> &counter,
                                                              const unsigned *entries, bool there) {
#pragma unroll
  for (int e = 0; e < COUNT; ++e) {
    const unsigned n = histogram_peers(there ? entries[e] : 0xffffffffu);
    if (there) histogram_add(counter.job, counter.row, entries[e], n);
  }
}

/* Counts elements in this thread's copy. */
template <int COUNT, typename T>
static __device__ __forceinline__ void histogram_count_copied(const histogram_counter<T> &counter,
                                                              const unsigned *entries) {
  /* Values of bytes are too many to be owned. */
  if (sizeof(T) > 1 && counter.table == HISTOGRAM_OWNED) {
#pragma unroll
    for (int e = 0; e < COUNT; ++e) counter.shared[entries[e] * counter.copies + counter.copy] += 1;
  } else {
#pragma unroll
    for (int e = 0; e < COUNT; ++e)
      atomicAdd(&counter.shared[entries[e] * counter.copies + counter.copy], 1u);
  }
}

/* Adds a byte's value to its slot of the table behind that of values: many share one, and results
 * would have as many additions from every block. */
template <typename T>
static __device__ __forceinline__ void histogram_fold(const histogram_counter<T> &counter,
                                                      unsigned entry, unsigned n) {
  unsigned *slots = counter.shared + counter.entries * counter.copies;
  if (n > 0)
    atomicAdd(
        &slots[histogram_slot(counter.job.rule, counter.job.edges, counter.job.rule.way, (T)entry)],
        n);
}

/* Adds the table up: an entry a thread, whose copies it visits from its own on, as neighbours'
 * first ones share a bank; owned ones, of which there are as many as threads, an entry a warp. */
template <typename T>
static __device__ __forceinline__ void histogram_end(const histogram_counter<T> &counter,
                                                     unsigned entry, unsigned n) {
  unsigned slot = counter.first + entry;
  if constexpr (sizeof(T) == 1)
    slot = histogram_slot(counter.job.rule, counter.job.edges, counter.job.rule.way, (T)entry);
  if (counter.job.stores)
    histogram_put(counter.job, counter.row, slot, n);
  else
    histogram_add(counter.job, counter.row, slot, n);
}

template <typename T, bool LARGE>
static __device__ __forceinline__ void histogram_add_up(const histogram_counter<T> &counter) {
  const unsigned copies = counter.copies, slots = (unsigned)counter.job.rule.slots;
  /* Remainders have no slots outside, which are asked for nevertheless. */
  if (counter.job.stores && slots == counter.job.results.bins && counter.member < HISTOGRAM_OUTER)
    histogram_put(counter.job, counter.row, slots + counter.member, 0);
  if constexpr (LARGE) {
    if (counter.table == HISTOGRAM_DEVICE) return;
#pragma unroll 1
    for (unsigned entry = counter.member; entry < counter.entries; entry += counter.team)
      histogram_end(counter, entry, counter.shared[entry / 2] >> entry % 2 * 16 & 0xffffu);
  } else if (counter.table == HISTOGRAM_OWNED) {
#pragma unroll 1
    for (unsigned entry = counter.member / 32; entry < counter.entries;
         entry += counter.team / 32) {
      unsigned n = 0;
      for (unsigned c = counter.member % 32; c < copies; c += 32)
        n += counter.shared[entry * copies + c];
#pragma unroll 1
      for (int s = 16; s > 0; s /= 2) n += __shfl_xor_sync(0xffffffffu, n, s);
      if (counter.member % 32 == 0) histogram_end(counter, entry, n);
    }
  } else {
#pragma unroll 1
    for (unsigned entry = counter.member; entry < counter.entries; entry += counter.team) {
      unsigned n = 0;
      for (unsigned c = 0; c < copies; ++c)
        n += counter.shared[entry * copies + ((c + entry) & (copies - 1))];
      if constexpr (sizeof(T) == 1) {
        if (counter.folded > 0) {
          histogram_fold(counter, entry, n);
          continue;
        }
      }
      histogram_end(counter, entry, n);
    }
    if (sizeof(T) > 1 || counter.folded == 0) return;
    histogram_meet(counter);
#pragma unroll 1
    for (unsigned slot = counter.member; slot < counter.folded; slot += counter.team)
      histogram_add(counter.job, counter.row, slot,
                    counter.shared[counter.entries * copies + slot]);
  }
}

/* ---- the kernel --------------------------------------------------------------------------------
 */

/* The entries of a word's elements. Guesses first; where one of them proves nothing, or where the
 * word before had such (`doubt`), all are compared with edges, side by side. */
template <typename T, int WAY>
static __device__ __forceinline__ void histogram_entries(const histogram_counter<T> &counter,
                                                         const histogram_wide<T> &wide,
                                                         unsigned *entries, bool *doubt) {
  typedef histogram_wide<T> word;
  if constexpr (WAY == HISTOGRAM_WAYS && sizeof(T) > 1) {
    if (counter.way == HISTOGRAM_MODULO) {
      if constexpr (!histogram_type<T>::is_float)
        histogram_entries<T, HISTOGRAM_MODULO>(counter, wide, entries, doubt);
    } else if (counter.way == HISTOGRAM_SINGLE) {
      if constexpr (sizeof(T) <= 4)
        histogram_entries<T, HISTOGRAM_SINGLE>(counter, wide, entries, doubt);
    } else if (counter.way == HISTOGRAM_DOUBLE) {
      histogram_entries<T, HISTOGRAM_DOUBLE>(counter, wide, entries, doubt);
    } else {
      histogram_entries<T, HISTOGRAM_SEARCH>(counter, wide, entries, doubt);
    }
  } else if constexpr (WAY == HISTOGRAM_SINGLE || WAY == HISTOGRAM_DOUBLE) {
    const histogram_rule rule = histogram_rule_for<T>(counter.job.rule);
    const bool plain = WAY == HISTOGRAM_SINGLE && rule.plain;
    bool sure = !*doubt && !plain, held = true;
    if (sure) {
#pragma unroll
      for (int e = 0; e < word::COUNT; ++e)
        sure &= WAY == HISTOGRAM_SINGLE
                    ? histogram_guess(rule, (float)histogram_value(rule, wide.at[e]), &entries[e])
                    : histogram_guess(rule, (double)histogram_value(rule, wide.at[e]), &entries[e]);
    }
    *doubt = !sure;
    if (sure) return;
    if (plain) {
#pragma unroll
      for (int e = 0; e < word::COUNT; ++e)
        entries[e] = histogram_compare_plain(rule, wide.at[e], &held);
    } else {
#pragma unroll
      for (int e = 0; e < word::COUNT; ++e)
        entries[e] = histogram_compare(rule, WAY, wide.at[e], &held);
    }
    if (held) return;
#pragma unroll
    for (int e = 0; e < word::COUNT; ++e)
      entries[e] = histogram_held(rule, histogram_number(rule, wide.at[e]), entries[e]);
  } else {
#pragma unroll
    for (int e = 0; e < word::COUNT; ++e) entries[e] = histogram_entry(counter, WAY, wide.at[e]);
  }
}

/* Counts a word's elements in a packed table, whose counters of 16 bits are not added to by the
 * hardware at once where lanes are in one: a warp whose elements are equal adds them once, a thread
 * too. */
template <int COUNT, typename T>
static __device__ __forceinline__ void histogram_count_equal(const histogram_counter<T> &counter,
                                                             const unsigned *entries, bool there) {
  const unsigned all = 0xffffffffu, first = __shfl_sync(all, entries[0], 0);
  const bool leads = threadIdx.x % 32 == 0, alike = __all_sync(all, there && entries[0] == first);
  bool equal = true;
#pragma unroll
  for (int e = 1; e < COUNT; ++e) equal &= entries[e] == entries[0];
  const bool whole = alike && __all_sync(all, equal);
  if (whole || (equal && !alike)) {
    if (whole ? leads : there)
      histogram_count_packed<1>(counter, entries, whole ? 32 * COUNT : COUNT);
  } else if (alike) {
    unsigned kept[COUNT]; /* in memory: the loop is not unrolled */
#pragma unroll
    for (int e = 0; e < COUNT; ++e) kept[e] = entries[e];
#pragma unroll 1
    for (int e = 0; e < COUNT; ++e) {
      const bool same = __all_sync(all, kept[e] == __shfl_sync(all, kept[e], 0));
      if (!same || leads) histogram_count_packed<1>(counter, &kept[e], same ? 32 : 1);
    }
  } else if (there) {
    histogram_count_packed<COUNT>(counter, entries, 1);
  }
}

/* Counts a word's elements; all lanes of a warp come here together, `there` says which of them has
 * one. It travels as a word, for as elements it would take a register each. */
template <typename T, int WAY, bool LARGE>
static __device__ __forceinline__ void histogram_count_wide(const histogram_counter<T> &counter,
                                                            const uint4 &word, bool there,
                                                            bool *doubt) {
  constexpr int count = histogram_wide<T>::COUNT;
  histogram_wide<T> wide;
  memcpy(&wide, &word, sizeof wide);
  unsigned entries[count];
  histogram_entries<T, WAY>(counter, wide, entries, doubt);
  if constexpr (!LARGE) {
    if (there) histogram_count_copied<count>(counter, entries);
  } else if (counter.table == HISTOGRAM_PACKED) {
    histogram_count_equal<count>(counter, entries, there);
  } else {
    histogram_count_device<count>(counter, entries, there);
  }
}

/* The elements before a row's words and after them, one a thread: fewer than a warp has lanes. */
template <typename T, int WAY, bool LARGE>
static __device__ __forceinline__ void histogram_count_ends(const histogram_counter<T> &counter,
                                                            const T *in, int64_t head,
                                                            int64_t after) {
  const int64_t i = counter.member < head ? counter.member : after + (counter.member - head);
  const bool there = i < counter.job.columns;
  const unsigned entry =
      histogram_entry(counter, WAY == HISTOGRAM_WAYS ? counter.way : WAY, there ? in[i] : T());
  if (LARGE && counter.table == HISTOGRAM_DEVICE)
    histogram_count_device<1>(counter, &entry, there);
  else if (LARGE && there)
    histogram_count_packed<1>(counter, &entry, 1);
  else if (there)
    histogram_count_copied<1>(counter, &entry);
}

/* A part of a row: its share of the tiles of 16-byte words, and of part 0 the elements before and
 * after them. */
template <typename T, int WAY, bool LARGE>
static __device__ __forceinline__ void histogram_count_part(const histogram_counter<T> &counter,
                                                            int64_t part, int loads) {
  const histogram_job<T> &job = counter.job;
  const T *in = job.in + counter.row * job.in_row;
  const int64_t before = (int64_t)((16 - (uintptr_t)in % 16) % 16 / sizeof(T));
  const int64_t head = before < job.columns ? before : job.columns;
  const int64_t words = (job.columns - head) / histogram_wide<T>::COUNT;
  const int team = (int)counter.team, member = (int)counter.member, tile = team * loads;
  const uint4 *at = (const uint4 *)(in + head) + part * tile + member;
  for (int64_t left = words - part * tile; left > 0;
       left -= job.parts * tile, at += job.parts * tile) {
    bool doubt = false;
    if (!LARGE && loads == HISTOGRAM_LOADS && left >= tile) {
      uint4 loaded[HISTOGRAM_LOADS];
#pragma unroll
      for (int u = 0; u < HISTOGRAM_LOADS; ++u) loaded[u] = at[u * team];
#pragma unroll 1
      for (int u = 0; u < HISTOGRAM_LOADS; u += 2) { /* short code, of two words a turn */
        histogram_count_wide<T, WAY, LARGE>(counter, loaded[0], true, &doubt);
        histogram_count_wide<T, WAY, LARGE>(counter, loaded[1], true, &doubt);
        loaded[0] = loaded[2];
        loaded[1] = loaded[3];
      }
    } else {
      const int here = left < tile ? (int)left : tile;
      uint4 next = {};
      if (member < here) next = *at;
#pragma unroll 1
      for (int i = 0; i < here; i += team) {
        const uint4 last = next;
        if (i + team + member < here) next = at[i + team];
        histogram_count_wide<T, WAY, LARGE>(counter, last, i + member < here, &doubt);
      }
    }
    if (LARGE && counter.table == HISTOGRAM_PACKED) __syncthreads();
  }
  if (part == 0)
    histogram_count_ends<T, WAY, LARGE>(counter, in, head, head + words * histogram_wide<T>::COUNT);
}

/* Edges and guide into shared memory. */
template <typename T>
static __device__ __forceinline__ void histogram_copy_near(histogram_counter<T> &counter,
                                                           const histogram_plan &plan) {
  const histogram_rule &rule = counter.job.rule;
  double *edges = (double *)((char *)counter.shared + plan.table_bytes);
  uint32_t *guide = (uint32_t *)(edges + plan.near_edges);
#pragma unroll 1
  for (int k = (int)threadIdx.x; k < plan.near_edges; k += (int)blockDim.x)
    edges[k] = counter.edges[k];
#pragma unroll 1
  for (int c = (int)threadIdx.x; c <= rule.cells; c += (int)blockDim.x) guide[c] = plan.guide[c];
  counter.edges = edges;
  counter.guide = guide;
  __syncthreads();
}

static __global__ void histogram_guide_kernel(histogram_rule rule, const double *edges,
                                              uint32_t *guide) {
  rung_let_next_begin();
  const int step = (int)(gridDim.x * blockDim.x);
#pragma unroll 1
  for (int c = (int)(blockIdx.x * blockDim.x + threadIdx.x); c <= rule.cells; c += step)
    guide[c] = (uint32_t)histogram_guide_at(&rule, edges, c);
}

template <typename T, int WAY, bool LARGE>
static __global__ void __launch_bounds__(1024)
    histogram_vector_kernel(histogram_job<T> job, histogram_plan plan) {
  RUNG_DYNAMIC_SHARED(unsigned, shared);
  rung_await_before();
  histogram_counter<T> counter = {job, shared, job.edges, plan.guide};
  counter.table = plan.table;
  counter.way = plan.way;
  counter.copies = plan.copies;
  counter.folded = plan.folded;
  counter.entries = plan.entries;
  counter.team = plan.team;
  counter.member = threadIdx.x % plan.team;
  counter.copy =
      plan.table == HISTOGRAM_OWNED ? counter.member : counter.member & (plan.copies - 1);
  if (plan.near_edges > 0) histogram_copy_near(counter, plan);
  counter.shared = shared + threadIdx.x / plan.team * plan.words;
  const int64_t jobs = job.rows * job.parts * plan.windows, teams = blockDim.x / plan.team;
  for (int64_t at = blockIdx.x * teams + threadIdx.x / plan.team; at < jobs;
       at += gridDim.x * teams) {
    const int64_t rest = at / plan.windows;
    counter.first = (unsigned)(at % plan.windows) * plan.entries;
    counter.row = rest / job.parts;
    if (LARGE && plan.table == HISTOGRAM_PACKED) { /* the last one may be smaller */
      const unsigned left = (unsigned)job.rule.slots - counter.first;
      counter.entries = left < plan.entries ? left : plan.entries;
    }
    if (!LARGE || plan.table != HISTOGRAM_DEVICE) {
#pragma unroll 1
      for (unsigned i = counter.member; i < plan.words; i += counter.team) counter.shared[i] = 0;
      histogram_meet(counter);
    }
    histogram_count_part<T, WAY, LARGE>(counter, rest % job.parts, plan.loads);
    histogram_meet(counter);
    histogram_add_up<T, LARGE>(counter);
    histogram_meet(counter);
  }
}

/* The slot of x by a way that is known as late as x is. */
template <typename T>
static __device__ RUNG_ASIDE unsigned histogram_slot_late(const histogram_job<T> &job, T x) {
  return histogram_slot(job.rule, job.edges, job.rule.way, x);
}

/* Few elements take less time than it takes to bring the kernel above, which is code for many, from
 * memory: this one is short. A table a block, and two elements a thread. Blocks that share a row
 * add their tables up in `zeros`, and the last of them stores what came out, so that nothing need
 * be cleared before: of each row a count of blocks, then each row's counts. */
template <typename T>
static __global__ void __launch_bounds__(1024)
    histogram_brief_kernel(histogram_job<T> job, unsigned *zeros) {
  RUNG_DYNAMIC_SHARED(unsigned, shared);
  const int slots = job.rule.slots;
  const int64_t row = blockIdx.x / job.parts, step = job.parts * blockDim.x;
  const T *in = job.in + row * job.in_row;
#pragma unroll 1
  for (int slot = (int)threadIdx.x; slot < slots; slot += (int)blockDim.x) shared[slot] = 0;
  __syncthreads();
#pragma unroll 1
  for (int64_t i = blockIdx.x % job.parts * blockDim.x + threadIdx.x; i < job.columns;
       i += 2 * step) {
    const bool two = i + step < job.columns;
    const T one = in[i], other = two ? in[i + step] : one;
    atomicAdd(&shared[histogram_slot_late(job, one)], 1u);
    if (two) atomicAdd(&shared[histogram_slot_late(job, other)], 1u);
  }
  __syncthreads();
  unsigned *counted = shared;
  if (job.parts > 1) {
    counted = zeros + job.rows + row * slots;
#pragma unroll 1
    for (int slot = (int)threadIdx.x; slot < slots; slot += (int)blockDim.x)
      if (shared[slot] > 0) atomicAdd(&counted[slot], shared[slot]);
    if (!rung_is_last(&zeros[row], job.parts)) return;
  }
  const int all = (int)job.results.bins + HISTOGRAM_OUTER;
#pragma unroll 1
  for (int slot = (int)threadIdx.x; slot < all; slot += (int)blockDim.x) {
    histogram_put(job, row, (unsigned)slot, slot < slots ? counted[slot] : 0);
    if (job.parts > 1 && slot < slots) counted[slot] = 0;
  }
}

/* ---- launching ---------------------------------------------------------------------------------
 */

/* Threads a block: fewer where more blocks would have nothing to do, or more where one is alone. */
static int histogram_threads_for(const histogram_problem *problem, const rung_device *device,
                                 bool stores) {
  const int64_t words = problem->columns * (int64_t)rung_dtype_bytes(problem->dtype) / 16;
  int threads = stores && problem->rows < device->processors ? HISTOGRAM_ALONE_BLOCK
                                                             : (int)HISTOGRAM_WIDE_BLOCK;
  const int64_t busy = stores ? 1 : (device->processors + problem->rows - 1) / problem->rows;
  while (threads > HISTOGRAM_LEAST_BLOCK && words < threads * busy) threads /= 2;
  return threads;
}

template <typename T>
static rung_status histogram_launch_brief(const rung_task *task, histogram_job<T> job) {
  const int64_t half = (job.columns + 1) / 2;
  const int threads = half >= 1024 ? 1024 : (int)((half + 31) / 32 * 32);
  job.parts = histogram_brief_parts((const histogram_problem *)task->problem);
  RUNG_LAUNCH(task, (histogram_brief_kernel<T>), (unsigned)(job.rows * job.parts),
              (unsigned)threads, (size_t)job.rule.slots * sizeof(unsigned), job,
              (unsigned *)task->zeros);
  return RUNG_OK;
}

/* Whether rows are left to one block each: there are many, or these are short. */
static bool histogram_alone(const histogram_problem *problem, const rung_device *device) {
  const bool mapped = histogram_by_value(problem) && problem->kind != RUNG_BINS_BYTES;
  if (mapped || problem->columns == 0 || problem->columns > problem->flush) return false;
  return problem->columns * (int64_t)rung_dtype_bytes(problem->dtype) <= HISTOGRAM_ALONE_BYTES ||
         problem->rows >= 16 * (int64_t)device->processors;
}

/* Whether there are so many rows that every warp gets some, and of tables so small that as many
 * warps are there as can be. */
static bool histogram_rows_to_warps(const histogram_problem *problem, const rung_device *device) {
  return problem->rows >= 32 * (int64_t)device->processors &&
         rung_dtype_bytes(problem->dtype) > 1 &&
         problem->rule.slots * (int64_t)sizeof(unsigned) <= HISTOGRAM_WARP_TABLE &&
         (problem->rule.way != HISTOGRAM_SEARCH || problem->rule.plain);
}

static histogram_plan histogram_plan_of(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const histogram_rule *rule = &problem->rule;
  const int64_t word = (int64_t)sizeof(unsigned);
  int64_t limit = task->device->shared_bytes;
  const int warps = task->block / 32 > 0 ? task->block / 32 : 1;
  histogram_plan plan = {};
  plan.stores = histogram_alone(problem, task->device);
  const bool by_warps =
      task->block == 0 && plan.stores && histogram_rows_to_warps(problem, task->device);
  if (by_warps) limit = HISTOGRAM_WARP_TABLE;
  plan.threads = task->block > 0 ? warps * 32
                 : by_warps      ? HISTOGRAM_WARPS_BLOCK
                                 : histogram_threads_for(problem, task->device, plan.stores);
  plan.team = by_warps ? 32u : (unsigned)plan.threads;
  plan.entries = histogram_by_value(problem) ? 256u : (unsigned)problem->rule.slots;
  plan.windows = 1;
  if (rule->way == HISTOGRAM_SEARCH && !rule->plain && !histogram_by_value(problem)) {
    const int64_t near = (rule->bins + 1) * (int64_t)sizeof(double) + (rule->cells + 1) * word;
    plan.guide = (const uint32_t *)task->scratch;
    if (near <= HISTOGRAM_NEAR_BYTES && near < limit / 2 && !rule->even) {
      plan.near_edges = rule->bins + 1;
      limit -= (near + 15) / 16 * 16;
    }
  }
  const int64_t windows = (plan.entries * word / 2 + limit - 1) / limit;
  /* Elements that a block counts, about. */
  const int64_t least = plan.team * (int64_t)(16 / rung_dtype_bytes(problem->dtype)),
                tiles = (problem->columns + least - 1) / least,
                busy = (2 * task->device->processors + problem->rows - 1) / problem->rows,
                share = problem->columns / (plan.stores    ? 1
                                            : tiles < busy ? tiles + 1
                                                           : busy);
  if (plan.entries <= HISTOGRAM_OWN_SLOTS && plan.entries * plan.team * word <= limit &&
      plan.entries * plan.team * HISTOGRAM_PAYING <= share) {
    plan.table = HISTOGRAM_OWNED;
    plan.copies = plan.team;
  } else if (plan.entries * word <= limit &&
             (plan.stores || histogram_by_value(problem) || problem->columns > HISTOGRAM_BRIEF ||
              plan.entries <= HISTOGRAM_PAYING * share)) {
    plan.table = HISTOGRAM_COPIED;
    plan.copies = (unsigned)histogram_copies(plan.entries, limit);
    while (plan.copies > 1 && plan.entries * plan.copies * HISTOGRAM_PAYING > share)
      plan.copies /= 2;
  } else if (windows <= HISTOGRAM_MOST_WINDOWS &&
             problem->columns >= HISTOGRAM_MOST_DIRECT * (int64_t)plan.entries) {
    plan.table = HISTOGRAM_PACKED;
    plan.copies = 1;
    plan.windows = (int)windows;
    plan.entries = (unsigned)((plan.entries + 2 * windows - 1) / (2 * windows) * 2);
  } else {
    plan.table = HISTOGRAM_DEVICE;
    plan.copies = 1;
  }
  if (plan.table != HISTOGRAM_DEVICE)
    plan.words = plan.table == HISTOGRAM_PACKED ? plan.entries / 2 : plan.entries * plan.copies;
  if (histogram_by_value(problem) && problem->kind != RUNG_BINS_BYTES &&
      rule->slots <= (int)plan.entries)
    plan.folded = (unsigned)rule->slots;
  plan.words += plan.folded;
  plan.words = (plan.words + 1) / 2 * 2;
  plan.table_bytes = plan.words * sizeof(unsigned) * ((unsigned)plan.threads / plan.team);
  plan.shared_bytes = plan.table_bytes;
  if (plan.near_edges > 0)
    plan.shared_bytes +=
        (size_t)plan.near_edges * sizeof(double) + (size_t)(rule->cells + 1) * sizeof(uint32_t);
  plan.stores &= plan.table == HISTOGRAM_OWNED || plan.table == HISTOGRAM_COPIED;
  /* A block that a multiprocessor has room for once only should fill it. */
  if (task->block == 0 && !by_warps && plan.table != HISTOGRAM_OWNED &&
      2 * (int64_t)plan.shared_bytes > task->device->shared_processor_bytes) {
    plan.threads = 1024;
    plan.team = 1024;
  }
  return plan;
}

template <typename T, int WAY, bool LARGE>
static rung_status histogram_launch(const rung_task *task, histogram_job<T> job,
                                    histogram_plan plan) {
  const int64_t least = (int64_t)plan.team * histogram_wide<T>::COUNT;
  const int64_t tiles = (job.columns + least - 1) / least;
  int resident = 0;
  RUNG_ALLOW_SHARED(task, (histogram_vector_kernel<T, WAY, LARGE>), plan.shared_bytes);
  RUNG_RESIDENT_BLOCKS(task, (histogram_vector_kernel<T, WAY, LARGE>), plan.threads,
                       plan.shared_bytes, &resident);
  const int64_t busy = (int64_t)task->device->processors * (resident > 0 ? resident : 1);
  job.parts = busy / (job.rows * plan.windows);
  if (job.parts > tiles) job.parts = tiles;
  if (job.parts < 1 || job.stores) job.parts = 1;
  const int64_t loads = tiles / job.parts;
  plan.loads = loads < 1 ? 1 : loads < HISTOGRAM_LOADS ? (int)loads : HISTOGRAM_LOADS;
  const int64_t teams = plan.threads / (int)plan.team;
  RUNG_LAUNCH_NEXT(task, (histogram_vector_kernel<T, WAY, LARGE>),
                   histogram_grid((job.rows * job.parts * plan.windows + teams - 1) / teams, busy),
                   (unsigned)plan.threads, plan.shared_bytes, job, plan);
  return RUNG_OK;
}

template <typename T>
static rung_status histogram_write_guide(const rung_task *task, const histogram_job<T> &job) {
  const int block = 256, cells = job.rule.cells + 1;
  RUNG_LAUNCH(task, histogram_guide_kernel, (unsigned)((cells + block - 1) / block), block, 0,
              job.rule, job.edges, (uint32_t *)task->scratch);
  return RUNG_OK;
}

template <typename T, int WAY>
static rung_status histogram_launch_table(const rung_task *task, const histogram_job<T> &job) {
  histogram_plan plan = histogram_plan_of(task);
  plan.way = WAY;
  if (plan.guide != NULL) {
    const rung_status status = histogram_write_guide(task, job);
    if (status != RUNG_OK) return status;
  }
  if (plan.table == HISTOGRAM_OWNED || plan.table == HISTOGRAM_COPIED)
    return histogram_launch<T, WAY, false>(task, job, plan);
  return histogram_launch<T, HISTOGRAM_WAYS, true>(task, job, plan);
}

/* Whether to go by floats: where edges are plain, or few guesses are in doubt. One in a hundred
 * elements would make most words of a warp wait; a guess in double is not so much dearer. */
static bool histogram_single(const histogram_rule &rule) {
  return rule.plain || (rule.way == HISTOGRAM_SINGLE && rule.within_f >= 0.499f);
}

/* The ways that elements of a type can have. */
struct histogram_vector_rung {
  static bool stores(const rung_task *task) {
    return histogram_is_brief(task) || histogram_plan_of(task).stores;
  }
  template <typename T>
  static rung_status launch(const rung_task *task, const histogram_job<T> &job) {
    const bool is_float = histogram_type<T>::is_float;
    if (histogram_is_brief(task)) return histogram_launch_brief(task, job);
    if constexpr (sizeof(T) == 1)
      return histogram_launch<T, HISTOGRAM_WAYS, false>(task, job, histogram_plan_of(task));
    if constexpr (sizeof(T) > 1 && !is_float)
      if (job.rule.way == HISTOGRAM_MODULO)
        return histogram_launch_table<T, HISTOGRAM_MODULO>(task, job);
    if constexpr (sizeof(T) > 1 && sizeof(T) <= 4)
      if (histogram_single(job.rule)) return histogram_launch_table<T, HISTOGRAM_SINGLE>(task, job);
    if constexpr (sizeof(T) > 1) {
      if (job.rule.way == HISTOGRAM_DOUBLE || job.rule.way == HISTOGRAM_SINGLE)
        return histogram_launch_table<T, HISTOGRAM_DOUBLE>(task, job);
      return histogram_launch_table<T, HISTOGRAM_SEARCH>(task, job);
    }
  }
};

extern "C" rung_status RUNG_ENTRY(histogram_vector)(const rung_task *task) {
  return histogram_by_type<histogram_vector_rung>(task);
}
