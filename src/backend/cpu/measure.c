/* Time, clock, caches and peaks of the CPU. */
#include <stdlib.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"

static struct timespec now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return time;
}

static double milliseconds_between(struct timespec from, struct timespec to) {
  return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
}

rung_status rung_cpu_mark(rung_state *state, int slot, rung_error *error) {
  if (slot != 0 && slot != 1)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "slot is %d; expected: 0 or 1", slot);
  state->marked[slot] = true;
  state->marks[slot] = now();
  return RUNG_OK;
}

rung_status rung_cpu_elapsed(rung_state *state, double *milliseconds, rung_error *error) {
  if (!state->marked[0] || !state->marked[1])
    return rung_fail(error, RUNG_BAD_ARGUMENT, "elapsed() needs both marks, and slot %d has none",
                     state->marked[0]);
  *milliseconds = milliseconds_between(state->marks[0], state->marks[1]);
  return RUNG_OK;
}

/* ---- the clock ------------------------------------------------------------------------------ */

enum { CHAIN_ROUNDS = 256, CHAIN_TRIES = 3 };

/* Sums that wait for each other take one cycle each. Register plus register: recent cores do a
 * constant's addition while renaming, in no time at all. */
#define ADD_1  \
  sum += step; \
  __asm__ volatile("" : "+r"(sum));
#define ADD_4 ADD_1 ADD_1 ADD_1 ADD_1
#define ADD_16 ADD_4 ADD_4 ADD_4 ADD_4
#define ADD_64 ADD_16 ADD_16 ADD_16 ADD_16

static double chain_milliseconds(void) {
  uint64_t sum = 0, step = 1;
  __asm__ volatile("" : "+r"(step));
  struct timespec from = now();
  for (int i = 0; i < CHAIN_ROUNDS; i++) {
    ADD_64
  }
  return milliseconds_between(from, now());
}

rung_status rung_cpu_clock_begin(rung_state *state, rung_error *error) {
  (void)error;
  state->mhz = 0;
  return RUNG_OK;
}

/* Straight after the work, before the core changes its clock again; of the calling thread's core
 * only. The best of a few tries: an interrupt only ever adds time. */
rung_status rung_cpu_clock_end(rung_state *state, rung_error *error) {
  (void)error;
  double best = chain_milliseconds();
  for (int i = 1; i < CHAIN_TRIES; i++) {
    double again = chain_milliseconds();
    if (again < best) best = again;
  }
  if (best > 0) state->mhz = CHAIN_ROUNDS * 64 / (best * 1e3);
  return RUNG_OK;
}

rung_status rung_cpu_clock_mhz(rung_state *state, double *mhz, rung_error *error) {
  if (state->mhz == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "clock_mhz() needs clock_begin() and clock_end()");
  *mhz = state->mhz;
  return RUNG_OK;
}

/* ---- sweeps over memory --------------------------------------------------------------------- */

static const rung_cpu_kernels *kernels_of(rung_isa isa) {
#if defined(__x86_64__)
  if (isa == RUNG_AVX512) return &rung_cpu_kernels_avx512;
  if (isa == RUNG_AVX2) return &rung_cpu_kernels_avx2;
#endif
  (void)isa;
  return &rung_cpu_kernels_baseline;
}

/* One pass: exactly one of the three is set. */
typedef struct sweep {
  char *memory;
  size_t chunk; /* bytes of it that one body goes over, a multiple of 512 */
  int rounds;   /* and how often */
  size_t half;  /* a copy goes from the second half to the first */
  uint64_t (*read)(const void *from, size_t bytes);
  void (*write)(void *to, size_t bytes);
  void (*copy)(void *to, const void *from, size_t bytes);
} sweep;

static void sweep_chunk(void *arg, int64_t chunk, int thread) {
  (void)thread;
  const sweep *pass = arg;
  char *at = pass->memory + (size_t)chunk * pass->chunk;
  for (int round = 0; round < pass->rounds; round++) {
    if (pass->read != NULL) {
      uint64_t value = pass->read(at, pass->chunk);
      __asm__ volatile("" : : "r"(value) : "memory"); /* used: the reads stay */
    } else if (pass->write != NULL) {
      pass->write(at, pass->chunk);
    } else {
      pass->copy(at, at + pass->half, pass->chunk);
    }
  }
}

static void sweep_all(const rung_state *state, size_t bytes, sweep *pass) {
  pass->memory = state->spare;
  rung_parallel(state->threads, (int64_t)(bytes / pass->chunk), sweep_chunk, pass);
}

/* Twice the last-level caches, for none evicts strictly in the order of use; but at most twice
 * RUNG_CPU_FLUSH_BYTES, or flushing would take longer than what is measured: in a larger cache
 * lines may survive. */
rung_status rung_cpu_flush(rung_state *state, rung_error *error) {
  size_t most = 2 * (size_t)RUNG_CPU_FLUSH_BYTES, bytes = 2 * (size_t)state->cache_bytes;
  if (bytes > most) bytes = most;
  bytes = (bytes + RUNG_CPU_CHUNK - 1) / RUNG_CPU_CHUNK * RUNG_CPU_CHUNK;
  rung_status status = rung_cpu_spare(state, bytes, error);
  if (status != RUNG_OK) return status;
  sweep pass = {.chunk = RUNG_CPU_CHUNK, .rounds = 1, .read = kernels_of(state->isa)->read};
  sweep_all(state, bytes, &pass);
  return RUNG_OK;
}

/* Bytes a probe of memory goes over: four times the last-level cache, between 1 and 2 GiB, and not
 * more than half of what there is. A copy's two arrays share them. */
static size_t memory_bytes(rung_state *state) {
  int64_t least = (int64_t)1 << 30, most = (int64_t)2 << 30, available;
  int64_t bytes = 4 * state->cache_bytes;
  if (bytes < least) bytes = least;
  if (bytes > most) bytes = most;
  rung_cpu_backend.available(state, &available, NULL);
  if (bytes > available / 2) bytes = available / 2;
  return (size_t)bytes / (2 * RUNG_CPU_CHUNK) * (2 * RUNG_CPU_CHUNK);
}

static double timed_sweep(rung_state *state, size_t bytes, sweep *pass) {
  struct timespec from = now();
  sweep_all(state, bytes, pass);
  return milliseconds_between(from, now());
}

static rung_status probe_memory(rung_state *state, rung_probe probe, double *work,
                                double *milliseconds, rung_error *error) {
  const rung_cpu_kernels *kernels = kernels_of(state->isa);
  size_t bytes = memory_bytes(state);
  rung_status status = rung_cpu_spare(state, bytes, error);
  if (status != RUNG_OK) return status;
  *work = (double)bytes; /* of a copy: one half read, the other written */
  sweep plain = {.chunk = RUNG_CPU_CHUNK, .rounds = 1, .half = bytes / 2}, past = plain;
  if (probe == RUNG_PROBE_READ) {
    plain.read = kernels->read;
    past.read = kernels->read_apart;
  } else if (probe == RUNG_PROBE_WRITE) {
    plain.write = kernels->write;
    past.write = kernels->write_past;
  } else {
    plain.copy = kernels->copy;
    past.copy = kernels->copy_past;
    bytes /= 2;
  }
  /* An ordinary store reads its line first; one past the caches does not, but waits for memory. One
   * long row of reads is what some prefetchers like best, several what others do. Which is faster
   * differs between CPUs: the peak is the better of the two. */
  *milliseconds = timed_sweep(state, bytes, &plain);
  if (past.read != NULL || past.write != NULL || past.copy != NULL) {
    double other = timed_sweep(state, bytes, &past);
    if (other < *milliseconds) *milliseconds = other;
  }
  return RUNG_OK;
}

enum { CACHE_SWEPT = 256 << 20 /* bytes in all: a millisecond of the nearest cache */ };

/* Every thread sweeps a part of its own, which stays in the cache that holds them all. */
static rung_status probe_cache(rung_state *state, rung_probe probe, size_t bytes, double *work,
                               double *milliseconds, rung_error *error) {
  const rung_cpu_kernels *kernels = kernels_of(state->isa);
  const size_t arrays = probe == RUNG_PROBE_COPY ? 2 : 1, parts = arrays * (size_t)state->threads;
  size_t chunk = bytes / parts / 512 * 512;
  if (chunk == 0) chunk = 512;
  bytes = chunk * parts;
  rung_status status = rung_cpu_spare(state, bytes, error);
  if (status != RUNG_OK) return status;
  sweep pass = {.chunk = chunk, .half = bytes / 2};
  pass.rounds = bytes < CACHE_SWEPT ? (int)(CACHE_SWEPT / bytes) : 1;
  if (probe == RUNG_PROBE_READ)
    pass.read = kernels->read;
  else if (probe == RUNG_PROBE_WRITE)
    pass.write = kernels->write;
  else
    pass.copy = kernels->copy;
  *work = (double)bytes * pass.rounds;
  *milliseconds = timed_sweep(state, bytes / arrays, &pass);
  return RUNG_OK;
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

enum { FMA_ROUNDS = 1 << 17, FMA_CHUNKS = 32 /* a thread */ };

static void fma_chunk(void *arg, int64_t chunk, int thread) {
  (void)chunk;
  (void)thread;
  const rung_cpu_kernels *kernels = arg;
  /* Factor 1/2, term 1: no accumulator grows large or subnormal. */
  float sum = kernels->fma32(FMA_ROUNDS, 0.5f, 1.0f);
  __asm__ volatile("" : : "r"((int)sum));
}

static void fma_chunk_double(void *arg, int64_t chunk, int thread) {
  (void)chunk;
  (void)thread;
  const rung_cpu_kernels *kernels = arg;
  double sum = kernels->fma64(FMA_ROUNDS, 0.5, 1.0);
  __asm__ volatile("" : : "r"((int)sum));
}

rung_status rung_cpu_probe(rung_state *state, rung_probe probe, int64_t bytes, double *work,
                           double *milliseconds, rung_error *error) {
  if (probe == RUNG_PROBE_READ || probe == RUNG_PROBE_WRITE || probe == RUNG_PROBE_COPY)
    return bytes > 0 ? probe_cache(state, probe, (size_t)bytes, work, milliseconds, error)
                     : probe_memory(state, probe, work, milliseconds, error);
  if (probe != RUNG_PROBE_FMA32 && probe != RUNG_PROBE_FMA64 && probe != RUNG_PROBE_MMA64)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "probe is %d; expected: 0 ... %d", (int)probe,
                     RUNG_PROBES - 1);
  rung_cpu_kernels kernels = *kernels_of(state->isa);
  bool single = probe == RUNG_PROBE_FMA32;
  int64_t chunks = (int64_t)state->threads * FMA_CHUNKS;
  struct timespec from = now();
  rung_parallel(state->threads, chunks, single ? fma_chunk : fma_chunk_double, &kernels);
  *milliseconds = milliseconds_between(from, now());
  *work = (double)chunks * FMA_ROUNDS * (single ? kernels.fmas32 : kernels.fmas64);
  return RUNG_OK;
}
