/* rung histogram: how many elements of an array in a file fall into each bin. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/grid.h"
#include "files/npy.h"

static const char verb[] = "histogram";

typedef struct request {
  int kinds; /* of --modulo, --bins, --edges and --bytes, how many were given */
  rung_bins bins;
  bool has_range, by_row;
  const char *edges_path;
  npy_array edges;
} request;

/* The counts, and what it took. The tensors point into this struct. */
typedef struct result {
  DLTensor counts, outside;
  int64_t shape[2], outside_shape[2], rows, bins;
  int64_t *memory;  /* owned: the counts, then what is outside */
  rung_dtype edges; /* what even ones are rounded to */
  const char *rung;
  char device[96];
} result;

#define TAKEN                                                                              \
  (RUNG_SINGLE_DOUBLE | RUNG_HALVES | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I8) |            \
   RUNG_TYPE(RUNG_U16) | RUNG_TYPE(RUNG_I16) | RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | \
   RUNG_TYPE(RUNG_I64))

enum { MODULO, BINS, RANGE, EDGES, BYTES, ROWS };
static const cli_option options[] = {
    {"modulo", 0, "K", "K bins: the remainders of integers"},
    {"bins", 0, "K", "K even bins of a --range, the last one closed"},
    {"range", 0, "LO HI", "where even bins begin and end"},
    {"edges", 0, "E.npy", "bins between rising edges, the last one closed"},
    {"bytes", 0, NULL, "256 bins, one a value of u8"},
    {"rows", 0, NULL, "a histogram of every row of a matrix"},
    {0}};

/* "LO HI" or "LO:HI" */
static rung_status take_range(request *r, const char *value, rung_error *error) {
  char text[128];
  const size_t first = strcspn(value, " :"), gap = strspn(value + first, " :");
  if (strlen(value) >= sizeof text || value[first] == '\0')
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--range '%.60s' is not two numbers: \"0 1\" would do", value);
  memcpy(text, value, first);
  text[first] = '\0';
  rung_status status = cli_double("--range", text, &r->bins.low, error);
  if (!status) status = cli_double("--range", value + first + gap, &r->bins.high, error);
  r->has_range = true;
  return status;
}

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  r->kinds += index == MODULO || index == BINS || index == EDGES || index == BYTES;
  switch (index) {
    case MODULO:
      r->bins.kind = RUNG_BINS_MODULO;
      return cli_int("--modulo", value, 1, RUNG_MAX_BINS, &r->bins.count, error);
    case BINS:
      r->bins.kind = RUNG_BINS_EVEN;
      return cli_int("--bins", value, 1, RUNG_MAX_BINS, &r->bins.count, error);
    case RANGE:
      return take_range(r, value, error);
    case EDGES:
      r->bins.kind = RUNG_BINS_EDGES;
      r->edges_path = value;
      return RUNG_OK;
    case BYTES:
      r->bins.kind = RUNG_BINS_BYTES;
      r->bins.count = 256;
      return RUNG_OK;
    default:
      r->by_row = true;
      return RUNG_OK;
  }
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "IN.npy --modulo K | --bins K --range LO HI | --edges E.npy | --bytes [OPTION]...",
    .about =
        "Counts how many elements fall into each bin: of the whole array, or of every row. What\n"
        "is below the first edge, above the last, or NaN is counted apart. Without -o the counts\n"
        "are printed, one bin a line. IN.npy '-' is standard input.",
    .example = "rung histogram heights.npy --bins 20 --range 0 100",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_JSON |
              CLI_OUTPUT,
    .types = TAKEN,
    .output_help = "the counts, as .npy of i64 (with --json as JSON); default: printed",
    .options = options,
    .take = take,
    .least = 1,
    .most = 1};

/* ---- what goes in -----------------------------------------------------------------------------
 */

/* What can be refused before anything is read. */
static rung_status check(const cli_common *common, const request *r, rung_error *error) {
  if (r->kinds != 1)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s of --modulo, --bins, --edges and --bytes: one of them would do",
                     r->kinds == 0 ? "none" : "more than one");
  if (r->bins.kind == RUNG_BINS_EVEN && !r->has_range)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--bins is given and --range is not: --range LO HI "
                     "would do");
  if (r->bins.kind != RUNG_BINS_EVEN && r->has_range)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--range is given without --bins: --bins K would do");
  return common->output ? file_replace_possible(common->output, error) : RUNG_OK;
}

static rung_status take_input(const cli_common *common, const char *path, npy_array *array,
                              rung_error *error) {
  return grid_read(common, path, TAKEN, array, error);
}

static rung_status take_edges(request *r, rung_error *error) {
  if (r->edges_path == NULL) return RUNG_OK;
  rung_status status = grid_read_numbers(r->edges_path, "edges", 2, &r->edges, error);
  if (status) return status;
  r->bins.edges = r->edges.tensor.data;
  r->bins.count = r->edges.shape[0] - 1;
  return RUNG_OK;
}

/* ---- the work ---------------------------------------------------------------------------------
 */

static rung_status make_result(const request *r, const npy_array *in, result *out,
                               rung_error *error) {
  const DLDataType type = {kDLInt, 64, 1};
  const DLDevice host = {kDLCPU, 0};
  int64_t count = 0, bytes = 0;
  if (r->by_row && in->tensor.ndim != 2)
    return rung_fail(error, RUNG_BAD_SHAPE, "--rows of an array of %d dimensions: 2 would do",
                     in->tensor.ndim);
  out->rows = r->by_row ? in->shape[0] : 1;
  out->bins = r->bins.count;
  out->edges = rung_dtype_is_float(in->dtype) ? in->dtype : RUNG_F64;
  if (rung_multiply(out->rows, out->bins + 3, &count) &&
      rung_multiply(count + 1, sizeof(int64_t), &bytes))
    out->memory = malloc((size_t)bytes);
  if (!out->memory)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %lld histograms of %lld bins",
                     (long long)out->rows, (long long)out->bins);
  out->shape[0] = out->outside_shape[0] = out->rows;
  out->shape[1] = out->bins;
  out->outside_shape[1] = 3;
  out->counts = (DLTensor){.data = out->memory,
                           .device = host,
                           .ndim = 1 + r->by_row,
                           .dtype = type,
                           .shape = out->shape + !r->by_row};
  out->outside = out->counts;
  out->outside.data = out->memory + out->rows * out->bins;
  out->outside.shape = out->outside_shape + !r->by_row;
  return RUNG_OK;
}

static rung_status run(const cli_common *common, const request *r, const npy_array *in, result *out,
                       rung_error *error) {
  rung_context *context = NULL;
  rung_status status = make_result(r, in, out, error);
  if (!status) status = cli_open(common, common->device, &context, error);
  if (!status) {
    rung_call call = {.rung = common->rung, .block = common->block, .math = common->math};
    status = cli_carry(
        context, rung_histogram(context, &r->bins, &in->tensor, &out->counts, &out->outside, &call),
        error);
    if (!status) {
      cli_note(common, verb, "rung %s on %s", call.used, context->device.name);
      out->rung = call.used;
      snprintf(out->device, sizeof out->device, "%s", context->device.name);
    }
  }
  rung_close(context);
  return status;
}

/* ---- saying it --------------------------------------------------------------------------------
 */

static bool has_edges(const request *r) {
  return r->bins.kind == RUNG_BINS_EVEN || r->bins.kind == RUNG_BINS_EDGES;
}

/* As rung.h states them. */
static double edge_of(const request *r, const result *out, int64_t k) {
  const rung_bins *bins = &r->bins;
  if (bins->kind == RUNG_BINS_EDGES) return bins->edges[k];
  const double distance = bins->high - bins->low, count = (double)bins->count;
  const double step = distance / count;
  const double at = step != 0 ? (double)k * step : (double)k / count * distance;
  return rung_number_rounded(out->edges, k == bins->count ? bins->high : at + bins->low);
}

static const int64_t *outside_of(const result *out, int64_t row) {
  return out->memory + out->rows * out->bins + 3 * row;
}

static void print_row(FILE *to, const request *r, const result *out, int64_t row) {
  static const char *const outer[] = {"below", "above", "NaN"};
  const size_t bytes = rung_dtype_bytes(out->edges);
  const int digits = bytes == 8 ? 10 : bytes == 4 ? 7 : 4;
  char bin[80];
  if (r->by_row) fprintf(to, "row %" PRId64 "\n", row);
  for (int64_t k = 0; k < out->bins; k++) {
    if (has_edges(r))
      snprintf(bin, sizeof bin, "[%.*g, %.*g%c", digits, edge_of(r, out, k), digits,
               edge_of(r, out, k + 1), k + 1 < out->bins ? ')' : ']');
    else
      snprintf(bin, sizeof bin, "%" PRId64, k);
    fprintf(to, "%-28s %14" PRId64 "\n", bin, out->memory[row * out->bins + k]);
  }
  for (int o = 0; o < 3 && has_edges(r); o++)
    fprintf(to, "%-28s %14" PRId64 "\n", outer[o], outside_of(out, row)[o]);
}

static json_t *integers(const int64_t *from, int64_t count) {
  json_t *list = json_array();
  for (int64_t i = 0; i < count; i++) json_array_append_new(list, json_integer(from[i]));
  return list;
}

static json_t *result_json(const request *r, const result *out) {
  static const char *const kinds[] = {"modulo", "even", "edges", "bytes"};
  json_t *rows = json_array(), *edges = has_edges(r) ? json_array() : json_null();
  for (int64_t k = 0; k <= out->bins && has_edges(r); k++)
    json_array_append_new(edges, cli_real(edge_of(r, out, k)));
  for (int64_t i = 0; i < out->rows; i++) {
    const int64_t *outside = outside_of(out, i);
    json_array_append_new(rows, json_pack("{s:o, s:I, s:I, s:I}", "counts",
                                          integers(out->memory + i * out->bins, out->bins), "below",
                                          (json_int_t)outside[0], "above", (json_int_t)outside[1],
                                          "nan", (json_int_t)outside[2]));
  }
  return json_pack("{s:s, s:s, s:I, s:s, s:s, s:o, s:o}", "verb", verb, "kind", kinds[r->bins.kind],
                   "bins", (json_int_t)out->bins, "rung", out->rung, "device", out->device, "edges",
                   edges, "rows", rows);
}

/* What a file of counts has no place for. */
static void note_outside(const cli_common *common, const result *out) {
  int64_t all[3] = {0};
  for (int64_t i = 0; i < 3 * out->rows; i++) all[i % 3] += outside_of(out, 0)[i];
  if (all[0] + all[1] + all[2] > 0)
    cli_note(common, verb, "outside: %" PRId64 " below, %" PRId64 " above, %" PRId64 " NaN", all[0],
             all[1], all[2]);
}

static rung_status say(const cli_common *common, const request *r, const result *out,
                       rung_error *error) {
  if (common->output && !common->json) {
    note_outside(common, out);
    return npy_write(common->output, &out->counts, error);
  }
  file_replace file;
  rung_status status = cli_results_begin(&file, common, error);
  if (status) return status;
  if (common->json)
    status = cli_results_json(&file, result_json(r, out), error);
  else
    for (int64_t i = 0; i < out->rows; i++) print_row(file.stream, r, out, i);
  if (!status) return file_replace_commit(&file, error);
  file_replace_abandon(&file);
  return status;
}

int verb_histogram(int argc, char **argv) {
  request r = {0};
  cli_common common;
  int first, code;
  cli_joined range = {.option = "--range", .words = 2};
  rung_error error = {0};
  char **words = malloc(((size_t)argc + 1) * sizeof *words);
  if (!words) {
    rung_fail(&error, RUNG_OUT_OF_MEMORY, "host memory ran out");
    return cli_end(verb, &error);
  }
  const int count = cli_join(argc, argv, &range, words);
  if (!cli_parse(&usage, count, words, &common, &r, &first, &code)) {
    free(words);
    return code;
  }
  npy_array in = {0};
  result out = {0};
  rung_status status = check(&common, &r, &error);
  if (!status) status = take_edges(&r, &error);
  if (!status) status = take_input(&common, words[first], &in, &error);
  if (!status) status = run(&common, &r, &in, &out, &error);
  if (!status) say(&common, &r, &out, &error);
  free(out.memory);
  npy_free(&in);
  npy_free(&r.edges);
  free(words);
  return cli_end(verb, &error);
}
