/* Along any axis: the GPU rungs for short lines and for lines side by side, on the simulator, have
 * the bits of the CPU at every awkward length, of every type, of numbers that are any bits. */
#include "core/dtype.h"
#include "ops/reduce/outside.h"

enum { MOST = 450000 };
static char data[8 * MOST + 16], expected[8 * MOST], found[8 * MOST];

static const DLDataType *const types[] = {&f32, &f64, &f16, &bf16, &u8,  &i8,
                                          &u16, &i16, &i32, &u32,  &i64, &u64};
enum { TYPES = sizeof types / sizeof *types };

static rung_dtype dtype_of(DLDataType type) {
  rung_dtype dtype = RUNG_DTYPES;
  assert_true(rung_dtype_of_code(type.code, type.bits, &dtype));
  return dtype;
}

/* Numbers of both signs, of very different sizes; or any bits, NaN and infinity among them. */
static void fill(DLDataType type, bool any) {
  const rung_traits *traits = rung_traits_of(dtype_of(type));
  uint64_t x = 7;
  for (int64_t i = 0; i < MOST; ++i) {
    x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (any || traits->kind != RUNG_FLOAT)
      memcpy(data + i * (int64_t)traits->bytes, (const char *)&x + 8 - traits->bytes,
             traits->bytes);
    else
      traits->store(data + i * (int64_t)traits->bytes,
                    ldexp((double)(int64_t)x, -63 - (int)(x >> 20 & 7)));
  }
}

static bool same(rung_dtype dtype, const char *a, const char *b) {
  const rung_traits *traits = rung_traits_of(dtype);
  if (memcmp(a, b, traits->bytes) == 0) return true;
  return traits->kind == RUNG_FLOAT && isnan(traits->load(a)) && isnan(traits->load(b));
}

typedef struct job {
  int64_t outer, n, inner;
  int64_t pitch; /* elements from a row of inner, or a line, to the next; 0: no gap */
} job;

static int64_t begin; /* the first element of all jobs */

static rung_status reduce_job(rung_context *context, rung_reduction what, DLDataType type,
                              const job *j, char *out, const char *rung) {
  const int64_t pitch = j->pitch > 0 ? j->pitch : j->inner > 1 ? j->inner : j->n;
  int64_t shape[3] = {j->outer, j->n, j->inner}, kept[2] = {j->outer, j->inner};
  int64_t across[3] = {j->n * pitch, pitch, 1}, along[3] = {pitch, 1, 1};
  DLTensor in = tensor(data + begin * type.bits / 8, type, 3, shape, j->inner > 1 ? across : along);
  DLTensor to = tensor(out, result_type(what, type), 2, kept, NULL);
  return rung_reduce(context, what, &in, 1, &to, &(rung_call){.rung = rung});
}

static void check(rung_context *cpu, rung_context *gpu, rung_reduction what, DLDataType type,
                  const job *j, const char *rung) {
  const rung_dtype result = dtype_of(result_type(what, type));
  const int64_t bytes = (int64_t)rung_dtype_bytes(result), count = j->outer * j->inner;
  if (reduce_job(cpu, what, type, j, expected, "lanes") != RUNG_OK)
    fail_msg("%s", rung_last_error(cpu));
  memset(found, 0x55, (size_t)(bytes * count + 1));
  if (reduce_job(gpu, what, type, j, found, rung) != RUNG_OK) fail_msg("%s", rung_last_error(gpu));
  for (int64_t i = 0; i < count; ++i)
    if (!same(result, found + i * bytes, expected + i * bytes))
      fail_msg("%s: %s, what %d, (%ld, %ld, %ld), pitch %ld: result %ld is %.17g, not %.17g",
               rung == NULL ? "auto" : rung, rung_dtype_name(dtype_of(type)), (int)what,
               (long)j->outer, (long)j->n, (long)j->inner, (long)j->pitch, (long)i,
               rung_traits_of(result)->load(found + i * bytes),
               rung_traits_of(result)->load(expected + i * bytes));
  assert_int_equal(found[bytes * count], 0x55);
}

/* Every `each`-th of all jobs, types and reductions. */
static void check_all(const job *jobs, size_t count, const char *rung, size_t each) {
  rung_context *cpu = open_on("cpu"), *gpu = open_on("sim");
  size_t turn = 0;
  for (int any = 0; any < 2 && gpu != NULL; ++any)
    for (int t = 0; t < TYPES; ++t) {
      fill(*types[t], any);
      for (size_t k = 0; k < count; ++k)
        for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what) {
          if (jobs[k].n == 0 && (what == RUNG_MIN || what == RUNG_MAX)) continue;
          if (turn++ % each > 0) continue;
          check(cpu, gpu, (rung_reduction)what, *types[t], &jobs[k], rung);
        }
    }
  rung_close(gpu);
  rung_close(cpu);
}

/* Lines long enough for each number of threads a line and loads a thread, and one element more and
 * less; gaps between them that allow wide loads and that do not. */
static void short_lines(void **state) {
  (void)state;
  static const job jobs[] = {
      {300, 0, 1, 1},    {300, 1, 1, 0},     {301, 2, 1, 0},       {299, 3, 1, 0},
      {300, 4, 1, 0},    {300, 5, 1, 0},     {300, 7, 1, 0},       {333, 8, 1, 0},
      {333, 8, 1, 12},   {300, 9, 1, 0},     {300, 15, 1, 0},      {300, 16, 1, 0},
      {300, 16, 1, 20},  {300, 17, 1, 0},    {300, 31, 1, 0},      {400, 32, 1, 0},
      {300, 33, 1, 0},   {300, 63, 1, 64},   {300, 64, 1, 65},     {300, 64, 1, 0},
      {300, 65, 1, 0},   {300, 96, 1, 0},    {257, 127, 1, 0},     {257, 128, 1, 0},
      {257, 129, 1, 0},  {257, 255, 1, 256}, {257, 256, 1, 0},     {257, 257, 1, 0},
      {257, 509, 1, 0},  {257, 512, 1, 0},   {257, 513, 1, 0},     {257, 1000, 1, 0},
      {257, 1023, 1, 0}, {257, 1024, 1, 0},  {257, 1025, 1, 0},    {140, 2044, 1, 2047},
      {140, 2047, 1, 0}, {140, 2048, 1, 0},  {140, 2048, 1, 2052}, {140, 3000, 1, 0}};
  check_all(jobs, sizeof jobs / sizeof *jobs, "subwarp", INSTRUMENTED ? 97 : 23);
}

/* Sums of floats go by wide loads wherever a line begins and ends: with elements before the first
 * of these and behind the last, less than one of them in all, full tiles and others. */
static void sums_that_begin_anywhere(void **state) {
  (void)state;
  static const job jobs[] = {{1, 1, 1, 0},         {7, 2, 1, 3},     {5, 3, 1, 0},
                             {3, 5, 1, 0},         {3, 15, 1, 0},    {2, 2047, 1, 0},
                             {3, 2049, 1, 2050},   {2, 4099, 1, 0},  {2, 8191, 1, 0},
                             {3, 8193, 1, 8195},   {2, 32765, 1, 0}, {2, 32767, 1, 0},
                             {3, 32768, 1, 32769}, {2, 32769, 1, 0}, {1, 32771, 1, 0},
                             {2, 65537, 1, 0},     {1, 98307, 1, 0}};
  static const job many[] = {{64, 1501, 1, 0},    {65, 3001, 1, 0}, {64, 3003, 1, 3005},
                             {66, 4096, 1, 4097}, {64, 4099, 1, 0}, {64, 6002, 1, 6003},
                             {64, 7001, 1, 0}};
  static const char *const rungs[] = {"vector", "single-pass", "warp-per-row", "block-per-row",
                                      NULL};
  rung_context *cpu = open_on("cpu"), *gpu = open_on("sim");
  size_t turn = 0;
  for (int any = 0; any < 2 && gpu != NULL; ++any)
    for (int t = 0; t < 4; ++t) {
      fill(*types[t], any);
      for (size_t k = 0; k < sizeof jobs / sizeof *jobs; ++k)
        for (int r = 0; r < 5; ++r) {
          begin = (int64_t)(turn++ * 3 % 8);
          if (INSTRUMENTED && turn % 5 > 0) continue;
          check(cpu, gpu, RUNG_SUM, *types[t], &jobs[k], rungs[r]);
        }
      for (size_t k = 0; k < sizeof many / sizeof *many; ++k) {
        begin = (int64_t)(turn++ * 3 % 8);
        if (INSTRUMENTED && turn % 5 > 0) continue;
        check(cpu, gpu, turn % 2 ? RUNG_SUM : RUNG_MEAN, *types[t], &many[k], "subwarp");
      }
    }
  begin = 0;
  rung_close(gpu);
  rung_close(cpu);
}

/* Every power of two of lanes, tiles, few and many lines side by side. */
static void side_by_side(void **state) {
  (void)state;
  static const job jobs[] = {
      {1, 2, 2, 0},     {70, 2, 3, 0},      {3, 2, 4, 0},      {1, 3, 2, 5},     {5, 2, 33, 0},
      {300, 2, 2, 0},   {7, 3, 100, 0},     {1, 4, 1000, 0},   {2, 5, 64, 72},   {1, 7, 1001, 0},
      {3, 8, 1024, 0},  {1, 8, 1024, 1025}, {1, 9, 40, 0},     {4, 13, 60, 64},  {1, 16, 128, 0},
      {2, 17, 31, 0},   {1, 31, 96, 0},     {1, 64, 512, 0},   {1, 65, 260, 0},  {3, 127, 36, 0},
      {1, 128, 128, 0}, {1, 129, 100, 0},   {5, 255, 2, 0},    {1, 256, 256, 0}, {2, 257, 12, 16},
      {1, 511, 130, 0}, {1, 1000, 64, 0},   {1, 1024, 32, 0},  {1, 1025, 7, 0},  {2, 2047, 4, 0},
      {1, 2048, 8, 0},  {1, 2049, 20, 0},   {1, 4099, 16, 18}, {1, 32767, 2, 0}, {1, 32768, 4, 0},
      {1, 32769, 3, 0}, {1, 65536, 4, 0},   {2, 65541, 2, 0},  {1, 99991, 3, 0}};
  check_all(jobs, sizeof jobs / sizeof *jobs, "tree-walk", INSTRUMENTED ? 97 : 23);
}

/* What `auto` takes has the same bits, whichever rung that is. */
static void chosen_by_the_library(void **state) {
  (void)state;
  static const job jobs[] = {{1, 100, 1, 0},    {200, 100, 1, 0}, {3, 3000, 1, 0},
                             {129, 2049, 1, 0}, {1, 70000, 1, 0}, {2, 100, 50, 0},
                             {1, 40000, 5, 0},  {1, 3, 9000, 0}};
  check_all(jobs, sizeof jobs / sizeof *jobs, NULL, INSTRUMENTED ? 29 : 7);
}

static void says_what_it_cannot_do(void **state) {
  (void)state;
  static const struct {
    job job;
    const char *rung, *words;
  } refused[] = {{{300, 8192, 1, 0}, "subwarp", "expected: at most 8191"},
                 {{3, 2049, 1, 0}, "subwarp", "expected: rung \"single-pass\""},
                 {{2, 100, 1, 0}, "subwarp", "expected: rung \"single-pass\""},
                 {{2, 100, 5, 0}, "subwarp", "expected: the last axis"},
                 {{300, 100, 1, 0}, "tree-walk", "expected: another axis than the last"}};
  rung_context *gpu = open_on("sim");
  for (size_t k = 0; k < sizeof refused / sizeof *refused && gpu != NULL; ++k) {
    assert_int_equal(reduce_job(gpu, RUNG_SUM, f32, &refused[k].job, found, refused[k].rung),
                     RUNG_UNSUPPORTED);
    assert_non_null(strstr(rung_last_error(gpu), refused[k].words));
  }
  rung_close(gpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_lines),
      cmocka_unit_test(sums_that_begin_anywhere),
      cmocka_unit_test(side_by_side),
      cmocka_unit_test(chosen_by_the_library),
      cmocka_unit_test(says_what_it_cannot_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
