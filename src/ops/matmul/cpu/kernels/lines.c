/* Elements of lines as whole numbers: one copy for all rungs in fixed point. */
#include "ops/matmul/cpu/lines.h"
#include "backend/cpu/lanes.h"

/* Elements [l, l + count) of a line as floats, which is exact. */
static void load_chunk(const matmul_lines *of, int64_t line, int64_t l, int64_t count, float *to) {
  const int64_t at = line * of->line + l * of->step, step = of->step;
  const float *single = (const float *)of->from + at;
  const uint16_t *half = (const uint16_t *)of->from + at;
  if (of->dtype == RUNG_F32 && step == 1)
    memcpy(to, single, (size_t)count * sizeof *to);
  else if (of->dtype == RUNG_F32)
    for (int64_t i = 0; i < count; i++) to[i] = single[i * step];
  else if (step == 1)
    lanes_widen_halves(half, count, of->dtype == RUNG_BF16, to);
  else
    for (int64_t i = 0; i < count; i++)
      to[i] = rung_half_to_f32(half[i * step], of->dtype == RUNG_BF16);
}

static int64_t chunk_of(const matmul_lines *of, int64_t l) {
  return of->k - l < MATMUL_CHUNK ? of->k - l : MATMUL_CHUNK;
}

uint32_t RUNG_ENTRY(matmul_largest_chunk)(const matmul_lines *of, int64_t line, int64_t l,
                                          uint32_t largest) {
  float x[MATMUL_CHUNK];
  const int64_t count = chunk_of(of, l);
  load_chunk(of, line, l, count, x);
  for (int64_t i = 0; i < count; i++) {
    const uint32_t magnitude = matmul_magnitude(x[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

void RUNG_ENTRY(matmul_digits_chunk)(const matmul_lines *of, int64_t line, int64_t l,
                                     matmul_scale scale, int digits, uint32_t words[MATMUL_CHUNK]) {
  float x[MATMUL_CHUNK] = {0};
  load_chunk(of, line, l, chunk_of(of, l), x);
  for (int i = 0; i < MATMUL_CHUNK; i++)
    words[i] = matmul_digits(matmul_whole(x[i], scale), digits);
}
