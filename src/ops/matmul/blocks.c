#include "ops/matmul/blocks.h"

static int me_of(const matmul_blocks *b) {
  return b->over->strips.meeting.ranks.rank;
}

static int ranks_of(const matmul_blocks *b) {
  return b->over->strips.meeting.ranks.count;
}

rung_status matmul_blocks_multiply(matmul_over *over, const rung_view *a, const rung_view *b,
                                   const rung_view *c, bool reserve) {
  rung_strips *s = &over->strips;
  matmul_problem problem;
  rung_job job;
  rung_status status = matmul_job_of(&s->context->error, &s->known, over->alpha, a, b, over->beta,
                                     c, &problem, &job);
  if (status != RUNG_OK || c->count == 0) return status;
  job.reserve = reserve;
  status = rung_run_job(s->context, &job, &s->known, &s->used);
  if (status != RUNG_OK || reserve) return status;
  return s->context->backend->synchronize(s->context->state, &s->context->error);
}

/* ---- what is where -----------------------------------------------------------------------------
 */

static rung_view part_of(const rung_view *whole, matmul_span rows, matmul_span columns) {
  rung_view part = *whole;
  rung_view_narrow(&part, 0, rows.first, rows.count);
  rung_view_narrow(&part, 1, columns.first, columns.count);
  return part;
}

static size_t row_bytes_of_a(const matmul_blocks *b) {
  return (size_t)(b->over->shares.k * b->over->shares.element);
}

/* Of the block of C that `rank` makes. */
static matmul_span rows_of(const matmul_blocks *b, int rank) {
  return matmul_grid_rows(&b->over->shares, b->grid, rank);
}

static matmul_span columns_of(const matmul_blocks *b, int rank) {
  return matmul_grid_columns(&b->over->shares, b->grid, rank);
}

static size_t row_bytes_of_c(const matmul_blocks *b, int maker) {
  return (size_t)(columns_of(b, maker).count * b->over->shares.result);
}

/* The rows of `maker`'s block that `owner` has. */
static matmul_span rows_between(const matmul_blocks *b, int owner, int maker) {
  return matmul_grid_common(&b->over->shares, rows_of(b, maker), owner);
}

/* Rows of all, counted from this rank's first one, or from its block's. */
static matmul_span among_own(const matmul_blocks *b, matmul_span rows) {
  return (matmul_span){rows.first - b->over->shares.a_rows[me_of(b)], rows.count};
}

static matmul_span among_block(const matmul_blocks *b, matmul_span rows) {
  return (matmul_span){rows.first - b->rows.first, rows.count};
}

/* Rows of an array; none: anywhere. */
static char *row_at(char *array, matmul_span rows, size_t bytes) {
  return rows.count > 0 ? array + (size_t)rows.first * bytes : array;
}

/* Columns of step `step` of a block's. */
static matmul_span step_of(const matmul_blocks *b, matmul_span columns, int64_t step) {
  const int64_t first = step * b->step, left = columns.count - first;
  if (left <= 0) return (matmul_span){columns.first, 0};
  return (matmul_span){columns.first + first, left < b->step ? left : b->step};
}

/* What is made, or that part of this rank's rows of it which `maker` makes. */
static rung_view block_of_c(const matmul_blocks *b) {
  const int64_t shape[2] = {b->rows.count, b->columns.count};
  return rung_room_view(&b->over->room, b->c, b->over->c.dtype, 2, shape);
}

static rung_view part_of_c(const matmul_blocks *b, int maker) {
  const matmul_span rows = rows_between(b, me_of(b), maker);
  return part_of(&b->over->c, among_own(b, rows), columns_of(b, maker));
}

/* A's rows of the block, wherever. */
static rung_view left_of(const matmul_blocks *b) {
  const rung_view *a = &b->over->a;
  const int64_t shape[2] = {b->rows.count, b->over->shares.k};
  if (!b->has_rows) return rung_room_view(&b->over->room, b->a, a->dtype, 2, shape);
  return part_of(a, among_own(b, b->rows), (matmul_span){0, b->over->shares.k});
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Whether parcels may be sent from where A is. */
static bool is_lent(const matmul_over *o, bool on_device) {
  const bool here = on_device ? rung_is_local(o->strips.context, &o->a) : o->a.place == RUNG_HOST;
  return here && rung_view_is_compact(&o->a);
}

/* Bytes of so many elements; false: more than there can be. */
static bool add(size_t *bytes, int64_t rows, int64_t columns, int64_t each) {
  int64_t count, all;
  if (!rung_multiply(rows, columns, &count) || !rung_multiply(count, each, &all)) return false;
  if (all > INT64_MAX / 8) return false;
  *bytes = rung_room_bytes((size_t)all);
  return true;
}

/* Bytes of the four arrays. What others are to have is packed in turn: of A, unless it is lent; of
 * C, where what comes back lies later; and of B, for all columns of blocks but the own one. */
enum { OF_A, OF_B, OF_C, OF_PARCELS, ARRAYS };
static bool measure(const matmul_blocks *b, bool on_device, size_t bytes[ARRAYS]) {
  const matmul_over *o = b->over;
  const matmul_shares *s = &o->shares;
  const int64_t own = o->c.shape[0], width = step_of(b, b->columns, 0).count;
  const int64_t packed = b->step < s->n / b->grid.across ? b->step * b->grid.across : s->n;
  size_t a, c;
  if (!add(&bytes[OF_A], b->has_rows ? 0 : b->rows.count, s->k, s->element) ||
      !add(&bytes[OF_B], s->k, width, s->element) ||
      !add(&bytes[OF_C], b->rows.count, b->columns.count, s->result) ||
      !add(&bytes[OF_PARCELS], o->b.shape[0], packed, s->element) ||
      !add(&a, is_lent(o, on_device) ? 0 : own, s->k, s->element) || !add(&c, own, s->n, s->result))
    return false;
  if (a > bytes[OF_PARCELS]) bytes[OF_PARCELS] = a;
  if (c > bytes[OF_PARCELS]) bytes[OF_PARCELS] = c;
  return true;
}

static rung_status too_much(const matmul_blocks *b, size_t bytes) {
  return rung_ranks_no_memory(&b->over->strips.meeting, bytes, "blocks of a, b and c");
}

/* On the device if parcels may lie there: else rows as they lie take less of it. */
static rung_status make_room(matmul_blocks *b) {
  matmul_over *o = b->over;
  rung_context *context = o->strips.context;
  const bool due = rung_room_goes_on_device(context, &o->strips.meeting);
  const int64_t limit = context->memory_limit;
  size_t bytes[ARRAYS], all = 0;
  const bool fits = measure(b, due, bytes);
  for (int k = 0; fits && k < ARRAYS; k++) all += bytes[k];
  if (!fits || (limit > 0 && all > (size_t)limit)) return too_much(b, fits ? all : SIZE_MAX);
  const rung_status status =
      rung_room_make(&o->room, context, &o->strips.meeting, all, "blocks of a, b and c");
  if (status != RUNG_OK) return status;
  if (due && !o->room.on_device) return too_much(b, all);
  b->a = o->room.memory;
  b->b = b->a + bytes[OF_A];
  b->c = b->b + bytes[OF_B];
  b->parcels = b->c + bytes[OF_C];
  return RUNG_OK;
}

/* A step of this rank's block. */
static rung_status multiply(matmul_blocks *b, int64_t step, bool reserve) {
  const matmul_over *o = b->over;
  const matmul_span columns = step_of(b, b->columns, step);
  const int64_t shape[2] = {o->shares.k, columns.count};
  if (b->rows.count == 0 || columns.count == 0) return RUNG_OK;
  const rung_view left = left_of(b), whole = block_of_c(b);
  const rung_view right = rung_room_view(&o->room, b->b, o->b.dtype, 2, shape);
  const rung_view c = part_of(&whole, (matmul_span){0, b->rows.count},
                              (matmul_span){columns.first - b->columns.first, columns.count});
  return matmul_blocks_multiply(b->over, &left, &right, &c, reserve);
}

rung_status matmul_blocks_begin(matmul_over *over, matmul_grid grid, matmul_blocks *b) {
  const matmul_shares *s = &over->shares;
  void *scratch;
  *b = (matmul_blocks){.over = over, .grid = grid};
  b->rows = rows_of(b, me_of(b));
  b->columns = columns_of(b, me_of(b));
  b->step = matmul_grid_step(s->n, s->k, s->element, s->ranks);
  b->steps = matmul_grid_steps(s, grid);
  b->has_rows = rows_between(b, me_of(b), me_of(b)).count == b->rows.count;
  rung_status status = make_room(b);
  if (status == RUNG_OK) status = multiply(b, 0, true);
  if (status != RUNG_OK || over->room.on_device || over->c.place == RUNG_HOST) return status;
  /* By way of this C is written: that must not fail between its parts. */
  return rung_scratch(over->strips.context, rung_view_bytes(&over->c), &scratch);
}

/* ---- moving ------------------------------------------------------------------------------------
 */

/* Parcels of an exchange: all sent ones, then all received ones. */
typedef struct moves {
  rung_meeting *meeting;
  int sent, received;
} moves;

static moves no_moves(const matmul_blocks *b) {
  return (moves){.meeting = &b->over->strips.meeting};
}

static void send(moves *m, int rank, char *from, size_t bytes) {
  if (bytes == 0 || rank == m->meeting->ranks.rank) return;
  m->meeting->parcels[m->sent++] = (rung_parcel){rank, from, bytes, 0}; /* only read */
}

static void receive(moves *m, int rank, char *to, size_t bytes) {
  if (bytes == 0 || rank == m->meeting->ranks.rank) return;
  m->meeting->parcels[m->sent + m->received++] = (rung_parcel){rank, to, bytes, 0};
}

static rung_status move(const matmul_blocks *b, const moves *m, rung_status *own) {
  return rung_ranks_missing(
      m->meeting, rung_ranks_move(m->meeting, m->sent, m->received, b->over->room.on_device), own);
}

static rung_range all_of(const rung_view *view) {
  return (rung_range){view, 0, view->count};
}

/* This rank's rows of A, where they may be sent from. */
static rung_status lend_a(const matmul_blocks *b, char **mine) {
  const matmul_over *o = b->over;
  const rung_range all = all_of(&o->a);
  const char *lent = o->a.data;
  rung_status status = RUNG_OK;
  if (o->room.on_device || !is_lent(o, false))
    status = rung_room_lend(&o->room, &all, b->parcels, &lent);
  *mine = (char *)lent;
  return status;
}

static rung_status bring_a(matmul_blocks *b, rung_status *own) {
  const int me = me_of(b);
  const size_t row = row_bytes_of_a(b);
  const matmul_span kept = rows_between(b, me, me);
  moves m = no_moves(b);
  char *mine;
  *own = lend_a(b, &mine);
  for (int r = 0; r < ranks_of(b); r++) {
    const matmul_span rows = rows_between(b, me, r);
    send(&m, r, row_at(mine, among_own(b, rows), row), (size_t)rows.count * row);
  }
  for (int r = 0; r < ranks_of(b); r++) {
    const matmul_span rows = rows_between(b, r, me);
    receive(&m, r, row_at(b->a, among_block(b, rows), row), (size_t)rows.count * row);
  }
  if (*own == RUNG_OK && !b->has_rows && kept.count > 0) {
    const rung_view part =
        part_of(&b->over->a, among_own(b, kept), (matmul_span){0, b->over->shares.k});
    const rung_range all = all_of(&part);
    *own = rung_room_fetch(&b->over->room, &all, row_at(b->a, among_block(b, kept), row));
  }
  return move(b, &m, own);
}

/* Where rows of C that `owner` has lie in this rank's block, and how many bytes they are. */
static char *rows_in_block(const matmul_blocks *b, int owner, size_t *bytes) {
  const size_t row = row_bytes_of_c(b, me_of(b));
  const matmul_span rows = rows_between(b, owner, me_of(b));
  *bytes = (size_t)rows.count * row;
  return row_at(b->c, among_block(b, rows), row);
}

static size_t bytes_with(const matmul_blocks *b, int maker) {
  return (size_t)rows_between(b, me_of(b), maker).count * row_bytes_of_c(b, maker);
}

/* C to those that add to it. */
static rung_status bring_c(matmul_blocks *b, rung_status *own) {
  char *to = b->parcels;
  moves m = no_moves(b);
  size_t bytes;
  for (int r = 0; r < ranks_of(b); r++) {
    const bool kept = r == me_of(b);
    if (bytes_with(b, r) == 0) continue;
    const rung_view part = part_of_c(b, r);
    const rung_range all = all_of(&part);
    char *const place = kept ? rows_in_block(b, r, &bytes) : to;
    if (*own == RUNG_OK) *own = rung_room_fetch(&b->over->room, &all, place);
    send(&m, r, place, bytes_with(b, r));
    if (!kept) to += bytes_with(b, r);
  }
  for (int r = 0; r < ranks_of(b); r++) {
    char *const place = rows_in_block(b, r, &bytes);
    receive(&m, r, place, bytes);
  }
  return move(b, &m, own);
}

/* This rank's rows of columns of B, where they are sent from: those of its own block among all rows
 * of them, others packed one after the other. */
static rung_status pack_b(const matmul_blocks *b, matmul_span columns, char *to) {
  const matmul_over *o = b->over;
  const rung_view part = part_of(&o->b, (matmul_span){0, o->b.shape[0]}, columns);
  const rung_range all = all_of(&part);
  return part.count > 0 ? rung_room_queue(&o->room, &all, to) : RUNG_OK;
}

static rung_status bring_b(matmul_blocks *b, int64_t step, rung_status *own) {
  const matmul_over *o = b->over;
  rung_context *context = o->strips.context;
  const int across = b->grid.across, me = me_of(b);
  const int makers = b->grid.down * across, mine = me < makers ? me % across : -1;
  const int64_t *firsts = o->shares.b_rows, has = firsts[me + 1] - firsts[me];
  const size_t element = (size_t)o->shares.element;
  char *to = b->parcels;
  moves m = no_moves(b);
  for (int j = 0; j < across; j++) {
    const matmul_span columns = step_of(b, columns_of(b, j), step);
    const size_t row = (size_t)columns.count * element, bytes = (size_t)has * row;
    char *const place = j == mine ? b->b + (size_t)firsts[me] * row : to;
    if (*own == RUNG_OK) *own = pack_b(b, columns, place);
    for (int r = j; r < makers; r += across) send(&m, r, place, bytes);
    if (j != mine) to += bytes;
  }
  const size_t row = (size_t)step_of(b, b->columns, step).count * element;
  for (int r = 0; r < ranks_of(b); r++)
    receive(&m, r, b->b + (size_t)firsts[r] * row, (size_t)(firsts[r + 1] - firsts[r]) * row);
  if (*own == RUNG_OK) *own = context->backend->synchronize(context->state, &context->error);
  return move(b, &m, own);
}

/* What is made, to those whose rows it is: there it comes to where parcels lie. */
static rung_status bring_back(matmul_blocks *b, rung_status *own) {
  char *to = b->parcels;
  moves m = no_moves(b);
  size_t bytes;
  for (int r = 0; r < ranks_of(b); r++) {
    char *const place = rows_in_block(b, r, &bytes);
    send(&m, r, place, bytes);
  }
  for (int r = 0; r < ranks_of(b); r++) {
    if (r == me_of(b)) continue;
    receive(&m, r, to, bytes_with(b, r));
    to += bytes_with(b, r);
  }
  return move(b, &m, own);
}

/* ---- a call ------------------------------------------------------------------------------------
 */

static rung_status write_all(const matmul_blocks *b) {
  char *from = b->parcels;
  rung_status status = RUNG_OK;
  size_t bytes;
  for (int r = 0; r < ranks_of(b) && status == RUNG_OK; r++) {
    if (bytes_with(b, r) == 0) continue;
    const rung_view to = part_of_c(b, r);
    char *const place = r == me_of(b) ? rows_in_block(b, r, &bytes) : from;
    const rung_view made = rung_room_view(&b->over->room, place, to.dtype, 2, to.shape);
    status = rung_room_deliver(&b->over->room, &to, &made);
    if (r != me_of(b)) from += bytes_with(b, r);
  }
  return status;
}

rung_status matmul_blocks_run(matmul_blocks *b, rung_status *own) {
  rung_status status = bring_a(b, own);
  if (status == RUNG_OK && b->over->shares.adds) status = bring_c(b, own);
  for (int64_t step = 0; step < b->steps && status == RUNG_OK; step++) {
    status = bring_b(b, step, own);
    if (status == RUNG_OK && *own == RUNG_OK) *own = multiply(b, step, false);
  }
  if (status == RUNG_OK) status = bring_back(b, own);
  if (status == RUNG_OK) status = rung_strips_word(&b->over->strips, *own);
  if (status == RUNG_OK) *own = write_all(b);
  return status;
}
