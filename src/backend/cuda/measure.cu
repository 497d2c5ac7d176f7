/* Measuring: marks on the stream, the hold, the multiprocessor clock, the cache flush. */
#include "backend/cuda/state.h"

#define HOLD_NANOSECONDS 2000000000ll
#define CLOCK_NANOSECONDS 100000ll    /* the least between two stamps of one sample */
#define CLOCK_OWN_NANOSECONDS 50000ll /* between two stamps taken by the end kernel alone */

static __device__ long long now() {
  long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

/* A stamp at a tick of the device's clock, which on some GPUs comes only once a microsecond. */
static __device__ rung_cuda_stamp stamp() {
  rung_cuda_stamp taken;
  long long before = now();
  do taken.nanoseconds = now();
  while (taken.nanoseconds == before);
  taken.cycles = clock64();
  asm volatile("mov.u32 %0, %%smid;" : "=r"(taken.processor));
  return taken;
}

static __device__ void wait_until(long long nanoseconds) {
  while (now() < nanoseconds) continue;
}

/* Spins until the host releases this ticket. Tickets rise and are compared by difference, so one
 * page serves any number of holds, and a late look at an older one still ends. */
static __global__ void hold_stream(rung_cuda_page *page, unsigned ticket) {
  const volatile unsigned *released = &page->released;
  long long start = now();
  while ((int)(*released - ticket) < 0) {
    if (now() - start > HOLD_NANOSECONDS) {
      *(volatile unsigned *)&page->gave_up = ticket;
      break;
    }
    __nanosleep(200);
  }
  __threadfence_system();
}

static __global__ void stamp_begin(rung_cuda_board *board) {
  board->stamps[0] = stamp();
}

/* Cycle counters of two multiprocessors cannot be compared: where the block landed on another one
 * than stamp_begin's, it takes both stamps itself. */
static __global__ void stamp_end(rung_cuda_board *board) {
  rung_cuda_stamp begin = board->stamps[0];
  wait_until(begin.nanoseconds + CLOCK_NANOSECONDS);
  rung_cuda_stamp end = stamp();
  if (end.processor != begin.processor) {
    begin = end;
    wait_until(begin.nanoseconds + CLOCK_OWN_NANOSECONDS);
    end = stamp();
    board->stamps[0] = begin;
  }
  board->stamps[1] = end;
}

static rung_status make_events(rung_state *state, rung_error *error) {
  for (int slot = 0; slot < 2; slot++)
    if (!state->marks[slot])
      RUNG_CUDA_CHECK(error, cudaEventCreateWithFlags(&state->marks[slot], cudaEventDefault),
                      "making an event");
  return RUNG_OK;
}

static rung_status make_page(rung_state *state, rung_error *error) {
  if (state->page) return RUNG_OK;
  void *page = NULL, *seen = NULL;
  RUNG_CUDA_CHECK(error, cudaHostAlloc(&page, sizeof *state->page, cudaHostAllocMapped),
                  "allocating a page of pinned host memory");
  cudaError_t code = cudaHostGetDevicePointer(&seen, page, 0);
  if (code != cudaSuccess) {
    (void)cudaFreeHost(page);
    return rung_cuda_failed(error, code, "mapping pinned host memory");
  }
  state->page = (rung_cuda_page *)page;
  state->page_on_device = (rung_cuda_page *)seen;
  *state->page = rung_cuda_page();
  return RUNG_OK;
}

/* Runs every measuring kernel once and loads the kernels of copies: CUDA loads a kernel at its
 * first launch and may wait for the device to do so, which behind a held stream would be for
 * ever. */
static rung_status load(rung_state *state, rung_error *error) {
  cudaStream_t stream = state->stream;
  RUNG_CUDA_CHECK(error, cudaMemsetAsync(state->board, 0, sizeof *state->board, stream),
                  "clearing the measuring kernels' memory");
  hold_stream<<<1, 1, 0, stream>>>(state->page_on_device, state->page->released);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel hold_stream");
  stamp_begin<<<1, 1, 0, stream>>>(state->board);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel stamp_begin");
  stamp_end<<<1, 1, 0, stream>>>(state->board);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel stamp_end");
  RUNG_CHECK(rung_cuda_read_tiles(state, NULL, 0, 1, 1, error));
  RUNG_CHECK(rung_cuda_pack_load(error));
  RUNG_CUDA_CHECK(error, cudaStreamSynchronize(stream), "loading the measuring kernels");
  return RUNG_OK;
}

rung_status rung_cuda_measuring(rung_state *state, rung_error *error) {
  RUNG_CHECK(rung_cuda_enter(state, error));
  if (state->measuring) return RUNG_OK;
  RUNG_CHECK(make_events(state, error));
  RUNG_CHECK(make_page(state, error));
  if (!state->board) {
    void *board = NULL;
    RUNG_CHECK(rung_cuda_allocate(state, sizeof *state->board, &board, error));
    state->board = (rung_cuda_board *)board;
  }
  RUNG_CHECK(load(state, error));
  state->measuring = true;
  return RUNG_OK;
}

void rung_cuda_measuring_end(rung_state *state) {
  for (int slot = 0; slot < 2; slot++)
    if (state->marks[slot]) (void)cudaEventDestroy(state->marks[slot]);
  if (state->page) (void)cudaFreeHost(state->page);
  rung_cuda_release(state, state->board);
  rung_cuda_release(state, state->flush_buffer);
}

rung_status rung_cuda_held_too_long(rung_state *state, rung_error *error) {
  if (!state->page) return RUNG_OK;
  unsigned ticket = __atomic_exchange_n(&state->page->gave_up, 0u, __ATOMIC_ACQ_REL);
  if (ticket == 0) return RUNG_OK;
  return rung_fail(error, RUNG_DEVICE_FAILED,
                   "the stream's hold was not released within 2 s and ended by itself: what was "
                   "timed behind it does not count");
}

rung_status rung_cuda_flush(rung_state *state, rung_error *error) {
  RUNG_CHECK(rung_cuda_measuring(state, error));
  int64_t tiles = (2 * state->cache_bytes + SWEEP_TILE - 1) / SWEEP_TILE + 1;
  if (!state->flush_buffer) {
    size_t bytes = (size_t)tiles * SWEEP_TILE;
    void *buffer = NULL;
    RUNG_CHECK(rung_cuda_allocate(state, bytes, &buffer, error));
    rung_status status = rung_cuda_fill(state, buffer, 0x5A, bytes, error);
    if (status != RUNG_OK) {
      rung_cuda_release(state, buffer);
      return status;
    }
    state->flush_buffer = buffer;
  }
  return rung_cuda_read_tiles(state, state->flush_buffer, tiles, 1, state->processors * 4, error);
}

static rung_status check_slot(int slot, rung_error *error) {
  if (slot == 0 || slot == 1) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT, "slot is %d: 0 or 1 would be accepted", slot);
}

rung_status rung_cuda_mark(rung_state *state, int slot, rung_error *error) {
  RUNG_CHECK(check_slot(slot, error));
  RUNG_CHECK(rung_cuda_measuring(state, error));
  RUNG_CUDA_CHECK(error, cudaEventRecord(state->marks[slot], state->stream), "recording mark %d",
                  slot);
  state->marked[slot] = true;
  return RUNG_OK;
}

rung_status rung_cuda_elapsed(rung_state *state, double *milliseconds, rung_error *error) {
  *milliseconds = 0;
  if (!state->marked[0] || !state->marked[1])
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "elapsed time was asked for without mark %d: both marks must be set first",
                     state->marked[0] ? 1 : 0);
  RUNG_CHECK(rung_cuda_enter(state, error));
  RUNG_CUDA_CHECK(error, cudaEventSynchronize(state->marks[1]), "work queued before mark 1");
  RUNG_CHECK(rung_cuda_held_too_long(state, error));
  float between = 0;
  RUNG_CUDA_CHECK(error, cudaEventElapsedTime(&between, state->marks[0], state->marks[1]),
                  "reading the time between the marks");
  *milliseconds = between;
  return RUNG_OK;
}

rung_status rung_cuda_hold(rung_state *state, rung_error *error) {
  RUNG_CHECK(rung_cuda_measuring(state, error));
  unsigned ticket = state->ticket + 1;
  if (ticket == 0) ticket = 1; /* 0 in gave_up means none */
  hold_stream<<<1, 1, 0, state->stream>>>(state->page_on_device, ticket);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel hold_stream");
  state->ticket = ticket;
  return RUNG_OK;
}

rung_status rung_cuda_release_hold(rung_state *state, rung_error *error) {
  (void)error;
  if (state->page) __atomic_store_n(&state->page->released, state->ticket, __ATOMIC_RELEASE);
  return RUNG_OK;
}

rung_status rung_cuda_clock_begin(rung_state *state, rung_error *error) {
  RUNG_CHECK(rung_cuda_measuring(state, error));
  stamp_begin<<<1, 1, 0, state->stream>>>(state->board);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel stamp_begin");
  state->stamped[0] = true;
  state->stamped[1] = false;
  return RUNG_OK;
}

rung_status rung_cuda_clock_end(rung_state *state, rung_error *error) {
  if (!state->stamped[0])
    return rung_fail(error, RUNG_BAD_ARGUMENT, "clock_end without clock_begin before it");
  RUNG_CHECK(rung_cuda_enter(state, error));
  stamp_end<<<1, 1, 0, state->stream>>>(state->board);
  RUNG_CUDA_CHECK(error, cudaGetLastError(), "launching kernel stamp_end");
  state->stamped[1] = true;
  return RUNG_OK;
}

rung_status rung_cuda_clock_mhz(rung_state *state, double *mhz, rung_error *error) {
  *mhz = 0;
  if (!state->stamped[1])
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "the clock was asked for without clock_begin and clock_end before it");
  RUNG_CHECK(rung_cuda_enter(state, error));
  rung_cuda_stamp *stamps = state->page->stamps;
  RUNG_CHECK(rung_cuda_copy(state, stamps, state->board->stamps, sizeof state->page->stamps,
                            RUNG_TO_HOST, error));
  RUNG_CUDA_CHECK(error, cudaStreamSynchronize(state->stream), "work queued before clock_end");
  RUNG_CHECK(rung_cuda_held_too_long(state, error));
  long long cycles = stamps[1].cycles - stamps[0].cycles;
  long long nanoseconds = stamps[1].nanoseconds - stamps[0].nanoseconds;
  if (cycles <= 0 || nanoseconds <= 0)
    return rung_fail(error, RUNG_DEVICE_FAILED,
                     "the device's clocks ran backwards: %lld cycles in %lld ns", cycles,
                     nanoseconds);
  *mhz = (double)cycles / (double)nanoseconds * 1e3;
  return RUNG_OK;
}
