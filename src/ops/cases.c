/* How every operation is checked and timed, in the order of operations.c. Linked by the laboratory,
 * not by the library. */
#include <string.h>

#include "ops/correlate/lab/cases.h"
#include "ops/histogram/lab/cases.h"
#include "ops/matmul/lab/cases.h"
#include "ops/operations.h"
#include "ops/pairs/lab/cases.h"
#include "ops/reduce/lab/cases.h"
#include "ops/scan/lab/cases.h"
#include "ops/stencil/lab/cases.h"

#define ROW(name) &name##_cases,
const rung_cases *const rung_all_cases[] = {RUNG_EVERY_OPERATION(ROW) NULL};
_Static_assert(sizeof rung_all_cases / sizeof *rung_all_cases == RUNG_OPERATIONS + 1,
               "an operation has no cases");

const rung_cases *rung_cases_of(const rung_operation *operation) {
  for (const rung_cases *const *at = rung_all_cases; *at != NULL; at++)
    if (strcmp((*at)->operation, operation->name) == 0) return *at;
  return NULL;
}

const char *rung_cases_line(const rung_cases *cases, int index, bool *heavy) {
  const char *const *at = cases->verify;
  while (index > 0 && *at) at++, index--;
  if (heavy) *heavy = *at == NULL;
  if (*at || !cases->heavy) return *at;
  at = cases->heavy;
  while (index > 0 && *at) at++, index--;
  return *at;
}
