/* As much of CUDA's runtime as rung/nccl.h calls, for tests without a GPU: a device is memory of
 * the host, and a stream is a list of what is to be done, which goes on whenever its owner asks how
 * far it is. A rank is one thread. */
#ifndef STANDIN_CUDA_RUNTIME_H
#define STANDIN_CUDA_RUNTIME_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RUNG_STANDIN 1

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotReady = 600,
  cudaErrorUnknown = 999
} cudaError_t;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeDevice = 2 };
struct cudaPointerAttributes {
  enum cudaMemoryType type;
};
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocPortable = 1 };

typedef struct standin_event {
  int recorded, reached;
} * cudaEvent_t;

/* One thing to be done: go(what) says whether it has been. */
typedef struct standin_task {
  int (*go)(void *what);
  void (*drop)(void *what);
  void *what;
  struct standin_task *next;
} standin_task;

typedef struct standin_stream {
  int device;
  standin_task *first;
  struct standin_stream *next;
} * cudaStream_t;

/* ---- what the tests set and look at ------------------------------------------------------------
 */

static pthread_mutex_t standin_lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static int standin_live;  /* allocations, streams, events and communicators */
static int standin_hangs; /* calls that would never have returned, and sizes that differ */
static int standin_faulty = -1, standin_fault_at; /* the rank whose so manieth call fails */
static int standin_calls;                         /* of that rank */
static cudaStream_t standin_streams;
static __thread int standin_rank, standin_device;   /* of the thread */
static int (*standin_is_there)(const void *memory); /* NULL, or which memory is a device's */

/* Whether this call is the one that fails. */
static inline int standin_fails(void) {
  pthread_mutex_lock(&standin_lock);
  const int fails = standin_rank == standin_faulty && ++standin_calls == standin_fault_at;
  pthread_mutex_unlock(&standin_lock);
  return fails;
}

static inline void standin_count(int by) {
  pthread_mutex_lock(&standin_lock);
  standin_live += by;
  pthread_mutex_unlock(&standin_lock);
}

/* ---- streams -----------------------------------------------------------------------------------
 */

/* With the lock. */
static inline void standin_go_on(cudaStream_t stream) {
  while (stream->first != NULL && stream->first->go(stream->first->what)) {
    standin_task *done = stream->first;
    stream->first = done->next;
    done->drop(done->what);
    free(done);
  }
}

static inline void standin_add(cudaStream_t stream, int (*go)(void *), void (*drop)(void *),
                               void *what) {
  standin_task **end, *task = (standin_task *)calloc(1, sizeof *task);
  if (task == NULL) abort();
  task->go = go;
  task->drop = drop;
  task->what = what;
  pthread_mutex_lock(&standin_lock);
  for (end = &stream->first; *end != NULL; end = &(*end)->next) {
  }
  *end = task;
  pthread_mutex_unlock(&standin_lock);
}

/* What waits for the device would wait for ever for what has not been done. */
static inline void standin_wait_for_device(void) {
  pthread_mutex_lock(&standin_lock);
  for (cudaStream_t stream = standin_streams; stream != NULL; stream = stream->next) {
    if (stream->device != standin_device) continue;
    standin_go_on(stream);
    standin_hangs += stream->first != NULL;
  }
  pthread_mutex_unlock(&standin_lock);
}

static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  (void)flags;
  if (standin_fails()) return cudaErrorUnknown;
  *stream = (cudaStream_t)calloc(1, sizeof **stream);
  if (*stream == NULL) return cudaErrorMemoryAllocation;
  (*stream)->device = standin_device;
  pthread_mutex_lock(&standin_lock);
  (*stream)->next = standin_streams;
  standin_streams = *stream;
  standin_live++;
  pthread_mutex_unlock(&standin_lock);
  return cudaSuccess;
}

static inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const int fails = standin_fails();
  pthread_mutex_lock(&standin_lock);
  standin_go_on(stream);
  standin_hangs += stream->first != NULL;
  while (stream->first != NULL) {
    standin_task *task = stream->first;
    stream->first = task->next;
    task->drop(task->what);
    free(task);
  }
  cudaStream_t *at = &standin_streams;
  while (*at != stream) at = &(*at)->next;
  *at = stream->next;
  standin_live--;
  pthread_mutex_unlock(&standin_lock);
  free(stream);
  return fails ? cudaErrorUnknown : cudaSuccess;
}

/* Of those who ask again and again, the call that fails is one that would have said that all is
 * done. */
static inline cudaError_t standin_answer(int done) {
  if (!done) return cudaErrorNotReady;
  return standin_fails() ? cudaErrorUnknown : cudaSuccess;
}

static inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
  pthread_mutex_lock(&standin_lock);
  standin_go_on(stream);
  const int done = stream->first == NULL;
  pthread_mutex_unlock(&standin_lock);
  return standin_answer(done);
}

static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  (void)flags;
  if (standin_fails()) return cudaErrorUnknown;
  *event = (cudaEvent_t)calloc(1, sizeof **event);
  if (*event == NULL) return cudaErrorMemoryAllocation;
  standin_count(1);
  return cudaSuccess;
}

static inline int standin_reach(void *event) {
  ((cudaEvent_t)event)->reached++;
  return 1;
}

static inline void standin_keep(void *what) {
  (void)what;
}

static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (standin_fails()) return cudaErrorUnknown;
  event->recorded++;
  standin_add(stream, standin_reach, standin_keep, event);
  return cudaSuccess;
}

static inline cudaError_t cudaEventQuery(cudaEvent_t event) {
  pthread_mutex_lock(&standin_lock);
  for (cudaStream_t stream = standin_streams; stream != NULL; stream = stream->next)
    if (stream->device == standin_device) standin_go_on(stream);
  const int done = event->reached == event->recorded;
  pthread_mutex_unlock(&standin_lock);
  return standin_answer(done);
}

static inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const int fails = standin_fails();
  free(event);
  standin_count(-1);
  return fails ? cudaErrorUnknown : cudaSuccess;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Rooms for chunks, hundreds of 32 MB of which little is used: pages of their own between two that
 * nobody may touch, for a sanitizer marks every byte of what malloc() gives, and of what is freed.
 */
enum { STANDIN_LARGE = 1 << 20, STANDIN_PAGE = 1 << 16 /* a multiple of all there are */ };
typedef struct standin_room {
  struct standin_room *next;
  char *memory, *pages;
  size_t bytes; /* of the pages */
} standin_room;
static standin_room *standin_rooms;

static inline void *standin_allocate(size_t bytes) {
#ifdef MAP_ANONYMOUS /* not in C11 and nothing else */
  if (bytes < STANDIN_LARGE) return malloc(bytes);
  const size_t used = (bytes + STANDIN_PAGE - 1) / STANDIN_PAGE * STANDIN_PAGE;
  standin_room *room = (standin_room *)malloc(sizeof *room);
  if (room == NULL) return NULL;
  room->bytes = used + 2 * (size_t)STANDIN_PAGE;
  room->pages = (char *)mmap(NULL, room->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room->pages == (char *)MAP_FAILED) {
    free(room);
    return NULL;
  }
  if (mprotect(room->pages + STANDIN_PAGE, used, PROT_READ | PROT_WRITE) != 0) abort();
  room->memory = room->pages + STANDIN_PAGE + (used - bytes) / 256 * 256; /* as CUDA aligns */
  pthread_mutex_lock(&standin_lock);
  room->next = standin_rooms;
  standin_rooms = room;
  pthread_mutex_unlock(&standin_lock);
  return room->memory;
#else
  return malloc(bytes);
#endif
}

static inline void standin_release(void *memory) {
  standin_room *room = NULL;
  pthread_mutex_lock(&standin_lock);
  for (standin_room **at = &standin_rooms; *at != NULL && room == NULL;) {
    if ((*at)->memory != memory) {
      at = &(*at)->next;
      continue;
    }
    room = *at;
    *at = room->next;
  }
  pthread_mutex_unlock(&standin_lock);
  if (room == NULL) {
    free(memory);
    return;
  }
  munmap(room->pages, room->bytes);
  free(room);
}

static inline cudaError_t cudaMalloc(void **memory, size_t bytes) {
  if (standin_fails()) return cudaErrorMemoryAllocation;
  *memory = standin_allocate(bytes);
  if (*memory == NULL) return cudaErrorMemoryAllocation;
  memset(*memory, 0xa5, bytes < 65536 ? bytes : 65536);
  standin_count(1);
  return cudaSuccess;
}

static inline cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  return cudaMalloc(memory, bytes);
}

static inline cudaError_t cudaFree(void *memory) {
  const int fails = standin_fails();
  standin_wait_for_device();
  standin_release(memory);
  standin_count(-1);
  return fails ? cudaErrorUnknown : cudaSuccess;
}

static inline cudaError_t cudaFreeHost(void *memory) {
  return cudaFree(memory);
}

static inline cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *of,
                                                   const void *memory) {
  if (standin_fails()) return cudaErrorUnknown;
  of->type = standin_is_there != NULL && standin_is_there(memory) ? cudaMemoryTypeDevice
                                                                  : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

typedef struct standin_copy {
  void *to;
  const void *from;
  size_t bytes;
} standin_copy;

static inline int standin_copied(void *what) {
  const standin_copy *copy = (const standin_copy *)what;
  memcpy(copy->to, copy->from, copy->bytes);
  return 1;
}

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                          enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind;
  if (standin_fails()) return cudaErrorUnknown;
  standin_copy *copy = (standin_copy *)calloc(1, sizeof *copy);
  if (copy == NULL) abort();
  copy->to = to;
  copy->from = from;
  copy->bytes = bytes;
  standin_add(stream, standin_copied, free, copy);
  return cudaSuccess;
}

/* ---- devices -----------------------------------------------------------------------------------
 */

static inline cudaError_t cudaGetDevice(int *device) {
  if (standin_fails()) return cudaErrorUnknown;
  *device = standin_device;
  return cudaSuccess;
}

static inline cudaError_t cudaSetDevice(int device) {
  if (standin_fails()) return cudaErrorUnknown;
  standin_device = device;
  return cudaSuccess;
}

static inline cudaError_t cudaGetLastError(void) {
  return cudaSuccess;
}

static inline const char *cudaGetErrorString(cudaError_t code) {
  return code == cudaErrorMemoryAllocation ? "out of memory" : "unknown error";
}

#endif
