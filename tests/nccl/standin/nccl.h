/* As much of NCCL as rung/nccl.h calls, for tests without a GPU: ranks are threads of one process,
 * and a message lies where it is until the other rank takes it. A receiver of another size than the
 * sender's waits for ever, as NCCL's may. */
#ifndef STANDIN_NCCL_H
#define STANDIN_NCCL_H

#include <cuda_runtime.h>

#define NCCL_VERSION_CODE 21800

typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7
} ncclResult_t;
typedef enum { ncclUint8 = 1 } ncclDataType_t;
typedef struct ncclConfig {
  int blocking, splitShare;
} ncclConfig_t;
#define NCCL_CONFIG_INITIALIZER \
  { 1, 0 }

enum { STANDIN_RANKS = 8, STANDIN_SPLITS = 4096 };

typedef struct standin_message {
  const char *from;
  char *to;
  size_t bytes;
  int peer, posted, done;
  struct standin_message *next, *queued; /* of the group; of what is on its way to that rank */
} standin_message;

typedef struct standin_world {
  int count, users, arrived, splits[STANDIN_RANKS];
  standin_message *queues[STANDIN_RANKS][STANDIN_RANKS]; /* from, to */
  struct ncclComm *comms[STANDIN_RANKS];
  struct standin_world *parent, *children[STANDIN_SPLITS];
  int index; /* of the parent's children */
} standin_world;

typedef struct ncclComm {
  standin_world *world;
  int rank, blocking, aborted;
  ncclResult_t state; /* what ncclCommGetAsyncError() says */
  struct standin_group *groups;
  standin_world *awaited; /* not NULL: a split that not all have called yet */
  struct ncclComm **split;
} * ncclComm_t;

typedef struct standin_group {
  ncclComm_t comm;
  standin_message *sent, *received;
  struct standin_group *next; /* of the communicator, until it is over */
} standin_group;

/* ---- what the tests set ------------------------------------------------------------------------
 */

static int standin_tells;       /* a rank that has aborted is told of */
static int standin_alters;      /* the so manieth message from now on has another byte; 0: none */
static int standin_altered = 0; /* which byte */
static pthread_cond_t standin_came = PTHREAD_COND_INITIALIZER;

/* ---- communicators -----------------------------------------------------------------------------
 */

/* With the lock. */
static inline standin_world *standin_make_world(int count) {
  standin_world *world = (standin_world *)calloc(1, sizeof *world);
  if (world == NULL) abort();
  world->count = count;
  return world;
}

static inline ncclComm_t standin_make_comm(standin_world *world, int rank, int blocking) {
  ncclComm_t comm = (ncclComm_t)calloc(1, sizeof *comm);
  if (comm == NULL) abort();
  comm->world = world;
  comm->rank = rank;
  comm->blocking = blocking;
  world->comms[rank] = comm;
  world->users++;
  standin_live++;
  return comm;
}

static inline void standin_leave(ncclComm_t comm) {
  standin_world *world = comm->world;
  world->comms[comm->rank] = NULL;
  if (--world->users == 0) {
    for (int i = 0; i < STANDIN_SPLITS; i++)
      free(world->children[i]); /* of splits that never ended */
    if (world->parent != NULL) world->parent->children[world->index] = NULL;
    free(world);
  }
  standin_live--;
  free(comm);
}

static inline ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices) {
  (void)devices;
  pthread_mutex_lock(&standin_lock);
  standin_world *world = standin_make_world(count);
  for (int r = 0; r < count; r++) comms[r] = standin_make_comm(world, r, 1);
  pthread_mutex_unlock(&standin_lock);
  return ncclSuccess;
}

/* With the lock. */
static inline void standin_end_split(ncclComm_t comm) {
  if (comm->awaited == NULL || comm->awaited->arrived < comm->world->count) return;
  *comm->split = standin_make_comm(comm->awaited, comm->rank, 1);
  comm->awaited->users--;
  comm->awaited = NULL;
  comm->state = ncclSuccess;
}

static inline ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made,
                                         const ncclConfig_t *config) {
  standin_world *world = comm->world;
  if (standin_fails()) return ncclSystemError;
  if (color != 0 || key != comm->rank || !config->blocking) return ncclInvalidArgument;
  pthread_mutex_lock(&standin_lock);
  const int split = world->splits[comm->rank]++;
  if (split >= STANDIN_SPLITS) abort();
  if (world->children[split] == NULL) {
    world->children[split] = standin_make_world(world->count);
    world->children[split]->parent = world;
    world->children[split]->index = split;
  }
  comm->awaited = world->children[split];
  comm->split = made;
  comm->state = ncclInProgress;
  comm->awaited->arrived++;
  comm->awaited->users++; /* until it has its communicator */
  *made = NULL;
  pthread_cond_broadcast(&standin_came);
  while (comm->blocking && comm->awaited->arrived < world->count)
    pthread_cond_wait(&standin_came, &standin_lock);
  standin_end_split(comm);
  const ncclResult_t state = comm->state;
  pthread_mutex_unlock(&standin_lock);
  return state;
}

/* With the lock: what has not been moved never will. */
static inline void standin_stop(ncclComm_t comm) {
  standin_world *world = comm->world;
  comm->aborted = 1;
  for (standin_group *group = comm->groups; group != NULL; group = group->next) group->comm = NULL;
  for (int r = 0; r < world->count; r++) {
    world->queues[comm->rank][r] = NULL;
    if (world->comms[r] != NULL && world->comms[r] != comm && standin_tells)
      world->comms[r]->state = ncclRemoteError;
  }
}

static inline ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const int fails = standin_fails();
  pthread_mutex_lock(&standin_lock);
  standin_stop(comm);
  standin_leave(comm);
  pthread_mutex_unlock(&standin_lock);
  return fails ? ncclInternalError : ncclSuccess;
}

static inline ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const int fails = standin_fails();
  pthread_mutex_lock(&standin_lock);
  standin_hangs += comm->groups != NULL;
  standin_leave(comm);
  pthread_mutex_unlock(&standin_lock);
  return fails ? ncclInternalError : ncclSuccess;
}

static inline ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state) {
  pthread_mutex_lock(&standin_lock);
  standin_end_split(comm);
  *state = comm->state;
  pthread_mutex_unlock(&standin_lock);
  return ncclSuccess;
}

static inline ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
  if (standin_fails()) return ncclInvalidArgument;
  *rank = comm->rank;
  return ncclSuccess;
}

static inline ncclResult_t ncclCommCount(ncclComm_t comm, int *count) {
  if (standin_fails()) return ncclInvalidArgument;
  *count = comm->world->count;
  return ncclSuccess;
}

static inline ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device) {
  if (standin_fails()) return ncclInvalidArgument;
  *device = comm->rank;
  return ncclSuccess;
}

static inline const char *ncclGetErrorString(ncclResult_t code) {
  return code == ncclRemoteError ? "remote process exited or there was a network error"
                                 : "unhandled error";
}

/* ---- messages ----------------------------------------------------------------------------------
 */

static __thread int standin_depth; /* of groups */
static __thread ncclResult_t standin_group_state;
static __thread standin_group *standin_open;
static __thread cudaStream_t standin_on;

static inline ncclResult_t ncclGroupStart(void) {
  if (standin_fails()) return ncclInternalError;
  if (standin_depth++ == 0) standin_group_state = ncclSuccess;
  return ncclSuccess;
}

static inline void standin_free(standin_message *message) {
  while (message != NULL) {
    standin_message *next = message->next;
    free(message);
    message = next;
  }
}

/* With the lock, once it is over. */
static inline void standin_drop(void *what) {
  standin_group *group = (standin_group *)what;
  if (group->comm != NULL) {
    standin_group **at = &group->comm->groups;
    while (*at != group) at = &(*at)->next;
    *at = group->next;
  }
  standin_free(group->sent);
  standin_free(group->received);
  free(group);
}

/* With the lock. */
static inline void standin_post(ncclComm_t comm, standin_message *message) {
  standin_message **end = &comm->world->queues[comm->rank][message->peer];
  while (*end != NULL) end = &(*end)->queued;
  *end = message;
  message->posted = 1;
}

static inline void standin_take(ncclComm_t comm, standin_message *message) {
  standin_message **first = &comm->world->queues[message->peer][comm->rank];
  standin_message *sent = *first;
  if (sent == NULL) return;
  if (sent->bytes != message->bytes) {
    standin_hangs++;
    return;
  }
  memcpy(message->to, sent->from, sent->bytes);
  if (standin_alters > 0 && --standin_alters == 0) message->to[standin_altered] ^= 0x40;
  *first = sent->queued;
  sent->done = message->done = 1;
}

static inline int standin_move(void *what) {
  standin_group *group = (standin_group *)what;
  ncclComm_t comm = group->comm;
  int left = 0;
  if (comm == NULL) return 1; /* aborted */
  for (standin_message *m = group->sent; m != NULL; m = m->next)
    if (!m->posted) standin_post(comm, m);
  for (standin_message *m = group->received; m != NULL; m = m->next)
    if (!m->done) standin_take(comm, m);
  for (standin_message *m = group->sent; m != NULL; m = m->next) left += !m->done;
  for (standin_message *m = group->received; m != NULL; m = m->next) left += !m->done;
  return left == 0;
}

static inline ncclResult_t standin_join(standin_message message, int sends, ncclComm_t comm,
                                        cudaStream_t stream) {
  if (standin_depth == 0 || message.peer == comm->rank) return ncclInvalidUsage;
  if (standin_fails()) return standin_group_state = ncclInternalError;
  if (standin_open == NULL) {
    standin_open = (standin_group *)calloc(1, sizeof *standin_open);
    if (standin_open == NULL) abort();
  }
  standin_message *copy = (standin_message *)malloc(sizeof *copy);
  if (copy == NULL) abort();
  *copy = message;
  standin_message **end = sends ? &standin_open->sent : &standin_open->received;
  while (*end != NULL) end = &(*end)->next;
  *end = copy;
  standin_open->comm = comm;
  standin_on = stream;
  return ncclSuccess;
}

static inline ncclResult_t ncclSend(const void *from, size_t bytes, ncclDataType_t type, int peer,
                                    ncclComm_t comm, cudaStream_t stream) {
  standin_message message;
  (void)type;
  memset(&message, 0, sizeof message);
  message.from = (const char *)from;
  message.bytes = bytes;
  message.peer = peer;
  return standin_join(message, 1, comm, stream);
}

static inline ncclResult_t ncclRecv(void *to, size_t bytes, ncclDataType_t type, int peer,
                                    ncclComm_t comm, cudaStream_t stream) {
  standin_message message;
  (void)type;
  memset(&message, 0, sizeof message);
  message.to = (char *)to;
  message.bytes = bytes;
  message.peer = peer;
  return standin_join(message, 0, comm, stream);
}

static inline ncclResult_t ncclGroupEnd(void) {
  standin_group *group = standin_open;
  if (standin_depth == 0) return ncclInvalidUsage;
  if (--standin_depth > 0) return ncclSuccess;
  if (standin_fails()) standin_group_state = ncclSystemError;
  standin_open = NULL;
  if (group == NULL) return standin_group_state;
  if (standin_group_state != ncclSuccess) {
    group->comm = NULL;
    standin_drop(group);
    return standin_group_state;
  }
  pthread_mutex_lock(&standin_lock);
  group->next = group->comm->groups;
  group->comm->groups = group;
  pthread_mutex_unlock(&standin_lock);
  standin_add(standin_on, standin_move, standin_drop, group);
  return ncclSuccess;
}

#endif
