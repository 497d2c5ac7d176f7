/* What the tests of the CUDA backend share: one opened GPU, or none. Each test that needs one is
 * skipped, by name, where there is none. */
#ifndef TESTS_DEVICE_GPU_H
#define TESTS_DEVICE_GPU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/part.h"

static const rung_backend *cuda; /* NULL: not in this build */
static rung_device device;
static rung_state *gpu;    /* NULL: no device */
static rung_error failure; /* of the last call that failed */

#define NEED_DEVICE() \
  do {                \
    if (!gpu) skip(); \
  } while (0)

/* The sentence is printed where the status is not the one wanted. */
static inline void expect_status(rung_status found, rung_status wanted, int line) {
  if (found != wanted) fail_msg("line %d: status %d: %s", line, (int)found, failure.sentence);
}
#define OK(call) expect_status((call), RUNG_OK, __LINE__)
#define FAILS(status, call) expect_status((call), (status), __LINE__)

static inline int open_gpu(void **unused) {
  (void)unused;
  cuda = rung_backend_of(RUNG_CUDA, NULL);
  int devices = 0;
  if (!cuda || cuda->count(&devices, &failure) != RUNG_OK) {
    print_message("no GPU: %s\n", cuda ? failure.sentence : "this build has no CUDA");
    return 0;
  }
  if (cuda->describe(0, &device, &failure) != RUNG_OK) return -1;
  return cuda->open(&device, NULL, &gpu, &failure) == RUNG_OK ? 0 : -1;
}

static inline int close_gpu(void **unused) {
  (void)unused;
  if (gpu) cuda->close(gpu);
  return 0;
}

#endif
