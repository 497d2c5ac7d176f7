/* The limit: few blocks that stay, each with a table of its own for all it reads, four loads of 16
 * bytes under way in every thread, and the table that suits the number of slots:
 *
 *   owned     few slots: a counter for every thread, which needs no atomics: what a thread owns
 *             nobody else touches, and neighbours' counters lie in neighbouring banks
 *   copies    as many copies of each counter as fit, at most one for every lane of a warp, as in
 *             `replicated`
 *   window    more slots than fit: blocks that see all elements and count a part of the slots each;
 *             those that read the same elements are neighbours and run at the same time
 *   device    far more than fit: the result itself, after equal slots of a warp were merged
 *
 * A search goes by a guide, which a kernel of its own writes before; edges and guide are kept in
 * shared memory beside the table, where they are not too long.
 *
 * Bytes are counted by value, 256 of them whatever the bins are; a value's slot is asked for once,
 * at the end. A block size is taken as whole warps, rounded down, at least one. */
#include "ops/histogram/cuda/aggregated.cuh"
#include "ops/histogram/cuda/copies.h"

enum histogram_table { HISTOGRAM_OWNED, HISTOGRAM_COPIED, HISTOGRAM_WINDOW, HISTOGRAM_DEVICE };

/* Slots that are owned by threads; windows that are worth reading everything again for. */
enum { HISTOGRAM_OWN_SLOTS = 32, HISTOGRAM_MOST_WINDOWS = 4 };

/* So many bytes of edges and guide are kept in shared memory. */
enum { HISTOGRAM_NEAR_BYTES = 48 << 10 };

/* Loads of 16 bytes that a thread has under way. */
enum { HISTOGRAM_LOADS = 4 };

struct histogram_plan {
  histogram_table table;
  int threads;
  unsigned entries; /* of the table: slots of a window, or values of a byte */
  unsigned copies;  /* of an entry: a power of two, or as many as threads */
  int windows;
  const uint32_t *guide; /* of a search, or NULL */
  int near_edges;        /* edges kept in shared memory with the guide, after the table; 0: none */
  size_t table_bytes, shared_bytes;
};

template <typename T>
struct __align__(16) histogram_wide {
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
  unsigned copy, copies;   /* this thread's, and how many there are */
  unsigned first, entries; /* the window's */
  int64_t row;
};

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

/* Counts x; all lanes of a warp come here together, `there` says which of them has an element. */
template <typename T, int WAY, histogram_table TABLE>
static __device__ __forceinline__ void histogram_count(const histogram_counter<T> &counter, T x,
                                                       bool there) {
  const int way = WAY == HISTOGRAM_WAYS ? counter.job.rule.way : WAY;
  const unsigned entry = histogram_entry(counter, way, x);
  if (TABLE == HISTOGRAM_DEVICE) {
    const unsigned n = histogram_peers(there ? entry : 0xffffffffu);
    if (there) histogram_add(counter.job, counter.row, entry, n);
  } else if (TABLE == HISTOGRAM_WINDOW) {
    const unsigned at = entry - counter.first;
    if (there && at < counter.entries) atomicAdd(&counter.shared[at], 1u);
  } else if (there) {
    unsigned *at = &counter.shared[entry * counter.copies + counter.copy];
    if (TABLE == HISTOGRAM_OWNED)
      *at += 1;
    else
      atomicAdd(at, 1u);
  }
}

/* Adds the table up: an entry a thread, whose copies it visits from its own on, as neighbours'
 * first ones share a bank; owned ones, of which there are as many as threads, an entry a warp. */
template <typename T>
static __device__ __forceinline__ void histogram_end(const histogram_counter<T> &counter,
                                                     unsigned entry, unsigned n) {
  unsigned slot = counter.first + entry;
  if constexpr (sizeof(T) == 1)
    slot = histogram_slot(counter.job.rule, counter.job.edges, counter.job.rule.way, (T)entry);
  histogram_add(counter.job, counter.row, slot, n);
}

template <typename T, histogram_table TABLE>
static __device__ __forceinline__ void histogram_add_up(const histogram_counter<T> &counter) {
  const unsigned copies = counter.copies;
  if constexpr (TABLE == HISTOGRAM_OWNED) {
    for (unsigned entry = threadIdx.x / 32; entry < counter.entries; entry += blockDim.x / 32) {
      unsigned n = 0;
      for (unsigned c = threadIdx.x % 32; c < copies; c += 32)
        n += counter.shared[entry * copies + c];
      for (int s = 16; s > 0; s /= 2) n += __shfl_xor_sync(0xffffffffu, n, s);
      if (threadIdx.x % 32 == 0) histogram_end(counter, entry, n);
    }
  } else if constexpr (TABLE != HISTOGRAM_DEVICE) {
    for (unsigned entry = threadIdx.x; entry < counter.entries; entry += blockDim.x) {
      unsigned n = 0;
      for (unsigned c = 0; c < copies; ++c)
        n += counter.shared[entry * copies + ((c + entry) & (copies - 1))];
      histogram_end(counter, entry, n);
    }
  }
}

/* ---- the kernel --------------------------------------------------------------------------------
 */

template <typename T, int WAY, histogram_table TABLE>
static __device__ __forceinline__ void histogram_count_wide(const histogram_counter<T> &counter,
                                                            const histogram_wide<T> &wide,
                                                            bool there) {
#pragma unroll
  for (int e = 0; e < histogram_wide<T>::COUNT; ++e)
    histogram_count<T, WAY, TABLE>(counter, wide.at[e], there);
}

/* A part of a row: its share of the tiles of 16-byte words, and of part 0 the elements before and
 * after them. */
template <typename T, int WAY, histogram_table TABLE>
static __device__ __forceinline__ void histogram_count_part(const histogram_counter<T> &counter,
                                                            int64_t part) {
  typedef histogram_wide<T> wide;
  const histogram_job<T> &job = counter.job;
  const T *in = job.in + counter.row * job.in_row;
  const int64_t before = (int64_t)((16 - (uintptr_t)in % 16) % 16 / sizeof(T));
  const int64_t head = before < job.columns ? before : job.columns;
  const int64_t words = (job.columns - head) / wide::COUNT;
  const wide *from = (const wide *)(in + head);
  const int64_t tile = (int64_t)blockDim.x * HISTOGRAM_LOADS;
  for (int64_t first = part * tile; first < words; first += job.parts * tile) {
    const int64_t own = first + threadIdx.x;
    wide loaded[HISTOGRAM_LOADS];
    if (first + tile <= words) {
#pragma unroll
      for (int u = 0; u < HISTOGRAM_LOADS; ++u) loaded[u] = from[own + u * (int64_t)blockDim.x];
#pragma unroll
      for (int u = 0; u < HISTOGRAM_LOADS; ++u)
        histogram_count_wide<T, WAY, TABLE>(counter, loaded[u], true);
    } else {
#pragma unroll 1
      for (int64_t i = own; i - threadIdx.x < words; i += blockDim.x) {
        wide last = {};
        if (i < words) last = from[i];
        histogram_count_wide<T, WAY, TABLE>(counter, last, i < words);
      }
    }
  }
  if (part != 0) return;
  const int64_t after = head + words * wide::COUNT;
  const bool in_head = threadIdx.x < head, in_tail = threadIdx.x < job.columns - after;
  histogram_count<T, WAY, TABLE>(counter, in_head ? in[threadIdx.x] : T(), in_head);
  histogram_count<T, WAY, TABLE>(counter, in_tail ? in[after + threadIdx.x] : T(), in_tail);
}

/* Edges and guide into shared memory. */
template <typename T>
static __device__ __forceinline__ void histogram_copy_near(histogram_counter<T> &counter,
                                                           const histogram_plan &plan) {
  const histogram_rule &rule = counter.job.rule;
  double *edges = (double *)((char *)counter.shared + plan.table_bytes);
  uint32_t *guide = (uint32_t *)(edges + plan.near_edges);
  for (int k = (int)threadIdx.x; k < plan.near_edges; k += (int)blockDim.x)
    edges[k] = counter.edges[k];
  for (int c = (int)threadIdx.x; c <= rule.cells; c += (int)blockDim.x) guide[c] = plan.guide[c];
  counter.edges = edges;
  counter.guide = guide;
  __syncthreads();
}

static __global__ void histogram_guide_kernel(histogram_rule rule, const double *edges,
                                              uint32_t *guide) {
  const int step = (int)(gridDim.x * blockDim.x);
  for (int c = (int)(blockIdx.x * blockDim.x + threadIdx.x); c <= rule.cells; c += step)
    guide[c] = (uint32_t)histogram_guide_at(&rule, edges, c);
}

template <typename T, int WAY, histogram_table TABLE>
static __global__ void __launch_bounds__(1024)
    histogram_vector_kernel(histogram_job<T> job, histogram_plan plan) {
  RUNG_DYNAMIC_SHARED(unsigned, shared);
  histogram_counter<T> counter = {job, shared, job.edges, plan.guide};
  counter.copies = plan.copies;
  counter.entries = plan.entries;
  counter.copy = TABLE == HISTOGRAM_OWNED ? threadIdx.x : threadIdx.x & (plan.copies - 1);
  if (plan.near_edges > 0) histogram_copy_near(counter, plan);
  const int64_t jobs = job.rows * job.parts * plan.windows;
  for (int64_t at = blockIdx.x; at < jobs; at += gridDim.x) {
    const int64_t rest = at / plan.windows;
    counter.first = (unsigned)(at % plan.windows) * plan.entries;
    counter.row = rest / job.parts;
    if (TABLE == HISTOGRAM_WINDOW) { /* the last one may be smaller */
      const unsigned left = (unsigned)job.rule.slots - counter.first;
      counter.entries = left < plan.entries ? left : plan.entries;
    }
    if (TABLE != HISTOGRAM_DEVICE) {
      for (unsigned i = threadIdx.x; i < plan.entries * plan.copies; i += blockDim.x) shared[i] = 0;
      __syncthreads();
    }
    histogram_count_part<T, WAY, TABLE>(counter, rest % job.parts);
    __syncthreads();
    histogram_add_up<T, TABLE>(counter);
    __syncthreads();
  }
}

/* ---- launching ---------------------------------------------------------------------------------
 */

static histogram_plan histogram_plan_of(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const histogram_rule *rule = &problem->rule;
  const int64_t word = (int64_t)sizeof(unsigned);
  int64_t limit = task->device->shared_bytes;
  const int warps = task->block / 32 > 0 ? task->block / 32 : 1;
  histogram_plan plan = {};
  plan.threads = task->block > 0 ? warps * 32 : HISTOGRAM_WIDE_BLOCK;
  plan.entries = histogram_by_value(problem) ? 256u : (unsigned)problem->rule.slots;
  plan.windows = 1;
  if (rule->way == HISTOGRAM_SEARCH && !histogram_by_value(problem)) {
    const int64_t near = (rule->bins + 1) * (int64_t)sizeof(double) + (rule->cells + 1) * word;
    plan.guide = (const uint32_t *)task->scratch;
    if (near <= HISTOGRAM_NEAR_BYTES && near < limit / 2 && !rule->even) {
      plan.near_edges = rule->bins + 1;
      limit -= (near + 15) / 16 * 16;
    }
  }
  const int64_t windows = (plan.entries * word + limit - 1) / limit;
  if (plan.entries <= HISTOGRAM_OWN_SLOTS && plan.entries * plan.threads * word <= limit) {
    plan.table = HISTOGRAM_OWNED;
    plan.copies = (unsigned)plan.threads;
  } else if (windows == 1) {
    plan.table = HISTOGRAM_COPIED;
    plan.copies = (unsigned)histogram_copies(plan.entries, limit);
  } else if (windows <= HISTOGRAM_MOST_WINDOWS) {
    plan.table = HISTOGRAM_WINDOW;
    plan.copies = 1;
    plan.windows = (int)windows;
    plan.entries = (unsigned)((plan.entries + windows - 1) / windows);
  } else {
    plan.table = HISTOGRAM_DEVICE;
    plan.copies = 1;
  }
  if (plan.table != HISTOGRAM_DEVICE)
    plan.table_bytes = ((size_t)plan.entries * plan.copies * sizeof(unsigned) + 7) / 8 * 8;
  plan.shared_bytes = plan.table_bytes;
  if (plan.near_edges > 0)
    plan.shared_bytes +=
        (size_t)plan.near_edges * sizeof(double) + (size_t)(rule->cells + 1) * sizeof(uint32_t);
  /* A block that a multiprocessor has room for once only should fill it. */
  if (task->block == 0 && 2 * (int64_t)plan.shared_bytes > task->device->shared_processor_bytes)
    plan.threads = 1024;
  return plan;
}

template <typename T, int WAY, histogram_table TABLE>
static rung_status histogram_launch(const rung_task *task, histogram_job<T> job,
                                    const histogram_plan &plan) {
  const int64_t tile = (int64_t)plan.threads * HISTOGRAM_LOADS * histogram_wide<T>::COUNT;
  const int64_t tiles = (job.columns + tile - 1) / tile;
  int resident = 0;
  RUNG_ALLOW_SHARED(task, (histogram_vector_kernel<T, WAY, TABLE>), plan.shared_bytes);
  RUNG_RESIDENT_BLOCKS(task, (histogram_vector_kernel<T, WAY, TABLE>), plan.threads,
                       plan.shared_bytes, &resident);
  const int64_t busy = (int64_t)task->device->processors * (resident > 0 ? resident : 1);
  job.parts = busy / (job.rows * plan.windows);
  if (job.parts > tiles) job.parts = tiles;
  if (job.parts < 1) job.parts = 1;
  RUNG_LAUNCH(task, (histogram_vector_kernel<T, WAY, TABLE>),
              histogram_grid(job.rows * job.parts * plan.windows, busy), (unsigned)plan.threads,
              plan.shared_bytes, job, plan);
  return RUNG_OK;
}

template <typename T>
static rung_status histogram_write_guide(const rung_task *task, const histogram_job<T> &job) {
  const int block = 256, cells = job.rule.cells + 1;
  RUNG_LAUNCH(task, histogram_guide_kernel, (unsigned)((cells + block - 1) / block), block, 0,
              job.rule, job.edges, (uint32_t *)task->scratch);
  return RUNG_OK;
}

/* Few slots' tables are compiled for every way, windows for remainders, which are soon found; the
 * others ask for the way element by element. */
template <typename T, int WAY>
static rung_status histogram_launch_table(const rung_task *task, const histogram_job<T> &job) {
  const histogram_plan plan = histogram_plan_of(task);
  if (plan.guide != NULL) {
    const rung_status status = histogram_write_guide(task, job);
    if (status != RUNG_OK) return status;
  }
  if (plan.table == HISTOGRAM_OWNED)
    return histogram_launch<T, WAY, HISTOGRAM_OWNED>(task, job, plan);
  if (plan.table == HISTOGRAM_COPIED)
    return histogram_launch<T, WAY, HISTOGRAM_COPIED>(task, job, plan);
  if (plan.table == HISTOGRAM_WINDOW)
    return histogram_launch < T, WAY == HISTOGRAM_MODULO ? WAY : HISTOGRAM_WAYS,
           HISTOGRAM_WINDOW > (task, job, plan);
  return histogram_launch<T, HISTOGRAM_WAYS, HISTOGRAM_DEVICE>(task, job, plan);
}

/* The ways that elements of a type can have. */
struct histogram_vector_rung {
  template <typename T>
  static rung_status launch(const rung_task *task, const histogram_job<T> &job) {
    const bool is_float = histogram_type<T>::is_float;
    if constexpr (sizeof(T) == 1)
      return histogram_launch<T, HISTOGRAM_WAYS, HISTOGRAM_COPIED>(task, job,
                                                                   histogram_plan_of(task));
    if constexpr (sizeof(T) > 1 && !is_float)
      if (job.rule.way == HISTOGRAM_MODULO)
        return histogram_launch_table<T, HISTOGRAM_MODULO>(task, job);
    if constexpr (sizeof(T) > 1 && sizeof(T) <= 4)
      if (job.rule.way == HISTOGRAM_SINGLE)
        return histogram_launch_table<T, HISTOGRAM_SINGLE>(task, job);
    if constexpr (sizeof(T) > 1) {
      if (job.rule.way == HISTOGRAM_DOUBLE)
        return histogram_launch_table<T, HISTOGRAM_DOUBLE>(task, job);
      return histogram_launch_table<T, HISTOGRAM_SEARCH>(task, job);
    }
  }
};

extern "C" rung_status RUNG_ENTRY(histogram_vector)(const rung_task *task) {
  return histogram_by_type<histogram_vector_rung>(task);
}
