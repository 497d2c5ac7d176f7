/* The public interface's answers: which devices, operations and rungs there are. */
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "core/ladder.h"
#include "core/layout.h"
#include "core/part.h"

_Static_assert((int)RUNG_TEXT == (int)RUNG_SENTENCE, "a sentence fits");

/* ---- devices -------------------------------------------------------------------------------- */

static void describe(const rung_device *device, rung_device_info *made) {
  snprintf(made->name, sizeof made->name, "%s", device->name);
  made->capability = device->capability;
  made->processors = device->processors;
  made->threads = device->threads;
  made->isa = device->kind == RUNG_CPU ? rung_isa_name(device->isa) : NULL;
  made->memory_bytes = device->memory_bytes;
  made->cache_bytes = device->cache_bytes;
  made->usable = 1;
}

static rung_device_info begin(rung_kind kind, int index) {
  rung_device_info made = {.kind = rung_kind_name(kind), .index = index, .available_bytes = -1};
  if (kind == RUNG_SIM && index > 0)
    snprintf(made.device, sizeof made.device, "%s:%s", made.kind, rung_sim_model(index));
  else
    snprintf(made.device, sizeof made.device, kind == RUNG_CUDA ? "%s:%d" : "%s", made.kind, index);
  return made;
}

/* How many entries a kind has: where it has no device, the one that says why. */
static int entries_of(rung_kind kind) {
  int devices = 0;
  const rung_backend *backend = rung_backend_of(kind, NULL);
  if (backend == NULL || backend->count(&devices, NULL) != RUNG_OK || devices < 1) return 1;
  return devices;
}

static rung_status device_at(int index, rung_device_info *info) {
  int kind = 0, before = 0;
  if (index < 0) return RUNG_UNKNOWN_NAME;
  for (int entries; kind < RUNG_KINDS && index - before >= (entries = entries_of(kind)); kind++)
    before += entries;
  if (kind == RUNG_KINDS) return RUNG_UNKNOWN_NAME;
  rung_device_info made = begin((rung_kind)kind, index - before);
  rung_device device;
  rung_error why = {0};
  if (rung_find_device(made.device, &device, &why) == RUNG_OK)
    describe(&device, &made);
  else
    snprintf(made.why_not, sizeof made.why_not, "%s", why.sentence);
  return rung_write_struct(&rung_device_layout, &made, info);
}

rung_status rung_device_at(int index, rung_device_info *info) {
  rung_float_mode callers;
  rung_float_mode_enter(&callers);
  const rung_status status = device_at(index, info);
  rung_float_mode_leave(&callers);
  return status;
}

static rung_status opened(rung_context *context, rung_device_info *info) {
  rung_device_info made = begin(context->device.kind, context->device.index);
  describe(&context->device, &made);
  if (context->backend->available(context->state, &made.available_bytes, NULL) != RUNG_OK)
    made.available_bytes = -1;
  if (rung_write_struct(&rung_device_layout, &made, info) == RUNG_OK) return RUNG_OK;
  return rung_fail(&context->error, RUNG_BAD_ARGUMENT,
                   "info is %s; expected: a rung_device_info whose size is set, or 0",
                   info == NULL ? "NULL" : "of another size");
}

rung_status rung_opened(rung_context *context, rung_device_info *info) {
  const rung_status status = rung_begin(context);
  if (status == RUNG_OK) return rung_end(context, opened(context, info));
  return context == NULL ? status : RUNG_BAD_ARGUMENT;
}

static rung_status device_facts(const char *device,
                                void (*emit)(void *to, const char *key, const char *value),
                                void *to, char why[RUNG_TEXT]) {
  rung_device found;
  rung_error error = {0};
  rung_status status = RUNG_OK;
  if (emit == NULL)
    status = rung_fail(&error, RUNG_BAD_ARGUMENT, "emit is NULL; expected: a function");
  if (status == RUNG_OK) status = rung_find_device(device, &found, &error);
  if (status == RUNG_OK)
    status = rung_backend_of(found.kind, NULL)->facts(found.index, emit, to, &error);
  if (why != NULL) snprintf(why, RUNG_TEXT, "%s", error.sentence);
  return status;
}

rung_status rung_device_facts(const char *device,
                              void (*emit)(void *to, const char *key, const char *value), void *to,
                              char why[RUNG_TEXT]) {
  rung_float_mode callers;
  rung_float_mode_enter(&callers);
  const rung_status status = device_facts(device, emit, to, why);
  rung_float_mode_leave(&callers);
  return status;
}

/* ---- operations and rungs ------------------------------------------------------------------- */

rung_status rung_operation_at(int index, rung_operation_info *info) {
  if (index < 0) return RUNG_UNKNOWN_NAME;
  for (int i = 0; i <= index; i++)
    if (rung_operations[i] == NULL) return RUNG_UNKNOWN_NAME;
  const rung_operation *operation = rung_operations[index];
  const rung_operation_info made = {
      .name = operation->name, .summary = operation->summary, .rungs = operation->count};
  return rung_write_struct(&rung_operation_layout, &made, info);
}

/* What rung_row_available() looks at, of a device as the caller knows it. False: not one of ours.
 */
static bool device_of(const rung_device_info *info, rung_device *device) {
  int kind = 0;
  while (kind < RUNG_KINDS && strcmp(rung_kind_name((rung_kind)kind), info->kind) != 0) kind++;
  if (kind == RUNG_KINDS) return false;
  *device =
      (rung_device){.kind = (rung_kind)kind, .index = info->index, .capability = info->capability};
  snprintf(device->name, sizeof device->name, "%s", info->name);
  return info->isa == NULL || rung_isa_named(info->isa, &device->isa);
}

/* Whether this installation has code of the row for any device; of GPU rungs the parts know. */
static bool has_code(const rung_row *row) {
  if (row->family == RUNG_ON_GPU)
    for (int kind = RUNG_CPU + 1; kind < RUNG_KINDS; kind++) rung_backend_of((rung_kind)kind, NULL);
  for (int i = 0; i < RUNG_ISAS; i++)
    if (row->launch[i] != NULL) return true;
  return false;
}

static void judge(const rung_row *row, const rung_device_info *given, const rung_device *device,
                  char why[RUNG_TEXT]) {
  rung_error error = {0};
  if (given == NULL) {
    if (!has_code(row)) rung_fail(&error, RUNG_UNSUPPORTED, "this installation lacks it");
  } else if (!given->usable && (device->kind == RUNG_CPU) == (row->family == RUNG_ON_CPU)) {
    rung_fail(&error, RUNG_NO_DEVICE, "%s", given->why_not);
  } else {
    rung_row_available(row, device, &error);
  }
  snprintf(why, RUNG_TEXT, "%s", error.sentence);
}

static bool is_first(const rung_operation *operation, int index, const rung_device_info *given,
                     const rung_device *device) {
  char why[RUNG_TEXT];
  const bool fixed = rung_row_fixed(&operation->rows[index]);
  if (given == NULL || operation->rows[index].order != RUNG_CANONICAL || fixed) return false;
  for (int i = operation->count - 1; i >= index; i--) {
    if (operation->rows[i].order != RUNG_CANONICAL || rung_row_fixed(&operation->rows[i])) continue;
    judge(&operation->rows[i], given, device, why);
    if (why[0] == '\0') return i == index;
  }
  return false;
}

static void describe_row(const rung_row *row, rung_ladder_info *made) {
  static const char *const orders[] = {
      [RUNG_CANONICAL] = "canonical", [RUNG_TEXTBOOK] = "textbook", [RUNG_LOOSE] = "fast"};
  enum { BLOCKS = sizeof made->blocks / sizeof *made->blocks };
  *made = (rung_ladder_info){.name = row->name,
                             .idea = row->idea,
                             .on = row->family == RUNG_ON_CPU ? "cpu" : "gpu",
                             .order = rung_row_fixed(row) ? "fixed" : orders[row->order],
                             .hardware = row->hardware,
                             .capability = row->capability};
  size_t used = 0;
  for (int d = 0; d < RUNG_DTYPES && used < sizeof made->types; d++)
    if (row->types.in & RUNG_TYPE(d))
      used += (size_t)snprintf(made->types + used, sizeof made->types - used, "%s%s",
                               used > 0 ? " " : "", rung_dtype_name((rung_dtype)d));
  for (int b = 0; row->blocks != NULL && row->blocks[b] != 0 && b < BLOCKS - 1; b++)
    made->blocks[b] = row->blocks[b];
}

rung_status rung_ladder_at(const char *name, int index, const rung_device_info *given,
                           rung_ladder_info *info) {
  rung_device_info known;
  rung_device device = {0};
  rung_ladder_info made;
  const rung_operation *operation = name != NULL ? rung_operation_named(name) : NULL;
  if (operation == NULL || index < 0 || index >= operation->count) return RUNG_UNKNOWN_NAME;
  if (given != NULL) {
    rung_status status = rung_read_struct(NULL, "device", &rung_device_layout, given, &known);
    if (status != RUNG_OK) return status;
    if (known.kind == NULL || !device_of(&known, &device)) return RUNG_BAD_ARGUMENT;
    given = &known;
  }
  const rung_row *row = &operation->rows[index];
  describe_row(row, &made);
  judge(row, given, &device, made.why_not);
  made.available = made.why_not[0] == '\0';
  made.first = is_first(operation, index, given, &device);
  return rung_write_struct(&rung_ladder_layout, &made, info);
}
