/* rung correlate, rung convolve: a filter on an image in a file. */
#include "cli/correlate.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define TAKEN (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_F16) | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_U16))

enum { KERNEL, NORMALIZE, BORDER, ORIGIN, REGION, CLIP, SCALE, STRIP };
static const cli_option options[] = {
    {"kernel", 0, "K", "a name, rows of numbers as \"1 2 1; 2 4 2\", or their file (required)"},
    {"normalize", 0, NULL, "divide the kernel by its sum"},
    {"border", 0, "RULE", "what is beyond the image; default mirror-edge"},
    {"origin", 0, "Y,X", "move the kernel's centre by so many rows and columns; default 0,0"},
    {"region", 0, "Y,X,H,W", "only H rows and W columns from there on; sees what is around them"},
    {"clip", 0, NULL, "to integers: round, and cut off what is outside their range"},
    {"scale", 0, "LO,HI", "to integers: LO to 0, HI to the largest; auto: the result's own ends"},
    {"strip", 0, "ROWS", "rows in memory at a time; default: what 256 MiB hold"},
    {0}};

/* `count` numbers, no more. */
static rung_status take_numbers(const char *option, const char *value, int count, double *to,
                                rung_error *error) {
  int found = 0;
  const rung_status status = cli_numbers(option, value, count, to, &found, error);
  if (status || found == count) return status;
  return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.80s' has %d numbers; expected: %d", option,
                   value, found, count);
}

static rung_status take_integers(const char *option, const char *value, int count, int64_t *to,
                                 rung_error *error) {
  double numbers[4];
  const rung_status status = take_numbers(option, value, count, numbers, error);
  for (int i = 0; !status && i < count; i++) {
    if (numbers[i] != rint(numbers[i]) || fabs(numbers[i]) > 1e15)
      return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.80s': expected: integers", option, value);
    to[i] = (int64_t)numbers[i];
  }
  return status;
}

static rung_status take_region(correlate_request *r, const char *value, rung_error *error) {
  const rung_status status = take_integers("--region", value, 4, r->region, error);
  r->parted = true;
  if (status || (r->region[0] >= 0 && r->region[1] >= 0 && r->region[2] > 0 && r->region[3] > 0))
    return status;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "--region '%.80s': expected: a row and a column from 0 on, and 1 or more rows "
                   "and columns",
                   value);
}

static rung_status take_scale(correlate_request *r, const char *value, rung_error *error) {
  double ends[2] = {0, 1};
  r->scaled = true;
  r->measured = strcmp(value, "auto") == 0;
  const rung_status status = r->measured ? RUNG_OK : take_numbers("--scale", value, 2, ends, error);
  if (!status && ends[0] == ends[1])
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--scale '%.80s': both are the same; expected: two numbers, or auto", value);
  r->low = ends[0];
  r->high = ends[1];
  return status;
}

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  correlate_request *r = to;
  switch (index) {
    case KERNEL:
      r->kernel_text = value;
      return RUNG_OK;
    case NORMALIZE:
      r->normalize = true;
      return RUNG_OK;
    case BORDER:
      return correlate_border(&r->model, value, error);
    case ORIGIN:
      return take_integers("--origin", value, 2, r->model.origin, error);
    case REGION:
      return take_region(r, value, error);
    case CLIP:
      r->clip = true;
      return RUNG_OK;
    case SCALE:
      return take_scale(r, value, error);
    default:
      return cli_int("--strip", value, 1, INT32_MAX, &r->strip, error);
  }
}

#define ABOUT                                                                                    \
  "IMAGE is a PNG, PGM, PPM, PAM, PFM, JPEG, TIFF or NPY file of u8, u16, f16, f32 or f64,\n"    \
  "(height, width) or (height, width, channels); '-' is standard input. The result is f32, of\n" \
  "f16 and f64 images what they are, or as --type says; u8 and u16 by --clip or --scale.\n"      \
  "Kernels: boxN, gaussN or gaussN:SIGMA, sobel-x, sobel-y, prewitt-x, prewitt-y, scharr-x,\n"   \
  "scharr-y, laplace, sharpen, identity; files of text, .npy or an image.\n"                     \
  "Borders: constant or constant:VALUE, edge, mirror-edge, mirror, wrap, or a library's word\n"  \
  "after its name, as scipy:reflect, numpy:symmetric, opencv:reflect101, torch:circular.\n"      \
  "Started by mpirun, every rank reads its rows of an NPY file, and writes those of the result."

/* What the two verbs have in common. */
#define FILTER                                                                                   \
  .synopsis = "IMAGE --kernel K [OPTION]... -o OUT",                                             \
  .common = CLI_DEVICE | CLI_RUNG | CLI_BLOCK | CLI_TYPE | CLI_MATH | CLI_THREADS | CLI_OUTPUT | \
            CLI_DEVICE_LIST,                                                                     \
  .types = TAKEN,                                                                                \
  .output_help = "the result, in the format of its extension; default: .npy to standard output", \
  .options = options, .take = take, .least = 1, .most = 1

static const cli_usage usages[] = {
    {.verb = "correlate",
     .about = "Filters an image: every element becomes the sum of its neighbours, each times the\n"
              "kernel's element that lies on it.\n" ABOUT,
     .example = "rung correlate photo.png --kernel gauss5:1.2 --clip -o soft.png",
     FILTER},
    {.verb = "convolve",
     .about = "As rung correlate, with the kernel turned round: its rows and its columns are\n"
              "reversed.\n" ABOUT,
     .example = "rung convolve photo.png --kernel sobel-x --scale auto -o edges.png",
     FILTER}};

/* The very same file, under whatever name. */
static bool same_file(const char *a, const char *b) {
  struct stat of_a, of_b;
  if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) &&
         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* What can be refused before anything is read. */
static rung_status check(const correlate_request *r, const char *path, rung_error *error) {
  const cli_common *common = r->job.common;
  const char *fault = NULL;
  if (!r->kernel_text) fault = "--kernel is not given; expected: a name, rows of numbers or a file";
  if (r->clip && r->scaled) fault = "--clip and --scale are both given; expected: one of them";
  if (r->measured && strcmp(path, "-") == 0)
    fault = "--scale auto reads the image twice; expected: a file, not standard input";
  if (fault) return rung_fail(error, RUNG_BAD_ARGUMENT, "%s", fault);
  if (team_shares(common) && (r->parted || (r->scaled && ranks_all()) || r->strip > 0))
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "%s is not taken over ranks, which have the image's rows in memory; expected: "
                     "the whole image, --clip or neither",
                     r->parted      ? "--region"
                     : r->strip > 0 ? "--strip"
                                    : "--scale");
  if (common->output && same_file(path, common->output))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "-o '%.80s' is the image itself; expected: another file", common->output);
  if (common->output && same_file(r->kernel_text, common->output))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "-o '%.80s' is the kernel itself; expected: another file", common->output);
  return array_place_share(common, error);
}

static rung_status check_origin(const correlate_request *r, rung_error *error) {
  for (int d = 0; d < 2; d++) {
    const int64_t extent = r->kernel.shape[d], origin = r->model.origin[d];
    if (origin >= -(extent / 2) && origin <= (extent - 1) / 2) continue;
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--origin: %lld %s; expected: %lld ... %lld, for the kernel has %lld",
                     (long long)origin, d == 0 ? "rows" : "columns", (long long)-(extent / 2),
                     (long long)(extent - 1) / 2, (long long)extent);
  }
  return RUNG_OK;
}

static int run(const cli_usage *usage, bool flipped, int argc, char **argv) {
  cli_common common;
  correlate_request r = {.flipped = flipped,
                         .model = {.size = sizeof r.model, .edge = RUNG_EDGE_REFLECT},
                         .job = {.verb = usage->verb, .common = &common}};
  int first, code;
  if (!cli_parse(usage, argc, argv, &common, &r, &first, &code)) return code;
  rung_error error = {0};
  rung_status status = check(&r, argv[first], &error);
  if (!status) status = correlate_kernel(&r, &r.kernel, &error);
  if (!status) status = check_origin(&r, &error);
  if (!status && ranks_all())
    correlate_share(&r, argv[first], &error);
  else if (!status)
    correlate_run(&r, argv[first], &error);
  grid_free(&r.kernel);
  return cli_end(usage->verb, &error);
}

int verb_correlate(int argc, char **argv) {
  return run(&usages[0], false, argc, argv);
}

int verb_convolve(int argc, char **argv) {
  return run(&usages[1], true, argc, argv);
}
