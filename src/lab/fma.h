/* References say fma() and fmaf(), which are calls where a processor need not have the instruction.
 * A function marked so is compiled for those that have it, too, and takes a fifth of the time
 * there; which of the two it is, the loader decides. The results are the same. */
#ifndef RUNG_LAB_FMA_H
#define RUNG_LAB_FMA_H

#include <features.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define LAB_WITH_FMA __attribute__((target_clones("fma", "default")))
#else
#define LAB_WITH_FMA
#endif

#endif
