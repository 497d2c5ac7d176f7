/* Any bytes as the file of kept peaks, or, after the byte 'e', as the device's entry in it: not
 * used, or peaks that a machine could have. */
#include <sys/stat.h>

#include "fuzz/fuzz.h"
#include "lab/lab.h"

static char directory[] = "/tmp/rung-fuzz-XXXXXX", path[64];

static void remove_directory(void) {
  char inner[64];
  snprintf(inner, sizeof inner, "%s/rung", directory);
  unlink(path);
  rmdir(inner);
  rmdir(directory);
}

static void make_directory(void) {
  char inner[64];
  if (mkdtemp(directory) == NULL) abort();
  snprintf(inner, sizeof inner, "%s/rung", directory);
  snprintf(path, sizeof path, "%s/peaks.json", inner);
  if (mkdir(inner, 0700) != 0 || setenv("XDG_CACHE_HOME", directory, 1) != 0) abort();
  atexit(remove_directory);
}

static void write_file(const uint8_t *data, size_t size) {
  const bool entry = size > 0 && data[0] == 'e';
  FILE *file = fopen(path, "wb");
  if (file == NULL) abort();
  if (entry)
    fprintf(file, "{\"rung-peaks\": 1, \"devices\": {\"fuzz threads=2 isa=%s rung=%s\": ",
            rung_isa_name(0), RUNG_VERSION);
  fwrite(data + entry, 1, size - entry, file);
  if (entry) fputs("}}", file);
  if (fclose(file) != 0) abort();
}

static bool possible(const lab_bandwidth *rates) {
  return rates->read > 0 && rates->read <= 1e7 && rates->write > 0 && rates->write <= 1e7 &&
         rates->copy > 0 && rates->copy <= 1e7;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (path[0] == '\0') make_directory();
  write_file(data, size);
  rung_device device = {.kind = RUNG_CPU, .threads = 2};
  snprintf(device.identity, sizeof device.identity, "fuzz");
  const lab_conditions now = {0};
  lab_peaks peaks, untouched;
  memset(&peaks, 0x5a, sizeof peaks);
  memcpy(&untouched, &peaks, sizeof peaks);
  if (lab_peaks_kept(&device, &now, &peaks)) {
    for (int k = 0; k < peaks.levels; k++)
      if (!possible(&peaks.bandwidth[k])) fuzz_wrong("level %d: rates of no machine", k);
  } else if (memcmp(&peaks, &untouched, sizeof peaks) != 0) {
    fuzz_wrong("no peaks, and they were written");
  }
  return 0;
}
