/* What `rung explain --json`, `rung timeline --json` and the program tests/scaling wrote, read
 * again for a report. A file is anybody's to damage: what is handed on has its types and its
 * ranges, and every text an end. */
#ifndef RUNG_CLI_LOOK_H
#define RUNG_CLI_LOOK_H

#include "cli/explain.h"

typedef struct look_rung {
  const char *name, *idea;
  const char *job;              /* the file's, or one of its own */
  const char *finding, *reason; /* reason: "" of a good one */
  const json_t *meaning;        /* texts */
  int block;
  explain_figures figures; /* NaN: not counted */
  rung_profile profile;    /* kernels whose steps were kept */
} look_rung;

/* A file of explain's. */
typedef struct look_counts {
  const char *operation, *device, *job;
  look_rung *rungs;
  int count;
} look_counts;

/* One of timeline's. */
typedef struct look_times {
  const char *operation, *device, *job, *rung, *unit;
  int block;
  lab_timeline timeline;
  lab_timeline_figures figures;
} look_times;

/* Of a file of scaling's, which the program writes as a number. */
enum { SCALING_VERSION = 1 };

/* A job over so many devices. */
typedef struct look_share {
  const char *operation, *job, *bits;
  int devices;
  bool weak;             /* it has grown with the devices */
  double seconds, ideal; /* 1: what the time over one device promises */
} look_share;

/* A file of scaling's: jobs of a series behind one another, from one device on. */
typedef struct look_scaling {
  const char *device;
  look_share *shares;
  int count;
} look_scaling;

typedef struct looks {
  look_counts *counts;
  int counted;
  look_times *times;
  int timed;
  look_scaling *scalings;
  int scaled;
  json_t *held; /* which the texts belong to */
} looks;

/* Whether a text is such a file, whole or damaged. */
bool look_is(const char *text, size_t length);
/* Adds a file's to *all, begun as zeros. `name` is what it is called in a sentence. On failure too
 * *all is to be freed. Status: RUNG_BAD_DATA, RUNG_OUT_OF_MEMORY. */
rung_status look_read(looks *all, const char *name, const char *text, size_t length,
                      rung_error *error);
void looks_free(looks *all);

#endif
