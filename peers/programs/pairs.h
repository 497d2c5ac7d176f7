/* Peers of pairs: programs that read points from a file and print a table. */
#ifndef RUNG_PEERS_PAIRS_H
#define RUNG_PEERS_PAIRS_H

#include "core/ladder.h"
#include "lab/case.h"

enum { PEER_PAIRS = 3 };
extern rung_row peer_pairs_rows[PEER_PAIRS];

/* Looks, once, which programs there are and in which version, and writes it into the rows. */
void peer_pairs_look(void);
/* Writes a case's points to the programs' folder, where they could do it. */
rung_status peer_pairs_begin(const rung_case *test_case, rung_error *error);

#endif
