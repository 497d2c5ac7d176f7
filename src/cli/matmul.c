/* rung matmul: the product of two matrices, or of two batches of them, from files to a file. */
#include <inttypes.h>
#include <string.h>

#include "cli/array.h"

static const char verb[] = "matmul";

typedef struct request {
  double alpha, beta;
  bool has_beta, turn_a, turn_b, tell_loss;
  int64_t bits;
  const char *added_path;
  array_job a, b, added; /* `a` carries the call */
  grid out;
  DLTensor *to;
} request;

/* Not bf16: a file has no type for it. */
#define TAKEN (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_F16) | RUNG_TYPE(RUNG_I8))

enum { ALPHA, BETA, ADDED, TRANSPOSE_A, TRANSPOSE_B, BITS, LOSS };
static const cli_option options[] = {
    {"alpha", 0, "X", "the product's factor; default 1"},
    {"beta", 0, "Y", "the factor of what --c adds; default 1"},
    {"c", 0, "C.npy", "add this, of the result's shape, to the product"},
    {"transpose-a", 0, NULL, "the first matrix is the transpose of what its file holds"},
    {"transpose-b", 0, NULL, "the second one is"},
    {"bits", 0, "B", "of --math fixed: digits of an element, 8 ... 31; default 31"},
    {"loss", 0, NULL, "of --math fixed: say how much of A and B is lost when they are rounded"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  switch (index) {
    case ALPHA:
      return cli_double("--alpha", value, &r->alpha, error);
    case BETA:
      r->has_beta = true;
      return cli_double("--beta", value, &r->beta, error);
    case ADDED:
      r->added_path = value;
      return RUNG_OK;
    case TRANSPOSE_A:
      r->turn_a = true;
      return RUNG_OK;
    case BITS:
      return cli_int("--bits", value, 8, 31, &r->bits, error);
    case LOSS:
      r->tell_loss = true;
      return RUNG_OK;
    default:
      r->turn_b = true;
      return RUNG_OK;
  }
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "A.npy B.npy [OPTION]... -o C.npy",
    .about =
        "Multiplies the matrices A (m, k) and B (k, n); of more dimensions each of a batch.\n"
        "The result has the type of A and B; that of i8 is i32. '-' is standard input. Started\n"
        "by mpirun, every rank reads its rows of two matrices and writes those of the result.",
    .example = "rung matmul weights.npy samples.npy --transpose-b -o scores.npy",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_OUTPUT |
              CLI_DEVICE_LIST,
    .types = TAKEN,
    .fixed = true,
    .output_help = "the result, as .npy; default: standard output, if that is no terminal",
    .options = options,
    .take = take,
    .least = 2,
    .most = 2};

/* Reads a matrix; transposed, its last two dimensions change places. */
static rung_status read_matrix(array_job *job, const char *path, bool turned, rung_error *error) {
  file_array *in = &job->in;
  const rung_status status = array_take(job, path, TAKEN, error);
  if (status) return status;
  const int last = in->tensor.ndim - 1;
  if (last < 1)
    return rung_fail(error, RUNG_BAD_SHAPE, "%s: has %d dimensions; expected: 2 or more", path,
                     last + 1);
  for (int d = 0; d < 2 && turned; d++) {
    int64_t *of = d == 0 ? in->shape : in->strides, swap = of[last];
    of[last] = of[last - 1];
    of[last - 1] = swap;
  }
  return RUNG_OK;
}

static int64_t extent(const file_array *array, int from_last) {
  const int d = array->tensor.ndim - 1 - from_last;
  return d < 0 ? 1 : array->shape[d];
}

/* The result's memory: new, or that of what is added. */
static rung_status make_result(request *r, rung_error *error) {
  const file_array *a = &r->a.in, *b = &r->b.in;
  file_array *added = &r->added.in;
  const int ndim = a->tensor.ndim > b->tensor.ndim ? a->tensor.ndim : b->tensor.ndim;
  const rung_dtype dtype = a->dtype == RUNG_I8 ? RUNG_I32 : a->dtype;
  int64_t shape[RUNG_MAX_DIMS];
  for (int d = 0; d < ndim; d++) {
    const int back = ndim - 1 - d;
    shape[d] = extent(back == 0 || extent(a, back) == 1 ? b : a, back);
  }
  shape[ndim - 2] = extent(a, 1);
  r->to = &r->out.tensor;
  if (!r->added_path) return grid_make(&r->out, dtype, ndim, shape, error);
  rung_status status = ranks_all() ? array_take_share(&r->added, r->added_path, error)
                                   : array_read(r->added_path, added, error);
  if (!status && (added->tensor.ndim != ndim ||
                  memcmp(added->shape, shape, (size_t)ndim * sizeof *shape) != 0))
    status = rung_fail(error, RUNG_BAD_SHAPE,
                       "--c %.80s has not the result's shape; expected: %lld rows, %lld columns in "
                       "%d dimensions",
                       r->added_path, (long long)shape[ndim - 2], (long long)shape[ndim - 1], ndim);
  r->to = &added->tensor;
  return status ? status : grid_convert(added, dtype, error);
}

static rung_status tell_loss(rung_context *context, const request *r, bool right) {
  const array_job *job = right ? &r->b : &r->a;
  rung_loss loss;
  const rung_status status = rung_matmul_loss(context, &job->in.tensor, right, (int)r->bits, &loss);
  if (status) return status;
  cli_note(job->common, verb,
           "of %s %" PRId64 " of %" PRId64 " elements that are not 0 become 0, %" PRId64
           " change, those that do not become 0 by at most %.2g of themselves; %" PRId64
           " %s have no scale",
           right ? "B" : "A", loss.zeroed, loss.elements, loss.rounded, loss.worst, loss.unscaled,
           right ? "columns" : "rows");
  return RUNG_OK;
}

static rung_status call(rung_context *context, const rung_ranks *ranks, void *of, rung_call *how) {
  request *r = of;
  array_part a, b, c;
  const bool tells = r->tell_loss && (!ranks || ranks->rank == 0);
  for (int right = 0; right < 2 && tells; right++) {
    const rung_status status = tell_loss(context, r, right);
    if (status) return status;
  }
  how->bits = (int)r->bits;
  DLTensor *left = &r->a.in.tensor, *right = &r->b.in.tensor;
  if (!ranks) return rung_matmul(context, r->alpha, left, right, r->beta, r->to, how);
  return rung_matmul_ranks(context, ranks, r->alpha, array_part_of(&a, left, SHARE_ROWS, ranks),
                           array_part_of(&b, right, SHARE_ROWS, ranks), r->beta,
                           array_part_of(&c, r->to, SHARE_ROWS, ranks), how);
}

/* What can be refused before anything is read. */
static rung_status check(const cli_common *common, const request *r, rung_error *error) {
  if (r->has_beta && !r->added_path)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "--beta is given without --c; expected: --c C.npy");
  if ((r->turn_a || r->turn_b) && ranks_all())
    return rung_fail(
        error, RUNG_UNSUPPORTED,
        "%s is not taken over ranks, which have rows of what the files hold; expected: "
        "a file that holds the transpose",
        r->turn_a ? "--transpose-a" : "--transpose-b");
  if (r->bits != 0 && common->math != RUNG_MATH_FIXED)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--bits is given without --math fixed; expected: both");
  if (r->tell_loss && common->math != RUNG_MATH_FIXED)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--loss is given without --math fixed; expected: both");
  if (r->tell_loss && ranks_all())
    return rung_fail(
        error, RUNG_UNSUPPORTED,
        "--loss is not taken over ranks, which have a part each; expected: one process");
  return array_place_share(common, error);
}

/* Over ranks: this one's rows of the result, in whichever memory they are. */
static rung_status say_share(request *r, rung_error *error) {
  const int64_t shape[] = {r->a.file.about.shape[0], r->to->shape[1]};
  const grid added = {
      .dtype = r->added.in.dtype, .count = r->to->shape[0] * shape[1], .memory = r->to->data};
  return array_say_share(&r->a, 2, shape, array_first_row(&r->a) * shape[1],
                         r->added_path ? &added : &r->out, error);
}

int verb_matmul(int argc, char **argv) {
  cli_common common;
  const array_job job = {.verb = verb, .common = &common, .cut = SHARE_ROWS};
  request r = {.alpha = 1, .a = job, .b = job, .added = job};
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  rung_status status = check(&common, &r, &error);
  if (!r.has_beta && r.added_path) r.beta = 1;
  if (!status) status = read_matrix(&r.a, argv[first], r.turn_a, &error);
  if (!status) status = read_matrix(&r.b, argv[first + 1], r.turn_b, &error);
  if (!status) status = make_result(&r, &error);
  if (!status) status = array_fits(&common, r.to, &error);
  if (!status) status = array_run(&r.a, call, &r, &error);
  if (!status && ranks_all())
    say_share(&r, &error);
  else if (!status)
    array_say(&r.a, r.to, NULL, NULL, NULL, &error);
  grid_free(&r.out);
  array_free(&r.added.in);
  array_free(&r.b.in);
  array_free(&r.a.in);
  return cli_end(verb, &error);
}
