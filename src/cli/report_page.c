/* The page: well-formed as XML too, readable without its script, which sorts, filters and copies.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "rung_report.h"

/* ---- the page ----------------------------------------------------------------------------- */

/* A digest in hexadecimal as a policy wants it. */
static void base64(const char *hex, char to[64]) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned char bytes[33] = {0};
  size_t used = 0;
  for (int i = 0; i < 32 && hex[0]; i++, hex += 2) {
    const char pair[3] = {hex[0], hex[1], '\0'};
    bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
  }
  for (int i = 0; i < 32; i += 3) {
    const unsigned three =
        (unsigned)bytes[i] << 16 | (unsigned)bytes[i + 1] << 8 | (i + 2 < 32 ? bytes[i + 2] : 0);
    for (int d = 3; d >= 0; d--) to[used++] = digits[three >> (6 * d) & 63];
  }
  to[43] = '=';
  to[44] = '\0';
}

static void put_head(const report *r) {
  char hash[64];
  base64(RUNG_REPORT_SCRIPT_SHA256, hash);
  fprintf(r->to,
          "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head>"
          "<meta charset=\"utf-8\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "script-src 'sha256-%s'; style-src 'unsafe-inline'; base-uri 'none'; "
          "form-action 'none'\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
          "<title>Rung: what was measured</title>\n<style>\n%s</style></head>\n<body>\n"
          "<header><h1>Rung: what was measured</h1><p id=\"tools\"></p></header>\n<main>\n",
          hash, RUNG_REPORT_STYLE);
}

rung_status report_page(report *r) {
  rung_status status = RUNG_OK;
  put_head(r);
  if (r->count > 0) report_words(r);
  for (int g = 0, next; g < r->count && !status; g = next) {
    next = report_section_end(r, g);
    status = report_section(r, &r->groups[g], next - g);
  }
  if (!status) status = report_scaling(r);
  if (!status) status = report_looks(r);
  if (!status) status = report_history(r);
  if (status) return status;
  status = report_bits(r);
  if (!status && r->count > 0) status = report_machines(r);
  if (status) return status;
  fprintf(r->to,
          "</main>\n<footer><p>Made by rung %s from files alone: "
          "<code>rung report FILE... -o report.html</code></p></footer>\n<script>%s</script>\n"
          "</body></html>\n",
          rung_version(), RUNG_REPORT_SCRIPT);
  return RUNG_OK;
}
