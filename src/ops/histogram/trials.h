/* What the two files of histogram's trials share: how jobs are made, and how results are judged. */
#ifndef RUNG_HISTOGRAM_TRIALS_H
#define RUNG_HISTOGRAM_TRIALS_H

#include "ops/histogram/histogram.h"

/* Of many rows those from here on are copies: row j is row j % HISTOGRAM_BASE. */
enum { HISTOGRAM_BASE = 61 };

rung_status histogram_expect(rung_trial *trial, rung_error *error);
void histogram_judge(const rung_trial *trial, rung_order order, const rung_view *outputs,
                     rung_judgement *judgement);
void histogram_forget(rung_trial *trial); /* frees what histogram_expect() made */

#endif
