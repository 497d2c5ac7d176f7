/* Ranks of NCCL: a rung_ranks (rung/ranks.h) of an NCCL communicator, NCCL 2.18 or later. Header
 * only: it is compiled with the program, by the program's NCCL and CUDA; librung links neither.
 *
 *   rung_nccl nccl;
 *   if (rung_nccl_open(&nccl, comm, 0) != ncclSuccess) fprintf(stderr, "%s\n", nccl.why);
 *   rung_reduce_ranks(context, &nccl.ranks, RUNG_SUM, &part, &sum, NULL);
 *   rung_nccl_close(&nccl);
 *
 * Built with -lnccl -lcudart. NCCL moves bytes, and no more: none of its reductions is called. What
 * is sent goes through 32 MB of the device's memory, and what lies in the host's through 32 MB of
 * it, which are pinned, besides.
 *
 * One thread at a time calls over one rung_nccl; the devices of one process are a thread each.
 * While a call is under way, the devices do nothing else by NCCL: a kernel of another communicator
 * may wait for one that waits for it. The current device of the thread stays what it was. */
#ifndef RUNG_NCCL_H
#define RUNG_NCCL_H

#include <cuda_runtime.h>
#include <nccl.h>
#include <rung/ranks.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/times.h>
#include <unistd.h>

#if NCCL_VERSION_CODE < 21800
#error "rung/nccl.h: expected: NCCL 2.18 or later, which has ncclCommSplit()"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* NCCL tells no receiver how much was sent, and one that expects more waits for ever. So a message
 * begins with a frame of one size for all, which tells; what does not fit into it follows in
 * chunks, as many as the sender has. Frames lie in pinned memory, which NCCL takes as it takes a
 * device's: a short message is one kernel, and no copy. */
enum {
  RUNG_NCCL_FRAME = 4096,
  RUNG_NCCL_SHORT = RUNG_NCCL_FRAME - 24, /* bytes of a message that its frame has */
  RUNG_NCCL_ROOM = 1 << 23                /* bytes of chunks that one round sends, or receives */
};

typedef struct rung_nccl_frame {
  unsigned long long number; /* of all messages from this rank to that one, from 1 on */
  unsigned long long bytes;  /* of the message */
  char data[RUNG_NCCL_SHORT];
  unsigned long long again; /* the number: a frame that is not whole has another one */
} rung_nccl_frame;

typedef struct rung_nccl {
  rung_ranks ranks; /* for the calls; its state is this very struct, which must stay where it is */
  ncclComm_t comm;  /* a communicator of its own, of the caller's ranks; NULL: aborted */
  double deadline;  /* seconds; may be changed between calls */
  int broken;       /* 1: a call has failed */
  int device;       /* the communicator's */
  cudaStream_t stream;
  cudaEvent_t events[2]; /* a round is over: of two that are under way at once */
  rung_nccl_frame *frames;
  char *host, *there; /* chunks: two rounds, what is sent and what is received; pinned, and on the
                         device */
  size_t chunk;
  unsigned long long *numbers; /* of the last message to each rank, and from each */
  unsigned char *placed; /* whether what goes to each rank, or comes from it, lies on a device */
  char why[RUNG_TEXT];   /* what rung_nccl_open() or rung_nccl_close() failed by */
} rung_nccl;

/* One exchange. */
typedef struct rung_nccl_moves {
  rung_parcel *sent, *received;
  int sends, receives;
} rung_nccl_moves;

/* Whether a parcel lies in a device's memory, `received` or sent. */
static inline unsigned char *rung_nccl_placed(const rung_nccl *nccl, const rung_parcel *parcel,
                                              int received) {
  return &nccl->placed[(received ? nccl->ranks.count : 0) + parcel->rank];
}

/* ---- errors ------------------------------------------------------------------------------------
 */

static inline int rung_nccl_say(ncclResult_t code, char why[RUNG_TEXT]) {
  if (code == ncclSuccess || code == ncclInProgress) return 0;
  snprintf(why, RUNG_TEXT, "NCCL: %.400s", ncclGetErrorString(code));
  return 1;
}

static inline int rung_nccl_cuda(cudaError_t code, char why[RUNG_TEXT]) {
  if (code == cudaSuccess) return 0;
  snprintf(why, RUNG_TEXT, "CUDA: %.400s", cudaGetErrorString(code));
  return 1;
}

/* Seconds, of a clock that nobody sets, and that C11 needs no macro for. */
static inline double rung_nccl_now(void) {
  return (double)times(NULL) / (double)sysconf(_SC_CLK_TCK);
}

/* Makes the communicator's device the current one; *before is made so again by the caller. */
static inline int rung_nccl_enter(const rung_nccl *nccl, int *before, char why[RUNG_TEXT]) {
  *before = nccl->device;
  if (rung_nccl_cuda(cudaGetDevice(before), why)) return 1;
  return *before != nccl->device && rung_nccl_cuda(cudaSetDevice(nccl->device), why);
}

static inline int rung_nccl_leave(const rung_nccl *nccl, int before, char why[RUNG_TEXT]) {
  return before != nccl->device && rung_nccl_cuda(cudaSetDevice(before), why);
}

/* ---- rounds ------------------------------------------------------------------------------------
 */

/* Until the round is over: 0. Not 0: it has failed, or the deadline has passed. */
static inline int rung_nccl_wait(const rung_nccl *nccl, int slot, char why[RUNG_TEXT]) {
  const double since = rung_nccl_now();
  for (;;) {
    ncclResult_t state = ncclSuccess;
    const cudaError_t code = cudaEventQuery(nccl->events[slot]);
    if (code != cudaErrorNotReady) return rung_nccl_cuda(code, why);
    cudaGetLastError(); /* not ready is no error that a later look should find */
    if (rung_nccl_say(ncclCommGetAsyncError(nccl->comm, &state), why) || rung_nccl_say(state, why))
      return 1;
    if (rung_nccl_now() - since > nccl->deadline) {
      snprintf(why, RUNG_TEXT, "nothing has moved for %g s", nccl->deadline);
      return 1;
    }
    sched_yield();
  }
}

/* How much of a message its frame has. */
static inline size_t rung_nccl_short(unsigned long long bytes) {
  return bytes < RUNG_NCCL_SHORT ? (size_t)bytes : (size_t)RUNG_NCCL_SHORT;
}

/* Finds out where all parcels lie; not `anywhere`: in the host's memory. */
static inline int rung_nccl_place_all(const rung_nccl *nccl, const rung_nccl_moves *m, int anywhere,
                                      char why[RUNG_TEXT]) {
  for (int i = 0; i < m->sends + m->receives; i++) {
    const int received = i >= m->sends;
    const rung_parcel *parcel = received ? &m->received[i - m->sends] : &m->sent[i];
    struct cudaPointerAttributes of;
    memset(&of, 0, sizeof of);
    if (anywhere && rung_nccl_cuda(cudaPointerGetAttributes(&of, parcel->data), why)) return 1;
    *rung_nccl_placed(nccl, parcel, received) = of.type == cudaMemoryTypeDevice;
  }
  return 0;
}

/* To a device's memory or from it, behind what is on its way. */
static inline int rung_nccl_copy(const rung_nccl *nccl, void *to, const void *from, size_t bytes,
                                 char why[RUNG_TEXT]) {
  return bytes > 0 &&
         rung_nccl_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nccl->stream), why);
}

/* A frame for every message, and its number for every one that is expected. */
static inline int rung_nccl_frame_all(rung_nccl *nccl, const rung_nccl_moves *m,
                                      char why[RUNG_TEXT]) {
  int failed = 0;
  for (int i = 0; i < m->sends; i++) {
    const rung_parcel *parcel = &m->sent[i];
    rung_nccl_frame *frame = &nccl->frames[parcel->rank];
    const size_t bytes = rung_nccl_short(parcel->bytes);
    frame->number = frame->again = ++nccl->numbers[parcel->rank];
    frame->bytes = parcel->bytes;
    if (*rung_nccl_placed(nccl, parcel, 0))
      failed |= rung_nccl_copy(nccl, frame->data, parcel->data, bytes, why);
    else if (bytes > 0)
      memcpy(frame->data, parcel->data, bytes);
  }
  for (int i = 0; i < m->receives; i++) nccl->numbers[nccl->ranks.count + m->received[i].rank]++;
  return failed;
}

/* Sends and receives all frames: one group. */
static inline int rung_nccl_move_frames(rung_nccl *nccl, const rung_nccl_moves *m,
                                        char why[RUNG_TEXT]) {
  int failed = rung_nccl_say(ncclGroupStart(), why);
  if (failed) return 1;
  for (int i = 0; i < m->sends && !failed; i++)
    failed = rung_nccl_say(ncclSend(&nccl->frames[m->sent[i].rank], RUNG_NCCL_FRAME, ncclUint8,
                                    m->sent[i].rank, nccl->comm, nccl->stream),
                           why);
  for (int i = 0; i < m->receives && !failed; i++)
    failed = rung_nccl_say(
        ncclRecv(&nccl->frames[nccl->ranks.count + m->received[i].rank], RUNG_NCCL_FRAME, ncclUint8,
                 m->received[i].rank, nccl->comm, nccl->stream),
        why);
  const ncclResult_t ended = ncclGroupEnd(); /* in every case: the thread is within it */
  return failed || rung_nccl_say(ended, why) ||
         rung_nccl_cuda(cudaEventRecord(nccl->events[0], nccl->stream), why) ||
         rung_nccl_wait(nccl, 0, why);
}

/* The frame that has come for a parcel; NULL: not the one that was expected. */
static inline const rung_nccl_frame *rung_nccl_frame_of(const rung_nccl *nccl,
                                                        const rung_parcel *parcel) {
  const int at = nccl->ranks.count + parcel->rank;
  const rung_nccl_frame *frame = &nccl->frames[at];
  const unsigned long long number = nccl->numbers[at];
  return frame->number == number && frame->again == number ? frame : NULL;
}

/* What came in frames, all or some of them, but to devices' memory. */
static inline int rung_nccl_take_frames(const rung_nccl *nccl, const rung_nccl_moves *m) {
  int failed = 0;
  for (int i = 0; i < m->receives; i++) {
    rung_parcel *parcel = &m->received[i];
    const rung_nccl_frame *frame = rung_nccl_frame_of(nccl, parcel);
    if (frame == NULL) {
      failed = 1;
      continue;
    }
    size_t bytes = rung_nccl_short(frame->bytes);
    parcel->moved = bytes;
    if (bytes > parcel->bytes) bytes = parcel->bytes;
    if (bytes > 0 && !*rung_nccl_placed(nccl, parcel, 1)) memcpy(parcel->data, frame->data, bytes);
  }
  return failed;
}

/* And what all of them brought to devices' memory. */
static inline int rung_nccl_place_frames(const rung_nccl *nccl, const rung_nccl_moves *m,
                                         char why[RUNG_TEXT]) {
  int copies = 0;
  for (int i = 0; i < m->receives; i++) {
    const rung_parcel *parcel = &m->received[i];
    const size_t bytes = parcel->moved < parcel->bytes ? parcel->moved : parcel->bytes;
    if (!*rung_nccl_placed(nccl, parcel, 1)) continue;
    if (rung_nccl_copy(nccl, parcel->data, rung_nccl_frame_of(nccl, parcel)->data, bytes, why))
      return 1;
    copies++;
  }
  return copies > 0 && (rung_nccl_cuda(cudaEventRecord(nccl->events[1], nccl->stream), why) ||
                        rung_nccl_wait(nccl, 1, why));
}

/* ---- chunks ------------------------------------------------------------------------------------
 */

/* Bytes of a message that its chunk `round` has, and where in the message they begin. */
static inline size_t rung_nccl_part(const rung_nccl *nccl, unsigned long long bytes,
                                    unsigned long long round, unsigned long long *first) {
  *first = RUNG_NCCL_SHORT + round * nccl->chunk;
  if (bytes <= *first) return 0;
  return bytes - *first < nccl->chunk ? (size_t)(bytes - *first) : nccl->chunk;
}

static inline int rung_nccl_goes_on(const rung_nccl *nccl, const rung_nccl_moves *m,
                                    unsigned long long round) {
  unsigned long long first;
  for (int i = 0; i < m->sends; i++)
    if (rung_nccl_part(nccl, m->sent[i].bytes, round, &first) > 0) return 1;
  for (int i = 0; i < m->receives; i++) {
    const rung_nccl_frame *frame = rung_nccl_frame_of(nccl, &m->received[i]);
    if (rung_nccl_part(nccl, frame->bytes, round, &first) > 0) return 1;
  }
  return 0;
}

/* Where a round's chunks lie: what is sent (0), and what is received (1). */
static inline size_t rung_nccl_at(const rung_nccl *nccl, unsigned long long round, int received) {
  const size_t others = nccl->ranks.count > 1 ? (size_t)nccl->ranks.count - 1 : 1;
  return (2 * (size_t)(round % 2) + (size_t)received) * others * nccl->chunk;
}

/* What goes to several ranks, one after the other in the list, is copied once. */
static inline int rung_nccl_again(const rung_parcel *sent, int i) {
  return i > 0 && sent[i].data == sent[i - 1].data && sent[i].bytes == sent[i - 1].bytes;
}

/* The round's sends and receives, of the device's memory: one group. */
static inline int rung_nccl_move_chunks(const rung_nccl *nccl, const rung_nccl_moves *m,
                                        unsigned long long round, char why[RUNG_TEXT]) {
  const char *out = nccl->there + rung_nccl_at(nccl, round, 0);
  char *in = nccl->there + rung_nccl_at(nccl, round, 1);
  unsigned long long first;
  int failed = rung_nccl_say(ncclGroupStart(), why);
  if (failed) return 1;
  for (int i = 0; i < m->sends && !failed; i++) {
    const size_t bytes = rung_nccl_part(nccl, m->sent[i].bytes, round, &first);
    if (!rung_nccl_again(m->sent, i)) out += bytes;
    if (bytes > 0)
      failed = rung_nccl_say(
          ncclSend(out - bytes, bytes, ncclUint8, m->sent[i].rank, nccl->comm, nccl->stream), why);
  }
  for (int i = 0; i < m->receives && !failed; i++) {
    const rung_nccl_frame *frame = rung_nccl_frame_of(nccl, &m->received[i]);
    const size_t bytes = rung_nccl_part(nccl, frame->bytes, round, &first);
    if (bytes > 0)
      failed = rung_nccl_say(
          ncclRecv(in, bytes, ncclUint8, m->received[i].rank, nccl->comm, nccl->stream), why);
    in += bytes;
  }
  const ncclResult_t ended = ncclGroupEnd();
  return failed || rung_nccl_say(ended, why);
}

/* Of `bytes` from `first` on, those that a parcel has room for. */
static inline size_t rung_nccl_room(const rung_parcel *parcel, unsigned long long first,
                                    size_t bytes) {
  const size_t room = first < parcel->bytes ? parcel->bytes - (size_t)first : 0;
  return bytes < room ? bytes : room;
}

/* Copies what the round sends, and puts all of it behind what is on its way. */
static inline int rung_nccl_start(const rung_nccl *nccl, const rung_nccl_moves *m,
                                  unsigned long long round, char why[RUNG_TEXT]) {
  const size_t out = rung_nccl_at(nccl, round, 0), in = rung_nccl_at(nccl, round, 1);
  size_t sent = 0, received = 0;
  unsigned long long first;
  for (int i = 0; i < m->sends; i++) {
    const size_t bytes = rung_nccl_part(nccl, m->sent[i].bytes, round, &first);
    if (bytes == 0 || rung_nccl_again(m->sent, i)) continue;
    const char *from = (const char *)m->sent[i].data + first;
    if (!*rung_nccl_placed(nccl, &m->sent[i], 0))
      from = (const char *)memcpy(nccl->host + out + sent, from, bytes);
    if (rung_nccl_copy(nccl, nccl->there + out + sent, from, bytes, why)) return 1;
    sent += bytes;
  }
  if (rung_nccl_move_chunks(nccl, m, round, why)) return 1;
  for (int i = 0; i < m->receives; i++) {
    const rung_parcel *parcel = &m->received[i];
    const size_t bytes =
        rung_nccl_part(nccl, rung_nccl_frame_of(nccl, parcel)->bytes, round, &first);
    const char *from = nccl->there + in + received;
    if (!*rung_nccl_placed(nccl, parcel, 1)) {
      if (rung_nccl_copy(nccl, nccl->host + in + received, from, bytes, why)) return 1;
    } else if (rung_nccl_copy(nccl, (char *)parcel->data + first, from,
                              rung_nccl_room(parcel, first, bytes), why)) {
      return 1;
    }
    received += bytes;
  }
  return rung_nccl_cuda(cudaEventRecord(nccl->events[round % 2], nccl->stream), why);
}

/* What a round that is over has brought; of a message that is longer than was expected the rest is
 * let go. */
static inline void rung_nccl_take_chunks(const rung_nccl *nccl, const rung_nccl_moves *m,
                                         unsigned long long round) {
  const char *in = nccl->host + rung_nccl_at(nccl, round, 1);
  unsigned long long first;
  for (int i = 0; i < m->sends; i++)
    m->sent[i].moved += rung_nccl_part(nccl, m->sent[i].bytes, round, &first);
  for (int i = 0; i < m->receives; i++) {
    rung_parcel *parcel = &m->received[i];
    const size_t bytes =
        rung_nccl_part(nccl, rung_nccl_frame_of(nccl, parcel)->bytes, round, &first);
    const size_t taken = rung_nccl_room(parcel, first, bytes);
    if (taken > 0 && !*rung_nccl_placed(nccl, parcel, 1))
      memcpy((char *)parcel->data + first, in, taken);
    parcel->moved += bytes;
    in += bytes;
  }
}

/* ---- an exchange -------------------------------------------------------------------------------
 */

/* Ends what is on its way: a kernel that waits for a rank that is gone would wait for ever, and
 * with it whatever waits for the device. */
static inline void rung_nccl_abort(rung_nccl *nccl) {
  const double since = rung_nccl_now(), patience = 10;
  if (nccl->comm != NULL) ncclCommAbort(nccl->comm);
  nccl->comm = NULL;
  nccl->broken = 1;
  while (cudaStreamQuery(nccl->stream) == cudaErrorNotReady && rung_nccl_now() - since < patience)
    sched_yield();
  cudaGetLastError();
}

static inline int rung_nccl_move(rung_nccl *nccl, const rung_nccl_moves *m, int anywhere,
                                 char why[RUNG_TEXT]) {
  if (rung_nccl_place_all(nccl, m, anywhere, why) || rung_nccl_frame_all(nccl, m, why) ||
      rung_nccl_move_frames(nccl, m, why)) {
    rung_nccl_abort(nccl);
    rung_nccl_take_frames(nccl, m); /* who has sent: it is the others who are late */
    return 1;
  }
  for (int i = 0; i < m->sends; i++) m->sent[i].moved = rung_nccl_short(m->sent[i].bytes);
  int failed = rung_nccl_take_frames(nccl, m);
  if (failed) snprintf(why, RUNG_TEXT, "a message is not the next one, or not whole");
  if (!failed) failed = rung_nccl_place_frames(nccl, m, why);
  for (unsigned long long round = 0; !failed; round++) {
    const int more = rung_nccl_goes_on(nccl, m, round);
    if (more) failed = rung_nccl_start(nccl, m, round, why);
    if (!failed && round > 0) {
      failed = rung_nccl_wait(nccl, (int)((round - 1) % 2), why);
      if (!failed) rung_nccl_take_chunks(nccl, m, round - 1);
    }
    if (!failed && !more) return 0;
  }
  rung_nccl_abort(nccl);
  return 1;
}

static inline int rung_nccl_run(rung_nccl *nccl, const rung_nccl_moves *m, int anywhere,
                                char why[RUNG_TEXT]) {
  char ignored[RUNG_TEXT];
  int before = nccl->device;
  if (nccl->broken) {
    snprintf(why, RUNG_TEXT, "an earlier call on this communicator has failed");
    return 1;
  }
  const int entered = rung_nccl_enter(nccl, &before, why) == 0;
  const int moved = entered && rung_nccl_move(nccl, m, anywhere, why) == 0;
  const int left = rung_nccl_leave(nccl, before, moved ? why : ignored) == 0;
  if (!(moved && left) && !nccl->broken) rung_nccl_abort(nccl);
  return !(moved && left);
}

/* rung_ranks.exchange */
static inline int rung_nccl_exchange(void *state, rung_parcel *sent, int sends,
                                     rung_parcel *received, int receives, char why[RUNG_TEXT]) {
  const rung_nccl_moves m = {sent, received, sends, receives};
  return rung_nccl_run((rung_nccl *)state, &m, 0, why);
}

/* rung_ranks.exchange_anywhere */
static inline int rung_nccl_exchange_anywhere(void *state, rung_parcel *sent, int sends,
                                              rung_parcel *received, int receives,
                                              char why[RUNG_TEXT]) {
  const rung_nccl_moves m = {sent, received, sends, receives};
  return rung_nccl_run((rung_nccl *)state, &m, 1, why);
}

/* ---- opening and closing -----------------------------------------------------------------------
 */

/* A communicator of its own. */
static inline ncclResult_t rung_nccl_split(rung_nccl *nccl, ncclComm_t comm) {
  const double since = rung_nccl_now();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1; /* a thread would be made for every group if it were not */
  config.splitShare = 0;
  ncclResult_t code = ncclCommSplit(comm, 0, nccl->ranks.rank, &nccl->comm, &config);
  while (code == ncclInProgress) { /* where `comm` does not block */
    if (rung_nccl_now() - since > nccl->deadline) {
      snprintf(nccl->why, RUNG_TEXT, "ncclCommSplit() has not ended for %g s", nccl->deadline);
      return ncclInProgress;
    }
    const ncclResult_t asked = ncclCommGetAsyncError(comm, &code);
    if (asked != ncclSuccess) code = asked;
    sched_yield();
  }
  rung_nccl_say(code, nccl->why);
  return code;
}

/* Memory, and all else that a rank has for itself. */
static inline ncclResult_t rung_nccl_allocate(rung_nccl *nccl) {
  const size_t count = (size_t)nccl->ranks.count, others = count > 1 ? count - 1 : 1;
  nccl->chunk = RUNG_NCCL_ROOM / others / RUNG_NCCL_FRAME * RUNG_NCCL_FRAME;
  if (nccl->chunk == 0) nccl->chunk = RUNG_NCCL_FRAME;
  nccl->numbers = (unsigned long long *)calloc(2 * count, sizeof *nccl->numbers);
  nccl->placed = (unsigned char *)calloc(2 * count, 1);
  if (nccl->numbers == NULL || nccl->placed == NULL) {
    snprintf(nccl->why, RUNG_TEXT, "no memory for %zu bytes", 2 * count * sizeof *nccl->numbers);
    return ncclSystemError;
  }
  const size_t frames = 2 * count * sizeof *nccl->frames, chunks = 4 * others * nccl->chunk;
  const unsigned flags =
      cudaHostAllocPortable; /* a rank's device may write into another's frames */
  if (rung_nccl_cuda(cudaStreamCreateWithFlags(&nccl->stream, cudaStreamNonBlocking), nccl->why) ||
      rung_nccl_cuda(cudaEventCreateWithFlags(&nccl->events[0], cudaEventDisableTiming),
                     nccl->why) ||
      rung_nccl_cuda(cudaEventCreateWithFlags(&nccl->events[1], cudaEventDisableTiming),
                     nccl->why) ||
      rung_nccl_cuda(cudaHostAlloc((void **)&nccl->frames, frames, flags), nccl->why) ||
      rung_nccl_cuda(cudaHostAlloc((void **)&nccl->host, chunks, flags), nccl->why) ||
      rung_nccl_cuda(cudaMalloc((void **)&nccl->there, chunks), nccl->why))
    return ncclUnhandledCudaError;
  memset(nccl->frames, 0, frames);
  return ncclSuccess;
}

/* A message without bytes to and from every other rank: NCCL connects ranks when they first send,
 * and waits for them then without a deadline. */
static inline ncclResult_t rung_nccl_connect(rung_nccl *nccl) {
  const int count = nccl->ranks.count, others = count - 1;
  if (others == 0) return ncclSuccess;
  rung_parcel *parcels = (rung_parcel *)calloc(2 * (size_t)others, sizeof *parcels);
  if (parcels == NULL) {
    snprintf(nccl->why, RUNG_TEXT, "no memory for %zu bytes", 2 * (size_t)others * sizeof *parcels);
    return ncclSystemError;
  }
  for (int r = 0, i = 0; r < count; r++) {
    if (r == nccl->ranks.rank) continue;
    parcels[i].rank = parcels[others + i].rank = r;
    i++;
  }
  const rung_nccl_moves m = {parcels, parcels + others, others, others};
  const int failed = rung_nccl_move(nccl, &m, 0, nccl->why);
  free(parcels);
  return failed ? ncclRemoteError : ncclSuccess;
}

/* Gives back all but the communicator, whatever fails. */
static inline ncclResult_t rung_nccl_free(rung_nccl *nccl, char why[RUNG_TEXT]) {
  int failed = 0;
  if (nccl->there != NULL) failed |= rung_nccl_cuda(cudaFree(nccl->there), why);
  if (nccl->host != NULL) failed |= rung_nccl_cuda(cudaFreeHost(nccl->host), why);
  if (nccl->frames != NULL) failed |= rung_nccl_cuda(cudaFreeHost(nccl->frames), why);
  for (int i = 0; i < 2; i++)
    if (nccl->events[i] != NULL) failed |= rung_nccl_cuda(cudaEventDestroy(nccl->events[i]), why);
  if (nccl->stream != NULL) failed |= rung_nccl_cuda(cudaStreamDestroy(nccl->stream), why);
  free(nccl->numbers);
  free(nccl->placed);
  nccl->placed = NULL;
  nccl->there = nccl->host = NULL;
  nccl->frames = NULL;
  nccl->events[0] = nccl->events[1] = NULL;
  nccl->stream = NULL;
  nccl->numbers = NULL;
  nccl->ranks.exchange = NULL;
  nccl->ranks.exchange_anywhere = NULL;
  return failed ? ncclUnhandledCudaError : ncclSuccess;
}

/* Gives all back, in all ranks; no rank is waited for. After RANKS_FAILED the communicator of its
 * own has been aborted already, and `comm` has not been touched: it may be used by ranks that are
 * all still there, and where one is gone it is the caller's to abort. Returns what NCCL or CUDA
 * failed by. */
static inline ncclResult_t rung_nccl_close(rung_nccl *nccl) {
  int before = 0;
  ncclResult_t code = ncclSuccess;
  if (nccl->ranks.exchange == NULL) return ncclSuccess;
  if (rung_nccl_enter(nccl, &before, nccl->why)) code = ncclUnhandledCudaError;
  if (nccl->comm != NULL) {
    const ncclResult_t ended = ncclCommDestroy(nccl->comm);
    if (rung_nccl_say(ended, nccl->why) && code == ncclSuccess) code = ended;
  }
  nccl->comm = NULL;
  const ncclResult_t freed = rung_nccl_free(nccl, nccl->why);
  if (code == ncclSuccess) code = freed;
  if (rung_nccl_leave(nccl, before, nccl->why) && code == ncclSuccess)
    code = ncclUnhandledCudaError;
  return code;
}

/* All ranks of `comm`, at the same time, and nothing is under way on it. The ranks have a
 * communicator of their own then, of ncclCommSplit(): no operation of either is seen by the other.
 * Where `comm` blocks, a rank that never opens is waited for without a deadline, as NCCL does.
 *
 * deadline: seconds after which a call ends if nothing has moved, longer than the slowest rank
 *           computes; 0: 60.
 *
 * Returns ncclSuccess, and then rung_nccl_close() is due, before `comm` is destroyed. Otherwise
 * nothing is, and nccl->why says why. ncclInProgress: `comm` does not block, and a rank has not
 * come within the deadline; then ncclCommAbort(comm), before `nccl` goes. */
static inline ncclResult_t rung_nccl_open(rung_nccl *nccl, ncclComm_t comm, double deadline) {
  int before = 0;
  ncclResult_t code;
  char why[RUNG_TEXT], ignored[RUNG_TEXT];
  memset(nccl, 0, sizeof *nccl);
  nccl->deadline = deadline > 0 ? deadline : 60;
  if ((code = ncclCommUserRank(comm, &nccl->ranks.rank)) != ncclSuccess ||
      (code = ncclCommCount(comm, &nccl->ranks.count)) != ncclSuccess ||
      (code = ncclCommCuDevice(comm, &nccl->device)) != ncclSuccess) {
    rung_nccl_say(code, nccl->why);
    return code;
  }
  if (rung_nccl_enter(nccl, &before, nccl->why)) return ncclUnhandledCudaError;
  code = rung_nccl_split(nccl, comm);
  if (code == ncclSuccess) {
    code = rung_nccl_allocate(nccl);
    if (code == ncclSuccess) code = rung_nccl_connect(nccl);
    if (code != ncclSuccess && nccl->comm != NULL) ncclCommAbort(nccl->comm);
    if (code != ncclSuccess) rung_nccl_free(nccl, ignored);
  }
  nccl->ranks.size = sizeof nccl->ranks;
  nccl->ranks.state = nccl;
  nccl->ranks.exchange = code == ncclSuccess ? rung_nccl_exchange : NULL;
  nccl->ranks.exchange_anywhere = code == ncclSuccess ? rung_nccl_exchange_anywhere : NULL;
  if (rung_nccl_leave(nccl, before, why) && code == ncclSuccess) {
    rung_nccl_close(nccl);
    memcpy(nccl->why, why, sizeof why);
    code = ncclUnhandledCudaError;
  }
  return code;
}

#ifdef __cplusplus
}
#endif
#endif
