#include "core/layout.h"

#include <stdbool.h>
#include <string.h>

#include "rung/ranks.h"

const rung_layout rung_options_layout = RUNG_LAYOUT(rung_options, stream);
const rung_layout rung_call_layout = RUNG_LAYOUT(rung_call, used);
const rung_layout rung_device_layout = RUNG_LAYOUT(rung_device_info, why_not);
const rung_layout rung_operation_layout = RUNG_LAYOUT(rung_operation_info, rungs);
const rung_layout rung_ladder_layout = RUNG_LAYOUT(rung_ladder_info, why_not);
const rung_layout rung_stencil_layout = RUNG_LAYOUT(rung_stencil_model, edge_value);
const rung_layout rung_filter_layout = RUNG_LAYOUT(rung_filter_model, region);
const rung_layout rung_bins_layout = RUNG_LAYOUT(rung_bins, edges);
const rung_layout rung_points_layout = RUNG_LAYOUT(rung_points, molecules);
const rung_layout rung_distances_layout = RUNG_LAYOUT(rung_distances, edges);
const rung_layout rung_ranks_layout = RUNG_LAYOUT(rung_ranks, exchange);
const rung_layout rung_store_layout = RUNG_LAYOUT(rung_store, write);

size_t rung_struct_size(const rung_layout *layout, const void *given) {
  size_t size;
  memcpy(&size, given, sizeof size);
  return size == 0 ? layout->first : size;
}

static bool is_size(const rung_layout *layout, size_t size) {
  return size >= layout->first && size <= RUNG_LARGEST_STRUCT;
}

rung_status rung_read_struct(rung_error *error, const char *argument, const rung_layout *layout,
                             const void *given, void *known) {
  if (given == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "%s is NULL; expected: a %s", argument,
                     layout->name);
  const size_t size = rung_struct_size(layout, given);
  if (!is_size(layout, size))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s has size %zu; expected: sizeof(%s), which is %zu here, or 0", argument,
                     size, layout->name, layout->bytes);
  for (size_t i = layout->bytes; i < size; i++)
    if (((const unsigned char *)given)[i] != 0)
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "%s has size %zu, of a newer %s than the one of %zu bytes that version %s "
                       "knows, and its byte %zu is not zero; expected: zeros from byte %zu on",
                       argument, size, layout->name, layout->bytes, RUNG_VERSION, i, layout->bytes);
  memset(known, 0, layout->bytes);
  memcpy(known, given, size < layout->bytes ? size : layout->bytes);
  memcpy(known, &layout->bytes, sizeof layout->bytes);
  return RUNG_OK;
}

rung_status rung_write_struct(const rung_layout *layout, const void *made, void *given) {
  if (given == NULL) return RUNG_BAD_ARGUMENT;
  const size_t size = rung_struct_size(layout, given), own = sizeof(size_t);
  if (!is_size(layout, size)) return RUNG_BAD_ARGUMENT;
  const size_t common = size < layout->bytes ? size : layout->bytes;
  memcpy((char *)given + own, (const char *)made + own, common - own);
  memset((char *)given + common, 0, size - common);
  return RUNG_OK;
}
