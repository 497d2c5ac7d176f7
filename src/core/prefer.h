/* What `auto` tries first for jobs of a class, because it was found to be the fastest there. */
#ifndef RUNG_CORE_PREFER_H
#define RUNG_CORE_PREFER_H

#include "core/plan.h"

enum { RUNG_PREFERENCES = 256 }; /* of a context: each is looked at in every call */

struct rung_preference {
  const rung_operation *operation;
  const rung_row *row;
  int block;
  char job[RUNG_CLASS];
};

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the call leaves its rung to us and one is preferred: *instead is the call that asks for
 * it. */
bool rung_preferred(const rung_context *context, const rung_job *job, const rung_call *call,
                    rung_call *instead);

/* Numbers of a class: below 8 themselves, else the power of two not above: "2^20". */
const char *rung_power(int64_t number, char text[8]);

#ifdef __cplusplus
}
#endif
#endif
