/* CUDA's functions that kernels call: barriers, warp exchanges, atomics, arithmetic whose rounding
 * is stated, bits. Semantics are those of the CUDA C++ programming guide; what is not IEEE there
 * (__expf and its like) is left out. */
#ifndef RUNG_BACKEND_SIM_INTRINSICS_H
#define RUNG_BACKEND_SIM_INTRINSICS_H

#define RUNG_SIM_INLINE static inline __attribute__((always_inline))

/* ---- bits of one type read as another -------------------------------------------------------- */

template <typename To, typename From>
RUNG_SIM_INLINE To rung_sim_bits(From from) {
  To to = {};
  memcpy(&to, &from, sizeof from < sizeof to ? sizeof from : sizeof to);
  return to;
}
RUNG_SIM_INLINE int __float_as_int(float x) {
  return rung_sim_bits<int>(x);
}
RUNG_SIM_INLINE unsigned __float_as_uint(float x) {
  return rung_sim_bits<unsigned>(x);
}
RUNG_SIM_INLINE float __int_as_float(int x) {
  return rung_sim_bits<float>(x);
}
RUNG_SIM_INLINE float __uint_as_float(unsigned x) {
  return rung_sim_bits<float>(x);
}
RUNG_SIM_INLINE long long __double_as_longlong(double x) {
  return rung_sim_bits<long long>(x);
}
RUNG_SIM_INLINE double __longlong_as_double(long long x) {
  return rung_sim_bits<double>(x);
}

/* ---- barriers and fences -------------------------------------------------------------------- */

RUNG_SIM_INLINE void __syncthreads() {
  rung_sim_barrier(RUNG_SIM_NO_VOTE, 0);
}
RUNG_SIM_INLINE int __syncthreads_count(int p) {
  return rung_sim_barrier(RUNG_SIM_COUNT, p);
}
RUNG_SIM_INLINE int __syncthreads_and(int p) {
  return rung_sim_barrier(RUNG_SIM_ALL, p);
}
RUNG_SIM_INLINE int __syncthreads_or(int p) {
  return rung_sim_barrier(RUNG_SIM_ANY, p);
}
template <int THREADS, int SIDE>
RUNG_SIM_INLINE void rung_sides_meet() {
  rung_sim_barrier(RUNG_SIM_SIDES, 0);
}
RUNG_SIM_INLINE void rung_keep_order() {}
RUNG_SIM_INLINE void __threadfence_block() {
  rung_sim_fence();
}
RUNG_SIM_INLINE void __threadfence() {
  rung_sim_fence();
}
RUNG_SIM_INLINE void __threadfence_system() {
  rung_sim_fence();
}
RUNG_SIM_INLINE void __nanosleep(unsigned) {
  rung_sim_poll();
}

/* ---- warp exchanges ------------------------------------------------------------------------- */

RUNG_SIM_INLINE int rung_sim_lane() {
  const rung_sim_index t = rung_sim_thread_index(), b = rung_sim_block_shape();
  return (int)((t.x + b.x * (t.y + b.y * t.z)) % 32);
}
RUNG_SIM_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
  rung_sim_exchange_values(RUNG_SIM_SYNC, mask, 0, 0);
}
/* From lane `from`, or its own value where that lies outside the caller's segment: said without a
 * branch, which would be counted as one of the kernel's. */
template <typename T>
RUNG_SIM_INLINE T rung_sim_shuffle(unsigned mask, T value, int from, bool inside) {
  static_assert(sizeof(T) <= 8, "a shuffle moves 4 or 8 bytes");
  const uint64_t got = rung_sim_exchange_values(
      RUNG_SIM_SHUFFLE, mask, rung_sim_bits<uint64_t>(value), from | -(int)!inside);
  return rung_sim_bits<T>(got);
}
template <typename T>
RUNG_SIM_INLINE T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const int base = rung_sim_lane() & ~(width - 1);
  return rung_sim_shuffle(mask, value, base + (from & (width - 1)), true);
}
template <typename T>
RUNG_SIM_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int lane = rung_sim_lane(), base = lane & ~(width - 1), from = lane - (int)(by & 31);
  return rung_sim_shuffle(mask, value, from, from >= base);
}
template <typename T>
RUNG_SIM_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int lane = rung_sim_lane(), end = (lane & ~(width - 1)) + width;
  const int from = lane + (int)(by & 31);
  return rung_sim_shuffle(mask, value, from, from < end);
}
template <typename T>
RUNG_SIM_INLINE T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32) {
  const int lane = rung_sim_lane(), from = lane ^ (with & 31), end = (lane & ~(width - 1)) + width;
  return rung_sim_shuffle(mask, value, from, from < end);
}

/* ---- tensor cores: t += a b, see backend/gpu.h ----------------------------------------------- */

/* A lane's operands, and those that it needs: of its row's four lanes, and of two columns' four. */
template <typename Operands>
struct rung_sim_tile {
  Operands row[4], column[2][4];
};
template <typename Operands>
RUNG_SIM_INLINE void rung_sim_take(const Operands *mine, rung_sim_tile<Operands> *tile) {
  const int g = rung_sim_lane() / 4, q = rung_sim_lane() % 4;
  uint8_t lanes[12];
  for (int i = 0; i < 12; i++) lanes[i] = (uint8_t)(i < 4 ? 4 * g + i : 8 * q + i - 4);
  rung_sim_trade(mine, sizeof *mine, lanes, 12, tile);
}
template <int STEPS>
struct rung_sim_doubles {
  double a[STEPS / 2], b[STEPS / 4];
};
template <int QUARTER>
RUNG_SIM_INLINE void rung_mma_f64(double (&t)[4], const double (&a)[2 * QUARTER],
                                  const double (&b)[QUARTER]) {
  constexpr int STEPS = 4 * QUARTER;
  rung_sim_doubles<STEPS> mine;
  rung_sim_tile<rung_sim_doubles<STEPS>> tile;
  for (int i = 0; i < STEPS / 2; i++) mine.a[i] = a[i];
  for (int i = 0; i < STEPS / 4; i++) mine.b[i] = b[i];
  rung_sim_take(&mine, &tile);
  for (int l = 0; l < STEPS; l++)
    for (int e = 0; e < 4; e++)
      t[e] = fma(tile.row[l % 4].a[l / 4 * 2 + e / 2], tile.column[e % 2][l % 4].b[l / 4], t[e]);
}
/* Four products of bytes, added up modulo 2^32. */
RUNG_SIM_INLINE int __dp4a(int a, int b, int c) {
  unsigned sum = (unsigned)c;
  for (int i = 0; i < 32; i += 8) sum += (unsigned)((int8_t)(a >> i) * (int8_t)(b >> i));
  return (int)sum;
}
/* Likewise, a's bytes without a sign. */
RUNG_SIM_INLINE int rung_dot_u8s8(unsigned a, int b, int c) {
  unsigned sum = (unsigned)c;
  for (int i = 0; i < 32; i += 8) sum += (unsigned)((uint8_t)(a >> i) * (int8_t)(b >> i));
  return (int)sum;
}
RUNG_SIM_INLINE void rung_sim_mma_8(int *t, const rung_sim_bytes &mine, bool b_signed) {
  rung_sim_tile<rung_sim_bytes> tile;
  rung_sim_take(&mine, &tile);
  rung_sim_products(tile.row, tile.column[0], b_signed, t);
}
RUNG_SIM_INLINE void rung_mma_s8(int *t, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                 unsigned b0, unsigned b1) {
  rung_sim_mma_8(t, {{a0, a1, a2, a3}, {b0, b1}}, true);
}
RUNG_SIM_INLINE void rung_mma_s8u8(int *t, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                   unsigned b0, unsigned b1) {
  rung_sim_mma_8(t, {{a0, a1, a2, a3}, {b0, b1}}, false);
}
RUNG_SIM_INLINE unsigned rung_sim_byte(int x) {
  return (unsigned)(x < 0 ? 0 : x > 255 ? 255 : x);
}
RUNG_SIM_INLINE unsigned rung_pack_u8(int a, int b, int c, int d) {
  return rung_sim_byte(a) | rung_sim_byte(b) << 8 | rung_sim_byte(c) << 16 | rung_sim_byte(d) << 24;
}

/* ---- votes and reductions of a warp ---------------------------------------------------------- */

RUNG_SIM_INLINE unsigned __ballot_sync(unsigned mask, int p) {
  return (unsigned)rung_sim_exchange_values(RUNG_SIM_BALLOT, mask, p != 0, 0);
}
RUNG_SIM_INLINE int __any_sync(unsigned mask, int p) {
  return __ballot_sync(mask, p) != 0;
}
RUNG_SIM_INLINE int __all_sync(unsigned mask, int p) {
  return __ballot_sync(mask, !p) == 0;
}
/* Which other lanes run along is nobody's promise: the caller does. */
RUNG_SIM_INLINE unsigned __activemask() {
  return 1u << rung_sim_lane();
}
template <typename T>
RUNG_SIM_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  return (unsigned)rung_sim_exchange_values(RUNG_SIM_MATCH_ANY, mask,
                                            rung_sim_bits<uint64_t>(value), 0);
}
template <typename T>
RUNG_SIM_INLINE unsigned __match_all_sync(unsigned mask, T value, int *all) {
  const unsigned found = (unsigned)rung_sim_exchange_values(RUNG_SIM_MATCH_ALL, mask,
                                                            rung_sim_bits<uint64_t>(value), 0);
  *all = found != 0;
  return found;
}
#define RUNG_SIM_REDUCE(name, type, kind)                                            \
  RUNG_SIM_INLINE type name(unsigned mask, type value) {                             \
    return (type)(uint32_t)rung_sim_exchange_values(kind, mask, (uint32_t)value, 0); \
  }
RUNG_SIM_REDUCE(__reduce_add_sync, unsigned, RUNG_SIM_ADD)
RUNG_SIM_REDUCE(__reduce_add_sync, int, RUNG_SIM_ADD)
RUNG_SIM_REDUCE(__reduce_min_sync, unsigned, RUNG_SIM_MIN_UNSIGNED)
RUNG_SIM_REDUCE(__reduce_min_sync, int, RUNG_SIM_MIN_SIGNED)
RUNG_SIM_REDUCE(__reduce_max_sync, unsigned, RUNG_SIM_MAX_UNSIGNED)
RUNG_SIM_REDUCE(__reduce_max_sync, int, RUNG_SIM_MAX_SIGNED)
RUNG_SIM_REDUCE(__reduce_and_sync, unsigned, RUNG_SIM_AND)
RUNG_SIM_REDUCE(__reduce_or_sync, unsigned, RUNG_SIM_OR)
RUNG_SIM_REDUCE(__reduce_xor_sync, unsigned, RUNG_SIM_XOR)

/* ---- atomics -------------------------------------------------------------------------------- */

template <typename T>
struct rung_sim_number_of;
#define RUNG_SIM_NUMBER(type, number)             \
  template <>                                     \
  struct rung_sim_number_of<type> {               \
    static constexpr rung_sim_number is = number; \
  };
RUNG_SIM_NUMBER(int, RUNG_SIM_I32)
RUNG_SIM_NUMBER(unsigned, RUNG_SIM_U32)
RUNG_SIM_NUMBER(long, RUNG_SIM_I64)
RUNG_SIM_NUMBER(long long, RUNG_SIM_I64)
RUNG_SIM_NUMBER(unsigned long, RUNG_SIM_U64)
RUNG_SIM_NUMBER(unsigned long long, RUNG_SIM_U64)
RUNG_SIM_NUMBER(float, RUNG_SIM_F32)
RUNG_SIM_NUMBER(double, RUNG_SIM_F64)

template <typename T>
RUNG_SIM_INLINE T rung_sim_atomic_on(rung_sim_atomic op, const T *at, T value, T compare) {
  return rung_sim_bits<T>(rung_sim_atomic_op(op, rung_sim_number_of<T>::is, (void *)at,
                                             rung_sim_bits<uint64_t>(value),
                                             rung_sim_bits<uint64_t>(compare)));
}
/* The value's type follows the address's, as CUDA's overloads make it. */
template <typename T>
struct rung_sim_same {
  typedef T type;
};
#define RUNG_SIM_ATOMIC(name, op)                                                 \
  template <typename T>                                                           \
  RUNG_SIM_INLINE T name(T *at, typename rung_sim_same<T>::type value) {          \
    return rung_sim_atomic_on<T>(op, at, value, T(0));                            \
  }                                                                               \
  template <typename T>                                                           \
  RUNG_SIM_INLINE T name##_block(T *at, typename rung_sim_same<T>::type value) {  \
    return rung_sim_atomic_on<T>(op, at, value, T(0));                            \
  }                                                                               \
  template <typename T>                                                           \
  RUNG_SIM_INLINE T name##_system(T *at, typename rung_sim_same<T>::type value) { \
    return rung_sim_atomic_on<T>(op, at, value, T(0));                            \
  }
RUNG_SIM_ATOMIC(atomicAdd, RUNG_SIM_FETCH_ADD)
RUNG_SIM_ATOMIC(atomicMin, RUNG_SIM_FETCH_MIN)
RUNG_SIM_ATOMIC(atomicMax, RUNG_SIM_FETCH_MAX)
RUNG_SIM_ATOMIC(atomicAnd, RUNG_SIM_FETCH_AND)
RUNG_SIM_ATOMIC(atomicOr, RUNG_SIM_FETCH_OR)
RUNG_SIM_ATOMIC(atomicXor, RUNG_SIM_FETCH_XOR)
RUNG_SIM_ATOMIC(atomicExch, RUNG_SIM_SWAP)
RUNG_SIM_ATOMIC(atomicInc, RUNG_SIM_INCREMENT)
RUNG_SIM_ATOMIC(atomicDec, RUNG_SIM_DECREMENT)
template <typename T>
RUNG_SIM_INLINE T atomicSub(T *at, typename rung_sim_same<T>::type value) {
  return rung_sim_atomic_on<T>(RUNG_SIM_FETCH_ADD, at, T(0) - value, T(0));
}
template <typename T>
RUNG_SIM_INLINE T atomicCAS(T *at, typename rung_sim_same<T>::type compare,
                            typename rung_sim_same<T>::type value) {
  return rung_sim_atomic_on<T>(RUNG_SIM_COMPARE_SWAP, at, value, compare);
}
/* Flags between blocks: what was written before the release is there after the acquire. */
template <typename T>
RUNG_SIM_INLINE T rung_load_acquire(const T *at) {
  return rung_sim_atomic_on<T>(RUNG_SIM_LOAD, at, T(0), T(0));
}
template <typename T>
RUNG_SIM_INLINE void rung_store_release(T *at, typename rung_sim_same<T>::type value) {
  rung_sim_atomic_on<T>(RUNG_SIM_STORE, at, value, T(0));
}

template <typename T>
RUNG_SIM_INLINE T rung_load_relaxed(const T *at) {
  return rung_load_acquire(at);
}
template <typename T>
RUNG_SIM_INLINE void rung_store_relaxed(T *at, typename rung_sim_same<T>::type value) {
  rung_store_release(at, value);
}
RUNG_SIM_INLINE unsigned rung_count_in(unsigned *at, unsigned most) {
  return atomicInc(at, most);
}

/* ---- loads and stores with a word about caches ----------------------------------------------- */

#define RUNG_SIM_LOAD_AS(name)            \
  template <typename T>                   \
  RUNG_SIM_INLINE T name(const T *from) { \
    return *from;                         \
  }
#define RUNG_SIM_STORE_AS(name)                                             \
  template <typename T>                                                     \
  RUNG_SIM_INLINE void name(T *to, typename rung_sim_same<T>::type value) { \
    *to = value;                                                            \
  }
RUNG_SIM_LOAD_AS(__ldg)
RUNG_SIM_LOAD_AS(__ldcg)
RUNG_SIM_LOAD_AS(__ldca)
RUNG_SIM_LOAD_AS(__ldcs)
RUNG_SIM_LOAD_AS(__ldlu)
RUNG_SIM_LOAD_AS(__ldcv)
RUNG_SIM_STORE_AS(__stwb)
RUNG_SIM_STORE_AS(__stcg)
RUNG_SIM_STORE_AS(__stcs)
RUNG_SIM_STORE_AS(__stwt)

template <typename T>
RUNG_SIM_INLINE void rung_copy_async(T *shared, const T *global) {
  rung_sim_copy_in(shared, global, sizeof(T), sizeof(T) < 16);
}
template <typename T>
RUNG_SIM_INLINE void rung_copy_async_shared(T *shared, const T *global) {
  static_assert(sizeof(T) == 16, "other sizes go that way by themselves");
  rung_sim_copy_in(shared, global, sizeof(T), true);
}
RUNG_SIM_INLINE void rung_copy_async_commit() {}
template <int LATER = 0>
RUNG_SIM_INLINE void rung_copy_async_wait() {}
RUNG_SIM_INLINE void rung_fetch_ahead(const void *, unsigned) {}
template <typename T>
RUNG_SIM_INLINE void rung_keep(T &) {}
template <typename T>
RUNG_SIM_INLINE void rung_keep_global(T *&) {}
template <typename T>
RUNG_SIM_INLINE void rung_keep_shared(T *&) {}

/* ---- time and place ------------------------------------------------------------------------- */

RUNG_SIM_INLINE long long clock64() {
  return (long long)rung_sim_clock();
}
RUNG_SIM_INLINE long clock() {
  return (long)rung_sim_clock();
}
RUNG_SIM_INLINE unsigned long long rung_global_timer() {
  return rung_sim_clock();
}
RUNG_SIM_INLINE unsigned rung_processor() {
  return rung_sim_processor();
}
template <typename T>
RUNG_SIM_INLINE T rung_load_once(const T *from) {
  return *from;
}
RUNG_SIM_INLINE unsigned rung_block_number() {
  return rung_sim_block_index().x;
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

RUNG_SIM_INLINE float rung_sim_fma(float a, float b, float c) {
  return rung_sim_fma32(a, b, c);
}
RUNG_SIM_INLINE double rung_sim_fma(double a, double b, double c) {
  return rung_sim_fma64(a, b, c);
}
#define fmaf(a, b, c) rung_sim_fma32(a, b, c)
#define fma(a, b, c) rung_sim_fma(a, b, c)
RUNG_SIM_INLINE float __fmaf_rn(float a, float b, float c) {
  return rung_sim_fma32(a, b, c);
}
RUNG_SIM_INLINE double __fma_rn(double a, double b, double c) {
  return rung_sim_fma64(a, b, c);
}
/* Of the special units, whose work is no flop: not in the kernel's code, where it would count. */
RUNG_SIM_INLINE float rung_root(float x) {
  return rung_sim_root(x);
}
RUNG_SIM_INLINE float rung_inverse_root(float x) {
  return rung_sim_inverse_root(x);
}
RUNG_SIM_INLINE float __fadd_rn(float a, float b) {
  return a + b;
}
RUNG_SIM_INLINE float __fsub_rn(float a, float b) {
  return a - b;
}
RUNG_SIM_INLINE float __fmul_rn(float a, float b) {
  return a * b;
}
RUNG_SIM_INLINE float __fdiv_rn(float a, float b) {
  return a / b;
}
RUNG_SIM_INLINE float __fsqrt_rn(float a) {
  return sqrtf(a);
}
RUNG_SIM_INLINE float __frcp_rn(float a) {
  return 1.0f / a;
}
RUNG_SIM_INLINE double __dadd_rn(double a, double b) {
  return a + b;
}
RUNG_SIM_INLINE double __dsub_rn(double a, double b) {
  return a - b;
}
RUNG_SIM_INLINE double __dmul_rn(double a, double b) {
  return a * b;
}
RUNG_SIM_INLINE double __ddiv_rn(double a, double b) {
  return a / b;
}
RUNG_SIM_INLINE double __dsqrt_rn(double a) {
  return sqrt(a);
}
RUNG_SIM_INLINE double __drcp_rn(double a) {
  return 1.0 / a;
}

#define RUNG_SIM_LEAST_AND_MOST(type)        \
  RUNG_SIM_INLINE type min(type a, type b) { \
    return b < a ? b : a;                    \
  }                                          \
  RUNG_SIM_INLINE type max(type a, type b) { \
    return a < b ? b : a;                    \
  }
RUNG_SIM_LEAST_AND_MOST(int)
RUNG_SIM_LEAST_AND_MOST(unsigned)
RUNG_SIM_LEAST_AND_MOST(long)
RUNG_SIM_LEAST_AND_MOST(unsigned long)
RUNG_SIM_LEAST_AND_MOST(long long)
RUNG_SIM_LEAST_AND_MOST(unsigned long long)
RUNG_SIM_INLINE float min(float a, float b) {
  return fminf(a, b);
}
RUNG_SIM_INLINE float max(float a, float b) {
  return fmaxf(a, b);
}
RUNG_SIM_INLINE double min(double a, double b) {
  return fmin(a, b);
}
RUNG_SIM_INLINE double max(double a, double b) {
  return fmax(a, b);
}

/* Conversions: a value outside the range goes to its end; a NaN to 0 from a float, to the least
 * value from a double, as PTX has it. */
#define RUNG_SIM_CONVERT(name, from, to, round, low, high)                            \
  RUNG_SIM_INLINE to name(from x) {                                                   \
    const from whole = round(x);                                                      \
    if (whole != whole) return sizeof(from) == 8 ? (low) : 0;                         \
    return whole <= (from)(low) ? (low) : whole >= (from)(high) ? (high) : (to)whole; \
  }
RUNG_SIM_CONVERT(__float2int_rz, float, int, truncf, INT32_MIN, INT32_MAX)
RUNG_SIM_CONVERT(__float2int_rn, float, int, rintf, INT32_MIN, INT32_MAX)
RUNG_SIM_CONVERT(__float2int_rd, float, int, floorf, INT32_MIN, INT32_MAX)
RUNG_SIM_CONVERT(__float2int_ru, float, int, ceilf, INT32_MIN, INT32_MAX)
RUNG_SIM_CONVERT(__float2uint_rz, float, unsigned, truncf, 0u, UINT32_MAX)
RUNG_SIM_CONVERT(__float2uint_rn, float, unsigned, rintf, 0u, UINT32_MAX)
RUNG_SIM_CONVERT(__double2int_rz, double, int, trunc, INT32_MIN, INT32_MAX)
RUNG_SIM_CONVERT(__double2int_rn, double, int, rint, INT32_MIN, INT32_MAX)
RUNG_SIM_CONVERT(__double2int_rd, double, int, floor, INT32_MIN, INT32_MAX)
RUNG_SIM_CONVERT(__double2ll_rz, double, long long, trunc, INT64_MIN, INT64_MAX)
RUNG_SIM_CONVERT(__double2ll_rn, double, long long, rint, INT64_MIN, INT64_MAX)
RUNG_SIM_INLINE float __int2float_rn(int x) {
  return (float)x;
}
RUNG_SIM_INLINE float __uint2float_rn(unsigned x) {
  return (float)x;
}
RUNG_SIM_INLINE double __int2double_rn(int x) {
  return x;
}
RUNG_SIM_INLINE double __ll2double_rn(long long x) {
  return (double)x;
}
RUNG_SIM_INLINE float __double2float_rn(double x) {
  return (float)x;
}

RUNG_SIM_INLINE int __popc(unsigned x) {
  return __builtin_popcount(x);
}
RUNG_SIM_INLINE int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
RUNG_SIM_INLINE int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz((unsigned)x);
}
RUNG_SIM_INLINE int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
RUNG_SIM_INLINE int __ffs(int x) {
  return __builtin_ffs(x);
}
RUNG_SIM_INLINE int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
RUNG_SIM_INLINE unsigned __brev(unsigned x) {
  unsigned turned = 0;
  for (int i = 0; i < 32; i++) turned |= (x >> i & 1) << (31 - i);
  return turned;
}
RUNG_SIM_INLINE int __mulhi(int a, int b) {
  return (int)((long long)a * b >> 32);
}
RUNG_SIM_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
RUNG_SIM_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
RUNG_SIM_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return (unsigned)((((unsigned long long)high << 32 | low) << (by & 31)) >> 32);
}
RUNG_SIM_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}
RUNG_SIM_INLINE unsigned __vminu2(unsigned a, unsigned b) {
  const unsigned low_a = a & 0xffff, low_b = b & 0xffff, high_a = a >> 16, high_b = b >> 16;
  return (high_a < high_b ? high_a : high_b) << 16 | (low_a < low_b ? low_a : low_b);
}
RUNG_SIM_INLINE unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) {
  return __vminu2(__vminu2(a, b), c);
}
RUNG_SIM_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned select) {
  const unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned made = 0;
  for (int i = 0; i < 4; i++)
    made |= (unsigned)(bytes >> (select >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return made;
}

#endif
