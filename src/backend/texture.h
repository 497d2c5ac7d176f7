/* What a texture object shows: elements in the device's memory, in rows or in one line. Objects are
 * made by RUNG_TEXTURE (backend/gpu.h). */
#ifndef RUNG_BACKEND_TEXTURE_H
#define RUNG_BACKEND_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Elements that a fetch gives as they are. One of 8 bytes comes as an int2, low half first. */
typedef enum rung_texel {
  RUNG_TEXEL_U8,
  RUNG_TEXEL_U16,
  RUNG_TEXEL_F32,
  RUNG_TEXEL_INT2
} rung_texel;

/* What every GPU of capability 7.5 or later takes: docs/results has what one says of itself. */
enum {
  RUNG_TEXTURE_ALIGNMENT = 512,      /* bytes; of the first element's address */
  RUNG_TEXTURE_PITCH = 32,           /* bytes from a row to the next are a multiple of this, */
  RUNG_TEXTURE_PITCH_MOST = 2097120, /* and at most so many */
  RUNG_TEXTURE_WIDTH = 131072,       /* elements of a row, at most */
  RUNG_TEXTURE_HEIGHT = 65000,       /* rows, at most */
  RUNG_TEXTURE_LINE = 1 << 27        /* elements of a line, at most */
};

typedef struct rung_texture {
  const void *data;
  rung_texel texel;
  int64_t width, height, pitch; /* elements of a row; rows; bytes from a row to the next. height 0:
                                   a line of `width` elements */
  bool border;                  /* what lies beyond the rows is 0; else the nearest element */
} rung_texture;

static inline int rung_texel_bytes(rung_texel texel) {
  static const int bytes[] = {1, 2, 4, 8};
  return bytes[texel];
}

static inline bool rung_texture_is(const rung_texture *a, const rung_texture *b) {
  return a->data == b->data && a->texel == b->texel && a->width == b->width &&
         a->height == b->height && a->pitch == b->pitch && a->border == b->border;
}

/* Whether it is within the limits above, but for the address. */
static inline bool rung_texture_fits(const rung_texture *t) {
  if (t->height == 0) return t->width > 0 && t->width <= RUNG_TEXTURE_LINE;
  return t->width > 0 && t->width <= RUNG_TEXTURE_WIDTH && t->height > 0 &&
         t->height <= RUNG_TEXTURE_HEIGHT && t->pitch % RUNG_TEXTURE_PITCH == 0 &&
         t->pitch <= RUNG_TEXTURE_PITCH_MOST && t->pitch >= t->width * rung_texel_bytes(t->texel);
}

#endif
