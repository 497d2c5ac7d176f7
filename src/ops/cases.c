/* How every operation is checked and timed, in the order of operations.c. Linked by the laboratory,
 * not by the library. */
#include <string.h>

#include "ops/histogram/lab/cases.h"
#include "ops/pairs/lab/cases.h"
#include "ops/reduce/lab/cases.h"
#include "ops/scan/lab/cases.h"
#include "ops/stencil/lab/cases.h"

const rung_cases *const rung_all_cases[] = {
    &stencil_cases, &reduce_cases, &scan_cases, &histogram_cases, &pairs_cases, NULL,
};

const rung_cases *rung_cases_of(const rung_operation *operation) {
  for (const rung_cases *const *at = rung_all_cases; *at != NULL; at++)
    if (strcmp((*at)->operation, operation->name) == 0) return *at;
  return NULL;
}
