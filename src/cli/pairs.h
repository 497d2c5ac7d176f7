/* rung pairs: what was asked, what was found. */
#ifndef RUNG_CLI_PAIRS_H
#define RUNG_CLI_PAIRS_H

#include "cli/array.h"
#include "cli/cli.h"
#include "files/points.h"

enum { PAIRS_SAMPLE = 5000 };

typedef struct pairs_request {
  /* The old report: random points in a cube. */
  bool report, all;
  int64_t n;
  /* Points from a file. */
  const char *path;
  points_how how;
  int64_t first, last, step; /* of the frames, from 1; last 0: the file's last */
  const char *select, *with; /* lists of names; NULL: every point */
  bool exclude, open, has_box;
  rung_box box;
  /* The bins: one of width, count, edges and logarithmic. */
  int kinds;
  double width, max; /* 0: not given */
  int64_t count;
  const char *edges_path;
  double logarithmic[3];
  /* What else is wanted of them. */
  bool rdf, weighted, check;
  double volume; /* 0: not given */
  const char *weights_path;
  file_array weights;
  int64_t sample;
} pairs_request;

typedef struct pairs_result {
  rung_distances bins; /* count 0: not settled yet */
  double *edges;   /* bins.count + 1, owned; those that bins.edges names, where they were given */
  int64_t *counts; /* bins.count, owned */
  double *sums, *g, *neighbours; /* the same; NULL: not wanted */
  int64_t outside[3];
  int64_t frames, checked;
  double points, others; /* over all frames; others: of the second set, where there is one */
  double density;        /* the sum over frames of pairs / volume */
  bool cross, boxed;     /* of every frame alike */
  const char *rung;
  char device[96];
} pairs_result;

void pairs_free(pairs_result *result);

/* pairs_bins.c: settles the bins from the first frame, in the box it is in (NULL: open space) or,
 * in open space, from how far its points reach; allocates what is counted into. */
rung_status pairs_settle(const pairs_request *request, const rung_box *box,
                         const points_frame *frame, pairs_result *result, rung_error *error);
/* Refuses bins that end beyond what a frame's box allows. */
rung_status pairs_fit(const pairs_result *result, const rung_box *box, int64_t frame,
                      rung_error *error);
double pairs_last(const pairs_result *result); /* where the bins end */

/* pairs_sets.c: the points that are paired, of one frame. Tensors point into these structs, which
 * therefore must not move. */
typedef struct pairs_set {
  rung_points points;
  DLTensor at, weights, molecules;
  int64_t shape[2];
  int64_t capacity;
  rung_dtype dtype;
  void *memory; /* owned: coordinates, then likewise weights and molecules */
  double *weight;
  int64_t *molecule;
} pairs_set;
typedef struct pairs_sets {
  pairs_set a, b;
  bool cross; /* b is another one */
} pairs_sets;
rung_status pairs_select(const cli_common *common, const pairs_request *request,
                         const points_frame *frame, pairs_sets *sets, rung_error *error);
/* `count` of them drawn at random, without an order of their own; all where there are fewer. */
rung_status pairs_draw(const pairs_set *from, int64_t count, uint64_t seed, pairs_set *to,
                       rung_error *error);
void pairs_drop(pairs_sets *sets);

/* pairs_file.c: all frames. */
rung_status pairs_compute(const cli_common *common, const pairs_request *request,
                          pairs_result *result, rung_error *error);

/* pairs_say.c: the file of -o, or what is printed. */
rung_status pairs_say(const cli_common *common, const pairs_request *request,
                      const pairs_result *result, rung_error *error);
/* The file of -o alone, .csv or .npy. */
rung_status pairs_write(const cli_common *common, const pairs_result *result, rung_error *error);
rung_status pairs_possible(const cli_common *common, rung_error *error);

/* pairs_report.c: the old report, N points in a cube, on the CPU and every other device. */
rung_status pairs_report(const cli_common *common, const pairs_request *request, rung_error *error);

#endif
