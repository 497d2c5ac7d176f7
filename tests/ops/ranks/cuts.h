/* Jobs over ranks as the tests write them down: data, cuts, and what every rank has. */
#ifndef TESTS_OPS_RANKS_CUTS_H
#define TESTS_OPS_RANKS_CUTS_H

#include "core/random.h"
#include "ops/ranks.h"

typedef enum over { REDUCE, SCAN, HISTOGRAM } over;

typedef struct over_job {
  over over;
  rung_reduction what;
  int exclusive;
  DLDataType type;
  int64_t total, step; /* elements, and from one to the next */
  bool in_place;       /* of a scan: out is in */
} over_job;

enum { BINS = 50, OUTER = 3, BYTES = 8 };

/* One job and where its parts lie; all arrays are of the test's own. */
typedef struct over_run {
  over_job job;
  int64_t cuts[RANKS_MOST + 1];
  const char *in;
  char *out;                             /* of a scan, all ranks' */
  int64_t one[RANKS_MOST][BINS + OUTER]; /* of a reduction or a histogram, each rank's */
  char sentences[RANKS_MOST][RUNG_TEXT];
  const char *used[RANKS_MOST];
} over_run;

static inline DLDataType result_of(const over_job *job) {
  const bool number = job->type.code == kDLFloat;
  if (job->what == RUNG_MIN || job->what == RUNG_MAX || number) return job->type;
  if (job->what == RUNG_MEAN) return f64;
  return job->type.code == kDLInt ? i64 : u64;
}

static const rung_bins over_bins = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = -1, .high = 1};

/* The whole by one context (ranks NULL), or a rank's part of it. */
static inline rung_status over_call(rung_context *context, const rung_ranks *ranks, over_run *run,
                                    int at, int64_t first, int64_t end) {
  const over_job *job = &run->job;
  const int64_t bytes = job->type.bits / 8;
  int64_t count = end - first, bins = BINS, outer = OUTER, step = job->step;
  int64_t *one = run->one[at];
  rung_call call = {.size = sizeof call};
  rung_status status;
  DLTensor in = tensor(run->in + first * step * bytes, job->type, 1, &count, &step);
  DLTensor line = tensor(run->out + first * step * bytes, job->type, 1, &count, &step);
  DLTensor number = tensor(one, result_of(job), 0, NULL, NULL);
  DLTensor bars = rung_array_i64(one, &bins), outside = rung_array_i64(one + BINS, &outer);
  if (job->over == SCAN && ranks == NULL)
    status = rung_scan(context, job->what, &in, 0, job->exclusive, &line, &call);
  else if (job->over == SCAN)
    status = rung_scan_ranks(context, ranks, job->what, job->in_place ? &line : &in, job->exclusive,
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
