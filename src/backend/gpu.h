/* What a kernel file (.cu) may know of the machine: included by every rung under a cuda/ folder,
 * and the only header of its kind they include. nvcc takes it for the GPU, g++ for the simulator:
 * the same names stand for both. */
#ifndef RUNG_BACKEND_GPU_H
#define RUNG_BACKEND_GPU_H

#ifdef __CUDACC__
#include "backend/cuda/surface.h"
#define RUNG_ENTRY(name) name##_cuda
#define RUNG_ASIDE inline
#else
#include "backend/sim/surface.h"
#define RUNG_ENTRY(name) name##_sim
#define RUNG_ASIDE __attribute__((noinline))
#endif

#include "backend/last.h"
#include "backend/shift.h"
#include "backend/texture.h"
#include "backend/whole.h"

/* RUNG_ASIDE: of a function that is inlined on a GPU; on the simulator, whose code is large, it is
 * there once.
 *
 * Provided by the surface:
 *
 * RUNG_LAUNCH(task, kernel, grid, block, shared_bytes, arguments...)
 *     queues a kernel on the task's stream and returns from the calling function with the error,
 *     named, if the launch was refused.
 * RUNG_LAUNCH_NEXT(task, kernel, grid, block, shared_bytes, arguments...)
 *     the same of a kernel whose blocks may begin, from capability 9.0 on, before the launch queued
 *     before has ended: it calls rung_await_before() before it touches what another kernel writes,
 *     and before it writes anything. The simulator, where it examines, tells of one that does not.
 * rung_let_next_begin(), rung_await_before()
 *     inside a kernel, in any launch, by all threads: once all its blocks have said so, or ended,
 *     those of a RUNG_LAUNCH_NEXT behind it begin where there is room; waits until all that was
 *     launched before has ended, and sees what that wrote. rung_take_turn() is both.
 * RUNG_DYNAMIC_SHARED(type, name)
 *     declares, inside a kernel, the dynamic shared memory of the block as an array.
 * RUNG_ALLOW_SHARED(task, kernel, bytes)
 *     lets a kernel ask for more than 48 KiB of dynamic shared memory; returns on error.
 * RUNG_RESIDENT_BLOCKS(task, kernel, threads, shared_bytes, &blocks)
 *     how many blocks of a kernel a multiprocessor holds at once; returns on error.
 * rung_copy_async(shared, global), rung_copy_async_commit(), rung_copy_async_wait<N>()
 *     inside a kernel: one element of 4, 8 or 16 bytes from global into shared memory without
 *     waiting for it; the wait is for all that was committed but the last N (0) times.
 * rung_copy_async_shared(shared, global)
 *     the same of 16 bytes that other warps of the multiprocessor want parts of, by way of its
 *     cache.
 * rung_sides_meet<THREADS, SIDE>()
 *     __syncthreads() of a block of so many threads that has two sides, 0 and 1, whole warps each,
 *     in loops of their own: some load, others work.
 * rung_keep_order()
 *     the compiler moves no access to memory over this place.
 * rung_fetch_ahead(global, bytes)
 *     by one thread: so many bytes, both multiples of 16, will soon be wanted from global memory.
 * RUNG_COPY_ON_DEVICE(task, to, from, bytes), RUNG_FILL_ON_DEVICE(task, to, byte, bytes)
 *     queue a copy within the device's memory, and its filling with a byte; return on error.
 * RUNG_COPY_TO_HOST(task, to, from, bytes), RUNG_COPY_TO_DEVICE(task, to, from, bytes)
 *     queue copies between the device's memory and the task's host_scratch; return on error.
 * RUNG_CALL_ON_HOST(task, function, argument)
 *     queues a call of a function of the host, void (*)(void *), which may not touch the device;
 *     returns on error.
 * RUNG_COPY_TO_CONSTANT(task, symbol, from, bytes)
 *     queues a copy of host memory into a __constant__ array; returns on error. Kernels read only
 *     what was copied there.
 * RUNG_TEXTURE(task, shown, &object)
 *     the cudaTextureObject_t that shows what a rung_texture says (backend/texture.h), for
 *     tex2D<T>() of rows and tex1Dfetch<T>() of a line; returns on error. It is the opened
 * device's, which keeps it, and gives it again to whoever asks for the same: nothing is waited for.
 * rung_load_acquire(address), rung_store_release(address, value)
 *     flags of 4 or 8 bytes between blocks; who waits for one looks again and again.
 * rung_load_relaxed(address), rung_store_relaxed(address, value)
 *     the same for words of 8 bytes that say all themselves: nothing else is ordered by them.
 * rung_load_once(address)
 *     4, 8 or 16 bytes of global memory that nobody reads again: caches are to let them go first.
 * rung_count_in(address, most)
 *     counts an unsigned up, from `most` on to zero, and returns what it was: who counts after sees
 *     what was stored before.
 * rung_is_last(counter, parts)
 *     by all threads of a block: whether it is the last of so many to come (backend/last.h).
 * rung_root(x)
 *     sqrt(x) in float, within 2^-23 of itself; 0, perhaps, where x is subnormal.
 * rung_inverse_root(x)
 *     1 / sqrt(x) in float, within 2^-22 of itself; infinite, perhaps, where x is subnormal.
 * rung_block_number()
 *     blockIdx.x, asked anew: what is computed from it need not be kept in registers meanwhile.
 * rung_mma_f64(t, a, b)
 *     by all lanes of a warp, from capability 9.0 on: t += a b, of 16 rows, 8 columns and 16 steps
 *     of k, or 4, each element one chain of fused multiply-adds over rising k. Lane 4 g + q has
 *     a[i]: row g + i % 2 * 8, step i / 2 * 4 + q; b[i]: step i * 4 + q, column g;
 *     t[i]: row g + i / 2 * 8, column 2 q + i % 2.
 * rung_mma_s8(t, a0, a1, a2, a3, b0, b1)
 *     by all lanes of a warp: t += a b, of 16 rows, 8 columns and 32 bytes of k, in 32 bits. Words
 *     are four steps of k, the first in the lowest byte. Lane 4 g + q has of a0 and a1 rows g and
 *     g + 8 of steps 4 q to 4 q + 3, of a2 and a3 these rows 16 steps on; of b0 and b1 column g of
 *     the same steps; t[i]: row g + i / 2 * 8, column 2 q + i % 2.
 * rung_mma_s8u8(t, a0, a1, a2, a3, b0, b1)
 *     the same, b's bytes unsigned.
 * rung_pack_u8(a, b, c, d)
 *     four integers as bytes of a word, the first in the lowest, saturated to 0 ... 255.
 * rung_shift_bytes(low, high, by, first)
 *     16 of 32 bytes, from byte `by` on (backend/shift.h).
 * rung_store_whole(to, value)
 *     a value of 4, 8 or a multiple of 16 bytes, in words of up to 16 (backend/whole.h).
 * rung_keep(x), rung_keep_global(x), rung_keep_shared(x)
 *     x, an integer, or an address in global or in shared memory, stays in a register from here on:
 *     the compiler may not work it out again where it is used.
 * rung_global_timer(), rung_processor()
 *     nanoseconds on the device's clock; the multiprocessor a thread runs on.
 * and the CUDA C names themselves: __global__, __device__, __shared__, threadIdx, __syncthreads,
 * __shfl_up_sync, fmaf, float4 and so on. */

#endif
