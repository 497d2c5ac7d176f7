/* Which points of a frame are paired. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/pairs.h"

/* ---- names ------------------------------------------------------------------------------------
 */

/* Whether one of the words of a list, "OW,Na", is this name; or, of elements, whether one that is
 * written as elements are is this one, which files write in letters of any case. */
static bool holds(const char *list, const char *name, bool element) {
  const size_t length = strlen(name);
  for (const char *at = list; length > 0; at++) {
    const size_t word = strcspn(at, ",");
    const bool written =
        isupper((unsigned char)at[0]) && (word == 1 || islower((unsigned char)at[1]));
    if (word == length &&
        (element ? written && strncasecmp(at, name, word) == 0 : strncmp(at, name, word) == 0))
      return true;
    at += word;
    if (*at == '\0') break;
  }
  return false;
}

static bool chosen(const char *list, const points_frame *frame, int64_t i) {
  return !list || holds(list, frame->labels[i].name, false) ||
         holds(list, frame->labels[i].element, true);
}

/* "OW, HW1, HW2": the first few names of a frame. */
static void list_names(const points_frame *frame, char *text, size_t size) {
  enum { SHOWN = 8 };
  int64_t found[SHOWN];
  int count = 0;
  size_t used = 0;
  text[0] = '\0';
  for (int64_t i = 0; i < frame->count && count < SHOWN; i++) {
    bool known = frame->labels[i].name[0] == '\0';
    for (int k = 0; k < count && !known; k++)
      known = strcmp(frame->labels[found[k]].name, frame->labels[i].name) == 0;
    if (known) continue;
    found[count++] = i;
    used += (size_t)snprintf(text + used, used < size ? size - used : 0, "%s%s",
                             count > 1 ? ", " : "", frame->labels[i].name);
    if (used >= size) break;
  }
}

/* ---- a set ------------------------------------------------------------------------------------
 */

static void forget(pairs_set *set) {
  free(set->memory);
  free(set->weight);
  free(set->molecule);
  *set = (pairs_set){0};
}

void pairs_drop(pairs_sets *sets) {
  forget(&sets->a);
  forget(&sets->b);
}

static void describe(pairs_set *set, int64_t count, bool weights, bool molecules) {
  const DLDevice host = {kDLCPU, 0};
  set->shape[0] = count;
  set->shape[1] = 3;
  set->at = (DLTensor){.data = set->memory,
                       .device = host,
                       .ndim = 2,
                       .dtype = rung_dlpack_type(set->dtype),
                       .shape = set->shape};
  set->weights = set->molecules = set->at;
  set->weights.ndim = set->molecules.ndim = 1;
  set->weights.data = set->weight;
  set->weights.dtype = (DLDataType){kDLFloat, 64, 1};
  set->molecules.data = set->molecule;
  set->molecules.dtype = (DLDataType){kDLInt, 64, 1};
  set->points = (rung_points){.at = &set->at,
                              .weights = weights ? &set->weights : NULL,
                              .molecules = molecules ? &set->molecules : NULL};
}

/* Room for `count` points, of which nothing is kept. */
static rung_status make_room(pairs_set *set, int64_t count, rung_dtype dtype, bool weights,
                             bool molecules, rung_error *error) {
  if (count > set->capacity || set->dtype != dtype || !set->memory) {
    const size_t places = count > 0 ? (size_t)count : 1;
    forget(set);
    set->dtype = dtype;
    set->memory = malloc(3 * places * rung_dtype_bytes(dtype));
    if (weights) set->weight = malloc(places * sizeof *set->weight);
    if (molecules) set->molecule = malloc(places * sizeof *set->molecule);
    if (!set->memory || (weights && !set->weight) || (molecules && !set->molecule))
      return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %lld points", (long long)count);
    set->capacity = count;
  }
  return RUNG_OK;
}

static rung_status fill(const pairs_request *r, const points_frame *frame, const char *list,
                        rung_dtype dtype, pairs_set *set, rung_error *error) {
  const double *weights = r->weights_path ? r->weights.tensor.data : frame->weights;
  const rung_traits *traits = rung_traits_of(dtype);
  int64_t count = 0;
  for (int64_t i = 0; i < frame->count; i++) count += chosen(list, frame, i);
  rung_status status = make_room(set, count, dtype, r->weighted, r->exclude, error);
  if (status) return status;
  count = 0;
  for (int64_t i = 0; i < frame->count; i++) {
    if (!chosen(list, frame, i)) continue;
    for (int axis = 0; axis < 3; axis++) {
      const double at = frame->at[i][axis];
      char *to = (char *)set->memory + (3 * count + axis) * (int64_t)traits->bytes;
      traits->store(to, at);
      if (!isfinite(traits->load(to)))
        return rung_fail(
            error, RUNG_BAD_FILE,
            "%s: frame %lld: point %lld: %c is %g, which %s cannot hold; expected: --type f64",
            r->path, (long long)frame->number, (long long)i + 1, "xyz"[axis], at, traits -> name);
    }
    if (r->weighted) set->weight[count] = weights[i];
    if (r->exclude) set->molecule[count] = frame->molecules[i];
    count++;
  }
  describe(set, count, r->weighted, r->exclude);
  return RUNG_OK;
}

/* ---- both -------------------------------------------------------------------------------------
 */

static rung_status check(const pairs_request *r, const points_frame *frame, rung_error *error) {
  const long long number = (long long)frame->number;
  if (r->select && frame->count > 0 && !frame->labels)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s: frame %lld names no points: --select and --with cannot choose any",
                     r->path, number);
  if (r->exclude && frame->count > 0 && !frame->molecules)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s: frame %lld has no molecules for --exclude-molecules", r->path, number);
  if (r->weights_path && r->weights.shape[0] != frame->count)
    return rung_fail(error, RUNG_BAD_FILE,
                     "%s: holds %lld weights, and frame %lld of %s %lld points", r->weights_path,
                     (long long)r->weights.shape[0], number, r->path, (long long)frame->count);
  return RUNG_OK;
}

static rung_status refuse_none(const pairs_request *r, const points_frame *frame,
                               const char *option, const char *list, rung_error *error) {
  char names[160];
  list_names(frame, names, sizeof names);
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "%s '%.60s' chooses none of the points of frame %lld of %s; some of its names: "
                   "%s",
                   option, list, (long long)frame->number, r->path, names);
}

/* A point of both sets would be paired with itself. */
static rung_status refuse_common(const pairs_request *r, const points_frame *frame,
                                 rung_error *error) {
  for (int64_t i = 0; i < frame->count; i++)
    if (chosen(r->select, frame, i) && chosen(r->with, frame, i))
      return rung_fail(
          error, RUNG_BAD_ARGUMENT,
          "--select '%.60s' and --with '%.60s' both choose point %lld, '%s'; expected: the same "
          "list twice, or lists without a point in common",
          r->select, r->with, (long long)i + 1, frame->labels[i].name);
  return RUNG_OK;
}

rung_status pairs_select(const cli_common *common, const pairs_request *r,
                         const points_frame *frame, pairs_sets *sets, rung_error *error) {
  const rung_dtype dtype = common->typed ? common->type : RUNG_F64;
  rung_status status = check(r, frame, error);
  if (status) return status;
  sets->cross = r->with && strcmp(r->select, r->with) != 0;
  if (sets->cross) status = refuse_common(r, frame, error);
  if (!status) status = fill(r, frame, r->select, dtype, &sets->a, error);
  if (!status && sets->cross) status = fill(r, frame, r->with, dtype, &sets->b, error);
  if (status || frame->count == 0) return status;
  if (r->select && sets->a.shape[0] == 0)
    return refuse_none(r, frame, "--select", r->select, error);
  if (sets->cross && sets->b.shape[0] == 0) return refuse_none(r, frame, "--with", r->with, error);
  return RUNG_OK;
}

rung_status pairs_draw(const pairs_set *from, int64_t count, uint64_t seed, pairs_set *to,
                       rung_error *error) {
  const int64_t all = from->shape[0];
  const size_t point = 3 * rung_dtype_bytes(from->dtype);
  const bool weights = from->points.weights != NULL, molecules = from->points.molecules != NULL;
  unsigned short random[3] = {(unsigned short)seed, (unsigned short)(seed >> 16),
                              (unsigned short)(seed >> 32)};
  if (count > all) count = all;
  int64_t *places = malloc(((size_t)all + 1) * sizeof *places);
  rung_status status = places ? make_room(to, count, from->dtype, weights, molecules, error)
                              : rung_fail(error, RUNG_OUT_OF_MEMORY,
                                          "no memory to draw from %lld points", (long long)all);
  for (int64_t i = 0; i < all && !status; i++) places[i] = i;
  for (int64_t i = 0; i < count && !status; i++) {
    const int64_t other = i + nrand48(random) % (all - i);
    const int64_t at = places[other];
    places[other] = places[i];
    memcpy((char *)to->memory + (size_t)i * point, (const char *)from->memory + (size_t)at * point,
           point);
    if (weights) to->weight[i] = from->weight[at];
    if (molecules) to->molecule[i] = from->molecule[at];
  }
  free(places);
  if (!status) describe(to, count, weights, molecules);
  return status;
}
