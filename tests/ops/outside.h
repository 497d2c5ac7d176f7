/* What the rooms' tests from outside share: the types of elements, tensors in one line. */
#ifndef TESTS_OPS_OUTSIDE_H
#define TESTS_OPS_OUTSIDE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rung/rung.h>

static const DLDataType u8 = {kDLUInt, 8, 1}, u16 = {kDLUInt, 16, 1}, i32 = {kDLInt, 32, 1},
                        u32 = {kDLUInt, 32, 1}, i64 = {kDLInt, 64, 1}, u64 = {kDLUInt, 64, 1},
                        f32 = {kDLFloat, 32, 1}, f64 = {kDLFloat, 64, 1}, i8 = {kDLInt, 8, 1},
                        i16 = {kDLInt, 16, 1}, f16 = {kDLFloat, 16, 1}, bf16 = {kDLBfloat, 16, 1};

/* The CPU with two threads, or a device that the build may lack: then NULL. */
static inline rung_context *open_on(const char *device) {
  rung_context *context = NULL;
  if (rung_open(&context, &(rung_options){.device = device, .threads = 2}) == RUNG_OK)
    return context;
  if (strcmp(device, "cpu") == 0) fail_msg("%s", rung_last_error(context));
  rung_close(context);
  return NULL;
}

static inline DLTensor tensor(const void *data, DLDataType type, int ndim, int64_t *shape,
                              int64_t *strides) {
  return (DLTensor){.data = (void *)data,
                    .device = {kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = type,
                    .shape = shape,
                    .strides = strides};
}

/* Under a sanitizer everything takes several times as long, and less of it has to do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { INSTRUMENTED = 1 };
#else
enum { INSTRUMENTED = 0 };
#endif

/* ThreadSanitizer looks at what threads share. */
#if defined(__SANITIZE_THREAD__)
enum { THREADS_ONLY = 1 };
#else
enum { THREADS_ONLY = 0 };
#endif

#endif
