/* rung timeline --picture: a line for each place of each multiprocessor, a bar for each block. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/svg.h"
#include "cli/trace.h"

/* Pixels. */
enum { WIDTH = 1000, LEFT = 150, ACROSS = 800, ROW = 14, BAR = 10, TOP = 76, TICKS = 4 };
enum { MOST_ROWS = 256, MOST_BYTES = 440000, DIGIT = 5 };

typedef struct bar {
  const rung_block_time *block;
  int64_t number, slot;
} bar;

static int compare(uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

static int by_place(const void *left, const void *right) {
  const bar *a = left, *b = right;
  int order = compare(a->block->processor, b->block->processor);
  if (order == 0) order = compare((uint64_t)a->slot, (uint64_t)b->slot);
  if (order == 0) order = compare(a->block->start, b->block->start);
  return order ? order : compare((uint64_t)a->number, (uint64_t)b->number);
}

static bar *bars_of(const lab_timeline *timeline) {
  int64_t *slots = lab_timeline_places(timeline);
  bar *bars = slots ? malloc((size_t)timeline->count * sizeof *bars) : NULL;
  for (int64_t i = 0; bars && i < timeline->count; i++)
    bars[i] = (bar){&timeline->blocks[i], i, slots[i]};
  if (bars) qsort(bars, (size_t)timeline->count, sizeof *bars, by_place);
  free(slots);
  return bars;
}

static double x_of(const lab_timeline_figures *figures, uint64_t moment) {
  const double span = figures->span > 0 ? (double)figures->span : 1;
  return LEFT + ACROSS * (double)(moment - figures->first) / span;
}

/* Its number stands in a bar that is wide enough. */
static void draw_bar(FILE *to, const lab_timeline_figures *figures, const bar *the, int y) {
  char number[32];
  const double x = x_of(figures, the->block->start), wide = x_of(figures, the->block->end) - x;
  const int length = snprintf(number, sizeof number, "%" PRId64, the->number);
  fprintf(to, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>", x, y,
          wide > 0.5 ? wide : 0.5, BAR);
  if (wide > length * DIGIT + 2)
    fprintf(to, "<text x=\"%.1f\" y=\"%d\">%s</text>", x + wide / 2, y + BAR - 2, number);
}

/* The lines and their bars; *y is where they end. */
static void draw_bars(FILE *to, const lab_timeline_figures *figures, const bar *bars, int64_t count,
                      int *y) {
  char text[64];
  int64_t i = 0;
  for (int rows = 0; i < count && rows < MOST_ROWS && ftell(to) < MOST_BYTES; rows++) {
    const bar *first = &bars[i];
    const bool other = i == 0 || first[-1].block->processor != first->block->processor;
    if (other) *y += ROW / 2;
    snprintf(text, sizeof text, "multiprocessor %" PRIu64, first->block->processor);
    if (other) svg_words(to, 8, *y + BAR - 1, NULL, text);
    snprintf(text, sizeof text, "%" PRId64, first->slot);
    svg_words(to, LEFT - 12, *y + BAR - 1, "end", text);
    fputs("<g class=\"block\">", to);
    for (; i < count && bars[i].block->processor == first->block->processor &&
           bars[i].slot == first->slot && ftell(to) < MOST_BYTES;
         i++)
      draw_bar(to, figures, &bars[i], *y);
    fputs("</g>\n", to);
    *y += ROW;
  }
  if (i == count) return;
  snprintf(text, sizeof text, "%" PRId64 " further blocks are left out", count - i);
  svg_words(to, LEFT, *y + ROW, "left-out", text);
  *y += 2 * ROW;
}

static void draw_scale(FILE *to, const lab_timeline_figures *figures, const char *unit,
                       int bottom) {
  char text[32];
  for (int k = 0; k <= TICKS; k++) {
    const int x = LEFT + ACROSS * k / TICKS;
    timeline_span(unit, (double)figures->span * k / TICKS, text);
    fprintf(to, "<path class=\"scale\" d=\"M%d %dV%d\"/>", x, TOP - 4, bottom);
    svg_words(to, x, TOP - 8, "middle", text);
  }
  svg_words(to, 8, TOP - 8, NULL, "place");
}

const char timeline_style[] =
    "<style>.blocks text{font:10px ui-monospace,monospace;fill:currentColor}"
    ".blocks .title{font-size:14px}"
    ".blocks .end{text-anchor:end}.blocks .middle{text-anchor:middle}"
    ".blocks .block text{font-size:8px;text-anchor:middle}"
    ".blocks .block rect{fill:#2f81f7;fill-opacity:.2;stroke:#2f81f7;stroke-width:.8}"
    ".blocks .scale{stroke:currentColor;stroke-width:.5;stroke-dasharray:2 2;opacity:.6}</style>\n";

rung_status timeline_draw(FILE *to, const lab_timeline *timeline,
                          const lab_timeline_figures *figures, const char *unit, const char *title,
                          const char *id, rung_error *error) {
  char *body = NULL;
  size_t length = 0;
  int bottom = TOP;
  bar *bars = bars_of(timeline);
  FILE *lines = bars ? open_memstream(&body, &length) : NULL;
  if (lines) draw_bars(lines, figures, bars, timeline->count, &bottom);
  const bool whole = lines && fclose(lines) == 0;
  if (whole) {
    svg_begin(to, WIDTH, bottom + 16, id ? id : "timeline", id != NULL, title,
              "When each block ran: a line for each place of each multiprocessor, a bar for each "
              "block, time from left to right.");
    if (!id) fputs(timeline_style, to);
    fputs("<g class=\"blocks\">", to);
    svg_words(to, 8, 24, "title", title);
    svg_words(to, 8, 42, NULL,
              "A bar for each block, with its number; a line for each place of a multiprocessor.");
    draw_scale(to, figures, unit, bottom);
    fputs(body, to);
    fputs("\n</g></svg>\n", to);
  }
  free(body);
  free(bars);
  return whole ? RUNG_OK
               : rung_fail(error, RUNG_OUT_OF_MEMORY,
                           "no memory for the picture of %" PRId64 " blocks", timeline->count);
}
