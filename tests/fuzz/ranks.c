/* Any bytes as calls over ranks, which are threads here: jobs, cuts, numbers of ranks, and bytes
 * that come other than they were sent. Ranks leave the bits of one call on the whole. Where a
 * message was altered every rank ends, and who fails says a sentence: what it computed of it is
 * anybody's guess. */
#include <math.h>

#include "fuzz/fuzz.h"
#include "ops/ranks/cuts.h"

enum { RANKS = 6, ROOM = 1 << 20, TYPES = 8, CHANGES = 3, FEW = 256, TILE = 32768 };

static const DLDataType types[TYPES] = {{kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLFloat, 16, 1},
                                        {kDLInt, 8, 1},    {kDLUInt, 8, 1},   {kDLUInt, 16, 1},
                                        {kDLInt, 32, 1},   {kDLUInt, 64, 1}};

/* A byte of what rank `rank` receives by its exchange number `at`; or what comes is cut there. */
typedef struct change {
  int rank, at, parcel;
  size_t offset;
  uint8_t flips; /* 0: it is cut */
} change;

typedef struct world {
  over_run run;
  int changes, calls[RANKS];
  change change[CHANGES];
  const rung_ranks *inner[RANKS];
  rung_status statuses[RANKS];
} world;

static char data[TYPES][ROOM], found[ROOM], wanted[ROOM];
static world all;

/* A word that was altered may ask for any memory: what no job here needs is refused, and a status,
 * for the sanitizer's own record of it would take an eighth of it, six ranks at once. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1:max_allocation_size_mb=256";
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

static int64_t pick_total(fuzz_input *input, int64_t tile) {
  const int64_t few = fuzz_byte(input), tiles = fuzz_rarely(input, 4) ? 1 + fuzz_pick(input, 3) : 0;
  return tiles * tile + (tiles > 0 ? few - FEW / 2 : few);
}

static DLDataType pick_type(fuzz_input *input) {
  return types[fuzz_pick(input, TYPES)];
}

static void make_points(fuzz_input *input, over_job *job) {
  job->how = fuzz_byte(input) & (2 * NEAR - 1);
  job->type = types[fuzz_pick(input, 2)];
  job->total = fuzz_pick(input, 100);
  job->step = 4 + fuzz_pick(input, 2);
}

static void make_grid(fuzz_input *input, over_job *job) {
  const bool is_long = fuzz_rarely(input, 60);
  job->how = is_long ? 8 + fuzz_pick(input, 2) : fuzz_pick(input, 3);
  job->type = types[fuzz_pick(input, 2)];
  job->total = over_grids[job->how].columns * (1 + (is_long ? 0 : fuzz_pick(input, 9)));
  job->in_place = job->over == STENCIL && fuzz_pick(input, 2);
}

static void make_matrix(fuzz_input *input, over_job *job) {
  static const int of[] = {0, 1, 2, 3};
  const int kind = fuzz_pick(input, 4);
  job->how = 10 + kind;
  job->type = types[of[kind]];
  job->total = 1 + fuzz_pick(input, 50);
}

static void make_image(fuzz_input *input, over_job *job) {
  static const int of[] = {0, 4, 1, 2, 0, 5};
  const int kind = fuzz_pick(input, 6);
  job->how = 15 + kind;
  job->type = types[of[kind]];
  job->total = 1 + fuzz_pick(input, 70);
}

static void make_job(fuzz_input *input, over_job *job) {
  *job = (over_job){.over = (over)fuzz_pick(input, CONVOLVE + 1), .step = 1};
  if (job->over == PAIRS) make_points(input, job);
  if (job->over == STENCIL || job->over == RADIATOR) make_grid(input, job);
  if (job->over == MATMUL) make_matrix(input, job);
  if (job->over >= CORRELATE) make_image(input, job);
  if (job->over > HISTOGRAM) return;
  job->type = pick_type(input);
  job->total = pick_total(input, job->over == SCAN ? TILE / 4 : TILE);
  job->what = (rung_reduction)fuzz_pick(input, job->over == SCAN ? 3 : 4);
  job->how = job->over == SCAN && fuzz_pick(input, 2);
  job->in_place = job->over == SCAN && fuzz_pick(input, 2);
  if (job->over == SCAN && job->type.bits == 16 && job->type.code == kDLFloat)
    job->what = RUNG_MIN; /* of sums ranks have no f16 */
}

static void make_cuts(fuzz_input *input, int count, int64_t total, int64_t *cuts) {
  const int64_t near = fuzz_bits(input) % (uint64_t)(total + 1);
  cuts[0] = 0;
  for (int r = 1; r < count; r++) {
    const int64_t by = fuzz_byte(input);
    int64_t next = fuzz_pick(input, 2) ? near + by - FEW / 2 : total * by / (FEW - 1);
    if (next > total) next = total;
    cuts[r] = next < cuts[r - 1] ? cuts[r - 1] : next;
  }
  cuts[count] = total;
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static void make_changes(fuzz_input *input, int count) {
  all.changes = fuzz_rarely(input, 3) ? 1 + fuzz_pick(input, CHANGES) : 0;
  for (int k = 0; k < all.changes; k++) {
    change *made = &all.change[k];
    made->rank = fuzz_pick(input, count);
    made->at = fuzz_pick(input, 12);
    made->parcel = fuzz_byte(input);
    made->offset = fuzz_byte(input) | (fuzz_rarely(input, 4) ? fuzz_byte(input) << 8 : 0);
    made->flips = (uint8_t)fuzz_byte(input);
  }
}

static int exchange(void *state, rung_parcel *sent, int sends, rung_parcel *received, int receives,
                    char why[RUNG_TEXT]) {
  const rung_ranks *inner = *(const rung_ranks **)state;
  const int me = inner->rank, at = all.calls[me]++;
  const int failed = inner->exchange(inner->state, sent, sends, received, receives, why);
  for (int k = 0; k < all.changes && receives > 0; k++) {
    const change *made = &all.change[k];
    rung_parcel *parcel = &received[made->parcel % receives];
    if (made->rank != me || made->at != at || parcel->moved == 0) continue;
    const size_t offset = made->offset % parcel->moved;
    if (made->flips == 0) parcel->moved = offset;
    if (offset < parcel->bytes) ((uint8_t *)parcel->data)[offset] ^= made->flips;
  }
  return failed;
}

static rung_status work(rung_context *context, const rung_ranks *ranks, void *user) {
  const int me = ranks->rank;
  const rung_ranks way = {
      .rank = me, .count = ranks->count, .state = &all.inner[me], .exchange = exchange};
  all.inner[me] = ranks;
  return all.statuses[me] = over_rank(context, &way, user);
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static rung_context *const *contexts(void) {
  static rung_context *opened[RANKS];
  const rung_options options = {.size = sizeof options, .device = "cpu", .threads = 1};
  if (opened[0] != NULL) return opened;
  for (int r = 0; r < RANKS; r++)
    if (rung_open(&opened[r], &options) != RUNG_OK) fuzz_wrong("%s", rung_last_error(opened[r]));
  for (int t = 0; t < TYPES; t++) fill(data[t], types[t], ROOM / (types[t].bits / 8));
  over_fill_points();
  return opened;
}

static const char *data_of(DLDataType type) {
  for (int t = 0; t < TYPES; t++)
    if (types[t].code == type.code && types[t].bits == type.bits) return data[t];
  abort();
}

static void prepare(over_run *run, char *out) {
  const size_t bytes = bytes_of(&run->job);
  run->out = out;
  if (run->job.in_place)
    memcpy(out, run->in, bytes);
  else
    memset(out, 0x5a, bytes);
}

static void compare(int count, rung_status wanted_status, const int64_t one[ONE]) {
  const over_run *run = &all.run;
  for (int r = 0; r < count; r++) {
    if (all.statuses[r] != wanted_status)
      fuzz_wrong("rank %d of %d: status %d, \"%s\"; of one call %d", r, count, (int)all.statuses[r],
                 run->sentences[r], (int)wanted_status);
    if (wanted_status == RUNG_OK && !has_parts(&run->job) &&
        memcmp(run->one[r], one, sizeof run->one[r]) != 0)
      fuzz_wrong("rank %d of %d has other bits", r, count);
  }
  for (size_t i = 0; has_parts(&run->job) && i < bytes_of(&run->job); i++)
    if (found[i] != wanted[i]) fuzz_wrong("%d ranks: byte %zu is another one", count, i);
}

static void check_sentences(int count) {
  for (int r = 0; r < count; r++)
    if ((all.statuses[r] == RUNG_OK) != (all.run.sentences[r][0] == '\0'))
      fuzz_wrong("rank %d: status %d, \"%s\"", r, (int)all.statuses[r], all.run.sentences[r]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input input = {bytes, size};
  rung_context *const *opened = contexts();
  over_run *run = &all.run;
  int64_t one[ONE];
  memset(&all, 0, sizeof all);
  make_job(&input, &run->job);
  const int count = 1 + fuzz_pick(&input, RANKS);
  make_cuts(&input, count, run->job.total, run->cuts);
  make_changes(&input, count);
  run->in = data_of(run->job.type);
  if (elements_of(&run->job) * run->job.type.bits / 8 > ROOM || bytes_of(&run->job) > ROOM) abort();
  prepare(run, wanted);
  const rung_status status = over_call(opened[0], NULL, run, 0, 0, run->job.total);
  memcpy(one, run->one[0], sizeof one);
  memset(run->one, 0, sizeof run->one);
  prepare(run, found);
  /* Of altered messages it may be that ranks wait for each other. */
  rung_run_ranks(opened, count, all.changes > 0 ? 0.2 : 600, work, run);
  if (all.changes == 0) compare(count, status, one);
  check_sentences(count);
  return 0;
}
