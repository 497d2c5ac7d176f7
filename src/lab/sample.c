/* The sampling protocol: docs/METHOD.md says why each step is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "lab/fixture.h"

enum { WARM_UPS = 2, LEAST_ON_TIME_OUT = 3, MOST_ALLOWED = 1000000 };

lab_rules lab_rules_default(void) {
  return (lab_rules){
      .least = 11, .most = 101, .spread = 0.01, .seconds = 10, .warm = 0.3, .seed = 1};
}

const char *lab_stop_text(lab_stop stop) {
  static const char *const texts[] = {"steady", "time-out", "most samples", "refused"};
  return (unsigned)stop <= LAB_REFUSED ? texts[stop] : "unknown";
}

/* What goes on while candidates are sampled. */
typedef struct sampling {
  lab_fixture *fixture;
  lab_candidate *candidates;
  int count;
  const lab_rules *rules;
  double *spent; /* seconds, one a candidate */
  bool *active;
  int *order;
  int verified;
  void (*progress)(void *to, double done, const char *what);
  void *to;
} sampling;

/* A verification counts as a tenth of a candidate's work; of the sampling, whichever limit is
 * nearer counts. */
static void tell(const sampling *all, const char *what) {
  if (!all->progress) return;
  double done = 0.1 * all->verified;
  for (int i = 0; i < all->count; ++i) {
    const lab_candidate *candidate = &all->candidates[i];
    double part = (double)candidate->count / all->rules->most;
    if (all->spent[i] / all->rules->seconds > part) part = all->spent[i] / all->rules->seconds;
    if (part > 1 || (i < all->verified && !all->active[i])) part = 1;
    done += 0.9 * part;
  }
  all->progress(all->to, done / all->count, what);
}

/* ---- one sample --------------------------------------------------------------------------- */

/* Between hold and release: nothing but the rung stands between the marks. *refused: it is the
 * launch that failed. */
static rung_status queue_run(rung_context *context, const lab_shot *shot, bool *refused,
                             rung_error *error) {
  const rung_backend *backend = context->backend;
  rung_status status = backend->clock_begin(context->state, error);
  if (status == RUNG_OK) status = backend->mark(context->state, 0, error);
  if (status == RUNG_OK) {
    status = rung_row_run(shot->row, &shot->task);
    *refused = status != RUNG_OK;
  }
  if (status == RUNG_OK) status = backend->mark(context->state, 1, error);
  if (status == RUNG_OK) status = backend->clock_end(context->state, error);
  if (status == RUNG_OK) status = lab_settle(shot->row, &shot->task);
  return status;
}

static rung_status timed_run(rung_context *context, const lab_shot *shot, double *ms, double *mhz,
                             bool *refused, rung_error *error) {
  const rung_backend *backend = context->backend;
  rung_status status = backend->hold ? backend->hold(context->state, error) : RUNG_OK;
  if (status != RUNG_OK) return status;
  status = queue_run(context, shot, refused, error);
  if (backend->hold) {
    rung_error later = {0};
    rung_status released = backend->release_hold(context->state, &later);
    if (status == RUNG_OK && released != RUNG_OK) {
      status = released;
      *error = later;
    }
  }
  if (status == RUNG_OK) status = backend->elapsed(context->state, ms, error);
  if (status == RUNG_OK) status = backend->clock_mhz(context->state, mhz, error);
  return status;
}

static rung_status get_ready(lab_fixture *fixture, const lab_candidate *candidate, bool hot,
                             lab_shot *shot, rung_error *error) {
  const rung_backend *backend = fixture->context->backend;
  rung_status status = lab_fixture_prepare(fixture, candidate->row, candidate->block, error);
  if (status == RUNG_OK)
    status = lab_fixture_shot(fixture, candidate->row, candidate->block, shot, error);
  /* Poison before every sample, so that no sample can lean on the output of the one before. */
  if (status == RUNG_OK && !hot) status = lab_fixture_poison(fixture, error);
  if (status == RUNG_OK && !hot) status = backend->flush(fixture->context->state, error);
  if (status == RUNG_OK) status = backend->synchronize(fixture->context->state, error);
  return status;
}

/* Adds one sample. What the rung did wrong goes to candidate->after; an error is the lab's. */
static rung_status take_sample(sampling *all, lab_candidate *candidate, rung_error *error) {
  lab_fixture *fixture = all->fixture;
  rung_context *context = fixture->context;
  double ms, mhz;
  bool refused = false;
  lab_shot shot;
  rung_status status = get_ready(fixture, candidate, all->rules->hot, &shot, error);
  if (status != RUNG_OK) return status;
  rung_error run = {0}, after = {0};
  shot.task.error = &run;
  status = timed_run(context, &shot, &ms, &mhz, &refused, &run);
  const rung_status idle = context->backend->synchronize(context->state, &after);
  if (refused || idle != RUNG_OK) {
    /* Work that failed on the device also spoils the marks: the cause is named, not the marks. */
    lab_find_failure(&candidate->after, refused ? &run : &after);
    return RUNG_OK;
  }
  if (status != RUNG_OK)
    return rung_fail(error, status, "sample %d of %s is void: %s", candidate->count + 1,
                     candidate->row->name, run.sentence);
  /* In a hot series the canaries stand where this rung's scratch ended only for one candidate. */
  if (!all->rules->hot && !lab_fixture_zones_live(fixture, &candidate->after)) return RUNG_OK;
  candidate->samples[candidate->count] = ms;
  candidate->clocks[candidate->count] = mhz;
  candidate->count += 1;
  return RUNG_OK;
}

/* ---- one candidate ------------------------------------------------------------------------ */

static rung_status begin(sampling *all, int index, rung_error *error) {
  lab_candidate *candidate = &all->candidates[index];
  lab_verify(all->fixture, candidate->row, candidate->block, &candidate->before);
  candidate->after = candidate->before;
  candidate->stop = LAB_REFUSED;
  all->active[index] = candidate->before.finding == LAB_GOOD;
  all->verified += 1;
  if (!all->active[index]) return RUNG_OK;
  const size_t most = (size_t)all->rules->most;
  candidate->samples = malloc(most * sizeof *candidate->samples);
  candidate->clocks = malloc(most * sizeof *candidate->clocks);
  if (!candidate->samples || !candidate->clocks)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for %zu samples", most);
  return RUNG_OK;
}

/* Runs of one candidate, WARM_UPS at least, until this time has passed. */
static void warm_up(sampling *all, int index, double seconds) {
  lab_candidate *candidate = &all->candidates[index];
  lab_fixture *fixture = all->fixture;
  rung_context *context = fixture->context;
  rung_error run = {0};
  rung_status status = lab_fixture_prepare(fixture, candidate->row, candidate->block, &run);
  const double begun = lab_seconds();
  do {
    for (int i = 0; i < WARM_UPS && !status; ++i)
      status = lab_fixture_launch(fixture, candidate->row, candidate->block, &run);
    if (!status) status = context->backend->synchronize(context->state, &run);
  } while (!status && lab_seconds() - begun < seconds);
  if (status == RUNG_OK) return;
  lab_find_failure(&candidate->after, &run);
  all->active[index] = false;
}

/* All candidates, one after the other. A GPU that has waited for the host's references has its
 * clock low, and takes a while to raise it. */
static void warm_up_all(sampling *all) {
  int active = 0;
  for (int i = 0; i < all->count; ++i) active += all->active[i];
  double seconds = all->fixture->context->backend->hold ? all->rules->warm : 0;
  if (seconds > all->rules->seconds) seconds = all->rules->seconds;
  for (int i = 0; i < all->count; ++i)
    if (all->active[i]) warm_up(all, i, seconds / active);
}

bool lab_is_done(const lab_rules *rules, const lab_candidate *candidate, double spent,
                 lab_stop *why) {
  const lab_stats time = lab_stats_of(candidate->samples, candidate->count);
  /* Of a few samples there is no interval. */
  const bool known = !(lab_relative_interval(&time) >= rules->spread / 2);
  if (candidate->count >= rules->least && known && lab_relative_iqr(&time) < rules->spread) {
    *why = LAB_STEADY;
    return true;
  }
  if (candidate->count >= rules->most) {
    *why = LAB_MOST;
    return true;
  }
  int enough = rules->least < LEAST_ON_TIME_OUT ? rules->least : LEAST_ON_TIME_OUT;
  if (time.min > 1e3 * rules->seconds) enough = 1;
  *why = LAB_TIME_OUT;
  return spent >= rules->seconds && candidate->count >= enough;
}

/* Verifies the last timed output. */
static void finish(sampling *all, lab_candidate *candidate) {
  lab_verdict *after = &candidate->after;
  rung_error error = {0};
  rung_status status = RUNG_OK;
  if (all->rules->hot) { /* hot samples start from the output before: this one run must not */
    status = lab_fixture_prepare(all->fixture, candidate->row, candidate->block, &error);
    if (status == RUNG_OK) status = lab_fixture_poison(all->fixture, &error);
    if (status == RUNG_OK)
      status = lab_fixture_launch(all->fixture, candidate->row, candidate->block, &error);
  }
  if (status == RUNG_OK)
    lab_fixture_check(all->fixture, candidate->row, after);
  else
    lab_find_failure(after, &error);
  if (after->finding == LAB_UNWRITTEN || after->finding == LAB_NAN || after->finding == LAB_WRONG) {
    char symptom[RUNG_SENTENCE];
    memcpy(symptom, after->sentence, sizeof symptom);
    lab_find(after, LAB_WRONG_LATER, "right at first, not after timing: %.400s", symptom);
  }
  if (after->finding != LAB_GOOD) candidate->stop = LAB_REFUSED;
}

/* One sample of a candidate, and its end where that was the last. */
static rung_status step(sampling *all, int index, rung_error *error) {
  lab_candidate *candidate = &all->candidates[index];
  const double begun = lab_seconds();
  rung_status status = take_sample(all, candidate, error);
  all->spent[index] += lab_seconds() - begun;
  if (status != RUNG_OK) return status;
  if (candidate->after.finding != LAB_GOOD) {
    candidate->stop = LAB_REFUSED;
    all->active[index] = false;
    lab_fixture_load(all->fixture, NULL); /* a stray write may have gone further than the canary */
  } else if (lab_is_done(all->rules, candidate, all->spent[index], &candidate->stop)) {
    all->active[index] = false;
    finish(all, candidate); /* now, while the last timed output is still there */
  }
  return RUNG_OK;
}

/* ---- all candidates ----------------------------------------------------------------------- */

/* The active candidates in an order of their own each round (Fisher and Yates). */
static int shuffle(const sampling *all, rung_random *random) {
  int active = 0;
  for (int i = 0; i < all->count; ++i)
    if (all->active[i]) all->order[active++] = i;
  for (int i = active - 1; i > 0; --i) {
    const int j = (int)(rung_random_next(random) % (uint64_t)(i + 1));
    const int swapped = all->order[i];
    all->order[i] = all->order[j];
    all->order[j] = swapped;
  }
  return active;
}

static rung_status run_all(sampling *all, rung_error *error) {
  for (int i = 0; i < all->count; ++i) {
    rung_status status = begin(all, i, error);
    if (status != RUNG_OK) return status;
    tell(all, all->candidates[i].row->name);
  }
  warm_up_all(all);
  rung_random random = {all->rules->seed};
  for (int active; (active = shuffle(all, &random)) > 0;)
    for (int k = 0; k < active; ++k) {
      const int i = all->order[k];
      rung_status status = step(all, i, error);
      if (status != RUNG_OK) return status;
      tell(all, all->candidates[i].row->name);
    }
  return RUNG_OK;
}

static rung_status check_rules(const lab_rules *rules, rung_error *error) {
  if (rules->least < 1 || rules->most < rules->least || rules->most > MOST_ALLOWED)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "rules ask for %d to %d samples; expected: 1 <= least <= most <= %d",
                     rules->least, rules->most, MOST_ALLOWED);
  if (!(rules->seconds > 0))
    return rung_fail(error, RUNG_BAD_ARGUMENT, "a time-out of %g s; expected: more than 0",
                     rules->seconds);
  return RUNG_OK;
}

rung_status lab_sample(lab_fixture *fixture, lab_candidate *candidates, int count,
                       const lab_rules *rules,
                       void (*progress)(void *to, double done, const char *what), void *to,
                       rung_error *error) {
  for (int i = 0; i < count; ++i)
    candidates[i] = (lab_candidate){.row = candidates[i].row, .block = candidates[i].block};
  rung_status status = check_rules(rules, error);
  if (status != RUNG_OK || count <= 0) return status;
  sampling all = {.fixture = fixture,
                  .candidates = candidates,
                  .count = count,
                  .rules = rules,
                  .spent = calloc((size_t)count, sizeof(double)),
                  .active = calloc((size_t)count, sizeof(bool)),
                  .order = calloc((size_t)count, sizeof(int)),
                  .progress = progress,
                  .to = to};
  if (all.spent && all.active && all.order)
    status = run_all(&all, error);
  else
    status = rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for %d candidates", count);
  for (int i = 0; i < count; ++i) {
    lab_candidate *c = &candidates[i];
    c->time = lab_stats_of(c->samples, c->count);
    c->clock = lab_stats_of(c->clocks, c->count);
    if (!status && (c->time.count != c->count || c->clock.count != c->count))
      status = rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for %d samples", c->count);
  }
  free(all.spent);
  free(all.active);
  free(all.order);
  return status;
}

void lab_candidate_free(lab_candidate *candidate) {
  free(candidate->samples);
  free(candidate->clocks);
  free(candidate->stages);
  *candidate = (lab_candidate){.row = candidate->row, .block = candidate->block};
}
