/* Kernels of one instruction; included once for each by kernels/dots.c, which defines
 *   NAME(x)            x of this instruction
 *   TARGET             what its functions are compiled for, beyond the file
 *   DIGIT, GROUP       a digit's type in a panel, and how many fill 32 bits
 *   BIASED             whether B's digits have 128 added, so that they are 0 ... 255
 *   DOT(sum, b, a)     every lane's GROUP products of digits, added to its sum */

/* Digits of one plane of a chunk of line i, of which `groups` groups belong to the panel. Returns
 * their sum. */
LANES_OUTLINE int NAME(put_plane)(const uint32_t *words, int shift, int flip, int64_t groups,
                                  int64_t apart, DIGIT *to) {
  DIGIT digit[MATMUL_CHUNK];
  int sum = 0;
  for (int i = 0; i < MATMUL_CHUNK; i++) digit[i] = (int8_t)(words[i] >> shift);
  for (int i = 0; i < MATMUL_CHUNK && BIASED; i++) sum += digit[i];
  for (int i = 0; i < MATMUL_CHUNK && BIASED; i++) digit[i] ^= (DIGIT)flip;
  for (int64_t g = 0; g < groups; g++, to += apart) memcpy(to, digit + g * GROUP, 4);
  return sum;
}

/* All planes of it. Returns what 128 more of each of B's digits adds to sums of these ones of A. */
static int64_t NAME(put_planes)(const uint32_t *words, int digits, bool of_b, int64_t groups,
                                int64_t panel, DIGIT *to) {
  int64_t too_much = 0;
  for (int plane = 0; plane < digits; plane++, to += panel * GROUP) {
    int64_t weight = 0;
    for (int v = 0; v + plane < digits; v++) weight += matmul_weight(digits, plane, v);
    too_much += 128 * weight *
                NAME(put_plane)(words, 8 * (digits - 1 - plane), of_b ? -128 : 0, groups,
                                digits * panel * GROUP, to);
  }
  return BIASED && !of_b ? too_much : 0;
}

/* Chunk by chunk, so that lines that lie side by side are in the cache for one another. */
static void NAME(pack)(const matmul_lines *of, int64_t first, bool of_b, int bits,
                       uint32_t *largest, int64_t *less, void *to) {
  const int64_t panel = of_b ? LANES_F32 : DOT_ROWS, groups = (of->k + GROUP - 1) / GROUP;
  const int64_t lines = of->lines - first < panel ? of->lines - first : panel;
  const int digits = matmul_digits_of(bits);
  matmul_scale scales[MATMUL_PANEL];
  uint32_t words[MATMUL_CHUNK];
  for (int64_t i = 0; i < panel; i++) {
    largest[i] = 0;
    less[i] = 0;
  }
  for (int64_t l = 0; l < of->k; l += MATMUL_CHUNK)
    for (int64_t i = 0; i < lines; i++)
      largest[i] = RUNG_ENTRY(matmul_largest_chunk)(of, first + i, l, largest[i]);
  for (int64_t i = 0; i < lines; i++) scales[i] = matmul_scale_of(largest[i], bits);
  for (int64_t l = 0; l < of->k; l += MATMUL_CHUNK) {
    const int64_t group = l / GROUP, left = groups - group;
    const int64_t count = left < MATMUL_CHUNK / GROUP ? left : MATMUL_CHUNK / GROUP;
    DIGIT *chunk = (DIGIT *)to + group * digits * panel * GROUP;
    for (int64_t i = 0; i < panel; i++) {
      if (i < lines)
        RUNG_ENTRY(matmul_digits_chunk)(of, first + i, l, scales[i], digits, words);
      else
        memset(words, 0, sizeof words);
      less[i] += NAME(put_planes)(words, digits, of_b, count, panel, chunk + i * GROUP);
    }
  }
}

/* D is a constant of every copy of this: sum s is of the products whose planes' numbers are s
 * together. */
LANES_INLINE TARGET void NAME(run_tile)(const int D, const int32_t *a, const int32_t *b,
                                        int64_t groups, int64_t *sums, int64_t row) {
  lanes_i32 sum[DOT_ROWS][MATMUL_DIGITS];
#pragma GCC unroll 6
  for (int r = 0; r < DOT_ROWS; r++)
#pragma GCC unroll 4
    for (int s = 0; s < D; s++) sum[r][s] = (lanes_i32){0};
  for (; groups > 0; groups--, a += D * DOT_ROWS, b += D * LANES_F32) {
    lanes_i32 planes[MATMUL_DIGITS];
#pragma GCC unroll 4
    for (int v = 0; v < D; v++) memcpy(&planes[v], b + v * LANES_F32, sizeof planes[v]);
#pragma GCC unroll 6
    for (int r = 0; r < DOT_ROWS; r++)
#pragma GCC unroll 4
      for (int u = 0; u < D; u++) {
        const lanes_i32 all = a[u * DOT_ROWS + r] - (lanes_i32){0};
#pragma GCC unroll 4
        for (int v = 0; v < D - u; v++) sum[r][u + v] = DOT(sum[r][u + v], planes[v], all);
      }
  }
  for (int r = 0; r < DOT_ROWS; r++, sums += row) {
    int32_t t[MATMUL_DIGITS][LANES_F32];
    memcpy(t, sum[r], (size_t)D * sizeof t[0]);
    for (int c = 0; c < LANES_F32; c++) {
      int64_t all = 0;
#pragma GCC unroll 4
      for (int s = 0; s < D; s++) all += t[s][c] * matmul_weight(D, s, 0);
      sums[c] += all;
    }
  }
}

#define TILE_OF(D)                                                                       \
  LANES_OUTLINE TARGET void NAME(tile_##D)(const void *a, const void *b, int64_t groups, \
                                           int64_t *sums, int64_t row) {                 \
    NAME(run_tile)(D, (const int32_t *)a, (const int32_t *)b, groups, sums, row);        \
  }
TILE_OF(2)
TILE_OF(3)
TILE_OF(4)
#undef TILE_OF

static const matmul_dots NAME(dots) = {
    .rows = DOT_ROWS,
    .columns = LANES_F32,
    .group = GROUP,
    .pack = NAME(pack),
    .tile = {NULL, NULL, NAME(tile_2), NAME(tile_3), NAME(tile_4)}};

#undef NAME
#undef TARGET
#undef DIGIT
#undef GROUP
#undef BIASED
#undef DOT
