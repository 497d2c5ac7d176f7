/* What a backend that works in the host's memory asks of the host. */
#ifndef RUNG_BACKEND_CPU_HOST_H
#define RUNG_BACKEND_CPU_HOST_H

#include "backend/backend.h"

rung_status rung_cpu_describe(int index, rung_device *device, rung_error *error);

/* Bytes that could be allocated now without swapping: what the kernel estimates, or what the
 * process's memory cgroups leave, if that is less. `root` stands before every path ("" for the
 * machine itself). INT64_MAX where nothing is known. */
int64_t rung_cpu_memory_available(const char *root);

#endif
