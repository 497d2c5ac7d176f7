/* What was measured, with all that is needed to check it or to measure it again. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "lab/json.h"
#include "lab/lab.h"
#include "lab/store.h"
#include "rung_build.h"

/* json_*_set_new() take NULL values as failures and report them: every function here passes that
 * on, so that a record is whole or there is none. */
typedef struct writer {
  json_t *object;
  bool failed;
} writer;

static void put(writer *to, const char *key, json_t *value) {
  if (json_object_set_new(to->object, key, value) != 0) to->failed = true;
}

static void put_text(writer *to, const char *key, const char *text) {
  put(to, key, lab_text(text ? text : ""));
}

/* 64 bits as text: JSON readers may keep numbers as doubles. */
static void put_wide(writer *to, const char *key, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  put_text(to, key, text);
}

static writer begin(void) {
  json_t *object = json_object();
  return (writer){object, object == NULL};
}

/* The finished object, or NULL. */
static json_t *end(writer *to) {
  if (!to->failed) return to->object;
  json_decref(to->object);
  return NULL;
}

/* ---- provenance --------------------------------------------------------------------------- */

static json_t *provenance(const char *command) {
  writer to = begin();
  char date[32];
  const lab_conditions now = lab_conditions_now();
  lab_date_text(now.date, date);
  struct utsname host;
  if (uname(&host) != 0) memset(&host, 0, sizeof host);
  put_text(&to, "date", date);
  put(&to, "load", lab_number(now.load));
  put_text(&to, "command", command);
  put_text(&to, "version", RUNG_VERSION);
  put_text(&to, "commit", RUNG_BUILD_COMMIT);
  put_text(&to, "compiler", RUNG_BUILD_COMPILER);
  put_text(&to, "flags", RUNG_BUILD_FLAGS);
  put_text(&to, "cuda", RUNG_BUILD_CUDA);
  put_text(&to, "build", RUNG_BUILD_TYPE);
  put_text(&to, "host", host.nodename);
  put_text(&to, "system", host.sysname);
  put_text(&to, "kernel", host.release);
  put_text(&to, "machine", host.machine);
  return end(&to);
}

static void emit_fact(void *to, const char *key, const char *value) {
  put_text(to, key, value);
}

static json_t *device_json(const rung_context *context) {
  const rung_device *device = &context->device;
  writer facts = begin(), to = begin();
  /* A fact that cannot be had is one line less, no failure. */
  context->backend->facts(device->index, emit_fact, &facts, NULL);
  put_text(&to, "backend", context->backend->name);
  put(&to, "index", json_integer(device->index));
  put_text(&to, "name", device->name);
  put_text(&to, "identity", device->identity);
  put(&to, "capability", json_integer(device->capability));
  put(&to, "processors", json_integer(device->processors));
  put(&to, "threads", json_integer(device->threads));
  if (device->kind == RUNG_CPU) put_text(&to, "isa", rung_isa_name(device->isa));
  put(&to, "memory_bytes", json_integer(device->memory_bytes));
  put(&to, "cache_bytes", json_integer(device->cache_bytes));
  put(&to, "facts", end(&facts));
  return end(&to);
}

static json_t *rules_json(const lab_rules *rules) {
  writer to = begin();
  put(&to, "least", json_integer(rules->least));
  put(&to, "most", json_integer(rules->most));
  put(&to, "spread", lab_number(rules->spread));
  put(&to, "seconds", lab_number(rules->seconds));
  put(&to, "hot", json_boolean(rules->hot));
  put_wide(&to, "seed", rules->seed);
  return end(&to);
}

static json_t *level_json(const rung_device *device, const lab_peaks *peaks, int level) {
  writer to = begin();
  char name[8];
  lab_level_name(device, level, name);
  const bool memory = level + 1 == peaks->levels;
  put_text(&to, "level", name);
  put(&to, "bytes", json_integer(memory ? device->memory_bytes : device->caches[level].bytes));
  put(&to, "read_gb_per_s", lab_number(peaks->bandwidth[level].read));
  put(&to, "write_gb_per_s", lab_number(peaks->bandwidth[level].write));
  put(&to, "copy_gb_per_s", lab_number(peaks->bandwidth[level].copy));
  return end(&to);
}

static json_t *peaks_json(const rung_device *device, const lab_peaks *peaks) {
  writer to = begin();
  char date[32];
  json_t *levels = json_array();
  for (int level = 0; level < peaks->levels; ++level)
    if (json_array_append_new(levels, level_json(device, peaks, level)) != 0) to.failed = true;
  put(&to, "levels", levels);
  put(&to, "fma32_g_per_s", lab_number(peaks->fma32));
  put(&to, "fma64_g_per_s", lab_number(peaks->fma64));
  put(&to, "mma64_g_per_s", lab_number(peaks->mma64));
  lab_date_text(peaks->conditions.date, date);
  put_text(&to, "date", date);
  put(&to, "load", lab_number(peaks->conditions.load));
  put(&to, "kept", json_boolean(peaks->kept));
  return end(&to);
}

static void put_limit(writer *to, const lab_limit *limit) {
  put(to, "peak_ms", lab_number(limit->ms));
  put_text(to, "peak_bound", limit->bound);
  put_text(to, "peak_level", limit->level);
  put_text(to, "caches", limit->caches);
}

static json_t *trial_json(const rung_case *test_case) {
  writer to = begin();
  put_text(&to, "label", test_case->label);
  put_text(&to, "type", rung_dtype_name(test_case->types.in));
  put_wide(&to, "seed", test_case->seed);
  put(&to, "bytes", lab_number(test_case->bytes));
  put(&to, "flops", lab_number(test_case->flops));
  return end(&to);
}

/* ---- candidates --------------------------------------------------------------------------- */

static json_t *numbers(const double *values, int count) {
  json_t *array = json_array();
  for (int i = 0; array && i < count; ++i)
    if (json_array_append_new(array, lab_number(values[i])) != 0) {
      json_decref(array);
      return NULL;
    }
  return array;
}

static json_t *stats_json(const lab_stats *stats) {
  writer to = begin();
  put(&to, "count", json_integer(stats->count));
  put(&to, "min", lab_number(stats->min));
  put(&to, "q1", lab_number(stats->q1));
  put(&to, "median", lab_number(stats->median));
  put(&to, "q3", lab_number(stats->q3));
  put(&to, "max", lab_number(stats->max));
  put(&to, "relative_iqr", lab_number(lab_relative_iqr(stats)));
  return end(&to);
}

static json_t *verdict_json(const lab_verdict *verdict) {
  writer to = begin();
  put_text(&to, "finding", lab_finding_name(verdict->finding));
  put_text(&to, "sentence", verdict->sentence);
  put(&to, "worst_error", lab_number(verdict->comparison.worst));
  put(&to, "error_bound", lab_number(verdict->comparison.bound));
  put(&to, "wrong", json_integer(verdict->comparison.wrong));
  put(&to, "different", json_integer(verdict->comparison.different));
  return end(&to);
}

static json_t *candidate_json(const lab_candidate *candidate) {
  static const char *const orders[] = {"canonical", "textbook", "loose"};
  writer to = begin();
  put_text(&to, "rung", candidate->row->name);
  put_text(&to, "idea", candidate->row->idea);
  if (candidate->row->peer) put_text(&to, "peer", candidate->row->peer);
  if (candidate->row->program) put(&to, "program", json_true());
  put_text(&to, "order", orders[candidate->row->order]);
  put(&to, "block", json_integer(candidate->block));
  put(&to, "before", verdict_json(&candidate->before));
  put(&to, "after", verdict_json(&candidate->after));
  put(&to, "samples_ms", numbers(candidate->samples, candidate->count));
  put(&to, "clocks_mhz", numbers(candidate->clocks, candidate->count));
  put(&to, "time_ms", stats_json(&candidate->time));
  put(&to, "clock_mhz", stats_json(&candidate->clock));
  put_text(&to, "stop", lab_stop_text(candidate->stop));
  return end(&to);
}

json_t *lab_record(rung_context *context, const rung_case *test_case,
                   const lab_candidate *candidates, int count, const lab_rules *rules,
                   const lab_peaks *peaks, const char *command) {
  writer to = begin();
  put(&to, "rung-record", json_integer(LAB_RECORD_VERSION));
  put_text(&to, "operation", test_case->operation->name);
  put(&to, "trial", trial_json(test_case));
  put(&to, "provenance", provenance(command));
  put(&to, "device", device_json(context));
  put(&to, "rules", rules_json(rules));
  if (peaks) {
    const rung_device *device = &context->device;
    const lab_limit limit = lab_limit_of(peaks, test_case, device, rules->hot);
    put(&to, "peaks", peaks_json(device, peaks));
    put_limit(&to, &limit);
  }
  json_t *array = json_array();
  for (int i = 0; i < count; ++i)
    if (json_array_append_new(array, candidate_json(&candidates[i])) != 0) to.failed = true;
  put(&to, "candidates", array);
  return end(&to);
}

rung_status lab_record_write(const char *path, json_t *records, rung_error *error) {
  json_t *root = lab_object("{s:i, s:O}", "rung-records", LAB_RECORD_VERSION, "records", records);
  if (!root) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for the records");
  rung_status status = lab_store(path, root, error);
  json_decref(root);
  return status;
}
