/* gnuplot's SVG drawn again: what looks alike is one path, lines are in whole tenths of a pixel,
 * black is the text's colour wherever the chart stands. That makes a page of hundreds of charts a
 * third as large, and nothing reaches it that is not written here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot.h"
#include "cli/svg.h"

enum { DEPTH = 16, LAYERS = 96 };

/* What a group hands on to what is in it. */
typedef struct style {
  char stroke[16], fill[16], width[8], dash[16], opacity[8], anchor[8];
  double x, y;
  bool turned; /* by 270 degrees */
} style;

/* Lines, areas or words of one look: <open ... close>. */
typedef struct layer {
  char open[128];
  bool words;
  bool begun;
  long x, y; /* where its last line ended, in tenths */
  char *text;
  size_t length;
  FILE *to;
} layer;

typedef struct drawing {
  style styles[DEPTH]; /* the last is that of here */
  int depth;
  layer layers[LAYERS];
  int count;
} drawing;

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct tag {
  const char *name, *end; /* what is between < and > */
  bool closes, empty;
} tag;

static bool next_tag(const char **at, tag *t) {
  const char *begin = strchr(*at, '<');
  const char *end = begin ? strchr(begin, '>') : NULL;
  if (!end) return false;
  t->closes = begin[1] == '/';
  t->empty = end[-1] == '/';
  t->name = begin + 1 + t->closes;
  t->end = end;
  *at = end + 1;
  return true;
}

static bool is_tag(const tag *t, const char *name) {
  const size_t length = strlen(name);
  return strncmp(t->name, name, length) == 0 && strchr(" \t\n/>", t->name[length]);
}

/* An attribute's value, up to *end; NULL: it has none. */
static const char *value_of(const tag *t, const char *name, const char **end) {
  const size_t length = strlen(name);
  for (const char *at = t->name; at && at < t->end; at++) {
    if (!strchr(" \t\n", *at) || strncmp(at + 1, name, length) != 0) continue;
    const char *value = at + 1 + length;
    value += strspn(value, " ");
    if (*value++ != '=') continue;
    value += strspn(value, " ");
    *end = *value == '\'' || *value == '"' ? strchr(value + 1, *value) : NULL;
    return *end && *end < t->end ? value + 1 : NULL;
  }
  return NULL;
}

/* A short value as it is; false: it is too long. What is not given stays. */
static bool take(const tag *t, const char *name, char *to, size_t size) {
  const char *end, *value = value_of(t, name, &end);
  if (!value) return true;
  return (size_t)snprintf(to, size, "%.*s", (int)(end - value), value) < size;
}

static bool take_colour(const tag *t, const char *name, char to[16]) {
  char text[32] = "";
  int red, green, blue;
  if (!take(t, name, text, sizeof text)) return false;
  if (text[0] == '\0') return true;
  if (sscanf(text, "rgb(%d,%d,%d)", &red, &green, &blue) == 3)
    snprintf(text, sizeof text, "#%02x%02x%02x", red & 255, green & 255, blue & 255);
  if (strcmp(text, "black") == 0 || strcmp(text, "#000000") == 0) strcpy(text, "currentColor");
  return (size_t)snprintf(to, 16, "%s", text) < 16 && !strpbrk(to, "<>&\"'");
}

/* A number so many times as large, as short as it can be. */
static bool take_number(const tag *t, const char *name, double times, char to[8]) {
  char text[32] = "", *end;
  if (!take(t, name, text, sizeof text)) return false;
  if (text[0] == '\0') return true;
  const double value = strtod(text, &end);
  return *end == '\0' && isfinite(value) && (size_t)snprintf(to, 8, "%.3g", times * value) < 8;
}

/* Lengths of dashes, in tenths. */
static bool take_dash(const tag *t, char to[16]) {
  char text[32] = "";
  size_t used = 0;
  if (!take(t, "stroke-dasharray", text, sizeof text)) return false;
  if (text[0] == '\0') return true;
  for (const char *at = text; *at && used < 16;) {
    char *end;
    const double length = strtod(at, &end);
    if (end == at || !isfinite(length) || (*end && *end != ',')) return false;
    used += (size_t)snprintf(to + used, 16 - used, "%s%.3g", used ? "," : "", 10 * length);
    at = end + (*end == ',');
  }
  return used < 16;
}

static bool take_style(const tag *t, style *s) {
  char moved[64] = "";
  if (!take_colour(t, "stroke", s->stroke) || !take_colour(t, "fill", s->fill) ||
      !take_number(t, "stroke-width", 10, s->width) ||
      !take_number(t, "fill-opacity", 1, s->opacity) || !take_dash(t, s->dash) ||
      !take(t, "text-anchor", s->anchor, sizeof s->anchor) ||
      !take(t, "transform", moved, sizeof moved))
    return false;
  if (s->anchor[strspn(s->anchor, "adeilmnrst")]) return false;
  if (moved[0] == '\0') return true;
  s->turned = strstr(moved, "rotate(270") != NULL;
  return sscanf(moved, "translate(%lf,%lf)", &s->x, &s->y) == 2 &&
         (s->turned || !strstr(moved, "rotate"));
}

/* ---- writing ------------------------------------------------------------------------------ */

/* The layer of a look; NULL: there is no room. */
static layer *layer_of(drawing *d, bool words, const char *open) {
  for (int i = 0; i < d->count; i++)
    if (d->layers[i].words == words && strcmp(d->layers[i].open, open) == 0) return &d->layers[i];
  if (d->count == LAYERS) return NULL;
  layer *made = &d->layers[d->count];
  snprintf(made->open, sizeof made->open, "%s", open);
  made->words = words;
  made->to = open_memstream(&made->text, &made->length);
  if (!made->to) return NULL;
  d->count++;
  return made;
}

static layer *layer_of_lines(drawing *d, const style *s) {
  char open[128];
  size_t used = 0;
  open[0] = '\0';
  const struct {
    const char *name, *value, *usual;
  } all[] = {{"stroke", s->stroke, "currentColor"},
             {"stroke-width", s->width, "10"},
             {"stroke-dasharray", s->dash, ""},
             {"fill", s->fill, "none"},
             {"fill-opacity", s->opacity, "1"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].value[0] && strcmp(all[i].value, all[i].usual) != 0)
      used += (size_t)snprintf(open + used, sizeof open - used, " %s=\"%s\"", all[i].name,
                               all[i].value);
  return used < sizeof open ? layer_of(d, false, open) : NULL;
}

static void put_point(FILE *to, char letter, long x, long y) {
  fprintf(to, y < 0 ? "%c%ld%ld" : "%c%ld %ld", letter, x, y);
}

/* To where a line begins: from the last one's end, which is mostly near. */
static void move_to(layer *in, long x, long y) {
  if (in->begun)
    put_point(in->to, 'm', x - in->x, y - in->y);
  else
    put_point(in->to, 'M', x, y);
  in->begun = true;
  in->x = x;
  in->y = y;
}

static void line_to(layer *in, long to_x, long to_y) {
  const long x = to_x - in->x, y = to_y - in->y;
  if (x == 0 && y == 0) return;
  if (x != 0 && y != 0) {
    put_point(in->to, 'l', x, y);
  } else {
    fprintf(in->to, "%c%ld", x == 0 ? 'v' : 'h', x == 0 ? y : x);
  }
  in->x = to_x;
  in->y = to_y;
}

/* Back to where it began. */
static void close_line(layer *in, long first_x, long first_y) {
  fputc('z', in->to);
  in->x = first_x;
  in->y = first_y;
}

/* A path's M, L and Z, or without letters a polygon's points; false: there is something else. */
static bool put_path(layer *to, const char *at, const char *end, bool polygon) {
  long x = 0, y = 0, first_x = 0, first_y = 0;
  bool moves = true, begun = false;
  while (at < end) {
    at += strspn(at, " \t\n");
    if (at >= end) break;
    if (!polygon && strchr("MLZ", *at)) {
      if (*at == 'Z' && begun) close_line(to, first_x, first_y);
      moves = *at++ == 'M';
      continue;
    }
    char *behind;
    const double next_x = strtod(at, &behind);
    if (behind == at || *behind != ',') return false;
    at = behind + 1;
    const double next_y = strtod(at, &behind);
    if (behind == at || !(fabs(next_x) < 1e5) || !(fabs(next_y) < 1e5)) return false;
    at = behind;
    const long to_x = lround(10 * next_x), to_y = lround(10 * next_y);
    if (moves) {
      begun = false;
    } else {
      if (!begun) {
        move_to(to, x, y);
        first_x = x;
        first_y = y;
      }
      line_to(to, to_x, to_y);
      begun = true;
    }
    x = to_x;
    y = to_y;
    moves = false;
  }
  if (polygon && begun) close_line(to, first_x, first_y);
  return true;
}

/* A point of a line, 3.1 times gnuplot's unit. Of gnuplot's numbers the even ones from 4 are those
 * before them, filled. */
static bool put_symbol(drawing *d, const tag *t) {
  static const struct {
    int number, x, y; /* where it begins, in tenths */
    const char *path;
    int to_x, to_y; /* where it ends, from where it begins */
  } symbols[] = {{0, -31, 0, "h62m-31-31v62", 31, 31},
                 {1, -30, -30, "l60 60m0-60l-60 60", 0, 60},
                 {2, -31, 0, "h62m-31-31v62m-22-53l44 44m0-44l-44 44", 9, 22},
                 {3, -31, -31, "h62v62h-62z", 0, 0},
                 {5, 0, -30, "a30 30 0 1 0 1 0z", 0, 0},
                 {7, 0, -40, "l-40 62h80z", 0, 0},
                 {9, 0, 40, "l-40-62h80z", 0, 0},
                 {11, 0, -41, "l41 41l-41 41l-41-41z", 0, 0},
                 {13, 0, 41, "l39-28l-15-46h-48l-15 46z", 0, 0}};
  char name[16] = "";
  int number;
  style s = {.width = "10"};
  if (!take_style(t, &s) || !take(t, "xlink:href", name, sizeof name) ||
      !take_colour(t, "color", s.stroke) || sscanf(name, "#gpPt%d", &number) != 1)
    return false;
  if (number >= 4 && number % 2 == 0) {
    memcpy(s.fill, s.stroke, sizeof s.fill);
    number--;
  }
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    if (symbols[i].number != number) continue;
    layer *to = layer_of_lines(d, &s);
    if (!to) return false;
    move_to(to, lround(10 * s.x) + symbols[i].x, lround(10 * s.y) + symbols[i].y);
    fputs(symbols[i].path, to->to);
    to->x += symbols[i].to_x;
    to->y += symbols[i].to_y;
    return true;
  }
  return false;
}

/* Words up to </text>. */
static bool put_words(drawing *d, const char **at) {
  const style *s = &d->styles[d->depth];
  const char *end = strchr(*at, '<');
  if (!end || strncmp(end, "</text>", 7) != 0) return false;
  char open[128];
  const bool coloured = strcmp(s->fill, "currentColor") != 0,
             moved = s->anchor[0] && strcmp(s->anchor, "start") != 0;
  snprintf(open, sizeof open, "%s%s%s%s%s%s", coloured ? " fill=\"" : "", coloured ? s->fill : "",
           coloured ? "\"" : "", moved ? " text-anchor=\"" : "", moved ? s->anchor : "",
           moved ? "\"" : "");
  const layer *in = layer_of(d, true, open);
  if (!in) return false;
  FILE *to = in->to;
  const long x = lround(s->x), y = lround(s->y);
  if (s->turned)
    fprintf(to, "<text transform=\"translate(%ld,%ld)rotate(270)\">", x, y);
  else
    fprintf(to, "<text x=\"%ld\" y=\"%ld\">", x, y);
  fprintf(to, "%.*s</text>\n", (int)(end - *at), *at);
  *at = end + 7;
  return true;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static bool open_group(drawing *d, const tag *t) {
  if (d->depth + 1 == DEPTH) return false;
  d->styles[d->depth + 1] = d->styles[d->depth];
  return take_style(t, &d->styles[++d->depth]);
}

static bool draw_lines(drawing *d, const tag *t, bool polygon) {
  style s = d->styles[d->depth];
  const char *end, *value = value_of(t, polygon ? "points" : "d", &end);
  if (!value || !take_style(t, &s)) return false;
  if (polygon) strcpy(s.stroke, "none");
  layer *to = layer_of_lines(d, &s);
  return to && put_path(to, value, end, polygon);
}

/* Over what draws nothing here: its own title and symbols. */
static bool pass(const char **at, const tag *t) {
  static const char *const names[][2] = {
      {"title", "</title>"}, {"desc", "</desc>"}, {"defs", "</defs>"}, {"filter", "</filter>"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!is_tag(t, names[i][0])) continue;
    const char *end = t->empty ? *at : strstr(*at, names[i][1]);
    if (!end) return false;
    *at = t->empty ? end : end + strlen(names[i][1]);
    return true;
  }
  return false;
}

/* All up to </svg>; false: there is something that is not known here. */
static bool draw(drawing *d, const char *at) {
  char fill[16] = "";
  tag t;
  while (next_tag(&at, &t)) {
    bool known;
    if (t.closes) {
      if (is_tag(&t, "svg")) return d->depth == 0;
      known = is_tag(&t, "g") && d->depth-- > 0;
    } else if (is_tag(&t, "g")) {
      known = t.empty || open_group(d, &t);
    } else if (is_tag(&t, "path") || is_tag(&t, "polygon")) {
      known = draw_lines(d, &t, is_tag(&t, "polygon"));
    } else if (is_tag(&t, "use")) {
      known = put_symbol(d, &t);
    } else if (is_tag(&t, "text")) {
      known = put_words(d, &at);
    } else if (is_tag(&t, "rect")) { /* the paper */
      known = take_colour(&t, "fill", fill) && strcmp(fill, "none") == 0;
    } else {
      known = pass(&at, &t);
    }
    if (!known) return false;
  }
  return false;
}

static void put_layers(FILE *to, const drawing *d) {
  fputs("<g fill=\"none\" stroke=\"currentColor\" stroke-width=\"10\" transform=\"scale(.1)\">\n",
        to);
  for (int i = 0; i < d->count; i++)
    if (!d->layers[i].words && d->layers[i].length > 0)
      fprintf(to, "<path%s d=\"%s\"/>\n", d->layers[i].open, d->layers[i].text);
  fputs("</g>\n<g fill=\"currentColor\" font-size=\"12\">\n", to);
  for (int i = 0; i < d->count; i++)
    if (d->layers[i].words) fprintf(to, "<g%s>\n%s</g>\n", d->layers[i].open, d->layers[i].text);
  fputs("</g></svg>\n", to);
}

char *plot_redraw(const plot *chart, const char *svg, bool inlined, const char *id,
                  size_t *length) {
  const char *begin = strstr(svg, "<svg");
  begin = begin ? strchr(begin, '>') : NULL;
  if (!begin) return NULL;
  drawing d = {.styles[0] = {.stroke = "currentColor", .fill = "none", .width = "10"}};
  bool good = draw(&d, begin + 1);
  for (int i = 0; i < d.count; i++) good = fclose(d.layers[i].to) == 0 && good;
  char *text = NULL;
  FILE *to = good ? open_memstream(&text, length) : NULL;
  if (to) {
    svg_begin(to, chart->width, chart->height, id, inlined, chart->title, chart->description);
    put_layers(to, &d);
    if (fclose(to) != 0) {
      free(text);
      text = NULL;
    }
  }
  for (int i = 0; i < d.count; i++) free(d.layers[i].text);
  return text;
}
