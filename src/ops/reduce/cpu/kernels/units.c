/* What rungs share: a unit of a job by one thread. */
#include "ops/reduce/cpu/units.h"

#include "ops/reduce/cpu/fold.h"
#include "ops/reduce/cpu/sum.h"

float RUNG_ENTRY(reduce_sum_f32)(const float *line, int64_t n) {
  return reduce_sum_f32(line, n, false);
}

double RUNG_ENTRY(reduce_sum_f64)(const double *line, int64_t n) {
  return reduce_sum_f64(line, n, false);
}

/* Whether elements are taken in runs of a view's last dimension, as they lie: long ones, and not so
 * far apart that other lines' lie between. */
static bool reduce_has_runs(const rung_view *view, int64_t columns) {
  enum { LEAST = 192, APART = 8, LONG = 256 };
  const int last = view->ndim - 1;
  const int64_t step = last < 0 ? 0 : view->stride[last];
  return columns >= LONG && last >= 0 && view->shape[last] >= LEAST && step >= -APART &&
         step <= APART;
}

reduce_job RUNG_ENTRY(reduce_job_of)(const rung_task *task, int64_t threads, int64_t rooms) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  reduce_job job = {.problem = problem,
                    .layout = reduce_layout_of(task),
                    .op = reduce_operator_of(problem),
                    .end = reduce_end_of(problem),
                    .size = (int64_t)rung_dtype_bytes(problem->dtype),
                    .units = reduce_units_of(task, threads),
                    .gathers = reduce_gathers(task),
                    .view = task->arrays[REDUCE_IN],
                    .in = task->arrays[REDUCE_IN].data,
                    .out = task->arrays[REDUCE_OUT].data,
                    .rooms = (char *)task->scratch};
  job.far = !job.gathers && problem->bytes > (double)task->device->cache_bytes / 2;
  if (job.gathers) {
    job.layout.in_outer = problem->columns;
    job.layout.in_column = 1;
  }
  /* Least numbers of 8 bytes are found as fast in a tile that was brought together. */
  job.runs = job.gathers && job.units.group == 1 && reduce_folds[job.op].run != NULL &&
             (job.size < 8 || reduce_is_ordered(job.op)) &&
             reduce_has_runs(&job.view, problem->columns);
  job.type = reduce_partial_of(job.op);
  job.partial = (int64_t)rung_dtype_bytes(job.type);
  job.room = reduce_room(task, &job.units);
  job.partials = job.rooms + rooms * job.room;
  return job;
}

/* Results that follow each other: loops that the compiler makes vectors of. False: these are
 * others.
 */
static bool reduce_put_wide(const reduce_job *job, const void *partials, int count, char *out) {
  const reduce_end end = job->end;
  const int32_t narrow = (int32_t)end.key.mask;
  const int64_t wide = end.key.mask;
  if (end.mean || end.columns == 0) return false;
  if ((job->type == RUNG_F32 || job->type == RUNG_F64) && end.result == job->type) {
    memcpy(out, partials, (size_t)(count * job->partial));
  } else if (job->type == RUNG_U64) {
    const uint64_t *sums = (const uint64_t *)partials, too = (uint64_t)end.columns * (uint64_t)wide;
    for (int l = 0; l < count; ++l) ((uint64_t *)(void *)out)[l] = sums[l] - too;
  } else if (job->type == RUNG_I32 && end.result == RUNG_F32) {
    const int32_t *keys = (const int32_t *)partials;
    for (int l = 0; l < count; ++l)
      ((reduce_bits_32 *)(void *)out)[l] = rung_unkey_f32(keys[l], narrow);
  } else if (job->type == RUNG_I32 && (end.result == RUNG_I32 || end.result == RUNG_U32)) {
    const int32_t *keys = (const int32_t *)partials;
    for (int l = 0; l < count; ++l) ((int32_t *)(void *)out)[l] = keys[l] ^ narrow;
  } else if (job->type == RUNG_I32 && (end.result == RUNG_U8 || end.result == RUNG_I8)) {
    const int32_t *keys = (const int32_t *)partials;
    for (int l = 0; l < count; ++l) ((uint8_t *)out)[l] = (uint8_t)(keys[l] ^ narrow);
  } else if (job->type == RUNG_I32) {
    const int32_t *keys = (const int32_t *)partials;
    for (int l = 0; l < count; ++l)
      ((uint16_t *)(void *)out)[l] = (uint16_t)rung_unkey_16(keys[l], &end.key);
  } else if (job->type == RUNG_I64 && end.result == RUNG_F64) {
    const int64_t *keys = (const int64_t *)partials;
    for (int l = 0; l < count; ++l)
      ((reduce_bits_64 *)(void *)out)[l] = rung_unkey_f64(keys[l], wide);
  } else if (job->type == RUNG_I64) {
    const int64_t *keys = (const int64_t *)partials;
    for (int l = 0; l < count; ++l) ((int64_t *)(void *)out)[l] = keys[l] ^ wide;
  } else {
    return false;
  }
  return true;
}

/* out[at], out[at + apart] ... of `count` lines. */
static void reduce_put(const reduce_job *job, const void *partials, int count, int64_t at,
                       int64_t apart) {
  const reduce_end end = job->end;
  const int64_t result = (int64_t)rung_dtype_bytes(end.result);
  if (apart == 1 && reduce_put_wide(job, partials, count, job->out + at * result)) return;
#define REDUCE_PUT(type, name, number)                                                     \
  case type:                                                                               \
    for (int l = 0; l < count; ++l)                                                        \
      reduce_finish_##name(&end, ((const number *)partials)[l], job->out, at + l * apart); \
    break;
  switch (job->type) {
    REDUCE_PUT(RUNG_F32, f32, float)
    REDUCE_PUT(RUNG_F64, f64, double)
    REDUCE_PUT(RUNG_U64, u64, uint64_t)
    REDUCE_PUT(RUNG_I32, i32, int32_t)
    default:
      REDUCE_PUT(RUNG_I64, i64, int64_t)
  }
#undef REDUCE_PUT
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- elements that lie apart -------------------------------------------------------------------
 */

typedef struct reduce_found {
  char *room;
  const char *at; /* where they follow each other */
  int64_t n;
} reduce_found;

static rung_status reduce_bring(void *user, const rung_view *box, int64_t before) {
  reduce_found *found = (reduce_found *)user;
  char *to = found->room + before * (int64_t)rung_dtype_bytes(box->dtype);
  const rung_view compact = rung_view_compact(to, box->dtype, box->ndim, box->shape);
  if (box->count == found->n && rung_view_is_compact(box))
    found->at = box->data;
  else
    rung_view_copy(&compact, box);
  return RUNG_OK;
}

/* n elements from the first on, in row-major order, where they follow each other. */
static const char *reduce_gather(const reduce_job *job, int64_t first, int64_t n, char *room) {
  if (!job->gathers) return job->problem->columns > 0 ? job->in + first * job->size : NULL;
  reduce_found found = {room, room, n};
  (void)rung_view_boxes(&job->view, first, n, reduce_bring, &found);
  return found.at;
}

typedef struct reduce_running {
  const reduce_job *job;
  reduce_state state;
} reduce_running;

static rung_status reduce_run_box(void *user, const rung_view *box, int64_t before) {
  reduce_running *running = (reduce_running *)user;
  const reduce_job *job = running->job;
  const int last = box->ndim - 1;
  const int64_t n = box->shape[last], rows = box->count / n;
  int64_t index[RUNG_MAX_DIMS] = {0}, at = 0;
  for (int64_t r = 0; r < rows; r++) {
    reduce_folds[job->op].run(box->data + at * job->size, box->stride[last], n, before + r * n,
                              &job->end.key, &running->state);
    int d = last - 1;
    for (; d >= 0 && ++index[d] == box->shape[d]; d--) {
      at -= box->stride[d] * (box->shape[d] - 1);
      index[d] = 0;
    }
    if (d >= 0) at += box->stride[d];
  }
  return RUNG_OK;
}

/* What n elements from the first on come to, in row-major order, run by run. */
static void reduce_run_all(const reduce_job *job, int64_t first, int64_t n, void *partial) {
  reduce_running running;
  running.job = job;
  (void)rung_view_boxes(&job->view, first, n, reduce_run_box, &running);
  reduce_folds[job->op].end_runs(&running.state, n, partial);
}

/* ---- units -------------------------------------------------------------------------------------
 */

static int reduce_width(const reduce_job *job, int64_t i) {
  const int64_t left = job->problem->inner - i;
  return (int)(left < job->units.strip ? left : job->units.strip);
}

/* A tile of a strip, or of a line, that begins at `from`. */
static void reduce_do_tile(const reduce_job *job, int64_t o, int64_t tile, int64_t i,
                           const char *from, char *room) {
  const reduce_problem *problem = job->problem;
  const int64_t left = problem->columns - tile * RUNG_SUM_TILE, tiles = job->units.tiles;
  const int64_t n = left < RUNG_SUM_TILE ? left : RUNG_SUM_TILE;
  const int width = reduce_width(job, i);
  reduce_partials own;
  char *partials = (char *)&own;
  if (tiles > 1)
    partials = job->partials + ((o * tiles + tile) * problem->inner + i) * job->partial;
  if (job->runs)
    reduce_run_all(job, o * problem->columns + tile * RUNG_SUM_TILE, n, partials);
  else if (problem->form == REDUCE_ACROSS)
    reduce_folds[job->op].across(from, job->layout.in_column, n, width, job->far, &job->end.key,
                                 room, partials);
  else
    reduce_folds[job->op].lines(from, 0, 1, n, job->far, &job->end.key, partials);
  if (tiles == 1) reduce_put(job, partials, width, o * job->layout.out_outer + i, 1);
}

/* Those that a unit has. */
static void reduce_do_tiles(const reduce_job *job, int64_t o, int64_t tile, int64_t i, char *room) {
  const int64_t step = job->layout.in_column, first = tile * RUNG_SUM_TILE;
  const int64_t rest = job->units.tiles - tile, left = job->problem->columns - first;
  const int64_t tiles = rest < job->units.group ? rest : job->units.group;
  const int64_t n = left < tiles * RUNG_SUM_TILE ? left : tiles * RUNG_SUM_TILE;
  const char *from = NULL;
  if (!job->runs) from = reduce_gather(job, o * job->layout.in_outer + first * step + i, n, room);
  for (int64_t t = 0; t < tiles; t++)
    reduce_do_tile(job, o, tile + t, i, t > 0 ? from + t * RUNG_SUM_TILE * step * job->size : from,
                   room);
}

/* Lines of one tile, as many as a unit has. */
static void reduce_do_lines(const reduce_job *job, int64_t o, char *room) {
  const reduce_problem *problem = job->problem;
  const int64_t left = problem->outer - o, step = job->layout.in_outer;
  const int count = (int)(left < job->units.lines ? left : job->units.lines);
  reduce_partials partials;
  if (job->runs) {
    for (int l = 0; l < count; l++)
      reduce_run_all(job, (o + l) * problem->columns, problem->columns,
                     (char *)&partials + l * job->partial);
  } else {
    const char *from = reduce_gather(job, o * step, count * problem->columns, room);
    reduce_folds[job->op].lines(from, step, count, problem->columns, job->far, &job->end.key,
                                &partials);
  }
  reduce_put(job, &partials, count, o * job->layout.out_outer, job->layout.out_outer);
}

/* What a share of the rows comes to: a row of partial results or, of sums of floats, some of the
 * numbers that a tile's lanes fold to. */
static void reduce_do_share(const reduce_job *job, int64_t unit, char *room) {
  const reduce_units *units = &job->units;
  const reduce_fold *fold = &reduce_folds[job->op];
  const int64_t width = job->problem->inner, row = width * job->size;
  const int64_t share = unit % units->shares, first = share * units->share;
  const int64_t at = unit / units->shares, tile = at % units->tiles, o = at / units->tiles;
  const char *in = job->in + o * job->layout.in_outer * job->size;
  char *partials = job->partials + o * units->rows * width * job->partial;
  if (reduce_is_ordered(job->op)) {
    const int64_t n = least(job->problem->columns - tile * RUNG_SUM_TILE, RUNG_SUM_TILE);
    const int64_t left = reduce_left(n, width, job->partial) * width - first;
    if (left > 0)
      fold->shares(in + tile * RUNG_SUM_TILE * row, n, (int)width, first, least(left, units->share),
                   job->far, &job->end.key, room,
                   partials + tile * (units->rows / units->tiles) * width * job->partial);
  } else {
    fold->across(in + first * row, width, least(job->problem->columns - first, units->share),
                 (int)width, job->far, &job->end.key, room,
                 partials + share * width * job->partial);
  }
}

/* Those of every tile, in the place of the rows that it has folded to. */
static void reduce_end_shares(const reduce_job *job, int64_t o, char *room) {
  const reduce_units *units = &job->units;
  const reduce_fold *fold = &reduce_folds[reduce_operator_next(job->op)];
  const rung_key_code key = {0};
  const int64_t width = job->problem->inner, rows = units->rows / units->tiles;
  char *partials = job->partials + o * units->rows * width * job->partial;
  reduce_partials own;
  for (int64_t tile = 0; tile < units->tiles; tile++) {
    const int64_t n = least(job->problem->columns - tile * RUNG_SUM_TILE, RUNG_SUM_TILE);
    fold->across(partials + tile * rows * width * job->partial, width,
                 reduce_left(n, width, job->partial), (int)width, false, &key, room, &own);
    memcpy(partials + tile * width * job->partial, &own, (size_t)(width * job->partial));
  }
}

void RUNG_ENTRY(reduce_do_unit)(const reduce_job *job, int64_t unit, char *room) {
  const reduce_units *units = &job->units;
  if (units->shares > 1) {
    reduce_do_share(job, unit, room);
    return;
  }
  if (job->problem->form != REDUCE_ACROSS && units->tiles == 1) {
    reduce_do_lines(job, unit * units->lines, room);
    return;
  }
  const int64_t strip = unit % units->strips, group = unit / units->strips;
  const int64_t groups = reduce_groups(units);
  reduce_do_tiles(job, group / groups, group % groups * units->group, strip * units->strip, room);
}

void RUNG_ENTRY(reduce_end_strip)(const reduce_job *job, int64_t at, char *room) {
  const reduce_operator next = reduce_operator_next(job->op);
  const reduce_fold *fold = &reduce_folds[next];
  const rung_key_code key = {0};
  const int64_t inner = job->problem->inner, o = at / job->units.strips;
  const int64_t i = at % job->units.strips * job->units.strip;
  char *from = job->partials + (o * job->units.rows * inner + i) * job->partial;
  const int width = reduce_width(job, i);
  const bool shared = job->units.shares > 1 && job->units.tiles > 1;
  int64_t n = shared ? job->units.tiles : job->units.rows;
  reduce_partials partials;
  if (shared) reduce_end_shares(job, o, room);
  if (job->problem->form != REDUCE_ACROSS) fold->lines(from, 0, 1, n, false, &key, &partials);
  for (; job->problem->form == REDUCE_ACROSS; n = reduce_tiles(n)) {
    const bool last = n <= RUNG_SUM_TILE || !reduce_is_ordered(next);
    if (last) fold->across(from, inner, n, width, false, &key, room, &partials);
    if (last) break;
    for (int64_t t = 0; t < reduce_tiles(n); ++t) {
      const int64_t first = t * RUNG_SUM_TILE, left = n - first;
      fold->across(from + first * inner * job->partial, inner,
                   left < RUNG_SUM_TILE ? left : RUNG_SUM_TILE, width, false, &key, room,
                   &partials);
      memcpy(from + t * inner * job->partial, &partials, (size_t)(width * job->partial));
    }
  }
  reduce_put(job, &partials, width, o * job->layout.out_outer + i, 1);
}
