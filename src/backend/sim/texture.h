/* Texture objects, read as they are, at the nearest element, by coordinates that count elements:
 * what filters of images use. Interpolation, and coordinates from 0 to 1, are not there. */
#ifndef RUNG_BACKEND_SIM_TEXTURE_H
#define RUNG_BACKEND_SIM_TEXTURE_H

#define RUNG_TEXTURE(task, shown, object) RUNG_SIM_TRY(rung_sim_texture((task), (shown), (object)))

typedef unsigned long long cudaTextureObject_t;

template <typename T>
struct rung_sim_texel_of;
template <>
struct rung_sim_texel_of<unsigned char> {
  static constexpr rung_texel texel = RUNG_TEXEL_U8;
};
template <>
struct rung_sim_texel_of<unsigned short> {
  static constexpr rung_texel texel = RUNG_TEXEL_U16;
};
template <>
struct rung_sim_texel_of<float> {
  static constexpr rung_texel texel = RUNG_TEXEL_F32;
};
template <>
struct rung_sim_texel_of<int2> {
  static constexpr rung_texel texel = RUNG_TEXEL_INT2;
};

template <typename T>
RUNG_SIM_INLINE T tex2D(cudaTextureObject_t object, float x, float y) {
  return rung_sim_bits<T>(rung_sim_tex2d(object, x, y, rung_sim_texel_of<T>::texel));
}
template <typename T>
RUNG_SIM_INLINE T tex1Dfetch(cudaTextureObject_t object, int x) {
  return rung_sim_bits<T>(rung_sim_tex1d(object, x, rung_sim_texel_of<T>::texel));
}

#endif
