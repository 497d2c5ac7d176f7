/* The textbook's four steps, for lines of any length: blocks scan their parts, leave the parts'
 * totals, those are scanned by the same rule, and what comes before a part is added to it. */
#ifndef RUNG_SCAN_CUDA_STEPS_CUH
#define RUNG_SCAN_CUDA_STEPS_CUH

#include "ops/scan/cuda/operators.cuh"

/* One launch of block scans: every line cut into `parts` of `size` elements. */
template <typename S>
struct scan_level {
  scan_lines<S> lines;
  typename S::value *totals; /* (lines, parts), where there is more than one part */
  int64_t parts, size;
};

/* A block's part: what of it there is. */
template <typename S>
struct scan_part {
  const typename S::in *in;
  typename S::in *out;
  int64_t count;
  bool begins; /* it is its line's first */
};

template <typename S>
__device__ __forceinline__ scan_part<S> scan_part_of(const scan_level<S> &level, int64_t job) {
  const int64_t line = level.parts == 1 ? job : job / level.parts;
  const int64_t first = (job - line * level.parts) * level.size;
  const int64_t left = level.lines.columns - first;
  scan_part<S> part;
  part.in = level.lines.in + line * level.lines.in_pitch + first;
  part.out = level.lines.out + line * level.lines.out_pitch + first;
  part.count = left < level.size ? left : level.size;
  part.begins = first == 0;
  return part;
}

/* Element i of a part as a number; beyond the part's end the identity. */
template <typename S>
__device__ __forceinline__ typename S::value scan_element(const scan_level<S> &level,
                                                          const scan_part<S> &part, int64_t i) {
  return i < part.count ? S::load(part.in[i], level.lines.key) : S::identity();
}

/* And the result of element i, from what its part comes to before it and with it. */
template <typename S>
__device__ __forceinline__ void scan_put(const scan_level<S> &level, const scan_part<S> &part,
                                         int64_t i, typename S::value before,
                                         typename S::value with) {
  if (i >= part.count) return;
  const bool exclusive = level.lines.exclusive;
  part.out[i] = exclusive && part.begins && i == 0
                    ? S::empty(level.lines.key)
                    : S::store(exclusive ? before : with, level.lines.key);
}

/* The last step, a block a part. The first part of a line has nothing before it. */
template <typename S>
static __global__ void scan_add_back(scan_level<S> level) {
  for (int64_t job = blockIdx.x; job < level.lines.lines * level.parts; job += gridDim.x) {
    const scan_part<S> part = scan_part_of(level, job);
    if (part.begins) continue;
    const typename S::value before = level.totals[job - 1];
    for (int64_t i = threadIdx.x; i < part.count; i += blockDim.x)
      part.out[i] =
          S::store(S::combine(before, S::load(part.out[i], level.lines.key)), level.lines.key);
  }
}

/* Rung::launch(task, level) launches the block scans of a level, of parts of Rung::size(task). */
template <typename S, typename Rung>
static rung_status scan_steps(const rung_task *task, const scan_lines<S> &lines, void *scratch) {
  typedef typename S::value value;
  scan_level<S> level;
  level.lines = lines;
  level.totals = (value *)scratch;
  level.size = Rung::size(task);
  level.parts = (lines.columns + level.size - 1) / level.size;
  rung_status status = Rung::launch(task, level);
  if (status != RUNG_OK || level.parts == 1) return status;
  scan_lines<typename S::next> totals;
  totals.in = level.totals;
  totals.out = level.totals;
  totals.in_pitch = totals.out_pitch = totals.columns = level.parts;
  totals.lines = lines.lines;
  totals.key = rung_key_code();
  totals.exclusive = totals.wide = false;
  status =
      scan_steps<typename S::next, Rung>(task, totals, level.totals + lines.lines * level.parts);
  if (status != RUNG_OK) return status;
  RUNG_LAUNCH(task, (scan_add_back<S>), scan_grid(lines.lines * level.parts), 256, 0, level);
  return RUNG_OK;
}

/* A rung whose `kernel` scans a part of elements_a_thread for every thread, in shared memory of
 * `shared` numbers. */
#define SCAN_STEPPED(rung, kernel, elements_a_thread, shared)                            \
  struct rung {                                                                          \
    static int64_t size(const rung_task *task) {                                         \
      return (elements_a_thread)*scan_block_of(task);                                    \
    }                                                                                    \
    template <typename S>                                                                \
    static rung_status launch(const rung_task *task, const scan_level<S> &level) {       \
      const unsigned threads = (unsigned)scan_block_of(task);                            \
      RUNG_LAUNCH(task, (kernel<S>), scan_grid(level.lines.lines *level.parts), threads, \
                  (shared) * sizeof(typename S::value), level);                          \
      return RUNG_OK;                                                                    \
    }                                                                                    \
    template <typename S>                                                                \
    static rung_status run(const rung_task *task) {                                      \
      return scan_steps<S, rung>(task, scan_lines_of<S>(task), task->scratch);           \
    }                                                                                    \
  }

#endif
