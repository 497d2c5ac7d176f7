/* Which jobs a bench has: operations, lines of lists and ranges, types, caches. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"

enum { JOBS_MOST = 16384, LINE = 1024 };

/* Adding jobs of one operation. */
typedef struct adding {
  bench_jobs *jobs;
  const rung_operation *operation;
  const char *types; /* NULL: as the lines say */
  bool hot;
  int memory;
} adding;

static rung_status add_job(void *to, const char *line, rung_error *error) {
  adding *a = to;
  bench_jobs *jobs = a->jobs;
  if (jobs->count == JOBS_MOST)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--sizes stands for more than %d jobs; expected: "
                     "fewer",
                     JOBS_MOST);
  if ((jobs->count & (jobs->count - 1)) == 0) {
    const size_t room = jobs->count ? 2 * (size_t)jobs->count : 1;
    bench_job *more = realloc(jobs->jobs, room * sizeof *more);
    if (!more) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %zu jobs", room);
    jobs->jobs = more;
  }
  char *copy = strdup(line);
  if (!copy) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for --sizes");
  jobs->jobs[jobs->count] =
      (bench_job){.operation = a->operation, .hot = a->hot, .memory = a->memory};
  jobs->jobs[jobs->count++].line = copy;
  return RUNG_OK;
}

/* Where a line says its type; NULL: nowhere. */
static char *type_in(char *line) {
  char *at = strncmp(line, "type=", 5) == 0 ? line : strstr(line, " type=");
  return at;
}

/* One line, with the types of --type where it says none. */
static rung_status add_line(adding *a, const char *line, rung_error *error) {
  char typed[LINE];
  snprintf(typed, sizeof typed, "%s", line);
  const bool adds = a->types && !type_in(typed);
  if (snprintf(typed, sizeof typed, "%s%s%s", line, adds ? " type=" : "", adds ? a->types : "") >=
      (int)sizeof typed)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "\"%.60s...\" is too long for a job", line);
  return cli_sweep(typed, add_job, a, error);
}

/* The first job that the operation wants benched, of other types where they are given. */
static rung_status add_default(adding *a, rung_error *error) {
  char line[LINE];
  snprintf(line, sizeof line, "%s", rung_cases_of(a->operation)->bench[0]);
  char *type = a->types ? type_in(line) : NULL;
  if (type) {
    const size_t length = 1 + strcspn(type + 1, " ");
    memmove(type, type + length, strlen(type + length) + 1);
  }
  return add_line(a, line, error);
}

static rung_status add_operation(adding *a, const char *sizes, rung_error *error) {
  if (!sizes) return add_default(a, error);
  if (strspn(sizes, "; ") == strlen(sizes))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--sizes '%.40s' names no job; expected: one, \"n=1048576\", or several with "
                     "semicolons between them",
                     sizes);
  char *lines = strdup(sizes), *rest = NULL;
  if (!lines) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for --sizes");
  rung_status status = RUNG_OK;
  for (char *line = strtok_r(lines, ";", &rest); line && !status; line = strtok_r(NULL, ";", &rest))
    status = add_line(a, line, error);
  free(lines);
  return status;
}

/* All jobs with caches cold or hot: the operations one after another. */
typedef struct caches_adding {
  const bench_request *request;
  const rung_operation *const *operations;
  bench_jobs *jobs;
  int memory;
} caches_adding;

static rung_status add_caches(void *to, const char *name, rung_error *error) {
  caches_adding *all = to;
  adding a = {.jobs = all->jobs,
              .types = all->request->types,
              .hot = strcmp(name, "hot") == 0,
              .memory = all->memory};
  if (!a.hot && strcmp(name, "cold") != 0)
    return rung_fail(error, RUNG_UNKNOWN_NAME,
                     "--caches '%.40s' is not known; expected: cold, hot or both, with a comma "
                     "between them",
                     name);
  rung_status status = RUNG_OK;
  for (int k = 0; all->operations[k] && !status; k++) {
    a.operation = all->operations[k];
    status = add_operation(&a, all->request->sizes, error);
  }
  return status;
}

static rung_status add_memory(void *to, const char *name, rung_error *error) {
  caches_adding *all = to;
  if (lab_memory_named(name, &all->memory)) return add_caches(all, "cold", error);
  return rung_fail(error, RUNG_UNKNOWN_NAME,
                   "--memory '%.40s' is not known; expected: pageable, pinned, write-combined, "
                   "mapped, managed, or several with commas between them",
                   name);
}

/* What goes with no other option. */
static rung_status check_memory(const bench_request *r, rung_error *error) {
  const char *other = r->hot || r->caches ? "--caches"
                      : r->peers          ? "--peers"
                      : r->markdown       ? "--markdown"
                                          : NULL;
  if (!other) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "--memory and %s are both given; expected: one of them", other);
}

rung_status bench_jobs_of(const bench_request *request, const rung_operation *const *operations,
                          bench_jobs *jobs, rung_error *error) {
  caches_adding all = {.request = request, .operations = operations, .jobs = jobs};
  if (request->hot && request->caches)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--hot and --caches are both given; expected: one of them");
  if (request->memory) {
    const rung_status status = check_memory(request, error);
    return status ? status : cli_each_value(request->memory, add_memory, &all, error);
  }
  return cli_each_value(request->caches ? request->caches
                        : request->hot  ? "hot"
                                        : "cold",
                        add_caches, &all, error);
}

void bench_jobs_free(bench_jobs *jobs) {
  for (int i = 0; i < jobs->count; i++) free(jobs->jobs[i].line);
  free(jobs->jobs);
  *jobs = (bench_jobs){0};
}
