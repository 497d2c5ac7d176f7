/* Clocks, and what they say of the same work. */
#ifndef RUNG_CLI_CLOCKS_H
#define RUNG_CLI_CLOCKS_H

#include "cli/cli.h"
#include "cli/rows.h"

enum { CLOCKS_MOST = 8 };

/* NaN: not known, or there is no such thing. */
typedef struct clocks_one {
  const char *name, *meaning;
  double unit_ns;    /* what the system says that it counts */
  double step_ns;    /* the least that two readings were seen apart */
  double reading_ns; /* what a reading costs */
  double drift;      /* against CLOCK_MONOTONIC_RAW: 1e-6 is a microsecond a second */
  double single_ms, all_ms, waiting_ms; /* what it says of work and of waiting */
} clocks_one;

typedef struct clocks_cpu {
  clocks_one clocks[CLOCKS_MOST];
  int count, threads;
  double asked_ms, seconds; /* the wait; what drift was seen over */
} clocks_cpu;

typedef struct clocks_gpu {
  char device[96]; /* "": none was looked at */
  int64_t blocks;
  double events_ms, global_ms, global_step_ns, clock_mhz, host_ms, launch_ms;
} clocks_gpu;

/* clocks_cpu.c, clocks_gpu.c */
rung_status clocks_look_cpu(const cli_common *common, clocks_cpu *found, rung_error *error);
rung_status clocks_look_gpu(const cli_common *common, const char *device, clocks_gpu *found,
                            rung_error *error);

#endif
