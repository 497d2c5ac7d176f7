/* Columns about the end of a row that goes on at its beginning, where columns are fixed there: a
 * window of them has its fixed columns in its middle, which no rung knows. They are few. */
#include <assert.h>
#include <math.h>

#include "ops/stencil/call.h"

/* What is asked for, and what it needs at both ends. */
enum { MOST = 3 * STENCIL_HALO };

#define CONE(type, fused)                                                                       \
  static void cone_##type(const stencil_problem *p, int64_t steps, const type *window,          \
                          int64_t origin, int64_t first, int64_t end, type *to) {               \
    type memory[2][MOST], weights[STENCIL_TAPS] = {0};                                          \
    const int64_t halo = p->radius * steps, m = p->columns, begin = first - halo;               \
    const int taps = 2 * p->radius + 1;                                                         \
    assert(end - begin + halo <= MOST);                                                         \
    for (int k = 0; k < taps; k++) weights[k] = (type)p->scaled[k];                             \
    for (int64_t i = 0; i < end - begin + halo; i++) memory[0][i] = window[begin - origin + i]; \
    for (int64_t s = 1; s <= steps; s++) {                                                      \
      const type *old = memory[(s - 1) % 2];                                                    \
      type *now = memory[s % 2];                                                                \
      for (int64_t i = p->radius * s; i < end - begin + halo - p->radius * s; i++) {            \
        const type *tap = old + i - p->radius;                                                  \
        type t = weights[taps - 1] * tap[taps - 1];                                             \
        for (int k = taps - 2; k >= 0; k--) t = fused(weights[k], tap[k], t);                   \
        now[i] = (begin + i + m) % m < p->fixed ? old[i] : t;                                   \
      }                                                                                         \
    }                                                                                           \
    for (int64_t i = 0; i < end - first; i++) to[i] = memory[steps % 2][halo + i];              \
  }
CONE(float, fmaf)
CONE(double, fma)
#undef CONE

void stencil_cone(const stencil_problem *p, int64_t steps, const void *window, int64_t origin,
                  int64_t first, int64_t end, void *to) {
  if (p->dtype == RUNG_F32)
    cone_float(p, steps, window, origin, first, end, to);
  else
    cone_double(p, steps, window, origin, first, end, to);
}
