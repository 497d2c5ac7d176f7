/* A bench under way: job after job, said and kept. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "peers/peers.h"

static const char verb[] = "bench";

/* Refuses a peer's name that no operation has on the device. */
static rung_status check_peers(const bench *b, const rung_operation *const *operations,
                               rung_error *error) {
  rung_status status = RUNG_OK;
  for (const char *at = b->request->peer_names; at && !status;) {
    char name[CLI_GUESS], meant[CLI_GUESS];
    const size_t length = strcspn(at, ",");
    bool known = false;
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    cli_guess guess = {.word = name};
    for (int k = 0; operations[k]; k++) {
      const rung_operation *peers = rung_peers_of(operations[k], &b->set_up.context->device);
      for (int i = 0; i < peers->count; i++) {
        known = known || strcmp(peers->rows[i].name, name) == 0;
        cli_guess_try(&guess, peers->rows[i].name);
      }
    }
    if (!known)
      status = rung_fail(error, RUNG_UNKNOWN_NAME, "--peers: there is no '%.40s' for this%s", name,
                         guess.best ? cli_guess_text(&guess, meant) : "");
    at = at[length] == ',' ? at + length + 1 : NULL;
  }
  return status;
}

/* Only a GPU is far from the host's memory. */
static rung_status check_memory(const bench *b, rung_error *error) {
  const rung_kind kind = b->set_up.context->device.kind;
  if (!b->request->memory || kind == RUNG_CUDA) return RUNG_OK;
  return rung_fail(
      error, RUNG_UNSUPPORTED, "--memory '%.40s' on device \"%s\": %s; expected: --device cuda",
      b->request->memory, rung_kind_name(kind),
      kind == RUNG_SIM ? "the simulated GPU has no speed to measure, and all kinds of host memory "
                         "are one to it"
                       : "a CPU works in the host's memory, of which nothing is copied");
}

/* Whether standard output has tables, not records or CSV. */
static bool prints_tables(const bench *b) {
  const cli_common *common = b->common;
  return !common->json && !(common->output && strcmp(common->output, "-") == 0) &&
         !(b->request->csv && strcmp(b->request->csv, "-") == 0);
}

void bench_say(bench *b, const lab_bench *m) {
  char text[256];
  if (m->rules.memory && prints_tables(b)) {
    measure_stages(stdout, m);
  } else if (b->request->markdown) {
    measure_markdown(stdout, m);
  } else if (prints_tables(b)) {
    measure_print(stdout, m);
  } else if (measure_disturbed(m, text, sizeof text)[0]) {
    cli_note(b->common, verb, "%s: meanwhile %s", m->test_case.label, text);
  }
  fflush(stdout);
  b->timed += m->count;
  b->failures += lab_bench_failures(m);
}

static rung_status run_job(bench *b, const bench_job *job, rung_error *error) {
  lab_bench m;
  b->set_up.rules.hot = job->hot;
  b->set_up.rules.memory = job->memory;
  rung_status status = lab_bench_run(&b->set_up, job->operation, rung_cases_of(job->operation),
                                     job->line, &m, error);
  cli_progress_end(&b->progress);
  if (!status) status = lab_record_add(b->part.lines, &m, b->request->command, error);
  if (!status) {
    bench_say(b, &m);
    lab_bench_memory(&m, &b->memory);
  }
  lab_bench_free(&m);
  return status;
}

/* What no rung can do is done. */
static void skip_jobs(bench *b) {
  const rung_device *device = &b->set_up.context->device;
  for (int i = 0; i < b->jobs.count; i++) {
    bench_job *job = &b->jobs.jobs[i];
    job->done = job->done || lab_bench_count(&b->set_up, job->operation, device) == 0;
  }
}

static rung_status run_jobs(bench *b, rung_error *error) {
  const int all = b->jobs.count;
  int left = 0, to_do = 0;
  for (int i = 0; i < all; i++) to_do += !b->jobs.jobs[i].done;
  left = to_do;
  rung_status status = RUNG_OK;
  for (int i = 0; i < all && !status; i++) {
    const bench_job *job = &b->jobs.jobs[i];
    if (job->done) continue;
    cli_progress_begin(&b->progress, b->common);
    cli_progress_part(&b->progress, (double)(to_do - left) / to_do, 1.0 / to_do,
                      job->operation->name);
    status = run_job(b, job, error);
    if (!status) status = bench_part_add(&b->part, --left, all, error);
  }
  return status;
}

/* The records, where they are wanted. */
static rung_status deliver(const bench *b, rung_error *error) {
  const cli_common *common = b->common;
  const bool printed = common->output && strcmp(common->output, "-") == 0;
  rung_status status = RUNG_OK;
  if (common->output && !printed) status = lab_record_write(common->output, b->part.lines, error);
  if (!status && b->request->csv) status = csv_write(b->request->csv, b->part.lines, error);
  if (!status && (common->json || printed)) status = measure_records(b->part.lines, error);
  return status;
}

rung_status bench_run(bench *b, const rung_operation *const *operations, rung_error *error) {
  const cli_common *common = b->common;
  rung_status status =
      measure_open(&b->set_up, common, common->device, &b->progress, b->request->peers, error);
  if (!status) status = check_memory(b, error);
  if (!status) status = check_peers(b, operations, error);
  if (!status)
    status =
        bench_part_begin(&b->part, common->output, b->request->resume, &b->set_up, &b->jobs, error);
  const int64_t launches = b->request->launches;
  if (!status && b->part.kept > 0)
    cli_note(common, verb, "%d of %lld %s were measured before", b->part.kept,
             (long long)b->jobs.count * (launches ? launches : 1),
             launches ? "launches of jobs" : "jobs");
  if (!status) {
    skip_jobs(b);
    status = launches ? bench_launches(b, error) : run_jobs(b, error);
  }
  if (!status && b->timed + b->part.kept == 0)
    status = rung_fail(
        error, RUNG_UNSUPPORTED, "no rung of %s runs on %s: `rung ladder` lists them",
        b->request->rungs ? b->request->rungs : "these operations", b->set_up.context->device.name);
  if (!status) status = deliver(b, error);
  if (!status) bench_part_end(&b->part);
  if (!status && b->memory.status) {
    *error = b->memory;
    return error->status;
  }
  if (!status && b->failures > 0)
    status = rung_fail(error, RUNG_CHECK_FAILED, "%d of %d candidates failed their check",
                       b->failures, b->timed);
  return status;
}
