/* Any bytes as the file of what was tuned, or, after the byte 'e', as the device's entries in it:
 * not used, or canonical rungs of the device, which the context prefers; calls have the same
 * results. */
#include <math.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"
#include "lab/cache.h"
#include "lab/tune.h"

static char directory[] = "/tmp/rung-fuzz-XXXXXX", path[64];
static rung_context *context;
static float plain;

static void end(void) {
  char inner[64];
  snprintf(inner, sizeof inner, "%s/rung", directory);
  rung_close(context);
  unlink(path);
  rmdir(inner);
  rmdir(directory);
}

static float sum(void) {
  float numbers[100], total = 0;
  const int64_t count = 100;
  for (int i = 0; i < 100; i++) numbers[i] = 1 / (float)(i + 3);
  DLTensor in = rung_array_f32(numbers, &count), out = rung_number_f32(&total);
  if (rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, NULL) != RUNG_OK)
    fuzz_wrong("a sum failed: %s", rung_last_error(context));
  if (rung_last_error(context)[0] != '\0') fuzz_wrong("a sentence of a call that went well");
  return total;
}

static void begin(void) {
  char inner[64];
  if (mkdtemp(directory) == NULL) abort();
  snprintf(inner, sizeof inner, "%s/rung", directory);
  snprintf(path, sizeof path, "%s/tuned.json", inner);
  if (mkdir(inner, 0700) != 0 || setenv("XDG_CACHE_HOME", directory, 1) != 0) abort();
  if (rung_open(&context, &(rung_options){.device = "cpu", .threads = 2}) != RUNG_OK) abort();
  snprintf(context->device.identity, sizeof context->device.identity, "fuzz");
  plain = sum();
  atexit(end);
}

static void write_file(const uint8_t *data, size_t size) {
  const bool entries = size > 0 && data[0] == 'e';
  char key[LAB_CACHE_KEY];
  FILE *file = fopen(path, "wb");
  if (file == NULL) abort();
  lab_cache_key(&context->device, key);
  if (entries) fprintf(file, "{\"rung-tuned\": 1, \"devices\": {\"%s\": [", key);
  fwrite(data + entries, 1, size - entries, file);
  if (entries) fputs("]}}", file);
  if (fclose(file) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static lab_tuned list[LAB_TUNED];
  if (path[0] == '\0') begin();
  write_file(data, size);
  const int count = lab_tuned_kept(&context->device, list);
  for (int i = 0; i < count; i++) {
    const lab_tuned *one = &list[i];
    if (one->row->order != RUNG_CANONICAL || one->row->family != RUNG_ON_CPU || one->block != 0)
      fuzz_wrong("rung %s, block %d", one->row->name, one->block);
    if (!(one->ms > 0) || strlen(one->job) >= RUNG_CLASS) fuzz_wrong("an entry of no measurement");
  }
  lab_tuned_apply(context);
  const float found = sum();
  if (memcmp(&found, &plain, sizeof found) != 0) fuzz_wrong("%g instead of %g", found, plain);
  for (int i = 0; i < count; i++)
    rung_prefer(context, list[i].operation->name, list[i].job, NULL, 0);
  return 0;
}
