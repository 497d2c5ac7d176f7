/* The floating-point mode that the library computes in, on every thread, whatever the program
 * around it has chosen: to nearest, subnormal numbers kept, no traps. */
#ifndef RUNG_CORE_FLOAT_MODE_H
#define RUNG_CORE_FLOAT_MODE_H

#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <fenv.h>
#endif

/* A thread's mode, with the exceptions that it has seen so far. */
typedef struct rung_float_mode {
#if defined(__x86_64__)
  uint32_t mxcsr;
  uint32_t x87[7]; /* an environment, kept where it is not the library's own; else x87[0] is 0 */
#elif defined(__aarch64__)
  uint64_t fpcr, fpsr;
#else
  fenv_t environment;
#endif
} rung_float_mode;

#ifdef __cplusplus
extern "C" {
#endif

/* From enter() on the calling thread computes in the library's mode; leave() gives it back its own,
 * and nothing that was computed between shows in its exceptions. Functions and not macros, so that
 * no arithmetic is moved across them. */
void rung_float_mode_enter(rung_float_mode *callers);
void rung_float_mode_leave(const rung_float_mode *callers);

#ifdef __cplusplus
}
#endif
#endif
