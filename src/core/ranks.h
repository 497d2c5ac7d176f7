/* What ranks say to each other: short words, all to all, that agree on how to go on, and bytes. */
#ifndef RUNG_CORE_RANKS_H
#define RUNG_CORE_RANKS_H

#include <stdbool.h>

#include "core/error.h"
#include "core/tensor.h"
#include "rung/ranks.h"

enum { RUNG_JOB_TEXT = 160, RUNG_MORE = 3376 };

/* What a rank says to all others. Versions may differ: of another one's nothing else is read. With
 * all that may come along it is a short message to NCCL (rung/nccl.h). */
typedef struct rung_word {
  char version[16];
  int64_t order;  /* of the words of a call, from 1 on */
  int64_t status; /* of the rank, with its sentence */
  int64_t number; /* whatever the word is about */
  int64_t sure;   /* the rank is ready for what follows; with results: and cannot fail at it */
  int64_t along;  /* bytes of `more` */
  char job[RUNG_JOB_TEXT];
  char sentence[RUNG_SENTENCE];
  char more[RUNG_MORE]; /* what comes along; aligned to 8 */
} rung_word;

/* A call, as its ranks go through it. */
typedef struct rung_meeting {
  rung_ranks ranks;
  rung_error *error;
  const char *job;      /* what all must be about, in words */
  int64_t order;        /* of the last word */
  bool broken;          /* exchange() has failed: no more words */
  rung_word *words;     /* of all ranks, the last that each said; NULL: there was no memory */
  rung_parcel *parcels; /* room for twice as many as there are ranks */
} rung_meeting;

#ifdef __cplusplus
extern "C" {
#endif

/* Of what has too many numbers for the words about a job (FNV-1a, eight bytes at a time). */
uint64_t rung_ranks_hash(const void *data, size_t bytes);

/* Memory of the words of all ranks and of parcels, whose bytes are added to *bytes; false: there is
 * none. Whoever called it frees both. */
bool rung_ranks_make_words(rung_meeting *meeting, size_t *bytes);

/* Reads and checks the caller's struct. */
rung_status rung_ranks_read(rung_error *error, const rung_ranks *given, rung_ranks *known);

/* Zeroed memory, whose bytes are added to *bytes; and what is said, in the meeting's error, where
 * some of it was not to be had. */
void *rung_ranks_ask(size_t *bytes, size_t count, size_t each);
rung_status rung_ranks_no_memory(const rung_meeting *meeting, size_t bytes, const char *what);

/* All ranks say how they are (`status`, with the sentence in *error) and a number, and hear the
 * same of all others, without memory too. Returns the status of the first rank that failed, its
 * sentence in *error: the same in all ranks. */
rung_status rung_ranks_meet(rung_meeting *meeting, rung_status status, int64_t number);

/* The same, with the word that this rank is ready for what follows, or not; and whether all are. */
rung_status rung_ranks_meet_ready(rung_meeting *meeting, rung_status status, int64_t number,
                                  bool ready);
bool rung_ranks_ready(const rung_meeting *meeting);

/* The same, with `bytes` that come along where they are at most RUNG_MORE, and are in the rank's
 * word then, the own one's too. */
rung_status rung_ranks_meet_with(rung_meeting *meeting, rung_status status, int64_t number,
                                 bool ready, const void *more, size_t bytes);

/* The same, where the number is how many bytes of results a rank has, whose `status` is good.
 * `sure`: what it does with all ranks' results cannot fail. */
rung_status rung_ranks_tell(rung_meeting *meeting, rung_status status, const void *results,
                            size_t bytes, bool sure);
/* Whether copying results to these cannot fail: all that have elements are in host memory. */
bool rung_ranks_on_host(const rung_view *outputs, int count);

/* Whether all ranks' results have come along; and whether they are the end, for all are sure. The
 * same in all ranks. */
bool rung_ranks_told(const rung_meeting *meeting);
bool rung_ranks_sure(const rung_meeting *meeting);

/* Moves the first so many of meeting->parcels away, and as many as follow here. `anywhere`: they
 * lie where exchange_anywhere() finds them, and the ranks have that. */
rung_status rung_ranks_move(rung_meeting *meeting, int sent, int received, bool anywhere);

/* To all ranks what each has of `all`: the elements [firsts[rank], firsts[rank + 1]), of `each`
 * bytes. mine: where this rank's lie; NULL: there. */
rung_status rung_ranks_gather(rung_meeting *meeting, const int64_t *firsts, size_t each, char *all,
                              const char *mine, bool anywhere);

/* After moving or gathering: what has come cut short is this rank's failure, of which the next word
 * tells; *own keeps an earlier one. Not OK: there are no more words. */
rung_status rung_ranks_missing(const rung_meeting *meeting, rung_status moved, rung_status *own);

#ifdef __cplusplus
}
#endif
#endif
