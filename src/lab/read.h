/* Reading files of records (docs/RECORDS.md). A file is anybody's to damage: what is handed on has
 * its types, its numbers are finite and in range, and every text has an end. */
#ifndef RUNG_LAB_READ_H
#define RUNG_LAB_READ_H

#include "lab/lab.h"

/* One rung, or another library's entry, of a job. Texts are never NULL but where it says so. */
typedef struct lab_read_candidate {
  const char *rung, *idea, *order, *stop;
  const char *peer;               /* NULL: a rung of ours */
  const char *finding, *sentence; /* of the verdict that counts */
  const char *bits;               /* NULL: not known */
  bool program;
  bool good; /* and timed */
  int block; /* 0: the rung's own */
  int count;
  double *samples, *clocks; /* milliseconds; MHz, 0 where there is none */
  int launches;             /* of which there are samples; 0: it was measured in one process */
  double *medians;          /* of the launches */
  double apart;          /* how far these are apart, the largest from the least, by `time.median` */
  lab_stats time, clock; /* `time` of launches: lab_stats_of_launches() */
  double stages[LAB_STAGES]; /* medians, milliseconds; NaN: not of a job with `memory` */
} lab_read_candidate;

typedef struct lab_read_case {
  const char *operation, *type, *date, *seed;
  char label[RUNG_LABEL]; /* the job's line, "n=1024 op=sum type=f32" */
  const char *line;       /* as it was asked for; "": not known */
  double bytes, flops, load;
  double others, stolen; /* processors that other programs kept busy, that the machine's host gave
                            to others; NaN: not known */
  double throttled;      /* times; NaN: never */
  double peak_ms;        /* NaN: no peak was measured */
  const char *peak_bound, *peak_level, *caches;
  bool hot;
  const char *memory; /* "": the kernel alone was timed */
  /* What holds for it of the lines before; peaks NULL: none. To be looked at by lab_read_text(). */
  const json_t *provenance, *rules, *device, *peaks, *facts;
  int launches; /* 0: it was measured in one process */
  lab_read_candidate *candidates;
  int count;
} lab_read_case;

typedef struct lab_records {
  lab_read_case *cases;
  int count;
  json_t *lines; /* which the texts belong to */
} lab_records;

/* Adds the cases of a text, or of a regular file, to *records, begun as zeros. `name` is what the
 * text is called in a sentence. On failure too *records is to be freed.
 * Status: RUNG_FILE_FAILED, RUNG_BAD_DATA with the line's number, RUNG_OUT_OF_MEMORY. */
rung_status lab_read(lab_records *records, const char *name, const char *text, size_t length,
                     rung_error *error);
rung_status lab_read_file(lab_records *records, const char *path, rung_error *error);
/* All of a file that may hold records, with a 0 at its end; to be freed in every case. */
rung_status lab_read_all(const char *path, char **text, size_t *length, rung_error *error);
void lab_records_free(lab_records *records);

/* The text of a key, "" where there is none; its number, NaN where there is none. */
const char *lab_read_text(const json_t *object, const char *key);
double lab_read_number(const json_t *object, const char *key);

/* The fastest good candidate that is a canonical rung of ours; NULL: none. */
const lab_read_candidate *lab_read_best(const lab_read_case *of);
/* How many times as fast as the best of the rung below; NaN: there is none, or it is no rung. */
double lab_read_gain(const lab_read_case *of, const lab_read_candidate *candidate);
/* The part of the peak that a candidate reached, at most 1; NaN where it is not good, where there
 * is no peak, where it lies above the peak by more than 2 %, or where a loose rung's arithmetic is
 * not what the peak counts. */
double lab_read_part(const lab_read_case *of, const lab_read_candidate *candidate);

#endif
