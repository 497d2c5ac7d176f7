#include "cli/svg.h"

#include <string.h>

/* The length of the UTF-8 character that stands there; 0: it is none, or XML has no such. */
static int character(const unsigned char *at) {
  if (*at < 0x80) return *at >= ' ' && *at != 0x7f;
  const int more = *at >= 0xf0 && *at < 0xf5   ? 3
                   : *at >= 0xe0 && *at < 0xf0 ? 2
                   : *at >= 0xc2               ? 1
                                               : 0;
  if (more == 0 || *at >= 0xf5) return 0;
  for (int i = 1; i <= more; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return *at == 0xef && at[1] == 0xbf && at[2] >= 0xbe ? 0 : more + 1;
}

void svg_escape(FILE *to, const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    const int length = character(at);
    if (length == 0)
      fputc('?', to);
    else if (strchr("<>&\"'", *at))
      fprintf(to, "&#%d;", *at);
    else
      fwrite(at, 1, (size_t)length, to);
    at += length > 0 ? length : 1;
  }
}

void svg_begin(FILE *to, int width, int height, const char *id, bool inlined, const char *title,
               const char *description) {
  fprintf(to, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\"", width,
          height, id, id);
  fprintf(to, " width=\"%d\" height=\"%d\" xmlns=\"http://www.w3.org/2000/svg\"%s>\n", width,
          height, inlined ? "" : " font-family=\"system-ui,sans-serif\"");
  fprintf(to, "<title id=\"%s-t\">", id);
  svg_escape(to, title);
  fprintf(to, "</title>\n<desc id=\"%s-d\">", id);
  svg_escape(to, description);
  fputs("</desc>\n", to);
  if (!inlined)
    fputs(
        "<style>svg{color:#57606a}@media(prefers-color-scheme:dark){svg{color:#9198a1}}</style>\n",
        to);
}

void svg_words(FILE *to, int x, int y, const char *kind, const char *words) {
  fprintf(to, "<text x=\"%d\" y=\"%d\"", x, y);
  if (kind) fprintf(to, " class=\"%s\"", kind);
  fputc('>', to);
  svg_escape(to, words);
  fputs("</text>", to);
}
