/* CUDA's vector types: aligned as the GPU loads them, in one access. */
#ifndef RUNG_BACKEND_SIM_TYPES_H
#define RUNG_BACKEND_SIM_TYPES_H

#define RUNG_SIM_VECTOR2(name, type, alignment)     \
  struct __attribute__((aligned(alignment))) name { \
    type x, y;                                      \
  };                                                \
  static inline name make_##name(type x, type y) {  \
    return {x, y};                                  \
  }
#define RUNG_SIM_VECTOR3(name, type)                       \
  struct name {                                            \
    type x, y, z;                                          \
  };                                                       \
  static inline name make_##name(type x, type y, type z) { \
    return {x, y, z};                                      \
  }
#define RUNG_SIM_VECTOR4(name, type, alignment)                    \
  struct __attribute__((aligned(alignment))) name {                \
    type x, y, z, w;                                               \
  };                                                               \
  static inline name make_##name(type x, type y, type z, type w) { \
    return {x, y, z, w};                                           \
  }
#define RUNG_SIM_VECTORS(name, type, alignment2, alignment4) \
  struct name##1 {                                           \
    type x;                                                  \
  };                                                         \
  RUNG_SIM_VECTOR2(name##2, type, alignment2)                \
  RUNG_SIM_VECTOR3(name##3, type)                            \
  RUNG_SIM_VECTOR4(name##4, type, alignment4)

RUNG_SIM_VECTORS(char, signed char, 2, 4)
RUNG_SIM_VECTORS(uchar, unsigned char, 2, 4)
RUNG_SIM_VECTORS(short, short, 4, 8)
RUNG_SIM_VECTORS(ushort, unsigned short, 4, 8)
RUNG_SIM_VECTORS(int, int, 8, 16)
RUNG_SIM_VECTORS(uint, unsigned, 8, 16)
RUNG_SIM_VECTORS(longlong, long long, 16, 16)
RUNG_SIM_VECTORS(ulonglong, unsigned long long, 16, 16)
RUNG_SIM_VECTORS(float, float, 8, 16)
RUNG_SIM_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

#endif
