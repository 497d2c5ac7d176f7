/* The entry point of matmul: looks at the arrays once, brings them into a form that rungs take, and
 * hands over. */
#include <inttypes.h>

#include "ops/matmul/call.h"
#include "ops/matmul/small.h"

static const char *const array_names[] = {"a", "b", "c", "c"};

/* ---- looking at the arguments -----------------------------------------------------------------
 */

static rung_status view_matrix(rung_error *error, const char *name, const DLTensor *tensor,
                               unsigned dtypes, rung_view *view) {
  if (tensor != NULL && (tensor->ndim < 2 || tensor->ndim > RUNG_MAX_DIMS))
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "%s has %d dimensions; expected: 2 (rows, columns) ... %d", name, tensor->ndim,
                     RUNG_MAX_DIMS);
  return rung_view_of(error, name, tensor, dtypes, tensor != NULL ? tensor->ndim : 2, view);
}

/* The extent of dimension d, counted from the last one backwards. */
static int64_t extent(const rung_view *view, int d) {
  return d < view->ndim ? view->shape[view->ndim - 1 - d] : 1;
}

/* How far apart two elements are along it; 0: there is but one, for all of the batch. */
static int64_t step(const rung_view *view, int d) {
  return extent(view, d) > 1 ? view->stride[view->ndim - 1 - d] : 0;
}

/* `parts`: b has not as many rows as a has columns, but some of them. */
static rung_status check_shapes(rung_error *error, const rung_view *a, const rung_view *b,
                                const rung_view *c, bool parts) {
  if (!parts && extent(a, 0) != extent(b, 1))
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "a has %" PRId64 " columns and b has %" PRId64
                     " rows; expected: as many of one as of the other",
                     extent(a, 0), extent(b, 1));
  if (extent(c, 1) != extent(a, 1) || extent(c, 0) != extent(b, 0))
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "c is %" PRId64 " by %" PRId64 "; expected: %" PRId64
                     ", the rows of a, by "
                     "%" PRId64 ", the columns of b",
                     extent(c, 1), extent(c, 0), extent(a, 1), extent(b, 0));
  for (int d = 2; d < c->ndim; d++) {
    const int64_t in_a = extent(a, d), in_b = extent(b, d), wanted = in_a == 1 ? in_b : in_a;
    if (in_b != wanted && in_b != 1)
      return rung_fail(error, RUNG_BAD_SHAPE,
                       "a has extent %" PRId64 " in dimension %d and b has %" PRId64
                       " there; expected: the same, or 1",
                       in_a, -1 - d, in_b);
    if (extent(c, d) != wanted)
      return rung_fail(error, RUNG_BAD_SHAPE,
                       "c has extent %" PRId64 " in dimension %d; expected: %" PRId64
                       ", as a and b have it",
                       extent(c, d), -1 - d, wanted);
  }
  return RUNG_OK;
}

/* ---- the forms of a job -----------------------------------------------------------------------
 */

/* Arrays as rungs take them. */
typedef struct form {
  rung_view a, b, c;
  bool a_turned, b_turned;
  int batch_axes;
  int64_t batch[RUNG_MAX_DIMS];
  bool packed; /* more than one dimension of a batch: without gaps */
} form;

static void turn(rung_view *view) {
  const int last = view->ndim - 1;
  const int64_t extent = view->shape[last], stride = view->stride[last];
  view->shape[last] = view->shape[last - 1];
  view->stride[last] = view->stride[last - 1];
  view->shape[last - 1] = extent;
  view->stride[last - 1] = stride;
}

/* The rows of C go on in memory, and a single column is a single row: else it is that of the turned
 * matrices, where every product has its factors the other way round, which changes no bit. */
static void orient(form *f) {
  const bool rows = extent(&f->c, 0) == 1 || step(&f->c, 0) == 1;
  const bool columns = extent(&f->c, 1) == 1 || step(&f->c, 1) == 1;
  const bool single = extent(&f->c, 0) == 1 && extent(&f->c, 1) > 1;
  if (!single && (rows || !columns)) return;
  const rung_view a = f->a;
  f->a = f->b;
  f->b = a;
  turn(&f->a);
  turn(&f->b);
  turn(&f->c);
}

/* One dimension of the batch: its extent, and the three arrays' steps along it. */
typedef struct dimension {
  int64_t extent, a, b, c;
} dimension;

static bool goes_on(int64_t wide, int64_t narrow, int64_t extent) {
  int64_t span;
  return !__builtin_mul_overflow(narrow, extent, &span) && span == wide;
}

/* The batch's dimensions from the outermost on, those of one element left out and those that go on
 * in even steps made one. */
static int batch_of(const form *f, dimension *batch) {
  int count = 0;
  for (int d = f->c.ndim - 1; d >= 2; d--) {
    const dimension next = {extent(&f->c, d), step(&f->a, d), step(&f->b, d), step(&f->c, d)};
    dimension *last = count > 0 ? &batch[count - 1] : NULL;
    if (next.extent == 1) continue;
    if (last != NULL && goes_on(last->a, next.a, next.extent) &&
        goes_on(last->b, next.b, next.extent) && goes_on(last->c, next.c, next.extent))
      *last = (dimension){last->extent * next.extent, next.a, next.b, next.c};
    else
      batch[count++] = next;
  }
  return count;
}

/* Matrices of A and C that go on as rows do, or have but one, and a B for all of them: more rows.
 */
static int fold(form *f, const dimension *batch, int count) {
  const int64_t m = extent(&f->c, 1);
  if (count == 0 || batch[count - 1].b != 0) return count;
  const dimension *last = &batch[count - 1];
  int64_t *a = &f->a.stride[f->a.ndim - 2], *c = &f->c.stride[f->c.ndim - 2];
  if (m > 1 && (!goes_on(last->a, *a, m) || !goes_on(last->c, *c, m))) return count;
  if (m == 1) {
    *a = last->a;
    *c = last->c;
  }
  f->a.shape[f->a.ndim - 2] *= last->extent;
  f->c.shape[f->c.ndim - 2] *= last->extent;
  return count - 1;
}

/* A view of the batch's dimensions, `steps` apart, and the matrix's two; of these alone where there
 * is but one matrix. */
static rung_status rebuild(rung_error *error, const char *name, const form *f, const int64_t *steps,
                           rung_view *view) {
  const int last = view->ndim - 1;
  const int64_t rows = view->shape[last - 1], columns = view->shape[last];
  const int64_t row = view->stride[last - 1], column = view->stride[last];
  int64_t bytes;
  bool single = true;
  for (int d = 0; d < f->batch_axes; d++) single = single && steps[d] == 0;
  const int kept = single ? 0 : f->batch_axes;
  view->count = view->count == 0 ? 0 : rows * columns;
  for (int d = 0; d < kept; d++) {
    view->shape[d] = f->batch[d];
    view->stride[d] = steps[d];
    if (rung_multiply(view->count, f->batch[d], &view->count) &&
        rung_multiply(view->count, (int64_t)rung_dtype_bytes(view->dtype), &bytes))
      continue;
    return rung_fail(error, RUNG_TOO_LARGE,
                     "%s, repeated for every matrix of the batch, has more bytes than fit in 64 "
                     "bits",
                     name);
  }
  view->shape[kept] = rows;
  view->shape[kept + 1] = columns;
  view->stride[kept] = row;
  view->stride[kept + 1] = column;
  view->ndim = kept + 2;
  return RUNG_OK;
}

/* Turned where that makes the last dimension go on in memory. */
static bool make_compact(rung_view *view) {
  if (rung_view_compact_rows(view)) return false;
  if (extent(view, 1) > 1 && step(view, 1) != 1) return false;
  turn(view);
  return true;
}

static void make_empty(rung_view *view) {
  view->ndim = 2;
  view->count = view->shape[0] = view->shape[1] = 0;
}

/* a, b and c of *f as the caller gave them; the rest is set. */
static rung_status find_form(rung_error *error, form *f) {
  dimension batch[RUNG_MAX_DIMS];
  int64_t steps[3][RUNG_MAX_DIMS];
  rung_status status;
  if (f->c.count == 0) {
    make_empty(&f->a);
    make_empty(&f->b);
    make_empty(&f->c);
    return RUNG_OK;
  }
  orient(f);
  f->batch_axes = fold(f, batch, batch_of(f, batch));
  f->packed = f->batch_axes > 1;
  for (int d = 0; d < f->batch_axes; d++) {
    f->batch[d] = batch[d].extent;
    steps[0][d] = batch[d].a;
    steps[1][d] = batch[d].b;
    steps[2][d] = batch[d].c;
  }
  if ((status = rebuild(error, "a", f, steps[0], &f->a)) != RUNG_OK ||
      (status = rebuild(error, "b", f, steps[1], &f->b)) != RUNG_OK ||
      (status = rebuild(error, "c", f, steps[2], &f->c)) != RUNG_OK)
    return status;
  f->a_turned = (!f->packed || f->a.ndim == 2) && make_compact(&f->a);
  f->b_turned = (!f->packed || f->b.ndim == 2) && make_compact(&f->b);
  return RUNG_OK;
}

/* ---- running ----------------------------------------------------------------------------------
 */

static void set_axes(const form *f, const matmul_problem *problem, rung_job *job) {
  const bool shared = f->a.ndim < f->c.ndim || f->b.ndim < f->c.ndim;
  int axes = 0;
  for (; axes < f->batch_axes; axes++)
    job->axis[axes] = (rung_axis){.extent = f->batch[axes], .granule = 1, .dear = shared};
  /* What is not cut is needed again for every piece. */
  job->axis[axes++] = (rung_axis){.extent = problem->m, .granule = MATMUL_GRANULE, .dear = true};
  job->axis[axes++] = (rung_axis){.extent = problem->n, .granule = MATMUL_GRANULE, .dear = true};
  job->axes = axes;
}

rung_status matmul_job_of(rung_error *error, const rung_call *known, double alpha,
                          const rung_view *a, const rung_view *b, double beta, const rung_view *c,
                          matmul_problem *problem, rung_job *job) {
  form form = {.a = *a, .b = *b, .c = *c}, *f = &form;
  rung_status status = find_form(error, f);
  if (status != RUNG_OK) return status;
  const bool fixed = known->math == RUNG_MATH_FIXED;
  const int bits = known->bits != 0 ? known->bits : MATMUL_BITS;
  const int64_t m = extent(&f->c, 1), n = extent(&f->c, 0);
  const int64_t k = f->a_turned ? extent(&f->a, 1) : extent(&f->a, 0);
  int64_t shape[4] = {1, m, n, k};
  for (int d = 0; d < f->batch_axes; d++) shape[0] *= f->batch[d];
  const rung_types types = matmul_types_of(f->a.dtype, f->c.dtype, fixed);
  status = matmul_problem_of(error, types, shape, alpha, beta, bits, problem);
  if (status != RUNG_OK) return status;
  problem->a_turned = f->a_turned;
  problem->b_turned = f->b_turned;
  problem->batch_axes = f->batch_axes;
  *job = (rung_job){.operation = &matmul_operation,
                    .task = {.problem = problem, .arrays = {f->a, f->b, f->c, f->c}},
                    .types = types,
                    .problem_bytes = sizeof *problem,
                    .inputs = 3,
                    .arrays = 4,
                    .names = array_names,
                    .cut = &matmul_parts};
  if (problem->beta == 0) job->task.arrays[MATMUL_ADDED].count = 0;
  for (int i = MATMUL_A; i <= MATMUL_C && f->packed; i++)
    if (job->task.arrays[i].ndim > 2) job->compact |= 1u << i;
  matmul_measure(problem, job->task.arrays);
  set_axes(f, problem, job);
  return RUNG_OK;
}

rung_status matmul_look(rung_error *error, const rung_call *known, const DLTensor *a,
                        const DLTensor *b, const DLTensor *c, bool parts, rung_view *left,
                        rung_view *right, rung_view *to) {
  const unsigned taken = known->math == RUNG_MATH_FIXED ? MATMUL_FIXED_DTYPES : MATMUL_DTYPES;
  rung_status status;
  if ((status = view_matrix(error, "a", a, taken, left)) != RUNG_OK ||
      (status = view_matrix(error, "b", b, RUNG_TYPE(left->dtype), right)) != RUNG_OK)
    return status;
  const int ndim = left->ndim > right->ndim ? left->ndim : right->ndim;
  if ((status = rung_view_of(error, "c", c, matmul_results_of(left->dtype), ndim, to)) != RUNG_OK ||
      (status = check_shapes(error, left, right, to, parts)) != RUNG_OK ||
      (status = rung_view_writable(error, "c", to)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "c", to, "a", left)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "c", to, "b", right)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "b", right, "a", left)) != RUNG_OK ||
      (status = rung_refuse_overlap(error, "c", to, "a", left, false)) != RUNG_OK)
    return status;
  return rung_refuse_overlap(error, "c", to, "b", right, false);
}

static rung_status matmul(rung_context *context, double alpha, const DLTensor *a, const DLTensor *b,
                          double beta, DLTensor *c, rung_call *call) {
  rung_error *error = &context->error;
  rung_view left, right, to;
  matmul_problem problem;
  rung_call known;
  rung_job job;
  rung_status status = rung_call_read(error, call, &known);
  if (status == RUNG_OK) status = matmul_look(error, &known, a, b, c, false, &left, &right, &to);
  if (status == RUNG_OK)
    status = matmul_job_of(error, &known, alpha, &left, &right, beta, &to, &problem, &job);
  return status == RUNG_OK ? rung_run(context, &job, call) : status;
}

rung_status rung_matmul(rung_context *context, double alpha, const DLTensor *a, const DLTensor *b,
                        double beta, DLTensor *c, rung_call *call) {
  rung_status status = rung_begin(context);
  if (status != RUNG_OK) return status;
  if (!matmul_small(context, alpha, a, b, beta, c, call))
    status = matmul(context, alpha, a, b, beta, c, call);
  return rung_end(context, status);
}
