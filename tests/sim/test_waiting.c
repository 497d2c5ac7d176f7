/* Blocks that wait for one another on the simulated GPU, and launches side by side. */
#include "ops/outside.h"
#include "sim/board.h"
#include "sim/trials.h"

#include <pthread.h>

static const char none[1] = {0};

static void a_lock_lets_one_block_in(void **unused) {
  (void)unused;
  int out[1] = {0};
  run_on_board(ENTRIES_OF(trial_lock_by_compare), NULL, none, 1, out, sizeof out);
  assert_int_equal(out[0], TRIAL_BLOCKS);
}

static void a_lock_taken_by_exchange_does_too(void **unused) {
  (void)unused;
  int out[1] = {0};
  run_on_board(ENTRIES_OF(trial_lock_by_exchange), NULL, none, 1, out, sizeof out);
  assert_int_equal(out[0], TRIAL_BLOCKS);
}

static void blocks_wait_for_those_before_them(void **unused) {
  (void)unused;
  enum { COUNT = TRIAL_BLOCKS * 64 };
  static int in[COUNT], out[COUNT];
  int sum = 0;
  for (int i = 0; i < COUNT; i++) in[i] = i % 17 - 5;
  run_on_board(ENTRIES_OF(trial_look_back), NULL, in, sizeof in, out, sizeof out);
  for (int i = 0; i < COUNT; i++) {
    sum += in[i];
    assert_int_equal(out[i], sum);
  }
}

/* On every number of host threads: each must hold its share of the blocks, rounded up. */
static void all_blocks_that_fit_are_there_at_once(void **unused) {
  (void)unused;
  if (!here.state) skip();
  const bool sim = here.device.kind == RUNG_SIM;
  for (int threads = 1; threads <= (sim ? 5 : 1); threads += INSTRUMENTED ? 4 : 1) {
    int out[1024] = {0}, came = 0;
    if (sim) here.state->host_threads = threads;
    if (sim) here.state->patience = 2;
    run_on_board(ENTRIES_OF(trial_whole_device), NULL, none, 1, out, sizeof out);
    for (int i = 0; i < 1024; i++) came += out[i];
    assert_true(came >= here.device.processors);
  }
}

/* ---- two contexts on two host threads ---------------------------------------------------------
 */

enum { ROUNDS = INSTRUMENTED ? 2 : 6 }; /* the second of three is examined */

typedef struct side {
  rung_state *state;
  int rounds, wrong;
  rung_error error; /* the first launch that failed */
} side;

static void *run_side(void *arg) {
  side *mine = arg;
  const rung_backend *sim = rung_backend_of(RUNG_SIM, NULL);
  enum { COUNT = TRIAL_BLOCKS * 64 };
  rung_error error = {0};
  rung_device device;
  void *in, *out, *scratch;
  if (sim->describe(0, &device, &error) != RUNG_OK ||
      sim->open(&device, NULL, &mine->state, &error) != RUNG_OK ||
      sim->allocate(mine->state, COUNT * sizeof(int), &in, &error) != RUNG_OK ||
      sim->allocate(mine->state, COUNT * sizeof(int), &out, &error) != RUNG_OK ||
      sim->allocate(mine->state, 4096, &scratch, &error) != RUNG_OK) {
    mine->wrong = -1;
    return NULL;
  }
  for (int i = 0; i < COUNT; i++) ((int *)in)[i] = 1;
  mine->state->patience = 0; /* what the other context does is not waited for at all */
  for (; mine->rounds < ROUNDS; mine->rounds++) {
    const rung_task task = {.arrays = {{.data = in}, {.data = out}},
                            .scratch = scratch,
                            .stream = sim->stream(mine->state),
                            .device = &device,
                            .error = &error};
    memset(scratch, 0, 4096);
    memset(out, 0xff, COUNT * sizeof(int));
    if (mine->rounds % 3 == 1) sim->examine(mine->state, true, (uint64_t)mine->rounds);
    if (ENTRIES_OF(trial_look_back)[1](&task) != RUNG_OK && mine->wrong++ == 0) mine->error = error;
    sim->examine(mine->state, false, 0);
    for (int i = 0; i < COUNT; i++) mine->wrong += ((int *)out)[i] != i + 1;
  }
  sim->close(mine->state);
  return NULL;
}

static void two_contexts_never_meet(void **unused) {
  (void)unused;
  side sides[2] = {{0}};
  pthread_t threads[2];
  for (int k = 0; k < 2; k++)
    assert_int_equal(pthread_create(&threads[k], NULL, run_side, &sides[k]), 0);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  for (int k = 0; k < 2; k++) {
    assert_string_equal(sides[k].error.sentence, "");
    assert_int_equal(sides[k].wrong, 0);
    assert_int_equal(sides[k].rounds, ROUNDS);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(a_lock_lets_one_block_in),
      EACH(a_lock_taken_by_exchange_does_too),
      EACH(blocks_wait_for_those_before_them),
      EACH(all_blocks_that_fit_are_there_at_once),
      cmocka_unit_test(two_contexts_never_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
