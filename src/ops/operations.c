/* The operations of the library, in the order they are shown. */
#include "ops/operations.h"

#include "core/ladder.h"
#include "ops/correlate/correlate.h"
#include "ops/histogram/histogram.h"
#include "ops/matmul/matmul.h"
#include "ops/pairs/pairs.h"
#include "ops/reduce/reduce.h"
#include "ops/scan/scan.h"
#include "ops/stencil/stencil.h"

#define ROW(name) &name##_operation,
const rung_operation *const rung_operations[] = {RUNG_EVERY_OPERATION(ROW) NULL};
_Static_assert(sizeof rung_operations / sizeof *rung_operations == RUNG_OPERATIONS + 1,
               "an operation has no ladder");
