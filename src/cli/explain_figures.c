#include <math.h>
#include <string.h>

#include "cli/explain.h"

enum { SECTOR_BYTES = 32, WIDE_SECTORS = 16 };

typedef enum kind { COUNT, RATIO, SHARE } kind;
static const struct {
  const char *name;
  kind kind;
} figures_known[FIGURES] = {
    [FIGURE_LAUNCHES] = {"launches", COUNT},
    [FIGURE_LOADS] = {"global_loads", COUNT},
    [FIGURE_STORES] = {"global_stores", COUNT},
    [FIGURE_SECTORS] = {"sectors", COUNT},
    [FIGURE_SECTORS_PER_REQUEST] = {"sectors_per_request", RATIO},
    [FIGURE_IDEAL_SECTORS] = {"ideal_sectors_per_request", RATIO},
    [FIGURE_EFFICIENCY] = {"efficiency", SHARE},
    [FIGURE_ACCESSES] = {"global_accesses", COUNT},
    [FIGURE_SHARED] = {"shared_requests", COUNT},
    [FIGURE_CONFLICTS] = {"bank_conflicts", COUNT},
    [FIGURE_ATOMICS] = {"atomics", COUNT},
    [FIGURE_ATOMIC_DEPTH] = {"atomic_depth", COUNT},
    [FIGURE_DIVERGENCE] = {"divergence", SHARE},
    [FIGURE_BRANCHES] = {"divergent_branches", COUNT},
    [FIGURE_BARRIERS] = {"barriers", COUNT},
    [FIGURE_SHUFFLES] = {"exchanges", COUNT},
    [FIGURE_FLOPS] = {"flops", COUNT},
    [FIGURE_FLOPS_PER_ACCESS] = {"flops_per_access", RATIO},
    [FIGURE_FLOPS_PER_BYTE] = {"flops_per_byte", RATIO},
};

const char *explain_figure_name(explain_figure figure) {
  return figures_known[figure].name;
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

/* NaN where it was not counted: sums and quotients with it are not there either. */
static double counted(const rung_counts *counts, rung_counter counter) {
  const int64_t count = counts->at[counter];
  return count == RUNG_NOT_COUNTED ? NAN : (double)count;
}

static double over(double part, double whole) {
  return whole > 0 ? part / whole : NAN;
}

explain_figures explain_figures_of(const rung_counts *counts, int64_t launches,
                                   double least_flops) {
  explain_figures figures = {0};
  double *at = figures.at;
  const double bytes =
      counted(counts, RUNG_GLOBAL_LOAD_BYTES) + counted(counts, RUNG_GLOBAL_STORE_BYTES);
  at[FIGURE_LAUNCHES] = (double)launches;
  at[FIGURE_LOADS] = counted(counts, RUNG_GLOBAL_LOADS);
  at[FIGURE_STORES] = counted(counts, RUNG_GLOBAL_STORES);
  at[FIGURE_SECTORS] =
      counted(counts, RUNG_GLOBAL_LOAD_SECTORS) + counted(counts, RUNG_GLOBAL_STORE_SECTORS);
  const double requests = at[FIGURE_LOADS] + at[FIGURE_STORES];
  const double moved = SECTOR_BYTES * at[FIGURE_SECTORS];
  at[FIGURE_SECTORS_PER_REQUEST] = over(at[FIGURE_SECTORS], requests);
  at[FIGURE_IDEAL_SECTORS] = over(bytes / SECTOR_BYTES, requests);
  at[FIGURE_EFFICIENCY] = over(bytes, moved);
  at[FIGURE_ACCESSES] = counted(counts, RUNG_GLOBAL_ACCESSES);
  at[FIGURE_SHARED] = counted(counts, RUNG_SHARED_LOADS) + counted(counts, RUNG_SHARED_STORES);
  at[FIGURE_CONFLICTS] =
      counted(counts, RUNG_SHARED_LOAD_CONFLICTS) + counted(counts, RUNG_SHARED_STORE_CONFLICTS);
  at[FIGURE_ATOMICS] = counted(counts, RUNG_GLOBAL_ATOMICS) + counted(counts, RUNG_SHARED_ATOMICS);
  at[FIGURE_ATOMIC_DEPTH] = counted(counts, RUNG_ATOMIC_DEPTH);
  at[FIGURE_DIVERGENCE] = over(counted(counts, RUNG_PARTIAL_STEPS), counted(counts, RUNG_STEPS));
  at[FIGURE_BRANCHES] = counted(counts, RUNG_DIVERGENT_BRANCHES);
  at[FIGURE_BARRIERS] = counted(counts, RUNG_BARRIERS);
  at[FIGURE_SHUFFLES] = counted(counts, RUNG_EXCHANGES);
  const double flops = counted(counts, RUNG_FLOPS);
  at[FIGURE_FLOPS] = isnan(flops) ? least_flops : flops;
  at[FIGURE_FLOPS_PER_ACCESS] = over(at[FIGURE_FLOPS], at[FIGURE_ACCESSES]);
  at[FIGURE_FLOPS_PER_BYTE] = over(at[FIGURE_FLOPS], moved);
  return figures;
}

explain_figures explain_rung_figures(const explained *the) {
  int64_t launches = 0;
  for (int i = 0; i < the->profile.count; i++) launches += the->profile.kernels[i].launches;
  return explain_figures_of(&the->total, launches, the->test_case->flops);
}

/* ---- text ----------------------------------------------------------------------------------- */

const char *explain_count(double count, char text[32]) {
  static const char *const units[] = {"", " k", " M", " G", " T", " P"};
  int unit = 0;
  if (isnan(count)) return "-";
  if (fabs(count) >= 1e6)
    for (; fabs(count) >= 999.5 && unit < 5; unit++) count /= 1000;
  snprintf(text, 32, unit ? "%.3g%s" : "%.0f%s", count, units[unit]);
  return text;
}

const char *explain_figure_text(const explain_figures *figures, explain_figure figure,
                                char text[32]) {
  const double value = figures->at[figure];
  if (isnan(value)) return "-";
  if (figures_known[figure].kind == COUNT) return explain_count(value, text);
  if (figures_known[figure].kind == SHARE)
    snprintf(text, 32, "%.1f %%", 100 * value);
  else
    snprintf(text, 32, "%.2f", value);
  return text;
}

/* ---- sentences ------------------------------------------------------------------------------ */

/* The heaviest so far, heaviest first. */
typedef struct saying {
  int count;
  double weights[EXPLAIN_SAYINGS];
  char (*texts)[RUNG_SENTENCE];
} saying;

static void say(saying *all, double weight, const char *text) {
  int at = all->count;
  while (at > 0 && all->weights[at - 1] < weight) at--;
  if (at == EXPLAIN_SAYINGS) return;
  if (all->count < EXPLAIN_SAYINGS) all->count++;
  for (int i = all->count - 1; i > at; i--) {
    all->weights[i] = all->weights[i - 1];
    memcpy(all->texts[i], all->texts[i - 1], RUNG_SENTENCE);
  }
  all->weights[at] = weight;
  snprintf(all->texts[at], RUNG_SENTENCE, "%s", text);
}

/* Requests that move more sectors than their bytes fill. A request moves one at least. */
static void say_requests(saying *all, const char *what, const char *does, double requests,
                         double bytes, double sectors) {
  char text[RUNG_SENTENCE];
  const double each = over(sectors, requests);
  const double ideal = fmax(1, over(bytes / SECTOR_BYTES, requests));
  if (!(each >= 1.2 * ideal)) return;
  snprintf(text, sizeof text, "Each %s request moves %.1f sectors where %.1f suffice: %s %s.", what,
           each, ideal, each >= WIDE_SECTORS ? "neighbouring threads" : "what a warp",
           each >= WIDE_SECTORS        ? does
           : strcmp(what, "load") == 0 ? "reads is not whole sectors"
                                       : "writes is not whole sectors");
  say(all, each / ideal, text);
}

static void say_inside(saying *all, const explain_figures *figures) {
  const double *at = figures->at;
  char text[RUNG_SENTENCE];
  const double passes = 1 + over(at[FIGURE_CONFLICTS], at[FIGURE_SHARED]);
  if (passes >= 1.2) {
    snprintf(
        text, sizeof text,
        "An access to shared memory takes %.1f passes where 1 suffices: threads of a warp want "
        "different words of one bank.",
        passes);
    say(all, passes, text);
  }
  if (at[FIGURE_DIVERGENCE] >= .05) {
    snprintf(text, sizeof text,
             "%.0f %% of the warps' steps are taken by some of the threads while the others wait: "
             "divergent branches.",
             100 * at[FIGURE_DIVERGENCE]);
    say(all, 1 + 2 * at[FIGURE_DIVERGENCE], text);
  }
  if (at[FIGURE_ATOMIC_DEPTH] >= 2) {
    snprintf(
        text, sizeof text,
        "Up to %.0f threads of a warp meet at one address with an atomic, and go one after the "
        "other.",
        at[FIGURE_ATOMIC_DEPTH]);
    say(all, at[FIGURE_ATOMIC_DEPTH] / 2, text);
  }
}

int explain_say(const explained *the, char sayings[EXPLAIN_SAYINGS][RUNG_SENTENCE]) {
  const rung_counts *counts = &the->total;
  const explain_figures figures = explain_rung_figures(the);
  saying all = {.texts = sayings};
  char text[RUNG_SENTENCE];
  say_requests(&all, "load", "read addresses far apart", figures.at[FIGURE_LOADS],
               counted(counts, RUNG_GLOBAL_LOAD_BYTES), counted(counts, RUNG_GLOBAL_LOAD_SECTORS));
  say_requests(&all, "store", "write to addresses far apart", figures.at[FIGURE_STORES],
               counted(counts, RUNG_GLOBAL_STORE_BYTES),
               counted(counts, RUNG_GLOBAL_STORE_SECTORS));
  const double moved = SECTOR_BYTES * figures.at[FIGURE_SECTORS];
  const double times = over(moved, the->test_case->bytes);
  if (times >= 1.5) {
    snprintf(text, sizeof text,
             "All requests together move %.1f times the bytes the job has to: what comes more than "
             "once is the caches' work, or the memory's.",
             times);
    say(&all, times, text);
  }
  say_inside(&all, &figures);
  if (all.count == 0)
    say(&all, 1, "Requests move little more than the job has to, and warps stay together.");
  return all.count;
}
