/* Any bytes as calls of the library: operations, types, shapes, strides, rungs. Arrays lie in
 * memory of their own, as large as they are, so that AddressSanitizer sees a step beside them. A
 * call is made twice, by a rung and a number of threads each; both are refused with a sentence and
 * nothing written, or both leave the same bytes, and of integers the sum that a loop finds. */
#include "fuzz.h"
#include "rung/rung.h"

enum { DIMS = 4, OPERATIONS = 3, RUNS = 2 };

/* A tensor and the memory that it alone has. */
typedef struct array {
  DLTensor tensor;
  int64_t shape[DIMS], strides[DIMS];
  uint8_t *memory;
  size_t bytes;
} array;

static DLDataType pick_type(fuzz_input *input) {
  static const struct {
    uint8_t code, bits;
  } types[] = {{kDLFloat, 32}, {kDLFloat, 64}, {kDLFloat, 16}, {kDLBfloat, 16},
               {kDLUInt, 8},   {kDLInt, 8},    {kDLUInt, 16},  {kDLInt, 16},
               {kDLInt, 32},   {kDLUInt, 32},  {kDLInt, 64},   {kDLUInt, 64}};
  const int k = fuzz_pick(input, sizeof types / sizeof *types);
  return rung_type(types[k].code, types[k].bits);
}

/* Shape and strides: dimensions in any order, gaps between them, some backwards. Returns how many
 * elements of memory that takes, and where the first one is. */
static int64_t lay_out(fuzz_input *input, array *made, int64_t *first) {
  int order[DIMS] = {0, 1, 2, 3}, ndim = made->tensor.ndim;
  int64_t step = 1;
  *first = 0;
  for (int d = 0; d < ndim; d++) {
    const int other = d + fuzz_pick(input, ndim - d), swap = order[d];
    order[d] = order[other];
    order[other] = swap;
    const int64_t extent = made->shape[order[d]];
    const bool backwards = fuzz_rarely(input, 4);
    made->strides[order[d]] = backwards ? -step : step;
    if (backwards && extent > 0) *first += (extent - 1) * step;
    step *= (extent > 0 ? extent : 1) + (fuzz_rarely(input, 4) ? fuzz_pick(input, 5) : 0);
  }
  return step;
}

static void make(fuzz_input *input, array *made, DLDataType type, int ndim, const int64_t *shape) {
  const size_t element = type.bits / 8;
  int64_t first;
  memset(made, 0, sizeof *made);
  made->tensor = rung_array(NULL, type, ndim, made->shape);
  for (int d = 0; d < ndim; d++) made->shape[d] = shape[d];
  made->bytes = (size_t)lay_out(input, made, &first) * element;
  made->memory = malloc(made->bytes);
  if (made->memory == NULL) abort();
  for (size_t k = 0; k < made->bytes; k++)
    made->memory[k] = (uint8_t)(input->left > 0 ? fuzz_byte(input) : k * 37);
  made->tensor.data = made->memory + first * (int64_t)element;
  if (ndim > 0 && !fuzz_rarely(input, 8)) made->tensor.strides = made->strides;
  if (made->tensor.strides == NULL) made->tensor.data = made->memory; /* row-major, all within */
}

/* What a caller may get wrong, and the library must see before it looks at memory. */
static void spoil(fuzz_input *input, array *made) {
  DLTensor *tensor = &made->tensor;
  switch (fuzz_pick(input, 7)) {
    case 0:
      tensor->ndim = (int)fuzz_bits(input);
      if (tensor->ndim >= 0 && tensor->ndim <= DIMS) tensor->ndim = -1;
      break;
    case 1:
      tensor->dtype.code = (uint8_t)(7 + fuzz_byte(input) % 200);
      break;
    case 2:
      tensor->dtype.lanes = 0;
      break;
    case 3:
      tensor->shape = NULL;
      break;
    case 4:
      tensor->data = NULL;
      break;
    case 5:
      made->shape[0] = tensor->ndim > 0 ? INT64_MIN + (int64_t)(fuzz_bits(input) >> 1) : 0;
      break;
    default:
      tensor->device.device_type = (DLDeviceType)(2 + fuzz_pick(input, 14));
  }
}

/* One call's arguments; `out` is poisoned before every run. */
typedef struct job {
  int operation;
  array in, out;
  rung_reduction what;
  int axis, exclusive;
  rung_bins bins;
} job;

static void make_job(fuzz_input *input, job *made) {
  memset(made, 0, sizeof *made);
  made->operation = fuzz_pick(input, OPERATIONS);
  const DLDataType type = pick_type(input), u64 = rung_type(kDLUInt, 64);
  const int ndim = fuzz_pick(input, DIMS + 1);
  int64_t shape[DIMS], out[DIMS];
  for (int d = 0; d < ndim; d++)
    out[d] = shape[d] = fuzz_pick(input, fuzz_rarely(input, 4) ? 200 : 7);
  made->what = (rung_reduction)fuzz_pick(input, 4);
  made->axis = ndim > 0 ? fuzz_pick(input, ndim) : RUNG_ALL;
  if (fuzz_rarely(input, 4)) made->axis = RUNG_ALL;
  made->exclusive = fuzz_pick(input, 2);
  made->bins =
      (rung_bins){.size = sizeof made->bins, .kind = RUNG_BINS_EVEN, .count = 5, .high = 7};
  if (fuzz_rarely(input, 2)) made->bins.kind = RUNG_BINS_MODULO;
  make(input, &made->in, type, ndim, shape);
  switch (made->operation) {
    case 0: { /* reduce */
      int kept = 0;
      for (int d = 0; d < ndim && made->axis != RUNG_ALL; d++)
        if (d != made->axis) out[kept++] = shape[d];
      const bool wide = made->what == RUNG_SUM && type.code != kDLFloat && type.code != kDLBfloat;
      make(input, &made->out,
           wide                                              ? rung_type(type.code, 64)
           : made->what == RUNG_MEAN && type.code < kDLFloat ? rung_type(kDLFloat, 64)
                                                             : type,
           kept, out);
      break;
    }
    case 1: /* histogram of everything */
      make(input, &made->out, u64, 1, &made->bins.count);
      break;
    default: /* scan */
      make(input, &made->out, type, ndim, out);
  }
}

static rung_status call(rung_context *context, const job *job, rung_call *how) {
  DLTensor *out = (DLTensor *)&job->out.tensor;
  switch (job->operation) {
    case 0:
      return rung_reduce(context, job->what, &job->in.tensor, job->axis, out, how);
    case 1:
      return rung_histogram(context, &job->bins, &job->in.tensor, out, NULL, how);
    default:
      return rung_scan(context, job->what, &job->in.tensor, job->exclusive, out, how);
  }
}

/* ---- a sum by a loop, modulo 2^64 --------------------------------------------------------------
 */

static uint64_t integer_at(const array *in, const uint8_t *at) {
  uint64_t bits = 0;
  const unsigned width = in->tensor.dtype.bits;
  memcpy(&bits, at, width / 8);
  if (in->tensor.dtype.code == kDLInt && width < 64 && bits >> (width - 1) != 0)
    bits |= ~UINT64_C(0) << width;
  return bits;
}

static uint64_t sum_of(const array *in, int d, const uint8_t *at) {
  const int64_t element = in->tensor.dtype.bits / 8;
  if (d == in->tensor.ndim) return integer_at(in, at);
  int64_t stride = 1;
  for (int k = d + 1; k < in->tensor.ndim; k++) stride *= in->shape[k];
  if (in->tensor.strides != NULL) stride = in->strides[d];
  uint64_t sum = 0;
  for (int64_t i = 0; i < in->shape[d]; i++) sum += sum_of(in, d + 1, at + i * stride * element);
  return sum;
}

static void check_sum(const job *job) {
  uint64_t found;
  if (job->operation != 0 || job->axis != RUNG_ALL || job->what != RUNG_SUM ||
      job->in.tensor.dtype.code > kDLUInt)
    return;
  memcpy(&found, job->out.tensor.data, sizeof found);
  const uint64_t wanted = sum_of(&job->in, 0, job->in.tensor.data);
  if (found != wanted)
    fuzz_wrong("a sum of %llu, and it is %llu", (unsigned long long)found,
               (unsigned long long)wanted);
}

/* ---- twice -------------------------------------------------------------------------------------
 */

enum { POISON = 0xa5 };

/* Runs the job into `out`'s memory; the bytes it leaves are the caller's. */
static rung_status run(const job *job, const char *rung, int threads, uint8_t *bytes) {
  const rung_options options = {.size = sizeof options, .device = "cpu", .threads = threads};
  rung_call how = {.size = sizeof how, .rung = rung};
  rung_context *context;
  memset(job->out.memory, POISON, job->out.bytes);
  if (rung_open(&context, &options) != RUNG_OK) fuzz_wrong("%s", rung_last_error(context));
  const rung_status status = call(context, job, &how);
  const char *said = rung_last_error(context);
  if ((status == RUNG_OK) != (said[0] == '\0')) fuzz_wrong("status %d, \"%s\"", (int)status, said);
  if (status != RUNG_OK)
    for (size_t k = 0; k < job->out.bytes; k++)
      if (job->out.memory[k] != POISON) fuzz_wrong("refused (%s), and written", said);
  rung_close(context);
  memcpy(bytes, job->out.memory, job->out.bytes);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const simple[OPERATIONS] = {"lanes", "serial", NULL}; /* canonical ones */
  fuzz_input input = {data, size};
  job job;
  make_job(&input, &job);
  const bool spoiled = fuzz_rarely(&input, 8);
  if (spoiled) spoil(&input, fuzz_pick(&input, 2) ? &job.in : &job.out);
  uint8_t *bytes[RUNS];
  rung_status status[RUNS];
  for (int k = 0; k < RUNS; k++) {
    bytes[k] = malloc(job.out.bytes);
    status[k] = run(&job, k == 0 ? simple[job.operation] : NULL, 1 + 2 * k, bytes[k]);
  }
  if (status[0] != status[1] && status[0] != RUNG_UNSUPPORTED)
    fuzz_wrong("status %d by the simple rung, %d by the best", (int)status[0], (int)status[1]);
  if (status[0] == RUNG_OK) {
    if (memcmp(bytes[0], bytes[1], job.out.bytes) != 0) fuzz_wrong("other bytes by other rungs");
    if (!spoiled) check_sum(&job);
  }
  for (int k = 0; k < RUNS; k++) free(bytes[k]);
  free(job.in.memory);
  free(job.out.memory);
  return 0;
}
