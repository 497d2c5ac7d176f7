#include "cli/plot.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 23 };

/* Middle tones, told apart by eyes of all kinds; every line has its own point besides. */
static const char *const colours[] = {"#2f81f7", "#d1762a", "#2da44e", "#b65bc4",
                                      "#d1495b", "#0f9fae", "#b08800", "#8b7ae6"};
static const int points[] = {6, 4, 8, 10, 5, 7, 9, 11};

bool plot_possible(void) {
  static int known;
  if (known == 0) {
    static char *const argv[] = {"gnuplot", "--version", NULL};
    cli_child_end end;
    rung_error error = {0};
    const rung_status status = cli_child(argv, "", CLI_ERRORS_DROPPED, 4096, &end, &error);
    if (status == RUNG_OUT_OF_MEMORY) return false; /* for now */
    known = status == RUNG_OK && end.code == 0 && strncmp(end.said, "gnuplot", 7) == 0 ? 1 : -1;
    free(end.said);
  }
  return known > 0;
}

rung_status plot_begin(plot *chart, int width, int height, rung_error *error) {
  *chart = (plot){.width = width, .height = height};
  chart->script = open_memstream(&chart->text, &chart->length);
  if (!chart->script) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a chart");
  fputs(
      "set encoding utf8\n"
      "set border 3 lc rgb 'black'\n"
      "set tics nomirror\n"
      "set grid lc rgb '#8b949e' lw 0.4 dt 1\n"
      "set key outside right top Left reverse samplen 2\n"
      "set format '%g'\n",
      chart->script);
  for (int i = 0; i < 8; i++)
    fprintf(chart->script, "set linetype %d lc rgb '%s' lw 1.6 pt %d ps 0.7\n", i + 1, colours[i],
            points[i]);
  return RUNG_OK;
}

void plot_end(plot *chart) {
  if (chart->script) fclose(chart->script);
  free(chart->text);
  chart->script = NULL;
  chart->text = NULL;
}

void plot_name(FILE *script, const char *name) {
  fputc('\'', script);
  for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
    if (*at >= 0x80 && *at < 0xc0) continue; /* of the character before */
    fputc(isalnum(*at) || strchr(" _-+.,:;=/()[]*", *at) ? *at : '?', script);
  }
  fputc('\'', script);
}

/* ---- drawing ------------------------------------------------------------------------------ */

static char *script_of(const plot *chart, plot_kind kind) {
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  if (!to) return NULL;
  if (kind == PLOT_PNG)
    fprintf(to, "set terminal pngcairo noenhanced size %d,%d font 'sans,20' fontscale 1\n",
            2 * chart->width, 2 * chart->height);
  else if (kind == PLOT_PDF)
    fprintf(to, "set terminal pdfcairo noenhanced size %.2f,%.2f font 'sans,9'\n",
            chart->width / 96., chart->height / 96.);
  else
    fprintf(to, "set terminal svg noenhanced size %d,%d dynamic font 'sans-serif,12'\n",
            chart->width, chart->height);
  if (kind != PLOT_INLINE) {
    fputs("set title ", to);
    plot_name(to, chart->title);
    fputc('\n', to);
  }
  fputs(chart->text, to);
  if (fclose(to) == 0) return text;
  free(text);
  return NULL;
}

rung_status plot_draw(plot *chart, plot_kind kind, const char *id, char **image, size_t *length,
                      rung_error *error) {
  static char *const argv[] = {"gnuplot", "--default-settings", "-", NULL};
  *image = NULL;
  char *script = fflush(chart->script) == 0 ? script_of(chart, kind) : NULL;
  if (!script) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a chart");
  cli_child_end end;
  rung_status status = cli_child(argv, script, CLI_ERRORS_DROPPED, MOST_BYTES, &end, error);
  free(script);
  const bool drawn = !status && end.code == 0 && end.length > 0;
  if (drawn && kind <= PLOT_SVG) {
    *image = plot_redraw(chart, end.said, kind == PLOT_INLINE, id, length);
    free(end.said);
  } else if (drawn) {
    *image = end.said;
    *length = end.length;
  } else {
    free(end.said);
  }
  if (*image || status) return status;
  return rung_fail(error, RUNG_FILE_FAILED, "gnuplot ended with %d and drew nothing: %.120s",
                   end.code, chart->title);
}
