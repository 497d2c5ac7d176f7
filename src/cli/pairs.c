/* rung pairs: histograms of pair distances, and g(r). */
#include "cli/pairs.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char verb[] = "pairs";

enum {
  WIDTH,
  BINS,
  EDGES,
  LOG,
  MAX,
  FORMAT,
  BOX,
  OPEN,
  FRAMES,
  SELECT,
  WITH,
  EXCLUDE,
  WEIGHTS,
  RDF,
  VOLUME,
  CHECK,
  SAMPLE,
  ALL
};
static const cli_option options[] = {
    {"width", 0, "W", "even bins of this width, from 0 to --max"},
    {"bins", 0, "K", "K even bins, from 0 to --max"},
    {"edges", 0, "E.npy", "bins between rising edges, the last one open"},
    {"log", 0, "LO HI K", "K bins from LO to HI, each wider by the same factor"},
    {"max", 0, "R", "where bins end; default: as far as the box allows, or all pairs"},
    {"format", 0, "NAME", "xyz, gro, pdb, lammps, csv or npy; default: by the file's name"},
    {"box", 0, "BOX", "\"Lx Ly Lz [yx zx zy]\": this box, not the file's"},
    {"open", 0, NULL, "no box: open space, whatever the file says"},
    {"frames", 0, "RANGE", "FIRST:LAST:STEP, counted from 1; default: all"},
    {"select", 0, "LIST", "only points of these names or elements, comma-separated"},
    {"with", 0, "LIST", "each of them with those of this list, not among each other"},
    {"exclude-molecules", 0, NULL, "leave out pairs within a molecule"},
    {"weights", 0, "NAME", "sum the products of weights too: a column, or W.npy"},
    {"rdf", 0, NULL, "the radial distribution function and coordination numbers too"},
    {"volume", 0, "V", "for --rdf in open space: the volume that the points fill"},
    {"check", 0, NULL, "compare with brute force, on a sample where there are many points"},
    {"sample", 0, "N", "points drawn for --check; default 5000"},
    {"all", 0, NULL, "of N random points: every device's counts, not the CPU's alone"},
    {0}};

/* ---- options ----------------------------------------------------------------------------------
 */

static rung_status take_log(pairs_request *r, const char *value, rung_error *error) {
  int count = 0;
  rung_status status = cli_numbers("--log", value, 3, r->logarithmic, &count, error);
  const double *of = r->logarithmic;
  if (status) return status;
  if (count == 3 && of[0] > 0 && isinf(of[1] / of[0]) && isfinite(of[1]))
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "--log '%.60s': HI / LO is beyond the largest double; expected: a smaller HI or "
        "a larger LO",
        value);
  if (count == 3 && of[0] > 0 && of[1] > of[0] && of[2] >= 1 && of[2] <= RUNG_MAX_BINS &&
      of[2] == (double)(int64_t)of[2])
    return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "--log '%.60s'; expected: LO above 0, HI above LO and 1 ... %d bins", value,
                   RUNG_MAX_BINS);
}

static rung_status take_box(pairs_request *r, const char *value, rung_error *error) {
  double n[6] = {0};
  int count = 0;
  rung_status status = cli_numbers("--box", value, 6, n, &count, error);
  if (status) return status;
  if ((count != 3 && count != 6) || !(n[0] > 0 && n[1] > 0 && n[2] > 0))
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "--box '%.80s'; expected: three lengths above 0, and three tilts (yx, zx, zy) or none",
        value);
  r->box = (rung_box){.a = {n[0], 0, 0}, .b = {n[3], n[1], 0}, .c = {n[4], n[5], n[2]}};
  r->has_box = true;
  return RUNG_OK;
}

/* FIRST:LAST:STEP, each of which may be left out; one number is one frame. */
static rung_status take_frames(pairs_request *r, const char *value, rung_error *error) {
  char text[128], *part = text;
  int64_t *to[3] = {&r->first, &r->last, &r->step};
  int parts = 0;
  if (strlen(value) >= sizeof text)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "--frames '%.60s'; expected: FIRST:LAST:STEP",
                     value);
  strcpy(text, value);
  for (bool more = true; more; parts++) {
    char *colon = strchr(part, ':');
    more = colon != NULL;
    if (colon) *colon = '\0';
    if (parts == 3)
      return rung_fail(error, RUNG_BAD_ARGUMENT, "--frames '%.60s'; expected: FIRST:LAST:STEP",
                       value);
    if (*part != '\0' || (parts == 0 && !more)) {
      rung_status status = cli_int("--frames", part, 1, INT64_MAX, to[parts], error);
      if (status) return status;
    }
    part = colon ? colon + 1 : part;
  }
  if (parts == 1) r->last = r->first;
  if (r->last != 0 && r->last < r->first)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "--frames '%.60s': the last is before the first",
                     value);
  return RUNG_OK;
}

static rung_status take_positive(const char *option, const char *text, double *value,
                                 rung_error *error) {
  rung_status status = cli_double(option, text, value, error);
  if (status || *value > 0) return status;
  return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.40s'; expected: a number above 0", option,
                   text);
}

/* A column's name, or a file's. */
static rung_status take_weights(pairs_request *r, const char *value) {
  const size_t length = strlen(value);
  r->weighted = true;
  r->weights_path = length > 4 && strcmp(value + length - 4, ".npy") == 0 ? value : NULL;
  r->how.weights = r->weights_path ? NULL : value;
  return RUNG_OK;
}

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  pairs_request *r = to;
  r->kinds += index == WIDTH || index == BINS || index == EDGES || index == LOG;
  switch (index) {
    case WIDTH:
      return take_positive("--width", value, &r->width, error);
    case BINS:
      return cli_int("--bins", value, 1, RUNG_MAX_BINS, &r->count, error);
    case EDGES:
      r->edges_path = value;
      break;
    case LOG:
      return take_log(r, value, error);
    case MAX:
      return take_positive("--max", value, &r->max, error);
    case FORMAT:
      r->how.format = value;
      break;
    case BOX:
      return take_box(r, value, error);
    case OPEN:
      r->open = true;
      break;
    case FRAMES:
      return take_frames(r, value, error);
    case SELECT:
      r->select = value;
      break;
    case WITH:
      r->with = value;
      break;
    case EXCLUDE:
      r->exclude = true;
      break;
    case WEIGHTS:
      return take_weights(r, value);
    case RDF:
      r->rdf = true;
      break;
    case VOLUME:
      return take_positive("--volume", value, &r->volume, error);
    case CHECK:
      r->check = true;
      break;
    case SAMPLE:
      return cli_int("--sample", value, 2, INT32_MAX, &r->sample, error);
    default:
      r->all = true;
      break;
  }
  return RUNG_OK;
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis =
        "N WIDTH [BLOCK] | FILE --width W | --bins K | --edges E.npy | --log LO HI K "
        "[OPTION]...",
    .about =
        "N WIDTH [BLOCK]: N random points in a cube of 23000, in bins of WIDTH, on the CPU and on\n"
        "every other device, with their times; their counts are compared.\n"
        "FILE: points from a file, frame by frame; counts are summed over the frames. In a box\n"
        "distances are those of the nearest images. Lengths are in the file's unit (gro: nm). "
        "What\n"
        "is below the first edge, or at or above the last, is counted apart. FILE '-' is standard\n"
        "input. Started by mpirun, every rank reads FILE and counts its share of the pairs.",
    .example = "rung pairs water.gro --width 0.002 --rdf --select OW -o rdf.csv",
    .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_SEED |
              CLI_JSON | CLI_OUTPUT | CLI_DEVICE_LIST,
    .output_help = "the table, as .csv or .npy by its name (with --json as JSON); default: printed",
    .options = options,
    .take = take,
    .least = 1,
    .most = 3};

/* ---- what was asked ---------------------------------------------------------------------------
 */

static rung_status check_file(const cli_common *common, const pairs_request *r, rung_error *error) {
  const char *fault = NULL;
  if (r->kinds != 1) {
    fault = r->kinds == 0 ? "none of --width, --bins, --edges and --log; expected: one of them"
                          : "more than one of --width, --bins, --edges and --log; expected: one";
  } else if (r->max > 0 && r->width == 0 && r->count == 0) {
    fault = "--max is given and the edges say where bins end; expected: --width or --bins";
  } else if (r->open && r->has_box) {
    fault = "--open and --box exclude each other; expected: one of them";
  } else if (r->with && !r->select) {
    fault = "--with is given and --select is not; expected: --select LIST";
  } else if (r->volume > 0 && !r->rdf) {
    fault = "--volume is given without --rdf";
  } else if (r->sample > 0 && !r->check) {
    fault = "--sample is given without --check";
  } else if (r->check && team_shares(common)) {
    fault = "--check is not taken over ranks; expected: a run without it, or by one device";
  } else if (ranks_all() && strcmp(r->path, "-") == 0) {
    fault = "standard input comes to one rank; expected: a file that all ranks read";
  } else if (r->all) {
    fault = "--all is of N random points; a file has no use for it";
  }
  if (fault) return rung_fail(error, RUNG_BAD_ARGUMENT, "%s", fault);
  return pairs_possible(common, error);
}

/* N WIDTH [BLOCK] */
static rung_status take_report(cli_common *common, pairs_request *r, int count, char **words,
                               rung_error *error) {
  int64_t block = 0;
  rung_status status = cli_int("N", words[0], 0, INT32_MAX, &r->n, error);
  if (!status) status = take_positive("WIDTH", words[1], &r->width, error);
  if (!status && count == 3) status = cli_int("BLOCK", words[2], 1, 1024, &block, error);
  if (!status && count == 3) common->block = (int)block;
  if (!status && (r->kinds > 0 || r->max > 0 || r->how.format || r->has_box || r->open ||
                  r->select || r->with || r->exclude || r->weighted || r->rdf || r->check))
    status =
        rung_fail(error, RUNG_BAD_ARGUMENT,
                  "options of FILE are given with N WIDTH; expected: only --all, --device, --rung, "
                  "--block, --type, --threads, --json and -o");
  return status;
}

static rung_status run(cli_common *common, pairs_request *r, int count, char **words,
                       rung_error *error) {
  pairs_result result = {0};
  rung_status status = RUNG_OK;
  r->report = count > 1;
  if (r->report && team_shares(common))
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "N WIDTH is not taken over ranks; expected: points from a file");
  if (r->report) {
    status = take_report(common, r, count, words, error);
    if (!status) status = pairs_possible(common, error);
    return status ? status : pairs_report(common, r, error);
  }
  r->path = words[0];
  r->how.no_box = r->open || r->has_box;
  status = check_file(common, r, error);
  if (r->sample == 0) r->sample = PAIRS_SAMPLE;
  if (!status && r->weights_path)
    status = array_take_numbers(r->weights_path, "weights", 0, &r->weights, error);
  if (!status) status = pairs_compute(common, r, &result, error);
  if (!status) {
    cli_note(common, verb, "rung %s on %s", result.rung, result.device);
    status = pairs_say(common, r, &result, error);
  }
  pairs_free(&result);
  array_free(&r->weights);
  return status;
}

int verb_pairs(int argc, char **argv) {
  pairs_request r = {.first = 1, .step = 1};
  cli_common common;
  cli_joined log = {.option = "--log", .words = 3};
  int first, code;
  rung_error error = {0};
  char **words = malloc(((size_t)argc + 1) * sizeof *words);
  if (!words) {
    rung_fail(&error, RUNG_OUT_OF_MEMORY, "host memory ran out");
    return cli_end(verb, &error);
  }
  const int count = cli_join(argc, argv, &log, words);
  if (cli_parse(&usage, count, words, &common, &r, &first, &code)) {
    run(&common, &r, count - first, words + first, &error);
    code = cli_end(verb, &error);
  }
  free(words);
  return code;
}
