/* A bench: its jobs, its record on the way, and what is printed of it. */
#ifndef RUNG_CLI_BENCH_H
#define RUNG_CLI_BENCH_H

#include "cli/measure.h"
#include "lab/resume.h"

typedef struct bench_request {
  const char *sizes, *blocks, *rungs, *types, *caches, *memory, *csv, *kernels;
  const char *peer_names; /* NULL: all */
  bool peers, hot, markdown, resume;
  int64_t samples;  /* 0: the lab's rules */
  int64_t launches; /* 0: all is measured in this process */
  double seconds;   /* 0: the lab's rules */
  char command[MEASURE_COMMAND];
} bench_request;

/* One job as it is asked for: a line of which nothing is a list. */
typedef struct bench_job {
  const rung_operation *operation;
  char *line;
  bool hot, done; /* done: the record had it, or no rung can do it */
  int launched;   /* launches that are done */
  int memory;     /* lab_rules' */
} bench_job;

typedef struct bench_jobs {
  bench_job *jobs;
  int count;
} bench_jobs;

/* All jobs of a request, in the order they are measured. bench_jobs.c. On failure too to be freed.
 */
rung_status bench_jobs_of(const bench_request *request, const rung_operation *const *operations,
                          bench_jobs *jobs, rung_error *error);
void bench_jobs_free(bench_jobs *jobs);

/* The record on its way: FILE.part, beside FILE, has the jobs that are done, until all are and FILE
 * is written. bench_part.c. */
typedef struct bench_part {
  char *path; /* NULL: none is kept */
  json_t *lines;
  size_t written; /* of the lines */
  bool launches;  /* the lines have each job once a launch */
  int kept;       /* jobs, or launches of jobs, that were there before */
} bench_part;

/* Begins it; with --resume, of what FILE.part, or else FILE, has, whose jobs are marked. The
 * set-up's context is open. */
rung_status bench_part_begin(bench_part *part, const char *output, bool resume,
                             lab_bench_set_up *set_up, bench_jobs *jobs, rung_error *error);
/* One more job, or launch of one, is among the lines: `left` of `all` are to come. */
rung_status bench_part_add(bench_part *part, int left, int all, rung_error *error);
/* All is written where it belongs. */
void bench_part_end(bench_part *part);
void bench_part_free(bench_part *part);

/* One bench under way. */
typedef struct bench {
  const cli_common *common;
  const bench_request *request;
  lab_bench_set_up set_up;
  cli_progress progress;
  bench_jobs jobs;
  bench_part part;
  int timed, failures;
  rung_error memory; /* that ran out for one of them */
} bench;

/* All of it: measured, said, written. bench_run.c. */
rung_status bench_run(bench *b, const rung_operation *const *operations, rung_error *error);
/* A job that was measured is printed, and counted. */
void bench_say(bench *b, const lab_bench *m);

/* All jobs, each in processes of its own: every job once, then every job once more ... --launches
 * times; of the launches one record is made, and said. bench_launches.c. */
rung_status bench_launches(bench *b, rung_error *error);

/* A row a candidate, a column a field, the keys of jobs among them. csv.c. */
rung_status csv_write(const char *path, const json_t *lines, rung_error *error);

#endif
