/* What the two files of scan's trials share: how jobs are made, and how results are judged. */
#ifndef RUNG_SCAN_TRIALS_H
#define RUNG_SCAN_TRIALS_H

#include "ops/scan/scan.h"

/* Of many lines those from here on are copies: line j is line j % SCAN_BASE, so that every result
 * can be checked at the cost of so many. */
enum { SCAN_BASE = 61 };

rung_status scan_expect(rung_trial *trial, rung_error *error);
void scan_judge(const rung_trial *trial, rung_order order, const rung_view *outputs,
                rung_judgement *judgement);
void scan_forget(rung_trial *trial); /* frees what scan_expect() made */

#endif
