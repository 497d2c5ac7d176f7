/* What CUB's peers share: CUB asks for scratch by a call of the function itself without any, and
 * reports as CUDA does. */
#ifndef RUNG_PEERS_CUB_CUH
#define RUNG_PEERS_CUB_CUH

#include <cub/cub.cuh>

#include "core/error.h"
#include "peers/versions.h"

/* Peer::call(task, scratch, bytes): the library's function; with scratch NULL it only sets bytes.
 */
template <typename Peer>
static size_t peer_scratch(const rung_task *task) {
  size_t bytes = 0;
  return Peer::call(task, nullptr, bytes) == cudaSuccess ? bytes : 0;
}

static inline rung_status peer_status(const rung_task *task, const char *name, cudaError_t error) {
  if (error == cudaSuccess) return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "%s: %s", name, cudaGetErrorString(error));
}

template <typename Peer>
static rung_status peer_run(const rung_task *task, const char *name) {
  size_t bytes = peer_scratch<Peer>(task);
  return peer_status(task, name, Peer::call(task, task->scratch, bytes));
}

#endif
