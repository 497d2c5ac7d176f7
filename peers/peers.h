/* Peers: what a user would take instead of a rung, in the same harness. A peer is a row like a
 * rung's, of an operation of the same name: verified, timed cold and interleaved like the rungs
 * beside it. It is nobody's to call by name, and `auto` never takes it.
 *
 * Each file under peers/<library>/ holds the entries of one operation. A peer is there where its
 * library was found when the command was built (RUNG_PEERS). */
#ifndef RUNG_PEERS_PEERS_H
#define RUNG_PEERS_PEERS_H

#include "core/ladder.h"

/* The peers of an operation; an operation of no rows where there are none. */
const rung_operation *rung_peers_of(const rung_operation *operation);

#endif
