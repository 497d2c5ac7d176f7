/* A cut-off: points sorted into cells, and each only against those of cells in reach. Rows of cells
 * are rows of memory, so that a point meets long runs of others, in lanes. */
#include "ops/pairs/cpu/grid.h"
#include "ops/pairs/cpu/keep.h"
#include "ops/pairs/cpu/run.h"

enum {
  DEALT = 1 << 15, /* points that are sorted at a time */
  STRIP = 512,     /* points of a run at a time */
  KEPT = 2048      /* squares below the last threshold that are kept until they are counted */
};

#define NO_CELL UINT32_MAX

typedef struct job {
  const pairs_work *work;
  pairs_cut cut;
  double low[3], scale[3]; /* open space: cell = (x - low) * scale */
  const pairs_ordered *a, *b;
  int side; /* being sorted */
  int64_t classes[2][PAIRS_CLASSES];
  int strays;
} job;

/* ---- sorting -----------------------------------------------------------------------------------
 */

/* The cell of a place; NO_CELL: it lies outside the box by more than roundings. */
static uint32_t cell_of(const job *job, pairs_point p) {
  const pairs_box *box = &job->work->problem->box;
  const double x[3] = {p.x, p.y, p.z};
  uint32_t cell = 0;
  for (int i = 2; i >= 0; --i) {
    const int cells = job->cut.cells[i];
    const double at = box->space == PAIRS_OPEN ? (x[i] - job->low[i]) * job->scale[i]
                                               : pairs_fraction(box, p.x, p.y, p.z, i) * cells;
    if (!(at >= -PAIRS_CUT_STRAY && at <= cells + PAIRS_CUT_STRAY)) return NO_CELL;
    const uint32_t k = at <= 0 ? 0 : at >= cells ? (uint32_t)cells - 1 : (uint32_t)at;
    cell = cell * (uint32_t)cells + k;
  }
  return cell;
}

static int64_t count_of(const job *job, int side) {
  return side == 0 ? job->work->problem->n : job->work->problem->m;
}

static void find_cells(void *arg, int64_t chunk, int thread) {
  job *const job = (struct job *)arg;
  const pairs_ordered *set = &job->work->ordered[job->side];
  const int64_t first = chunk * DEALT, n = count_of(job, job->side),
                end = first + DEALT < n ? first + DEALT : n;
  (void)thread;
  for (int64_t i = first; i < end; ++i) {
    const pairs_point p = pairs_point_of(job->work, job->side, i);
    const int class = pairs_class_of(p);
    set->cell[i] = class == 0 ? cell_of(job, p) : NO_CELL;
    if (set->cell[i] != NO_CELL) {
      __atomic_fetch_add(&set->start[set->cell[i] + 1], 1, __ATOMIC_RELAXED);
      continue;
    }
    if (class == 0) __atomic_store_n(&job->strays, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&job->classes[job->side][class], 1, __ATOMIC_RELAXED);
  }
}

/* start[cell + 1] is where the next point of the cell goes, and at last where the cell ends. The
 * order within a cell means nothing. */
static void fill_cells(void *arg, int64_t chunk, int thread) {
  const job *job = (const struct job *)arg;
  const pairs_ordered *set = &job->work->ordered[job->side];
  const double *weights = pairs_weights_of(job->work, job->side);
  const int64_t first = chunk * DEALT, n = count_of(job, job->side),
                end = first + DEALT < n ? first + DEALT : n;
  (void)thread;
  for (int64_t i = first; i < end; ++i) {
    if (set->cell[i] == NO_CELL) continue;
    const pairs_point p = pairs_point_of(job->work, job->side, i);
    const uint32_t to = __atomic_fetch_add(&set->start[set->cell[i] + 1], 1, __ATOMIC_RELAXED);
    set->at[0][to] = p.x;
    set->at[1][to] = p.y;
    set->at[2][to] = p.z;
    if (weights != NULL) set->weights[to] = weights[i];
  }
}

/* False where a point is outside the box. */
static bool sort(job *job, int side) {
  const pairs_ordered *set = &job->work->ordered[side];
  const int64_t chunks = (count_of(job, side) + DEALT - 1) / DEALT;
  uint32_t before = 0;
  job->side = side;
  memset(set->start, 0, (size_t)(job->cut.count + 1) * sizeof *set->start);
  rung_parallel((int)job->work->threads, chunks, find_cells, job);
  if (job->strays) return false;
  for (int64_t cell = 0; cell < job->cut.count; ++cell) {
    const uint32_t count = set->start[cell + 1];
    set->start[cell + 1] = before;
    before += count;
  }
  job->classes[side][0] = before;
  rung_parallel((int)job->work->threads, chunks, fill_cells, job);
  return true;
}

/* ---- a point against a run of others -----------------------------------------------------------
 */

typedef struct runner {
  const job *job;
  pairs_counted counted;
  int kept;
  double squares[KEPT + PAIRS_SPARE];
} runner;

static void count_kept(runner *r) {
  const pairs_work *work = r->job->work;
  pairs_count_singly(&work->ranks, r->squares, r->kept, r->counted.singles);
  r->counted.singles[work->ranks.top] -= (uint64_t)r->kept;
  r->kept = 0;
}

static const int64_t lane_numbers[PAIRS_COUNTER] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Points first ... end - 1 of b, moved by a shift. */
static void meet(runner *r, int64_t i, int64_t first, int64_t end, const double *shift) {
  const pairs_ordered *a = r->job->a, *b = r->job->b;
  const double largest = r->job->work->problem->largest;
  lanes_i64 lane;
  memcpy(&lane, lane_numbers, sizeof lane);
  for (int64_t strip = first; strip < end; strip += STRIP) {
    const int64_t last = strip + STRIP < end ? strip + STRIP : end;
    int kept = r->kept;
    for (int64_t j = strip; j < last; j += LANES_F64) {
      const lanes_f64 x = a->at[0][i] - lanes_load_f64(b->at[0] + j) + shift[0],
                      y = a->at[1][i] - lanes_load_f64(b->at[1] + j) + shift[1],
                      z = a->at[2][i] - lanes_load_f64(b->at[2] + j) + shift[2];
      lanes_f64 squares = (x * x + y * y) + z * z;
      if (last - j < LANES_F64) /* what lies beyond the end is NaN */
        squares = (lanes_f64)((lanes_i64)squares | (lane >= last - j));
      kept = pairs_keep(squares, lanes_all_f64(largest), r->squares, kept);
    }
    r->kept = kept;
    if (kept > KEPT - STRIP) count_kept(r);
  }
}

/* The same with weights, one by one. */
static void weigh(runner *r, int64_t i, int64_t first, int64_t end, const double *shift) {
  const pairs_work *work = r->job->work;
  const pairs_ordered *a = r->job->a, *b = r->job->b;
  for (int64_t j = first; j < end; ++j) {
    const double square = pairs_square_open(a->at[0][i] - b->at[0][j] + shift[0],
                                            a->at[1][i] - b->at[1][j] + shift[1],
                                            a->at[2][i] - b->at[2][j] + shift[2]);
    if (!(square < work->problem->largest)) continue;
    const uint32_t rank = pairs_rank(&work->ranks, square);
    ++r->counted.singles[rank];
    --r->counted.singles[work->ranks.top];
    if (rank > 0)
      pairs_sum_units(&r->counted.sums[rank - 1],
                      pairs_units(a->weights[i], b->weights[j], work->exponent));
  }
}

/* ---- a row of cells against the rows in reach ---------------------------------------------------
 */

/* Cells from ... to of a row, by their number along axis 0, whose images are `images` vectors 0
 * away; met by the points of cell `own`. */
typedef struct stretch {
  int64_t row; /* number of its first cell */
  int from, to;
  double shift[3];
} stretch;

static void meet_stretch(runner *r, int64_t own, const stretch *s, bool half) {
  const pairs_ordered *a = r->job->a, *b = r->job->b;
  const int64_t first = b->start[s->row + s->from], end = b->start[s->row + s->to + 1];
  for (int64_t i = a->start[own]; i < a->start[own + 1]; ++i) {
    const int64_t begin = half ? i + 1 : first;
    if (begin >= end) continue;
    if (r->counted.sums != NULL)
      weigh(r, i, begin, end, s->shift);
    else
      meet(r, i, begin, end, s->shift);
  }
}

/* Where cell number `at`, out of range, has its image: how many vectors away. */
static int image_of(int at, int cells) {
  return at < 0 ? -1 : at >= cells ? 1 : 0;
}

/* One row of a, at (y, z), against the row `dy`, `dz` from there; own: against itself, each pair
 * once. */
static void meet_row(runner *r, int y, int z, int dy, int dz, bool own) {
  const pairs_cut *cut = &r->job->cut;
  const pairs_box *box = &r->job->work->problem->box;
  const int across = cut->cells[0], wide = cut->reach[0];
  const int ny = image_of(y + dy, cut->cells[1]), nz = image_of(z + dz, cut->cells[2]);
  if (box->space == PAIRS_OPEN && (ny != 0 || nz != 0)) return;
  const int64_t row = ((int64_t)z * cut->cells[1] + y) * across;
  stretch s = {.row = ((int64_t)(z + dz - nz * cut->cells[2]) * cut->cells[1] +
                       (y + dy - ny * cut->cells[1])) *
                      across};
  for (int x = 0; x < across; ++x)
    for (int image = -1; image <= 1; ++image) {
      const int low = (own ? x : x - wide) - image * across, high = x + wide - image * across;
      s.from = low > 0 ? low : 0;
      s.to = high < across - 1 ? high : across - 1;
      if (s.from > s.to || (image != 0 && box->space == PAIRS_OPEN)) continue;
      const pairs_point t = pairs_shift(box, -image, -ny, -nz);
      s.shift[0] = t.x;
      s.shift[1] = t.y;
      s.shift[2] = t.z;
      meet_stretch(r, row + x, &s, own && image == 0);
    }
}

static void count_row(void *arg, int64_t chunk, int thread) {
  const job *job = (const struct job *)arg;
  const pairs_cut *cut = &job->cut;
  const int y = (int)(chunk % cut->cells[1]), z = (int)(chunk / cut->cells[1]);
  const bool within = job->a == job->b;
  runner r;
  r.job = job;
  r.counted = pairs_counted_of(job->work, thread);
  r.kept = 0;
  for (int dz = within ? 0 : -cut->reach[2]; dz <= cut->reach[2]; ++dz)
    for (int dy = within && dz == 0 ? 0 : -cut->reach[1]; dy <= cut->reach[1]; ++dy)
      meet_row(&r, y, z, dy, dz, within && dy == 0 && dz == 0);
  count_kept(&r);
}

/* ---- the rung ----------------------------------------------------------------------------------
 */

/* The finite points' extent in open space. */
static void look_around(job *job, double extent[3]) {
  const pairs_problem *problem = job->work->problem;
  double high[3];
  for (int i = 0; i < 3; ++i) {
    job->low[i] = (double)INFINITY;
    high[i] = -(double)INFINITY;
  }
  for (int side = 0; side <= (problem->cross ? 1 : 0); ++side)
    for (int64_t k = 0; k < count_of(job, side); ++k) {
      const pairs_point p = pairs_point_of(job->work, side, k);
      const double x[3] = {p.x, p.y, p.z};
      if (pairs_class_of(p) != 0) continue;
      for (int i = 0; i < 3; ++i) {
        job->low[i] = x[i] < job->low[i] ? x[i] : job->low[i];
        high[i] = x[i] > high[i] ? x[i] : high[i];
      }
    }
  for (int i = 0; i < 3; ++i) extent[i] = high[i] >= job->low[i] ? high[i] - job->low[i] : 0;
}

static bool has_grid(job *job) {
  const pairs_problem *problem = job->work->problem;
  double extent[3];
  memcpy(extent, problem->box.height, sizeof extent);
  if (problem->box.space == PAIRS_OPEN) look_around(job, extent);
  if (!pairs_cut_of(problem, extent, &job->cut)) return false;
  for (int i = 0; i < 3; ++i) job->scale[i] = extent[i] > 0 ? job->cut.cells[i] / extent[i] : 0;
  return true;
}

/* False where points lie outside the box: nothing is counted. */
static bool count_by_cells(job *job) {
  const pairs_work *work = job->work;
  const int other = work->problem->cross ? 1 : 0;
  for (int side = 0; side <= other; ++side)
    if (!sort(job, side)) return false;
  const pairs_counted counted = pairs_counted_of(work, 0);
  const int64_t n = job->classes[0][0], m = job->classes[other][0];
  pairs_count_classes(work, job->classes[0], job->classes[other], &counted);
  counted.singles[work->ranks.top] += (uint64_t)(other == 1 ? n * m : n * (n - 1) / 2);
  job->a = &work->ordered[0];
  job->b = &work->ordered[other];
  rung_parallel((int)work->threads, (int64_t)job->cut.cells[1] * job->cut.cells[2], count_row, job);
  return true;
}

rung_status RUNG_ENTRY(pairs_cells)(const rung_task *task) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  pairs_work work;
  pairs_begin(task, pairs_threads(problem, task->device), true, &work);
  job job = {.work = &work};
  if (!has_grid(&job) || !count_by_cells(&job)) pairs_all_by_tiles(&work);
  pairs_end(&work);
  return RUNG_OK;
}
