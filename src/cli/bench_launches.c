/* A bench in fresh processes: how far these are apart is in no process's own samples. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "lab/merge.h"

enum { NUMBER = 32, WORDS = 32, SAID_MOST = 1 << 28 };

/* ---- what a launch is asked for ------------------------------------------------------------- */

typedef struct words {
  const char *argv[WORDS];
  int count;
  char self[CLI_SELF], threads[NUMBER], seed[NUMBER], samples[NUMBER], seconds[NUMBER];
  char *peers; /* owned */
} words;

/* An option and its value; none where that is NULL. */
static void add(words *to, const char *option, const char *value) {
  if (!value) return;
  to->argv[to->count++] = option;
  to->argv[to->count++] = value;
}

static const char *number(char text[NUMBER], bool given, uint64_t value) {
  if (!given) return NULL;
  snprintf(text, NUMBER, "%" PRIu64, value);
  return text;
}

static rung_status add_peers(words *to, const bench_request *r, rung_error *error) {
  const size_t room = r->peer_names ? strlen(r->peer_names) + sizeof "--peers=" : 0;
  if (!r->peers) return RUNG_OK;
  to->peers = room > 0 ? malloc(room) : NULL;
  if (room > 0 && !to->peers) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for --peers");
  if (room > 0) snprintf(to->peers, room, "--peers=%s", r->peer_names);
  to->argv[to->count++] = room > 0 ? to->peers : "--peers";
  return RUNG_OK;
}

/* This command, for one job: all that was asked for, but for what is done with the record. */
static rung_status words_of(const bench *b, const bench_job *job, words *to, rung_error *error) {
  const cli_common *common = b->common;
  const bench_request *r = b->request;
  *to = (words){.count = 0};
  const rung_status found = cli_self(to->self, "launched", error);
  if (found) return found;
  to->argv[to->count++] = to->self;
  to->argv[to->count++] = "bench";
  to->argv[to->count++] = job->operation->name;
  to->argv[to->count++] = "--json";
  to->argv[to->count++] = "--quiet";
  add(to, "--sizes", job->line);
  if (job->memory)
    add(to, "--memory", lab_memory_name(job->memory));
  else
    add(to, "--caches", job->hot ? "hot" : "cold");
  add(to, "--rung", r->rungs);
  add(to, "--blocks", r->blocks);
  add(to, "--kernels", r->kernels);
  add(to, "--device", common->device);
  add(to, "--math", !common->mathed ? NULL : common->math == RUNG_MATH_STRICT ? "strict" : "fast");
  add(to, "--threads", number(to->threads, common->threads > 0, (uint64_t)common->threads));
  add(to, "--seed", number(to->seed, true, common->seed));
  add(to, "--samples", number(to->samples, r->samples > 0, (uint64_t)r->samples));
  snprintf(to->seconds, sizeof to->seconds, "%.17g", r->seconds);
  add(to, "--time-out", r->seconds > 0 ? to->seconds : NULL);
  return add_peers(to, r, error);
}

/* ---- a launch ------------------------------------------------------------------------------- */

/* Which one, and of what. */
typedef struct place {
  const bench_job *job;
  int number, all;
} place;

static const char *name_of(const place *at, char text[256]) {
  snprintf(text, 256, "launch %d of %d, of %.40s \"%.120s\",", at->number, at->all,
           at->job->operation->name, at->job->line);
  return text;
}

/* What its exit code means here. */
static rung_status status_of(int code) {
  static const rung_status statuses[] = {[CLI_CHECK_FAILED] = RUNG_CHECK_FAILED,
                                         [CLI_BAD_USAGE] = RUNG_BAD_ARGUMENT,
                                         [CLI_BAD_INPUT] = RUNG_FILE_FAILED,
                                         [CLI_NO_DEVICE] = RUNG_NO_DEVICE,
                                         [CLI_OUT_OF_MEMORY] = RUNG_OUT_OF_MEMORY};
  return code > 0 && code <= CLI_OUT_OF_MEMORY ? statuses[code] : RUNG_FILE_FAILED;
}

static rung_status refuse(const place *at, const cli_child_end *end, rung_error *error) {
  static const char own[] = "rung bench: ";
  const char *words = end->last;
  char name[256];
  name_of(at, name);
  if (strncmp(words, own, sizeof own - 1) == 0) words += sizeof own - 1;
  if (end->signal)
    return rung_fail(error, RUNG_FILE_FAILED, "%s was ended by signal %d (%s)", name, end->signal,
                     strsignal(end->signal));
  return rung_fail(error, status_of(end->code), "%s ended with %d: %.300s", name, end->code,
                   words[0] ? words : "it did not say why");
}

/* A run whose every candidate was looked at has printed its record, and may say that some failed.
 */
static bool has_record(const cli_child_end *end) {
  return !end->signal && end->length > 0 &&
         (end->code == CLI_DONE || end->code == CLI_CHECK_FAILED || end->code == CLI_OUT_OF_MEMORY);
}

/* Adds the one job of a launch's record to ours. */
static rung_status take(bench *b, const place *at, const lab_records *records, rung_error *error) {
  const lab_read_case *found = NULL;
  bool taken[1] = {false};
  char name[256];
  rung_status status = RUNG_OK;
  if (records->count == 1)
    status = lab_resume_find(records, name_of(at, name), &b->set_up, at->job->operation,
                             at->job->line, taken, &found, error);
  if (!status && !found)
    status =
        rung_fail(error, RUNG_BAD_FILE, "%s printed the record of another job", name_of(at, name));
  if (status) return status;
  lab_record_job job = {.head = lab_record_head(&b->set_up.rules, b->request->command),
                        .device = (json_t *)found->device,
                        .peaks = (json_t *)found->peaks,
                        .rungs = json_array()};
  bool whole = job.head && job.rungs;
  size_t i;
  json_t *line;
  json_array_foreach(records->lines, i, line) {
    if (json_object_get(line, "operation")) job.job = line;
    if (json_object_get(line, "rung")) whole = whole && json_array_append(job.rungs, line) == 0;
  }
  status = whole ? lab_record_join(b->part.lines, &job, error)
                 : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the records");
  json_decref(job.head);
  json_decref(job.rungs);
  return status;
}

static rung_status launch(bench *b, const place *at, rung_error *error) {
  words asked;
  cli_child_end end = {0};
  lab_records records = {0};
  char name[256];
  b->set_up.rules.hot = at->job->hot;
  b->set_up.rules.memory = at->job->memory;
  rung_status status = words_of(b, at->job, &asked, error);
  if (!status)
    status = cli_child((char *const *)asked.argv, "", CLI_ERRORS_KEPT, SAID_MOST, &end, error);
  if (!status && !has_record(&end)) status = refuse(at, &end, error);
  if (!status) status = lab_read(&records, name_of(at, name), end.said, end.length, error);
  if (!status) status = take(b, at, &records, error);
  if (!status && end.code == CLI_OUT_OF_MEMORY) refuse(at, &end, &b->memory);
  lab_records_free(&records);
  free(end.said);
  free(asked.peers);
  return status;
}

/* ---- what they found ------------------------------------------------------------------------ */

static const rung_operation *operation_of(const bench *b, const char *name) {
  for (int i = 0; i < b->jobs.count; i++)
    if (strcmp(b->jobs.jobs[i].operation->name, name) == 0) return b->jobs.jobs[i].operation;
  return NULL;
}

static lab_verdict verdict_of(const lab_read_candidate *c) {
  lab_verdict verdict = {.finding = LAB_WRONG};
  for (lab_finding f = 0; f < LAB_FINDINGS; f++)
    if (strcmp(lab_finding_name(f), c->finding) == 0) verdict.finding = f;
  snprintf(verdict.sentence, sizeof verdict.sentence, "%s", c->sentence);
  return verdict;
}

/* A candidate as it was read, for the tables; of whole jobs' stages the medians stand for all. */
static bool fill(lab_candidate *to, const lab_read_candidate *from) {
  to->before = to->after = verdict_of(from);
  to->time = from->time;
  to->clock = from->clock;
  to->count = from->count;
  to->launches = from->launches;
  to->apart = from->apart;
  for (lab_stop s = 0; s <= LAB_REFUSED; s++)
    if (strcmp(lab_stop_text(s), from->stop) == 0) to->stop = s;
  if (isnan(from->stages[LAB_KERNEL])) return true;
  to->stages = malloc((size_t)from->count * LAB_STAGES * sizeof *to->stages + 1);
  for (int i = 0; to->stages && i < from->count * LAB_STAGES; i++)
    to->stages[i] = from->stages[i % LAB_STAGES];
  return to->stages != NULL;
}

static rung_status say(bench *b, const lab_read_case *of, rung_error *error) {
  lab_bench m = {
      .context = b->set_up.context,
      .test_case = {.operation = operation_of(b, of->operation),
                    .bytes = of->bytes,
                    .flops = of->flops},
      .rules = b->set_up.rules,
      .limit = {.ms = of->peak_ms, .bound = of->peak_bound, .caches = of->caches},
      .disturbed = {of->others, of->stolen, of->throttled > 0 ? (int64_t)of->throttled : 0}};
  bool whole = true;
  m.rules.memory = 0;
  lab_memory_named(of->memory, &m.rules.memory);
  snprintf(m.test_case.label, sizeof m.test_case.label, "%s", of->label);
  snprintf(m.limit.level, sizeof m.limit.level, "%s", of->peak_level);
  m.candidates = calloc((size_t)of->count + 1, sizeof *m.candidates);
  if (m.candidates &&
      lab_bench_count(&b->set_up, m.test_case.operation, &m.context->device) == of->count) {
    m.count = of->count;
    lab_bench_candidates(&b->set_up, m.test_case.operation, &m.context->device, m.candidates);
  }
  for (int k = 0; k < m.count; k++) whole = fill(&m.candidates[k], &of->candidates[k]) && whole;
  if (m.candidates && whole) bench_say(b, &m);
  whole = whole && m.candidates;
  lab_bench_free(&m);
  return whole ? RUNG_OK : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the table");
}

/* One record of all launches, in the place of the lines so far. */
static rung_status conclude(bench *b, rung_error *error) {
  json_t *merged = NULL;
  char *text = NULL;
  int kept = 0;
  lab_records records = {0};
  if (json_array_size(b->part.lines) == 0) return RUNG_OK;
  rung_status status = lab_merge(b->part.lines, (int)b->request->launches, &merged, &kept, error);
  if (!status && !(text = lab_record_text(merged)))
    status = rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the records");
  if (!status) status = lab_read(&records, "the launches' record", text, strlen(text), error);
  for (int i = kept; i < records.count && !status; i++) status = say(b, &records.cases[i], error);
  if (!status) {
    json_decref(b->part.lines);
    b->part.lines = json_incref(merged);
  }
  lab_records_free(&records);
  json_decref(merged);
  free(text);
  return status;
}

rung_status bench_launches(bench *b, rung_error *error) {
  const int all = (int)b->request->launches, jobs = b->jobs.count;
  int left = 0, to_do = 0;
  for (int i = 0; i < jobs; i++)
    if (!b->jobs.jobs[i].done) to_do += all - b->jobs.jobs[i].launched;
  left = to_do;
  rung_status status = RUNG_OK;
  for (int number = 0; number < all && !status; number++)
    for (int i = 0; i < jobs && !status; i++) {
      bench_job *job = &b->jobs.jobs[i];
      char what[64];
      if (job->done || job->launched > number) continue;
      snprintf(what, sizeof what, "launch %d of %d", number + 1, all);
      cli_progress_begin(&b->progress, b->common);
      cli_progress_part(&b->progress, (double)(to_do - left) / to_do, 1.0 / to_do,
                        job->operation->name);
      cli_progress_show(&b->progress, 0, what);
      status = launch(b, &(place){job, number + 1, all}, error);
      cli_progress_end(&b->progress);
      if (!status) status = bench_part_add(&b->part, --left, all * jobs, error);
    }
  return status ? status : conclude(b, error);
}
