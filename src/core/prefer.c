#include "core/prefer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 64 };

const char *rung_power(int64_t number, char text[8]) {
  int power = 0;
  for (int64_t left = number; left > 1; left /= 2) power++;
  snprintf(text, 8, number < 8 ? "%d" : "2^%d", number < 8 ? (int)number : power);
  return text;
}

/* ---- asked by calls ------------------------------------------------------------------------- */

static rung_preference *find(const rung_context *context, const rung_operation *operation,
                             const char *job) {
  for (int i = 0; i < context->preferences; i++)
    if (context->preferred[i].operation == operation && strcmp(context->preferred[i].job, job) == 0)
      return &context->preferred[i];
  return NULL;
}

bool rung_preferred(const rung_context *context, const rung_job *job, const rung_call *call,
                    rung_call *instead) {
  char class_of[RUNG_CLASS];
  if (context->preferences == 0 || job->operation->class_of == NULL) return false;
  if (call->math == RUNG_MATH_FAST || call->block != 0) return false;
  if (!rung_takes_any(call->rung)) return false;
  job->operation->class_of(job->task.problem, class_of);
  const rung_preference *found = find(context, job->operation, class_of);
  if (found == NULL) return false;
  *instead = *call;
  instead->rung = found->row->name;
  instead->block = found->block;
  return true;
}

/* ---- set ------------------------------------------------------------------------------------ */

static const rung_row *row_of(const rung_context *context, const rung_operation *operation,
                              const char *name) {
  const bool on_cpu = context->device.kind == RUNG_CPU;
  for (int i = 0; i < operation->count; i++)
    if ((operation->rows[i].family == RUNG_ON_CPU) == on_cpu &&
        strcmp(operation->rows[i].name, name) == 0)
      return &operation->rows[i];
  return NULL;
}

static bool takes_block(const rung_row *row, int block) {
  if (block == 0) return true;
  for (const int *at = row->blocks; at != NULL && *at != 0; at++)
    if (*at == block) return true;
  return false;
}

/* The row, or why `auto` may not take it: it must have the bits that any other has. */
static rung_status check(rung_context *context, const rung_operation *operation, const char *rung,
                         int block, const rung_row **row) {
  rung_error *error = &context->error;
  *row = row_of(context, operation, rung);
  if (*row == NULL)
    return rung_fail(error, RUNG_UNKNOWN_NAME,
                     "rung is \"%.*s\", which %s has not for device \"%s\"; expected: one that "
                     "rung_ladder_at() lists",
                     NAME_SHOWN, rung, operation->name, rung_kind_name(context->device.kind));
  if ((*row)->order != RUNG_CANONICAL)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "rung \"%s\" has other bits than the contract's; expected: a canonical one",
                     (*row)->name);
  if (!takes_block(*row, block))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "block is %d, which rung \"%s\" is not tried with; expected: 0, or one that "
                     "rung_ladder_at() lists",
                     block, (*row)->name);
  return rung_row_available(*row, &context->device, error);
}

static void forget(rung_context *context, rung_preference *found) {
  if (found != NULL) *found = context->preferred[--context->preferences];
}

static rung_status add(rung_context *context, const rung_preference *made) {
  if (context->preferences == RUNG_PREFERENCES)
    return rung_fail(&context->error, RUNG_TOO_LARGE,
                     "%d rungs are preferred; expected: at most as many", RUNG_PREFERENCES);
  if (context->preferred == NULL)
    context->preferred = malloc(RUNG_PREFERENCES * sizeof *context->preferred);
  if (context->preferred == NULL)
    return rung_fail(&context->error, RUNG_OUT_OF_MEMORY, "no host memory for a preference");
  context->preferred[context->preferences++] = *made;
  return RUNG_OK;
}

rung_status rung_prefer(rung_context *context, const char *operation, const char *job,
                        const char *rung, int block) {
  rung_status status = rung_ready(context);
  if (status != RUNG_OK) return status;
  rung_preference made = {.operation = operation != NULL ? rung_operation_named(operation) : NULL};
  if (made.operation == NULL)
    return rung_fail(&context->error, RUNG_UNKNOWN_NAME,
                     "operation is \"%.*s\"; expected: one that rung_operation_at() lists",
                     NAME_SHOWN, operation != NULL ? operation : "NULL");
  if (job == NULL || job[0] == '\0' || strlen(job) >= RUNG_CLASS)
    return rung_fail(&context->error, RUNG_BAD_ARGUMENT,
                     "job is \"%.*s\"; expected: a class of jobs, of 1 ... %d bytes", NAME_SHOWN,
                     job != NULL ? job : "NULL", RUNG_CLASS - 1);
  if (rung != NULL) status = check(context, made.operation, rung, block, &made.row);
  if (status != RUNG_OK) return status;
  made.block = block;
  snprintf(made.job, sizeof made.job, "%s", job);
  rung_preference *found = find(context, made.operation, job);
  if (rung == NULL)
    forget(context, found);
  else if (found != NULL)
    *found = made;
  else
    status = add(context, &made);
  return status;
}
