/* After fork(): the child's own contexts work, with threads and with the bits of the parent's;
 * those of the parent refuse every call there, and go on in the parent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <rung/rung.h>

enum { COUNT = 300000 };
static float numbers[COUNT];
static float wanted;

#if defined(__SANITIZE_THREAD__)
enum { FORKS = 0 }; /* it makes no threads in a child */
#else
enum { FORKS = 1 };
#endif

static rung_status sum(rung_context *context, int64_t count, float *result) {
  const DLTensor in = rung_array_f32(numbers, &count);
  DLTensor out = rung_number_f32(result);
  return rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, NULL);
}

/* What is wrong in the child; NULL: nothing. */
static const char *in_child(rung_context *parents, const char *device, int64_t count) {
  rung_device_info info = {0};
  float result = 0;
  double reach = 0;
  const rung_box box = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  rung_context *own;
  if (sum(parents, count, &result) != RUNG_BAD_ARGUMENT) return "an inherited context computes";
  if (strstr(rung_last_error(parents), "before fork()") == NULL) return "it does not say why";
  if (result != 0) return "a refused call has written";
  if (rung_synchronize(parents) != RUNG_BAD_ARGUMENT ||
      rung_opened(parents, &info) != RUNG_BAD_ARGUMENT ||
      rung_box_reach(parents, &box, &reach) != RUNG_BAD_ARGUMENT)
    return "an inherited context takes some calls";
  rung_close(parents);
  const rung_options options = {.device = device, .threads = 3};
  if (rung_open(&own, &options) != RUNG_OK) return "no context of its own";
  for (int k = 0; k < 3; k++)
    if (sum(own, count, &result) != RUNG_OK) return rung_last_error(own);
  if (result != wanted) return "other bits";
  rung_close(own);
  return NULL;
}

static void forks(const char *device, int64_t count) {
  int status = 0;
  rung_context *context;
  const rung_options options = {.device = device, .threads = 3};
  if (!FORKS) skip();
  if (rung_open(&context, &options) != RUNG_OK) {
    rung_close(context);
    skip();
  }
  assert_int_equal(sum(context, count, &wanted), RUNG_OK);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const char *wrong = in_child(context, device, count);
    if (wrong != NULL) fprintf(stderr, "%s: %s\n", device, wrong);
    _exit(wrong != NULL);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  float again;
  assert_int_equal(sum(context, count, &again), RUNG_OK);
  assert_true(again == wanted);
  rung_close(context);
}

static void on_the_cpu(void **state) {
  (void)state;
  forks("cpu", COUNT);
}

static void on_the_simulator(void **state) {
  (void)state;
  forks("sim", 5000);
}

int main(void) {
  for (int i = 0; i < COUNT; i++) numbers[i] = (float)(i % 1000) * 0.1f;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(on_the_cpu),
      cmocka_unit_test(on_the_simulator),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
