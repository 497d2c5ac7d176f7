/* Entries that touch one element too many, and the lines where they do. */
#ifndef TESTS_SIM_STRAYS_H
#define TESTS_SIM_STRAYS_H

#include "gpu_entries.h"

#ifdef __cplusplus
extern "C" {
#endif

RUNG_GPU_DECLARE(stray_global);
RUNG_GPU_DECLARE(stray_dynamic);
RUNG_GPU_DECLARE(stray_static);
RUNG_GPU_DECLARE(stray_local);

extern const int stray_global_line_sim, stray_global_line_cuda;
extern const int stray_dynamic_line_sim, stray_dynamic_line_cuda;
extern const int stray_static_line_sim, stray_static_line_cuda;
extern const int stray_local_line_sim, stray_local_line_cuda;

#ifdef __cplusplus
}
#endif
#endif
