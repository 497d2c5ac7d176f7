#include "lab/resume.h"

#include <stdlib.h>
#include <string.h>

#include "lab/json.h"

/* ---- what is whole of a file ---------------------------------------------------------------- */

/* The beginning of the last line that begins a job; NULL: there is none. Writers put a line's first
 * key first. */
static char *last_job(char *text) {
  static const char begins[] = "{\"operation\":";
  char *last = NULL;
  for (char *at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
    if (strncmp(at, begins, sizeof begins - 1) == 0) last = at;
  return last;
}

rung_status lab_resume_read(lab_records *records, const char *path, char **text,
                            rung_error *error) {
  size_t length;
  rung_status status = lab_read_all(path, text, &length, error);
  if (status) return status;
  char *end = strrchr(*text, '\n');
  *(end ? end + 1 : *text) = '\0';
  status = lab_read(records, path, *text, strlen(*text), error);
  char *cut = status && status != RUNG_OUT_OF_MEMORY ? last_job(*text) : NULL;
  if (!cut) return status;
  *cut = '\0';
  lab_records_free(records);
  *error = (rung_error){0};
  return lab_read(records, path, *text, strlen(*text), error);
}

/* ---- whether it is ours --------------------------------------------------------------------- */

/* The first of `keys` whose values differ; NULL: none. What neither has is alike. */
static const char *differing(const json_t *a, const json_t *b, const char *const *keys) {
  for (; *keys; ++keys) {
    const json_t *one = json_object_get(a, *keys), *other = json_object_get(b, *keys);
    if (one != other && !json_equal(one, other)) return *keys;
  }
  return NULL;
}

static rung_status refuse(const char *path, const char *key, const json_t *was, const json_t *is,
                          rung_error *error) {
  char *a = lab_json_text(json_object_get(was, key), JSON_ENCODE_ANY | JSON_COMPACT),
       *b = lab_json_text(json_object_get(is, key), JSON_ENCODE_ANY | JSON_COMPACT);
  rung_fail(error, RUNG_BAD_FILE,
            "%.100s was measured where \"%s\" was %.80s, and here it is %.80s; expected: a record "
            "of this machine, this build and the same rules",
            path, key, a ? a : "not known", b ? b : "not known");
  free(a);
  free(b);
  return error->status;
}

rung_status lab_resume_check(const lab_records *records, const char *path,
                             const lab_bench_set_up *set_up, rung_error *error) {
  static const char *const builds[] = {"version", "commit", "compiler", "flags",   "cuda", "build",
                                       "host",    "system", "kernel",   "machine", NULL},
                           *const devices[] = {"backend", "name", "identity",
                                               "threads", "isa",  NULL},
                           *const rules[] = {"least", "most",     "spread", "seconds",
                                             "seed",  "launches", NULL};
  json_t *head = lab_record_head(&set_up->rules, ""), *device = lab_record_device(set_up->context);
  const json_t *build = json_object_get(head, "provenance"), *rule = json_object_get(head, "rules");
  rung_status status =
      head && device ? RUNG_OK
                     : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to compare %.200s", path);
  for (int i = 0; i < records->count && !status; ++i) {
    const lab_read_case *of = &records->cases[i];
    const char *key;
    if ((key = differing(of->provenance, build, builds)))
      status = refuse(path, key, of->provenance, build, error);
    else if ((key = differing(of->device, device, devices)))
      status = refuse(path, key, of->device, device, error);
    else if ((key = differing(of->rules, rule, rules)))
      status = refuse(path, key, of->rules, rule, error);
  }
  json_decref(head);
  json_decref(device);
  return status;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static bool same_candidates(const lab_read_case *of, const lab_candidate *list, int count) {
  if (of->count != count) return false;
  for (int i = 0; i < count; ++i)
    if (strcmp(of->candidates[i].rung, list[i].row->name) != 0 ||
        of->candidates[i].block != list[i].block)
      return false;
  return true;
}

rung_status lab_resume_find(const lab_records *records, const char *path,
                            const lab_bench_set_up *set_up, const rung_operation *operation,
                            const char *line, bool *taken, const lab_read_case **found,
                            rung_error *error) {
  const rung_device *device = &set_up->context->device;
  int at = 0;
  *found = NULL;
  for (; at < records->count; ++at) {
    const lab_read_case *of = &records->cases[at];
    if (!taken[at] && strcmp(of->operation, operation->name) == 0 && strcmp(of->line, line) == 0 &&
        of->hot == set_up->rules.hot &&
        strcmp(of->memory, lab_memory_name(set_up->rules.memory)) == 0)
      break;
  }
  if (at == records->count) return RUNG_OK;
  const int count = lab_bench_count(set_up, operation, device);
  lab_candidate *list = calloc((size_t)count + 1, sizeof *list);
  if (!list) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %d candidates", count);
  lab_bench_candidates(set_up, operation, device, list);
  taken[at] = same_candidates(&records->cases[at], list, count);
  if (taken[at]) *found = &records->cases[at];
  free(list);
  if (*found) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_FILE,
                   "%.100s has %s of \"%.100s\" with other rungs, blocks or peers than are asked "
                   "for now; expected: the same --rung, --blocks and --peers",
                   path, operation->name, line);
}
