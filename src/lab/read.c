#include "lab/read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/line.h"
#include "lab/store.h"

enum { CANDIDATES_MOST = 4096, BLOCK_MOST = 1 << 20, LAUNCHES_MOST = 1 << 20 };
static const int64_t most_bytes = 1 << 28;

/* A file under way. */
typedef struct reader {
  lab_records *to;
  const char *name;
  int line;
  const json_t *provenance, *rules, *device, *peaks;
  int left; /* candidates of the last case that are to come */
  rung_error *error;
} reader;

static rung_status refuse(reader *r, const char *what) {
  return rung_fail(r->error, RUNG_BAD_FILE, "%.200s: line %d %s", r->name, r->line, what);
}

static rung_status no_memory(reader *r) {
  return rung_fail(r->error, RUNG_OUT_OF_MEMORY, "no host memory to read %.200s", r->name);
}

/* ---- members ------------------------------------------------------------------------------ */

const char *lab_read_text(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

double lab_read_number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Text that has to be there. */
static rung_status text_of(reader *r, const json_t *line, const char *key, const char **text) {
  char what[96];
  *text = json_string_value(json_object_get(line, key));
  if (*text) return RUNG_OK;
  snprintf(what, sizeof what, "has no \"%s\"; expected: text", key);
  return refuse(r, what);
}

/* A finite number of at least `least` that has to be there. */
static rung_status number_of(reader *r, const json_t *line, const char *key, double least,
                             double *number) {
  char what[96];
  *number = lab_read_number(line, key);
  if (*number >= least && isfinite(*number)) return RUNG_OK;
  snprintf(what, sizeof what, "has no good \"%s\"; expected: a number of %g or more", key, least);
  return refuse(r, what);
}

static rung_status whole_of(reader *r, const json_t *line, const char *key, int most, int *number) {
  char what[96];
  const json_t *value = json_object_get(line, key);
  const json_int_t found = json_integer_value(value);
  *number = (int)found;
  if (json_is_integer(value) && found >= 0 && found <= most) return RUNG_OK;
  snprintf(what, sizeof what, "has no good \"%s\"; expected: an integer, 0 ... %d", key, most);
  return refuse(r, what);
}

static rung_status object_of(reader *r, const json_t *line, const char *key,
                             const json_t **object) {
  char what[96];
  *object = json_object_get(line, key);
  if (json_is_object(*object)) return RUNG_OK;
  snprintf(what, sizeof what, "has no \"%s\"; expected: an object", key);
  return refuse(r, what);
}

/* Finite numbers of at least `least` (or more than it, where it is 0 and `above`). */
static rung_status numbers_of(reader *r, const json_t *line, const char *key, bool above,
                              int *count, double **numbers) {
  char what[128];
  const json_t *array = json_object_get(line, key);
  if (!json_is_array(array)) {
    snprintf(what, sizeof what, "has no \"%s\"; expected: an array of numbers", key);
    return refuse(r, what);
  }
  *count = (int)json_array_size(array);
  *numbers = malloc((size_t)*count * sizeof **numbers + 1);
  if (!*numbers) return no_memory(r);
  for (int i = 0; i < *count; ++i) {
    const json_t *value = json_array_get(array, (size_t)i);
    const double number = json_is_number(value) ? json_number_value(value) : NAN;
    (*numbers)[i] = number;
    if (isfinite(number) && (above ? number > 0 : number >= 0)) continue;
    snprintf(what, sizeof what, "has no number as %s[%d]; expected: one %s", key, i,
             above ? "above 0" : "of 0 or more");
    return refuse(r, what);
  }
  return RUNG_OK;
}

/* ---- lines -------------------------------------------------------------------------------- */

static rung_status read_head(reader *r, const json_t *line) {
  char what[160];
  const json_t *version = json_object_get(line, "rung-records");
  const json_int_t found = json_integer_value(version);
  if (!json_is_integer(version) || found != LAB_RECORD_VERSION) {
    snprintf(what, sizeof what, "is of version %" JSON_INTEGER_FORMAT "; expected: %d%s", found,
             LAB_RECORD_VERSION,
             found > LAB_RECORD_VERSION ? ", the latest that this version of Rung knows" : "");
    return refuse(r, what);
  }
  r->device = r->peaks = NULL;
  rung_status status = object_of(r, line, "provenance", &r->provenance);
  return status ? status : object_of(r, line, "rules", &r->rules);
}

static rung_status read_device(reader *r, const json_t *line) {
  const char *text;
  rung_status status = object_of(r, line, "device", &r->device);
  if (!status) status = text_of(r, r->device, "backend", &text);
  if (!status) status = text_of(r, r->device, "name", &text);
  if (!status) status = text_of(r, r->device, "identity", &text);
  return status;
}

/* The peaks of levels are looked at by reports, which ask every one whether it is a number. */
static rung_status read_peaks(reader *r, const json_t *line) {
  return object_of(r, line, "peaks", &r->peaks);
}

static void put_value(char *to, size_t room, const json_t *value) {
  char real[RUNG_REAL_TEXT];
  if (json_is_string(value))
    snprintf(to, room, "%s", json_string_value(value));
  else if (json_is_integer(value))
    snprintf(to, room, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
  else
    snprintf(to, room, "%s", rung_real_text(json_number_value(value), real));
}

static rung_status read_job(reader *r, const json_t *line, char label[RUNG_LABEL]) {
  const json_t *job;
  const char *key;
  json_t *value;
  size_t used = 0;
  rung_status status = object_of(r, line, "job", &job);
  if (status) return status;
  label[0] = '\0';
  json_object_foreach((json_t *)job, key, value) {
    if (!json_is_string(value) && !json_is_number(value))
      return refuse(r, "has a job of something else than texts and numbers");
    used += (size_t)snprintf(label + used, RUNG_LABEL - used, "%s%s=", used ? " " : "", key);
    if (used < RUNG_LABEL) put_value(label + used, RUNG_LABEL - used, value);
    used = used < RUNG_LABEL ? used + strlen(label + used) : used;
    if (used + 1 >= RUNG_LABEL) return refuse(r, "has a job that is too long");
  }
  return RUNG_OK;
}

/* Room for one more, at powers of two. */
static lab_read_case *add_case(lab_records *to) {
  if ((to->count & (to->count - 1)) == 0) {
    const size_t room = to->count ? 2 * (size_t)to->count : 1;
    lab_read_case *more = realloc(to->cases, room * sizeof *more);
    if (!more) return NULL;
    to->cases = more;
  }
  lab_read_case *of = &to->cases[to->count++];
  *of = (lab_read_case){0};
  return of;
}

static rung_status read_case(reader *r, const json_t *line) {
  if (!r->provenance || !r->device)
    return refuse(r, "is a job before its device; expected: the lines of provenance and device");
  lab_read_case *of = add_case(r->to);
  if (!of) return no_memory(r);
  of->provenance = r->provenance;
  of->rules = r->rules;
  of->device = r->device;
  of->peaks = r->peaks;
  of->hot = json_is_true(json_object_get(r->rules, "hot"));
  of->memory = lab_read_text(line, "memory");
  of->facts = json_object_get(line, "facts");
  of->peak_bound = lab_read_text(line, "peak_bound");
  of->peak_level = lab_read_text(line, "peak_level");
  of->caches = lab_read_text(line, "caches");
  of->date = lab_read_text(line, "date");
  of->load = lab_read_number(line, "load");
  of->others = lab_read_number(line, "others");
  of->stolen = lab_read_number(line, "stolen");
  of->throttled = lab_read_number(line, "throttled");
  of->line = lab_read_text(line, "line");
  of->peak_ms = NAN;
  rung_status status = text_of(r, line, "operation", &of->operation);
  if (!status) status = text_of(r, line, "type", &of->type);
  if (!status) status = text_of(r, line, "seed", &of->seed);
  if (!status) status = read_job(r, line, of->label);
  if (!status) status = number_of(r, line, "bytes", 0, &of->bytes);
  if (!status) status = number_of(r, line, "flops", 0, &of->flops);
  if (!status && json_is_number(json_object_get(line, "peak_ms")))
    status = number_of(r, line, "peak_ms", 0, &of->peak_ms);
  if (!status) status = whole_of(r, line, "candidates", CANDIDATES_MOST, &r->left);
  if (status) return status;
  of->candidates = calloc((size_t)r->left + 1, sizeof *of->candidates);
  return of->candidates ? RUNG_OK : no_memory(r);
}

/* The verdict that counts: the one before timing, or, where that was good, the one after, which is
 * left out where it is the same. */
static rung_status read_verdict(reader *r, const json_t *line, lab_read_candidate *c) {
  const json_t *verdict, *after = json_object_get(line, "after");
  rung_status status = object_of(r, line, "before", &verdict);
  if (!status) status = text_of(r, verdict, "finding", &c->finding);
  if (!status && strcmp(c->finding, "good") == 0 && json_is_object(after)) {
    verdict = after;
    status = text_of(r, verdict, "finding", &c->finding);
  }
  c->sentence = lab_read_text(verdict, "sentence");
  return status;
}

/* How many samples each launch took, all of them together as many as there are. *counts NULL: it
 * was no launches that were measured; else to be freed, in every case. */
static rung_status read_counts(reader *r, const json_t *line, const lab_read_candidate *c,
                               int *launches, int **counts) {
  const json_t *object = json_object_get(line, "launches"),
               *array = json_object_get(object, "samples");
  const size_t given = json_array_size(array);
  int64_t all = 0;
  *counts = NULL;
  *launches = 0;
  if (!object) return RUNG_OK;
  if (given == 0 || given > LAUNCHES_MOST)
    return refuse(r, "has no good \"launches\"; expected: its samples, an array of a number each");
  *counts = calloc(given, sizeof **counts);
  if (!*counts) return no_memory(r);
  for (size_t i = 0; i < given; ++i) {
    const json_t *value = json_array_get(array, i);
    const json_int_t count = json_integer_value(value);
    if (!json_is_integer(value) || count < 0 || count > c->count)
      return refuse(r, "has launches of something else than numbers of its samples");
    (*counts)[i] = (int)count;
    all += count;
  }
  if (all != c->count) return refuse(r, "has not as many samples_ms as its launches together");
  *launches = (int)given;
  return RUNG_OK;
}

static rung_status take_times(reader *r, lab_read_candidate *c, const int *counts, int launches) {
  c->apart = NAN;
  c->clock = lab_stats_of(c->clocks, c->count);
  if (!counts) {
    c->time = lab_stats_of(c->samples, c->count);
  } else {
    c->launches = launches;
    c->medians = malloc((size_t)launches * sizeof *c->medians);
    if (!c->medians) return no_memory(r);
    c->time = lab_stats_of_launches(c->samples, counts, &c->launches, c->medians);
    c->apart = lab_launches_apart(c->medians, c->launches, c->time.median);
  }
  return c->count > 0 && (c->time.count == 0 || c->clock.count == 0) ? no_memory(r) : RUNG_OK;
}

/* The median of what lies as samples_ms lies. */
static double median_of(const double *samples, int count, const int *counts, int launches) {
  if (!counts) return lab_stats_of(samples, count).median;
  double *medians = malloc((size_t)launches * sizeof *medians);
  const double median =
      medians ? lab_stats_of_launches(samples, counts, &launches, medians).median : NAN;
  free(medians);
  return median;
}

/* The stages of a job with `memory`, as many samples of each as of the whole. */
static rung_status read_stages(reader *r, const json_t *line, lab_read_candidate *c,
                               const int *counts, int launches) {
  const json_t *stages = json_object_get(line, "stages_ms");
  for (lab_stage s = 0; s < LAB_STAGES; ++s) c->stages[s] = NAN;
  if (!stages) return RUNG_OK;
  rung_status status = object_of(r, line, "stages_ms", &stages);
  for (lab_stage s = 0; s < LAB_STAGES && !status; ++s) {
    double *samples = NULL;
    int count = 0;
    status = numbers_of(r, stages, lab_stage_name(s), false, &count, &samples);
    if (!status && count != c->count)
      status = refuse(r, "has not as many samples of every stage as samples_ms");
    if (!status) c->stages[s] = median_of(samples, count, counts, launches);
    free(samples);
  }
  return status;
}

static rung_status read_candidate(reader *r, const json_t *line) {
  if (r->left == 0) return refuse(r, "is a rung too many; expected: as many as its job says");
  lab_read_case *of = &r->to->cases[r->to->count - 1];
  lab_read_candidate *c = &of->candidates[of->count++];
  int clocks = 0, launches = 0, *counts = NULL;
  r->left--;
  c->peer = json_string_value(json_object_get(line, "peer"));
  c->bits = json_string_value(json_object_get(line, "bits"));
  c->program = json_is_true(json_object_get(line, "program"));
  rung_status status = text_of(r, line, "rung", &c->rung);
  if (!status) status = text_of(r, line, "idea", &c->idea);
  if (!status) status = text_of(r, line, "order", &c->order);
  if (!status && strcmp(c->order, "loose") == 0) c->order = "fast"; /* as it was called */
  if (!status) status = text_of(r, line, "stop", &c->stop);
  if (!status) status = whole_of(r, line, "block", BLOCK_MOST, &c->block);
  if (!status) status = read_verdict(r, line, c);
  if (!status) status = numbers_of(r, line, "samples_ms", true, &c->count, &c->samples);
  if (!status) status = numbers_of(r, line, "clocks_mhz", false, &clocks, &c->clocks);
  if (!status && clocks != c->count) status = refuse(r, "has not as many clocks_mhz as samples_ms");
  if (!status) status = read_counts(r, line, c, &launches, &counts);
  if (!status) status = read_stages(r, line, c, counts, launches);
  if (!status) status = take_times(r, c, counts, launches);
  free(counts);
  if (status) return status;
  if (launches > of->launches) of->launches = launches;
  c->good = c->count > 0 && strcmp(c->finding, "good") == 0;
  return RUNG_OK;
}

static rung_status read_line(reader *r, const json_t *line) {
  if (json_object_get(line, "rung")) {
    if (r->to->count == 0) return refuse(r, "is a rung before its job");
    return read_candidate(r, line);
  }
  if (r->left > 0) return refuse(r, "comes where rungs of the job before it are missing");
  if (json_object_get(line, "rung-records")) return read_head(r, line);
  if (!r->provenance)
    return refuse(r, "is no beginning of a file of records; expected: \"rung-records\"");
  if (json_object_get(line, "device")) return read_device(r, line);
  if (json_object_get(line, "peaks")) return read_peaks(r, line);
  if (json_object_get(line, "operation")) return read_case(r, line);
  return RUNG_OK; /* of a kind that a later release of this version adds */
}

/* ---- files -------------------------------------------------------------------------------- */

/* Files of versions 1 and 2 are one indented object. */
static rung_status refuse_text(reader *r, const char *text, size_t length, const char *why) {
  char head[64], what[256];
  const size_t kept = length < sizeof head ? length : sizeof head - 1;
  memcpy(head, text, kept);
  head[kept] = '\0';
  const char *version = r->line == 1 ? strstr(head, "\"rung-records\":") : NULL;
  if (version && strtol(version + 15, NULL, 10) < LAB_RECORD_VERSION)
    return refuse(r, "is of version 1 or 2; expected: 3, which tools/records makes of it");
  snprintf(what, sizeof what, "is not a JSON object: %.160s", why);
  return refuse(r, what);
}

static rung_status load_line(reader *r, const char *text, size_t length, size_t rest) {
  json_error_t why = {0};
  json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
  if (!line) { /* for want of memory Jansson says anything; then it is JSON a moment later */
    line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    if (!line && why.text[0]) return refuse_text(r, text, rest, why.text);
    json_decref(line);
    return no_memory(r);
  }
  if (!json_is_object(line)) {
    json_decref(line);
    return refuse_text(r, text, rest, "it is something else");
  }
  if (json_array_append_new(r->to->lines, line) != 0) return no_memory(r);
  return read_line(r, line);
}

rung_status lab_read(lab_records *records, const char *name, const char *text, size_t length,
                     rung_error *error) {
  reader r = {.to = records, .name = name, .error = error};
  if (!records->lines) records->lines = json_array();
  if (!records->lines) return no_memory(&r);
  rung_status status = RUNG_OK;
  const char *at = text, *const end = text + length;
  while (at < end && !status) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    r.line++;
    if (!stop) return refuse(&r, "is cut off: it has no end");
    if (stop > at) status = load_line(&r, at, (size_t)(stop - at), (size_t)(end - at));
    at = stop + 1;
  }
  if (!status && r.left > 0) status = refuse(&r, "is the last, and rungs of its job are missing");
  if (!status && !r.provenance)
    status = rung_fail(error, RUNG_BAD_FILE, "%.200s holds no records", name);
  return status;
}

rung_status lab_read_all(const char *path, char **text, size_t *length, rung_error *error) {
  const int descriptor = lab_open_regular(path, most_bytes);
  *text = NULL;
  if (descriptor < 0)
    return rung_fail(error, errno == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                     "%.200s cannot be read: %s; expected: a file of records", path,
                     strerror(errno));
  *text = lab_take_text(descriptor, length);
  return *text ? RUNG_OK : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to read %.200s", path);
}

rung_status lab_read_file(lab_records *records, const char *path, rung_error *error) {
  char *text;
  size_t length;
  rung_status status = lab_read_all(path, &text, &length, error);
  if (!status) status = lab_read(records, path, text, length, error);
  free(text);
  return status;
}

void lab_records_free(lab_records *records) {
  for (int i = 0; i < records->count; ++i) {
    lab_read_case *of = &records->cases[i];
    for (int k = 0; k < of->count; ++k) {
      free(of->candidates[k].samples);
      free(of->candidates[k].clocks);
      free(of->candidates[k].medians);
    }
    free(of->candidates);
  }
  free(records->cases);
  json_decref(records->lines);
  *records = (lab_records){0};
}

/* ---- what can be said of a job -------------------------------------------------------------- */

const lab_read_candidate *lab_read_best(const lab_read_case *of) {
  const lab_read_candidate *best = NULL;
  for (int i = 0; i < of->count; ++i) {
    const lab_read_candidate *c = &of->candidates[i];
    if (!c->good || c->peer || c->program || strcmp(c->order, "canonical") != 0) continue;
    if (!best || c->time.median < best->time.median) best = c;
  }
  return best;
}

double lab_read_gain(const lab_read_case *of, const lab_read_candidate *candidate) {
  const char *lower = NULL;
  double best = NAN;
  if (candidate->peer || candidate->count == 0) return best;
  for (const lab_read_candidate *c = of->candidates; c < candidate; ++c) {
    if (strcmp(c->rung, candidate->rung) == 0 || !c->good) continue;
    if (!lower || strcmp(c->rung, lower) != 0 || c->time.median < best) best = c->time.median;
    lower = c->rung;
  }
  return best / candidate->time.median;
}

double lab_read_part(const lab_read_case *of, const lab_read_candidate *candidate) {
  static const double known_to = 0.98;
  if (!candidate->good || strcmp(candidate->order, "fast") == 0) return NAN;
  const double part = of->peak_ms / candidate->time.median;
  return part <= 1 / known_to ? fmin(part, 1) : NAN;
}
