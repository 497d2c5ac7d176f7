/* Any bytes as calls of the library: every operation, all types, shapes, strides, rungs, numbers of
 * threads, limits of memory. Arrays lie in memory of their own, as large as they are, so that
 * AddressSanitizer sees a step beside them. A call is made twice, by two rungs on two instruction
 * sets; both are refused with a sentence and nothing written, or canonical ones leave the same
 * bits, and counts and integers are those that a loop finds. Inputs, and what lies between the
 * elements of outputs, stay as they were. */
#include <math.h>

#include "fuzz/calls/calls.h"
#include "ops/operations.h"

RUNG_EVERY_OPERATION(DECLARE)
#define ROW(name) {#name, &fuzz_##name},
static const struct {
  const char *name;
  const operation *of;
} operations[RUNG_OPERATIONS] = {RUNG_EVERY_OPERATION(ROW)};

enum { RUNS = 2 };

/* ---- what a caller may get wrong --------------------------------------------------------------
 */

/* Whatever is wrong here, the library must see it before it looks at memory. */
static void spoil_tensor(fuzz_input *input, array *made) {
  DLTensor *tensor = &made->tensor;
  const int d = made->ndim > 0 ? fuzz_pick(input, made->ndim) : 0;
  switch (fuzz_pick(input, 9)) {
    case 0:
      tensor->ndim = (int)fuzz_bits(input);
      if (tensor->ndim >= 0 && tensor->ndim <= DIMS) tensor->ndim = -1;
      break;
    case 1:
      tensor->dtype.code = (uint8_t)(7 + fuzz_byte(input) % 200);
      break;
    case 2:
      tensor->dtype.lanes = (uint16_t)(fuzz_pick(input, 2) ? 0 : 2 + fuzz_byte(input));
      break;
    case 3:
      tensor->shape = NULL;
      break;
    case 4:
      tensor->data = NULL;
      break;
    case 5:
      made->given_shape[d] = INT64_MIN + (int64_t)(fuzz_bits(input) >> 1);
      break;
    case 6: /* an extent whose bytes do not fit */
      made->given_shape[d] = INT64_MAX - fuzz_byte(input);
      made->given_strides[d] = INT64_MAX / 2 + fuzz_byte(input);
      tensor->strides = made->given_strides;
      break;
    case 7: /* not aligned; bytes always are */
      if (made->type.bits > 8) tensor->byte_offset++;
      break;
    default:
      tensor->device.device_type = (DLDeviceType)(2 + fuzz_pick(input, 14));
  }
}

/* An output within the memory of another array: refused, unless it is the very same view. */
static void share(fuzz_input *input, job *job) {
  array *output = NULL;
  for (int k = 0; k < job->count; k++)
    if (job->arrays[k].output && (output == NULL || fuzz_rarely(input, 2)))
      output = &job->arrays[k];
  const array *other = &job->arrays[fuzz_pick(input, job->count)];
  if (fuzz_count(other) == 0) return; /* shares nothing */
  output->tensor.data = other->tensor.data;
  if (fuzz_pick(input, 2)) output->tensor.strides = other->tensor.strides;
}

static void spoil_call(fuzz_input *input, rung_call *how, char name[16]) {
  switch (fuzz_pick(input, 4)) {
    case 0:
      how->size = fuzz_pick(input, 2) ? 1 + (size_t)fuzz_byte(input) % 32 : ~(size_t)0;
      break;
    case 1:
      for (int k = 0; k < 15; k++) name[k] = (char)fuzz_byte(input);
      how->rung = name;
      break;
    case 2:
      how->block = (int)fuzz_bits(input);
      break;
    default:
      how->math = (rung_math)(int32_t)fuzz_bits(input);
  }
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static const char *const limits[] = {"", "300", "4000", "50000", "1M"};
enum { LIMITS = sizeof limits / sizeof *limits, THREADS = 5 };

/* How a job is run, and what came of it. */
typedef struct run {
  const char *isa;
  int threads, limit;
  rung_call how;
  rung_status status;
  bool canonical;
} run;

/* The CPU's rungs of an operation: asked for once, since every row asks for the GPUs' parts. */
typedef struct ladder {
  const char *names[16]; /* the library's own text */
  bool canonical[16];
  int count;
} ladder;

static const ladder *ladder_of(int chosen) {
  static ladder ladders[RUNG_OPERATIONS];
  ladder *of = &ladders[chosen];
  rung_ladder_info row = {.size = sizeof row};
  if (of->count > 0) return of;
  for (int k = 0; rung_ladder_at(operations[chosen].name, k, NULL, &row) == RUNG_OK; k++) {
    if (strcmp(row.on, "cpu") != 0 || of->count == 16) continue;
    of->canonical[of->count] = strcmp(row.order, "canonical") == 0;
    of->names[of->count++] = row.name;
  }
  return of;
}

static bool is_canonical(const ladder *of, const run *run) {
  if (run->how.math == RUNG_MATH_FIXED) return true;
  if (run->how.math != RUNG_MATH_STRICT || run->how.used == NULL) return false;
  for (int k = 0; k < of->count; k++)
    if (strcmp(of->names[k], run->how.used) == 0) return of->canonical[k];
  return false;
}

static void mark(const array *of, int d, const uint8_t *at, uint8_t *owned) {
  const int64_t element = of->type.bits / 8;
  if (d == of->ndim) memset(owned + (at - of->memory), 1, (size_t)element);
  for (int64_t i = 0; d < of->ndim && i < of->shape[d]; i++)
    mark(of, d + 1, at + i * of->strides[d] * element, owned);
}

/* Nothing is written but the elements of outputs, and they only where the call was not refused. */
static void check_untouched(const array *of, bool refused, const char *said) {
  uint8_t *owned = calloc(of->bytes + 1, 1);
  if (owned == NULL) abort();
  if (of->output && !refused) mark(of, 0, of->first, owned);
  for (size_t k = 0; k < of->bytes; k++)
    if (!owned[k] && of->memory[k] != of->before[k])
      fuzz_wrong("byte %zu of %s is written (\"%s\")", k, of->output ? "an output" : "an input",
                 said);
  free(owned);
}

/* Contexts stay open: opening one takes longer than most jobs. */
static rung_context *context_of(const run *run) {
  static rung_context *contexts[2][LIMITS][THREADS + 1];
  rung_context **context = &contexts[run->isa != NULL][run->limit][run->threads];
  const rung_options options = {
      .size = sizeof options, .device = "cpu", .threads = run->threads, .isa = run->isa};
  setenv("RUNG_MEMORY_LIMIT", limits[run->limit], 1);
  if (*context == NULL && rung_open(context, &options) != RUNG_OK)
    fuzz_wrong("%s", rung_last_error(*context));
  return *context;
}

static void make_run(int chosen, job *job, bool shared, run *run) {
  rung_context *context = context_of(run);
  for (int k = 0; k < job->count; k++)
    memcpy(job->arrays[k].memory, job->arrays[k].before, job->arrays[k].bytes);
  run->status = operations[chosen].of->call(context, job, &run->how);
  const char *said = rung_last_error(context);
  if ((run->status == RUNG_OK) != (said[0] == '\0'))
    fuzz_wrong("status %d, \"%s\"", (int)run->status, said);
  for (int k = 0; k < job->count; k++)
    if (run->status != RUNG_OK || !shared)
      check_untouched(&job->arrays[k], run->status != RUNG_OK, said);
  run->canonical = run->status == RUNG_OK && is_canonical(ladder_of(chosen), run);
}

/* ---- twice ------------------------------------------------------------------------------------
 */

static void choose(fuzz_input *input, int chosen, run runs[RUNS]) {
  const ladder *of = ladder_of(chosen);
  runs[0] =
      (run){.isa = "baseline",
            .threads = 1,
            .how = {.size = sizeof runs->how, .rung = of->names[fuzz_pick(input, of->count)]}};
  runs[1] = runs[0];
  runs[1].isa = NULL;
  runs[1].threads = 1 + fuzz_pick(input, THREADS);
  if (fuzz_pick(input, 2)) runs[1].limit = fuzz_pick(input, LIMITS);
  runs[1].how.rung = fuzz_pick(input, 2) ? NULL : of->names[fuzz_pick(input, of->count)];
}

/* A rung may not support a job, a limit may be too low for it; else both runs end alike. */
static void compare_statuses(const run runs[RUNS]) {
  if (runs[0].status == runs[1].status) return;
  for (int k = 0; k < RUNS; k++)
    if (runs[k].status == RUNG_UNSUPPORTED ||
        (runs[k].status == RUNG_OUT_OF_MEMORY && runs[k].limit > 0))
      return;
  fuzz_wrong("status %d by %s, %d by %s", (int)runs[0].status, runs[0].how.rung,
             (int)runs[1].status, runs[1].how.rung != NULL ? runs[1].how.rung : "auto");
}

/* A NaN is a NaN: its sign and payload are not promised. */
static void compare(const array *of, const void *first, const void *second) {
  const size_t element = of->type.bits / 8;
  for (int64_t k = 0; k < fuzz_count(of); k++) {
    const uint8_t *a = (const uint8_t *)first + (size_t)k * element;
    const uint8_t *b = (const uint8_t *)second + (size_t)k * element;
    if (memcmp(a, b, element) == 0) continue;
    if (fuzz_floats(of->type) && isnan(fuzz_number(of->type, first, k)) &&
        isnan(fuzz_number(of->type, second, k)))
      continue;
    fuzz_wrong("element %lld has other bits by other rungs", (long long)k);
  }
}

static void run_twice(int chosen, job *job, bool spoiled, bool shared, run runs[RUNS]) {
  const operation *operation = operations[chosen].of;
  void *first[ARRAYS] = {NULL};
  make_run(chosen, job, shared, &runs[0]);
  for (int k = 0; k < job->count && !spoiled; k++) first[k] = fuzz_gather(&job->arrays[k]);
  make_run(chosen, job, shared, &runs[1]);
  compare_statuses(runs);
  for (int k = 0; k < job->count && !spoiled; k++) {
    void *second = fuzz_gather(&job->arrays[k]);
    if (runs[0].canonical && runs[1].canonical) compare(&job->arrays[k], first[k], second);
    free(first[k]);
    free(second);
  }
  if (!spoiled && runs[1].status == RUNG_OK && operation->check != NULL) operation->check(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  job job = {.count = 0};
  run runs[RUNS];
  char name[16] = "";
  const int chosen = fuzz_pick(&input, RUNG_OPERATIONS);
  const operation *operation = operations[chosen].of;
  choose(&input, chosen, runs);
  const int spoiling = fuzz_pick(&input, 16);
  operation->make(&input, &job);
  if (spoiling == 0) spoil_tensor(&input, &job.arrays[fuzz_pick(&input, job.count)]);
  if (spoiling == 1) operation->spoil(&input, &job);
  if (spoiling == 2) spoil_call(&input, &runs[0].how, name);
  if (spoiling == 2) runs[1].how = runs[0].how;
  if (spoiling == 3) share(&input, &job);
  run_twice(chosen, &job, spoiling <= 3, spoiling == 3, runs);
  for (int k = 0; k < job.count; k++) {
    free(job.arrays[k].memory);
    free(job.arrays[k].before);
  }
  free(job.of);
  return 0;
}
