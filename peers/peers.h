/* Peers: what a user would take instead of a rung, in the same harness. A peer is a row like a
 * rung's, of an operation of the same name: verified, timed cold and interleaved like the rungs
 * beside it. It is nobody's to call by name, and `auto` never takes it.
 *
 * Each file under peers/<library>/ holds the entries of one operation. A library's peer is there
 * where it was found when the command was built (RUNG_PEERS). Those under peers/blas/ and
 * peers/filters/ are loaded, and those under peers/programs/, programs that read files, looked for
 * in PATH when the command runs.
 */
#ifndef RUNG_PEERS_PEERS_H
#define RUNG_PEERS_PEERS_H

#include "core/ladder.h"
#include "lab/case.h"

/* The peers of an operation; an operation of no rows where there are none. Programs are looked for
 * where the device is one of theirs: asking each for its version takes seconds. */
const rung_operation *rung_peers_of(const rung_operation *operation, const rung_device *device);

/* Writes what peers that are programs will read of the case, into a temporary folder that
 * rung_peers_end() removes, or a signal that ends this process. One case at a time, on one thread.
 * RUNG_FILE_FAILED with a sentence, nothing left. */
rung_status rung_peers_begin(const rung_case *test_case, const rung_device *device,
                             rung_error *error);
void rung_peers_end(void);

#endif
