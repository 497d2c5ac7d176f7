/* What kernels of instructions that capability 9.0 alone has may know besides gpu.h. They are
 * compiled for 9.0a, by nvcc, and not for the simulator. */
#ifndef RUNG_BACKEND_HOPPER_H
#define RUNG_BACKEND_HOPPER_H

#include "backend/gpu.h"

#include "backend/cuda/hopper.h"

#endif
