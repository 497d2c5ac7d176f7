/* A device made of host memory whose clock, stream and failures a test writes by hand, so that the
 * lab's protocol can be seen step by step where there is no GPU. */
#ifndef RUNG_CHEATS_FAKE_H
#define RUNG_CHEATS_FAKE_H

#include "core/context.h"
#include "core/ladder.h"

enum { FAKE_LOG = 65536, FAKE_TIMES = 16 };

/* What a test sets, and what it may read; all zero: times of 1 ms, no stream to hold. */
struct rung_state {
  char log[FAKE_LOG];       /* one word a call: "fill copy flush sync hold ..." */
  double times[FAKE_TIMES]; /* what elapsed() gives, in turn; ended by 0 */
  int timed;
  int fail_elapsed, fail_clock, fail_sync; /* the so-manieth call fails; 0: none */
  int elapsed, clocks, syncs;
  double probe_rate; /* of all probes, in units of work a ms; 0: 1e6 */
  int probes;        /* calls so far */
  int64_t cache_has; /* bytes that caches hold, whatever they say; 0: what they say */
  double copy_in_ms, copy_out_ms, allocate_ms, release_ms; /* how long each call sleeps */
  bool held;
  const rung_task *queued; /* a launch that waits for release_hold() */
  rung_task waiting;
  void (*run)(const rung_task *task);
};

typedef struct fake {
  rung_backend backend;
  rung_state state;
  rung_context context;
} fake;

/* `streams`: whether it has a stream to hold. */
void fake_open(fake *device, bool streams);
void fake_close(fake *device); /* frees the context's scratch */

/* A rung of the fake device: runs `run` when the stream reaches it. */
rung_status fake_queue(const rung_task *task, void (*run)(const rung_task *task));

/* Sleeps. */
void fake_sleep(double milliseconds);

#endif
