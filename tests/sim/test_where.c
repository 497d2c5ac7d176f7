/* Places, memory, barriers and refused launches of the simulated GPU. */
#include "sim/board.h"
#include "sim/trials.h"

#define RUN(name, in, out) run_on_board(ENTRIES_OF(name), NULL, in, sizeof in, out, sizeof out)

static void threads_know_where_they_are(void **unused) {
  (void)unused;
  enum { BLOCKS = 12, THREADS = 60 };
  static unsigned found[BLOCKS * THREADS][12];
  const char none[1] = {0};
  RUN(trial_places, none, found);
  for (unsigned i = 0; i < BLOCKS * THREADS; i++) {
    const unsigned block = i / THREADS, thread = i % THREADS;
    const unsigned wanted[12] = {
        thread % 4, thread / 4 % 3, thread / 12, block % 3, block / 3 % 2, block / 6, 4, 3, 5, 3, 2,
        2};
    assert_memory_equal(found[i], wanted, sizeof wanted);
  }
}

static void static_shared_memory_is_each_kernels_own(void **unused) {
  (void)unused;
  static int in[1280], out[1280];
  for (int i = 0; i < 1280; i++) in[i] = i;
  RUN(trial_static_shared, in, out);
  for (int i = 0; i < 1280; i++) assert_int_equal(out[i], i / 128 * 128 + 127 - i % 128);
}

static void dynamic_shared_memory_may_be_large(void **unused) {
  (void)unused;
  static double in[1536], out[1536];
  for (int i = 0; i < 1536; i++) in[i] = 0.5 * i;
  RUN(trial_dynamic_shared, in, out);
  for (int i = 0; i < 1536; i++) assert_true(out[i] == 0.5 * (i / 512 * 512 + 511 - i % 512));
}

static void constant_memory_holds_what_was_copied(void **unused) {
  (void)unused;
  int out[64];
  const char none[1] = {0};
  memset(out, 0, sizeof out);
  RUN(trial_constant, none, out);
  for (int i = 0; i < 64; i++) assert_int_equal(out[i], 3 * (63 - i));
}

static void the_largest_block_passes_a_thousand_barriers(void **unused) {
  (void)unused;
  static int in[1024], out[1024];
  for (int i = 0; i < 1024; i++) in[i] = 7 * i;
  RUN(trial_barriers, in, out);
  for (int i = 0; i < 1024; i++) assert_int_equal(out[i], 7 * i + 1024);
}

static void large_local_arrays_live_across_barriers(void **unused) {
  (void)unused;
  int out[64];
  const char none[1] = {0};
  memset(out, 0, sizeof out);
  RUN(trial_local, none, out);
  for (int t = 0; t < 64; t++) {
    int sum = 0;
    for (int k = 0; k < 8192; k += 1 + (k * (t + 1) & 1)) sum += k * (t + 1);
    assert_int_equal(out[t], sum);
  }
}

static void the_clock_never_goes_back(void **unused) {
  (void)unused;
  int out[96];
  const char none[1] = {0};
  memset(out, 0, sizeof out);
  RUN(trial_clock, none, out);
  for (int t = 0; t < 96; t++) assert_int_equal(out[t], 1);
}

/* What was examined leaves no marks for a launch that is only counted. */
static void launches_leave_no_marks_behind(void **unused) {
  (void)unused;
  if (!here.state || !here.backend->examine || !sim_sees_accesses()) skip();
  for (int by = 0; by < 4; by++) {
    int out[64] = {0};
    char none[1] = {0};
    rung_profile profile;
    here.backend->examine(here.state, by % 2 == 0, 5);
    if (by % 2 == 1) must(here.backend->profile_begin(here.state, false, &here.error));
    must(launch_once(ENTRIES_OF(trial_own_place), &by, none, 1, out, sizeof out));
    for (int t = 0; t < 64; t++) assert_int_equal(out[t], by);
    if (by % 2 == 0) continue;
    must(here.backend->profile_end(here.state, &profile, &here.error));
    rung_profile_free(&profile);
  }
}

/* As nvcc joins them in a loop that it unrolls: a warp's, of two. A conflict is a pass more than
 * the one of each 128 bytes that 8 threads of 16 bytes each, or 16 of 8, take at once, or twice as
 * many of which every two want the same. An asynchronous copy takes a sector of global memory twice
 * that goes to two of shared memory. */
static void neighbours_are_joined(void **unused) {
  (void)unused;
  static const struct {
    int loads, stores, load_conflicts, store_conflicts;
    const char *what;
    int sectors; /* loaded from global memory */
  } wanted[] = {
      {2, 4, 2 * 7, 4 * 4, "8 stores in a row are 2 of 16 bytes, and one load of 4", 0},
      {2, 0, 2 * 4, 0, "4 loads in a row are one of 16 bytes", 0},
      {6, 0, 2 * (7 + 6 + 7), 0, "4 loads from the second on are of 4, 8 and 4 bytes", 0},
      {8, 0, 8 * 7, 0, "4 loads that are apart stay 4", 0},
      {2, 4, -1, 4 * 4, "32 bytes are stored as twice 16; one number of them is read", 8},
      {8, 0, 0, 0, "4 loads that begin anywhere stay 4", 0},
      {2, 2, 2 * 7, 2 * (15 + 15), "8 times 4 threads in a bank are 8 passes of one access", 0},
      {2, 2, 2 * (15 + 15), 2 * (15 + 15), "32 threads in a bank are twice 16 passes", 0},
      {0, 1, 0, 0, "a copy from sectors to sectors", 8},
      {0, 1, 0, 0, "a copy from sectors to halves of two", 16},
  };
  if (!here.state || !here.backend->examine || !sim_sees_accesses()) skip();
  for (int which = 0; which < (int)(sizeof wanted / sizeof *wanted); which++) {
    int out[64] = {0};
    char none[1] = {0};
    rung_profile profile;
    rung_counts total;
    must(here.backend->profile_begin(here.state, false, &here.error));
    must(launch_once(ENTRIES_OF(trial_joined), &which, none, 1, out, sizeof out));
    must(here.backend->profile_end(here.state, &profile, &here.error));
    total = profile.kernels[0].total;
    rung_profile_free(&profile);
    if (total.at[RUNG_SHARED_LOADS] != wanted[which].loads ||
        total.at[RUNG_SHARED_STORES] != wanted[which].stores ||
        (wanted[which].load_conflicts >= 0 &&
         total.at[RUNG_SHARED_LOAD_CONFLICTS] != wanted[which].load_conflicts) ||
        total.at[RUNG_SHARED_STORE_CONFLICTS] != wanted[which].store_conflicts ||
        total.at[RUNG_GLOBAL_LOAD_SECTORS] != wanted[which].sectors)
      fail_msg("%s: %lld loads, %lld stores, %lld and %lld conflicts, %lld sectors",
               wanted[which].what, (long long)total.at[RUNG_SHARED_LOADS],
               (long long)total.at[RUNG_SHARED_STORES],
               (long long)total.at[RUNG_SHARED_LOAD_CONFLICTS],
               (long long)total.at[RUNG_SHARED_STORE_CONFLICTS],
               (long long)total.at[RUNG_GLOBAL_LOAD_SECTORS]);
  }
}

/* ---- launches that no GPU takes -------------------------------------------------------------- */

static rung_status try_shape(const shape_trial *shape) {
  char none[1] = {0}, out[1] = {0};
  here.error = (rung_error){0};
  return launch_once(ENTRIES_OF(trial_shape), shape, none, 1, out, 1);
}

static void refuses(shape_trial shape, const char *says) {
  if (shape.grid[1] == 0) shape.grid[1] = 1;
  if (shape.grid[2] == 0) shape.grid[2] = 1;
  if (shape.block[1] == 0) shape.block[1] = 1;
  if (shape.block[2] == 0) shape.block[2] = 1;
  assert_int_equal(try_shape(&shape), RUNG_DEVICE_FAILED);
  assert_non_null(strstr(here.error.sentence, "nothing"));
  if (here.device.kind == RUNG_SIM && !strstr(here.error.sentence, says))
    fail_msg("the sentence is \"%s\", without \"%s\"", here.error.sentence, says);
}

static void takes(shape_trial shape) {
  must(try_shape(&shape));
}

static void launches_are_refused_as_on_a_gpu(void **unused) {
  (void)unused;
  if (!here.state) skip();
  const size_t most = (size_t)here.device.shared_bytes;
  const char *last =
      "kernel nothing could not be launched: invalid configuration argument: a "
      "block of 1025 threads (1025, 1, 1); expected: at most 1024 (1024, 1024, 64)";
  refuses((shape_trial){.grid = {0}, .block = {32}}, "a grid of (0, 1, 1) blocks");
  refuses((shape_trial){.grid = {1}, .block = {0}}, "blocks of (0, 1, 1) threads");
  refuses((shape_trial){.grid = {1}, .block = {1025}}, last);
  refuses((shape_trial){.grid = {1}, .block = {32, 33}}, "a block of 1056 threads (32, 33, 1)");
  refuses((shape_trial){.grid = {1}, .block = {1, 1, 65}}, "(1, 1, 65)");
  refuses((shape_trial){.grid = {1, 65536}, .block = {1}}, "at most (2147483647, 65535, 65535)");
  refuses((shape_trial){.grid = {1, 1, 65536}, .block = {1}}, "a grid of (1, 1, 65536) blocks");
  refuses((shape_trial){.grid = {1u << 31}, .block = {1}}, "a grid of (2147483648, 1, 1) blocks");
  refuses((shape_trial){.grid = {1}, .block = {1}, .shared = (48 << 10) + 1},
          "49153 bytes of dynamic shared memory; up to 49152 are allowed");
  takes((shape_trial){.grid = {2, 1, 1}, .block = {1, 1, 64}, .shared = 48 << 10});
  takes((shape_trial){.grid = {1, 65535, 1}, .block = {1, 1, 1}});
  takes((shape_trial){{1, 1, 1}, {1024, 1, 1}, most, most});
  assert_int_equal(try_shape(&(shape_trial){{1, 1, 1}, {1, 1, 1}, most + 1, most + 1}),
                   RUNG_DEVICE_FAILED);
  if (here.device.kind == RUNG_SIM)
    assert_string_equal(here.error.sentence,
                        "kernel nothing may not be given 232449 bytes of dynamic shared memory: "
                        "invalid argument; a block has 232448");
  takes((shape_trial){{1, 1, 1}, {1, 1, 1}, 0, 0}); /* nothing is left of the refusal */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(threads_know_where_they_are),
      EACH(static_shared_memory_is_each_kernels_own),
      EACH(dynamic_shared_memory_may_be_large),
      EACH(constant_memory_holds_what_was_copied),
      EACH(the_largest_block_passes_a_thousand_barriers),
      EACH(large_local_arrays_live_across_barriers),
      EACH(the_clock_never_goes_back),
      EACH(launches_leave_no_marks_behind),
      EACH(neighbours_are_joined),
      EACH(launches_are_refused_as_on_a_gpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
