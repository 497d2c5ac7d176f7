#include "cli/trace.h"

#include <inttypes.h>
#include <stdlib.h>

static json_t *event(const rung_block_time *block, int64_t number, int64_t slot, uint64_t first,
                     double per_us) {
  return lab_object(
      "{s:o, s:s, s:I, s:I, s:f, s:f, s:o}", "name", json_sprintf("block %" PRId64, number), "ph",
      "X", "pid", (json_int_t)block->processor, "tid", (json_int_t)slot, "ts",
      (double)(block->start - first) / per_us, "dur", (double)(block->end - block->start) / per_us,
      "args", lab_object("{s:I}", "block", (json_int_t)number));
}

/* What a multiprocessor is called, once each. */
static json_t *name_of(uint64_t processor) {
  return lab_object(
      "{s:s, s:s, s:I, s:o}", "name", "process_name", "ph", "M", "pid", (json_int_t)processor,
      "args", lab_object("{s:o}", "name", json_sprintf("multiprocessor %" PRIu64, processor)));
}

rung_status trace_write(const char *path, const lab_timeline *timeline, uint64_t first,
                        double per_us, const char *title, rung_error *error) {
  file_replace file = {0};
  int64_t *slots = lab_timeline_places(timeline);
  json_t *events = json_array();
  rung_status status =
      slots ? file_replace_begin(&file, path, error)
            : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the trace of %" PRId64 " blocks",
                        timeline->count);
  for (int64_t i = 0; i < timeline->count && !status; i++) {
    const rung_block_time *block = &timeline->blocks[i];
    bool named = false;
    for (int64_t k = 0; k < i && !named; k++)
      named = timeline->blocks[k].processor == block->processor;
    if (!named) cli_append(&events, name_of(block->processor));
    cli_append(&events, event(block, i, slots[i], first, per_us));
  }
  if (!status)
    status =
        cli_results_json(&file,
                         lab_object("{s:O, s:s, s:o}", "traceEvents", events, "displayTimeUnit",
                                    "ns", "otherData", lab_object("{s:s}", "title", title)),
                         error);
  if (!status) status = file_replace_commit(&file, error);
  file_replace_abandon(&file);
  json_decref(events);
  free(slots);
  return status;
}
