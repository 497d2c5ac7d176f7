#include "cli/look.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace.h"
#include "lab/read.h"

enum {
  RUNGS_MOST = 256,
  KERNELS_MOST = 256,
  BLOCK_MOST = 1024,
  BLOCKS_MOST = 1 << 16, /* each looks for a place among the others */
  BYTES_MOST = 128,      /* of an access */
  DEVICES_MOST = 4096,
  SHARES_MOST = 4096
};

typedef struct reader {
  looks *to;
  const char *name;
  rung_error *error;
} reader;

static rung_status no_memory(const reader *r) {
  return rung_fail(r->error, RUNG_OUT_OF_MEMORY, "no host memory to read %.200s", r->name);
}

/* Says where, and what stands there instead of what is expected. */
static rung_status refuse(const reader *r, const char *where, const char *expected) {
  return rung_fail(r->error, RUNG_BAD_FILE, "%.200s has no good \"%.60s\"; expected: %s", r->name,
                   where, expected);
}

/* ---- members ------------------------------------------------------------------------------ */

static rung_status text_of(const reader *r, const json_t *in, const char *key, const char **text) {
  *text = json_string_value(json_object_get(in, key));
  return *text ? RUNG_OK : refuse(r, key, "text");
}

static rung_status whole_of(const reader *r, const json_t *in, const char *key, int64_t least,
                            int64_t most, int64_t *number) {
  char expected[96];
  const json_t *value = json_object_get(in, key);
  *number = json_integer_value(value);
  if (json_is_integer(value) && *number >= least && *number <= most) return RUNG_OK;
  snprintf(expected, sizeof expected, "an integer, %" PRId64 " ... %" PRId64, least, most);
  return refuse(r, key, expected);
}

static rung_status small_of(const reader *r, const json_t *in, const char *key, int least, int most,
                            int *number) {
  int64_t found = 0;
  rung_status status = whole_of(r, in, key, least, most, &found);
  *number = (int)found;
  return status;
}

static rung_status list_of(const reader *r, const json_t *in, const char *key, size_t least,
                           size_t most, const json_t **list, size_t *count) {
  char expected[96];
  *list = json_object_get(in, key);
  *count = json_array_size(*list);
  if (json_is_array(*list) && *count >= least && *count <= most) return RUNG_OK;
  snprintf(expected, sizeof expected, "an array of %zu ... %zu", least, most);
  return refuse(r, key, expected);
}

static rung_status version_of(const reader *r, const json_t *in, int known) {
  int found = 0;
  if (!json_object_get(in, "version")) return RUNG_OK; /* written before it had one: the same */
  return small_of(r, in, "version", known, known, &found);
}

/* ---- steps -------------------------------------------------------------------------------- */

static rung_status deed_of(const reader *r, const json_t *in, rung_deed *deed) {
  const char *name = "";
  rung_status status = text_of(r, in, "deed", &name);
  for (int d = RUNG_DID_WORK; d <= RUNG_DID_EXCHANGE && !status; d++)
    if (strcmp(name, explain_deed_name((rung_deed)d)) == 0) {
      *deed = (rung_deed)d;
      return RUNG_OK;
    }
  return status ? status : refuse(r, "deed", "load, store, atomic, barrier, exchange or work");
}

/* One a lane that took part, where memory was touched. */
static rung_status addresses_of(const reader *r, const json_t *in, rung_profile_step *step) {
  const json_t *list;
  size_t count, next = 0;
  const size_t wanted = step->bytes > 0 ? (size_t)__builtin_popcount(step->lanes) : 0;
  rung_status status = list_of(r, in, "addresses", wanted, wanted, &list, &count);
  for (int lane = 0; lane < RUNG_LANES && next < count && !status; lane++) {
    if (!(step->lanes >> lane & 1)) continue;
    const json_t *value = json_array_get(list, next++);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
      status = refuse(r, "addresses", "integers of 0 or more");
    step->address[lane] = (uint64_t)json_integer_value(value);
  }
  return status;
}

static rung_status read_step(const reader *r, const json_t *in, rung_profile_step *step) {
  int64_t place = 0, lanes = 0, all = 0;
  rung_status status = small_of(r, in, "warp", 0, RUNG_KEPT_WARPS - 1, &step->warp);
  if (!status) status = small_of(r, in, "phase", 0, INT32_MAX, &step->phase);
  if (!status) status = deed_of(r, in, &step->deed);
  if (!status) status = whole_of(r, in, "place", 0, INT64_MAX, &place);
  if (!status) status = small_of(r, in, "line", 0, INT32_MAX, &step->line);
  if (!status) status = whole_of(r, in, "all", 0, UINT32_MAX, &all);
  if (!status) status = whole_of(r, in, "lanes", 0, all, &lanes);
  if (!status && (lanes & ~all)) status = refuse(r, "lanes", "some of those of \"all\"");
  if (!status) status = small_of(r, in, "bytes", 0, BYTES_MOST, &step->bytes);
  if (!status) status = small_of(r, in, "sectors", 0, BLOCK_MOST, &step->sectors);
  if (!status) status = small_of(r, in, "depth", 0, BLOCK_MOST, &step->depth);
  step->place = (uint64_t)place;
  step->lanes = (uint32_t)lanes;
  step->all = (uint32_t)all;
  step->file = json_string_value(json_object_get(in, "file"));
  step->shared = json_is_true(json_object_get(in, "shared"));
  return status ? status : addresses_of(r, in, step);
}

/* Phases rise, and in each the steps of a warp stand behind one another. */
static rung_status check_order(const reader *r, const rung_profile_kernel *kernel) {
  unsigned seen = 0;
  for (int64_t i = 0; i < kernel->step_count; i++) {
    const rung_profile_step *step = &kernel->steps[i];
    if (i > 0 && step->phase < step[-1].phase) return refuse(r, "phase", "phases that rise");
    if (i == 0 || step->phase != step[-1].phase)
      seen = 0;
    else if (step->warp == step[-1].warp)
      continue;
    if (seen >> step->warp & 1) return refuse(r, "warp", "a warp's steps behind one another");
    seen |= 1u << step->warp;
  }
  return RUNG_OK;
}

static rung_status read_kernel(const reader *r, const json_t *in, rung_profile *to) {
  const json_t *steps;
  size_t count = 0;
  if (!json_object_get(in, "steps")) return RUNG_OK;
  const char *name;
  rung_profile_kernel *kernel = &to->kernels[to->count++];
  rung_status status = text_of(r, in, "kernel", &name);
  if (!status) status = small_of(r, in, "threads", 1, BLOCK_MOST, &kernel->threads);
  if (!status) status = whole_of(r, in, "steps_lost", 0, INT64_MAX / 2, &kernel->steps_lost);
  if (!status) status = list_of(r, in, "steps", 1, RUNG_KEPT_STEPS, &steps, &count);
  if (status) return status;
  snprintf(kernel->name, sizeof kernel->name, "%s", name);
  kernel->steps = calloc(count, sizeof *kernel->steps);
  if (!kernel->steps) return no_memory(r);
  for (size_t i = 0; i < count && !status; i++) {
    status = read_step(r, json_array_get(steps, i), &kernel->steps[i]);
    kernel->step_count++;
  }
  return status ? status : check_order(r, kernel);
}

/* ---- explain's ---------------------------------------------------------------------------- */

static rung_status read_figures(const reader *r, const json_t *in, explain_figures *to) {
  static const double most = 1e18;
  const json_t *figures = json_object_get(in, "figures");
  if (!json_is_object(figures)) return refuse(r, "figures", "an object");
  for (int i = 0; i < FIGURES; i++) {
    const char *name = explain_figure_name((explain_figure)i);
    to->at[i] = lab_read_number(figures, name);
    if (!isnan(to->at[i]) && !(to->at[i] >= 0 && to->at[i] <= most))
      return refuse(r, name, "a number, 0 ... 1e18, or null");
  }
  return RUNG_OK;
}

/* `job`: the file's, which most rungs have. */
static rung_status read_rung(const reader *r, const json_t *in, const char *job, look_rung *to) {
  const json_t *kernels;
  size_t count = 0;
  rung_status status = text_of(r, in, "rung", &to->name);
  if (!status) status = text_of(r, in, "idea", &to->idea);
  if (!status) status = text_of(r, in, "finding", &to->finding);
  if (!status) status = small_of(r, in, "block", 0, BLOCK_MOST, &to->block);
  to->job = job;
  if (!status && json_object_get(in, "job")) status = text_of(r, in, "job", &to->job);
  to->reason = lab_read_text(in, "reason");
  to->meaning = json_object_get(in, "meaning");
  for (int i = 0; i < FIGURES; i++) to->figures.at[i] = NAN;
  if (status || strcmp(to->finding, lab_finding_name(LAB_GOOD)) != 0) return status;
  status = read_figures(r, in, &to->figures);
  if (!status) status = list_of(r, in, "kernels", 0, KERNELS_MOST, &kernels, &count);
  if (status) return status;
  to->profile.kernels = calloc(count + 1, sizeof *to->profile.kernels);
  if (!to->profile.kernels) return no_memory(r);
  for (size_t i = 0; i < count && !status; i++)
    status = read_kernel(r, json_array_get(kernels, i), &to->profile);
  return status;
}

static rung_status read_counts(const reader *r, const json_t *in) {
  const json_t *rungs = NULL;
  size_t count = 0;
  look_counts *more = realloc(r->to->counts, (size_t)(r->to->counted + 1) * sizeof *r->to->counts);
  if (!more) return no_memory(r);
  r->to->counts = more;
  look_counts *to = &more[r->to->counted++];
  *to = (look_counts){0};
  rung_status status = version_of(r, in, EXPLAIN_VERSION);
  if (!status) status = text_of(r, in, "operation", &to->operation);
  if (!status) status = text_of(r, in, "device", &to->device);
  if (!status) status = text_of(r, in, "job", &to->job);
  if (!status) status = list_of(r, in, "rungs", 1, RUNGS_MOST, &rungs, &count);
  if (status) return status;
  to->rungs = calloc(count, sizeof *to->rungs);
  if (!to->rungs) return no_memory(r);
  for (size_t i = 0; i < count && !status; i++)
    status = read_rung(r, json_array_get(rungs, i), to->job, &to->rungs[to->count++]);
  return status;
}

/* ---- timeline's --------------------------------------------------------------------------- */

static rung_status read_block(const reader *r, const json_t *in, int64_t number,
                              rung_block_time *to) {
  int64_t processor = 0, start = 0, end = 0, same = 0;
  rung_status status = whole_of(r, in, "block", number, number, &same);
  if (!status) status = whole_of(r, in, "multiprocessor", 0, INT32_MAX, &processor);
  if (!status) status = whole_of(r, in, "start", 0, INT64_MAX / 2, &start);
  if (!status) status = whole_of(r, in, "end", start, INT64_MAX / 2, &end);
  to->processor = (uint64_t)processor;
  to->start = (uint64_t)start;
  to->end = (uint64_t)end;
  return status;
}

static rung_status read_times(const reader *r, const json_t *in) {
  const json_t *blocks = NULL;
  size_t count = 0;
  look_times *more = realloc(r->to->times, (size_t)(r->to->timed + 1) * sizeof *r->to->times);
  if (!more) return no_memory(r);
  r->to->times = more;
  look_times *to = &more[r->to->timed++];
  *to = (look_times){0};
  rung_status status = version_of(r, in, TIMELINE_VERSION);
  if (!status) status = text_of(r, in, "operation", &to->operation);
  if (!status) status = text_of(r, in, "device", &to->device);
  if (!status) status = text_of(r, in, "job", &to->job);
  if (!status) status = text_of(r, in, "rung", &to->rung);
  if (!status) status = text_of(r, in, "unit", &to->unit);
  if (!status && strcmp(to->unit, "ns") != 0 && strcmp(to->unit, "steps") != 0)
    status = refuse(r, "unit", "ns or steps");
  if (!status) status = small_of(r, in, "block_size", 0, BLOCK_MOST, &to->block);
  if (!status) status = list_of(r, in, "blocks", 1, BLOCKS_MOST, &blocks, &count);
  if (status) return status;
  to->timeline.blocks = calloc(count, sizeof *to->timeline.blocks);
  if (!to->timeline.blocks) return no_memory(r);
  for (size_t i = 0; i < count && !status; i++) {
    status = read_block(r, json_array_get(blocks, i), (int64_t)i, &to->timeline.blocks[i]);
    to->timeline.count++;
  }
  return status ? status : lab_timeline_look(&to->timeline, &to->figures, r->error);
}

/* ---- scaling's ---------------------------------------------------------------------------- */

static rung_status positive_of(const reader *r, const json_t *in, const char *key, double *number) {
  *number = lab_read_number(in, key);
  return *number > 0 && *number <= 1e9 ? RUNG_OK : refuse(r, key, "a number above 0, 1e9 at most");
}

static rung_status read_share(const reader *r, const json_t *in, look_share *to) {
  const char *kind = "";
  rung_status status = text_of(r, in, "operation", &to->operation);
  if (!status) status = text_of(r, in, "job", &to->job);
  if (!status) status = text_of(r, in, "bits", &to->bits);
  if (!status) status = small_of(r, in, "devices", 1, DEVICES_MOST, &to->devices);
  if (!status) status = text_of(r, in, "scaling", &kind);
  if (status) return status;
  to->weak = strcmp(kind, "weak") == 0;
  if (!to->weak && strcmp(kind, "strong") != 0) status = refuse(r, "scaling", "strong or weak");
  if (!status) status = positive_of(r, in, "seconds", &to->seconds);
  return status ? status : positive_of(r, in, "ideal", &to->ideal);
}

static rung_status read_scaling(const reader *r, const json_t *in) {
  const json_t *jobs = NULL;
  size_t count = 0;
  look_scaling *more =
      realloc(r->to->scalings, (size_t)(r->to->scaled + 1) * sizeof *r->to->scalings);
  if (!more) return no_memory(r);
  r->to->scalings = more;
  look_scaling *to = &more[r->to->scaled++];
  *to = (look_scaling){0};
  rung_status status = version_of(r, in, SCALING_VERSION);
  if (!status) status = text_of(r, in, "device", &to->device);
  if (!status) status = list_of(r, in, "jobs", 1, SHARES_MOST, &jobs, &count);
  if (status) return status;
  to->shares = calloc(count, sizeof *to->shares);
  if (!to->shares) return no_memory(r);
  for (size_t i = 0; i < count && !status; i++)
    status = read_share(r, json_array_get(jobs, i), &to->shares[to->count++]);
  if (!status && to->shares[0].devices != 1) status = refuse(r, "devices", "1 of the first job");
  return status;
}

/* ---- files -------------------------------------------------------------------------------- */

bool look_is(const char *text, size_t length) {
  static const char begin[] = "{\"verb\":"; /* whatever blanks there are */
  size_t matched = 0;
  for (size_t i = 0; i < length && matched < sizeof begin - 1; i++) {
    if (strchr(" \t\r\n", text[i]) && text[i]) continue;
    if (text[i] != begin[matched++]) return false;
  }
  return matched == sizeof begin - 1;
}

rung_status look_read(looks *all, const char *name, const char *text, size_t length,
                      rung_error *error) {
  const reader r = {.to = all, .name = name, .error = error};
  json_error_t why = {0};
  if (!all->held) all->held = json_array();
  if (!all->held) return no_memory(&r);
  json_t *file = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
  if (!file) { /* for want of memory Jansson says anything; then it is JSON a moment later */
    file = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const bool is_json = file != NULL;
    json_decref(file);
    if (is_json || !why.text[0]) return no_memory(&r);
    return rung_fail(error, RUNG_BAD_FILE,
                     "%.200s is cut off or damaged: line %d: %.120s; expected: what `rung explain "
                     "--json`, `rung timeline --json` or tests/scaling writes",
                     name, why.line, why.text);
  }
  const char *verb = lab_read_text(file, "verb");
  if (json_array_append_new(all->held, file) != 0) return no_memory(&r);
  if (strcmp(verb, "explain") == 0) return read_counts(&r, file);
  if (strcmp(verb, "timeline") == 0) return read_times(&r, file);
  if (strcmp(verb, "scaling") == 0) return read_scaling(&r, file);
  return rung_fail(error, RUNG_BAD_FILE,
                   "%.200s is the JSON of `rung %.40s`; expected: records, or that of explain, "
                   "timeline or scaling",
                   name, verb);
}

void looks_free(looks *all) {
  for (int i = 0; i < all->counted; i++) {
    for (int k = 0; k < all->counts[i].count; k++)
      rung_profile_free(&all->counts[i].rungs[k].profile);
    free(all->counts[i].rungs);
  }
  for (int i = 0; i < all->timed; i++) lab_timeline_free(&all->times[i].timeline);
  for (int i = 0; i < all->scaled; i++) free(all->scalings[i].shares);
  free(all->scalings);
  free(all->counts);
  free(all->times);
  json_decref(all->held);
  *all = (looks){0};
}
