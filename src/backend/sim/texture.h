/* Texture objects over rows of device memory (cudaResourceTypePitch2D) or a line of it
 * (cudaResourceTypeLinear), read as they are, at the nearest element, by coordinates that count
 * elements: what filters of images use. Coordinates outside go to the nearest edge or give 0.
 * Interpolation, and coordinates that count from 0 to 1, are refused. */
#ifndef RUNG_BACKEND_SIM_TEXTURE_H
#define RUNG_BACKEND_SIM_TEXTURE_H

typedef enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorNotSupported = 801
} cudaError_t;
typedef unsigned long long cudaTextureObject_t; /* the address of a rung_sim_texture */

enum cudaResourceType { cudaResourceTypeLinear = 2, cudaResourceTypePitch2D = 3 };
enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2
};

struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
struct cudaResourceDesc {
  cudaResourceType resType;
  struct {
    struct {
      void *devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void *devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int normalizedCoords;
};
struct cudaResourceViewDesc;

struct rung_sim_texture {
  const char *data;
  long long width, height;
  size_t pitch;
  bool border[2];
};

template <typename T>
static inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  const cudaChannelFormatKind kind = T(0.5) != T(0) ? cudaChannelFormatKindFloat
                                     : T(-1) < T(0) ? cudaChannelFormatKindSigned
                                                    : cudaChannelFormatKindUnsigned;
  return {(int)sizeof(T) * 8, 0, 0, 0, kind};
}

static inline size_t rung_sim_element(const cudaChannelFormatDesc &desc) {
  return (size_t)(desc.x + desc.y + desc.z + desc.w) / 8;
}

static inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                                  const cudaResourceDesc *resource,
                                                  const cudaTextureDesc *how,
                                                  const cudaResourceViewDesc *view) {
  if (view != NULL || how->filterMode != cudaFilterModePoint ||
      how->readMode != cudaReadModeElementType || how->normalizedCoords)
    return cudaErrorNotSupported;
  rung_sim_texture made = {};
  if (resource->resType == cudaResourceTypePitch2D) {
    const auto &rows = resource->res.pitch2D;
    if (rows.pitchInBytes % 32 != 0 || (uintptr_t)rows.devPtr % 512 != 0)
      return cudaErrorInvalidValue; /* as a GPU's texture units demand */
    made.data = static_cast<const char *>(rows.devPtr);
    made.width = (long long)rows.width;
    made.height = (long long)rows.height;
    made.pitch = rows.pitchInBytes;
  } else {
    const auto &line = resource->res.linear;
    made.data = static_cast<const char *>(line.devPtr);
    made.width = (long long)(line.sizeInBytes / rung_sim_element(line.desc));
    made.height = 1;
  }
  /* Wrapping and mirroring need coordinates that count from 0 to 1: else they clamp, as CUDA
   * says. */
  for (int d = 0; d < 2; d++) made.border[d] = how->addressMode[d] == cudaAddressModeBorder;
  rung_sim_texture *kept = static_cast<rung_sim_texture *>(malloc(sizeof made));
  if (kept == NULL) return cudaErrorInvalidValue;
  *kept = made;
  *object = (cudaTextureObject_t)(uintptr_t)kept;
  return cudaSuccess;
}

static inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  free(reinterpret_cast<void *>((uintptr_t)object));
  return cudaSuccess;
}

/* The element of a coordinate; -1: beyond a border. */
static inline long long rung_sim_texel(float at, long long count, bool border) {
  if (!(at >= 0)) return border ? -1 : 0;
  if (at >= (float)count) return border ? -1 : count - 1;
  return (long long)at;
}

template <typename T>
static inline T tex2D(cudaTextureObject_t object, float x, float y) {
  const rung_sim_texture *t = reinterpret_cast<const rung_sim_texture *>((uintptr_t)object);
  const long long column = rung_sim_texel(x, t->width, t->border[0]);
  const long long row = rung_sim_texel(y, t->height, t->border[1]);
  if (column < 0 || row < 0) return T();
  return reinterpret_cast<const T *>(t->data + (size_t)row * t->pitch)[column];
}

template <typename T>
static inline T tex1Dfetch(cudaTextureObject_t object, int x) {
  const rung_sim_texture *t = reinterpret_cast<const rung_sim_texture *>((uintptr_t)object);
  return x < 0 || x >= t->width ? T() : reinterpret_cast<const T *>(t->data)[x];
}

#endif
