/* Jobs over ranks as the tests write them down: data, cuts, and what every rank has. */
#ifndef TESTS_OPS_RANKS_CUTS_H
#define TESTS_OPS_RANKS_CUTS_H

#include "ops/ranks/grids.h"

/* What pairs have. */
enum { CROSS = 1, SUMS = 2, MOLECULES = 4, EDGES = 8, BOX = 16, SLANTED = 32, NEAR = 64 };

typedef struct over_job {
  over over;
  rung_reduction what;
  int how; /* of a scan: it is exclusive; of pairs: see above; from STENCIL on of over_grids */
  DLDataType type;
  int64_t total, step; /* elements or points, and from one to the next */
  bool in_place;       /* of a scan or a stencil: out is in */
} over_job;

enum { BINS = 50, OUTER = 3, ONE = BINS + OUTER + BINS, BYTES = 8, POINTS = 4000 };

/* One job and where its parts lie; all arrays are of the test's own. */
typedef struct over_run {
  over_job job;
  int64_t cuts[RANKS_MOST + 1];
  const char *in;
  char *out;                    /* of a scan, all ranks' */
  int64_t one[RANKS_MOST][ONE]; /* of what is no scan, each rank's */
  char sentences[RANKS_MOST][RUNG_TEXT];
  const char *used[RANKS_MOST];
  const char *rung; /* NULL: whichever */
} over_run;

static inline DLDataType result_of(const over_job *job) {
  const bool number = job->type.code == kDLFloat;
  if (job->what == RUNG_MIN || job->what == RUNG_MAX || number) return job->type;
  if (job->what == RUNG_MEAN) return f64;
  return job->type.code == kDLInt ? i64 : u64;
}

/* Whether a job's ranks each write a part of one result. */
static inline bool has_parts(const over_job *job) {
  return job->over == SCAN || job->over >= STENCIL;
}

static inline int ranges_of(const over_job *job, int64_t first, int64_t end,
                            over_range range[OVER_RANGES]) {
  if (job->over >= STENCIL)
    return over_ranges(job->over, job->how, job->total, job->type.bits, first, end, range);
  const int64_t bytes = job->step * job->type.bits / 8;
  range[0] = (over_range){first * bytes, (end - first) * bytes};
  return 1;
}

/* From the first byte of the output to behind its last. */
static inline size_t bytes_of(const over_job *job) {
  over_range range[OVER_RANGES] = {{0}};
  const int last = ranges_of(job, 0, job->total, range) - 1;
  return last < 0 ? 0 : (size_t)(range[last].first + range[last].count);
}

static inline int64_t elements_of(const over_job *job) {
  return job->over >= STENCIL ? over_elements(job->over, job->how, job->total)
                              : job->total * job->step;
}

static const rung_bins over_bins = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = -1, .high = 1};

/* Pairs: as many weights and molecules as there are points. */
static double over_weights[POINTS];
static int64_t over_molecules[POINTS];

static inline void over_fill_points(void) {
  rung_random random = {11};
  for (int i = 0; i < POINTS; i++) {
    over_weights[i] = (2 * rung_random_double(&random) - 1) * (i % 100 == 7 ? 1e9 : 1);
    over_molecules[i] = i % 5 == 0 ? -1 : i / 7;
  }
}

/* Points lie `step` elements from each other; those of the other set, half as many, among them. */
static inline rung_status over_pairs(rung_context *context, const rung_ranks *ranks, over_run *run,
                                     int64_t *one, const int64_t range[2], rung_call *call) {
  const over_job *job = &run->job;
  const int is = job->how;
  const int64_t bytes = job->type.bits / 8;
  int64_t shape[2][2], stride[2] = {job->step, 1}, bins = BINS, outer = OUTER;
  double edges[BINS + 1];
  DLTensor at[2], weights[2], molecules[2];
  rung_points sets[2];
  for (int s = 0; s < 2; s++) {
    const int64_t first = range[0] / (s + 1), end = range[1] / (s + 1);
    shape[s][0] = end - first;
    shape[s][1] = 3;
    at[s] = tensor(run->in + (first * job->step + s) * bytes, job->type, 2, shape[s], stride);
    weights[s] = tensor(over_weights + first, f64, 1, shape[s], NULL);
    molecules[s] = tensor(over_molecules + first, i64, 1, shape[s], NULL);
    sets[s] = (rung_points){.at = &at[s],
                            .weights = is & SUMS ? &weights[s] : NULL,
                            .molecules = is & MOLECULES ? &molecules[s] : NULL};
  }
  for (int k = 0; k <= BINS; k++) edges[k] = 0.0003 * k * k + 0.001 * k;
  const rung_distances distances = {
      .count = BINS, .width = is & NEAR ? 0.004 : 0.03, .edges = is & EDGES ? edges : NULL};
  const rung_box box = {.a = {3.1, 0, 0},
                        .b = {is & SLANTED ? 0.9 : 0, 3.2, 0},
                        .c = {is & SLANTED ? -0.5 : 0, is & SLANTED ? 1.1 : 0, 3.3}};
  const rung_box *in = is & BOX ? &box : NULL;
  const rung_points *b = is & CROSS ? &sets[1] : NULL;
  DLTensor bars = rung_array_i64(one, &bins), outside = rung_array_i64(one + BINS, &outer);
  DLTensor sums = tensor(one + BINS + OUTER, f64, 1, &bins, NULL),
           *summed = is & SUMS ? &sums : NULL;
  if (ranks == NULL)
    return rung_pairs(context, &sets[0], b, in, &distances, &bars, &outside, summed, call);
  return rung_pairs_ranks(context, ranks, &sets[0], b, in, &distances, &bars, &outside, summed,
                          call);
}

/* The whole by one context (ranks NULL), or a rank's part of it. */
static inline rung_status over_call(rung_context *context, const rung_ranks *ranks, over_run *run,
                                    int at, int64_t first, int64_t end) {
  const over_job *job = &run->job;
  const int64_t bytes = job->type.bits / 8;
  int64_t count = end - first, bins = BINS, outer = OUTER, step = job->step;
  int64_t *one = run->one[at];
  rung_call call = {.size = sizeof call, .rung = ranks != NULL ? run->rung : NULL};
  rung_status status;
  DLTensor in = tensor(run->in + first * step * bytes, job->type, 1, &count, &step);
  DLTensor line = tensor(run->out + first * step * bytes, job->type, 1, &count, &step);
  DLTensor number = tensor(one, result_of(job), 0, NULL, NULL);
  DLTensor bars = rung_array_i64(one, &bins), outside = rung_array_i64(one + BINS, &outer);
  if (job->over >= STENCIL)
    status = over_grid_call(context, ranks,
                            &(over_part){job->over, job->how, job->type, job->total, first, end,
                                         job->in_place, run->in, run->out},
                            &call);
  else if (job->over == PAIRS)
    status = over_pairs(context, ranks, run, one, (int64_t[]){first, end}, &call);
  else if (job->over == SCAN && ranks == NULL)
    status = rung_scan(context, job->what, &in, 0, job->how, &line, &call);
  else if (job->over == SCAN)
    status = rung_scan_ranks(context, ranks, job->what, job->in_place ? &line : &in, job->how,
                             &line, &call);
  else if (job->over == REDUCE && ranks == NULL)
    status = rung_reduce(context, job->what, &in, RUNG_ALL, &number, &call);
  else if (job->over == REDUCE)
    status = rung_reduce_ranks(context, ranks, job->what, &in, &number, &call);
  else if (ranks == NULL)
    status = rung_histogram(context, &over_bins, &in, &bars, &outside, &call);
  else
    status = rung_histogram_ranks(context, ranks, &over_bins, &in, &bars, &outside, &call);
  run->used[at] = call.used;
  return status;
}

static inline rung_status over_rank(rung_context *context, const rung_ranks *ranks, void *user) {
  over_run *run = (over_run *)user;
  const int r = ranks->rank;
  const rung_status status = over_call(context, ranks, run, r, run->cuts[r], run->cuts[r + 1]);
  strcpy(run->sentences[r], rung_last_error(context));
  return status;
}

/* Numbers whose sums depend on their order; `extra` bytes follow them. */
static inline void fill(char *data, DLDataType type, int64_t count) {
  rung_random random = {7};
  for (int64_t i = 0; i < count; i++) {
    const double x = 2 * rung_random_double(&random) - 1;
    if (type.code == kDLFloat && type.bits == 64)
      ((double *)data)[i] = x;
    else if (type.code == kDLFloat && type.bits == 32)
      ((float *)data)[i] = (float)x;
    else if (type.bits == 64)
      ((int64_t *)data)[i] = (int64_t)(x * 0x1p62);
    else if (type.bits == 32)
      ((int32_t *)data)[i] = (int32_t)(x * 0x1p30);
    else if (type.bits == 16)
      ((uint16_t *)data)[i] = (uint16_t)(0x3800 + (rung_random_next(&random) & 0x83ff));
    else
      ((uint8_t *)data)[i] = (uint8_t)rung_random_next(&random);
  }
}

#endif
