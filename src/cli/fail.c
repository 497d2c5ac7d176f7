#include <stdarg.h>

#include "cli/cli.h"

int cli_code_of(rung_status status) {
  switch (status) {
    case RUNG_OK:
      return CLI_DONE;
    case RUNG_CHECK_FAILED:
      return CLI_CHECK_FAILED;
    case RUNG_BAD_ARGUMENT:
    case RUNG_UNKNOWN_NAME:
    case RUNG_UNSUPPORTED:
      return CLI_BAD_USAGE;
    case RUNG_NO_DEVICE:
    case RUNG_DEVICE_FAILED:
      return CLI_NO_DEVICE;
    case RUNG_OUT_OF_MEMORY:
      return CLI_OUT_OF_MEMORY;
    default:
      return CLI_BAD_INPUT;
  }
}

int cli_end(const char *verb, const rung_error *error) {
  if (error->status == RUNG_OK) return CLI_DONE;
  fprintf(stderr, "rung %s: %s\n", verb,
          error->sentence[0] ? error->sentence : rung_status_text(error->status));
  return cli_code_of(error->status);
}

void cli_note(const cli_common *common, const char *verb, const char *format, ...) {
  if (common->quiet) return;
  va_list arguments;
  fprintf(stderr, "rung %s: ", verb);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}
