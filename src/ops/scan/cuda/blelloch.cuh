/* Blelloch's scan of a block, two elements a thread: up the tree to the total, which becomes
 * nothing, and down again. 2 n additions, in twice as many steps. */
#ifndef RUNG_SCAN_CUDA_BLELLOCH_CUH
#define RUNG_SCAN_CUDA_BLELLOCH_CUH

#include "ops/scan/cuda/steps.cuh"

/* Where number i lies in shared memory. Strides of the tree are powers of two, which meet in the
 * same banks; with an empty place after every 128 bytes they do not. */
template <typename V, bool Padded>
__device__ __forceinline__ unsigned scan_place(unsigned i) {
  return Padded ? i + i / (unsigned)(128 / sizeof(V)) : i;
}

template <typename S, bool Padded>
__device__ __forceinline__ void scan_blelloch_part(const scan_level<S> &level, int64_t job,
                                                   typename S::value *tree) {
  typedef typename S::value value;
  const unsigned thread = threadIdx.x, half = blockDim.x, all = 2 * half;
  const scan_part<S> part = scan_part_of(level, job);
  const value x[2] = {scan_element(level, part, thread), scan_element(level, part, thread + half)};
  const unsigned at[2] = {scan_place<value, Padded>(thread),
                          scan_place<value, Padded>(thread + half)};
  const unsigned root = scan_place<value, Padded>(all - 1);
  tree[at[0]] = x[0];
  tree[at[1]] = x[1];
  for (unsigned s = 1; s < all; s *= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (thread + 1) - 1;
    if (right >= all) continue;
    value *to = &tree[scan_place<value, Padded>(right)];
    *to = S::combine(tree[scan_place<value, Padded>(right - s)], *to);
  }
  __syncthreads();
  if (thread == 0) {
    if (level.parts > 1) level.totals[job] = tree[root];
    tree[root] = S::identity();
  }
  for (unsigned s = half; s > 0; s /= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (thread + 1) - 1;
    if (right >= all) continue;
    value *a = &tree[scan_place<value, Padded>(right - s)];
    value *b = &tree[scan_place<value, Padded>(right)];
    const value left = *a, both = *b;
    *a = both;
    *b = S::combine(both, left);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 2; ++k)
    scan_put(level, part, thread + k * half, tree[at[k]], S::combine(tree[at[k]], x[k]));
  __syncthreads();
}

#endif
