/* Ranks of MPI: a rung_ranks (rung/ranks.h) of an MPI communicator, MPI 3.0 or later. Header only:
 * it is compiled with the program, by the program's MPI; librung itself links none.
 *
 *   rung_mpi mpi;
 *   rung_mpi_open(&mpi, MPI_COMM_WORLD, 0);
 *   rung_reduce_ranks(context, &mpi.ranks, RUNG_SUM, &part, &sum, NULL);
 *   rung_mpi_close(&mpi);
 *
 * Built with mpicc, or by pkg-config's ompi-c or mpich. What is sent goes through memory of the
 * host. */
#ifndef RUNG_MPI_H
#define RUNG_MPI_H

#include <limits.h>
#include <mpi.h>
#include <rung/ranks.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rung_mpi {
  rung_ranks ranks; /* for the calls; its state is this very struct, which must stay where it is */
  MPI_Comm comm;    /* a duplicate of the caller's: no message of either is seen by the other */
  double deadline;  /* seconds; may be changed between calls */
  int broken;       /* 1: the deadline has passed once */
  char *room;       /* kept for copies of what is moved, RUNG_MPI_KEPT bytes; or NULL */
} rung_mpi;

enum { RUNG_MPI_KEPT = 1 << 20 };

/* What is on its way in one exchange. */
typedef struct rung_mpi_moves {
  int count, sent; /* requests; the first so many send */
  int done;
  MPI_Request *requests;
  MPI_Status *statuses;
  int *indices;
  char *copies; /* of what is moved: what never ends may look at them, and write, for ever */
} rung_mpi_moves;

static inline int rung_mpi_say(int code, char why[RUNG_TEXT]) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  text[length] = 0;
  snprintf(why, RUNG_TEXT, "MPI: %.400s", length > 0 ? text : "an error without a text");
  return 1;
}

static inline int rung_mpi_start(rung_mpi *mpi, rung_mpi_moves *m, rung_parcel *sent, int sends,
                                 rung_parcel *received, int receives, char why[RUNG_TEXT]) {
  enum { RUNG_MPI_TAG = 0 };
  char *at = m->copies;
  for (int i = 0; i < receives; i++) {
    if (rung_mpi_say(MPI_Irecv(at, (int)received[i].bytes, MPI_BYTE, received[i].rank, RUNG_MPI_TAG,
                               mpi->comm, &m->requests[sends + i]),
                     why))
      return 1;
    at += received[i].bytes;
  }
  for (int i = 0; i < sends; i++) {
    const int same =
        i > 0 && sent[i].data == sent[i - 1].data && sent[i].bytes == sent[i - 1].bytes;
    char *copy = same ? at - sent[i].bytes : at;
    if (!same) memcpy(copy, sent[i].data, sent[i].bytes);
    if (!same) at += sent[i].bytes;
    if (rung_mpi_say(MPI_Isend(copy, (int)sent[i].bytes, MPI_BYTE, sent[i].rank, RUNG_MPI_TAG,
                               mpi->comm, &m->requests[i]),
                     why))
      return 1;
  }
  return 0;
}

/* Until all is done, or nothing has been for as long as the deadline. */
static inline int rung_mpi_wait(rung_mpi *mpi, rung_mpi_moves *m, rung_parcel *sent,
                                rung_parcel *received, char why[RUNG_TEXT]) {
  double since = MPI_Wtime();
  while (m->done < m->count) {
    int some = 0;
    const int code = MPI_Testsome(m->count, m->requests, &some, m->indices, m->statuses);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return rung_mpi_say(code, why);
    for (int k = 0; k < some; k++) {
      const int i = m->indices[k];
      int bytes = 0;
      if (code == MPI_ERR_IN_STATUS && rung_mpi_say(m->statuses[k].MPI_ERROR, why)) return 1;
      if (i < m->sent) {
        sent[i].moved = sent[i].bytes;
      } else if (rung_mpi_say(MPI_Get_count(&m->statuses[k], MPI_BYTE, &bytes), why)) {
        return 1;
      } else {
        received[i - m->sent].moved = (size_t)bytes;
      }
    }
    if (some > 0) {
      m->done += some;
      since = MPI_Wtime();
    } else if (MPI_Wtime() - since > mpi->deadline) {
      snprintf(why, RUNG_TEXT, "nothing has moved for %g s", mpi->deadline);
      return 1;
    } else {
      sched_yield();
    }
  }
  return 0;
}

/* Room for copies of so many bytes: up to RUNG_MPI_KEPT the same each time, whose pages are there;
 * more is the call's own. */
static inline char *rung_mpi_room(rung_mpi *mpi, size_t bytes) {
  if (bytes > RUNG_MPI_KEPT) return (char *)malloc(bytes);
  if (mpi->room == NULL) mpi->room = (char *)malloc(RUNG_MPI_KEPT);
  return mpi->room;
}

/* rung_ranks.exchange */
static inline int rung_mpi_exchange(void *state, rung_parcel *sent, int sends,
                                    rung_parcel *received, int receives, char why[RUNG_TEXT]) {
  rung_mpi *mpi = (rung_mpi *)state;
  rung_mpi_moves m;
  size_t bytes = 1, longest = 0, at = 0;
  const size_t count = (size_t)sends + (size_t)receives;
  int failed = 1;
  if (mpi->broken) {
    snprintf(why, RUNG_TEXT, "an earlier call on this communicator has failed");
    return 1;
  }
  for (size_t i = 0; i < count; i++) {
    const rung_parcel *parcel = i < (size_t)sends ? &sent[i] : &received[i - (size_t)sends];
    bytes += parcel->bytes;
    if (parcel->bytes > longest) longest = parcel->bytes;
  }
  memset(&m, 0, sizeof m);
  m.count = sends + receives;
  m.sent = sends;
  m.requests = (MPI_Request *)calloc(count, sizeof *m.requests);
  m.statuses = (MPI_Status *)calloc(count, sizeof *m.statuses);
  m.indices = (int *)calloc(count, sizeof *m.indices);
  m.copies = rung_mpi_room(mpi, bytes);
  if (longest > INT_MAX) {
    snprintf(why, RUNG_TEXT, "a message of %zu bytes; expected: at most 2 GB", longest);
  } else if (m.requests == NULL || m.statuses == NULL || m.indices == NULL || m.copies == NULL) {
    snprintf(why, RUNG_TEXT, "no memory for %zu bytes that are moved", bytes);
  } else {
    for (size_t i = 0; i < count; i++) m.requests[i] = MPI_REQUEST_NULL;
    failed = rung_mpi_start(mpi, &m, sent, sends, received, receives, why) ||
             rung_mpi_wait(mpi, &m, sent, received, why);
    for (size_t i = 0; i < count && failed; i++) {
      if (m.requests[i] == MPI_REQUEST_NULL) continue;
      if (i >= (size_t)sends) MPI_Cancel(&m.requests[i]);
      MPI_Request_free(&m.requests[i]);
      mpi->room = m.copies = NULL; /* MPI may write to it yet */
    }
    for (int i = 0; i < receives && !failed; i++) {
      memcpy(received[i].data, m.copies + at, received[i].moved);
      at += received[i].bytes;
    }
  }
  mpi->broken = failed;
  free(m.requests);
  free(m.statuses);
  free(m.indices);
  if (m.copies != mpi->room) free(m.copies);
  return failed;
}

/* All ranks of `comm`, at the same time: MPI_COMM_WORLD, or another one, which is duplicated. MPI
 * has been initialised, and only one thread calls it at a time. deadline: seconds after which a
 * call ends if nothing has moved, longer than the slowest rank computes; 0: 60. Returns what MPI
 * does: MPI_SUCCESS, and then rung_mpi_close() is due before MPI_Finalize(). */
static inline int rung_mpi_open(rung_mpi *mpi, MPI_Comm comm, double deadline) {
  int code;
  memset(mpi, 0, sizeof *mpi);
  mpi->deadline = deadline > 0 ? deadline : 60;
  if ((code = MPI_Comm_dup(comm, &mpi->comm)) != MPI_SUCCESS) return code;
  if ((code = MPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN)) != MPI_SUCCESS ||
      (code = MPI_Comm_rank(mpi->comm, &mpi->ranks.rank)) != MPI_SUCCESS ||
      (code = MPI_Comm_size(mpi->comm, &mpi->ranks.count)) != MPI_SUCCESS) {
    MPI_Comm_free(&mpi->comm);
    return code;
  }
  mpi->ranks.size = sizeof mpi->ranks;
  mpi->ranks.state = mpi;
  mpi->ranks.exchange = rung_mpi_exchange;
  return MPI_SUCCESS;
}

/* Frees the duplicate, all ranks at the same time; nothing of it where a call has failed on it with
 * RANKS_FAILED, for others may be gone: then it is MPI_Abort()'s to end what is left. */
static inline void rung_mpi_close(rung_mpi *mpi) {
  if (!mpi->broken) MPI_Comm_free(&mpi->comm);
  free(mpi->room);
  mpi->room = NULL;
  mpi->ranks.exchange = NULL;
}

#ifdef __cplusplus
}
#endif
#endif
