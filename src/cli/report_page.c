/* The page: well-formed as XML too, readable without its script, which sorts, filters and copies.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "rung_report.h"

/* ---- in words ----------------------------------------------------------------------------- */

/* A time that is too short is no wrong result: a busy minute makes such peaks. */
typedef struct tally {
  int verified, failed, too_fast;
} tally;

static tally tally_of(const report *r) {
  tally all = {0};
  for (int i = 0; i < r->records->count; i++)
    for (int k = 0; k < r->records->cases[i].count; k++) {
      const lab_read_candidate *c = &r->records->cases[i].candidates[k];
      const bool too_fast = strcmp(c->finding, "too-fast") == 0;
      if (strcmp(c->finding, "unsupported") == 0) continue;
      all.verified++;
      all.too_fast += too_fast;
      all.failed += !c->good && !too_fast;
    }
  return all;
}

static void say_group(const report *r, const report_group *group) {
  const lab_read_case *of = report_largest(group);
  const lab_read_candidate *best = lab_read_best(of), *rungs[REPORT_RUNGS];
  char room[32];
  if (!best) return;
  const int count = report_rungs(of, rungs);
  fputs("<li><b>", r->to);
  html_text(r, of->operation);
  fputs("</b> on ", r->to);
  html_text(r, report_device(of));
  fputs(", <span class=\"j\">", r->to);
  html_text(r, of->label);
  fputs("</span>: <code>", r->to);
  html_text(r, best->rung);
  fprintf(r->to, "</code> takes %s", cli_time(best->time.median, room));
  if (report_gain(of) > 1)
    fprintf(r->to, ", %.3g times as fast as the first rung", report_gain(of));
  if (lab_read_part(of, best) >= 0.01)
    fprintf(r->to, ", %.0f %% of the peak", 100 * lab_read_part(of, best));
  for (int k = 0; k < count; k++)
    if (rungs[k]->peer && rungs[k]->good && !rungs[k]->program) {
      fprintf(r->to, "; %.2f times as fast as ", rungs[k]->time.median / best->time.median);
      html_text(r, rungs[k]->peer);
    }
  fputs(".</li>\n", r->to);
}

static void say_all(const report *r) {
  const tally all = tally_of(r);
  fputs("<section id=\"words\"><h2>In words</h2>\n<p>", r->to);
  fprintf(r->to, "%d results, each verified before and after it was timed: ", all.verified);
  if (all.failed == 0)
    fputs("all of them good.", r->to);
  else
    fprintf(r->to, "<strong>%d failed</strong>; the tables say why.", all.failed);
  if (all.too_fast > 0)
    fprintf(r->to, " Times not believed, for they are shorter than the measured peaks allow: %d.",
            all.too_fast);
  fputs("</p>\n", r->to);
  if (!r->charts)
    fputs(
        "<p>There are no charts, for gnuplot is not installed here (Debian: gnuplot-nox); the "
        "tables have all numbers.</p>\n",
        r->to);
  fputs("<ul>\n", r->to);
  for (int g = 0; g < r->count; g++) say_group(r, &r->groups[g]);
  fputs("</ul></section>\n", r->to);
}

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
  if (r->count > 0) say_all(r);
  for (int g = 0, next; g < r->count && !status; g = next) {
    next = g + 1;
    while (next < r->count && report_same_section(&r->groups[g], &r->groups[next])) next++;
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
