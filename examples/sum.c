/* The sum of an array: three lines between opening and closing.
 *
 *   cc sum.c $(pkg-config --cflags --libs rung) -o sum && ./sum */
#include <rung/rung.h>

#include <stdio.h>

int main(void) {
  enum { COUNT = 100000 };
  static float data[COUNT];
  for (int i = 0; i < COUNT; i++) data[i] = (float)(i % 16) / 4;
  float sum = 0;
  int64_t count = COUNT;
  rung_context *context;
  rung_status status = rung_open(&context, &(rung_options){.device = "auto"});

  DLTensor in = rung_array_f32(data, &count);
  DLTensor out = rung_number_f32(&sum);
  if (!status) status = rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, NULL);

  if (status)
    fprintf(stderr, "sum: %s\n", rung_last_error(context));
  else
    printf("the sum is %.0f\n", (double)sum);
  rung_close(context);
  return status != RUNG_OK;
}
