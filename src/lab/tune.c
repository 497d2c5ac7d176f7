#include "lab/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/cache.h"
#include "lab/fixture.h"
#include "lab/json.h"
#include "lab/read.h"
#include "lab/store.h"

/* ---- measuring ---------------------------------------------------------------------------- */

static const double margin = 0.98;

/* Every canonical rung of the device, with its own choice of block first. NULL: only counted. */
static int add_candidates(const rung_operation *operation, const rung_device *device,
                          lab_candidate *list) {
  int count = 0;
  for (int i = 0; i < operation->count; i++) {
    const rung_row *row = &operation->rows[i];
    if ((row->family == RUNG_ON_CPU) != (device->kind == RUNG_CPU)) continue;
    if (row->order != RUNG_CANONICAL) continue;
    for (const int *block = NULL;; block = block ? block + 1 : row->blocks) {
      if (block && *block == 0) break;
      if (count == LAB_CANDIDATES) return count;
      if (list) list[count] = (lab_candidate){.row = row, .block = block ? *block : 0};
      count++;
      if (!row->blocks) break;
    }
  }
  return count;
}

int lab_tune_count(const rung_operation *operation, const rung_device *device) {
  return add_candidates(operation, device, NULL);
}

/* What `auto` takes where nothing was tuned, with a block of its own; NULL: no rung can do it. */
static const lab_candidate *usual_of(const lab_candidate *list, int count,
                                     const rung_case *test_case, const rung_task *task) {
  const rung_row *row = NULL;
  rung_error refused;
  if (rung_choose(test_case->operation, task, test_case->types, NULL, &row, &refused)) return NULL;
  for (int i = 0; i < count; i++)
    if (list[i].block == 0 && list[i].row == row) return &list[i];
  return NULL;
}

static const lab_candidate *fastest_of(const lab_candidate *list, int count) {
  const lab_candidate *best = NULL;
  for (int i = 0; i < count; i++)
    if (lab_candidate_good(&list[i]) && (!best || list[i].time.median < best->time.median))
      best = &list[i];
  return best;
}

/* Whether it is the faster one beyond doubt. */
static bool beats(const lab_candidate *a, const lab_candidate *b) {
  return !lab_candidate_good(b) ||
         (a->time.median < margin * b->time.median && a->time.q3 < b->time.q1);
}

static bool choose(rung_context *context, const rung_case *test_case, const lab_candidate *list,
                   int count, lab_tuned *tuned) {
  rung_task task;
  lab_task_of(context, test_case, &task);
  const lab_candidate *usual = usual_of(list, count, test_case, &task),
                      *best = fastest_of(list, count);
  if (!usual || !best) return false;
  if (!beats(best, usual)) best = usual;
  *tuned =
      (lab_tuned){.operation = test_case->operation,
                  .row = best->row,
                  .block = best->block,
                  .ms = best->time.median,
                  .usual_ms = lab_candidate_good(usual) ? usual->time.median : best->time.median};
  test_case->operation->class_of(test_case->problem, tuned->job);
  snprintf(tuned->label, sizeof tuned->label, "%s", test_case->label);
  return true;
}

rung_status lab_tune(rung_context *context, const rung_case *test_case, const lab_rules *rules,
                     void (*progress)(void *to, double done, const char *what), void *to,
                     lab_tuned *tuned, bool *found, rung_error *error) {
  lab_fixture *fixture = NULL;
  const int count = lab_tune_count(test_case->operation, &context->device);
  *found = false;
  if (!test_case->operation->class_of || count == 0) return RUNG_OK;
  lab_candidate *list = calloc((size_t)count, sizeof *list);
  if (!list) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for %d rungs", count);
  add_candidates(test_case->operation, &context->device, list);
  rung_status status = lab_fixture_open(context, test_case, &fixture, error);
  if (!status) status = lab_sample(fixture, list, count, rules, progress, to, error);
  lab_fixture_close(fixture);
  for (int i = 0; i < count && !status; i++)
    if (lab_candidate_verdict(&list[i])->cause == RUNG_OUT_OF_MEMORY)
      status = rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: %s", list[i].row->name,
                         lab_candidate_verdict(&list[i])->sentence);
  if (!status) *found = choose(context, test_case, list, count, tuned);
  for (int i = 0; i < count; i++) lab_candidate_free(&list[i]);
  free(list);
  return status;
}

/* ---- kept ----------------------------------------------------------------------------------- */

static const char leaf[] = "tuned.json", kind[] = "rung-tuned";
enum { FILE_VERSION = 1 };

static const rung_row *row_of(const rung_operation *operation, const rung_device *device,
                              const char *name, int64_t block) {
  for (int i = 0; i < operation->count; i++) {
    const rung_row *row = &operation->rows[i];
    if ((row->family == RUNG_ON_CPU) != (device->kind == RUNG_CPU)) continue;
    if (row->order != RUNG_CANONICAL || strcmp(row->name, name) != 0) continue;
    if (block == 0) return row;
    for (const int *at = row->blocks; at && *at; at++)
      if (*at == block) return row;
  }
  return NULL;
}

/* Text of ours: printable, and not longer than it may be. */
static bool read_words(const json_t *entry, const char *key, char *to, size_t room) {
  const char *text = lab_read_text(entry, key);
  const size_t length = strlen(text);
  if (length == 0 || length >= room) return false;
  for (size_t i = 0; i < length; i++)
    if (text[i] < ' ' || text[i] > '~') return false;
  memcpy(to, text, length + 1);
  return true;
}

static bool read_time(const json_t *entry, const char *key, double *ms) {
  *ms = lab_read_number(entry, key);
  return *ms > 0 && *ms < 1e12;
}

static bool read_entry(const json_t *entry, const rung_device *device, lab_tuned *to) {
  const json_t *block = json_object_get(entry, "block");
  *to = (lab_tuned){.operation = rung_operation_named(lab_read_text(entry, "operation"))};
  if (!to->operation || !json_is_integer(block)) return false;
  to->row = row_of(to->operation, device, lab_read_text(entry, "rung"), json_integer_value(block));
  to->block = (int)json_integer_value(block);
  return to->row && read_words(entry, "job", to->job, sizeof to->job) &&
         read_words(entry, "measured", to->label, sizeof to->label) &&
         read_time(entry, "ms", &to->ms) && read_time(entry, "usual_ms", &to->usual_ms);
}

static bool same_class(const lab_tuned *a, const lab_tuned *b) {
  return a->operation == b->operation && strcmp(a->job, b->job) == 0;
}

/* In the place of what is known of its class, else behind the others. */
static int put(lab_tuned list[LAB_TUNED], int count, const lab_tuned *one) {
  int at = 0;
  while (at < count && !same_class(&list[at], one)) at++;
  if (at == LAB_TUNED) memmove(list, list + 1, (size_t)--at * sizeof *list);
  list[at] = *one;
  return at < count ? count : at + 1;
}

static int read_device(const json_t *root, const rung_device *device, lab_tuned list[LAB_TUNED]) {
  char key[LAB_CACHE_KEY];
  int count = 0;
  lab_tuned one;
  lab_cache_key(device, key);
  const json_t *entries = json_object_get(json_object_get(root, "devices"), key);
  for (size_t i = 0; i < json_array_size(entries); i++)
    if (read_entry(json_array_get(entries, i), device, &one)) count = put(list, count, &one);
  return count;
}

int lab_tuned_kept(const rung_device *device, lab_tuned list[LAB_TUNED]) {
  char path[PATH_MAX];
  if (!lab_cache_path(leaf, path)) return 0;
  json_t *root = lab_cache_load(path, kind, FILE_VERSION);
  const int count = root ? read_device(root, device, list) : -1;
  json_decref(root);
  return count;
}

static json_t *entry_of(const lab_tuned *one) {
  return lab_object("{s:s, s:s, s:s, s:s, s:i, s:f, s:f}", "operation", one->operation->name, "job",
                    one->job, "measured", one->label, "rung", one->row->name, "block", one->block,
                    "ms", one->ms, "usual_ms", one->usual_ms);
}

/* The device's entries from here on. */
static rung_status write_device(const rung_device *device, const lab_tuned *more, int count,
                                rung_error *error) {
  char path[PATH_MAX], key[LAB_CACHE_KEY];
  static const char full[] = "no host memory to keep what was tuned";
  if (!lab_cache_path(leaf, path))
    return rung_fail(error, RUNG_FILE_FAILED,
                     "there is no place to keep what was tuned; expected: XDG_CACHE_HOME or HOME, "
                     "a folder that can be written");
  lab_tuned *list = malloc(LAB_TUNED * sizeof *list);
  json_t *root = lab_cache_load(path, kind, FILE_VERSION), *entries = json_array();
  int kept = list && count > 0 ? read_device(root, device, list) : 0;
  for (int i = 0; list && i < count; i++) kept = put(list, kept, &more[i]);
  bool whole = list && root && entries;
  for (int i = 0; i < kept && whole; i++)
    whole = json_array_append_new(entries, entry_of(&list[i])) == 0;
  lab_cache_key(device, key);
  whole = whole && json_object_set(json_object_get(root, "devices"), key, entries) == 0;
  rung_status status =
      whole ? lab_store(path, root, error) : rung_fail(error, RUNG_OUT_OF_MEMORY, "%s", full);
  json_decref(entries);
  json_decref(root);
  free(list);
  return status;
}

rung_status lab_tuned_keep(const rung_device *device, const lab_tuned *list, int count,
                           rung_error *error) {
  return count > 0 ? write_device(device, list, count, error) : RUNG_OK;
}

rung_status lab_tuned_forget(const rung_device *device, rung_error *error) {
  return write_device(device, NULL, 0, error);
}

void lab_tuned_apply(rung_context *context) {
  lab_tuned *list = malloc(LAB_TUNED * sizeof *list);
  const int count = list ? lab_tuned_kept(&context->device, list) : 0;
  for (int i = 0; i < count; i++)
    rung_prefer(context, list[i].operation->name, list[i].job, list[i].row->name, list[i].block);
  free(list);
}
