/* Inside the CPU backend: what its files share. */
#ifndef RUNG_BACKEND_CPU_CPU_H
#define RUNG_BACKEND_CPU_CPU_H

#include <time.h>

#include "backend/cpu/host.h"

/* One opened CPU. There is no stream: every function returns when its work is done. */
struct rung_state {
  int threads;
  rung_isa isa;
  int64_t cache_bytes;
  struct timespec marks[2];
  bool marked[2];
  double mhz; /* of the last clock_end(); 0: none yet */
  /* For flush() and the bandwidth probes, made when first needed. Given back when an allocation
   * would not fit beside it. */
  char *spare;
  size_t spare_bytes;
};

extern const rung_backend rung_cpu_backend;

/* ---- memory.c ----------------------------------------------------------------------------- */

/* The first bytes of a small file as text, without its last newline; false, text "", where it
 * cannot be read. */
bool rung_cpu_read_text(const char *path, char *text, size_t room);

/* "1.5 GiB" */
void rung_cpu_bytes_text(int64_t bytes, char *text, size_t room);

rung_status rung_cpu_allocate(rung_state *state, size_t bytes, void **memory, rung_error *error);

/* state->spare of at least `bytes`, every page of it written once (a page never written is read
 * from the cache, whatever its address), in whole RUNG_CPU_CHUNKs. */
rung_status rung_cpu_spare(rung_state *state, size_t bytes, rung_error *error);
enum { RUNG_CPU_CHUNK = 1 << 20 };

/* ---- facts.c ------------------------------------------------------------------------------ */

rung_status rung_cpu_facts(int index, void (*emit)(void *to, const char *key, const char *value),
                           void *to, rung_error *error);

/* ---- measure.c ---------------------------------------------------------------------------- */

rung_status rung_cpu_mark(rung_state *state, int slot, rung_error *error);
rung_status rung_cpu_elapsed(rung_state *state, double *milliseconds, rung_error *error);
rung_status rung_cpu_clock_begin(rung_state *state, rung_error *error);
rung_status rung_cpu_clock_end(rung_state *state, rung_error *error);
rung_status rung_cpu_clock_mhz(rung_state *state, double *mhz, rung_error *error);
rung_status rung_cpu_flush(rung_state *state, rung_error *error);
/* The largest cache that rung_cpu_flush() is sure to empty. */
#ifndef RUNG_CPU_FLUSH_BYTES /* a sanitizer's build has less (cmake/library.cmake) */
#define RUNG_CPU_FLUSH_BYTES ((int64_t)256 << 20)
#endif
rung_status rung_cpu_probe(rung_state *state, rung_probe probe, int64_t bytes, double *work,
                           double *milliseconds, rung_error *error);

/* ---- kernels/probe.c, one table per instruction set ---------------------------------------- */

/* Memory is aligned to 64 bytes and `bytes` is a multiple of 512. */
typedef struct rung_cpu_kernels {
  uint64_t (*read)(const void *from, size_t bytes);       /* a value that depends on every byte */
  uint64_t (*read_apart)(const void *from, size_t bytes); /* the same, from eight places at once */
  void (*write)(void *to, size_t bytes);
  void (*write_past)(void *to, size_t bytes); /* past the caches; NULL: no such stores here */
  void (*copy)(void *to, const void *from, size_t bytes);
  void (*copy_past)(void *to, const void *from, size_t bytes); /* likewise */
  /* `rounds` times every accumulator t = t * factor + term (on aarch64 t = t + factor * term);
   * returns their sum. */
  float (*fma32)(int64_t rounds, float factor, float term);
  double (*fma64)(int64_t rounds, double factor, double term);
  int fmas32, fmas64; /* multiply-adds a round */
} rung_cpu_kernels;

extern const rung_cpu_kernels rung_cpu_kernels_baseline;
#if defined(__x86_64__)
extern const rung_cpu_kernels rung_cpu_kernels_avx2, rung_cpu_kernels_avx512;
#endif

#endif
