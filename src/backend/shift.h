/* 16 bytes that begin anywhere, from the two multiples of 16 bytes that they lie in: a part of
 * backend/gpu.h, which kernels include. */
#ifndef RUNG_BACKEND_SHIFT_H
#define RUNG_BACKEND_SHIFT_H

/* 16 of 32 bytes, from byte `by` on, less than 16; `first`: that is one of the first word's. */
static __device__ __forceinline__ uint4 rung_shift_bytes(uint4 low, uint4 high, int by,
                                                         bool first) {
  unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}, to[4];
  if (!first) {
#pragma unroll
    for (int step = 2; step > 0; step--)
#pragma unroll
      for (int w = 0; w + step < 8; w++)
        if (by & 4 * step) words[w] = words[w + step];
  }
#pragma unroll
  for (int w = 0; w < 4; w++) to[w] = __funnelshift_r(words[w], words[w + 1], 8 * by);
  return make_uint4(to[0], to[1], to[2], to[3]);
}

#endif
