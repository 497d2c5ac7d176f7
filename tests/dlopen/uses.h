/* librung.so found at run time, as a plug-in finds it: by dlopen() and dlsym() alone. */
#ifndef RUNG_TESTS_DLOPEN_USES_H
#define RUNG_TESTS_DLOPEN_USES_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "rung/rung.h"

typedef struct rung_found {
  void *handle;
  const char *(*version)(void);
  rung_status (*open)(rung_context **, const rung_options *);
  void (*close)(rung_context *);
  const char *(*last_error)(const rung_context *);
  rung_status (*reduce)(rung_context *, rung_reduction, const DLTensor *, int, DLTensor *,
                        rung_call *);
} rung_found;

/* 0: found, all of it. */
static inline int rung_find(const char *path, rung_found *found) {
  found->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (found->handle == NULL) {
    printf("dlopen: %s\n", dlerror());
    return 1;
  }
  const struct {
    void **to;
    const char *name;
  } names[] = {{(void **)&found->version, "rung_version"},
               {(void **)&found->open, "rung_open"},
               {(void **)&found->close, "rung_close"},
               {(void **)&found->last_error, "rung_last_error"},
               {(void **)&found->reduce, "rung_reduce"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    *names[i].to = dlsym(found->handle, names[i].name);
    if (*names[i].to == NULL) {
      printf("dlsym: %s\n", dlerror());
      return 1;
    }
  }
  return 0;
}

/* Sums 0 ... 9999 on a device: the status; `said` is the sentence. 10000 means a wrong sum. */
static inline int rung_sums_on(const rung_found *found, const char *device, char *said,
                               size_t room) {
  enum { COUNT = 10000 };
  static float numbers[COUNT];
  for (int i = 0; i < COUNT; i++) numbers[i] = (float)i;
  float sum = 0;
  int64_t extent = COUNT;
  DLTensor in = {.data = numbers,
                 .device = {kDLCPU, 0},
                 .ndim = 1,
                 .dtype = {kDLFloat, 32, 1},
                 .shape = &extent};
  DLTensor out = {.data = &sum, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 32, 1}};
  rung_context *context;
  int status = (int)found->open(&context, &(rung_options){.device = device, .threads = 2});
  if (status == 0) status = (int)found->reduce(context, RUNG_SUM, &in, 0, &out, NULL);
  snprintf(said, room, "%s", found->last_error(context));
  found->close(context);
  return status == 0 && sum != 49995000.0F ? 10000 : status;
}

#endif
