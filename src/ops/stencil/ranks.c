/* The stencil over ranks. Rows that a rank has whole are a job like any. A row that a cut goes
 * through is taken in turns: every rank that has some of it gets the columns beside its own that
 * they will feel, and computes them, too, as long as they are right. Of a short row these are all
 * others, and one turn takes all steps.
 *
 *   word      how many elements has everybody, and are all about the same?
 *   word      have all the memory for what they do? Not said where all have whole rows alone and
 *             said with the first word that they are ready for them.
 *   columns   of rows that are cut, to the ranks that have others of them; once a turn
 *   means     of long rows that are cut: reductions over ranks
 *   word      have all computed, where rows are cut?
 *   word      have all written, and their whole rows too? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "core/layout.h"
#include "core/strips.h"
#include "core/transfer.h"
#include "ops/reduce/reduce.h"
#include "ops/stencil/call.h"

/* Rows of at most so many columns are brought together where they are cut. */
enum { SHORT = 65536 };

/* What a rank has of a row that is cut, and where that is computed: columns [first, end) of the
 * window's row, which begins with column `origin`. */
typedef struct fragment {
  int64_t row, first, end;
  int64_t origin, width;
  char *now, *next; /* windows */
  double mean;      /* of the row, in the grid's type */
} fragment;

typedef struct run {
  rung_strips strips;
  const char *const *names;
  stencil_problem problem; /* of the whole */
  rung_view arrays[3];     /* this rank's; of 2 dimensions where rows do not go on evenly */
  bool means;
  int64_t turn; /* steps */
  fragment fragments[2];
  int count;
  char *windows;
  rung_job rows;                /* that this rank has whole */
  stencil_problem rows_problem; /* of them */
  void *start;                  /* of them, where no rung makes it */
} run;

static int64_t lesser(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static size_t element_of(const run *r) {
  return rung_dtype_bytes(r->problem.dtype);
}

/* ---- who has what ------------------------------------------------------------------------------
 */

static bool is_short(const run *r) {
  return r->problem.columns <= SHORT;
}

/* Whether a window that goes beyond an end of a row has what is at the other one. */
static void set_window(const run *r, fragment *f) {
  const int64_t m = r->problem.columns, halo = is_short(r) ? m : r->problem.radius * r->turn;
  const bool beyond = !is_short(r) && r->problem.edge == RUNG_EDGE_WRAP;
  f->origin = beyond ? f->first - halo : greater(0, f->first - halo);
  f->width = (beyond ? f->end + halo : lesser(m, f->end + halo)) - f->origin;
}

/* The rows that a rank's part begins and ends within, which may be the same; how many. */
static int find_fragments(const run *r, int rank, fragment found[2]) {
  const int64_t m = r->problem.columns;
  const int64_t first = r->strips.firsts[rank], end = r->strips.firsts[rank + 1];
  const int64_t head = first - first % m, tail = end - end % m;
  int count = 0;
  if (first == end) return 0;
  if (first > head)
    found[count++] =
        (fragment){.row = head / m, .first = first - head, .end = lesser(end - head, m)};
  if (end > tail && tail >= first)
    found[count++] = (fragment){.row = tail / m, .first = 0, .end = end - tail};
  for (int k = 0; k < count; k++) set_window(r, &found[k]);
  return count;
}

/* Its windows, of which it has the middle. */
static bool want(const void *of, int rank, int64_t index, int64_t *first, int64_t *count) {
  const run *r = (const run *)of;
  const int64_t m = r->problem.columns;
  fragment found[2];
  const int fragments = find_fragments(r, rank, found);
  for (int k = 0; k < fragments; k++) {
    const fragment *f = &found[k];
    /* What lies at the other end, before and behind the row, is a range by itself. */
    const int64_t marks[] = {
        f->origin, lesser(greater(f->origin, 0), f->first),          f->first,
        f->end,    greater(lesser(f->origin + f->width, m), f->end), f->origin + f->width};
    for (int i = 0; i < 5; i++) {
      if (marks[i] == marks[i + 1] || index-- > 0) continue;
      const int64_t column = (marks[i] + m) % m;
      *first = i == 2 ? -1 : f->row * m + column;
      *count = marks[i + 1] - marks[i];
      return true;
    }
  }
  return false;
}

static char *column_at(const run *r, const fragment *f, int64_t column) {
  return f->now + (size_t)(column - f->origin) * element_of(r);
}

/* Elements of rows that are cut, out of this rank's windows. */
static rung_status own_columns(void *of, int64_t first, int64_t count, char *to) {
  const run *r = (const run *)of;
  const int64_t m = r->problem.columns;
  const fragment *f = &r->fragments[r->count == 2 && first / m == r->fragments[1].row];
  memcpy(to, column_at(r, f, first % m), (size_t)count * element_of(r));
  return RUNG_OK;
}

/* Rows that it has whole: [*row, + count). */
static int64_t whole_rows(const run *r, int64_t *row) {
  const int64_t m = r->problem.columns;
  *row = (rung_strips_first(&r->strips) + m - 1) / m;
  return greater(0, rung_strips_end_of(&r->strips) / m - *row);
}

/* Whole rows of one of this rank's arrays, behind so many of its elements. */
static rung_view rows_of(const run *r, int array, int64_t skipped, int64_t rows) {
  const int64_t m = r->problem.columns;
  rung_view view = r->arrays[array];
  if (view.count == 0) return view;
  if (view.ndim == 2) {
    rung_view_narrow(&view, 0, skipped / m, rows);
    return view;
  }
  rung_view_narrow(&view, 0, skipped, rows * m);
  view.ndim = 2;
  view.shape[0] = rows;
  view.shape[1] = m;
  view.stride[1] = view.stride[0];
  view.stride[0] *= m;
  return view;
}

static int64_t offset_of(const run *r, const fragment *f) {
  return f->row * r->problem.columns + f->first - rung_strips_first(&r->strips);
}

/* The first row whose mean is this rank's: that of its first row's end. */
static int64_t first_mean(const run *r) {
  return rung_strips_first(&r->strips) / r->problem.columns;
}

/* ---- getting ready -----------------------------------------------------------------------------
 */

/* What the words before have said: the same in all ranks. */
static rung_status check_total(run *r) {
  const int64_t total = rung_strips_total(&r->strips), m = r->problem.columns;
  if (total == 0 || total % m != 0)
    return rung_fail(&r->strips.context->error, RUNG_BAD_SHAPE,
                     "the ranks' parts together have %" PRId64
                     " elements; expected: whole rows of "
                     "%" PRId64 " columns, at least one",
                     total, m);
  r->problem.rows = total / m;
  r->problem.start.all_rows = r->problem.rows;
  r->turn = is_short(r) ? r->problem.steps
                        : lesser(r->problem.steps, greater(1, STENCIL_HALO / r->problem.radius));
  return RUNG_OK;
}

static rung_status check_own(const run *r) {
  rung_error *error = &r->strips.context->error;
  const int64_t m = r->problem.columns, first = rung_strips_first(&r->strips);
  const int64_t means = rung_strips_end_of(&r->strips) / m - first_mean(r);
  for (int a = STENCIL_IN; a <= STENCIL_OUT; a++)
    if (r->arrays[a].ndim == 2 && r->arrays[a].count > 0 && first % m != 0)
      return rung_fail(error, RUNG_BAD_SHAPE,
                       "%s has rows, and its first element is in column %" PRId64
                       " of the grid; expected: one dimension, or rows without gaps",
                       r->names[a], first % m);
  if (!r->means || r->arrays[STENCIL_MEANS].shape[0] == means) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE,
                   "means has %" PRId64 " elements; expected: %" PRId64
                   ", one for every row whose last element is this rank's",
                   r->arrays[STENCIL_MEANS].shape[0], means);
}

/* The start of what is cut, in the middle of the windows. */
static rung_status load(const run *r, const fragment *f) {
  const stencil_problem *p = &r->problem;
  char *to = column_at(r, f, f->first);
  const int64_t count = f->end - f->first;
  if (!p->start.own)
    return rung_fetch(r->strips.context,
                      &(rung_range){&r->arrays[STENCIL_IN], offset_of(r, f), count}, to);
  const rung_traits *traits = rung_traits_of(p->dtype);
  for (int64_t j = 0; j < count; j++)
    traits->store(to + j * (int64_t)traits->bytes,
                  stencil_start_value(&p->start, f->row, f->first + j, p->columns));
  return RUNG_OK;
}

/* What a window feels from beyond the ends of its row. */
static void mend(const run *r, fragment *f, int64_t steps) {
  const int64_t m = r->problem.columns, halo = r->problem.radius * steps;
  const int64_t ends[2][2] = {{f->first, lesser(f->end, halo)},
                              {greater(f->first, m - halo), f->end}};
  for (int k = 0; k < 2; k++)
    if (ends[k][0] < ends[k][1])
      stencil_cone(&r->problem, steps, f->now, f->origin, ends[k][0], ends[k][1],
                   f->next + (size_t)(ends[k][0] - f->origin) * element_of(r));
}

/* A turn of a row that is cut is a row of its own, of the window's columns, or of those within the
 * row where its first ones are fixed. */
static rung_status compute(run *r, fragment *f, int64_t steps, bool reserve) {
  rung_context *context = r->strips.context;
  const int64_t m = r->problem.columns;
  const bool clipped = r->problem.edge == RUNG_EDGE_WRAP && r->problem.fixed > 0;
  const int64_t from = clipped ? greater(0, f->origin) : f->origin;
  const int64_t to = clipped ? lesser(m, f->origin + f->width) : f->origin + f->width;
  const int64_t shape[2] = {1, to - from}, skipped = (from - f->origin) * (int64_t)element_of(r);
  stencil_problem problem = r->problem;
  problem.rows = 1;
  problem.columns = shape[1];
  problem.steps = steps;
  problem.fixed = lesser(greater(0, problem.fixed - greater(0, from)), shape[1]);
  problem.start.own = false;
  problem.math = RUNG_MATH_STRICT;
  rung_view arrays[3] = {rung_view_compact(f->now + skipped, problem.dtype, 2, shape),
                         rung_view_compact(f->next + skipped, problem.dtype, 2, shape)};
  if (r->means && is_short(r))
    arrays[STENCIL_MEANS] = rung_view_compact(&f->mean, problem.dtype, 1, (int64_t[]){1});
  rung_job job = stencil_job_of(&problem, arrays, r->names);
  job.reserve = reserve;
  rung_call how = r->strips.known;
  how.math = RUNG_MATH_STRICT;
  if (r->strips.known.math == RUNG_MATH_FAST) how.rung = NULL;
  const rung_status status = rung_run_job(context, &job, &how, &r->strips.used);
  if (status != RUNG_OK || reserve) return status;
  const rung_status done = context->backend->synchronize(context->state, &context->error);
  if (done != RUNG_OK) return done;
  if (clipped && !is_short(r)) mend(r, f, steps);
  return RUNG_OK;
}

/* The memory of the job of its whole rows. */
static rung_status reserve_rows(run *r) {
  r->rows.reserve = true;
  const rung_status status =
      rung_run_job(r->strips.context, &r->rows, &r->strips.known, &r->strips.used);
  r->rows.reserve = false;
  return status;
}

/* The job of the rows that this rank has whole, and its memory. */
static rung_status prepare_rows(run *r) {
  rung_context *context = r->strips.context;
  stencil_problem *p = &r->rows_problem;
  int64_t row;
  *p = r->problem;
  p->rows = whole_rows(r, &row);
  p->start.first_row = row;
  p->math = r->strips.known.math;
  if (p->rows == 0) return RUNG_OK;
  const int64_t skipped = row * p->columns - rung_strips_first(&r->strips);
  rung_view arrays[3] = {rows_of(r, STENCIL_IN, skipped, p->rows),
                         rows_of(r, STENCIL_OUT, skipped, p->rows), r->arrays[STENCIL_MEANS]};
  if (r->means) rung_view_narrow(&arrays[STENCIL_MEANS], 0, row - first_mean(r), p->rows);
  for (int way = 0;; way++) {
    r->rows = stencil_job_of(p, arrays, r->names);
    const rung_status status = reserve_rows(r);
    if (status != RUNG_UNSUPPORTED || !p->start.own || context->device.kind == RUNG_CPU || way > 0)
      return status;
    size_t bytes = 0;
    r->start = rung_ranks_ask(&bytes, (size_t)(p->rows * p->columns), element_of(r));
    if (r->start == NULL)
      return rung_ranks_no_memory(&r->strips.meeting, bytes, "the start of the grid");
    stencil_fill_start(p, r->start);
    p->start.own = false;
    arrays[STENCIL_IN] = rung_view_compact(r->start, p->dtype, 2, (int64_t[]){p->rows, p->columns});
  }
}

static rung_status make_room(run *r, const rung_wants *wants) {
  size_t bytes = 0;
  int64_t width = 0;
  rung_status status = check_own(r);
  if (status != RUNG_OK) return status;
  r->count = find_fragments(r, r->strips.meeting.ranks.rank, r->fragments);
  for (int k = 0; k < r->count; k++) width += r->fragments[k].width;
  r->windows = rung_ranks_ask(&bytes, 2 * (size_t)width, element_of(r));
  if (r->windows == NULL)
    return rung_ranks_no_memory(&r->strips.meeting, bytes, "rows that are cut");
  char *at = r->windows;
  for (int k = 0; k < r->count; k++, at += (size_t)r->fragments[k - 1].width * element_of(r)) {
    r->fragments[k].now = at;
    r->fragments[k].next = at + (size_t)width * element_of(r);
  }
  status = rung_strips_room(&r->strips, wants);
  if (status == RUNG_OK) status = prepare_rows(r);
  for (int k = 0; k < r->count && status == RUNG_OK; k++) {
    status = compute(r, &r->fragments[k], r->turn, true);
    if (status == RUNG_OK) status = load(r, &r->fragments[k]);
  }
  return status;
}

/* ---- whole rows alone --------------------------------------------------------------------------
 *
 * Memory takes how many rows a rank has, but not which of the grid's: it is there before the first
 * word. What fails is tried again, and said, when all is known. */

static bool is_ready(run *r) {
  const int64_t m = r->problem.columns, elements = r->arrays[STENCIL_OUT].count;
  stencil_problem *p = &r->rows_problem;
  *p = r->problem;
  p->rows = elements / m;
  p->math = r->strips.known.math;
  if (elements % m != 0 || (r->means && r->arrays[STENCIL_MEANS].shape[0] != p->rows)) return false;
  if (p->rows == 0) return true;
  const rung_view arrays[3] = {rows_of(r, STENCIL_IN, 0, p->rows),
                               rows_of(r, STENCIL_OUT, 0, p->rows), r->arrays[STENCIL_MEANS]};
  r->rows = stencil_job_of(p, arrays, r->names);
  const bool ready = reserve_rows(r) == RUNG_OK;
  if (!ready) rung_error_clear(&r->strips.context->error);
  return ready;
}

static void set_first_row(run *r) {
  r->rows_problem.start.all_rows = r->problem.rows;
  whole_rows(r, &r->rows_problem.start.first_row);
}

/* ---- rows that are cut -------------------------------------------------------------------------
 */

/* *own: of what is the rank's own. */
static rung_status take_turns(run *r, const rung_wants *wants, rung_status *own) {
  int64_t left = r->problem.steps;
  rung_status status = RUNG_OK;
  for (bool first = is_short(r); status == RUNG_OK && (first || left > 0); first = false) {
    const int64_t steps = lesser(left, r->turn);
    /* Windows are one behind the other, and their middles are left alone. */
    status = rung_strips_bring(&r->strips, wants, r->fragments[0].now, own);
    for (int k = 0; k < r->count && status == RUNG_OK && *own == RUNG_OK; k++)
      *own = compute(r, &r->fragments[k], steps, false);
    for (int k = 0; k < r->count; k++) {
      char *now = r->fragments[k].now;
      r->fragments[k].now = r->fragments[k].next;
      r->fragments[k].next = now;
    }
    left -= steps;
  }
  return status;
}

/* Whether the part of rank k begins within a row that none before it has begun within. */
static bool cuts(const run *r, int k) {
  const int64_t m = r->problem.columns, at = r->strips.firsts[k];
  return at % m != 0 && (r->strips.firsts[k - 1] % m == 0 || r->strips.firsts[k - 1] / m < at / m);
}

/* The mean of a long row, by all ranks. */
static rung_status mean_of_row(run *r, int64_t row, rung_status own) {
  rung_view in = {.dtype = r->problem.dtype, .ndim = 1, .stride = {1}}, out;
  double mean;
  fragment *f = NULL;
  for (int k = 0; k < r->count; k++)
    if (r->fragments[k].row == row) f = &r->fragments[k];
  if (f != NULL)
    in = rung_view_compact(column_at(r, f, f->first), in.dtype, 1, (int64_t[]){f->end - f->first});
  out = rung_view_compact(f != NULL ? &f->mean : &mean, in.dtype, 0, NULL);
  return reduce_within(r->strips.context, &r->strips.meeting.ranks, own, RUNG_MEAN, &in, &out);
}

/* Returns what is the same in all ranks. */
static rung_status do_cut_rows(run *r, const rung_wants *wants) {
  rung_status own = RUNG_OK, status = RUNG_OK;
  bool cut = false;
  for (int k = 1; k < r->strips.meeting.ranks.count; k++) cut |= cuts(r, k);
  if (!cut) return RUNG_OK;
  status = take_turns(r, wants, &own);
  for (int k = 1; k < r->strips.meeting.ranks.count && r->means && !is_short(r); k++) {
    if (status != RUNG_OK) return status;
    if (!cuts(r, k)) continue;
    status = mean_of_row(r, r->strips.firsts[k] / r->problem.columns, own);
  }
  return status == RUNG_OK ? rung_strips_word(&r->strips, own) : status;
}

/* ---- a call ------------------------------------------------------------------------------------
 */

static rung_status write_fragment(const run *r, fragment *f) {
  const int64_t count = f->end - f->first;
  const rung_view from = rung_view_compact(column_at(r, f, f->first), r->problem.dtype, 1, &count);
  const rung_view mean = rung_view_compact(&f->mean, r->problem.dtype, 1, (int64_t[]){1});
  rung_view to = r->arrays[STENCIL_OUT], means = r->arrays[STENCIL_MEANS];
  rung_view_narrow(&to, 0, offset_of(r, f), count);
  const rung_status status = rung_deliver(r->strips.context, &to, &from);
  if (status != RUNG_OK || !r->means || f->end < r->problem.columns) return status;
  rung_view_narrow(&means, 0, f->row - first_mean(r), 1);
  return rung_deliver(r->strips.context, &means, &mean);
}

static rung_status write_all(run *r) {
  rung_context *context = r->strips.context;
  rung_status status = RUNG_OK;
  if (r->rows_problem.rows > 0)
    status = rung_run_job(context, &r->rows, &r->strips.known, &r->strips.used);
  for (int k = 0; k < r->count && status == RUNG_OK; k++)
    status = write_fragment(r, &r->fragments[k]);
  return status == RUNG_OK ? context->backend->synchronize(context->state, &context->error)
                           : status;
}

/* From the arguments on, which `own` is about. */
static rung_status go_on(run *r, rung_status own, const rung_call *call) {
  const rung_wants wants = {.each = element_of(r), .want = want, .own = own_columns, .of = r};
  own = rung_strips_enter(&r->strips, own, call);
  const bool ready = own == RUNG_OK && is_ready(r);
  rung_status status = rung_strips_meet(&r->strips, own, r->arrays[STENCIL_OUT].count, ready);
  if (status == RUNG_OK) status = check_total(r);
  if (status == RUNG_OK && rung_strips_ready(&r->strips)) {
    set_first_row(r);
  } else if (status == RUNG_OK) {
    status = rung_strips_word(&r->strips, make_room(r, &wants));
    if (status == RUNG_OK) status = do_cut_rows(r, &wants);
  }
  return status == RUNG_OK ? rung_strips_word(&r->strips, write_all(r)) : status;
}

/* ---- arguments ---------------------------------------------------------------------------------
 */

/* Rows, or elements that go on from row to row; the former as the latter where they can. */
static rung_status view_part(rung_error *error, const char *name, const DLTensor *tensor,
                             unsigned dtypes, int64_t columns, rung_view *view) {
  if (tensor != NULL && tensor->ndim != 1 && tensor->ndim != 2)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "%s has %d dimensions; expected: 2 (rows, columns), or 1 of elements", name,
                     tensor->ndim);
  const rung_status status =
      rung_view_stored(error, name, tensor, dtypes, tensor != NULL ? tensor->ndim : 2, view);
  if (status != RUNG_OK || view->ndim == 1) return status;
  if (view->shape[1] != columns)
    return rung_fail(error, RUNG_BAD_SHAPE, "%s has %" PRId64 " columns; expected: %" PRId64, name,
                     view->shape[1], columns);
  if (view->shape[0] > 1 && view->stride[0] != columns * view->stride[1]) return RUNG_OK;
  view->ndim = 1;
  view->shape[0] = view->count;
  view->stride[0] = view->stride[1];
  return RUNG_OK;
}

static rung_status view_outputs(rung_error *error, run *r, rung_dtype dtype, const DLTensor *out,
                                const DLTensor *means) {
  const unsigned type = RUNG_TYPE(dtype);
  rung_view *to = &r->arrays[STENCIL_OUT], *mean = &r->arrays[STENCIL_MEANS];
  rung_status status = view_part(error, r->names[STENCIL_OUT], out, type, r->problem.columns, to);
  if (status == RUNG_OK) status = rung_view_writable(error, r->names[STENCIL_OUT], to);
  if (status != RUNG_OK || means == NULL) return status;
  r->means = true;
  if ((status = rung_view_of(error, "means", means, type, 1, mean)) != RUNG_OK ||
      (status = rung_view_writable(error, "means", mean)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "means", mean, r->names[STENCIL_OUT], to)) != RUNG_OK)
    return status;
  return rung_refuse_overlap(error, "means", mean, r->names[STENCIL_OUT], to, false);
}

static rung_status check_columns(rung_error *error, int64_t columns, int64_t least) {
  if (columns >= least) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE, "columns is %" PRId64 "; expected: at least %" PRId64,
                   columns, least);
}

/* What must be the same in all ranks: numbers of the model by a hash, for they are too many. */
static void name_job(run *r, const char *function) {
  const stencil_problem *p = &r->problem;
  const double others[] = {p->divide,        p->edge_value,          (double)p->edge,
                           (double)p->fixed, (double)p->start.power, (double)p->start.falling,
                           p->start.hot[0],  p->start.hot[1],        p->start.value};
  double numbers[STENCIL_TAPS + sizeof others / sizeof others[0]] = {0};
  memcpy(numbers, p->weights, sizeof p->weights);
  memcpy(numbers + STENCIL_TAPS, others, sizeof others);
  snprintf(r->strips.name, RUNG_JOB_TEXT,
           "%s(radius %d, %" PRId64 " steps, %" PRId64
           " columns of %s%s, a model with the hash "
           "%016" PRIx64 ")",
           function, p->radius, p->steps, p->columns, rung_dtype_name(p->dtype),
           r->means ? ", means" : "", rung_ranks_hash(numbers, sizeof numbers));
}

static rung_status look(rung_error *error, const rung_stencil_model *model, int64_t columns,
                        const DLTensor *in, const DLTensor *out, const DLTensor *means, run *r) {
  rung_stencil_model known;
  rung_view *from = &r->arrays[STENCIL_IN], *to = &r->arrays[STENCIL_OUT];
  const rung_view *mean = &r->arrays[STENCIL_MEANS];
  rung_status status;
  if ((status = rung_read_struct(error, "model", &rung_stencil_layout, model, &known)) != RUNG_OK ||
      (status = check_columns(error, columns, 1)) != RUNG_OK ||
      (status = view_part(error, "in", in, RUNG_SINGLE_DOUBLE, columns, from)) != RUNG_OK ||
      (status = stencil_problem_of(error, &known, 1, columns, from->dtype, &r->problem)) !=
          RUNG_OK ||
      (status = view_outputs(error, r, from->dtype, out, means)) != RUNG_OK)
    return status;
  if (to->count != from->count)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "out has %" PRId64 " elements; expected: %" PRId64 ", as in", to->count,
                     from->count);
  if ((status = rung_refuse_sides(error, "out", to, "in", from)) != RUNG_OK ||
      (status = rung_refuse_overlap(error, "out", to, "in", from, true)) != RUNG_OK)
    return status;
  return rung_refuse_overlap(error, "means", mean, "in", from, false);
}

static rung_status end(run *r, rung_status status, rung_call *call) {
  free(r->windows);
  free(r->start);
  return rung_strips_end(&r->strips, status, call);
}

rung_status rung_stencil_ranks(rung_context *context, const rung_ranks *ranks,
                               const rung_stencil_model *model, int64_t columns, const DLTensor *in,
                               DLTensor *out, DLTensor *means, rung_call *call) {
  run r = {.names = stencil_names};
  rung_status status = rung_strips_begin(context, ranks, &r.strips);
  if (status != RUNG_OK) return status;
  status = look(&context->error, model, columns, in, out, means, &r);
  if (status == RUNG_OK) {
    name_job(&r, "rung_stencil_ranks");
    const rung_job given = stencil_job_of(&r.problem, r.arrays, r.names);
    status = rung_run_reaches(context, &given);
  }
  return end(&r, go_on(&r, status, call), call);
}

rung_status rung_radiator_ranks(rung_context *context, const rung_ranks *ranks,
                                const rung_radiator_model *model, int64_t steps, int64_t columns,
                                DLTensor *grid, DLTensor *means, rung_call *call) {
  run r = {.names = stencil_radiator_names};
  rung_view view;
  rung_error *error;
  rung_status status = rung_strips_begin(context, ranks, &r.strips);
  if (status != RUNG_OK) return status;
  error = &context->error;
  if ((status = check_columns(error, columns, 4)) == RUNG_OK &&
      (status = view_part(error, "grid", grid, RUNG_SINGLE_DOUBLE, columns, &view)) == RUNG_OK &&
      (status = stencil_radiator_problem(error, model, steps, 1, columns, view.dtype,
                                         &r.problem)) == RUNG_OK)
    status = view_outputs(error, &r, view.dtype, grid, means);
  if (status == RUNG_OK) {
    name_job(&r, "rung_radiator_ranks");
    const rung_job given = stencil_job_of(&r.problem, r.arrays, r.names);
    status = rung_run_reaches(context, &given);
  }
  return end(&r, go_on(&r, status, call), call);
}
