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

/* The kernels that all clocks time, each one thread: nothing, about 10 us and about 1 ms. */
enum { CLOCKS_EMPTY, CLOCKS_SHORT, CLOCKS_LONG, CLOCKS_KERNELS };

/* One way to time a GPU's kernels. In ns or, where it is simulated, in steps; NaN: no such thing.
 */
typedef struct clocks_way {
  const char *name, *meaning;
  double step;    /* the least that two readings are apart */
  double reading; /* what a reading costs: on the device, of events the host */
  double in_row;  /* what it says of nothing: two readings one behind the other */
  double drift;   /* against CLOCK_MONOTONIC, while nothing runs */
  double kernels[CLOCKS_KERNELS];
} clocks_way;

typedef struct clocks_gpu {
  char device[96]; /* "": none was looked at */
  bool simulated;
  clocks_way ways[CLOCKS_MOST];
  int count;
  int64_t cycles[CLOCKS_KERNELS]; /* that the kernels take */
  double clock_mhz;               /* of clock64 in the long kernel, by globaltimer */
  double seconds, within;         /* what drift was seen over, and how far it may be off */
} clocks_gpu;

/* clocks_cpu.c, clocks_gpu.c */
rung_status clocks_look_cpu(const cli_common *common, clocks_cpu *found, rung_error *error);
rung_status clocks_look_gpu(const cli_common *common, const char *device, clocks_gpu *found,
                            rung_error *error);

/* clocks_print.c; `absent`: why no GPU was looked at, or "" */
void clocks_print(FILE *to, const clocks_cpu *cpu, const clocks_gpu *gpu, const char *absent);
json_t *clocks_json(const clocks_cpu *cpu, const clocks_gpu *gpu, const char *absent);
void clocks_csv(FILE *to, const clocks_cpu *cpu, const clocks_gpu *gpu);

#endif
