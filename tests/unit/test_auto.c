/* `auto` against the records of docs/results: where it takes a rung that was measured, no canonical
 * rung, with any block, was faster by more than 5 %. Which rung it takes is asked of the library,
 * by the shapes of the job alone: of the CPU, or of the simulated H200, which is like the recorded
 * one. Nothing is timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "lab/case.h"
#include "lab/fixture.h"
#include "lab/read.h"
#include "rung/rung.h"

static const double slower = 1.05;

/* Larger jobs are not made here where their inputs would be filled: all limits of `auto` lie below
 * then, and what it takes above is the last rung that the record found to support the job, and
 * pays. Sanitizers have nothing to say of large jobs that they have not of small ones, and take
 * longest for them.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST_BYTES = 1 << 20, PATH = 1024 };
#else
enum { MOST_BYTES = 1 << 24, PATH = 1024 };
#endif

/* Records that are older than a rung: what it takes now is not known, of jobs of up to so many
 * bytes. */
static const struct {
  const char *operation, *rung, *before;
  double most;
} older[] = {
    {"histogram", "vector", "2026-11-23T00:00:00Z", 1e99},   /* its kernel for few elements, */
    {"histogram", "vector", "2026-11-29T22:00:00Z", 1.1e6},  /* and the one launch of that */
    {"correlate", "streamed", "2026-11-24T00:00:00Z", 1e99}, /* its ring in shared memory */
    {"matmul", "tensor", "2026-11-27T13:30:00Z", 1e99},      /* its matrices smaller than a tile */
};

typedef struct counts {
  int compared, behind, old, not_measured, elsewhere;
} counts;

/* ---- what is taken ----------------------------------------------------------------------------
 */

static const rung_operation *operation_of(const lab_read_case *of) {
  return rung_operation_named(of->operation);
}

static const lab_read_candidate *candidate_of(const lab_read_case *of, const char *rung) {
  for (int i = 0; i < of->count; i++)
    if (!of->candidates[i].peer && of->candidates[i].block == 0 &&
        strcmp(of->candidates[i].rung, rung) == 0)
      return &of->candidates[i];
  return NULL;
}

/* NULL: a canonical rung above those that were measured was not tried. */
static const char *last_of(const lab_read_case *of, bool on_cpu) {
  const rung_operation *operation = operation_of(of);
  for (int i = operation->count - 1; i >= 0; i--) {
    const rung_row *row = &operation->rows[i];
    if ((row->family == RUNG_ON_CPU) != on_cpu || row->order != RUNG_CANONICAL) continue;
    if (rung_row_fixed(row)) continue; /* no job on record is theirs */
    const lab_read_candidate *found = candidate_of(of, row->name);
    if (!found) return NULL;
    if (strcmp(found->finding, "unsupported") != 0) return row->name;
  }
  return NULL;
}

/* Whether there is such a rung, and the simulator has it too. */
static bool is_here(const lab_read_case *of, const char *rung) {
  const rung_operation *operation = operation_of(of);
  for (int i = 0; rung && i < operation->count; i++)
    if (strcmp(operation->rows[i].name, rung) == 0) return !operation->rows[i].hardware;
  return false;
}

/* Of a job that is made here, with its shapes. */
static const char *taken_of(const lab_read_case *of, rung_context *context) {
  const rung_cases *cases = rung_cases_of(operation_of(of));
  rung_case made = {0};
  rung_error error = {0};
  rung_task task;
  const rung_row *row = NULL;
  rung_status status = cases->make(of->label, LAB_UNFILLED, &made, &error);
  if (status) fail_msg("%s %s: %s", of->operation, of->label, error.sentence);
  lab_task_of(context, &made, &task);
  task.error = &error;
  status = rung_choose(made.operation, &task, made.types, NULL, &row, &error);
  if (status) fail_msg("%s %s: %s", of->operation, of->label, error.sentence);
  cases->drop(&made);
  return row->name;
}

/* ---- records ----------------------------------------------------------------------------------
 */

/* Whether the job was recorded again later on, with the rung: that counts. */
static bool is_later(const lab_records *all, const lab_read_case *of, const char *rung) {
  for (int i = 0; i < all->count; i++) {
    const lab_read_case *other = &all->cases[i];
    if (strcmp(other->operation, of->operation) == 0 && strcmp(other->label, of->label) == 0 &&
        other->hot == of->hot && other->memory[0] == '\0' &&
        strcmp(lab_read_text(other->device, "name"), lab_read_text(of->device, "name")) == 0 &&
        strcmp(other->date, of->date) > 0 && candidate_of(other, rung))
      return true;
  }
  return false;
}

static bool is_older(const lab_read_case *of, const char *rung) {
  for (size_t i = 0; i < sizeof older / sizeof *older; i++)
    if (strcmp(older[i].operation, of->operation) == 0 && strcmp(older[i].rung, rung) == 0 &&
        strcmp(of->date, older[i].before) < 0 && of->bytes <= older[i].most)
      return true;
  return false;
}

static void compare(const lab_records *all, const lab_read_case *of, rung_context *cpu,
                    rung_context *gpu, counts *found) {
  const char *backend = lab_read_text(of->device, "backend");
  const bool on_cpu = strcmp(backend, "cpu") == 0;
  const lab_read_candidate *best = lab_read_best(of);
  if (!operation_of(of) || of->memory[0] || !best || (!on_cpu && strcmp(backend, "cuda") != 0)) {
    found->elsewhere++;
    return;
  }
  const char *rung = last_of(of, on_cpu);
  if (of->bytes <= MOST_BYTES || (rung_cases_of(operation_of(of))->unfilled && is_here(of, rung)))
    rung = taken_of(of, on_cpu ? cpu : gpu);
  const lab_read_candidate *taken = rung ? candidate_of(of, rung) : NULL;
  if (!taken || !taken->good) {
    found->not_measured++;
  } else if (is_later(all, of, rung) || is_older(of, rung)) {
    found->old++;
  } else {
    found->compared++;
    if (taken->time.median <= slower * best->time.median) return;
    found->behind++;
    print_error("%s on %s, %s: auto takes %s, %.4g ms; %s with block %d took %.4g ms, %s\n",
                of->operation, lab_read_text(of->device, "name"), of->label, taken->rung,
                taken->time.median, best->rung, best->block, best->time.median, of->date);
  }
}

static void read_folder(lab_records *records, const char *machine) {
  char path[PATH];
  rung_error error = {0};
  snprintf(path, sizeof path, "%s/%s", RECORDS, machine);
  DIR *folder = opendir(path);
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    const char *end = strrchr(entry->d_name, '.');
    if (!end || strcmp(end, ".json") != 0) continue;
    snprintf(path, sizeof path, "%s/%s/%s", RECORDS, machine, entry->d_name);
    if (lab_read_file(records, path, &error)) fail_msg("%s", error.sentence);
  }
  closedir(folder);
}

static void auto_is_near_the_best(void **state) {
  static const char *const machines[] = {"h200", "epyc-2core", "xeon-2core", "zen5-2core"};
  (void)state;
  lab_records records = {0};
  counts found = {0};
  rung_context *cpu = NULL, *gpu = NULL;
  assert_int_equal(rung_open(&cpu, &(rung_options){.device = "cpu", .threads = 2}), RUNG_OK);
  if (rung_open(&gpu, &(rung_options){.device = "sim:h200"}) != RUNG_OK) {
    rung_close(gpu);
    rung_close(cpu);
    skip();
  }
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    read_folder(&records, machines[i]);
  for (int i = 0; i < records.count; i++) compare(&records, &records.cases[i], cpu, gpu, &found);
  print_message(
      "%d jobs compared; %d are older than the rung or were measured again, of %d what is "
      "taken was not measured, %d are no rungs' alone\n",
      found.compared, found.old, found.not_measured, found.elsewhere);
  assert_int_equal(found.behind, 0);
  assert_true(found.compared > 150);
  lab_records_free(&records);
  rung_close(gpu);
  rung_close(cpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(auto_is_near_the_best),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
