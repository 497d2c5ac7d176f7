/* What TBB's peers share. */
#ifndef RUNG_PEERS_TBB_TBB_H
#define RUNG_PEERS_TBB_TBB_H

#include <tbb/global_control.h>

#include <exception>

#include "core/error.h"
#include "peers/versions.h"

/* Runs `work` on as many threads as the device has; what it throws becomes a status. */
template <typename Work>
static rung_status peer_with_threads(const rung_task *task, Work work) {
  try {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    (size_t)task->device->threads);
    work();
    return RUNG_OK;
  } catch (const std::exception &error) {
    return rung_fail(task->error, RUNG_OUT_OF_MEMORY, "TBB: %s", error.what());
  }
}

#endif
