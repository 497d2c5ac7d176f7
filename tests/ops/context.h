/* The CPU's context that the tests of a file share, and what it says of a refused call. */
#ifndef TESTS_OPS_CONTEXT_H
#define TESTS_OPS_CONTEXT_H

#include "ops/outside.h"

static rung_context *context;

static inline int open_context(void **state) {
  (void)state;
  return rung_open(&context, &(rung_options){.device = "cpu", .threads = 3}) == RUNG_OK ? 0 : -1;
}

static inline int close_context(void **state) {
  (void)state;
  rung_close(context);
  return 0;
}

/* A call was refused with that status, and the sentence says `part`. */
static inline void expect_refusal(rung_status found, rung_status wanted, const char *part) {
  const char *sentence = rung_last_error(context);
  if (found != wanted || strstr(sentence, part) == NULL)
    fail_msg("status %d, \"%s\": not %d with \"%s\"", (int)found, sentence, (int)wanted, part);
}

#endif
