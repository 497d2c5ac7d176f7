/* Shuffles, votes, matches and reductions of the simulated GPU against what they are said to do. */
#include "sim/board.h"
#include "sim/trials.h"

#include <math.h>

enum { THREADS = TRIAL_WARPS * 32, ROWS = 4 * 6 * TRIAL_ARGUMENTS };

/* The lane whose value `lane` gets: PTX's shfl, whose argument is its low 5 bits. */
static int source(int kind, int width, int argument, int lane) {
  const int by = argument & 31, first = lane / width * width, last = first + width - 1;
  if (kind == 0) return first + by % width;
  if (kind == 1) return lane - by >= first ? lane - by : lane;
  if (kind == 2) return lane + by <= last ? lane + by : lane;
  return (lane ^ by) <= last ? lane ^ by : lane;
}

static void check_shuffle(rung_launch *const *entries, const void *values, size_t bytes) {
  if (!here.state) skip();
  const size_t row_bytes = THREADS * bytes;
  char *in = calloc(1, row_bytes + sizeof trial_arguments), *out = calloc(ROWS, row_bytes);
  memcpy(in, values, row_bytes);
  memcpy(in + row_bytes, trial_arguments, sizeof trial_arguments);
  run_on_board(entries, NULL, in, row_bytes + sizeof trial_arguments, out, ROWS * row_bytes);
  for (int row = 0; row < ROWS; row++)
    for (int t = 0; t < THREADS; t++) {
      const int kind = row / TRIAL_ARGUMENTS / 6, width = 1 << row / TRIAL_ARGUMENTS % 6;
      const int argument = trial_arguments[row % TRIAL_ARGUMENTS];
      const int from = t / 32 * 32 + source(kind, width, argument, t % 32);
      if (memcmp(out + (size_t)row * row_bytes + (size_t)t * bytes, in + (size_t)from * bytes,
                 bytes) != 0)
        fail_msg("kind %d, width %d, argument %d, thread %d: not thread %d's value", kind, width,
                 argument, t, from);
    }
  free(in);
  free(out);
}

#define SHUFFLES(name, type, value)                                    \
  static void shuffles_move_##name(void **unused) {                    \
    (void)unused;                                                      \
    type in[THREADS];                                                  \
    for (int i = 0; i < THREADS; i++) in[i] = (type)(value);           \
    check_shuffle(ENTRIES_OF(trial_shuffle_##name), in, sizeof in[0]); \
  }
SHUFFLES(int, int, -1000003 * i)
SHUFFLES(unsigned, unsigned, 0xf0000000u + (unsigned)i)
SHUFFLES(long, long long, -((long long)i << 40) - i)
SHUFFLES(float, float, -0.0f - 1.5f * (float)i)
SHUFFLES(double, double, -1e300 * i)

/* What the votes of one thread should be, from all values of its warp. */
static void expect_votes(const unsigned *warp, int lanes, int lane, unsigned at,
                         unsigned wanted[TRIAL_VOTES]) {
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  memset(wanted, 0, TRIAL_VOTES * sizeof *wanted);
  (void)at;
  wanted[2] = wanted[7] = 1;
  wanted[4] = mask;
  wanted[5] = 1;
  wanted[9] = INT32_MAX;
  wanted[10] = wanted[13] = UINT32_MAX;
  wanted[11] = (unsigned)INT32_MIN;
  for (int k = 0; k < lanes; k++) {
    const unsigned value = warp[k], less = value - 100;
    wanted[0] |= (unsigned)(value % 3 == 0) << k;
    wanted[1] |= value == 5;
    wanted[2] &= value > 0;
    wanted[3] |= (unsigned)(value % 4 == warp[lane] % 4) << k;
    wanted[7] &= value == warp[0];
    wanted[8] += value;
    if ((int)less < (int)wanted[9]) wanted[9] = less;
    if (less < wanted[10]) wanted[10] = less;
    if ((int)less > (int)wanted[11]) wanted[11] = less;
    if (less > wanted[12]) wanted[12] = less;
    wanted[13] &= value | 8u;
    wanted[14] |= value;
    wanted[15] ^= value;
  }
  wanted[6] = wanted[7] ? mask : 0;
}

static void votes_are_of_the_lanes_in_the_mask(void **unused) {
  if (here.device.kind == RUNG_CUDA && here.device.capability < 80) skip();
  (void)unused;
  unsigned in[TRIAL_VOTERS], out[TRIAL_VOTERS][TRIAL_VOTES], wanted[TRIAL_VOTES];
  memset(out, 0, sizeof out);
  for (unsigned i = 0; i < TRIAL_VOTERS; i++) in[i] = i < 64 ? i * 37 % 101 : 88;
  run_on_board(ENTRIES_OF(trial_votes), NULL, in, sizeof in, out, sizeof out);
  for (int t = 0; t < TRIAL_VOTERS; t++) {
    const int first = t / 32 * 32, left = TRIAL_VOTERS - first;
    expect_votes(in + first, left < 32 ? left : 32, t % 32, (unsigned)t, wanted);
    for (int v = 0; v < TRIAL_VOTES; v++)
      if (out[t][v] != wanted[v])
        fail_msg("thread %d, vote %d is %#x where %#x is wanted", t, v, out[t][v], wanted[v]);
  }
}

static void parts_of_a_warp_go_their_own_ways(void **unused) {
  (void)unused;
  int in[32], out[64] = {0}, between[32];
  for (int i = 0; i < 32; i++) in[i] = 100 + i * i;
  run_on_board(ENTRIES_OF(trial_parts), NULL, in, sizeof in, out, sizeof out);
  for (int i = 0; i < 16; i++) assert_int_equal(out[i], in[i ^ 3]);
  for (int i = 16; i < 32; i++) between[i] = in[i > 16 ? i - 1 : i];
  for (int i = 16; i < 32; i++) {
    /* Lane 15 is of the other half: what lane 16 gets from it is not defined. */
    const int from = i % 8 < 6 ? i + 2 : i;
    if (from != 16) assert_int_equal(out[i], between[from]);
  }
  for (int i = 0; i < 20; i++) assert_int_equal(out[32 + i], out[19]);
}

static void a_block_votes_at_its_barriers(void **unused) {
  (void)unused;
  int in[100], out[100][5] = {{0}};
  for (int i = 0; i < 100; i++) in[i] = i + 1;
  run_on_board(ENTRIES_OF(trial_block_votes), NULL, in, sizeof in, out, sizeof out);
  for (int i = 0; i < 100; i++) {
    const int wanted[5] = {33, 1, 0, 1, 0};
    assert_memory_equal(out[i], wanted, sizeof wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(shuffles_move_int),
      EACH(shuffles_move_unsigned),
      EACH(shuffles_move_long),
      EACH(shuffles_move_float),
      EACH(shuffles_move_double),
      EACH(votes_are_of_the_lanes_in_the_mask),
      EACH(parts_of_a_warp_go_their_own_ways),
      EACH(a_block_votes_at_its_barriers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
