/* A record on its way: what is measured is kept, whatever ends the run. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bench.h"
#include "files/ending.h"

/* ---- what a signal leaves said -------------------------------------------------------------- */

enum { SAID = 512 };
static char said[SAID];
static atomic_size_t said_length;

static void say(void) {
  const size_t length = atomic_load(&said_length);
  if (length > 0 && write(STDERR_FILENO, said, length) < 0) return;
}

/* Atomic enough: a signal that comes in between says nothing. */
static void to_say(const char *path, int done, int all, const char *what) {
  atomic_store(&said_length, 0);
  const int length = snprintf(said, sizeof said,
                              "\nrung bench: %.300s has %d of %d %s; the same command with "
                              "--resume goes on\n",
                              path, done, all, what);
  atomic_store(&said_length, length < SAID ? (size_t)length : SAID - 1);
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* Only beside a regular file, or one that is to be. */
static bool keeps_part(const char *output) {
  struct stat of;
  if (!output || strcmp(output, "-") == 0) return false;
  return stat(output, &of) != 0 || S_ISREG(of.st_mode);
}

static bool exists(const char *path) {
  struct stat of;
  return stat(path, &of) == 0;
}

/* One launch more of a job that was there, or all of one whose launches were merged; without
 * launches the job. */
static rung_status mark_job(const lab_records *records, const char *path, lab_bench_set_up *set_up,
                            bench_job *job, bool *taken, rung_error *error) {
  const lab_read_case *found;
  const int most = set_up->rules.launches ? set_up->rules.launches : 1;
  set_up->rules.hot = job->hot;
  set_up->rules.memory = job->memory;
  const rung_status status =
      lab_resume_find(records, path, set_up, job->operation, job->line, taken, &found, error);
  if (found) job->launched = found->launches ? most : job->launched + 1;
  job->done = job->launched == most;
  return status;
}

static rung_status mark_jobs(bench_part *part, const lab_records *records, const char *path,
                             lab_bench_set_up *set_up, bench_jobs *jobs, rung_error *error) {
  bool *taken = calloc((size_t)records->count + 1, sizeof *taken);
  if (!taken) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to go on with %.200s", path);
  rung_status status = lab_resume_check(records, path, set_up, error);
  const int most = set_up->rules.launches ? set_up->rules.launches : 1;
  bool found = true;
  for (int launch = 0; launch < most && found && !status; launch++) {
    found = false;
    for (int i = 0; i < jobs->count && !status; i++) {
      bench_job *job = &jobs->jobs[i];
      if (job->launched == launch) status = mark_job(records, path, set_up, job, taken, error);
      found = found || job->launched > launch;
    }
  }
  for (int i = 0; i < jobs->count; i++) part->kept += jobs->jobs[i].launched;
  free(taken);
  return status;
}

/* The lines of the record that is there. */
static rung_status take_up(bench_part *part, const char *path, lab_bench_set_up *set_up,
                           bench_jobs *jobs, rung_error *error) {
  lab_records records = {0};
  char *text = NULL;
  rung_status status = lab_resume_read(&records, path, &text, error);
  if (!status) status = mark_jobs(part, &records, path, set_up, jobs, error);
  if (!status && json_array_extend(part->lines, records.lines) != 0)
    status = rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the records");
  lab_records_free(&records);
  free(text);
  return status;
}

rung_status bench_part_begin(bench_part *part, const char *output, bool resume,
                             lab_bench_set_up *set_up, bench_jobs *jobs, rung_error *error) {
  *part = (bench_part){.lines = json_array(), .launches = set_up->rules.launches > 0};
  if (!part->lines) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the records");
  if (!keeps_part(output)) {
    if (!resume) return RUNG_OK;
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--resume goes on with a file; expected: -o FILE too, with its name");
  }
  const size_t room = strlen(output) + sizeof ".part";
  char *path = malloc(room);
  if (!path) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the records");
  snprintf(path, room, "%s.part", output);
  rung_status status = RUNG_OK;
  if (resume && (exists(path) || exists(output)))
    status = take_up(part, exists(path) ? path : output, set_up, jobs, error);
  else if (!resume && exists(path))
    status = rung_fail(error, RUNG_BAD_ARGUMENT,
                       "%.200s has jobs of a run that ended early; expected: --resume, which goes "
                       "on with them, or that file removed",
                       path);
  part->path = path;
  return status;
}

/* ---- on the way ----------------------------------------------------------------------------- */

static rung_status append(const bench_part *part, const char *text, rung_error *error) {
  const int to = open(part->path, O_WRONLY | O_APPEND | O_CLOEXEC);
  size_t done = 0, all = strlen(text);
  while (to >= 0 && done < all) {
    const ssize_t once = write(to, text + done, all - done);
    if (once < 0 && errno != EINTR) break;
    done += once > 0 ? (size_t)once : 0;
  }
  const int why = errno;
  const bool closed = to >= 0 && close(to) == 0;
  if (closed && done == all) return RUNG_OK;
  return rung_fail(error, RUNG_FILE_FAILED, "%s cannot be written: %s", part->path, strerror(why));
}

/* The lines that are new, as text of their own. */
static char *new_text(const bench_part *part) {
  json_t *lines = json_array();
  for (size_t i = part->written; lines && i < json_array_size(part->lines); i++)
    if (json_array_append(lines, json_array_get(part->lines, i)) != 0) {
      json_decref(lines);
      return NULL;
    }
  char *text = lines ? lab_record_text(lines) : NULL;
  json_decref(lines);
  return text;
}

rung_status bench_part_add(bench_part *part, int left, int all, rung_error *error) {
  if (!part->path || left == 0) return RUNG_OK; /* the last: all is written next */
  rung_status status;
  if (part->written == 0) {
    status = lab_record_write(part->path, part->lines, error);
    ending_undo(say);
  } else {
    char *text = new_text(part);
    status = text ? append(part, text, error)
                  : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the records");
    free(text);
  }
  part->written = json_array_size(part->lines);
  if (!status) to_say(part->path, all - left, all, part->launches ? "launches of jobs" : "jobs");
  return status;
}

void bench_part_end(bench_part *part) {
  atomic_store(&said_length, 0);
  if (part->path) unlink(part->path);
}

void bench_part_free(bench_part *part) {
  atomic_store(&said_length, 0);
  free(part->path);
  json_decref(part->lines);
  *part = (bench_part){0};
}
