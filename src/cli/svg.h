/* What pictures of ours share, drawn by gnuplot or by hand. */
#ifndef RUNG_CLI_SVG_H
#define RUNG_CLI_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* Text as part of HTML or XML, also inside of quotes. Bytes that XML cannot hold: a question mark.
 */
void svg_escape(FILE *to, const char *text);

/* The picture's head, of pixels; its end, "</svg>", is the caller's. `inlined`: it stands in a
 * page, whose text gives it its colour and font; ids begin with `id`. */
void svg_begin(FILE *to, int width, int height, const char *id, bool inlined, const char *title,
               const char *description);
/* A line of text. kind NULL: of no class. */
void svg_words(FILE *to, int x, int y, const char *kind, const char *words);

#endif
