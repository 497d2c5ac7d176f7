/* Libraries that are found when the command runs and loaded then, so that none is needed to build
 * it. */
#ifndef RUNG_PEERS_LOADED_H
#define RUNG_PEERS_LOADED_H

#include <stdbool.h>

enum { PEER_TEXT = 240 }; /* what a row says of its library */

/* A library by the first of the names (ended by NULL) that can be loaded; NULL: none. It stays. */
void *peer_library(const char *const *names);
/* Its functions by their names; false: one is missing. */
typedef struct peer_symbol {
  const char *name;
  void *to; /* the pointer to be set */
} peer_symbol;
bool peer_symbols(void *library, const peer_symbol *symbols, int count);

#endif
