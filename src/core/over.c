#include "core/over.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/brief.h"
#include "core/call.h"
#include "core/transfer.h"

/* ---- what a rank has on its way ---------------------------------------------------------------
 */

/* Where the elements of a piece lie. */
typedef enum place {
  IN_PART, /* in the caller's array */
  IN_HEAD  /* in the copy of the tile that its part begins within */
} place;

/* Tiles of the whole that this rank computes in one go. */
typedef struct piece {
  int64_t first, count;
  place place;
  bool left; /* RUNG_PARTS is another rank's */
  int64_t range;
} piece;

/* Results of parts, one after the other: `head`, and then the outputs' bytes in multiples of 8. */
typedef struct head {
  int64_t first, count, bytes[RUNG_TASK_ARRAYS];
} head;

typedef struct message {
  char *data;
  size_t used, room;
} message;

typedef struct run {
  rung_context *context;
  rung_over *over;
  rung_call known;
  const char *used;
  rung_meeting meeting;
  rung_brief brief;
  bool is_brief;             /* this rank's may be; then, all ranks' are */
  int64_t first, end, total; /* this rank's part [first, end) of the whole */
  int64_t *firsts;           /* of all ranks, and the total behind them */
  rung_room room;            /* three tiles: head, tail, and the head's results; or brief's */
  piece *pieces;
  int count, most; /* pieces */
  int64_t origin;  /* of the piece that is being run */
  message mine;
  char *all;     /* messages */
  int64_t *ends; /* where each rank's begins in them, and the end of all */
  void *state;
  size_t state_bytes;
  rung_view outputs[RUNG_TASK_ARRAYS];
} run;

static int last_axis(const run *r) {
  return r->over->job.axes - 1;
}

static const rung_view *part_of(const run *r) {
  return &r->over->job.task.arrays[0];
}

static int64_t element_of(const run *r) {
  return (int64_t)rung_dtype_bytes(part_of(r)->dtype);
}

enum { HEAD, TAIL, RESULT, COPIES };
static char *copy_at(const run *r, int which) {
  return r->room.memory + which * r->over->tile * element_of(r);
}

static int64_t tile_at(const run *r, int64_t at) {
  return at - at % r->over->tile;
}

/* The end of the tile that begins at `at`. */
static int64_t tile_end(const run *r, int64_t at) {
  return r->total - at < r->over->tile ? r->total : at + r->over->tile;
}

static int64_t lesser(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* What words need, and all that a rank needs before it knows of the others. */
static rung_status make_ready(run *r, rung_status status) {
  rung_meeting *m = &r->meeting;
  const size_t ranks = (size_t)m->ranks.count;
  size_t bytes = 0;
  /* Not cleared: of words that have not come nothing is read. */
  bool there = rung_ranks_make_words(m, &bytes);
  if (status == RUNG_OK) {
    const rung_over *over = r->over;
    const int64_t longest = over->tile * over->family * over->family;
    r->most = 8;
    if (over->single) r->most += (int)(4 * over->family + part_of(r)->count / longest);
    r->firsts = rung_ranks_ask(&bytes, ranks + 1, sizeof *r->firsts);
    r->ends = rung_ranks_ask(&bytes, ranks + 1, sizeof *r->ends);
    r->pieces = rung_ranks_ask(&bytes, (size_t)r->most, sizeof *r->pieces);
    const size_t copies = over->tile > 1 ? (size_t)(COPIES * over->tile * element_of(r)) : 0;
    const size_t brief = rung_brief_room(r->context, over, m, &r->known);
    const size_t room = copies > brief ? copies : brief;
    there &= r->firsts != NULL && r->ends != NULL && r->pieces != NULL &&
             rung_room_make(&r->room, r->context, m, room, "tiles between ranks") == RUNG_OK;
    bytes += room;
    if (there && brief > 0)
      r->is_brief = rung_brief_make(&r->brief, r->context, r->over, &r->room, m->ranks.count);
  }
  if (there) return status;
  free(m->words); /* the word goes without it */
  m->words = NULL;
  return status == RUNG_OK
             ? rung_ranks_no_memory(&r->meeting, bytes, "what ranks say and tiles between them")
             : status;
}

/* The state. Little of a long one is ever touched: it is of pages that are zeros already, for
 * calloc() may clear memory that has been used, of a scan of 2^32 elements for a millisecond. */
enum { LONG_STATE = 1 << 20 };
static void *make_state(size_t bytes, size_t zeros) {
  if (bytes < LONG_STATE) {
    char *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory != NULL) memset(memory + bytes - zeros, 0, zeros);
    return memory;
  }
  /* cppcheck-suppress invalidFunctionArg ; an anonymous mapping has no file */
  void *state = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (state == MAP_FAILED) return NULL;
  return state;
}
static void free_state(void *state, size_t bytes) {
  if (bytes < LONG_STATE)
    free(state);
  else if (state != NULL)
    munmap(state, bytes);
}

static void give_back(run *r) {
  rung_brief_end(&r->brief);
  rung_room_end(&r->room);
  void *memory[] = {r->meeting.words, r->meeting.parcels, r->firsts, r->ends,
                    r->pieces,        r->mine.data,       r->all};
  free_state(r->state, r->state_bytes);
  for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) free(memory[i]);
  for (int a = 0; a < RUNG_TASK_ARRAYS; a++) free(r->outputs[a].data);
}

/* ---- elements of tiles that are cut ------------------------------------------------------------
 */

/* [first, end) of the whole, of the part. */
static rung_range range_of(const run *r, int64_t first, int64_t end) {
  return (rung_range){part_of(r), first - r->first, end - first};
}

/* What the word before has said: where everybody's part lies. */
static rung_status locate(run *r) {
  const rung_meeting *m = &r->meeting;
  const int64_t most = (int64_t)1 << 61;
  for (int k = 0; k < m->ranks.count; k++) {
    if (m->words[k].number > most - r->firsts[k])
      return rung_fail(&r->context->error, RUNG_TOO_LARGE,
                       "all ranks' parts together have more than 2^61 elements; expected: at most "
                       "2^40");
    r->firsts[k + 1] = r->firsts[k] + m->words[k].number;
  }
  r->first = r->firsts[m->ranks.rank];
  r->end = r->firsts[m->ranks.rank + 1];
  r->total = r->firsts[m->ranks.count];
  return r->over->whole(&r->context->error, r->total, r->over);
}

/* Sends what it has of the tile that its part ends within, and gets what others have of the one
 * that it begins within. *own: of what is the rank's own. */
static rung_status trade(run *r, rung_status *own) {
  rung_meeting *m = &r->meeting;
  const int me = m->ranks.rank;
  const int64_t element = element_of(r), *firsts = r->firsts;
  const int64_t tail = tile_at(r, r->end), from = greater(r->first, tail);
  const int64_t begin = tile_at(r, r->first);
  int sends = 0, receives = 0;
  if (r->over->tile == 1 || r->first == r->end) return RUNG_OK;
  const rung_range ends_with = range_of(r, from, r->end);
  const char *lent = copy_at(r, TAIL);
  if (r->end < r->total && r->end > tail)
    *own = rung_room_lend(&r->room, &ends_with, copy_at(r, TAIL), &lent);
  for (int k = me + 1; k < m->ranks.count && r->end > tail; k++)
    if (firsts[k] < firsts[k + 1] && firsts[k] < tile_end(r, tail)) /* who sends does not write */
      m->parcels[sends++] = (rung_parcel){k, (void *)lent, (size_t)((r->end - from) * element), 0};
  for (int k = 0; k < me; k++) {
    const int64_t first = greater(firsts[k], begin), count = firsts[k + 1] - first;
    if (count > 0 && firsts[k] < firsts[k + 1])
      m->parcels[sends + receives++] = (rung_parcel){
          k, copy_at(r, HEAD) + (first - begin) * element, (size_t)(count * element), 0};
  }
  const rung_range begins_with = range_of(r, r->first, lesser(r->end, tile_end(r, begin)));
  if (*own == RUNG_OK && r->first > begin)
    *own = rung_room_queue(&r->room, &begins_with, copy_at(r, HEAD) + (r->first - begin) * element);
  return rung_ranks_missing(m, rung_ranks_move(m, sends, receives, r->room.on_device), own);
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

static void add_piece(run *r, int64_t first, int64_t count, place place, bool left) {
  if (count > 0) r->pieces[r->count++] = (piece){first, count, place, left, 0};
}

/* Many ranges of a level side by side, of the longest that begin at `first`, up to where longer
 * ones begin; of few tiles all, for each row is waited for; or what is left at the end. Of a line
 * the last range is one by itself, for nothing comes after it that would need to know what it comes
 * to. */
enum { FEW_TILES = 256 };
static int64_t longest_row(const run *r, int64_t first, int64_t end) {
  const int64_t family = r->over->family, left = end - first;
  int64_t range = r->over->tile, longer = left > FEW_TILES * range ? range * family : 0;
  while (longer > 0 && first % longer == 0 && left >= longer) {
    range = longer;
    longer *= family;
  }
  const int64_t next = longer > 0 ? first - first % longer + longer : 0;
  if (left < range) return left;
  if (next > first && end - next >= longer) return next - first;
  const int64_t row = left - left % range;
  return r->over->job.cut->again && first + row == r->total && row > range ? row - range : row;
}

/* One range: tiles of tiles at most of the second level, which bounds what it takes of memory; of a
 * GPU of the third, for its launches are to be long. It has the memory, or the plan cuts them. */
static int64_t longest_range(const run *r, int64_t first, int64_t end) {
  const rung_over *over = r->over;
  const int levels = r->context->device.kind == RUNG_CUDA ? 3 : 2;
  int64_t range = over->tile;
  for (int level = 0; level < levels; level++) {
    const int64_t longer = range * over->family;
    if (first % longer != 0 || end - first < longer) break;
    range = longer;
  }
  return lesser(range, end - first);
}

/* Whether the arrays are taken as they lie, and so need no memory. */
static bool lies_ready(const run *r) {
  const rung_job *job = &r->over->job;
  for (int a = 0; a < job->arrays; a++)
    if (!rung_is_local(r->context, &job->task.arrays[a]) ||
        !rung_view_is_compact(&job->task.arrays[a]))
      return false;
  return true;
}

/* Arrays that are copied go a range at a time, which bounds the memory; a short row is one copy. */
enum { SHORT_ROW = 32 << 20 };
static int64_t next_piece(const run *r, bool ready, int64_t first, int64_t end) {
  const int64_t row = longest_row(r, first, end);
  if (ready || !r->over->single || row <= SHORT_ROW / element_of(r)) return row;
  return longest_range(r, first, end);
}

static void list_pieces(run *r) {
  const int64_t begin = tile_at(r, r->first);
  const int64_t whole = r->end == r->total ? r->end : tile_at(r, r->end);
  const bool ready = lies_ready(r);
  int64_t at = r->first;
  if (r->first == r->end) return;
  if (at > begin) {
    const int64_t end = tile_end(r, begin);
    add_piece(r, begin, lesser(r->end, end) - begin, IN_HEAD, r->end < end);
    at = end;
  }
  while (at < whole) {
    const int64_t count = next_piece(r, ready, at, whole);
    add_piece(r, at, count, IN_PART, false);
    at += count;
  }
  if (at < r->end) add_piece(r, at, r->end - at, IN_PART, true);
}

/* The arrays (1, elements) that copies are. */
static void look_at_copies(const run *r, rung_job *job, const piece *piece) {
  const int64_t shape[2] = {1, piece->count};
  const rung_dtype dtype = part_of(r)->dtype;
  job->task.arrays[0] = rung_room_view(&r->room, copy_at(r, HEAD), dtype, 2, shape);
  if (job->cut->again)
    job->task.arrays[job->inputs] = rung_room_view(&r->room, copy_at(r, RESULT), dtype, 2, shape);
}

static rung_status collect(void *to, const rung_piece *piece, const rung_view *results) {
  run *r = (run *)to;
  const rung_job *job = &r->over->job;
  message *m = &r->mine;
  head head = {.first = r->origin + piece->first[job->axes - 1],
               .count = piece->count[job->axes - 1]};
  size_t bytes = sizeof head;
  for (int a = job->inputs; a < job->arrays; a++) {
    head.bytes[a] = (int64_t)rung_view_bytes(&results[a]);
    bytes += ((size_t)head.bytes[a] + 7) / 8 * 8;
  }
  const bool add = r->over->adds && m->used > 0;
  if (!add && m->used + bytes > m->room) {
    const size_t room = 2 * m->room + bytes;
    char *data = realloc(m->data, room);
    if (data == NULL) return rung_ranks_no_memory(&r->meeting, room, "results of parts");
    m->data = data;
    m->room = room;
  }
  char *at = add ? m->data : m->data + m->used;
  if (!add) {
    memset(at, 0, bytes);
    memcpy(at, &head, sizeof head);
    m->used += bytes;
  }
  at += sizeof head;
  for (int a = job->inputs; a < job->arrays; a++) {
    if (add)
      for (int64_t i = 0; i < results[a].count; i++)
        ((uint64_t *)at)[i] += ((const uint64_t *)results[a].data)[i];
    else if (head.bytes[a] > 0)
      memcpy(at, results[a].data, (size_t)head.bytes[a]);
    at += (head.bytes[a] + 7) / 8 * 8;
  }
  return RUNG_OK;
}

/* The head's results, as far as the part goes. */
static rung_status deliver_head(const run *r, const piece *piece) {
  const int64_t shape[2] = {1, piece->first + piece->count - r->first};
  char *own = copy_at(r, RESULT) + (r->first - piece->first) * element_of(r);
  const rung_view from = rung_room_view(&r->room, own, part_of(r)->dtype, 2, shape);
  rung_view to = r->over->job.task.arrays[r->over->job.inputs];
  rung_view_narrow(&to, 1, 0, shape[1]);
  return rung_room_deliver(&r->room, &to, &from);
}

/* `only`: no more than the memory for it. */
static rung_status run_piece(run *r, piece *piece, rung_stage stage, bool only) {
  rung_job job = r->over->job;
  if (stage == RUNG_PARTS && piece->left) {
    piece->range = piece->count; /* less than a tile */
    return RUNG_OK;
  }
  r->origin = piece->place == IN_PART ? r->first : piece->first;
  if (r->over->origin != NULL) *r->over->origin = r->origin;
  if (piece->place == IN_HEAD) look_at_copies(r, &job, piece);
  rung_stretch stretch = {.stage = stage,
                          .first = piece->first - r->origin,
                          .count = piece->count,
                          .range = stage == RUNG_AGAIN ? piece->range : 0,
                          .state = r->state,
                          .take = collect,
                          .to = r};
  job.reserve = only;
  const rung_status status = rung_run_stretch(r->context, &job, &r->known, &stretch, &r->used);
  piece->range = stretch.range;
  if (status != RUNG_OK || stage != RUNG_AGAIN || only || piece->place != IN_HEAD) return status;
  return deliver_head(r, piece);
}

static rung_status run_pieces(run *r, rung_stage stage, bool only) {
  rung_status status = RUNG_OK;
  for (int k = 0; k < r->count && status == RUNG_OK; k++)
    status = run_piece(r, &r->pieces[k], stage, only);
  return status;
}

/* ---- results of all parts ----------------------------------------------------------------------
 */

/* All of the job, as finish() and take() see it. */
static rung_piece block_of(const run *r) {
  rung_piece block = {.stage = RUNG_PARTS};
  for (int k = 0; k < last_axis(r); k++) block.count[k] = 1;
  block.count[last_axis(r)] = r->total;
  return block;
}

/* What a rank needs to put together all results. */
static rung_status make_room(run *r) {
  const rung_job *job = &r->over->job;
  const rung_piece block = block_of(r);
  size_t bytes = r->state_bytes = job->cut->state_bytes(r->over->problem, &block);
  r->state = make_state(bytes, job->cut->state_zeros != NULL
                                   ? job->cut->state_zeros(r->over->problem, &block)
                                   : bytes);
  bool there = r->state != NULL;
  for (int a = job->inputs; a < job->arrays && !job->cut->again; a++) {
    const rung_view *out = &job->task.arrays[a];
    if (out->count == 0) continue;
    void *memory = rung_ranks_ask(&bytes, rung_view_bytes(out), 1);
    r->outputs[a] = rung_view_compact(memory, out->dtype, out->ndim, out->shape);
    there &= memory != NULL;
  }
  if (!there) return rung_ranks_no_memory(&r->meeting, bytes, "all ranks' results of parts");
  return job->cut->again ? run_pieces(r, RUNG_AGAIN, true) : RUNG_OK;
}

/* And what it needs for the results of all ranks, where these have not come with a word. */
static rung_status make_room_for_all(run *r) {
  const int ranks = r->meeting.ranks.count, me = r->meeting.ranks.rank;
  size_t bytes = 0;
  for (int k = 0; k < ranks; k++)
    if (__builtin_add_overflow(r->ends[k], r->meeting.words[k].number, &r->ends[k + 1]))
      return rung_fail(&r->context->error, RUNG_RANKS_FAILED,
                       "the ranks' results of parts have more than 2^63 - 1 bytes together");
  r->all = rung_ranks_ask(&bytes, (size_t)r->ends[ranks], 1);
  if (r->all == NULL)
    return rung_ranks_no_memory(&r->meeting, bytes, "all ranks' results of parts");
  if (r->mine.used > 0) memcpy(r->all + r->ends[me], r->mine.data, r->mine.used);
  return RUNG_OK;
}

/* Whether putting together cannot fail: nothing runs again, and it copies numbers in host memory.
 */
static bool is_sure(const run *r) {
  const rung_job *job = &r->over->job;
  return !job->cut->again &&
         rung_ranks_on_host(&job->task.arrays[job->inputs], job->arrays - job->inputs);
}

/* The word that all have computed, and their results. */
static rung_status gather_results(run *r, rung_status *own) {
  rung_meeting *m = &r->meeting;
  rung_status status = rung_ranks_tell(m, *own, r->mine.data, r->mine.used, is_sure(r));
  if (status != RUNG_OK || rung_ranks_told(m)) return status;
  *own = make_room_for_all(r);
  status = rung_ranks_meet(m, *own, 0);
  if (status != RUNG_OK) return status;
  return rung_ranks_missing(m, rung_ranks_gather(m, r->ends, 1, r->all, NULL, false), own);
}

/* Where a rank's are. */
static char *results_of(const run *r, int rank, size_t *bytes) {
  rung_word *word = &r->meeting.words[rank];
  *bytes = r->all != NULL ? (size_t)(r->ends[rank + 1] - r->ends[rank]) : (size_t)word->number;
  return r->all != NULL ? r->all + r->ends[rank] : word->more;
}

/* One rank's results, if that is what they are. */
static bool take_results(const run *r, char *at, size_t bytes) {
  const rung_job *job = &r->over->job;
  while (bytes > 0) {
    rung_piece piece = block_of(r);
    rung_view results[RUNG_TASK_ARRAYS] = {{0}};
    head head;
    if (bytes < sizeof head) return false;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    bytes -= sizeof head;
    if (head.first < 0 || head.count < 0 || head.count > r->total - head.first) return false;
    piece.first[last_axis(r)] = head.first;
    piece.count[last_axis(r)] = head.count;
    for (int a = job->inputs; a < job->arrays; a++) {
      const size_t padded = ((size_t)head.bytes[a] + 7) / 8 * 8;
      if (head.bytes[a] < 0 || padded > bytes) return false;
      results[a] = rung_view_compact(at, RUNG_U8, 1, &head.bytes[a]);
      at += padded;
      bytes -= padded;
    }
    if (!job->cut->take(r->over->problem, &piece, results, r->state)) return false;
  }
  return true;
}

static rung_status put_together(run *r) {
  const rung_job *job = &r->over->job;
  const rung_piece block = block_of(r);
  rung_status status = RUNG_OK;
  for (int k = 0; k < r->meeting.ranks.count; k++) {
    size_t bytes;
    char *at = results_of(r, k, &bytes);
    if (!take_results(r, at, bytes))
      return rung_fail(&r->context->error, RUNG_RANKS_FAILED,
                       "rank %d sent results of parts that are none", k);
  }
  job->cut->finish(r->over->problem, &block, r->state, r->outputs);
  if (job->cut->again) return run_pieces(r, RUNG_AGAIN, false);
  for (int a = job->inputs; a < job->arrays && status == RUNG_OK; a++)
    if (r->outputs[a].count > 0)
      status = rung_deliver(r->context, &job->task.arrays[a], &r->outputs[a]);
  return status;
}

/* ---- a call ------------------------------------------------------------------------------------
 */

/* From the first word on, which all have agreed on. */
static rung_status go_on(run *r) {
  rung_meeting *m = &r->meeting;
  rung_status own = RUNG_OK, status = locate(r);
  if (status == RUNG_OK && r->is_brief && r->total <= RUNG_BRIEF / element_of(r))
    return rung_brief_run(&r->brief, m, r->firsts, &r->known, &r->used);
  if (status == RUNG_OK) status = trade(r, &own);
  if (status != RUNG_OK) return status;
  list_pieces(r);
  if (own == RUNG_OK) own = run_pieces(r, RUNG_PARTS, false);
  if (own == RUNG_OK) own = make_room(r);
  if ((status = gather_results(r, &own)) != RUNG_OK) return status;
  const bool sure = rung_ranks_sure(m);
  if (own == RUNG_OK) own = put_together(r);
  if (sure) return own;
  if (own == RUNG_OK && r->over->job.cut->again) /* else results have been waited for */
    own = r->context->backend->synchronize(r->context->state, &r->context->error);
  return rung_ranks_meet(m, own, 0);
}

rung_status rung_over_enter(rung_context *context, const rung_call *call, rung_call *known,
                            bool *begun) {
  const rung_status status = rung_call_begin(context, call, known);
  *begun = status == RUNG_OK;
  if (status == RUNG_OK && context->capturing)
    return rung_fail(&context->error, RUNG_BAD_PLACE,
                     "the stream is under capture, and ranks wait for each other; expected: "
                     "another stream");
  return status;
}

rung_status rung_over_within(rung_context *context, const rung_ranks *ranks, rung_status status,
                             rung_over *over, const rung_call *known, const char **used) {
  run r = {.context = context, .over = over, .known = *known};
  r.meeting = (rung_meeting){.ranks = *ranks, .error = &context->error, .job = over->name};
  if (status == RUNG_OK) status = rung_run_reaches(context, &over->job);
  status = make_ready(&r, status);
  const int64_t count = status == RUNG_OK ? part_of(&r)->count : 0;
  status = rung_ranks_meet_with(&r.meeting, status, count, r.is_brief, r.brief.said,
                                r.is_brief ? rung_brief_along(&r.brief) : 0);
  r.is_brief = status == RUNG_OK && rung_ranks_ready(&r.meeting);
  if (status == RUNG_OK) status = go_on(&r);
  give_back(&r);
  *used = r.used;
  return status;
}

rung_status rung_over_run(rung_context *context, const rung_ranks *ranks, rung_status status,
                          rung_over *over, rung_call *call) {
  rung_call known = {0};
  const char *used = NULL;
  bool begun = false;
  if (status == RUNG_OK) status = rung_over_enter(context, call, &known, &begun);
  status = rung_over_within(context, ranks, status, over, &known, &used);
  return begun ? rung_call_end(context, status, call, used) : status;
}

rung_status rung_over_begin(rung_context *context, const rung_ranks *given, rung_ranks *ranks) {
  rung_error none = {RUNG_OK, ""}, *error = &none;
  const rung_status status = rung_begin(context);
  if (context != NULL) error = &context->error;
  const rung_status read = rung_ranks_read(status == RUNG_OK ? error : NULL, given, ranks);
  if (status == RUNG_OK) return read == RUNG_OK ? RUNG_OK : rung_end(context, read);
  if (read != RUNG_OK) return status;
  rung_error said = *error;
  if (context == NULL) rung_fail(&said, status, "context is NULL; expected: one that is open");
  rung_meeting meeting = {.ranks = *ranks, .error = &said, .job = ""};
  return rung_ranks_meet(&meeting, status, 0);
}
