/* The units of a job, one after the other, and the end of every line: cpu/kernels/units.c, compiled
 * once per instruction set. */
#ifndef RUNG_REDUCE_CPU_UNITS_H
#define RUNG_REDUCE_CPU_UNITS_H

#include "backend/cpu/isa.h"
#include "ops/reduce/cpu/room.h"
#include "ops/reduce/finish.h"

typedef struct reduce_job {
  const reduce_problem *problem;
  reduce_layout layout;
  reduce_operator op;
  reduce_end end;
  rung_dtype type;       /* of partial results */
  int64_t size, partial; /* bytes of an element and of a partial result */
  reduce_units units;
  bool gathers, far; /* elements lie apart; they come from memory */
  bool runs;         /* those that lie apart do so evenly, for long */
  rung_view view;    /* of in */
  const char *in;
  char *out, *partials; /* (outer, rows, inner), of units.rows */
  char *rooms;
  int64_t room; /* bytes of a thread's */
} reduce_job;

/* Units for so many threads. The scratch: a room for each of those that find something to do, then
 * partial results. */
reduce_job RUNG_ENTRY(reduce_job_of)(const rung_task *task, int64_t threads, int64_t rooms);

/* `room` is the thread's. */
void RUNG_ENTRY(reduce_do_unit)(const reduce_job *job, int64_t unit, char *room);

/* What the tiles of a strip, or of a line, come to. Where they are more than a tile's numbers,
 * level by level, each in the place of the one before. */
void RUNG_ENTRY(reduce_end_strip)(const reduce_job *job, int64_t at, char *room);

#endif
