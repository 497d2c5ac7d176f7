#include "core/float_mode.h"

#if defined(__x86_64__)

/* MXCSR: the lowest six bits are the exceptions seen, the others the mode. Of x87, which long
 * double is computed by, the control word alone is the mode. */
enum { SEEN = 0x3f, MXCSR = 0x1f80, CONTROL = 0x37f };

static uint32_t mxcsr(void) {
  return __builtin_ia32_stmxcsr();
}

static uint16_t x87_control(void) {
  uint16_t word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  return word;
}

static uint16_t x87_status(void) {
  uint16_t word;
  __asm__ volatile("fnstsw %0" : "=a"(word));
  return word;
}

void rung_float_mode_enter(rung_float_mode *callers) {
  const uint16_t control = CONTROL;
  callers->mxcsr = mxcsr();
  callers->x87[0] = 0;
  if ((callers->mxcsr & ~(uint32_t)SEEN) != MXCSR) __builtin_ia32_ldmxcsr(MXCSR);
  if (x87_control() == CONTROL && (x87_status() & SEEN) == 0) return;
  __asm__ volatile("fnstenv %0\n\tfnclex\n\tfldcw %1" : "=m"(callers->x87) : "m"(control));
}

void rung_float_mode_leave(const rung_float_mode *callers) {
  if (mxcsr() != callers->mxcsr) __builtin_ia32_ldmxcsr(callers->mxcsr);
  if (callers->x87[0] != 0)
    __asm__ volatile("fldenv %0" : : "m"(callers->x87));
  else if ((x87_status() & SEEN) != 0)
    __asm__ volatile("fnclex");
}

#elif defined(__aarch64__)

static void set_mode(uint64_t fpcr) {
  __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
}

void rung_float_mode_enter(rung_float_mode *callers) {
  __asm__ volatile("mrs %0, fpcr" : "=r"(callers->fpcr));
  __asm__ volatile("mrs %0, fpsr" : "=r"(callers->fpsr));
  if (callers->fpcr != 0) set_mode(0);
}

void rung_float_mode_leave(const rung_float_mode *callers) {
  if (callers->fpcr != 0) set_mode(callers->fpcr);
  __asm__ volatile("msr fpsr, %0" : : "r"(callers->fpsr));
}

#else

void rung_float_mode_enter(rung_float_mode *callers) {
  fegetenv(&callers->environment);
  fesetenv(FE_DFL_ENV);
}

void rung_float_mode_leave(const rung_float_mode *callers) {
  fesetenv(&callers->environment);
}

#endif
