/* What `rung pairs FILE` found, as a table, CSV, .npy or JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/pairs.h"
#include "lab/line.h"

static const char verb[] = "pairs";

enum { COLUMNS = 7 };

/* The columns of a table: those of --rdf begin with the bins' middles. */
typedef struct table {
  const char *names[COLUMNS];
  int count;
} table;

static table table_of(const pairs_result *result) {
  table t = {0};
  if (result->g) t.names[t.count++] = "r";
  t.names[t.count++] = "lower";
  t.names[t.count++] = "upper";
  t.names[t.count++] = "count";
  if (result->g) t.names[t.count++] = "g";
  if (result->g) t.names[t.count++] = "neighbours";
  if (result->sums) t.names[t.count++] = "sum";
  return t;
}

static double value_of(const pairs_result *result, const char *name, int64_t k) {
  const double lower = result->edges[k], upper = result->edges[k + 1];
  switch (name[0]) {
    case 'r':
      return lower + (upper - lower) / 2;
    case 'l':
      return lower;
    case 'u':
      return upper;
    case 'g':
      return result->g[k];
    case 'n':
      return result->neighbours[k];
    default:
      return result->sums[k];
  }
}

static bool ends(const char *path, const char *end) {
  const size_t length = strlen(path), tail = strlen(end);
  return length >= tail && strcasecmp(path + length - tail, end) == 0;
}

/* "-": .npy on standard output, as in every other verb. */
static bool to_array(const cli_common *common) {
  const char *path = common->output;
  return path && !common->json && (ends(path, ".npy") || strcmp(path, "-") == 0);
}

rung_status pairs_possible(const cli_common *common, rung_error *error) {
  const char *path = common->output;
  if (!path || ranks_number() > 0) return RUNG_OK;
  if (!common->json && !to_array(common) && !ends(path, ".csv"))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "-o '%.80s'; expected: a name that ends in .csv or .npy, or --json", path);
  return file_replace_possible(path, error);
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* Counts alone are integers; whatever stands beside them is a table of doubles. */
static rung_status write_array(const cli_common *common, const pairs_result *result,
                               rung_error *error) {
  const table t = table_of(result);
  int64_t shape[2] = {result->bins.count, t.count};
  DLTensor tensor = {.data = result->counts,
                     .device = {kDLCPU, 0},
                     .ndim = 1,
                     .dtype = {kDLInt, 64, 1},
                     .shape = shape};
  if (t.count == 3) return array_write(common->output, &tensor, error);
  double *values = malloc((size_t)shape[0] * (size_t)t.count * sizeof *values);
  if (!values)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a table of %" PRId64 " bins",
                     shape[0]);
  for (int64_t k = 0; k < shape[0]; k++)
    for (int c = 0; c < t.count; c++)
      values[k * t.count + c] =
          t.names[c][0] == 'c' ? (double)result->counts[k] : value_of(result, t.names[c], k);
  tensor.data = values;
  tensor.ndim = 2;
  tensor.dtype = (DLDataType){kDLFloat, 64, 1};
  rung_status status = array_write(common->output, &tensor, error);
  free(values);
  return status;
}

static void write_csv(FILE *to, const pairs_result *result) {
  char text[RUNG_REAL_TEXT];
  const table t = table_of(result);
  for (int c = 0; c < t.count; c++) fprintf(to, "%s%s", c ? "," : "", t.names[c]);
  fputc('\n', to);
  for (int64_t k = 0; k < result->bins.count; k++)
    for (int c = 0; c < t.count; c++) {
      if (t.names[c][0] == 'c')
        fprintf(to, "%" PRId64, result->counts[k]);
      else
        fputs(rung_real_text(value_of(result, t.names[c], k), text), to);
      fputc(c + 1 < t.count ? ',' : '\n', to);
    }
}

/* ---- text -------------------------------------------------------------------------------------
 */

static void print_table(FILE *to, const pairs_result *result) {
  static const char *const outer[] = {"below", "above", "no distance"};
  const table t = table_of(result);
  for (int c = 0; c < t.count; c++) fprintf(to, "%s%14s", c ? " " : "", t.names[c]);
  fputc('\n', to);
  for (int64_t k = 0; k < result->bins.count; k++) {
    for (int c = 0; c < t.count; c++) {
      if (c) fputc(' ', to);
      if (t.names[c][0] == 'c')
        fprintf(to, "%14" PRId64, result->counts[k]);
      else
        fprintf(to, t.names[c][0] == 'g' ? "%14.6f" : "%14.8g", value_of(result, t.names[c], k));
    }
    fputc('\n', to);
  }
  for (int i = 0; i < 3; i++)
    if (i < 2 || result->outside[i] > 0)
      fprintf(to, "%-14s %14" PRId64 "\n", outer[i], result->outside[i]);
}

/* What a table has no place for. */
static void note(const cli_common *common, const pairs_request *r, const pairs_result *result) {
  const int64_t *out = result->outside;
  char others[64] = "";
  if (result->cross)
    snprintf(others, sizeof others, " with %.10g", result->others / (double)result->frames);
  cli_note(common, verb, "%" PRId64 " frame%s of %.10g points%s", result->frames,
           result->frames == 1 ? "" : "s", result->points / (double)result->frames, others);
  if (result->checked > 0)
    cli_note(common, verb,
             "checked against brute force: equal (%" PRId64 " frame%s, %" PRId64 " points at most)",
             result->checked, result->checked == 1 ? "" : "s", r->sample);
  if (common->output && out[0] + out[1] + out[2] > 0)
    cli_note(common, verb,
             "outside: %" PRId64 " pairs below, %" PRId64 " above, %" PRId64 " without a distance",
             out[0], out[1], out[2]);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

/* null: not wanted. */
static json_t *reals(const double *from, int64_t count) {
  return from ? cli_reals(from, count) : json_null();
}

static json_t *result_json(const pairs_request *r, const pairs_result *result) {
  const int64_t bins = result->bins.count;
  return lab_object(
      "{s:s, s:o, s:I, s:f, s:o, s:s, s:s, s:I, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "verb",
      verb, "file", lab_text(r->path), "frames", (json_int_t)result->frames, "points",
      result->points, "others", result->cross ? json_real(result->others) : json_null(), "rung",
      result->rung, "device", result->device, "checked_frames", (json_int_t)result->checked,
      "edges", reals(result->edges, bins + 1), "counts", cli_integers(result->counts, bins),
      "below", (json_int_t)result->outside[0], "above", (json_int_t)result->outside[1],
      "no_distance", (json_int_t)result->outside[2], "sums", reals(result->sums, bins), "g",
      reals(result->g, bins), "neighbours", reals(result->neighbours, bins));
}

rung_status pairs_write(const cli_common *common, const pairs_result *result, rung_error *error) {
  if (to_array(common)) return write_array(common, result, error);
  file_replace file;
  rung_status status = cli_results_begin(&file, common, error);
  if (status) return status;
  write_csv(file.stream, result);
  return file_replace_commit(&file, error);
}

rung_status pairs_say(const cli_common *common, const pairs_request *r, const pairs_result *result,
                      rung_error *error) {
  if (ranks_number() > 0) return RUNG_OK;
  note(common, r, result);
  if (common->output && !common->json) return pairs_write(common, result, error);
  file_replace file;
  rung_status status = cli_results_begin(&file, common, error);
  if (status) return status;
  if (common->json)
    status = cli_results_json(&file, result_json(r, result), error);
  else
    print_table(file.stream, result);
  if (!status) return file_replace_commit(&file, error);
  file_replace_abandon(&file);
  return status;
}
