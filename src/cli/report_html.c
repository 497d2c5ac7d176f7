/* What pages are made of: escaped text, numbers, tables. */
#include <math.h>
#include <string.h>

#include "cli/report.h"
#include "cli/svg.h"

void html_text(const report *r, const char *words) {
  svg_escape(r->to, words);
}

const char *html_number(double value, char room[32]) {
  if (!isfinite(value)) return "-";
  snprintf(room, 32, value >= 1000 && value < 1e15 ? "%.0f" : "%.4g", value);
  return room;
}

void html_cell(const report *r, double value) {
  char room[32];
  fprintf(r->to, "<td>%s</td>", html_number(value, room));
}

void html_cell_text(const report *r, const char *words) {
  fputs("<td class=\"w\">", r->to);
  html_text(r, words);
  fputs("</td>", r->to);
}

void html_table_begin(const report *r, const char *caption) {
  fputs("<div class=\"t\" role=\"group\" tabindex=\"0\" aria-label=\"", r->to);
  html_text(r, caption);
  fputs("\"><table><caption>", r->to);
  html_text(r, caption);
  fputs("</caption><thead><tr>", r->to);
}

void html_column(const report *r, const char *name, bool numbers) {
  fputs(numbers ? "<th class=\"n\">" : "<th>", r->to);
  html_text(r, name);
  fputs("</th>", r->to);
}

void html_columns_end(const report *r) {
  fputs("</tr></thead><tbody>\n", r->to);
}

void html_table(const report *r, const char *caption, const char *columns) {
  html_table_begin(r, caption);
  for (const char *at = columns; *at;) {
    const int length = (int)strcspn(at, "|"), skip = *at == '#';
    fprintf(r->to, "<th%s>%.*s</th>", skip ? " class=\"n\"" : "", length - skip, at + skip);
    at += length + (at[length] == '|');
  }
  html_columns_end(r);
}

void html_table_end(const report *r) {
  fputs("</tbody></table></div>\n", r->to);
}

void html_row(const report *r, const char *name) {
  fputs("<tr><th scope=\"row\">", r->to);
  html_text(r, name);
  fputs("</th>", r->to);
}

void html_term(const report *r, const char *name, const char *value) {
  if (!value[0]) return;
  fputs("<dt>", r->to);
  html_text(r, name);
  fputs("</dt><dd>", r->to);
  html_text(r, value);
  fputs("</dd>", r->to);
}
