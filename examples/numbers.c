/* A reduction, a scan and a histogram of an array: how many, how much, and where.
 *
 *   cc numbers.c $(pkg-config --cflags --libs rung) -o numbers && ./numbers */
#include <rung/rung.h>

#include <stdio.h>

int main(void) {
  enum { DAYS = 1000, BINS = 4 };
  static float rain[DAYS], so_far[DAYS];
  float largest = 0;
  int64_t days = DAYS, bins = BINS, counts[BINS];
  for (int i = 0; i < DAYS; i++) rain[i] = (float)(i * 37 % 101) / 100;
  DLTensor in = rung_array_f32(rain, &days), sums = rung_array_f32(so_far, &days);
  DLTensor top = rung_number_f32(&largest), bars = rung_array_i64(counts, &bins);
  const rung_bins even = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = 0, .high = 1};

  rung_context *context;
  rung_status status = rung_open(&context, NULL); /* a GPU that works, else the CPU */
  if (status == RUNG_OK) status = rung_reduce(context, RUNG_MAX, &in, RUNG_ALL, &top, NULL);
  if (status == RUNG_OK) status = rung_scan(context, RUNG_SUM, &in, -1, 0, &sums, NULL);
  if (status == RUNG_OK) status = rung_histogram(context, &even, &in, &bars, NULL, NULL);
  if (status == RUNG_OK)
    printf("at most %.2f a day, %.2f in all; days by quarters: %d %d %d %d\n", (double)largest,
           (double)so_far[DAYS - 1], (int)counts[0], (int)counts[1], (int)counts[2],
           (int)counts[3]);
  else
    fprintf(stderr, "numbers: %s\n", rung_last_error(context));
  rung_close(context);
  return status != RUNG_OK;
}
