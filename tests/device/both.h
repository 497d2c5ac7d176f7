/* A context on the GPU and one on the CPU, and memory on the GPU: what is read, and what is
 * written. All NULL where there is no GPU. */
#ifndef TESTS_DEVICE_BOTH_H
#define TESTS_DEVICE_BOTH_H

#include "core/context.h"
#include "device/gpu.h"

static rung_context *on_gpu, *on_cpu;
static char *read_there, *found_there;

/* `bytes` of `data` are copied to the GPU, and it has room for results. */
static inline int open_both(const void *data, size_t bytes, size_t results) {
  void *from = NULL, *to = NULL;
  if (rung_open(&on_gpu, &(rung_options){.device = "cuda:0"}) != RUNG_OK ||
      rung_open(&on_cpu, &(rung_options){.device = "cpu"}) != RUNG_OK ||
      on_gpu->backend->allocate(on_gpu->state, bytes, &from, &failure) != RUNG_OK ||
      on_gpu->backend->allocate(on_gpu->state, results, &to, &failure) != RUNG_OK ||
      on_gpu->backend->copy(on_gpu->state, from, data, bytes, RUNG_TO_DEVICE, &failure) != RUNG_OK)
    return -1;
  read_there = (char *)from;
  found_there = (char *)to;
  return rung_synchronize(on_gpu) == RUNG_OK ? 0 : -1;
}

static inline int close_both(void **unused) {
  if (on_gpu != NULL) {
    on_gpu->backend->release(on_gpu->state, read_there);
    on_gpu->backend->release(on_gpu->state, found_there);
  }
  rung_close(on_gpu);
  rung_close(on_cpu);
  return close_gpu(unused);
}

#endif
