/* What the device can do, measured by the backend's probes, and kept. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/lab.h"
#include "lab/store.h"

enum { PROBE_SAMPLES = 7, CACHE_VERSION = 1, KEY = 256 };

static const char *const probe_names[RUNG_PROBES] = {
    [RUNG_PROBE_READ] = "read",   [RUNG_PROBE_WRITE] = "write", [RUNG_PROBE_COPY] = "copy",
    [RUNG_PROBE_FMA32] = "fma32", [RUNG_PROBE_FMA64] = "fma64",
};

static double *rate_of(lab_roofs *roofs, rung_probe probe) {
  switch (probe) {
    case RUNG_PROBE_READ:
      return &roofs->read;
    case RUNG_PROBE_WRITE:
      return &roofs->write;
    case RUNG_PROBE_COPY:
      return &roofs->copy;
    case RUNG_PROBE_FMA32:
      return &roofs->fma32;
    default:
      return &roofs->fma64;
  }
}

static rung_status measure(rung_context *context, rung_probe probe, double *rate,
                           rung_error *error) {
  double rates[PROBE_SAMPLES];
  for (int i = -1; i < PROBE_SAMPLES; ++i) { /* -1: to warm up */
    double work, milliseconds;
    rung_status status =
        context->backend->probe(context->state, probe, &work, &milliseconds, error);
    if (status != RUNG_OK) return status;
    if (!(milliseconds > 0 && work > 0))
      return rung_fail(error, RUNG_CHECK_FAILED, "the %s probe did %g units of work in %g ms",
                       probe_names[probe], work, milliseconds);
    if (i >= 0) rates[i] = work / milliseconds * 1e-6;
  }
  *rate = lab_stats_of(rates, PROBE_SAMPLES).median;
  return RUNG_OK;
}

/* ---- the cache ---------------------------------------------------------------------------- */

static bool is_directory(const char *path) {
  struct stat is;
  return mkdir(path, 0777) == 0 || (stat(path, &is) == 0 && S_ISDIR(is.st_mode));
}

/* $XDG_CACHE_HOME/rung/roofs.json, else ~/.cache/rung/roofs.json, directories made. A relative
 * $XDG_CACHE_HOME is ignored, as its specification asks. */
static bool cache_path(char path[PATH_MAX]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char directory[PATH_MAX];
  int length;
  if (cache && cache[0] == '/')
    length = snprintf(directory, sizeof directory, "%s", cache);
  else if (home && home[0] == '/')
    length = snprintf(directory, sizeof directory, "%s/.cache", home);
  else
    return false;
  static const char leaf[] = "/rung/roofs.json";
  if (length < 0 || (size_t)length + sizeof leaf > sizeof directory) return false;
  if (!is_directory(directory)) return false;
  strcat(directory, "/rung");
  if (!is_directory(directory)) return false;
  snprintf(path, PATH_MAX, "%.*s%s", length, directory, leaf);
  return true;
}

/* Everything the roofs depend on. */
static void cache_key(const rung_device *device, char key[KEY]) {
  const bool cpu = device->kind == RUNG_CPU;
  snprintf(key, KEY, "%.159s threads=%d isa=%s rung=%s", device->identity,
           cpu ? device->threads : 0, cpu ? rung_isa_name(device->isa) : "-", RUNG_VERSION);
}

/* The whole cache, or a new one where the file is absent or is not what it should be. */
static json_t *load_cache(const char *path) {
  json_t *root = json_load_file(path, 0, NULL);
  if (json_is_object(root) &&
      json_integer_value(json_object_get(root, "rung-roofs")) == CACHE_VERSION &&
      json_is_object(json_object_get(root, "devices")))
    return root;
  json_decref(root);
  return json_pack("{s:i, s:{}}", "rung-roofs", CACHE_VERSION, "devices");
}

static bool recall(const json_t *cache, const char *key, lab_roofs *roofs) {
  const json_t *entry = json_object_get(json_object_get(cache, "devices"), key);
  lab_roofs found = {.cached = true};
  for (int probe = 0; probe < RUNG_PROBES; ++probe) {
    const double rate = json_number_value(json_object_get(entry, probe_names[probe]));
    if (!(isfinite(rate) && rate > 0)) return false;
    *rate_of(&found, (rung_probe)probe) = rate;
  }
  *roofs = found;
  return true;
}

static void keep(const char *path, const char *key, lab_roofs *roofs) {
  json_t *cache = load_cache(path); /* again: others may have written while we measured */
  json_t *entry = json_object();
  for (int probe = 0; probe < RUNG_PROBES; ++probe)
    json_object_set_new(entry, probe_names[probe], lab_number(*rate_of(roofs, (rung_probe)probe)));
  json_object_set_new(json_object_get(cache, "devices"), key, entry);
  if (cache) lab_store(path, cache, NULL);
  json_decref(cache);
}

bool lab_roofs_known(rung_context *context, lab_roofs *roofs) {
  char path[PATH_MAX], key[KEY];
  cache_key(&context->device, key);
  if (!cache_path(path)) return false;
  json_t *cache = load_cache(path);
  const bool found = recall(cache, key, roofs);
  json_decref(cache);
  return found;
}

rung_status lab_roofs_of(rung_context *context, bool again, lab_roofs *roofs, rung_error *error) {
  if (!again && lab_roofs_known(context, roofs)) return RUNG_OK;
  lab_roofs made = {0};
  for (int probe = 0; probe < RUNG_PROBES; ++probe) {
    rung_status status =
        measure(context, (rung_probe)probe, rate_of(&made, (rung_probe)probe), error);
    if (status != RUNG_OK) return status;
  }
  *roofs = made;
  char path[PATH_MAX], key[KEY];
  cache_key(&context->device, key);
  if (cache_path(path)) keep(path, key, roofs);
  return RUNG_OK;
}

/* ---- what a case can at best take -------------------------------------------------------- */

/* `written` of `bytes` bytes are stores. Which bandwidth holds for the mix: a tenth of stores
 * among loads hardly matters, and so the other way about. */
static double memory_ms(const lab_roofs *roofs, double bytes, double written, const char **bound) {
  const double share = bytes > 0 ? written / bytes : 0;
  const bool reads = share <= 0.125, writes = share >= 0.875;
  *bound = reads ? "read" : writes ? "write" : "copy";
  return bytes / (reads ? roofs->read : writes ? roofs->write : roofs->copy) * 1e-6;
}

static double slower(const lab_roofs *roofs, const rung_case *test_case, double memory,
                     const char **bound) {
  if (!rung_dtype_is_float(test_case->types.in)) return memory;
  const bool wide = rung_dtype_bytes(test_case->types.in) == 8 && !test_case->single;
  const double arithmetic = test_case->flops / 2 / (wide ? roofs->fma64 : roofs->fma32) * 1e-6;
  if (arithmetic > memory) *bound = wide ? "fma64" : "fma32";
  return arithmetic > memory ? arithmetic : memory;
}

static double written_bytes(const rung_case *test_case) {
  double bytes = 0;
  for (int i = test_case->inputs; i < test_case->inputs + test_case->outputs; ++i)
    if (test_case->arrays[i].count) bytes += (double)rung_view_bytes(&test_case->arrays[i]);
  return bytes < test_case->bytes ? bytes : test_case->bytes;
}

double lab_roof_ms(const lab_roofs *roofs, const rung_case *test_case, const char **bound) {
  const char *unused;
  if (!bound) bound = &unused;
  return slower(roofs, test_case,
                memory_ms(roofs, test_case->bytes, written_bytes(test_case), bound), bound);
}

lab_floor lab_floor_of(const lab_roofs *roofs, const rung_case *test_case,
                       const rung_device *device) {
  /* A flush is sure to evict so much: the CPU's reads 512 MiB at most. */
  const double evicted = 256.0 * (1 << 20), cache = (double)device->cache_bytes;
  double written = written_bytes(test_case), read = test_case->bytes - written;
  const char *unused;
  written = written > cache ? written - cache : 0;
  if (cache > evicted) read = read > cache ? read - cache : 0;
  const double memory = memory_ms(roofs, read + written, written, &unused);
  return (lab_floor){.ms = slower(roofs, test_case, memory, &unused), .memory_ms = memory};
}
