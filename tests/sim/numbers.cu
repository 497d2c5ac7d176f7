/* Bits, conversions, loads, vector types and textures. */
#include <math.h>

#include "backend/gpu.h"
#include "sim/trials.h"

#define OUT(type) ((type *)task->arrays[1].data)
#define IN(type) ((const type *)task->arrays[0].data)

#define LAID_OUT(type, bytes, alignment) \
  static_assert(sizeof(type) == (bytes) && alignof(type) == (alignment), #type)
LAID_OUT(char2, 2, 2);
LAID_OUT(uchar3, 3, 1);
LAID_OUT(uchar4, 4, 4);
LAID_OUT(short2, 4, 4);
LAID_OUT(ushort4, 8, 8);
LAID_OUT(int2, 8, 8);
LAID_OUT(int3, 12, 4);
LAID_OUT(uint4, 16, 16);
LAID_OUT(longlong2, 16, 16);
LAID_OUT(float1, 4, 4);
LAID_OUT(float2, 8, 8);
LAID_OUT(float3, 12, 4);
LAID_OUT(float4, 16, 16);
LAID_OUT(double2, 16, 16);
LAID_OUT(double3, 24, 8);
LAID_OUT(dim3, 12, 4);

/* in: pairs; out: (pairs, 12). */
static __global__ void bits(const unsigned *in, long long *out) {
  const unsigned a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1];
  const unsigned long long wide = (unsigned long long)a << 32 | b;
  long long *to = out + 12 * threadIdx.x;
  to[0] = __popc(a) + 100 * __popcll(wide);
  to[1] = __clz((int)a) + 100 * __clzll((long long)wide);
  to[2] = __ffs((int)a) + 100 * __ffsll((long long)wide);
  to[3] = __brev(a);
  to[4] = __byte_perm(a, b, 0x5140);
  to[5] = __byte_perm(a, b, 0x7362);
  to[6] = __funnelshift_l(a, b, b & 63);
  to[7] = __funnelshift_r(a, b, b & 63);
  to[8] = __mulhi((int)a, (int)b);
  to[9] = __umulhi(a, b);
  to[10] = (long long)__umul64hi(wide, wide);
  to[11] = min((int)a, (int)b) - (long long)max(a, b);
}

/* in: doubles; out: (count, 11). */
static __global__ void convert(const double *in, long long *out) {
  const double x = in[threadIdx.x];
  const float y = (float)x;
  long long *to = out + 11 * threadIdx.x;
  to[0] = __float2int_rz(y);
  to[1] = __float2int_rn(y);
  to[2] = __float2int_rd(y);
  to[3] = __float2int_ru(y);
  to[4] = __float2uint_rz(y);
  to[5] = __float2uint_rn(y);
  to[6] = __double2int_rz(x);
  to[7] = __double2int_rn(x);
  to[8] = __double2int_rd(x);
  to[9] = __double2ll_rz(x);
  to[10] = __double2ll_rn(x);
}

/* Each kind of load and store; then arithmetic whose rounding is stated. */
static __global__ void loads(const float4 *in, float4 *out, float *rest) {
  const float4 v = in[0];
  out[0] = __ldg(&in[0]);
  out[1] = make_float4(__ldcg(&in->x), __ldca(&in->y), __ldcs(&in->z), __ldcv(&in->w));
  __stcg(&rest[0], v.x);
  __stcs(&rest[1], v.y);
  __stwt(&rest[2], v.z);
  __stwb(&rest[3], v.w);
  rest[4] = __int_as_float(__float_as_int(v.x));
  rest[5] = (float)__longlong_as_double(__double_as_longlong((double)v.y));
  rest[6] = fmaf(v.x, v.y, v.z);
  rest[7] = __fadd_rn(__fmul_rn(v.x, v.y), v.z);
  rest[8] = __fdiv_rn(v.x, v.y);
  rest[9] = __fsqrt_rn(v.w);
  rest[10] = min(v.x, nanf("")) + max(nanf(""), v.y);
  rest[11] = (float)__dadd_rn(__dmul_rn(v.x, v.y), v.z);
}

/* out: (2 borders, 8, 8) around a texture of 4 rows and columns, then (5, 4) from lines. */
struct lines {
  cudaTextureObject_t of_float, of_bytes, of_shorts, of_pairs;
};
static __global__ void fetch(cudaTextureObject_t clamped, cudaTextureObject_t bordered, lines line,
                             float *out) {
  const int at = (int)threadIdx.x, column = at % 8 - 2, row = at / 8 - 2;
  out[at] = tex2D<float>(clamped, (float)column + 0.5f, (float)row + 0.5f);
  out[64 + at] = tex2D<float>(bordered, (float)column, (float)row);
  if (at >= 4) return;
  const int2 pair = tex1Dfetch<int2>(line.of_pairs, at);
  out[128 + at] = tex1Dfetch<float>(line.of_float, at);
  out[132 + at] = (float)tex1Dfetch<unsigned char>(line.of_bytes, at);
  out[136 + at] = (float)tex1Dfetch<unsigned short>(line.of_shorts, at);
  out[140 + at] = __int_as_float(pair.x);
  out[144 + at] = __int_as_float(pair.y);
}

/* Element `column` of a row of so many. */
static __global__ void fetch_one(cudaTextureObject_t row, int column, float *out) {
  *out = tex2D<float>(row, (float)column, 0);
}

/* Rows are 512 bytes apart; `rows` 0: a line of 4. Asked for twice, it is made once. */
static rung_status make_texture(const rung_task *task, const void *data, rung_texel texel, int rows,
                                bool border, cudaTextureObject_t *object) {
  const rung_texture shown = {data, texel, 4, rows, rows > 0 ? 512 : 0, border};
  cudaTextureObject_t again;
  RUNG_TEXTURE(task, &shown, object);
  RUNG_TEXTURE(task, &shown, &again);
  if (again == *object) return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "the same texture was made twice");
}

extern "C" {

rung_status RUNG_ENTRY(trial_bits)(const rung_task *task) {
  const unsigned pairs = (unsigned)(task->arrays[0].count / 8);
  RUNG_LAUNCH(task, bits, 1, pairs, 0, IN(unsigned), OUT(long long));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_conversions)(const rung_task *task) {
  const unsigned count = (unsigned)(task->arrays[0].count / 8);
  RUNG_LAUNCH(task, convert, 1, count, 0, IN(double), OUT(long long));
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_loads)(const rung_task *task) {
  RUNG_LAUNCH(task, loads, 1, 1, 0, IN(float4), OUT(float4), OUT(float) + 8);
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_texture)(const rung_task *task) {
  cudaTextureObject_t clamped, bordered;
  lines line;
  void *data = task->scratch;
  RUNG_COPY_ON_DEVICE(task, data, task->arrays[0].data, 4 * 512);
  rung_status status = make_texture(task, data, RUNG_TEXEL_F32, 4, false, &clamped);
  if (!status) status = make_texture(task, data, RUNG_TEXEL_F32, 4, true, &bordered);
  if (!status) status = make_texture(task, data, RUNG_TEXEL_F32, 0, false, &line.of_float);
  if (!status) status = make_texture(task, data, RUNG_TEXEL_U8, 0, false, &line.of_bytes);
  if (!status) status = make_texture(task, data, RUNG_TEXEL_U16, 0, false, &line.of_shorts);
  if (!status) status = make_texture(task, data, RUNG_TEXEL_INT2, 0, false, &line.of_pairs);
  if (status != RUNG_OK) return status;
  RUNG_LAUNCH(task, fetch, 1, 64, 0, clamped, bordered, line, OUT(float));
  return RUNG_OK;
}

/* More textures than a device keeps without looking which are still in use. */
rung_status RUNG_ENTRY(trial_many_textures)(const rung_task *task) {
  RUNG_COPY_ON_DEVICE(task, task->scratch, task->arrays[0].data, 1024);
  for (int k = 0; k < TRIAL_TEXTURES; k++) {
    const rung_texture shown = {task->scratch, RUNG_TEXEL_F32, k + 1, 1, 1024, true};
    cudaTextureObject_t row;
    RUNG_TEXTURE(task, &shown, &row);
    RUNG_LAUNCH(task, fetch_one, 1, 1, 0, row, k, OUT(float) + k);
  }
  return RUNG_OK;
}

rung_status RUNG_ENTRY(trial_no_texture)(const rung_task *task) {
  rung_texture shown = *(const rung_texture *)task->problem;
  cudaTextureObject_t object;
  shown.data = (const char *)task->scratch + (uintptr_t)shown.data;
  RUNG_TEXTURE(task, &shown, &object);
  return RUNG_OK;
}
}
