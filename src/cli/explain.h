/* What the files of `rung explain` share: a rung with what was counted of it, and the figures that
 * follow from counts. */
#ifndef RUNG_CLI_EXPLAIN_H
#define RUNG_CLI_EXPLAIN_H

#include "cli/cli.h"
#include "cli/rows.h"

/* A file of source, to be printed beside counts. */
typedef struct explain_source {
  const char *file; /* its path, as a profile has it: borrowed */
  char *text;
  char **lines; /* ended where the line ends */
  bool *shown;
  int count; /* 0: the file cannot be read */
} explain_source;

typedef struct explain_sources {
  explain_source *at;
  int count;
} explain_sources;

typedef struct explained {
  const rung_row *row;
  const rung_case *test_case; /* the job that it was counted for */
  int block;
  lab_verdict verdict;
  rung_profile profile;    /* empty unless the verdict is good */
  rung_counts total;       /* of all its kernels */
  explain_sources sources; /* read where they are to be printed */
} explained;

/* ---- on a GPU: explain_gpu.c ---------------------------------------------------------------- */

/* Checks the rung as any other, then counts it through ncu: the->verdict and the->profile. */
rung_status explain_on_gpu(rung_context *context, const rung_case *test_case, const char *device,
                           explained *the, rung_error *error);
/* Whether this very run is the one that is counted: then it checks, and tells nothing. */
bool explain_is_counted(void);

/* ---- figures: explain_figures.c ------------------------------------------------------------- */

typedef enum explain_figure {
  FIGURE_LAUNCHES,
  FIGURE_LOADS,
  FIGURE_STORES,
  FIGURE_SECTORS,             /* of loads and stores */
  FIGURE_SECTORS_PER_REQUEST, /* a request: a warp's load or store */
  FIGURE_IDEAL_SECTORS,       /* bytes asked for / 32, a request */
  FIGURE_EFFICIENCY,          /* bytes asked for / bytes of the sectors */
  FIGURE_ACCESSES,            /* thread by thread */
  FIGURE_SHARED,              /* warp-level loads and stores */
  FIGURE_CONFLICTS,
  FIGURE_ATOMICS,
  FIGURE_ATOMIC_DEPTH,
  FIGURE_DIVERGENCE, /* the part of a warp's steps with some of its threads only */
  FIGURE_BRANCHES,
  FIGURE_BARRIERS,
  FIGURE_SHUFFLES,
  FIGURE_FLOPS,
  FIGURE_FLOPS_PER_ACCESS, /* the textbooks' arithmetic intensity: a global access of a thread */
  FIGURE_FLOPS_PER_BYTE,   /* the roofline's: a byte of the sectors */
  FIGURES
} explain_figure;

typedef struct explain_figures {
  double at[FIGURES]; /* NaN: not counted, or nothing to divide by */
} explain_figures;

const char *explain_figure_name(explain_figure figure); /* "sectors_per_request": in JSON */

/* `least_flops` stands in where flops were not counted; NaN: nothing does. */
explain_figures explain_figures_of(const rung_counts *counts, int64_t launches, double least_flops);
explain_figures explain_rung_figures(const explained *the);

/* "123456", "1.23 M"; "-" for what is not there. */
const char *explain_count(double count, char text[32]);
const char *explain_figure_text(const explain_figures *figures, explain_figure figure,
                                char text[32]);

/* What the counts mean, in the one or two sentences that matter most. */
enum { EXPLAIN_SAYINGS = 2 };
int explain_say(const explained *the, char sayings[EXPLAIN_SAYINGS][RUNG_SENTENCE]);

/* ---- showing: explain_table.c, explain_source.c, explain_json.c ------------------------------ */

/* The job of most rungs, which a table's heading names. */
const rung_case *explain_job(const explained *list, int count);
/* One row a rung; below, the jobs of those that were counted for another one. */
void explain_print_rungs(FILE *to, const explained *list, int count);
/* One rung: what its counts mean, one row a kernel, then its source. */
void explain_print_rung(FILE *to, const explained *the);
/* Two rungs, one line a figure. */
void explain_print_pair(FILE *to, const explained pair[2]);
/* The files of a profile's kernels, each once, before anything is printed: OUT_OF_MEMORY. */
rung_status explain_sources_read(const rung_profile *profile, explain_sources *all,
                                 rung_error *error);
void explain_sources_free(explain_sources *all);
/* The lines of a kernel that did something, with their source where it could be read. */
void explain_print_source(FILE *to, const rung_profile_kernel *kernel,
                          const explain_sources *sources);
/* A path from the project's root on, wherever that lay; of another file as it is. */
const char *explain_file(const char *file);
/* A path from the project's root on; NULL: it is none of the project's kernels, but what the device
 * lends them. */
const char *explain_path(const char *file);

/* What a block of each kernel did, step by step, as SVG: explain_picture.c. The profile must have
 * kept steps. `id` NULL: a file of its own; else for a page in which explain_put_style() was called
 * once, with ids that begin so. `words` may be NULL: there every step becomes a line of text, to be
 * escaped. RUNG_OUT_OF_MEMORY. */
rung_status explain_draw(FILE *to, const rung_profile *profile, const char *title, const char *idea,
                         const char *id, FILE *words, rung_error *error);
void explain_put_style(FILE *to);
/* The deeds of steps, as JSON has them. */
const char *explain_deed_name(rung_deed deed);
/* NULL: no memory. What steps were kept is in it. */
enum { EXPLAIN_VERSION = 1 };
json_t *explain_json(const explained *list, int count, const char *device);

#endif
