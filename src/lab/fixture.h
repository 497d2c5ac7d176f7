/* The fixture from within: what fixture.c, verify.c and sample.c share. */
#ifndef RUNG_LAB_FIXTURE_H
#define RUNG_LAB_FIXTURE_H

#include "lab/lab.h"

enum {
  LAB_ZONE = 16384, /* bytes of canary on either side of an array */
  LAB_ARENAS =
      RUNG_TASK_ARRAYS + 2, /* the task's arrays, its scratch, its zeros once a rung wants some */
  LAB_SCRATCH = RUNG_TASK_ARRAYS,
  LAB_ZEROS = RUNG_TASK_ARRAYS + 1,
  LAB_CANARIES = LAB_ARENAS * 2 * LAB_ZONE,
  LAB_PIECE = 4096, /* what is looked at of an output while its stream is held: so many bytes, */
  LAB_PIECES = 8    /* in so many places from its first byte to its last */
};

/* One allocation: [zone | data | zone]. Data begins at a multiple of 256 bytes; the second zone
 * begins right after the last byte of data, so that one element too many is seen. */
typedef struct lab_arena {
  char *base, *data; /* NULL: no such array */
  size_t bytes;      /* of data, between the zones */
  size_t capacity;   /* bytes may grow so far */
} lab_arena;

/* Host memory, pinned where the backend has such. */
typedef struct lab_host {
  char *data;
  bool pinned;
} lab_host;

/* Outputs of a case that were checked and found good, the last of them. */
enum { LAB_KNOWN = 64 };
typedef struct lab_checked {
  const rung_row *row;
  uint64_t bits; /* lab_verdict.bits */
  rung_comparison found;
} lab_checked;
typedef struct lab_known {
  lab_checked list[LAB_KNOWN];
  int count, next;
} lab_known;

struct lab_fixture {
  rung_context *context;
  const rung_case *test_case;
  bool on_host; /* the device's memory is the host's: compare and checker in place */
  lab_arena arenas[LAB_ARENAS];
  rung_task task;            /* arrays as a rung gets them; scratch, zeros, block per launch */
  size_t host_scratch_bytes; /* of task.host_scratch, which is the context's */
  char *canary;              /* what all zones must hold: never changed once made, so
                                copies of it may be under way at any time */
  lab_host seen;             /* what was fetched to be compared */
  size_t seen_bytes;
  lab_host outputs[RUNG_TASK_ARRAYS]; /* fetched to be checked; unused on the host */
  rung_state *watcher;                /* a second stream; NULL where no stream can be held */
  lab_known *known;                   /* owned */
};

/* A launch with everything settled beforehand: nothing but the rung runs between the marks. */
typedef struct lab_shot {
  const rung_row *row;
  rung_task task;
} lab_shot;

/* Pinned where that is wanted and to be had, else ordinary. False: there is no memory. */
bool lab_host_take(rung_context *context, size_t bytes, bool pinned, lab_host *host);
void lab_host_give(rung_context *context, lab_host *host);

/* Seconds on a clock that never goes back. */
double lab_seconds(void);

/* RUNG_ON_CPU's memory is the host's, and so is the simulator's. */
bool lab_is_host(const rung_device *device);

/* A task for `case` on the context; arrays without data. */
void lab_task_of(rung_context *context, const rung_case *test_case, rung_task *task);

/* One of the two zones of arena `index` in fixture->canary, or in a buffer laid out like it. */
static inline size_t lab_zone_offset(int index, int side) {
  return ((size_t)index * 2 + (size_t)side) * LAB_ZONE;
}

/* Of a peer, what makes the contract's results of what has been launched; of others nothing. */
rung_status lab_settle(const rung_row *row, const rung_task *task);
/* Launches a rung, and that behind it. */
rung_status lab_launch(const rung_row *row, const rung_task *task);

/* The shot for a rung that is prepared; refuses one that is not. */
rung_status lab_fixture_shot(lab_fixture *fixture, const rung_row *row, int block, lab_shot *shot,
                             rung_error *error);

/* Looks at the canaries of all arenas after the stream's work is done. *verdict is written where
 * one died; returns whether all live. */
bool lab_fixture_zones_live(lab_fixture *fixture, lab_verdict *verdict);

/* Copies the inputs to the device again. */
rung_status lab_fixture_load(lab_fixture *fixture, rung_error *error);

/* What a rung's outputs, compact on the host, say of it; *verdict began as good. What has the bits
 * of outputs that were found good, of this rung or, of canonical ones, of any, is not checked
 * again. outputs.c */
void lab_check_outputs(const rung_case *test_case, lab_known *known, const rung_row *row,
                       const rung_view *outputs, lab_verdict *verdict);
/* Whether the rules say to stop, and why. sample.c */
bool lab_is_done(const lab_rules *rules, const lab_candidate *candidate, double spent,
                 lab_stop *why);

/* Launch failed, with its cause. */
void lab_find_failure(lab_verdict *verdict, const rung_error *error);
/* verdict->finding and its sentence, printf-wise. */
void lab_find(lab_verdict *verdict, lab_finding finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
