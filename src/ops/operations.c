/* The operations of the library, in the order they are shown. */
#include "core/ladder.h"
#include "ops/histogram/histogram.h"
#include "ops/pairs/pairs.h"
#include "ops/reduce/reduce.h"
#include "ops/scan/scan.h"
#include "ops/stencil/stencil.h"

const rung_operation *const rung_operations[] = {
    &stencil_operation,   &reduce_operation, &scan_operation,
    &histogram_operation, &pairs_operation,  NULL,
};
