/* What goes wrong between the threads of a kernel is caught on the simulated GPU, with a sentence
 * that says where; the same kernel put right passes, on a GPU too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "backend/sim/sim.h"
#include "cheats/copycat.h"
#include "cheats/slips.h"
#include "lab/lab.h"

enum { SEEDS = 8, PATIENCE = 1 /* seconds */ };

typedef struct slip {
  const char *name;
  rung_launch *slips[RUNG_ISAS], *mends[RUNG_ISAS];
  const int *lines;
  lab_finding finding;
  const char *says[3]; /* parts of the sentence */
  bool sometimes;      /* only some of the seeds show it */
} slip;

#define SLIP(name, found, ...)                             \
  static const slip name = {#name,                         \
                            {NULL, slip_##name##_sim},     \
                            RUNG_GPU_ENTRIES(mend_##name), \
                            name##_lines_sim,              \
                            found,                         \
                            {__VA_ARGS__},                 \
                            found == LAB_WRONG}

#define RACE(name, memory, ...) \
  SLIP(name, LAB_LAUNCH_FAILED, "a race in " memory " memory: thread (", __VA_ARGS__)

RACE(missing_barrier, "shared", "and nothing orders the two");
RACE(missing_syncwarp, "shared", " of block (");
RACE(device_race, "device", " of another block ");
RACE(device_race_in_block, "device", " of block (");
RACE(scan_in_place, "shared", NULL);
RACE(plain_counter, "shared", NULL);
RACE(bytes_of_a_word, "shared", NULL);
RACE(last_block, "device", " of another block ");
RACE(volatile_flag, "device", " of another block ");
RACE(shuffle_orders, "shared", NULL);
SLIP(reads_past_end, LAB_LAUNCH_FAILED, "thread (231, 0, 0) of block (3, 0, 0) reads 4 bytes at",
     ", 4 bytes past the end of the memory it may use");
SLIP(writes_past_end, LAB_LAUNCH_FAILED, "thread (232, 0, 0) of block (3, 0, 0) writes 4 bytes at",
     ", 4 bytes past the end of the memory it may use");
SLIP(reads_before_start, LAB_LAUNCH_FAILED, "thread (0, 0, 0) of block (0, 0, 0) reads 4 bytes at",
     ", 4 bytes before the start of the memory it may use");
SLIP(writes_before_start, LAB_LAUNCH_FAILED,
     "thread (0, 0, 0) of block (0, 0, 0) writes 4 bytes at",
     ", 4 bytes before the start of the memory it may use");
SLIP(overruns_shared, LAB_LAUNCH_FAILED, "thread (255, 0, 0) of block (", "writes 4 bytes at",
     ", 4 bytes past the end of the dynamic shared memory it may use");
SLIP(unwritten_shared, LAB_UNWRITTEN, "out was not written at element 100 of 1000");
SLIP(unwritten_static_shared, LAB_WRONG, "1000 elements are wrong");
SLIP(barrier_in_branch, LAB_LAUNCH_FAILED, "not all of the 256 threads of block (",
     "128 (the first is thread 0) wait at the barrier at",
     "128 (the first is thread 128) have ended");
SLIP(two_barriers, LAB_LAUNCH_FAILED, "not all of the 256 threads of block (",
     "128 (the first is thread 0) wait at the barrier at",
     "128 (the first is thread 128) wait at the barrier at");
SLIP(mixed_barriers, LAB_LAUNCH_FAILED, "not all of the 256 threads of block (",
     "128 (the first is thread 0) wait at the barrier at",
     "128 (the first is thread 128) wait at the barrier at");
SLIP(barrier_after_return, LAB_LAUNCH_FAILED, "not all of the 256 threads of block (3, 0, 0)",
     "232 (the first is thread 0) wait at the barrier at",
     "24 (the first is thread 232) have ended");
SLIP(lane_never_comes, LAB_LAUNCH_FAILED, "not all of the 256 threads of block (",
     "128 (the first is thread 0) wait for other lanes of their warp at",
     "128 (the first is thread 16) wait at the barrier at");
SLIP(lane_outside_mask, LAB_LAUNCH_FAILED, " is lane ", ", which the mask 0x0000ffff at ",
     " leaves out");
SLIP(polls_for_ever, LAB_LAUNCH_FAILED, " has polled for 1 s at ", "and nothing changes");
SLIP(order_of_blocks, LAB_WRONG, "1000 elements are wrong");
SLIP(texture_past_end, LAB_LAUNCH_FAILED, "thread (231, 0, 0) of block (3, 0, 0) reads 4 bytes at",
     ", 4 bytes past the end of the memory it may use");
SLIP(texture_of_own_writes, LAB_LAUNCH_FAILED, ", through a texture, what thread ",
     " in the same launch");
SLIP(texture_nobody_made, LAB_LAUNCH_FAILED, " through texture 100", ", which nobody made");
SLIP(texture_of_others, LAB_LAUNCH_FAILED, " reads elements of 2 bytes at ",
     " through a texture of elements of 4 bytes");
SLIP(texture_unwritten, LAB_UNWRITTEN, "out was not written at element 100 of 1000");
SLIP(constant_written, LAB_LAUNCH_FAILED, " writes 4 bytes at ",
     " of constant memory, which no kernel may write");
SLIP(constant_past_end, LAB_LAUNCH_FAILED, " reads 4 bytes at ",
     ", 4 bytes past the end of the constant memory it may use");
SLIP(constant_not_copied, LAB_LAUNCH_FAILED, " reads 4 bytes at ",
     " of constant memory to which nothing was copied");
SLIP(reads_before_waiting, LAB_LAUNCH_FAILED, " reads at ", " of the launch before wrote at ",
     ", and has not waited for it");
SLIP(writes_before_waiting, LAB_LAUNCH_FAILED, " writes at ",
     " before it has waited for the launch before");
SLIP(one_thread_waits, LAB_LAUNCH_FAILED, " reads at ", " of the launch before wrote at ",
     ", and has not waited for it");

/* ---- trials --------------------------------------------------------------------------------- */

static size_t slips_scratch(const rung_task *task) {
  (void)task;
  return SLIPS_SCRATCH;
}

static void verify(const char *device, rung_launch *const *launch, uint64_t seed,
                   lab_verdict *verdict) {
  rung_context *context = NULL;
  rung_error error = {0};
  rung_case test_case;
  lab_fixture *fixture;
  if (rung_open(&context, &(rung_options){.device = device}) != RUNG_OK) {
    print_message("%s is not tried: %s\n", device, rung_last_error(context));
    rung_close(context);
    skip();
  }
  rung_row row = {.name = "slip",
                  .idea = "a slip",
                  .family = RUNG_ON_GPU,
                  .order = RUNG_CANONICAL,
                  .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
                  .scratch_bytes = slips_scratch};
  memcpy(row.launch, launch, sizeof row.launch);
  assert_int_equal(copycat_cases.make("n=1000", seed, &test_case, &error), RUNG_OK);
  assert_int_equal(copycat_cases.expect(&test_case, &error), RUNG_OK);
  if (context->device.kind == RUNG_SIM) context->state->patience = PATIENCE;
  if (lab_fixture_open(context, &test_case, &fixture, &error) != RUNG_OK)
    fail_msg("%s", error.sentence);
  lab_verify(fixture, &row, 0, verdict);
  lab_fixture_close(fixture);
  copycat_cases.drop(&test_case);
  rung_close(context);
}

static void assert_says(const slip *the, const char *sentence, const char *part) {
  if (!strstr(sentence, part))
    fail_msg("%s: the sentence is \"%s\", without \"%s\"", the->name, sentence, part);
}

static void assert_caught(const slip *the, const lab_verdict *verdict) {
  char text[64];
  if (verdict->finding != the->finding)
    fail_msg("%s: found %s (%s) where %s is wanted", the->name, lab_finding_name(verdict->finding),
             verdict->sentence, lab_finding_name(the->finding));
  for (int k = 0; k < 3 && the->says[k]; k++) assert_says(the, verdict->sentence, the->says[k]);
  if (the->finding != LAB_LAUNCH_FAILED) return;
  snprintf(text, sizeof text, "kernel %s: ", the->name);
  assert_int_equal(strncmp(verdict->sentence, text, strlen(text)), 0);
  if (!sim_has_lines()) return;
  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof text, "tests/cheats/slips.cu:%d", the->lines[k]);
    assert_says(the, verdict->sentence, text);
  }
}

static void is_caught(void **state) {
  const slip *the = *state;
  int caught = 0;
  if (!sim_sees_accesses()) {
    print_message("%s is not tried: this build's simulator does not watch\n", the->name);
    skip();
  }
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    lab_verdict verdict;
    verify("sim", the->slips, seed, &verdict);
    if (the->sometimes && verdict.finding == LAB_GOOD) continue;
    assert_caught(the, &verdict);
    caught++;
  }
  assert_true(the->sometimes ? caught > 0 : caught == SEEDS);
}

static void passes_once_mended(const char *device, const slip *the) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    lab_verdict verdict;
    verify(device, the->mends, seed, &verdict);
    if (verdict.finding != LAB_GOOD)
      fail_msg("%s, mended: found %s (%s)", the->name, lab_finding_name(verdict.finding),
               verdict.sentence);
  }
}

static void passes_on_the_simulator(void **state) {
  if (*state == &volatile_flag && !sim_sees_accesses()) {
    /* A read is a turn for others only where it is seen: this one would wait for ever. */
    print_message("volatile_flag is not tried: this build's simulator does not watch\n");
    skip();
  }
  passes_once_mended("sim", *state);
}

static void passes_on_a_gpu(void **state) {
  passes_once_mended("cuda", *state);
}

#define CASES(name)                                                                 \
  {"sim " #name, is_caught, NULL, NULL, (void *)&name},                             \
      {"sim " #name " mended", passes_on_the_simulator, NULL, NULL, (void *)&name}, \
      {"cuda " #name " mended", passes_on_a_gpu, NULL, NULL, (void *)&name},

int main(void) {
  const struct CMUnitTest tests[] = {SLIPS(CASES)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
