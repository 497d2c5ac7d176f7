/* What the two files of reduce's trials share: how jobs are made, and how results are judged. */
#ifndef RUNG_REDUCE_TRIALS_H
#define RUNG_REDUCE_TRIALS_H

#include "ops/reduce/reduce.h"

/* Of many lines those from here on are copies: line j is line j % REDUCE_BASE, so that every result
 * can be checked at the cost of so many. */
enum { REDUCE_BASE = 61 };

rung_status reduce_expect(rung_trial *trial, rung_error *error);
void reduce_judge(const rung_trial *trial, rung_order order, const rung_view *outputs,
                  rung_judgement *judgement);
void reduce_forget(rung_trial *trial); /* frees what reduce_expect() made */

#endif
