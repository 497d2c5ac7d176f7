/* matmul over ranks, of which each has rows of A, the same rows of C, and some rows of B. An
 * element of C is one chain over all of A's columns, which is never cut: so every rank gets all
 * rows of B, a block of its columns after the other, and makes these columns of its C. Where there
 * is more than one block, C is made beside its place first, for a rank may fail at any of them.
 *
 *   word      how many rows of B has everybody, the memory for a block of B and of C, and are all
 *             about the same?
 *   rows      of a block of B, to all; once a block
 *   word      have all got theirs, and made all but the last?
 *   word      have all written? */
#include <inttypes.h>
#include <stdio.h>

#include "core/call.h"
#include "core/room.h"
#include "core/strips.h"
#include "ops/matmul/call.h"

/* Blocks have at least so many bytes, and so many columns, where B has. */
enum { BLOCK = 16 << 20, COLUMNS = 64 };

typedef struct run {
  rung_strips strips;
  double alpha, beta;
  rung_view a, b, c; /* this rank's rows */
  int64_t columns;   /* of a block */
  rung_room room;
  char *block; /* in the room: (k, columns) */
  char *made;  /* in the room: (rows, n), C, where there are several blocks */
} run;

static int64_t columns_of(const run *r) {
  return r->c.shape[1];
}

static bool is_whole(const run *r) {
  return r->columns >= columns_of(r);
}

/* As many blocks as there are ranks, but for small ones: the same in all ranks. */
static void set_columns(run *r) {
  const int64_t n = columns_of(r), k = r->a.shape[1], ranks = r->strips.meeting.ranks.count;
  const int64_t row = k * (int64_t)rung_dtype_bytes(r->b.dtype);
  const int64_t least = row > 0 && BLOCK / row < n ? BLOCK / row : n;
  int64_t columns = (n + ranks - 1) / ranks;
  if (columns < least) columns = least;
  columns = (columns + COLUMNS - 1) / COLUMNS * COLUMNS;
  r->columns = columns < n ? columns : n;
}

/* What the word before has said: the same in all ranks. */
static rung_status check_rows(const run *r) {
  const int64_t rows = rung_strips_total(&r->strips), k = r->a.shape[1];
  if (rows == k) return RUNG_OK;
  return rung_fail(&r->strips.context->error, RUNG_BAD_SHAPE,
                   "a has %" PRId64 " columns and the ranks' parts of b have %" PRId64
                   " rows together; expected: as many of one as of the other",
                   k, rows);
}

static int64_t block_columns(const run *r, int64_t first) {
  const int64_t left = columns_of(r) - first;
  return left < r->columns ? left : r->columns;
}

static rung_view made_of(const run *r) {
  return rung_room_view(&r->room, r->made, r->c.dtype, 2, r->c.shape);
}

/* Columns [first, ...) of C, in its place or where it is made. */
static rung_view target_of(const run *r, int64_t first) {
  rung_view c = is_whole(r) ? r->c : made_of(r);
  rung_view_narrow(&c, 1, first, block_columns(r, first));
  return c;
}

/* A block of this rank's C; `reserve`: its memory. */
static rung_status multiply(run *r, int64_t first, bool reserve) {
  rung_context *context = r->strips.context;
  const int64_t shape[2] = {r->a.shape[1], block_columns(r, first)};
  const rung_view b = rung_room_view(&r->room, r->block, r->b.dtype, 2, shape);
  const rung_view c = target_of(r, first);
  matmul_problem problem;
  rung_job job;
  rung_status status = matmul_job_of(&context->error, &r->strips.known, r->alpha, &r->a, &b,
                                     r->beta, &c, &problem, &job);
  if (status != RUNG_OK || c.count == 0) return status;
  job.reserve = reserve;
  status = rung_run_job(context, &job, &r->strips.known, &r->strips.used);
  if (status != RUNG_OK || reserve) return status;
  return context->backend->synchronize(context->state, &context->error);
}

static rung_status make_room(run *r) {
  const bool whole = is_whole(r);
  const size_t row = (size_t)r->columns * rung_dtype_bytes(r->b.dtype);
  const size_t made = whole ? 0 : rung_view_bytes(&r->c);
  size_t block;
  if (__builtin_mul_overflow((size_t)r->a.shape[1], row, &block) || block > SIZE_MAX / 4)
    return rung_ranks_no_memory(&r->strips.meeting, SIZE_MAX, "columns of b and c");
  block = rung_room_bytes(block);
  rung_status status = rung_room_make(&r->room, r->strips.context, &r->strips.meeting, block + made,
                                      "columns of b and c");
  if (status != RUNG_OK) return status;
  r->block = r->room.memory;
  r->made = r->room.memory + block;
  status = multiply(r, 0, true);
  if (status != RUNG_OK || whole || r->beta == 0) return status;
  return rung_room_fetch(&r->room, &(rung_range){&r->c, 0, r->c.count}, r->made);
}

/* All rows of a block of B. *own: of what is the rank's own. */
static rung_status gather(run *r, int64_t first, rung_status *own) {
  const size_t element = rung_dtype_bytes(r->b.dtype);
  const int64_t columns = block_columns(r, first);
  const size_t row = (size_t)columns * element;
  const char *mine = NULL;
  rung_view part = r->b;
  rung_view_narrow(&part, 1, first, columns);
  if (*own == RUNG_OK)
    *own = rung_room_share(&r->room, &(rung_range){&part, 0, part.count},
                           r->block + (size_t)rung_strips_first(&r->strips) * row, &mine);
  return rung_ranks_missing(&r->strips.meeting,
                            rung_ranks_gather(&r->strips.meeting, r->strips.firsts, row, r->block,
                                              mine, r->room.on_device),
                            own);
}

/* All blocks but a single one, which is made when all have got it. */
static rung_status make_blocks(run *r) {
  rung_status own = RUNG_OK, status = RUNG_OK;
  for (int64_t first = 0; first < columns_of(r) && status == RUNG_OK; first += r->columns) {
    status = gather(r, first, &own);
    if (status == RUNG_OK && own == RUNG_OK && !is_whole(r)) own = multiply(r, first, false);
  }
  return status == RUNG_OK ? rung_strips_word(&r->strips, own) : status;
}

static rung_status write_all(run *r) {
  if (is_whole(r)) return multiply(r, 0, false);
  const rung_view made = made_of(r);
  return rung_room_deliver(&r->room, &r->c, &made);
}

/* From the arguments on, which `own` is about. */
static rung_status go_on(run *r, rung_status own, const rung_call *call) {
  own = rung_strips_enter(&r->strips, own, call);
  if (own == RUNG_OK) set_columns(r);
  if (own == RUNG_OK) own = make_room(r);
  rung_status status = rung_strips_meet(&r->strips, own, r->b.shape[0], false);
  if (status == RUNG_OK) status = check_rows(r);
  if (status == RUNG_OK) status = make_blocks(r);
  return status == RUNG_OK ? rung_strips_word(&r->strips, write_all(r)) : status;
}

/* Two dimensions, and factors that are good; names what must be the same in all ranks. */
static rung_status look(rung_error *error, double alpha, double beta, run *r) {
  const rung_call *known = &r->strips.known;
  const bool fixed = known->math == RUNG_MATH_FIXED;
  const int bits = known->bits != 0 ? known->bits : MATMUL_BITS;
  const rung_types types = matmul_types_of(r->a.dtype, r->c.dtype, fixed);
  const int64_t shape[4] = {1, r->c.shape[0], r->c.shape[1], r->a.shape[1]};
  matmul_problem problem;
  if (r->a.ndim != 2 || r->b.ndim != 2)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "a has %d dimensions and b has %d; expected over ranks: 2 (rows, columns)",
                     r->a.ndim, r->b.ndim);
  const rung_status status = matmul_problem_of(error, types, shape, alpha, beta, bits, &problem);
  if (status != RUNG_OK) return status;
  r->alpha = alpha;
  r->beta = beta;
  char in_bits[32] = "";
  if (fixed) snprintf(in_bits, sizeof in_bits, ", fixed point of %d bits", bits);
  snprintf(r->strips.name, RUNG_JOB_TEXT,
           "rung_matmul_ranks(%" PRId64 " columns of %s by %" PRId64
           " of %s, alpha %.17g, beta %.17g%s)",
           r->a.shape[1], rung_dtype_name(r->a.dtype), r->c.shape[1], rung_dtype_name(r->c.dtype),
           problem.alpha, problem.beta, in_bits);
  return RUNG_OK;
}

rung_status rung_matmul_ranks(rung_context *context, const rung_ranks *ranks, double alpha,
                              const DLTensor *a, const DLTensor *b, double beta, DLTensor *c,
                              rung_call *call) {
  run r = {.room = {.memory = NULL}};
  rung_status status = rung_strips_begin(context, ranks, &r.strips);
  if (status != RUNG_OK) return status;
  status = rung_call_read(&context->error, call, &r.strips.known);
  if (status == RUNG_OK)
    status = matmul_look(&context->error, &r.strips.known, a, b, c, true, &r.a, &r.b, &r.c);
  if (status == RUNG_OK) status = look(&context->error, alpha, beta, &r);
  if (status == RUNG_OK) {
    const rung_job given = {.arrays = 3,
                            .task = {.arrays = {r.a, r.b, r.c}},
                            .names = (const char *const[]){"a", "b", "c"}};
    status = rung_run_reaches(context, &given);
  }
  status = go_on(&r, status, call);
  rung_room_end(&r.room);
  return rung_strips_end(&r.strips, status, call);
}
