#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/ranks.h"

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

/* Bytes that a terminal takes for commands, of ASCII and, in UTF-8, of Latin-1: as \xNN. */
void cli_print(FILE *to, const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    const bool two = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
    if (two || *at < ' ' || *at == 0x7f)
      fprintf(to, "\\x%02x", *at);
    else
      fputc(*at, to);
    if (two) fprintf(to, "\\x%02x", *++at);
  }
}

/* "rung VERB: text" on standard error, at its width where it is a terminal; in one piece, for what
   carries the voices of several processes cuts between writes. */
static void say(const char *verb, const char *text) {
  char *whole = NULL;
  size_t length = 0;
  const int columns = cli_columns(STDERR_FILENO);
  FILE *made = open_memstream(&whole, &length), *to = made ? made : stderr;
  fprintf(to, "rung %s: ", verb);
  cli_print(to, text);
  fputc('\n', to);
  if (made && fclose(made) == 0) {
    if (columns > 0) {
      cli_wrap(stderr, whole, length - 1, columns, 0, 4);
      fputc('\n', stderr);
    } else {
      fwrite(whole, 1, length, stderr);
    }
  }
  free(whole);
}

int cli_end(const char *verb, const rung_error *error) {
  rung_error agreed = *error;
  ranks_agree(&agreed);
  if (agreed.status == RUNG_OK) return CLI_DONE;
  const int code = cli_code_of(agreed.status);
  if (ranks_speaks(agreed.status))
    say(verb, agreed.sentence[0] ? agreed.sentence : rung_status_text(agreed.status));
  ranks_give_up(agreed.status, code);
  return code;
}

void cli_note(const cli_common *common, const char *verb, const char *format, ...) {
  if (common->quiet) return;
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  say(verb, text);
}
