/* Rungs of the CPU are compiled once per instruction set: RUNG_ENTRY(stencil_sweep) is
 * stencil_sweep_avx512 in the object built with -mavx512f and so on. The build defines
 * RUNG_ISA_NAME (baseline, avx2, avx512) for every file under a cpu/ folder of an operation. */
#ifndef RUNG_BACKEND_CPU_ISA_H
#define RUNG_BACKEND_CPU_ISA_H

#define RUNG_PASTE_(a, b) a##_##b
#define RUNG_PASTE(a, b) RUNG_PASTE_(a, b)
#define RUNG_ENTRY(name) RUNG_PASTE(name, RUNG_ISA_NAME)

#endif
