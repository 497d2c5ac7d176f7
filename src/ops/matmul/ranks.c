/* matmul over ranks, of which each has rows of A, the same rows of C, and some rows of B. An
 * element of C is one chain over all of A's columns, which is never cut. Ranks may be a grid, and
 * make blocks of C of others' rows too (blocks.h), where that takes less time (grid.h) and all have
 * the memory. Else every rank gets all rows of B, a block of its columns after the other, and makes
 * these columns of its C. Where there is more than one block, C is made beside its place first, for
 * a rank may fail at any of them.
 *
 *   word      how many rows of A and B has everybody, the memory for a block of B and of C, and
 *             are all about the same?
 *   word      of a grid: have all the memory? Of none, where somebody has not said so before
 *   rows      of a block of B, to all; once a block
 *   word      have all got theirs, and made all but the last?
 *   word      have all written? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "ops/matmul/blocks.h"

typedef struct run {
  matmul_over over;
  int64_t *a_rows; /* every rank's first row of A, and the end of all */
  int64_t columns; /* of a block */
  bool has_room;   /* for the rows as they lie */
  char *block;     /* in the room: (k, columns) */
  char *made;      /* in the room: (rows, n), C, where there are several blocks */
  bool on_gpus;    /* all ranks, and parcels between them */
} run;

/* What a rank says beside its rows of B. */
typedef struct said {
  int64_t rows, on_gpu;
} said;

static int64_t columns_of(const run *r) {
  return r->over.c.shape[1];
}

static bool is_whole(const run *r) {
  return r->columns >= columns_of(r);
}

/* What the word before has said: the same in all ranks. */
static rung_status check_rows(const run *r) {
  const rung_strips *s = &r->over.strips;
  const int64_t rows = rung_strips_total(s), k = r->over.a.shape[1];
  if (rows == k) return RUNG_OK;
  return rung_fail(&s->context->error, RUNG_BAD_SHAPE,
                   "a has %" PRId64 " columns and the ranks' parts of b have %" PRId64
                   " rows together; expected: as many of one as of the other",
                   k, rows);
}

/* ---- rows as they lie --------------------------------------------------------------------------
 */

static int64_t block_columns(const run *r, int64_t first) {
  const int64_t left = columns_of(r) - first;
  return left < r->columns ? left : r->columns;
}

static rung_view made_of(const run *r) {
  return rung_room_view(&r->over.room, r->made, r->over.c.dtype, 2, r->over.c.shape);
}

/* Columns [first, ...) of C, in its place or where it is made. */
static rung_view target_of(const run *r, int64_t first) {
  rung_view c = is_whole(r) ? r->over.c : made_of(r);
  rung_view_narrow(&c, 1, first, block_columns(r, first));
  return c;
}

/* A block of this rank's C; `reserve`: its memory. */
static rung_status multiply(run *r, int64_t first, bool reserve) {
  const int64_t shape[2] = {r->over.a.shape[1], block_columns(r, first)};
  const rung_view b = rung_room_view(&r->over.room, r->block, r->over.b.dtype, 2, shape);
  const rung_view c = target_of(r, first);
  return matmul_blocks_multiply(&r->over, &r->over.a, &b, &c, reserve);
}

static rung_status make_room(run *r) {
  matmul_over *o = &r->over;
  const bool whole = is_whole(r);
  const size_t row = (size_t)r->columns * rung_dtype_bytes(o->b.dtype);
  const size_t made = whole ? 0 : rung_view_bytes(&o->c);
  size_t block;
  if (__builtin_mul_overflow((size_t)o->a.shape[1], row, &block) || block > SIZE_MAX / 4)
    return rung_ranks_no_memory(&o->strips.meeting, SIZE_MAX, "columns of b and c");
  block = rung_room_bytes(block);
  const rung_status status = rung_room_make(&o->room, o->strips.context, &o->strips.meeting,
                                            block + made, "columns of b and c");
  if (status != RUNG_OK) return status;
  r->block = o->room.memory;
  r->made = o->room.memory + block;
  return multiply(r, 0, true);
}

/* Before it is known whether it is this memory that is needed: who has it not, has not failed. */
static rung_status try_room(run *r) {
  const rung_status status = make_room(r);
  r->has_room = status == RUNG_OK;
  if (status != RUNG_OUT_OF_MEMORY) return status;
  rung_error_clear(&r->over.strips.context->error);
  rung_room_end(&r->over.room);
  return RUNG_OK;
}

/* All rows of a block of B. *own: of what is the rank's own. */
static rung_status gather(run *r, int64_t first, rung_status *own) {
  matmul_over *o = &r->over;
  rung_meeting *m = &o->strips.meeting;
  const int64_t columns = block_columns(r, first);
  const size_t row = (size_t)columns * rung_dtype_bytes(o->b.dtype);
  const char *mine = NULL;
  rung_view part = o->b;
  rung_view_narrow(&part, 1, first, columns);
  if (*own == RUNG_OK)
    *own = rung_room_share(&o->room, &(rung_range){&part, 0, part.count},
                           r->block + (size_t)rung_strips_first(&o->strips) * row, &mine);
  return rung_ranks_missing(
      m, rung_ranks_gather(m, o->strips.firsts, row, r->block, mine, o->room.on_device), own);
}

/* All blocks but a single one, which is made when all have got it. */
static rung_status make_blocks(run *r) {
  const matmul_over *o = &r->over;
  rung_status own = RUNG_OK, status = RUNG_OK;
  if (!is_whole(r) && o->beta != 0)
    own = rung_room_fetch(&o->room, &(rung_range){&o->c, 0, o->c.count}, r->made);
  for (int64_t first = 0; first < columns_of(r) && status == RUNG_OK; first += r->columns) {
    status = gather(r, first, &own);
    if (status == RUNG_OK && own == RUNG_OK && !is_whole(r)) own = multiply(r, first, false);
  }
  return status == RUNG_OK ? rung_strips_word(&r->over.strips, own) : status;
}

static rung_status write_all(run *r) {
  if (is_whole(r)) return multiply(r, 0, false);
  const rung_view made = made_of(r);
  return rung_room_deliver(&r->over.room, &r->over.c, &made);
}

/* `ready`: all ranks have the memory. */
static rung_status make_as_they_lie(run *r, bool ready, rung_status *own) {
  rung_status status = RUNG_OK;
  if (!ready) status = rung_strips_word(&r->over.strips, r->has_room ? RUNG_OK : make_room(r));
  if (status == RUNG_OK) status = make_blocks(r);
  if (status == RUNG_OK) *own = write_all(r);
  return status;
}

/* ---- whichever way ------------------------------------------------------------------------------
 */

/* As a grid, where all have the memory; else rows as they lie. */
static rung_status make_as_grid(run *r, matmul_grid grid, rung_status *own) {
  rung_strips *s = &r->over.strips;
  matmul_blocks blocks;
  rung_room_end(&r->over.room);
  r->has_room = false;
  *own = matmul_blocks_begin(&r->over, grid, &blocks);
  const bool ready = *own == RUNG_OK;
  if (*own == RUNG_OUT_OF_MEMORY) {
    rung_error_clear(&s->context->error);
    *own = RUNG_OK;
  }
  const rung_status status = rung_ranks_meet_ready(&s->meeting, *own, 0, ready);
  if (status != RUNG_OK) return status;
  if (rung_strips_ready(s)) return matmul_blocks_run(&blocks, own);
  rung_room_end(&r->over.room);
  return make_as_they_lie(r, false, own);
}

/* What each rank has said of its rows of A: the same in all ranks. */
static rung_status hear_rows(run *r) {
  const rung_meeting *m = &r->over.strips.meeting;
  r->on_gpus = true;
  for (int k = 0; k < m->ranks.count; k++) {
    said of = {0, 0};
    if (m->words[k].along == sizeof of) memcpy(&of, m->words[k].more, sizeof of);
    if (m->words[k].along != sizeof of || of.rows < 0)
      return rung_fail(m->error, RUNG_RANKS_FAILED,
                       "rank %d says that it has %" PRId64 " rows of a, which no rank does", k,
                       of.rows);
    if (__builtin_add_overflow(r->a_rows[k], of.rows, &r->a_rows[k + 1]))
      return rung_fail(m->error, RUNG_TOO_LARGE,
                       "the ranks' parts of a together have more than 2^63 - 1 rows");
    r->on_gpus = r->on_gpus && of.on_gpu == 1;
  }
  return RUNG_OK;
}

static rung_status make(run *r, const matmul_grid *given, rung_status *own) {
  matmul_over *o = &r->over;
  const bool ready = rung_strips_ready(&o->strips);
  o->shares = (matmul_shares){.ranks = o->strips.meeting.ranks.count,
                              .a_rows = r->a_rows,
                              .b_rows = o->strips.firsts,
                              .n = columns_of(r),
                              .k = o->a.shape[1],
                              .element = (int64_t)rung_dtype_bytes(o->a.dtype),
                              .result = (int64_t)rung_dtype_bytes(o->c.dtype),
                              .adds = o->beta != 0};
  const matmul_grid grid =
      given != NULL ? *given : matmul_grid_of(&o->shares, matmul_rates_of(r->on_gpus));
  return grid.down > 0 ? make_as_grid(r, grid, own) : make_as_they_lie(r, ready, own);
}

/* What is to be there before the first word. */
static rung_status make_ready(run *r) {
  const matmul_over *o = &r->over;
  const rung_meeting *m = &o->strips.meeting;
  const size_t ranks = (size_t)m->ranks.count;
  size_t bytes = 0;
  r->a_rows = rung_ranks_ask(&bytes, ranks + 1, sizeof *r->a_rows);
  if (r->a_rows == NULL) return rung_ranks_no_memory(m, bytes, "what ranks say");
  r->columns = matmul_grid_step(columns_of(r), o->a.shape[1], (int64_t)rung_dtype_bytes(o->b.dtype),
                                m->ranks.count);
  return try_room(r);
}

/* From the arguments on, which `own` is about. */
static rung_status go_on(run *r, rung_status own, const rung_call *call, const matmul_grid *given) {
  rung_strips *s = &r->over.strips;
  own = rung_strips_enter(s, own, call);
  if (own == RUNG_OK) own = make_ready(r);
  said of = {0, 0};
  if (own == RUNG_OK)
    of = (said){r->over.a.shape[0], rung_room_goes_on_device(s->context, &s->meeting)};
  rung_status status =
      rung_strips_meet_with(s, own, r->over.b.shape[0], r->has_room, &of, sizeof of);
  if (status == RUNG_OK) status = check_rows(r);
  if (status == RUNG_OK) status = hear_rows(r);
  if (status == RUNG_OK) status = make(r, given, &own);
  return status == RUNG_OK ? rung_strips_word(s, own) : status;
}

/* Two dimensions, and factors that are good; names what must be the same in all ranks. */
static rung_status look(rung_error *error, double alpha, double beta, matmul_over *r) {
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

rung_status matmul_ranks(rung_context *context, const rung_ranks *ranks, double alpha,
                         const DLTensor *a, const DLTensor *b, double beta, DLTensor *c,
                         rung_call *call, const matmul_grid *given) {
  run r = {.a_rows = NULL};
  matmul_over *o = &r.over;
  rung_status status = rung_strips_begin(context, ranks, &o->strips);
  if (status != RUNG_OK) return status;
  status = rung_call_read(&context->error, call, &o->strips.known);
  if (status == RUNG_OK)
    status = matmul_look(&context->error, &o->strips.known, a, b, c, true, &o->a, &o->b, &o->c);
  if (status == RUNG_OK) status = look(&context->error, alpha, beta, o);
  if (status == RUNG_OK) {
    const rung_job job = {.arrays = 3,
                          .task = {.arrays = {o->a, o->b, o->c}},
                          .names = (const char *const[]){"a", "b", "c"}};
    status = rung_run_reaches(context, &job);
  }
  status = go_on(&r, status, call, given);
  rung_room_end(&o->room);
  free(r.a_rows);
  return rung_strips_end(&o->strips, status, call);
}

rung_status rung_matmul_ranks(rung_context *context, const rung_ranks *ranks, double alpha,
                              const DLTensor *a, const DLTensor *b, double beta, DLTensor *c,
                              rung_call *call) {
  return matmul_ranks(context, ranks, alpha, a, b, beta, c, call, NULL);
}
