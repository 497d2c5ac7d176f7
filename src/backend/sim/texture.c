/* Texture objects: numbers from 1 on of what the opened device has been asked to show, kept until
 * it is closed. What is fetched through one is watched as any other read is. */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/sim.h"

rung_status rung_sim_texture(const rung_task *task, const rung_texture *shown,
                             unsigned long long *object) {
  rung_state *state = task->stream;
  *object = 0;
  if ((uintptr_t)shown->data % RUNG_TEXTURE_ALIGNMENT != 0 || !rung_texture_fits(shown))
    return rung_fail(task->error, RUNG_DEVICE_FAILED,
                     "a texture of %lld rows of %lld elements of %d bytes, %lld bytes apart, from "
                     "address %p on: invalid argument; expected: what backend/texture.h says",
                     (long long)shown->height, (long long)shown->width,
                     rung_texel_bytes(shown->texel), (long long)shown->pitch, shown->data);
  int i = 0;
  while (i < state->texture_count && !rung_texture_is(&state->textures[i], shown)) i++;
  if (i == state->texture_count) {
    rung_texture *more = realloc(state->textures, ((size_t)i + 1) * sizeof *more);
    if (more == NULL) return rung_fail(task->error, RUNG_OUT_OF_MEMORY, "out of host memory");
    state->textures = more;
    state->textures[state->texture_count++] = *shown;
  }
  *object = (unsigned long long)i + 1;
  return RUNG_OK;
}

/* What a thread reads through; NULL: the launch has failed, for there is no such thing. */
static const rung_texture *texture_of(sim_thread *self, unsigned long long object, rung_texel texel,
                                      bool rows, sim_pc pc) {
  const rung_state *state = self->block->worker->state;
  sim_run *run = self->block->worker->run;
  char thread[96], line[160];
  const bool known = object > 0 && object <= (unsigned long long)state->texture_count;
  const rung_texture *found = known ? &state->textures[object - 1] : NULL;
  if (known && found->texel == texel && (found->height > 0) == rows) return found;
  sim_thread_text(self, thread, sizeof thread);
  sim_line_text(pc, line, sizeof line);
  if (!known)
    sim_fail(run, "%s reads at %s through texture %llu, which nobody made", thread, line, object);
  else if (found->texel != texel)
    sim_fail(run, "%s reads elements of %d bytes at %s through a texture of elements of %d bytes",
             thread, rung_texel_bytes(texel), line, rung_texel_bytes(found->texel));
  else
    sim_fail(run, "%s reads at %s %s through a texture of %s", thread, line,
             rows ? "rows" : "a line", rows ? "a line" : "rows");
  sim_yield(self);
  return NULL;
}

static uint64_t texel(sim_thread *self, const rung_texture *texture, int64_t row, int64_t column,
                      sim_pc pc) {
  const size_t bytes = (size_t)rung_texel_bytes(texture->texel);
  const char *at =
      (const char *)texture->data + (size_t)(row * texture->pitch) + (size_t)column * bytes;
  uint64_t value = 0;
  if (self->watched) sim_touch_texel(self, texture->data, at, bytes, pc);
  memcpy(&value, at, bytes);
  return value;
}

/* The element of a coordinate; -1: beyond a border. */
static int64_t place(float at, int64_t count, bool border) {
  if (!(at >= 0)) return border ? -1 : 0;
  if (at >= (float)count) return border ? -1 : count - 1;
  return (int64_t)at;
}

uint64_t rung_sim_tex2d(unsigned long long object, float x, float y, rung_texel kind) {
  sim_thread *self = sim_self;
  const sim_pc pc = (sim_pc)__builtin_return_address(0);
  const rung_texture *texture = texture_of(self, object, kind, true, pc);
  if (texture == NULL) return 0;
  const int64_t column = place(x, texture->width, texture->border);
  const int64_t row = place(y, texture->height, texture->border);
  return row < 0 || column < 0 ? 0 : texel(self, texture, row, column, pc);
}

/* A line has no nearest element: beyond it is 0, on a GPU too. */
uint64_t rung_sim_tex1d(unsigned long long object, int x, rung_texel kind) {
  sim_thread *self = sim_self;
  const sim_pc pc = (sim_pc)__builtin_return_address(0);
  const rung_texture *texture = texture_of(self, object, kind, false, pc);
  if (texture == NULL || x < 0 || x >= texture->width) return 0;
  return texel(self, texture, 0, x, pc);
}
