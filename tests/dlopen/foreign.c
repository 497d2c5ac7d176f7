/* A part of a version that never was. */
#include "core/part.h"

__attribute__((visibility("default"))) extern const rung_part rung_part_sim;
const rung_part rung_part_sim = {.version = "7.7.7", .layout = RUNG_PART_LAYOUT};
