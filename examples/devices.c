/* The sum of an array that all GPUs of a machine share: the same bits for any number of them.
 *
 *   cc devices.c $(pkg-config --cflags --libs rung) -o devices && ./devices all */
#include <rung/ranks.h>

#include <stdio.h>

enum { COUNT = 100000 };
static float data[COUNT];

/* What each device does with its part; they need not have as many each. */
static rung_status add_up(rung_context *context, const rung_ranks *ranks, void *user) {
  const int64_t first = (int64_t)COUNT * ranks->rank / ranks->count;
  int64_t count = (int64_t)COUNT * (ranks->rank + 1) / ranks->count - first;
  float sum = 0;
  DLTensor part = rung_array_f32(data + first, &count), out = rung_number_f32(&sum);
  const rung_status bad = rung_reduce_ranks(context, ranks, RUNG_SUM, &part, &out, NULL);
  if (ranks->rank == 0) *(float *)user = sum; /* all have it */
  return bad;
}

int main(int argc, char **argv) {
  rung_context *contexts[RUNG_DEVICES];
  int count;
  float sum = 0;
  for (int i = 0; i < COUNT; i++) data[i] = (float)(i % 16) / 4;
  rung_status bad = rung_open_devices(contexts, &count, argc > 1 ? argv[1] : "cpu,cpu", NULL);
  if (!bad) bad = rung_run_ranks(contexts, count, 60, add_up, &sum);
  if (bad && count > 0) fprintf(stderr, "devices: %s\n", rung_last_error(contexts[0]));
  if (!bad) printf("the sum is %.0f, over %d devices\n", (double)sum, count);
  for (int i = 0; i < count; i++) rung_close(contexts[i]);
  return bad != RUNG_OK;
}
