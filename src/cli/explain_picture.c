/* rung explain --picture: what the threads of one block did, as textbooks draw it: threads from
 * left to right, steps from top to bottom. */
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"
#include "cli/svg.h"

/* Pixels; a cell is a thread at a step. */
enum { PITCH = 12, CELL = 10, GAP = 8, ROW = 14, LEFT = 290, RIGHT = 330, NARROWEST = 1000 };
/* Of all kernels together, so that the file stays small and the picture can be read. */
enum { MOST_ROWS = 160, MOST_BYTES = 440000 };
enum { SECTOR = 32, NOTE = 320 };

/* ---- rows: what several warps do at one place of the source -----------------------------------
 */

typedef struct row {
  const rung_profile_step *of[RUNG_KEPT_WARPS]; /* NULL: the warp is elsewhere */
  const rung_profile_step *one;                 /* any of them */
  int64_t steps;                                /* how many of the warps' it stands for */
} row;

/* Where each warp is between two barriers. */
typedef struct walk {
  const rung_profile_kernel *kernel;
  int64_t at[RUNG_KEPT_WARPS], end[RUNG_KEPT_WARPS], next; /* next: the phase to come */
} walk;

static bool enter_phase(walk *w) {
  const rung_profile_step *steps = w->kernel->steps;
  const int64_t count = w->kernel->step_count, first = w->next;
  for (int i = 0; i < RUNG_KEPT_WARPS; i++) w->at[i] = w->end[i] = first;
  for (; w->next < count && steps[w->next].phase == steps[first].phase; w->next++) {
    const int warp = steps[w->next].warp;
    if (w->end[warp] == first) w->at[warp] = w->next;
    w->end[warp] = w->next + 1;
  }
  return first < count;
}

static const rung_profile_step *head_of(const walk *w, int warp) {
  return w->at[warp] < w->end[warp] ? &w->kernel->steps[w->at[warp]] : NULL;
}

/* What a warp does next, and how many of its steps that is: basic blocks that the same threads run
 * one after another are one, and so is the barrier for threads that come to it from several sides.
 */
static const rung_profile_step *take_step(walk *w, int warp, int64_t *taken) {
  const rung_profile_step *step = head_of(w, warp), *next;
  const bool block = step->deed == RUNG_DID_WORK, barrier = step->deed == RUNG_DID_BARRIER;
  do {
    w->at[warp]++;
    ++*taken;
    next = head_of(w, warp);
  } while (next && next->deed == step->deed && (barrier || (block && next->lanes == step->lanes)));
  return step;
}

/* Warps meet as threads of a warp do: the lowest place goes first, with all that stand there; the
 * barrier last. */
static bool goes_before(const rung_profile_step *a, const rung_profile_step *b) {
  const bool a_waits = a->deed == RUNG_DID_BARRIER, b_waits = b->deed == RUNG_DID_BARRIER;
  return a_waits != b_waits ? b_waits : a->place < b->place;
}

static bool are_one(const rung_profile_step *a, const rung_profile_step *b) {
  return a->deed == b->deed &&
         (a->deed == RUNG_DID_BARRIER || (a->place == b->place && a->shared == b->shared));
}

static bool next_row(walk *w, row *found) {
  const rung_profile_step *one = NULL;
  *found = (row){0};
  do {
    for (int i = 0; i < RUNG_KEPT_WARPS; i++) {
      const rung_profile_step *head = head_of(w, i);
      if (head && (!one || goes_before(head, one))) one = head;
    }
  } while (!one && enter_phase(w));
  found->one = one;
  for (int i = 0; i < RUNG_KEPT_WARPS && one; i++) {
    const rung_profile_step *head = head_of(w, i);
    if (head && are_one(head, one)) found->of[i] = take_step(w, i, &found->steps);
  }
  return one != NULL;
}

/* ---- cells ---------------------------------------------------------------------------------- */

typedef enum look { NOTHING, IDLE, WORKS, GLOBAL, SHARED, CONFLICT, ATOMIC, EXCHANGE, LOOKS } look;

/* Outlines: where they begin in a cell, and how far from there they end. */
typedef enum shape { DASH, SQUARE, EIGHT_SIDES, DIAMOND, SHAPES } shape;
static const struct {
  int x, y;
  const char *path;
  int to_x;
} shapes[SHAPES] = {[DASH] = {4, 5, "h2", 2},
                    [SQUARE] = {0, 0, "h10v10h-10z", 0},
                    [EIGHT_SIDES] = {3, 0, "h4l3 3v4l-3 3h-4l-3-3v-4z", 0},
                    [DIAMOND] = {5, 0, "l5 5l-5 5l-5-5z", 0}};

static const struct {
  const char *name; /* its class */
  shape shape;
  const char *sample; /* what stands in it in the legend */
  const char *meaning;
} looks[LOOKS] = {
    [IDLE] = {"idle", DASH, "", "idle while others of its warp work"},
    [WORKS] = {"works", SQUARE, "", "works while others of its warp are idle"},
    [GLOBAL] = {"global", SQUARE, "0", "global memory: the request's sectors by number"},
    [SHARED] = {"shared", EIGHT_SIDES, "7", "shared memory: the bank"},
    [CONFLICT] = {"conflict", SQUARE, "7", "bank conflict: others want another word of it"},
    [ATOMIC] = {"atomic", SQUARE, "7", "atomic: bank or sector"},
    [EXCHANGE] = {"exchange", DIAMOND, "", "exchange in the warp (shuffle, vote)"},
};

/* A warp's part of a row. */
typedef struct cells {
  look looks[RUNG_LANES];
  int numbers[RUNG_LANES]; /* bank or sector; 0 of those that have none */
  bool numbered;
  int ways; /* the most words that one bank has to serve in a pass's stead */
} cells;

static bool takes_part(const rung_profile_step *step, int lane) {
  return step->lanes >> lane & 1;
}

/* Sectors in the order of the threads that want them. */
static void number_sectors(const rung_profile_step *step, cells *of) {
  uint64_t sectors[RUNG_LANES] = {0};
  int count = 0;
  for (int lane = 0; lane < RUNG_LANES; lane++) {
    if (!takes_part(step, lane)) continue;
    const uint64_t sector = step->address[lane] / SECTOR;
    int k = 0;
    while (k < count && sectors[k] != sector) k++;
    if (k == count) sectors[count++] = sector;
    of->numbers[lane] = k;
  }
}

static int bank_of(const rung_profile_step *step, int lane) {
  return (int)(step->address[lane] / RUNG_BANK_BYTES % RUNG_BANKS);
}

/* Of each lane how many words its first bank has to serve for those that are served with it. */
static void find_conflicts(const rung_profile_step *step, cells *of) {
  rung_bank_access accesses[RUNG_LANES];
  int words[RUNG_BANKS], count = 0;
  for (int lane = 0; lane < RUNG_LANES; lane++)
    if (takes_part(step, lane))
      accesses[count++] = (rung_bank_access){step->address[lane], step->bytes, lane};
  for (int lane = 0, to = 0; lane < RUNG_LANES; lane++) {
    if (lane == to) {
      to = lane + rung_bank_group(accesses, count, lane);
      rung_bank_words(accesses, count, lane, to, words);
    }
    if (!takes_part(step, lane)) continue;
    const int ways = words[bank_of(step, lane)];
    if (of->ways < ways) of->ways = ways;
    if (ways > 1) of->looks[lane] = CONFLICT;
  }
}

static void look_at(const rung_profile_step *step, cells *of) {
  static const look looks_of[] = {
      [RUNG_DID_WORK] = WORKS,    [RUNG_DID_LOAD] = GLOBAL,   [RUNG_DID_STORE] = GLOBAL,
      [RUNG_DID_ATOMIC] = ATOMIC, [RUNG_DID_BARRIER] = WORKS, [RUNG_DID_EXCHANGE] = EXCHANGE};
  const bool moves = step->deed == RUNG_DID_LOAD || step->deed == RUNG_DID_STORE;
  memset(of, 0, sizeof *of); /* all of it is compared */
  of->numbered = step->bytes > 0;
  for (int lane = 0; lane < RUNG_LANES; lane++) {
    if (!(step->all >> lane & 1)) continue;
    of->looks[lane] = !takes_part(step, lane) ? IDLE
                      : moves && step->shared ? SHARED
                                              : looks_of[step->deed];
    if (of->looks[lane] > WORKS) of->numbers[lane] = bank_of(step, lane);
  }
  if (!step->shared && step->bytes > 0) number_sectors(step, of);
  if (step->shared && moves) find_conflicts(step, of);
}

/* ---- drawing -------------------------------------------------------------------------------- */

typedef struct picture {
  FILE *to;
  const char *id; /* how the ids of what is drawn begin */
  cells *drawn;   /* warps so far, of which equal ones are drawn once; room for all */
  int count;
  FILE *words; /* the same as text, where it is wanted */
  int y, rows; /* so far */
  int warps;   /* of the kernel under way, shown */
  int threads; /* of those */
} picture;

static int x_of(int warp, int lane) {
  return LEFT + warp * (RUNG_LANES * PITCH + GAP) + lane * PITCH;
}

static int right_of(const picture *p) {
  return x_of((p->threads - 1) / RUNG_LANES, (p->threads - 1) % RUNG_LANES) + CELL;
}

/* Neighbours that look alike are drawn by one word, which stands for as many cells. */
static const int runs[] = {RUNG_LANES, 8};
enum { RUNS = sizeof runs / sizeof *runs };

/* Of each lane how many cells are drawn from it on; 0: none, or by one before it. */
static void find_pieces(const cells *of, look which, int pieces[RUNG_LANES]) {
  for (int lane = 0; lane < RUNG_LANES; lane++) pieces[lane] = 0;
  for (int lane = 0; lane < RUNG_LANES;) {
    int count = 0, piece = 1;
    while (lane + count < RUNG_LANES && of->looks[lane + count] == which) count++;
    for (int i = RUNS - 1; i >= 0; i--)
      if (runs[i] <= count) piece = runs[i];
    pieces[lane] = count > 0 ? piece : 0;
    lane += piece;
  }
}

/* Cells from x on, each so far from the one before; *at: where the line before ended, -1: none is
 * begun. */
static void put_cell(FILE *to, shape kind, int x, int y, int *at) {
  const int begin = x + shapes[kind].x;
  if (*at < 0)
    fprintf(to, "M%d %d%s", begin, y + shapes[kind].y, shapes[kind].path);
  else
    fprintf(to, "m%d 0%s", begin - *at, shapes[kind].path);
  *at = begin + shapes[kind].to_x;
}

static void put_pieces(FILE *to, const cells *of, look which, bool alone) {
  const shape kind = looks[which].shape;
  int pieces[RUNG_LANES], at = -1;
  find_pieces(of, which, pieces);
  for (int lane = 0; lane < RUNG_LANES; lane++) {
    if (pieces[lane] == 0 || (pieces[lane] == 1) != alone) continue;
    if (alone) {
      if (at < 0) fputs("<path d=\"", to);
      put_cell(to, kind, lane * PITCH, 2, &at);
    } else {
      fprintf(to, "<use href=\"#c%d-%d\" x=\"%d\"/>", kind, pieces[lane], lane * PITCH);
    }
  }
  if (at >= 0) fputs("\"/>", to);
}

static void put_looks(FILE *to, const cells *of, look which) {
  bool any = false;
  for (int lane = 0; lane < RUNG_LANES; lane++) any = any || of->looks[lane] == which;
  if (!any) return;
  fprintf(to, "<g class=\"%s\">", looks[which].name);
  put_pieces(to, of, which, false);
  put_pieces(to, of, which, true);
  fputs("</g>", to);
}

static void put_numbers(FILE *to, const cells *of) {
  if (!of->numbered) return;
  fputs("<g class=\"number\" transform=\"translate(5 9)\">", to);
  for (int lane = 0; lane < RUNG_LANES; lane++)
    if (of->looks[lane] > WORKS)
      fprintf(to, "<text x=\"%d\">%d</text>", lane * PITCH, of->numbers[lane]);
  fputs("</g>", to);
}

/* A warp that looks as one before it is that one again. */
static void draw_warp(picture *p, const cells *of, int x) {
  int at = 0;
  while (at < p->count && memcmp(&p->drawn[at], of, sizeof *of) != 0) at++;
  if (at < p->count) {
    fprintf(p->to, "<use href=\"#%s-%d\" x=\"%d\"/>", p->id, at, x);
    return;
  }
  p->drawn[p->count++] = *of;
  fprintf(p->to, "<g transform=\"translate(%d)\"><g id=\"%s-%d\">", x, p->id, at);
  for (look k = IDLE; k < LOOKS; k++) put_looks(p->to, of, k);
  put_numbers(p->to, of);
  fputs("</g></g>", p->to);
}

/* What is said of a warp's step. */
typedef enum noted { NOTED_IDLE, NOTED_SECTORS, NOTED_DEPTH, NOTED_WAYS } noted;
static int number_of(noted which, const rung_profile_step *step, const cells *of) {
  switch (which) {
    case NOTED_IDLE:
      return __builtin_popcount(step->all) - __builtin_popcount(step->lanes);
    case NOTED_SECTORS:
      return step->sectors;
    case NOTED_DEPTH:
      return step->depth;
    default:
      return of->ways;
  }
}

/* "name 1, 2, -, 4": a number a warp, where one of them is more than `least`. */
static void note(const picture *p, const row *of, const cells *warps, const char *name,
                 const char *unit, noted which, int least, char text[NOTE]) {
  int most = 0;
  for (int w = 0; w < p->warps; w++)
    if (of->of[w] && most < number_of(which, of->of[w], &warps[w]))
      most = number_of(which, of->of[w], &warps[w]);
  if (most <= least) return;
  size_t used = strlen(text);
  used += (size_t)snprintf(text + used, NOTE - used, "%s%s", used ? "; " : "", name);
  for (int w = 0; w < p->warps; w++) {
    used += (size_t)snprintf(text + used, NOTE - used, w ? ", " : " ");
    if (!of->of[w])
      used += (size_t)snprintf(text + used, NOTE - used, "-");
    else
      used += (size_t)snprintf(text + used, NOTE - used, "%d%s",
                               number_of(which, of->of[w], &warps[w]), unit);
  }
}

static const char *kind_of(const rung_profile_step *step, char text[32]) {
  static const char *const names[] = {
      [RUNG_DID_WORK] = "works",      [RUNG_DID_LOAD] = "load",
      [RUNG_DID_STORE] = "store",     [RUNG_DID_ATOMIC] = "atomic",
      [RUNG_DID_BARRIER] = "barrier", [RUNG_DID_EXCHANGE] = "exchange"};
  if (step->bytes > 0)
    snprintf(text, 32, "%s %s %d B", names[step->deed], step->shared ? "shared" : "global",
             step->bytes);
  else
    snprintf(text, 32, "%s", names[step->deed]);
  return text;
}

/* "modulo.cu:16", with the path "src/ops/reduce/cuda/modulo.cu:16". */
static void place_of(const rung_profile_step *step, bool path, char text[128]) {
  const char *file = step->file ? explain_path(step->file) : NULL;
  if (!file) file = step->file;
  if (file && !path && strrchr(file, '/')) file = strrchr(file, '/') + 1;
  if (file)
    snprintf(text, 128, "%.100s:%d", file, step->line);
  else
    snprintf(text, 128, "%s", step->deed == RUNG_DID_WORK ? "" : "line not known");
}

static int parts_of(const row *of) {
  int parts = 0;
  for (int w = 0; w < RUNG_KEPT_WARPS; w++) parts += of->of[w] != NULL;
  return parts;
}

static void draw_row(picture *p, const row *of) {
  cells warps[RUNG_KEPT_WARPS];
  char kind[32], place[128], text[NOTE] = "";
  const bool barrier = of->one->deed == RUNG_DID_BARRIER;
  for (int w = 0; w < p->warps; w++)
    if (of->of[w]) look_at(of->of[w], &warps[w]);
  fprintf(p->to, "<g transform=\"translate(0 %d)\"><title>step %d: ", p->y, p->rows + 1);
  svg_escape(p->to, kind_of(of->one, kind));
  place_of(of->one, true, place);
  fputs(", ", p->to);
  svg_escape(p->to, place);
  fputs("</title>", p->to);
  place_of(of->one, false, place);
  if (of->one->deed == RUNG_DID_WORK && of->steps > parts_of(of))
    strncat(place, " ...", sizeof place - strlen(place) - 1);
  fprintf(p->to, "<text class=\"end\" x=\"28\" y=\"10\">%d</text>", p->rows + 1);
  svg_words(p->to, 36, 10, NULL, kind);
  svg_words(p->to, 148, 10, NULL, place);
  if (barrier) {
    fprintf(p->to, "<path class=\"barrier\" d=\"M%d 7H%d\"/>", LEFT, right_of(p));
  } else {
    for (int w = 0; w < p->warps; w++)
      if (of->of[w]) draw_warp(p, &warps[w], x_of(w, 0));
    note(p, of, warps, "idle", "", NOTED_IDLE, 0, text);
    note(p, of, warps, "sectors", "", NOTED_SECTORS, 0, text);
    note(p, of, warps, "conflict", "-way", NOTED_WAYS, 1, text);
    note(p, of, warps, "at one address", "", NOTED_DEPTH, 0, text);
    if (text[0]) svg_words(p->to, right_of(p) + 12, 10, NULL, text);
  }
  if (p->words) fprintf(p->words, "%d,%s,%s,%s\n", p->rows + 1, kind, place, text);
  fputs("</g>\n", p->to);
  p->y += ROW;
  p->rows++;
}

static void draw_scale(picture *p) {
  char text[32];
  fprintf(p->to, "<g transform=\"translate(0 %d)\">", p->y);
  svg_words(p->to, 36, 24, NULL, "thread");
  for (int w = 0; w < p->warps; w++) {
    snprintf(text, sizeof text, "warp %d", w);
    svg_words(p->to, x_of(w, 0), 10, NULL, text);
  }
  fputs("<g class=\"number\">", p->to);
  for (int t = 0; t < p->threads; t += t < 100 ? 1 : 2) /* three digits are wider than a cell */
    fprintf(p->to, "<text x=\"%d\" y=\"24\">%d</text>",
            x_of(t / RUNG_LANES, t % RUNG_LANES) + CELL / 2, t);
  fputs("</g></g>\n", p->to);
  p->y += 28;
}

/* Rows as long as there is room for them, up to so many of the picture. */
static void draw_kernel(picture *p, const rung_profile_kernel *kernel, int most_rows,
                        long most_bytes) {
  char text[RUNG_KERNEL_NAME + 200];
  const int shown = kernel->threads < RUNG_KEPT_WARPS * RUNG_LANES ? kernel->threads
                                                                   : RUNG_KEPT_WARPS * RUNG_LANES;
  walk at = {.kernel = kernel};
  row next;
  int64_t lost = kernel->steps_lost;
  p->threads = shown;
  p->warps = (shown + RUNG_LANES - 1) / RUNG_LANES;
  int used = snprintf(text, sizeof text, "%s: block 0 of its first launch, %d threads",
                      kernel->name, kernel->threads);
  if (shown < kernel->threads)
    snprintf(text + used, sizeof text - (size_t)used, ", of which the first %d are shown", shown);
  p->y += 24;
  svg_words(p->to, 8, p->y, "heading", text);
  p->y += 8;
  draw_scale(p);
  while (next_row(&at, &next)) {
    if (p->rows < most_rows && ftell(p->to) < most_bytes && lost == kernel->steps_lost)
      draw_row(p, &next);
    else
      lost += next.steps;
  }
  if (lost > 0) {
    snprintf(text, sizeof text, "%lld further steps of these warps are left out", (long long)lost);
    p->y += ROW;
    svg_words(p->to, 36, p->y, "left-out", text);
  }
}

static void draw_legend(picture *p) {
  enum { ACROSS = 3, WIDE = 320 };
  int drawn = 0;
  for (look k = IDLE; k < LOOKS; k++, drawn++) {
    const int x = 8 + drawn % ACROSS * WIDE, y = p->y + drawn / ACROSS * 16;
    int at = -1;
    fprintf(p->to, "<g transform=\"translate(%d %d)\"><path class=\"%s\" d=\"", x, y,
            looks[k].name);
    put_cell(p->to, looks[k].shape, 0, 0, &at);
    fputs("\"/>", p->to);
    if (looks[k].sample[0])
      fprintf(p->to, "<g class=\"number\"><text x=\"5\" y=\"8\">%s</text></g>", looks[k].sample);
    svg_words(p->to, 16, 9, NULL, looks[k].meaning);
    fputs("</g>", p->to);
  }
  const int x = 8 + drawn % ACROSS * WIDE, y = p->y + drawn / ACROSS * 16;
  fprintf(p->to, "<path class=\"barrier\" d=\"M%d %dh10\"/>", x, y + 5);
  svg_words(p->to, x + 16, y + 9, NULL, "barrier of the block");
  p->y = y + 24;
  svg_words(
      p->to, 8, p->y, NULL,
      "Behind a step, for each warp: threads that are idle; sectors of the request; words that "
      "a bank has to serve one by one; threads that meet at one address.");
}

/* Kinds differ by shape and number, too. */
static const char style[] =
    "<defs><pattern id=\"hatch\" width=\"3\" height=\"3\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><path d=\"M0 0v3\" stroke=\"#d1495b\" stroke-width=\"1.6\" "
    "stroke-opacity=\".35\"/></pattern></defs>\n"
    "<style>.steps text{font:10px ui-monospace,monospace;fill:currentColor}"
    ".steps .title{font-size:14px}"
    ".steps .heading{font-size:12px;font-weight:bold}.steps .end{text-anchor:end}"
    ".steps .number text{font-size:7px;text-anchor:middle}"
    ".steps .idle{stroke:currentColor;stroke-width:2.6;opacity:.6}"
    ".steps .works{fill:currentColor;fill-opacity:.5}"
    ".steps .global{fill:#2f81f7;fill-opacity:.2;stroke:#2f81f7}"
    ".steps .shared{fill:#2da44e;fill-opacity:.2;stroke:#2da44e}"
    ".steps .conflict{fill:url(#hatch);stroke:#d1495b;stroke-width:1.5}"
    ".steps .atomic{fill:#d1762a;fill-opacity:.2;stroke:#d1762a;stroke-dasharray:2 1}"
    ".steps .exchange{fill:#b65bc4;fill-opacity:.3;stroke:#b65bc4}"
    ".steps .barrier{stroke:currentColor;stroke-width:2}</style>\n";

void explain_put_style(FILE *to) {
  fputs(style, to);
  fputs("<defs>", to);
  for (shape kind = 0; kind < SHAPES; kind++)
    for (int i = 0; i < RUNS; i++) {
      int at = -1;
      fprintf(to, "<path id=\"c%d-%d\" d=\"", kind, runs[i]);
      for (int cell = 0; cell < runs[i]; cell++) put_cell(to, kind, cell * PITCH, 2, &at);
      fputs("\"/>", to);
    }
  fputs("</defs>\n", to);
}

/* What follows the head, of which the height is known at its end. */
static rung_status draw_all(const rung_profile *profile, picture *p, char **text, size_t *length,
                            rung_error *error) {
  const int count = profile->count;
  p->to = open_memstream(text, length);
  if (!p->to) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a picture");
  draw_legend(p);
  for (int k = 0; k < count; k++)
    draw_kernel(p, &profile->kernels[k], MOST_ROWS * (k + 1) / count,
                (long)MOST_BYTES * (k + 1) / count);
  if (fclose(p->to) == 0) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a picture");
}

static int width_of(const rung_profile *profile) {
  int most = 1;
  for (int k = 0; k < profile->count; k++)
    if (most < profile->kernels[k].threads) most = profile->kernels[k].threads;
  if (most > RUNG_KEPT_WARPS * RUNG_LANES) most = RUNG_KEPT_WARPS * RUNG_LANES;
  const int width = x_of((most - 1) / RUNG_LANES, (most - 1) % RUNG_LANES) + RIGHT;
  return width < NARROWEST ? NARROWEST : width;
}

rung_status explain_draw(FILE *to, const rung_profile *profile, const char *title, const char *idea,
                         const char *id, FILE *words, rung_error *error) {
  char *body = NULL;
  size_t length = 0;
  picture p = {.words = words, .y = 54, .id = id ? id : "picture"};
  p.drawn = calloc((size_t)MOST_ROWS * RUNG_KEPT_WARPS, sizeof *p.drawn);
  rung_status status = p.drawn ? draw_all(profile, &p, &body, &length, error)
                               : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a picture");
  if (!status) {
    svg_begin(to, width_of(profile), p.y + 24, p.id, id != NULL, title,
              "What the threads of one block do on the simulated GPU: threads from left to right, "
              "steps from top to bottom.");
    if (!id) explain_put_style(to);
    fputs("<g class=\"steps\">", to);
    svg_words(to, 8, 24, "title", title);
    svg_words(to, 8, 42, NULL, idea);
    fputs(body, to);
    fputs("</g></svg>\n", to);
  }
  free(p.drawn);
  free(body);
  return status;
}
