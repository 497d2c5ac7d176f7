#include "lab/merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/json.h"
#include "lab/store.h"

static const char *text_at(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* ---- jobs of a text ------------------------------------------------------------------------- */

/* A job among the lines, and what holds for it. */
typedef struct place {
  lab_record_job of; /* borrowed, but for `rungs` */
  bool merged;       /* it has launches */
  bool used;         /* it is among those of a job that was merged */
} place;

typedef struct places {
  place *places;
  int count;
} places;

static void drop_places(places *all) {
  for (int i = 0; i < all->count; ++i) json_decref(all->places[i].of.rungs);
  free(all->places);
}

static bool find_places(const json_t *lines, places *all) {
  lab_record_job now = {0};
  size_t i;
  json_t *line;
  *all = (places){calloc(json_array_size(lines) + 1, sizeof *all->places), 0};
  bool whole = all->places != NULL;
  json_array_foreach((json_t *)lines, i, line) {
    place *last = whole && all->count > 0 ? &all->places[all->count - 1] : NULL;
    if (json_object_get(line, "rung")) {
      whole = last && json_array_append(last->of.rungs, line) == 0;
      if (whole) last->merged = last->merged || json_object_get(line, "launches");
    } else if (json_object_get(line, "rung-records")) {
      now = (lab_record_job){.head = line};
    } else if (json_object_get(line, "device")) {
      now.device = json_object_get(line, "device");
    } else if (json_object_get(line, "peaks")) {
      now.peaks = json_object_get(line, "peaks");
    } else if (json_object_get(line, "operation") && whole) {
      now.job = line;
      now.rungs = json_array();
      whole = now.rungs != NULL;
      all->places[all->count].of = now;
      all->count += whole;
    }
  }
  return whole;
}

static bool same_at(const json_t *a, const json_t *b, const char *key) {
  const json_t *one = json_object_get(a, key), *other = json_object_get(b, key);
  return one == other || json_equal(one, other);
}

static bool same_job(const place *a, const place *b) {
  static const char *const keys[] = {"operation", "line", "job", "seed", "memory"};
  bool same = a->merged == b->merged && same_at(json_object_get(a->of.head, "rules"),
                                                json_object_get(b->of.head, "rules"), "hot");
  for (size_t k = 0; k < sizeof keys / sizeof *keys; ++k)
    same = same && same_at(a->of.job, b->of.job, keys[k]);
  return same;
}

/* ---- one rung ------------------------------------------------------------------------------- */

/* The verdict that counts, as a key: the one before timing, or where that was good the one after,
 * which is left out where it is the same. */
static const char *verdict_key(const json_t *rung) {
  const bool good = strcmp(text_at(json_object_get(rung, "before"), "finding"), "good") == 0;
  return good && json_object_get(rung, "after") ? "after" : "before";
}

static const char *finding_of(const json_t *rung) {
  return text_at(json_object_get(rung, verdict_key(rung)), "finding");
}

/* The first launch whose finding is worst: not supported is better than any that failed. */
static int worst_of(json_t *const *rungs, int launches) {
  int worst = 0;
  for (int i = 0; i < launches; ++i) {
    const char *found = finding_of(rungs[i]), *before = finding_of(rungs[worst]);
    if (strcmp(found, "good") == 0) continue;
    if (strcmp(before, "good") == 0 ||
        (strcmp(before, "unsupported") == 0 && strcmp(found, "unsupported") != 0))
      worst = i;
  }
  return worst;
}

/* The last way to stop that a launch took, in this order. */
static const char *stop_of(json_t *const *rungs, int launches) {
  static const lab_stop order[] = {LAB_REFUSED, LAB_TIME_OUT, LAB_MOST, LAB_STEADY};
  for (size_t k = 0; k < sizeof order / sizeof *order; ++k)
    for (int i = 0; i < launches; ++i)
      if (strcmp(text_at(rungs[i], "stop"), lab_stop_text(order[k])) == 0)
        return lab_stop_text(order[k]);
  return text_at(rungs[0], "stop");
}

static bool put(json_t *to, const char *key, json_t *value) {
  return json_object_set_new(to, key, value) == 0;
}

/* A verdict with a sentence of ours in its place. */
static bool put_verdict(json_t *to, const char *key, const char *finding, const char *sentence) {
  json_t *verdict = lab_copy(json_object_get(to, key));
  const bool whole = verdict && put(verdict, "finding", lab_text(finding)) &&
                     put(verdict, "sentence", lab_text(sentence));
  if (whole) return put(to, key, verdict);
  json_decref(verdict);
  return false;
}

/* Says in which launch it was not good. */
static bool put_worst(json_t *to, json_t *const *rungs, int worst, int launches) {
  const char *found = finding_of(rungs[worst]), *key = verdict_key(rungs[worst]);
  char sentence[RUNG_SENTENCE + 64];
  bool everywhere = strcmp(found, "unsupported") == 0;
  for (int i = 0; i < launches; ++i)
    everywhere = everywhere && strcmp(finding_of(rungs[i]), "unsupported") == 0;
  if (strcmp(found, "good") == 0 || everywhere) return true;
  snprintf(sentence, sizeof sentence, "launch %d of %d: %.*s", worst + 1, launches, RUNG_SENTENCE,
           text_at(json_object_get(rungs[worst], key), "sentence"));
  json_object_del(to, "bits");
  return put_verdict(to, key, found, sentence);
}

/* Of a rung that is good in every launch. */
static bool put_bits(json_t *to, json_t *const *rungs, int launches) {
  const char *first = text_at(rungs[0], "bits");
  char sentence[RUNG_SENTENCE];
  int other = 0, without = 0;
  for (int i = launches - 1; i >= 0; --i) {
    const char *bits = text_at(rungs[i], "bits");
    without += bits[0] == '\0';
    if (strcmp(bits, first) != 0) other = i;
  }
  if (other == 0) return true;
  json_object_del(to, "bits");
  if (without > 0 || strcmp(text_at(to, "order"), "canonical") != 0) return true;
  snprintf(sentence, sizeof sentence,
           "launch %d of %d has other bits than launch 1: %.20s, not %.20s", other + 1, launches,
           text_at(rungs[other], "bits"), first);
  if (!json_object_get(to, "after") &&
      json_object_set(to, "after", json_object_get(to, "before")) != 0)
    return false;
  return put_verdict(to, "after", lab_finding_name(LAB_WRONG), sentence);
}

/* The arrays of a key, one behind the other; of an object's key where `in` is one. */
static json_t *joined(json_t *const *rungs, int launches, const char *in, const char *key) {
  json_t *all = json_array();
  for (int i = 0; i < launches && all; ++i) {
    json_t *of = in ? json_object_get(rungs[i], in) : rungs[i], *values = json_object_get(of, key);
    if (values && json_array_extend(all, values) != 0) {
      json_decref(all);
      all = NULL;
    }
  }
  return all;
}

static bool put_stages(json_t *to, json_t *const *rungs, int launches) {
  json_t *stages = json_object_get(to, "stages_ms") ? json_object() : NULL;
  bool whole = stages != NULL;
  if (!json_object_get(to, "stages_ms")) return true;
  for (lab_stage s = 0; s < LAB_STAGES && whole; ++s)
    whole = put(stages, lab_stage_name(s), joined(rungs, launches, "stages_ms", lab_stage_name(s)));
  if (whole) return put(to, "stages_ms", stages);
  json_decref(stages);
  return false;
}

/* How many samples each took, and what follows from them, for readers without statistics. */
static json_t *launches_json(json_t *const *rungs, int launches, const json_t *samples) {
  json_t *to = json_object(), *counts = json_array();
  const size_t all = json_array_size(samples);
  double *times = malloc(all * sizeof *times + 1),
         *medians = malloc((size_t)launches * sizeof *medians);
  int *each = malloc((size_t)launches * sizeof *each), used = launches;
  bool whole = to && counts && times && medians && each;
  for (size_t i = 0; i < all && whole; ++i)
    times[i] = json_number_value(json_array_get(samples, i));
  for (int i = 0; i < launches && whole; ++i) {
    each[i] = (int)json_array_size(json_object_get(rungs[i], "samples_ms"));
    whole = json_array_append_new(counts, json_integer(each[i])) == 0;
  }
  if (whole) {
    const lab_stats stats = lab_stats_of_launches(times, each, &used, medians);
    const double apart = lab_launches_apart(medians, used, stats.median);
    whole = (all == 0 || stats.count > 0) && put(to, "samples", json_incref(counts)) &&
            put(to, "median_ms", lab_number(stats.median)) &&
            put(to, "low_ms", lab_number(stats.low)) &&
            put(to, "high_ms", lab_number(stats.high)) && put(to, "spread", lab_number(apart));
  }
  json_decref(counts);
  free(times);
  free(medians);
  free(each);
  if (whole) return to;
  json_decref(to);
  return NULL;
}

static json_t *merged_rung(json_t *const *rungs, int launches) {
  const int worst = worst_of(rungs, launches);
  json_t *to = lab_copy(rungs[worst]), *samples = joined(rungs, launches, NULL, "samples_ms");
  bool whole = to && samples && put_worst(to, rungs, worst, launches);
  if (whole && strcmp(finding_of(to), "good") == 0) whole = put_bits(to, rungs, launches);
  whole = whole && put(to, "samples_ms", json_incref(samples)) && put_stages(to, rungs, launches) &&
          put(to, "clocks_mhz", joined(rungs, launches, NULL, "clocks_mhz")) &&
          put(to, "stop", lab_text(stop_of(rungs, launches))) &&
          put(to, "launches", launches_json(rungs, launches, samples));
  json_decref(samples);
  if (whole) return to;
  json_decref(to);
  return NULL;
}

/* ---- one job -------------------------------------------------------------------------------- */

/* The largest number of a key, or their sum; nothing where no launch has it. */
static bool put_numbers(json_t *to, const place *const *of, int launches, const char *key,
                        bool sum) {
  double number = NAN;
  for (int i = 0; i < launches; ++i) {
    const json_t *value = json_object_get(of[i]->of.job, key);
    if (!json_is_number(value)) continue;
    const double more = json_number_value(value);
    number = isnan(number) ? more : sum ? number + more : fmax(number, more);
  }
  if (isnan(number)) return true;
  return put(to, key, sum ? json_integer((json_int_t)number) : lab_number(number));
}

/* The last launch's line, with what disturbed any of them. */
static json_t *merged_job(const place *const *of, int launches) {
  json_t *to = lab_copy(of[launches - 1]->of.job);
  if (to && put_numbers(to, of, launches, "load", false) &&
      put_numbers(to, of, launches, "others", false) &&
      put_numbers(to, of, launches, "stolen", false) &&
      put_numbers(to, of, launches, "throttled", true))
    return to;
  json_decref(to);
  return NULL;
}

/* Whether all launches have the same rungs at the same block sizes. */
static bool same_rungs(const place *const *of, int launches) {
  for (int i = 1; i < launches; ++i) {
    const size_t count = json_array_size(of[0]->of.rungs);
    if (json_array_size(of[i]->of.rungs) != count) return false;
    for (size_t k = 0; k < count; ++k) {
      const json_t *a = json_array_get(of[0]->of.rungs, k), *b = json_array_get(of[i]->of.rungs, k);
      if (!same_at(a, b, "rung") || !same_at(a, b, "block") || !same_at(a, b, "order"))
        return false;
    }
  }
  return true;
}

static rung_status no_memory(rung_error *error) {
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the launches' record");
}

/* `room` has a place for each launch. */
static json_t *merged_rungs(const place *const *of, int launches, json_t **room) {
  json_t *rungs = json_array();
  for (size_t k = 0; k < json_array_size(of[0]->of.rungs) && rungs; ++k) {
    for (int i = 0; i < launches; ++i) room[i] = json_array_get(of[i]->of.rungs, k);
    if (json_array_append_new(rungs, merged_rung(room, launches)) == 0) continue;
    json_decref(rungs);
    rungs = NULL;
  }
  return rungs;
}

static rung_status merge_job(json_t *to, const place *const *of, int launches, rung_error *error) {
  lab_record_job job = of[launches - 1]->of;
  if (!same_rungs(of, launches))
    return rung_fail(
        error, RUNG_BAD_FILE,
        "launches of %.40s \"%.100s\" have not the same rungs; expected: one build and "
        "one set of peers",
        text_at(job.job, "operation"), text_at(job.job, "line"));
  json_t **room = malloc((size_t)launches * sizeof *room);
  job.job = merged_job(of, launches);
  job.rungs = room ? merged_rungs(of, launches, room) : NULL;
  rung_status status = job.job && job.rungs ? lab_record_join(to, &job, error) : no_memory(error);
  json_decref(job.job);
  json_decref(job.rungs);
  free(room);
  return status;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* The job at `first`, and those like it, of which it is launches: a job that was asked for twice
 * comes twice a launch. `of` has room for all. */
static rung_status merge_from(json_t *to, const places *all, int first, int launches,
                              const place **of, rung_error *error) {
  const place **one = of + all->count;
  int like = 0;
  for (int i = first; i < all->count; ++i) {
    place *other = &all->places[i];
    if (other->used || !same_job(other, &all->places[first])) continue;
    of[like++] = other;
    if (i > first) other->used = true;
  }
  all->places[first].used = true;
  if (like % launches != 0)
    return rung_fail(error, RUNG_BAD_FILE, "%.40s \"%.100s\" has %d launches; expected: %d",
                     text_at(of[0]->of.job, "operation"), text_at(of[0]->of.job, "line"), like,
                     launches);
  const int jobs = like / launches;
  rung_status status = RUNG_OK;
  for (int k = 0; k < jobs && !status; ++k) {
    for (int i = 0; i < launches; ++i) one[i] = of[i * jobs + k];
    status = merge_job(to, one, launches, error);
  }
  return status;
}

rung_status lab_merge(const json_t *lines, int launches, json_t **merged, int *kept,
                      rung_error *error) {
  places all;
  const bool whole = find_places(lines, &all);
  const place **of = malloc(((size_t)all.count + (size_t)launches) * sizeof *of);
  *merged = json_array();
  *kept = 0;
  rung_status status = whole && of && *merged ? RUNG_OK : no_memory(error);
  for (int i = 0; i < all.count && !status; ++i) {
    if (!all.places[i].merged) continue;
    status = lab_record_join(*merged, &all.places[i].of, error);
    ++*kept;
  }
  for (int i = 0; i < all.count && !status; ++i)
    if (!all.places[i].merged && !all.places[i].used)
      status = merge_from(*merged, &all, i, launches, of, error);
  drop_places(&all);
  free(of);
  if (!status) return RUNG_OK;
  json_decref(*merged);
  *merged = NULL;
  return status;
}
