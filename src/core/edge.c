/* The names of edges: ours, and those of the libraries whose words mean different things. */
#include "core/edge.h"

#include <string.h>

/* clang-format off */
#define EVERY_NAME(X) \
  X("wrap", RUNG_EDGE_WRAP) \
  X("constant", RUNG_EDGE_CONSTANT) \
  X("edge", RUNG_EDGE_NEAREST) \
  X("mirror-edge", RUNG_EDGE_REFLECT) \
  X("mirror", RUNG_EDGE_MIRROR) \
  X("scipy:wrap", RUNG_EDGE_WRAP) \
  X("scipy:constant", RUNG_EDGE_CONSTANT) \
  X("scipy:nearest", RUNG_EDGE_NEAREST) \
  X("scipy:reflect", RUNG_EDGE_REFLECT) \
  X("scipy:mirror", RUNG_EDGE_MIRROR) \
  X("scipy:grid-wrap", RUNG_EDGE_WRAP) \
  X("scipy:grid-constant", RUNG_EDGE_CONSTANT) \
  X("scipy:grid-mirror", RUNG_EDGE_REFLECT) \
  X("numpy:wrap", RUNG_EDGE_WRAP) \
  X("numpy:constant", RUNG_EDGE_CONSTANT) \
  X("numpy:edge", RUNG_EDGE_NEAREST) \
  X("numpy:symmetric", RUNG_EDGE_REFLECT) \
  X("numpy:reflect", RUNG_EDGE_MIRROR) \
  X("opencv:wrap", RUNG_EDGE_WRAP) \
  X("opencv:constant", RUNG_EDGE_CONSTANT) \
  X("opencv:replicate", RUNG_EDGE_NEAREST) \
  X("opencv:reflect", RUNG_EDGE_REFLECT) \
  X("opencv:reflect101", RUNG_EDGE_MIRROR) \
  X("torch:circular", RUNG_EDGE_WRAP) \
  X("torch:zeros", RUNG_EDGE_CONSTANT) \
  X("torch:constant", RUNG_EDGE_CONSTANT) \
  X("torch:replicate", RUNG_EDGE_NEAREST) \
  X("torch:reflect", RUNG_EDGE_MIRROR)
/* clang-format on */

#define NAME(name, edge) name,
#define EDGE(name, edge) edge,
static const char *const names[] = {EVERY_NAME(NAME) NULL};
static const rung_edge edges[] = {EVERY_NAME(EDGE)};

const char *const *rung_edge_names(void) {
  return names;
}

rung_status rung_edge_named(const char *name, rung_edge *edge) {
  if (edge == NULL) return RUNG_BAD_ARGUMENT;
  for (int i = 0; name != NULL && names[i] != NULL; i++)
    if (strcmp(name, names[i]) == 0) {
      *edge = edges[i];
      return RUNG_OK;
    }
  return RUNG_UNKNOWN_NAME;
}
