/* rung histogram: how many elements of an array in a file fall into each bin. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/array.h"

static const char verb[] = "histogram";

typedef struct request {
  int kinds; /* of --modulo, --bins, --edges and --bytes, how many were given */
  rung_bins bins;
  bool has_range, by_row;
  const char *edges_path;
  file_array edges;
  array_job job;
  grid counts, outside;
  int64_t rows;
} request;

enum { OUTER = 3 }; /* counts of what is in no bin: below, above, NaN */

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
                     "--range '%.60s' is not two numbers; expected: \"0 1\"", value);
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
        "are printed, one bin a line. IN.npy '-' is standard input. Started by mpirun, every rank\n"
        "reads its share of the file.",
    .example = "rung histogram heights.npy --bins 20 --range 0 100",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_JSON |
              CLI_OUTPUT | CLI_DEVICE_LIST,
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
                     "%s of --modulo, --bins, --edges and --bytes; expected: one of them",
                     r->kinds == 0 ? "none" : "more than one");
  if (r->bins.kind == RUNG_BINS_EVEN && !r->has_range)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--bins is given and --range is not; expected: --range LO HI");
  if (r->bins.kind != RUNG_BINS_EVEN && r->has_range)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--range is given without --bins; expected: --bins K");
  if (r->by_row && team_shares(common))
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "--rows is not taken over ranks; expected: one histogram of the whole array");
  return array_place(common, true, error);
}

static rung_status take_edges(request *r, rung_error *error) {
  if (r->edges_path == NULL) return RUNG_OK;
  rung_status status = array_take_numbers(r->edges_path, "edges", 2, &r->edges, error);
  if (status) return status;
  r->bins.edges = r->edges.tensor.data;
  r->bins.count = r->edges.shape[0] - 1;
  return RUNG_OK;
}

/* ---- the work ---------------------------------------------------------------------------------
 */

static rung_status make_result(request *r, rung_error *error) {
  const file_array *in = &r->job.in;
  if (r->by_row && in->tensor.ndim != 2)
    return rung_fail(error, RUNG_BAD_SHAPE, "--rows of an array of %d dimensions; expected: 2",
                     in->tensor.ndim);
  r->rows = r->by_row ? in->shape[0] : 1;
  r->job.spare_bytes = (size_t)r->bins.count * sizeof(int64_t);
  const int ndim = 1 + r->by_row;
  const int64_t shape[2] = {r->rows, r->bins.count}, outside[2] = {r->rows, OUTER};
  rung_status status = grid_make(&r->counts, RUNG_I64, ndim, shape + !r->by_row, error);
  return status ? status : grid_make(&r->outside, RUNG_I64, ndim, outside + !r->by_row, error);
}

static rung_status call(rung_context *context, const rung_ranks *ranks, void *of, rung_call *how) {
  request *r = of;
  array_part part;
  DLTensor *in = &r->job.in.tensor, counts = r->counts.tensor, *outside = &r->outside.tensor;
  if (!ranks) return rung_histogram(context, &r->bins, in, &counts, outside, how);
  counts.data = array_spare(&r->job, ranks, counts.data);
  return rung_histogram_ranks(context, ranks, &r->bins,
                              array_part_of(&part, in, SHARE_ELEMENTS, ranks), &counts,
                              counts.data == r->counts.memory ? outside : NULL, how);
}

/* ---- saying it --------------------------------------------------------------------------------
 */

static bool has_edges(const request *r) {
  return r->bins.kind == RUNG_BINS_EVEN || r->bins.kind == RUNG_BINS_EDGES;
}

/* What even edges are rounded to. */
static rung_dtype type_of_edges(const request *r) {
  return rung_dtype_is_float(r->job.in.dtype) ? r->job.in.dtype : RUNG_F64;
}

/* As rung.h states them. */
static double edge_of(const request *r, int64_t k) {
  const rung_bins *bins = &r->bins;
  if (bins->kind == RUNG_BINS_EDGES) return bins->edges[k];
  const double distance = bins->high - bins->low, count = (double)bins->count;
  const double step = distance / count;
  const double at = step != 0 ? (double)k * step : (double)k / count * distance;
  return rung_number_rounded(type_of_edges(r), k == bins->count ? bins->high : at + bins->low);
}

static const int64_t *counts_of(const request *r, int64_t row) {
  return (const int64_t *)r->counts.memory + row * r->bins.count;
}

static const int64_t *outside_of(const request *r, int64_t row) {
  return (const int64_t *)r->outside.memory + row * OUTER;
}

static void print_row(FILE *to, const request *r, int64_t row) {
  static const char *const outer[OUTER] = {"below", "above", "NaN"};
  const size_t bytes = rung_dtype_bytes(type_of_edges(r));
  const int digits = bytes == 8 ? 10 : bytes == 4 ? 7 : 4;
  const int64_t bins = r->bins.count;
  char bin[80];
  if (r->by_row) fprintf(to, "row %" PRId64 "\n", row);
  for (int64_t k = 0; k < bins; k++) {
    if (has_edges(r))
      snprintf(bin, sizeof bin, "[%.*g, %.*g%c", digits, edge_of(r, k), digits, edge_of(r, k + 1),
               k + 1 < bins ? ')' : ']');
    else
      snprintf(bin, sizeof bin, "%" PRId64, k);
    fprintf(to, "%-28s %14" PRId64 "\n", bin, counts_of(r, row)[k]);
  }
  for (int o = 0; o < OUTER && has_edges(r); o++)
    fprintf(to, "%-28s %14" PRId64 "\n", outer[o], outside_of(r, row)[o]);
}

static void print(FILE *to, const void *of) {
  const request *r = of;
  for (int64_t i = 0; i < r->rows; i++) print_row(to, r, i);
}

static json_t *json(const void *of) {
  static const char *const kinds[] = {"modulo", "even", "edges", "bytes"};
  const request *r = of;
  json_t *rows = json_array(), *edges = has_edges(r) ? json_array() : json_null();
  for (int64_t k = 0; edges && k <= r->bins.count && has_edges(r); k++)
    cli_append(&edges, cli_real(edge_of(r, k)));
  for (int64_t i = 0; rows && i < r->rows; i++) {
    const int64_t *outside = outside_of(r, i);
    cli_append(&rows, lab_object("{s:o, s:I, s:I, s:I}", "counts",
                                 cli_integers(counts_of(r, i), r->bins.count), "below",
                                 (json_int_t)outside[0], "above", (json_int_t)outside[1], "nan",
                                 (json_int_t)outside[2]));
  }
  return lab_object("{s:s, s:s, s:I, s:s, s:s, s:o, s:o}", "verb", verb, "kind",
                    kinds[r->bins.kind], "bins", (json_int_t)r->bins.count, "rung", r->job.rung,
                    "device", r->job.device, "edges", edges, "rows", rows);
}

/* What a file of counts has no place for. */
static void note_outside(const request *r) {
  int64_t all[OUTER] = {0};
  for (int64_t i = 0; i < OUTER * r->rows; i++) all[i % OUTER] += outside_of(r, 0)[i];
  if (all[0] + all[1] + all[2] > 0)
    cli_note(r->job.common, verb, "outside: %" PRId64 " below, %" PRId64 " above, %" PRId64 " NaN",
             all[0], all[1], all[2]);
}

static rung_status count(request *r, const char *path, rung_error *error) {
  const cli_common *common = r->job.common;
  rung_status status = check(common, r, error);
  if (!status) status = take_edges(r, error);
  if (!status) status = array_take(&r->job, path, TAKEN, error);
  if (!status) status = make_result(r, error);
  if (!status) status = array_fits(common, &r->counts.tensor, error);
  if (!status) status = array_run(&r->job, call, r, error);
  if (status) return status;
  if (common->output && !common->json) note_outside(r);
  return array_say(&r->job, &r->counts.tensor, print, json, r, error);
}

int verb_histogram(int argc, char **argv) {
  cli_common common;
  request r = {.bins.size = sizeof r.bins, .job = {.verb = verb, .common = &common, .streams = 1}};
  int first, code;
  cli_joined range = {.option = "--range", .words = 2};
  rung_error error = {0};
  char **words = malloc(((size_t)argc + 1) * sizeof *words);
  if (!words) {
    rung_fail(&error, RUNG_OUT_OF_MEMORY, "host memory ran out");
    return cli_end(verb, &error);
  }
  const int given = cli_join(argc, argv, &range, words);
  if (cli_parse(&usage, given, words, &common, &r, &first, &code)) {
    count(&r, words[first], &error);
    code = cli_end(verb, &error);
  }
  grid_free(&r.counts);
  grid_free(&r.outside);
  array_drop_stored(&r.job);
  array_free(&r.job.in);
  array_free(&r.edges);
  free(words);
  return code;
}
