/* A cut-off: points are sorted into cells, and a thread walks from its point over the cells within
 * the last edge (of one set, over half of them). Cells in a row lie one after the other, so that
 * all of them in reach are one walk. What nobody walked over is above: all pairs less those that
 * were counted or are excluded.
 *
 * Pairs in reach without going around the box need no image: the next one is out of reach. Points
 * that are not finite, or that have no place in the box, are in no cell; they come last, and
 * everybody walks over them.
 *
 * Counts go to a table of the block's. A thread may count only its share of 2^32 there, and is told
 * before each walk; what is more goes to the result. */
#include "ops/pairs/cuda/excluded.cuh"
#include "ops/pairs/cuda/sort.cuh"
#include "ops/pairs/cuda/tables.cuh"

struct pairs_cut_off {
  pairs_grid grid;
  const pairs_bounds *bounds;
  int64_t flush; /* pairs that a thread may count in the table; 0: there is none */
};

/* Points [from, to) of b, and whether they may be on the other side of the box. */
struct pairs_walk {
  int64_t from, to;
  bool around;
};

/* One step along axis 1 or 2: the neighbour's number; -1: there is none. */
static __device__ __forceinline__ int pairs_beside(int at, int cells, bool box, bool *around) {
  if (at >= 0 && at < cells) return at;
  *around = true;
  return !box ? -1 : at < 0 ? at + cells : at - cells;
}

/* A row of cells in reach of `cell`, of one set from its own on and there without what comes before
 * `next`: the walk over it, or (end) over what is in reach at the row's other end, around the box.
 */
static __device__ __forceinline__ pairs_walk pairs_walk_of(const pairs_job &job,
                                                           const pairs_cut_off &cut,
                                                           const int cell[3], int row, bool end,
                                                           int64_t next) {
  const int *reach = cut.grid.reach, wide = 2 * reach[1] + 1, cells = cut.grid.cells[0];
  const int dy = row % wide - reach[1], dz = row / wide - reach[2];
  const bool box = job.problem.box.space != PAIRS_OPEN;
  const bool own = !job.problem.cross && dy == 0 && dz == 0;
  const int low = own ? cell[0] : cell[0] - reach[0], high = cell[0] + reach[0];
  bool around = false;
  const int y = pairs_beside(cell[1] + dy, cut.grid.cells[1], box, &around),
            z = pairs_beside(cell[2] + dz, cut.grid.cells[2], box, &around);
  if (y < 0 || z < 0 || (end && (!box || (low >= 0 && high < cells)))) return {0, 0, false};
  const unsigned *start = job.b.start + (z * (int64_t)cut.grid.cells[1] + y) * cells;
  if (end) {
    if (low < 0) return {start[low + cells], start[cells], true};
    return {start[0], start[high - cells + 1], true};
  }
  const unsigned to = start[high < cells ? high + 1 : cells];
  return {own ? next : start[low < 0 ? 0 : low], to, around};
}

/* What a thread of the kernel has. */
template <bool EXTRA>
struct pairs_walker {
  pairs_point p;
  pairs_tag<EXTRA> tag;
  int exponent;
  int64_t counted; /* in the table since it was empty; at most */
};

template <int SPACE, bool EXTRA>
static __device__ __forceinline__ void pairs_step_over(const pairs_job &job, const pairs_plan &plan,
                                                       const pairs_shared &shared,
                                                       const pairs_walker<EXTRA> &walker, bool kept,
                                                       int64_t from, int64_t to) {
#pragma unroll 2
  for (int64_t j = from; j < to; ++j) {
    const double d2 = pairs_apart<SPACE>(job.problem.box, walker.p, pairs_at(job.b, j));
    if (d2 >= job.problem.largest) continue;
    const pairs_tag<EXTRA> tag = pairs_tag_of<EXTRA>(job, 1, j);
    if (kept)
      pairs_count<pairs_block_table, EXTRA>(job, plan, shared, walker.exponent, d2, walker.tag,
                                            tag);
    else
      pairs_count<pairs_no_table, EXTRA>(job, plan, shared, walker.exponent, d2, walker.tag, tag);
  }
}

template <int SPACE, bool EXTRA>
static __device__ __forceinline__ void pairs_walk_over(const pairs_job &job, const pairs_plan &plan,
                                                       const pairs_shared &shared,
                                                       const pairs_cut_off &cut, bool stray,
                                                       pairs_walker<EXTRA> &walker,
                                                       pairs_walk walk) {
  const int64_t more = walk.to > walk.from ? walk.to - walk.from : 0;
  const bool kept = walker.counted + more <= cut.flush;
  if (kept) walker.counted += more;
  if (SPACE != PAIRS_OPEN && (walk.around || stray))
    pairs_step_over<SPACE, EXTRA>(job, plan, shared, walker, kept, walk.from, walk.to);
  else
    pairs_step_over<PAIRS_OPEN, EXTRA>(job, plan, shared, walker, kept, walk.from, walk.to);
}

template <int SPACE, bool EXTRA>
static __global__ void __launch_bounds__(1024, 1)
    pairs_cells_kernel(pairs_job job, pairs_plan plan, pairs_cut_off cut) {
  RUNG_DYNAMIC_SHARED(char, memory);
  const pairs_shared shared = pairs_begin(job, plan, memory);
  rung_await_before();
  const pairs_frame frame = pairs_frame_of(cut.grid, cut.bounds);
  const bool stray = cut.bounds->stray != 0, cross = job.problem.cross;
  const int64_t loose_a = job.a.start[cut.grid.count], loose_b = job.b.start[cut.grid.count];
  const int *reach = cut.grid.reach, last = 2 * (2 * reach[1] + 1) * (2 * reach[2] + 1);
  pairs_walker<EXTRA> walker = {};
  if (EXTRA) walker.exponent = pairs_exponent_of(job);
  for (int64_t first = (int64_t)blockIdx.x * blockDim.x; first < job.a.n;
       first += (int64_t)gridDim.x * blockDim.x) {
    const int64_t i = first + threadIdx.x, next = cross ? 0 : i + 1;
    if (i < job.a.n) {
      walker.p = pairs_at(job.a, i);
      walker.tag = pairs_tag_of<EXTRA>(job, 0, i);
      int cell[3];
      if (i < loose_a) pairs_cell_of(job.problem, cut.grid, frame, walker.p, cell);
      /* The last walk is over points in no cell, or, from such a point, over everything. */
      for (int w = i >= loose_a ? last : cross ? 0 : last / 2 - 1; w <= last; ++w) {
        const pairs_walk walk =
            w < last ? pairs_walk_of(job, cut, cell, w / 2, w % 2 != 0, next)
                     : pairs_walk{i >= loose_a || next > loose_b ? next : loose_b, job.b.n, true};
        pairs_walk_over<SPACE, EXTRA>(job, plan, shared, cut, stray, walker, walk);
      }
    }
    if (__syncthreads_or(walker.counted > cut.flush / 2)) {
      pairs_spill(job, plan, shared);
      walker.counted = 0;
    }
  }
  if (plan.copies > 0) pairs_spill(job, plan, shared);
}

struct pairs_cells_rung {
  enum { EXTRAS = true };
  template <int SPACE, bool EXTRA>
  static rung_status launch(const rung_task *task, const pairs_job &sorted) {
    pairs_job job = sorted;
    char *memory = (char *)task->scratch + pairs_ledger_of(&job.problem).bytes;
    pairs_cut_off cut = {};
    pairs_grid_cut(&job.problem, &cut.grid);
    rung_status status = pairs_sort(task, &cut.grid, memory + pairs_tally_of(&job.problem).bytes,
                                    &job.a, &job.b, &cut.bounds);
    if (status == RUNG_OK && job.outside != NULL) status = pairs_count_excluded(task, job, memory);
    if (status != RUNG_OK) return status;
    pairs_plan plan = pairs_plan_of(task, {false, true, false});
    if ((int64_t)plan.bytes > task->device->shared_bytes)
      plan = pairs_plan_of(task, {false, false, false});
    if (plan.copies > 0) cut.flush = job.problem.flush / plan.threads;
    const int64_t rows = (job.a.n + plan.threads - 1) / plan.threads;
    PAIRS_LAUNCH(task, (pairs_cells_kernel<SPACE, EXTRA>), rows, plan, job, plan, cut);
    if (job.outside != NULL)
      RUNG_LAUNCH_NEXT(task, pairs_above_kernel, 1, PAIRS_SET_BLOCK, 0, job,
                       pairs_all(&job.problem));
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(pairs_cells)(const rung_task *task) {
  const pairs_job job = pairs_job_of(task, (char *)task->scratch);
  rung_status status = pairs_clear_results(task, job);
  if (status == RUNG_OK) status = pairs_by_space<pairs_cells_rung>(task, job);
  return status == RUNG_OK ? pairs_round_sums(task, job) : status;
}
