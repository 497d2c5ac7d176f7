/* What the files of the CUDA backend share. Private to this folder. */
#ifndef RUNG_BACKEND_CUDA_STATE_H
#define RUNG_BACKEND_CUDA_STATE_H

#include <cuda.h>
#include <cuda_runtime.h>

#include "backend/backend.h"

/* A moment on one multiprocessor: its cycle counter, and the device's clock in nanoseconds. */
struct rung_cuda_stamp {
  long long cycles, nanoseconds;
  unsigned processor;
};

/* Pinned host memory that the device sees. */
struct rung_cuda_page {
  unsigned released;         /* holds with a ticket up to this one may end */
  unsigned gave_up;          /* the last ticket whose hold ended by itself; 0: none */
  rung_cuda_stamp stamps[2]; /* where the board's stamps land */
};

/* Device memory of the measuring kernels. */
struct rung_cuda_board {
  rung_cuda_stamp stamps[2]; /* clock_begin(), clock_end() */
  unsigned long long sink;   /* where a kernel pretends to put what it read */
};

/* What the runtime has said of a kernel (kernels.cu): how many blocks of so many threads and bytes
 * of shared memory a multiprocessor holds; 0 threads: that its blocks may have all the shared
 * memory there is; -1: whether (1) its code knows of launches that begin early. */
struct rung_cuda_said {
  const void *kernel;
  int threads;
  size_t shared_bytes;
  int blocks;
};
enum { RUNG_CUDA_SAID = 64 };

/* One opened device. Everything below `turn` is made when it is first needed. */
struct rung_state {
  int device, processors;
  CUcontext context; /* the device's primary one */
  int64_t memory_bytes, cache_bytes;
  cudaStream_t stream;
  bool own_stream;
  cudaStream_t home;   /* from enter() to leave(): what `stream` was before */
  bool away, in_graph; /* between the two; on a stream under capture */
  unsigned long long number,
      visited;      /* of the stream it is on; that had the last work, or RUNG_CUDA_HOME */
  cudaEvent_t turn; /* where the last visit ended; made by the first enter() */

  unsigned long long tried, reached; /* a bit a device whose memory it has tried to reach; does */
  cudaStream_t beside;               /* of copies; made after the events */
  cudaEvent_t events[RUNG_EVENTS];

  bool measuring; /* events, page and board are there, the measuring kernels are loaded */
  cudaEvent_t marks[2];
  bool marked[2];
  rung_cuda_page *page, *page_on_device;
  rung_cuda_board *board; /* on the device */
  unsigned ticket;        /* of the last hold; 0: none yet */
  bool stamped[2];
  void *flush_buffer;

  struct rung_cuda_shown *textures; /* the newest first */
  int texture_count;                /* of those that no graph may hold */

  rung_cuda_said said[RUNG_CUDA_SAID];
};

/* Allocating is no work on a stream: as long as this lives, a capture of this thread lets it pass.
 */
struct rung_cuda_beside_capture {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  rung_cuda_beside_capture() {
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
  }
  ~rung_cuda_beside_capture() {
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
  }
};

/* Records what was being done when the runtime said `code`, and clears the runtime's own record
 * of it, so that the next launch is not blamed. cudaErrorMemoryAllocation is OUT_OF_MEMORY, all
 * else DEVICE_FAILED. */
rung_status rung_cuda_failed(rung_error *error, cudaError_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define RUNG_CUDA_CHECK(error, call, ...)                                             \
  do {                                                                                \
    cudaError_t code_ = (call);                                                       \
    if (code_ != cudaSuccess) return rung_cuda_failed((error), code_, ##__VA_ARGS__); \
  } while (0)

#define RUNG_CHECK(call)                    \
  do {                                      \
    rung_status status_ = (call);           \
    if (status_ != RUNG_OK) return status_; \
  } while (0)

/* Every entry begins with it: the state's device is the calling thread's current one, and home is
 * behind what was queued on callers' streams. */
rung_status rung_cuda_enter(rung_state *state, rung_error *error);

/* streams.cu */
enum : unsigned long long { RUNG_CUDA_HOME = 0, RUNG_CUDA_SOMEWHERE = ~0ull };
rung_status rung_cuda_take_stream(rung_state *state, void *stream, rung_error *error);
void rung_cuda_streams_end(rung_state *state);
rung_status rung_cuda_enter_stream(rung_state *state, void *stream, rung_error *error);
rung_status rung_cuda_leave_stream(rung_state *state, rung_error *error);
rung_status rung_cuda_come_home(rung_state *state, rung_error *error);
bool rung_cuda_is_capturing(rung_state *state);

/* current.cu */
rung_status rung_cuda_make_current(const rung_state *state, rung_error *error);
void *rung_cuda_arrive(void);
void rung_cuda_depart(void *callers);
/* The driver's function of that name as it was in a version of CUDA (12000: 12.0); NULL: it has
 * none.
 */
void *rung_cuda_driver_function(const char *name, unsigned version);
/* state->context, by state->device. */
rung_status rung_cuda_find_context(rung_state *state, rung_error *error);

/* "140.4 GiB", "64 KiB", "12 bytes". */
struct rung_cuda_size {
  char text[32];
};
rung_cuda_size rung_cuda_size_of(double bytes);

/* devices.cu */
rung_status rung_cuda_count(int *devices, rung_error *error);
rung_status rung_cuda_describe(int index, rung_device *device, rung_error *error);
/* Refuses an index that is not a device's. */
rung_status rung_cuda_properties(int index, cudaDeviceProp *properties, rung_error *error);
void rung_cuda_uuid(const cudaDeviceProp *properties, char text[48]);

/* facts.cu */
rung_status rung_cuda_facts(int index, void (*emit)(void *to, const char *key, const char *value),
                            void *to, rung_error *error);

/* cuda.cu */
rung_status rung_cuda_allocate(rung_state *state, size_t bytes, void **memory, rung_error *error);
void rung_cuda_release(rung_state *state, void *memory);
rung_status rung_cuda_available(rung_state *state, int64_t *bytes, rung_error *error);
rung_status rung_cuda_copy(rung_state *state, void *to, const void *from, size_t bytes,
                           rung_copy way, rung_error *error);
rung_status rung_cuda_fill(rung_state *state, void *memory, unsigned char byte, size_t bytes,
                           rung_error *error);
/* rung_cuda_enter(), and makes the second stream and the events when they are first needed. */
rung_status rung_cuda_enter_beside(rung_state *state, rung_error *error);

/* carry.cu */
rung_status rung_cuda_carry(rung_state *state, const rung_load *loads, int count,
                            rung_error *error);

/* texture.cu; rung_cuda_texture() is declared in surface.h, for kernels' files */
void rung_cuda_textures_end(rung_state *state);

/* kinds.cu */
rung_status rung_cuda_allocate_kind(rung_state *state, rung_memory kind, size_t bytes,
                                    void **memory, void **device, rung_error *error);
void rung_cuda_release_kind(rung_state *state, rung_memory kind, void *memory);

/* pack.cu */
rung_status rung_cuda_pack(rung_state *state, const rung_view *to, const rung_view *from,
                           rung_error *error);
rung_status rung_cuda_pack_load(rung_error *error); /* loads the kernels */

/* ramp.cu */
rung_status rung_cuda_ramp(rung_state *state, const rung_view *to, const rung_ramp *ramp,
                           rung_error *error);

/* measure.cu */
rung_status rung_cuda_measuring(rung_state *state, rung_error *error); /* makes `measuring` true */
void rung_cuda_measuring_end(rung_state *state);
/* Fails if a hold ended by itself since the last call; the stream has been waited for. */
rung_status rung_cuda_held_too_long(rung_state *state, rung_error *error);
rung_status rung_cuda_flush(rung_state *state, rung_error *error);
rung_status rung_cuda_mark(rung_state *state, int slot, rung_error *error);
rung_status rung_cuda_elapsed(rung_state *state, double *milliseconds, rung_error *error);
rung_status rung_cuda_hold(rung_state *state, rung_error *error);
rung_status rung_cuda_release_hold(rung_state *state, rung_error *error);
rung_status rung_cuda_clock_begin(rung_state *state, rung_error *error);
rung_status rung_cuda_clock_end(rung_state *state, rung_error *error);
rung_status rung_cuda_clock_mhz(rung_state *state, double *mhz, rung_error *error);

/* probe.cu. Memory is swept in tiles: a block of SWEEP_THREADS threads moves a tile, every thread
 * SWEEP_VECTORS 16-byte vectors of it. */
enum { SWEEP_THREADS = 256, SWEEP_VECTORS = 8, SWEEP_TILE = SWEEP_THREADS * SWEEP_VECTORS * 16 };
/* Reads `tiles` tiles `rounds` times with `blocks` blocks; the board must be there. 0 tiles: only
 * loads. */
rung_status rung_cuda_read_tiles(rung_state *state, const void *memory, int64_t tiles, int rounds,
                                 int blocks, rung_error *error);
rung_status rung_cuda_probe(rung_state *state, rung_probe probe, int64_t bytes, double *work,
                            double *milliseconds, rung_error *error);

extern "C" {
extern const rung_backend rung_cuda_backend;
}

#endif
