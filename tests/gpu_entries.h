/* The launches of tests' own GPU rungs, which are linked and not loaded: name_cuda and name_sim. */
#ifndef RUNG_TESTS_GPU_ENTRIES_H
#define RUNG_TESTS_GPU_ENTRIES_H

#include "core/ladder.h"

#ifdef RUNG_WITH_CUDA
#define RUNG_CUDA_ENTRY(name) name##_cuda
#else
#define RUNG_CUDA_ENTRY(name) NULL
#endif
#ifdef RUNG_WITH_SIM
#define RUNG_SIM_ENTRY(name) name##_sim
#else
#define RUNG_SIM_ENTRY(name) NULL
#endif
#define RUNG_GPU_ENTRIES(name) \
  { RUNG_CUDA_ENTRY(name), RUNG_SIM_ENTRY(name), NULL }
#define RUNG_GPU_DECLARE(name) rung_launch name##_cuda, name##_sim

#endif
