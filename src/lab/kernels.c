#include "lab/kernels.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/case.h"
#include "rung/lab.h"

/* What a row's functions are given is the task alone, so that each kernel has functions of its own,
 * which know its number. */
static const rung_lab_kernel *table[RUNG_LAB_MOST];

enum { LADDERS = 16, NAME_MOST = 31 };

static struct {
  void *file;
  rung_operation ladders[LADDERS];
  int count;
} opened;

/* ---- a job, as a kernel gets it ----------------------------------------------------------------
 */

typedef struct job {
  rung_lab_job is;
  DLTensor arrays[RUNG_TASK_ARRAYS];
} job;

static void read_array(const rung_view *view, DLTensor *to) {
  *to = (DLTensor){.device = {view->place == RUNG_HOST ? kDLCPU : kDLCUDA, view->device},
                   .dtype = rung_dlpack_type(view->dtype)};
  to->data = view->data;
  to->ndim = view->ndim;
  to->shape = (int64_t *)view->shape;
  to->strides = (int64_t *)view->stride;
}

static void read_job(const rung_task *task, job *to) {
  const rung_case *test_case = task->test_case;
  const int arrays = test_case->inputs + test_case->outputs;
  to->is = (rung_lab_job){.size = sizeof to->is,
                          .line = test_case->label,
                          .arrays = to->arrays,
                          .inputs = test_case->inputs,
                          .outputs = test_case->outputs,
                          .numbers = test_case->numbers,
                          .number_count = test_case->number_count,
                          .threads = task->device->threads,
                          .block = task->block,
                          .stream = task->stream,
                          .scratch = task->scratch};
  for (int i = 0; i < arrays; i++) read_array(&task->arrays[i], &to->arrays[i]);
}

static rung_status launch(int number, const rung_task *task) {
  job job;
  read_job(task, &job);
  const char *why = table[number]->launch(&job.is);
  if (why == NULL) return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "%s: %.300s", table[number]->name, why);
}

static bool supports(int number, const rung_task *task, char why[RUNG_REASON]) {
  job job;
  if (task->test_case == NULL) {
    snprintf(why, RUNG_REASON, "it is a kernel of the laboratory's");
    return false;
  }
  if (table[number]->refuses == NULL) return true;
  read_job(task, &job);
  const char *reason = table[number]->refuses(&job.is);
  if (reason == NULL) return true;
  snprintf(why, RUNG_REASON, "%s", reason);
  return false;
}

static size_t scratch(int number, const rung_task *task) {
  job job;
  if (table[number]->scratch_bytes == NULL) return 0;
  read_job(task, &job);
  return table[number]->scratch_bytes(&job.is);
}

#define EACH(of)                                                                                 \
  of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9) of(10) of(11) of(12) of(13) of(14) \
      of(15)
#define FUNCTIONS(n)                                                       \
  static rung_status launch_##n(const rung_task *task) {                   \
    return launch(n, task);                                                \
  }                                                                        \
  static bool supports_##n(const rung_task *task, char why[RUNG_REASON]) { \
    return supports(n, task, why);                                         \
  }                                                                        \
  static size_t scratch_##n(const rung_task *task) {                       \
    return scratch(n, task);                                               \
  }
EACH(FUNCTIONS)
#undef FUNCTIONS

static const struct {
  rung_launch *launch;
  bool (*supports)(const rung_task *task, char why[RUNG_REASON]);
  size_t (*scratch)(const rung_task *task);
} functions[] = {
#define ROW(n) {launch_##n, supports_##n, scratch_##n},
    EACH(ROW)
#undef ROW
};
_Static_assert(sizeof functions / sizeof *functions == RUNG_LAB_MOST, "a kernel, its functions");

/* ---- the table ----------------------------------------------------------------------------------
 */

static rung_status refuse(rung_error *error, const char *path, int number, const char *member,
                          const char *value, const char *expected) {
  return rung_fail(error, RUNG_BAD_ARGUMENT, "%.120s: kernel %d: %s is %s%.60s%s; expected: %.160s",
                   path, number, member, value != NULL ? "\"" : "", value != NULL ? value : "NULL",
                   value != NULL ? "\"" : "", expected);
}

static bool is_name(const char *name) {
  size_t length = 0;
  for (; length <= NAME_MOST && name[length] != '\0'; length++)
    if (!isalnum((unsigned char)name[length]) && name[length] != '-') return false;
  return length > 0 && length <= NAME_MOST;
}

/* Whether the file's own kernels before it, or the operation's rungs, have the name. */
static bool is_taken(const rung_lab_kernel *kernel, int number) {
  const rung_operation *operation = rung_operation_named(kernel->operation);
  for (int i = 0; i < operation->count; i++)
    if (strcmp(operation->rows[i].name, kernel->name) == 0) return true;
  for (int i = 0; i < number; i++)
    if (strcmp(table[i]->name, kernel->name) == 0 &&
        strcmp(table[i]->operation, kernel->operation) == 0)
      return true;
  return false;
}

static bool is_gpu(const rung_lab_kernel *kernel) {
  return kernel->device != NULL && strcmp(kernel->device, "cuda") == 0;
}

/* What all strict rungs of the operation take together. */
static rung_type_sets types_of(const rung_operation *operation) {
  rung_type_sets sets = {0};
  for (int i = 0; i < operation->count; i++) {
    if (rung_row_fixed(&operation->rows[i])) continue;
    sets.in |= operation->rows[i].types.in;
    sets.accumulate |= operation->rows[i].types.accumulate;
    sets.out |= operation->rows[i].types.out;
  }
  return sets;
}

/* Those of "f32,f64"; 0: a name among them is none. */
static unsigned types_named(const char *list) {
  unsigned set = 0;
  for (const char *at = list; at != NULL;) {
    char name[16];
    rung_dtype type;
    const size_t length = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    if (length >= sizeof name || !rung_dtype_named(name, &type)) return 0;
    set |= RUNG_TYPE(type);
    at = at[length] == ',' ? at + length + 1 : NULL;
  }
  return set;
}

static rung_status check(const char *path, int number, const rung_lab_kernel *kernel,
                         rung_error *error) {
  const char *device = kernel->device;
  if (kernel->operation == NULL || rung_operation_named(kernel->operation) == NULL)
    return refuse(error, path, number, "operation", kernel->operation,
                  "reduce, scan, histogram, matmul, correlate, stencil or pairs");
  if (kernel->name == NULL || !is_name(kernel->name))
    return refuse(error, path, number, "name", kernel->name, "1 to 31 letters, digits and '-'");
  if (is_taken(kernel, number))
    return refuse(error, path, number, "name", kernel->name,
                  "one that no rung of the operation and no other kernel has");
  if (device != NULL && strcmp(device, "cpu") != 0 && strcmp(device, "cuda") != 0)
    return refuse(error, path, number, "device", device, "cpu or cuda");
  if (kernel->types != NULL && types_named(kernel->types) == 0)
    return refuse(error, path, number, "types", kernel->types,
                  "types with commas between them, such as f32,f64");
  if (kernel->launch == NULL) return refuse(error, path, number, "launch", NULL, "a function");
  if ((int)kernel->order >= 0 && (int)kernel->order <= RUNG_LAB_FAST) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "%.120s: kernel %d: order is %d; expected: RUNG_LAB_SAME_BITS, "
                   "RUNG_LAB_OTHER_ORDER or RUNG_LAB_FAST",
                   path, number, (int)kernel->order);
}

/* Fills table[]; its rows are as long as the first one says. */
static rung_status read_table(const char *path, const char *kernels, int *count,
                              rung_error *error) {
  const size_t size = ((const rung_lab_kernel *)kernels)->size;
  *count = 0;
  if (size != 0 && size != sizeof(rung_lab_kernel))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%.120s: kernel 0: size is %zu; expected: sizeof(rung_lab_kernel), which is "
                     "%zu in this version's rung/lab.h",
                     path, size, sizeof(rung_lab_kernel));
  for (const rung_lab_kernel *at = (const rung_lab_kernel *)kernels; at->size != 0; at++) {
    if (at->size != size)
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "%.120s: kernel %d: size is %zu; expected: sizeof(rung_lab_kernel), or 0 in "
                       "the row that ends the table",
                       path, *count, at->size);
    if (*count == RUNG_LAB_MOST)
      return rung_fail(error, RUNG_BAD_ARGUMENT, "%.120s has more than %d kernels; expected: fewer",
                       path, RUNG_LAB_MOST);
    rung_status status = check(path, *count, at, error);
    if (status != RUNG_OK) return status;
    table[(*count)++] = at;
  }
  if (*count > 0) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "%.120s: its table rung_kernels is empty; expected: a "
                   "kernel at least",
                   path);
}

/* ---- ladders ------------------------------------------------------------------------------------
 */

static rung_row row_of(int number, const rung_operation *operation) {
  static const rung_order orders[] = {RUNG_CANONICAL, RUNG_TEXTBOOK, RUNG_LOOSE};
  const rung_lab_kernel *kernel = table[number];
  rung_row row = {.name = kernel->name,
                  .idea = kernel->idea != NULL ? kernel->idea : "a kernel of your own",
                  .family = is_gpu(kernel) ? RUNG_ON_GPU : RUNG_ON_CPU,
                  .order = orders[kernel->order],
                  .types = types_of(operation),
                  .hardware = is_gpu(kernel) ? "a GPU" : NULL,
                  .blocks = kernel->blocks,
                  .supports = functions[number].supports,
                  .scratch_bytes = functions[number].scratch};
  if (kernel->types != NULL) row.types.in &= types_named(kernel->types);
  for (int isa = 0; isa < RUNG_ISAS; isa++)
    // cppcheck-suppress AssignmentAddressToInteger
    if (!is_gpu(kernel) || isa == 0) row.launch[isa] = functions[number].launch;
  return row;
}

/* The operation's ladder, with its kernels behind the rungs; *longer is left alone where it has
 * none. */
static rung_status lengthen(const rung_operation *operation, int kernels,
                            const rung_operation **longer, rung_error *error) {
  int own = 0;
  for (int i = 0; i < kernels; i++) own += strcmp(table[i]->operation, operation->name) == 0;
  if (own == 0) return RUNG_OK;
  const size_t count = (size_t)(operation->count + own);
  rung_row *rows = calloc(count, sizeof *rows);
  if (rows == NULL || opened.count == LADDERS) {
    free(rows);
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a ladder of %zu rungs", count);
  }
  memcpy(rows, operation->rows, (size_t)operation->count * sizeof *rows);
  rung_row *next = rows + operation->count;
  for (int i = 0; i < kernels; i++)
    if (strcmp(table[i]->operation, operation->name) == 0) *next++ = row_of(i, operation);
  rung_operation *of = &opened.ladders[opened.count++];
  *of = *operation;
  of->rows = rows;
  of->count = (int)count;
  *longer = of;
  return RUNG_OK;
}

static rung_status load(const char *path, const char **kernels, rung_error *error) {
  /* Without a '/' the loader would look in its own folders. */
  char here[4096];
  const int length = snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
  opened.file = (size_t)length < sizeof here ? dlopen(here, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (opened.file == NULL) {
    const char *why = (size_t)length < sizeof here ? dlerror() : "its name is too long";
    return rung_fail(error, RUNG_FILE_FAILED,
                     "--kernels '%.120s' cannot be loaded: %.200s; expected: a shared object, as "
                     "cc -shared -fPIC makes it",
                     path, why);
  }
  *kernels = dlsym(opened.file, "rung_kernels");
  if (*kernels != NULL) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_FILE,
                   "--kernels '%.120s' has no table rung_kernels; expected: one that begins with "
                   "RUNG_LAB_KERNELS (rung/lab.h)",
                   path);
}

rung_status lab_kernels_open(const char *path, const rung_operation **operations,
                             rung_error *error) {
  const rung_operation *longer[LADDERS];
  const char *kernels = NULL;
  int count = 0, listed = 0;
  rung_status status = load(path, &kernels, error);
  if (status == RUNG_OK) status = read_table(path, kernels, &count, error);
  for (; listed < LADDERS && operations[listed] != NULL && status == RUNG_OK; listed++) {
    longer[listed] = operations[listed];
    status = lengthen(operations[listed], count, &longer[listed], error);
  }
  if (status == RUNG_OK && opened.count == 0)
    status = rung_fail(error, RUNG_BAD_ARGUMENT,
                       "--kernels '%.120s' has no kernel of %s (the first is of %s); expected: one "
                       "at least",
                       path, operations[0]->name, table[0]->operation);
  if (status == RUNG_OK)
    memcpy(operations, longer, (size_t)listed * sizeof *longer);
  else
    lab_kernels_close();
  return status;
}

void lab_kernels_close(void) {
  for (int i = 0; i < opened.count; i++) free(opened.ladders[i].rows);
  opened.count = 0;
  if (opened.file != NULL) dlclose(opened.file);
  opened.file = NULL;
}
