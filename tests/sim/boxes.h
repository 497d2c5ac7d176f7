/* A copy by boxes (backend/cuda/boxes.cuh) as the tests of the simulated GPU have it launched. */
#ifndef TESTS_SIM_BOXES_H
#define TESTS_SIM_BOXES_H

#include "core/dimensions.h"
#include "gpu_entries.h"

/* Where element 0 is in each stretch, in elements, and what lies how. */
typedef struct boxes_job {
  rung_dimensions dimensions;
  int64_t bytes, in_first, out_first;
  int64_t processors; /* of a device, for boxes_plan */
} boxes_job;

#ifdef __cplusplus
extern "C" {
#endif
RUNG_GPU_DECLARE(boxes_copy);

/* Fails unless the boxes of a job have all elements, at offsets of 32 bits, and no more shared
 * memory than there is. Launches nothing. */
RUNG_GPU_DECLARE(boxes_plan);
#ifdef __cplusplus
}
#endif

#endif
