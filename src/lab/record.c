/* What was measured, with all that is needed to check it or to measure it again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
  struct utsname host;
  if (uname(&host) != 0) memset(&host, 0, sizeof host);
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

json_t *lab_record_device(const rung_context *context) {
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
  if (rules->memory) put_text(&to, "memory", lab_memory_name(rules->memory));
  put_wide(&to, "seed", rules->seed);
  if (rules->launches) put(&to, "launches", json_integer(rules->launches));
  return end(&to);
}

json_t *lab_record_head(const lab_rules *rules, const char *command) {
  return lab_object("{s:i, s:o, s:o}", "rung-records", LAB_RECORD_VERSION, "provenance",
                    provenance(command), "rules", rules_json(rules));
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

/* ---- jobs ---------------------------------------------------------------------------------- */

/* A number where it can be written as one and read back as the same text, else text. */
static json_t *value_json(const char *text) {
  char again[32], *rest;
  const long long whole = strtoll(text, &rest, 10);
  snprintf(again, sizeof again, "%lld", whole);
  if (strcmp(again, text) == 0) return json_integer(whole);
  const double real = strtod(text, &rest);
  /* Records have reals of 15 digits. */
  snprintf(again, sizeof again, "%.15g", real);
  if (isfinite(real) && strcmp(again, text) == 0) return json_real(real);
  return lab_text(text);
}

/* "n=3 type=f32" as an object. */
static json_t *job_json(const char *label) {
  writer to = begin();
  char line[RUNG_LABEL], *rest = line;
  snprintf(line, sizeof line, "%s", label);
  for (char *word; (word = strsep(&rest, " "));) {
    char *value = strchr(word, '=');
    if (!value) continue;
    *value = '\0';
    put(&to, word, value_json(value + 1));
  }
  return end(&to);
}

static void put_disturbance(writer *to, const lab_disturbance *found) {
  if (isfinite(found->others)) put(to, "others", lab_number(found->others));
  if (isfinite(found->stolen)) put(to, "stolen", lab_number(found->stolen));
  if (found->throttled > 0) put(to, "throttled", json_integer(found->throttled));
}

static json_t *case_json(const lab_bench *bench, const lab_limit *limit, json_t *facts) {
  const rung_case *test_case = &bench->test_case;
  writer to = begin();
  char date[32];
  const lab_conditions now = lab_conditions_now();
  lab_date_text(now.date, date);
  put_text(&to, "operation", test_case->operation->name);
  put(&to, "job", job_json(test_case->label));
  if (bench->line) put_text(&to, "line", bench->line);
  put_text(&to, "type", rung_dtype_name(test_case->types.in));
  put_wide(&to, "seed", test_case->seed);
  put(&to, "bytes", lab_number(test_case->bytes));
  put(&to, "flops", lab_number(test_case->flops));
  put_text(&to, "date", date);
  put(&to, "load", lab_number(now.load));
  put_disturbance(&to, &bench->disturbed);
  if (limit) {
    put(&to, "peak_ms", lab_number(limit->ms));
    put_text(&to, "peak_bound", limit->bound);
    put_text(&to, "peak_level", limit->level);
    put_text(&to, "caches", limit->caches);
  }
  if (bench->rules.memory) put_text(&to, "memory", lab_memory_name(bench->rules.memory));
  if (json_object_size(facts) > 0) put(&to, "facts", json_incref(facts));
  put(&to, "candidates", json_integer(bench->count));
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

/* Without what is as it is in a verdict that nothing can be said against. */
static json_t *verdict_json(const lab_verdict *verdict) {
  const rung_comparison *found = &verdict->comparison;
  writer to = begin();
  put_text(&to, "finding", lab_finding_name(verdict->finding));
  if (verdict->sentence[0]) put_text(&to, "sentence", verdict->sentence);
  put(&to, "worst_error", lab_number(found->worst));
  put(&to, "error_bound", lab_number(found->bound));
  if (found->wrong) put(&to, "wrong", json_integer(found->wrong));
  if (found->different) put(&to, "different", json_integer(found->different));
  return end(&to);
}

/* Every stage's samples. */
static json_t *stages_json(const lab_candidate *candidate) {
  writer to = begin();
  for (lab_stage s = 0; s < LAB_STAGES; ++s) {
    json_t *samples = json_array();
    for (int i = 0; i < candidate->count; ++i)
      if (json_array_append_new(samples, lab_number(candidate->stages[i * LAB_STAGES + (int)s])) !=
          0)
        to.failed = true;
    put(&to, lab_stage_name(s), samples);
  }
  return end(&to);
}

static json_t *candidate_json(const lab_candidate *candidate) {
  static const char *const orders[] = {"canonical", "textbook", "fast"};
  writer to = begin();
  put_text(&to, "rung", candidate->row->name);
  put_text(&to, "idea", candidate->row->idea);
  if (candidate->row->peer) put_text(&to, "peer", candidate->row->peer);
  if (candidate->row->program) put(&to, "program", json_true());
  put_text(&to, "order", orders[candidate->row->order]);
  put(&to, "block", json_integer(candidate->block));
  put(&to, "before", verdict_json(&candidate->before));
  put(&to, "after", verdict_json(&candidate->after));
  if (json_equal(json_object_get(to.object, "before"), json_object_get(to.object, "after")))
    json_object_del(to.object, "after");
  if (lab_candidate_good(candidate) && candidate->before.bits == candidate->after.bits) {
    char bits[24];
    snprintf(bits, sizeof bits, "%016llx", (unsigned long long)candidate->after.bits);
    put_text(&to, "bits", bits);
  }
  put(&to, "samples_ms", numbers(candidate->samples, candidate->count));
  if (candidate->stages) put(&to, "stages_ms", stages_json(candidate));
  put(&to, "clocks_mhz", numbers(candidate->clocks, candidate->count));
  put_text(&to, "stop", lab_stop_text(candidate->stop));
  return end(&to);
}

/* ---- lines -------------------------------------------------------------------------------- */

/* The latest of the lines that has the key, since the run began; NULL: none. */
static json_t *latest(const json_t *lines, const char *key) {
  for (size_t i = json_array_size(lines); i-- > 0;) {
    json_t *line = json_array_get(lines, i);
    if (json_object_get(line, key)) return line;
    if (json_object_get(line, "rung-records")) break;
  }
  return NULL;
}

/* Takes the line. */
static bool add(json_t *lines, json_t *line) {
  return json_array_append_new(lines, line) == 0;
}

/* Takes the line, which is added where the latest of its kind is another. */
static bool add_new(json_t *lines, const char *key, json_t *line) {
  if (!line || !json_equal(latest(lines, key), line)) return add(lines, line);
  json_decref(line);
  return true;
}

/* Some facts change by the minute. Removes from `facts` what the line of the device says alike;
 * false: it says other things, too. */
static bool only_changes(json_t *facts, const json_t *said) {
  const char *key;
  json_t *value;
  void *next;
  if (json_object_size(facts) != json_object_size(said)) return false;
  json_object_foreach(facts, key, value) if (!json_object_get(said, key)) return false;
  json_object_foreach_safe(facts, next, key,
                           value) if (json_equal(value, json_object_get(said, key)))
      json_object_del(facts, key);
  return true;
}

/* Takes the device, whose line is added where it is not the one that was used last; *facts, to be
 * dropped, are those that differ from its. */
static bool add_device(json_t *lines, json_t *device, json_t **facts) {
  const json_t *of = json_object_get(device, "facts");
  json_t *said = json_object_get(latest(lines, "device"), "device"),
         *like = said ? lab_copy(device) : NULL;
  *facts = lab_copy(of);
  bool whole = device && (!said || like) && (!of || *facts), same = false;
  if (whole && of && said && only_changes(*facts, json_object_get(said, "facts"))) {
    whole = json_object_set(like, "facts", json_object_get(said, "facts")) == 0;
    same = whole && json_equal(like, said);
  }
  json_decref(like);
  if (same || !whole) {
    json_decref(device);
    return whole;
  }
  json_decref(*facts);
  *facts = NULL;
  return add(lines, lab_object("{s:o}", "device", device));
}

rung_status lab_record_add(json_t *lines, const lab_bench *bench, const char *command,
                           rung_error *error) {
  const rung_device *device = &bench->context->device;
  const bool peaks = bench->peaks.levels > 0;
  json_t *facts = NULL, *head = lab_record_head(&bench->rules, command);
  bool whole = add_new(lines, "rung-records", head) &&
               add_device(lines, lab_record_device(bench->context), &facts);
  if (peaks && whole)
    whole =
        add_new(lines, "peaks", lab_object("{s:o}", "peaks", peaks_json(device, &bench->peaks)));
  whole = whole && add(lines, case_json(bench, peaks ? &bench->limit : NULL, facts));
  for (int i = 0; i < bench->count && whole; ++i)
    whole = add(lines, candidate_json(&bench->candidates[i]));
  json_decref(facts);
  if (whole) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for the record");
}

/* A copy of the device with all facts of the job's line, which is left without. */
static json_t *device_of(const lab_record_job *of, json_t *job) {
  json_t *device = lab_copy(of->device), *more = json_object_get(job, "facts"),
         *facts = more ? lab_copy(json_object_get(device, "facts")) : NULL;
  const bool whole = !more || (facts && json_object_update(facts, more) == 0);
  if (whole && more && json_object_set(device, "facts", facts) == 0) more = NULL;
  json_decref(facts);
  json_object_del(job, "facts");
  if (whole && !more) return device;
  json_decref(device);
  return NULL;
}

rung_status lab_record_join(json_t *lines, const lab_record_job *of, rung_error *error) {
  json_t *job = lab_copy(of->job), *device = device_of(of, job), *facts = NULL;
  bool whole = job && add_new(lines, "rung-records", json_incref(of->head));
  if (whole && device)
    whole = add_device(lines, json_incref(device), &facts);
  else
    whole = false;
  if (of->peaks && whole) whole = add_new(lines, "peaks", lab_object("{s:O}", "peaks", of->peaks));
  if (whole && json_object_size(facts) > 0) whole = json_object_set(job, "facts", facts) == 0;
  whole = whole && json_array_append(lines, job) == 0 && json_array_extend(lines, of->rungs) == 0;
  json_decref(facts);
  json_decref(device);
  json_decref(job);
  if (whole) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for the record");
}

char *lab_record_text(const json_t *lines) {
  const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
  size_t length = 0;
  char *text = calloc(1, 1);
  for (size_t i = 0; i < json_array_size(lines) && text; ++i) {
    char *line = lab_json_text(json_array_get(lines, i), flags);
    const size_t more = line ? strlen(line) : 0;
    char *longer = line ? realloc(text, length + more + 2) : NULL;
    if (longer) {
      memcpy(longer + length, line, more);
      memcpy(longer + length + more, "\n", 2);
      length += more + 1;
    } else {
      free(text);
    }
    text = longer;
    free(line);
  }
  return text;
}

rung_status lab_record_write(const char *path, const json_t *lines, rung_error *error) {
  char *text = lab_record_text(lines);
  if (!text) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for the records");
  const rung_status status = lab_store_text(path, text, error);
  free(text);
  return status;
}
