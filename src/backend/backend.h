/* A backend is one struct of function pointers: what the house needs of a kind of device.
 *
 * The CPU's is in the library; `cuda` and `sim` come with a part each, loaded when it is asked for
 * (core/part.h: rung_backend_of()). Nothing here knows an operation. Optional members are NULL
 * where a kind of device has no such thing, and say so. All functions return a status and explain
 * failures in *error; none prints. A `state` is one opened device: its stream, its events, its
 * buffers. */
#ifndef RUNG_BACKEND_BACKEND_H
#define RUNG_BACKEND_BACKEND_H

#include "backend/profile.h"
#include "core/error.h"
#include "core/tensor.h"

typedef enum rung_kind { RUNG_CPU, RUNG_CUDA, RUNG_SIM, RUNG_KINDS } rung_kind;

/* Instruction sets of the CPU backend, from the least. On aarch64 only the baseline (NEON). */
typedef enum rung_isa { RUNG_BASELINE, RUNG_AVX2, RUNG_AVX512, RUNG_ISAS } rung_isa;

/* A level of the memory hierarchy: all its instances together. */
enum { RUNG_CACHES = 4 };
typedef struct rung_cache {
  int level; /* 2 for L2 */
  int64_t bytes;
} rung_cache;

/* What kernels and the lab must know of a device. Everything else is a fact (see facts()). */
typedef struct rung_device {
  rung_kind kind;
  int index;            /* among devices of its kind */
  char name[96];        /* "NVIDIA H200", "Intel(R) Xeon(R) Processor" */
  char identity[160];   /* tells this machine's device from another: the key of kept peaks */
  int capability;       /* 90 for 9.0; 0 on a CPU */
  int processors;       /* multiprocessors, or CPU cores the process may use */
  int threads;          /* CPU: threads to use; GPU: threads a multiprocessor holds */
  rung_isa isa;         /* CPU */
  int64_t memory_bytes; /* all of it */
  int64_t cache_bytes;  /* the last-level cache: what a flush must cover */
  /* Data caches that outlast a launch, the nearest first; ended by 0 bytes. */
  rung_cache caches[RUNG_CACHES];
  int64_t flush_bytes;            /* the largest cache that flush() is sure to empty */
  int64_t shared_bytes;           /* GPU: the most shared memory a block may ask for */
  int64_t shared_processor_bytes; /* GPU: shared memory of a multiprocessor */
  int64_t registers;              /* GPU: 32-bit registers of a multiprocessor */
} rung_device;

/* Where a device's work is queued: its kernels (and copies in turn with them), or only copies. */
typedef enum rung_queue { RUNG_WORK, RUNG_COPIES } rung_queue;

enum { RUNG_EVENTS = 40 };
/* Bytes on their way from one place of memory to another one. */
typedef struct rung_load {
  void *to;
  const void *from;
  size_t bytes;
} rung_load;

/* Evenly spaced numbers: number k is k * step + low, in double, rounded to its type once; the last
 * one is `last`. */
typedef struct rung_ramp {
  double low, step, last;
} rung_ramp;

/* The oldest GPUs that the CUDA kernels are compiled for. */
enum { RUNG_LEAST_CAPABILITY = 75 };

/* The GPUs that the simulated one can be like: it is its devices 1, 2 ... then, which count() does
 * not count. */
#define RUNG_SIM_MODELS "h200", "h100", "a100", "t4"

/* Host memory, by how a GPU reaches it. */
typedef enum rung_memory {
  RUNG_PAGEABLE,       /* ordinary: copies go by way of pinned buffers */
  RUNG_PINNED,         /* copied from and to directly */
  RUNG_WRITE_COMBINED, /* pinned, and past the CPU's caches: slow to read there */
  RUNG_MAPPED,         /* pinned, and read and written by kernels where it is: no copies */
  RUNG_MANAGED,        /* pages go where they are touched */
  RUNG_MEMORIES
} rung_memory;

typedef enum rung_copy { RUNG_TO_DEVICE, RUNG_TO_HOST, RUNG_ON_DEVICE } rung_copy;

/* What a probe kernel measures: the peaks of docs/METHOD.md. */
typedef enum rung_probe {
  RUNG_PROBE_READ,  /* bytes read */
  RUNG_PROBE_WRITE, /* bytes written */
  RUNG_PROBE_COPY,  /* bytes read + bytes written */
  RUNG_PROBE_FMA32, /* fused multiply-adds, float */
  RUNG_PROBE_FMA64, /* fused multiply-adds, double */
  RUNG_PROBE_MMA64, /* the same of products of matrices, which some GPUs have units for */
  RUNG_PROBES
} rung_probe;

/* A moment by a device's own clocks. */
typedef struct rung_stamp {
  int64_t cycles;      /* of the multiprocessor's counter: clock64() */
  int64_t nanoseconds; /* of the device's clock: globaltimer. Simulated: steps */
  int64_t processor;
} rung_stamp;

/* What a kernel of one thread has read of them. */
enum { RUNG_TICKS = 32, RUNG_READINGS = 64 };
typedef struct rung_ticks {
  rung_stamp begin, end;
  rung_stamp moved[RUNG_TICKS]; /* moments at which the device's clock had just moved */
  int64_t cost[2];              /* cycles of RUNG_READINGS readings of each, in a row */
} rung_ticks;

typedef struct rung_state rung_state; /* each backend defines its own */

typedef struct rung_backend {
  rung_kind kind;
  const char *name; /* "cpu", "cuda", "sim" */

  /* -- what is here -- */
  /* How many devices. 0 with RUNG_NO_DEVICE and the reason (no driver, driver too old). */
  rung_status (*count)(int *devices, rung_error *error);
  rung_status (*describe)(int index, rung_device *device, rung_error *error);
  /* Every fact worth a line in `rung devices`, as text with its unit; emit() may be called any
   * number of times. */
  rung_status (*facts)(int index, void (*emit)(void *to, const char *key, const char *value),
                       void *to, rung_error *error);

  /* -- the calling thread's own -- what CUDA calls the current context, and a program the device it
   * works on. From arrive() to depart(), which is given what arrive() returned, it may be another.
   * NULL members: there is no such thing. */
  void *(*arrive)(void);
  void (*depart)(void *callers);
  /* From here to depart() that is the state's device: calls on it need change nothing, nor back. */
  void (*settle)(rung_state *state);

  /* -- one opened device -- */
  /* The stream that programs work on which name none; NULL: there is none. */
  void *default_stream;
  /* `stream`: the caller's, or NULL for one of the state's own. */
  rung_status (*open)(const rung_device *device, void *stream, rung_state **state,
                      rung_error *error);
  void (*close)(rung_state *state);   /* waits, frees */
  void *(*stream)(rung_state *state); /* what a task carries; NULL on the CPU */
  rung_status (*synchronize)(rung_state *state, rung_error *error); /* all queues; all errors
                                                                       since */
  /* From enter() to leave() everything is queued on the caller's `stream`, behind all that the
   * state queued before; after leave(), again on the state's, behind that. A stream under capture
   * is no queue: its work is in no order with the state's. NULL members: there are no streams. */
  rung_status (*enter)(rung_state *state, void *stream, rung_error *error);
  rung_status (*leave)(rung_state *state, rung_error *error);
  /* Whether what is queued now goes into a graph instead: nothing may wait then. NULL: never. */
  bool (*capturing)(rung_state *state);
  /* Memory of the device that belongs to the graph: what is queued from here to graph_release() has
   * it whenever the graph runs, and no other run of any graph. NULL where capturing() is. */
  rung_status (*graph_allocate)(rung_state *state, size_t bytes, void **memory, rung_error *error);
  rung_status (*graph_release)(rung_state *state, void *memory, rung_error *error);

  /* -- memory of the device (on the CPU: the host's) -- aligned to 256 bytes at least; may fail
   * with RUNG_OUT_OF_MEMORY, leaving *memory NULL. bytes 0 gives a pointer that may be freed. */
  rung_status (*allocate)(rung_state *state, size_t bytes, void **memory, rung_error *error);
  void (*release)(rung_state *state, void *memory);
  /* Bytes that could be allocated now. */
  rung_status (*available)(rung_state *state, int64_t *bytes, rung_error *error);
  /* Asynchronous on the state's stream where the device has one (host memory that is not pinned:
   * the call may wait). */
  rung_status (*copy)(rung_state *state, void *to, const void *from, size_t bytes, rung_copy way,
                      rung_error *error);
  rung_status (*fill)(rung_state *state, void *memory, unsigned char byte, size_t bytes,
                      rung_error *error);
  /* Elements from one view to another of the same shape and dtype, both on this device, any
   * strides, of at most `packs` dimensions. Asynchronous. */
  rung_status (*pack)(rung_state *state, const rung_view *to, const rung_view *from,
                      rung_error *error);
  int packs;
  /* Evenly spaced f64 or f32 into a view of one dimension on this device. Asynchronous. NULL: they
   * are copied from the host. */
  rung_status (*ramp)(rung_state *state, const rung_view *to, const rung_ramp *ramp,
                      rung_error *error);

  /* Between any two places of the process's memory, the host's or whatever device's, so many times:
   * returns when all bytes are there. By any thread, one at a time, while the state's own queues
   * nothing. NULL: all that the device has is the host's memory. */
  rung_status (*carry)(rung_state *state, const rung_load *loads, int count, rung_error *error);

  /* -- measuring -- */
  /* Evicts earlier data from the caches by reading a buffer of its own larger than them. */
  rung_status (*flush)(rung_state *state, rung_error *error);
  /* Marks a moment on the stream: two slots, 0 and 1; elapsed() waits for slot 1. */
  rung_status (*mark)(rung_state *state, int slot, rung_error *error);
  rung_status (*elapsed)(rung_state *state, double *milliseconds, rung_error *error);
  /* Stops the stream until release_hold(), so that a sample's launches are all queued before the
   * first runs. Gives up by itself after 2 s (elapsed() then fails). NULL: no stream to hold. */
  rung_status (*hold)(rung_state *state, rung_error *error);
  rung_status (*release_hold)(rung_state *state, rung_error *error);
  /* The clock the device ran at between the two calls, in MHz: clock_begin() and clock_end() go
   * around the marks. */
  rung_status (*clock_begin)(rung_state *state, rung_error *error);
  rung_status (*clock_end)(rung_state *state, rung_error *error);
  rung_status (*clock_mhz)(rung_state *state, double *mhz, rung_error *error); /* waits */
  /* One run of a probe: the work it did (bytes, or fused multiply-adds) and how long it took,
   * measured by mark()/elapsed(). Uses memory of its own. A memory probe sweeps `bytes` of it
   * again and again, so that they come from the cache that holds them; 0: once over more than any
   * cache holds. */
  rung_status (*probe)(rung_state *state, rung_probe probe, int64_t bytes, double *work,
                       double *milliseconds, rung_error *error);
  /* Pinned host memory; NULL members: ordinary memory will do. */
  rung_status (*allocate_pinned)(rung_state *state, size_t bytes, void **memory, rung_error *error);
  void (*release_pinned)(rung_state *state, void *memory);

  /* -- copies beside the work -- all five, or NULL: copies then wait their turn in the stream. Once
   * one of them has returned, copy_beside(), record() and wait() may be called by several threads
   * at the same time, each with events of its own. */
  /* Queues a copy with RUNG_COPIES, whose order is its own. Host memory must be pinned. */
  rung_status (*copy_beside)(rung_state *state, void *to, const void *from, size_t bytes,
                             rung_copy way, rung_error *error);
  /* Event 0 ... RUNG_EVENTS - 1 is from now on the moment when all that is in the queue is done. */
  rung_status (*record)(rung_state *state, rung_queue queue, int event, rung_error *error);
  /* What is queued from now on begins after the event, as it was recorded last; one that never was
   * is no wait. The same for the host. */
  rung_status (*await)(rung_state *state, rung_queue queue, int event, rung_error *error);
  rung_status (*wait)(rung_state *state, int event, rung_error *error);
  /* Whether copies may read and write this host memory without going through buffers. */
  bool (*is_pinned)(rung_state *state, const void *memory);

  /* -- seeing inside kernels -- NULL where a kind of device cannot. */
  /* From now on, until it is called with `on` false, every launch takes its blocks and threads in
   * an order drawn from `seed`, another one each time, and is watched: a race between two threads
   * and an access to memory nobody gave it make the launch fail with a sentence that names the
   * kernel, the threads and the lines. */
  void (*examine)(rung_state *state, bool on, uint64_t seed);
  /* `on`: no kernel may touch these bytes of the device's memory until they are given free. */
  void (*guard)(rung_state *state, void *memory, size_t bytes, bool on);
  /* Between the two, launches are counted; `keep`: and a block's steps kept. profile_end() writes
   * *profile, to be freed by rung_profile_free(); on failure it is empty. */
  rung_status (*profile_begin)(rung_state *state, bool keep, rung_error *error);
  rung_status (*profile_end)(rung_state *state, rung_profile *profile, rung_error *error);

  /* -- kinds of host memory, for comparing them -- NULL where there is but one. Any of them,
   * aligned to 256 bytes; *device: where kernels find it, NULL where they do not. On failure both
   * are NULL. */
  rung_status (*allocate_kind)(rung_state *state, rung_memory kind, size_t bytes, void **memory,
                               void **device, rung_error *error);
  void (*release_kind)(rung_state *state, rung_memory kind, void *memory);

  /* -- the device's own clocks, for comparing them -- NULL where it has none. Queues a kernel of
   * one thread that writes begin and end of *to, in the device's memory, at least so many cycles
   * apart; with 0 cycles all of it. */
  rung_status (*read_clocks)(rung_state *state, rung_ticks *to, int64_t cycles, rung_error *error);
} rung_backend;

#ifdef __cplusplus
extern "C" {
#endif

const char *rung_kind_name(rung_kind kind); /* "cuda" */

const char *rung_isa_name(rung_isa isa); /* "avx2" */
/* False, *isa untouched, where there is no instruction set of that name. */
bool rung_isa_named(const char *name, rung_isa *isa);

#ifdef __cplusplus
}
#endif
#endif
