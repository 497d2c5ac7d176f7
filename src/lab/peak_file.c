/* Where peaks are kept between runs. The file is anybody's to damage: nothing in it is believed
 * that a measurement could not have written. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lab/cache.h"
#include "lab/json.h"
#include "lab/lab.h"
#include "lab/store.h"

static const char leaf[] = "peaks.json", kind[] = "rung-peaks";
enum { FILE_VERSION = 1 };
/* GB/s, or 1e9 multiply-adds a second: no machine there is lies outside. */
static const double least_rate = 1e-3, most_rate = 1e7;
/* Tasks per processor: a measurement of a busier machine is not used on a quieter one. */
static const double busy = 0.5;

/* ---- reading ------------------------------------------------------------------------------ */

static bool read_rate(const json_t *object, const char *key, double *rate) {
  *rate = json_number_value(json_object_get(object, key)); /* 0: not a number */
  return *rate >= least_rate && *rate <= most_rate;
}

/* A date that lab_date_text() wrote, to the second. */
static bool read_date(const json_t *entry, int64_t *date) {
  const char *text = json_string_value(json_object_get(entry, "date"));
  char again[32];
  struct tm utc = {0};
  if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc)) return false;
  *date = timegm(&utc);
  lab_date_text(*date, again);
  return strcmp(text, again) == 0;
}

static bool read_level(const json_t *entry, const char *name, lab_bandwidth *found) {
  const json_t *level = json_object_get(entry, name);
  return read_rate(level, "read", &found->read) && read_rate(level, "write", &found->write) &&
         read_rate(level, "copy", &found->copy);
}

static bool read_entry(const json_t *entry, const rung_device *device, lab_peaks *peaks) {
  const json_t *load = json_object_get(entry, "load");
  bool whole = read_date(entry, &peaks->conditions.date) && json_is_number(load) &&
               read_rate(entry, "fma32", &peaks->fma32) &&
               read_rate(entry, "fma64", &peaks->fma64) && read_rate(entry, "mma64", &peaks->mma64);
  peaks->conditions.load = json_number_value(load);
  whole = whole && peaks->conditions.load >= 0;
  char name[8] = "";
  for (int level = 0; whole && strcmp(name, "memory") != 0; ++level) {
    lab_level_name(device, level, name);
    whole = read_level(entry, name, &peaks->bandwidth[level]);
    if (whole && level > 0) /* none is faster than a nearer one */
      whole = peaks->bandwidth[level].read <= peaks->bandwidth[level - 1].read &&
              peaks->bandwidth[level].write <= peaks->bandwidth[level - 1].write &&
              peaks->bandwidth[level].copy <= peaks->bandwidth[level - 1].copy;
    peaks->levels = level + 1;
  }
  return whole;
}

static bool is_current(const lab_conditions *then, const lab_conditions *now) {
  const int64_t age = now->date - then->date;
  return age >= 0 && age <= (int64_t)LAB_PEAK_DAYS * 24 * 3600 &&
         (then->load <= busy || then->load <= now->load);
}

bool lab_peaks_kept(const rung_device *device, const lab_conditions *now, lab_peaks *peaks) {
  char path[PATH_MAX], key[LAB_CACHE_KEY];
  lab_cache_key(device, key);
  if (!lab_cache_path(leaf, path)) return false;
  json_t *root = lab_cache_load(path, kind, FILE_VERSION);
  lab_peaks found = {.kept = true};
  const bool is_there =
      read_entry(json_object_get(json_object_get(root, "devices"), key), device, &found) &&
      is_current(&found.conditions, now);
  json_decref(root);
  if (is_there) *peaks = found;
  return is_there;
}

/* ---- writing ------------------------------------------------------------------------------ */

static json_t *entry_of(const rung_device *device, const lab_peaks *peaks) {
  char date[32], name[8];
  lab_date_text(peaks->conditions.date, date);
  json_t *entry =
      lab_object("{s:s, s:f, s:f, s:f, s:f}", "date", date, "load", peaks->conditions.load, "fma32",
                 peaks->fma32, "fma64", peaks->fma64, "mma64", peaks->mma64);
  for (int level = 0; level < peaks->levels; ++level) {
    const lab_bandwidth *of = &peaks->bandwidth[level];
    lab_level_name(device, level, name);
    json_t *bandwidth =
        lab_object("{s:f, s:f, s:f}", "read", of->read, "write", of->write, "copy", of->copy);
    if (json_object_set_new(entry, name, bandwidth) == 0) continue;
    json_decref(entry);
    return NULL;
  }
  return entry;
}

void lab_peaks_keep(const rung_device *device, const lab_peaks *peaks) {
  char path[PATH_MAX], key[LAB_CACHE_KEY];
  if (!lab_cache_path(leaf, path)) return;
  lab_cache_key(device, key);
  json_t *root = lab_cache_load(
      path, kind, FILE_VERSION); /* again: others may have written while we measured */
  const int set =
      json_object_set_new(json_object_get(root, "devices"), key, entry_of(device, peaks));
  if (root && set == 0) lab_store(path, root, NULL);
  json_decref(root);
}
