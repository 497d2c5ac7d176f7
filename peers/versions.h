/* Which libraries the build found, their versions as text, and their peers' entries. */
#ifndef RUNG_PEERS_VERSIONS_H
#define RUNG_PEERS_VERSIONS_H

#include "core/ladder.h"

#ifdef __cplusplus
extern "C" {
#endif

rung_launch peer_reduce_cub, peer_reduce_tbb;
rung_launch peer_scan_cub, peer_scan_tbb;
rung_launch peer_correlate_opencv, peer_correlate_opencv_separable;
rung_launch peer_histogram_cub, peer_histogram_cub_settle, peer_histogram_opencv;
/* `version` and how the library says it was built, with what instructions and threads. */
void peer_opencv_built(const char *version, char *text, size_t size);
size_t peer_reduce_cub_scratch(const rung_task *task);
size_t peer_scan_cub_scratch(const rung_task *task);
size_t peer_histogram_cub_scratch(const rung_task *task);

#ifdef __cplusplus
}
#endif
#endif
