#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

rung_status cli_results_begin(file_replace *file, const cli_common *common, rung_error *error) {
  return file_replace_begin(file, common->output ? common->output : "-", error);
}

const char *cli_time(double milliseconds, char text[32]) {
  double value = milliseconds;
  const char *unit = "ms";
  if (value >= 10000) {
    value /= 1000;
    unit = "s";
  } else if (value < 0.1) {
    value *= 1000;
    unit = "us";
  }
  if (isnan(milliseconds))
    snprintf(text, 32, "-");
  else
    snprintf(text, 32, value < 10 ? "%.3f %s" : value < 100 ? "%.2f %s" : "%.1f %s", value, unit);
  return text;
}

const char *cli_bytes(double bytes, char text[32]) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 6) {
    bytes /= 1024;
    unit++;
  }
  snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

const char *cli_colour(FILE *stream, const char *sequence) {
  const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
  if ((no_colour && no_colour[0]) || !isatty(stream == stdout ? STDOUT_FILENO : fileno(stream)))
    return "";
  return term && strcmp(term, "dumb") != 0 ? sequence : "";
}
