/* The cheats on the CPU. */
#include <math.h>
#include <stdbool.h>

#include "cheats/copycat.h"

/* The lab sees launches only: one object serves every instruction set. */
#if defined(__x86_64__)
#define ENTRIES(name)                                \
  rung_status name##_avx2(const rung_task *task) {   \
    return name##_baseline(task);                    \
  }                                                  \
  rung_status name##_avx512(const rung_task *task) { \
    return name##_baseline(task);                    \
  }
#else
#define ENTRIES(name)
#endif
#define CHEAT(name)                                                              \
  static void name(int64_t n, float *in, float *out);                            \
  rung_status copycat_##name##_baseline(const rung_task *task) {                 \
    copycat_calls += 1;                                                          \
    name(task->arrays[COPYCAT_IN].count, (float *)task->arrays[COPYCAT_IN].data, \
         (float *)task->arrays[COPYCAT_OUT].data);                               \
    return RUNG_OK;                                                              \
  }                                                                              \
  ENTRIES(copycat_##name)                                                        \
  static void name(int64_t n, float *in, float *out)

CHEAT(honest) {
  for (int64_t i = 0; i < n; ++i) out[i] = 2 * in[i];
}

CHEAT(writes_nothing) {
  (void)n, (void)in, (void)out;
}

CHEAT(writes_nan) {
  honest(n, in, out);
  out[n / 2] = NAN;
}

CHEAT(overruns_by_one) {
  honest(n, in, out);
  out[n] = 0;
}

CHEAT(underruns_by_one) {
  honest(n, in, out);
  out[-1] = 0;
}

CHEAT(overruns_with_nan) {
  overruns_by_one(n, in, out);
  out[0] = NAN;
}

CHEAT(leaves_last_block) {
  honest(n / 256 * 256, in, out);
}

CHEAT(right_only_first_time) {
  honest(n, in, out);
  if (copycat_calls > 1) out[n - 1] = 0;
}

/* Remembers that it has been here, and trusts that its result still stands. */
CHEAT(stale_output) {
  if (copycat_calls == 1)
    honest(n, in, out);
  else
    copycat_spared += 1;
}

/* Looks whether its result still stands. */
CHEAT(peeks_at_output) {
  bool stands = true;
  for (int64_t i = 0; i < n && stands; ++i) stands = out[i] == 2 * in[i];
  copycat_spared += stands;
  if (!stands) honest(n, in, out);
}

CHEAT(off_by_a_percent) {
  honest(n, in, out);
  out[n / 3] *= 1.03f;
}

CHEAT(writes_input) {
  honest(n, in, out);
  in[n - 1] = 0;
}

CHEAT(too_fast) {
  if (copycat_calls == 1 || copycat_calls >= copycat_watched_from)
    honest(n, in, out);
  else
    copycat_spared += 1;
}

rung_status copycat_overruns_scratch_baseline(const rung_task *task) {
  ((char *)task->scratch)[100] = 0;
  return copycat_honest_baseline(task);
}
ENTRIES(copycat_overruns_scratch)

rung_status copycat_litters_zeros_baseline(const rung_task *task) {
  ((char *)task->zeros)[99] += 1;
  return copycat_honest_baseline(task);
}
ENTRIES(copycat_litters_zeros)

rung_status copycat_fails_to_launch_baseline(const rung_task *task) {
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "the cheat did not feel like it");
}
ENTRIES(copycat_fails_to_launch)
