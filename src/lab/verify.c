/* Looking at what a rung did: canaries, inputs, outputs, and streams it had no business on. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lab/fixture.h"

const char *lab_finding_name(lab_finding finding) {
  static const char *const names[LAB_FINDINGS] = {
      [LAB_GOOD] = "good",
      [LAB_UNSUPPORTED] = "unsupported",
      [LAB_LAUNCH_FAILED] = "launch-failed",
      [LAB_UNWRITTEN] = "unwritten",
      [LAB_NAN] = "nan",
      [LAB_OVERRUN] = "overrun",
      [LAB_WRONG] = "wrong",
      [LAB_WRONG_LATER] = "wrong-later",
      [LAB_OTHER_STREAM] = "other-stream",
      [LAB_TOO_FAST] = "too-fast",
  };
  return (unsigned)finding < LAB_FINDINGS ? names[finding] : "unknown";
}

void lab_find(lab_verdict *verdict, lab_finding finding, const char *format, ...) {
  verdict->finding = finding;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(verdict->sentence, sizeof verdict->sentence, format, arguments);
  va_end(arguments);
}

void lab_find_failure(lab_verdict *verdict, const rung_error *error) {
  lab_find(verdict, LAB_LAUNCH_FAILED, "%s", error->sentence);
  verdict->cause = error->status;
}

/* ---- canaries and inputs ------------------------------------------------------------------ */

static size_t first_difference(const char *a, const char *b, size_t bytes) {
  size_t i = memcmp(a, b, bytes) == 0 ? bytes : 0;
  while (i < bytes && a[i] == b[i]) ++i;
  return i;
}

static const char *arena_name(const lab_fixture *fixture, int index) {
  if (index == LAB_ZEROS) return "its zeros";
  return index == LAB_SCRATCH ? "scratch" : fixture->test_case->array_names[index];
}

static const char *zone_of(const lab_arena *arena, int side) {
  return side ? arena->data + arena->bytes : arena->base;
}

/* All zones in one wait. */
static rung_status fetch_zones(lab_fixture *fixture, rung_error *error) {
  const rung_backend *backend = fixture->context->backend;
  for (int i = 0; i < LAB_ARENAS; ++i)
    for (int side = 0; side < 2 && fixture->arenas[i].base; ++side) {
      rung_status status =
          backend->copy(fixture->context->state, fixture->seen.data + lab_zone_offset(i, side),
                        zone_of(&fixture->arenas[i], side), LAB_ZONE, RUNG_TO_HOST, error);
      if (status != RUNG_OK) return status;
    }
  return backend->synchronize(fixture->context->state, error);
}

bool lab_fixture_zones_live(lab_fixture *fixture, lab_verdict *verdict) {
  rung_error error = {0};
  if (!fixture->on_host && fetch_zones(fixture, &error) != RUNG_OK) {
    lab_find_failure(verdict, &error);
    return false;
  }
  for (int i = 0; i < LAB_ARENAS; ++i)
    for (int side = 0; side < 2 && fixture->arenas[i].base; ++side) {
      const size_t at = lab_zone_offset(i, side);
      const char *zone =
          fixture->on_host ? zone_of(&fixture->arenas[i], side) : fixture->seen.data + at;
      if (memcmp(zone, fixture->canary + at, LAB_ZONE) == 0) continue;
      const size_t byte = first_difference(zone, fixture->canary + at, LAB_ZONE);
      lab_find(verdict, LAB_OVERRUN, "memory beside %s was written: byte %zu %s",  //
               arena_name(fixture, i), side ? byte : LAB_ZONE - byte,
               side ? "past its end" : "before its start");
      return false;
    }
  return true;
}

static size_t first_not_zero(const char *bytes, size_t count) {
  size_t i = 0;
  while (i < count && bytes[i] == 0) ++i;
  return i;
}

/* Compares arena `index` with what it must hold, zeros where `wanted` is NULL; *byte: the first
 * that differs. A failed fetch is an error. */
static rung_status compare_arena(lab_fixture *fixture, int index, const char *wanted, bool *same,
                                 size_t *byte, rung_error *error) {
  const lab_arena *arena = &fixture->arenas[index];
  const rung_backend *backend = fixture->context->backend;
  const size_t step = fixture->on_host ? arena->bytes : fixture->seen_bytes;
  *same = true;
  for (size_t at = 0; at < arena->bytes && *same; at += step) {
    const size_t bytes = arena->bytes - at < step ? arena->bytes - at : step;
    const char *found = arena->data + at;
    if (!fixture->on_host) {
      rung_status status = backend->copy(fixture->context->state, fixture->seen.data, found, bytes,
                                         RUNG_TO_HOST, error);
      if (status == RUNG_OK) status = backend->synchronize(fixture->context->state, error);
      if (status != RUNG_OK) return status;
      found = fixture->seen.data;
    }
    const size_t equal =
        wanted ? first_difference(found, wanted + at, bytes) : first_not_zero(found, bytes);
    *same = equal == bytes;
    *byte = at + equal;
  }
  return RUNG_OK;
}

static bool inputs_same(lab_fixture *fixture, lab_verdict *verdict) {
  rung_error error = {0};
  for (int i = 0; i < fixture->test_case->inputs; ++i) {
    if (!fixture->arenas[i].bytes) continue;
    bool same;
    size_t byte = 0;
    if (compare_arena(fixture, i, fixture->test_case->arrays[i].data, &same, &byte, &error) !=
        RUNG_OK) {
      lab_find_failure(verdict, &error);
      return false;
    }
    if (same) continue;
    lab_find(verdict, LAB_OVERRUN, "the input %s was changed: first at element %zu",
             arena_name(fixture, i), byte / rung_dtype_bytes(fixture->test_case->arrays[i].dtype));
    return false;
  }
  return true;
}

/* What a rung was given as zeros is to be zeros again. */
static bool zeros_kept(lab_fixture *fixture, lab_verdict *verdict) {
  rung_error error = {0};
  bool same;
  size_t byte = 0;
  if (compare_arena(fixture, LAB_ZEROS, NULL, &same, &byte, &error) != RUNG_OK)
    lab_find_failure(verdict, &error);
  else if (!same)
    lab_find(verdict, LAB_OVERRUN, "memory that is to be left zero was not: first at byte %zu",
             byte);
  return verdict->finding == LAB_GOOD;
}

/* ---- outputs ------------------------------------------------------------------------------ */

static rung_status fetch_outputs(lab_fixture *fixture, rung_view *outputs, rung_error *error) {
  const rung_case *test_case = fixture->test_case;
  const rung_backend *backend = fixture->context->backend;
  for (int k = 0; k < test_case->outputs; ++k) {
    const int i = test_case->inputs + k;
    outputs[k] = test_case->arrays[i];
    outputs[k].data = fixture->on_host ? fixture->arenas[i].data : fixture->outputs[i].data;
    if (fixture->on_host || !fixture->arenas[i].bytes) continue;
    rung_status status =
        backend->copy(fixture->context->state, outputs[k].data, fixture->arenas[i].data,
                      fixture->arenas[i].bytes, RUNG_TO_HOST, error);
    if (status != RUNG_OK) return status;
  }
  return backend->synchronize(fixture->context->state, error);
}

void lab_fixture_check(lab_fixture *fixture, const rung_row *row, lab_verdict *verdict) {
  *verdict = (lab_verdict){.finding = LAB_GOOD};
  rung_error error = {0};
  const rung_backend *backend = fixture->context->backend;
  if (backend->synchronize(fixture->context->state, &error) != RUNG_OK) {
    lab_find_failure(verdict, &error);
    return;
  }
  if (!lab_fixture_zones_live(fixture, verdict) || !inputs_same(fixture, verdict) ||
      !zeros_kept(fixture, verdict)) {
    /* The next rung must not be blamed for this one's stray writes. If this fails the device is
     * lost, and the next check says so. */
    lab_fixture_load(fixture, NULL);
    return;
  }
  rung_view outputs[RUNG_TASK_ARRAYS];
  if (fetch_outputs(fixture, outputs, &error) != RUNG_OK)
    lab_find_failure(verdict, &error);
  else
    lab_check_outputs(fixture->test_case, fixture->known, row, outputs, verdict);
}

/* ---- the held stream ---------------------------------------------------------------------- */

static bool all_poison(const char *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if ((unsigned char)bytes[i] != RUNG_POISON_BYTE) return false;
  return true;
}

/* Whether any of the places looked at has changed, seen from another stream. */
static rung_status peek(lab_fixture *fixture, bool *changed, rung_error *error) {
  const rung_case *test_case = fixture->test_case;
  const rung_backend *backend = fixture->context->backend;
  *changed = false;
  for (int k = 0; k < test_case->outputs; ++k) {
    const lab_arena *arena = &fixture->arenas[test_case->inputs + k];
    const size_t piece = arena->bytes < LAB_PIECE ? arena->bytes : LAB_PIECE;
    for (size_t place = 0; place < LAB_PIECES && piece; ++place) {
      const size_t at = (arena->bytes - piece) / (LAB_PIECES - 1) * place;
      const bool last = place == LAB_PIECES - 1;
      const char *from = arena->data + (last ? arena->bytes - piece : at);
      rung_status status =
          backend->copy(fixture->watcher, fixture->seen.data, from, piece, RUNG_TO_HOST, error);
      if (status == RUNG_OK) status = backend->synchronize(fixture->watcher, error);
      if (status != RUNG_OK) return status;
      if (!all_poison(fixture->seen.data, piece)) *changed = true;
    }
  }
  return RUNG_OK;
}

/* Launches behind a held stream. What a rung queues on the stream it was given cannot have begun
 * after 2 ms; what it queued elsewhere has. */
static void watch(lab_fixture *fixture, const rung_row *row, int block, lab_verdict *verdict) {
  const rung_backend *backend = fixture->context->backend;
  rung_state *state = fixture->context->state;
  rung_error error = {0};
  bool changed = false;
  rung_status status = lab_fixture_poison(fixture, &error);
  if (status == RUNG_OK) status = backend->synchronize(state, &error);
  if (status == RUNG_OK) status = backend->hold(state, &error);
  if (status == RUNG_OK) {
    const double begun = lab_seconds();
    status = lab_fixture_launch(fixture, row, block, &error);
    const double waited = lab_seconds() - begun;
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (status == RUNG_OK && waited > 1)
      status =
          rung_fail(&error, RUNG_DEVICE_FAILED,
                    "launching took %.1f s behind a held stream: a launch must not wait", waited);
    if (status == RUNG_OK) status = peek(fixture, &changed, &error);
    rung_error later = {0};
    rung_status end = backend->release_hold(state, &later);
    if (end == RUNG_OK) end = backend->synchronize(state, &later);
    if (status == RUNG_OK && end != RUNG_OK) {
      status = end;
      error = later;
    }
  }
  if (status != RUNG_OK)
    lab_find_failure(verdict, &error);
  else if (changed)
    lab_find(verdict, LAB_OTHER_STREAM, "the output changed while the stream of %s was held",
             row->name);
}

/* Where the device can, kernels are examined while they are verified. */
static void examine(lab_fixture *fixture, bool on) {
  const rung_backend *backend = fixture->context->backend;
  if (backend->examine) backend->examine(fixture->context->state, on, fixture->test_case->seed);
}

void lab_verify(lab_fixture *fixture, const rung_row *row, int block, lab_verdict *verdict) {
  *verdict = (lab_verdict){.finding = LAB_GOOD};
  rung_error error = {0};
  rung_status status = lab_fixture_prepare(fixture, row, block, &error);
  if (status == RUNG_UNSUPPORTED || status == RUNG_BAD_ARGUMENT) { /* the latter: its block */
    lab_find(verdict, LAB_UNSUPPORTED, "%s", error.sentence);
    return;
  }
  if (status == RUNG_OK) status = lab_fixture_poison(fixture, &error);
  examine(fixture, true);
  if (status == RUNG_OK) status = lab_fixture_launch(fixture, row, block, &error);
  examine(fixture, false);
  if (status != RUNG_OK) {
    lab_find_failure(verdict, &error);
    return;
  }
  lab_fixture_check(fixture, row, verdict);
  /* Where work ran on another stream, what the check saw was a matter of luck: the cause is the
   * finding, not the symptom. */
  if (fixture->watcher && verdict->finding != LAB_LAUNCH_FAILED && verdict->finding != LAB_OVERRUN)
    watch(fixture, row, block, verdict);
}
