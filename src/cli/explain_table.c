#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"

/* ---- one row a rung, or a kernel ------------------------------------------------------------ */

/* A second figure stands in parentheses behind the first. */
typedef struct column {
  const char *heading;
  int width;
  explain_figure figure, aside; /* FIGURES: none */
} column;

static const column memory_columns[] = {
    {"launches", 9, FIGURE_LAUNCHES, FIGURES},
    {"loads", 10, FIGURE_LOADS, FIGURES},
    {"stores", 10, FIGURE_STORES, FIGURES},
    {"sectors", 10, FIGURE_SECTORS, FIGURES},
    {"a request (ideal)", 18, FIGURE_SECTORS_PER_REQUEST, FIGURE_IDEAL_SECTORS},
    {"efficiency", 11, FIGURE_EFFICIENCY, FIGURES},
    {"accesses", 10, FIGURE_ACCESSES, FIGURES},
    {"flops", 10, FIGURE_FLOPS, FIGURES},
    {"an access", 10, FIGURE_FLOPS_PER_ACCESS, FIGURES},
    {"a byte", 8, FIGURE_FLOPS_PER_BYTE, FIGURES},
    {0}};
static const column inside_columns[] = {
    {"shared", 9, FIGURE_SHARED, FIGURES},
    {"conflicts", 10, FIGURE_CONFLICTS, FIGURES},
    {"atomics (deepest)", 18, FIGURE_ATOMICS, FIGURE_ATOMIC_DEPTH},
    {"diverged", 10, FIGURE_DIVERGENCE, FIGURES},
    {"branches", 10, FIGURE_BRANCHES, FIGURES},
    {"barriers", 10, FIGURE_BARRIERS, FIGURES},
    {"shuffles", 10, FIGURE_SHUFFLES, FIGURES},
    {0}};

static void print_headings(FILE *to, const column *columns, const char *what, int width) {
  fprintf(to, "%s%-*s", cli_colour(to, CLI_BOLD), width, what);
  for (; columns->heading; columns++) fprintf(to, " %*s", columns->width, columns->heading);
  fprintf(to, "%s\n", cli_colour(to, CLI_PLAIN));
}

static void print_figures(FILE *to, const column *columns, const char *name, int width,
                          const explain_figures *figures) {
  fprintf(to, "%-*s", width, name);
  for (; columns->heading; columns++) {
    char text[32], aside[32], both[80];
    const char *shown = explain_figure_text(figures, columns->figure, text);
    if (columns->aside != FIGURES && strcmp(shown, "0") != 0) {
      snprintf(both, sizeof both, "%s (%s)", shown,
               explain_figure_text(figures, columns->aside, aside));
      shown = both;
    }
    fprintf(to, " %*s", columns->width, shown);
  }
  fputc('\n', to);
}

/* Why there are no figures, as `verify` says it. */
static void print_finding(FILE *to, const explained *the, int width) {
  if (the->verdict.finding == LAB_UNSUPPORTED)
    fprintf(to, "%-*s not supported: %s\n", width, the->row->name, the->verdict.sentence);
  else
    fprintf(to, "%-*s %s%s%s: %s\n", width, the->row->name, cli_colour(to, CLI_RED),
            lab_finding_name(the->verdict.finding), cli_colour(to, CLI_PLAIN),
            the->verdict.sentence);
}

static bool lacks_flops(const explained *the) {
  return the->verdict.finding == LAB_GOOD && the->total.at[RUNG_FLOPS] == RUNG_NOT_COUNTED;
}

const rung_case *explain_job(const explained *list, int count) {
  int most = 0, at = 0;
  for (int i = 0; i < count; i++) {
    int same = 0;
    for (int k = i; k < count; k++) same += list[k].test_case == list[i].test_case;
    if (same > most) at = i;
    if (same > most) most = same;
  }
  return list[at].test_case;
}

/* The rungs of each job that is not the heading's. */
static void print_jobs(FILE *to, const explained *list, int count) {
  const char *between = "\n";
  for (int i = 0; i < count; i++) {
    const rung_case *job = list[i].test_case;
    bool told = job == explain_job(list, count);
    for (int k = 0; k < i && !told; k++) told = list[k].test_case == job;
    if (told) continue;
    fputs(between, to);
    for (int k = i; k < count; k++)
      if (list[k].test_case == job) fprintf(to, "%s%s", k > i ? ", " : "", list[k].row->name);
    fprintf(to, ": %s\n", job->label);
    between = "";
  }
}

static void print_footnote(FILE *to, bool least) {
  if (least)
    fprintf(to, "Flops are the least the job needs: this device does not count them here.\n");
}

void explain_print_rungs(FILE *to, const explained *list, int count) {
  static const column *const tables[] = {memory_columns, inside_columns};
  int width = 0;
  bool least = false;
  for (int i = 0; i < count; i++) {
    const int length = (int)strlen(list[i].row->name);
    if (width < length) width = length;
    least = least || lacks_flops(&list[i]);
  }
  for (int t = 0; t < 2; t++) {
    if (t) fputc('\n', to);
    print_headings(to, tables[t], "rung", width);
    for (int i = 0; i < count; i++) {
      if (list[i].verdict.finding == LAB_GOOD) {
        const explain_figures figures = explain_rung_figures(&list[i]);
        print_figures(to, tables[t], list[i].row->name, width, &figures);
      } else if (t == 0) {
        print_finding(to, &list[i], width);
      }
    }
  }
  print_jobs(to, list, count);
  print_footnote(to, least);
}

/* ---- one rung ------------------------------------------------------------------------------- */

static void print_sayings(FILE *to, const explained *the) {
  char sayings[EXPLAIN_SAYINGS][RUNG_SENTENCE];
  const int count = explain_say(the, sayings);
  for (int i = 0; i < count; i++) fprintf(to, "  %s\n", sayings[i]);
}

static void print_kernels(FILE *to, const explained *the, const column *columns) {
  const rung_profile *profile = &the->profile;
  int width = 6;
  for (int i = 0; i < profile->count; i++)
    if (width < (int)strlen(profile->kernels[i].name))
      width = (int)strlen(profile->kernels[i].name);
  print_headings(to, columns, "kernel", width);
  for (int i = 0; i < profile->count; i++) {
    const rung_profile_kernel *kernel = &profile->kernels[i];
    const explain_figures figures = explain_figures_of(&kernel->total, kernel->launches, NAN);
    print_figures(to, columns, kernel->name, width, &figures);
  }
  if (profile->count == 1 && !lacks_flops(the)) return;
  const explain_figures all = explain_rung_figures(the);
  print_figures(to, columns, "all", width, &all);
}

void explain_print_rung(FILE *to, const explained *the) {
  if (the->verdict.finding != LAB_GOOD) {
    print_finding(to, the, 0);
    return;
  }
  fprintf(to, "%s%s%s: %s\n", cli_colour(to, CLI_BOLD), the->row->name, cli_colour(to, CLI_PLAIN),
          the->row->idea);
  print_sayings(to, the);
  fputc('\n', to);
  print_kernels(to, the, memory_columns);
  fputc('\n', to);
  print_kernels(to, the, inside_columns);
  print_footnote(to, lacks_flops(the));
  for (int i = 0; i < the->profile.count; i++)
    explain_print_source(to, &the->profile.kernels[i], &the->sources);
}

/* ---- two rungs ------------------------------------------------------------------------------ */

static const struct {
  const char *text;
  explain_figure figure;
} compared[] = {
    {"launches of kernels", FIGURE_LAUNCHES},
    {"global loads, a warp's", FIGURE_LOADS},
    {"global stores, a warp's", FIGURE_STORES},
    {"sectors of 32 bytes", FIGURE_SECTORS},
    {"sectors a request", FIGURE_SECTORS_PER_REQUEST},
    {"of these needed", FIGURE_IDEAL_SECTORS},
    {"bytes asked for / moved", FIGURE_EFFICIENCY},
    {"global accesses, a thread's", FIGURE_ACCESSES},
    {"shared accesses, a warp's", FIGURE_SHARED},
    {"bank conflicts", FIGURE_CONFLICTS},
    {"atomics, a warp's", FIGURE_ATOMICS},
    {"deepest atomic", FIGURE_ATOMIC_DEPTH},
    {"steps of part of a warp", FIGURE_DIVERGENCE},
    {"divergent branches", FIGURE_BRANCHES},
    {"barriers, a warp's", FIGURE_BARRIERS},
    {"shuffles, votes", FIGURE_SHUFFLES},
    {"floating-point operations", FIGURE_FLOPS},
    {"of these a global access", FIGURE_FLOPS_PER_ACCESS},
    {"of these a byte moved", FIGURE_FLOPS_PER_BYTE},
};

void explain_print_pair(FILE *to, const explained pair[2]) {
  bool good = true;
  for (int k = 0; k < 2; k++) {
    if (pair[k].verdict.finding != LAB_GOOD) {
      print_finding(to, &pair[k], 0);
      good = false;
      continue;
    }
    fprintf(to, "%s%s%s: %s\n", cli_colour(to, CLI_BOLD), pair[k].row->name,
            cli_colour(to, CLI_PLAIN), pair[k].row->idea);
    print_sayings(to, &pair[k]);
  }
  if (!good) return;
  const explain_figures one = explain_rung_figures(&pair[0]);
  const explain_figures two = explain_rung_figures(&pair[1]);
  fprintf(to, "\n%s%-28s %14s %14s %10s%s\n", cli_colour(to, CLI_BOLD), "", pair[0].row->name,
          pair[1].row->name, "ratio", cli_colour(to, CLI_PLAIN));
  for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
    const explain_figure figure = compared[i].figure;
    const double a = one.at[figure], b = two.at[figure];
    char left[32], right[32], ratio[32] = "-";
    if (a > 0 && !isnan(b)) snprintf(ratio, sizeof ratio, "%.3g", b / a);
    fprintf(to, "%-28s %14s %14s %10s\n", compared[i].text, explain_figure_text(&one, figure, left),
            explain_figure_text(&two, figure, right), ratio);
  }
  print_footnote(to, lacks_flops(&pair[0]) || lacks_flops(&pair[1]));
}
