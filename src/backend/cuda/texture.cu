/* Texture objects: made when a launch first shows some memory in some way, kept with the opened
 * device, and given again for the same. A kernel that is queued, and a graph that holds it, may
 * read through an object after the launch has returned, so none is destroyed before its stream is
 * empty; what a graph may hold lives until the device is closed. Nothing here waits. */
#include <stdlib.h>

#include "backend/cuda/state.h"
#include "backend/cuda/surface.h"

enum { KEPT = 64 }; /* objects; beyond, those are destroyed that nothing can use any more */

struct rung_cuda_shown {
  rung_cuda_shown *next;
  rung_texture shown;
  cudaTextureObject_t object;
  bool captured;
};

static cudaChannelFormatDesc format_of(rung_texel texel) {
  switch (texel) {
    case RUNG_TEXEL_U8:
      return cudaCreateChannelDesc<unsigned char>();
    case RUNG_TEXEL_U16:
      return cudaCreateChannelDesc<unsigned short>();
    case RUNG_TEXEL_F32:
      return cudaCreateChannelDesc<float>();
    default:
      return cudaCreateChannelDesc<int2>();
  }
}

static cudaResourceDesc resource_of(const rung_texture *shown) {
  cudaResourceDesc resource = {};
  if (shown->height == 0) {
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void *>(shown->data);
    resource.res.linear.desc = format_of(shown->texel);
    resource.res.linear.sizeInBytes = (size_t)(shown->width * rung_texel_bytes(shown->texel));
  } else {
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<void *>(shown->data);
    resource.res.pitch2D.desc = format_of(shown->texel);
    resource.res.pitch2D.width = (size_t)shown->width;
    resource.res.pitch2D.height = (size_t)shown->height;
    resource.res.pitch2D.pitchInBytes = (size_t)shown->pitch;
  }
  return resource;
}

/* Destroys what no graph may hold, or everything. */
static void drop(rung_state *state, bool all) {
  for (rung_cuda_shown **at = &state->textures; *at;) {
    rung_cuda_shown *kept = *at;
    if (kept->captured && !all) {
      at = &kept->next;
      continue;
    }
    *at = kept->next;
    if (cudaDestroyTextureObject(kept->object) != cudaSuccess) (void)cudaGetLastError();
    free(kept);
  }
  state->texture_count = 0;
}

void rung_cuda_textures_end(rung_state *state) {
  drop(state, true);
}

/* A stream that still works keeps its objects, however many they become. */
static void make_room(rung_state *state) {
  if (state->texture_count < KEPT) return;
  if (cudaStreamQuery(state->stream) == cudaSuccess)
    drop(state, false);
  else
    (void)cudaGetLastError();
}

rung_status rung_cuda_texture(const rung_task *task, const rung_texture *shown,
                              cudaTextureObject_t *object) {
  rung_state *state = task->state;
  rung_error *error = task->error;
  *object = 0;
  RUNG_CHECK(rung_cuda_enter(state, error));
  const bool capturing = rung_cuda_is_capturing(state);
  for (rung_cuda_shown *kept = state->textures; kept; kept = kept->next)
    if (rung_texture_is(&kept->shown, shown)) {
      state->texture_count -= capturing && !kept->captured;
      kept->captured = kept->captured || capturing;
      *object = kept->object;
      return RUNG_OK;
    }
  if (!capturing) make_room(state);
  rung_cuda_shown *made = (rung_cuda_shown *)calloc(1, sizeof *made);
  if (!made) return rung_fail(error, RUNG_OUT_OF_MEMORY, "out of host memory for a texture object");
  const cudaResourceDesc resource = resource_of(shown);
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] =
      shown->border ? cudaAddressModeBorder : cudaAddressModeClamp;
  how.filterMode = cudaFilterModePoint;
  how.readMode = cudaReadModeElementType;
  const rung_cuda_beside_capture passes;
  const cudaError_t code = cudaCreateTextureObject(&made->object, &resource, &how, NULL);
  if (code != cudaSuccess) {
    free(made);
    return rung_cuda_failed(
        error, code, "making a texture of %lld rows of %lld elements, %lld bytes apart",
        (long long)shown->height, (long long)shown->width, (long long)shown->pitch);
  }
  made->shown = *shown;
  made->captured = capturing;
  made->next = state->textures;
  state->textures = made;
  state->texture_count += !capturing;
  *object = made->object;
  return RUNG_OK;
}
