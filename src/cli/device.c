#include "cli/cli.h"
#include "lab/tune.h"

#include <stdio.h>
#include <string.h>

rung_status cli_carry(rung_context *context, rung_status status, rung_error *error) {
  if (status == RUNG_OK) return RUNG_OK;
  const char *sentence = rung_last_error(context);
  return rung_fail(error, status, "%s", sentence[0] ? sentence : rung_status_text(status));
}

rung_status cli_open(const cli_common *common, const char *device, rung_context **context,
                     rung_error *error) {
  /* What is measured waits for nothing else, and is seen on no other stream. */
  rung_options options = {.device = device, .threads = common->threads, .stream = RUNG_OWN_STREAM};
  rung_status status = rung_open(context, &options);
  if (status == RUNG_OK) {
    lab_tuned_apply(*context);
    return RUNG_OK;
  }
  cli_carry(*context, status, error);
  rung_close(*context);
  *context = NULL;
  return status;
}

rung_status cli_like(const char *device, const char *like, char text[CLI_LIKE_TEXT],
                     const char **made, rung_error *error) {
  const bool given = device && strcmp(device, "auto") != 0;
  *made = given ? device : NULL;
  if (!like) return RUNG_OK;
  if (given && strcmp(device, "sim") != 0)
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "--like '%.40s' is given with --device '%.40s'; expected: --device sim, or none", like,
        device);
  if (strlen(like) + sizeof "sim:" > CLI_LIKE_TEXT)
    return rung_fail(error, RUNG_UNKNOWN_NAME,
                     "--like is '%.40s'; expected: h200, h100, a100 or t4", like);
  snprintf(text, CLI_LIKE_TEXT, "sim:%s", like);
  *made = text;
  return RUNG_OK;
}

rung_status cli_opened(const cli_common *common, const char *device, rung_device_info *info,
                       rung_error *error) {
  rung_context *context = NULL;
  *info = (rung_device_info){.size = sizeof *info};
  rung_status status = cli_open(common, device, &context, error);
  if (!status) status = cli_carry(context, rung_opened(context, info), error);
  rung_close(context);
  return status;
}
