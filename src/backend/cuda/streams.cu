/* The stream that a state works on: its own or the one it was opened with, its home, and between
 * enter() and leave() a caller's.
 *
 * What is queued on one of them comes behind all that was queued on the one before, by an event. A
 * caller's stream may be gone after the call, so the event is recorded as the call ends; it is
 * waited for only by another stream. Calls that name the same stream again and again are in order
 * as they are. */
#include "backend/cuda/state.h"

static rung_status check_stream(const rung_state *state, cudaStream_t stream, rung_error *error) {
  int owner = -1;
  RUNG_CUDA_CHECK(error, cudaStreamGetDevice(stream, &owner),
                  "asking the given stream for its device");
  if (owner == state->device) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "stream belongs to CUDA device %d; expected: a stream of device %d", owner,
                   state->device);
}

rung_status rung_cuda_take_stream(rung_state *state, void *stream, rung_error *error) {
  if (!stream) {
    RUNG_CUDA_CHECK(error, cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking),
                    "making a stream");
    state->own_stream = true;
    return RUNG_OK;
  }
  RUNG_CHECK(check_stream(state, (cudaStream_t)stream, error));
  state->stream = (cudaStream_t)stream;
  return RUNG_OK;
}

void rung_cuda_streams_end(rung_state *state) {
  if (state->turn) {
    (void)cudaEventSynchronize(state->turn);
    (void)cudaEventDestroy(state->turn);
  }
  if (state->own_stream) (void)cudaStreamDestroy(state->stream);
}

/* A stream's number, which no other has, also none made later at the same address; 0: unknown. */
static unsigned long long number_of(cudaStream_t stream) {
#if CUDART_VERSION >= 12000
  unsigned long long number = 0;
  if (cudaStreamGetId(stream, &number) == cudaSuccess) return number + 1;
  (void)cudaGetLastError();
#else
  (void)stream;
#endif
  return 0;
}

static rung_status mark_turn(rung_state *state, cudaStream_t stream, rung_error *error) {
  RUNG_CUDA_CHECK(error, cudaEventRecord(state->turn, stream), "marking the work on a stream");
  return RUNG_OK;
}

static rung_status wait_for_turn(rung_state *state, cudaStream_t stream, rung_error *error) {
  RUNG_CUDA_CHECK(error, cudaStreamWaitEvent(stream, state->turn, 0),
                  "ordering one stream behind another");
  state->visited = RUNG_CUDA_HOME;
  return RUNG_OK;
}

/* Behind what the state has queued, on a stream of its device. */
static rung_status join_stream(rung_state *state, cudaStream_t stream, rung_error *error) {
  RUNG_CHECK(check_stream(state, stream, error));
  if (!state->turn)
    RUNG_CUDA_CHECK(error, cudaEventCreateWithFlags(&state->turn, cudaEventDisableTiming),
                    "making an event");
  if (state->visited == RUNG_CUDA_HOME) RUNG_CHECK(mark_turn(state, state->stream, error));
  return wait_for_turn(state, stream, error);
}

/* A stream under capture cannot wait for what is outside: it comes home later. */
rung_status rung_cuda_come_home(rung_state *state, rung_error *error) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(state->stream, &capture) != cudaSuccess) {
    (void)cudaGetLastError(); /* the legacy stream, while another one is under capture */
    return RUNG_OK;
  }
  return capture != cudaStreamCaptureStatusNone ? RUNG_OK
                                                : wait_for_turn(state, state->stream, error);
}

rung_status rung_cuda_enter_stream(rung_state *state, void *given, rung_error *error) {
  if (given == RUNG_OWN_STREAM)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "stream is RUNG_OWN_STREAM, which is for rung_options; expected: NULL, or a "
                     "stream of the caller's");
  cudaStream_t stream = (cudaStream_t)given;
  if (stream == state->stream) return rung_cuda_enter(state, error);
  RUNG_CHECK(rung_cuda_make_current(state, error));
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  RUNG_CUDA_CHECK(error, cudaStreamIsCapturing(stream, &capture),
                  "asking whether the given stream is under capture");
  /* Of a stream under capture nothing else may be asked, and nothing outside be waited for. */
  const bool in_graph = capture != cudaStreamCaptureStatusNone;
  if (!in_graph) {
    state->number = number_of(stream);
    if (state->number == 0 || state->number != state->visited)
      RUNG_CHECK(join_stream(state, stream, error));
  }
  state->home = state->stream;
  state->stream = stream;
  state->away = true;
  state->in_graph = in_graph;
  return RUNG_OK;
}

rung_status rung_cuda_leave_stream(rung_state *state, rung_error *error) {
  if (!state->away) return RUNG_OK;
  cudaStream_t stream = state->stream;
  state->stream = state->home;
  state->away = false;
  if (state->in_graph) return RUNG_OK;
  RUNG_CHECK(rung_cuda_make_current(state, error));
  RUNG_CHECK(mark_turn(state, stream, error));
  state->visited = state->number != 0 ? state->number : RUNG_CUDA_SOMEWHERE;
  return RUNG_OK;
}

bool rung_cuda_is_capturing(rung_state *state) {
  if (state->away) return state->in_graph;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (rung_cuda_enter(state, NULL) == RUNG_OK &&
      cudaStreamIsCapturing(state->stream, &capture) == cudaSuccess)
    return capture != cudaStreamCaptureStatusNone;
  (void)cudaGetLastError(); /* the legacy stream, while another one is under capture */
  return false;
}
