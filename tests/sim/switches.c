/* How many switches between threads a simulated GPU makes in a second, on one core, beside glibc's
 * swapcontext(). Prints; checks no time. */
#include <rung/rung.h>
#include <stdio.h>
#include <time.h>
#include <ucontext.h>

#include "core/context.h"
#include "core/ladder.h"

rung_launch switches_sim;

enum { BLOCKS = 400, THREADS = 256, BARRIERS = 12 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(const rung_context *context, const rung_error *error) {
  printf("%s%s\n", rung_last_error(context), error->sentence);
  rung_close((rung_context *)context);
  return 1;
}

static ucontext_t here, there;

static void answer(void) {
  for (;;) swapcontext(&there, &here);
}

static double by_swapcontext(void) {
  enum { TURNS = 200000 };
  static char stack[1 << 16];
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  makecontext(&there, answer, 0);
  const double begun = seconds();
  for (int i = 0; i < TURNS; ++i) swapcontext(&here, &there);
  return 2 * TURNS / (seconds() - begun);
}

int main(void) {
  static float out[THREADS];
  static const int shape[] = {BLOCKS, THREADS, BARRIERS};
  rung_context *context;
  rung_error error = {0};
  if (rung_open(&context, &(rung_options){.device = "sim", .threads = 1}) != RUNG_OK)
    return fail(context, &error);
  rung_task task = {.problem = shape,
                    .scratch = out,
                    .stream = context->backend->stream(context->state),
                    .device = &context->device,
                    .error = &error};
  for (int examined = 0; examined < 2; ++examined) {
    context->backend->examine(context->state, examined != 0, 1);
    const double begun = seconds();
    if (switches_sim(&task) != RUNG_OK || rung_synchronize(context) != RUNG_OK)
      return fail(context, &error);
    printf("%-28s %6.1f million switches a second (%d blocks, %d threads, %d barriers)\n",
           examined ? "examined, in random order:" : "plain:",
           (double)BLOCKS * THREADS * BARRIERS / (seconds() - begun) / 1e6, BLOCKS, THREADS,
           BARRIERS);
  }
  printf("%-28s %6.1f\n", "glibc's swapcontext():", by_swapcontext() / 1e6);
  rung_close(context);
  return 0;
}
