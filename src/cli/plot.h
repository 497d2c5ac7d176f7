/* Charts by gnuplot, run as a child.
 *
 * What a script holds besides numbers is told apart: names of records reach gnuplot through
 * plot_name() alone, inside single quotes, where it expands nothing. */
#ifndef RUNG_CLI_PLOT_H
#define RUNG_CLI_PLOT_H

#include "cli/cli.h"

/* A chart under way: write its commands to `script`. */
typedef struct plot {
  FILE *script;
  char *text;
  size_t length;
  int width, height;
  char title[256];       /* for the eye, the screen reader and the file's name */
  char description[512]; /* what it shows, in a sentence or two */
} plot;

typedef enum plot_kind { PLOT_INLINE, PLOT_SVG, PLOT_PNG, PLOT_PDF } plot_kind;

/* Whether there is a gnuplot, asked once. */
bool plot_possible(void);

/* The script is begun: sizes in pixels, colours, line types 1 ... 8, the grid. */
rung_status plot_begin(plot *chart, int width, int height, rung_error *error);
/* Draws what was written; *image, of *length bytes, is to be freed. PLOT_INLINE: for a page, its
 * ids begin with `id`. */
rung_status plot_draw(plot *chart, plot_kind kind, const char *id, char **image, size_t *length,
                      rung_error *error);
void plot_end(plot *chart);

/* A name as a string of gnuplot's, its quotes with it. What is neither a letter, a digit, a blank
 * nor one of _-+.,:;=/()[]* becomes a question mark. */
void plot_name(FILE *script, const char *name);

/* What gnuplot drew as SVG drawn again, with the chart's title and description (plot_svg.c); NULL:
 * it holds something else than our charts do. */
char *plot_redraw(const plot *chart, const char *svg, bool inlined, const char *id, size_t *length);

#endif
