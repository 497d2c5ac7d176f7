/* All frames of a file: read, chosen from, counted, summed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pairs.h"

static const char verb[] = "pairs";

/* What one run writes: bins, what is outside, sums. */
typedef struct tally {
  int64_t *counts, outside[3];
  double *sums;
} tally;

typedef struct work {
  const cli_common *common;
  const pairs_request *r;
  pairs_result *result;
  cli_team team;
  rung_context *brute; /* the CPU's, for --check */
  pairs_sets sets, drawn;
  tally now, other;
  tally *spare; /* of devices of --devices behind the first one */
} work;

/* ---- one run ----------------------------------------------------------------------------------
 */

static rung_status make_tally(const pairs_result *result, bool sums, tally *made,
                              rung_error *error) {
  const size_t bins = (size_t)result->bins.count;
  made->counts = malloc(bins * sizeof *made->counts);
  made->sums = sums ? malloc(bins * sizeof *made->sums) : NULL;
  if (made->counts && (made->sums || !sums)) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %zu bins", bins);
}

static rung_status make_tallies(work *w, rung_error *error) {
  const bool sums = w->r->weighted;
  const int others = w->team.count - 1;
  w->spare = calloc((size_t)others + 1, sizeof *w->spare);
  rung_status status = make_tally(w->result, sums, &w->now, error);
  if (!status && !w->spare)
    status = rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %d devices", others + 1);
  for (int k = 0; k < others && !status; k++)
    status = make_tally(w->result, sums, &w->spare[k], error);
  if (!status && w->r->check) status = make_tally(w->result, sums, &w->other, error);
  return status;
}

static void free_tally(tally *made) {
  free(made->counts);
  free(made->sums);
  *made = (tally){0};
}

static void free_tallies(work *w) {
  free_tally(&w->now);
  free_tally(&w->other);
  for (int k = 0; w->spare && k < w->team.count - 1; k++) free_tally(&w->spare[k]);
  free(w->spare);
}

/* What a rank passes of a set that all have read. */
typedef struct share {
  rung_points points;
  DLTensor at, weights, molecules;
  int64_t shape[2];
} share;

static void take_share(const pairs_set *of, const rung_ranks *ranks, share *s) {
  const array_about all = {.ndim = 1, .shape = {of->shape[0]}};
  int64_t first;
  s->shape[0] = share_of(&all, SHARE_ELEMENTS, ranks->rank, ranks->count, &first);
  s->shape[1] = 3;
  s->points = of->points;
  const DLTensor *const from[] = {of->points.at, of->points.weights, of->points.molecules};
  DLTensor *const to[] = {&s->at, &s->weights, &s->molecules};
  for (int i = 0; i < 3; i++) {
    if (!from[i]) continue;
    const int64_t each = from[i]->dtype.bits / 8 * (i == 0 ? 3 : 1);
    *to[i] = *from[i];
    to[i]->data = (char *)from[i]->data + first * each;
    to[i]->shape = s->shape;
  }
  s->points.at = from[0] ? &s->at : NULL;
  s->points.weights = from[1] ? &s->weights : NULL;
  s->points.molecules = from[2] ? &s->molecules : NULL;
}

/* One run, of whichever devices. */
typedef struct counting {
  const work *w;
  const pairs_sets *sets;
  const rung_box *box;
  tally *to;
} counting;

static rung_status count_part(rung_context *context, const rung_ranks *ranks, void *of,
                              rung_call *call) {
  const counting *c = of;
  const work *w = c->w;
  const pairs_sets *sets = c->sets;
  tally *to = ranks && ranks != ranks_all() && ranks->rank > 0 ? &w->spare[ranks->rank - 1] : c->to;
  int64_t bins = w->result->bins.count, three = 3;
  DLTensor counts = {.data = to->counts,
                     .device = {kDLCPU, 0},
                     .ndim = 1,
                     .dtype = {kDLInt, 64, 1},
                     .shape = &bins};
  DLTensor outside = counts, sums = counts;
  outside.data = to->outside;
  outside.shape = &three;
  sums.data = to->sums;
  sums.dtype = (DLDataType){kDLFloat, 64, 1};
  DLTensor *summed = to->sums ? &sums : NULL;
  if (ranks) {
    share a, b;
    take_share(&sets->a, ranks, &a);
    take_share(&sets->b, ranks, &b);
    return rung_pairs_ranks(context, ranks, &a.points, sets->cross ? &b.points : NULL, c->box,
                            &w->result->bins, &counts, &outside, summed, call);
  }
  return rung_pairs(context, &sets->a.points, sets->cross ? &sets->b.points : NULL, c->box,
                    &w->result->bins, &counts, &outside, summed, call);
}

static rung_status count(const work *w, const pairs_sets *sets, const rung_box *box,
                         rung_call *call, tally *to, rung_error *error) {
  counting c = {w, sets, box, to};
  return team_run(&w->team, count_part, &c, call, error);
}

static rung_status count_brute(work *w, const pairs_sets *sets, const rung_box *box,
                               rung_error *error) {
  counting c = {w, sets, box, &w->other};
  rung_call call = {.rung = "serial"};
  return cli_carry(w->brute, count_part(w->brute, NULL, &c, &call), error);
}

/* ---- --check ----------------------------------------------------------------------------------
 */

static rung_status compare(const work *w, int64_t frame, const tally *found, const tally *wanted,
                           const char *rung, rung_error *error) {
  static const char *const outer[] = {"below the bins", "above the bins", "without a distance"};
  const pairs_result *result = w->result;
  for (int64_t k = 0; k < result->bins.count; k++) {
    if (found->counts[k] != wanted->counts[k])
      return rung_fail(error, RUNG_CHECK_FAILED,
                       "frame %lld: bin %lld, from %.9g to %.9g: rung %s counts %lld pairs, and "
                       "brute force %lld",
                       (long long)frame, (long long)k, result->edges[k], result->edges[k + 1], rung,
                       (long long)found->counts[k], (long long)wanted->counts[k]);
    if (found->sums && memcmp(&found->sums[k], &wanted->sums[k], sizeof *found->sums) != 0)
      return rung_fail(error, RUNG_CHECK_FAILED,
                       "frame %lld: bin %lld, from %.9g to %.9g: rung %s sums to %.17g, and brute "
                       "force to %.17g",
                       (long long)frame, (long long)k, result->edges[k], result->edges[k + 1], rung,
                       found->sums[k], wanted->sums[k]);
  }
  for (int i = 0; i < 3; i++)
    if (found->outside[i] != wanted->outside[i])
      return rung_fail(error, RUNG_CHECK_FAILED,
                       "frame %lld: rung %s counts %lld pairs %s, and brute force %lld",
                       (long long)frame, rung, (long long)found->outside[i], outer[i],
                       (long long)wanted->outside[i]);
  return RUNG_OK;
}

/* The frame as it was counted against brute force; a large one by a sample that both count. */
static rung_status check(work *w, const points_frame *frame, const rung_box *box,
                         rung_error *error) {
  const int64_t most = w->r->sample;
  const pairs_sets *sets = &w->sets;
  const uint64_t seed = w->common->seed + 2 * (uint64_t)frame->number;
  tally *found = &w->now;
  rung_status status = RUNG_OK;
  rung_call call = {.rung = w->result->rung, .block = w->common->block};
  if (sets->a.shape[0] > most || (sets->cross && sets->b.shape[0] > most)) {
    w->drawn.cross = sets->cross;
    status = pairs_draw(&sets->a, most, seed, &w->drawn.a, error);
    if (!status && sets->cross) status = pairs_draw(&sets->b, most, seed + 1, &w->drawn.b, error);
    sets = &w->drawn;
    if (!status) status = count(w, sets, box, &call, found, error);
  }
  if (!status) status = count_brute(w, sets, box, error);
  if (!status) status = compare(w, frame->number, found, &w->other, w->result->rung, error);
  w->result->checked += !status;
  return status;
}

/* ---- a frame ----------------------------------------------------------------------------------
 */

static double volume_of(const pairs_request *r, const rung_box *box) {
  if (r->volume > 0) return r->volume;
  const double *a = box->a, *b = box->b, *c = box->c;
  return fabs(a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
              a[2] * (b[0] * c[1] - b[1] * c[0]));
}

static rung_status begin(work *w, const points_frame *frame, const rung_box *box,
                         rung_error *error) {
  const bool boxed = box != NULL;
  if (w->result->frames > 0 && boxed != w->result->boxed)
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "%s: frame %lld is in %s, and those before it in %s; expected: --open or --box", w->r->path,
        (long long)frame->number, boxed ? "a box" : "no box", boxed ? "none" : "one");
  w->result->boxed = boxed;
  if (w->r->rdf && !box && w->r->volume == 0)
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "%s: frame %lld is in no box, whose volume --rdf needs; expected: --volume V or --box",
        w->r->path, (long long)frame->number);
  if (w->result->bins.count > 0) return RUNG_OK;
  rung_status status = pairs_settle(w->r, box, frame, w->result, error);
  return status ? status : make_tallies(w, error);
}

static void add(work *w, const rung_box *box) {
  pairs_result *result = w->result;
  double pairs = 0;
  for (int64_t k = 0; k < result->bins.count; k++) {
    result->counts[k] += w->now.counts[k];
    pairs += (double)w->now.counts[k];
    if (result->sums) result->sums[k] += w->now.sums[k];
  }
  for (int i = 0; i < 3; i++) {
    result->outside[i] += w->now.outside[i];
    pairs += (double)w->now.outside[i];
  }
  result->cross = w->sets.cross;
  result->frames++;
  result->points += (double)w->sets.a.shape[0];
  if (w->sets.cross) result->others += (double)w->sets.b.shape[0];
  if (w->r->rdf) result->density += pairs / volume_of(w->r, box);
}

static rung_status take_frame(work *w, const points_frame *frame, rung_error *error) {
  const rung_box *box = w->r->has_box ? &w->r->box : NULL;
  if (frame->has_box && !w->r->open && !w->r->has_box) box = &frame->box;
  rung_status status = begin(w, frame, box, error);
  if (!status) status = pairs_fit(w->result, box, frame->number, error);
  if (!status) status = pairs_select(w->common, w->r, frame, &w->sets, error);
  rung_call call = {.rung = w->common->rung, .block = w->common->block, .math = w->common->math};
  if (ranks_all()) status = ranks_agree(error);
  if (!status) status = count(w, &w->sets, box, &call, &w->now, error);
  if (status) return status;
  w->result->rung = call.used;
  add(w, box);
  return w->r->check ? check(w, frame, box, error) : RUNG_OK;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

static bool wanted(const pairs_request *r, int64_t frame) {
  return frame >= r->first && (frame - r->first) % r->step == 0;
}

/* Ranks have come to the same frame, or all to the end. */
static rung_status meet(const work *w, const points_frame *frame, bool more, rung_error *error) {
  int64_t mine[2] = {-1, 0};
  if (!ranks_all()) return error->status;
  if (!error->status && more) {
    mine[0] = frame->number;
    mine[1] = frame->count;
  }
  const int64_t *all = ranks_gather(mine, sizeof mine, error);
  for (int k = 0; all && k < ranks_all()->count; k++)
    if (all[2 * k] != all[0] || all[2 * k + 1] != all[1])
      return rung_fail(error, RUNG_BAD_FILE,
                       "%s: rank %d has other frames than rank 0; expected: the same file in all "
                       "ranks, which nobody writes",
                       w->r->path, k);
  return error->status;
}

static rung_status take_frames(work *w, points *file, rung_error *error) {
  cli_progress progress;
  points_frame frame;
  bool more = true;
  double counted = 0; /* the part of the file whose frames are */
  rung_status status = RUNG_OK;
  cli_progress_begin(&progress, w->common);
  cli_progress_part(&progress, 0, 1, verb);
  while (!status) {
    char what[64];
    if (counted == 0) cli_progress_read(&progress, w->r->path);
    points_next(file, &frame, &more, error);
    status = meet(w, &frame, more, error);
    if (status || !more || (w->r->last > 0 && frame.number > w->r->last)) break;
    snprintf(what, sizeof what, "frame %lld, %lld points", (long long)frame.number,
             (long long)frame.count);
    cli_progress_call(&progress, counted, points_done(file) - counted, verb, what,
                      w->team.contexts[0]);
    if (wanted(w->r, frame.number)) status = take_frame(w, &frame, error);
    counted = points_done(file);
    if (frame.number == w->r->last) break;
  }
  cli_progress_end(&progress);
  if (!status && w->result->frames == 0)
    status = rung_fail(error, RUNG_BAD_ARGUMENT,
                       "--frames begins with frame %lld, which %s does not have",
                       (long long)w->r->first, w->r->path);
  return status;
}

/* Counts over frames become g(r) and running coordination numbers. */
static rung_status finish(pairs_result *result, rung_error *error) {
  const double per = (result->cross ? 1 : 2) / result->points;
  if (!result->g) return RUNG_OK;
  if (rung_pairs_rdf(&result->bins, result->counts, result->density, per, result->g,
                     result->neighbours) == RUNG_OK)
    return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "--rdf: there is no density to compare with; expected: two "
                   "points or more");
}

/* Over ranks: all read the same points, and nobody writes them, from *seen, or NULL, on. */
static rung_status same_files(const pairs_request *r, const share_file *seen, share_file *now,
                              rung_error *error) {
  share_file found;
  if (!ranks_all()) return RUNG_OK;
  memset(&found, 0, sizeof found);
  share_look(r->path, &found, error);
  const rung_status status = array_same(r->path, &found, seen, error);
  memcpy(now, &found, sizeof *now);
  return status;
}

rung_status pairs_compute(const cli_common *common, const pairs_request *r, pairs_result *result,
                          rung_error *error) {
  work w = {.common = common, .r = r, .result = result};
  points *file = NULL;
  share_file before;
  rung_status status = same_files(r, NULL, &before, error);
  if (!status) status = points_open(&file, r->path, &r->how, error);
  if (!status) status = team_open(&w.team, common, error);
  if (!status && r->check) status = cli_open(common, "cpu", &w.brute, error);
  if (!status) status = take_frames(&w, file, error);
  if (!status) status = same_files(r, &before, &before, error);
  if (!status) status = finish(result, error);
  if (!status) status = team_name(&w.team, result->device, error);
  free_tallies(&w);
  team_close(&w.team);
  rung_close(w.brute);
  points_close(file);
  pairs_drop(&w.sets);
  pairs_drop(&w.drawn);
  return status;
}
