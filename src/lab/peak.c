/* What the device can do at best, measured by the backend's probes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lab/lab.h"

enum { PROBE_SAMPLES = 7 };

lab_conditions lab_conditions_now(void) {
  double load = 0;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (getloadavg(&load, 1) != 1) load = 0;
  return (lab_conditions){.date = time(NULL), .load = load / (processors > 0 ? processors : 1)};
}

void lab_date_text(int64_t date, char text[32]) {
  const time_t seconds = date;
  struct tm utc;
  text[0] = '\0';
  if (gmtime_r(&seconds, &utc)) strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static int caches_of(const rung_device *device) {
  int count = 0;
  while (count < RUNG_CACHES && device->caches[count].bytes > 0) count++;
  return count;
}

void lab_level_name(const rung_device *device, int level, char name[8]) {
  if (level < caches_of(device))
    snprintf(name, 8, "L%d", device->caches[level].level % 100);
  else
    snprintf(name, 8, "memory");
}

/* The best of the samples: whatever else the machine does can only add time. `bytes`: see
 * rung_backend.probe. */
static rung_status measure(rung_context *context, rung_probe probe, int64_t bytes, double *rate,
                           rung_error *error) {
  double best = 0;
  for (int i = -1; i < PROBE_SAMPLES; ++i) { /* -1: to warm up */
    double work, milliseconds;
    rung_status status =
        context->backend->probe(context->state, probe, bytes, &work, &milliseconds, error);
    if (status != RUNG_OK) return status;
    if (!(milliseconds > 0 && work > 0))
      return rung_fail(error, RUNG_CHECK_FAILED, "probe %d did %g units of work in %g ms",
                       (int)probe, work, milliseconds);
    if (i >= 0) best = fmax(best, work / milliseconds * 1e-6);
  }
  *rate = best;
  return RUNG_OK;
}

/* Half of what the threads in use have of a level: it holds that, and no nearer one does. */
static int64_t working_set(const rung_device *device, int level) {
  double share = 1;
  if (device->kind == RUNG_CPU && device->threads < device->processors)
    share = (double)device->threads / device->processors;
  return (int64_t)(0.5 * share * (double)device->caches[level].bytes);
}

/* Four times what the nearer level has: of a large cache that others share, or that is another
 * processor's for the most part, this much may be there where half of it is not. */
static int64_t nearest_set(const rung_device *device, int level) {
  return level > 0 ? 8 * working_set(device, level - 1) : INT64_MAX;
}

static rung_status measure_level(rung_context *context, int level, int64_t bytes, lab_peaks *peaks,
                                 rung_error *error) {
  lab_bandwidth *found = &peaks->bandwidth[level];
  rung_status status = measure(context, RUNG_PROBE_READ, bytes, &found->read, error);
  if (!status) status = measure(context, RUNG_PROBE_WRITE, bytes, &found->write, error);
  if (!status) status = measure(context, RUNG_PROBE_COPY, bytes, &found->copy, error);
  return status;
}

static void better(lab_bandwidth *of, const lab_bandwidth *other) {
  of->read = fmax(of->read, other->read);
  of->write = fmax(of->write, other->write);
  of->copy = fmax(of->copy, other->copy);
}

static rung_status measure_all(rung_context *context, const lab_conditions *now, lab_peaks *peaks,
                               rung_error *error) {
  const int memory = caches_of(&context->device);
  *peaks = (lab_peaks){.levels = memory + 1, .conditions = *now};
  rung_status status = measure_level(context, memory, 0, peaks, error);
  for (int level = memory - 1; level >= 0 && !status; --level) {
    const lab_bandwidth *beyond = &peaks->bandwidth[level + 1];
    const int64_t most = working_set(&context->device, level);
    const int64_t least = nearest_set(&context->device, level);
    status = measure_level(context, level, most, peaks, error);
    better(&peaks->bandwidth[level], beyond);
    if (status || least >= most) continue;
    const lab_bandwidth all = peaks->bandwidth[level];
    status = measure_level(context, level, least, peaks, error);
    better(&peaks->bandwidth[level], &all);
  }
  if (!status) status = measure(context, RUNG_PROBE_FMA32, 0, &peaks->fma32, error);
  if (!status) status = measure(context, RUNG_PROBE_FMA64, 0, &peaks->fma64, error);
  if (!status) status = measure(context, RUNG_PROBE_MMA64, 0, &peaks->mma64, error);
  peaks->mma64 = fmax(peaks->mma64, peaks->fma64);
  return status;
}

rung_status lab_peaks_of(rung_context *context, const lab_conditions *now, lab_peaks *peaks,
                         rung_error *error) {
  if (lab_peaks_kept(&context->device, now, peaks)) return RUNG_OK;
  lab_peaks made;
  rung_status status = measure_all(context, now, &made, error);
  if (status != RUNG_OK) return status;
  *peaks = made;
  lab_peaks_keep(&context->device, peaks);
  return RUNG_OK;
}

rung_status lab_peaks_again(rung_context *context, const lab_conditions *now, lab_peaks *peaks,
                            rung_error *error) {
  lab_peaks made;
  rung_status status = measure_all(context, now, &made, error);
  if (status != RUNG_OK) return status;
  for (int level = 0; level < made.levels; ++level)
    better(&made.bandwidth[level], &peaks->bandwidth[level]);
  made.fma32 = fmax(made.fma32, peaks->fma32);
  made.fma64 = fmax(made.fma64, peaks->fma64);
  made.mma64 = fmax(made.mma64, peaks->mma64);
  *peaks = made;
  lab_peaks_keep(&context->device, peaks);
  return RUNG_OK;
}
