#include "lab/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { COLUMNS = 512, ARGUMENTS = 64, MOST_THREADS = 1024 };
/* No count of a launch is larger, and a thousand of them, weighted, still fit together. */
#define MOST (INT64_C(1) << 48)

/* What each count is on a GPU: a sum of metrics, each times a weight. All but the bank conflicts
 * are counted instruction by instruction, so that nothing else that runs disturbs them. */
typedef struct part {
  rung_counter counter;
  const char *metric;
  int weight;
} part;

static const part parts[] = {
    {RUNG_GLOBAL_LOADS, "smsp__sass_inst_executed_op_global_ld.sum", 1},
    {RUNG_GLOBAL_LOADS, "smsp__sass_inst_executed_op_ldgsts.sum", 1},
    {RUNG_GLOBAL_LOAD_BYTES, "smsp__sass_data_bytes_mem_global_op_ld.sum", 1},
    {RUNG_GLOBAL_LOAD_BYTES, "smsp__sass_data_bytes_mem_global_op_ldgsts.sum", 1},
    {RUNG_GLOBAL_LOAD_SECTORS, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 1},
    {RUNG_GLOBAL_LOAD_SECTORS, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", 1},
    {RUNG_GLOBAL_STORES, "smsp__sass_inst_executed_op_global_st.sum", 1},
    {RUNG_GLOBAL_STORE_BYTES, "smsp__sass_data_bytes_mem_global_op_st.sum", 1},
    {RUNG_GLOBAL_STORE_SECTORS, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 1},
    {RUNG_SHARED_LOADS, "smsp__sass_inst_executed_op_shared_ld.sum", 1},
    {RUNG_SHARED_LOAD_CONFLICTS, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 1},
    {RUNG_SHARED_STORES, "smsp__sass_inst_executed_op_shared_st.sum", 1},
    {RUNG_SHARED_STORES, "smsp__sass_inst_executed_op_ldgsts.sum", 1},
    {RUNG_SHARED_STORE_CONFLICTS, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 1},
    {RUNG_GLOBAL_ATOMICS, "smsp__sass_inst_executed_op_global_atom.sum", 1},
    {RUNG_GLOBAL_ATOMICS, "smsp__sass_inst_executed_op_global_red.sum", 1},
    {RUNG_SHARED_ATOMICS, "smsp__sass_inst_executed_op_shared_atom.sum", 1},
    {RUNG_DIVERGENT_BRANCHES, "smsp__sass_branch_targets_threads_divergent.sum", 1},
    {RUNG_FLOPS, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1},
    {RUNG_FLOPS, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 1},
    {RUNG_FLOPS, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2},
    {RUNG_FLOPS, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1},
    {RUNG_FLOPS, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 1},
    {RUNG_FLOPS, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* ---- reading ncu's table -------------------------------------------------------------------- */

/* Takes the next field off the line, unquoted in place; NULL: the line has ended. */
static char *next_field(char **line) {
  char *from = *line, *to = from;
  if (*from == '\0' || *from == '\n') return NULL;
  bool quoted = false;
  char *made = from;
  for (; *to != '\0' && *to != '\n' && (quoted || *to != ','); to++) {
    if (*to == '"')
      quoted = !quoted;
    else
      *made++ = *to;
  }
  *line = *to == ',' ? to + 1 : to;
  *made = '\0';
  return from;
}

static int split(char *line, char *fields[COLUMNS]) {
  int count = 0;
  char *field;
  while (count < COLUMNS && (field = next_field(&line)) != NULL) fields[count++] = field;
  return count;
}

/* "1,234,567"; 0 for what no counter counts up to. */
static int64_t number(const char *text) {
  char plain[64];
  size_t used = 0;
  for (; *text != '\0' && used + 1 < sizeof plain; text++)
    if (*text != ',') plain[used++] = *text;
  plain[used] = '\0';
  const double value = strtod(plain, NULL);
  return value >= 0 && value <= MOST ? (int64_t)(value + 0.5) : 0;
}

static int column_named(char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

/* "(256, 1, 1)" multiplied out; 0 for more than there can be. */
static int64_t volume(const char *text, int64_t most) {
  int64_t all = 1;
  for (const char *at = text; *at != '\0';) {
    if (*at >= '0' && *at <= '9') {
      char *end;
      if (__builtin_mul_overflow(all, strtoll(at, &end, 10), &all) || all > most) return 0;
      at = end;
    } else {
      at++;
    }
  }
  return all;
}

static rung_profile_kernel *kernel_named(rung_profile *profile, const char *name) {
  for (int i = 0; i < profile->count; i++)
    if (strcmp(profile->kernels[i].name, name) == 0) return &profile->kernels[i];
  rung_profile_kernel *more =
      realloc(profile->kernels, ((size_t)profile->count + 1) * sizeof *more);
  if (more == NULL) return NULL;
  profile->kernels = more;
  rung_profile_kernel *made = &more[profile->count++];
  memset(made, 0, sizeof *made);
  snprintf(made->name, sizeof made->name, "%s", name);
  return made;
}

static rung_counts counts_of(char *const *names, char *const *fields, int count) {
  rung_counts counts;
  for (int i = 0; i < RUNG_COUNTERS; i++) counts.at[i] = RUNG_NOT_COUNTED;
  for (int i = 0; i < PARTS; i++) {
    const int column = column_named(names, count, parts[i].metric);
    int64_t *at = &counts.at[parts[i].counter];
    if (column < 0 || fields[column][0] == '\0' || fields[column][0] == 'n') continue; /* n/a */
    if (*at == RUNG_NOT_COUNTED) *at = 0;
    *at += parts[i].weight * number(fields[column]);
  }
  return counts;
}

static rung_status add_row(rung_profile *profile, char *const *names, char *const *fields,
                           int count, rung_error *error) {
  const int name = column_named(names, count, "Kernel Name");
  const int block = column_named(names, count, "Block Size");
  const int grid = column_named(names, count, "Grid Size");
  if (name < 0 || block < 0 || grid < 0)
    return rung_fail(error, RUNG_CHECK_FAILED, "ncu's table lacks a column for %s",
                     name < 0    ? "Kernel Name"
                     : block < 0 ? "Block Size"
                                 : "Grid Size");
  rung_profile_kernel *kernel = kernel_named(profile, fields[name]);
  if (kernel == NULL) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for counts");
  const rung_counts counts = counts_of(names, fields, count);
  kernel->threads = (int)volume(fields[block], MOST_THREADS);
  kernel->blocks += volume(fields[grid], MOST);
  kernel->warps += volume(fields[grid], MOST) * ((kernel->threads + 31) / 32);
  if (kernel->launches++ == 0)
    kernel->total = counts;
  else
    rung_counts_add(&kernel->total, &counts);
  return RUNG_OK;
}

rung_status lab_counters_parse(const char *text, rung_profile *profile, rung_error *error) {
  memset(profile, 0, sizeof *profile);
  char *copy = strdup(text), *names[COLUMNS], *fields[COLUMNS], *line, *rest = copy;
  int columns = 0;
  rung_status status = copy != NULL ? RUNG_OK : RUNG_OUT_OF_MEMORY;
  while (status == RUNG_OK && (line = strsep(&rest, "\n")) != NULL) {
    if (line[0] != '"') continue; /* ncu's own words */
    if (columns == 0) {
      columns = split(line, names);
    } else if (split(line, fields) == columns && fields[0][0] != '\0') { /* not the units */
      status = add_row(profile, names, fields, columns, error);
    }
  }
  free(copy);
  if (status == RUNG_OK && profile->count == 0)
    status = rung_fail(error, RUNG_CHECK_FAILED, "ncu saw no kernel run");
  if (status != RUNG_OK) rung_profile_free(profile);
  return status;
}

/* ---- running ncu ---------------------------------------------------------------------------- */

/* Every metric once, separated by commas. */
static void list_metrics(char *text, size_t room) {
  size_t used = 0;
  for (int i = 0; i < PARTS; i++) {
    int first = 0;
    while (strcmp(parts[first].metric, parts[i].metric) != 0) first++;
    if (first < i) continue;
    used += (size_t)snprintf(text + used, room - used, "%s%s", used ? "," : "", parts[i].metric);
  }
}

static rung_status read_all(const char *path, char **text, rung_error *error) {
  FILE *file = fopen(path, "r");
  struct stat about;
  *text = NULL;
  if (file != NULL && fstat(fileno(file), &about) == 0 &&
      (*text = malloc((size_t)about.st_size + 1)) != NULL)
    (*text)[fread(*text, 1, (size_t)about.st_size, file)] = '\0';
  if (file != NULL) fclose(file);
  if (*text != NULL) return RUNG_OK;
  return rung_fail(error, RUNG_FILE_FAILED, "ncu's report %s cannot be read", path);
}

static rung_status run(char *const *arguments, int *ended, rung_error *error) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child;
  const int failed = posix_spawnp(&child, arguments[0], &files, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "hardware counters are read by Nsight Compute's command ncu, which could not "
                     "be run (%s): put it on PATH; --device sim counts without it",
                     strerror(failed));
  while (waitpid(child, ended, 0) < 0 && errno == EINTR) continue;
  return RUNG_OK;
}

/* What went wrong, in ncu's own words where it has any. */
static rung_status refuse(const char *log, int ended, rung_error *error) {
  const char *said = strstr(log, "==ERROR== ");
  const int length = said ? (int)strcspn(said + 10, "\n") : 0;
  if (said && strstr(log, "ERR_NVGPUCTRPERM"))
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "this user may not read the GPU's counters; --device sim counts without "
                     "them; ncu says: %.*s",
                     length, said + 10);
  return rung_fail(error, RUNG_CHECK_FAILED, "the run under ncu failed (status %d)%s%.*s",
                   WIFEXITED(ended) ? WEXITSTATUS(ended) : -1, said ? ": " : "", length,
                   said ? said + 10 : "");
}

rung_status lab_counters(const char *const *program, rung_profile *profile, rung_error *error) {
  memset(profile, 0, sizeof *profile);
  char metrics[4096], path[] = "/tmp/rung-counters-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return rung_fail(error, RUNG_FILE_FAILED, "%s: %s", path, strerror(errno));
  close(file);
  list_metrics(metrics, sizeof metrics);
  const char *arguments[ARGUMENTS] = {"ncu",
                                      "--csv",
                                      "--page",
                                      "raw",
                                      "--print-units",
                                      "base",
                                      "--print-kernel-base",
                                      "function",
                                      "--clock-control",
                                      "none",
                                      "--log-file",
                                      path,
                                      "--metrics",
                                      metrics};
  int count = 0, ended = 0;
  while (arguments[count] != NULL) count++;
  for (; *program != NULL && count + 1 < ARGUMENTS; program++) arguments[count++] = *program;
  char *log = NULL;
  rung_status status = run((char *const *)arguments, &ended, error);
  if (status == RUNG_OK) status = read_all(path, &log, error);
  if (status == RUNG_OK)
    status = WIFEXITED(ended) && WEXITSTATUS(ended) == 0 ? lab_counters_parse(log, profile, error)
                                                         : refuse(log, ended, error);
  unlink(path);
  free(log);
  return status;
}
