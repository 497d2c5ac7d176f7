/* The image as a texture shows it, for the ladder and the rung. */
#ifndef RUNG_CORRELATE_TEXTURE_H
#define RUNG_CORRELATE_TEXTURE_H

#include "backend/texture.h"
#include "ops/correlate/correlate.h"

/* Elements that may lie between an address that a texture can begin at and the view. */
static inline int64_t correlate_texture_margin(const correlate_problem *p) {
  return RUNG_TEXTURE_ALIGNMENT / (int64_t)rung_dtype_bytes(p->types.in);
}

/* Elements from a row of the view to the next; backwards, none, or anything where there is one row.
 */
static inline int64_t correlate_texture_step(const rung_view *in) {
  return in->shape[0] > 1 ? in->stride[0] : 0;
}

/* The view's rows where they are as far apart as a texture's must be, else one line of all that
 * lies between its ends; either begins `before` elements earlier, where the hardware lets a texture
 * begin. */
static inline rung_texture correlate_texture_of(const rung_task *task, int64_t before) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const rung_view *in = &task->arrays[CORRELATE_IN];
  const int64_t bytes = (int64_t)rung_dtype_bytes(p->types.in), width = before + in->shape[1];
  const int64_t step = correlate_texture_step(in), span = (in->shape[0] - 1) * step;
  const int64_t least = (width * bytes + RUNG_TEXTURE_PITCH - 1) / RUNG_TEXTURE_PITCH;
  rung_texture shown = {.data = NULL,
                        .texel = bytes == 1   ? RUNG_TEXEL_U8
                                 : bytes == 2 ? RUNG_TEXEL_U16
                                 : bytes == 4 ? RUNG_TEXEL_F32
                                              : RUNG_TEXEL_INT2,
                        .width = width,
                        .height = in->shape[0],
                        .pitch = in->shape[0] > 1 ? step * bytes : least * RUNG_TEXTURE_PITCH,
                        .border = p->edge == RUNG_EDGE_CONSTANT};
  if (rung_texture_fits(&shown)) return shown;
  shown.width = width + (span < 0 ? -span : span);
  shown.height = shown.pitch = 0;
  return shown;
}

/* Whether the hardware's rule for what lies beyond the rows is the job's: it knows the nearest
 * element, which of several channels is another's, and zero. */
static inline bool correlate_texture_knows(const correlate_problem *p) {
  if (p->edge == RUNG_EDGE_CONSTANT) return p->edge_value == 0;
  return p->edge == RUNG_EDGE_NEAREST && p->channels == 1;
}

#endif
