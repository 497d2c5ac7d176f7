/* For call_cost.py: the time of librung's calls themselves, on arrays that are described once. */
#include <rung/rung.h>
#include <string.h>
#include <time.h>

enum { BINS = 10 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define REPEAT(expression)                                   \
  for (int64_t i = 0; i < calls && status == RUNG_OK; i++) { \
    rung_call call = {0};                                    \
    status = (expression);                                   \
  }

/* Seconds of so many calls on float32 arrays of n elements, for "matmul" of (n, n); below 0: one
 * failed, or there is no such job. */
double seconds_of(const char *job, const float *a, const float *b, float *c, int64_t n,
                  int64_t calls) {
  static rung_context *context;
  rung_status status = RUNG_OK;
  if (context == NULL) status = rung_open(&context, &(rung_options){.device = "cpu"});
  const int64_t square[2] = {n, n}, bins_count = BINS;
  int64_t counts[BINS];
  const DLTensor x = rung_array_f32(a, &n);
  const DLTensor left = rung_array(a, x.dtype, 2, square);
  const DLTensor right = rung_array(b, x.dtype, 2, square);
  DLTensor scanned = rung_array_f32(c, &n), number = rung_number_f32(c);
  DLTensor product = rung_array(c, x.dtype, 2, square);
  DLTensor counted = rung_array_i64(counts, &bins_count);
  const rung_bins bins = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = 0, .high = 2};
  const double begun = now();
  if (strcmp(job, "sum") == 0)
    REPEAT(rung_reduce(context, RUNG_SUM, &x, RUNG_ALL, &number, &call))
  else if (strcmp(job, "cumsum") == 0)
    REPEAT(rung_scan(context, RUNG_SUM, &x, -1, 0, &scanned, &call))
  else if (strcmp(job, "matmul") == 0)
    REPEAT(rung_matmul(context, 1, &left, &right, 0, &product, &call))
  else if (strcmp(job, "histogram") == 0)
    REPEAT(rung_histogram(context, &bins, &x, &counted, NULL, &call))
  else
    return -1;
  return status == RUNG_OK ? now() - begun : -1;
}
