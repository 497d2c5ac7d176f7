#include "core/ladder.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BLOCK = 1024, NAME_SHOWN = 64, NAMES_SHOWN = 320 };

const rung_operation *rung_operation_named(const char *name) {
  for (const rung_operation *const *at = rung_operations; *at != NULL; at++) {
    if (strcmp((*at)->name, name) == 0) return *at;
  }
  return NULL;
}

static rung_family family_of(const rung_device *device) {
  return device->kind == RUNG_CPU ? RUNG_ON_CPU : RUNG_ON_GPU;
}

rung_launch *rung_row_launch(const rung_row *row, const rung_device *device) {
  if (row->family != family_of(device)) return NULL;
  switch (device->kind) {
    case RUNG_CPU:
      return row->launch[device->isa];
    case RUNG_CUDA:
      return row->launch[0];
    case RUNG_SIM:
      return row->launch[1];
    default:
      return NULL;
  }
}

/* ---- a rung and what follows it -----------------------------------------------------------------
 */

static rung_needs own_needs(const rung_row *row, const rung_task *task) {
  return (rung_needs){
      .scratch = row->scratch_bytes != NULL ? row->scratch_bytes(task) : 0,
      .zeros = row->zeroed_bytes != NULL ? row->zeroed_bytes(task) : 0,
      .host_scratch = row->host_scratch_bytes != NULL ? row->host_scratch_bytes(task) : 0};
}

static rung_status step_after(const rung_row *row, const rung_task *task, rung_step *step) {
  step->row = NULL;
  if (row->then == NULL) return RUNG_OK;
  step->task = (rung_task){.problem = step->problem.bytes,
                           .stream = task->stream,
                           .state = task->state,
                           .device = task->device,
                           .error = task->error};
  return row->then(task, step);
}

/* Where the memory of what follows begins. */
static size_t behind(size_t own) {
  return (own + 255) / 256 * 256;
}

static size_t both(size_t own, size_t next) {
  return next > 0 ? behind(own) + next : own;
}

static void *next_part(void *memory, size_t own) {
  return memory != NULL ? (char *)memory + behind(own) : NULL;
}

rung_needs rung_row_needs(const rung_row *row, const rung_task *task) {
  rung_step step;
  const rung_needs own = own_needs(row, task);
  if (step_after(row, task, &step) != RUNG_OK || step.row == NULL) return own;
  const rung_needs next = rung_row_needs(step.row, &step.task);
  return (rung_needs){.scratch = both(own.scratch, next.scratch),
                      .zeros = both(own.zeros, next.zeros),
                      .host_scratch = both(own.host_scratch, next.host_scratch)};
}

rung_status rung_row_run(const rung_row *row, const rung_task *task) {
  rung_step step;
  step.row = NULL;
  rung_status status = rung_row_launch(row, task->device)(task);
  if (status == RUNG_OK) status = step_after(row, task, &step);
  if (status != RUNG_OK || step.row == NULL) return status;
  const rung_needs own = own_needs(row, task);
  step.task.scratch = next_part(task->scratch, own.scratch);
  step.task.zeros = next_part(task->zeros, own.zeros);
  step.task.host_scratch = next_part(task->host_scratch, own.host_scratch);
  return rung_row_run(step.row, &step.task);
}

/* ---- what a rung can do -------------------------------------------------------------------------
 */

static rung_status refuse(const rung_row *row, rung_error *error, const char *reason) {
  return rung_fail(error, RUNG_UNSUPPORTED, "rung \"%s\" cannot do this: %s", row->name, reason);
}

static rung_status check_block(int block, rung_error *error) {
  if (block >= 0 && block <= MOST_BLOCK) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "block is %d; expected: 1 ... %d, or 0 for the rung's own choice", block,
                   MOST_BLOCK);
}

rung_status rung_row_available(const rung_row *row, const rung_device *device, rung_error *error) {
  char why[RUNG_REASON];
  why[0] = '\0'; /* not all of it: this is on the way of every call */
  if (row->family != family_of(device)) {
    bool on_cpu = row->family == RUNG_ON_CPU;
    return refuse(row, error,
                  on_cpu ? "it runs on the CPU only (device \"cpu\")"
                         : "it runs on GPUs only (devices \"cuda\", \"cuda:<index>\" and \"sim\")");
  }
  if (device->kind == RUNG_SIM && row->hardware != NULL) {
    snprintf(why, sizeof why, "it needs %s, which the simulator lacks", row->hardware);
    return refuse(row, error, why);
  }
  if (rung_row_launch(row, device) == NULL) {
    snprintf(why, sizeof why, "this build does not have it for %s",
             device->kind == RUNG_CPU ? rung_isa_name(device->isa) : rung_kind_name(device->kind));
    return refuse(row, error, why);
  }
  if (device->kind == RUNG_CUDA && device->capability < row->capability) {
    snprintf(why, sizeof why, "it needs compute capability %d.%d, and %s has %d.%d",
             row->capability / 10, row->capability % 10, device->name, device->capability / 10,
             device->capability % 10);
    return refuse(row, error, why);
  }
  return RUNG_OK;
}

bool rung_row_fixed(const rung_row *row) {
  const unsigned floats = RUNG_SINGLE_DOUBLE | RUNG_HALVES;
  return (row->types.in & floats) != 0 && row->types.accumulate == RUNG_TYPE(RUNG_I64);
}

/* Whether the row's sets hold the job's types; where not, `why`. */
static bool takes_types(const rung_row *row, rung_types types, char why[RUNG_REASON]) {
  const rung_dtype asked[] = {types.in, types.accumulate, types.out};
  const unsigned taken[] = {row->types.in, row->types.accumulate, row->types.out};
  static const char *const does[] = {"take", "add up in", "write"};
  const bool floats = rung_dtype_is_float(types.in);
  if (floats && rung_row_fixed(row) && types.accumulate != RUNG_I64) {
    snprintf(why, RUNG_REASON,
             "it adds up in fixed point; `--math fixed` (math = RUNG_MATH_FIXED) asks for that");
    return false;
  }
  if (floats && types.accumulate == RUNG_I64 && !(row->types.accumulate & RUNG_TYPE(RUNG_I64))) {
    snprintf(why, RUNG_REASON, "it does not add up in fixed point");
    return false;
  }
  for (int i = 0; i < 3; i++) {
    if (taken[i] & RUNG_TYPE(asked[i])) continue;
    snprintf(why, RUNG_REASON, "it does not %s %s", does[i], rung_dtype_name(asked[i]));
    return false;
  }
  return true;
}

rung_status rung_row_supports(const rung_row *row, const rung_task *task, rung_types types,
                              rung_error *error) {
  char why[RUNG_REASON];
  why[0] = '\0'; /* not all of it: this is on the way of every call */
  rung_status status = rung_row_available(row, task->device, error);
  if (status != RUNG_OK) return status;
  if (!takes_types(row, types, why)) return refuse(row, error, why);
  status = check_block(task->block, error);
  if (status != RUNG_OK) return status;
  if (row->supports != NULL && !row->supports(task, why)) return refuse(row, error, why);
  rung_step step;
  rung_task asked;
  if (row->then == NULL) return RUNG_OK;
  asked = *task;
  asked.error = error;
  return step_after(row, &asked, &step);
}

/* ---- choosing ------------------------------------------------------------------------------- */

static rung_status check_math(const rung_operation *operation, const rung_call *call,
                              rung_error *error) {
  const bool fixed = call->math == RUNG_MATH_FIXED;
  if (fixed && !operation->fixed)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "math is RUNG_MATH_FIXED (2), which %s has not; expected: RUNG_MATH_STRICT "
                     "(0) or RUNG_MATH_FAST (1)",
                     operation->name);
  if (!fixed && call->math != RUNG_MATH_STRICT && call->math != RUNG_MATH_FAST)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "math is %d; expected: RUNG_MATH_STRICT (0), RUNG_MATH_FAST (1) or "
                     "RUNG_MATH_FIXED (2)",
                     (int)call->math);
  if (fixed || call->bits == 0) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "bits is %d; expected: 0, for only RUNG_MATH_FIXED has bits", call->bits);
}

/* The names of a family's rungs, as a sentence lists them: "a", "b". */
static void list_rungs(const rung_operation *operation, rung_family family, char *text,
                       size_t room) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < operation->count; i++) {
    if (operation->rows[i].family != family) continue;
    int more = snprintf(text + used, room - used, "%s\"%s\"", used == 0 ? "" : ", ",
                        operation->rows[i].name);
    if (more < 0 || (size_t)more >= room - used) {
      text[used] = '\0';
      return;
    }
    used += (size_t)more;
  }
}

/* The row of that name: of `family` if there is one, for both families may use a name. */
static const rung_row *row_named(const rung_operation *operation, rung_family family,
                                 const char *name) {
  const rung_row *other = NULL;
  for (int i = 0; i < operation->count; i++) {
    const rung_row *row = &operation->rows[i];
    if (strcmp(row->name, name) != 0) continue;
    if (row->family == family) return row;
    other = row;
  }
  return other;
}

static rung_status choose_named(const rung_operation *operation, const rung_task *task,
                                rung_types types, const rung_call *call, const rung_row **row,
                                rung_error *error) {
  rung_family family = family_of(task->device);
  const rung_row *found = row_named(operation, family, call->rung);
  if (found == NULL) {
    char names[NAMES_SHOWN];
    list_rungs(operation, family, names, sizeof names);
    return rung_fail(error, RUNG_UNKNOWN_NAME,
                     "rung is \"%.*s\"; expected, of %s on this device: \"auto\"%s%s", NAME_SHOWN,
                     call->rung, operation->name, names[0] == '\0' ? "" : ", ", names);
  }
  if (found->order == RUNG_LOOSE && call->math != RUNG_MATH_FAST)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "rung \"%s\" does not keep the strict order of arithmetic; `--math fast` "
                     "(math = RUNG_MATH_FAST) allows it",
                     found->name);
  rung_status status = rung_row_supports(found, task, types, error);
  if (status != RUNG_OK) return status;
  *row = found;
  return RUNG_OK;
}

static rung_status choose_best(const rung_operation *operation, const rung_task *task,
                               rung_types types, rung_math math, const rung_row **row,
                               rung_error *error) {
  rung_family family = family_of(task->device);
  rung_error first; /* why not the best one: the reason worth reading */
  first.status = RUNG_OK;
  first.sentence[0] = '\0';
  for (int i = operation->count - 1; i >= 0; i--) {
    const rung_row *at = &operation->rows[i];
    if (at->family != family || at->order == RUNG_TEXTBOOK) continue;
    if (at->order == RUNG_LOOSE && math != RUNG_MATH_FAST) continue;
    rung_error refused;
    if (rung_row_supports(at, task, types, &refused) == RUNG_OK) {
      if (at->pays != NULL && !at->pays(task)) continue;
      *row = at;
      return RUNG_OK;
    }
    if (first.status == RUNG_OK) first = refused;
  }
  const char *device = rung_kind_name(task->device->kind);
  if (first.status == RUNG_OK)
    return rung_fail(error, RUNG_UNSUPPORTED, "%s has no rung for device \"%s\"", operation->name,
                     device);
  return rung_fail(error, first.status, "no rung of %s can do this on device \"%s\"; %s",
                   operation->name, device, first.sentence);
}

bool rung_takes_any(const char *rung) {
  return rung == NULL || strcmp(rung, "auto") == 0;
}

rung_status rung_choose(const rung_operation *operation, const rung_task *task, rung_types types,
                        const rung_call *call, const rung_row **row, rung_error *error) {
  rung_task asked = *task;
  rung_call plain = {.block = task->block};
  if (call == NULL) call = &plain;
  rung_status status = check_math(operation, call, error);
  if (status == RUNG_OK) status = check_block(call->block, error);
  if (status != RUNG_OK) return status;
  asked.block = call->block;
  if (!rung_takes_any(call->rung)) return choose_named(operation, &asked, types, call, row, error);
  return choose_best(operation, &asked, types, call->math, row, error);
}
